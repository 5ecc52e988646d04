/*
 * The grammar of a parameter line. DLBS has a regular expression for it; this
 * is the same by hand, because nearly every line of a log is chatter and is
 * refused at its first two bytes.
 */
#include "record/logline.h"

#include "base/json/json.h"
#include "base/text.h"

#include <string.h>

struct span {
    const char *start, *end;
};

static bool log_is_blank_char(char c)
{
    return c == ' ' || c == '\t';
}

/* Bytes of the white space at p as Python's str.strip() has it, or 0. */
static size_t space_len(const char *p, const char *end)
{
    static const char wide[][4] = {
        "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\xa8",
        "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80",
    };
    unsigned char c = (unsigned char)*p;
    size_t left = (size_t)(end - p);

    if (c < 0x80)
        return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        size_t n = strlen(wide[i]);
        if (left >= n && memcmp(p, wide[i], n) == 0)
            return n;
    }
    /* U+2000 to U+200A */
    if (left >= 3 && memcmp(p, "\xe2\x80", 2) == 0 &&
        (unsigned char)p[2] >= 0x80 && (unsigned char)p[2] <= 0x8a)
        return 3;
    return 0;
}

static struct span log_strip_space(struct span s)
{
    size_t n = 1;

    while (s.start < s.end && (n = space_len(s.start, s.end)) > 0)
        s.start += n;
    while (s.start < s.end) {
        const char *last = s.end - 1;
        while (last > s.start && ((unsigned char)*last & 0xc0) == 0x80)
            last--;
        n = space_len(last, s.end);
        if (n == 0 || last + n != s.end)
            break;
        s.end = last;
    }
    return s;
}

/* Where the key of a line ends: the first "__" followed by blanks and '='
 * with at least one byte before it. The '=' goes to *ret_equals. */
static const char *find_key_end(const char *start, const char *end,
                                const char **ret_equals)
{
    for (const char *p = start + 1; end - p > 2; p++) {
        const char *q;

        p = memchr(p, '_', (size_t)(end - p));
        if (!p || end - p < 3)
            return NULL;
        if (p[1] != '_')
            continue;
        for (q = p + 2; q < end && log_is_blank_char(*q); q++)
            ;
        if (q < end && *q == '=') {
            *ret_equals = q;
            return p;
        }
    }
    return NULL;
}

static bool log_split_param(const char *line, size_t len, struct span *key,
                            struct span *value)
{
    const char *end = line + len, *equals;

    while (line < end && log_is_blank_char(*line))
        line++;
    if (end - line < 2 || line[0] != '_' || line[1] != '_')
        return false;
    key->start = line + 2;
    key->end = find_key_end(key->start, end, &equals);
    if (!key->end || equals + 1 == end)
        return false;
    *value = (struct span){equals + 1, end};
    return true;
}

static bool is_utf8(struct span s)
{
    while (s.start < s.end) {
        size_t n = pr_utf8_len(s.start, (size_t)(s.end - s.start));
        if (!n)
            return false;
        s.start += n;
    }
    return true;
}

/* How much of s a message can show: no control character, no half one. */
static int log_clip_length(struct span s)
{
    const char *p = s.start;

    while (p < s.end && p - s.start < 60 && (unsigned char)*p >= ' ')
        p += pr_utf8_len(p, (size_t)(s.end - p));
    return (int)(p - s.start);
}

static int log_read_param_value(struct span text, struct pr_arena *a,
                                struct pr_value *ret_value, struct pr_err *err)
{
    struct pr_json_in in = {
        .text = text.start, .len = (size_t)(text.end - text.start), .name = ""};

    if (text.start == text.end) {
        *ret_value = pr_null();
        return PR_OK;
    }
    return pr_json_read(&in, a, ret_value, NULL, err);
}

int pr_log_parse_line(const char *line, size_t len, struct pr_arena *a,
                      const char **ret_key, size_t *ret_key_len,
                      struct pr_value *ret_value, struct pr_err *err)
{
    struct span key, text;
    struct pr_value value;
    int rc;

    if (len == 0 || !log_split_param(line, len, &key, &text))
        return 0;
    key = log_strip_space(key);
    text = log_strip_space(text);
    if (!is_utf8(key) || !is_utf8(text))
        return pr_fail(err, PR_E_FORMAT, "", "is not UTF-8");
    rc = log_read_param_value(text, a, &value, err);
    if (rc == PR_E_FORMAT)
        return pr_fail(
            err, PR_E_FORMAT, "", "the value of '%.*s' is not JSON: '%.*s'",
            log_clip_length(key), key.start, log_clip_length(text), text.start);
    if (rc)
        return rc;
    *ret_key = key.start;
    *ret_key_len = (size_t)(key.end - key.start);
    *ret_value = value;
    return 1;
}
