/* The shape of each layer's output, from those of its inputs. */
#include "nn/model/model_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *pr_shape_text(const struct pr_layer_shape *s, char out[static 72])
{
    int n = 0;

    for (unsigned i = 0; i < s->dims; i++)
        n += snprintf(out + n, 72 - (size_t)n, "%s%" PRId64, i ? ", " : "[",
                      s->at[i]);
    snprintf(out + n, 72 - (size_t)n, "]");
    return out;
}

bool pr_shape_equal(const struct pr_layer_shape *a,
                    const struct pr_layer_shape *b)
{
    return a->dims == b->dims &&
           memcmp(a->at, b->at, a->dims * sizeof a->at[0]) == 0;
}

int64_t pr_shape_channels(const struct pr_layer_shape *s)
{
    return s->at[s->dims == 2 ? 1 : 0];
}

/* ---- joins */

static int fail_join_shapes(struct pr_model_builder *b,
                            const struct pr_model_draft *d, unsigned i,
                            const char *rule)
{
    const struct pr_layer *first = pr_model_draft_input(b, d, 0);
    const struct pr_layer *other = pr_model_draft_input(b, d, i);
    char one[72], two[72];

    return PR_MODEL_FAIL(b, d, "'%s' wants %s, got %s of '%s' and %s of '%s'",
                         pr_layer_op_name(d->l.op), rule,
                         pr_shape_text(&first->shape, one), first->name,
                         pr_shape_text(&other->shape, two), other->name);
}

/* Whether two shapes are equal beside one dimension. */
static bool equal_beside(const struct pr_layer_shape *a,
                         const struct pr_layer_shape *b, unsigned axis)
{
    for (unsigned i = 0; i < a->dims; i++)
        if (i != axis && a->at[i] != b->at[i])
            return false;
    return a->dims == b->dims;
}

static int check_axis(struct pr_model_builder *b, struct pr_model_draft *d)
{
    const struct pr_layer *in = pr_model_draft_input(b, d, 0);
    char text[72];

    if (d->axis >= in->shape.dims)
        return PR_MODEL_FAIL(b, d, "%s of '%s' has no axis %" PRId64,
                             pr_shape_text(&in->shape, text), in->name,
                             d->axis);
    d->l.axis = (unsigned)d->axis;
    return PR_OK;
}

static int shape_concat(struct pr_model_builder *b, struct pr_model_draft *d)
{
    struct pr_layer_shape *s = &d->l.shape;
    int rc = check_axis(b, d);

    *s = pr_model_draft_input(b, d, 0)->shape;
    for (unsigned i = 1; i < d->l.input_count && !rc; i++) {
        const struct pr_layer_shape *in = &pr_model_draft_input(b, d, i)->shape;

        if (!equal_beside(s, in, d->l.axis))
            return fail_join_shapes(b, d, i,
                                    d->l.axis ? "equal shapes beside its axis"
                                              : "equal rows and columns");
        s->at[d->l.axis] += in->at[d->l.axis];
    }
    return rc;
}

static int shape_sum(struct pr_model_builder *b, struct pr_model_draft *d)
{
    d->l.shape = pr_model_draft_input(b, d, 0)->shape;
    for (unsigned i = 1; i < d->l.input_count; i++)
        if (!pr_shape_equal(&d->l.shape, &pr_model_draft_input(b, d, i)->shape))
            return fail_join_shapes(b, d, i, "equal shapes");
    return PR_OK;
}

/* ---- order */

static int shape_reshape(struct pr_model_builder *b, struct pr_model_draft *d)
{
    const struct pr_layer *in = pr_model_draft_input(b, d, 0);
    struct pr_layer_shape *s = &d->l.shape;
    int64_t elements, known = 1, *open = NULL;
    char from[72], to[72];

    *s = d->reshape;
    if (!pr_shape_elements(&in->shape, &elements))
        return PR_E_BUG;
    for (unsigned i = 0; i < s->dims; i++) {
        if (s->at[i] < 0 && open)
            return PR_MODEL_FAIL(b, d, "'reshape' has more than one -1");
        if (s->at[i] < 0)
            open = &s->at[i];
        else if (__builtin_mul_overflow(known, s->at[i], &known))
            known = INT64_MAX;
    }
    if (open && elements % known == 0)
        known *= *open = elements / known;
    if (known == elements)
        return PR_OK;
    return PR_MODEL_FAIL(b, d, "%s of '%s' cannot become %s",
                         pr_shape_text(&in->shape, from), in->name,
                         pr_shape_text(s, to));
}

static int shape_slice(struct pr_model_builder *b, struct pr_model_draft *d)
{
    const struct pr_layer *in = pr_model_draft_input(b, d, 0);
    struct pr_layer *l = &d->l;
    char text[72];
    int rc = check_axis(b, d);

    if (rc)
        return rc;
    l->shape = in->shape;
    if (l->first + l->count > l->shape.at[l->axis])
        return PR_MODEL_FAIL(
            b, d,
            "'slice' wants %" PRId64 " from %" PRId64 " on, got %s of '%s'",
            l->count, l->first, pr_shape_text(&in->shape, text), in->name);
    l->shape.at[l->axis] = l->count;
    return PR_OK;
}

