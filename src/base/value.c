/* Values: making, comparing, copying, and writing as Python would. */
#include "base/value.h"

#include "base/json/json.h"

#include <math.h>
#include <string.h>

struct pr_value pr_null(void)
{
    return (struct pr_value){.kind = PR_NULL};
}

struct pr_value pr_bool(bool b)
{
    return (struct pr_value){.kind = PR_BOOL, .b = b};
}

struct pr_value pr_int(int64_t i)
{
    return (struct pr_value){.kind = PR_INT, .i = i};
}

struct pr_value pr_float(double f)
{
    return (struct pr_value){.kind = PR_FLOAT, .f = f};
}

struct pr_value pr_strn(const char *s, size_t len)
{
    return (struct pr_value){.kind = PR_STR, .len = (uint32_t)len, .s = s};
}

struct pr_value pr_str(const char *s)
{
    return pr_strn(s, strlen(s));
}

const char *pr_kind_name(enum pr_kind kind)
{
    static const char *const names[] = {
        [PR_NULL] = "null",          [PR_BOOL] = "true or false",
        [PR_INT] = "a whole number", [PR_FLOAT] = "a number",
        [PR_STR] = "text",           [PR_LIST] = "a list",
        [PR_MAP] = "a map",
    };
    return names[kind];
}

static const struct pr_value *map_find_value(const struct pr_value *map,
                                             const char *key, size_t len)
{
    for (uint32_t i = 0; i < map->len; i++) {
        const struct pr_member *m = &map->members[i];
        if (m->key_len == len && memcmp(m->key, key, len) == 0)
            return &m->value;
    }
    return NULL;
}

const struct pr_value *pr_get(const struct pr_value *map, const char *key)
{
    return map->kind == PR_MAP ? map_find_value(map, key, strlen(key)) : NULL;
}

static bool equal_lists(const struct pr_value *a, const struct pr_value *b)
{
    if (a->len != b->len)
        return false;
    for (uint32_t i = 0; i < a->len; i++)
        if (!pr_value_equal(&a->items[i], &b->items[i]))
            return false;
    return true;
}

static bool equal_maps(const struct pr_value *a, const struct pr_value *b)
{
    if (a->len != b->len)
        return false;
    for (uint32_t i = 0; i < a->len; i++) {
        const struct pr_member *m = &a->members[i], *same = &b->members[i];
        const struct pr_value *other = &same->value;

        /* Mostly both are in the same order: no search then. */
        if (m->key_len != same->key_len ||
            memcmp(m->key, same->key, m->key_len) != 0)
            other = map_find_value(b, m->key, m->key_len);
        if (!other || !pr_value_equal(&m->value, other))
            return false;
    }
    return true;
}

static bool is_numeric(const struct pr_value *v)
{
    return v->kind == PR_BOOL || pr_value_is_number(v);
}

static int64_t as_int(const struct pr_value *v)
{
    return v->kind == PR_BOOL ? v->b : v->i;
}

/* Exact, as Python is: an integer that no double holds equals no double. */
static bool equal_mixed(int64_t i, double f)
{
    return f >= -0x1p63 && f < 0x1p63 && f == floor(f) && (int64_t)f == i;
}

/* bool counts as 0 or 1. */
static bool equal_numbers(const struct pr_value *a, const struct pr_value *b)
{
    if (a->kind == PR_FLOAT && b->kind == PR_FLOAT)
        return a->f == b->f;
    if (a->kind == PR_FLOAT)
        return equal_mixed(as_int(b), a->f);
    if (b->kind == PR_FLOAT)
        return equal_mixed(as_int(a), b->f);
    return as_int(a) == as_int(b);
}

bool pr_value_equal(const struct pr_value *a, const struct pr_value *b)
{
    if (is_numeric(a) && is_numeric(b))
        return equal_numbers(a, b);
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case PR_STR:
        return a->len == b->len && memcmp(a->s, b->s, a->len) == 0;
    case PR_LIST:
        return equal_lists(a, b);
    case PR_MAP:
        return equal_maps(a, b);
    default:
        return true; /* null and null */
    }
}

static bool copy_list(struct pr_arena *a, const struct pr_value *v,
                      struct pr_value *ret)
{
    struct pr_value *items = PR_ARENA_ARRAY(a, struct pr_value, v->len);

    if (!items)
        return false;
    for (uint32_t i = 0; i < v->len; i++)
        if (!pr_value_copy(a, &v->items[i], &items[i]))
            return false;
    ret->items = items;
    return true;
}

static bool copy_value_map(struct pr_arena *a, const struct pr_value *v,
                           struct pr_value *ret)
{
    struct pr_member *members = PR_ARENA_ARRAY(a, struct pr_member, v->len);

