/* The loss of SSD against one that looks for the largest again and again. */
#include "test_nn_kernel.h"

#include "nn/kernel/losses.h"

struct batch {
    struct pr_multibox m;
    float *places, *wanted, *logits, *dplaces, *dlogits, *work;
    int32_t *ids;
    size_t boxes, numbers, floats; /* of all samples */
};

/* A share of boxes gets a class. */
static void batch_new(size_t samples, size_t boxes, size_t classes,
                      double share, struct batch *b)
{
    struct pr_rng r;

    b->boxes = samples * boxes;
    b->numbers = b->boxes * classes;
    b->m = (struct pr_multibox){
        .samples = samples, .boxes = boxes, .classes = classes, .factor = 0.5};
    b->m.places = b->places = drawn(4 * b->boxes, 1, 0);
    b->m.wanted = b->wanted = drawn(4 * b->boxes, 2, 0);
    b->m.logits = b->logits = drawn(b->numbers, 3, 0);
    b->m.dplaces = b->dplaces = tensor(4 * b->boxes);
    b->m.dlogits = b->dlogits = tensor(b->numbers);
    b->floats = pr_kernel_multibox_work(&b->m);
    b->m.work = b->work = tensor(b->floats);
    b->m.ids = b->ids = pr_alloc(b->boxes * sizeof *b->ids);
    assert_non_null(b->ids);
    pr_rng_seed(&r, 4, 1);
    for (size_t i = 0; i < b->boxes; i++)
        b->ids[i] = pr_rng_double(&r) < share
                        ? 1 + (int32_t)(pr_rng_u64(&r) % (classes - 1))
                        : 0;
}

static void batch_free(struct batch *b)
{
    tensor_free(b->places, 4 * b->boxes);
    tensor_free(b->wanted, 4 * b->boxes);
    tensor_free(b->logits, b->numbers);
    tensor_free(b->dplaces, 4 * b->boxes);
    tensor_free(b->dlogits, b->numbers);
    tensor_free(b->work, b->floats);
    pr_free(b->ids);
}

/* ---- as it is defined; by: logit of a class of the box moved */

static double entropy(const struct pr_multibox *m, size_t s, size_t box,
                      size_t moved, double by)
{
    const float *x = m->logits + s * m->classes * m->boxes + box;
    size_t id = (size_t)m->ids[s * m->boxes + box];
    double sum = 0;

    for (size_t k = 0; k < m->classes; k++)
        sum += exp((double)x[k * m->boxes] - (double)x[id * m->boxes] +
                   (k == moved ? by : 0) - (id == moved ? by : 0));
    return log(sum);
}

static double place_of(const struct pr_multibox *m, size_t at, double by)
{
    double d = fabs((double)m->places[at] + by - (double)m->wanted[at]);

    return d < 1 ? d * d / 2 : d - 0.5;
}

/* Which boxes of a sample count; the number of those with a class. */
static size_t find(const struct pr_multibox *m, size_t s, double *loss,
                   bool *counts)
{
    size_t mine = 0;

    for (size_t i = 0; i < m->boxes; i++) {
        loss[i] = entropy(m, s, i, 0, 0);
        counts[i] = m->ids[s * m->boxes + i] != 0;
        mine += counts[i];
    }
    for (size_t n = 0; n < 3 * mine; n++) {
        size_t best = m->boxes;

        for (size_t i = 0; i < m->boxes; i++)
            if (!counts[i] && (best == m->boxes || loss[i] > loss[best]))
                best = i;
        if (best < m->boxes)
            counts[best] = true;
    }
    return mine;
}

enum { MOST = 2000 };

static void check_box(const struct pr_multibox *m, size_t s, size_t box,
                      double scale, bool counts)
{
    for (size_t k = 0; k < m->classes; k++) {
        double up = entropy(m, s, box, k, 1e-4);
        double slope = (up - entropy(m, s, box, k, -1e-4)) / 2e-4;
        float got = m->dlogits[(s * m->classes + k) * m->boxes + box];

        if (counts)
            assert_near((double)got / scale, slope, 1e-6);
        else
            assert_true(got == 0);
    }
    for (size_t k = 0; k < 4; k++) {
        size_t at = (s * 4 + k) * m->boxes + box;
        double slope = (place_of(m, at, 1e-4) - place_of(m, at, -1e-4)) / 2e-4;

        if (m->ids[s * m->boxes + box])
            assert_near((double)m->dplaces[at] / scale, slope, 1e-4);
        else
            assert_true(m->dplaces[at] == 0);
    }
}

