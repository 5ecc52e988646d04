/* The module os.path, as far as it is about text. */
#include "conf/expr/expr_call.h"

#include <string.h>

/* Where the last part of the path begins. */
static size_t tail_start(const struct pr_expr_value *p)
{
    const char *slash = p->len ? memrchr(p->s, '/', p->len) : NULL;

    return slash ? (size_t)(slash - p->s) + 1 : 0;
}

static struct pr_expr_value path_head(const struct pr_expr_value *p)
{
    size_t n = tail_start(p), all = n;

    while (n && p->s[n - 1] == '/')
        n--;
    return pr_expr_new_str(p->s, n ? n : all); /* '//' stays */
}

static struct pr_expr_value path_tail(const struct pr_expr_value *p)
{
    size_t n = tail_start(p);

    return pr_expr_new_str(p->s + n, p->len - n);
}

static bool path_dirname(struct pr_expr *x, const struct pr_expr_call *c,
                         struct pr_expr_value *ret)
{
    if (!pr_expr_want_str(x, c, 0))
        return false;
    *ret = path_head(&c->a[0]);
    return true;
}

static bool path_basename(struct pr_expr *x, const struct pr_expr_call *c,
                          struct pr_expr_value *ret)
{
    if (!pr_expr_want_str(x, c, 0))
        return false;
    *ret = path_tail(&c->a[0]);
    return true;
}

static bool path_make_pair(struct pr_expr *x, struct pr_expr_value a,
                           struct pr_expr_value b, struct pr_expr_value *ret)
{
    struct pr_expr_value *items = pr_expr_alloc(x, 2 * sizeof *items);

    if (!items)
        return false;
    items[0] = a;
    items[1] = b;
    *ret = (struct pr_expr_value){.kind = EV_TUPLE, .len = 2, .items = items};
    return true;
}

static bool path_split(struct pr_expr *x, const struct pr_expr_call *c,
                       struct pr_expr_value *ret)
{
    return pr_expr_want_str(x, c, 0) &&
           path_make_pair(x, path_head(&c->a[0]), path_tail(&c->a[0]), ret);
}

/* A dot that only dots stand before begins no extension. */
static bool path_splitext(struct pr_expr *x, const struct pr_expr_call *c,
                          struct pr_expr_value *ret)
{
    const struct pr_expr_value *p = &c->a[0];
    size_t dot, from;

    if (!pr_expr_want_str(x, c, 0))
        return false;
    from = tail_start(p);
    while (from < p->len && p->s[from] == '.')
        from++;
    for (dot = p->len; dot > from && p->s[dot - 1] != '.'; dot--)
        ;
    dot = dot > from ? dot - 1 : p->len;
    return path_make_pair(x, pr_expr_new_str(p->s, dot),
                          pr_expr_new_str(p->s + dot, p->len - dot), ret);
}

static bool path_join(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    struct pr_expr_buf b = {.x = x};

    for (uint32_t i = 0; i < c->n; i++) {
        const struct pr_expr_value *part = &c->a[i];

        if (!pr_expr_want_str(x, c, i))
            return false;
        if (part->len && part->s[0] == '/')
            b.len = 0;
        else if (i && b.len && b.p[b.len - 1] != '/')
            pr_expr_buf_add(&b, "/", 1);
        pr_expr_buf_add(&b, part->s, part->len);
        if (x->rc)
            return false;
    }
    return pr_expr_buf_value(&b, ret);
}

/* Takes the last part off, unless there is none or it is '..'. */
static bool step_up(struct pr_expr_buf *b, size_t root)
{
    size_t n = b->len;

    while (n > root && b->p[n - 1] != '/')
        n--;
    if (b->len == root || (b->len - n == 2 && memcmp(b->p + n, "..", 2) == 0))
        return false;
    b->len = n > root ? n - 1 : root;
    return true;
}

