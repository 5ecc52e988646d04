/* Drawn figures: which inputs they fit, that they follow from seed and number
 * alone, that a class can be told from the drawing. */
#include "native/task/task_pictures.h"

#include "torture.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 28, PIXELS = SIDE * SIDE };

static struct pr_digit_images digits(uint64_t seed)
{
    int64_t at[3] = {1, SIDE, SIDE};
    struct pr_digit_images d = {.seed = seed};

    assert_true(pr_digits_init(&d, 3, at));
    return d;
}

static void inputs_that_fit(void **state)
{
    static const struct {
        unsigned dims;
        int64_t at[3];
        bool fits;
        unsigned channels, rows, columns;
    } rows[] = {
        {3, {1, 28, 28}, true, 1, 28, 28},
        {3, {3, 224, 200}, true, 3, 224, 200},
        {1, {784}, true, 1, 28, 28},
        {1, {64}, true, 1, 8, 8},
        {1, {540}, false, 0, 0, 0},
        {1, {49}, false, 0, 0, 0},
        {3, {3, 7, 28}, false, 0, 0, 0},
        {3, {3, 28, 7}, false, 0, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_digit_images d = {.seed = 5};

        assert_int_equal(pr_digits_init(&d, rows[i].dims, rows[i].at),
                         rows[i].fits);
        if (!rows[i].fits)
            continue;
        assert_int_equal(d.channels, rows[i].channels);
        assert_int_equal(d.rows, rows[i].rows);
        assert_int_equal(d.columns, rows[i].columns);
        assert_int_equal(d.seed, 5);
    }
}

static void a_sample_follows_from_seed_and_number(void **state)
{
    struct pr_digit_images a = digits(1), b = digits(2);
    uint8_t one[PIXELS], two[PIXELS];
    int32_t label = pr_digits_draw(&a, false, 7, one);

    (void)state;
    memset(two, 77, sizeof two);
    assert_int_equal(pr_digits_draw(&a, false, 7, two), label);
    assert_memory_equal(one, two, PIXELS);
    pr_digits_draw(&a, false, 8, two);
    assert_memory_not_equal(one, two, PIXELS);
    pr_digits_draw(&a, true, 7, two);
    assert_memory_not_equal(one, two, PIXELS);
    pr_digits_draw(&b, false, 7, two);
    assert_memory_not_equal(one, two, PIXELS);
}

/* The bytes of one sample are the same on every machine and in every version:
 * published accuracies depend on it. */
static void the_set_is_what_it_was(void **state)
{
    struct pr_digit_images d = digits(1);
    uint8_t gray[PIXELS];
    static const int32_t labels[] = {3, 8, 6, 2, 3, 0, 5};
    uint64_t sum = 0;

    (void)state;
    for (uint64_t i = 0; i < sizeof labels / sizeof *labels; i++)
        assert_int_equal(pr_digits_draw(&d, false, i, gray), labels[i]);
    pr_digits_draw(&d, false, 0, gray);
    for (size_t i = 0; i < PIXELS; i++)
        sum = sum * 31 + gray[i];
    assert_int_equal(sum, 0x65764c118eaf63e9u);
}

static void all_classes_come_and_have_ink(void **state)
{
    struct pr_digit_images d = digits(3);
    unsigned seen[PR_DIGITS_CLASSES] = {0};
    uint8_t gray[PIXELS];

    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        int32_t label = pr_digits_draw(&d, i % 2, i, gray);
        unsigned ink = 0, paper = 0;

        assert_in_range(label, 0, PR_DIGITS_CLASSES - 1);
        seen[label]++;
        for (size_t p = 0; p < PIXELS; p++) {
            ink += gray[p] > 200;
            paper += gray[p] < 100;
        }
        assert_in_range(ink, 15, PIXELS / 2);
        assert_true(paper > PIXELS / 3);
    }
    for (size_t c = 0; c < PR_DIGITS_CLASSES; c++)
        assert_in_range(seen[c], 140, 260);
}

/* The nearest mean drawing finds most: what a class is can be seen. */
static void a_class_can_be_told(void **state)
{
    static double mean[PR_DIGITS_CLASSES][PIXELS];
    struct pr_digit_images d = digits(1);
    unsigned count[PR_DIGITS_CLASSES] = {0}, right = 0;
    uint8_t gray[PIXELS];

    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        int32_t label = pr_digits_draw(&d, false, i, gray);

        count[label]++;
        for (size_t p = 0; p < PIXELS; p++)
            mean[label][p] += gray[p];
    }
    for (uint64_t i = 0; i < 500; i++) {
        int32_t label = pr_digits_draw(&d, true, i, gray), best = -1;
        double least = 0;

        for (int32_t c = 0; c < PR_DIGITS_CLASSES; c++) {
            double sum = 0;

            for (size_t p = 0; p < PIXELS; p++) {
                double off = gray[p] - mean[c][p] / count[c];
                sum += off * off;
            }
            if (best < 0 || sum < least) {
                best = c;
                least = sum;
            }
        }
        right += best == label;
    }
    /* Far from chance, and far from what a network should reach. */
    assert_in_range(right, 300, 475);
}

static void numbers_are_about_standard(void **state)
{
    struct pr_digit_images d = digits(1);
    uint8_t gray[PIXELS];
    float out[3 * PIXELS];
    double sum = 0, squares = 0;

    (void)state;
    d.channels = 3;
    for (uint64_t i = 0; i < 200; i++) {
        pr_digits_draw(&d, false, i, gray);
        pr_digits_numbers(&d, gray, out);
        assert_memory_equal(out, out + PIXELS, PIXELS * sizeof *out);
        assert_memory_equal(out, out + 2 * PIXELS, PIXELS * sizeof *out);
        for (size_t p = 0; p < PIXELS; p++) {
            sum += out[p];
            squares += out[p] * out[p];
        }
    }
    sum /= 200 * PIXELS;
    squares /= 200 * PIXELS;
    assert_true(sum > -0.1 && sum < 0.1);
    assert_true(squares > 0.8 && squares < 1.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_that_fit),
        cmocka_unit_test(a_sample_follows_from_seed_and_number),
        cmocka_unit_test(the_set_is_what_it_was),
        cmocka_unit_test(all_classes_come_and_have_ink),
        cmocka_unit_test(a_class_can_be_told),
        cmocka_unit_test(numbers_are_about_standard),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
