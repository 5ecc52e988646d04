/* UTF-8 validation and encoding. */
#include "base/utf8.h"

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
