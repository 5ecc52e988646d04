/*
 * The shape of each layer's output, from those of its inputs; what a layer
 * costs, and the tensors that it keeps.
 */
#include "nn/model/model_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- what comes in */

/* Which shapes: bits of 1 << dims. */
enum { DIMS_1 = 2, DIMS_2 = 4, DIMS_3 = 8 };

static const char *const wanted[] = {
    [DIMS_1] = "[features]",
    [DIMS_2] = "[rows, features]",
    [DIMS_1 | DIMS_2] = "[features] or [rows, features]",
    [DIMS_3] = "[channels, rows, columns]",
};

static int model_check_dims(struct pr_model_builder *b,
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
    if (which & DIMS_1)
        return pr_hint(b->err,
                       "flatten or global_pool before it makes one of it");
    return which == DIMS_2
               ? pr_hint(b->err, "reshape before it makes rows of it")
               : rc;
}

/* ---- images: windows, and what moves or repeats their points */

static int64_t divide_rounded_up(int64_t a, int64_t by)
{
    return a > 0 ? (a + by - 1) / by : -(-a / by);
}

/* ---- images: windows */

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

/* ---- images: points */

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

static int model_shape_image(struct pr_model_builder *b,
                             struct pr_model_draft *d)
{
    const struct pr_layer_shape *in = &pr_model_draft_input(b, d, 0)->shape;
    int rc = model_check_dims(b, d, 0, DIMS_3);

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

/* ---- rows: [rows, features], of a sequence its times */

static int fail_shapes(struct pr_model_builder *b,
                       const struct pr_model_draft *d, unsigned i, unsigned k,
                       const char *rule)
{
    const struct pr_layer *one = pr_model_draft_input(b, d, i);
    const struct pr_layer *two = pr_model_draft_input(b, d, k);
    char x[72], y[72];

    return PR_MODEL_FAIL(b, d, "'%s' wants %s, got %s of '%s' and %s of '%s'",
                         pr_layer_op_name(d->l.op), rule,
                         pr_shape_text(&one->shape, x), one->name,
                         pr_shape_text(&two->shape, y), two->name);
}

/* ---- rows: attention */

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
        rc = model_check_dims(b, d, i, DIMS_2);
    if (rc)
        return rc;
    q = &pr_model_draft_input(b, d, 0)->shape;
    k = &pr_model_draft_input(b, d, 1)->shape;
    v = &pr_model_draft_input(b, d, 2)->shape;
    if (q->at[1] != k->at[1])
        return fail_shapes(b, d, 0, 1, "equal features of queries and keys");
    if (k->at[0] != v->at[0])
        return fail_shapes(b, d, 1, 2, "as many values as keys");
    if (d->l.op == PR_LAYER_ATTENTION && k->at[1] != v->at[1])
        return fail_shapes(b, d, 1, 2, "equal features of keys and values");
    if (d->l.causal && q->at[0] != k->at[0])
        return fail_shapes(b, d, 0, 1, "as many queries as keys to be causal");
    return PR_OK;
}

static int shape_attention(struct pr_model_builder *b, struct pr_model_draft *d)
{
    const struct pr_layer *in = pr_model_draft_input(b, d, 0);
    bool is_one = d->l.input_count - d->l.has_lengths == 1;
    int64_t width = in->shape.at[1];
    int rc = is_one ? model_check_dims(b, d, 0, DIMS_2)
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

/* ---- rows: the others */

static int shape_gather(struct pr_model_builder *b, struct pr_model_draft *d)
{
    const struct pr_layer *rows = pr_model_draft_input(b, d, 0);
    const struct pr_layer *ids = pr_model_draft_input(b, d, 1);
    int rc = model_check_dims(b, d, 0, DIMS_2);

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

static int model_shape_rows(struct pr_model_builder *b,
                            struct pr_model_draft *d)
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
        return model_check_dims(b, d, 0, DIMS_2);
    default: /* lstm, gru */
        *s = (struct pr_layer_shape){2, {in->shape.at[0], d->l.out}};
        return model_check_dims(b, d, 0, DIMS_2);
    }
}

/* ---- what a layer costs: numbers learned, operations of a forward pass */

static bool multiply_count(uint64_t *x, int64_t by)
{
    return !__builtin_mul_overflow(*x, (uint64_t)by, x) && *x <= INT64_MAX;
}

