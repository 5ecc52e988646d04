/*
 * The format npz: a ZIP archive with an array x of samples and an array y of
 * their labels, as numpy.savez writes it, or deflated as savez_compressed
 * does.
 */
#include "base/codec/checksum.h"
#include "base/mem.h"
#include "format/content.h"
#include "format/format.h"
#include "format/npy.h"
#include "format/zip.h"

#include <assert.h>
#include <string.h>

/* The reader of a file. */
struct pr_npz {
    bool is_open;
    struct pr_window win;
    struct pr_zip zip;
    struct pr_zip_member x, y; /* y.bytes is 0: no labels */
    struct pr_npy_last_head x_head, y_head;
    bool has_array; /* array fits x_head */
    struct pr_npy_array array;
    struct pr_zip_stream stream;

    /* Stored samples of a large file: its checksum goes on from one to the
     * next while they are read in order. */
    bool is_checked; /* it was right, or is of no interest */
    uint32_t sum;    /* of what comes before sample sum_next */
    uint64_t sum_next;
    uint32_t head_sum; /* of the head alone; not of a small file */

    bool has_labels;
    int64_t *labels;
    size_t labels_cap;
};

/* ---- what is in a file: which member is the array of samples, which has their
 * labels, and the heads of both. Labels are taken along at once: there are few,
 * and next to the directory as a rule. */

enum kind { SAMPLES, LABELS, OTHER, NOTHING };

static enum kind npz_find_kind(const char *name, size_t len)
{
    static const struct {
        const char *name;
        enum kind kind;
    } known[] = {
        {"x.npy", SAMPLES},
        {"y.npy", LABELS},
        {"label.npy", LABELS},
        {"labels.npy", LABELS},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (len == strlen(known[i].name) &&
            memcmp(name, known[i].name, len) == 0)
            return known[i].kind;
    return len > 4 && memcmp(name + len - 4, ".npy", 4) == 0 ? OTHER : NOTHING;
}

struct choice {
    struct pr_reader *r;
    bool has[NOTHING];
    struct pr_zip_member m[NOTHING];
};

/* Of several that would do, the first; but two of the same name have no
 * first, for readers do not agree on which counts. */
static int npz_choose_member(void *ctx, const char *name,
                             const struct pr_zip_member *m, struct pr_err *err)
{
    struct choice *c = ctx;
    enum kind k = npz_find_kind(name, m->name_len);

    if (k == NOTHING)
        return PR_OK;
    if (k != OTHER && c->has[k] && c->m[k].name_crc == m->name_crc)
        return pr_reader_bad(c->r, m->at, err, "there are two members '%.*s'",
                             m->name_len, name);
    if (!c->has[k])
        c->m[k] = *m;
    c->has[k] = true;
    return PR_OK;
}

static int find_members(struct pr_reader *r, struct pr_npz *d,
                        struct pr_err *err)
{
    struct choice c = {.r = r};
    int rc = pr_zip_each(&d->zip, r, &d->win, npz_choose_member, &c, err);

    if (rc)
        return rc;
    if (!c.has[SAMPLES] && !c.has[OTHER])
        return pr_reader_bad(r, d->zip.dir_at, err,
                             "there is no array in the archive");
    d->x = c.has[SAMPLES] ? c.m[SAMPLES] : c.m[OTHER];
    d->y = c.has[LABELS] ? c.m[LABELS] : (struct pr_zip_member){0};
    return PR_OK;
}

/* ---- what is in a file: heads */

/* The head of a located member, from the file. */
static int stored_head(struct pr_reader *r, struct pr_npz *d,
                       const struct pr_zip_member *m,
                       struct pr_npy_last_head *ret, struct pr_err *err)
{
    const uint8_t *head;
    size_t len;
    int rc = pr_window_get(&d->win, r, m->data, PR_NPY_FIXED, &head, err);

