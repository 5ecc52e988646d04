/* Values: making, comparing, copying, and writing as Python would. */
#include "base/value.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
        [PR_NULL] = "null",       [PR_BOOL] = "true or false",
        [PR_INT] = "a whole number", [PR_FLOAT] = "a number",
        [PR_STR] = "text",        [PR_LIST] = "a list",
        [PR_MAP] = "a map",
    };
    return names[kind];
}

const struct pr_value *pr_get(const struct pr_value *map, const char *key)
{
    size_t len = strlen(key);

    if (map->kind != PR_MAP)
        return NULL;
    for (uint32_t i = 0; i < map->len; i++) {
        const struct pr_member *m = &map->members[i];
        if (m->key_len == len && memcmp(m->key, key, len) == 0)
            return &m->value;
    }
    return NULL;
}

static bool equal_lists(const struct pr_value *a, const struct pr_value *b)
{
    if (a->len != b->len)
        return false;
    for (uint32_t i = 0; i < a->len; i++)
        if (!pr_equal(&a->items[i], &b->items[i]))
            return false;
    return true;
}

static bool equal_maps(const struct pr_value *a, const struct pr_value *b)
{
    if (a->len != b->len)
        return false;
    for (uint32_t i = 0; i < a->len; i++) {
        const struct pr_value *other = pr_get(b, a->members[i].key);
        if (!other || !pr_equal(&a->members[i].value, other))
            return false;
    }
    return true;
}

static bool is_numeric(const struct pr_value *v)
{
    return v->kind == PR_BOOL || pr_is_number(v);
}

/* bool counts as 0 or 1. Integers are compared as integers: a double cannot
 * hold all of them. */
static bool equal_numbers(const struct pr_value *a, const struct pr_value *b)
{
    int64_t ia = a->kind == PR_BOOL ? a->b : a->i;
    int64_t ib = b->kind == PR_BOOL ? b->b : b->i;

    if (a->kind != PR_FLOAT && b->kind != PR_FLOAT)
        return ia == ib;
    return (a->kind == PR_FLOAT ? a->f : (double)ia) ==
           (b->kind == PR_FLOAT ? b->f : (double)ib);
}

bool pr_equal(const struct pr_value *a, const struct pr_value *b)
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
        if (!pr_copy(a, &v->items[i], &items[i]))
            return false;
    ret->items = items;
    return true;
}

static bool copy_map(struct pr_arena *a, const struct pr_value *v,
                     struct pr_value *ret)
{
    struct pr_member *members = PR_ARENA_ARRAY(a, struct pr_member, v->len);

    if (!members)
        return false;
    for (uint32_t i = 0; i < v->len; i++) {
        const struct pr_member *from = &v->members[i];
        members[i] = *from;
        members[i].key = pr_arena_copy(a, from->key, from->key_len);
        if (!members[i].key || !pr_copy(a, &from->value, &members[i].value))
            return false;
    }
    ret->members = members;
    return true;
}

bool pr_copy(struct pr_arena *a, const struct pr_value *v,
             struct pr_value *ret_copy)
{
    struct pr_value copy = *v;
    bool ok = true;

    if (v->kind == PR_STR)
        ok = (copy.s = pr_arena_copy(a, v->s, v->len)) != NULL;
    else if (v->kind == PR_LIST)
        ok = copy_list(a, v, &copy);
    else if (v->kind == PR_MAP)
        ok = copy_map(a, v, &copy);
    if (ok)
        *ret_copy = copy;
    return ok;
}

/* Digits and exponent of the shortest decimal that reads back as f. */
static int shortest_digits(double f, char digits[static 20], int *ret_exponent)
{
    char text[40];
    char *e;
    int n = 0;

    for (int precision = 0; precision <= 16; precision++) {
        /* 15 significant digits always survive; try fewer only to find a
         * short form fast for the common small ones. */
        if (precision == 3)
            precision = 14;
        snprintf(text, sizeof text, "%.*e", precision, f);
        if (strtod(text, NULL) == f)
            break;
    }
    e = strchr(text, 'e');
    *ret_exponent = atoi(e + 1);
    for (const char *p = text; p < e; p++)
        if (*p >= '0' && *p <= '9')
            digits[n++] = *p;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    return n;
}

size_t pr_float_repr(char out[static 32], double f)
{
    char digits[20];
    char *p = out;
    int n, exponent;

    if (isnan(f))
        return (size_t)sprintf(out, "nan");
    if (isinf(f))
        return (size_t)sprintf(out, f < 0 ? "-inf" : "inf");
    if (signbit(f))
        *p++ = '-';
    n = shortest_digits(fabs(f), digits, &exponent);
    if (exponent < -4 || exponent >= 16) {
        *p++ = digits[0];
        if (n > 1)
            p += sprintf(p, ".%.*s", n - 1, digits + 1);
        p += sprintf(p, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
    } else if (exponent < 0) {
        p += sprintf(p, "0.%.*s%.*s", -exponent - 1, "000", n, digits);
    } else {
        for (int i = 0; i <= exponent; i++)
            *p++ = i < n ? digits[i] : '0';
        *p++ = '.';
        p += n > exponent + 1
                 ? sprintf(p, "%.*s", n - exponent - 1, digits + exponent + 1)
                 : sprintf(p, "0");
    }
    *p = '\0';
    return (size_t)(p - out);
}

void pr_float_text(struct pr_buf *out, double f)
{
    char text[32];

    pr_buf_add(out, text, pr_float_repr(text, f));
}

/* Text inside a list, as Python's repr(): quotes, with the escapes it uses. */
static void quoted(struct pr_buf *out, const struct pr_value *v)
{
    char quote = memchr(v->s, '\'', v->len) && !memchr(v->s, '"', v->len)
                     ? '"'
                     : '\'';

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
        if (i)
            pr_buf_str(out, ", ");
        if (v->items[i].kind == PR_STR)
            quoted(out, &v->items[i]);
        else
            pr_text(out, &v->items[i]);
    }
    pr_buf_char(out, ']');
}

void pr_text(struct pr_buf *out, const struct pr_value *v)
{
    switch (v->kind) {
    case PR_NULL:
        pr_buf_str(out, "None");
        break;
    case PR_BOOL:
        pr_buf_str(out, v->b ? "True" : "False");
        break;
    case PR_INT:
        pr_buf_printf(out, "%lld", (long long)v->i);
        break;
    case PR_FLOAT:
        pr_float_text(out, v->f);
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
