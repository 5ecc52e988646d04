/*
 * The mean of arrays over all ranks. A short one goes over the desks: each rank
 * adds up all of it. Of a long one in shared pages each adds up its part and
 * writes the mean to the arrays of all, a block of a page at a time while that
 * is in the cache: each number is read once and written once.
 */
#include "native/replica/replicas_impl.h"
#include "nn/kernel/kernel_vec.h"

#include <string.h>

enum { BLOCK = 1024 }; /* floats */

struct sums {
    const float *const *in; /* one array for each rank */
    float *const *out;      /* which may be the same */
    unsigned ranks;
    size_t from, to;
};

/* Into out, in whole vectors. Halves and so on are exact as products. */
PR_INLINE void mean_divide_vectors(float *out, size_t count, unsigned ranks)
{
    bool is_exact = (ranks & (ranks - 1)) == 0;
    pr_vec by = PR_ALL((float)ranks), part = PR_ALL(1 / (float)ranks);

    for (size_t i = 0; i < count; i += PR_LANES)
        PR_PUT(out + i, is_exact ? PR_AT(out + i) * part : PR_AT(out + i) / by);
}

/* Means of a block from element i on, into out. */
PR_INLINE void mean_block(const struct sums *s, size_t i, size_t count,
                          float *out)
{
    const float *a = s->in[0] + i, *b = s->in[1] + i;

    for (size_t k = 0; k < count; k += PR_LANES)
        PR_PUT(out + k, PR_AT(a + k) + PR_AT(b + k));
    for (unsigned rank = 2; rank < s->ranks; rank++) {
        const float *more = s->in[rank] + i;

        for (size_t k = 0; k < count; k += PR_LANES)
            PR_PUT(out + k, PR_AT(out + k) + PR_AT(more + k));
    }
    mean_divide_vectors(out, count, s->ranks);
}

/* Two ranks are so frequent that they are worth a loop of their own. */
PR_INLINE void spread_two(float *a, float *b, size_t count)
{
    for (size_t i = 0; i < count; i += PR_LANES) {
        pr_vec mean = (PR_AT(a + i) + PR_AT(b + i)) * PR_ALL(0.5f);

        PR_PUT(a + i, mean);
        PR_PUT(b + i, mean);
    }
}

/* All arrays get the means of this part; whole blocks. */
PR_INLINE void spread_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct sums *s = ctx;
    _Alignas(64) float out[BLOCK];
    size_t from, to;

    pr_threads_part(s->to - s->from, BLOCK, thread, threads, &from, &to);
    if (s->ranks == 2) {
        spread_two(s->out[0] + s->from + from, s->out[1] + s->from + from,
                   to - from);
        return;
    }
    for (size_t i = s->from + from; i < s->from + to; i += BLOCK) {
        mean_block(s, i, BLOCK, out);
        for (unsigned rank = 0; rank < s->ranks; rank++)
            for (size_t k = 0; k < BLOCK; k += PR_LANES)
                PR_PUT(s->out[rank] + i + k, PR_AT(out + k));
    }
}
PR_KERNEL(spread)

struct short_sums {
    struct sums s;
    float *to;
};

/* The array alone gets the means of desks. */
PR_INLINE void take_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct short_sums *w = ctx;
    _Alignas(64) float out[BLOCK];

    (void)thread, (void)threads;
    for (size_t i = w->s.from; i < w->s.to; i += BLOCK) {
        size_t left = w->s.to - i, count = left < BLOCK ? left : BLOCK;

        /* A desk has room for whole vectors. */
        mean_block(&w->s, i, (count + PR_LANES - 1) / PR_LANES * PR_LANES, out);
        memcpy(w->to + (i - w->s.from), out, count * sizeof *out);
    }
}
PR_KERNEL(take)

struct scaling {
    unsigned ranks;
    float *values;
    size_t count;
};

PR_INLINE void scale_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct scaling *s = ctx;
    size_t whole = s->count / PR_LANES * PR_LANES;

    (void)thread, (void)threads;
    mean_divide_vectors(s->values, whole, s->ranks);
    for (size_t i = whole; i < s->count; i++)
        s->values[i] /= (float)s->ranks;
}
PR_KERNEL(scale)

void pr_replicas_scale(unsigned ranks, float *values, size_t count)
{
    struct scaling s = {ranks, values, count};

    scale()(&s, 0, 1);
}

/* ---- short */

/* From place `from` of the desks on. */
static void take_from_desks(const struct pr_replicas *r, size_t from,
                            size_t count, float *to)
{
    const float *at[PR_REPLICAS_MOST];
    struct short_sums w = {{at, NULL, r->ranks, from, from + count}, to};

    for (unsigned i = 0; i < r->ranks; i++)
        at[i] = (const float *)(const void *)pr_replicas_get_desk(r, i)->data;
    take()(&w, 0, 1);
}

