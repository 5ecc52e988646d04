/*
 * JSON text to values. Items of a list or map are collected on one stack that
 * grows with the deepest nesting, then copied to the arena once their number
 * is known.
 */
#include "base/json/json_scan.h"
#include "base/keyset.h"
#include "base/mem.h"

#include <string.h>

enum { MAX_DEPTH = 200 };

struct reader {
    struct pr_json_scan scan;
    unsigned depth, flags;
    struct pr_member *stack; /* list items use .value alone */
    size_t used, cap;
};

/* One list or map under construction. */
struct group {
    size_t base;           /* of its items on the stack */
    struct pr_keyset keys; /* of a large map */
};

static int json_read_value(struct reader *r, struct pr_value *v);

/* A place on top of the stack, to be kept by counting it in r->used. Inner
 * values use the stack too: it is asked for only after they are read. */
static struct pr_member *stack_top(struct reader *r)
{
    if (r->used == r->cap) {
        size_t cap = r->cap ? r->cap * 2 : 64;
        void *p = pr_realloc(r->stack, cap * sizeof *r->stack);
        if (!p)
            return NULL;
        r->stack = p;
        r->cap = cap;
    }
    return &r->stack[r->used];
}

/* A key met before is replaced, or refused. */
static int push_member(struct reader *r, struct group *g,
                       const struct pr_member *m)
{
    struct pr_member *place = stack_top(r);
    size_t i;
    int found;

    if (!place)
        return pr_fail_nomem(r->scan.err);
    found = pr_keyset_member(&g->keys, r->stack + g->base, r->used - g->base, m,
                             &i);
    if (found < 0)
        return pr_fail_nomem(r->scan.err);
    if (!found) {
        r->used++;
    } else {
        place = &r->stack[g->base + i];
        if (r->flags & PR_JSON_UNIQUE_KEYS)
            return pr_fail_at(r->scan.err, PR_E_FORMAT, r->scan.name, m->line,
                              m->col,
                              "'%s' stands twice in the same map, first on "
                              "line %u",
                              m->key, place->line);
    }
    *place = *m;
    return PR_OK;
}

static int json_read_member(struct reader *r, struct group *g)
{
    struct pr_json_scan *s = &r->scan;
    struct pr_member m;
    int rc;

    if (*s->pos != '"')
        return pr_json_scan_fail(s, s->pos, "expected a key in double quotes");
    m.line = s->line;
    m.col = pr_json_scan_column(s, s->pos);
    rc = pr_json_scan_string(s, &m.key, &m.key_len);
    if (rc)
        return rc;
    pr_json_skip_space(s);
    if (s->pos == s->end || *s->pos != ':')
        return pr_json_scan_fail(s, s->pos, "expected ':' after a key");
    s->pos++;
    pr_json_skip_space(s);
    rc = json_read_value(r, &m.value);
    return rc ? rc : push_member(r, g, &m);
}

static int json_read_item(struct reader *r)
{
    struct pr_value v;
    struct pr_member *top;
    int rc = json_read_value(r, &v);

    if (rc)
        return rc;
    top = stack_top(r);
    if (!top)
        return pr_fail_nomem(r->scan.err);
    top->value = v;
    r->used++;
    return PR_OK;
}

static int json_store_items(struct reader *r, size_t base, struct pr_value *v)
{
    size_t n = r->used - base;
    size_t each =
        v->kind == PR_MAP ? sizeof(struct pr_member) : sizeof(struct pr_value);
    void *kept;

    if (n > UINT32_MAX)
        return pr_json_scan_fail(&r->scan, r->scan.pos,
                                 "more than 2^32 items in a list or map");
    kept = pr_arena_alloc(r->scan.arena, n * each);
    if (!kept)
        return pr_fail_nomem(r->scan.err);
    if (v->kind == PR_MAP) {
        if (n)
            memcpy(kept, r->stack + base, n * each);
        v->members = kept;
    } else {
        struct pr_value *items = kept;
        for (size_t i = 0; i < n; i++)
            items[i] = r->stack[base + i].value;
        v->items = items;
    }
    v->len = (uint32_t)n;
    r->used = base;
    return PR_OK;
}

