/*
 * Logs as experiments leave them: parameter lines out of the chatter, and the
 * last lines for a report.
 */
#include "record/log.h"

#include "base/json/json.h"
#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- loops over every byte */

/* Two underscores are rare in what frameworks print, so that is what is looked
 * for, 64 bytes at a time; where a line begins matters only there. */
#if defined(__SSE2__)
#include <emmintrin.h>

enum { WIDE = 16, STEP = 64 };

static __m128i log_load_simd(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Ones where both this byte and the next are c. */
static __m128i log_match_pair_simd(const char *p, __m128i c)
{
    return _mm_and_si128(_mm_cmpeq_epi8(log_load_simd(p), c),
                         _mm_cmpeq_epi8(log_load_simd(p + 1), c));
}

static const char *log_find_pair_simd(const char *p, const char *end)
{
    const __m128i c = _mm_set1_epi8('_');

    for (; end - p > STEP; p += STEP) {
        __m128i a = log_match_pair_simd(p, c),
                b = log_match_pair_simd(p + WIDE, c);
        __m128i d = log_match_pair_simd(p + 2 * WIDE, c),
                e = log_match_pair_simd(p + 3 * WIDE, c);
        __m128i any = _mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(d, e));

        if (_mm_movemask_epi8(any))
            break;
    }
    return p;
}

/* Ends in whole steps from *at on, which is moved behind them; the byte after
 * the last must be there. A \r before a \n is not counted. */
static uint64_t log_count_ends_simd(const char **at, const char *end)
{
    const __m128i nl = _mm_set1_epi8('\n'), cr = _mm_set1_epi8('\r');
    const __m128i zero = _mm_setzero_si128();
    const char *p = *at;
    uint64_t sum[2] = {0, 0};
    __m128i total = zero;

    while (end - p > WIDE) {
        __m128i some = zero; /* bytes that count up to 255 */
        for (int i = 0; i < 255 && end - p > WIDE; i++, p += WIDE) {
            __m128i x = log_load_simd(p);
            __m128i alone =
                _mm_andnot_si128(_mm_cmpeq_epi8(log_load_simd(p + 1), nl),
                                 _mm_cmpeq_epi8(x, cr));
            some =
                _mm_sub_epi8(some, _mm_or_si128(_mm_cmpeq_epi8(x, nl), alone));
        }
        total = _mm_add_epi64(total, _mm_sad_epu8(some, zero));
    }
    _mm_storeu_si128((__m128i *)(void *)sum, total);
    *at = p;
    return sum[0] + sum[1];
}
#else
static const char *log_find_pair_simd(const char *p, const char *end)
{
    (void)end;
    return p;
}

static uint64_t log_count_ends_simd(const char **at, const char *end)
{
    (void)at, (void)end;
    return 0;
}
#endif

/* The first "__"; NULL: there is none. */
static const char *log_find_mark(const char *p, const char *end)
{
    for (p = log_find_pair_simd(p, end); end - p >= 2; p++) {
        p = memchr(p, '_', (size_t)(end - p) - 1);
        if (!p)
            return NULL;
        if (p[1] == '_')
            return p;
    }
    return NULL;
}

/* The first \n or \r; NULL: there is none. */
static const char *log_find_end(const char *p, const char *end)
{
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    const char *cr = memchr(p, '\r', (size_t)((nl ? nl : end) - p));

    return cr ? cr : nl;
}

/* After the last \n or \r, or p. */
static const char *log_last_line(const char *p, const char *end)
{
    const char *nl = memrchr(p, '\n', (size_t)(end - p));
    const char *cr;

    if (nl)
        p = nl + 1;
    cr = memrchr(p, '\r', (size_t)(end - p));
    return cr ? cr + 1 : p;
}

/* How many lines end here: with \n, \r\n or \r. */
static uint64_t log_count_ends(const char *p, const char *end)
{
    uint64_t n = log_count_ends_simd(&p, end);

    for (; p < end; p++)
        n += *p == '\n' || (*p == '\r' && (p + 1 == end || p[1] != '\n'));
    return n;
}

/* ---- the last lines, made safe to show */

#define MAX_LOOK ((size_t)64 << 20)

