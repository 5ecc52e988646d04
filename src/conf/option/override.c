/* Hydra's overrides: what to do with which name, and the value after the '='.
 */
#include "conf/option/override.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/number.h"
#include "base/text.h"
#include "base/value.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Where the reading of a value is. */
struct override_in {
    const char *pos;        /* NUL-terminated */
    const char *arg, *name; /* for messages */
    struct pr_arena *arena;
    struct pr_err *err;
    char *scratch; /* room for all the text, decoded */
    bool no_calls; /* no ")$" from here on */
};

static int override_fail(struct pr_err *err, const char *arg, const char *fmt,
                         ...) PR_PRINTF(3, 4);

/* Fails with PR_E_USAGE, quoting the argument (shortened) and what is wrong. */
static int override_fail(struct pr_err *err, const char *arg, const char *fmt,
                         ...)
{
    enum { SHOWN = 100 };
    char msg[sizeof err->msg];
    size_t shown = strlen(arg);
    va_list ap;

    if (shown > SHOWN) { /* not in the middle of a character */
        for (shown = SHOWN; ((unsigned char)arg[shown] & 0xc0) == 0x80;)
            shown--;
    }
    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    return pr_fail(err, PR_E_USAGE, "command line", "'%.*s%s': %.240s",
                   (int)shown, arg, arg[shown] ? "..." : "", msg);
}

/* ---- single words: quoted and bare text, and what bare text may mean
 * Bare text is taken more freely than hydra does (a=b=c, 0:1, f(x)); ${…} and
 * $(…)$ pass through untouched: they are expanded later. */

enum { MAX_BRACKETS = 100 };

static bool override_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool override_is_stop(char c, const char *set)
{
    return c && strchr(set, c);
}

/* Adds the hint to use quotes to a failure; returns rc. */
static int override_hint_quotes(struct override_in *in, int rc)
{
    (void)pr_hint(in->err,
                  "put quotes around it if it is meant as text: \"%s='TEXT'\"",
                  in->name);
    return rc;
}

/* What lies in the scratch, as text. */
static int override_store_text(struct override_in *in, size_t len,
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
static int override_read_quoted(struct override_in *in, struct pr_value *v)
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
        return override_fail(in->err, in->arg, "the quote %c is never closed",
                             quote);
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
static const char *skip_call(struct override_in *in, const char *p)
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

static int override_read_bracket(struct override_in *in, struct bare *b)
{
    char c = *in->pos;

    if (override_is_stop(c, "([{")) {
        if (b->depth == MAX_BRACKETS)
            return override_fail(in->err, in->arg, "nested too deep");
        b->open[b->depth++] = c;
    } else if (override_is_stop(c, ")]}")) {
        char want = c == ')' ? '(' : c == ']' ? '[' : '{';
        if (!b->depth || b->open[b->depth - 1] != want)
            return override_hint_quotes(
                in, override_fail(in->err, in->arg, "'%c' closes nothing", c));
        b->depth--;
    }
    return PR_OK;
}

static int override_read_piece(struct override_in *in, struct bare *b)
{
    const char *after = skip_reference(in->pos);
    int rc;

    if (!after)
        return override_hint_quotes(
            in, override_fail(in->err, in->arg, "'${' is never closed"));
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
    rc = override_read_bracket(in, b);
    if (rc)
        return rc;
    *b->out++ = *in->pos;
    if (!override_is_blank(*in->pos++))
        b->end = b->out;
    return PR_OK;
}

static int read_bare_text(struct override_in *in, const char *stops,
                          struct bare *b)
{
    while (*in->pos && (b->depth || !override_is_stop(*in->pos, stops))) {
        PR_TRY(override_read_piece(in, b));
    }
    if (b->depth)
        return override_hint_quotes(in, override_fail(in->err, in->arg,
                                                      "'%c' is never closed",
                                                      b->open[b->depth - 1]));
    *b->end = '\0'; /* there is room: the scratch is as long as the text */
    return PR_OK;
}

/* choice(a,b) and its like mean something in hydra that we do not do. */
static int refuse_function(struct override_in *in, const char *text)
{
    static const char *const names[] = {
        "choice", "range", "interval", "glob", "sort",     "shuffle",     "tag",
        "int",    "float", "str",      "bool", "json_str", "extend_list",
    };
    size_t len = strcspn(text, "( \t");

    if (text[len + strspn(text + len, " \t")] != '(')
        return PR_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (pr_text_is(text, len, names[i])) {
            int rc = override_fail(in->err, in->arg,
                                   "hydra's %s() is not known here", names[i]);
            (void)pr_hint(in->err,
                          "several values: -V %s='[a, b]'; text: \"%s='TEXT'\"",
                          in->name, in->name);
            return rc;
        }
    }
    return PR_OK;
}

