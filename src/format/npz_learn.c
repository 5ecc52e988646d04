/*
 * What is in an npz file: which member is the array of samples, which has
 * their labels, and the heads of both. Labels are taken along at once: there
 * are few, and next to the directory as a rule.
 */
#include "base/codec/checksum.h"
#include "base/mem.h"
#include "format/npz_impl.h"

#include <string.h>

/* ---- members */

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

/* ---- heads */

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

/* ---- labels */

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

/* ---- all of it */

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

int pr_npz_read_directory(struct pr_reader *r, struct pr_err *err)
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