static bool ends_line(char c)
{
    return c == '\n' || c == '\r';
}

/* Steps over a line end, \r\n being one. */
static const char *after_end(const char *p, const char *end)
{
    if (p + 1 < end && p[0] == '\r' && p[1] == '\n')
        return p + 2;
    return p + 1;
}

/* Steps back over a line end that ends at p. */
static const char *before_end(const char *start, const char *p)
{
    if (p - start >= 2 && p[-1] == '\n' && p[-2] == '\r')
        return p - 2;
    return p - 1;
}

static const char *line_stop(const char *p, const char *end)
{
    while (p < end && !ends_line(*p))
        p++;
    return p;
}

/* Where the last max_lines lines begin. */
static const char *last_lines(const char *start, const char *end,
                              size_t max_lines)
{
    const char *p = end;

    if (p > start && ends_line(p[-1]))
        p = before_end(start, p);
    while (p > start) {
        if (!ends_line(p[-1]))
            p--;
        else if (--max_lines == 0)
            break;
        else
            p = before_end(start, p);
    }
    return p;
}

/* After an escape sequence that begins at p: CSI, OSC, or a short one. */
static const char *after_escape(const char *p, const char *end)
{
    p++;
    if (p < end && *p == '[') {
        for (p++; p < end && *p >= 0x20 && *p <= 0x3f; p++)
            ;
        return p < end && *p >= 0x40 && *p <= 0x7e ? p + 1 : p;
    }
    if (p < end && *p == ']') {
        for (p++; p < end && *p != '\a' && *p != '\x1b'; p++)
            ;
        if (p < end && *p == '\a')
            return p + 1;
        return end - p >= 2 && p[1] == '\\' ? p + 2 : p;
    }
    while (p < end && *p >= 0x20 && *p <= 0x2f)
        p++;
    return p < end && *p >= 0x30 && *p <= 0x7e ? p + 1 : p;
}

/* A control character, or one that turns the direction of text. */
static bool log_is_control(const char *p, size_t n)
{
    const unsigned char *u = (const unsigned char *)p;

    if (n == 1)
        return (u[0] < 0x20 && u[0] != '\t') || u[0] == 0x7f;
    if (n == 2)
        return (u[0] == 0xc2 && u[1] < 0xa0) || (u[0] == 0xd8 && u[1] == 0x9c);
    if (n != 3 || u[0] != 0xe2)
        return false;
    return (u[1] == 0x80 &&
            (u[2] == 0x8e || u[2] == 0x8f || (u[2] >= 0xa8 && u[2] <= 0xae))) ||
           (u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9);
}

static void add_line(struct pr_buf *out, const char *p, const char *end)
{
    while (p < end) {
        size_t n = pr_utf8_len(p, (size_t)(end - p));

        if (*p == '\x1b') {
            p = after_escape(p, end);
            continue;
        }
        if (!n)
            pr_buf_str(out, "\xef\xbf\xbd");
        else if (!log_is_control(p, n))
            pr_buf_add(out, p, n);
        p += n ? n : 1;
    }
    pr_buf_char(out, '\n');
}

/* The first line of the piece, when it begins before it, is left out, unless
 * there is no other; then it begins with a whole character. */
static const char *whole_lines(const char *start, const char *end)
{
    const char *stop = line_stop(start, end);

    if (stop < end && after_end(stop, end) < end)
        return after_end(stop, end);
    for (int i = 0; i < 3 && start < end; i++, start++)
        if (((unsigned char)*start & 0xc0) != 0x80)
            break;
    return start;
}

