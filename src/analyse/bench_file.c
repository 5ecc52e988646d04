/*
 * A file on its way to the intake: plain bytes, gzip, and tar archives, whose
 * members are files in turn. Large JSON is mapped and read where it lies.
 */
#include "analyse/bench_impl.h"
#include "analyse/rundata.h"
#include "base/deflate.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PIECE = PR_BENCH_PIECE,
    BLOCK = 512, /* of tar */
};

/* ---- tar */

struct tar {
    char head[BLOCK];
    size_t have;   /* of the head */
    uint64_t left; /* of the member, then of its padding */
    uint64_t pad;
    bool ended;
    char name[4096];
    char next_name[4096]; /* from a long-name member; "": none */
    size_t next_len;
    enum { HEADER, LONG_NAME, MEMBER, SKIP, PADDING } state;
};

struct stream {
    struct pr_bench_reader *r;
    struct pr_bench_item *item;
    struct pr_bench_intake *in; /* of the file, or of the member */
    char first[BLOCK];          /* bytes that tell whether it is an archive */
    size_t have;
    bool told;
    struct tar *tar; /* NULL: it is none */
};

static bool is_tar(const char *head, size_t len)
{
    return len >= BLOCK && memcmp(head + 257, "ustar", 5) == 0;
}

/* Octal, or, with the high bit set, eight big-endian bytes at the end. */
static uint64_t tar_number(const char *p, size_t len)
{
    uint64_t n = 0;

    if ((unsigned char)p[0] & 0x80) {
        for (size_t i = len - 8; i < len; i++)
            n = n << 8 | (unsigned char)p[i];
        return n;
    }
    for (size_t i = 0; i < len && p[i] && p[i] != ' '; i++) {
        if (p[i] < '0' || p[i] > '7')
            return UINT64_MAX;
        n = n << 3 | (uint64_t)(p[i] - '0');
    }
    return n;
}

static void tar_name(struct tar *t)
{
    const char *h = t->head;

    if (t->next_len) {
        memcpy(t->name, t->next_name, sizeof t->name);
        t->next_len = 0;
    } else if (h[345]) {
        snprintf(t->name, sizeof t->name, "%.155s/%.100s", h + 345, h);
    } else {
        snprintf(t->name, sizeof t->name, "%.100s", h);
    }
}

static int open_member(struct stream *s, struct pr_err *err)
{
    char *name =
        pr_arena_printf(s->r->arena, "%s/%s", s->item->path, s->tar->name);

    if (!name)
        return pr_fail_nomem(err);
    /* Nothing else in there holds what a parsed list has. */
    s->in = pr_bench_intake_new(s->r, name, PR_BENCH_FILE, err);
    return s->in ? PR_OK : PR_E_NOMEM;
}

static int tar_header(struct stream *s, struct pr_err *err)
{
    struct tar *t = s->tar;
    char kind = t->head[156];

    t->have = 0;
    if (!t->head[0]) {
        t->ended = true; /* zeros are the end */
        return PR_OK;
    }
    t->left = tar_number(t->head + 124, 12);
    if (!is_tar(t->head, BLOCK) || t->left > (uint64_t)1 << 50)
        return pr_fail(err, PR_E_FORMAT, s->item->path,
                       "a damaged archive: no member begins after '%.100s'",
                       t->name);
    t->pad = (BLOCK - t->left % BLOCK) % BLOCK;
    if (kind == 'L') {
        t->state = LONG_NAME;
        t->next_len = 0;
        return PR_OK;
    }
    tar_name(t);
    t->state = SKIP;
    if ((kind == '0' || !kind) && pr_bench_worth(t->name)) {
        t->state = MEMBER;
        return open_member(s, err);
    }
    return PR_OK;
}

static int end_member(struct stream *s, struct pr_err *err)
{
    struct pr_bench_intake *in = s->in;

    s->in = NULL;
    return in ? pr_bench_intake_end(in, err) : PR_OK;
}

static void keep_name(struct tar *t, const char *p, size_t n)
{
    size_t room = sizeof t->next_name - 1 - t->next_len;

    if (n > room)
        n = room;
    memcpy(t->next_name + t->next_len, p, n);
    t->next_len += n;
    t->next_name[t->next_len] = '\0';
}

static int tar_feed(struct stream *s, const char *p, size_t len,
                    struct pr_err *err)
{
    struct tar *t = s->tar;
    int rc = PR_OK;

