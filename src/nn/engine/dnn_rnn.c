/* Recurrent primitives, in the words of oneDNN 2 and of oneDNN 3. */
#include "nn/engine/dnn_impl.h"

static const struct pr_layout *new_tagged_layout(struct pr_onednn *d, int dims,
                                                 const dnnl_dims_t at,
                                                 dnnl_format_tag_t tag)
{
    struct pr_layout *l = NULL;

#if DNNL_VERSION_MAJOR >= 3
    dnnl_memory_desc_t md;
    if (d->api->dnnl_memory_desc_create_with_tag(&md, dims, at, dnnl_f32,
                                                 tag) != dnnl_success)
        return NULL;
    l = pr_layout_from_md(d, md);
    d->api->dnnl_memory_desc_destroy(md);
#else
    dnnl_memory_desc_t md;
    if (d->api->dnnl_memory_desc_init_by_tag(&md, dims, at, dnnl_f32, tag) !=
        dnnl_success)
        return NULL;
    l = pr_layout_from_md(d, &md);
#endif
    return l;
}

const struct pr_layout *pr_layout_gates(struct pr_onednn *d, int64_t gates,
                                        int64_t out, int64_t in)
{
    return new_tagged_layout(d, 5, (dnnl_dims_t){1, 1, in, gates, out},
                             dnnl_ldgoi);
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

    src = new_tagged_layout(d, 3, (dnnl_dims_t){w->rows, w->batch, w->in},
                            dnnl_ntc);
    dst = new_tagged_layout(d, 3, (dnnl_dims_t){w->rows, w->batch, w->out},
                            dnnl_ntc);
    weights = new_tagged_layout(d, 5, (dnnl_dims_t){1, 1, w->in, gates, w->out},
                                dnnl_format_tag_any);
    recurrent = new_tagged_layout(
        d, 5, (dnnl_dims_t){1, 1, w->out, gates, w->out}, dnnl_format_tag_any);
    bias = new_tagged_layout(d, 4, (dnnl_dims_t){1, 1, 4, w->out}, dnnl_ldgo);
    state = new_tagged_layout(d, 4, (dnnl_dims_t){1, 1, w->batch, w->out},
                              dnnl_ldnc);
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
