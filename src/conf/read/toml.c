/* TOML: values, keys, tables, and the document. */
#include "conf/read/toml.h"

#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64, MAX_COLUMN = 4096, MAX_STRING = 16 << 20 };

/* A table while it grows; values are immutable, so it becomes one at the
 * end. */
struct toml_table {
    struct toml_entry *first, *last;
    uint32_t count;
    bool given;  /* it had a head of its own */
    bool closed; /* an inline table, or made by dotted keys: no head may add */
};

struct toml_entry {
    const char *key;
    uint32_t key_len, line, col;
    struct pr_value value;
    struct toml_table *table; /* NULL: value counts */
    struct toml_entry *next;
};

struct toml {
    const char *p, *end, *line_start;
    unsigned line;
    const char *name;
    struct pr_arena *arena;
    struct pr_err *err;
    int depth;
};

/* ---- where we are */

static int toml_fail(struct toml *t, const char *fmt, ...) PR_PRINTF(2, 3);

static unsigned toml_column(const struct toml *t, const char *at)
{
    unsigned col = 1;

    /* Nobody reads farther, and a document may be one line. */
    if (at - t->line_start > MAX_COLUMN)
        at = t->line_start + MAX_COLUMN;
    for (const char *p = t->line_start; p < at; p++)
        col += ((unsigned char)*p & 0xc0) != 0x80;
    return col;
}