    while (!rc && len && !t->ended) {
        size_t n;

        if (t->state == HEADER) {
            n = len < BLOCK - t->have ? len : BLOCK - t->have;
            memcpy(t->head + t->have, p, n);
            t->have += n;
            if (t->have == BLOCK)
                rc = tar_header(s, err);
        } else {
            n = len < t->left ? len : (size_t)t->left;
            t->left -= n;
            if (t->state == LONG_NAME)
                keep_name(t, p, n);
            else if (t->state == MEMBER && n)
                rc = pr_bench_intake_feed(s->in, p, n, err);
        }
        p += n;
        len -= n;
        if (t->state != HEADER && !t->left && !rc) {
            if (t->state == MEMBER)
                rc = end_member(s, err);
            t->left = t->pad;
            t->pad = 0;
            t->state = t->left ? PADDING : HEADER;
        }
    }
    return rc;
}

/* ---- a stream of bytes */

static int feed_told(struct stream *s, const char *p, size_t len,
                     struct pr_err *err)
{
    return s->tar ? tar_feed(s, p, len, err)
                  : pr_bench_intake_feed(s->in, p, len, err);
}

static int tell(struct stream *s, struct pr_err *err)
{
    s->told = true;
    if (is_tar(s->first, s->have)) {
        s->tar = pr_alloc_zeroed(sizeof *s->tar);
        return s->tar ? PR_OK : pr_fail_nomem(err);
    }
    s->in = pr_bench_intake_new(s->r, s->item->path, s->item->kind, err);
    return s->in ? PR_OK : PR_E_NOMEM;
}

static int feed(struct stream *s, const char *p, size_t len, struct pr_err *err)
{
    size_t n;
    int rc;

    if (s->told)
        return feed_told(s, p, len, err);
    n = len < BLOCK - s->have ? len : BLOCK - s->have;
    memcpy(s->first + s->have, p, n);
    s->have += n;
    if (s->have < BLOCK)
        return PR_OK;
    rc = tell(s, err);
    if (!rc)
        rc = feed_told(s, s->first, BLOCK, err);
    return rc ? rc : feed_told(s, p + n, len - n, err);
}

static int finish(struct stream *s, struct pr_err *err)
{
    int rc = PR_OK;

    if (!s->told) {
        rc = tell(s, err);
        if (!rc)
            rc = feed_told(s, s->first, s->have, err);
    }
    return rc ? rc : end_member(s, err);
}

/* ---- files */

static ssize_t read_some(int fd, char *buf)
{
    ssize_t n;

    do
        n = read(fd, buf, PIECE);
    while (n < 0 && errno == EINTR);
    return n;
}

static int feed_inflated(struct stream *s, struct pr_inflate *z, char *out,
                         const char *p, size_t len, enum pr_inflate_end *end,
                         struct pr_err *err)
{
    const uint8_t *in = (const uint8_t *)p;

    for (;;) {
        size_t got = PIECE;
        int rc;

        *end = pr_inflate_run(z, &in, &len, (uint8_t *)out, &got);
        rc = feed(s, out, got, err);
        if (rc || *end == PR_INFLATE_BAD)
            return rc;
        if (got < PIECE && (!len || *end == PR_INFLATE_END))
            return PR_OK;
    }
}

/* From the first piece on. What comes before damage is read. */
static int pump_gzip(struct stream *s, int fd, char *buf, ssize_t n,
                     struct pr_err *ret_bad, struct pr_err *err)
{
    struct pr_inflate *z = pr_inflate_new();
    char *out = pr_alloc(PIECE);
    enum pr_inflate_end end = PR_INFLATE_MORE;
    int rc = z && out ? PR_OK : pr_fail_nomem(err);

    if (!rc)
        pr_inflate_start(z, PR_WRAP_GZIP);
    while (!rc && n > 0 && end != PR_INFLATE_BAD) {
        rc = feed_inflated(s, z, out, buf, (size_t)n, &end, err);
        if (!rc && end != PR_INFLATE_BAD)
            n = read_some(fd, buf);
    }
    if (!rc && n < 0)
        pr_fail_errno(ret_bad, PR_E_IO, s->item->path, "cannot read");
    else if (!rc && end != PR_INFLATE_END)
        pr_fail(ret_bad, PR_E_FORMAT, s->item->path,
                "the gzip data is damaged or cut short");
    pr_inflate_free(z);
    pr_free(out);
    return rc;
}

static int pump_plain(struct stream *s, int fd, char *buf, ssize_t n,
                      struct pr_err *ret_bad, struct pr_err *err)
{
    int rc = PR_OK;

    while (!rc && n > 0) {
        rc = feed(s, buf, (size_t)n, err);
        if (!rc)
            n = read_some(fd, buf);
    }
    if (!rc && n < 0)
        pr_fail_errno(ret_bad, PR_E_IO, s->item->path, "cannot read");
    return rc;
}

