/*
 * For tests of formats: a storage with nothing in it, in memory or in a folder
 * of its own, files made of bytes, and a reader with its buffer. What goes
 * wrong here fails the test.
 */
#ifndef TESTS_UNIT_FILES_TOOL_H
#define TESTS_UNIT_FILES_TOOL_H

#include "base/mem.h"
#include "format/content.h"
#include "format/format.h"

#include "skip.h"
#include "torture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct place {
    struct pr_storage_opts opts;
    struct pr_storage *st;
    char folder[64];
};

static inline void place_init(struct place *p, const char *engine)
{
    struct pr_err err = {0};

    *p = (struct place){0};
    strcpy(p->folder, "/tmp/prony-test-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    p->opts = (struct pr_storage_opts){
        .engine = engine,
        .storage_type = "local_fs",
        .storage_root = p->folder,
        .block_size = 1 << 20,
        .queue_depth = 8,
        .fault = "",
        .trace = "",
    };
    if (pr_storage_open(&p->opts, &p->st, &err))
        fail_msg("%s: %s", engine, err.msg);
}

static inline int remove_one(void *ctx, const char *name, bool is_folder)
{
    struct place *p = ctx;

    assert_false(is_folder);
    assert_int_equal(pr_storage_remove(p->st, name, NULL), PR_OK);
    return 1; /* the list may not like what was done to it: start again */
}

static inline int count_one(void *ctx, const char *name, bool is_folder)
{
    (void)name;
    (void)is_folder;
    ++*(int *)ctx;
    return 0;
}

/* How many objects there are, unfinished ones included. */
static inline int place_count(struct place *p)
{
    int n = 0;

    assert_int_equal(pr_storage_list(p->st, "", count_one, &n, NULL), PR_OK);
    return n;
}

static inline void place_done(struct place *p)
{
    while (pr_storage_list(p->st, "", remove_one, p, NULL) == 1)
        continue;
    pr_storage_close(p->st);
    assert_int_equal(rmdir(p->folder), 0);
}

static inline void put_file(struct place *p, const char *name, const void *data,
                            size_t len)
{
    struct pr_object o;

    assert_int_equal(pr_object_create(p->st, name, len, &o, NULL), PR_OK);
    assert_int_equal(pr_object_write(&o, 0, data, len, NULL), PR_OK);
    assert_int_equal(pr_object_commit(&o, NULL), PR_OK);
}

/* The bytes of a file; free them. */
static inline uint8_t *get_file(struct place *p, const char *name, size_t *len)
{
    struct pr_object o;
    uint8_t *data;

    assert_int_equal(pr_object_open(p->st, name, &o, NULL), PR_OK);
    *len = (size_t)o.size;
    data = malloc(*len + 1);
    assert_non_null(data);
    assert_int_equal(pr_object_read(&o, 0, *len, data, NULL), PR_OK);
    pr_object_close(&o);
    return data;
}

static inline const struct pr_format *format_of(const char *name)
{
    const struct pr_format *f;

    assert_int_equal(pr_format_find(name, &f, NULL), PR_OK);
    return f;
}

static inline int try_write(struct place *p, const char *format,
                            const struct pr_file_spec *spec, const char *name,
                            struct pr_err *err)
{
    struct pr_writer *w;
    uint64_t bytes = 0, said;
    bool exact;
    int rc = pr_writer_new(format_of(format), p->st, &w, err);

    if (rc)
        return rc;
    rc = pr_writer_write(w, spec, name, &bytes, err);
    said = w->format->bytes(spec, &exact);
    if (!rc && exact)
        assert_true(bytes == said);
    if (!rc)
        assert_true(bytes <= said);
    pr_writer_free(w);
    return rc;
}

static inline void write_file(struct place *p, const char *format,
                              const struct pr_file_spec *spec, const char *name)
{
    struct pr_err err = {0};

    if (try_write(p, format, spec, name, &err))
        fail_msg("%s: %s: %s", name, err.where, err.msg);
}

/* A reader and a buffer as large as it asks for, not a byte more. */
struct reading {
    struct pr_reader *r;
    uint8_t *buf;
    size_t cap;
    struct pr_sample s;
    struct pr_err err;
};

static inline int reading_init(struct reading *x, struct place *p,
                               const char *format,
                               const struct pr_read_opts *opts)
{
    *x = (struct reading){0};
    return pr_reader_new(format_of(format), p->st, opts, &x->r, &x->err);
}

static inline int reading_open(struct reading *x, const char *name)
{
    return pr_reader_open(x->r, name, &x->err);
}

/* Grows the buffer when the reader says that it must. */
static inline int reading_read(struct reading *x, uint64_t i)
{
    for (;;) {
        int rc;

        if (x->cap != x->r->need || !x->buf) {
            pr_free(x->buf);
            x->cap = x->r->need;
            x->buf = pr_alloc_aligned(PR_IO_ALIGN, x->cap);
            if (!x->buf)
                return pr_fail_nomem(&x->err);
        }
        rc = pr_reader_read(x->r, i, x->buf, x->cap, &x->s, &x->err);
        if (rc != PR_E_CONF || x->r->need <= x->cap)
            return rc;
    }
}

static inline void reading_done(struct reading *x)
{
    pr_reader_free(x->r);
    pr_free(x->buf);
}

/* Sample i is what the specification makes it. */
static inline void must_be(struct reading *x, const struct pr_file_spec *spec,
                           uint64_t i)
{
    size_t bytes = (size_t)pr_spec_sample_bytes(spec);
    uint8_t *want = pr_alloc_aligned(64, bytes + 1);
    int rc = reading_read(x, i);

    assert_non_null(want);
    if (rc)
        fail_msg("sample %llu: %s: %s", (unsigned long long)i, x->err.where,
                 x->err.msg);
    pr_content_fill(spec, i, 0, want, bytes);
    assert_int_equal(x->s.size, bytes);
    assert_int_equal(x->s.dtype, PR_U8);
    assert_int_equal(x->s.shape.ndim, 1);
    assert_int_equal(x->s.shape.dim[0], bytes);
    assert_false(x->s.fortran);
    assert_memory_equal(x->s.data, want, bytes);
    pr_free(want);
}

/* In order, backward, and here and there. */
static inline void all_must_be(struct reading *x,
                               const struct pr_file_spec *spec)
{
    uint64_t n = spec->samples;

    assert_int_equal(x->r->samples, n);
    for (uint64_t i = 0; i < n; i++)
        must_be(x, spec, i);
    for (uint64_t i = n; i-- > 0;)
        must_be(x, spec, i);
    for (uint64_t i = 0; i < n; i++)
        must_be(x, spec, i * 7 % n);
}

/* What DLIO wrote; skips the test where it is not there. */
static inline void find_dlio(const char *file, char out[static 4096])
{
    char part[512];

    snprintf(part, sizeof part, "dlio/samples/%s", file);
    find_peers(part, out);
}

static const char *const engines[] = {"memory", "pread", "direct", "mmap"};
enum { ENGINES = sizeof engines / sizeof *engines };

#endif
