/*
 * What fuzz targets of formats share: bytes become a file in memory, a reader
 * opens it and reads its samples in order and backward. Whatever the bytes,
 * it gives samples that fit or says what is wrong.
 */
#ifndef TESTS_FUZZ_FUZZ_READER_H
#define TESTS_FUZZ_FUZZ_READER_H

#include "base/mem.h"
#include "format/format.h"

#include <stdlib.h>
#include <string.h>

enum { FUZZ_SAMPLES = 64, FUZZ_BUFFER_MAX = 16 << 20 };

static inline void must(bool ok)
{
    if (!ok)
        abort();
}

struct fuzz_place {
    struct pr_storage_opts opts;
    struct pr_storage *st;
};

static inline void fuzz_place_init(struct fuzz_place *p)
{
    p->opts = (struct pr_storage_opts){
        .engine = "memory",
        .storage_type = "local_fs",
        .storage_root = ".",
        .block_size = 1 << 20,
        .queue_depth = 1,
        .fault = "",
        .trace = "",
    };
    must(pr_storage_open(&p->opts, &p->st, NULL) == PR_OK);
}

static inline void fuzz_place_done(struct fuzz_place *p)
{
    pr_storage_close(p->st);
}

static inline void fuzz_put(struct fuzz_place *p, const char *name,
                            const uint8_t *data, size_t bytes)
{
    struct pr_object o;

    must(pr_object_create(p->st, name, bytes, &o, NULL) == PR_OK);
    must(pr_object_write(&o, 0, data, bytes, NULL) == PR_OK);
    must(pr_object_commit(&o, NULL) == PR_OK);
}

/* Every byte of a sample is there. */
static inline void fuzz_touch(const struct pr_sample *s)
{
    const uint8_t *p = s->data;
    volatile uint8_t sum = 0;
    uint64_t n = pr_shape_count(&s->shape);

    for (size_t i = 0; i < s->size; i++)
        sum = (uint8_t)(sum + p[i]);
    must((unsigned)s->dtype < PR_DTYPE_COUNT);
    must(s->shape.ndim <= PR_MAX_DIMS);
    must(n == UINT64_MAX || n * pr_dtype_bytes(s->dtype) == s->size);
}

/* A buffer of need bytes, which may grow at a read: then once more. */
static inline void fuzz_sample(struct pr_reader *r, uint64_t i)
{
    size_t cap;
    int rc;

    do {
        struct pr_sample s = {0};
        struct pr_err err = {0};
        uint8_t *buf;

        cap = r->need;
        if (cap > FUZZ_BUFFER_MAX)
            return;
        buf = pr_alloc_aligned(PR_IO_ALIGN, cap);
        must(buf != NULL);
        rc = pr_reader_read(r, i, buf, cap, &s, &err);
        must(rc == PR_OK || err.msg[0]);
        if (!rc)
            fuzz_touch(&s);
        must(rc || s.size <= r->need);
        pr_free(buf);
    } while (rc == PR_E_CONF && r->need > cap);
}

/* Opens the file f and reads it. */
static inline void fuzz_file(struct pr_reader *r)
{
    struct pr_err err = {0};
    uint64_t n;

    if (pr_reader_open(r, "f", &err)) {
        must(err.msg[0]);
        return;
    }
    n = r->samples < FUZZ_SAMPLES ? r->samples : FUZZ_SAMPLES;
    for (uint64_t i = 0; i < n; i++)
        fuzz_sample(r, i);
    for (uint64_t i = n; i-- > 0;)
        fuzz_sample(r, i);
    if (r->samples > n)
        fuzz_sample(r, r->samples - 1);
}

static inline struct pr_reader *fuzz_new_reader(struct fuzz_place *p,
                                                const char *format,
                                                const struct pr_read_opts *opts)
{
    const struct pr_format *f;
    struct pr_reader *r;

    must(pr_format_find(format, &f, NULL) == PR_OK);
    must(pr_reader_new(f, p->st, opts, &r, NULL) == PR_OK);
    return r;
}

static inline void fuzz_read(struct fuzz_place *p, const char *format,
                             const struct pr_read_opts *opts)
{
    struct pr_reader *r = fuzz_new_reader(p, format, opts);

    fuzz_file(r);
    pr_reader_free(r);
}

/* All of it for a format of one file. */
static inline void fuzz_reader(const char *format, const uint8_t *data,
                               size_t bytes, const struct pr_read_opts *opts)
{
    struct fuzz_place p;

    fuzz_place_init(&p);
    fuzz_put(&p, "f", data, bytes);
    fuzz_read(&p, format, opts);
    fuzz_place_done(&p);
}

#endif
