/*
 * CTC against all alignments, one by one, where these are few; against
 * logarithms in doubles where they are many.
 */
#include "test_nn_kernel.h"

#include "nn/kernel/losses.h"

enum { MOST_ROWS = 1500, MOST_IDS = 40 };

struct one { /* a sample */
    size_t rows, classes, length;
    int32_t ids[MOST_IDS];
    double x[MOST_ROWS * 16];
};

/* log(sum(exp)) of a row. */
static double row_sum(const struct one *s, size_t row)
{
    const double *x = s->x + row * s->classes;
    double sum = 0, base = x[0];

    for (size_t i = 0; i < s->classes; i++)
        base = fmax(base, x[i]);
    for (size_t i = 0; i < s->classes; i++)
        sum += exp(x[i] - base);
    return base + log(sum);
}

/* Whether a way, without repetitions and then without blanks, is the ids. */
static bool says(const struct one *s, const size_t *way)
{
    size_t n = 0;

    for (size_t t = 0; t < s->rows; t++) {
        if (way[t] == 0 || (t && way[t] == way[t - 1]))
            continue;
        if (n == s->length || (size_t)s->ids[n] != way[t])
            return false;
        n++;
    }
    return n == s->length;
}

/* -log of the sum over all ways; infinite: there is none. */
static double by_ways(const struct one *s)
{
    size_t way[8] = {0}, t = 0;
    double sum = 0;

    while (t < s->rows) {
        if (says(s, way)) {
            double p = 0;

            for (size_t i = 0; i < s->rows; i++)
                p += s->x[i * s->classes + way[i]] - row_sum(s, i);
            sum += exp(p);
        }
        for (t = 0; t < s->rows && ++way[t] == s->classes; t++)
            way[t] = 0;
    }
    return -log(sum);
}