static bool path_normalise(struct pr_expr *x, const struct pr_expr_value *p,
                           struct pr_expr_value *ret)
{
    struct pr_expr_buf b = {.x = x};
    const char *s = p->s, *end = s + p->len;
    size_t root = 0;

    while (s < end && *s == '/') {
        s++;
        root++;
    }
    if (root)
        root = root == 2 ? 2 : 1; /* POSIX lets two slashes differ */
    pr_expr_buf_add(&b, "//", root);
    while (s < end && !x->rc) {
        const char *slash = memchr(s, '/', (size_t)(end - s));
        size_t n = (size_t)((slash ? slash : end) - s);
        bool up = n == 2 && memcmp(s, "..", 2) == 0;

        if (n && !(n == 1 && *s == '.') &&
            !(up && (step_up(&b, root) || root))) {
            if (b.len > root)
                pr_expr_buf_add(&b, "/", 1);
            pr_expr_buf_add(&b, s, n);
        }
        s += n + (slash != NULL);
    }
    if (!b.len)
        pr_expr_buf_add(&b, ".", 1);
    return pr_expr_buf_value(&b, ret);
}

static bool path_normpath(struct pr_expr *x, const struct pr_expr_call *c,
                          struct pr_expr_value *ret)
{
    return pr_expr_want_str(x, c, 0) && path_normalise(x, &c->a[0], ret);
}

static bool path_abspath(struct pr_expr *x, const struct pr_expr_call *c,
                         struct pr_expr_value *ret)
{
    const struct pr_expr_def *getcwd_def =
        pr_expr_find_def(&pr_expr_module_os.table, "getcwd", 6);
    struct pr_expr_buf b = {.x = x};
    struct pr_expr_value full;

    if (!pr_expr_want_str(x, c, 0))
        return false;
    if (c->a[0].len && c->a[0].s[0] == '/')
        return path_normalise(x, &c->a[0], ret);
    if (!getcwd_def->fn(x, c, &full))
        return false;
    pr_expr_buf_add(&b, full.s, full.len);
    pr_expr_buf_add(&b, "/", 1);
    pr_expr_buf_add(&b, c->a[0].s, c->a[0].len);
    return pr_expr_buf_value(&b, &full) && path_normalise(x, &full, ret);
}

static bool path_isabs(struct pr_expr *x, const struct pr_expr_call *c,
                       struct pr_expr_value *ret)
{
    if (!pr_expr_want_str(x, c, 0))
        return false;
    *ret = pr_expr_new_bool(c->a[0].len && c->a[0].s[0] == '/');
    return true;
}

static bool path_attr(struct pr_expr *x, const char *name, size_t len,
                      struct pr_expr_value *ret, bool *ret_found)
{
    (void)x;
    *ret_found = pr_expr_is_name(name, len, "sep");
    if (*ret_found)
        *ret = pr_expr_new_str("/", 1);
    return true;
}

static const struct pr_expr_def expr_path_defs[] = {
    {"dirname", path_dirname, 1, 1, "p"},
    {"basename", path_basename, 1, 1, "p"},
    {"abspath", path_abspath, 1, 1, "path"},
    {"splitext", path_splitext, 1, 1, "p"},
    {"join", path_join, 1, PR_EXPR_MANY, NULL},
    {"normpath", path_normpath, 1, 1, "path"},
    {"split", path_split, 1, 1, "p"},
    {"isabs", path_isabs, 1, 1, "s"},
};
static const char *const expr_path_refused[] = {
    "exists",   "isfile",   "isdir",    "islink",     "getsize", "lexists",
    "getmtime", "realpath", "samefile", "expanduser", "ismount", NULL};
const struct pr_expr_module pr_expr_module_os_path = {
    .name = "os.path",
    .table = PR_EXPR_TABLE(expr_path_defs),
    .attr = path_attr,
    .refused = expr_path_refused,
    .refusal = "an expression touches no file",
};
