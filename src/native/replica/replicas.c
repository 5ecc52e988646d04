/* Replicas, as others see them; and one rank alone, for which nothing is done.
 */
#include "native/replica/replicas.h"

#include "base/mem.h"
#include "native/replica/replicas_impl.h"

static int replicas_mean_hook(void *ctx, float *values, size_t count,
                              struct pr_err *err)
{
    return pr_replicas_mean(ctx, values, count, err);
}

static int replicas_run_ranks(struct pr_replicas *r, pr_replica_fn *fn,
                              void *ctx, struct pr_err *err)
{
    if (r->opts->mpi)
        return pr_replicas_mpi_run(r, fn, ctx, err);
    if (r->ranks > 1)
        return pr_replicas_fork_run(r, fn, ctx, err);
    return fn(r, ctx, err);
}

int pr_replicas_run(const struct pr_replicas_opts *opts, pr_replica_fn *fn,
                    void *ctx, struct pr_err *err)
{
    struct pr_err own = {0};
    struct pr_replicas *r;
    int rc;

    if (opts->ranks < 1 || (opts->ranks > PR_REPLICAS_MOST && !opts->mpi))
        return pr_fail(err, PR_E_CONF, "exp.num_local_replicas",
                       "%u replicas cannot be, 1 to %d can", opts->ranks,
                       PR_REPLICAS_MOST);
    r = pr_alloc_zeroed(sizeof *r);
    if (!r)
        return pr_fail_nomem(err);
    r->opts = opts;
    r->ranks = opts->ranks;
    r->reduce = (struct pr_net_reduce){r->ranks, r, replicas_mean_hook};
    pr_cpu_slices_init(&r->cpus, opts->sys);
    /* Ranks tell each other their errors, even if nobody asks here. */
    rc = replicas_run_ranks(r, fn, ctx, err ? err : &own);
    pr_free(r);
    return rc;
}

unsigned pr_replicas_rank(const struct pr_replicas *r)
{
    return r->rank;
}

unsigned pr_replicas_count(const struct pr_replicas *r)
{
    return r->ranks;
}

void pr_replicas_add_warning(const struct pr_replicas *r, struct pr_buf *notes)
{
    unsigned have = r->cpus.count;
    unsigned ranks = r->opts->mpi ? r->local_ranks : r->ranks;

    if (r->opts->is_bound || !have || have >= ranks)
        return;
    pr_buf_printf(notes,
                  "exp.num_local_replicas: %u replicas share %u processor%s, "
                  "which is slower than one each\n",
                  ranks, have, have == 1 ? "" : "s");
}

const struct pr_net_reduce *pr_replicas_reduce(const struct pr_replicas *r)
{
    return r->ranks > 1 ? &r->reduce : NULL;
}

int pr_replicas_mean(struct pr_replicas *r, float *values, size_t count,
                     struct pr_err *err)
{
    return r->way ? r->way->mean(r, values, count, err) : PR_OK;
}

static int replicas_fold(struct pr_replicas *r, enum pr_replicas_op what,
                         double *values, size_t count, struct pr_err *err)
{
    if (!r->way)
        return PR_OK;
    if (count > PR_REPLICAS_VALUES)
        return pr_fail(err, PR_E_BUG, "", "%zu figures at once, at most %d",
                       count, PR_REPLICAS_VALUES);
    return r->way->fold(r, what, values, count, err);
}

int pr_replicas_sum(struct pr_replicas *r, double *values, size_t count,
                    struct pr_err *err)
{
    return replicas_fold(r, PR_REPLICAS_OP_SUM, values, count, err);
}

int pr_replicas_max(struct pr_replicas *r, double *values, size_t count,
                    struct pr_err *err)
{
    return replicas_fold(r, PR_REPLICAS_OP_MAX, values, count, err);
}

int pr_replicas_meet(struct pr_replicas *r, struct pr_err *err)
{
    return replicas_fold(r, PR_REPLICAS_OP_MEET, NULL, 0, err);
}