    if (!rc)
        rc = pr_npy_head_length(r, m->data, head, &len, err);
    if (!rc && len > m->bytes)
        rc = pr_reader_bad(r, m->data, err, "a member is cut short");
    if (!rc)
        rc = pr_window_get(&d->win, r, m->data, len, &head, err);
    if (rc)
        return rc;
    if (!pr_window_is_whole(&d->win, r))
        d->head_sum = pr_crc32(0, head, len);
    return pr_npy_parse_head(ret, r, m->data, head, len, err);
}

/* The same of a deflated one; the stream stands behind it then. */
static int deflated_head(struct pr_reader *r, struct pr_npz *d,
                         const struct pr_zip_member *m,
                         struct pr_npy_last_head *ret, struct pr_err *err)
{
    uint8_t *head = pr_zip_stream_spare(&d->stream);
    size_t len;
    int rc;

    if (!head)
        return pr_fail_nomem(err);
    rc = pr_zip_stream_start(&d->stream, r, &d->win, m, err);
    if (!rc)
        rc = pr_zip_stream_read(&d->stream, head, PR_NPY_FIXED, err);
    if (!rc)
        rc = pr_npy_head_length(r, m->data, head, &len, err);
    if (!rc && len > m->bytes)
        rc = pr_reader_bad(r, m->data, err, "a member is cut short");
    if (!rc && len > PR_NPY_FIXED)
        rc = pr_zip_stream_read(&d->stream, head + PR_NPY_FIXED,
                                len - PR_NPY_FIXED, err);
    if (!rc)
        rc = pr_npy_parse_head(ret, r, m->data, head, len, err);
    return rc;
}

static int member_head(struct pr_reader *r, struct pr_npz *d,
                       struct pr_zip_member *m, struct pr_npy_last_head *ret,
                       struct pr_err *err)
{
    int rc = pr_zip_locate(&d->zip, m, r, &d->win, err);

    if (!rc && m->bytes < PR_NPY_FIXED)
        rc = pr_reader_bad(r, m->data, err, "a member is cut short");
    if (rc)
        return rc;
    return m->method == PR_ZIP_STORED ? stored_head(r, d, m, ret, err)
                                      : deflated_head(r, d, m, ret, err);
}

/* ---- what is in a file: labels */

static bool are_labels(const struct pr_npy *npy, const struct pr_zip_member *m,
                       uint64_t samples)
{
    char letter = pr_dtype_letter(npy->dtype);

    return npy->shape.ndim == 1 && npy->shape.dim[0] == samples &&
           (letter == 'i' || letter == 'u') &&
           npy->head_bytes + npy->data_bytes == m->bytes;
}

static int64_t npz_widen_label(enum pr_dtype t, const uint8_t *p)
{
    union {
        uint8_t u8;
        int8_t i8;
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        int64_t i64;
    } v;

    memcpy(&v, p, pr_dtype_bytes(t));
    return t == PR_U8    ? v.u8
           : t == PR_I8  ? v.i8
           : t == PR_U16 ? v.u16
           : t == PR_I16 ? v.i16
           : t == PR_U32 ? v.u32
           : t == PR_I32 ? v.i32
                         : v.i64;
}

static int grow_labels(const struct pr_reader *r, struct pr_npz *d, size_t n,
                       struct pr_err *err)
{
    uint64_t bytes;
    int rc;

