/* Primitives: asking for them, naming their memory, calling them. */
#include "nn/dnn_impl.h"

#include <string.h>

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
static pr_dnn_md md_of(const struct pr_prim *p, int arg)
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

const struct pr_lay *pr_prim_lay(const struct pr_prim *p, int arg)
{
    pr_dnn_md md = md_of(p, arg);

    return md && p->dnn->api->dnnl_memory_desc_get_size(md) > 0
               ? pr_lay_take(p->dnn, md)
               : NULL;
}

size_t pr_prim_scratch(const struct pr_prim *p)
{
    pr_dnn_md md = md_of(p, PR_ARG_SCRATCH);

    return md ? p->dnn->api->dnnl_memory_desc_get_size(md) : 0;
}

const char *pr_prim_impl(const struct pr_prim *p)
{
    const char *text = NULL;

    p->dnn->api->dnnl_primitive_desc_query(p->desc, dnnl_query_impl_info_str, 0,
                                           (void *)&text);
    return text ? text : "";
}

bool pr_prim_is_slow(const struct pr_prim *p)
{
    return strstr(pr_prim_impl(p), "ref") != NULL;
}

int pr_prim_take(struct pr_dnn *d, dnnl_primitive_desc_t desc,
                 struct pr_prim **ret, struct pr_err *err)
{
    struct pr_prim *p = PR_ARENA_NEW(d->arena, struct pr_prim);

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

dnnl_status_t pr_prim_attr(const struct pr_dnn_api *f,
                           dnnl_primitive_attr_t *ret)
{
    dnnl_status_t st = f->dnnl_primitive_attr_create(ret);

    return st ? st
              : f->dnnl_primitive_attr_set_scratchpad_mode(
                    *ret, dnnl_scratchpad_mode_user);
}

int pr_prim_end(struct pr_dnn *d, dnnl_primitive_attr_t attr,
                dnnl_status_t status, dnnl_primitive_desc_t desc,
                struct pr_prim **ret, struct pr_err *err)
{
    if (attr)
        d->api->dnnl_primitive_attr_destroy(attr);
    if (status == dnnl_out_of_memory)
        return pr_fail_nomem(err);
    if (status != dnnl_success || !desc)
        return pr_fail(err, PR_E_UNAVAIL, "oneDNN",
                       "this processor cannot, says the library");
    return pr_prim_take(d, desc, ret, err);
}

int pr_prim_bind(struct pr_prim *p, int arg, void *data, struct pr_err *err)
{
    const struct pr_dnn_api *f = p->dnn->api;
    pr_dnn_md md = md_of(p, arg);
    dnnl_memory_t memory;

    if (p->arg_count == PR_PRIM_ARGS ||
        f->dnnl_memory_create(&memory, md, p->dnn->engine, data) !=
            dnnl_success)
        return pr_fail_nomem(err);
    p->args[p->arg_count++] =
        (dnnl_exec_arg_t){.arg = arg_id(arg), .memory = memory};
    return PR_OK;
}

int pr_prim_ready(struct pr_prim *p, struct pr_err *err)
{
    if (!p->prim &&
        p->dnn->api->dnnl_primitive_create(&p->prim, p->desc) != dnnl_success)
        return pr_fail(err, PR_E_UNAVAIL, "oneDNN", "cannot make '%s'",
                       pr_prim_impl(p));
    return PR_OK;
}

int pr_prim_run(struct pr_prim *p, struct pr_err *err)
{
    const struct pr_dnn_api *f = p->dnn->api;

    if (f->dnnl_primitive_execute(p->prim, p->dnn->stream, p->arg_count,
                                  p->args) != dnnl_success ||
        f->dnnl_stream_wait(p->dnn->stream) != dnnl_success)
        return pr_fail(err, PR_E_JOB, "oneDNN", "'%s' failed", pr_prim_impl(p));
    return PR_OK;
}
