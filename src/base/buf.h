/*
 * A growable run of bytes with a stated maximum. Appending after a failure is
 * safe and does nothing, so a writer checks pr_buf_ok once, at the end.
 */
#ifndef PR_BASE_BUF_H
#define PR_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pr_buf {
    char *data; /* NUL-terminated once anything was appended */
    size_t len, cap, max;
    bool failed; /* out of memory, or over the maximum */
    bool over;   /* … the latter */
};

#define PR_BUF_INIT(max_bytes)                \
    {                                         \
        NULL, 0, 0, (max_bytes), false, false \
    }

void pr_buf_free(struct pr_buf *b);  /* frees; the struct may be reused */
void pr_buf_clear(struct pr_buf *b); /* empties, keeps the memory */
bool pr_buf_reserve(struct pr_buf *b, size_t more);
void pr_buf_add(struct pr_buf *b, const void *bytes, size_t len);
void pr_buf_str(struct pr_buf *b, const char *s);
void pr_buf_char(struct pr_buf *b, char c);
void pr_buf_int(struct pr_buf *b, int64_t i); /* in decimal digits */
void pr_buf_printf(struct pr_buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static inline bool pr_buf_ok(const struct pr_buf *b)
{
    return !b->failed;
}

#define PR_AUTO_BUF __attribute__((cleanup(pr_buf_free)))

#endif
