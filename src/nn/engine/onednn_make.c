/*
 * Descriptions of primitives, in the words of oneDNN 2 and of oneDNN 3: the
 * former has a descriptor for each operation and one function for all, the
 * latter a function for each.
 */
#include "nn/engine/onednn.h"

/* ---- recurrent layers */

const struct pr_layout *pr_layout_gates(struct pr_onednn *d, int64_t gates,
                                        int64_t out, int64_t in)
{
    return pr_layout_tagged(d, PR_LAYOUT_F32, 5,
                            (int64_t[]){1, 1, in, gates, out}, dnnl_ldgoi);
}

/* What all passes describe; NULL: has none. */
struct descs {
    pr_onednn_md src, dst, weights, recurrent, bias, state, cell;
    dnnl_prop_kind_t prop;
    dnnl_rnn_direction_t direction;
};

/* false: out of memory. */
static bool describe_rnn_tensors(struct pr_onednn *d,
                                 const struct pr_recurrent *w, bool backward,
                                 struct descs *ret)
{
    int64_t gates = w->is_gru ? 3 : 4;
    const struct pr_layout *src, *dst, *weights, *recurrent, *bias, *state;

    src = pr_layout_tagged(d, PR_LAYOUT_F32, 3,
                           (int64_t[]){w->rows, w->batch, w->in}, dnnl_ntc);
    dst = pr_layout_tagged(d, PR_LAYOUT_F32, 3,
                           (int64_t[]){w->rows, w->batch, w->out}, dnnl_ntc);
    weights = pr_layout_tagged(d, PR_LAYOUT_F32, 5,
                               (int64_t[]){1, 1, w->in, gates, w->out},
                               dnnl_format_tag_any);
    recurrent = pr_layout_tagged(d, PR_LAYOUT_F32, 5,
                                 (int64_t[]){1, 1, w->out, gates, w->out},
                                 dnnl_format_tag_any);
    bias = pr_layout_tagged(d, PR_LAYOUT_F32, 4, (int64_t[]){1, 1, 4, w->out},
                            dnnl_ldgo);
    state = pr_layout_tagged(d, PR_LAYOUT_F32, 4,
                             (int64_t[]){1, 1, w->batch, w->out}, dnnl_ldnc);
    if (!src || !dst || !weights || !recurrent || !bias || !state)
        return false;
    *ret = (struct descs){
        .src = pr_layout_md(src),
        .dst = pr_layout_md(dst),
        .weights = pr_layout_md(weights),
        .recurrent = pr_layout_md(recurrent),
        .bias = pr_layout_md(bias),
        .state = w->has_state ? pr_layout_md(state) : NULL,
        .cell = w->has_state ? pr_layout_md(state) : NULL,
        .prop = backward      ? dnnl_backward
                : w->training ? dnnl_forward_training
                              : dnnl_forward_inference,
        .direction = w->reverse ? dnnl_unidirectional_right2left
                                : dnnl_unidirectional_left2right,
    };
    return true;
}

#if DNNL_VERSION_MAJOR >= 3

static dnnl_status_t
create_rnn_desc(struct pr_onednn *d, const struct pr_recurrent *w,
                const struct descs *m, const_dnnl_primitive_desc_t forward,
                dnnl_primitive_attr_t attr, dnnl_primitive_desc_t *ret)
{
    const struct pr_onednn_api *f = d->api;

    if (w->is_gru && !forward)
        return f->dnnl_lbr_gru_forward_primitive_desc_create(
            ret, d->engine, m->prop, m->direction, m->src, m->state, m->weights,
            m->recurrent, m->bias, m->dst, m->state, 0, attr);
    if (w->is_gru)
        return f->dnnl_lbr_gru_backward_primitive_desc_create(
            ret, d->engine, m->prop, m->direction, m->src, m->state, m->weights,
            m->recurrent, m->bias, m->dst, m->state, m->src, m->state,
            m->weights, m->recurrent, m->bias, m->dst, m->state, 0, forward,
            attr);
    if (!forward)
        return f->dnnl_lstm_forward_primitive_desc_create(
            ret, d->engine, m->prop, m->direction, m->src, m->state, m->cell,
            m->weights, m->recurrent, NULL, NULL, m->bias, m->dst, m->state,
            m->cell, 0, attr);
    return f->dnnl_lstm_backward_primitive_desc_create(
        ret, d->engine, m->prop, m->direction, m->src, m->state, m->cell,
        m->weights, m->recurrent, NULL, NULL, m->bias, m->dst, m->state,
        m->cell, m->src, m->state, m->cell, m->weights, m->recurrent, NULL,
        NULL, m->bias, m->dst, m->state, m->cell, 0, forward, attr);
}

