/* npy files: samples along any axis, what is written, what DLIO wrote. */
#include "files_tool.h"

/* A head of version 1 with that dict; its length. */
static size_t head_of(const char *dict, uint8_t *out)
{
    size_t n = strlen(dict);

    memcpy(out, "\x93NUMPY", 6);
    out[6] = 1;
    out[7] = 0;
    out[8] = (uint8_t)n;
    out[9] = (uint8_t)(n >> 8);
    memcpy(out + 10, dict, n);
    return 10 + n;
}

#define D "{'descr': '<f4', 'fortran_order': False, "

/* ---- samples */

/* Element (sample s, e) of an array: a number that says both. */
static uint64_t element(uint64_t s, uint64_t e)
{
    return s * 131 + e * 7 + 1;
}

struct layout {
    struct pr_shape shape;
    bool fortran;
    uint64_t samples; /* that the reader is told */
    int axis;         /* that counts them; -1: none */
};

/* The index in memory of the element with these coordinates. */
static uint64_t index_of(const struct layout *l, const uint64_t *at)
{
    uint64_t i = 0;
    unsigned n = l->shape.ndim;

    for (unsigned k = 0; k < n; k++) {
        unsigned d = l->fortran ? n - 1 - k : k;
        i = i * l->shape.dim[d] + at[d];
    }
    return i;
}

static void put_number(uint8_t *p, uint64_t v, size_t bytes, bool swapped)
{
    for (size_t k = 0; k < bytes; k++)
        p[swapped ? bytes - 1 - k : k] = (uint8_t)(v >> 8 * k);
}

/* Numbers the elements of each sample in C order of its own shape, and puts
 * them where the array has them. */
static void fill_array(const struct layout *l, size_t el, bool swapped,
                       uint8_t *data)
{
    uint64_t at[PR_MAX_DIMS] = {0}, count = pr_shape_count(&l->shape);

    for (uint64_t i = 0; i < count; i++) {
        uint64_t s = 0, e = 0, rest = i;

        for (unsigned d = l->shape.ndim; d-- > 0;) {
            at[d] = rest % l->shape.dim[d];
            rest /= l->shape.dim[d];
        }
        for (int d = 0; d < (int)l->shape.ndim; d++)
            if (d == l->axis)
                s = at[d];
            else
                e = e * l->shape.dim[d] + at[d];
        put_number(data + index_of(l, at) * el, element(s, e), el, swapped);
    }
}

static size_t make_array(const struct layout *l, enum pr_dtype t, bool swapped,
                         uint8_t **ret)
{
    size_t el = pr_dtype_bytes(t), n, len;
    uint64_t count = pr_shape_count(&l->shape);
    char dict[256];
    uint8_t *file = malloc(512 + count * el);

    assert_non_null(file);
    n = (size_t)snprintf(dict, sizeof dict,
                         "{'descr': '%c%c%zu', 'fortran_order': %s, 'shape': (",
                         swapped ? '>' : '<', pr_dtype_letter(t), el,
                         l->fortran ? "True" : "False");
    for (unsigned d = 0; d < l->shape.ndim; d++)
        n += (size_t)snprintf(dict + n, sizeof dict - n, "%llu, ",
                              (unsigned long long)l->shape.dim[d]);
    snprintf(dict + n, sizeof dict - n, ")}");
    len = head_of(dict, file);
    fill_array(l, el, swapped, file + len);
    *ret = file;
    return len + count * el;
}

/* Element e of the sample, counted in C order of its shape. */
static uint64_t got_element(const struct pr_sample *s, uint64_t e)
{
    struct layout l = {.shape = s->shape, .fortran = s->fortran};
    uint64_t at[PR_MAX_DIMS] = {0}, v = 0;

    for (unsigned d = s->shape.ndim; d-- > 0;) {
        at[d] = e % s->shape.dim[d];
        e /= s->shape.dim[d];
    }
    memcpy(&v,
           (const uint8_t *)s->data +
               index_of(&l, at) * pr_dtype_bytes(s->dtype),
           pr_dtype_bytes(s->dtype));
    return v;
}

