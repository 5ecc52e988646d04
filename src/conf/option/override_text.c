/*
 * The single words of an override's value: quoted and bare text, and what bare
 * text may mean. Bare text is taken more freely than hydra does (a=b=c, 0:1,
 * f(x)); ${…} and $(…)$ pass through untouched: they are expanded later.
 */
#include "conf/option/override_text.h"

#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

enum { MAX_BRACKETS = 100 };

static bool override_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool override_is_stop(char c, const char *set)
{
    return c && strchr(set, c);
}

int pr_override_hint_quotes(struct pr_override_in *in, int rc)
{
    (void)pr_hint(in->err,
                  "put quotes around it if it is meant as text: \"%s='TEXT'\"",
                  in->name);
    return rc;
}

/* What lies in the scratch, as text. */
static int override_store_text(struct pr_override_in *in, size_t len,
                               struct pr_value *v)
{
    const char *text = pr_arena_copy(in->arena, in->scratch, len);

    if (!text)
        return pr_fail_nomem(in->err);
    *v = pr_strn(text, len);
    return PR_OK;
}

/* At a quote. Backslashes count only before a quote: \' is a quote, \\' is a
 * backslash and the end. */
int pr_override_read_quoted(struct pr_override_in *in, struct pr_value *v)
{
    char quote = *in->pos, *out = in->scratch;
    const char *p = in->pos + 1;

    while (*p && *p != quote) {
        size_t n = strspn(p, "\\");
        if (p[n] != quote) { /* so p is no lone quote: n may be 0 */
            n += !n;
            memcpy(out, p, n);
            out += n;
            p += n;
            continue;
        }
        memset(out, '\\', n / 2);
        out += n / 2;
        p += n;
        if (n % 2)
            *out++ = *p++;
    }
    if (!*p)
        return pr_override_fail(in->err, in->arg,
                                "the quote %c is never closed", quote);
    in->pos = p + 1;
    return override_store_text(in, (size_t)(out - in->scratch), v);
}

/* [+-]?(0|[1-9](_?[0-9])*), with the sign skipped before. */
static const char *skip_int(const char *p)
{
    if (*p == '0')
        return p + 1;
    while (isdigit((unsigned char)*p) ||
           (*p == '_' && isdigit((unsigned char)p[1]) &&
            isdigit((unsigned char)p[-1])))
        p++;
    return p;
}

/* [0-9](_?[0-9])* */
static const char *override_skip_digits(const char *p)
{
    while (*p == '0')
        p++;
    return isdigit((unsigned char)*p) || *p == '_' ? skip_int(p) : p;
}

/* Whole numbers that fit; digits and underscores are known to be such. Counted
 * below zero, where there is one more. */
static bool override_read_int(const char *p, const char *end, bool negative,
                              int64_t *ret)
{
    int64_t n = 0;

    for (; p < end; p++)
        if (*p != '_' && (__builtin_mul_overflow(n, 10, &n) ||
                          __builtin_sub_overflow(n, *p - '0', &n)))
            return false;
    if (!negative && n == INT64_MIN)
        return false;
    *ret = negative ? n : -n;
    return true;
}

static bool override_read_number(const char *s, size_t len,
                                 struct pr_value *ret)
{
    const char *digits = s + (*s == '-' || *s == '+');
    const char *p = isdigit((unsigned char)*digits) ? skip_int(digits) : digits;
    const char *whole = p;
    int64_t n;

    if (*p == '.') {
        p = isdigit((unsigned char)p[1]) ? override_skip_digits(p + 1) : p + 1;
        if (p == digits + 1)
            return false; /* a point and nothing else */
    }
    if (p > digits && (*p | 32) == 'e') {
        p += p[1] == '-' || p[1] == '+' ? 2 : 1;
        if (!isdigit((unsigned char)*p))
            return false;
        p = override_skip_digits(p);
    }
    if (p == digits || p != s + len)
        return false;
    *ret = pr_float(pr_decimal_read(s, len));
    if (p == whole && override_read_int(digits, whole, *s == '-', &n))
        *ret = pr_int(n);
    return true;
}

static bool override_is_word(const char *s, size_t len, const char *word)
{
    return strlen(word) == len && strncasecmp(s, word, len) == 0;
}

static bool to_word(const char *s, size_t len, struct pr_value *ret)
{
    bool sign = *s == '-' || *s == '+';

    if (override_is_word(s, len, "true") || override_is_word(s, len, "false"))
        *ret = pr_bool(len == 4);
    else if (override_is_word(s, len, "null"))
        *ret = pr_null();
    else if (override_is_word(s + sign, len - sign, "inf"))
        *ret = pr_float(*s == '-' ? -(double)INFINITY : (double)INFINITY);
    else if (override_is_word(s + sign, len - sign, "nan"))
        *ret = pr_float((double)NAN);
    else
        return false;
    return true;
}