    if (n <= d->labels_cap)
        return PR_OK;
    if (__builtin_mul_overflow(n, sizeof *d->labels, &bytes))
        bytes = UINT64_MAX;
    rc = pr_reader_limit(r, bytes, err);
    if (rc)
        return rc;
    pr_free(d->labels);
    d->labels_cap = 0;
    d->labels = pr_alloc(n * sizeof *d->labels);
    if (!d->labels)
        return pr_fail_nomem(err);
    d->labels_cap = n;
    return PR_OK;
}

/* The data of member y, n bytes behind a head. */
static int copy_labels(struct pr_reader *r, struct pr_npz *d, uint64_t head,
                       uint8_t *raw, size_t n, struct pr_err *err)
{
    int rc;

    if (d->y.method == PR_ZIP_STORED && pr_window_is_whole(&d->win, r)) {
        const uint8_t *y = d->win.data + d->y.data;
        uint32_t sum = r->opts.skip_checksum
                           ? d->y.crc
                           : pr_crc32(0, y, (size_t)d->y.bytes);

        if (sum != d->y.crc)
            return pr_zip_fail_checksum(r, &d->y, sum, err);
        memcpy(raw, y + head, n);
        return PR_OK;
    }
    rc = pr_zip_stream_start(&d->stream, r, &d->win, &d->y, err);
    if (!rc)
        rc = pr_zip_stream_seek(&d->stream, head, err);
    return rc ? rc : pr_zip_stream_read(&d->stream, raw, n, err);
}

/* Read to the end of the labels' memory, then widened from the front. */
static int npz_load_labels(struct pr_reader *r, struct pr_npz *d,
                           const struct pr_npy *npy, struct pr_err *err)
{
    size_t el = pr_dtype_bytes(npy->dtype), n = (size_t)npy->count;
    uint8_t *raw;
    int rc = grow_labels(r, d, n, err);

    if (rc)
        return rc;
    raw = (uint8_t *)d->labels + n * (sizeof *d->labels - el);
    rc = copy_labels(r, d, npy->head_bytes, raw, n * el, err);
    if (rc)
        return rc;
    if (npy->is_swapped)
        pr_dtype_swap(npy->dtype, raw, n * el);
    for (size_t i = 0; i < n; i++)
        d->labels[i] = npz_widen_label(npy->dtype, raw + i * el);
    d->has_labels = true;
    return PR_OK;
}

/* A member y that does not look like labels means something else. */
static int learn_labels(struct pr_reader *r, struct pr_npz *d,
                        struct pr_err *err)
{
    uint64_t samples = r->opts.samples ? r->opts.samples : 1;
    int rc;

    d->has_labels = false;
    if (!d->y.bytes || r->opts.skip_decode)
        return PR_OK;
    rc = member_head(r, d, &d->y, &d->y_head, err);
    if (rc == PR_E_NOMEM || rc == PR_E_IO)
        return rc;
    if (rc || !are_labels(&d->y_head.npy, &d->y, samples))
        return PR_OK;
    return npz_load_labels(r, d, &d->y_head.npy, err);
}

/* ---- what is in a file: all of it */

static int check_overlap(const struct pr_reader *r, const struct pr_npz *d,
                         struct pr_err *err)
{
    const struct pr_zip_member *x = &d->x, *y = &d->y;

    if (d->has_labels && x->at < y->data + y->packed &&
        y->at < x->data + x->packed)
        return pr_reader_bad(r, x->at, err, "members overlap");
    return PR_OK;
}

static int learn_samples(struct pr_reader *r, struct pr_npz *d,
                         struct pr_err *err)
{
    const struct pr_npy *npy = &d->x_head.npy;
    int rc = member_head(r, d, &d->x, &d->x_head, err);