static int mean_short(struct pr_replicas *r, float *values, size_t count,
                      struct pr_err *err)
{
    struct pr_replicas_card card = {.what = PR_REPLICAS_OP_MEAN,
                                    .count = count};
    int rc;

    if (count)
        memcpy(pr_replicas_own_desk(r)->data, values, count * sizeof *values);
    rc = pr_replicas_local_meet(r, &card, err);
    if (!rc)
        take_from_desks(r, 0, count, values);
    return rc;
}

static int mean_pieces(struct pr_replicas *r, float *values, size_t count,
                       struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t at = 0; !rc && at < count; at += PR_DESK_FLOATS) {
        size_t left = count - at;

        rc = mean_short(r, values + at,
                        left < PR_DESK_FLOATS ? left : PR_DESK_FLOATS, err);
    }
    return rc;
}

/* ---- long */

/* Threads of the engine's own pool, as many as it has. */
static const struct pr_threads *replicas_get_threads(struct pr_replicas *r)
{
    if (!r->par && !r->no_par)
        r->no_par = r->opts->threads == 1 ||
                    pr_threads_new(r->opts->threads, &r->par, NULL) < 0;
    return r->par;
}

static void spread_part(struct pr_replicas *r,
                        const struct pr_replicas_share *s, size_t count)
{
    struct sums w = {
        .in = (const float *const *)s->at, .out = s->at, .ranks = r->ranks};
    const struct pr_threads *par = replicas_get_threads(r);

    pr_threads_part(count, BLOCK, r->rank, r->ranks, &w.from, &w.to);
    if (par)
        pr_threads_run(par, spread(), &w);
    else
        spread()(&w, 0, 1);
}

/* What fills no page goes over the desks. */
static void put_ends(struct pr_replicas *r, const struct pr_replicas_pages *p,
                     const float *values, size_t count)
{
    float *to = (void *)pr_replicas_own_desk(r)->data;

    memcpy(to, values, p->head * sizeof *to);
    memcpy(to + p->head, values + p->head + p->inner,
           (count - p->head - p->inner) * sizeof *to);
}

static int finish_long(struct pr_replicas *r, const struct pr_replicas_pages *p,
                       int share, float *values, size_t count,
                       struct pr_err *err)
{
    struct pr_replicas_card card = {.what = PR_REPLICAS_OP_MEET,
                                    .count = count};

    take_from_desks(r, 0, p->head, values);
    take_from_desks(r, p->head, count - p->head - p->inner,
                    values + p->head + p->inner);
    spread_part(r, &r->shares[share], p->inner);
    return pr_replicas_local_meet(r, &card, err);
}

/* The share that all have found; -1: they have to make one, -2: they cannot. */
static int replicas_agree_on_share(const struct pr_replicas *r)
{
    const struct pr_replicas_card *own =
        &pr_replicas_get_desk(r, r->rank)->card;
    int share = own->share;

    for (unsigned i = 0; i < r->ranks; i++) {
        const struct pr_replicas_card *other =
            &pr_replicas_get_desk(r, i)->card;

        if (other->head != own->head)
            return -2;
        if (other->share != own->share)
            share = -1;
    }
    return share;
}

static int mean_long(struct pr_replicas *r, float *values, size_t count,
                     struct pr_err *err)
{
    struct pr_replicas_pages p = pr_replicas_find_pages(values, count);
    struct pr_replicas_card card = {
        .what = PR_REPLICAS_OP_LONG,
        .count = count,
        .share = pr_replicas_share_find(r, values, count),
        .head = p.head,
        .skew = (uintptr_t)(values + p.head) % PR_HUGE_PAGE,
    };
    int share, rc;

    put_ends(r, &p, values, count);
    rc = pr_replicas_local_meet(r, &card, err);
    if (rc)
        return rc;
    share = replicas_agree_on_share(r);
    if (share == -1) {
        /* Afterwards the desks have something else: once more. */
        rc = pr_replicas_share_make(r, values, count, &share, err);
        if (rc || share >= 0)
            return rc ? rc : mean_long(r, values, count, err);
    }
    if (share < 0)
        return mean_pieces(r, values, count, err);
    return finish_long(r, &p, share, values, count, err);
}

int pr_replicas_local_mean(struct pr_replicas *r, float *values, size_t count,
                           struct pr_err *err)
{
    if (count <= PR_DESK_FLOATS)
        return mean_short(r, values, count, err);
    if (r->no_shares)
        return mean_pieces(r, values, count, err);
    return mean_long(r, values, count, err);
}
