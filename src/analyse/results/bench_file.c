/*
 * A file on its way to the intake: plain bytes, gzip, and archives, whose
 * members are files in turn. Large JSON is mapped and read where it lies.
 */
#include "analyse/results/bench_impl.h"
#include "analyse/run/rundata.h"
#include "base/codec/archive.h"
#include "base/codec/deflate.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PIECE = PR_RESULTS_PIECE,
    BLOCK = PR_RESULTS_TAR_BLOCK,
};

struct stream {
    struct pr_results_reader *r;
    struct pr_results_item *item;
    struct pr_results_intake *in; /* of the file */
    char first[BLOCK];            /* bytes that tell whether it is an archive */
    size_t have;
    bool told;
    struct pr_results_tar *tar; /* NULL: it is none */
};

/* ---- a stream of bytes */

static int feed_told(struct stream *s, const char *p, size_t len,
                     struct pr_err *err)
{
    return s->tar ? pr_results_tar_feed(s->tar, p, len, err)
                  : pr_results_intake_feed(s->in, p, len, err);
}

static bool file_name_ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);

    return n >= k && strcmp(s + n - k, end) == 0;
}

/* So short that only its name can tell what it was. */
static bool was_tar(const char *path)
{
    return file_name_ends_with(path, ".tar") ||
           file_name_ends_with(path, ".tar.gz") ||
           file_name_ends_with(path, ".tgz");
}

static int stream_detect(struct stream *s, struct pr_err *err)
{
    s->told = true;
    if (pr_results_is_tar(s->first, s->have) ||
        (s->have < BLOCK && was_tar(s->item->path))) {
        s->tar = pr_results_tar_new(s->r, s->item->path, err);
        return s->tar ? PR_OK : PR_E_NOMEM;
    }
    s->in = pr_results_intake_new(s->r, s->item->path, s->item->kind, err);
    return s->in ? PR_OK : PR_E_NOMEM;
}

static int stream_feed(struct stream *s, const char *p, size_t len,
                       struct pr_err *err)
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
    rc = stream_detect(s, err);
    if (!rc)
        rc = feed_told(s, s->first, BLOCK, err);
    return rc ? rc : feed_told(s, p + n, len - n, err);
}

static int stream_finish(struct stream *s, struct pr_err *err)
{
    int rc = PR_OK;

    if (!s->told) {
        rc = stream_detect(s, err);
        if (!rc)
            rc = feed_told(s, s->first, s->have, err);
    }
    if (!rc && s->in) {
        struct pr_results_intake *in = s->in;

        s->in = NULL;
        rc = pr_results_intake_end(in, err);
    }
    return rc || !s->tar ? rc : pr_results_tar_end(s->tar, err);
}

/* ---- files */

static ssize_t read_file_piece(int fd, char *buf)
{
    ssize_t n;

    do
        n = read(fd, buf, PIECE);
    while (n < 0 && errno == EINTR);
    return n;
}

static int stream_feed_inflated(struct stream *s, struct pr_inflate *z,
                                char *out, const char *p, size_t len,
                                enum pr_inflate_end *end, struct pr_err *err)
{
    const uint8_t *in = (const uint8_t *)p;

    for (;;) {
        size_t got = PIECE;
        int rc;

        *end = pr_inflate_run(z, &in, &len, (uint8_t *)out, &got);
        rc = stream_feed(s, out, got, err);
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
    uint64_t bytes = 0;
    int rc = z && out ? PR_OK : pr_fail_nomem(err);

    if (!rc)
        pr_inflate_start(z, PR_WRAP_GZIP);
    while (!rc && n > 0 && end != PR_INFLATE_BAD) {
        bytes += (size_t)n;
        rc = stream_feed_inflated(s, z, out, buf, (size_t)n, &end, err);
        if (!rc && end != PR_INFLATE_BAD)
            n = read_file_piece(fd, buf);
    }
    if (!rc && n < 0)
        pr_fail_errno(ret_bad, PR_E_IO, s->item->path, "cannot read");
    else if (!rc && end != PR_INFLATE_END)
        pr_fail(ret_bad, PR_E_FORMAT, s->item->path,
                end == PR_INFLATE_BAD
                    ? "the gzip data is damaged within its first %llu bytes"
                    : "the gzip data is cut short: it goes on after its %llu "
                      "bytes",
                (unsigned long long)bytes);
    pr_inflate_free(z);
    pr_free(out);
    return rc;
}

static int pump_plain(struct stream *s, int fd, char *buf, ssize_t n,
                      struct pr_err *ret_bad, struct pr_err *err)
{
    int rc = PR_OK;

    while (!rc && n > 0) {
        rc = stream_feed(s, buf, (size_t)n, err);
        if (!rc)
            n = read_file_piece(fd, buf);
    }
    if (!rc && n < 0)
        pr_fail_errno(ret_bad, PR_E_IO, s->item->path, "cannot read");
    return rc;
}

/* A plain JSON file of some size: no copy. 1: done. */
static int stream_read_mapped(struct stream *s, int fd, const char *head,
                              ssize_t n, struct pr_err *err)
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
        rc = pr_results_json_read_part(s->r, s->item, view.data, view.len, err);
        pr_file_unmap(&view);
        return rc ? rc : 1;
    }
    s->r->counts.files++;
    rc = pr_results_json_read(s->r, s->item->path, view.data, view.len,
                              s->item->kind, &e);
    rc = pr_results_intake_settle(s->r, s->item->path, view.data, view.len, rc,
                                  &e, s->item->kind, err);
    pr_file_unmap(&view);
    return rc ? rc : 1;
}