static void check_sample(struct reading *x, const struct layout *l,
                         enum pr_dtype t, uint64_t i)
{
    uint64_t count = pr_shape_count(&l->shape) / (l->axis < 0 ? 1 : l->samples);
    uint64_t mask = ~(uint64_t)0 >> (64 - 8 * pr_dtype_bytes(t));

    if (reading_read(x, i))
        fail_msg("%s", x->err.msg);
    assert_int_equal(x->s.dtype, t);
    assert_int_equal(x->s.size, count * pr_dtype_bytes(t));
    assert_int_equal(x->s.shape.ndim, l->shape.ndim - (l->axis >= 0));
    assert_int_equal(pr_shape_count(&x->s.shape), count);
    assert_false(x->s.has_label);
    if (x->s.shape.ndim < 2)
        assert_false(x->s.fortran);
    for (uint64_t e = 0; e < count; e += 1 + count / 1000)
        if (got_element(&x->s, e) != (element(i, e) & mask))
            fail_msg("sample %d, element %d", (int)i, (int)e);
}

static const struct layout layouts[] = {
    {{3, {4, 6, 3}}, false, 3, 2},
    {{3, {4, 6, 3}}, true, 3, 2},
    {{3, {3, 4, 6}}, false, 3, 0},
    {{3, {3, 4, 6}}, true, 3, 0},
    {{3, {3, 4, 3}}, false, 3, 2},
    {{3, {4, 6, 1}}, false, 1, 2},
    {{3, {4, 6, 1}}, true, 1, 2},
    {{2, {4, 6}}, false, 1, -1},
    {{2, {4, 6}}, true, 0, -1},
    {{1, {5}}, false, 5, 0},
    {{1, {5}}, true, 5, 0},
    {{1, {5}}, false, 0, -1},
    {{0, {0}}, false, 0, -1},
    {{0, {0}}, false, 1, -1},
    {{3, {700, 601, 3}}, false, 3, 2},
    {{3, {700, 601, 3}}, true, 3, 2},
    {{3, {3, 700, 601}}, false, 3, 0},
    {{3, {3, 700, 601}}, true, 3, 0},
    {{2, {5, 300000}}, false, 300000, 1}, /* a step longer than a piece */
    {{2, {1200, 1100}}, false, 1, -1},
};

static void check_layout(struct place *p, const struct layout *l,
                         enum pr_dtype t, const uint8_t *file, size_t len)
{
    struct pr_read_opts opts = {.samples = l->samples};
    uint64_t n = l->samples ? l->samples : 1;
    struct reading x;

    put_file(p, "f", file, len);
    assert_int_equal(reading_init(&x, p, "npy", &opts), PR_OK);
    if (reading_open(&x, "f"))
        fail_msg("%s", x.err.msg);
    assert_int_equal(x.r->samples, n);
    for (uint64_t i = 0; i < n; i += 1 + n / 5)
        check_sample(&x, l, t, i);
    check_sample(&x, l, t, n - 1);
    check_sample(&x, l, t, 0);
    reading_done(&x);
}

static void samples_come_from_any_layout(void **state)
{
    static const enum pr_dtype types[] = {PR_U8, PR_I16, PR_U32, PR_I64};
    struct place places[ENGINES];

    (void)state;
    for (int e = 0; e < ENGINES; e++)
        place_init(&places[e], engines[e]);
    for (unsigned k = 0; k < 8 * sizeof layouts / sizeof *layouts; k++) {
        const struct layout *l = &layouts[k / 8];
        bool is_large = pr_shape_count(&l->shape) > 100000;
        uint8_t *file;
        size_t len;

        if (is_brief() && is_large && k % 8 != 3 * (k / 8) % 8)
            continue;
        len = make_array(l, types[k % 4], k / 4 % 2, &file);
        for (int e = 0; e < ENGINES; e++)
            check_layout(&places[e], l, types[k % 4], file, len);
        free(file);
    }
    for (int e = 0; e < ENGINES; e++)
        place_done(&places[e]);
}

