/*
 * Values to JSON text, and JSON written piece by piece. Room for the small
 * parts of a value is asked for once, and what needs no escape is copied in
 * runs.
 */
#include "base/json/json_write.h"

#include "base/json/json.h"
#include "base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool json_needs_no_escape(char c)
{
    unsigned char u = (unsigned char)c;

    return u >= 0x20 && u < 0x7f && c != '"' && c != '\\';
}

/* Length of the leading run of printable ASCII without quote and backslash;
 * eight bytes at a time, as json_read.c reads it. */
static size_t plain_run(const char *s, size_t len)
{
    const uint64_t ones = 0x0101010101010101u, high = ones << 7;
    size_t i = 0;

    for (; len - i >= 8; i += 8) {
        uint64_t w, quote, slash, stop;

        memcpy(&w, s + i, 8);
        quote = w ^ ones * '"';
        slash = w ^ ones * '\\';
        stop = w | (w - ones * 0x20) | (w + ones) | (quote - ones) |
               (slash - ones);
        if (stop & high)
            break;
    }
    while (i < len && json_needs_no_escape(s[i]))
        i++;
    return i;
}

static void json_write_escape(struct pr_buf *out, unsigned char c)
{
    static const char letters[] = "btn\vfr", hex[] = "0123456789abcdef";
    char text[6] = {'\\', (char)c, '0', '0', '0', '0'};
    size_t len = 2;

    if (c >= '\b' && c <= '\r' && c != '\v') {
        text[1] = letters[c - '\b'];
    } else if (c != '"' && c != '\\') {
        text[1] = 'u';
        text[4] = hex[c >> 4];
        text[5] = hex[c & 15];
        len = 6;
    }
    pr_buf_add(out, text, len);
}

/* From the first byte that is not plain. */
static void add_mixed(struct pr_buf *out, const char *s, size_t len)
{
    size_t start = 0, i = 0;

    while (i < len) {
        size_t n;

        i += plain_run(s + i, len - i);
        if (i == len)
            break;
        n = pr_utf8_len(s + i, len - i);
        if (n > 1) {
            i += n;
            continue;
        }
        pr_buf_add(out, s + start, i - start);
        if (n)
            json_write_escape(out, (unsigned char)s[i]);
        else
            pr_buf_str(out, "\xef\xbf\xbd"); /* U+FFFD, not a stray byte */
        start = ++i;
    }
    pr_buf_add(out, s + start, len - start);
}

/* The string and, once it is closed, what follows it. */
static void add_string(struct pr_buf *out, const char *s, size_t len,
                       const char *after, size_t after_len)
{
    if (plain_run(s, len) == len) {
        char *p;
        if (!pr_buf_reserve(out, len + 2 + after_len))
            return;
        p = out->data + out->len;
        *p++ = '"';
        if (len)
            memcpy(p, s, len);
        p[len] = '"';
        memcpy(p + len + 1, after, after_len + 1);
        out->len += len + 2 + after_len;
        return;
    }
    pr_buf_char(out, '"');
    add_mixed(out, s, len);
    pr_buf_char(out, '"');
    pr_buf_add(out, after, after_len);
}

void pr_json_write_string(struct pr_buf *out, const char *s, size_t len)
{
    add_string(out, s, len, "", 0);
}

static void add_float(struct pr_buf *out, double f)
{
    if (isnan(f))
        pr_buf_str(out, "NaN");
    else if (isinf(f))
        pr_buf_str(out, f < 0 ? "-Infinity" : "Infinity");
    else
        pr_float_write_repr(out, f);
}

/* What stands before an item, after a comma if it is not the first. */
static void json_write_gap(struct pr_buf *out, bool comma, unsigned indent,
                           unsigned depth)
{
    size_t blanks = (size_t)indent * depth;
    char *p;

    if (!indent) {
        if (comma)
            pr_buf_add(out, ", ", 2);
        return;
    }
    if (!pr_buf_reserve(out, blanks + 1 + comma))
        return;
    p = out->data + out->len;
    if (comma)
        *p++ = ',';
    *p++ = '\n';
    memset(p, ' ', blanks);
    p[blanks] = '\0';
    out->len += blanks + 1 + comma;
}

static void json_write_value(struct pr_buf *out, const struct pr_value *v,
                             unsigned indent, unsigned depth);

static void json_write_group(struct pr_buf *out, const struct pr_value *v,
                             unsigned indent, unsigned depth)
{
    bool map = v->kind == PR_MAP;

    pr_buf_char(out, map ? '{' : '[');
    for (uint32_t i = 0; i < v->len; i++) {
        json_write_gap(out, i > 0, indent, depth + 1);
        if (map) {
            const struct pr_member *m = &v->members[i];
            add_string(out, m->key, m->key_len, ": ", 2);
            json_write_value(out, &m->value, indent, depth + 1);
        } else {
            json_write_value(out, &v->items[i], indent, depth + 1);
        }
    }
    if (v->len)
        json_write_gap(out, false, indent, depth);
    pr_buf_char(out, map ? '}' : ']');
}