static int log_read_tail_bytes(int fd, const char *path, char *data, size_t len,
                               off_t from, size_t *ret_len, struct pr_err *err)
{
    size_t used = 0;

    while (used < len) {
        ssize_t n = pread(fd, data + used, len - used, from + (off_t)used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return pr_fail_errno(err, PR_E_IO, path, "cannot read");
        if (n == 0)
            break; /* cut short meanwhile */
        used += (size_t)n;
    }
    *ret_len = used;
    return PR_OK;
}

/* A piece that began after some other bytes has one of them in front. */
static void add_lines(struct pr_buf *out, const char *p, const char *end,
                      bool cut, size_t max_lines)
{
    if (cut && p < end) {
        char before = *p++;
        if (before == '\r' && p < end && *p == '\n')
            p++;
        else if (!ends_line(before))
            p = whole_lines(p, end);
    }
    for (p = last_lines(p, end, max_lines); p < end;) {
        const char *stop = line_stop(p, end);
        add_line(out, p, stop);
        p = after_end(stop, end);
    }
}

static int tail_fd(int fd, const char *path, size_t max_lines, size_t max_bytes,
                   struct pr_buf *out, struct pr_err *err)
{
    size_t len, old_len = out->len;
    bool cut = false;
    struct stat st;
    char *data;
    int rc;

    if (fstat(fd, &st) < 0)
        return pr_fail_errno(err, PR_E_IO, path, "cannot look at");
    if (!S_ISREG(st.st_mode))
        return pr_fail(err, PR_E_IO, path, "is not a regular file");
    len = max_bytes < MAX_LOOK ? max_bytes : MAX_LOOK;
    if ((uint64_t)st.st_size > len) {
        cut = true;
        len++;
    } else {
        len = (size_t)st.st_size;
    }
    data = pr_alloc(len);
    if (!data)
        return pr_fail_nomem(err);
    rc = log_read_tail_bytes(fd, path, data, len, st.st_size - (off_t)len, &len,
                             err);
    if (!rc) {
        add_lines(out, data, data + len, cut, max_lines);
        if (!pr_buf_ok(out)) {
            out->len = old_len;
            rc = pr_fail_nomem(err);
        }
    }
    pr_free(data);
    return rc;
}

int pr_log_tail(const char *path, size_t max_lines, size_t max_bytes,
                struct pr_buf *out, struct pr_err *err)
{
    int fd, rc;

    if (max_lines == 0 || max_bytes == 0)
        return PR_OK;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return pr_fail_errno(err, PR_E_IO, path, "cannot open");
    rc = tail_fd(fd, path, max_lines, max_bytes, out, err);
    close(fd);
    return rc;
}

/* ---- a parameter line */

/*
 * DLBS has a regular expression for it; this is the same by hand, because
 * nearly every line of a log is chatter and is refused at its first two bytes.
 */

struct span {
    const char *start, *end;
};

static bool log_is_blank_char(char c)
{
    return c == ' ' || c == '\t';
}

/* Bytes of the white space at p as Python's str.strip() has it, or 0. */
static size_t space_len(const char *p, const char *end)
{
    static const char wide[][4] = {
        "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\xa8",
        "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80",
    };
    unsigned char c = (unsigned char)*p;
    size_t left = (size_t)(end - p);

    if (c < 0x80)
        return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        size_t n = strlen(wide[i]);
        if (left >= n && memcmp(p, wide[i], n) == 0)
            return n;
    }
    /* U+2000 to U+200A */
    if (left >= 3 && memcmp(p, "\xe2\x80", 2) == 0 &&
        (unsigned char)p[2] >= 0x80 && (unsigned char)p[2] <= 0x8a)
        return 3;
    return 0;
}

static struct span log_strip_space(struct span s)
{
    size_t n = 1;

    while (s.start < s.end && (n = space_len(s.start, s.end)) > 0)
        s.start += n;
    while (s.start < s.end) {
        const char *last = s.end - 1;
        while (last > s.start && ((unsigned char)*last & 0xc0) == 0x80)
            last--;
        n = space_len(last, s.end);
        if (n == 0 || last + n != s.end)
            break;
        s.end = last;
    }
    return s;
}

/* Where the key of a line ends: the first "__" followed by blanks and '='
 * with at least one byte before it. The '=' goes to *ret_equals. */
static const char *find_key_end(const char *start, const char *end,
                                const char **ret_equals)
{
    for (const char *p = start + 1; end - p > 2; p++) {
        const char *q;

        p = memchr(p, '_', (size_t)(end - p));
        if (!p || end - p < 3)
            return NULL;
        if (p[1] != '_')
            continue;
        for (q = p + 2; q < end && log_is_blank_char(*q); q++)
            ;
        if (q < end && *q == '=') {
            *ret_equals = q;
            return p;
        }
    }
    return NULL;
}

