/* When the replicas of a native training measured, and which rates. */
#include "base/mem.h"
#include "native/native_run.h"

#include <stdio.h>
#include <string.h>

/* What the first replica knows of all. */
struct pr_native_timings {
    unsigned count;
    struct pr_rate_log_timing *each;
    double *rates; /* of all, one after another */
};

void pr_native_timings_free(struct pr_native_timings *t)
{
    if (!t)
        return;
    pr_free(t->each);
    pr_free(t->rates);
    pr_free(t);
}

static struct pr_native_timings *new_timings(unsigned count)
{
    struct pr_native_timings *t = pr_alloc_zeroed(sizeof *t);

    if (!t)
        return NULL;
    t->count = count;
    t->each = pr_alloc_zeroed(count * sizeof *t->each);
    if (!t->each) {
        pr_native_timings_free(t);
        return NULL;
    }
    return t;
}

/* Times and the number of rates of rank i, known by all. */
static int share_head(struct pr_native_session *r,
                      const struct pr_rate_log_timing *own, unsigned i,
                      struct pr_rate_log_timing *ret, struct pr_err *err)
{
    double head[] = {(double)own->start_wall_ns, (double)own->end_wall_ns,
                     own->wall_s, own->time_s, (double)own->count};
    int rc;

    if (r->n.rank != i)
        memset(head, 0, sizeof head);
    rc = pr_replicas_sum(r->replicas, head, 5, err);
    *ret = (struct pr_rate_log_timing){.start_wall_ns = (uint64_t)head[0],
                                       .end_wall_ns = (uint64_t)head[1],
                                       .wall_s = head[2],
                                       .time_s = head[3],
                                       .slice_s = own->slice_s,
                                       .count = (size_t)head[4]};
    return rc;
}

/* The rates of rank i, into to; NULL: this rank does not keep them. */
static int share_rates(struct pr_native_session *r,
                       const struct pr_rate_log_timing *own, unsigned i,
                       size_t count, double *to, struct pr_err *err)
{
    double part[PR_REPLICAS_VALUES];
    int rc = PR_OK;

    for (size_t at = 0; at < count && !rc;) {
        size_t n =
            count - at < PR_REPLICAS_VALUES ? count - at : PR_REPLICAS_VALUES;

        if (r->n.rank == i)
            memcpy(part, own->rates + at, n * sizeof *part);
        else
            memset(part, 0, n * sizeof *part);
        rc = pr_replicas_sum(r->replicas, part, n, err);
        if (to)
            memcpy(to + at, part, n * sizeof *part);
        at += n;
    }
    return rc;
}

static int share_timings(struct pr_native_session *r,
                         struct pr_native_timings *t, struct pr_err *err)
{
    struct pr_rate_log_timing own = pr_rate_log_get_timing(&r->own_rates);
    size_t all = 0, at = 0;
    int rc = PR_OK;

    for (unsigned i = 0; i < t->count && !rc; i++) {
        rc = share_head(r, &own, i, &t->each[i], err);
        all += t->each[i].count;
    }
    if (rc)
        return rc;
    t->rates = pr_alloc((all ? all : 1) * sizeof *t->rates);
    if (!t->rates)
        return pr_fail_nomem(err);
    for (unsigned i = 0; i < t->count && !rc; i++) {
        rc = share_rates(r, &own, i, t->each[i].count, t->rates + at, err);
        t->each[i].rates = t->rates + at;
        at += t->each[i].count;
    }
    return rc;
}

int pr_native_timings_gather(struct pr_native_session *r, struct pr_err *err)
{
    pr_rate_log_end(&r->rates);
    if (r->n.ranks == 1)
        return PR_OK;
    pr_rate_log_end(&r->own_rates);
    r->timings = new_timings((unsigned)r->n.ranks);
    return r->timings ? share_timings(r, r->timings, err) : pr_fail_nomem(err);
}

/* The last losses, as milarun's tests log them. */
static void put_timing_with_losses(const struct pr_native_session *r,
                                   struct pr_rate_log_timing t,
                                   struct pr_result_lines *k, const char *name)
{
    static const char *const names[] = {"loss", "reward"};
    double values[] = {r->losses.last, r->cart.reward};

    t.metrics = names;
    t.values = values;
    t.metric_count =
        !r->losses.count ? 0 : 1 + (r->n.from == PR_NATIVE_CARTPOLE);
    pr_rate_log_put_timing(&t, k, name);
}

int pr_native_timings_put(const struct pr_native_session *r,
                          struct pr_result_lines *k, struct pr_err *err)
{
    const struct pr_native_timings *t = r->timings;

    if (!t)
        put_timing_with_losses(r, pr_rate_log_get_timing(&r->rates), k,
                               "train");
    for (unsigned i = 0; t && i < t->count; i++) {
        char name[32];

        snprintf(name, sizeof name, "train_%u", i);
        put_timing_with_losses(r, t->each[i], k, name);
    }
    return pr_rate_log_put_steady(&r->rates, k, err);
}
