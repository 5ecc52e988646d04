/*
 * Python's regular expressions by PCRE2: translating what both write
 * differently, compiling, matching, and re.sub. No just-in-time compiler: its
 * memory could not be made to fail in a test, and patterns here are
 * short-lived.
 */
#include "conf/expr/regex.h"

#include "base/mem.h"
#include "base/text.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>
#include <time.h>

struct pr_regex {
    pcre2_general_context *general; /* our allocator */
    pcre2_match_context *match;     /* the limits; read only */
    pcre2_code *code;
    uint32_t groups;
    bool utf8;
};

/* ---- from Python's pattern to PCRE2's
 * They agree on nearly everything; what differs is rewritten (\Z, \v, \uXXXX,
 * {,n}, [ in a class), and what only PCRE2 knows is refused as Python refuses
 * it: (*VERB), (?R), \K, \Q and so on, some of which would get around our
 * limits. */

struct scan {
    const char *text, *p, *end;
    struct pr_buf *out;
    struct pr_err *err;
};

static int regex_fail_syntax(struct scan *s, const char *what)
{
    return pr_fail(s->err, PR_E_CONF, "",
                   "bad regular expression near character %zu: %s",
                   (size_t)(s->p - s->text) + 1, what);
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/* \xhh, \uhhhh, \Uhhhhhhhh: exactly so many digits. */
static int regex_translate_code(struct scan *s, int digits)
{
    for (int i = 0; i < digits; i++)
        if (s->end - s->p < 3 + i || !is_hex(s->p[2 + i]))
            return regex_fail_syntax(s, "incomplete \\x, \\u or \\U");
    pr_buf_printf(s->out, "\\x{%.*s}", digits, s->p + 2);
    s->p += 2 + digits;
    return PR_OK;
}

static int regex_translate_escape(struct scan *s, bool in_class)
{
    char c;

    if (s->end - s->p < 2)
        return regex_fail_syntax(s, "a backslash at the end");
    c = s->p[1];
    if (c == 'x' || c == 'u' || c == 'U')
        return regex_translate_code(s, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    if (((c | 32) >= 'a' && (c | 32) <= 'z') &&
        !strchr(in_class ? "bdDsSwWafnrtv" : "AbBdDsSwWZafnrtv", c))
        return regex_fail_syntax(s, "unknown escape");
    if (c == 'Z')
        pr_buf_str(s->out, "\\z");
    else if (c == 'v')
        pr_buf_str(s->out, "\\x0b");
    else
        pr_buf_add(s->out, s->p, 2);
    s->p += 2;
    return PR_OK;
}

static int regex_translate_class(struct scan *s)
{
    pr_buf_char(s->out, *s->p++);
    if (s->p < s->end && *s->p == '^')
        pr_buf_char(s->out, *s->p++);
    if (s->p < s->end && *s->p == ']') {
        pr_buf_str(s->out, "\\]");
        s->p++;
    }
    while (s->p < s->end && *s->p != ']') {
        /* [: and the like are nothing special in Python. */
        if (*s->p == '[' || *s->p == ':' || *s->p == '.' || *s->p == '=') {
            pr_buf_printf(s->out, "\\%c", *s->p++);
        } else if (*s->p == '\\') {
            int r = regex_translate_escape(s, true);
            if (r != PR_OK)
                return r;
        } else {
            pr_buf_char(s->out, *s->p++);
        }
    }
    if (s->p == s->end)
        return regex_fail_syntax(s, "unterminated character set");
    pr_buf_char(s->out, *s->p++);
    return PR_OK;
}

/* (?#...): left out. */
static int regex_skip_comment(struct scan *s)
{
    const char *close = memchr(s->p, ')', (size_t)(s->end - s->p));

    if (!close)
        return regex_fail_syntax(s, "missing ), unterminated comment");
    s->p = close + 1;
    return PR_OK;
}

/* (?i), (?i:...), (?-i:...): 'u' is how we match anyway. */
static int regex_translate_flags(struct scan *s)
{
    const char *p = s->p + 2;

    pr_buf_str(s->out, "(?");
    for (; p < s->end && *p != ')' && *p != ':'; p++) {
        if (!strchr("imsxu-", *p) || !*p)
            return regex_fail_syntax(s, "unknown extension after (?");
        if (*p != 'u')
            pr_buf_char(s->out, *p);
    }
    if (p == s->end)
        return regex_fail_syntax(s, "missing )");
    pr_buf_char(s->out, *p);
    s->p = p + 1;
    return PR_OK;
}

static int regex_translate_group(struct scan *s)
{
    size_t left = (size_t)(s->end - s->p);

    if (left > 1 && s->p[1] == '*')
        return regex_fail_syntax(s, "nothing to repeat");
    if (left < 2 || s->p[1] != '?') {
        pr_buf_char(s->out, *s->p++);
        return PR_OK;
    }
    if (left < 3)
        return regex_fail_syntax(s, "unexpected end of pattern");
    if (s->p[2] == '#')
        return regex_skip_comment(s);
    if (strchr("imsxu-", s->p[2]))
        return regex_translate_flags(s);
    if ((s->p[2] == 'P' && (left < 4 || !strchr("<=", s->p[3]))) ||
        (s->p[2] == '<' && (left < 4 || !strchr("=!", s->p[3]))))
        return regex_fail_syntax(s, "unknown extension after (?");
    if (s->p[2] == '(' && left > 3 && (s->p[3] == 'R' || s->p[3] == '?'))
        return regex_fail_syntax(s, "bad group after (?(");
    if (!strchr(":=!<>P(", s->p[2]))
        return regex_fail_syntax(s, "unknown extension after (?");
    /* '(?(' whole, or the condition would be taken for a group. */
    pr_buf_add(s->out, s->p, 3);
    s->p += 3;
    return PR_OK;
}

/* {,n} is {0,n} in Python. */
static void regex_translate_brace(struct scan *s)
{
    const char *p = s->p + 1;

    pr_buf_char(s->out, '{');
    if (p < s->end && *p == ',') {
        const char *q = p + 1;
        while (q < s->end && *q >= '0' && *q <= '9')
            q++;
        if (q < s->end && *q == '}')
            pr_buf_char(s->out, '0');
    }
    s->p++;
}

static int regex_translate_item(struct scan *s)
{
    switch (*s->p) {
    case '\\':
        return regex_translate_escape(s, false);
    case '[':
        return regex_translate_class(s);
    case '(':
        return regex_translate_group(s);
    case '{':
        regex_translate_brace(s);
        return PR_OK;
    default:
        pr_buf_char(s->out, *s->p++);
        return PR_OK;
    }
}

static bool valid_utf8(const char *s, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t n = pr_utf8_len(s + i, len - i);
        if (!n)
            return false;
        i += n;
    }
    return true;
}

/* Python's pattern as PCRE2 wants it, appended to out. *ret_utf8 is whether
 * the pattern is valid UTF-8. */
static int regex_translate(const char *pattern, size_t len, struct pr_buf *out,
                           bool *ret_utf8, struct pr_err *err)
{
    struct scan s = {pattern, pattern, pattern + len, out, err};

    if (len > out->max / 8)
        return pr_fail(err, PR_E_CONF, "",
                       "the regular expression is too long");
    *ret_utf8 = valid_utf8(pattern, len);
    while (s.p < s.end) {
        int r = regex_translate_item(&s);
        if (r != PR_OK)
            return r;
    }
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}

enum {
    MATCH_STEPS = 200000,    /* at one starting place */
    HEAP_KIB = 16 * 1024,    /* for backtracking */
    PIECE = 64,              /* starting places in one call */
    PIECES_FROM_BYTES = 512, /* shorter texts go in one call */
    CALLS_PER_LOOK = 4,
    WALK_NS = 500 * 1000 * 1000, /* of one search, or one re.sub as a whole */
};

#define TEXT_OF(x) #x
#define DOTTED(major, minor) TEXT_OF(major) "." TEXT_OF(minor)

const char *pr_regex_version(void)
{
    return DOTTED(PCRE2_MAJOR, PCRE2_MINOR);
}

static void *regex_alloc(size_t bytes, void *unused)
{
    (void)unused;
    return pr_alloc(bytes);
}

static void give_back(void *p, void *unused)
{
    (void)unused;
    pr_free(p);
}

static int compile_failed(int code, size_t offset, struct pr_err *err)
{
    PCRE2_UCHAR text[160];

    if (code == PCRE2_ERROR_HEAP_FAILED)
        return pr_fail_nomem(err);
    pcre2_get_error_message(code, text, sizeof text);
    return pr_fail(err, PR_E_CONF, "",
                   "bad regular expression near character %zu: %s", offset + 1,
                   (const char *)text);
}

static int regex_compile(struct pr_regex *re, const struct pr_buf *pattern,
                         unsigned flags, struct pr_err *err)
{
    uint32_t options = PCRE2_USE_OFFSET_LIMIT;
    pcre2_compile_context *cc = pcre2_compile_context_create(re->general);
    int code;
    size_t offset;

    if (!cc)
        return pr_fail_nomem(err);
    pcre2_set_newline(cc, PCRE2_NEWLINE_LF);
    pcre2_set_parens_nest_limit(cc, 100);
    if (re->utf8)
        options |= PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF;
    if (flags & PR_REGEX_IGNORE_CASE)
        options |= PCRE2_CASELESS;
    if (flags & PR_REGEX_MULTILINE)
        options |= PCRE2_MULTILINE;
    if (flags & PR_REGEX_DOTALL)
        options |= PCRE2_DOTALL;
    re->code = pcre2_compile((PCRE2_SPTR)(pattern->data ? pattern->data : ""),
                             pattern->len, options, &code, &offset, cc);
    pcre2_compile_context_free(cc);
    return re->code ? PR_OK : compile_failed(code, offset, err);
}

static int set_limits(struct pr_regex *re, struct pr_err *err)
{
    re->match = pcre2_match_context_create(re->general);
    if (!re->match)
        return pr_fail_nomem(err);
    pcre2_set_match_limit(re->match, MATCH_STEPS);
    pcre2_set_depth_limit(re->match, MATCH_STEPS);
    pcre2_set_heap_limit(re->match, HEAP_KIB);
    return PR_OK;
}

int pr_regex_new(const char *pattern, size_t len, unsigned flags,
                 struct pr_regex **ret_re, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);
    struct pr_regex *re = pr_alloc_zeroed(sizeof *re);
    int r;

    if (!re)
        return pr_fail_nomem(err);
    re->general = pcre2_general_context_create(regex_alloc, give_back, NULL);
    r = re->general ? regex_translate(pattern, len, &text, &re->utf8, err)
                    : pr_fail_nomem(err);
    if (r == PR_OK)
        r = regex_compile(re, &text, flags, err);
    if (r == PR_OK)
        r = set_limits(re, err);
    if (r != PR_OK) {
        pr_regex_free(re);
        return r;
    }
    pcre2_pattern_info(re->code, PCRE2_INFO_CAPTURECOUNT, &re->groups);
    *ret_re = re;
    return PR_OK;
}

