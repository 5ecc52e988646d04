/* What a sample is taken for: a picture, numbers, or what does not fit. */
#include "loader/augment.h"

#include "torture.h"

#include <math.h>
#include <string.h>

static const double mean[] = {0.485, 0.456, 0.406},
                    deviation[] = {0.229, 0.224, 0.225};

/* What a pixel of that value becomes, by the textbook. */
static double normal(const struct pr_augment *a, uint64_t c, double v)
{
    if (a->dims == 3 && a->shape[0] == 3)
        return (v / 255 - mean[c]) / deviation[c];
    return (v / 255 - 0.5) / 0.5;
}

static void start(struct pr_augment *a, int64_t c, int64_t h, int64_t w)
{
    int64_t shape[] = {c, h, w};

    assert_int_equal(pr_augment_init(a, 3, shape, NULL), PR_OK);
}

static void close_to(double have, double want)
{
    if (!(fabs(have - want) < 2e-5))
        fail_msg("%.7g is not %.7g", have, want);
}

static void fill(uint8_t *data, size_t n, uint64_t key)
{
    for (size_t i = 0; i < n; i++)
        data[i] = (uint8_t)pr_mix64(key * 1000003 + i);
}

static struct pr_sample sample(const void *data, enum pr_dtype dtype,
                               unsigned ndim, uint64_t d0, uint64_t d1,
                               uint64_t d2)
{
    struct pr_sample s = {.data = data, .dtype = dtype};

    s.shape = (struct pr_shape){.ndim = ndim, .dim = {d0, d1, d2}};
    s.size = (size_t)pr_shape_count(&s.shape) * pr_dtype_bytes(dtype);
    return s;
}

static int give(struct pr_augment *a, const struct pr_sample *s, float *out,
                struct pr_err *err)
{
    struct pr_rng rng;

    pr_rng_seed(&rng, 1, 1);
    return pr_augment_sample(a, s, &rng, "some/file", out, err);
}

static void numbers_are_taken_as_they_are(void **state)
{
    static const float floats[] = {0.5f, -1, 3e9f, 0, 7, 8};
    static const double doubles[] = {0.5, -1, 3e9, 0, 7, 8};
    static const uint16_t halves[] = {0x3800, 0xbc00, 0x7bff,
                                      0x0001, 0x4700, 0x4800};
    static const int32_t ints[] = {-5, 0, 7, 100, 70000, 1};
    static const int8_t bytes[] = {-5, 0, 7, 100, 127, -128};
    static const uint8_t pixels[] = {0, 255, 51, 102, 10, 20};
    int64_t six[] = {6};
    struct pr_augment a;
    struct pr_sample s;
    float out[6];

    (void)state;
    assert_int_equal(pr_augment_init(&a, 1, six, NULL), PR_OK);
    s = sample(floats, PR_F32, 1, 6, 0, 0);
    assert_int_equal(give(&a, &s, out, NULL), PR_OK);
    assert_memory_equal(out, floats, sizeof floats);
    s = sample(doubles, PR_F64, 2, 2, 3, 0);
    assert_int_equal(give(&a, &s, out, NULL), PR_OK);
    assert_memory_equal(out, floats, sizeof floats);
    s = sample(halves, PR_F16, 1, 6, 0, 0);
    assert_int_equal(give(&a, &s, out, NULL), PR_OK);
    assert_true(out[0] == 0.5f && out[1] == -1 && out[2] == 65504 &&
                out[3] == 0x1p-24f && out[4] == 7 && out[5] == 8);
    s = sample(ints, PR_I32, 1, 6, 0, 0);
    assert_int_equal(give(&a, &s, out, NULL), PR_OK);
    for (int i = 0; i < 6; i++)
        assert_true(out[i] == (float)ints[i]);
    s = sample(bytes, PR_I8, 1, 6, 0, 0);
    assert_int_equal(give(&a, &s, out, NULL), PR_OK);
    for (int i = 0; i < 6; i++)
        assert_true(out[i] == (float)bytes[i]);
    s = sample(pixels, PR_U8, 1, 6, 0, 0);
    assert_int_equal(give(&a, &s, out, NULL), PR_OK);
    for (int i = 0; i < 6; i++)
        close_to(out[i], (pixels[i] / 255. - 0.5) / 0.5);
    pr_augment_done(&a);
}