static double log_add(double a, double b)
{
    if (isinf(a))
        return b;
    if (isinf(b))
        return a;
    return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

/* The same, state by state, backwards in time. after: what may still come. */
static double by_states(const struct one *s)
{
    const double never = -(double)INFINITY;
    size_t states = 2 * s->length + 1;
    double after[2 * MOST_IDS + 3], now[2 * MOST_IDS + 3];

    for (size_t i = 0; i < states; i++)
        after[i] = i + 2 >= states ? 0 : never;
    for (size_t t = s->rows; t-- > 0;) {
        const double *x = s->x + t * s->classes;
        double sum = row_sum(s, t);

        now[states] = now[states + 1] = never;
        for (size_t i = 0; i < states; i++)
            now[i] = after[i] + x[i % 2 ? s->ids[i / 2] : 0] - sum;
        for (size_t i = 0; i < states; i++) {
            after[i] = log_add(now[i], now[i + 1]);
            if (i % 2 && i / 2 + 1 < s->length &&
                s->ids[i / 2] != s->ids[i / 2 + 1])
                after[i] = log_add(after[i], now[i + 2]);
        }
    }
    return -log_add(now[0], now[1]);
}

/* ---- samples through the kernel */

struct batch {
    struct pr_ctc c;
    float *x, *dx, *work;
    size_t count, floats;
};

static void batch_new(size_t samples, size_t rows, size_t classes, size_t most,
                      const int32_t *ids, const int32_t *lengths, double spread,
                      struct batch *b)
{
    b->c = (struct pr_ctc){.samples = samples,
                           .rows = rows,
                           .classes = classes,
                           .ids = ids,
                           .most = most,
                           .lengths = lengths,
                           .factor = 1};
    b->count = samples * rows * classes;
    b->floats = pr_kernel_ctc_work(&b->c);
    b->c.x = b->x = drawn(b->count, 5, 0);
    b->c.dx = b->dx = tensor(b->count);
    b->c.work = b->work = tensor(b->floats);
    for (size_t i = 0; i < b->count; i++)
        b->x[i] *= (float)spread;
}

static void batch_free(struct batch *b)
{
    tensor_free(b->x, b->count);
    tensor_free(b->dx, b->count);
    tensor_free(b->work, b->floats);
}

static void take(const struct pr_ctc *c, size_t i, struct one *ret)
{
    ret->rows = c->rows;
    ret->classes = c->classes;
    ret->length = (size_t)c->lengths[i];
    for (size_t k = 0; k < ret->length; k++)
        ret->ids[k] = c->ids[i * c->most + k];
    for (size_t k = 0; k < c->rows * c->classes; k++)
        ret->x[k] = (double)c->x[i * c->rows * c->classes + k];
}

/* Gradients of one sample, each step-th number. */
static void check_slopes(const struct pr_ctc *c, size_t i, struct one *s,
                         double (*want)(const struct one *), double scale,
                         size_t step)
{
    size_t numbers = c->rows * c->classes;

    for (size_t k = 0; k < numbers; k += step) {
        double x = s->x[k], slope;

        s->x[k] = x + 1e-4;
        slope = want(s);
        s->x[k] = x - 1e-4;
        slope = isinf(slope) ? 0 : (slope - want(s)) / 2e-4;
        s->x[k] = x;
        assert_near((double)c->dx[i * numbers + k] / scale, slope, 3e-6);
    }
}

static void check_batch(const struct pr_threads *p, struct batch *b,
                        double (*want)(const struct one *), size_t step)
{
    static struct one s;
    const struct pr_ctc *c = &b->c;
    double got = pr_kernel_ctc(p, c), all = 0;

    for (size_t i = 0; i < c->samples; i++) {
        double scale = c->factor, one;

        take(c, i, &s);
        if (!c->sum)
            scale /= (double)c->samples * (double)(s.length ? s.length : 1);
        one = want(&s);
        all += isinf(one) ? 0 : scale * one;
        check_slopes(c, i, &s, want, scale, step);
    }
    assert_near(got, all, 3e-7);
    b->c.dx = NULL;
    assert_true(pr_kernel_ctc(p, c) == got);
    b->c.dx = b->dx;
}

/* What follows the ids of a sample is never looked at. */
static const int32_t few_ids[] = {
    -5, -5, -5, -5, 1, -5, -5, -5, 2, 1, -5, -5, 1, 1, -5, -5,
    1,  2,  1,  -5, 2, 2,  2,  -5, 1, 2, 1,  2,  1, 1, 1,  1,
};
static const int32_t few_lengths[] = {0, 1, 2, 2, 3, 3, 4, 4};

static void few_rows(const struct pr_threads *p)
{
    for (size_t rows = 1; rows <= 5; rows++)
        for (unsigned sum = 0; sum < 2; sum++) {
            struct batch b;

            batch_new(COUNT(few_lengths), rows, 3, 4, few_ids, few_lengths,
                      1 + 2 * sum, &b);
            b.c.sum = sum;
            b.c.factor = sum ? 0.5 : 1;
            check_batch(p, &b, by_ways, 1);
            check_batch(p, &b, by_states, 1);
            batch_free(&b);
        }
}

static void all_alignments_of_few_rows(void **state)
{
    (void)state;
    with_threads(few_rows);
}

static void draw_ids(size_t samples, size_t classes, int32_t *ids,
                     int32_t *lengths)
{
    struct pr_rng r;

    pr_rng_seed(&r, 8, 1);
    for (size_t i = 0; i < samples * MOST_IDS; i++)
        ids[i] = 1 + (int32_t)(pr_rng_u64(&r) % (classes - 1));
    for (size_t i = 0; i < samples; i++)
        lengths[i] = MOST_IDS - (int32_t)i * 7;
}

/* Far below what a float can hold; logits that leave no doubt, and too few
 * rows for the ids of some. */
static void many_rows(const struct pr_threads *p)
{
    static const struct {
        size_t rows, classes, step;
        double spread;
    } cases[] = {{60, 5, 1, 1},
                 {45, 3, 1, 8},
                 {200, 16, 397, 300},
                 {MOST_ROWS, 16, 4999, 2}};

    for (size_t k = 0; k < COUNT(cases); k++) {
        enum { SAMPLES = 4 };
        int32_t ids[SAMPLES * MOST_IDS], lengths[SAMPLES];
        size_t step = cases[k].step;
        struct batch b;

        draw_ids(SAMPLES, cases[k].classes, ids, lengths);
        batch_new(SAMPLES, cases[k].rows, cases[k].classes, MOST_IDS, ids,
                  lengths, cases[k].spread, &b);
        check_batch(p, &b, by_states, step + (is_brief() ? 100 : 6));
        batch_free(&b);
    }
}

static void states_of_many_rows(void **state)
{
    (void)state;
    with_threads(many_rows);
}

static void threads_do_not_matter(void **state)
{
    int32_t ids[7 * MOST_IDS], lengths[7];
    float *first = NULL;
    double loss = 0;
    struct batch b;

    (void)state;
    draw_ids(7, 16, ids, lengths);
    lengths[6] = 3;
    batch_new(7, 90, 16, MOST_IDS, ids, lengths, 2, &b);
    for (unsigned n = 1; n <= TEST_THREADS; n++) {
        struct pr_threads *p = threads_new(n);
        double got = pr_kernel_ctc(p, &b.c);

        if (n == 1) {
            loss = got;
            first = copied(b.dx, b.count);
        }
        assert_true(got == loss);
        assert_same_bits(b.dx, first, b.count);
        pr_threads_free(p);
    }
    tensor_free(first, b.count);
    batch_free(&b);
}

/* The first of two samples is broken: the other's gradient is not. */
static void broken_samples(void **state)
{
    static const struct {
        int32_t ids[2], length;
        float x;
        bool broken;
    } rows[] = {
        {{1, 2}, 2, 0, false},       {{1, 2}, 3, 0, true},
        {{1, 2}, -1, 0, true},       {{1, 3}, 2, 0, true},
        {{1, 3}, 1, 0, false},       {{0, 1}, 2, 0, true},
        {{-1, 1}, 2, 0, true},       {{1, 2}, 2, NAN, true},
        {{1, 2}, 2, INFINITY, true}, {{1, 2}, 2, -INFINITY, false},
        {{1, 2}, 2, 1e4f, false},    {{1, 2}, 2, -1e4f, false},
    };
    struct pr_threads *p = threads_new(1);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int32_t ids[] = {rows[i].ids[0], rows[i].ids[1], 2, 1};
        int32_t lengths[] = {rows[i].length, 2};
        struct batch b;
        double loss;

        batch_new(2, 4, 3, 2, ids, lengths, 1, &b);
        b.x[4] = rows[i].x;
        loss = pr_kernel_ctc(p, &b.c);
        assert_int_equal(isnan(loss), rows[i].broken);
        for (size_t k = 0; k < b.count; k++)
            assert_int_equal(!isfinite(b.dx[k]),
                             rows[i].broken && k < b.count / 2);
        batch_free(&b);
    }
    pr_threads_free(p);
}

/* A class that cannot be leaves no way: as ids that do not fit. */
static void no_way_counts_nothing(void **state)
{
    static const int32_t ids[] = {1, 2}, lengths[] = {2};
    struct pr_threads *p = threads_new(1);
    struct batch b;

    (void)state;
    batch_new(1, 5, 3, 2, ids, lengths, 1, &b);
    for (size_t t = 0; t < 5; t++)
        b.x[t * 3 + 2] = -INFINITY;
    assert_true(pr_kernel_ctc(p, &b.c) == 0);
    for (size_t k = 0; k < b.count; k++)
        assert_true(b.dx[k] == 0);
    batch_free(&b);
    pr_threads_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_alignments_of_few_rows),
        cmocka_unit_test(states_of_many_rows),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(broken_samples),
        cmocka_unit_test(no_way_counts_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
