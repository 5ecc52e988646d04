/* Sums over checkpoints. */
#include "checkpoint/checkpoint_ops.h"

#include <math.h>

static void add_total(struct pr_checkpoint_total *t,
                      const struct pr_checkpoint_op *op)
{
    double rate = op->slowest_s > 0 ? (double)op->bytes / op->slowest_s : 0;

    t->count++;
    t->bytes += op->bytes;
    t->slowest_s += op->slowest_s;
    t->slowest_square += op->slowest_s * op->slowest_s;
    if (op->slowest_s > t->slowest_max_s)
        t->slowest_max_s = op->slowest_s;
    if (op->is_read && op->cached >= 0) {
        t->cached += op->cached;
        t->cached_count++;
    }
    t->mean_s += op->mean_s;
    t->rate += rate;
    t->rate_square += rate * rate;
}

int pr_checkpoint_ops_add(struct pr_checkpoint_ops *all,
                          const struct pr_checkpoint_op *op, struct pr_arena *a,
                          struct pr_err *err)
{
    struct pr_checkpoint_op *copy;

    add_total(&all->total[op->is_read], op);
    if (!pr_checkpoint_ops_has_room(all))
        return PR_OK;
    copy = PR_ARENA_NEW(a, struct pr_checkpoint_op);
    if (!copy)
        return pr_fail_nomem(err);
    *copy = *op;
    copy->next = NULL;
    all->listed++;
    if (all->last)
        all->last->next = copy;
    else
        all->first = copy;
    all->last = copy;
    return PR_OK;
}

double pr_checkpoint_mean(double sum, uint64_t count)
{
    return count ? sum / (double)count : 0;
}

double pr_checkpoint_stdev(double sum, double square, uint64_t count)
{
    double mean = pr_checkpoint_mean(sum, count);
    double d = pr_checkpoint_mean(square, count) - mean * mean;

    return d > 0 ? sqrt(d) : 0;
}