static void arrays_with_channels_first_are_not_cropped(void **state)
{
    uint8_t data[3 * 4 * 4] = {0};
    struct pr_sample s = sample(data, PR_U8, 3, 3, 4, 4);
    struct pr_augment a;
    float out[48];

    (void)state;
    fill(data, sizeof data, 3);
    start(&a, 3, 4, 4);
    a.random = true;
    assert_int_equal(give(&a, &s, out, NULL), PR_OK);
    for (unsigned i = 0; i < 48; i++)
        close_to(out[i], normal(&a, i / 16, data[i]));
    /* Channels last: that is a picture. */
    a.random = false;
    s = sample(data, PR_U8, 3, 4, 4, 3);
    assert_int_equal(give(&a, &s, out, NULL), PR_OK);
    for (unsigned i = 0; i < 48; i++)
        close_to(out[i], normal(&a, i / 16, data[i % 16 * 3 + i / 16]));
    pr_augment_done(&a);
}

/* DLIO's records: squares of bytes, in Fortran order when a file has many;
 * without a shape in some formats. */
static void squares_are_gray_pictures(void **state)
{
    uint8_t data[8 * 8] = {0}, turned[8 * 8] = {0};
    struct pr_sample s = sample(data, PR_U8, 2, 8, 8, 0);
    struct pr_augment a;
    float want[3 * 4 * 4], out[3 * 4 * 4];

    (void)state;
    fill(data, sizeof data, 4);
    for (int i = 0; i < 64; i++)
        turned[i % 8 * 8 + i / 8] = data[i];
    start(&a, 3, 4, 4);
    assert_int_equal(give(&a, &s, want, NULL), PR_OK);
    /* Gray: the channels differ in their normalisation alone. */
    for (int i = 0; i < 16; i++)
        close_to(want[i] * 0.229 + 0.485, want[16 + i] * 0.224 + 0.456);
    s = sample(turned, PR_U8, 2, 8, 8, 0);
    s.fortran = true;
    assert_int_equal(give(&a, &s, out, NULL), PR_OK);
    assert_memory_equal(out, want, sizeof want);
    s = sample(data, PR_U8, 1, 64, 0, 0);
    assert_int_equal(give(&a, &s, out, NULL), PR_E_CONF);
    a.as = (struct pr_shape){.ndim = 2, .dim = {8, 8}};
    assert_int_equal(give(&a, &s, out, NULL), PR_OK);
    assert_memory_equal(out, want, sizeof want);
    pr_augment_done(&a);
}

static void fortran_order_is_turned(void **state)
{
    float data[2 * 3 * 4] = {0}, out[24];
    struct pr_sample s = sample(data, PR_F32, 3, 2, 3, 4);
    struct pr_augment a;

    (void)state;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++)
                data[i + 2 * (j + 3 * k)] = (float)(100 * i + 10 * j + k);
    s.fortran = true;
    start(&a, 2, 3, 4);
    assert_int_equal(give(&a, &s, out, NULL), PR_OK);
    for (int i = 0; i < 24; i++)
        assert_true(out[i] ==
                    (float)(100 * (i / 12) + 10 * (i / 4 % 3) + i % 4));
    pr_augment_done(&a);
}

