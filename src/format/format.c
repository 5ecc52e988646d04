/*
 * The list of formats, and what readers and writers of all formats share: a
 * stream that they write into, and a window that they look through.
 */
#include "format/format.h"

#include "base/mem.h"
#include "base/units.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- a stream of bytes into an object being written */

int pr_out_init(struct pr_out *out, struct pr_storage *st, struct pr_err *err)
{
    *out = (struct pr_out){.st = st, .cap = PR_OUT_BLOCK};
    out->whole = pr_storage_buffer(st, out->cap + PR_OUT_LEAD);
    out->block = out->whole;
    return out->whole ? PR_OK : pr_fail_nomem(err);
}

int pr_out_create(struct pr_out *out, const char *name, uint64_t size,
                  struct pr_err *err)
{
    int rc = pr_object_create(out->st, name, size, &out->obj, err);

    out->block = out->whole;
    out->used = 0;
    out->base = 0;
    out->is_open = rc == PR_OK;
    return rc;
}

void pr_out_lead(struct pr_out *out, size_t lead)
{
    if (!out->base && !out->used && !pr_storage_needs_aligned(out->st))
        out->block =
            out->whole + (PR_OUT_LEAD - lead % PR_OUT_LEAD) % PR_OUT_LEAD;
}

static int out_flush_block(struct pr_out *out, struct pr_err *err)
{
    int rc = PR_OK;

    if (out->used)
        rc = pr_object_write(&out->obj, out->base, out->block, out->used, err);
    if (!rc) {
        out->base += out->used;
        out->used = 0;
    }
    return rc;
}

int pr_out_room(struct pr_out *out, size_t want, uint8_t **ret, size_t *ret_len,
                struct pr_err *err)
{
    int rc = out->used == out->cap ? out_flush_block(out, err) : PR_OK;
    size_t room = out->cap - out->used;

    if (rc)
        return rc;
    *ret = out->block + out->used;
    *ret_len = want < room ? want : room;
    return PR_OK;
}

void pr_out_advance(struct pr_out *out, size_t len)
{
    out->used += len;
}

int pr_out_put(struct pr_out *out, const void *data, size_t len,
               struct pr_err *err)
{
    const uint8_t *p = data;

    while (len) {
        uint8_t *room;
        size_t n;
        int rc = pr_out_room(out, len, &room, &n, err);

        if (rc)
            return rc;
        memcpy(room, p, n);
        pr_out_advance(out, n);
        p += n;
        len -= n;
    }
    return PR_OK;
}

int pr_out_patch(struct pr_out *out, uint64_t off, const void *data, size_t len,
                 struct pr_err *err)
{
    const uint8_t *p = data;

    if (off < out->base) { /* the part that has left the block */
        uint64_t gone = out->base - off;
        size_t n = gone < len ? (size_t)gone : len;
        int rc = pr_object_write(&out->obj, off, p, n, err);

        if (rc)
            return rc;
        p += n;
        off += n;
        len -= n;
    }
    if (len)
        memcpy(out->block + (off - out->base), p, len);
    return PR_OK;
}

int pr_out_commit(struct pr_out *out, struct pr_err *err)
{
    int rc = out_flush_block(out, err);

    out->is_open = false;
    if (!rc)
        return pr_object_commit(&out->obj, err);
    pr_object_discard(&out->obj);
    return rc;
}

void pr_out_discard(struct pr_out *out)
{
    if (out->is_open)
        pr_object_discard(&out->obj);
    out->is_open = false;
}

/* ---- compressing on the way into a stream */

int pr_squeeze_start(struct pr_squeeze *q, int level, enum pr_wrap wrap,
                     struct pr_err *err)
{
    level = level < 1 ? 1 : level > 9 ? 9 : level;
    if (q->z && q->level != level)
        pr_squeeze_done(q);
    if (!q->z)
        q->z = pr_deflate_new(level);
    if (!q->z)
        return pr_fail_nomem(err);
    q->level = level;
    pr_deflate_start(q->z, wrap);
    return PR_OK;
}

int pr_squeeze_put(struct pr_squeeze *q, struct pr_out *out, const void *data,
                   size_t len, bool last, struct pr_err *err)
{
    const uint8_t *in = data;
    bool is_done = false;

    while (len || (last && !is_done)) {
        uint8_t *room;
        size_t n;
        int rc = pr_out_room(out, PR_OUT_BLOCK, &room, &n, err);

        if (rc)
            return rc;
        is_done = pr_deflate_run(q->z, &in, &len, last, room, &n);
        pr_out_advance(out, n);
    }
    return PR_OK;
}

