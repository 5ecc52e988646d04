/*
 * The mean of arrays over all ranks. A short one goes over the desks: each rank
 * adds up all of it. Of a long one in shared pages each adds up its part and
 * writes the mean to the arrays of all, a block of a page at a time while that
 * is in the cache: each number is read once and written once.
 */
#include "base/mem.h"
#include "native/replica/replicas.h"
#include "nn/kernel/kernel_vec.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- arrays that all ranks see: the whole pages of one are moved to a file in
 * memory and mapped from there to the same place. Whoever has a pointer notices
 * nothing, no memory is needed twice, and others read and write the array
 * itself. Whoever frees the array unmaps those pages like any other; that an
 * array is still the one that was moved is proved each time by a word that
 * changes with the file. */

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static struct pr_replicas_pages replicas_find_pages(const float *values,
                                                    size_t count)
{
    size_t page = page_bytes(), over = (uintptr_t)values % page;
    size_t head = over ? (page - over) / sizeof *values : 0;
    size_t floats = page / sizeof *values;

    if (head > count)
        head = count;
    return (struct pr_replicas_pages){head, (count - head) / floats * floats};
}

/* ---- finding a shared array */

static bool changes_with(const void *values, char *probe)
{
    const volatile uint32_t *seen = values;
    volatile uint32_t *word = (volatile uint32_t *)(void *)probe;
    uint32_t old = *word;
    bool is_same;

    *word = ~old;
    is_same = *seen == ~old;
    *word = old;
    return is_same && *seen == old;
}

static bool is_still(const struct pr_replicas_share *s, const float *values,
                     size_t count)
{
    struct pr_replicas_pages p = replicas_find_pages(values, count);
    const char *inner = (const char *)(values + p.head);

    if (s->values != values || count > s->count || !p.inner)
        return false;
    return changes_with(inner, s->probes[0]) &&
           (count < s->count ||
            changes_with(inner + s->bytes - page_bytes(), s->probes[1]));
}

static int replicas_share_find(struct pr_replicas *r, const float *values,
                               size_t count)
{
    for (unsigned i = r->share_count; i-- > 0;)
        if (r->shares[i].at && is_still(&r->shares[i], values, count))
            return (int)i;
    return -1;
}

/* ---- making one */

static void share_unmap(void *p, size_t bytes)
{
    if (p)
        (void)munmap(p, bytes);
}

/* Not the array itself, which is the caller's. */
static void share_drop(const struct pr_replicas *r, struct pr_replicas_share *s)
{
    for (unsigned i = 0; s->at && i < r->ranks; i++)
        if (i != r->rank)
            share_unmap(s->at[i], s->bytes);
    share_unmap(s->probes[0], page_bytes());
    share_unmap(s->probes[1], page_bytes());
    pr_free(s->at);
    *s = (struct pr_replicas_share){0};
}

static void *share_map(int fd, size_t bytes, uint64_t at)
{
    void *p =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);

    if (p == MAP_FAILED)
        return NULL;
    if (bytes >= PR_HUGE_PAGE)
        (void)madvise(p, bytes, MADV_HUGEPAGE); /* where the system wants it */
    return p;
}

/* Where the array of a rank begins in the file: as far into a huge page as it
 * is in memory, so that it may have such pages. */
static uint64_t share_file_offset(const struct pr_replicas *r, size_t bytes,
                                  unsigned rank)
{
    uint64_t whole = (bytes + PR_HUGE_PAGE - 1) / PR_HUGE_PAGE + 1;

    return rank * whole * PR_HUGE_PAGE +
           (rank < r->ranks ? pr_replicas_get_desk(r, rank)->card.skew : 0);
}

static bool map_others(const struct pr_replicas *r, int fd,
                       struct pr_replicas_share *s)
{
    for (unsigned i = 0; i < r->ranks; i++) {
        if (i == r->rank)
            continue;
        s->at[i] = share_map(fd, s->bytes, share_file_offset(r, s->bytes, i));
        if (!s->at[i])
            return false;
    }
    return true;
}

/* The array to the file, and the file to where the array was. */
static bool share_move_array(const struct pr_replicas *r, int fd, float *inner,
                             struct pr_replicas_share *s)
{
    uint64_t at = share_file_offset(r, s->bytes, r->rank);
    size_t page = page_bytes();
    void *copy;

    s->probes[0] = share_map(fd, page, at);
    s->probes[1] = share_map(fd, page, at + s->bytes - page);
    copy = share_map(fd, s->bytes, at);
    if (!s->probes[0] || !s->probes[1] || !copy) {
        share_unmap(copy, s->bytes);
        return false;
    }
    memcpy(copy, inner, s->bytes);
    share_unmap(copy, s->bytes);
    if (mmap(inner, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             fd, (off_t)at) == MAP_FAILED)
        return false;
    if (s->bytes >= PR_HUGE_PAGE)
        (void)madvise(inner, s->bytes, MADV_HUGEPAGE);
    s->at[r->rank] = inner;
    return true;
}

static bool share_make(const struct pr_replicas *r, int fd, float *values,
                       size_t count, struct pr_replicas_share *s)
{
    struct pr_replicas_pages p = replicas_find_pages(values, count);

    s->values = values;
    s->count = count;
    s->bytes = p.inner * sizeof *values;
    s->at = pr_alloc_zeroed(r->ranks * sizeof *s->at);
    /* All make it as long as it has to be. */
    return s->at &&
           ftruncate(fd, (off_t)share_file_offset(r, s->bytes, r->ranks)) ==
               0 &&
           map_others(r, fd, s) && share_move_array(r, fd, values + p.head, s);
}

/* Of an array that was freed, or that is about to be moved again. */
static void share_forget_array(struct pr_replicas *r, const float *values)
{
    for (unsigned i = 0; i < r->share_count; i++)
        if (r->shares[i].at && r->shares[i].values == values)
            share_drop(r, &r->shares[i]);
}

static int replicas_share_make(struct pr_replicas *r, float *values,
                               size_t count, int *ret, struct pr_err *err)
{
    struct pr_replicas_card card = {.what = PR_REPLICAS_OP_SHARE,
                                    .count = count};
    unsigned i = r->share_count;
    int fd = i < PR_SHARES ? r->memory[i] : -1, rc;

    share_forget_array(r, values);
    if (fd < 0 || !share_make(r, fd, values, count, &r->shares[i]))
        card.share = -1;
    rc = pr_replicas_local_meet(r, &card, err);
    for (unsigned k = 0; !rc && k < r->ranks; k++)
        r->no_shares |= pr_replicas_get_desk(r, k)->card.share < 0;
    if (fd >= 0) { /* what is mapped stays as long as it is */
        (void)close(fd);
        r->memory[i] = -1;
        r->share_count++;
    }
    *ret = r->no_shares ? -1 : (int)i;
    return rc;
}

void pr_replicas_share_close_all(struct pr_replicas *r)
{
    for (unsigned i = 0; i < PR_SHARES; i++) {
        share_drop(r, &r->shares[i]);
        if (r->memory[i] >= 0)
            (void)close(r->memory[i]);
        r->memory[i] = -1;
    }
}

/* ---- adding up */

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

/* ---- the mean of short arrays */

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

/* ---- the mean of long arrays */

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
    struct pr_replicas_pages p = replicas_find_pages(values, count);
    struct pr_replicas_card card = {
        .what = PR_REPLICAS_OP_LONG,
        .count = count,
        .share = replicas_share_find(r, values, count),
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
        rc = replicas_share_make(r, values, count, &share, err);
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
