/* Primitives that move values: reorders, concatenations and parts of them. */
#include "nn/engine/dnn_impl.h"

int pr_primitive_reorder(struct pr_onednn *d, const struct pr_layout *from,
                         const struct pr_layout *to, struct pr_primitive **ret,
                         struct pr_err *err)
{
    dnnl_primitive_desc_t desc = NULL;
    dnnl_primitive_attr_t attr = NULL;
    dnnl_status_t st = pr_primitive_new_attr(d->api, &attr);

    if (!st)
        st = d->api->dnnl_reorder_primitive_desc_create(
            &desc, pr_layout_md(from), d->engine, pr_layout_md(to), d->engine,
            attr);
    return pr_primitive_finish(d, attr, st, desc, ret, err);
}

int pr_primitive_slice(struct pr_onednn *d, const struct pr_layout *from,
                       int64_t first, const struct pr_layout *to,
                       struct pr_primitive **ret, struct pr_err *err)
{
    dnnl_dims_t sizes, offsets = {0};
    struct pr_layout *part;
    dnnl_status_t st;

    for (unsigned i = 0; i < to->dims; i++)
        sizes[i] = to->at[i];
    offsets[1] = first;
#if DNNL_VERSION_MAJOR >= 3
    dnnl_memory_desc_t md = NULL;
    st = d->api->dnnl_memory_desc_create_submemory(&md, pr_layout_md(from),
                                                   sizes, offsets);
    part = st ? NULL : pr_layout_from_md(d, md);
    if (!st)
        d->api->dnnl_memory_desc_destroy(md);
#else
    dnnl_memory_desc_t md;
    st = d->api->dnnl_memory_desc_init_submemory(&md, pr_layout_md(from), sizes,
                                                 offsets);
    part = st ? NULL : pr_layout_from_md(d, &md);
#endif
    if (st)
        return pr_fail(err, PR_E_UNAVAIL, "oneDNN", "it has no such slice");
    if (!part)
        return pr_fail_nomem(err);
    return pr_primitive_reorder(d, part, to, ret, err);
}

int pr_primitive_concat(struct pr_onednn *d,
                        const struct pr_layout *const *srcs, unsigned count,
                        const struct pr_layout *dst, struct pr_primitive **ret,
                        struct pr_err *err)
{
    dnnl_primitive_desc_t desc = NULL;
    dnnl_primitive_attr_t attr = NULL;
    dnnl_status_t st = pr_primitive_new_attr(d->api, &attr);

#if DNNL_VERSION_MAJOR >= 3
    const_dnnl_memory_desc_t mds[PR_CONCAT_INPUTS];
    for (unsigned i = 0; i < count; i++)
        mds[i] = srcs[i]->md;
    if (!st)
        st = d->api->dnnl_concat_primitive_desc_create(
            &desc, d->engine, pr_layout_md(dst), (int)count, 1, mds, attr);
#else
    dnnl_memory_desc_t mds[PR_CONCAT_INPUTS];
    for (unsigned i = 0; i < count; i++)
        mds[i] = srcs[i]->md;
    if (!st)
        st = d->api->dnnl_concat_primitive_desc_create(
            &desc, pr_layout_md(dst), (int)count, 1, mds, attr, d->engine);
#endif
    return pr_primitive_finish(d, attr, st, desc, ret, err);
}
