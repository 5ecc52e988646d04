/*
 * JSON: whatever is accepted is written and read back as the same value, by
 * both writers; and walking a document agrees with reading it.
 */
#include "base/json/json.h"

#include <stdlib.h>
#include <string.h>

static bool same(const struct pr_value *a, const struct pr_value *b)
{
    if (a->kind != b->kind || (a->kind >= PR_STR && a->len != b->len))
        return false;
    switch (a->kind) {
    case PR_FLOAT: /* nan is the same as nan here, and -0.0 is not 0.0 */
        return a->f == a->f ? memcmp(&a->f, &b->f, sizeof a->f) == 0
                            : b->f != b->f;
    case PR_LIST:
        for (uint32_t i = 0; i < a->len; i++)
            if (!same(&a->items[i], &b->items[i]))
                return false;
        return true;
    case PR_MAP:
        for (uint32_t i = 0; i < a->len; i++)
            if (a->members[i].key_len != b->members[i].key_len ||
                memcmp(a->members[i].key, b->members[i].key,
                       a->members[i].key_len) != 0 ||
                !same(&a->members[i].value, &b->members[i].value))
                return false;
        return true;
    default:
        return pr_value_equal(a, b);
    }
}

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void round_trip(struct pr_arena *a, const struct pr_value *v,
                       unsigned indent)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT((size_t)1 << 26);
    struct pr_json_in in = {.name = "again", .flags = PR_JSON_UNIQUE_KEYS};
    struct pr_value again;

    if (indent)
        pr_json_write_indented(&out, v, indent, 0);
    else
        pr_json_write(&out, v);
    must(pr_buf_ok(&out) && strlen(out.data) == out.len);
    in.text = out.data;
    in.len = out.len;
    must(pr_json_read(&in, a, &again, NULL, NULL) == PR_OK);
    must(same(v, &again));
}

/* Walks the top level; what it finds is what the reader found. */
static void walk(struct pr_arena *a, const char *text, size_t len,
                 const struct pr_value *v)
{
    struct pr_json_walk w;
    struct pr_value item;
    const char *key;
    char close = v && v->kind == PR_LIST ? ']' : '}';
    uint32_t n = 0;
    int rc;

    pr_json_walk_init(&w, text, len, "walk");
    rc = pr_json_walk_enter(&w, close == ']' ? '[' : '{', NULL);
    must(rc == PR_OK || !v || v->kind < PR_LIST);
    if (rc)
        return;
    while ((rc = pr_json_walk_next(&w, close, a, &key, NULL)) == 1) {
        rc = pr_json_walk_read(&w, a, &item, NULL);
        if (rc)
            break;
        if (v && close == ']')
            must(n < v->len && same(&item, &v->items[n]) &&
                 item.line == v->items[n].line && item.col == v->items[n].col);
        n++;
    }
    /* Keys given twice count twice in a walk. */
    must(!v || (rc == 0 && (close == '}' ? n >= v->len : n == v->len)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
    struct pr_json_in in = {.text = (const char *)data, .len = bytes};
    struct pr_value v, other;
    struct pr_err err;
    size_t used = 0;
    int rc;

    in.name = "in";
    rc = pr_json_read(&in, a, &v, NULL, &err);
    walk(a, in.text, bytes, rc ? NULL : &v);
    in.flags = PR_JSON_UNIQUE_KEYS | PR_JSON_PREFIX;
    if (pr_json_read(&in, a, &other, &used, &err) == PR_OK)
        must(used <= bytes && (rc || same(&v, &other)));
    if (rc)
        return 0;
    round_trip(a, &v, 0);
    round_trip(a, &v, 2);
    must(pr_value_copy(a, &v, &other) && same(&v, &other));
    return 0;
}
