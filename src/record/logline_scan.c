/*
 * A whole log. A parameter line that lies within one piece of input is read
 * where it is; only one that spans pieces is copied, and only as long as it can
 * still be a parameter line. Other lines are not looked at one by one.
 */
#include "base/mem.h"
#include "record/logline.h"
#include "record/logline_find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

static bool log_is_line_end(char c)
{
    return c == '\n' || c == '\r';
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

    while (!rc && (q = pr_log_find_mark(q, end))) {
        const char *b = q, *stop;

        while (b > p && (b[-1] == ' ' || b[-1] == '\t'))
            b--;
        if (b > p && !log_is_line_end(b[-1])) {
            while (q < end && *q == '_')
                q++;
            continue;
        }
        stop = pr_log_find_end(q, end);
        if (!stop)
            break;
        s->counts.lines += pr_log_count_ends(counted, b) + 1;
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
        const char *stop = pr_log_find_end(p, end);
        if (!stop)
            return log_keep_part(s, p, (size_t)(end - p), err);
        rc = log_end_line(s, p, (size_t)(stop - p), err);
        p = step_over(s, stop, end);
    }
    if (!rc)
        rc = log_read_lines(s, p, end, &counted, err);
    if (rc)
        return rc;
    last = pr_log_last_line(counted, end);
    s->counts.lines += pr_log_count_ends(counted, last);
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