bool pr_shape_elements(const struct pr_layer_shape *s, int64_t *ret)
{
    uint64_t n = 1;

    for (unsigned i = 0; i < s->dims; i++)
        if (!multiply_count(&n, s->at[i]))
            return false;
    *ret = (int64_t)n;
    return n <= (uint64_t)PR_MODEL_ELEMENTS;
}

/* What its tensors hold of learned numbers. */
static bool count_params(const struct pr_model *m, struct pr_layer *l)
{
    struct pr_layer_tensor t[PR_LAYER_TENSORS];
    unsigned n = pr_layer_tensors(m, l, t);

    l->params = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t elements = 1;

        for (unsigned k = 0; k < t[i].dims; k++)
            if (!multiply_count(&elements, t[i].at[k]))
                return false;
        l->params += t[i].is_learned ? elements : 0;
        if (l->params > INT64_MAX)
            return false;
    }
    return true;
}

/* ---- costs: operations */

static bool multiply_all_counts(uint64_t *ret, const int64_t *of,
                                unsigned count)
{
    *ret = 1;
    for (unsigned i = 0; i < count; i++)
        if (!multiply_count(ret, of[i]))
            return false;
    return true;
}

/* Each weight is used once for each place. */
static bool count_conv(struct pr_layer *l, const struct pr_layer_shape *in)
{
    bool turned = l->op == PR_LAYER_TRANSPOSED_CONV;
    const int64_t *places = turned ? in->at : l->shape.at;
    int64_t of[] = {
        2,         l->out,   in->at[0] / l->groups, l->kernel[0], l->kernel[1],
        places[1], places[2]};

    return multiply_all_counts(&l->flops, of, sizeof of / sizeof *of);
}

static bool count_linear(struct pr_layer *l, const struct pr_layer_shape *in)
{
    int64_t of[] = {2, l->out, 0};

    return pr_shape_elements(in, &of[2]) &&
           multiply_all_counts(&l->flops, of, 3);
}

/* All gates of all rows: what comes in, and what was there. */
static bool count_gates(struct pr_layer *l, const struct pr_layer_shape *in)
{
    int64_t of[] = {2, l->op == PR_LAYER_LSTM ? 4 : 3, l->out, in->at[0],
                    in->at[1] + l->out};

    return multiply_all_counts(&l->flops, of, sizeof of / sizeof *of);
}

static bool count_attention(const struct pr_model *m, struct pr_layer *l)
{
    bool is_one = l->input_count - l->has_lengths == 1;
    const struct pr_layer *keys = &m->layers[l->inputs[is_one ? 0 : 1]];
    int64_t of[] = {4, l->shape.at[0], keys->shape.at[0], l->shape.at[1]};

    return multiply_all_counts(&l->flops, of, sizeof of / sizeof *of);
}

static bool count_gram(struct pr_layer *l, const struct pr_layer_shape *in)
{
    int64_t of[] = {2, in->at[0], in->at[0], in->at[1], in->at[2]};

    return multiply_all_counts(&l->flops, of, sizeof of / sizeof *of);
}

static bool count_flops(const struct pr_model *m, struct pr_layer *l)
{
    const struct pr_layer_shape *in = &m->layers[l->inputs[0]].shape;

    switch (l->op) {
    case PR_LAYER_CONV:
    case PR_LAYER_TRANSPOSED_CONV:
        return count_conv(l, in);
    case PR_LAYER_LINEAR:
        return count_linear(l, in);
    case PR_LAYER_LSTM:
    case PR_LAYER_GRU:
        return count_gates(l, in);
    case PR_LAYER_ATTENTION:
        return count_attention(m, l);
    case PR_LAYER_GRAM:
        return count_gram(l, in);
    default:
        return true;
    }
}

static bool model_count(const struct pr_model *m, struct pr_layer *l)
{
    return count_params(m, l) && count_flops(m, l);
}

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

/* The last dimension, or the channels of an image: what a norm has a weight for
 * each of. */
static int64_t shape_channels(const struct pr_layer_shape *s)
{
    return s->at[s->dims == 2 ? 1 : 0];
}