    if (rc)
        return rc;
    if (!d->x_head.is_same)
        d->has_array = false;
    if (npy->head_bytes + npy->data_bytes != d->x.bytes)
        return pr_reader_bad(
            r, d->x.data, err, "the array has %llu bytes, its member has %llu",
            (unsigned long long)npy->data_bytes,
            (unsigned long long)(d->x.bytes - npy->head_bytes));
    if (!d->has_array) {
        rc = pr_npy_array_init(&d->array, npy, r, d->x.data, r->opts.samples,
                               err);
        d->has_array = rc == PR_OK;
    }
    return rc ? rc : check_overlap(r, d, err);
}

/* The directory, labels and head of the open file. */
static int npz_read_directory(struct pr_reader *r, struct pr_err *err)
{
    struct pr_npz *d = r->data;
    int rc = pr_zip_open(&d->zip, r, &d->win, err);

    if (!rc)
        rc = find_members(r, d, err);
    /* Labels first, so that the stream of a deflated array goes on from its
     * head to its samples. */
    if (!rc)
        rc = learn_labels(r, d, err);
    if (!rc)
        rc = learn_samples(r, d, err);
    return rc;
}

/* ---- reading samples. Stored ones are fetched by position; a small file is in
 * memory whole and its checksum was compared when it was opened, in a large one
 * this is done while its samples are read. Deflated ones come from a stream
 * that goes back to the start when a sample before the last is asked for. */

/* Where the data of a stored array starts. */
static uint64_t npz_data_offset(const struct pr_npz *d)
{
    return d->x.data + d->array.npy.head_bytes;
}

static int end_sum(struct pr_reader *r, struct pr_npz *d, uint32_t sum,
                   struct pr_err *err)
{
    if (sum != d->x.crc)
        return pr_zip_fail_checksum(r, &d->x, sum, err);
    d->is_checked = true;
    return PR_OK;
}

/* ---- reading: stored, large, elements together */

/* The next piece of a sample, n bytes that should follow the `done` ones at
 * *first: in buf, or all in memory of the object's. */
static int fetch_behind(struct pr_reader *r, uint64_t off, size_t n,
                        uint8_t *buf, size_t cap, size_t done,
                        const uint8_t **first, struct pr_err *err)
{
    bool is_ours = *first >= buf && *first < buf + cap;
    size_t shift = done && is_ours ? (size_t)(*first - buf) + done : 0;
    const uint8_t *p;
    int rc =
        pr_object_fetch(&r->obj, off, n, buf + shift, cap - shift, &p, err);

    if (rc)
        return rc;
    if (!done)
        *first = p;
    else if (is_ours && p != buf + shift)
        memmove(buf + shift, p, n);
    else
        assert(p == *first + done);
    return PR_OK;
}

/* Fetches a sample in pieces and sums each up while it is in the cache. Pieces
 * end where blocks of the file do, so that an engine that reads whole blocks
 * puts them one behind the other. */
static int fetch_summing(struct pr_reader *r, uint64_t off, size_t len,
                         uint8_t *buf, size_t cap, uint32_t *sum,
                         const uint8_t **ret, struct pr_err *err)
{
    const uint8_t *first = buf;

    for (size_t done = 0, n; done < len; done += n) {
        int rc;

        n = PR_ZIP_PIECE - (size_t)((off + done) % PR_ZIP_PIECE);
        n = n < len - done ? n : len - done;
        rc = fetch_behind(r, off + done, n, buf, cap, done, &first, err);
        if (rc)
            return rc;
        *sum = pr_crc32(*sum, first + done, n);
    }
    *ret = first;
    return PR_OK;
}

/* In order the checksum goes on, and is compared after the last sample; out of
 * order it cannot be worked out and is not compared. */
static int read_together(struct pr_reader *r, uint64_t i, uint8_t *buf,
                         size_t cap, struct pr_sample *ret, struct pr_err *err)
{
    struct pr_npz *d = r->data;
    const struct pr_npy_array *a = &d->array;
    uint32_t sum = i ? d->sum : d->head_sum;
    struct pr_npy_place at = {r, &d->win, npz_data_offset(d)};
    const uint8_t *data;
    int rc;

    if (i && i != d->sum_next)
        return pr_npy_array_read(a, &at, i, buf, cap, ret, err);
    rc = fetch_summing(r, at.base + i * a->bytes, (size_t)a->bytes, buf, cap,
                       &sum, &data, err);
    if (!rc && i + 1 == a->samples)
        rc = end_sum(r, d, sum, err);
    if (rc)
        return rc;
    d->sum = sum;
    d->sum_next = i + 1;
    pr_npy_array_native(a, data, buf, ret);
    return PR_OK;
}

/* ---- reading: stored, large, elements of samples alternating */

struct summing {
    struct pr_reader *r;
    uint64_t pos; /* in the array's data: what is before it was summed up */
    uint32_t sum;
};

static int fetch_next(struct summing *s, size_t len, const uint8_t **ret,
                      struct pr_err *err)
{
    const struct pr_npz *d = s->r->data;
    uint8_t *buf = pr_reader_scratch(s->r, PR_ZIP_PIECE + PR_IO_SLACK);
    int rc;