/* Up to one of the stops outside brackets: a number, true, false, null, or
 * text. Blanks at its end do not count. */
static int override_read_bare(struct override_in *in, const char *stops,
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

/* The same, but always text. */
static int override_read_bare_key(struct override_in *in, const char *stops,
                                  struct pr_value *ret_text)
{
    struct bare b = {.out = in->scratch, .end = in->scratch};
    int rc = read_bare_text(in, stops, &b);

    return rc ? rc
              : override_store_text(in, (size_t)(b.end - in->scratch),
                                    ret_text);
}

/* ---- values of hydra 1.3's override grammar: words, lists and maps
 * A comma outside quotes and brackets would be a sweep, which has a form of its
 * own here. */

enum { MAX_DEPTH = 100 };

struct reader {
    struct override_in in;
    unsigned depth;
    struct pr_member *stack; /* items of the open lists and maps */
    size_t used, cap;
};

static int override_parse_value(struct reader *r, const char *stops,
                                struct pr_value *v);

static void override_skip_blanks(struct reader *r)
{
    while (override_is_blank(*r->in.pos))
        r->in.pos++;
}

static int override_push_item(struct reader *r, const struct pr_member *m)
{
    if (r->used == r->cap) {
        size_t cap = r->cap ? r->cap * 2 : 16;
        void *p = pr_realloc(r->stack, cap * sizeof *r->stack);
        if (!p)
            return pr_fail_nomem(r->in.err);
        r->stack = p;
        r->cap = cap;
    }
    r->stack[r->used++] = *m;
    return PR_OK;
}

/* The key and the colon after it. */
static int override_read_key(struct reader *r, struct pr_member *m)
{
    struct pr_value key;
    int rc;

    override_skip_blanks(r);
    if (*r->in.pos == '\'' || *r->in.pos == '"') {
        rc = override_read_quoted(&r->in, &key);
        override_skip_blanks(r);
    } else {
        rc = override_read_bare_key(&r->in, ":,}", &key);
        if (rc == PR_OK && !key.len)
            rc = override_fail(r->in.err, r->in.arg, "a key is missing");
    }
    if (rc)
        return rc;
    if (*r->in.pos != ':')
        return override_fail(r->in.err, r->in.arg,
                             "the key '%.60s' has no ':' after it", key.s);
    r->in.pos++;
    m->key = key.s;
    m->key_len = key.len;
    return PR_OK;
}

/* One item with its key, if it is a map's. */
static int override_read_item(struct reader *r, struct pr_keyset *keys,
                              size_t base, char close)
{
    struct pr_member m = {0};
    size_t n = r->used - base, i;
    int rc = close == '}' ? override_read_key(r, &m) : PR_OK;

    if (rc == PR_OK)
        rc = override_parse_value(r, close == '}' ? ",}" : ",]", &m.value);
    if (rc)
        return rc;
    if (close == '}') {
        int found =
            pr_keyset_member(keys, n ? r->stack + base : NULL, n, &m, &i);
        if (found < 0)
            return pr_fail_nomem(r->in.err);
        if (found)
            return override_fail(r->in.err, r->in.arg,
                                 "the key '%.60s' stands twice", m.key);
    }
    return override_push_item(r, &m);
}

static int override_read_items(struct reader *r, struct pr_keyset *keys,
                               size_t base, char close)
{
    override_skip_blanks(r);
    while (*r->in.pos != close || r->used > base) {
        PR_TRY(override_read_item(r, keys, base, close));
        if (*r->in.pos == close)
            break;
        if (*r->in.pos != ',')
            return override_hint_quotes(
                &r->in, override_fail(r->in.err, r->in.arg, "a '%c' is missing",
                                      close));
        r->in.pos++;
    }
    r->in.pos++;
    return PR_OK;
}

static int override_store_items(struct reader *r, size_t base, bool map,
                                struct pr_value *v)
{
    size_t n = r->used - base;
    struct pr_member *members = NULL;
    struct pr_value *items = NULL;

    *v = (struct pr_value){.kind = map ? PR_MAP : PR_LIST, .len = (uint32_t)n};
    if (map)
        v->members = members = pr_arena_alloc(r->in.arena, n * sizeof *members);
    else
        v->items = items = pr_arena_alloc(r->in.arena, n * sizeof *items);
    if (!members && !items)
        return pr_fail_nomem(r->in.err);
    for (size_t i = 0; i < n; i++) {
        if (map)
            members[i] = r->stack[base + i];
        else
            items[i] = r->stack[base + i].value;
    }
    return PR_OK;
}

/* At the opening bracket. */
static int override_read_group(struct reader *r, struct pr_value *v)
{
    char close = *r->in.pos == '{' ? '}' : ']';
    struct pr_keyset keys = {0};
    size_t base = r->used;
    int rc;

    if (++r->depth > MAX_DEPTH)
        return override_fail(r->in.err, r->in.arg, "nested too deep");
    r->in.pos++;
    rc = override_read_items(r, &keys, base, close);
    pr_keyset_free(&keys);
    if (rc == PR_OK)
        rc = override_store_items(r, base, close == '}', v);
    r->used = base;
    r->depth--;
    return rc;
}

/* Up to one of the stops or the end, which are left for the caller. */
static int override_parse_value(struct reader *r, const char *stops,
                                struct pr_value *v)
{
    const char *start;
    int rc;

    override_skip_blanks(r);
    start = r->in.pos;
    if (!*start || override_is_stop(*start, stops)) {
        if (r->depth)
            return override_fail(r->in.err, r->in.arg, "a value is missing");
        *v = pr_str("");
        return PR_OK;
    }
    if (*start == '\'' || *start == '"')
        rc = override_read_quoted(&r->in, v);
    else if (*start == '[' || *start == '{')
        rc = override_read_group(r, v);
    else
        return override_read_bare(&r->in, stops, v);
    if (rc)
        return rc;
    override_skip_blanks(r);
    if (*r->in.pos && !override_is_stop(*r->in.pos, stops))
        return override_hint_quotes(&r->in, override_fail(r->in.err, r->in.arg,
                                                          "text after '%c'",
                                                          r->in.pos[-1]));
    return PR_OK;
}

static int refuse_sweep(struct reader *r)
{
    int rc = override_fail(r->in.err, r->in.arg,
                           "several values for one name are a sweep");

    (void)pr_hint(r->in.err,
                  "write -V %s='[a, b]' for a sweep, \"%s='a,b'\" for text "
                  "with a comma",
                  r->in.name, r->in.name);
    return rc;
}

/* Reads text, which is what stands after the '='; arg is the whole argument,
 * for messages, and name the parameter it sets. Text is in the arena. */
static int override_read_value(const char *text, const char *arg,
                               const char *name, struct pr_arena *a,
                               struct pr_value *ret_value, struct pr_err *err)
{
    struct reader r = {
        .in = {.pos = text, .arg = arg, .name = name, .arena = a, .err = err},
    };
    struct pr_value v;
    int rc;

    r.in.scratch = pr_alloc(strlen(text) + 1);
    if (!r.in.scratch)
        return pr_fail_nomem(err);
    rc = override_parse_value(&r, ",", &v);
    if (rc == PR_OK && *r.in.pos == ',')
        rc = refuse_sweep(&r);
    pr_free(r.stack);
    pr_free(r.in.scratch);
    if (rc == PR_OK)
        *ret_value = v;
    return rc;
}

/* ---- names, and what to do with them */

bool pr_override_is_likely(const char *arg)
{
    size_t name = strcspn(arg, "=/");
    bool path = arg[name] == '/' || arg[0] == '.';

    if (arg[0] == '~' || arg[0] == '+')
        return !path;
    return !path && name > 0 && arg[name] == '=';
}

static bool override_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name_char(char c)
{
    return override_is_letter(c) || (c >= '0' && c <= '9') || c == '-' ||
           c == '.';
}

static int override_check_name(const char *arg, const char *name, size_t len,
                               struct pr_err *err)
{
    if (!len)
        return override_fail(err, arg, "a name is missing");
    if (memchr(name, '@', len))
        return override_fail(err, arg,
                             "hydra's packages ('@') are not known here");
    if (memchr(name, '/', len))
        return override_fail(err, arg,
                             "hydra's config groups ('/') are not known "
                             "here, but for workload=NAME");
    if (!override_is_letter(name[0]))
        return override_fail(err, arg, "a name starts with a letter");
    for (size_t i = 0; i < len; i++) {
        if (!is_name_char(name[i]))
            return override_fail(err, arg,
                                 "a name has letters, digits, '_', '-' "
                                 "and '.'");
        if (name[i] == '.' && (i + 1 == len || name[i + 1] == '.'))
            return override_fail(err, arg, "a part of the name is missing");
    }
    return PR_OK;
}

static int override_check_utf8(const char *arg, struct pr_err *err)
{
    size_t len = strlen(arg), n;

    for (size_t i = 0; i < len; i += n) {
        n = pr_utf8_len(arg + i, len - i);
        if (!n)
            return pr_fail(err, PR_E_USAGE, "command line",
                           "an argument is not UTF-8 (byte %zu)", i + 1);
    }
    return PR_OK;
}

static enum pr_override_op read_op(const char **p)
{
    if (**p == '~') {
        ++*p;
        return PR_OVERRIDE_DELETE;
    }
    if (**p != '+')
        return PR_OVERRIDE_SET;
    if (*++*p != '+')
        return PR_OVERRIDE_ADD;
    ++*p;
    return PR_OVERRIDE_FORCE;
}

/* "workload." in front says where hydra keeps it; we need no such root. */
static int override_read_name(const char *arg, const char *name, size_t len,
                              struct pr_arena *a, const char **ret_name,
                              struct pr_err *err)
{
    static const char root[] = "workload.";
    size_t n = sizeof root - 1;
    int rc = override_check_name(arg, name, len, err);

    if (rc == PR_OK && len > n && memcmp(name, root, n) == 0) {
        name += n;
        len -= n;
        rc = override_check_name(arg, name, len, err);
    }
    if (rc)
        return rc;
    *ret_name = pr_arena_copy(a, name, len);
    return *ret_name ? PR_OK : pr_fail_nomem(err);
}

int pr_override_read(const char *arg, struct pr_arena *a,
                     struct pr_override *ret, struct pr_err *err)
{
    const char *p = arg;
    struct pr_override o = {.op = read_op(&p)};
    size_t len = strcspn(p, "=");
    int rc = override_check_utf8(arg, err);

    if (rc == PR_OK)
        rc = override_read_name(arg, p, len, a, &o.name, err);
    if (rc)
        return rc;
    if (p[len] == '=')
        rc = override_read_value(p + len + 1, arg, o.name, a, &o.value, err);
    else if (o.op != PR_OVERRIDE_DELETE)
        rc = override_fail(err, arg, "a '=' and a value are missing");
    if (rc)
        return rc;
    *ret = o;
    return PR_OK;
}
