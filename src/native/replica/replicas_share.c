/*
 * Arrays that all ranks see. The whole pages of one are moved to a file in
 * memory and mapped from there to the same place: whoever has a pointer notices
 * nothing, no memory is needed twice, and others read and write the array
 * itself. Whoever frees the array unmaps those pages like any other; that an
 * array is still the one that was moved is proved each time by a word that
 * changes with the file.
 */
#include "base/mem.h"
#include "native/replica/replicas_impl.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

struct pr_replicas_pages pr_replicas_find_pages(const float *values,
                                                size_t count)
{
    size_t page = page_bytes(), over = (uintptr_t)values % page;
    size_t head = over ? (page - over) / sizeof *values : 0;
    size_t floats = page / sizeof *values;

    if (head > count)
        head = count;
    return (struct pr_replicas_pages){head, (count - head) / floats * floats};
}

/* ---- finding one */

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
    struct pr_replicas_pages p = pr_replicas_find_pages(values, count);
    const char *inner = (const char *)(values + p.head);

    if (s->values != values || count > s->count || !p.inner)
        return false;
    return changes_with(inner, s->probes[0]) &&
           (count < s->count ||
            changes_with(inner + s->bytes - page_bytes(), s->probes[1]));
}

int pr_replicas_share_find(struct pr_replicas *r, const float *values,
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
    struct pr_replicas_pages p = pr_replicas_find_pages(values, count);

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

int pr_replicas_share_make(struct pr_replicas *r, float *values, size_t count,
                           int *ret, struct pr_err *err)
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