void pr_regex_free(struct pr_regex *re)
{
    if (!re)
        return;
    pcre2_match_context_free(re->match);
    pcre2_code_free(re->code);
    pcre2_general_context_free(re->general);
    pr_free(re);
}

unsigned pr_regex_group_count(const struct pr_regex *re)
{
    return re->groups;
}

unsigned pr_regex_find_group(const struct pr_regex *re, const char *name,
                             size_t len)
{
    char copy[40]; /* PCRE2 allows names of 32 */
    int n;

    if (len >= sizeof copy)
        return 0;
    memcpy(copy, name, len);
    copy[len] = '\0';
    n = pcre2_substring_number_from_name(re->code, (PCRE2_SPTR)copy);
    return n > 0 ? (unsigned)n : 0;
}

static int match_failed(int code, struct pr_err *err)
{
    PCRE2_UCHAR text[160];

    switch (code) {
    case PCRE2_ERROR_NOMEMORY:
        return pr_fail_nomem(err);
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_HEAPLIMIT:
        return pr_fail(err, PR_E_CONF, "",
                       "the regular expression takes too long on this text");
    default:
        pcre2_get_error_message(code, text, sizeof text);
        return pr_fail(err, PR_E_CONF, "", "regular expression failed: %s",
                       (const char *)text);
    }
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct pr_regex_walk {
    const struct pr_regex *re;
    const char *s;
    size_t len, from;
    uint32_t options;
    unsigned calls;  /* of PCRE2 since the clock was looked at */
    int64_t used_ns; /* before that; 0: the clock was not looked at yet */
    pcre2_match_data *data;
};

static int walk_init(struct pr_regex_walk *w, const struct pr_regex *re,
                     const char *s, size_t len, struct pr_err *err)
{
    *w = (struct pr_regex_walk){.re = re, .s = s, .len = len};
    w->data = pcre2_match_data_create_from_pattern(re->code, re->general);
    return w->data ? PR_OK : pr_fail_nomem(err);
}

/* Whether the walk has had its time. A look at the clock costs as much as a
 * short match, hence not every time. */
static bool out_of_time(struct pr_regex_walk *w)
{
    if (++w->calls < CALLS_PER_LOOK)
        return false;
    w->calls = 0;
    if (!w->used_ns) {
        w->used_ns = now_ns();
        return false;
    }
    return now_ns() - w->used_ns > WALK_NS;
}

/* PCRE2's limit is for one starting place, so a long text is searched in
 * pieces with a look at the clock between them. */
static int search_pieces(struct pr_regex_walk *w)
{
    const struct pr_regex *re = w->re;
    pcre2_match_context *m = pcre2_match_context_copy(re->match);
    size_t from = w->from;
    uint32_t options = w->options;
    int n = PCRE2_ERROR_NOMEMORY;

    while (m) {
        pcre2_set_offset_limit(m, from + PIECE);
        n = pcre2_match(re->code, (PCRE2_SPTR)w->s, w->len, from, options,
                        w->data, m);
        if (n != PCRE2_ERROR_NOMATCH || w->len - from <= PIECE)
            break;
        from += PIECE;
        /* Not into the middle of a character. */
        while (re->utf8 && from < w->len &&
               ((unsigned char)w->s[from] & 0xc0) == 0x80)
            from++;
        options &= ~(uint32_t)PCRE2_NOTEMPTY_ATSTART;
        if (out_of_time(w)) {
            n = PCRE2_ERROR_MATCHLIMIT;
            break;
        }
    }
    pcre2_match_context_free(m);
    return n;
}

static void copy_spans(const struct pr_regex_walk *w,
                       struct pr_regex_span *spans)
{
    const PCRE2_SIZE *v = pcre2_get_ovector_pointer(w->data);

    for (unsigned i = 0; i <= w->re->groups; i++) {
        spans[i].start = v[2 * i] == PCRE2_UNSET ? PR_REGEX_NO_SPAN : v[2 * i];
        spans[i].end =
            v[2 * i] == PCRE2_UNSET ? PR_REGEX_NO_SPAN : v[2 * i + 1];
    }
}

static int walk_next(struct pr_regex_walk *w, struct pr_regex_span *spans,
                     struct pr_err *err)
{
    bool long_search =
        !(w->options & PCRE2_ANCHORED) && w->len - w->from > PIECES_FROM_BYTES;
    const PCRE2_SIZE *v = pcre2_get_ovector_pointer(w->data);
    int n;

    if (out_of_time(w))
        n = PCRE2_ERROR_MATCHLIMIT;
    else if (long_search)
        n = search_pieces(w);
    else
        n = pcre2_match(w->re->code, (PCRE2_SPTR)w->s, w->len, w->from,
                        w->options, w->data, w->re->match);
    if (n == PCRE2_ERROR_NOMATCH)
        return 0;
    if (n < 0)
        return match_failed(n, err);
    if (spans)
        copy_spans(w, spans);
    w->from = v[1];
    w->options = v[0] == v[1] ? PCRE2_NOTEMPTY_ATSTART : 0;
    return 1;
}

int pr_regex_walk_new(const struct pr_regex *re, const char *s, size_t len,
                      struct pr_regex_walk **ret_walk, struct pr_err *err)
{
    struct pr_regex_walk *w = pr_alloc(sizeof *w);
    int r = w ? walk_init(w, re, s, len, err) : pr_fail_nomem(err);

    if (r == PR_OK)
        *ret_walk = w;
    else
        pr_free(w);
    return r;
}

void pr_regex_walk_free(struct pr_regex_walk *w)
{
    if (!w)
        return;
    pcre2_match_data_free(w->data);
    pr_free(w);
}

int pr_regex_walk_next(struct pr_regex_walk *w, struct pr_regex_span *spans,
                       struct pr_err *err)
{
    return walk_next(w, spans, err);
}

static int regex_walk_once(struct pr_regex_walk *w, struct pr_regex_span *spans,
                           struct pr_err *err)
{
    int r = walk_next(w, spans, err);

    pcre2_match_data_free(w->data);
    return r;
}

int pr_regex_match(const struct pr_regex *re, const char *s, size_t len,
                   struct pr_regex_span *spans, struct pr_err *err)
{
    struct pr_regex_walk w;
    int r = walk_init(&w, re, s, len, err);

    w.options = PCRE2_ANCHORED;
    return r == PR_OK ? regex_walk_once(&w, spans, err) : r;
}

int pr_regex_search(const struct pr_regex *re, const char *s, size_t len,
                    size_t from, struct pr_regex_span *spans,
                    struct pr_err *err)
{
    struct pr_regex_walk w;
    int r;

    if (from > len)
        return 0;
    r = walk_init(&w, re, s, len, err);
    w.from = from;
    return r == PR_OK ? regex_walk_once(&w, spans, err) : r;
}

/* ---- re.sub: the template of the replacement, and replacing */

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

int pr_regex_sub(const struct pr_regex *re, const struct pr_regex_sub_in *in,
                 struct pr_buf *out, struct pr_err *err)
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