static int stream_read_zip(struct stream *s, struct pr_err *err)
{
    struct pr_view view;
    int rc = pr_file_map(s->item->path, &view, err);

    if (rc)
        return rc;
    rc = pr_results_read_zip(s->r, s->item->path, view.data, view.len, err);
    s->r->counts.files += rc == PR_E_FORMAT; /* its members are not there */
    pr_file_unmap(&view);
    return rc;
}

/* By content; what is too short for that, by its name. */
static bool is_gzip(const char *path, const char *p, size_t n)
{
    if (n < 2)
        return file_name_ends_with(path, ".gz") ||
               file_name_ends_with(path, ".tgz");
    return p[0] == '\x1f' && (unsigned char)p[1] == 0x8b;
}

static bool is_zip(const char *path, const char *p, size_t n)
{
    return pr_zipdir_is_archive(p, n) ||
           (n < 4 && file_name_ends_with(path, ".zip"));
}

static int stream_pump_file(struct stream *s, int fd, struct pr_err *ret_bad,
                            struct pr_err *err)
{
    char *buf = s->r->piece;
    ssize_t n = read_file_piece(fd, buf);
    int rc;

    if (n >= 0 && is_zip(s->item->path, buf, (size_t)n))
        return stream_read_zip(s, err);
    if (n >= 0 && is_gzip(s->item->path, buf, (size_t)n)) {
        rc = pump_gzip(s, fd, buf, n, ret_bad, err);
    } else {
        rc = stream_read_mapped(s, fd, buf, n, err);
        if (rc)
            return rc == 1 ? PR_OK : rc;
        rc = pump_plain(s, fd, buf, n, ret_bad, err);
    }
    return rc ? rc : stream_finish(s, err);
}

static int results_read_file(struct pr_results_reader *r,
                             struct pr_results_item *item, struct pr_err *err)
{
    struct stream s = {.r = r, .item = item};
    int fd = open(item->path, O_RDONLY | O_CLOEXEC);
    struct pr_err bad = {0};
    int rc;

    if (fd < 0) {
        pr_fail_errno(&bad, PR_E_IO, item->path, "cannot open");
        rc = PR_OK;
    } else {
        rc = stream_pump_file(&s, fd, &bad, err);
        close(fd);
    }
    pr_results_intake_free(s.in);
    pr_results_tar_free(s.tar);
    /* Of the archive, not of us: the rest of the files does not care. */
    if (rc == PR_E_FORMAT && err) {
        if (!bad.code)
            bad = *err;
        rc = PR_OK;
    }
    if (!rc && bad.code == PR_E_FORMAT)
        pr_results_add_damaged(r, &bad);
    else if (!rc && bad.code)
        pr_results_add_unreadable(r, &bad);
    return rc;
}

/* ---- run directories */

static int put_run_row(struct pr_results_reader *r,
                       const struct pr_run_data_row *row, const char *dir,
                       struct pr_err *err)
{
    struct pr_value repeat = pr_int(row->repeat);
    struct pr_member only = {
        .key = "params", .key_len = 6, .value = *row->params};
    struct pr_value planned = {.kind = PR_MAP, .len = 1, .members = &only};
    int rc;

    pr_results_row_begin(r);
    rc =
        pr_results_put_experiment(r, row->result ? row->result : &planned, err);

    if (!rc && !row->result)
        rc = pr_results_row_put_str(r, "exp.id", row->id, err);
    if (!rc)
        rc = pr_results_row_put(r, "exp.repeat", 10, &repeat, err);
    return rc ? rc : pr_results_row_end(r, dir, err);
}

static int read_run(struct pr_results_reader *r, const char *dir,
                    struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_run_data *d = NULL;
    struct pr_run_data_row row;
    struct pr_err bad;
    int rc = a ? pr_run_data_open(dir, &d, err) : pr_fail_nomem(err);

    while (!rc && (rc = pr_run_data_next(d, a, &row, &bad, err)) == 1) {
        if (bad.code)
            pr_results_add_unreadable(r, &bad);
        rc = PR_OK;
        r->counts.files += row.result || bad.code || !r->opts->run_only;
        if (!row.result && r->opts->run_only) {
            /* One that was not run, or cannot be read, has not failed. */
            r->counts.missing += !bad.code;
        } else {
            rc = put_run_row(r, &row, dir, err);
        }
        pr_arena_reset(a);
    }
    pr_run_data_close(d);
    return rc;
}

int pr_results_read_item(struct pr_results_reader *r,
                         struct pr_results_item *item, struct pr_err *err)
{
    struct pr_err e = {0};
    int rc;

    r->item = item;
    if (item->kind != PR_RESULTS_RUN)
        return results_read_file(r, item, err);
    rc = read_run(r, item->path, &e);
    if (rc == PR_E_FORMAT || rc == PR_E_IO) {
        pr_results_add_unreadable(r, &e);
        return PR_OK;
    }
    if (rc && err)
        *err = e;
    return rc;
}
