/* Epochs without end: the order of an epoch is made when it is asked for,
 * which takes less than a tenth of a microsecond. */
#include "loader/order_series.h"

#include "base/random.h"

#include <assert.h>
#include <stddef.h>

/* More than anybody reads, and few enough for the loader's counters. */
static const uint64_t ENDLESS = (uint64_t)1 << 47;

int pr_order_series_init(struct pr_order_series *s,
                         const struct pr_order_opts *opts, struct pr_order *ret,
                         struct pr_err *err)
{
    struct pr_order o;
    uint64_t epochs = 1;
    int rc = pr_order_init(&o, opts, err);

    assert(opts->accelerators == 1);
    if (rc)
        return rc;
    if (o.used < opts->batch)
        o.used = o.batches = 0;
    *s = (struct pr_order_series){
        .o = *opts, .used = o.used, .batches = o.batches};
    if (o.used && o.used < ENDLESS)
        epochs = ENDLESS / o.used;
    o.used *= epochs;
    o.share = o.used;
    o.batches *= epochs;
    o.series = s;
    *ret = o;
    return PR_OK;
}

uint64_t pr_order_series_epoch(const struct pr_order_series *s, uint64_t pos)
{
    return pos / s->used;
}

unsigned pr_order_series_more(const struct pr_order_series *s)
{
    if (s->used % s->o.batch == 0)
        return 0;
    return s->o.window ? 3 : 1; /* epochs that end there: a window, and a batch,
                                   is not longer than one */
}

uint64_t pr_order_series_batch_of(const struct pr_order_series *s, uint64_t pos)
{
    return pos / s->used * s->batches + pos % s->used / s->o.batch;
}

uint64_t pr_order_series_start(const struct pr_order_series *s, uint64_t b)
{
    return b / s->batches * s->used + b % s->batches * s->o.batch;
}

static struct pr_order order_of(const struct pr_order_series *s, uint64_t epoch)
{
    struct pr_order_opts opts = s->o;
    struct pr_order o;
    int rc;

    opts.seed = pr_mix64(pr_mix64(opts.seed) + epoch);
    rc = pr_order_init(&o, &opts, NULL);
    assert(!rc); /* it was made before */
    (void)rc;
    return o;
}

uint64_t pr_order_series_read(const struct pr_order_series *s, uint64_t q)
{
    struct pr_order o = order_of(s, q / s->used);

    return pr_order_read(&o, 0, q % s->used);
}

uint64_t pr_order_series_place(const struct pr_order_series *s, uint64_t q)
{
    uint64_t at = q % s->used;
    struct pr_order o;

    if (!s->o.window)
        return q;
    o = order_of(s, q / s->used);
    return q - at + pr_order_place(&o, 0, at);
}

uint64_t pr_order_series_needed(const struct pr_order_series *s, uint64_t pos)
{
    uint64_t at = pos % s->used;
    struct pr_order o;

    if (!s->o.window)
        return pos;
    o = order_of(s, 0); /* where windows end is the same in each */
    return pos - at + pr_order_needed(&o, 0, at);
}
