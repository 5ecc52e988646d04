/* Pictures in a model's input: answers known pixel by pixel, or computed
 * another way. */
#include "loader/augment.h"

#include "torture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 64 * 64 * 4 };

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

static void do_picture(struct pr_augment *a, const struct pr_picture *p,
                       const struct pr_crop *c, float *out)
{
    struct pr_err err = {0};

    if (pr_augment_picture(a, p, c, out, &err))
        fail_msg("%s", err.msg);
}

static void fill(uint8_t *data, size_t n, uint64_t key)
{
    for (size_t i = 0; i < n; i++)
        data[i] = (uint8_t)pr_mix64(key * 1000003 + i);
}

/* ---- exact answers */

static void an_identity_crop_gives_the_pixels(void **state)
{
    static const unsigned sizes[][3] = {
        {1, 5, 7}, {3, 5, 7}, {3, 20, 33}, {4, 9, 16}, {2, 3, 3}, {1, 1, 1},
    };
    static uint8_t data[MAX];
    static float out[MAX];

    (void)state;
    fill(data, sizeof data, 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int flip = 0; flip < 2; flip++)
            for (int alone = 0; alone < 2; alone++) {
                unsigned ch = sizes[i][0], h = sizes[i][1], w = sizes[i][2];
                struct pr_picture p = {data, h, w, ch, false, false, {0}};
                struct pr_crop c = {0, 0, h, w, alone, flip};
                struct pr_augment a;

                start(&a, ch, h, w);
                do_picture(&a, &p, &c, out);
                for (unsigned k = 0; k < ch; k++)
                    for (unsigned y = 0; y < h; y++)
                        for (unsigned x = 0; x < w; x++) {
                            unsigned from = flip ? w - 1 - x : x;
                            close_to(
                                out[(k * h + y) * w + x],
                                normal(&a, k, data[(y * w + from) * ch + k]));
                        }
                pr_augment_done(&a);
            }
}

static void a_crop_takes_what_it_says(void **state)
{
    static uint8_t data[30 * 40 * 3];
    static float out[3 * 8 * 11];
    struct pr_picture p = {data, 30, 40, 3, false, false, {0}};
    struct pr_crop c = {13, 22, 8, 11, true, true};
    struct pr_augment a;

    (void)state;
    fill(data, sizeof data, 2);
    start(&a, 3, 8, 11);
    do_picture(&a, &p, &c, out);
    for (unsigned k = 0; k < 3; k++)
        for (unsigned y = 0; y < 8; y++)
            for (unsigned x = 0; x < 11; x++)
                close_to(
                    out[(k * 8 + y) * 11 + x],
                    normal(&a, k, data[((13 + y) * 40 + 22 + 10 - x) * 3 + k]));
    pr_augment_done(&a);
}

/* Twice as large: the weights of the two pixels nearest are 3/4 and 1/4. */
static void doubling_is_bilinear(void **state)
{
    static const uint8_t data[] = {0, 100, 200, 40};
    /* 100, 85, 55, 40 in the last column, 0, 50, 150, 200 in the first. */
    static const double want[] = {
        0,   25,     75,    100, /* */
        50,  58.75,  76.25, 85,  /* */
        150, 126.25, 78.75, 55,  /* */
        200, 160,    80,    40,
    };
    struct pr_picture p = {data, 2, 2, 1, false, false, {0}};
    struct pr_crop c = {0, 0, 2, 2, true, false};
    struct pr_augment a;
    float out[16];

    (void)state;
    start(&a, 1, 4, 4);
    do_picture(&a, &p, &c, out);
    for (int i = 0; i < 16; i++)
        close_to(out[i], normal(&a, 0, want[i]));
    pr_augment_done(&a);
}

/* Half as large: 1/8 3/8 3/8 1/8, and at an edge what is left of it. Taking
 * every second pixel, or the mean of two, would give other numbers. */
static void halving_looks_at_four(void **state)
{
    static const uint8_t data[] = {10, 90, 30, 250, 120, 60, 0, 200};
    static const double want[] = {
        (3 * 10 + 3 * 90 + 30) / 7.,
        (90 + 3 * 30 + 3 * 250 + 120) / 8.,
        (250 + 3 * 120 + 3 * 60 + 0) / 8.,
        (60 + 0 + 3 * 200) / 7.,
    };
    struct pr_picture p = {data, 1, 8, 1, false, false, {0}};
    struct pr_crop c = {0, 0, 1, 8, true, false};
    struct pr_augment a;
    float out[4];

    (void)state;
    start(&a, 1, 1, 4);
    do_picture(&a, &p, &c, out);
    for (int i = 0; i < 4; i++)
        close_to(out[i], normal(&a, 0, want[i]));
    pr_augment_done(&a);
}