static bool log_split_param(const char *line, size_t len, struct span *key,
                            struct span *value)
{
    const char *end = line + len, *equals;

    while (line < end && log_is_blank_char(*line))
        line++;
    if (end - line < 2 || line[0] != '_' || line[1] != '_')
        return false;
    key->start = line + 2;
    key->end = find_key_end(key->start, end, &equals);
    if (!key->end || equals + 1 == end)
        return false;
    *value = (struct span){equals + 1, end};
    return true;
}

static bool is_utf8(struct span s)
{
    while (s.start < s.end) {
        size_t n = pr_utf8_len(s.start, (size_t)(s.end - s.start));
        if (!n)
            return false;
        s.start += n;
    }
    return true;
}

/* How much of s a message can show: no control character, no half one. */
static int log_clip_length(struct span s)
{
    const char *p = s.start;

    while (p < s.end && p - s.start < 60 && (unsigned char)*p >= ' ')
        p += pr_utf8_len(p, (size_t)(s.end - p));
    return (int)(p - s.start);
}

static int log_read_param_value(struct span text, struct pr_arena *a,
                                struct pr_value *ret_value, struct pr_err *err)
{
    struct pr_json_in in = {
        .text = text.start, .len = (size_t)(text.end - text.start), .name = ""};

    if (text.start == text.end) {
        *ret_value = pr_null();
        return PR_OK;
    }
    return pr_json_read(&in, a, ret_value, NULL, err);
}

int pr_log_parse_line(const char *line, size_t len, struct pr_arena *a,
                      const char **ret_key, size_t *ret_key_len,
                      struct pr_value *ret_value, struct pr_err *err)
{
    struct span key, text;
    struct pr_value value;
    int rc;

    if (len == 0 || !log_split_param(line, len, &key, &text))
        return 0;
    key = log_strip_space(key);
    text = log_strip_space(text);
    if (!is_utf8(key) || !is_utf8(text))
        return pr_fail(err, PR_E_FORMAT, "", "is not UTF-8");
    rc = log_read_param_value(text, a, &value, err);
    if (rc == PR_E_FORMAT)
        return pr_fail(
            err, PR_E_FORMAT, "", "the value of '%.*s' is not JSON: '%.*s'",
            log_clip_length(key), key.start, log_clip_length(text), text.start);
    if (rc)
        return rc;
    *ret_key = key.start;
    *ret_key_len = (size_t)(key.end - key.start);
    *ret_value = value;
    return 1;
}

/* ---- a whole log */

/*
 * A parameter line that lies within one piece of input is read where it is;
 * only one that spans pieces is copied, and only as long as it can still be a
 * parameter line. Other lines are not looked at one by one.
 */

enum { PIECE_BYTES = 128 << 10 };

struct pr_log_scanner {
    const char *name;
    pr_log_param *param;
    void *ctx;
    struct pr_arena *arena; /* of one line */
    char *line;             /* the beginning of a line that goes on */
    size_t used, cap;
    uint64_t line_bytes; /* seen of it, kept or not */
    bool judged;         /* its first byte that is not blank was seen */
    bool skip;           /* it is no parameter line, or too long */
    bool after_cr;       /* a \n that comes next belongs to that \r */
    struct pr_log_counts counts;
};

struct pr_log_scanner *pr_log_scanner_new(const char *name, pr_log_param *param,
                                          void *ctx)
{
    struct pr_log_scanner *s = pr_alloc_zeroed(sizeof *s);

    if (!s)
        return NULL;
    *s = (struct pr_log_scanner){.name = name, .param = param, .ctx = ctx};
    s->arena = pr_arena_new(4096);
    if (!s->arena) {
        pr_free(s);
        return NULL;
    }
    return s;
}

void pr_log_scanner_free(struct pr_log_scanner *s)
{
    if (!s)
        return;
    pr_arena_free(s->arena);
    pr_free(s->line);
    pr_free(s);
}

