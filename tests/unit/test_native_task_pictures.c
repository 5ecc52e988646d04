/* Tasks of pictures: two sizes of one, boxes and where they are, figures,
 * heads, styles. */
#include "test_native_task.h"

#include "native/task/task_pictures.h"

#include <math.h>

static void small_is_the_mean_of_large(void **state)
{
    (void)state;
    for (int tiny = 0; tiny < 2; tiny++) {
        struct work w = work_of("reso", tiny, 3);
        struct batch b = made(&w, 0, 2);
        int64_t side = size_of(&w, "small", 1);

        assert_int_equal(size_of(&w, "large", 1), 2 * side);
        for (unsigned c = 0; c < 2; c++) {
            const float *small = sample_at(&w, &b, "small", c);
            const float *large = sample_at(&w, &b, "large", c);
            double most = 0, rough = 0;

            for (int64_t y = 0; y < side; y++)
                for (int64_t x = 0; x < side; x++) {
                    const float *p = large + 4 * y * side + 2 * x;
                    double mean =
                        ((double)p[0] + p[1] + p[2 * side] + p[2 * side + 1]) /
                        4;

                    assert_true(fabs(small[y * side + x] - mean) < 1e-5);
                    most = fmax(most, fabs(mean));
                    rough = fmax(rough, fabs(p[0] - p[1]));
                }
            assert_true(most > 0.3 && most < 2.01); /* it is a picture */
            assert_true(rough > 0.01);              /* with edges */
        }
        batch_done(&b);
        work_done(&w);
    }
}

/* ---- boxes */

struct box {
    float x, y, wide, high;
};

/* Liu et al. 2016: 38, 19, 10, 5, 3 and 1 rows, from 21 of 300 pixels on. */
static void ssd300_has_8732_boxes(void **state)
{
    static const struct {
        int rows, each;
        double small, next;
    } maps[] = {
        {38, 4, 21, 45},  {19, 6, 45, 99},  {10, 6, 99, 153},
        {5, 6, 153, 207}, {3, 4, 207, 261}, {1, 4, 261, 315},
    };
    struct work w = work_of("ssd", false, 3);
    const struct box *at = w.task.state;
    int64_t boxes = 0;

    (void)state;
    for (size_t m = 0; m < sizeof maps / sizeof *maps; m++)
        for (int k = 0; k < maps[m].each; k++) {
            double s = maps[m].small / 300;
            const double wide[] = {s,           sqrt(s * maps[m].next / 300),
                                   s * sqrt(2), s / sqrt(2),
                                   s * sqrt(3), s / sqrt(3)};
            const double high[] = {s,       wide[1], wide[3],
                                   wide[2], wide[5], wide[4]};
            int rows = maps[m].rows;

            for (int i = 0; i < rows * rows; i++, at++, boxes++) {
                assert_true(fabs(at->wide - wide[k]) < 1e-6);
                assert_true(fabs(at->high - high[k]) < 1e-6);
                assert_true(fabs(at->x * rows - (i % rows + 0.5)) < 1e-4);
                assert_true(fabs(at->y * rows - (i / rows + 0.5)) < 1e-4);
            }
        }
    assert_int_equal(boxes, 8732);
    assert_int_equal(size_of(&w, "kinds", 0), boxes);
    work_done(&w);
}

static double shared(const struct box *a, const struct box *b)
{
    double wide = fmin(a->x + a->wide / 2, b->x + b->wide / 2) -
                  fmax(a->x - a->wide / 2, b->x - b->wide / 2);
    double high = fmin(a->y + a->high / 2, b->y + b->high / 2) -
                  fmax(a->y - a->high / 2, b->y - b->high / 2);
    double both = wide > 0 && high > 0 ? wide * high : 0;

    return both / (a->wide * a->high + b->wide * b->high - both);
}

/* Where a place says that the object is: variances 0.1 and 0.2. */
static struct box decoded(const struct box *at, const float *places, int64_t i,
                          int64_t boxes)
{
    return (struct box){
        .x = at->x + places[i] * 0.1f * at->wide,
        .y = at->y + places[boxes + i] * 0.1f * at->high,
        .wide = at->wide * expf(places[2 * boxes + i] * 0.2f),
        .high = at->high * expf(places[3 * boxes + i] * 0.2f),
    };
}

