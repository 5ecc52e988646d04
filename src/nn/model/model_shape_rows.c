/* Shapes of what works on rows: [rows, features], of a sequence its times. */
#include "nn/model/model_impl.h"

#include <inttypes.h>

static int fail_row_shapes(struct pr_model_builder *b,
                           const struct pr_model_draft *d, unsigned i,
                           unsigned k, const char *rule)
{
    const struct pr_layer *one = pr_model_draft_input(b, d, i);
    const struct pr_layer *two = pr_model_draft_input(b, d, k);
    char x[72], y[72];

    return PR_MODEL_FAIL(b, d, "'%s' wants %s, got %s of '%s' and %s of '%s'",
                         pr_layer_op_name(d->l.op), rule,
                         pr_shape_text(&one->shape, x), one->name,
                         pr_shape_text(&two->shape, y), two->name);
}

/* ---- attention */

/* How many of the keys count comes with the batch. */
static int check_lengths(struct pr_model_builder *b,
                         const struct pr_model_draft *d, int64_t rows)
{
    const struct pr_layer *in;

    if (!d->l.has_lengths)
        return PR_OK;
    in = pr_model_draft_input(b, d, d->l.input_count - 1);
    if (in->shape.at[0] != 1)
        return PR_MODEL_FAIL(b, d, "'lengths' wants one id, '%s' has %" PRId64,
                             in->name, in->shape.at[0]);
    if (in->ids > rows + 1)
        return PR_MODEL_FAIL(b, d,
                             "'lengths' are at most %" PRId64
                             ", the ids of '%s' go up to %" PRId64,
                             rows, in->name, in->ids - 1);
    return PR_OK;
}

/* Queries, keys and values, each [rows, features]. */
static int check_attention_inputs(struct pr_model_builder *b,
                                  const struct pr_model_draft *d)
{
    const struct pr_layer_shape *q, *k, *v;
    int rc = PR_OK;

    for (unsigned i = 0; i < 3 && !rc; i++)
        rc = pr_model_check_dims(b, d, i, PR_DIMS_2);
    if (rc)
        return rc;
    q = &pr_model_draft_input(b, d, 0)->shape;
    k = &pr_model_draft_input(b, d, 1)->shape;
    v = &pr_model_draft_input(b, d, 2)->shape;
    if (q->at[1] != k->at[1])
        return fail_row_shapes(b, d, 0, 1,
                               "equal features of queries and keys");
    if (k->at[0] != v->at[0])
        return fail_row_shapes(b, d, 1, 2, "as many values as keys");
    if (d->l.op == PR_LAYER_ATTENTION && k->at[1] != v->at[1])
        return fail_row_shapes(b, d, 1, 2, "equal features of keys and values");
    if (d->l.causal && q->at[0] != k->at[0])
        return fail_row_shapes(b, d, 0, 1,
                               "as many queries as keys to be causal");
    return PR_OK;
}

static int shape_attention(struct pr_model_builder *b, struct pr_model_draft *d)
{
    const struct pr_layer *in = pr_model_draft_input(b, d, 0);
    bool is_one = d->l.input_count - d->l.has_lengths == 1;
    int64_t width = in->shape.at[1];
    int rc = is_one ? pr_model_check_dims(b, d, 0, PR_DIMS_2)
                    : check_attention_inputs(b, d);

    if (rc)
        return rc;
    if (is_one && width % 3)
        return PR_MODEL_FAIL(b, d,
                             "'attention' wants queries, keys and values side "
                             "by side, '%s' has %" PRId64 " features",
                             in->name, width);
    width = is_one ? width / 3 : width;
    if (width % d->l.heads)
        return PR_MODEL_FAIL(
            b, d, "%" PRId64 " heads do not divide %" PRId64 " features",
            d->l.heads, width);
    d->l.shape = (struct pr_layer_shape){2, {in->shape.at[0], width}};
    return check_lengths(
        b, d, pr_model_draft_input(b, d, is_one ? 0 : 1)->shape.at[0]);
}

static int shape_additive(struct pr_model_builder *b, struct pr_model_draft *d)
{
    int rc = check_attention_inputs(b, d);

    if (rc)
        return rc;
    d->l.shape =
        (struct pr_layer_shape){2,
                                {pr_model_draft_input(b, d, 0)->shape.at[0],
                                 pr_model_draft_input(b, d, 2)->shape.at[1]}};
    return check_lengths(b, d, pr_model_draft_input(b, d, 1)->shape.at[0]);
}

/* ---- the others */

static int shape_gather(struct pr_model_builder *b, struct pr_model_draft *d)
{
    const struct pr_layer *rows = pr_model_draft_input(b, d, 0);
    const struct pr_layer *ids = pr_model_draft_input(b, d, 1);
    int rc = pr_model_check_dims(b, d, 0, PR_DIMS_2);

    if (rc)
        return rc;
    if (ids->ids > rows->shape.at[0])
        return PR_MODEL_FAIL(
            b, d,
            "'%s' has %" PRId64 " rows, the ids of '%s' go up to %" PRId64,
            rows->name, rows->shape.at[0], ids->name, ids->ids - 1);
    d->l.shape =
        (struct pr_layer_shape){2, {ids->shape.at[0], rows->shape.at[1]}};
    return PR_OK;
}

int pr_model_shape_rows(struct pr_model_builder *b, struct pr_model_draft *d)
{
    const struct pr_layer *in = pr_model_draft_input(b, d, 0);
    struct pr_layer_shape *s = &d->l.shape;

    switch (d->l.op) {
    case PR_LAYER_EMBEDDING:
        d->l.ids = in->ids;
        *s = (struct pr_layer_shape){2, {in->shape.at[0], d->l.out}};
        return PR_OK;
    case PR_LAYER_ATTENTION:
        return shape_attention(b, d);
    case PR_LAYER_ADDITIVE_ATTENTION:
        return shape_additive(b, d);
    case PR_LAYER_GATHER:
        return shape_gather(b, d);
    case PR_LAYER_TRANSPOSE:
        *s = (struct pr_layer_shape){2, {in->shape.at[1], in->shape.at[0]}};
        return pr_model_check_dims(b, d, 0, PR_DIMS_2);
    default: /* lstm, gru */
        *s = (struct pr_layer_shape){2, {in->shape.at[0], d->l.out}};
        return pr_model_check_dims(b, d, 0, PR_DIMS_2);
    }
}
