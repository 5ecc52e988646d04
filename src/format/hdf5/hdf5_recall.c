/* Whether a file is like the one before; see struct pr_hdf5_trail. */
#include "format/hdf5/hdf5_impl.h"

#include <string.h>

static struct pr_hdf5_reader *hdf5_layout_state(struct pr_reader *r)
{
    return r->data;
}

/* A header of version 2 can have four times of four bytes, after its first six
 * bytes; a checksum ends it. */
enum { TIMES_AT = 6, TIMES = 16, SUM = 4, HAS_TIMES = 0x20, HAS_PHASES = 0x10 };

/* Bytes of a header with times that starts at p; 0: it is none. */
static size_t header_len(const uint8_t *p, size_t len)
{
    static const uint8_t start[5] = "OHDR\2";
    size_t at = TIMES_AT + TIMES, width;
    uint64_t body = 0;

    if (len < at + 4 + 8 || memcmp(p, start, sizeof start) != 0 ||
        !(p[5] & HAS_TIMES))
        return 0;
    if (p[5] & HAS_PHASES)
        at += 4;
    width = (size_t)1 << (p[5] & 3);
    for (size_t i = width; i-- > 0;)
        body = body << 8 | p[at + i];
    at += width;
    return body <= len && at + body + SUM <= len ? at + (size_t)body + SUM : 0;
}

/* Files written one after another, by DLIO for one, differ in the times of
 * their root group, and so in its checksum. Neither says anything about
 * samples; all other bytes must be the same. */
static bool hdf5_is_range_like(const uint8_t *have, const uint8_t *want,
                               size_t len)
{
    size_t end = header_len(want, len), from = TIMES_AT + TIMES;

    if (!end)
        return memcmp(have, want, len) == 0;
    return memcmp(have, want, TIMES_AT) == 0 &&
           memcmp(have + from, want + from, end - SUM - from) == 0 &&
           memcmp(have + end, want + end, len - end) == 0;
}

static int hdf5_is_range_unchanged(struct pr_reader *r,
                                   const struct pr_hdf5_range *g,
                                   struct pr_err *err)
{
    struct pr_hdf5_reader *h = hdf5_layout_state(r);
    const uint8_t *want = h->trail->bytes + g->at;
    uint8_t *have;
    int rc;

    if (g->off <= h->io.head_len && g->len <= h->io.head_len - g->off)
        return hdf5_is_range_like(h->io.head + g->off, want, g->len);
    have = pr_hdf5_buf_grow(&h->raw, g->len);
    if (!have)
        return pr_fail_nomem(err);
    rc = pr_object_read(&r->obj, g->off, g->len, have, err);
    return rc ? rc : hdf5_is_range_like(have, want, g->len);
}

int pr_hdf5_recall_layout(struct pr_reader *r, struct pr_err *err)
{
    struct pr_hdf5_reader *h = hdf5_layout_state(r);
    int rc = h->is_known && h->known_size == r->obj.size;

    for (unsigned i = 0; rc == 1 && i < h->trail->count; i++)
        rc = hdf5_is_range_unchanged(r, &h->trail->range[i], err);
    return rc;
}
