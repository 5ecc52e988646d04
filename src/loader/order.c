/*
 * Orders of samples. One epoch: shares of the accelerators first, as positions
 * in one sequence of samples; then what sample is at a position; last, how a
 * window delivers. Epochs without end are a series of such orders.
 */
#include "loader/order.h"

#include "base/names.h"
#include "base/random.h"
#include "loader/order_dlio.h"

#include <assert.h>
#include <stddef.h>

/* ---- permutations */

/*
 * Without a table: a Feistel network over a rectangle of high x 2^low_bits
 * cells, hardly more than n, in which an index walks on until it is below n
 * (Black and Rogaway 2002). A power of two on one side needs no division; the
 * other side fits so closely that one index in sqrt(n) walks.
 *
 * A network over a handful of cells has not every permutation, so up to
 * sixteen are really shuffled: four bits for each in one word.
 *
 * The fewer cells, the more rounds until pairs of indices are independent.
 */
enum { TABLE_MAX = 16, FEW = 512, ROUNDS_FEW = 10, ROUNDS = 6 };

/* A number below m from a mixed word; m is at most 2^32. */
static uint64_t permute_scale_word(uint64_t word, uint64_t m)
{
    return (word >> 32) * m >> 32;
}

static uint64_t permute_get_nibble(uint64_t table, uint64_t i)
{
    return table >> 4 * i & 15;
}

/* Fisher and Yates, in a word. */
static uint64_t permute_make_table(uint64_t n, uint64_t key)
{
    uint64_t table = 0xfedcba9876543210u;

    for (uint64_t i = n; i-- > 1;) {
        uint64_t j = permute_scale_word(pr_hash_mix(key + i), i + 1);
        uint64_t swap =
            permute_get_nibble(table, i) ^ permute_get_nibble(table, j);
        table ^= i == j ? 0 : swap << 4 * i | swap << 4 * j;
    }
    return table;
}

void pr_permutation_init(struct pr_permutation *p, uint64_t n, uint64_t key)
{
    uint64_t x = pr_hash_mix(key + 0x9e3779b97f4a7c15u);

    p->n = n;
    p->low_bits = p->rounds = 0;
    if (n <= TABLE_MAX) {
        p->key[0] = permute_make_table(n, x);
        return;
    }
    p->low_bits = (64 - (unsigned)__builtin_clzll(n - 1)) / 2;
    p->high = ((n - 1) >> p->low_bits) + 1;
    p->rounds = n < FEW ? ROUNDS_FEW : ROUNDS;
    for (unsigned i = 0; i < p->rounds; i++)
        p->key[i] = pr_hash_mix(x + i);
}

static uint64_t permute_mix(uint64_t x, uint64_t key)
{
    x = (x ^ key) * 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return x * 0x9e3779b97f4a7c15u;
}

static uint64_t permute_forward(const struct pr_permutation *p, uint64_t i)
{
    uint64_t low = i & (((uint64_t)1 << p->low_bits) - 1);
    uint64_t high = i >> p->low_bits;

    for (unsigned r = 0; r < p->rounds; r += 2) {
        low ^= permute_mix(high, p->key[r]) >> (64 - p->low_bits);
        high += permute_scale_word(permute_mix(low, p->key[r + 1]), p->high);
        high -= high >= p->high ? p->high : 0;
    }
    return high << p->low_bits | low;
}

static uint64_t permute_backward(const struct pr_permutation *p, uint64_t i)
{
    uint64_t low = i & (((uint64_t)1 << p->low_bits) - 1);
    uint64_t high = i >> p->low_bits;

    for (unsigned r = p->rounds; r > 0; r -= 2) {
        uint64_t by =
            permute_scale_word(permute_mix(low, p->key[r - 1]), p->high);
        high += high < by ? p->high - by : -by;
        low ^= permute_mix(high, p->key[r - 2]) >> (64 - p->low_bits);
    }
    return high << p->low_bits | low;
}