#else

static dnnl_status_t
create_rnn_desc(struct pr_onednn *d, const struct pr_recurrent *w,
                const struct descs *m, const_dnnl_primitive_desc_t forward,
                dnnl_primitive_attr_t attr, dnnl_primitive_desc_t *ret)
{
    const struct pr_onednn_api *f = d->api;
    dnnl_rnn_desc_t r;
    dnnl_status_t st;

    if (w->is_gru && !forward)
        st = f->dnnl_lbr_gru_forward_desc_init(
            &r, m->prop, m->direction, m->src, m->state, m->weights,
            m->recurrent, m->bias, m->dst, m->state, 0);
    else if (w->is_gru)
        st = f->dnnl_lbr_gru_backward_desc_init(
            &r, m->prop, m->direction, m->src, m->state, m->weights,
            m->recurrent, m->bias, m->dst, m->state, m->src, m->state,
            m->weights, m->recurrent, m->bias, m->dst, m->state, 0);
    else if (!forward)
        st = f->dnnl_lstm_forward_desc_init(
            &r, m->prop, m->direction, m->src, m->state, m->cell, m->weights,
            m->recurrent, m->bias, m->dst, m->state, m->cell, 0);
    else
        st = f->dnnl_lstm_backward_desc_init(
            &r, m->prop, m->direction, m->src, m->state, m->cell, m->weights,
            m->recurrent, m->bias, m->dst, m->state, m->cell, m->src, m->state,
            m->cell, m->weights, m->recurrent, m->bias, m->dst, m->state,
            m->cell, 0);
    return st ? st
              : f->dnnl_primitive_desc_create(ret, &r, attr, d->engine,
                                              forward);
}

#endif

int pr_primitive_recurrent(struct pr_onednn *d, const struct pr_recurrent *what,
                           const struct pr_primitive *forward,
                           struct pr_primitive **ret, struct pr_err *err)
{
    dnnl_primitive_desc_t desc = NULL;
    dnnl_primitive_attr_t attr = NULL;
    struct descs m;
    dnnl_status_t st;
    int rc;

    if (!describe_rnn_tensors(d, what, forward != NULL, &m))
        return pr_fail_nomem(err);
    st = pr_primitive_new_attr(d->api, &attr);
    if (!st)
        st = create_rnn_desc(d, what, &m, forward ? forward->desc : NULL, attr,
                             &desc);
    rc = pr_primitive_finish(d, attr, st, desc, ret, err);
    if (!rc)
        (*ret)->is_recurrent = true;
    return rc;
}

/* ---- products, pools, local response norm */

/* What is done to a result before it is stored. */
static dnnl_status_t add_post_ops(const struct pr_onednn_api *f,
                                  dnnl_primitive_attr_t attr, bool sum,
                                  bool relu)
{
    dnnl_post_ops_t ops = NULL;
    dnnl_status_t st = f->dnnl_post_ops_create(&ops);

    if (st)
        return st;
#if DNNL_VERSION_MAJOR >= 3
    if (sum)
        st = f->dnnl_post_ops_append_sum(ops, 1, 0, dnnl_data_type_undef);
    if (!st && relu)
        st = f->dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_relu, 0, 0);
#else
    if (sum)
        st = f->dnnl_post_ops_append_sum(ops, 1);
    if (!st && relu)
        st = f->dnnl_post_ops_append_eltwise(ops, 1, dnnl_eltwise_relu, 0, 0);
#endif
    if (!st)
        st = f->dnnl_primitive_attr_set_post_ops(attr, ops);
    f->dnnl_post_ops_destroy(ops);
    return st;
}

static dnnl_status_t new_attr(const struct pr_onednn_api *f, bool sum,
                              bool relu, dnnl_primitive_attr_t *ret)
{
    dnnl_status_t st = pr_primitive_new_attr(f, ret);

    if (!st && (sum || relu))
        st = add_post_ops(f, *ret, sum, relu);
    return st;
}