static void json_write_value(struct pr_buf *out, const struct pr_value *v,
                             unsigned indent, unsigned depth)
{
    switch (v->kind) {
    case PR_NULL:
        pr_buf_add(out, "null", 4);
        break;
    case PR_BOOL:
        pr_buf_str(out, v->b ? "true" : "false");
        break;
    case PR_INT:
        pr_buf_int(out, v->i);
        break;
    case PR_FLOAT:
        add_float(out, v->f);
        break;
    case PR_STR:
        add_string(out, v->s, v->len, "", 0);
        break;
    case PR_LIST:
    case PR_MAP:
        json_write_group(out, v, indent, depth);
        break;
    }
}

void pr_json_write(struct pr_buf *out, const struct pr_value *v)
{
    json_write_value(out, v, 0, 0);
}

void pr_json_write_indented(struct pr_buf *out, const struct pr_value *v,
                            unsigned indent, unsigned depth)
{
    json_write_value(out, v, indent, depth);
}

/* ---- piece by piece */

void pr_json_writer_init(struct pr_json_writer *jb, struct pr_buf *out,
                         unsigned indent)
{
    *jb = (struct pr_json_writer){.out = out, .indent = indent};
}

static void new_line(struct pr_json_writer *jb)
{
    size_t blanks = (size_t)jb->indent * jb->depth;

    if (!jb->indent || !pr_buf_reserve(jb->out, blanks + 1))
        return;
    pr_buf_char(jb->out, '\n');
    for (size_t i = 0; i < blanks; i++)
        pr_buf_char(jb->out, ' ');
}

/* Whatever stands before a value: comma, line break, key. */
static void json_put_lead(struct pr_json_writer *jb, const char *key)
{
    assert((key != NULL) == (jb->depth > 0 && !jb->level[jb->depth].array));
    if (jb->depth) {
        if (jb->level[jb->depth].filled)
            pr_buf_str(jb->out, jb->indent ? "," : ", ");
        new_line(jb);
    }
    jb->level[jb->depth].filled = true;
    if (key) {
        pr_json_write_string(jb->out, key, strlen(key));
        pr_buf_str(jb->out, ": ");
    }
}

static void json_open_group(struct pr_json_writer *jb, const char *key,
                            bool array)
{
    json_put_lead(jb, key);
    pr_buf_char(jb->out, array ? '[' : '{');
    assert(jb->depth < PR_JSON_WRITER_MAX_DEPTH);
    jb->depth++;
    jb->level[jb->depth].array = array;
    jb->level[jb->depth].filled = false;
}

void pr_json_open_object(struct pr_json_writer *jb, const char *key)
{
    json_open_group(jb, key, false);
}

void pr_json_open_array(struct pr_json_writer *jb, const char *key)
{
    json_open_group(jb, key, true);
}

void pr_json_close(struct pr_json_writer *jb)
{
    assert(jb->depth > 0);
    bool array = jb->level[jb->depth].array;
    bool filled = jb->level[jb->depth].filled;

    jb->depth--;
    if (filled)
        new_line(jb);
    pr_buf_char(jb->out, array ? ']' : '}');
}

/* What cannot be said: nothing in an object, null in an array. */
static void json_put_unknown(struct pr_json_writer *jb, const char *key)
{
    if (!key)
        pr_json_put_null(jb, NULL);
}

void pr_json_put_strn(struct pr_json_writer *jb, const char *key, const char *s,
                      size_t len)
{
    json_put_lead(jb, key);
    pr_json_write_string(jb->out, s, len);
}

void pr_json_put_str(struct pr_json_writer *jb, const char *key, const char *s)
{
    if (s)
        pr_json_put_strn(jb, key, s, strlen(s));
    else
        json_put_unknown(jb, key);
}

void pr_json_put_int(struct pr_json_writer *jb, const char *key, int64_t i)
{
    json_put_lead(jb, key);
    pr_buf_printf(jb->out, "%" PRId64, i);
}

void pr_json_put_uint(struct pr_json_writer *jb, const char *key, uint64_t u)
{
    json_put_lead(jb, key);
    pr_buf_printf(jb->out, "%" PRIu64, u);
}

void pr_json_put_float(struct pr_json_writer *jb, const char *key, double f)
{
    if (!isfinite(f)) {
        json_put_unknown(jb, key);
        return;
    }
    json_put_lead(jb, key);
    pr_float_write_repr(jb->out, f);
}

void pr_json_put_bool(struct pr_json_writer *jb, const char *key, bool b)
{
    json_put_lead(jb, key);
    pr_buf_str(jb->out, b ? "true" : "false");
}

void pr_json_put_null(struct pr_json_writer *jb, const char *key)
{
    json_put_lead(jb, key);
    pr_buf_str(jb->out, "null");
}

void pr_json_put_value(struct pr_json_writer *jb, const char *key,
                       const struct pr_value *v)
{
    json_put_lead(jb, key);
    pr_json_write_indented(jb->out, v, jb->indent, jb->depth);
}