    if (!buf)
        return pr_fail_nomem(err);
    rc = pr_object_fetch(&s->r->obj, npz_data_offset(d) + s->pos, len, buf,
                         s->r->scratch_cap, ret, err);
    if (rc)
        return rc;
    s->sum = pr_crc32(s->sum, *ret, len);
    s->pos += len;
    return PR_OK;
}

static int sum_until(struct summing *s, uint64_t to, struct pr_err *err)
{
    int rc = PR_OK;

    while (!rc && s->pos < to) {
        uint64_t n = to - s->pos;
        const uint8_t *unused;

        rc = fetch_next(s, n < PR_ZIP_PIECE ? (size_t)n : PR_ZIP_PIECE, &unused,
                        err);
    }
    return rc;
}

static int get_summing(void *ctx, uint64_t off, size_t len, const uint8_t **ret,
                       struct pr_err *err)
{
    struct summing *s = ctx;
    int rc = sum_until(s, off, err);

    return rc ? rc : fetch_next(s, len, ret, err);
}

static int read_alternating(struct pr_reader *r, uint64_t i, uint8_t *buf,
                            struct pr_sample *ret, struct pr_err *err)
{
    struct pr_npz *d = r->data;
    struct summing s = {r, 0, d->head_sum};
    int rc = pr_npy_array_pick(&d->array, i, buf, get_summing, &s, err);

    if (!rc)
        rc = sum_until(&s, d->array.npy.data_bytes, err);
    if (!rc)
        rc = end_sum(r, d, s.sum, err);
    if (!rc)
        pr_npy_array_native(&d->array, buf, buf, ret);
    return rc;
}

/* ---- reading: deflated */

static int get_deflated(void *ctx, uint64_t off, size_t len,
                        const uint8_t **ret, struct pr_err *err)
{
    struct pr_npz *d = ctx;
    uint8_t *spare;
    int rc = pr_zip_stream_seek(&d->stream, d->array.npy.head_bytes + off, err);

    if (rc)
        return rc;
    spare = pr_zip_stream_spare(&d->stream);
    if (!spare)
        return pr_fail_nomem(err);
    *ret = spare;
    return pr_zip_stream_read(&d->stream, spare, len, err);
}

static int read_deflated(struct pr_reader *r, uint64_t i, uint8_t *buf,
                         struct pr_sample *ret, struct pr_err *err)
{
    struct pr_npz *d = r->data;
    const struct pr_npy_array *a = &d->array;
    int rc;

    if (a->step > 1) {
        rc = pr_npy_array_pick(a, i, buf, get_deflated, d, err);
        if (!rc)
            rc = pr_zip_stream_seek(&d->stream, d->x.bytes, err);
    } else {
        rc = pr_zip_stream_seek(&d->stream, a->npy.head_bytes + i * a->bytes,
                                err);
        if (!rc)
            rc = pr_zip_stream_read(&d->stream, buf, (size_t)a->bytes, err);
    }
    if (!rc)
        pr_npy_array_native(a, buf, buf, ret);
    return rc;
}

/* ---- the reader */

/* Only storage is to be measured: an equal share of the stored bytes. */
static int read_share(struct pr_reader *r, uint64_t i, uint8_t *buf, size_t cap,
                      struct pr_sample *ret, struct pr_err *err)
{
    struct pr_npz *d = r->data;
    uint64_t share = d->x.packed / r->samples;
    uint64_t from = d->x.data + i * share;
    size_t len = (size_t)(i + 1 < r->samples ? share : d->x.packed - i * share);
    const uint8_t *data = d->win.data + from;
    int rc = PR_OK;