static bool is_near(const struct box *a, const struct box *b)
{
    return fabsf(a->x - b->x) < 1e-4f && fabsf(a->y - b->y) < 1e-4f &&
           fabsf(a->wide - b->wide) < 1e-4f && fabsf(a->high - b->high) < 1e-4f;
}

/* The object is in the picture: one colour, up to its edges. A later one may
 * cover a part of it; the corners of the last are its own. */
static unsigned corners_of_one_colour(const float *image, int64_t side,
                                      const struct box *o)
{
    int64_t x0 = (int64_t)((o->x - o->wide / 2) * (float)side) + 1;
    int64_t x1 = (int64_t)((o->x + o->wide / 2) * (float)side) - 2;
    int64_t y0 = (int64_t)((o->y - o->high / 2) * (float)side) + 1;
    int64_t y1 = (int64_t)((o->y + o->high / 2) * (float)side) - 2;
    float a = image[y0 * side + x0], b = image[y0 * side + x1];
    float c = image[y1 * side + x0], d = image[y1 * side + x1];

    return a == b && b == c && c == d;
}

struct seen {
    struct box objects[4];
    int32_t kinds[4];
    unsigned count;
};

/* The objects that the boxes of a sample are for; which one box i is for. */
static struct seen seen_in(const struct box *at, const float *places,
                           const int32_t *kinds, int64_t boxes, int *of)
{
    struct seen s = {.count = 0};

    for (int64_t i = 0; i < boxes; i++) {
        struct box o = decoded(&at[i], places, i, boxes);
        unsigned k = 0;

        of[i] = -1;
        if (!kinds[i]) {
            for (int n = 0; n < 4; n++)
                assert_true(places[n * boxes + i] == 0);
            continue;
        }
        while (k < s.count && !is_near(&s.objects[k], &o))
            k++;
        assert_true(k < 4);
        if (k == s.count) {
            s.objects[k] = o;
            s.kinds[s.count++] = kinds[i];
        }
        assert_int_equal(s.kinds[k], kinds[i]);
        of[i] = (int)k;
    }
    return s;
}

/* A box is for the object that covers it by half and most, or that covers no
 * box more than this one. */
static void is_matched(const struct box *at, int64_t boxes,
                       const struct seen *s, const int *of)
{
    double best[4] = {0};

    for (unsigned k = 0; k < s->count; k++)
        for (int64_t i = 0; i < boxes; i++)
            best[k] = fmax(best[k], shared(&at[i], &s->objects[k]));
    for (int64_t i = 0; i < boxes; i++) {
        double own = of[i] < 0 ? 0.5 : shared(&at[i], &s->objects[of[i]]);

        if (of[i] >= 0 && own > best[of[i]] - 1e-4)
            continue;
        assert_true(own > 0.4999);
        for (unsigned k = 0; k < s->count; k++)
            assert_true(shared(&at[i], &s->objects[k]) < own + 1e-4);
    }
}

struct sums {
    unsigned objects, whole, most;
    uint64_t kinds;
};

static void look_at_boxes(const struct work *w, const struct batch *b,
                          unsigned c, int *of, struct sums *sums)
{
    int64_t boxes = size_of(w, "kinds", 0), side = size_of(w, "image", 1);
    struct seen s = seen_in(w->task.state, sample_at(w, b, "places", c),
                            sample_at(w, b, "kinds", c), boxes, of);

    assert_true(s.count > 0); /* nothing is left without a box */
    is_matched(w->task.state, boxes, &s, of);
    for (unsigned k = 0; k < s.count; k++) {
        sums->kinds |= (uint64_t)1 << (s.kinds[k] & 63);
        sums->whole += corners_of_one_colour(sample_at(w, b, "image", c), side,
                                             &s.objects[k]);
    }
    sums->objects += s.count;
    sums->most = s.count > sums->most ? s.count : sums->most;
}