    if (!members)
        return false;
    for (uint32_t i = 0; i < v->len; i++) {
        const struct pr_member *from = &v->members[i];
        members[i] = *from;
        members[i].key = pr_arena_copy(a, from->key, from->key_len);
        if (!members[i].key ||
            !pr_value_copy(a, &from->value, &members[i].value))
            return false;
    }
    ret->members = members;
    return true;
}

bool pr_value_copy(struct pr_arena *a, const struct pr_value *v,
                   struct pr_value *ret_copy)
{
    struct pr_value copy = *v;
    bool ok = true;

    if (v->kind == PR_STR)
        ok = (copy.s = pr_arena_copy(a, v->s, v->len)) != NULL;
    else if (v->kind == PR_LIST)
        ok = copy_list(a, v, &copy);
    else if (v->kind == PR_MAP)
        ok = copy_value_map(a, v, &copy);
    if (ok)
        *ret_copy = copy;
    return ok;
}

/* Text inside a list, as Python's repr(): quotes, with the escapes it uses. */
static void write_quoted_repr(struct pr_buf *out, const struct pr_value *v)
{
    char quote =
        memchr(v->s, '\'', v->len) && !memchr(v->s, '"', v->len) ? '"' : '\'';

    pr_buf_char(out, quote);
    for (uint32_t i = 0; i < v->len; i++) {
        unsigned char c = (unsigned char)v->s[i];
        if (c == '\\' || c == (unsigned char)quote)
            pr_buf_printf(out, "\\%c", c);
        else if (c == '\n')
            pr_buf_str(out, "\\n");
        else if (c == '\r')
            pr_buf_str(out, "\\r");
        else if (c == '\t')
            pr_buf_str(out, "\\t");
        else if (c < 0x20 || c == 0x7f)
            pr_buf_printf(out, "\\x%02x", c);
        else
            pr_buf_char(out, (char)c);
    }
    pr_buf_char(out, quote);
}

static void list_text(struct pr_buf *out, const struct pr_value *v)
{
    pr_buf_char(out, '[');
    for (uint32_t i = 0; i < v->len; i++) {
        pr_buf_str(out, i ? ", " : "");
        pr_value_write_repr(out, &v->items[i]);
    }
    pr_buf_char(out, ']');
}

static void map_repr(struct pr_buf *out, const struct pr_value *v)
{
    pr_buf_char(out, '{');
    for (uint32_t i = 0; i < v->len; i++) {
        struct pr_value key = pr_strn(v->members[i].key, v->members[i].key_len);
        pr_buf_str(out, i ? ", " : "");
        write_quoted_repr(out, &key);
        pr_buf_str(out, ": ");
        pr_value_write_repr(out, &v->members[i].value);
    }
    pr_buf_char(out, '}');
}

void pr_value_write_repr(struct pr_buf *out, const struct pr_value *v)
{
    if (v->kind == PR_STR)
        write_quoted_repr(out, v);
    else if (v->kind == PR_MAP)
        map_repr(out, v);
    else
        pr_value_write_text(out, v);
}

void pr_value_write_text(struct pr_buf *out, const struct pr_value *v)
{
    switch (v->kind) {
    case PR_NULL:
        pr_buf_str(out, "None");
        break;
    case PR_BOOL:
        pr_buf_str(out, v->b ? "True" : "False");
        break;
    case PR_INT:
        pr_buf_int(out, v->i);
        break;
    case PR_FLOAT:
        pr_float_write_repr(out, v->f);
        break;
    case PR_STR:
        pr_buf_add(out, v->s, v->len);
        break;
    case PR_LIST:
        list_text(out, v);
        break;
    case PR_MAP:
        pr_json_write(out, v);
        break;
    }
}

void pr_value_write_joined(struct pr_buf *out, const struct pr_value *v)
{
    if (v->kind != PR_LIST)
        pr_value_write_text(out, v);
    for (uint32_t i = 0; v->kind == PR_LIST && i < v->len; i++) {
        if (i)
            pr_buf_char(out, ' ');
        if (v->items[i].kind == PR_MAP)
            pr_value_write_repr(out, &v->items[i]);
        else
            pr_value_write_text(out, &v->items[i]);
    }
}

const char *pr_text_at(const struct pr_value *map, const char *key,
                       const char *instead)
{
    const struct pr_value *v = map ? pr_get(map, key) : NULL;

    return v && v->kind == PR_STR ? v->s : instead;
}

double pr_number_at(const struct pr_value *map, const char *key, double instead)
{
    const struct pr_value *v = map ? pr_get(map, key) : NULL;

    return v && pr_value_is_number(v) ? pr_value_number(v) : instead;
}

bool pr_bool_at(const struct pr_value *map, const char *key, bool instead)
{
    const struct pr_value *v = map ? pr_get(map, key) : NULL;

    return v && v->kind == PR_BOOL ? v->b : instead;
}
