/* Layouts: what oneDNN says of them, and how loops of ours walk them. */
#include "nn/engine/dnn_impl.h"

#include <stdio.h>
#include <string.h>

static dnnl_data_type_t layout_data_type(enum pr_layout_type type)
{
    return type == PR_LAYOUT_BF16 ? dnnl_bf16 : dnnl_f32;
}

/* Reads the description into the fields of ours. */
#if DNNL_VERSION_MAJOR >= 3
static void read_layout_desc(struct pr_layout *l)
{
    const dnnl_dims_t *dims, *padded, *stride, *blks, *idxs;
    dnnl_data_type_t type = dnnl_f32;
    dnnl_format_kind_t kind = dnnl_format_kind_undef;
    const struct pr_onednn_api *f = l->api;
    int n = 0, blocks = 0;

    f->dnnl_memory_desc_query(l->md, dnnl_query_ndims_s32, &n);
    f->dnnl_memory_desc_query(l->md, dnnl_query_dims, (void *)&dims);
    f->dnnl_memory_desc_query(l->md, dnnl_query_data_type, &type);
    f->dnnl_memory_desc_query(l->md, dnnl_query_format_kind, &kind);
    l->type = type == dnnl_bf16 ? PR_LAYOUT_BF16 : PR_LAYOUT_F32;
    l->is_any = kind == dnnl_format_kind_any;
    l->dims = n > PR_LAYOUT_DIMS ? 0 : (unsigned)n;
    for (unsigned i = 0; i < l->dims; i++)
        l->at[i] = (*dims)[i];
    l->blocks = -1;
    if (kind != dnnl_blocked || !l->dims)
        return;
    f->dnnl_memory_desc_query(l->md, dnnl_query_padded_dims, (void *)&padded);
    f->dnnl_memory_desc_query(l->md, dnnl_query_strides, (void *)&stride);
    f->dnnl_memory_desc_query(l->md, dnnl_query_inner_nblks_s32, &blocks);
    f->dnnl_memory_desc_query(l->md, dnnl_query_inner_blks, (void *)&blks);
    f->dnnl_memory_desc_query(l->md, dnnl_query_inner_idxs, (void *)&idxs);
    l->blocks = blocks;
    l->block = blocks ? (*blks)[0] : 1;
    l->block_of = blocks ? (*idxs)[0] : -1;
    for (unsigned i = 0; i < l->dims; i++) {
        l->padded[i] = (*padded)[i];
        l->stride[i] = (*stride)[i];
    }
}
#else
static void read_layout_desc(struct pr_layout *l)
{
    const dnnl_memory_desc_t *md = &l->md;
    const dnnl_blocking_desc_t *b = &md->format_desc.blocking;

    l->type = md->data_type == dnnl_bf16 ? PR_LAYOUT_BF16 : PR_LAYOUT_F32;
    l->is_any = md->format_kind == dnnl_format_kind_any;
    l->dims = md->ndims > PR_LAYOUT_DIMS ? 0 : (unsigned)md->ndims;
    l->blocks = -1;
    for (unsigned i = 0; i < l->dims; i++)
        l->at[i] = md->dims[i];
    if (md->format_kind != dnnl_blocked)
        return;
    l->blocks = b->inner_nblks;
    l->block = b->inner_nblks ? b->inner_blks[0] : 1;
    l->block_of = b->inner_nblks ? b->inner_idxs[0] : -1;
    for (unsigned i = 0; i < l->dims; i++) {
        l->padded[i] = md->padded_dims[i];
        l->stride[i] = b->strides[i];
    }
}
#endif

static int64_t count_layout_places(const struct pr_layout *l)
{
    int64_t s = 1;

    for (unsigned i = 2; i < l->dims; i++)
        s *= l->at[i];
    return s;
}

/* Whether the places of a channel follow one another, each `step` apart. */
static bool places_follow(const struct pr_layout *l, int64_t step)
{
    int64_t want = step;

    for (unsigned i = l->dims; i-- > 2;) {
        if (l->at[i] != 1 && l->stride[i] != want)
            return false;
        want *= l->at[i];
    }
    return true;
}

/* The block of struct pr_grid, 0: none fits. */
static int64_t view_block(const struct pr_layout *l)
{
    int64_t s = count_layout_places(l), c = l->dims > 1 ? l->at[1] : 0, n = 0;

    if (l->dims < 2 || l->blocks < 0 || l->blocks > 1)
        return 0;
    if (l->blocks == 1) {
        if (l->block_of != 1 || !places_follow(l, l->block))
            return 0;
        if (l->padded[1] > l->block && l->stride[1] != s * l->block)
            return 0;
        n = l->block;
    } else if (c == 1 || l->stride[1] == s) {
        n = places_follow(l, 1) ? (s == 1 ? c : 1) : 0;
    } else if (l->stride[1] == 1) {
        n = places_follow(l, c) ? c : 0;
    }
    if (l->at[0] > 1 && l->stride[0] != l->padded[1] * s)
        return 0;
    return n;
}