static void what_does_not_fit_is_refused(void **state)
{
    static const uint8_t data[8 * 9 * 10 * 8];
    static const struct {
        enum pr_dtype dtype;
        unsigned ndim;
        uint64_t dim[3];
        const char *text;
    } rows[] = {
        {PR_F32, 2, {8, 9, 0}, "float32 [8, 9]"},
        {PR_U8, 1, {47, 0, 0}, "uint8 [47]"},
        {PR_U8, 1, {49, 0, 0}, "uint8 [49]"},
        {PR_U8, 3, {3, 4, 5}, "uint8 [3, 4, 5]"},
        {PR_I64, 3, {8, 9, 3}, "int64 [8, 9, 3]"},
        {PR_U8, 0, {0, 0, 0}, "uint8 []"},
    };
    int64_t bad[] = {3, 0, 4}, many[] = {1 << 20, 1 << 20, 1 << 20};
    struct pr_err err;
    struct pr_augment a;
    float out[48];

    (void)state;
    start(&a, 3, 4, 4);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_sample s =
            sample(data, rows[i].dtype, rows[i].ndim, rows[i].dim[0],
                   rows[i].dim[1], rows[i].dim[2]);

        assert_int_equal(give(&a, &s, out, &err), PR_E_CONF);
        assert_string_equal(err.where, "some/file");
        if (!strstr(err.msg, rows[i].text) || !strstr(err.msg, "[3, 4, 4]"))
            fail_msg("%s", err.msg);
        assert_non_null(strstr(err.hint, "dataset.record_dims=[3, 4, 4]"));
        assert_non_null(strstr(err.hint, "dataset.record_length_bytes"));
    }
    pr_augment_done(&a);
    assert_int_equal(pr_augment_init(&a, 3, bad, NULL), PR_E_CONF);
    assert_int_equal(pr_augment_init(&a, 3, many, NULL), PR_E_CONF);
}

static int attempt(void)
{
    static uint8_t data[40 * 40];
    struct pr_sample s = sample(data, PR_U8, 2, 40, 40, 0);
    static float out[3 * 8 * 8];
    struct pr_augment a;
    int rc;

    s.fortran = true;
    start(&a, 3, 8, 8);
    rc = give(&a, &s, out, NULL);
    /* The memory that is there is not taken for more than it is. */
    if (rc)
        rc = give(&a, &s, out, NULL) ? PR_E_BUG : rc;
    pr_augment_done(&a);
    return rc;
}

static void no_memory_is_survived(void **state)
{
    (void)state;
    torture(attempt);
}

/* Nothing outside the part that was announced counts, and what comes out is
 * the same to the last bit. */
static void a_part_is_as_good_as_the_whole(void **state)
{
    enum { MOST = 90, SIDE = 20 };
    static uint8_t whole[MOST * MOST * 3];
    static float want[3 * SIDE * SIDE], have[3 * SIDE * SIDE];
    unsigned less = 0;

    (void)state;
    fill(whole, sizeof whole, 9);
    for (uint64_t i = 0; i < 600; i++) {
        uint64_t rows = 1 + pr_mix64(i) % MOST, columns = 1 + i * 7 % MOST;
        unsigned ndim = i % 3 ? 3 : 2;
        size_t each = ndim > 2 ? 3 : 1;
        struct pr_sample all =
            sample(whole, PR_U8, ndim, rows, columns, ndim > 2 ? 3 : 0);
        struct pr_sample some = all;
        struct pr_part *p = &some.part;
        struct pr_augment a;
        struct pr_rng rng;
        uint8_t *data;

        assert_int_equal(
            pr_augment_init(&a, 3, (int64_t[]){3, SIDE, 1 + i % SIDE}, NULL),
            PR_OK);
        a.is_image = true;
        a.random = i % 2;
        pr_rng_seed(&rng, 1, 1); /* as give does */
        pr_augment_part(&a, &all.shape, &rng, p);
        assert_true(p->rows && p->top + p->rows <= rows);
        assert_true(p->columns && p->left + p->columns <= columns);
        some.size = p->rows * p->columns * each;
        some.data = data = malloc(some.size);
        assert_non_null(data);
        for (uint64_t y = 0; y < p->rows; y++)
            memcpy(data + y * p->columns * each,
                   whole + ((p->top + y) * columns + p->left) * each,
                   p->columns * each);
        assert_int_equal(give(&a, &all, want, NULL), PR_OK);
        assert_int_equal(give(&a, &some, have, NULL), PR_OK);
        assert_memory_equal(have, want, a.count * sizeof *have);
        less += some.size < all.size;
        some.size--; /* not all that it says */
        assert_int_equal(give(&a, &some, have, NULL), PR_E_CONF);
        free(data);
        pr_augment_done(&a);
    }
    assert_true(less > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_as_good_as_the_whole),
        cmocka_unit_test(numbers_are_taken_as_they_are),
        cmocka_unit_test(arrays_with_channels_first_are_not_cropped),
        cmocka_unit_test(squares_are_gray_pictures),
        cmocka_unit_test(fortran_order_is_turned),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(no_memory_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