/* ---- what comes in */

static const char *const wanted[] = {
    [PR_DIMS_1] = "[features]",
    [PR_DIMS_2] = "[rows, features]",
    [PR_DIMS_1 | PR_DIMS_2] = "[features] or [rows, features]",
    [PR_DIMS_3] = "[channels, rows, columns]",
};

int pr_model_check_dims(struct pr_model_builder *b,
                        const struct pr_model_draft *d, unsigned i,
                        unsigned which)
{
    const struct pr_layer *in = pr_model_draft_input(b, d, i);
    char text[72];
    int rc;

    if (which >> in->shape.dims & 1)
        return PR_OK;
    rc = PR_MODEL_FAIL(b, d, "'%s' wants %s, got %s of '%s'",
                       pr_layer_op_name(d->l.op), wanted[which],
                       pr_shape_text(&in->shape, text), in->name);
    if (which & PR_DIMS_1)
        return pr_hint(b->err,
                       "flatten or global_pool before it makes one of it");
    return which == PR_DIMS_2
               ? pr_hint(b->err, "reshape before it makes rows of it")
               : rc;
}

/* Ids are taken where the op wants them, and only there. */
static int check_layer_ids(struct pr_model_builder *b,
                           const struct pr_model_draft *d)
{
    const struct pr_layer *l = &d->l;

    for (unsigned i = 0; i < l->input_count; i++) {
        const struct pr_layer *in = pr_model_draft_input(b, d, i);
        bool is = in->op == PR_LAYER_INPUT && in->ids;
        bool wants = l->op == PR_LAYER_EMBEDDING ||
                     (l->op == PR_LAYER_GATHER && i == 1) ||
                     (l->has_lengths && i + 1 == l->input_count);

        if (is != wants)
            return PR_MODEL_FAIL(b, d, "'%s' wants %s, '%s' has %s",
                                 pr_layer_op_name(l->op),
                                 wants ? "ids here" : "numbers", in->name,
                                 is ? "ids" : "numbers");
    }
    return PR_OK;
}

/* ---- all ops */

static int shape_by_op(struct pr_model_builder *b, struct pr_model_draft *d)
{
    const struct pr_layer_shape *in = &pr_model_draft_input(b, d, 0)->shape;
    struct pr_layer_shape *s = &d->l.shape;

    switch (d->l.op) {
    case PR_LAYER_CONV:
    case PR_LAYER_TRANSPOSED_CONV:
    case PR_LAYER_MAX_POOL:
    case PR_LAYER_AVERAGE_POOL:
    case PR_LAYER_GLOBAL_POOL:
    case PR_LAYER_INSTANCE_NORM:
    case PR_LAYER_LRN:
    case PR_LAYER_PIXEL_SHUFFLE:
    case PR_LAYER_UPSAMPLE:
    case PR_LAYER_REFLECT_PAD:
    case PR_LAYER_GRAM:
        return pr_model_shape_image(b, d);
    case PR_LAYER_EMBEDDING:
    case PR_LAYER_LSTM:
    case PR_LAYER_GRU:
    case PR_LAYER_ATTENTION:
    case PR_LAYER_ADDITIVE_ATTENTION:
    case PR_LAYER_GATHER:
    case PR_LAYER_TRANSPOSE:
        return pr_model_shape_rows(b, d);
    case PR_LAYER_LINEAR:
        *s = (struct pr_layer_shape){1, {d->l.out}};
        if (in->dims == 2)
            *s = (struct pr_layer_shape){2, {in->at[0], d->l.out}};
        return PR_OK;
    case PR_LAYER_FLATTEN:
        s->dims = 1;
        return pr_shape_elements(in, &s->at[0]) ? PR_OK : PR_E_BUG;
    case PR_LAYER_RESHAPE:
        return shape_reshape(b, d);
    case PR_LAYER_SLICE:
        return shape_slice(b, d);
    case PR_LAYER_CONCAT:
        return shape_concat(b, d);
    case PR_LAYER_MULTIPLY:
    case PR_LAYER_ADD:
        return shape_sum(b, d);
    case PR_LAYER_LAYER_NORM:
    case PR_LAYER_SOFTMAX:
        *s = *in;
        return pr_model_check_dims(b, d, 0, PR_DIMS_1 | PR_DIMS_2);
    default:
        *s = *in;
        return PR_OK;
    }
}

int pr_model_shape(struct pr_model_builder *b, struct pr_model_draft *d)
{
    int64_t elements;
    char text[72];
    int rc = check_layer_ids(b, d);
    bool fits = true;

    if (!rc)
        rc = shape_by_op(b, d);
    if (rc)
        return rc;
    for (unsigned i = 0; i < d->l.shape.dims; i++)
        fits = fits && d->l.shape.at[i] <= PR_MODEL_DIM;
    if (!fits || !pr_shape_elements(&d->l.shape, &elements))
        return PR_MODEL_FAIL(b, d, "the output of '%s' is too large: %s",
                             d->l.name, pr_shape_text(&d->l.shape, text));
    if (!pr_model_count(b->m, &d->l))
        return PR_MODEL_FAIL(b, d, "'%s' is too large to be counted",
                             d->l.name);
    return PR_OK;
}
