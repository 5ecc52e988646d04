/*
 * A file on its way to the intake: plain bytes, gzip, and archives, whose
 * members are files in turn. Large JSON is mapped and read where it lies.
 */
#include "analyse/results/results_impl.h"
#include "analyse/run/run_data.h"
#include "base/codec/archive.h"
#include "base/codec/checksum.h"
#include "base/codec/deflate.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- cutting a large list for several threads */

/*
 * "}, {" may stand in a text, too: whether a cut was right shows when the part
 * before it ends there.
 */

enum { WORTH = 4 << 20, HEAD = 256 };

static const char *split_skip_space(const char *p, const char *end)
{
    while (p < end && (unsigned char)*p <= ' ')
        p++;
    return p;
}

const char *pr_results_find_cut(const char *text, size_t len, unsigned part,
                                unsigned parts)
{
    const char *end = text + len, *p = text + len / parts * part;

    if (!part || part == parts)
        return part ? end : text;
    while ((p = memchr(p, '}', (size_t)(end - p)))) {
        const char *q = split_skip_space(++p, end);
        if (q == end || *q != ',')
            continue;
        q = split_skip_space(q + 1, end);
        if (q < end && *q == '{')
            return q;
    }
    return end;
}

/* Whether a file is large and begins as a list of results does. */
static bool is_list(const char *path)
{
    char head[HEAD + 1];
    struct stat st;
    const char *p;
    ssize_t n;
    int fd;

    if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size < WORTH)
        return false;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, head, HEAD);
    close(fd);
    head[n > 0 ? n : 0] = '\0';
    p = split_skip_space(head, head + strlen(head));
    return *p == '[' || (*p == '{' && strstr(p, "\"data\""));
}

int pr_results_split_lists(struct pr_results_list *l, unsigned threads,
                           struct pr_err *err)
{
    struct pr_results_list cut = {.arena = l->arena};

    for (size_t i = 0; threads > 1 && i < l->count; i++) {
        unsigned parts =
            l->items[i].kind == PR_RESULTS_FILE && is_list(l->items[i].path)
                ? threads
                : 1;
        for (unsigned k = 0; k < parts; k++) {
            struct pr_results_item *item = PR_PUSH(l->arena, &cut);

            if (!item)
                return pr_fail_nomem(err);
            *item = l->items[i];
            item->part = k;
            item->parts = parts > 1 ? parts : 0;
        }
    }
    if (threads > 1)
        *l = cut;
    return PR_OK;
}

/* ---- a tar archive, as it streams by */

enum { TAR_BLOCK = 512 };

/* Its members are files in turn. */
struct results_tar {
    struct pr_results_reader *r;
    const char *path;
    struct pr_results_intake *in; /* of the member */
    char head[TAR_BLOCK];
    size_t have;   /* of the head */
    uint64_t left; /* of the member, then of its padding */
    uint64_t pad;
    uint64_t bytes, members; /* that came, and of these were read */
    bool ended;
    char name[4096];
    char next_name[4096]; /* from a long-name member; "": none */
    size_t next_len;
    enum { HEADER, LONG_NAME, MEMBER, SKIP, PADDING } state;
};

static bool results_is_tar(const char *head, size_t len)
{
    return len >= 262 && memcmp(head + 257, "ustar", 5) == 0;
}

static struct results_tar *results_tar_new(struct pr_results_reader *r,
                                           const char *path, struct pr_err *err)
{
    struct results_tar *t = pr_alloc_zeroed(sizeof *t);

    if (!t) {
        pr_fail_nomem(err);
        return NULL;
    }
    t->r = r;
    t->path = path;
    return t;
}