static double check_sample(const struct pr_multibox *m, size_t s)
{
    static double loss[MOST];
    static bool counts[MOST];
    size_t mine = find(m, s, loss, counts);
    double scale = m->factor / (double)m->samples / (double)mine, sum = 0;

    for (size_t i = 0; i < m->boxes; i++) {
        check_box(m, s, i, scale, counts[i]);
        sum += counts[i] ? loss[i] : 0;
        for (size_t k = 0; m->ids[s * m->boxes + i] && k < 4; k++)
            sum += place_of(m, (s * 4 + k) * m->boxes + i, 0);
    }
    return mine ? scale * sum : 0;
}

static void check_batch(const struct pr_threads *p, struct batch *b)
{
    double got = pr_kernel_multibox(p, &b->m), want = 0;

    for (size_t s = 0; s < b->m.samples; s++)
        want += check_sample(&b->m, s);
    assert_near(got, want, 2e-7);
    b->m.dplaces = b->m.dlogits = NULL;
    assert_true(pr_kernel_multibox(p, &b->m) == got);
    b->m.dplaces = b->dplaces;
    b->m.dlogits = b->dlogits;
}

static void boxes_all(const struct pr_threads *p)
{
    static const struct {
        size_t samples, boxes, classes;
        double share;
    } cases[] = {
        {1, 1, 2, 0},       {1, 1, 2, 1},       {3, 7, 3, 0.3},
        {2, 8, 9, 0.1},     {4, 300, 21, 0.05}, {3, 257, 4, 0.9},
        {5, 1100, 3, 0.01}, {2, 40, 5, 0},      {2, 40, 5, 1},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct batch b;

        batch_new(cases[i].samples, cases[i].boxes, cases[i].classes,
                  cases[i].share, &b);
        check_batch(p, &b);
        batch_free(&b);
    }
}

static void boxes_and_their_slopes(void **state)
{
    (void)state;
    with_threads(boxes_all);
}

/* Few different losses, so that most are equal: the first ones count. */
static void ties_all(const struct pr_threads *p)
{
    for (size_t levels = 1; levels <= 3; levels++) {
        struct batch b;

        batch_new(3, 700, 4, 0.04, &b);
        for (size_t i = 0; i < b.numbers; i++) {
            size_t box = i % 700, k = i / 700 % 4;

            b.logits[i] = k ? 0 : (float)(box * 7 % levels);
        }
        check_batch(p, &b);
        batch_free(&b);
    }
}

static void the_first_of_equal_ones_count(void **state)
{
    (void)state;
    with_threads(ties_all);
}

/* Extreme logits, and what breaks a sample; the other one stays whole. */
static void broken_samples(void **state)
{
    static const struct {
        int32_t id;
        float x;
        bool is_broken, is_infinite;
    } rows[] = {
        {0, 0, false, false},         {3, 0, true, false},
        {-1, 0, true, false},         {2, 1e4f, false, false},
        {0, 1e4f, false, false},      {1, -1e4f, false, false},
        {1, NAN, true, false},        {0, NAN, true, false},
        {0, INFINITY, true, false},   {2, -INFINITY, false, true},
        {1, -INFINITY, false, false},
    };
    struct pr_threads *p = threads_new(1);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct batch b;
        double loss;

        batch_new(2, 9, 3, 0, &b);
        b.ids[2] = b.ids[9 + 4] = 1;
        b.ids[5] = rows[i].id;
        b.logits[2 * 9 + 5] = rows[i].x;
        loss = pr_kernel_multibox(p, &b.m);
        assert_int_equal(isnan(loss), rows[i].is_broken);
        assert_int_equal(isinf(loss), rows[i].is_infinite);
        for (size_t k = b.numbers / 2; k < b.numbers; k++)
            assert_true(isfinite(b.dlogits[k]));
        if (rows[i].id < 0 || rows[i].id > 2)
            assert_true(isnan(b.dlogits[0]) && isnan(b.dplaces[0]));
        else
            assert_true(isfinite(b.dplaces[0]));
        batch_free(&b);
    }
    pr_threads_free(p);
}

static void threads_do_not_matter(void **state)
{
    float *first = NULL;
    double loss = 0;
    struct batch b;

    (void)state;
    batch_new(3, 1000, 9, 0.02, &b);
    for (unsigned n = 1; n <= TEST_THREADS; n++) {
        struct pr_threads *p = threads_new(n);
        double got = pr_kernel_multibox(p, &b.m);

        if (n == 1) {
            loss = got;
            first = copied(b.dlogits, b.numbers);
        }
        assert_true(got == loss);
        assert_same_bits(b.dlogits, first, b.numbers);
        pr_threads_free(p);
    }
    tensor_free(first, b.numbers);
    batch_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_and_their_slopes),
        cmocka_unit_test(the_first_of_equal_ones_count),
        cmocka_unit_test(broken_samples),
        cmocka_unit_test(threads_do_not_matter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
