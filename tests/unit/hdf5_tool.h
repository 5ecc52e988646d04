/* For tests of HDF5: files that h5py wrote, which are the seeds of the fuzzer,
 * and what is in them. */
#ifndef TESTS_UNIT_HDF5_TOOL_H
#define TESTS_UNIT_HDF5_TOOL_H

#include "files_tool.h"

/* A seed, after its first byte; free it. */
static inline uint8_t *seed(const char *name, size_t *len)
{
    const char *src = getenv("SRC");
    char path[4096];
    uint8_t *data = malloc(8192);
    FILE *f;

    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/hdf5/%s", src ? src : ".",
             name);
    f = fopen(path, "rb");
    if (!f)
        fail_msg("cannot open %s", path);
    assert_non_null(data);
    assert_int_equal(fgetc(f), 255);
    *len = fread(data, 1, 8192, f);
    fclose(f);
    return data;
}

static inline void put_seed(struct place *p, const char *name)
{
    size_t len;
    uint8_t *data = seed(name, &len);

    put_file(p, name, data, len);
    free(data);
}

static inline double value_at(const struct pr_sample *s, size_t i)
{
    switch (s->dtype) {
#define ROW(id, type) \
    case id:          \
        return (double)((const type *)s->data)[i];
        ROW(PR_U8, uint8_t)
        ROW(PR_B8, uint8_t)
        ROW(PR_U16, uint16_t)
        ROW(PR_I32, int32_t)
        ROW(PR_I64, int64_t)
        ROW(PR_F32, float)
        ROW(PR_F64, double)
#undef ROW
    default:
        fail_msg("%s", pr_dtype_name(s->dtype));
        return 0;
    }
}

/* Elements count from 0 over all samples, and start again at mod. */
static const struct row {
    const char *name;
    uint64_t samples;
    enum pr_dtype dtype;
    struct pr_shape shape;
    unsigned mod;
    bool has_labels;
} rows[] = {
    {"flat_old", 2, PR_U16, {2, {3, 4}}, 1000, true},
    {"flat_new", 2, PR_U16, {2, {3, 4}}, 1000, true},
    {"chunks_new", 2, PR_U16, {2, {3, 4}}, 1000, false},
    {"resizable", 2, PR_U16, {2, {3, 4}}, 1000, false},
    {"gzip_new", 3, PR_I32, {1, {40}}, 1000, false}, /* and turned around */
    {"gzip_old", 4, PR_F32, {1, {30}}, 1000, false},
    {"lzf_new", 3, PR_U8, {1, {40}}, 7, false},
    {"odd_int", 3, PR_I64, {1, {4}}, 1000, false}, /* 20 bits */
    {"long_double", 2, PR_F64, {1, {6}}, 1000, false},
    {"compact", 3, PR_I32, {1, {4}}, 1000, false},
    {"scaleoffset", 2, PR_U16, {1, {12}}, 1000, false}, /* libhdf5's own */
    {"bool", 2, PR_B8, {1, {5}}, 2, false},
    {"user_block", 4, PR_U8, {1, {10}}, 1000, true},
};
enum { ROWS = sizeof rows / sizeof *rows };

static inline void must_be_row(struct reading *x, const struct row *w,
                               uint64_t i)
{
    uint64_t per = pr_shape_count(&w->shape);

    if (reading_read(x, i))
        fail_msg("%s: %s", w->name, x->err.msg);
    assert_int_equal(x->s.dtype, w->dtype);
    assert_int_equal(x->s.shape.ndim, w->shape.ndim);
    for (unsigned a = 0; a < w->shape.ndim; a++)
        assert_int_equal(x->s.shape.dim[a], w->shape.dim[a]);
    assert_int_equal(x->s.size, per * pr_dtype_bytes(w->dtype));
    for (uint64_t k = 0; k < per; k++)
        if (value_at(&x->s, k) != (double)((i * per + k) % w->mod))
            fail_msg("%s: sample %u, element %u: %g", w->name, (unsigned)i,
                     (unsigned)k, value_at(&x->s, k));
    assert_int_equal(x->s.has_label, w->has_labels);
    if (w->has_labels)
        assert_int_equal(x->s.label, i);
}

static inline void must_be_rows(struct reading *x, const struct row *w)
{
    if (reading_open(x, w->name))
        fail_msg("%s: %s", w->name, x->err.msg);
    assert_int_equal(x->r->samples, w->samples);
    for (uint64_t i = 0; i < w->samples; i++)
        must_be_row(x, w, i);
    for (uint64_t i = w->samples; i-- > 0;)
        must_be_row(x, w, i);
}

#endif
