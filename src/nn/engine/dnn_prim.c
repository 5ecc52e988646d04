/* Primitives: asking for them, naming their memory, calling them. */
#include "nn/engine/dnn_impl.h"

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
               ? pr_layout_from_md(p->dnn, md)
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