/* After the opening bracket and blanks, up to and with the closing one. */
static int json_read_items(struct reader *r, struct group *g, char close)
{
    struct pr_json_scan *s = &r->scan;

    if (s->pos < s->end && *s->pos == close) {
        s->pos++;
        return PR_OK;
    }
    for (;;) {
        int rc;

        if (s->pos == s->end)
            return pr_json_scan_fail(s, s->pos,
                                     "the text ends inside a list or map");
        rc = close == '}' ? json_read_member(r, g) : json_read_item(r);
        if (rc)
            return rc;
        pr_json_skip_space(s);
        if (s->pos < s->end && *s->pos == close) {
            s->pos++;
            return PR_OK;
        }
        if (s->pos == s->end || *s->pos != ',')
            return pr_json_scan_fail(s, s->pos,
                                     close == '}' ? "expected ',' or '}'"
                                                  : "expected ',' or ']'");
        s->pos++;
        pr_json_skip_space(s);
    }
}

/* At the opening bracket. */
static int json_read_group(struct reader *r, struct pr_value *v)
{
    char close = *r->scan.pos == '{' ? '}' : ']';
    struct group g = {.base = r->used};
    int rc;

    v->kind = close == '}' ? PR_MAP : PR_LIST;
    if (++r->depth > MAX_DEPTH)
        return pr_json_scan_fail(&r->scan, r->scan.pos,
                                 "nested more than 200 deep");
    r->scan.pos++;
    pr_json_skip_space(&r->scan);
    rc = json_read_items(r, &g, close);
    pr_keyset_free(&g.keys);
    r->depth--;
    return rc ? rc : json_store_items(r, g.base, v);
}

static int json_read_value(struct reader *r, struct pr_value *v)
{
    struct pr_json_scan *s = &r->scan;

    v->line = s->line;
    v->col = pr_json_scan_column(s, s->pos);
    v->len = 0;
    if (s->pos == s->end)
        return pr_json_scan_fail(s, s->pos,
                                 "the text ends where a value is expected");
    if (*s->pos == '"') {
        v->kind = PR_STR;
        return pr_json_scan_string(s, &v->s, &v->len);
    }
    if (*s->pos == '{' || *s->pos == '[')
        return json_read_group(r, v);
    return pr_json_scan_word(s, v);
}

int pr_json_scan_value(struct pr_json_scan *s, unsigned flags,
                       struct pr_value *ret_value)
{
    struct reader r = {.scan = *s, .flags = flags};
    struct pr_value v;
    int rc;

    pr_json_skip_space(&r.scan);
    rc = json_read_value(&r, &v);
    pr_free(r.stack);
    pr_json_cache_free(r.scan.cache);
    r.scan.cache = NULL;
    r.scan.strings = 0;
    if (rc)
        return rc;
    *s = r.scan;
    *ret_value = v;
    return PR_OK;
}

int pr_json_read(const struct pr_json_in *in, struct pr_arena *a,
                 struct pr_value *ret_value, size_t *ret_used,
                 struct pr_err *err)
{
    struct pr_json_scan s = {
        .pos = in->text,
        .end = in->text + in->len,
        .line_start = in->text,
        .name = in->name,
        .line = in->line ? in->line : 1,
        .arena = a,
        .err = err,
    };
    struct pr_value v;
    int rc = pr_json_scan_value(&s, in->flags, &v);

    if (rc)
        return rc;
    if (!(in->flags & PR_JSON_PREFIX)) {
        pr_json_skip_space(&s);
        if (s.pos != s.end)
            return pr_json_scan_fail(&s, s.pos, "text after the value");
    }
    *ret_value = v;
    if (ret_used)
        *ret_used = (size_t)(s.pos - in->text);
    return PR_OK;
}
