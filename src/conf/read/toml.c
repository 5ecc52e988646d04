/* TOML: tables, keys, and the document. Values are in toml_value.c. */
#include "conf/read/toml.h"

#include "conf/read/toml_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Keys are looked for one by one. */
enum { MAX_COLUMN = 4096, MAX_KEYS = 10000 };

unsigned pr_toml_column(const struct pr_toml *t, const char *at)
{
    unsigned col = 1;

    /* Nobody reads farther, and a document may be one line. */
    if (at - t->line_start > MAX_COLUMN)
        at = t->line_start + MAX_COLUMN;
    for (const char *p = t->line_start; p < at; p++)
        col += ((unsigned char)*p & 0xc0) != 0x80;
    return col;
}

int pr_toml_fail(struct pr_toml *t, const char *fmt, ...)
{
    char msg[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    return pr_fail_at(t->err, PR_E_FORMAT, t->name, t->line,
                      pr_toml_column(t, t->p), "%s", msg);
}

void pr_toml_skip_blanks(struct pr_toml *t, bool lines)
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

static bool is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static int toml_read_key(struct pr_toml *t, struct pr_toml_entry *ret)
{
    const char *start = t->p;
    int rc = PR_OK;

    ret->line = t->line;
    ret->col = pr_toml_column(t, t->p);
    if (t->p < t->end && (*t->p == '"' || *t->p == '\'')) {
        if (t->end - t->p > 2 && t->p[1] == *t->p && t->p[2] == *t->p)
            return pr_toml_fail(t, "a key must be on one line");
        rc = pr_toml_read_string(t, &ret->key, &ret->key_len);
        if (!rc && strlen(ret->key) != ret->key_len)
            rc = pr_toml_fail(t, "a key must not hold NUL");
        return rc;
    }
    while (t->p < t->end && is_bare(*t->p))
        t->p++;
    if (t->p == start)
        return pr_toml_fail(t, "expected a key");
    ret->key_len = (uint32_t)(t->p - start);
    ret->key = pr_arena_copy(t->arena, start, ret->key_len);
    return ret->key ? PR_OK : pr_fail_nomem(t->err);
}

static struct pr_toml_entry *toml_find_entry(const struct pr_toml_table *table,
                                             const char *key)
{
    struct pr_toml_entry *e = table->first;

    while (e && strcmp(e->key, key) != 0)
        e = e->next;
    return e;
}

static struct pr_toml_entry *toml_add_entry(struct pr_toml *t,
                                            struct pr_toml_table *table,
                                            const struct pr_toml_entry *what)
{
    struct pr_toml_entry *e = PR_ARENA_NEW(t->arena, struct pr_toml_entry);

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
static int step_into(struct pr_toml *t, struct pr_toml_table *in,
                     const struct pr_toml_entry *key,
                     struct pr_toml_table **ret)
{
    struct pr_toml_entry *e = toml_find_entry(in, key->key);

    if (e && !e->table)
        return pr_toml_fail(t, "'%.100s' is a value already, not a table",
                            key->key);
    if (!e && in->count >= MAX_KEYS)
        return pr_toml_fail(t, "more than %d keys in a table", MAX_KEYS);
    if (!e) {
        e = toml_add_entry(t, in, key);
        if (e)
            e->table = PR_ARENA_NEW(t->arena, struct pr_toml_table);
        if (!e || !e->table)
            return pr_fail_nomem(t->err);
    }
    *ret = e->table;
    return PR_OK;
}

/* KEY.KEY…: all but the last are stepped into, the last is in *ret_key. */
static int walk_keys(struct pr_toml *t, struct pr_toml_table **table,
                     struct pr_toml_entry *ret_key, bool dotted)
{
    for (int n = 0; n < PR_TOML_DEPTH; n++) {
        int rc;

        *ret_key = (struct pr_toml_entry){0};
        rc = toml_read_key(t, ret_key);
        if (rc)
            return rc;
        pr_toml_skip_blanks(t, false);
        if (t->p == t->end || *t->p != '.')
            return PR_OK;
        t->p++;
        pr_toml_skip_blanks(t, false);
        rc = step_into(t, *table, ret_key, table);
        if (rc)
            return rc;
        if (dotted && (*table)->given)
            return pr_toml_fail(t, "table '%.100s' has a head of its own",
                                ret_key->key);
        (*table)->closed |= dotted;
    }
    return pr_toml_fail(t, "keys are nested too deeply");
}

int pr_toml_read_assignment(struct pr_toml *t, struct pr_toml_table *into)
{
    struct pr_toml_entry key;
    int rc = walk_keys(t, &into, &key, true);

    if (rc)
        return rc;
    if (t->p == t->end || *t->p != '=')
        return pr_toml_fail(t, "expected '=' after key '%.100s'", key.key);
    if (into->count >= MAX_KEYS)
        return pr_toml_fail(t, "more than %d keys in a table", MAX_KEYS);
    if (toml_find_entry(into, key.key))
        return pr_toml_fail(t, "key '%.100s' is set twice", key.key);
    t->p++;
    pr_toml_skip_blanks(t, false);
    rc = pr_toml_read_value(t, &key.value);
    if (rc)
        return rc;
    return toml_add_entry(t, into, &key) ? PR_OK : pr_fail_nomem(t->err);
}

/* [KEY.KEY] */
static int toml_read_head(struct pr_toml *t, struct pr_toml_table *root,
                          struct pr_toml_table **ret)
{
    struct pr_toml_table *table = root;
    struct pr_toml_entry key;
    int rc;

    t->p++;
    if (t->p < t->end && *t->p == '[') {
        (void)pr_toml_fail(t, "arrays of tables ([[…]]) are not read");
        return pr_hint(t->err, "use an array of inline tables: "
                               "name = [{…}, {…}]");
    }
    pr_toml_skip_blanks(t, false);
    rc = walk_keys(t, &table, &key, false);
    if (rc)
        return rc;
    if (t->p == t->end || *t->p != ']')
        return pr_toml_fail(t, "expected ']' after the name of a table");
    rc = step_into(t, table, &key, &table);
    if (!rc && (table->given || table->closed))
        rc = pr_toml_fail(t, "table '%.100s' is given twice", key.key);
    if (rc)
        return rc;
    table->given = true;
    t->p++;
    *ret = table;
    return PR_OK;
}

static int end_of_line(struct pr_toml *t)
{
    pr_toml_skip_blanks(t, false);
    if (t->p < t->end && *t->p != '\n' && *t->p != '#')
        return pr_toml_fail(t, "expected the end of the line");
    return PR_OK;
}

int pr_toml_make_map(struct pr_toml *t, const struct pr_toml_table *table,
                     int depth, struct pr_value *ret)
{
    struct pr_member *m =
        PR_ARENA_ARRAY(t->arena, struct pr_member, table->count + 1);
    uint32_t n = 0;

    if (!m)
        return pr_fail_nomem(t->err);
    if (depth > PR_TOML_DEPTH)
        return pr_toml_fail(t, "tables are nested too deeply");
    for (const struct pr_toml_entry *e = table->first; e; e = e->next, n++) {
        m[n] = (struct pr_member){.key = e->key,
                                  .key_len = e->key_len,
                                  .line = e->line,
                                  .col = e->col,
                                  .value = e->value};
        if (e->table) {
            int rc = pr_toml_make_map(t, e->table, depth + 1, &m[n].value);
            if (rc)
                return rc;
            m[n].value.line = e->line;
            m[n].value.col = e->col;
        }
    }
    *ret = (struct pr_value){
        .kind = PR_MAP, .line = 1, .col = 1, .len = n, .members = m};
    return PR_OK;
}

int pr_toml_read(const char *text, size_t len, const char *name,
                 struct pr_arena *a, struct pr_value *ret_value,
                 struct pr_err *err)
{
    struct pr_toml t = {.p = text,
                        .end = text + len,
                        .line_start = text,
                        .line = 1,
                        .name = name,
                        .arena = a,
                        .err = err};
    struct pr_toml_table root = {0}, *now = &root;
    int rc = PR_OK;

    for (;;) {
        pr_toml_skip_blanks(&t, true);
        if (rc || t.p == t.end)
            break;
        rc = *t.p == '[' ? toml_read_head(&t, &root, &now)
                         : pr_toml_read_assignment(&t, now);
        if (!rc)
            rc = end_of_line(&t);
    }
    return rc ? rc : pr_toml_make_map(&t, &root, 0, ret_value);
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