    if (!pr_window_is_whole(&d->win, r))
        rc = pr_object_fetch(&r->obj, from, len, buf, cap, &data, err);
    if (rc)
        return rc;
    *ret = (struct pr_sample){
        .data = data, .size = len, .dtype = PR_U8, .shape = {1, {len}}};
    return PR_OK;
}

static int npz_read_array(struct pr_reader *r, uint64_t i, uint8_t *buf,
                          size_t cap, struct pr_sample *ret, struct pr_err *err)
{
    struct pr_npz *d = r->data;
    struct pr_npy_place at = {r, &d->win, npz_data_offset(d)};

    if (r->opts.skip_decode)
        return read_share(r, i, buf, cap, ret, err);
    if (d->x.method == PR_ZIP_DEFLATED)
        return read_deflated(r, i, buf, ret, err);
    if (d->is_checked)
        return pr_npy_array_read(&d->array, &at, i, buf, cap, ret, err);
    return d->array.step > 1 ? read_alternating(r, i, buf, ret, err)
                             : read_together(r, i, buf, cap, ret, err);
}

static int npz_read(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
                    struct pr_sample *ret, struct pr_err *err)
{
    struct pr_npz *d = r->data;
    int rc = pr_npy_array_check_room(r, cap, err);

    if (!rc)
        rc = npz_read_array(r, i, buf, cap, ret, err);
    if (rc)
        return rc;
    ret->has_label = d->has_labels;
    ret->label = d->has_labels ? d->labels[i] : 0;
    return PR_OK;
}

/* A small stored file: its checksum at once. */
static int check_whole(struct pr_reader *r, struct pr_npz *d,
                       struct pr_err *err)
{
    const uint8_t *data = d->win.data + d->x.data;

    return end_sum(r, d, pr_crc32(0, data, (size_t)d->x.bytes), err);
}

static size_t npz_compute_need(const struct pr_reader *r,
                               const struct pr_npz *d)
{
    uint64_t bytes = d->array.bytes;

    if (r->opts.skip_decode) /* the last share has the rest */
        bytes = d->x.packed / r->samples + d->x.packed % r->samples;
    return (size_t)bytes + 2 * PR_IO_SLACK;
}

static int npz_open(struct pr_reader *r, struct pr_err *err)
{
    struct pr_npz *d = r->data;
    int rc = pr_object_open(r->st, r->name, &r->obj, err);

    d->is_open = rc == PR_OK;
    if (!rc)
        rc = pr_window_open(&d->win, r, err);
    if (!rc)
        rc = npz_read_directory(r, err);
    if (rc)
        return rc;
    d->sum_next = 0;
    d->is_checked = r->opts.skip_checksum || r->opts.skip_decode;
    if (!d->is_checked && d->x.method == PR_ZIP_STORED &&
        pr_window_is_whole(&d->win, r))
        rc = check_whole(r, d, err);
    if (rc)
        return rc;
    r->samples = d->array.samples;
    r->need = npz_compute_need(r, d);
    return PR_OK;
}

static void npz_close(struct pr_reader *r)
{
    struct pr_npz *d = r->data;

    if (d->is_open)
        pr_object_close(&r->obj);
    d->is_open = false;
}

/* See struct pr_format. */
static void npz_reader_done(struct pr_reader *r)
{
    struct pr_npz *d = r->data;

    pr_zip_stream_done(&d->stream);
    pr_free(d->labels);
}

enum { MEMBERS = 2, PIECE = 4 * PR_CONTENT_BLOCK };

static const char *const names[MEMBERS] = {"x.npy", "y.npy"};

struct writing {
    struct pr_out out;
    struct pr_squeeze squeeze;
    struct pr_zip_member m[MEMBERS];
    struct pr_content_piece block;
    uint64_t piece[PIECE / 8]; /* to be deflated */
};

static int npz_check(const struct pr_file_spec *spec, struct pr_err *err)
{
    if (spec->compression != PR_PLAIN && spec->compression != PR_ZIP)
        return pr_fail(err, PR_E_CONF, "dataset.compression",
                       "npz files have zip or no compression");
    return pr_npy_check(spec, err);
}

static unsigned member_count(const struct pr_file_spec *spec)
{
    return spec->labels_inside && !spec->labels_alone ? 2 : 1;
}

static void array_of(const struct pr_file_spec *spec, unsigned k,
                     struct pr_npy *ret)
{
    if (k == 0)
        pr_npy_describe_samples(spec, ret);
    else
        pr_npy_describe_labels(spec, ret);
}

/* The structures are built, for their lengths depend on what is in them. */
static uint64_t npz_bytes(const struct pr_file_spec *spec, bool *ret_exact)
{
    uint8_t buf[PR_ZIP_ENTRY_MAX];
    struct pr_zip zip = {.members = member_count(spec)};
    uint64_t at = 0;

    *ret_exact = spec->compression == PR_PLAIN;
    for (unsigned k = 0; k < zip.members; k++) {
        struct pr_zip_member m = {.at = at};
        struct pr_npy a;

        array_of(spec, k, &a);
        m.bytes = a.head_bytes + a.data_bytes;
        m.packed = *ret_exact ? m.bytes : pr_deflate_bound(m.bytes);
        at += pr_zip_build_local(&m, names[k], buf) + m.packed;
        zip.dir_bytes += pr_zip_build_entry(&m, names[k], buf);
    }
    zip.dir_at = at;
    return at + zip.dir_bytes + pr_zip_build_end(&zip, buf);
}

/* ---- writing: a member's bytes */

static int npz_put_bytes(struct writing *d, struct pr_zip_member *m,
                         const void *data, size_t len, bool last,
                         struct pr_err *err)
{
    uint64_t before = pr_out_offset(&d->out);
    int rc;