static void log_count_bad(struct pr_log_counts *c, const char *name,
                          const struct pr_err *e)
{
    if (c->bad++ > 0)
        return;
    c->first_bad_line = c->lines;
    c->first_bad = *e;
    snprintf(c->first_bad.where, sizeof c->first_bad.where, "%.200s:%llu", name,
             (unsigned long long)c->lines);
}

static int log_read_line(struct pr_log_scanner *s, const char *line, size_t len,
                         struct pr_err *err)
{
    struct pr_value value;
    struct pr_err e;
    const char *key;
    size_t key_len;
    int rc;

    rc = pr_log_parse_line(line, len, s->arena, &key, &key_len, &value, &e);
    if (rc == 0)
        return PR_OK;
    if (rc == 1) {
        s->counts.params++;
        rc = s->param ? s->param(s->ctx, key, key_len, &value, err) : PR_OK;
    } else if (rc == PR_E_FORMAT) {
        log_count_bad(&s->counts, s->name, &e);
        rc = PR_OK;
    } else if (err) {
        *err = e;
    }
    pr_arena_reset(s->arena);
    return rc;
}

/* Decides by the first byte that is not blank whether the line can be one of
 * a parameter; blanks alone leave it open. */
static void log_judge_line(struct pr_log_scanner *s, const char *p, size_t len)
{
    while (len && (*p == ' ' || *p == '\t')) {
        p++;
        len--;
    }
    if (len) {
        s->judged = true;
        s->skip = *p != '_';
    }
}

static int log_grow_line(struct pr_log_scanner *s, size_t need,
                         struct pr_err *err)
{
    size_t cap = s->cap ? s->cap : PIECE_BYTES;
    char *p;

    while (cap < need)
        cap *= 2;
    p = pr_realloc(s->line, cap);
    if (!p)
        return pr_fail_nomem(err);
    s->line = p;
    s->cap = cap;
    return PR_OK;
}

/* Keeps a part of a line whose end has not come yet, if it is worth it. */
static int log_keep_part(struct pr_log_scanner *s, const char *p, size_t len,
                         struct pr_err *err)
{
    s->line_bytes += len;
    if (!s->judged)
        log_judge_line(s, p, len);
    if (s->line_bytes > PR_LOG_MAX_LINE)
        s->skip = true;
    if (s->skip || !len)
        return PR_OK;
    if (s->used + len > s->cap) {
        int rc = log_grow_line(s, s->used + len, err);
        if (rc)
            return rc;
    }
    memcpy(s->line + s->used, p, len);
    s->used += len;
    return PR_OK;
}

/* A figure is not lost in silence: the line began as one of a parameter. */
static void log_count_long(struct pr_log_scanner *s)
{
    const char *p = s->line, *end = s->line + s->used, *stop;
    struct pr_err e = {0};

    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    stop = memchr(p, '=', (size_t)(end - p));
    if (!stop || end - p < 2 || memcmp(p, "__", 2) != 0)
        return;
    pr_fail(&e, PR_E_FORMAT, "",
            "%.*s takes more than %zu MiB, and is left out",
            (int)(stop - p < 80 ? stop - p : 80), p, PR_LOG_MAX_LINE >> 20);
    log_count_bad(&s->counts, s->name, &e);
}

/* The line ends after these last bytes of it. */
static int log_end_line(struct pr_log_scanner *s, const char *p, size_t len,
                        struct pr_err *err)
{
    int rc = PR_OK;

    s->counts.lines++;
    if (s->line_bytes + len > PR_LOG_MAX_LINE) {
        s->counts.too_long++;
        if (s->used)
            log_count_long(s);
    } else if (!s->line_bytes) {
        rc = log_read_line(s, p, len, err);
    } else {
        rc = log_keep_part(s, p, len, err);
        if (!rc && !s->skip)
            rc = log_read_line(s, s->line, s->used, err);
    }
    s->used = 0;
    s->line_bytes = 0;
    s->judged = false;
    s->skip = false;
    return rc;
}

/* After the end of a line; a \n that may come next belongs to its \r. */
static const char *step_over(struct pr_log_scanner *s, const char *stop,
                             const char *end)
{
    if (*stop == '\r' && stop + 1 < end && stop[1] == '\n')
        return stop + 2;
    s->after_cr = *stop == '\r' && stop + 1 == end;
    return stop + 1;
}

