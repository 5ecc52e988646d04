/*
 * For tests of the loops: threads, tensors with a guard behind them, numbers
 * that look random, and views of all layouts. A test runs with 1, 2 and 3
 * threads, in brief only with 3; with the thread sanitizer with 1, as it does
 * not know the runtime's ways of waiting.
 */
#ifndef TESTS_UNIT_TEST_NN_KERNEL_H
#define TESTS_UNIT_TEST_NN_KERNEL_H

#include "base/mem.h"
#include "base/random.h"
#include "nn/kernel/kernels.h"

#include "skip.h"
#include "torture.h"

#include <math.h>
#include <string.h>

#if defined(__SANITIZE_THREAD__)
#define TEST_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TEST_THREADS 1
#endif
#endif
#define ONE_THREAD "TSan does not know OpenMP; run it without"
#ifndef TEST_THREADS
#define TEST_THREADS 3
#endif

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Layouts: nchw, blocks that are full and not, nhwc of odd sizes; one place,
 * one sample, and enough elements that all threads take part. */
static const struct pr_grid views[] = {
    {2, 3, 5, 1},     {1, 1, 20000, 1}, {3, 7, 49, 1},    {2, 2, 5001, 1},
    {3, 8, 49, 8},    {2, 11, 7, 8},    {4, 24, 150, 8},  {16, 3, 301, 8},
    {5, 20, 33, 16},  {2, 16, 1, 16},   {3, 40, 130, 16}, {1, 5, 2000, 16},
    {3, 5, 9, 5},     {2, 40, 13, 40},  {1, 70, 37, 70},  {4, 64, 61, 64},
    {3, 37, 100, 37}, {2, 8, 700, 8},   {5, 3, 1111, 3},  {2, 100, 300, 100},
    {2, 50, 3, 48},   {9, 4, 400, 4},   {2, 70, 100, 32},
};

static inline struct pr_threads *threads_new(unsigned threads)
{
    struct pr_threads *p = NULL;
    struct pr_err err = {0};
    int r = pr_threads_new(threads, &p, &err);

    if (r == PR_E_UNAVAIL)
        skip_for(&err);
    assert_int_equal(r, PR_OK);
    return p;
}

/* Runs a test with each number of threads. */
static inline void with_threads(void (*test)(const struct pr_threads *p))
{
    for (unsigned n = is_brief() ? TEST_THREADS : 1; n <= TEST_THREADS; n++) {
        struct pr_threads *p = threads_new(n);

        test(p);
        pr_threads_free(p);
    }
}

enum { GUARD = 16 };
static const float guard = 123456;

static inline float *tensor(size_t count)
{
    float *x = pr_alloc_aligned(64, (count + GUARD) * sizeof *x);

    assert_non_null(x);
    for (size_t i = 0; i < count; i++)
        x[i] = 777; /* what nobody wrote is wrong */
    for (size_t i = count; i < count + GUARD; i++)
        x[i] = guard;
    return x;
}

static inline void tensor_free(float *x, size_t count)
{
    for (size_t i = count; i < count + GUARD; i++)
        assert_true(x[i] == guard);
    pr_free(x);
}

/* Normal numbers around mean. */
static inline float *drawn(size_t count, uint64_t key, double mean)
{
    float *x = tensor(count);
    struct pr_rng r;

    pr_rng_seed(&r, key, 1);
    for (size_t i = 0; i < count; i++)
        x[i] = (float)(mean + pr_rng_gauss(&r));
    return x;
}

static inline float *copied(const float *x, size_t count)
{
    float *y = tensor(count);

    memcpy(y, x, count * sizeof *y);
    return y;
}

static inline size_t
channels(const struct pr_grid *v) /* with those that fill up */
{
    return (v->c + v->block - 1) / v->block * v->block;
}

static inline size_t place(const struct pr_grid *v, size_t n, size_t c,
                           size_t s)
{
    size_t blocks = channels(v) / v->block;

    return ((n * blocks + c / v->block) * v->s + s) * v->block + c % v->block;
}

/* Makes 0 what only fills up. */
static inline void clear_rest(const struct pr_grid *v, float *x)
{
    for (size_t n = 0; n < v->n; n++)
        for (size_t c = v->c; c < channels(v); c++)
            for (size_t s = 0; s < v->s; s++)
                x[place(v, n, c, s)] = 0;
}

static inline void assert_rest_is_zero(const struct pr_grid *v, const float *x)
{
    for (size_t n = 0; n < v->n; n++)
        for (size_t c = v->c; c < channels(v); c++)
            for (size_t s = 0; s < v->s; s++)
                assert_true(x[place(v, n, c, s)] == 0);
}

static inline float *drawn_view(const struct pr_grid *v, uint64_t key,
                                double mean)
{
    float *x = drawn(pr_grid_elements(v), key, mean);

    clear_rest(v, x);
    return x;
}

/* For an array of channels. */
static inline float *drawn_channels(const struct pr_grid *v, uint64_t key,
                                    double mean)
{
    float *x = drawn(channels(v), key, mean);

    for (size_t c = v->c; c < channels(v); c++)
        x[c] = 0;
    return x;
}

#define assert_near(got, want, tolerance)                             \
    do {                                                              \
        double got_ = (got), want_ = (want);                          \
        if (!(fabs(got_ - want_) <= (tolerance) * (1 + fabs(want_)))) \
            fail_msg("%s is %.9g, not %.9g", #got, got_, want_);      \
    } while (0)

#define assert_same_bits(a, b, count) \
    assert_memory_equal(a, b, (count) * sizeof *(a))

#endif
