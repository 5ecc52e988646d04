/*
 * DLIO's maps from samples to files, computed instead of listed; only the
 * shuffled list of files is one. What its iterative loader does: the samples
 * of an accelerator are cut into as many blocks as there are threads, what is
 * left goes to the first threads; each thread makes batches of its samples,
 * and the batches of the threads come in turn.
 */
#include "loader/order_dlio.h"

#include "base/mem.h"
#include "base/random.h"

struct pr_order_dlio {
    struct pr_order_dlio_opts opts;
    uint64_t files, each, total, accelerators, batch;
    uint64_t per;   /* samples of an accelerator; the last has fewer */
    uint64_t block; /* of a thread's samples */
    uint64_t epoch;
    uint64_t *list; /* or NULL: files are in order */
};

/* numpy's random_interval: a number from 0 to max. */
static uint64_t order_dlio_draw(struct pr_mt *mt, uint64_t max)
{
    uint64_t mask = UINT64_MAX >> __builtin_clzll(max | 1), x;

    do {
        x = pr_mt_u32(mt);
        if (max > UINT32_MAX)
            x = x << 32 | pr_mt_u32(mt);
        x &= mask;
    } while (x > max);
    return x;
}

/* list is NULL: only the numbers that it takes. */
static void order_dlio_shuffle_list(struct pr_mt *mt, uint64_t *list,
                                    uint64_t n)
{
    for (uint64_t i = n; i-- > 1;) {
        uint64_t j = order_dlio_draw(mt, i), t;
        if (!list)
            continue;
        t = list[i];
        list[i] = list[j];
        list[j] = t;
    }
}

void pr_order_dlio_shuffle(uint32_t seed, uint64_t *list, uint64_t n)
{
    struct pr_mt mt;

    pr_mt_seed(&mt, seed);
    order_dlio_shuffle_list(&mt, list, n);
}

void pr_order_dlio_epoch(struct pr_order_dlio *d, uint64_t epoch)
{
    struct pr_mt mt;

    if (!d->list)
        return;
    while (d->epoch < epoch) {
        d->epoch++;
        pr_mt_seed(&mt, d->opts.seed_change ? d->opts.seed + (uint32_t)d->epoch
                                            : d->opts.seed);
        order_dlio_shuffle_list(&mt, NULL, d->opts.files_before);
        order_dlio_shuffle_list(&mt, d->list, d->files);
    }
}

static struct pr_order_dlio *
order_dlio_build(const struct pr_order *o,
                 const struct pr_order_dlio_opts *opts)
{
    struct pr_order_dlio *d = pr_alloc_zeroed(sizeof *d);
    uint64_t ranks = o->o.accelerators;

    if (!d)
        return NULL;
    d->opts = *opts;
    d->files = o->o.files;
    d->each = o->o.samples_per_file;
    d->total = o->total;
    d->accelerators = ranks;
    d->batch = o->o.batch;
    d->per = o->total / ranks + (o->total % ranks > 0);
    /* DLIO divides by zero when there are more threads than samples. */
    if (!d->opts.threads)
        d->opts.threads = 1;
    if (d->opts.threads > d->per && d->per)
        d->opts.threads = d->per;
    d->block = d->per / d->opts.threads;
    return d;
}

int pr_order_dlio_new(struct pr_order *o, const struct pr_order_dlio_opts *opts,
                      struct pr_order_dlio **ret, struct pr_err *err)
{
    struct pr_order_dlio *d = order_dlio_build(o, opts);

    if (!d)
        return pr_fail_nomem(err);
    if (opts->iterative && o->o.shuffle_files && d->total) {
        if (d->files <= SIZE_MAX / sizeof *d->list)
            d->list = pr_alloc(d->files * sizeof *d->list);
        if (!d->list) {
            pr_order_dlio_free(d);
            return pr_fail_nomem(err);
        }
        for (uint64_t i = 0; i < d->files; i++)
            d->list[i] = i;
        pr_order_dlio_epoch(d, 1);
    }
    o->dlio = d;
    o->batches = d->total / d->batch / d->accelerators;
    o->share = o->batches * d->batch;
    o->extra = 0;
    o->used = o->share * d->accelerators;
    *ret = d;
    return PR_OK;
}

void pr_order_dlio_free(struct pr_order_dlio *d)
{
    if (d)
        pr_free(d->list);
    pr_free(d);
}

/* Threads below full have one block more than those above, thread full has
 * some of one more. No thread has more than one with a smaller number. */
struct cut {
    uint64_t full, most, some, least; /* samples of these threads */
};

static struct cut cut_of(const struct pr_order_dlio *d, uint64_t own)
{
    uint64_t blocks = own / d->block;
    uint64_t least = blocks / d->opts.threads * d->block;

    return (struct cut){blocks % d->opts.threads, least + d->block,
                        least + own % d->block, least};
}

struct slot {
    uint64_t thread, turn; /* which batch of the thread's */
};

/* Of the batch b-th in turn. Threads that have no more drop out, the last
 * ones first, so turns get shorter twice. */
static struct slot order_dlio_find_slot(const struct pr_order_dlio *d,
                                        const struct cut *c, uint64_t b)
{
    uint64_t width[3] = {d->opts.threads, c->full + 1, c->full};
    uint64_t samples[3] = {c->least, c->some, c->most};
    uint64_t done = 0;

    for (int i = 0; i < 3; i++) {
        uint64_t turns = samples[i] / d->batch + (samples[i] % d->batch > 0);
        if (width[i] && b / width[i] < turns - done)
            return (struct slot){b % width[i], done + b / width[i]};
        b -= (turns - done) * width[i];
        done = turns;
    }
    return (struct slot){0, done}; /* it has too few: its last one again */
}

/* Which of an accelerator's own samples is read q-th. */
static uint64_t order_dlio_own_sample(const struct pr_order_dlio *d,
                                      uint64_t own, uint64_t q)
{
    struct cut c = cut_of(d, own);
    struct slot s = order_dlio_find_slot(d, &c, q / d->batch);
    uint64_t has = s.thread < c.full    ? c.most
                   : s.thread == c.full ? c.some
                                        : c.least;
    uint64_t i = s.turn * d->batch + q % d->batch;

    if (!has)
        return 0;
    i = pr_order_min(i, has - 1);
    return (i / d->block * d->opts.threads + s.thread) * d->block +
           i % d->block;
}

static uint64_t order_dlio_iterative_sample(const struct pr_order_dlio *d,
                                            uint64_t a, uint64_t q)
{
    uint64_t start = pr_order_min(a * d->per, d->total);
    uint64_t k = order_dlio_own_sample(
                 d, pr_order_min(d->per, d->total - start), q),
             file;

    if (k > 0)
        file = k / d->each % d->files;
    else
        file = a * (d->files / d->accelerators % d->files);
    return (d->list ? d->list[file] : file) * d->each + k % d->each;
}

uint64_t pr_order_dlio_read(const struct pr_order_dlio *d, uint64_t a,
                            uint64_t q)
{
    if (d->opts.iterative)
        return order_dlio_iterative_sample(d, a, q);
    return pr_order_min(a * d->per + q, d->total - 1);
}
