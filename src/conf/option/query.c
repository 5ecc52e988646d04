/* DLBS's matching rules. */
#include "conf/option/query.h"

#include "base/json/json.h"
#include "base/mem.h"
#include "conf/expr/regex.h"

#include <string.h>

struct term {
    const char *name;
    size_t len;
    const struct pr_value *want; /* NULL: only be there */
    struct pr_regex *re;         /* NULL: by value */
};

struct pr_query {
    size_t count;
    struct term terms[];
};

static int init_term(struct term *t, const struct pr_member *m,
                     const char *name, struct pr_err *err)
{
    struct pr_err inner = {0};
    int rc;

    *t = (struct term){m->key, m->key_len, &m->value, NULL};
    if (m->value.kind != PR_STR || m->value.len == 0)
        return PR_OK;
    rc = pr_regex_new(m->value.s, m->value.len, 0, &t->re, &inner);
    if (rc == PR_E_CONF)
        return pr_fail_at(err, rc, name, m->value.line, m->value.col,
                          "condition on '%s': %s", m->key, inner.msg);
    if (rc && err)
        *err = inner;
    return rc;
}

int pr_query_new(const struct pr_value *value, const char *name,
                 struct pr_query **ret, struct pr_err *err)
{
    bool any = !value || value->kind == PR_NULL;
    size_t n = any ? 0 : value->len;
    struct pr_query *q;
    int rc = PR_OK;

    if (!any && value->kind != PR_LIST && value->kind != PR_MAP)
        return pr_fail_at(err, PR_E_CONF, name, value->line, value->col,
                          "a condition is a map of names to values, got %s",
                          pr_kind_name(value->kind));
    q = pr_alloc_zeroed(sizeof *q + n * sizeof *q->terms);
    if (!q)
        return pr_fail_nomem(err);
    q->count = n;
    for (size_t i = 0; i < n && !rc; i++) {
        if (value->kind == PR_MAP)
            rc = init_term(&q->terms[i], &value->members[i], name, err);
        else if (value->items[i].kind == PR_STR)
            q->terms[i] = (struct term){value->items[i].s, value->items[i].len,
                                        NULL, NULL};
        else
            rc = pr_fail_at(err, PR_E_CONF, name, value->items[i].line,
                            value->items[i].col,
                            "a list in place of a condition holds names");
    }
    if (rc) {
        pr_query_free(q);
        return rc;
    }
    *ret = q;
    return PR_OK;
}

void pr_query_free(struct pr_query *q)
{
    if (!q)
        return;
    for (size_t i = 0; i < q->count; i++)
        pr_regex_free(q->terms[i].re);
    pr_free(q);
}

/* A pattern on a value that is no text sees it as JSON writes it. (DLBS ended
 * with a TypeError there.) */
static int match_text(const struct term *t, const struct pr_value *v,
                      struct pr_regex_span *spans, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 24);

    if (v->kind == PR_STR)
        return pr_regex_match(t->re, v->s, v->len, spans, err);
    pr_json_write(&text, v);
    if (!pr_buf_ok(&text))
        return pr_fail_nomem(err);
    return pr_regex_match(t->re, text.data, text.len, spans, err);
}

static int match_term(const struct term *t, const struct pr_value *v,
                      struct pr_err *err)
{
    if (!t->want)
        return 1;
    if (t->re)
        return match_text(t, v, NULL, err);
    if (t->want->kind != PR_LIST)
        return pr_value_equal(t->want, v);
    for (uint32_t i = 0; i < t->want->len; i++)
        if (pr_value_equal(&t->want->items[i], v))
            return 1;
    return 0;
}

int pr_query_match(const struct pr_query *q, pr_query_get *get, const void *ctx,
                   enum pr_query_policy policy, struct pr_err *err)
{
    for (size_t i = 0; i < q->count; i++) {
        const struct term *t = &q->terms[i];
        const struct pr_value *v = get(ctx, t->name, t->len);
        int rc;

        if (!v) {
            /* A bare list of names asks for them whatever the policy. */
            if (policy == PR_QUERY_STRICT || !t->want)
                return 0;
            continue;
        }
        rc = match_term(t, v, err);
        if (rc != 1)
            return rc;
    }
    return 1;
}

static const struct term *find_term(const struct pr_query *q, const char *name,
                                    size_t len)
{
    for (size_t i = 0; i < q->count; i++)
        if (q->terms[i].len == len && memcmp(q->terms[i].name, name, len) == 0)
            return &q->terms[i];
    return NULL;
}

int pr_query_capture(const struct pr_query *q, pr_query_get *get,
                     const void *ctx, const char *name, size_t len, unsigned n,
                     struct pr_buf *out, struct pr_err *err)
{
    const struct term *t = find_term(q, name, len);
    const struct pr_value *v = t ? get(ctx, name, len) : NULL;
    struct pr_regex_span spans[100];
    int rc;

    if (!v || (n && (!t->re || n > pr_regex_group_count(t->re) || n > 99 ||
                     v->kind != PR_STR)))
        return 0;
    if (!n) {
        pr_value_write_text(out, v);
        return 1;
    }
    if (pr_regex_group_count(t->re) > 99)
        return pr_fail(err, PR_E_CONF, "",
                       "condition on '%s' has more than 99 groups", t->name);
    rc = match_text(t, v, spans, err);
    if (rc != 1)
        return rc;
    if (spans[n].start == PR_REGEX_NO_SPAN)
        pr_buf_str(out, "None");
    else
        pr_buf_add(out, v->s + spans[n].start, spans[n].end - spans[n].start);
    return 1;
}

const char *pr_query_name(const struct pr_query *q, size_t i)
{
    return i < q->count ? q->terms[i].name : NULL;
}
