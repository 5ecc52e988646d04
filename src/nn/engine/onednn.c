/*
 * What the engine asks of oneDNN: loading it, once a process; layouts; products
 * of matrices; primitives, but for their descriptions, and those that only move
 * values.
 */
#include "nn/engine/onednn.h"

#include "prony_config.h"

#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* ---- layouts: what oneDNN says of them, and how loops of ours walk them */

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

/* Takes a description over, or copies it. NULL: out of memory. */
static struct pr_layout *layout_from_md(struct pr_onednn *d, pr_onednn_md md)
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

const struct pr_layout *pr_layout_tagged(struct pr_onednn *d,
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
    l = layout_from_md(d, md);
    d->api->dnnl_memory_desc_destroy(md);
#else
    dnnl_memory_desc_t md;
    if (d->api->dnnl_memory_desc_init_by_tag(
            &md, (int)dims, sizes, layout_data_type(type), tag) != dnnl_success)
        return NULL;
    l = layout_from_md(d, &md);
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

    return pr_layout_tagged(d, type, dims, at,
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
               : pr_layout_tagged(d, lay->type, dims, at, tag);
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

/* ---- products of plain matrices */

int pr_onednn_gemm(const struct pr_onednn *d, const struct pr_gemm *g,
                   struct pr_err *err)
{
    dnnl_status_t st;

    if (g->m == 0 || g->n == 0)
        return PR_OK;
    st = d->api->dnnl_sgemm(g->turn_a ? 'T' : 'N', g->turn_b ? 'T' : 'N', g->m,
                            g->n, g->k, g->alpha, g->a, g->lda, g->b, g->ldb,
                            g->beta, g->c, g->ldc);
    if (st == dnnl_success)
        return PR_OK;
    if (st == dnnl_out_of_memory)
        return pr_fail_nomem(err);
    return pr_fail(err, PR_E_JOB, "oneDNN",
                   "a product of [%lld, %lld] and [%lld, %lld] failed",
                   (long long)g->m, (long long)g->k, (long long)g->k,
                   (long long)g->n);
}

/* ---- primitives: asking for them, naming their memory, calling them */

/* oneDNN's numbers of arguments. */
static const int arg_ids[] = {
    [PR_ARG_SRC] = DNNL_ARG_SRC,
    [PR_ARG_WEIGHTS] = DNNL_ARG_WEIGHTS,
    [PR_ARG_BIAS] = DNNL_ARG_BIAS,
    [PR_ARG_DST] = DNNL_ARG_DST,
    [PR_ARG_DIFF_SRC] = DNNL_ARG_DIFF_SRC,
    [PR_ARG_DIFF_WEIGHTS] = DNNL_ARG_DIFF_WEIGHTS,
    [PR_ARG_DIFF_BIAS] = DNNL_ARG_DIFF_BIAS,
    [PR_ARG_DIFF_DST] = DNNL_ARG_DIFF_DST,
    [PR_ARG_WORKSPACE] = DNNL_ARG_WORKSPACE,
    [PR_ARG_SCRATCH] = DNNL_ARG_SCRATCHPAD,
    [PR_ARG_RECURRENT] = DNNL_ARG_WEIGHTS_ITER,
    [PR_ARG_STATE] = DNNL_ARG_SRC_ITER,
    [PR_ARG_CELL] = DNNL_ARG_SRC_ITER_C,
    [PR_ARG_END_STATE] = DNNL_ARG_DST_ITER,
    [PR_ARG_END_CELL] = DNNL_ARG_DST_ITER_C,
    [PR_ARG_DIFF_RECURRENT] = DNNL_ARG_DIFF_WEIGHTS_ITER,
    [PR_ARG_DIFF_STATE] = DNNL_ARG_DIFF_SRC_ITER,
    [PR_ARG_DIFF_CELL] = DNNL_ARG_DIFF_SRC_ITER_C,
    [PR_ARG_DIFF_END_STATE] = DNNL_ARG_DIFF_DST_ITER,
    [PR_ARG_DIFF_END_CELL] = DNNL_ARG_DIFF_DST_ITER_C,
};

static int arg_id(int arg)
{
    return arg >= PR_ARG_MANY ? DNNL_ARG_MULTIPLE_SRC + (arg - PR_ARG_MANY)
                              : arg_ids[arg];
}

/* The description that goes with an argument; NULL or empty: it has none. */
static pr_onednn_md find_argument_md(const struct pr_primitive *p, int arg)
{
    static const struct {
        dnnl_query_t what;
        int i;
    } rows[] = {
        [PR_ARG_SRC] = {dnnl_query_src_md, 0},
        [PR_ARG_WEIGHTS] = {dnnl_query_weights_md, 0},
        [PR_ARG_BIAS] = {dnnl_query_weights_md, 1},
        [PR_ARG_DST] = {dnnl_query_dst_md, 0},
        [PR_ARG_DIFF_SRC] = {dnnl_query_diff_src_md, 0},
        [PR_ARG_DIFF_WEIGHTS] = {dnnl_query_diff_weights_md, 0},
        [PR_ARG_DIFF_BIAS] = {dnnl_query_diff_weights_md, 1},
        [PR_ARG_DIFF_DST] = {dnnl_query_diff_dst_md, 0},
        [PR_ARG_WORKSPACE] = {dnnl_query_workspace_md, 0},
        [PR_ARG_SCRATCH] = {dnnl_query_scratchpad_md, 0},
    };
    bool many = arg >= PR_ARG_MANY;

    if (p->is_recurrent)
        return p->dnn->api->dnnl_primitive_desc_query_md(
            p->desc, dnnl_query_exec_arg_md, arg_id(arg));
    return p->dnn->api->dnnl_primitive_desc_query_md(
        p->desc, many ? dnnl_query_src_md : rows[arg].what,
        many ? arg - PR_ARG_MANY : rows[arg].i);
}

const struct pr_layout *pr_primitive_layout(const struct pr_primitive *p,
                                            int arg)
{
    pr_onednn_md md = find_argument_md(p, arg);

    return md && p->dnn->api->dnnl_memory_desc_get_size(md) > 0
               ? layout_from_md(p->dnn, md)
               : NULL;
}

size_t pr_primitive_scratch_bytes(const struct pr_primitive *p)
{
    pr_onednn_md md = find_argument_md(p, PR_ARG_SCRATCH);

    return md ? p->dnn->api->dnnl_memory_desc_get_size(md) : 0;
}

const char *pr_primitive_impl(const struct pr_primitive *p)
{
    const char *text = NULL;

    p->dnn->api->dnnl_primitive_desc_query(p->desc, dnnl_query_impl_info_str, 0,
                                           (void *)&text);
    return text ? text : "";
}

bool pr_primitive_is_slow(const struct pr_primitive *p)
{
    return strstr(pr_primitive_impl(p), "ref") != NULL;
}

/* A new primitive of this description, which it owns from now on. */
static int primitive_from_desc(struct pr_onednn *d, dnnl_primitive_desc_t desc,
                               struct pr_primitive **ret, struct pr_err *err)
{
    struct pr_primitive *p = PR_ARENA_NEW(d->arena, struct pr_primitive);

    if (!p) {
        d->api->dnnl_primitive_desc_destroy(desc);
        return pr_fail_nomem(err);
    }
    p->dnn = d;
    p->desc = desc;
    p->next = d->prims;
    d->prims = p;
    *ret = p;
    return PR_OK;
}

dnnl_status_t pr_primitive_new_attr(const struct pr_onednn_api *f,
                                    dnnl_primitive_attr_t *ret)
{
    dnnl_status_t st = f->dnnl_primitive_attr_create(ret);

    return st ? st
              : f->dnnl_primitive_attr_set_scratchpad_mode(
                    *ret, dnnl_scratchpad_mode_user);
}

int pr_primitive_finish(struct pr_onednn *d, dnnl_primitive_attr_t attr,
                        dnnl_status_t status, dnnl_primitive_desc_t desc,
                        struct pr_primitive **ret, struct pr_err *err)
{
    if (attr)
        d->api->dnnl_primitive_attr_destroy(attr);
    if (status == dnnl_out_of_memory)
        return pr_fail_nomem(err);
    if (status != dnnl_success || !desc)
        return pr_fail(err, PR_E_UNAVAIL, "oneDNN",
                       "this processor cannot, says the library");
    return primitive_from_desc(d, desc, ret, err);
}

int pr_primitive_bind(struct pr_primitive *p, int arg, void *data,
                      struct pr_err *err)
{
    const struct pr_onednn_api *f = p->dnn->api;
    pr_onednn_md md = find_argument_md(p, arg);
    dnnl_memory_t memory;

    if (p->arg_count == PR_PRIMITIVE_ARGS ||
        f->dnnl_memory_create(&memory, md, p->dnn->engine, data) !=
            dnnl_success)
        return pr_fail_nomem(err);
    p->args[p->arg_count++] =
        (dnnl_exec_arg_t){.arg = arg_id(arg), .memory = memory};
    return PR_OK;
}

int pr_primitive_make_ready(struct pr_primitive *p, struct pr_err *err)
{
    if (!p->prim &&
        p->dnn->api->dnnl_primitive_create(&p->prim, p->desc) != dnnl_success)
        return pr_fail(err, PR_E_UNAVAIL, "oneDNN", "cannot make '%s'",
                       pr_primitive_impl(p));
    return PR_OK;
}

int pr_primitive_run(struct pr_primitive *p, struct pr_err *err)
{
    const struct pr_onednn_api *f = p->dnn->api;

    if (f->dnnl_primitive_execute(p->prim, p->dnn->stream, p->arg_count,
                                  p->args) != dnnl_success ||
        f->dnnl_stream_wait(p->dnn->stream) != dnnl_success)
        return pr_fail(err, PR_E_JOB, "oneDNN", "'%s' failed",
                       pr_primitive_impl(p));
    return PR_OK;
}

static void free_primitive(const struct pr_onednn_api *api,
                           struct pr_primitive *p)
{
    for (int i = 0; i < p->arg_count; i++)
        api->dnnl_memory_destroy(p->args[i].memory);
    if (p->prim)
        api->dnnl_primitive_destroy(p->prim);
    api->dnnl_primitive_desc_destroy(p->desc);
}

void pr_primitive_drop(struct pr_primitive *p)
{
    assert(p->dnn->prims == p);
    p->dnn->prims = p->next;
    free_primitive(p->dnn->api, p);
}

/* ---- primitives that move values */

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
    part = st ? NULL : layout_from_md(d, md);
    if (!st)
        d->api->dnnl_memory_desc_destroy(md);
#else
    dnnl_memory_desc_t md;
    st = d->api->dnnl_memory_desc_init_submemory(&md, pr_layout_md(from), sizes,
                                                 offsets);
    part = st ? NULL : layout_from_md(d, &md);
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

/* ---- the library, and what a struct pr_onednn owns */

static const struct {
    const char *name;
    size_t at; /* offset of the pointer */
} symbols[] = {
#define FUNC(name) {#name, offsetof(struct pr_onednn_api, name)},
#include "nn/engine/onednn_api.def"
#undef FUNC
};

/* Filled once, by load_onednn(), and never changed again. */
static struct {
    pthread_once_t once;
    struct pr_onednn_api api;
    bool is_there;
    char why[200];
} lib = {.once = PTHREAD_ONCE_INIT};

static void load_onednn(void)
{
    void *so = dlopen(PR_SONAME_ONEDNN, RTLD_NOW | RTLD_LOCAL);

    if (!so) {
        snprintf(lib.why, sizeof lib.why, "%s", dlerror());
        return;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *p = dlsym(so, symbols[i].name);
        if (!p) {
            snprintf(lib.why, sizeof lib.why, "libdnnl has no %s",
                     symbols[i].name);
            return;
        }
        memcpy((char *)&lib.api + symbols[i].at, &p, sizeof p);
    }
    lib.is_there = true;
}

static int onednn_load(const struct pr_onednn_api **ret, struct pr_err *err)
{
    pthread_once(&lib.once, load_onednn);
    if (!lib.is_there) {
        pr_fail(err, PR_E_UNAVAIL, "oneDNN", "%s", lib.why);
        return pr_hint(err, "apt-get install libdnnl-dev, then make");
    }
    *ret = &lib.api;
    return PR_OK;
}

int pr_onednn_version(char out[static 32], struct pr_err *err)
{
    const struct pr_onednn_api *api;
    const dnnl_version_t *v;
    int rc = onednn_load(&api, err);

    if (rc)
        return rc;
    v = api->dnnl_version();
    snprintf(out, 32, "%d.%d.%d", v->major, v->minor, v->patch);
    return PR_OK;
}

int pr_onednn_new(struct pr_onednn **ret, struct pr_err *err)
{
    const struct pr_onednn_api *api;
    struct pr_arena *arena;
    struct pr_onednn *d;
    int rc = onednn_load(&api, err);

    if (rc)
        return rc;
    arena = pr_arena_new(256 << 10);
    d = arena ? PR_ARENA_NEW(arena, struct pr_onednn) : NULL;
    if (!d) {
        pr_arena_free(arena);
        return pr_fail_nomem(err);
    }
    d->api = api;
    d->arena = arena;
    if (api->dnnl_engine_create(&d->engine, dnnl_cpu, 0) != dnnl_success ||
        api->dnnl_stream_create(&d->stream, d->engine,
                                dnnl_stream_default_flags) != dnnl_success) {
        pr_onednn_free(d);
        return pr_fail(err, PR_E_UNAVAIL, "oneDNN", "it does not start");
    }
    *ret = d;
    return PR_OK;
}

bool pr_onednn_is_out_of_memory(const struct pr_onednn *d)
{
    return d->is_short;
}

void pr_onednn_free(struct pr_onednn *d)
{
    if (!d)
        return;
    for (struct pr_primitive *p = d->prims; p; p = p->next)
        free_primitive(d->api, p);
#if DNNL_VERSION_MAJOR >= 3
    for (struct pr_layout *l = d->lays; l; l = l->next)
        d->api->dnnl_memory_desc_destroy(l->md);
#endif
    if (d->stream)
        d->api->dnnl_stream_destroy(d->stream);
    if (d->engine)
        d->api->dnnl_engine_destroy(d->engine);
    pr_arena_free(d->arena);
}