/* Numbers as oneDNN takes them. */
struct window {
    dnnl_dims_t kernel, stride, dilation, pad_l, pad_r;
};

static void fill_onednn_window(struct window *w, const int64_t *kernel,
                               const int64_t *stride, const int64_t *dilation,
                               const int64_t *pad)
{
    for (int i = 0; i < 2; i++) {
        w->kernel[i] = kernel ? kernel[i] : 0;
        w->stride[i] = stride[i];
        w->dilation[i] = dilation ? dilation[i] - 1 : 0; /* 0: none */
        w->pad_l[i] = pad[i];
        w->pad_r[i] = pad[2 + i];
    }
}

static dnnl_prop_kind_t pass_prop_kind(bool training)
{
    return training ? dnnl_forward_training : dnnl_forward_inference;
}

static dnnl_alg_kind_t pool_alg(enum pr_pool_kind kind)
{
    return kind == PR_POOL_MAX    ? dnnl_pooling_max
           : kind == PR_POOL_MEAN ? dnnl_pooling_avg_exclude_padding
                                  : dnnl_pooling_avg_include_padding;
}

static const_dnnl_primitive_desc_t
primitive_hint(const struct pr_primitive *forward)
{
    return forward ? forward->desc : NULL;
}

#if DNNL_VERSION_MAJOR >= 3

static dnnl_status_t create_conv_desc(struct pr_onednn *d, enum pr_pass pass,
                                      const struct pr_product *p,
                                      const_dnnl_primitive_desc_t hint,
                                      dnnl_primitive_attr_t attr,
                                      dnnl_primitive_desc_t *ret)
{
    const struct pr_onednn_api *f = d->api;
    pr_onednn_md src = pr_layout_md(p->src), weights = pr_layout_md(p->weights);
    pr_onednn_md bias = pr_layout_md(p->bias), dst = pr_layout_md(p->dst);
    dnnl_alg_kind_t alg = dnnl_convolution_direct;
    struct window w;

    fill_onednn_window(&w, NULL, p->stride, p->dilation, p->pad);
    if (pass == PR_FORWARD)
        return f->dnnl_convolution_forward_primitive_desc_create(
            ret, d->engine, pass_prop_kind(p->training), alg, src, weights,
            bias, dst, w.stride, w.dilation, w.pad_l, w.pad_r, attr);
    if (pass == PR_BACKWARD_DATA)
        return f->dnnl_convolution_backward_data_primitive_desc_create(
            ret, d->engine, alg, src, weights, dst, w.stride, w.dilation,
            w.pad_l, w.pad_r, hint, attr);
    return f->dnnl_convolution_backward_weights_primitive_desc_create(
        ret, d->engine, alg, src, weights, bias, dst, w.stride, w.dilation,
        w.pad_l, w.pad_r, hint, attr);
}

static dnnl_status_t create_linear_desc(struct pr_onednn *d, enum pr_pass pass,
                                        const struct pr_product *p,
                                        const_dnnl_primitive_desc_t hint,
                                        dnnl_primitive_attr_t attr,
                                        dnnl_primitive_desc_t *ret)
{
    const struct pr_onednn_api *f = d->api;
    pr_onednn_md src = pr_layout_md(p->src), weights = pr_layout_md(p->weights);
    pr_onednn_md bias = pr_layout_md(p->bias), dst = pr_layout_md(p->dst);

    if (pass == PR_FORWARD)
        return f->dnnl_inner_product_forward_primitive_desc_create(
            ret, d->engine, pass_prop_kind(p->training), src, weights, bias,
            dst, attr);
    if (pass == PR_BACKWARD_DATA)
        return f->dnnl_inner_product_backward_data_primitive_desc_create(
            ret, d->engine, src, weights, dst, hint, attr);
    return f->dnnl_inner_product_backward_weights_primitive_desc_create(
        ret, d->engine, src, weights, bias, dst, hint, attr);
}

