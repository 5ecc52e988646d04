/*
 * Shares of the accelerators first, as positions in one sequence of samples;
 * then what sample is at a position; last, how a window delivers.
 */
#include "loader/order.h"

#include "base/random.h"
#include "loader/order_dlio.h"
#include "loader/order_series.h"

#include <assert.h>

/* Shuffles of the same seed that must not look alike. */
enum { KEY_FILES = 1, KEY_SAMPLES, KEY_WINDOW };

static uint64_t order_make_key(uint64_t seed, uint64_t what)
{
    return pr_mix64(pr_mix64(seed) + what);
}

static uint64_t order_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b > 0);
}

static bool order_has_window(const struct pr_order *o)
{
    return o->o.shuffle_samples && o->o.window && !o->dlio;
}

static void set_shares(struct pr_order *o)
{
    uint64_t step;

    o->used = o->total;
    if (o->o.drop_last) {
        if (__builtin_mul_overflow(o->o.batch, o->o.accelerators, &step))
            step = UINT64_MAX; /* more than there ever are */
        o->used -= o->total % step;
    }
    o->share = o->used / o->o.accelerators;
    o->extra = o->used % o->o.accelerators;
    o->batches = pr_order_batches(o, 0);
}

int pr_order_init(struct pr_order *o, const struct pr_order_opts *opts,
                  struct pr_err *err)
{
    uint64_t total;

    assert(opts->accelerators && opts->batch);
    if (__builtin_mul_overflow(opts->files, opts->samples_per_file, &total) ||
        total > INT64_MAX)
        return pr_fail(err, PR_E_CONF, "",
                       "%llu files of %llu samples are too many",
                       (unsigned long long)opts->files,
                       (unsigned long long)opts->samples_per_file);
    *o = (struct pr_order){.o = *opts, .total = total};
    set_shares(o);
    pr_permutation_init(&o->files, opts->files,
                        order_make_key(opts->seed, KEY_FILES));
    pr_permutation_init(&o->samples, total,
                        order_make_key(opts->seed, KEY_SAMPLES));
    o->window_key = order_make_key(opts->seed, KEY_WINDOW);
    return PR_OK;
}

uint64_t pr_order_samples(const struct pr_order *o, uint64_t a)
{
    return o->share + (a < o->extra);
}

uint64_t pr_order_batches(const struct pr_order *o, uint64_t a)
{
    return divide_up(pr_order_samples(o, a), o->o.batch);
}

uint64_t pr_order_batch_of(const struct pr_order *o, uint64_t pos)
{
    return o->series ? pr_order_series_batch_of(o->series, pos)
                     : pos / o->o.batch;
}

uint64_t pr_order_batch_start(const struct pr_order *o, uint64_t b)
{
    return o->series ? pr_order_series_start(o->series, b) : b * o->o.batch;
}

uint64_t pr_order_batch_samples(const struct pr_order *o, uint64_t a,
                                uint64_t b)
{
    if (o->series)
        return pr_order_series_start(o->series, b + 1) -
               pr_order_series_start(o->series, b);
    return order_min(o->o.batch, pr_order_samples(o, a) - b * o->o.batch);
}

static uint64_t order_find_position(const struct pr_order *o, uint64_t a,
                                    uint64_t q)
{
    if (o->o.shared)
        return q * o->o.accelerators + a;
    return o->share * a + order_min(a, o->extra) + q;
}

static uint64_t order_sample_at(const struct pr_order *o, uint64_t pos)
{
    uint64_t each = o->o.samples_per_file;

    if (o->o.shuffle_samples && !o->o.window)
        return pr_permutation_at(&o->samples, pos);
    if (!o->o.shuffle_files)
        return pos;
    if (each == 1)
        return pr_permutation_at(&o->files, pos);
    return pr_permutation_at(&o->files, pos / each) * each + pos % each;
}

uint64_t pr_order_read(const struct pr_order *o, uint64_t a, uint64_t q)
{
    if (o->dlio)
        return pr_order_dlio_read(o->dlio, a, q);
    if (o->series)
        return pr_order_series_read(o->series, q);
    return order_sample_at(o, order_find_position(o, a, q));
}

/* Samples in the window that starts there; an accelerator's last is cut. */
static uint64_t window_len(const struct pr_order *o, uint64_t a, uint64_t start)
{
    return order_min(o->o.window, pr_order_samples(o, a) - start);
}

uint64_t pr_order_place(const struct pr_order *o, uint64_t a, uint64_t q)
{
    struct pr_permutation p;
    uint64_t at, start;

    if (o->series)
        return pr_order_series_place(o->series, q);
    if (!order_has_window(o))
        return q;
    at = q % o->o.window;
    start = q - at;
    pr_permutation_init(&p, window_len(o, a, start),
                        pr_mix64(o->window_key + a) + start);
    return start + pr_permutation_at(&p, at);
}

uint64_t pr_order_needed(const struct pr_order *o, uint64_t a, uint64_t pos)
{
    uint64_t start;

    pos = order_min(pos, pr_order_samples(o, a));
    if (o->series)
        return pr_order_series_needed(o->series, pos);
    if (!pos || !order_has_window(o))
        return pos;
    start = (pos - 1) - (pos - 1) % o->o.window;
    return start + window_len(o, a, start);
}