void pr_squeeze_done(struct pr_squeeze *q)
{
    pr_deflate_free(q->z);
    q->z = NULL;
}

#define FORMAT(name) extern const struct pr_format pr_format_##name;
#include "format/format_list.def"
#undef FORMAT

static const struct pr_format *const formats[] = {
#define FORMAT(name) &pr_format_##name,
#include "format/format_list.def"
#undef FORMAT
};

const struct pr_format *pr_format_at(size_t i)
{
    return i < sizeof formats / sizeof *formats ? formats[i] : NULL;
}

static bool is_called(const struct pr_format *f, const char *name)
{
    return strcmp(f->name, name) == 0 ||
           (f->alias && strcmp(f->alias, name) == 0);
}

int pr_format_find(const char *name, const struct pr_format **ret,
                   struct pr_err *err)
{
    const struct pr_format *f;

    for (size_t i = 0; (f = pr_format_at(i)); i++)
        if (is_called(f, name)) {
            *ret = f;
            return PR_OK;
        }
    pr_fail(err, PR_E_UNAVAIL, "dataset.format",
            "this build has no format '%s'", name);
    return pr_hint(err, "'prony doctor' says what is missing and how to get "
                        "it");
}

uint64_t pr_shape_count(const struct pr_shape *s)
{
    uint64_t n = 1;

    for (unsigned i = 0; i < s->ndim; i++)
        if (__builtin_mul_overflow(n, s->dim[i], &n))
            return UINT64_MAX;
    return n;
}

uint64_t pr_spec_sample_bytes(const struct pr_file_spec *spec)
{
    uint64_t n = pr_shape_count(&spec->shape);

    if (spec->labels_alone)
        return sizeof(int64_t);
    if (__builtin_mul_overflow(n, pr_dtype_bytes(spec->dtype), &n))
        return UINT64_MAX;
    return n;
}

/* ---- readers */

int pr_reader_new(const struct pr_format *format, struct pr_storage *st,
                  const struct pr_read_opts *opts, struct pr_reader **ret,
                  struct pr_err *err)
{
    struct pr_reader *r = pr_alloc_zeroed(sizeof *r);

    if (r)
        r->data = pr_alloc_zeroed(format->reader_bytes + 1);
    if (!r || !r->data) {
        pr_free(r);
        return pr_fail_nomem(err);
    }
    r->format = format;
    r->st = st;
    if (opts)
        r->opts = *opts;
    *ret = r;
    return PR_OK;
}

void pr_reader_free(struct pr_reader *r)
{
    if (!r)
        return;
    pr_reader_close(r);
    if (r->format->reader_done)
        r->format->reader_done(r);
    pr_free(r->scratch);
    pr_free(r->data);
    pr_free(r);
}

int pr_reader_limit(const struct pr_reader *r, uint64_t bytes,
                    struct pr_err *err)
{
    enum { TIMES = 4 };
    uint64_t most = (uint64_t)1 << 30, said;
    char a[16], b[16], c[16];

    if (!__builtin_mul_overflow(r->opts.sample_bytes, TIMES, &said) &&
        said > most)
        most = said;
    if (bytes <= most || bytes <= r->obj.size || bytes - r->obj.size <= most)
        return PR_OK;
    pr_fail(err, PR_E_FORMAT, r->name,
            "it has %s and would take %s of memory, more than the limit of %s",
            pr_format_bytes(a, r->obj.size), pr_format_bytes(b, bytes),
            pr_format_bytes(c, most));
    return pr_hint(err,
                   "the limit is %d times the size of a sample, by "
                   "dataset.record_length_bytes or record_dims, or 1 GiB "
                   "if that is more",
                   TIMES);
}

int pr_reader_open(struct pr_reader *r, const char *name, struct pr_err *err)
{
    size_t len = strlen(name);
    int rc;

    pr_reader_close(r);
    if (len >= sizeof r->name)
        return pr_fail(err, PR_E_IO, name, "the name is too long");
    memcpy(r->name, name, len + 1);
    r->samples = 0;
    r->need = 0;
    r->whole.ndim = 0;
    r->obj.size = 0;
    rc = r->format->open(r, err);
    if (!rc)
        rc = pr_reader_limit(r, r->need, err);
    if (rc)
        r->format->close(r);
    r->is_open = rc == PR_OK;
    return rc;
}

static int check_number(const struct pr_reader *r, uint64_t i,
                        struct pr_err *err)
{
    assert(r->is_open);
    if (i < r->samples)
        return PR_OK;
    return pr_fail(err, PR_E_FORMAT, r->name,
                   "there is no sample %llu, the file has %llu",
                   (unsigned long long)i, (unsigned long long)r->samples);
}