static int toml_fail(struct toml *t, const char *fmt, ...)
{
    char msg[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    return pr_fail_at(t->err, PR_E_FORMAT, t->name, t->line,
                      toml_column(t, t->p), "%s", msg);
}

/* Blanks; and with lines, line ends and comments, too. */
static void toml_skip_blanks(struct toml *t, bool lines)
{
    for (; t->p < t->end; t->p++) {
        if (lines && *t->p == '#')
            while (t->p + 1 < t->end && t->p[1] != '\n')
                t->p++;
        else if (lines && *t->p == '\n') {
            t->line++;
            t->line_start = t->p + 1;
        } else if (*t->p != ' ' && *t->p != '\t' && *t->p != '\r')
            return;
    }
}

static int toml_make_map(struct toml *t, const struct toml_table *table,
                         int depth, struct pr_value *ret)
{
    struct pr_member *m =
        PR_ARENA_ARRAY(t->arena, struct pr_member, table->count + 1);
    uint32_t n = 0;

    if (!m)
        return pr_fail_nomem(t->err);
    if (depth > MAX_DEPTH)
        return toml_fail(t, "tables are nested too deeply");
    for (const struct toml_entry *e = table->first; e; e = e->next, n++) {
        m[n] = (struct pr_member){.key = e->key,
                                  .key_len = e->key_len,
                                  .line = e->line,
                                  .col = e->col,
                                  .value = e->value};
        if (e->table) {
            PR_TRY(toml_make_map(t, e->table, depth + 1, &m[n].value));
            m[n].value.line = e->line;
            m[n].value.col = e->col;
        }
    }
    *ret = (struct pr_value){
        .kind = PR_MAP, .line = 1, .col = 1, .len = n, .members = m};
    return PR_OK;
}

static int toml_read_value(struct toml *t, struct pr_value *ret);
static int toml_read_assignment(struct toml *t, struct toml_table *into);

/* ---- strings */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* \uXXXX or \UXXXXXXXX; the cursor is after the letter. */
static int toml_read_code_point(struct toml *t, int digits, struct pr_buf *out)
{
    unsigned code = 0;
    char bytes[4];

    for (int i = 0; i < digits; i++, t->p++) {
        int d = t->p < t->end ? hex_digit(*t->p) : -1;
        if (d < 0)
            return toml_fail(t, "expected %d hexadecimal digits", digits);
        code = code << 4 | (unsigned)d;
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return toml_fail(t, "no such character");
    pr_buf_add(out, bytes, pr_utf8_put(bytes, code));
    return PR_OK;
}

/* A backslash at the end of a line takes the blanks of the next ones away. */
static bool skip_line_end(struct toml *t)
{
    const char *p = t->p + strspn(t->p, " \t\r");

    if (p >= t->end || *p != '\n')
        return false;
    for (; t->p < t->end && *t->p && strchr(" \t\r\n", *t->p); t->p++)
        if (*t->p == '\n') {
            t->line++;
            t->line_start = t->p + 1;
        }
    return true;
}

static int toml_read_escape(struct toml *t, bool many, struct pr_buf *out)
{
    static const char from[] = "btnfre\"\\", to[] = "\b\t\n\f\r\033\"\\";
    const char *at;

    t->p++;
    if (t->p == t->end)
        return toml_fail(t, "the text does not end");
    if (many && skip_line_end(t))
        return PR_OK;
    if (*t->p == 'u' || *t->p == 'U') {
        int digits = *t->p++ == 'u' ? 4 : 8;
        return toml_read_code_point(t, digits, out);
    }
    at = *t->p ? strchr(from, *t->p) : NULL;
    if (!at)
        return toml_fail(t, "unknown escape '\\%c'",
                         *t->p > ' ' && *t->p < 127 ? *t->p : '?');
    pr_buf_char(out, to[at - from]);
    t->p++;
    return PR_OK;
}

/* Whether the text ends here; of more than three quotes the first ones belong
 * to it. */
static bool at_close(const struct toml *t, char quote, bool many)
{
    if (*t->p != quote)
        return false;
    if (!many)
        return true;
    return t->end - t->p >= 3 && t->p[1] == quote && t->p[2] == quote &&
           (t->end - t->p == 3 || t->p[3] != quote);
}

static int put_plain(struct toml *t, bool many, struct pr_buf *out)
{
    size_t n = pr_utf8_len(t->p, (size_t)(t->end - t->p));
    unsigned char c = (unsigned char)*t->p;

    if (c == '\n' && many) {
        t->line++;
        t->line_start = t->p + 1;
    } else if (c == '\n')
        return toml_fail(t, "the text does not end on this line");
    else if ((c < ' ' && c != '\t' && c != '\r') || c == 127)
        return toml_fail(t, "a control character in text");
    if (!n)
        return toml_fail(t, "text that is not UTF-8");
    pr_buf_add(out, t->p, n);
    t->p += n;
    return PR_OK;
}

static int toml_read_text(struct toml *t, char quote, bool many,
                          struct pr_buf *out)
{
    while (t->p < t->end) {
        int rc;

        if (at_close(t, quote, many)) {
            t->p += many ? 3 : 1;
            return PR_OK;
        }
        rc = quote == '"' && *t->p == '\\' ? toml_read_escape(t, many, out)
                                           : put_plain(t, many, out);
        if (rc)
            return rc;
    }
    return toml_fail(t, "the text does not end");
}

static void skip_first_line_end(struct toml *t)
{
    if (t->p < t->end && *t->p == '\r')
        t->p++;
    if (t->p < t->end && *t->p == '\n') {
        t->line_start = ++t->p;
        t->line++;
    }
}

/* A string at the cursor, any of the four kinds. */
static int toml_read_string(struct toml *t, const char **ret, uint32_t *ret_len)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(MAX_STRING);
    char quote = *t->p;
    bool many = t->end - t->p >= 3 && t->p[1] == quote && t->p[2] == quote;
    int rc;

    t->p += many ? 3 : 1;
    if (many)
        skip_first_line_end(t);
    rc = toml_read_text(t, quote, many, &out);
    if (rc)
        return rc;
    if (!pr_buf_ok(&out))
        return out.over ? toml_fail(t, "the text is too long")
                        : pr_fail_nomem(t->err);
    *ret = pr_arena_copy(t->arena, out.data ? out.data : "", out.len);
    *ret_len = (uint32_t)out.len;
    return *ret ? PR_OK : pr_fail_nomem(t->err);
}

/* ---- numbers, words, dates */

static bool has_date(const char *s)
{
    size_t n = strspn(s, "0123456789");

    return (n == 4 && s[4] == '-') || (n == 2 && s[2] == ':');
}

/* 1_000 has its digits on both sides of each '_'. */
static bool without_underscores(const char *from, char *to)
{
    for (const char *p = from; *p; p++) {
        if (*p != '_')
            *to++ = *p;
        else if (p == from || hex_digit(p[-1]) < 0 || hex_digit(p[1]) < 0)
            return false;
    }
    *to = '\0';
    return true;
}

static bool toml_has_only(const char *s, const char *chars)
{
    return *s && s[strspn(s, chars)] == '\0';
}

static bool toml_read_int(const char *s, struct pr_value *ret)
{
    const char *digits = s + (*s == '+' || *s == '-');
    int base = 10;
    char *end;

    if (*s == '0' && s[1] && strchr("xob", s[1])) {
        base = s[1] == 'x' ? 16 : s[1] == 'o' ? 8 : 2;
        digits = s += 2;
    } else if (*digits == '0' && digits[1])
        return false; /* 007 */
    if (!toml_has_only(digits, base == 16  ? "0123456789abcdefABCDEF"
                               : base == 8 ? "01234567"
                               : base == 2 ? "01"
                                           : "0123456789"))
        return false;
    errno = 0;
    *ret = pr_int(strtoll(s, &end, base));
    return !errno && !*end;
}

static bool toml_read_float(const char *s, struct pr_value *ret)
{
    const char *p = s + (*s == '+' || *s == '-');
    char *end;

    if (strcmp(p, "inf") == 0 || strcmp(p, "nan") == 0) {
        double v = *p == 'i' ? HUGE_VAL : NAN;
        *ret = pr_float(*s == '-' ? -v : v);
        return true;
    }
    if (!toml_has_only(p, "0123456789.eE+-") || !strpbrk(p, ".eE") ||
        *p < '0' || *p > '9' || (*p == '0' && p[1] >= '0' && p[1] <= '9'))
        return false;
    *ret = pr_float(strtod(s, &end));
    return !*end && end[-1] != '.' && !strstr(s, ".e") && !strstr(s, ".E");
}

static int read_word(struct toml *t, struct pr_value *ret)
{
    size_t n = strcspn(t->p, ",]}# \t\r\n");
    char word[128], plain[128];

    if (n > (size_t)(t->end - t->p))
        n = (size_t)(t->end - t->p);
    /* A blank between date and time belongs to both. */
    if (n == 10 && has_date(t->p) && t->p[10] == ' ' && has_date(t->p + 11))
        n += 1 + strcspn(t->p + 11, ",]}# \t\r\n");
    if (!n || n >= sizeof word)
        return toml_fail(t, "expected a value");
    memcpy(word, t->p, n);
    word[n] = '\0';
    if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) {
        *ret = pr_bool(*word == 't');
    } else if (has_date(word)) {
        const char *copy = pr_arena_copy(t->arena, word, n);
        if (!copy)
            return pr_fail_nomem(t->err);
        *ret = pr_strn(copy, n);
    } else if (!without_underscores(word, plain) ||
               (!toml_read_int(plain, ret) && !toml_read_float(plain, ret))) {
        (void)toml_fail(t, "expected a value");
        return pr_hint(t->err, "text needs quotes");
    }
    t->p += n;
    return PR_OK;
}

