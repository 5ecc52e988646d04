/* Short texts: nearest names, names of files, UTF-8, comparing. */
#include "base/text.h"

#include <string.h>

/* ---- the nearest name, by edit distance with swaps of neighbours */

enum { MAX_NAME = 64 };

static size_t min_of_three(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;

    return m < c ? m : c;
}

static size_t edit_distance(const char *a, size_t la, const char *b, size_t lb)
{
    size_t rows[3][MAX_NAME + 1];

    for (size_t j = 0; j <= lb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *row = rows[i % 3], *up = rows[(i + 2) % 3];
        size_t *up2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            row[j] = min_of_three(up[j] + 1, row[j - 1] + 1,
                                  up[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
                a[i - 2] == b[j - 1] && up2[j - 2] + 1 < row[j])
                row[j] = up2[j - 2] + 1;
        }
    }
    return rows[la % 3][lb];
}

void pr_nearest_init(struct pr_nearest *n, const char *typed)
{
    size_t len = strlen(typed), most = 1 + len / 3;

    /* Something of the name must be left. */
    *n = (struct pr_nearest){typed, NULL,
                             most < len ? most
                             : len      ? len - 1
                                        : 0};
}

void pr_nearest_offer(struct pr_nearest *n, const char *candidate)
{
    size_t lt = strlen(n->typed), lc = strlen(candidate), d;

    if (lt > MAX_NAME || lc > MAX_NAME)
        return;
    d = edit_distance(n->typed, lt, candidate, lc);
    if (d < n->distance || (d == n->distance && !n->best)) {
        n->best = candidate;
        n->distance = d;
    }
}

/* ---- plots on one line */

/* The mean of the numbers in cell i of so many. */
static double spark_cell_mean(const double *numbers, size_t count, size_t i,
                              size_t cells)
{
    size_t from = count * i / cells, to = count * (i + 1) / cells;
    double sum = 0;

    for (size_t k = from; k < to; k++)
        sum += numbers[k];
    return sum / (double)(to - from);
}

void pr_spark_write(const double *numbers, size_t count, unsigned width,
                    struct pr_buf *out)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄",
                                         "▅", "▆", "▇", "█"};
    size_t cells = count < width ? count : width;
    double low = 0, high = 0;

    for (size_t i = 0; i < cells; i++) {
        double v = spark_cell_mean(numbers, count, i, cells);

        low = !i || v < low ? v : low;
        high = !i || v > high ? v : high;
    }
    for (size_t i = 0; i < cells; i++) {
        double above = spark_cell_mean(numbers, count, i, cells) - low;

        pr_buf_str(out,
                   blocks[high > low ? (int)(above / (high - low) * 7.99) : 0]);
    }
}

/* ---- names of files */

/* How many bytes at s are a control character; 0: it is none. */
static size_t control_at(const char *s, size_t len)
{
    unsigned char c = (unsigned char)s[0];
    unsigned char next = len > 1 ? (unsigned char)s[1] : 0;

    if (c < 0x20 || c == 0x7f)
        return 1;
    return c == 0xc2 && next >= 0x80 && next < 0xa0 ? 2 : 0;
}

bool pr_filename_has_control(const char *s)
{
    for (size_t len = strlen(s); len; s++, len--)
        if (control_at(s, len))
            return true;
    return false;
}

bool pr_filename_is_safe(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/') &&
           !pr_filename_has_control(name);
}

void pr_filename_clean(char *name, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        size_t n = control_at(name + i, len - i);

        if (n || name[i] == '/' || (i == 0 && name[i] == '.'))
            memset(name + i, '_', n ? n : 1);
    }
}

/* ---- UTF-8 */

size_t pr_utf8_len(const char *s, size_t avail)
{
    const unsigned char *p = (const unsigned char *)s;
    size_t n;
    unsigned low = 0x80, high = 0xbf; /* bounds of the second byte */

    if (!avail)
        return 0;
    if (p[0] < 0x80)
        return 1;
    if (p[0] >= 0xc2 && p[0] <= 0xdf) {
        n = 2;
    } else if (p[0] >= 0xe0 && p[0] <= 0xef) {
        n = 3;
        if (p[0] == 0xe0)
            low = 0xa0; /* overlong */
        if (p[0] == 0xed)
            high = 0x9f; /* surrogates */
    } else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
        n = 4;
        if (p[0] == 0xf0)
            low = 0x90;
        if (p[0] == 0xf4)
            high = 0x8f; /* above U+10FFFF */
    } else {
        return 0;
    }
    if (avail < n || p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

size_t pr_utf8_fit(const char *s, size_t len, size_t room)
{
    size_t n = 0, more;

    while (n < len && s[n] && (more = pr_utf8_len(s + n, len - n)) &&
           n + more <= room)
        n += more;
    return n;
}

size_t pr_utf8_put(char out[static 4], unsigned code)
{
    unsigned char *p = (unsigned char *)out;

    if (code < 0x80) {
        p[0] = (unsigned char)code;
        return 1;
    }
    if (code < 0x800) {
        p[0] = (unsigned char)(0xc0 | code >> 6);
        p[1] = (unsigned char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        p[0] = (unsigned char)(0xe0 | code >> 12);
        p[1] = (unsigned char)(0x80 | (code >> 6 & 0x3f));
        p[2] = (unsigned char)(0x80 | (code & 0x3f));
        return 3;
    }
    p[0] = (unsigned char)(0xf0 | code >> 18);
    p[1] = (unsigned char)(0x80 | (code >> 12 & 0x3f));
    p[2] = (unsigned char)(0x80 | (code >> 6 & 0x3f));
    p[3] = (unsigned char)(0x80 | (code & 0x3f));
    return 4;
}

size_t pr_utf8_columns(const char *s)
{
    size_t n = 0;

    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

/* ---- comparing */

bool pr_text_equal(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

bool pr_text_starts_with(const char *s, const char *start)
{
    return strncmp(s, start, strlen(start)) == 0;
}

bool pr_text_ends_with(const char *s, const char *end)
{
    size_t len = strlen(s), tail = strlen(end);

    return len >= tail && memcmp(s + len - tail, end, tail) == 0;
}

bool pr_text_is(const char *s, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(s, word, len) == 0;
}