int pr_reader_read(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
                   struct pr_sample *ret, struct pr_err *err)
{
    int rc = check_number(r, i, err);

    if (!rc)
        rc = r->format->read(r, i, buf, cap, ret, err);
    /* It asks for a larger buffer. */
    if (rc == PR_E_CONF && r->need > cap && pr_reader_limit(r, r->need, NULL))
        rc = pr_reader_limit(r, r->need, err);
    return rc;
}

int pr_reader_read_part(struct pr_reader *r, uint64_t i,
                        const struct pr_part *part, void *buf, size_t cap,
                        struct pr_sample *ret, struct pr_err *err)
{
    int rc = check_number(r, i, err);

    assert(r->whole.ndim >= 2 && part->rows && part->columns &&
           part->top + part->rows <= r->whole.dim[0] &&
           part->left + part->columns <= r->whole.dim[1]);
    return rc ? rc : r->format->read_part(r, i, part, buf, cap, ret, err);
}

void pr_reader_close(struct pr_reader *r)
{
    if (r->is_open)
        r->format->close(r);
    r->is_open = false;
}

uint8_t *pr_reader_scratch(struct pr_reader *r, size_t bytes)
{
    if (bytes > r->scratch_cap) {
        pr_free(r->scratch);
        r->scratch_cap = 0;
        r->scratch = pr_alloc_aligned(PR_IO_ALIGN, bytes);
        if (r->scratch)
            r->scratch_cap = bytes;
    }
    return r->scratch;
}

int pr_reader_bad(const struct pr_reader *r, uint64_t offset,
                  struct pr_err *err, const char *fmt, ...)
{
    char text[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return pr_fail(err, PR_E_FORMAT, r->name, "at byte %llu: %s",
                   (unsigned long long)offset, text);
}

/* ---- writers */

int pr_writer_new(const struct pr_format *format, struct pr_storage *st,
                  struct pr_writer **ret, struct pr_err *err)
{
    struct pr_writer *w = pr_alloc_zeroed(sizeof *w);

    if (w)
        w->data = pr_alloc_zeroed(format->writer_bytes + 1);
    if (!w || !w->data) {
        pr_free(w);
        return pr_fail_nomem(err);
    }
    w->format = format;
    w->st = st;
    *ret = w;
    return PR_OK;
}

void pr_writer_free(struct pr_writer *w)
{
    if (!w)
        return;
    if (w->format->writer_done)
        w->format->writer_done(w);
    pr_free(w->data);
    pr_free(w);
}

int pr_writer_write(struct pr_writer *w, const struct pr_file_spec *spec,
                    const char *name, uint64_t *ret_bytes, struct pr_err *err)
{
    return w->format->write(w, spec, name, ret_bytes, err);
}

bool pr_writer_is_stopped(const struct pr_writer *w)
{
    return w->stop && __atomic_load_n(w->stop, __ATOMIC_RELAXED);
}

/* ---- looking at small parts of a file */

static int window_fetch(struct pr_window *w, struct pr_reader *r, uint64_t off,
                        size_t len, struct pr_err *err)
{
    uint8_t *buf = pr_reader_scratch(r, len + PR_IO_SLACK);
    int rc;

    w->len = 0;
    if (!buf)
        return pr_fail_nomem(err);
    rc = pr_object_fetch(&r->obj, off, len, buf, r->scratch_cap, &w->data, err);
    if (!rc) {
        w->off = off;
        w->len = len;
    }
    return rc;
}

int pr_window_open(struct pr_window *w, struct pr_reader *r, struct pr_err *err)
{
    w->off = 0;
    w->len = 0;
    if (r->obj.size > PR_WINDOW_WHOLE)
        return PR_OK;
    return window_fetch(w, r, 0, (size_t)r->obj.size, err);
}

int pr_window_get(struct pr_window *w, struct pr_reader *r, uint64_t off,
                  size_t len, const uint8_t **ret, struct pr_err *err)
{
    uint64_t size = r->obj.size;
    size_t want = len < PR_WINDOW_STEP ? PR_WINDOW_STEP : len;

    assert(len <= PR_WINDOW_MAX);
    if (off > size || len > size - off)
        return pr_reader_bad(
            r, size, err, "the file ends, %zu bytes at byte %llu are missing",
            len, (unsigned long long)off);
    if (off < w->off || off - w->off > w->len ||
        len > w->len - (off - w->off)) {
        int rc =
            window_fetch(w, r, off, want < size - off ? want : size - off, err);

        if (rc)
            return rc;
    }
    *ret = w->data + (off - w->off);
    return PR_OK;
}
