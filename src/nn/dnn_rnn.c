/* Recurrent primitives, in the words of oneDNN 2 and of oneDNN 3. */
#include "nn/dnn_impl.h"

static const struct pr_lay *tagged(struct pr_dnn *d, int dims,
                                   const dnnl_dims_t at, dnnl_format_tag_t tag)
{
    struct pr_lay *l = NULL;

#if DNNL_VERSION_MAJOR >= 3
    dnnl_memory_desc_t md;
    if (d->api->dnnl_memory_desc_create_with_tag(&md, dims, at, dnnl_f32,
                                                 tag) != dnnl_success)
        return NULL;
    l = pr_lay_take(d, md);
    d->api->dnnl_memory_desc_destroy(md);
#else
    dnnl_memory_desc_t md;
    if (d->api->dnnl_memory_desc_init_by_tag(&md, dims, at, dnnl_f32, tag) !=
        dnnl_success)
        return NULL;
    l = pr_lay_take(d, &md);
#endif
    return l;
}

const struct pr_lay *pr_lay_gates(struct pr_dnn *d, int64_t gates, int64_t out,
                                  int64_t in)
{
    return tagged(d, 5, (dnnl_dims_t){1, 1, in, gates, out}, dnnl_ldgoi);
}

/* What all passes describe; NULL: has none. */
struct descs {
    pr_dnn_md src, dst, weights, recurrent, bias, state, cell;
    dnnl_prop_kind_t prop;
    dnnl_rnn_direction_t direction;
};

/* false: out of memory. */
static bool describe(struct pr_dnn *d, const struct pr_recurrent *w,
                     bool backward, struct descs *ret)
{
    int64_t gates = w->is_gru ? 3 : 4;
    const struct pr_lay *src, *dst, *weights, *recurrent, *bias, *state;

    src = tagged(d, 3, (dnnl_dims_t){w->rows, w->batch, w->in}, dnnl_ntc);
    dst = tagged(d, 3, (dnnl_dims_t){w->rows, w->batch, w->out}, dnnl_ntc);
    weights = tagged(d, 5, (dnnl_dims_t){1, 1, w->in, gates, w->out},
                     dnnl_format_tag_any);
    recurrent = tagged(d, 5, (dnnl_dims_t){1, 1, w->out, gates, w->out},
                       dnnl_format_tag_any);
    bias = tagged(d, 4, (dnnl_dims_t){1, 1, 4, w->out}, dnnl_ldgo);
    state = tagged(d, 4, (dnnl_dims_t){1, 1, w->batch, w->out}, dnnl_ldnc);
    if (!src || !dst || !weights || !recurrent || !bias || !state)
        return false;
    *ret = (struct descs){
        .src = pr_lay_md(src),
        .dst = pr_lay_md(dst),
        .weights = pr_lay_md(weights),
        .recurrent = pr_lay_md(recurrent),
        .bias = pr_lay_md(bias),
        .state = w->has_state ? pr_lay_md(state) : NULL,
        .cell = w->has_state ? pr_lay_md(state) : NULL,
        .prop = backward      ? dnnl_backward
                : w->training ? dnnl_forward_training
                              : dnnl_forward_inference,
        .direction = w->reverse ? dnnl_unidirectional_right2left
                                : dnnl_unidirectional_left2right,
    };
    return true;
}

#if DNNL_VERSION_MAJOR >= 3

static dnnl_status_t make(struct pr_dnn *d, const struct pr_recurrent *w,
                          const struct descs *m,
                          const_dnnl_primitive_desc_t forward,
                          dnnl_primitive_attr_t attr,
                          dnnl_primitive_desc_t *ret)
{
    const struct pr_dnn_api *f = d->api;

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

static dnnl_status_t make(struct pr_dnn *d, const struct pr_recurrent *w,
                          const struct descs *m,
                          const_dnnl_primitive_desc_t forward,
                          dnnl_primitive_attr_t attr,
                          dnnl_primitive_desc_t *ret)
{
    const struct pr_dnn_api *f = d->api;
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

int pr_prim_recurrent(struct pr_dnn *d, const struct pr_recurrent *what,
                      const struct pr_prim *forward, struct pr_prim **ret,
                      struct pr_err *err)
{
    dnnl_primitive_desc_t desc = NULL;
    dnnl_primitive_attr_t attr = NULL;
    struct descs m;
    dnnl_status_t st;
    int rc;

    if (!describe(d, what, forward != NULL, &m))
        return pr_fail_nomem(err);
    st = pr_prim_attr(d->api, &attr);
    if (!st)
        st = make(d, what, &m, forward ? forward->desc : NULL, attr, &desc);
    rc = pr_prim_end(d, attr, st, desc, ret, err);
    if (!rc)
        (*ret)->is_recurrent = true;
    return rc;
}