static void what_is_outside_counts_or_not(void **state)
{
    static const uint8_t data[] = {255, 255, 0, 0, 0, 0, 255, 255};
    struct pr_picture p = {data, 1, 8, 1, false, false, {0}};
    struct pr_crop c = {0, 2, 1, 4, true, false};
    struct pr_augment a;
    float out[2];

    (void)state;
    start(&a, 1, 1, 2);
    do_picture(&a, &p, &c, out);
    close_to(out[0], -1);
    close_to(out[1], -1);
    c.alone = false;
    do_picture(&a, &p, &c, out);
    close_to(out[0], normal(&a, 0, 255 / 8.));
    close_to(out[1], normal(&a, 0, 255 / 8.));
    pr_augment_done(&a);
}

/* A ramp stays one at any scale, but for edges that have less to look at. */
static void ramps_stay_ramps(void **state)
{
    static const double lens[] = {60, 41, 20.5, 7};
    static uint8_t data[64 * 64 * 3];
    static float out[3 * 17 * 19];
    struct pr_picture p = {data, 64, 64, 3, false, false, {0}};

    (void)state;
    for (unsigned y = 0; y < 64; y++)
        for (unsigned x = 0; x < 64; x++) {
            data[(y * 64 + x) * 3] = (uint8_t)(x * 4);
            data[(y * 64 + x) * 3 + 1] = (uint8_t)(y * 4);
            data[(y * 64 + x) * 3 + 2] = (uint8_t)(x + y);
        }
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        struct pr_crop c = {1.5, 2.25, lens[i], lens[i], false, false};
        struct pr_augment a;

        start(&a, 3, 17, 19);
        do_picture(&a, &p, &c, out);
        for (unsigned y = 0; y < 17; y++)
            for (unsigned x = 0; x < 19; x++) {
                double at_x = 2.25 + (x + 0.5) * lens[i] / 19 - 0.5;
                double at_y = 1.5 + (y + 0.5) * lens[i] / 17 - 0.5;
                double reach = fmax(lens[i] / 17, 1) + 0.5;

                if (at_x < reach || at_y < reach || at_x > 63 - reach ||
                    at_y > 63 - reach)
                    continue;
                /* Wide filters sample a triangle at whole pixels: not quite
                 * in the middle of it. */
                assert_true(fabs(out[y * 19 + x] - normal(&a, 0, 4 * at_x)) <
                            0.01);
                assert_true(fabs(out[17 * 19 + y * 19 + x] -
                                 normal(&a, 1, 4 * at_y)) < 0.01);
                assert_true(fabs(out[2 * 17 * 19 + y * 19 + x] -
                                 normal(&a, 2, at_x + at_y)) < 0.01);
            }
        pr_augment_done(&a);
    }
}

/* ---- against the definition, computed without tables and in double */

static double weight(double at, double middle, double reach)
{
    return fmax(0, 1 - fabs(at + 0.5 - middle) / reach);
}

static double defined(const struct pr_picture *p, const struct pr_crop *c,
                      const struct pr_augment *a, unsigned ch, unsigned y,
                      unsigned x)
{
    double sy = c->rows / (double)a->shape[1];
    double sx = c->columns / (double)a->shape[2];
    double my = c->top + (y + 0.5) * sy;
    double mx =
        c->left + ((c->flip ? (double)a->shape[2] - 1 - x : x) + 0.5) * sx;
    double sum = 0, all = 0;

    for (uint64_t i = 0; i < p->rows; i++)
        for (uint64_t j = 0; j < p->columns; j++) {
            double w = weight((double)i, my, fmax(sy, 1)) *
                       weight((double)j, mx, fmax(sx, 1));
            if (c->alone &&
                ((double)i < c->top || (double)i >= c->top + c->rows ||
                 (double)j < c->left || (double)j >= c->left + c->columns))
                continue;
            sum += w * ((const uint8_t *)
                            p->data)[(i * p->columns + j) * p->channels + ch];
            all += w;
        }
    return sum / all;
}