/* The parameter lines that begin and end between p, where a line begins, and
 * end. Ends of lines are counted up to *ret_counted. */
static int log_read_lines(struct pr_log_scanner *s, const char *p,
                          const char *end, const char **ret_counted,
                          struct pr_err *err)
{
    const char *counted = p, *q = p;
    int rc = PR_OK;

    while (!rc && (q = log_find_mark(q, end))) {
        const char *b = q, *stop;

        while (b > p && (b[-1] == ' ' || b[-1] == '\t'))
            b--;
        if (b > p && !ends_line(b[-1])) {
            while (q < end && *q == '_')
                q++;
            continue;
        }
        stop = log_find_end(q, end);
        if (!stop)
            break;
        s->counts.lines += log_count_ends(counted, b) + 1;
        rc = log_read_line(s, q, (size_t)(stop - q), err);
        q = counted = step_over(s, stop, end);
    }
    *ret_counted = counted;
    return rc;
}

/* A part of the input no longer than PIECE_BYTES. */
static int feed_piece(struct pr_log_scanner *s, const char *p, const char *end,
                      struct pr_err *err)
{
    const char *counted, *last;
    int rc = PR_OK;

    if (s->after_cr && *p == '\n')
        p++;
    s->after_cr = false;
    if (s->line_bytes) {
        const char *stop = log_find_end(p, end);
        if (!stop)
            return log_keep_part(s, p, (size_t)(end - p), err);
        rc = log_end_line(s, p, (size_t)(stop - p), err);
        p = step_over(s, stop, end);
    }
    if (!rc)
        rc = log_read_lines(s, p, end, &counted, err);
    if (rc)
        return rc;
    last = log_last_line(counted, end);
    s->counts.lines += log_count_ends(counted, last);
    if (last > counted && last == end && last[-1] == '\r')
        s->after_cr = true;
    return log_keep_part(s, last, (size_t)(end - last), err);
}

int pr_log_scanner_feed(struct pr_log_scanner *s, const char *bytes, size_t len,
                        struct pr_err *err)
{
    int rc = PR_OK;

    while (!rc && len) {
        size_t n = len < PIECE_BYTES ? len : PIECE_BYTES;

        rc = feed_piece(s, bytes, bytes + n, err);
        bytes += n;
        len -= n;
    }
    return rc;
}

int pr_log_scanner_finish(struct pr_log_scanner *s,
                          struct pr_log_counts *ret_counts, struct pr_err *err)
{
    int rc = s->line_bytes ? log_end_line(s, "", 0, err) : PR_OK;

    if (!rc && ret_counts)
        *ret_counts = s->counts;
    return rc;
}

static int log_feed_file(struct pr_log_scanner *s, int fd, char *piece,
                         struct pr_err *err)
{
    for (;;) {
        ssize_t n = read(fd, piece, PIECE_BYTES);
        int rc;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return pr_fail_errno(err, PR_E_IO, s->name, "cannot read");
        if (n == 0)
            return PR_OK;
        rc = pr_log_scanner_feed(s, piece, (size_t)n, err);
        if (rc)
            return rc;
    }
}

/* The same from an open file; name is for errors. */
static int log_scan_fd(int fd, const char *name, pr_log_param *param, void *ctx,
                       struct pr_log_counts *ret_counts, struct pr_err *err)
{
    struct pr_log_scanner *s = pr_log_scanner_new(name, param, ctx);
    char *piece = pr_alloc(PIECE_BYTES);
    int rc;

    rc = s && piece ? log_feed_file(s, fd, piece, err) : pr_fail_nomem(err);
    if (!rc)
        rc = pr_log_scanner_finish(s, ret_counts, err);
    pr_free(piece);
    pr_log_scanner_free(s);
    return rc;
}

int pr_log_scan(const char *path, pr_log_param *param, void *ctx,
                struct pr_log_counts *ret_counts, struct pr_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc;

    if (fd < 0)
        return pr_fail_errno(err, PR_E_IO, path, "cannot open");
    rc = log_scan_fd(fd, path, param, ctx, ret_counts, err);
    close(fd);
    return rc;
}
