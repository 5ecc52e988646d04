/*
 * Values of hydra 1.3's override grammar: words, lists and maps. A comma
 * outside quotes and brackets would be a sweep, which has a form of its own
 * here.
 */
#include "conf/option/override_value.h"

#include "base/mem.h"
#include "base/names.h"
#include "conf/option/override_text.h"

#include <string.h>

enum { MAX_DEPTH = 100 };

struct reader {
    struct pr_override_in in;
    unsigned depth;
    struct pr_member *stack; /* items of the open lists and maps */
    size_t used, cap;
};

static int override_parse_value(struct reader *r, const char *stops,
                                struct pr_value *v);

static void override_skip_blanks(struct reader *r)
{
    while (*r->in.pos == ' ' || *r->in.pos == '\t')
        r->in.pos++;
}

static bool override_ends_value(char c, const char *set)
{
    return c && strchr(set, c);
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
        rc = pr_override_read_quoted(&r->in, &key);
        override_skip_blanks(r);
    } else {
        rc = pr_override_read_bare_key(&r->in, ":,}", &key);
        if (rc == PR_OK && !key.len)
            rc = pr_override_fail(r->in.err, r->in.arg, "a key is missing");
    }
    if (rc)
        return rc;
    if (*r->in.pos != ':')
        return pr_override_fail(r->in.err, r->in.arg,
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
            return pr_override_fail(r->in.err, r->in.arg,
                                    "the key '%.60s' stands twice", m.key);
    }
    return override_push_item(r, &m);
}

static int override_read_items(struct reader *r, struct pr_keyset *keys,
                               size_t base, char close)
{
    override_skip_blanks(r);
    while (*r->in.pos != close || r->used > base) {
        int rc = override_read_item(r, keys, base, close);

        if (rc)
            return rc;
        if (*r->in.pos == close)
            break;
        if (*r->in.pos != ',')
            return pr_override_hint_quotes(
                &r->in, pr_override_fail(r->in.err, r->in.arg,
                                         "a '%c' is missing", close));
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
        return pr_override_fail(r->in.err, r->in.arg, "nested too deep");
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
    if (!*start || override_ends_value(*start, stops)) {
        if (r->depth)
            return pr_override_fail(r->in.err, r->in.arg, "a value is missing");
        *v = pr_str("");
        return PR_OK;
    }
    if (*start == '\'' || *start == '"')
        rc = pr_override_read_quoted(&r->in, v);
    else if (*start == '[' || *start == '{')
        rc = override_read_group(r, v);
    else
        return pr_override_read_bare(&r->in, stops, v);
    if (rc)
        return rc;
    override_skip_blanks(r);
    if (*r->in.pos && !override_ends_value(*r->in.pos, stops))
        return pr_override_hint_quotes(
            &r->in, pr_override_fail(r->in.err, r->in.arg, "text after '%c'",
                                     r->in.pos[-1]));
    return PR_OK;
}

static int refuse_sweep(struct reader *r)
{
    int rc = pr_override_fail(r->in.err, r->in.arg,
                              "several values for one name are a sweep");

    (void)pr_hint(r->in.err,
                  "write -V %s='[a, b]' for a sweep, \"%s='a,b'\" for text "
                  "with a comma",
                  r->in.name, r->in.name);
    return rc;
}

int pr_override_read_value(const char *text, const char *arg, const char *name,
                           struct pr_arena *a, struct pr_value *ret_value,
                           struct pr_err *err)
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