static void places_decode_to_objects(void **state)
{
    enum { COUNT = 24 };

    (void)state;
    for (int tiny = 0; tiny < 2; tiny++) {
        struct work w = work_of("ssd", tiny, 3);
        struct batch b = made(&w, 0, COUNT);
        int *of = calloc((size_t)size_of(&w, "kinds", 0), sizeof *of);
        struct sums sums = {0};

        assert_non_null(of);
        for (unsigned c = 0; c < COUNT; c++)
            look_at_boxes(&w, &b, c, of, &sums);
        assert_int_equal(sums.most, 4);
        assert_true(sums.whole >= sums.objects / 2);
        if (tiny)
            assert_int_equal(sums.kinds, 0x3e); /* five kinds, and none */
        free(of);
        batch_done(&b);
        work_done(&w);
    }
}

/* ---- figures, heads, styles */

static void figures_are_those_of_the_set(void **state)
{
    (void)state;
    for (int tiny = 0; tiny < 2; tiny++) {
        struct work w = work_of("vae", tiny, 3);
        struct batch b = made(&w, 2, 30);
        int64_t pixels = size_of(&w, "image", 0),
                code = size_of(&w, "noise", 0);
        struct pr_digit_images d = {.seed = 3};
        uint8_t gray[1024];
        double sum = 0, squares = 0;

        assert_true(pr_digits_init(&d, 1, &pixels) && pixels <= 1024);
        for (unsigned c = 0; c < 30; c++) {
            const float *image = sample_at(&w, &b, "image", c);
            const float *noise = sample_at(&w, &b, "noise", c);

            pr_digits_draw(&d, false, 2 * 30 + c, gray);
            for (int64_t i = 0; i < pixels; i++)
                assert_true(fabsf(image[i] - (float)gray[i] / 255) < 1e-6f);
            for (int64_t i = 0; i < code; i++) {
                sum += noise[i];
                squares += noise[i] * noise[i];
            }
        }
        assert_true(fabs(sum / (30.0 * (double)code)) < 0.3);
        assert_true(fabs(squares / (30.0 * (double)code) - 1) < 0.4);
        batch_done(&b);
        work_done(&w);
    }
}

/* In the middle of each channel there is one shade, in the corners are waves;
 * all is within -1 and 1, as tanh gives it. */
static void heads_are_in_the_middle(void **state)
{
    enum { COUNT = 10, SIDE = 64 };
    struct work w = work_of("dcgan", true, 3);
    struct batch b = made(&w, 0, COUNT);

    (void)state;
    for (unsigned c = 0; c < COUNT; c++)
        for (int k = 0; k < 3; k++) {
            const float *p =
                (const float *)sample_at(&w, &b, "image", c) + k * SIDE * SIDE;
            unsigned corner = 0;

            for (int i = 0; i < SIDE * SIDE; i++)
                assert_true(p[i] >= -1 && p[i] <= 1);
            for (int y = 28; y < 36; y++)
                for (int x = 28; x < 36; x++)
                    assert_true(p[y * SIDE + x] == p[32 * SIDE + 32]);
            for (int y = 0; y < 8; y++)
                for (int x = 0; x < 8; x++)
                    corner += p[y * SIDE + x] == p[0];
            assert_true(corner < 64);
        }
    batch_done(&b);
    work_done(&w);
}

static void the_style_is_always_the_same(void **state)
{
    struct work w = work_of("fast_style", true, 3);
    struct batch a = made(&w, 0, 3), b = made(&w, 7, 3);
    size_t n = (size_t)(3 * size_of(&w, "style", 1) * size_of(&w, "style", 2));
    const float *style = sample_at(&w, &a, "style", 0);

    (void)state;
    for (unsigned c = 0; c < 3; c++) {
        assert_memory_equal(style, sample_at(&w, &a, "style", c),
                            n * sizeof *style);
        assert_memory_equal(style, sample_at(&w, &b, "style", c),
                            n * sizeof *style);
        assert_memory_not_equal(sample_at(&w, &a, "image", c),
                                sample_at(&w, &b, "image", c),
                                n * sizeof *style);
    }
    batch_done(&a);
    batch_done(&b);
    work_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_is_the_mean_of_large),
        cmocka_unit_test(ssd300_has_8732_boxes),
        cmocka_unit_test(places_decode_to_objects),
        cmocka_unit_test(figures_are_those_of_the_set),
        cmocka_unit_test(heads_are_in_the_middle),
        cmocka_unit_test(the_style_is_always_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
