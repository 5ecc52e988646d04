/*
 * A whole log, line by line. A line that lies within one piece of input is
 * read where it is; only one that spans pieces is copied, and only as long as
 * it can still be a parameter line.
 */
#include "record/logline.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 64 << 10 };

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

static void note_bad(struct pr_log_counts *c, const char *name,
                     const struct pr_err *e)
{
    if (c->bad++ > 0)
        return;
    c->first_bad_line = c->lines;
    c->first_bad = *e;
    snprintf(c->first_bad.where, sizeof c->first_bad.where, "%.200s:%llu", name,
             (unsigned long long)c->lines);
}

static int look_at(struct pr_log_scanner *s, const char *line, size_t len,
                   struct pr_err *err)
{
    struct pr_value value;
    struct pr_err e;
    const char *key;
    size_t key_len;
    int rc;

    rc = pr_logline_parse(line, len, s->arena, &key, &key_len, &value, &e);
    if (rc == 0)
        return PR_OK;
    if (rc == 1) {
        s->counts.params++;
        rc = s->param ? s->param(s->ctx, key, key_len, &value, err) : PR_OK;
    } else if (rc == PR_E_FORMAT) {
        note_bad(&s->counts, s->name, &e);
        rc = PR_OK;
    } else if (err) {
        *err = e;
    }
    pr_arena_reset(s->arena);
    return rc;
}

/* Decides by the first byte that is not blank whether the line can be one of
 * a parameter; blanks alone leave it open. */
static void judge(struct pr_log_scanner *s, const char *p, size_t len)
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

static int grow(struct pr_log_scanner *s, size_t need, struct pr_err *err)
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
static int keep(struct pr_log_scanner *s, const char *p, size_t len,
                struct pr_err *err)
{
    s->line_bytes += len;
    if (!s->judged)
        judge(s, p, len);
    if (s->line_bytes > PR_LOG_MAX_LINE)
        s->skip = true;
    if (s->skip || !len)
        return PR_OK;
    if (s->used + len > s->cap) {
        int rc = grow(s, s->used + len, err);
        if (rc)
            return rc;
    }
    memcpy(s->line + s->used, p, len);
    s->used += len;
    return PR_OK;
}

/* The line ends after these last bytes of it. */
static int end_line(struct pr_log_scanner *s, const char *p, size_t len,
                    struct pr_err *err)
{
    int rc = PR_OK;

    s->counts.lines++;
    if (s->line_bytes + len > PR_LOG_MAX_LINE) {
        s->counts.too_long++;
    } else if (!s->line_bytes) {
        rc = look_at(s, p, len, err);
    } else {
        rc = keep(s, p, len, err);
        if (!rc && !s->skip)
            rc = look_at(s, s->line, s->used, err);
    }
    s->used = 0;
    s->line_bytes = 0;
    s->judged = false;
    s->skip = false;
    return rc;
}

int pr_log_scanner_feed(struct pr_log_scanner *s, const char *bytes, size_t len,
                        struct pr_err *err)
{
    const char *p = bytes, *end = bytes + len, *nl = NULL;

    while (p < end) {
        const char *stop, *cr;
        int rc;

        if (s->after_cr && *p == '\n')
            p++;
        s->after_cr = false;
        /* Looked for again only when passed: a log of \r alone would make us
         * search the whole piece for each of its lines. */
        if (!nl || nl < p)
            nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl)
            nl = end;
        cr = memchr(p, '\r', (size_t)(nl - p));
        stop = cr ? cr : nl;
        if (stop == end)
            return keep(s, p, (size_t)(end - p), err);
        rc = end_line(s, p, (size_t)(stop - p), err);
        if (rc)
            return rc;
        s->after_cr = *stop == '\r';
        p = stop + 1;
    }
    return PR_OK;
}

int pr_log_scanner_finish(struct pr_log_scanner *s,
                          struct pr_log_counts *ret_counts, struct pr_err *err)
{
    int rc = s->line_bytes ? end_line(s, "", 0, err) : PR_OK;

    if (!rc && ret_counts)
        *ret_counts = s->counts;
    return rc;
}

static int feed_all(struct pr_log_scanner *s, int fd, char *piece,
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

int pr_log_scan_fd(int fd, const char *name, pr_log_param *param, void *ctx,
                   struct pr_log_counts *ret_counts, struct pr_err *err)
{
    struct pr_log_scanner *s = pr_log_scanner_new(name, param, ctx);
    char *piece = pr_alloc(PIECE_BYTES);
    int rc;

    rc = s && piece ? feed_all(s, fd, piece, err) : pr_fail_nomem(err);
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
    rc = pr_log_scan_fd(fd, path, param, ctx, ret_counts, err);
    close(fd);
    return rc;
}