    m->crc = pr_crc32(m->crc, data, len);
    m->bytes += len;
    rc = m->method == PR_ZIP_DEFLATED
             ? pr_squeeze_put(&d->squeeze, &d->out, data, len, last, err)
             : pr_out_put(&d->out, data, len, err);
    m->packed += pr_out_offset(&d->out) - before;
    return rc;
}

static int npz_put_sample(struct pr_writer *w, struct pr_zip_member *m,
                          const struct pr_file_spec *spec, uint64_t sample,
                          struct pr_err *err)
{
    struct writing *d = w->data;
    uint64_t bytes = pr_spec_sample_bytes(spec);
    bool is_last = sample + 1 == spec->samples;

    if (m->method != PR_ZIP_DEFLATED) {
        m->bytes += bytes;
        m->packed += bytes;
        return pr_content_put_sample(w, &d->out, &d->block, spec, sample,
                                     pr_crc32, &m->crc, err);
    }
    for (uint64_t off = 0; off < bytes; off += PIECE) {
        size_t n = bytes - off < PIECE ? (size_t)(bytes - off) : PIECE;
        int rc;

        pr_content_fill(spec, sample, off, d->piece, n);
        rc = npz_put_bytes(d, m, d->piece, n, is_last && off + n == bytes, err);
        if (rc)
            return rc;
        if (pr_writer_is_stopped(w))
            return pr_fail(err, PR_E_INTR, "", "interrupted");
    }
    return PR_OK;
}

static int put_samples(struct pr_writer *w, struct pr_zip_member *m,
                       const struct pr_file_spec *spec, struct pr_err *err)
{
    int rc = PR_OK;

    for (uint64_t i = 0; !rc && i < spec->samples; i++)
        rc = npz_put_sample(w, m, spec, i, err);
    return rc;
}

static int npz_put_labels(struct pr_writer *w, struct pr_zip_member *m,
                          const struct pr_file_spec *spec, struct pr_err *err)
{
    struct writing *d = w->data;
    const size_t most = PIECE / sizeof(int64_t);
    int rc = PR_OK;

    for (uint64_t i = 0; !rc && i < spec->samples;) {
        size_t n = 0;

        for (; n < most && i < spec->samples; n++, i++)
            d->piece[n] = (uint64_t)pr_content_label(spec, i);
        rc = npz_put_bytes(d, m, d->piece, n * sizeof *d->piece,
                           i == spec->samples, err);
        if (!rc && pr_writer_is_stopped(w))
            rc = pr_fail(err, PR_E_INTR, "", "interrupted");
    }
    return rc;
}

/* ---- writing: the archive */

/* The local header is written twice: the checksum and the packed size are not
 * known before. Its length does not change. */
static int npz_put_member(struct pr_writer *w, const struct pr_file_spec *spec,
                          unsigned k, struct pr_err *err)
{
    struct writing *d = w->data;
    struct pr_zip_member *m = &d->m[k];
    uint8_t local[PR_ZIP_LOCAL_MAX], head[PR_NPY_HEAD_BUF];
    struct pr_npy a;
    size_t len;
    int rc;

    array_of(spec, k, &a);
    *m = (struct pr_zip_member){.at = pr_out_offset(&d->out)};
    if (spec->compression == PR_ZIP) {
        m->method = PR_ZIP_DEFLATED;
        rc = pr_squeeze_start(&d->squeeze, spec->level, PR_WRAP_NONE, err);
        if (rc)
            return rc;
    }
    len = pr_zip_build_local(m, names[k], local);
    pr_out_lead(&d->out, len + a.head_bytes);
    rc = pr_out_put(&d->out, local, len, err);
    if (!rc)
        rc = npz_put_bytes(d, m, head, pr_npy_build(&a, head), !a.data_bytes,
                           err);
    if (!rc)
        rc = k == 0 ? put_samples(w, m, spec, err)
                    : npz_put_labels(w, m, spec, err);
    if (rc)
        return rc;
    pr_zip_build_local(m, names[k], local);
    return pr_out_patch(&d->out, m->at, local, len, err);
}

static int put_directory(struct writing *d, unsigned members,
                         struct pr_err *err)
{
    struct pr_zip zip = {.dir_at = pr_out_offset(&d->out), .members = members};
    uint8_t buf[PR_ZIP_ENTRY_MAX];
    int rc = PR_OK;

