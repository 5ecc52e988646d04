/* Text for a terminal: made harmless, measured, cut. */
#include "present/screen.h"

#include "base/text.h"

#include <string.h>

struct range {
    unsigned first, last;
};

/* Marks that combine with what stands before, joiners and selectors: the
 * blocks of Unicode that hold such marks and little else, and single ones. */
static const struct range zero[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd},   {0x0610, 0x061a},
    {0x064b, 0x065f}, {0x06d6, 0x06dc}, {0x0900, 0x0902},   {0x093c, 0x093c},
    {0x0941, 0x0948}, {0x094d, 0x094d}, {0x0e31, 0x0e31},   {0x0e34, 0x0e3a},
    {0x0e47, 0x0e4e}, {0x1160, 0x11ff}, {0x1ab0, 0x1aff},   {0x1dc0, 0x1dff},
    {0x200b, 0x200d}, {0x2060, 0x2064}, {0x20d0, 0x20ff},   {0xfe00, 0xfe0f},
    {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef},
};

/* East Asian wide and full-width blocks, and emoji shown as such. */
static const struct range wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},
    {0x23f0, 0x23f0},   {0x23f3, 0x23f3},   {0x25fd, 0x25fe},
    {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267f, 0x267f},
    {0x2693, 0x2693},   {0x26a1, 0x26a1},   {0x26aa, 0x26ab},
    {0x26bd, 0x26be},   {0x26c4, 0x26c5},   {0x26ce, 0x26ce},
    {0x26d4, 0x26d4},   {0x26ea, 0x26ea},   {0x26f2, 0x26f3},
    {0x26f5, 0x26f5},   {0x26fa, 0x26fa},   {0x26fd, 0x26fd},
    {0x2705, 0x2705},   {0x270a, 0x270b},   {0x2728, 0x2728},
    {0x274c, 0x274c},   {0x274e, 0x274e},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27b0, 0x27b0},
    {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2b55, 0x2b55},
    {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
    {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xa960, 0xa97f},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
    {0xff01, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x18aff},
    {0x1b000, 0x1b2ff}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a},
    {0x1f200, 0x1f320}, {0x1f32d, 0x1f335}, {0x1f337, 0x1f37c},
    {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3},
    {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f43e},
    {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d},
    {0x1f54b, 0x1f54e}, {0x1f550, 0x1f567}, {0x1f57a, 0x1f57a},
    {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f},
    {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2},
    {0x1f6d5, 0x1f6d7}, {0x1f6dc, 0x1f6df}, {0x1f6eb, 0x1f6ec},
    {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7eb}, {0x1f90c, 0x1f93a},
    {0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff}, {0x1fa70, 0x1faff},
    {0x20000, 0x3fffd},
};

static bool in_ranges(unsigned code, const struct range *r, size_t n)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t mid = (low + high) / 2;
        if (code > r[mid].last)
            low = mid + 1;
        else
            high = mid;
    }
    return low < n && code >= r[low].first;
}

/* Columns of a code point: 0 for marks that combine, 2 for wide ones. */
static unsigned screen_width_of(unsigned code)
{
    if (code < 0x300)
        return 1;
    if (in_ranges(code, zero, sizeof zero / sizeof *zero))
        return 0;
    return in_ranges(code, wide, sizeof wide / sizeof *wide) ? 2 : 1;
}

unsigned pr_screen_code_point(const char *s, size_t n)
{
    static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned code = (unsigned char)*s & mask[n];

    for (size_t i = 1; i < n; i++)
        code = code << 6 | ((unsigned char)s[i] & 0x3f);
    return code;
}

/* The next character of s and its columns; a stray byte counts as one. */
static size_t next_char(const char *s, size_t len, unsigned *ret_columns)
{
    size_t n = pr_utf8_len(s, len);

    *ret_columns = n ? screen_width_of(pr_screen_code_point(s, n)) : 1;
    return n ? n : 1;
}

size_t pr_screen_columns(const char *s, size_t len)
{
    size_t columns = 0;
    unsigned w;

    for (size_t i = 0; i < len; columns += w)
        i += next_char(s + i, len - i, &w);
    return columns;
}

static bool is_harmless(unsigned code)
{
    if (code < 0x20 || (code >= 0x7f && code < 0xa0))
        return false;
    return !(code == 0x061c || code == 0x200e || code == 0x200f ||
             (code >= 0x2028 && code <= 0x202e) ||
             (code >= 0x2066 && code <= 0x2069));
}

static void add_escape(struct pr_buf *out, unsigned code)
{
    switch (code) {
    case '\n':
        pr_buf_str(out, "\\n");
        break;
    case '\r':
        pr_buf_str(out, "\\r");
        break;
    case '\t':
        pr_buf_str(out, "\\t");
        break;
    default:
        pr_buf_printf(out, code < 0x80 ? "\\x%02x" : "\\u%04x", code);
    }
}

void pr_screen_clean(struct pr_buf *out, const char *s, size_t len)
{
    size_t start = 0, i = 0;

    while (i < len) {
        size_t n = pr_utf8_len(s + i, len - i);
        unsigned code = n ? pr_screen_code_point(s + i, n) : 0;

        if (n && is_harmless(code)) {
            i += n;
            continue;
        }
        pr_buf_add(out, s + start, i - start);
        if (n)
            add_escape(out, code);
        else
            pr_buf_str(out, "\xef\xbf\xbd");
        i += n ? n : 1;
        start = i;
    }
    pr_buf_add(out, s + start, len - start);
}

/* How many bytes of s fit in so many columns, marks that combine included. */
static size_t screen_fit_bytes(const char *s, size_t len, size_t columns,
                               size_t *ret_columns)
{
    size_t i = 0, used = 0;

    while (i < len) {
        unsigned w;
        size_t n = next_char(s + i, len - i, &w);
        if (used + w > columns)
            break;
        used += w;
        i += n;
    }
    *ret_columns = used;
    return i;
}

size_t pr_screen_cut(struct pr_buf *out, const char *s, size_t len,
                     size_t columns, bool ascii)
{
    const char *dots = ascii ? "..." : "\xe2\x80\xa6";
    size_t dots_columns = ascii ? 3 : 1, used;
    size_t n = screen_fit_bytes(s, len, columns, &used);

    if (n == len) {
        pr_buf_add(out, s, len);
        return used;
    }
    if (columns < dots_columns) {
        pr_buf_add(out, s, n);
        return used;
    }
    n = screen_fit_bytes(s, len, columns - dots_columns, &used);
    pr_buf_add(out, s, n);
    pr_buf_str(out, dots);
    return used + dots_columns;
}

void pr_screen_blanks(struct pr_buf *out, size_t n)
{
    while (n--)
        pr_buf_char(out, ' ');
}
