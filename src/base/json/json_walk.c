/*
 * Stepping through a JSON document value by value, as strictly as reading it
 * whole. The cursor always rests right after a token, so the byte before it
 * tells whether a bracket was just opened.
 */
#include "base/json/json_scan.h"

void pr_json_walk_init(struct pr_json_walk *w, const char *text, size_t len,
                       const char *name)
{
    *w = (struct pr_json_walk){text, text + len, text, name, 1};
}

/* w->text is where the cursor's line starts: columns are counted from it. */
static struct pr_json_scan json_walk_begin_scan(const struct pr_json_walk *w,
                                                struct pr_arena *a,
                                                struct pr_err *err)
{
    return (struct pr_json_scan){
        .pos = w->pos,
        .end = w->end,
        .line_start = w->text,
        .name = w->name,
        .line = w->line,
        .arena = a,
        .err = err,
    };
}

static void json_walk_commit_scan(struct pr_json_walk *w,
                                  const struct pr_json_scan *s)
{
    w->pos = s->pos;
    w->text = s->line_start;
    w->line = s->line;
}

int pr_json_walk_enter(struct pr_json_walk *w, char bracket, struct pr_err *err)
{
    struct pr_json_scan s = json_walk_begin_scan(w, NULL, err);

    pr_json_skip_space(&s);
    if (s.pos == s.end || *s.pos != bracket)
        return pr_json_scan_fail(
            &s, s.pos, bracket == '{' ? "expected a map" : "expected a list");
    s.pos++;
    json_walk_commit_scan(w, &s);
    return PR_OK;
}

int pr_json_walk_read(struct pr_json_walk *w, struct pr_arena *a,
                      struct pr_value *ret_value, struct pr_err *err)
{
    struct pr_json_scan s = json_walk_begin_scan(w, a, err);
    int rc = pr_json_scan_value(&s, 0, ret_value);

    if (rc)
        return rc;
    json_walk_commit_scan(w, &s);
    return PR_OK;
}

int pr_json_walk_span(struct pr_json_walk *w, const char **ret_text,
                      size_t *ret_len, struct pr_err *err)
{
    struct pr_json_scan s = json_walk_begin_scan(w, NULL, err);
    const char *start;
    int rc;

    pr_json_skip_space(&s);
    start = s.pos;
    rc = pr_json_scan_skip(&s);
    if (rc)
        return rc;
    json_walk_commit_scan(w, &s);
    *ret_text = start;
    *ret_len = (size_t)(s.pos - start);
    return PR_OK;
}

static int scan_key(struct pr_json_scan *s, const char **ret_key,
                    size_t *ret_len)
{
    uint32_t len;
    int rc;

    if (pr_json_scan_plain(s, ret_key, ret_len))
        return PR_OK;
    rc = pr_json_scan_string(s, ret_key, &len);
    if (!rc)
        *ret_len = len;
    return rc;
}

static int next_key(struct pr_json_scan *s, const char **ret_key,
                    size_t *ret_len)
{
    const char *key;
    size_t len;
    int rc;

    if (*s->pos != '"')
        return pr_json_scan_fail(s, s->pos, "expected a key in double quotes");
    rc = scan_key(s, &key, &len);
    if (rc)
        return rc;
    pr_json_skip_space(s);
    if (s->pos == s->end || *s->pos != ':')
        return pr_json_scan_fail(s, s->pos, "expected ':' after a key");
    s->pos++;
    *ret_key = key;
    *ret_len = len;
    return PR_OK;
}

int pr_json_walk_next(struct pr_json_walk *w, char close, struct pr_arena *a,
                      const char **ret_key, struct pr_err *err)
{
    const char *key = NULL;
    size_t len = 0;
    int rc = pr_json_walk_next_span(w, close, a, &key, &len, err);

    if (rc == 1 && close == '}') {
        *ret_key = pr_arena_copy(a, key, len);
        if (!*ret_key)
            return pr_fail_nomem(err);
    }
    return rc;
}

int pr_json_walk_next_span(struct pr_json_walk *w, char close,
                           struct pr_arena *a, const char **ret_key,
                           size_t *ret_len, struct pr_err *err)
{
    struct pr_json_scan s = json_walk_begin_scan(w, a, err);
    bool first = s.pos > s.line_start && (s.pos[-1] == '[' || s.pos[-1] == '{');
    int rc = PR_OK;

    pr_json_skip_space(&s);
    if (s.pos < s.end && *s.pos == close) {
        s.pos++;
        json_walk_commit_scan(w, &s);
        return 0;
    }
    if (!first && s.pos < s.end) {
        if (*s.pos != ',')
            return pr_json_scan_fail(&s, s.pos,
                                     close == '}' ? "expected ',' or '}'"
                                                  : "expected ',' or ']'");
        s.pos++;
        pr_json_skip_space(&s);
    }
    if (s.pos == s.end)
        return pr_json_scan_fail(&s, s.pos,
                                 "the text ends inside a list or map");
    if (*s.pos == close)
        return pr_json_scan_fail(&s, s.pos,
                                 close == '}'
                                     ? "expected a key in double quotes"
                                     : "expected a value");
    if (close == '}')
        rc = next_key(&s, ret_key, ret_len);
    if (rc)
        return rc;
    json_walk_commit_scan(w, &s);
    return 1;
}