    for (unsigned k = 0; !rc && k < members; k++) {
        size_t n = pr_zip_build_entry(&d->m[k], names[k], buf);

        rc = pr_out_put(&d->out, buf, n, err);
        zip.dir_bytes += n;
    }
    return rc ? rc : pr_out_put(&d->out, buf, pr_zip_build_end(&zip, buf), err);
}

static int npz_write(struct pr_writer *w, const struct pr_file_spec *spec,
                     const char *name, uint64_t *ret_bytes, struct pr_err *err)
{
    struct writing *d = w->data;
    unsigned members = member_count(spec);
    bool exact;
    uint64_t bytes = npz_bytes(spec, &exact);
    int rc = d->out.block ? PR_OK : pr_out_init(&d->out, w->st, err);

    if (!rc)
        rc = pr_out_create(&d->out, name, exact ? bytes : 0, err);
    if (rc)
        return rc;
    for (unsigned k = 0; !rc && k < members; k++)
        rc = npz_put_member(w, spec, k, err);
    if (!rc)
        rc = put_directory(d, members, err);
    bytes = pr_out_offset(&d->out);
    if (rc)
        pr_out_discard(&d->out);
    else
        rc = pr_out_commit(&d->out, err);
    if (!rc)
        *ret_bytes = bytes;
    return rc;
}

static void npz_writer_done(struct pr_writer *w)
{
    struct writing *d = w->data;

    pr_squeeze_done(&d->squeeze);
}

const struct pr_format pr_format_npz = {
    .abi = PR_FORMAT_ABI,
    .name = "npz",
    .desc = "numpy arrays of samples and labels in a ZIP archive",
    .flags = PR_FORMAT_LABELS | PR_FORMAT_STREAM,
    .compressions = "none|zip",
    .check = npz_check,
    .bytes = npz_bytes,
    .writer_bytes = sizeof(struct writing),
    .write = npz_write,
    .writer_done = npz_writer_done,
    .reader_bytes = sizeof(struct pr_npz),
    .open = npz_open,
    .read = npz_read,
    .close = npz_close,
    .reader_done = npz_reader_done,
};
