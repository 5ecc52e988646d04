/*
 * Looking at small parts of a file while its structure is read: what was
 * fetched last is kept, a small file is fetched whole, so that few requests
 * are made. The bytes are in the reader's scratch, or in memory of the
 * object's.
 */
#ifndef PR_FORMAT_WINDOW_H
#define PR_FORMAT_WINDOW_H

#include "format/format.h"

enum {
    PR_WINDOW_WHOLE = 1 << 20, /* files up to this are fetched whole */
    PR_WINDOW_STEP = 4096,     /* of others at least so much */
    PR_WINDOW_MAX = 256 << 10, /* and at most so much */
};

struct pr_window {
    uint64_t off;
    size_t len;
    const uint8_t *data;
};

/* At the start of a file that was opened: forgets, fetches a small file. */
int pr_window_open(struct pr_window *w, struct pr_reader *r,
                   struct pr_err *err) PR_MUST_CHECK;

/* Whether the whole file is there, and stays until it is closed. */
static inline bool pr_window_is_whole(const struct pr_window *w,
                                      const struct pr_reader *r)
{
    return w->len == r->obj.size;
}

/* Bytes [off, off + len), len up to PR_WINDOW_MAX, until the next call or use
 * of the scratch. Beyond the end of the file: PR_E_FORMAT. */
int pr_window_get(struct pr_window *w, struct pr_reader *r, uint64_t off,
                  size_t len, const uint8_t **ret,
                  struct pr_err *err) PR_MUST_CHECK;

#endif