/* Past $(…)$; p itself if it is at none. */
static const char *skip_call(struct pr_override_in *in, const char *p)
{
    const char *end = NULL;

    if (p[0] == '$' && p[1] == '(' && !in->no_calls) {
        end = strstr(p + 2, ")$");
        in->no_calls = !end;
    }
    return end ? end + 2 : p;
}

/* Past ${…} with its inner braces; p itself if it is at none, NULL if it is
 * at one that never ends. */
static const char *skip_reference(const char *p)
{
    int depth = 0;

    if (p[0] != '$' || p[1] != '{')
        return p;
    for (const char *q = p + 1; *q; q++) {
        depth += (*q == '{') - (*q == '}');
        if (!depth)
            return q + 1;
    }
    return NULL;
}

/* Bare text on its way to the scratch. */
struct bare {
    char *out, *end;         /* end: without trailing blanks */
    char open[MAX_BRACKETS]; /* the brackets it is inside of */
    unsigned depth;
    bool escaped;
};

static int take_bracket(struct pr_override_in *in, struct bare *b)
{
    char c = *in->pos;

    if (override_is_stop(c, "([{")) {
        if (b->depth == MAX_BRACKETS)
            return pr_override_fail(in->err, in->arg, "nested too deep");
        b->open[b->depth++] = c;
    } else if (override_is_stop(c, ")]}")) {
        char want = c == ')' ? '(' : c == ']' ? '[' : '{';
        if (!b->depth || b->open[b->depth - 1] != want)
            return pr_override_hint_quotes(
                in,
                pr_override_fail(in->err, in->arg, "'%c' closes nothing", c));
        b->depth--;
    }
    return PR_OK;
}

static int take_bare(struct pr_override_in *in, struct bare *b)
{
    const char *after = skip_reference(in->pos);
    int rc;

    if (!after)
        return pr_override_hint_quotes(
            in, pr_override_fail(in->err, in->arg, "'${' is never closed"));
    if (after == in->pos)
        after = skip_call(in, after);
    if (after > in->pos) {
        memcpy(b->out, in->pos, (size_t)(after - in->pos));
        b->out += after - in->pos;
        b->end = b->out;
        in->pos = after;
        return PR_OK;
    }
    if (*in->pos == '\\' && override_is_stop(in->pos[1], "\\()[]{}:=, \t")) {
        b->escaped = true;
        in->pos++;
        *b->out++ = *in->pos++;
        b->end = b->out;
        return PR_OK;
    }
    rc = take_bracket(in, b);
    if (rc)
        return rc;
    *b->out++ = *in->pos;
    if (!override_is_blank(*in->pos++))
        b->end = b->out;
    return PR_OK;
}

static int read_bare_text(struct pr_override_in *in, const char *stops,
                          struct bare *b)
{
    while (*in->pos && (b->depth || !override_is_stop(*in->pos, stops))) {
        int rc = take_bare(in, b);
        if (rc)
            return rc;
    }
    if (b->depth)
        return pr_override_hint_quotes(
            in, pr_override_fail(in->err, in->arg, "'%c' is never closed",
                                 b->open[b->depth - 1]));
    *b->end = '\0'; /* there is room: the scratch is as long as the text */
    return PR_OK;
}

/* choice(a,b) and its like mean something in hydra that we do not do. */
static int refuse_function(struct pr_override_in *in, const char *text)
{
    static const char *const names[] = {
        "choice", "range", "interval", "glob", "sort",     "shuffle",     "tag",
        "int",    "float", "str",      "bool", "json_str", "extend_list",
    };
    size_t len = strcspn(text, "( \t");

    if (text[len + strspn(text + len, " \t")] != '(')
        return PR_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) == len && memcmp(names[i], text, len) == 0) {
            int rc = pr_override_fail(
                in->err, in->arg, "hydra's %s() is not known here", names[i]);
            (void)pr_hint(in->err,
                          "several values: -V %s='[a, b]'; text: \"%s='TEXT'\"",
                          in->name, in->name);
            return rc;
        }
    }
    return PR_OK;
}

int pr_override_read_bare(struct pr_override_in *in, const char *stops,
                          struct pr_value *v)
{
    struct bare b = {.out = in->scratch, .end = in->scratch};
    int rc = read_bare_text(in, stops, &b);
    size_t len = (size_t)(b.end - in->scratch);

    if (rc)
        return rc;
    if (len && !b.escaped) {
        if (to_word(in->scratch, len, v) ||
            override_read_number(in->scratch, len, v))
            return PR_OK;
        rc = refuse_function(in, in->scratch);
    }
    return rc ? rc : override_store_text(in, len, v);
}

int pr_override_read_bare_key(struct pr_override_in *in, const char *stops,
                              struct pr_value *ret_text)
{
    struct bare b = {.out = in->scratch, .end = in->scratch};
    int rc = read_bare_text(in, stops, &b);

    return rc ? rc
              : override_store_text(in, (size_t)(b.end - in->scratch),
                                    ret_text);
}