/* ---- arrays and inline tables */

static int toml_read_array(struct toml *t, struct pr_value *ret)
{
    struct pr_value *items = NULL;
    size_t n = 0, cap = 0;

    for (t->p++;; t->p++) {
        int rc;

        toml_skip_blanks(t, true);
        if (t->p < t->end && *t->p == ']')
            break;
        items = pr_arena_grow(t->arena, items, n, &cap, sizeof *items);
        if (!items)
            return pr_fail_nomem(t->err);
        rc = toml_read_value(t, &items[n]);
        if (rc)
            return rc;
        n++;
        toml_skip_blanks(t, true);
        if (t->p < t->end && *t->p == ']')
            break;
        if (t->p == t->end || *t->p != ',')
            return toml_fail(t, "expected ',' or ']'");
    }
    t->p++;
    *ret =
        (struct pr_value){.kind = PR_LIST, .len = (uint32_t)n, .items = items};
    return PR_OK;
}

static int read_inline(struct toml *t, struct pr_value *ret)
{
    struct toml_table table = {.closed = true};
    int rc = PR_OK;

    for (t->p++; !rc; t->p++) {
        toml_skip_blanks(t, false);
        if (t->p < t->end && *t->p == '}')
            break;
        rc = toml_read_assignment(t, &table);
        toml_skip_blanks(t, false);
        if (rc || (t->p < t->end && *t->p == '}'))
            break;
        if (t->p == t->end || *t->p != ',')
            return toml_fail(t, "expected ',' or '}'");
    }
    if (rc)
        return rc;
    t->p++;
    return toml_make_map(t, &table, 0, ret);
}