/* A plain JSON file of some size: no copy. 1: done. */
static int take_mapped(struct stream *s, int fd, const char *head, ssize_t n,
                       struct pr_err *err)
{
    struct stat st;
    struct pr_view view;
    struct pr_err e = {0};
    int rc;

    for (; n > 0 && strchr(" \t\r\n", *head); n--)
        head++;
    if (n < 16 || (*head != '{' && *head != '[') ||
        memcmp(head, "{\"event\"", 8) == 0 || fstat(fd, &st) ||
        !S_ISREG(st.st_mode) || st.st_size <= PIECE)
        return 0;
    rc = pr_file_map(s->item->path, &view, err);
    if (rc)
        return rc;
    if (s->item->parts) {
        s->r->counts.files += !s->item->part;
        rc = pr_bench_document_part(s->r, s->item, view.data, view.len, err);
        pr_file_unmap(&view);
        return rc ? rc : 1;
    }
    s->r->counts.files++;
    rc = pr_bench_document(s->r, s->item->path, view.data, view.len,
                           s->item->kind, &e);
    rc = pr_bench_judge(s->r, s->item->path, view.data, view.len, rc, &e,
                        s->item->kind, err);
    pr_file_unmap(&view);
    return rc ? rc : 1;
}

static int pump(struct stream *s, int fd, struct pr_err *ret_bad,
                struct pr_err *err)
{
    char *buf = s->r->piece;
    ssize_t n = read_some(fd, buf);
    int rc;

    if (n > 2 && buf[0] == '\x1f' && (unsigned char)buf[1] == 0x8b) {
        rc = pump_gzip(s, fd, buf, n, ret_bad, err);
    } else {
        rc = take_mapped(s, fd, buf, n, err);
        if (rc)
            return rc == 1 ? PR_OK : rc;
        rc = pump_plain(s, fd, buf, n, ret_bad, err);
    }
    return rc ? rc : finish(s, err);
}

static int read_file(struct pr_bench_reader *r, struct pr_bench_item *item,
                     struct pr_err *err)
{
    struct stream s = {.r = r, .item = item};
    int fd = open(item->path, O_RDONLY | O_CLOEXEC);
    struct pr_err bad = {0};
    int rc;

    if (fd < 0) {
        pr_fail_errno(&bad, PR_E_IO, item->path, "cannot open");
        rc = PR_OK;
    } else {
        rc = pump(&s, fd, &bad, err);
        close(fd);
    }
    pr_bench_intake_free(s.in);
    pr_free(s.tar);
    /* Of the archive, not of us: the rest of the files does not care. */
    if (rc == PR_E_FORMAT && err) {
        bad = *err;
        rc = PR_OK;
    }
    if (!rc && bad.code) {
        r->counts.unreadable++;
        pr_bench_note(r, &bad);
    }
    return rc;
}

/* ---- run directories */

static int put_row(struct pr_bench_reader *r, const struct pr_rundata_row *row,
                   struct pr_err *err)
{
    struct pr_value repeat = pr_int(row->repeat);
    struct pr_member only = {
        .key = "params", .key_len = 6, .value = *row->params};
    struct pr_value planned = {.kind = PR_MAP, .len = 1, .members = &only};
    int rc =
        pr_bench_put_experiment(r, row->result ? row->result : &planned, err);

    if (!rc && !row->result)
        rc = pr_bench_put_str(r, "exp.id", row->id, err);
    return rc ? rc : pr_bench_put(r, "exp.repeat", 10, &repeat, err);
}

static int read_run(struct pr_bench_reader *r, const char *dir,
                    struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_rundata *d = NULL;
    struct pr_rundata_row row;
    struct pr_err bad;
    int rc = a ? pr_rundata_open(dir, &d, err) : pr_fail_nomem(err);

    while (!rc && (rc = pr_rundata_next(d, a, &row, &bad, err)) == 1) {
        r->counts.files++;
        if (bad.code) {
            r->counts.unreadable++;
            pr_bench_note(r, &bad);
        }
        pr_bench_begin(r);
        rc = put_row(r, &row, err);
        if (!rc)
            rc = pr_bench_end(r, dir, err);
        pr_arena_reset(a);
    }
    pr_rundata_close(d);
    return rc;
}

int pr_bench_read_item(struct pr_bench_reader *r, struct pr_bench_item *item,
                       struct pr_err *err)
{
    struct pr_err e = {0};
    int rc;

    r->item = item;
    if (item->kind != PR_BENCH_RUN)
        return read_file(r, item, err);
    rc = read_run(r, item->path, &e);
    if (rc == PR_E_FORMAT || rc == PR_E_IO) {
        r->counts.unreadable++;
        pr_bench_note(r, &e);
        return PR_OK;
    }
    if (rc && err)
        *err = e;
    return rc;
}