/* PR_E_FORMAT: more should have come. */
static void results_tar_free(struct results_tar *t)
{
    if (t)
        pr_results_intake_free(t->in);
    pr_free(t);
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

static void tar_name(struct results_tar *t)
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

static int tar_header(struct results_tar *t, struct pr_err *err)
{
    char kind = t->head[156];

    t->have = 0;
    if (!t->head[0]) {
        t->ended = true; /* zeros are the end */
        return PR_OK;
    }
    t->left = tar_number(t->head + 124, 12);
    if (!results_is_tar(t->head, TAR_BLOCK) || t->left > (uint64_t)1 << 50)
        return pr_fail(err, PR_E_FORMAT, t->path,
                       "a damaged archive: no member begins after '%.100s'",
                       t->name);
    t->pad = (TAR_BLOCK - t->left % TAR_BLOCK) % TAR_BLOCK;
    if (kind == 'L') {
        t->state = LONG_NAME;
        t->next_len = 0;
        return PR_OK;
    }
    tar_name(t);
    t->state = SKIP;
    if ((kind == '0' || !kind) && pr_results_is_candidate(t->name)) {
        t->state = MEMBER;
        t->in = pr_results_intake_new_member(t->r, t->path, t->name, err);
        return t->in ? PR_OK : PR_E_NOMEM;
    }
    return PR_OK;
}

static int end_member(struct results_tar *t, struct pr_err *err)
{
    struct pr_results_intake *in = t->in;

    t->in = NULL;
    t->members++;
    return in ? pr_results_intake_end(in, err) : PR_OK;
}

static void keep_name(struct results_tar *t, const char *p, size_t n)
{
    size_t room = sizeof t->next_name - 1 - t->next_len;

    if (n > room)
        n = room;
    memcpy(t->next_name + t->next_len, p, n);
    t->next_len += n;
    t->next_name[t->next_len] = '\0';
}

/* PR_E_FORMAT: the archive is damaged from here on. */
static int results_tar_feed(struct results_tar *t, const char *bytes,
                            size_t len, struct pr_err *err)
{
    int rc = PR_OK;

    t->bytes += len;
    while (!rc && len && !t->ended) {
        size_t n;

        if (t->state == HEADER) {
            n = len < TAR_BLOCK - t->have ? len : TAR_BLOCK - t->have;
            memcpy(t->head + t->have, bytes, n);
            t->have += n;
            if (t->have == TAR_BLOCK)
                rc = tar_header(t, err);
        } else {
            n = len < t->left ? len : (size_t)t->left;
            t->left -= n;
            if (t->state == LONG_NAME)
                keep_name(t, bytes, n);
            else if (t->state == MEMBER && n)
                rc = pr_results_intake_feed(t->in, bytes, n, err);
        }
        bytes += n;
        len -= n;
        if (t->state != HEADER && !t->left && !rc) {
            if (t->state == MEMBER)
                rc = end_member(t, err);
            t->left = t->pad;
            t->pad = 0;
            t->state = t->left ? PADDING : HEADER;
        }
    }
    return rc;
}

/* An archive has its end marked; one that is cut between two members, too. */
static int results_tar_end(struct results_tar *t, struct pr_err *err)
{
    if (t->ended)
        return PR_OK;
    return pr_fail(err, PR_E_FORMAT, t->path,
                   "the archive is cut short: it has no end after %llu bytes, "
                   "%llu of its files were read, the last header is of "
                   "'%.100s'",
                   (unsigned long long)t->bytes, (unsigned long long)t->members,
                   t->name);
}

/* ---- a zip archive */

struct unzip {
    struct pr_results_reader *r;
    const char *path;
    struct pr_inflate *inflate; /* made when first needed */
};

/* What is wrong with one member does not lose the others. */
static void unzip_add_warning(struct unzip *u, const char *name,
                              const char *what)
{
    struct pr_err e = {0};

    pr_fail(&e, PR_E_FORMAT, u->path, "'%.100s': %s", name, what);
    pr_results_add_damaged(u->r, &e);
}

/* What was unpacked before damage is read. */
static int unzip_feed_inflated(struct unzip *u,
                               const struct pr_archive_member *m,
                               struct pr_results_intake *in, bool *ret_good,
                               struct pr_err *err)
{
    const uint8_t *p = m->data;
    size_t left = m->packed_bytes;
    enum pr_inflate_end end = PR_INFLATE_MORE;
    uint32_t crc = 0;
    int rc = PR_OK;

    if (!u->inflate)
        u->inflate = pr_inflate_new();
    if (!u->inflate)
        return pr_fail_nomem(err);
    pr_inflate_start(u->inflate, PR_WRAP_NONE);
    while (!rc && end == PR_INFLATE_MORE) {
        size_t got = PR_RESULTS_PIECE;

        end =
            pr_inflate_run(u->inflate, &p, &left, (uint8_t *)u->r->piece, &got);
        crc = pr_crc32(crc, u->r->piece, got);
        rc = got ? pr_results_intake_feed(in, u->r->piece, got, err) : PR_OK;
        if (!left && got < PR_RESULTS_PIECE && end == PR_INFLATE_MORE)
            break; /* cut short */
    }
    *ret_good = end == PR_INFLATE_END && crc == m->crc;
    return rc;
}

static int feed_member(struct unzip *u, const struct pr_archive_member *m,
                       struct pr_results_intake *in, bool *ret_good,
                       struct pr_err *err)
{
    if (m->method == PR_ZIP_DEFLATED)
        return unzip_feed_inflated(u, m, in, ret_good, err);
    *ret_good = pr_crc32(0, m->data, m->packed_bytes) == m->crc;
    return m->packed_bytes ? pr_results_intake_feed(in, (const char *)m->data,
                                                    m->packed_bytes, err)
                           : PR_OK;
}

static int unzip_read_member(struct unzip *u, const struct pr_archive_member *m,
                             struct pr_err *err)
{
    struct pr_results_intake *in;
    char name[4096];
    bool good = false;
    int rc;

    snprintf(name, sizeof name, "%.*s",
             (int)(m->name_len < sizeof name ? m->name_len : 0), m->name);
    if (!pr_results_is_candidate(name))
        return PR_OK;
    if (m->encrypted ||
        (m->method != PR_ZIP_STORED && m->method != PR_ZIP_DEFLATED)) {
        unzip_add_warning(u, name,
                          m->encrypted ? "it is encrypted"
                                       : "its compression is not known");
        return PR_OK;
    }
    in = pr_results_intake_new_member(u->r, u->path, name, err);
    if (!in)
        return PR_E_NOMEM;
    rc = feed_member(u, m, in, &good, err);
    if (rc) {
        pr_results_intake_free(in);
        return rc;
    }
    if (!good)
        unzip_add_warning(u, name, "it is damaged");
    return pr_results_intake_end(in, err);
}

/* All of a zip archive. What is wrong with a member is noted, and the others
 * are read; PR_E_FORMAT: with its directory. */
static int results_read_zip(struct pr_results_reader *r, const char *path,
                            const char *data, size_t bytes, struct pr_err *err)
{
    struct unzip u = {.r = r, .path = path};
    struct pr_archive_member m;
    struct pr_zipdir z;
    int rc = pr_zipdir_open(&z, data, bytes, path, err);

    while (!rc && (rc = pr_zipdir_next(&z, &m, err)) == 1)
        rc = unzip_read_member(&u, &m, err);
    pr_inflate_free(u.inflate);
    return rc;
}

enum {
    PIECE = PR_RESULTS_PIECE,
    BLOCK = TAR_BLOCK,
};

struct stream {
    struct pr_results_reader *r;
    struct pr_results_item *item;
    struct pr_results_intake *in; /* of the file */
    char first[BLOCK];            /* bytes that tell whether it is an archive */
    size_t have;
    bool told;
    struct results_tar *tar; /* NULL: it is none */
};

/* ---- a stream of bytes */

static int feed_told(struct stream *s, const char *p, size_t len,
                     struct pr_err *err)
{
    return s->tar ? results_tar_feed(s->tar, p, len, err)
                  : pr_results_intake_feed(s->in, p, len, err);
}

/* So short that only its name can tell what it was. */
static bool was_tar(const char *path)
{
    return pr_text_ends_with(path, ".tar") ||
           pr_text_ends_with(path, ".tar.gz") ||
           pr_text_ends_with(path, ".tgz");
}

static int stream_detect(struct stream *s, struct pr_err *err)
{
    s->told = true;
    if (results_is_tar(s->first, s->have) ||
        (s->have < BLOCK && was_tar(s->item->path))) {
        s->tar = results_tar_new(s->r, s->item->path, err);
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
    return rc || !s->tar ? rc : results_tar_end(s->tar, err);
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
    rc = results_read_zip(s->r, s->item->path, view.data, view.len, err);
    s->r->counts.files += rc == PR_E_FORMAT; /* its members are not there */
    pr_file_unmap(&view);
    return rc;
}

/* By content; what is too short for that, by its name. */
static bool is_gzip(const char *path, const char *p, size_t n)
{
    if (n < 2)
        return pr_text_ends_with(path, ".gz") ||
               pr_text_ends_with(path, ".tgz");
    return p[0] == '\x1f' && (unsigned char)p[1] == 0x8b;
}

static bool is_zip(const char *path, const char *p, size_t n)
{
    return pr_zipdir_is_archive(p, n) ||
           (n < 4 && pr_text_ends_with(path, ".zip"));
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
    results_tar_free(s.tar);
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