/* A value at the cursor. */
static int toml_read_value(struct toml *t, struct pr_value *ret)
{
    uint32_t line = t->line, col = toml_column(t, t->p);
    int rc;

    if (t->p == t->end)
        return toml_fail(t, "expected a value");
    if (++t->depth > MAX_DEPTH)
        return toml_fail(t, "values are nested too deeply");
    if (*t->p == '"' || *t->p == '\'') {
        ret->kind = PR_STR;
        rc = toml_read_string(t, &ret->s, &ret->len);
    } else
        rc = *t->p == '['   ? toml_read_array(t, ret)
             : *t->p == '{' ? read_inline(t, ret)
                            : read_word(t, ret);
    t->depth--;
    ret->line = line;
    ret->col = col;
    return rc;
}

/* ---- keys and tables */

/* Keys are looked for one by one. */
enum { MAX_KEYS = 10000 };

static bool is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static int toml_read_key(struct toml *t, struct toml_entry *ret)
{
    const char *start = t->p;
    int rc = PR_OK;

    ret->line = t->line;
    ret->col = toml_column(t, t->p);
    if (t->p < t->end && (*t->p == '"' || *t->p == '\'')) {
        if (t->end - t->p > 2 && t->p[1] == *t->p && t->p[2] == *t->p)
            return toml_fail(t, "a key must be on one line");
        rc = toml_read_string(t, &ret->key, &ret->key_len);
        if (!rc && strlen(ret->key) != ret->key_len)
            rc = toml_fail(t, "a key must not hold NUL");
        return rc;
    }
    while (t->p < t->end && is_bare(*t->p))
        t->p++;
    if (t->p == start)
        return toml_fail(t, "expected a key");
    ret->key_len = (uint32_t)(t->p - start);
    ret->key = pr_arena_copy(t->arena, start, ret->key_len);
    return ret->key ? PR_OK : pr_fail_nomem(t->err);
}

static struct toml_entry *toml_find_entry(const struct toml_table *table,
                                          const char *key)
{
    struct toml_entry *e = table->first;

    while (e && strcmp(e->key, key) != 0)
        e = e->next;
    return e;
}

static struct toml_entry *toml_add_entry(struct toml *t,
                                         struct toml_table *table,
                                         const struct toml_entry *what)
{
    struct toml_entry *e = PR_ARENA_NEW(t->arena, struct toml_entry);

    if (!e)
        return NULL;
    *e = *what;
    if (table->last)
        table->last->next = e;
    else
        table->first = e;
    table->last = e;
    table->count++;
    return e;
}

/* The table of that key inside another, made when it is not there. */
static int step_into(struct toml *t, struct toml_table *in,
                     const struct toml_entry *key, struct toml_table **ret)
{
    struct toml_entry *e = toml_find_entry(in, key->key);

    if (e && !e->table)
        return toml_fail(t, "'%.100s' is a value already, not a table",
                         key->key);
    if (!e && in->count >= MAX_KEYS)
        return toml_fail(t, "more than %d keys in a table", MAX_KEYS);
    if (!e) {
        e = toml_add_entry(t, in, key);
        if (e)
            e->table = PR_ARENA_NEW(t->arena, struct toml_table);
        if (!e || !e->table)
            return pr_fail_nomem(t->err);
    }
    *ret = e->table;
    return PR_OK;
}

/* KEY.KEY…: all but the last are stepped into, the last is in *ret_key. */
static int walk_keys(struct toml *t, struct toml_table **table,
                     struct toml_entry *ret_key, bool dotted)
{
    for (int n = 0; n < MAX_DEPTH; n++) {
        int rc;

        *ret_key = (struct toml_entry){0};
        rc = toml_read_key(t, ret_key);
        if (rc)
            return rc;
        toml_skip_blanks(t, false);
        if (t->p == t->end || *t->p != '.')
            return PR_OK;
        t->p++;
        toml_skip_blanks(t, false);
        rc = step_into(t, *table, ret_key, table);
        if (rc)
            return rc;
        if (dotted && (*table)->given)
            return toml_fail(t, "table '%.100s' has a head of its own",
                             ret_key->key);
        (*table)->closed |= dotted;
    }
    return toml_fail(t, "keys are nested too deeply");
}

