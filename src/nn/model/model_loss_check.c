/* That a loss fits to what it is about: shapes, and ids where they belong. */
#include "nn/model/model_impl.h"

#include <inttypes.h>

struct fit {
    struct pr_model_builder *b;
    const struct pr_value *at; /* for messages */
    const struct pr_loss *l;
};

static const struct pr_layer *fit_layer(const struct fit *f, unsigned i)
{
    return &f->b->m->layers[i];
}

static const char *fit_kind_name(const struct fit *f)
{
    return pr_loss_kind_name(f->l->kind);
}

static bool is_ids(const struct pr_layer *l)
{
    return l->op == PR_LAYER_INPUT && l->ids;
}

/* "'mse' wants [3, 4] as its target, 'x' has [3]" */
static int check_loss_shape(const struct fit *f, const char *role,
                            const struct pr_layer *l,
                            const struct pr_layer_shape *want)
{
    char one[72], two[72];

    if (pr_shape_equal(&l->shape, want))
        return PR_OK;
    return PR_MODEL_FAIL(f->b, f->at, "'%s' wants %s as its %s, '%s' has %s",
                         fit_kind_name(f), pr_shape_text(want, one), role,
                         l->name, pr_shape_text(&l->shape, two));
}

static int check_loss_numbers(const struct fit *f, const char *role,
                              const struct pr_layer *l,
                              const struct pr_layer_shape *want)
{
    if (is_ids(l))
        return PR_MODEL_FAIL(f->b, f->at,
                             "'%s' wants numbers as its %s, '%s' has ids",
                             fit_kind_name(f), role, l->name);
    return check_loss_shape(f, role, l, want);
}

/* Ids that are all below most. */
static int check_loss_ids(const struct fit *f, const char *role,
                          const struct pr_layer *l, int64_t count, int64_t most)
{
    struct pr_layer_shape want = {1, {count}};

    if (!is_ids(l))
        return PR_MODEL_FAIL(f->b, f->at,
                             "'%s' wants ids as its %s, '%s' has numbers",
                             fit_kind_name(f), role, l->name);
    if (l->ids > most)
        return PR_MODEL_FAIL(f->b, f->at,
                             "'%s' has ids below %" PRId64 " as its %s, those "
                             "of '%s' go up to %" PRId64,
                             fit_kind_name(f), most, role, l->name, l->ids - 1);
    return check_loss_shape(f, role, l, &want);
}

/* What the loss computes itself may not come before it. */
static int check_not_computed_twice(const struct fit *f,
                                    const struct pr_layer *of,
                                    enum pr_layer_op op)
{
    if (of->op != op)
        return PR_OK;
    PR_MODEL_FAIL(f->b, f->at, "'%s' is a %s, which '%s' computes itself",
                  of->name, pr_layer_op_name(op), fit_kind_name(f));
    return pr_hint(f->b->err, "take what comes into it");
}

/* ---- by kind */

static int check_cross_entropy(const struct fit *f, const struct pr_layer *of)
{
    const struct pr_layer_shape *s = &of->shape;
    int64_t rows = s->dims == 1 ? 1 : s->at[0];
    struct pr_layer_shape each = {1, {rows}};
    char text[72];
    int rc;

    if (s->dims > 2)
        return PR_MODEL_FAIL(f->b, f->at,
                             "'cross_entropy' wants [classes] or [rows, "
                             "classes], '%s' has %s",
                             of->name, pr_shape_text(s, text));
    rc = check_not_computed_twice(f, of, PR_LAYER_SOFTMAX);
    if (!rc)
        rc = check_loss_ids(f, "target", fit_layer(f, f->l->targets[0]), rows,
                            s->at[s->dims - 1]);
    if (!rc && f->l->weights >= 0)
        rc = check_loss_numbers(f, "weights",
                                fit_layer(f, (unsigned)f->l->weights), &each);
    return rc;
}

static int check_ctc(const struct fit *f, const struct pr_layer *of)
{
    const struct pr_layer *ids = fit_layer(f, f->l->targets[0]);
    char text[72];
    int rc;

    if (of->shape.dims != 2)
        return PR_MODEL_FAIL(f->b, f->at,
                             "'ctc' wants [rows, classes], '%s' has %s",
                             of->name, pr_shape_text(&of->shape, text));
    if (f->l->lengths < 0)
        return PR_MODEL_FAIL(f->b, f->at, "'ctc' wants 'lengths'");
    rc = check_not_computed_twice(f, of, PR_LAYER_SOFTMAX);
    if (!rc)
        rc =
            check_loss_ids(f, "target", ids, ids->shape.at[0], of->shape.at[1]);
    return rc ? rc
              : check_loss_ids(f, "lengths",
                               fit_layer(f, (unsigned)f->l->lengths), 1,
                               ids->shape.at[0] + 1);
}

static int check_multibox(const struct fit *f, const struct pr_layer *places)
{
    const struct pr_layer *logits = fit_layer(f, f->l->of[1]);
    int64_t boxes = places->shape.dims == 2 ? places->shape.at[1] : 0;
    char one[72], two[72];
    int rc;

    if (!boxes || places->shape.at[0] != 4 || logits->shape.dims != 2 ||
        logits->shape.at[1] != boxes)
        return PR_MODEL_FAIL(f->b, f->at,
                             "'multibox' wants [4, boxes] and [classes, "
                             "boxes], got %s of '%s' and %s of '%s'",
                             pr_shape_text(&places->shape, one), places->name,
                             pr_shape_text(&logits->shape, two), logits->name);
    rc = check_loss_numbers(f, "target", fit_layer(f, f->l->targets[0]),
                            &places->shape);
    return rc ? rc
              : check_loss_ids(f, "target", fit_layer(f, f->l->targets[1]),
                               boxes, logits->shape.at[0]);
}

static int check_number_loss(const struct fit *f, const struct pr_layer *of)
{
    int rc = f->l->kind == PR_LOSS_BCE
                 ? check_not_computed_twice(f, of, PR_LAYER_SIGMOID)
                 : PR_OK;

    if (rc || !f->l->target_count)
        return rc;
    return check_loss_numbers(f, "target", fit_layer(f, f->l->targets[0]),
                              &of->shape);
}

int pr_model_check_loss(struct pr_model_builder *b, const struct pr_value *v,
                        const struct pr_loss *l)
{
    struct fit f = {b, v, l};
    const struct pr_layer *of = fit_layer(&f, l->of[0]);

    for (unsigned i = 0; i < l->of_count; i++)
        if (fit_layer(&f, l->of[i])->op == PR_LAYER_INPUT)
            return PR_MODEL_FAIL(b, v, "'%s' is about '%s', which is an input",
                                 fit_kind_name(&f),
                                 fit_layer(&f, l->of[i])->name);
    switch (l->kind) {
    case PR_LOSS_CROSS_ENTROPY:
        return check_cross_entropy(&f, of);
    case PR_LOSS_CTC:
        return check_ctc(&f, of);
    case PR_LOSS_MULTIBOX:
        return check_multibox(&f, of);
    case PR_LOSS_KL:
        return check_loss_shape(&f, "log variance", fit_layer(&f, l->of[1]),
                                &of->shape);
    default:
        return check_number_loss(&f, of);
    }
}
