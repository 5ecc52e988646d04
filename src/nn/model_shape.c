/* The shape of each layer's output, from those of its inputs. */
#include "nn/model_impl.h"

#include <inttypes.h>
#include <stdio.h>

const char *pr_shape_text(const struct pr_layer_shape *s, char out[static 72])
{
    if (s->dims == 1)
        snprintf(out, 72, "[%" PRId64 "]", s->at[0]);
    else
        snprintf(out, 72, "[%" PRId64 ", %" PRId64 ", %" PRId64 "]", s->at[0],
                 s->at[1], s->at[2]);
    return out;
}

static const struct pr_layer *input(const struct pr_model_builder *b,
                                    const struct pr_model_draft *d, unsigned i)
{
    return &b->m->layers[d->l.inputs[i]];
}

static int64_t round_up(int64_t a, int64_t by)
{
    return a > 0 ? (a + by - 1) / by : -(-a / by);
}

/* ---- windows */

int64_t pr_model_window_out(struct pr_model_window *w)
{
    int64_t reach = w->dilation * (w->kernel - 1) + 1, span, out;

    if (w->same) {
        out = round_up(w->in, w->stride);
        span = (out - 1) * w->stride + reach - w->in;
        w->pad_begin = span > 0 ? span / 2 : 0;
        w->pad_end = span > 0 ? span - w->pad_begin : 0;
        return out;
    }
    span = w->in + w->pad_begin + w->pad_end - reach;
    if (!w->ceil)
        return span < 0 ? 0 : span / w->stride + 1;
    out = round_up(span, w->stride) + 1;
    if ((out - 1) * w->stride >= w->in + w->pad_begin)
        out--; /* it would see nothing but padding */
    span = (out - 1) * w->stride + reach - w->in - w->pad_begin;
    w->pad_end = span > 0 ? span : 0;
    return out < 1 ? 0 : out;
}

/* Rounding up adds padding that nobody counts. Layers have one padding only,
 * so that is said by counting none, where none was asked for. */
static int settle_count(struct pr_model_builder *b, struct pr_model_draft *d,
                        const int64_t before[4])
{
    struct pr_layer *l = &d->l;
    bool grew = l->pad[2] > before[2] || l->pad[3] > before[3];
    bool had = before[0] || before[1] || before[2] || before[3];

    if (l->op != PR_LAYER_AVERAGE_POOL || !d->ceil || !grew || !l->count_pad)
        return PR_OK;
    if (had)
        return PR_MODEL_FAIL(b, d,
                             "with 'pad' and 'ceil', 'average_pool' "
                             "wants 'count_pad: false' here");
    l->count_pad = false;
    return PR_OK;
}

static int too_large_window(struct pr_model_builder *b,
                            const struct pr_model_draft *d,
                            const struct pr_model_window *w, const char *side)
{
    return PR_MODEL_FAIL(b, d,
                         "the window of '%s' is larger than its input: %" PRId64
                         " %s of %" PRId64 " with padding %" PRId64
                         " and %" PRId64,
                         d->l.name, w->dilation * (w->kernel - 1) + 1, side,
                         w->in, w->pad_begin, w->pad_end);
}

/* Rows and columns of a conv or pool. */
static int shape_window(struct pr_model_builder *b, struct pr_model_draft *d,
                        const struct pr_layer_shape *in)
{
    static const char *const sides[] = {"rows", "columns"};
    struct pr_layer *l = &d->l;
    int64_t before[4] = {l->pad[0], l->pad[1], l->pad[2], l->pad[3]};

    l->shape.dims = 3;
    for (int i = 0; i < 2; i++) {
        struct pr_model_window w = {in->at[i + 1],  l->kernel[i], l->stride[i],
                                    l->dilation[i], l->pad[i],    l->pad[i + 2],
                                    d->same,        d->ceil};

        l->shape.at[i + 1] = pr_model_window_out(&w);
        if (!l->shape.at[i + 1])
            return too_large_window(b, d, &w, sides[i]);
        l->pad[i] = w.pad_begin;
        l->pad[i + 2] = w.pad_end;
    }
    return settle_count(b, d, before);
}

static int shape_conv(struct pr_model_builder *b, struct pr_model_draft *d,
                      const struct pr_layer_shape *in)
{
    struct pr_layer *l = &d->l;

    if (d->depthwise)
        l->groups = in->at[0];
    if (in->at[0] % l->groups || l->out % l->groups)
        return PR_MODEL_FAIL(b, d,
                             "%" PRId64 " groups do not divide %" PRId64
                             " channels into %" PRId64,
                             l->groups, in->at[0], l->out);
    l->shape.at[0] = l->out;
    return shape_window(b, d, in);
}

