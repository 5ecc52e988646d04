/*
 * A stream of bytes into an object being written: a block is filled, then
 * written whole. What fills it may do so in place, so that a byte made up is
 * touched once before the storage takes it.
 */
#ifndef PR_FORMAT_OUT_H
#define PR_FORMAT_OUT_H

#include "storage/storage.h"

struct pr_out {
    struct pr_object obj;
    struct pr_storage *st;
    uint8_t *whole; /* PR_OUT_LEAD bytes more than the block needs */
    uint8_t *block; /* in it */
    size_t cap, used;
    uint64_t base; /* offset of the block in the object */
    bool is_open;
};

enum { PR_OUT_BLOCK = 256 << 10, PR_OUT_LEAD = 64 };

/* Once a writer: the block comes from pr_storage_buffer. */
int pr_out_init(struct pr_out *out, struct pr_storage *st,
                struct pr_err *err) PR_MUST_CHECK;

int pr_out_create(struct pr_out *out, const char *name, uint64_t size,
                  struct pr_err *err) PR_MUST_CHECK;

/* Right after creating: so many bytes come before the bulk, which should be
 * aligned in memory. No effect where the storage wants the file's own
 * alignment. */
void pr_out_lead(struct pr_out *out, size_t lead);

/* Where the next byte goes. */
static inline uint64_t pr_out_offset(const struct pr_out *out)
{
    return out->base + out->used;
}

/* Room for up to want bytes at the offset; *ret_len says how many, at least
 * one. Fill some from the start, then pr_out_advance. */
int pr_out_room(struct pr_out *out, size_t want, uint8_t **ret, size_t *ret_len,
                struct pr_err *err) PR_MUST_CHECK;
void pr_out_advance(struct pr_out *out, size_t len);

int pr_out_put(struct pr_out *out, const void *data, size_t len,
               struct pr_err *err) PR_MUST_CHECK;

/* Overwrites bytes that were put before. */
int pr_out_patch(struct pr_out *out, uint64_t off, const void *data, size_t len,
                 struct pr_err *err) PR_MUST_CHECK;

int pr_out_commit(struct pr_out *out, struct pr_err *err) PR_MUST_CHECK;
void pr_out_discard(struct pr_out *out); /* no-op when none is open */

#endif