uint64_t pr_permutation_at(const struct pr_permutation *p, uint64_t i)
{
    if (p->n <= TABLE_MAX)
        return permute_get_nibble(p->key[0], i);
    do
        i = permute_forward(p, i);
    while (i >= p->n);
    return i;
}

uint64_t pr_permutation_of(const struct pr_permutation *p, uint64_t i)
{
    if (p->n <= TABLE_MAX) {
        uint64_t at = 0;
        while (permute_get_nibble(p->key[0], at) != i)
            at++;
        return at;
    }
    do
        i = permute_backward(p, i);
    while (i >= p->n);
    return i;
}

/* ---- epochs without end: the order of one is made when it is asked for, which
 * takes less than a tenth of a microsecond */

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

static uint64_t order_series_batch_of(const struct pr_order_series *s,
                                      uint64_t pos)
{
    return pos / s->used * s->batches + pos % s->used / s->o.batch;
}

static uint64_t order_series_start(const struct pr_order_series *s, uint64_t b)
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

static uint64_t order_series_read(const struct pr_order_series *s, uint64_t q)
{
    struct pr_order o = order_of(s, q / s->used);

    return pr_order_read(&o, 0, q % s->used);
}

static uint64_t order_series_place(const struct pr_order_series *s, uint64_t q)
{
    uint64_t at = q % s->used;
    struct pr_order o;

    if (!s->o.window)
        return q;
    o = order_of(s, q / s->used);
    return q - at + pr_order_place(&o, 0, at);
}

/* As pr_order_needed for such an order. */
static uint64_t order_series_needed(const struct pr_order_series *s,
                                    uint64_t pos)
{
    uint64_t at = pos % s->used;
    struct pr_order o;

    if (!s->o.window)
        return pos;
    o = order_of(s, 0); /* where windows end is the same in each */
    return pos - at + pr_order_needed(&o, 0, at);
}

/* ---- one epoch */

/* Shuffles of the same seed that must not look alike. */
enum { KEY_FILES = 1, KEY_SAMPLES, KEY_WINDOW };

static uint64_t order_make_key(uint64_t seed, uint64_t what)
{
    return pr_mix64(pr_mix64(seed) + what);
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
    return o->series ? order_series_batch_of(o->series, pos) : pos / o->o.batch;
}

uint64_t pr_order_batch_start(const struct pr_order *o, uint64_t b)
{
    return o->series ? order_series_start(o->series, b) : b * o->o.batch;
}

uint64_t pr_order_batch_samples(const struct pr_order *o, uint64_t a,
                                uint64_t b)
{
    if (o->series)
        return order_series_start(o->series, b + 1) -
               order_series_start(o->series, b);
    return pr_order_min(o->o.batch, pr_order_samples(o, a) - b * o->o.batch);
}

static uint64_t order_find_position(const struct pr_order *o, uint64_t a,
                                    uint64_t q)
{
    if (o->o.shared)
        return q * o->o.accelerators + a;
    return o->share * a + pr_order_min(a, o->extra) + q;
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
        return order_series_read(o->series, q);
    return order_sample_at(o, order_find_position(o, a, q));
}

/* Samples in the window that starts there; an accelerator's last is cut. */
static uint64_t window_len(const struct pr_order *o, uint64_t a, uint64_t start)
{
    return pr_order_min(o->o.window, pr_order_samples(o, a) - start);
}

uint64_t pr_order_place(const struct pr_order *o, uint64_t a, uint64_t q)
{
    struct pr_permutation p;
    uint64_t at, start;

    if (o->series)
        return order_series_place(o->series, q);
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

    pos = pr_order_min(pos, pr_order_samples(o, a));
    if (o->series)
        return order_series_needed(o->series, pos);
    if (!pos || !order_has_window(o))
        return pos;
    start = (pos - 1) - (pos - 1) % o->o.window;
    return start + window_len(o, a, start);
}