static void name_layout(struct pr_layout *l)
{
    int64_t b = view_block(l);

    if (l->dims == 2 && b)
        snprintf(l->name, sizeof l->name, "nc");
    else if (l->blocks == 1 && b)
        snprintf(l->name, sizeof l->name, "nChw%dc", (int)b);
    else
        snprintf(l->name, sizeof l->name, "%s",
                 b == 1 || (b && count_layout_places(l) == 1) ? "nchw"
                 : b                                          ? "nhwc"
                                                              : "other");
}

struct pr_layout *pr_layout_from_md(struct pr_onednn *d, pr_onednn_md md)
{
    struct pr_layout *l = PR_ARENA_NEW(d->arena, struct pr_layout);

    d->is_short = d->is_short || !l;
    if (!l)
        return NULL;
    l->api = d->api;
#if DNNL_VERSION_MAJOR >= 3
    if (d->api->dnnl_memory_desc_clone(&l->md, md) != dnnl_success) {
        d->is_short = true;
        return NULL;
    }
#else
    l->md = *md;
#endif
    l->next = d->lays;
    d->lays = l;
    read_layout_desc(l);
    name_layout(l);
    return l;
}

static const struct pr_layout *layout_build(struct pr_onednn *d,
                                            enum pr_layout_type type,
                                            unsigned dims, const int64_t *at,
                                            dnnl_format_tag_t tag)
{
    dnnl_dims_t sizes;
    struct pr_layout *l = NULL;

    for (unsigned i = 0; i < dims; i++)
        sizes[i] = at[i];
#if DNNL_VERSION_MAJOR >= 3
    dnnl_memory_desc_t md;
    if (d->api->dnnl_memory_desc_create_with_tag(
            &md, (int)dims, sizes, layout_data_type(type), tag) != dnnl_success)
        return NULL;
    l = pr_layout_from_md(d, md);
    d->api->dnnl_memory_desc_destroy(md);
#else
    dnnl_memory_desc_t md;
    if (d->api->dnnl_memory_desc_init_by_tag(
            &md, (int)dims, sizes, layout_data_type(type), tag) != dnnl_success)
        return NULL;
    l = pr_layout_from_md(d, &md);
#endif
    return l;
}

const struct pr_layout *pr_layout_new(struct pr_onednn *d,
                                      enum pr_layout_kind kind,
                                      enum pr_layout_type type, unsigned dims,
                                      const int64_t *at)
{
    static const dnnl_format_tag_t plain[] = {dnnl_format_tag_undef,
                                              dnnl_a,
                                              dnnl_ab,
                                              dnnl_abc,
                                              dnnl_abcd,
                                              dnnl_abcde};

    return layout_build(d, type, dims, at,
                        kind == PR_LAYOUT_ANY ? dnnl_format_tag_any
                                              : plain[dims]);
}

const struct pr_layout *pr_layout_like(struct pr_onednn *d,
                                       const struct pr_layout *lay,
                                       unsigned dims, const int64_t *at)
{
    dnnl_format_tag_t tag;

    if (dims != lay->dims || !view_block(lay))
        return NULL;
    if (dims == 2)
        tag = dnnl_ab;
    else if (lay->blocks == 1)
        tag = lay->block == 16  ? dnnl_aBcd16b
              : lay->block == 8 ? dnnl_aBcd8b
                                : dnnl_format_tag_undef;
    else
        tag = strcmp(lay->name, "nhwc") == 0 ? dnnl_acdb : dnnl_abcd;
    return tag == dnnl_format_tag_undef
               ? NULL
               : layout_build(d, lay->type, dims, at, tag);
}

size_t pr_layout_bytes(const struct pr_layout *lay)
{
    return lay ? lay->api->dnnl_memory_desc_get_size(pr_layout_md(lay)) : 0;
}

bool pr_layout_is_same(const struct pr_layout *a, const struct pr_layout *b)
{
    return a == b ||
           (a && b &&
            a->api->dnnl_memory_desc_equal(pr_layout_md(a), pr_layout_md(b)));
}

unsigned pr_layout_dims(const struct pr_layout *lay,
                        int64_t at[static PR_LAYOUT_DIMS])
{
    for (unsigned i = 0; i < lay->dims; i++)
        at[i] = lay->at[i];
    return lay->dims;
}

bool pr_layout_view(const struct pr_layout *lay, struct pr_grid *ret)
{
    int64_t block = view_block(lay);

    if (!block || lay->type != PR_LAYOUT_F32)
        return false;
    *ret = (struct pr_grid){.n = (size_t)lay->at[0],
                            .c = (size_t)lay->at[1],
                            .s = (size_t)count_layout_places(lay),
                            .block = (size_t)block};
    return true;
}

const char *pr_layout_name(const struct pr_layout *lay)
{
    return lay->name;
}
