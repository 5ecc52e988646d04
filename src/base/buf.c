/* A growable run of bytes with a stated maximum. */
#include "base/buf.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pr_buf_free(struct pr_buf *b)
{
    size_t max = b->max;

    pr_free(b->data);
    *b = (struct pr_buf)PR_BUF_INIT(max);
}

void pr_buf_clear(struct pr_buf *b)
{
    b->len = 0;
    b->failed = b->over = false;
    if (b->data)
        b->data[0] = '\0';
}

bool pr_buf_reserve(struct pr_buf *b, size_t more)
{
    size_t need, cap;
    char *p;

    if (b->failed)
        return false;
    if (more > b->max - b->len || more >= SIZE_MAX / 2 - b->len) {
        b->failed = b->over = true;
        return false;
    }
    need = b->len + more + 1;
    if (need <= b->cap)
        return true;
    cap = b->cap ? b->cap : 64;
    while (cap < need)
        cap += cap; /* need is at most half of SIZE_MAX: no overflow */
    p = pr_realloc(b->data, cap);
    if (!p) {
        b->failed = true;
        return false;
    }
    b->data = p;
    b->cap = cap;
    return true;
}

void pr_buf_add(struct pr_buf *b, const void *bytes, size_t len)
{
    if (!pr_buf_reserve(b, len))
        return;
    if (len)
        memcpy(b->data + b->len, bytes, len);
    b->len += len;
    b->data[b->len] = '\0';
}

void pr_buf_str(struct pr_buf *b, const char *s)
{
    pr_buf_add(b, s, strlen(s));
}

void pr_buf_char(struct pr_buf *b, char c)
{
    pr_buf_add(b, &c, 1);
}

void pr_buf_int(struct pr_buf *b, int64_t i)
{
    char digits[24];
    char *p = digits + sizeof digits;
    uint64_t n = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;

    do
        *--p = (char)('0' + n % 10);
    while (n /= 10);
    if (i < 0)
        *--p = '-';
    pr_buf_add(b, p, (size_t)(digits + sizeof digits - p));
}

/* Mostly there is room, and it is written at once. */
void pr_buf_printf(struct pr_buf *b, const char *fmt, ...)
{
    size_t room = b->failed ? 0 : b->cap - b->len;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(room ? b->data + b->len : NULL, room, fmt, ap);
    va_end(ap);
    if (n < 0) /* longer than an int can say */
        b->failed = true;
    if (n < 0 || !pr_buf_reserve(b, (size_t)n)) {
        if (room)
            b->data[b->len] = '\0';
        return;
    }
    if ((size_t)n >= room) {
        va_start(ap, fmt);
        vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
        va_end(ap);
    }
    b->len += (size_t)n;
}
