/*
 * Python's regular expressions by PCRE2: compiling and matching. What Python
 * and PCRE2 write differently is translated in regex_syntax.c, re.sub is in
 * regex_sub.c. No just-in-time compiler: its memory could not be made to fail
 * in a test, and patterns here are short-lived.
 */
#include "conf/expr/regex.h"

#include "base/mem.h"
#include "conf/expr/regex_internal.h"

#include <string.h>
#include <time.h>

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
    r = re->general ? pr_regex_translate(pattern, len, &text, &re->utf8, err)
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