static dnnl_status_t create_pool_desc(struct pr_onednn *d, enum pr_pass pass,
                                      const struct pr_pool *p,
                                      const_dnnl_primitive_desc_t hint,
                                      dnnl_primitive_attr_t attr,
                                      dnnl_primitive_desc_t *ret)
{
    const struct pr_onednn_api *f = d->api;
    pr_onednn_md src = pr_layout_md(p->src), dst = pr_layout_md(p->dst);
    struct window w;

    fill_onednn_window(&w, p->kernel, p->stride, NULL, p->pad);
    if (pass == PR_FORWARD)
        return f->dnnl_pooling_forward_primitive_desc_create(
            ret, d->engine, pass_prop_kind(p->training), pool_alg(p->kind), src,
            dst, w.stride, w.kernel, w.dilation, w.pad_l, w.pad_r, attr);
    return f->dnnl_pooling_backward_primitive_desc_create(
        ret, d->engine, pool_alg(p->kind), src, dst, w.stride, w.kernel,
        w.dilation, w.pad_l, w.pad_r, hint, attr);
}

static dnnl_status_t create_lrn_desc(struct pr_onednn *d, enum pr_pass pass,
                                     const struct pr_lrn *p,
                                     const_dnnl_primitive_desc_t hint,
                                     dnnl_primitive_attr_t attr,
                                     dnnl_primitive_desc_t *ret)
{
    const struct pr_onednn_api *f = d->api;
    pr_onednn_md src = pr_layout_md(p->src);
    float alpha = (float)p->alpha, beta = (float)p->beta, k = (float)p->k;

    if (pass == PR_FORWARD)
        return f->dnnl_lrn_forward_primitive_desc_create(
            ret, d->engine, pass_prop_kind(p->training),
            dnnl_lrn_across_channels, src, src, p->size, alpha, beta, k, attr);
    return f->dnnl_lrn_backward_primitive_desc_create(
        ret, d->engine, dnnl_lrn_across_channels, src, src, src, p->size, alpha,
        beta, k, hint, attr);
}

#else

static dnnl_status_t create_conv_desc(struct pr_onednn *d, enum pr_pass pass,
                                      const struct pr_product *p,
                                      const_dnnl_primitive_desc_t hint,
                                      dnnl_primitive_attr_t attr,
                                      dnnl_primitive_desc_t *ret)
{
    const struct pr_onednn_api *f = d->api;
    pr_onednn_md src = pr_layout_md(p->src), weights = pr_layout_md(p->weights);
    pr_onednn_md bias = pr_layout_md(p->bias), dst = pr_layout_md(p->dst);
    dnnl_alg_kind_t alg = dnnl_convolution_direct;
    dnnl_convolution_desc_t c;
    dnnl_status_t st;
    struct window w;

    fill_onednn_window(&w, NULL, p->stride, p->dilation, p->pad);
    if (pass == PR_FORWARD)
        st = f->dnnl_dilated_convolution_forward_desc_init(
            &c, pass_prop_kind(p->training), alg, src, weights, bias, dst,
            w.stride, w.dilation, w.pad_l, w.pad_r);
    else if (pass == PR_BACKWARD_DATA)
        st = f->dnnl_dilated_convolution_backward_data_desc_init(
            &c, alg, src, weights, dst, w.stride, w.dilation, w.pad_l, w.pad_r);
    else
        st = f->dnnl_dilated_convolution_backward_weights_desc_init(
            &c, alg, src, weights, bias, dst, w.stride, w.dilation, w.pad_l,
            w.pad_r);
    return st ? st
              : f->dnnl_primitive_desc_create(ret, &c, attr, d->engine, hint);
}

static dnnl_status_t create_linear_desc(struct pr_onednn *d, enum pr_pass pass,
                                        const struct pr_product *p,
                                        const_dnnl_primitive_desc_t hint,
                                        dnnl_primitive_attr_t attr,
                                        dnnl_primitive_desc_t *ret)
{
    const struct pr_onednn_api *f = d->api;
    pr_onednn_md src = pr_layout_md(p->src), weights = pr_layout_md(p->weights);
    pr_onednn_md bias = pr_layout_md(p->bias), dst = pr_layout_md(p->dst);
    dnnl_inner_product_desc_t i;
    dnnl_status_t st;

    if (pass == PR_FORWARD)
        st = f->dnnl_inner_product_forward_desc_init(
            &i, pass_prop_kind(p->training), src, weights, bias, dst);
    else if (pass == PR_BACKWARD_DATA)
        st = f->dnnl_inner_product_backward_data_desc_init(&i, src, weights,
                                                           dst);
    else
        st = f->dnnl_inner_product_backward_weights_desc_init(&i, src, weights,
                                                              bias, dst);
    return st ? st
              : f->dnnl_primitive_desc_create(ret, &i, attr, d->engine, hint);
}