/* KEY[.KEY…] = VALUE into a table. */
static int toml_read_assignment(struct toml *t, struct toml_table *into)
{
    struct toml_entry key;
    int rc = walk_keys(t, &into, &key, true);

    if (rc)
        return rc;
    if (t->p == t->end || *t->p != '=')
        return toml_fail(t, "expected '=' after key '%.100s'", key.key);
    if (into->count >= MAX_KEYS)
        return toml_fail(t, "more than %d keys in a table", MAX_KEYS);
    if (toml_find_entry(into, key.key))
        return toml_fail(t, "key '%.100s' is set twice", key.key);
    t->p++;
    toml_skip_blanks(t, false);
    rc = toml_read_value(t, &key.value);
    if (rc)
        return rc;
    return toml_add_entry(t, into, &key) ? PR_OK : pr_fail_nomem(t->err);
}

/* [KEY.KEY] */
static int toml_read_head(struct toml *t, struct toml_table *root,
                          struct toml_table **ret)
{
    struct toml_table *table = root;
    struct toml_entry key;
    int rc;

    t->p++;
    if (t->p < t->end && *t->p == '[') {
        (void)toml_fail(t, "arrays of tables ([[…]]) are not read");
        return pr_hint(t->err, "use an array of inline tables: "
                               "name = [{…}, {…}]");
    }
    toml_skip_blanks(t, false);
    rc = walk_keys(t, &table, &key, false);
    if (rc)
        return rc;
    if (t->p == t->end || *t->p != ']')
        return toml_fail(t, "expected ']' after the name of a table");
    rc = step_into(t, table, &key, &table);
    if (!rc && (table->given || table->closed))
        rc = toml_fail(t, "table '%.100s' is given twice", key.key);
    if (rc)
        return rc;
    table->given = true;
    t->p++;
    *ret = table;
    return PR_OK;
}

static int end_of_line(struct toml *t)
{
    toml_skip_blanks(t, false);
    if (t->p < t->end && *t->p != '\n' && *t->p != '#')
        return toml_fail(t, "expected the end of the line");
    return PR_OK;
}

/* A table as a map. */
/* ---- the document */

int pr_toml_read(const char *text, size_t len, const char *name,
                 struct pr_arena *a, struct pr_value *ret_value,
                 struct pr_err *err)
{
    struct toml t = {.p = text,
                     .end = text + len,
                     .line_start = text,
                     .line = 1,
                     .name = name,
                     .arena = a,
                     .err = err};
    struct toml_table root = {0}, *now = &root;
    int rc = PR_OK;

    for (;;) {
        toml_skip_blanks(&t, true);
        if (rc || t.p == t.end)
            break;
        rc = *t.p == '[' ? toml_read_head(&t, &root, &now)
                         : toml_read_assignment(&t, now);
        if (!rc)
            rc = end_of_line(&t);
    }
    return rc ? rc : toml_make_map(&t, &root, 0, ret_value);
}

/* [name], ["name"], with nothing but a comment after it. */
static bool toml_is_head(const char *line)
{
    size_t n = strcspn(line, "]\n");

    if (n < 2 || line[n] != ']' || memchr(line, ',', n) ||
        strchr(" \t]", line[1]))
        return false;
    line += n + 1;
    line += strspn(line, " \t\r");
    return *line == '\n' || *line == '#' || !*line;
}

static bool toml_is_assignment(const char *line)
{
    size_t n;

    if (*line == '"' || *line == '\'') {
        const char *close = strchr(line + 1, *line);
        n = close ? (size_t)(close + 1 - line) : 0;
    } else {
        for (n = 0; is_bare(line[n]) || line[n] == '.';)
            n++;
    }
    line += n;
    line += strspn(line, " \t");
    return n && *line == '=' && line[1] != '=';
}

bool pr_toml_is_likely(const char *text)
{
    bool head = false;

    for (const char *line = text; *line; line += *line == '\n') {
        line += strspn(line, " \t\r");
        if (toml_is_assignment(line))
            return true;
        if (*line && *line != '\n' && *line != '#') {
            if (!toml_is_head(line))
                return false;
            head = true;
        }
        line += strcspn(line, "\n");
    }
    return head && strchr(text, '=');
}