static void all_crops_are_as_defined(void **state)
{
    static uint8_t data[61 * 47 * 4];
    static float out[4 * 24 * 21];

    (void)state;
    for (uint64_t round = 0; round < 60; round++) {
        unsigned ch = (unsigned)(round % 4) + 1;
        struct pr_picture p = {data,
                               20 + pr_mix64(round) % 41,
                               9 + pr_mix64(round + 500) % 38,
                               ch,
                               false,
                               false,
                               {0}};
        struct pr_augment a;
        struct pr_crop c;
        struct pr_rng rng;

        pr_rng_seed(&rng, 5, round);
        fill(data, sizeof data, round);
        start(&a, ch, 6 + (int64_t)(round % 19), 5 + (int64_t)(round % 17));
        if (round % 3)
            pr_crop_draw(&rng, p.rows, p.columns, &c);
        else
            pr_crop_middle(p.rows, p.columns, a.shape[1], a.shape[2], &c);
        do_picture(&a, &p, &c, out);
        for (unsigned k = 0; k < ch; k++)
            for (unsigned y = 0; y < a.shape[1]; y++)
                for (unsigned x = 0; x < a.shape[2]; x++)
                    close_to(out[(k * a.shape[1] + y) * a.shape[2] + x],
                             normal(&a, k, defined(&p, &c, &a, k, y, x)));
        pr_augment_done(&a);
    }
}

/* Rows of every length, so that vectors and what is left of them are met. */
static void wide_and_plain_sums_are_equal(void **state)
{
    static uint8_t data[9 * 100];
    static const float weights[] = {0.1f, 0.3f, 0.2f, 0.15f, 0.25f};
    static float out[101];

    (void)state;
    fill(data, sizeof data, 9);
    for (size_t n = 0; n <= 100; n++)
        for (unsigned count = 1; count <= 5; count++) {
            out[n] = 12345;
            pr_augment_blend(data, 100, weights, count, n, out);
            for (size_t i = 0; i < n; i++) {
                volatile float sum = 0; /* rounded each time */

                for (unsigned k = 0; k < count; k++) {
                    volatile float term = weights[k] * (float)data[100 * k + i];
                    sum = sum + term;
                }
                assert_memory_equal(&out[i], (const void *)&sum, sizeof sum);
            }
            assert_true(out[n] == 12345);
        }
}

/* ---- channels */

static void channels_become_the_models(void **state)
{
    static const uint8_t gray[] = {100}, gray_alpha[] = {100, 7},
                         rgb[] = {10, 100, 200}, rgba[] = {10, 100, 200, 9};
    static const struct {
        const uint8_t *data;
        unsigned have;
        bool cmyk;
        int64_t want;
        double value[4]; /* first below 0: refused */
    } rows[] = {
        {gray, 1, false, 3, {100, 100, 100}},
        {gray, 1, false, 1, {100}},
        {gray, 1, false, 4, {100, 100, 100, 100}},
        {gray_alpha, 2, false, 1, {100}},
        {gray_alpha, 2, false, 3, {100, 100, 100}},
        {rgb, 3, false, 3, {10, 100, 200}},
        {rgb, 3, false, 1, {0.299 * 10 + 0.587 * 100 + 0.114 * 200}},
        {rgb, 3, false, 4, {-1}},
        {rgb, 3, false, 2, {-1}},
        {rgba, 4, false, 3, {10, 100, 200}},
        {rgba, 4, false, 1, {0.299 * 10 + 0.587 * 100 + 0.114 * 200}},
        {rgba, 4, false, 4, {10, 100, 200, 9}},
        {rgba,
         4,
         true,
         3,
         {245 * 246 / 255., 155 * 246 / 255., 55 * 246 / 255.}},
        {rgba, 4, true, 4, {10, 100, 200, 9}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_picture p = {rows[i].data, 1,  1, rows[i].have, false,
                               rows[i].cmyk, {0}};
        struct pr_crop c = {0, 0, 1, 1, true, false};
        struct pr_err err = {0};
        struct pr_augment a;
        float out[4 * 2 * 3];

        start(&a, rows[i].want, 2, 3);
        if (rows[i].value[0] < 0) {
            assert_int_equal(pr_augment_picture(&a, &p, &c, out, &err),
                             PR_E_CONF);
            assert_non_null(strstr(err.msg, "3 channels"));
        } else {
            do_picture(&a, &p, &c, out);
            for (int64_t k = 0; k < rows[i].want; k++)
                for (int j = 0; j < 6; j++)
                    close_to(out[6 * k + j],
                             normal(&a, (uint64_t)k, rows[i].value[k]));
        }
        pr_augment_done(&a);
    }
}

static void sixteen_bits_have_their_own_white(void **state)
{
    uint8_t bytes[9];
    uint16_t values[] = {0, 65535, 32768, 13};
    struct pr_picture p = {bytes + 1, 2, 2, 1, true, false, {0}};
    struct pr_crop c = {0, 0, 2, 2, true, false};
    struct pr_augment a;
    float out[4];

    (void)state;
    memcpy(bytes + 1, values, sizeof values); /* at an odd address */
    start(&a, 1, 2, 2);
    do_picture(&a, &p, &c, out);
    for (int i = 0; i < 4; i++)
        close_to(out[i], (values[i] / 65535. - 0.5) / 0.5);
    pr_augment_done(&a);
}

/* ---- crops */

static void random_crops_are_as_usual(void **state)
{
    enum { DRAWS = 20000 };
    double area = 0, least = 2, most = 0;
    int flips = 0, corner = 0;

    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        struct pr_crop c;
        struct pr_rng rng;
        double ratio;

        pr_rng_seed(&rng, 3, (uint64_t)i);
        pr_crop_draw(&rng, 375, 500, &c);
        ratio = c.columns / c.rows;
        assert_true(c.alone);
        assert_true(c.top >= 0 && c.left >= 0 && c.top + c.rows <= 375 &&
                    c.left + c.columns <= 500);
        assert_true(c.top == floor(c.top) && c.left == floor(c.left) &&
                    c.rows == floor(c.rows) && c.columns == floor(c.columns));
        assert_true(ratio > 0.74 && ratio < 1.35);
        area += c.rows * c.columns / (375 * 500) / DRAWS;
        least = fmin(least, c.rows * c.columns / (375 * 500));
        most = fmax(most, c.rows * c.columns / (375 * 500));
        flips += c.flip;
        corner += c.rows < 375 && c.top + c.rows == 375;
    }
    assert_true(least > 0.079 && least < 0.085);
    assert_true(most > 0.97 && most <= 1);
    /* The same rule in Python, 300,000 draws: 0.433. Large ones seldom fit. */
    assert_true(fabs(area - 0.433) < 0.01);
    assert_true(abs(flips - DRAWS / 2) < 400);
    assert_true(corner > 50); /* the last place is drawn, too */
}