static dnnl_status_t create_pool_desc(struct pr_onednn *d, enum pr_pass pass,
                                      const struct pr_pool *p,
                                      const_dnnl_primitive_desc_t hint,
                                      dnnl_primitive_attr_t attr,
                                      dnnl_primitive_desc_t *ret)
{
    const struct pr_onednn_api *f = d->api;
    pr_onednn_md src = pr_layout_md(p->src), dst = pr_layout_md(p->dst);
    dnnl_pooling_desc_t desc;
    dnnl_status_t st;
    struct window w;

    fill_onednn_window(&w, p->kernel, p->stride, NULL, p->pad);
    if (pass == PR_FORWARD)
        st = f->dnnl_pooling_forward_desc_init(
            &desc, pass_prop_kind(p->training), pool_alg(p->kind), src, dst,
            w.stride, w.kernel, w.pad_l, w.pad_r);
    else
        st = f->dnnl_pooling_backward_desc_init(&desc, pool_alg(p->kind), src,
                                                dst, w.stride, w.kernel,
                                                w.pad_l, w.pad_r);
    return st ? st
              : f->dnnl_primitive_desc_create(ret, &desc, attr, d->engine,
                                              hint);
}

static dnnl_status_t create_lrn_desc(struct pr_onednn *d, enum pr_pass pass,
                                     const struct pr_lrn *p,
                                     const_dnnl_primitive_desc_t hint,
                                     dnnl_primitive_attr_t attr,
                                     dnnl_primitive_desc_t *ret)
{
    const struct pr_onednn_api *f = d->api;
    pr_onednn_md src = pr_layout_md(p->src);
    float alpha = (float)p->alpha, beta = (float)p->beta, k = (float)p->k;
    dnnl_lrn_desc_t desc;
    dnnl_status_t st;

    if (pass == PR_FORWARD)
        st = f->dnnl_lrn_forward_desc_init(&desc, pass_prop_kind(p->training),
                                           dnnl_lrn_across_channels, src,
                                           p->size, alpha, beta, k);
    else
        st = f->dnnl_lrn_backward_desc_init(&desc, dnnl_lrn_across_channels,
                                            src, src, p->size, alpha, beta, k);
    return st ? st
              : f->dnnl_primitive_desc_create(ret, &desc, attr, d->engine,
                                              hint);
}

#endif

int pr_primitive_product(struct pr_onednn *d, enum pr_pass pass,
                         const struct pr_product *what,
                         const struct pr_primitive *forward,
                         struct pr_primitive **ret, struct pr_err *err)
{
    dnnl_primitive_attr_t attr = NULL;
    dnnl_primitive_desc_t desc = NULL;
    dnnl_status_t st = new_attr(d->api, pass == PR_FORWARD && what->sum,
                                pass == PR_FORWARD && what->relu, &attr);

    if (!st)
        st = (what->is_linear ? create_linear_desc : create_conv_desc)(
            d, pass, what, primitive_hint(forward), attr, &desc);
    return pr_primitive_finish(d, attr, st, desc, ret, err);
}

int pr_primitive_pool(struct pr_onednn *d, enum pr_pass pass,
                      const struct pr_pool *what,
                      const struct pr_primitive *forward,
                      struct pr_primitive **ret, struct pr_err *err)
{
    dnnl_primitive_attr_t attr = NULL;
    dnnl_primitive_desc_t desc = NULL;
    dnnl_status_t st = new_attr(d->api, false, false, &attr);

    if (!st)
        st = create_pool_desc(d, pass, what, primitive_hint(forward), attr,
                              &desc);
    return pr_primitive_finish(d, attr, st, desc, ret, err);
}

int pr_primitive_lrn(struct pr_onednn *d, enum pr_pass pass,
                     const struct pr_lrn *what,
                     const struct pr_primitive *forward,
                     struct pr_primitive **ret, struct pr_err *err)
{
    dnnl_primitive_attr_t attr = NULL;
    dnnl_primitive_desc_t desc = NULL;
    dnnl_status_t st = new_attr(d->api, false, false, &attr);

    if (!st)
        st = create_lrn_desc(d, pass, what, primitive_hint(forward), attr,
                             &desc);
    return pr_primitive_finish(d, attr, st, desc, ret, err);
}
