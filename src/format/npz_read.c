/*
 * Reading samples of npz files. Stored ones are fetched by position; a small
 * file is in memory whole and its checksum was compared when it was opened, in
 * a large one this is done while its samples are read. Deflated ones come from
 * a stream that goes back to the start when a sample before the last is asked
 * for.
 */
#include "base/codec/checksum.h"
#include "base/mem.h"
#include "format/npz_impl.h"

#include <assert.h>
#include <string.h>

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

/* ---- stored, large, elements together */

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
    const uint8_t *data;
    int rc;

    if (i && i != d->sum_next)
        return pr_npy_array_read(a, r, &d->win, npz_data_offset(d), i, buf, cap,
                                 ret, err);
    rc = fetch_summing(r, npz_data_offset(d) + i * a->bytes, (size_t)a->bytes,
                       buf, cap, &sum, &data, err);
    if (!rc && i + 1 == a->samples)
        rc = end_sum(r, d, sum, err);
    if (rc)
        return rc;
    d->sum = sum;
    d->sum_next = i + 1;
    pr_npy_array_native(a, data, buf, ret);
    return PR_OK;
}

/* ---- stored, large, elements of samples alternating */

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

/* ---- deflated */

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

    if (r->opts.skip_decode)
        return read_share(r, i, buf, cap, ret, err);
    if (d->x.method == PR_ZIP_DEFLATED)
        return read_deflated(r, i, buf, ret, err);
    if (d->is_checked)
        return pr_npy_array_read(&d->array, r, &d->win, npz_data_offset(d), i,
                                 buf, cap, ret, err);
    return d->array.step > 1 ? read_alternating(r, i, buf, ret, err)
                             : read_together(r, i, buf, cap, ret, err);
}

int pr_npz_read(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
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

int pr_npz_open(struct pr_reader *r, struct pr_err *err)
{
    struct pr_npz *d = r->data;
    int rc = pr_object_open(r->st, r->name, &r->obj, err);

    d->is_open = rc == PR_OK;
    if (!rc)
        rc = pr_window_open(&d->win, r, err);
    if (!rc)
        rc = pr_npz_read_directory(r, err);
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

void pr_npz_close(struct pr_reader *r)
{
    struct pr_npz *d = r->data;

    if (d->is_open)
        pr_object_close(&r->obj);
    d->is_open = false;
}

void pr_npz_reader_done(struct pr_reader *r)
{
    struct pr_npz *d = r->data;

    pr_zip_stream_done(&d->stream);
    pr_free(d->labels);
}