/* ---- joins */

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
            return fail_shapes(b, d, 0, i,
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
            return fail_shapes(b, d, 0, i, "equal shapes");
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

/* ---- ids */

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
        return model_shape_image(b, d);
    case PR_LAYER_EMBEDDING:
    case PR_LAYER_LSTM:
    case PR_LAYER_GRU:
    case PR_LAYER_ATTENTION:
    case PR_LAYER_ADDITIVE_ATTENTION:
    case PR_LAYER_GATHER:
    case PR_LAYER_TRANSPOSE:
        return model_shape_rows(b, d);
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
        return model_check_dims(b, d, 0, DIMS_1 | DIMS_2);
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
    if (!model_count(b->m, &d->l))
        return PR_MODEL_FAIL(b, d, "'%s' is too large to be counted",
                             d->l.name);
    return PR_OK;
}

/* ---- the tensors that a layer keeps: what is learned, what norms remember */

struct list {
    struct pr_layer_tensor *out;
    unsigned count;
};

static void tensor_list_add(struct list *list, const char *suffix,
                            unsigned dims, const int64_t *at)
{
    struct pr_layer_tensor *t = &list->out[list->count++];

    *t = (struct pr_layer_tensor){suffix, true, dims, {0}};
    for (unsigned i = 0; i < dims; i++)
        t->at[i] = at[i];
}

static void add_conv_tensors(struct list *list, const struct pr_layer *l,
                             const struct pr_layer_shape *in)
{
    bool turned = l->op == PR_LAYER_TRANSPOSED_CONV;
    int64_t each = in->at[0] / l->groups;

    tensor_list_add(list, "weight", 4,
                    (int64_t[]){turned ? each : l->out, turned ? l->out : each,
                                l->kernel[0], l->kernel[1]});
    if (l->bias)
        tensor_list_add(list, "bias", 1, &l->out);
}

static void add_linear_tensors(struct list *list, const struct pr_layer *l,
                               const struct pr_layer_shape *in)
{
    int64_t features = 1;

    for (unsigned i = in->dims == 2; i < in->dims; i++)
        features *= in->at[i];
    tensor_list_add(list, "weight", 2, (int64_t[]){l->out, features});
    if (l->bias)
        tensor_list_add(list, "bias", 1, &l->out);
}

static void add_norm_tensors(struct list *list, const struct pr_layer *l,
                             const struct pr_layer_shape *in)
{
    int64_t channels = shape_channels(in);
    unsigned n;

    if (l->has_scale)
        tensor_list_add(list, "weight", 1, &channels);
    tensor_list_add(list, "bias", 1, &channels);
    if (l->op != PR_LAYER_BATCH_NORM)
        return;
    n = list->count;
    tensor_list_add(list, "mean", 1, &channels);
    tensor_list_add(list, "var", 1, &channels);
    list->out[n].is_learned = list->out[n + 1].is_learned = false;
}

static void add_gate_tensors(struct list *list, const struct pr_layer *l,
                             const struct pr_layer_shape *in)
{
    int64_t all = (l->op == PR_LAYER_LSTM ? 4 : 3) * l->out;

    tensor_list_add(list, "weight", 2, (int64_t[]){all, in->at[1]});
    tensor_list_add(list, "recurrent", 2, (int64_t[]){all, l->out});
    tensor_list_add(list, "bias", 1, &all);
    tensor_list_add(list, "recurrent_bias", 1, &all);
}

unsigned pr_layer_tensors(const struct pr_model *m, const struct pr_layer *l,
                          struct pr_layer_tensor out[static PR_LAYER_TENSORS])
{
    const struct pr_layer_shape *in =
        l->input_count ? &m->layers[l->inputs[0]].shape : NULL;
    struct list list = {.out = out};

    switch (l->op) {
    case PR_LAYER_CONV:
    case PR_LAYER_TRANSPOSED_CONV:
        add_conv_tensors(&list, l, in);
        break;
    case PR_LAYER_LINEAR:
        add_linear_tensors(&list, l, in);
        break;
    case PR_LAYER_EMBEDDING:
        tensor_list_add(&list, "weight", 2, (int64_t[]){l->ids, l->out});
        break;
    case PR_LAYER_BATCH_NORM:
    case PR_LAYER_LAYER_NORM:
    case PR_LAYER_INSTANCE_NORM:
        add_norm_tensors(&list, l, in);
        break;
    case PR_LAYER_LSTM:
    case PR_LAYER_GRU:
        add_gate_tensors(&list, l, in);
        break;
    case PR_LAYER_ADDITIVE_ATTENTION:
        tensor_list_add(&list, "weight", 1, &in->at[1]);
        break;
    default:
        break;
    }
    return list.count;
}
