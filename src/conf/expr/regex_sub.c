/* re.sub: the template of the replacement, and replacing. */
#include "base/mem.h"
#include "base/text.h"
#include "conf/expr/regex_internal.h"

#include <string.h>

struct sub {
    const struct pr_regex *re;
    const char *s;                     /* the text */
    const struct pr_regex_span *spans; /* NULL: only the template is checked */
    struct pr_buf *out;
    bool too_long;
    struct pr_err *err;
};

static int bad_group(struct pr_err *err)
{
    return pr_fail(err, PR_E_CONF, "",
                   "the replacement names a group that is not there");
}

static void regex_write_text(struct sub *b, const char *s, size_t len)
{
    if (len > b->out->max - b->out->len)
        b->too_long = true;
    else
        pr_buf_add(b->out, s, len);
}

static int regex_write_group(struct sub *b, unsigned n)
{
    if (n > b->re->groups)
        return bad_group(b->err);
    if (b->spans && b->spans[n].start != PR_REGEX_NO_SPAN)
        regex_write_text(b, b->s + b->spans[n].start,
                         b->spans[n].end - b->spans[n].start);
    return PR_OK;
}

/* \g<1>, \g<name>: p is after \g. */
static int put_named(struct sub *b, const char **p, const char *end)
{
    const char *close =
        *p < end && **p == '<' ? memchr(*p, '>', (size_t)(end - *p)) : NULL;
    const char *name = *p + 1, *q = name;
    unsigned n = 0;

    if (!close || close == name)
        return pr_fail(b->err, PR_E_CONF, "",
                       "the replacement has '\\g' without its <name>");
    for (; q < close && *q >= '0' && *q <= '9' && n < 100000; q++)
        n = n * 10 + (unsigned)(*q - '0');
    if (q != close) {
        n = pr_regex_find_group(b->re, name, (size_t)(close - name));
        if (!n)
            return bad_group(b->err);
    }
    *p = close + 1;
    return regex_write_group(b, n);
}

static bool is_octal(const char *p, const char *end)
{
    return p < end && *p >= '0' && *p <= '7';
}

/* \1, \12, \0, \012, \101: p is at the first digit. */
static int put_digits(struct sub *b, const char **p, const char *end)
{
    const char *q = *p;
    unsigned n = 0;
    char utf8[4];

    if (*q == '0' ||
        (is_octal(q, end) && is_octal(q + 1, end) && is_octal(q + 2, end))) {
        for (int i = 0; i < 3 && is_octal(q, end); i++)
            n = n * 8 + (unsigned)(*q++ - '0');
        *p = q;
        if (n > 0xff)
            return pr_fail(b->err, PR_E_CONF, "",
                           "octal escape above \\377 in the replacement");
        regex_write_text(b, utf8, pr_utf8_put(utf8, n));
        return PR_OK;
    }
    for (int i = 0; i < 2 && q < end && *q >= '0' && *q <= '9'; i++)
        n = n * 10 + (unsigned)(*q++ - '0');
    *p = q;
    return regex_write_group(b, n);
}

/* p is after the backslash. */
static int regex_write_escape(struct sub *b, const char **p, const char *end)
{
    static const char from[] = "ntrabfv\\", to[] = "\n\t\r\a\b\f\v\\";
    const char *at;
    char c;

    if (*p == end)
        return pr_fail(b->err, PR_E_CONF, "",
                       "a backslash at the end of the replacement");
    c = **p;
    if (c >= '0' && c <= '9')
        return put_digits(b, p, end);
    if (c == 'g') {
        ++*p;
        return put_named(b, p, end);
    }
    at = memchr(from, c, sizeof from - 1);
    if (!at && ((c | 32) >= 'a' && (c | 32) <= 'z'))
        return pr_fail(b->err, PR_E_CONF, "",
                       "unknown escape '\\%c' in the replacement", c);
    if (!at)
        regex_write_text(b, "\\", 1);
    regex_write_text(b, at ? to + (at - from) : *p, 1);
    ++*p;
    return PR_OK;
}

static int put_template(struct sub *b, const char *p, size_t len)
{
    const char *end = p + len;

    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        int r;

        regex_write_text(b, p, (size_t)((slash ? slash : end) - p));
        if (!slash)
            break;
        p = slash + 1;
        r = regex_write_escape(b, &p, end);
        if (r != PR_OK)
            return r;
    }
    return PR_OK;
}

static int replace_all(struct sub *b, struct pr_regex_walk *w,
                       struct pr_regex_span *spans,
                       const struct pr_regex_sub_in *in)
{
    size_t copied = 0;

    for (size_t n = 0; !in->count || n < in->count; n++) {
        int r = pr_regex_walk_next(w, spans, b->err);
        if (r < 0)
            return r;
        if (r == 0)
            break;
        regex_write_text(b, in->s + copied, spans[0].start - copied);
        r = put_template(b, in->repl, in->repl_len);
        if (r != PR_OK)
            return r;
        if (b->too_long || !pr_buf_ok(b->out))
            break;
        copied = spans[0].end;
    }
    regex_write_text(b, in->s + copied, in->len - copied);
    if (b->too_long)
        return pr_fail(b->err, PR_E_CONF, "",
                       "the text after replacing is too long");
    return pr_buf_ok(b->out) ? PR_OK : pr_fail_nomem(b->err);
}

/* A bad template is an error even when nothing matches. */
static int check_template(const struct pr_regex *re, const char *repl,
                          size_t len, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf nowhere = PR_BUF_INIT(0);
    struct sub b = {.re = re, .out = &nowhere, .err = err};

    if (!len || !memchr(repl, '\\', len))
        return PR_OK;
    return put_template(&b, repl, len);
}

int pr_regex_sub_some(const struct pr_regex *re,
                      const struct pr_regex_sub_in *in, struct pr_buf *out,
                      struct pr_err *err)
{
    struct sub b = {.re = re, .s = in->s, .out = out, .err = err};
    struct pr_regex_span *spans = NULL;
    struct pr_regex_walk *w = NULL;
    size_t len = out->len;
    int r = check_template(re, in->repl, in->repl_len, err);

    if (r != PR_OK)
        return r;
    spans = pr_alloc((re->groups + 1) * sizeof *spans);
    r = spans ? pr_regex_walk_new(re, in->s, in->len, &w, err)
              : pr_fail_nomem(err);
    b.spans = spans;
    if (r == PR_OK)
        r = replace_all(&b, w, spans, in);
    pr_regex_walk_free(w);
    pr_free(spans);
    if (r != PR_OK) {
        out->len = len;
        out->failed = false;
        if (out->data)
            out->data[len] = '\0';
    }
    return r;
}

int pr_regex_sub(const struct pr_regex *re, const char *repl, size_t repl_len,
                 const char *s, size_t len, struct pr_buf *out,
                 struct pr_err *err)
{
    struct pr_regex_sub_in in = {repl, repl_len, s, len, 0};

    return pr_regex_sub_some(re, &in, out, err);
}