/* Raw: the stored bytes, in equal parts. */
static void raw_samples_are_not_decoded(void **state)
{
    const struct layout *l = &layouts[0];
    struct pr_read_opts opts = {.samples = 3, .skip_decode = true};
    struct place p;
    struct reading x;
    uint8_t *file;
    size_t len = make_array(l, PR_I16, true, &file), part = 24 * 2;

    (void)state;
    place_init(&p, "pread");
    put_file(&p, "f", file, len);
    assert_int_equal(reading_init(&x, &p, "npy", &opts), PR_OK);
    assert_int_equal(reading_open(&x, "f"), PR_OK);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(reading_read(&x, i), PR_OK);
        assert_int_equal(x.s.size, part);
        assert_memory_equal(x.s.data, file + len - (3 - i) * part, part);
    }
    reading_done(&x);
    free(file);
    place_done(&p);
}

static void bad_files_are_refused(void **state)
{
    static const struct {
        const char *dict;
        size_t data;
        uint64_t samples;
        int rc;
        const char *msg;
    } rows[] = {
        {D "'shape': (3, 4)}", 47, 0, PR_E_FORMAT,
         "the file ends, its array has 48 bytes"},
        {D "'shape': (3, 4)}", 48, 0, PR_OK, ""},
        {D "'shape': (3, 4)}", 49, 0, PR_OK, ""}, /* numpy does not mind */
        {D "'shape': (3, 4)}", 48, 5, PR_E_FORMAT,
         "neither the last nor the first dimension, 4 and 3, counts 5 samples"},
        {D "'shape': ()}", 4, 2, PR_E_FORMAT, "not 2 samples"},
        {D "'shape': (4611686018427387903,)}", 4, 0, PR_E_FORMAT,
         "larger than any file"},
        {D "'shape': (2305843009213693951,)}", 4, 0, PR_E_FORMAT,
         "the file ends, its array has 9223372036854775804 bytes"},
    };
    struct place p;

    (void)state;
    place_init(&p, "memory");
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_read_opts opts = {.samples = rows[i].samples};
        uint8_t file[256] = {0};
        size_t len = head_of(rows[i].dict, file);
        struct reading x;

        put_file(&p, "f", file, len + rows[i].data);
        assert_int_equal(reading_init(&x, &p, "npy", &opts), PR_OK);
        assert_int_equal(reading_open(&x, "f"), rows[i].rc);
        if (!strstr(x.err.msg, rows[i].msg))
            fail_msg("row %u: '%s'", i, x.err.msg);
        for (size_t cut = 0; cut < len; cut++) { /* anywhere in the head */
            put_file(&p, "f", file, cut);
            assert_int_equal(reading_open(&x, "f"), PR_E_FORMAT);
        }
        reading_done(&x);
    }
    place_done(&p);
}

static void a_buffer_too_small_is_refused(void **state)
{
    struct pr_err err = {0};
    struct pr_sample s;
    struct place p;
    struct reading x;
    uint8_t *file;
    size_t len = make_array(&layouts[0], PR_U8, false, &file);

    (void)state;
    place_init(&p, "pread");
    put_file(&p, "f", file, len);
    assert_int_equal(reading_init(&x, &p, "npy", NULL), PR_OK);
    assert_int_equal(reading_open(&x, "f"), PR_OK);
    assert_int_equal(pr_reader_read(x.r, 0, file, 10, &s, &err), PR_E_CONF);
    assert_non_null(strstr(err.msg, "a buffer of 10 bytes is too small"));
    reading_done(&x);
    free(file);
    place_done(&p);
}

/* ---- writing */

static const struct pr_file_spec specs[] = {
    {.shape = {2, {64, 64}}, .dtype = PR_U8, .samples = 1, .key = 1},
    {.shape = {2, {64, 65}}, .dtype = PR_U8, .samples = 7, .key = 2},
    {.shape = {3, {3, 8, 8}}, .dtype = PR_F32, .samples = 3, .key = 3},
    {.shape = {0, {0}}, .dtype = PR_I16, .samples = 9, .key = 4},
    {.shape = {1, {1}}, .dtype = PR_F64, .samples = 4, .key = 5},
    {.shape = {2, {338, 338}}, .dtype = PR_U8, .samples = 5, .key = 6},
    {.shape = {2, {1201, 1207}}, .dtype = PR_F16, .samples = 2, .key = 7},
    {.shape = {1, {3000001}}, .dtype = PR_B8, .samples = 1, .key = 8},
    {.shape = {2, {600, 500}}, .dtype = PR_U64, .samples = 1, .key = 9},
};