static void odd_pictures_are_cropped_in_the_middle(void **state)
{
    static const struct {
        uint64_t rows, columns;
        struct pr_crop want;
    } rows[] = {
        {10, 1000, {0, 493, 10, 13, true, false}},
        {1000, 10, {493, 0, 13, 10, true, false}},
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct pr_crop c;
        struct pr_rng rng;

        pr_rng_seed(&rng, 1, i);
        pr_crop_draw(&rng, rows[i].rows, rows[i].columns, &c);
        assert_true(c.top == rows[i].want.top && c.left == rows[i].want.left);
        assert_true(c.rows == rows[i].want.rows &&
                    c.columns == rows[i].want.columns);
    }
}

static void the_middle_is_that_of_256(void **state)
{
    struct pr_crop c;

    (void)state;
    /* 375 x 500 becomes 256 x 341; 16 and 58 (of 58.5) pixels are cut off. */
    pr_crop_middle(375, 500, 224, 224, &c);
    close_to(c.top, 16 * 375 / 256.);
    close_to(c.left, 58 * 500 / 341.);
    close_to(c.rows, 224 * 375 / 256.);
    close_to(c.columns, 224 * 500 / 341.);
    assert_false(c.alone || c.flip);
    pr_crop_middle(428, 214, 224, 224, &c); /* 512 x 256, not 511 */
    close_to(c.top, 144 * 428 / 512.);
    close_to(c.rows, 224 * 428 / 512.);
    pr_crop_middle(30, 90, 56, 28, &c); /* 64 x 192 */
    close_to(c.top, 4 * 30 / 64.);
    close_to(c.left, 82 * 90 / 192.);
    close_to(c.columns, 28 * 90 / 192.);
    pr_crop_middle(28, 28, 28, 28, &c); /* as it is */
    assert_true(c.top == 0 && c.left == 0 && c.rows == 28 && c.columns == 28);
    pr_crop_middle(1, 1, 224, 224, &c);
    assert_true(c.top >= 0 && c.top + c.rows <= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_identity_crop_gives_the_pixels),
        cmocka_unit_test(a_crop_takes_what_it_says),
        cmocka_unit_test(doubling_is_bilinear),
        cmocka_unit_test(halving_looks_at_four),
        cmocka_unit_test(what_is_outside_counts_or_not),
        cmocka_unit_test(ramps_stay_ramps),
        cmocka_unit_test(all_crops_are_as_defined),
        cmocka_unit_test(wide_and_plain_sums_are_equal),
        cmocka_unit_test(channels_become_the_models),
        cmocka_unit_test(sixteen_bits_have_their_own_white),
        cmocka_unit_test(random_crops_are_as_usual),
        cmocka_unit_test(odd_pictures_are_cropped_in_the_middle),
        cmocka_unit_test(the_middle_is_that_of_256),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