/* ---- joins */

static int differ(struct pr_model_builder *b, const struct pr_model_draft *d,
                  unsigned i, const char *rule)
{
    const struct pr_layer *first = input(b, d, 0), *other = input(b, d, i);
    char one[72], two[72];

    return PR_MODEL_FAIL(b, d, "'%s' wants %s, got %s of '%s' and %s of '%s'",
                         pr_layer_op_name(d->l.op), rule,
                         pr_shape_text(&first->shape, one), first->name,
                         pr_shape_text(&other->shape, two), other->name);
}

static int shape_join(struct pr_model_builder *b, struct pr_model_draft *d)
{
    bool add = d->l.op == PR_LAYER_ADD;
    struct pr_layer_shape *s = &d->l.shape;

    *s = input(b, d, 0)->shape;
    for (unsigned i = 1; i < d->l.input_count; i++) {
        const struct pr_layer_shape *in = &input(b, d, i)->shape;
        bool same = in->dims == s->dims;

        for (unsigned k = 1; same && k < s->dims; k++)
            same = in->at[k] == s->at[k];
        if (add && (!same || in->at[0] != s->at[0]))
            return differ(b, d, i, "equal shapes");
        if (!same)
            return differ(b, d, i, "equal rows and columns");
        if (!add)
            s->at[0] += in->at[0];
    }
    return PR_OK;
}

/* ---- all ops */

static int want_dims(struct pr_model_builder *b, const struct pr_model_draft *d,
                     unsigned dims)
{
    const struct pr_layer *in = input(b, d, 0);
    char text[72];
    int rc;

    if (in->shape.dims == dims)
        return PR_OK;
    rc = PR_MODEL_FAIL(b, d, "'%s' wants %s, got %s of '%s'",
                       pr_layer_op_name(d->l.op),
                       dims == 3 ? "[channels, rows, columns]" : "[features]",
                       pr_shape_text(&in->shape, text), in->name);
    return dims == 1 ? pr_hint(b->err, "flatten or global_pool before it makes "
                                       "one of it")
                     : rc;
}

static int shape_by_op(struct pr_model_builder *b, struct pr_model_draft *d)
{
    const struct pr_layer_shape *in = &input(b, d, 0)->shape;
    int rc;

    switch (d->l.op) {
    case PR_LAYER_CONV:
        rc = want_dims(b, d, 3);
        return rc ? rc : shape_conv(b, d, in);
    case PR_LAYER_MAX_POOL:
    case PR_LAYER_AVERAGE_POOL:
        d->l.shape.at[0] = in->at[0];
        rc = want_dims(b, d, 3);
        return rc ? rc : shape_window(b, d, in);
    case PR_LAYER_GLOBAL_POOL:
        d->l.shape = (struct pr_layer_shape){1, {in->at[0]}};
        return want_dims(b, d, 3);
    case PR_LAYER_LINEAR:
        d->l.shape = (struct pr_layer_shape){1, {d->l.out}};
        return PR_OK;
    case PR_LAYER_FLATTEN:
        d->l.shape.dims = 1;
        return pr_shape_elements(in, &d->l.shape.at[0]) ? PR_OK : PR_E_BUG;
    case PR_LAYER_CONCAT:
    case PR_LAYER_ADD:
        return shape_join(b, d);
    default:
        d->l.shape = *in;
        return d->l.op == PR_LAYER_LRN       ? want_dims(b, d, 3)
               : d->l.op == PR_LAYER_SOFTMAX ? want_dims(b, d, 1)
                                             : PR_OK;
    }
}

int pr_model_shape(struct pr_model_builder *b, struct pr_model_draft *d)
{
    int64_t elements;
    char text[72];
    int rc = shape_by_op(b, d);
    bool fits = true;

    if (rc)
        return rc;
    for (unsigned i = 0; i < d->l.shape.dims; i++)
        fits = fits && d->l.shape.at[i] <= PR_MODEL_DIM;
    if (!fits || !pr_shape_elements(&d->l.shape, &elements))
        return PR_MODEL_FAIL(b, d, "the output of '%s' is too large: %s",
                             d->l.name, pr_shape_text(&d->l.shape, text));
    if (!pr_model_count(&d->l, &input(b, d, 0)->shape))
        return PR_MODEL_FAIL(b, d, "'%s' is too large to be counted",
                             d->l.name);
    return PR_OK;
}