static void check_written(struct reading *x, const struct pr_file_spec *spec,
                          uint64_t i)
{
    size_t bytes = (size_t)pr_spec_sample_bytes(spec);
    uint8_t *want = pr_alloc_aligned(64, bytes);

    if (reading_read(x, i))
        fail_msg("%s", x->err.msg);
    pr_content_fill(spec, i, 0, want, bytes);
    assert_int_equal(x->s.dtype, spec->dtype);
    assert_int_equal(x->s.size, bytes);
    assert_int_equal(x->s.shape.ndim, spec->shape.ndim);
    for (unsigned d = 0; d < spec->shape.ndim; d++)
        assert_int_equal(x->s.shape.dim[d], spec->shape.dim[d]);
    assert_int_equal(x->s.fortran, spec->samples > 1 &&
                                       pr_shape_count(&spec->shape) > 1 &&
                                       spec->shape.ndim > 1);
    assert_memory_equal(x->s.data, want, bytes);
    pr_free(want);
}

static void what_is_written_is_read(void **state)
{
    struct place p;
    struct reading x;

    (void)state;
    for (int e = 0; e < ENGINES; e++) {
        place_init(&p, engines[e]);
        for (unsigned k = 0; k < sizeof specs / sizeof *specs; k++) {
            const struct pr_file_spec *spec = &specs[k];
            struct pr_read_opts opts = {.samples = spec->samples};

            if (is_brief() && (int)k % ENGINES != e)
                continue;
            assert_int_equal(format_of("npy")->check(spec, NULL), PR_OK);
            write_file(&p, "npy", spec, "f");
            assert_int_equal(reading_init(&x, &p, "npy", &opts), PR_OK);
            assert_int_equal(reading_open(&x, "f"), PR_OK);
            assert_int_equal(x.r->samples, spec->samples);
            for (uint64_t i = 0; i < spec->samples; i++)
                check_written(&x, spec, i);
            for (uint64_t i = spec->samples; i-- > 0;)
                check_written(&x, spec, i);
            reading_done(&x);
        }
        place_done(&p);
    }
}

static void labels_alone_are_int64(void **state)
{
    const struct pr_file_spec spec = {.shape = {2, {9, 9}},
                                      .samples = 300,
                                      .key = 1,
                                      .classes = 10,
                                      .labels_alone = true};
    struct pr_read_opts opts = {.samples = 300};
    struct place p;
    struct reading x;

    (void)state;
    place_init(&p, "memory");
    write_file(&p, "npy", &spec, "f");
    assert_int_equal(reading_init(&x, &p, "npy", &opts), PR_OK);
    assert_int_equal(reading_open(&x, "f"), PR_OK);
    assert_int_equal(x.r->obj.size, 128 + 300 * 8);
    for (uint64_t i = 0; i < 300; i++) {
        int64_t want = pr_content_label(&spec, i);

        assert_int_equal(reading_read(&x, i), PR_OK);
        assert_int_equal(x.s.dtype, PR_I64);
        assert_int_equal(x.s.shape.ndim, 0);
        assert_int_equal(x.s.size, 8);
        assert_memory_equal(x.s.data, &want, 8);
    }
    reading_done(&x);
    place_done(&p);
}

