/* Shapes of what works on images: windows, and what moves or repeats their
 * points. */
#include "nn/model/model_impl.h"

#include <inttypes.h>

static int64_t divide_rounded_up(int64_t a, int64_t by)
{
    return a > 0 ? (a + by - 1) / by : -(-a / by);
}

/* ---- windows */

int64_t pr_model_window_out(struct pr_model_window *w)
{
    int64_t reach = w->dilation * (w->kernel - 1) + 1, span, out;

    if (w->same) {
        out = divide_rounded_up(w->in, w->stride);
        span = (out - 1) * w->stride + reach - w->in;
        w->pad_begin = span > 0 ? span / 2 : 0;
        w->pad_end = span > 0 ? span - w->pad_begin : 0;
        return out;
    }
    span = w->in + w->pad_begin + w->pad_end - reach;
    if (!w->ceil)
        return span < 0 ? 0 : span / w->stride + 1;
    out = divide_rounded_up(span, w->stride) + 1;
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

static int fail_large_window(struct pr_model_builder *b,
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
            return fail_large_window(b, d, &w, sides[i]);
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

static int shape_transposed(struct pr_model_builder *b,
                            struct pr_model_draft *d,
                            const struct pr_layer_shape *in)
{
    struct pr_layer *l = &d->l;

    l->shape = (struct pr_layer_shape){3, {l->out}};
    for (int i = 0; i < 2; i++) {
        int64_t out = (in->at[i + 1] - 1) * l->stride[i] + l->kernel[i] -
                      l->pad[i] - l->pad[i + 2];

        if (out < 1)
            return PR_MODEL_FAIL(b, d,
                                 "'%s' has more padding than there is to "
                                 "take away",
                                 l->name);
        l->shape.at[i + 1] = out;
    }
    return PR_OK;
}

/* ---- points */

static int shape_reflect(struct pr_model_builder *b, struct pr_model_draft *d,
                         const struct pr_layer_shape *in)
{
    struct pr_layer *l = &d->l;

    l->shape = *in;
    for (int i = 0; i < 4; i++) {
        if (l->pad[i] >= in->at[i % 2 + 1])
            return PR_MODEL_FAIL(b, d,
                                 "'reflect_pad' has less than the %" PRId64
                                 " %s there are, not %" PRId64,
                                 in->at[i % 2 + 1], i % 2 ? "columns" : "rows",
                                 l->pad[i]);
        l->shape.at[i % 2 + 1] += l->pad[i];
    }
    return PR_OK;
}

static int shape_enlarged(struct pr_model_builder *b, struct pr_model_draft *d,
                          const struct pr_layer_shape *in)
{
    int64_t size = d->l.size, each = size;

    d->l.shape = *in;
    if (size > PR_MODEL_DIM / in->at[1] || size > PR_MODEL_DIM / in->at[2])
        return PR_MODEL_FAIL(b, d, "the output of '%s' is too large",
                             d->l.name);
    d->l.shape.at[1] *= size;
    d->l.shape.at[2] *= size;
    if (d->l.op == PR_LAYER_UPSAMPLE)
        return PR_OK;
    each *= size; /* at most 2^60 */
    if (in->at[0] % each)
        return PR_MODEL_FAIL(b, d,
                             "'pixel_shuffle' wants channels in groups of "
                             "%" PRId64 ", got %" PRId64,
                             each, in->at[0]);
    d->l.shape.at[0] /= each;
    return PR_OK;
}

int pr_model_shape_image(struct pr_model_builder *b, struct pr_model_draft *d)
{
    const struct pr_layer_shape *in = &pr_model_draft_input(b, d, 0)->shape;
    int rc = pr_model_check_dims(b, d, 0, PR_DIMS_3);

    if (rc)
        return rc;
    switch (d->l.op) {
    case PR_LAYER_CONV:
        return shape_conv(b, d, in);
    case PR_LAYER_TRANSPOSED_CONV:
        return shape_transposed(b, d, in);
    case PR_LAYER_MAX_POOL:
    case PR_LAYER_AVERAGE_POOL:
        d->l.shape.at[0] = in->at[0];
        return shape_window(b, d, in);
    case PR_LAYER_REFLECT_PAD:
        return shape_reflect(b, d, in);
    case PR_LAYER_PIXEL_SHUFFLE:
    case PR_LAYER_UPSAMPLE:
        return shape_enlarged(b, d, in);
    case PR_LAYER_GLOBAL_POOL:
        d->l.shape = (struct pr_layer_shape){1, {in->at[0]}};
        return PR_OK;
    case PR_LAYER_GRAM:
        d->l.shape = (struct pr_layer_shape){2, {in->at[0], in->at[0]}};
        return PR_OK;
    default: /* lrn, instance_norm */
        d->l.shape = *in;
        return PR_OK;
    }
}