static void what_cannot_be_written_is_refused(void **state)
{
    const struct pr_format *f = format_of("npy");
    struct pr_file_spec gzip = specs[0], deep = specs[0], large = specs[0];
    struct pr_err err = {0};

    (void)state;
    gzip.compression = PR_GZIP;
    assert_int_equal(f->check(&gzip, &err), PR_E_CONF);
    assert_string_equal(err.where, "dataset.compression");
    deep.shape.ndim = PR_MAX_DIMS;
    for (int d = 0; d < PR_MAX_DIMS; d++)
        deep.shape.dim[d] = 1;
    assert_int_equal(f->check(&deep, &err), PR_E_CONF);
    assert_string_equal(err.where, "dataset.record_dims");
    deep.shape.ndim--;
    assert_int_equal(f->check(&deep, &err), PR_OK);
    large.samples = (uint64_t)1 << 52;
    assert_int_equal(f->check(&large, &err), PR_E_CONF);
    large.shape.dim[0] = (uint64_t)1 << 60;
    assert_int_equal(f->check(&large, &err), PR_E_CONF);
}

static void a_stopped_writer_leaves_nothing(void **state)
{
    struct pr_err err = {0};
    struct pr_writer *w;
    struct place p;
    uint64_t bytes = 7;
    bool stop = true;

    (void)state;
    place_init(&p, "pread");
    assert_int_equal(pr_writer_new(format_of("npy"), p.st, &w, NULL), PR_OK);
    w->stop = &stop;
    assert_int_equal(pr_writer_write(w, &specs[6], "f", &bytes, &err),
                     PR_E_INTR);
    assert_int_equal(bytes, 7);
    assert_int_equal(place_count(&p), 0);
    stop = false; /* and it can go on */
    assert_int_equal(pr_writer_write(w, &specs[6], "f", &bytes, &err), PR_OK);
    assert_int_equal(place_count(&p), 1);
    pr_writer_free(w);
    place_done(&p);
}

/* ---- what others wrote */

static void dlios_files_are_read(void **state)
{
    static const struct {
        const char *file;
        uint64_t samples, side;
    } rows[] = {
        {"npy/train/img_0_of_3.npy", 1, 64},
        {"npy_multi/train/img_2_of_3.npy", 4, 32},
    };
    char path[4096];
    struct place p;

    (void)state;
    find_dlio("npy", path);
    place_init(&p, "pread");
    for (size_t i = 0; i < 2; i++) {
        struct pr_read_opts opts = {.samples = rows[i].samples};
        uint64_t n = rows[i].samples, count = rows[i].side * rows[i].side;
        uint8_t *file;
        struct reading x;
        size_t len;
        char *real;

        find_dlio(rows[i].file, path);
        real = realpath(path, NULL);
        assert_non_null(real);
        file = get_file(&p, real, &len);
        assert_int_equal(len, 128 + n * count);
        assert_int_equal(reading_init(&x, &p, "npy", &opts), PR_OK);
        assert_int_equal(reading_open(&x, real), PR_OK);
        for (uint64_t s = 0; s < n; s++) {
            assert_int_equal(reading_read(&x, s), PR_OK);
            assert_int_equal(x.s.shape.ndim, 2);
            assert_int_equal(x.s.shape.dim[1], rows[i].side);
            for (uint64_t e = 0; e < count; e++)
                assert_int_equal(((const uint8_t *)x.s.data)[e],
                                 file[128 + e * n + s]);
        }
        reading_done(&x);
        free(file);
        free(real);
    }
    place_done(&p);
}

/* ---- out of memory */

static struct place tortured;

static int write_and_read(void)
{
    struct pr_read_opts opts = {.samples = 7};
    struct reading x;
    int rc = try_write(&tortured, "npy", &specs[1], "f", NULL);

    if (!rc)
        rc = reading_init(&x, &tortured, "npy", &opts);
    if (rc)
        return rc;
    rc = reading_open(&x, "f");
    if (!rc)
        rc = reading_read(&x, 3);
    reading_done(&x);
    return rc;
}

static void no_memory_is_an_error(void **state)
{
    (void)state;
    place_init(&tortured, "pread");
    torture(write_and_read);
    place_done(&tortured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_come_from_any_layout),
        cmocka_unit_test(raw_samples_are_not_decoded),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(a_buffer_too_small_is_refused),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(labels_alone_are_int64),
        cmocka_unit_test(what_cannot_be_written_is_refused),
        cmocka_unit_test(a_stopped_writer_leaves_nothing),
        cmocka_unit_test(dlios_files_are_read),
        cmocka_unit_test(no_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
