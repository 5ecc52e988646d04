/* For tests of what oneDNN multiplies for us, and of attention: slopes are
 * taken by moving one number of an input. */
#ifndef TESTS_UNIT_TEST_NN_ATTENTION_H
#define TESTS_UNIT_TEST_NN_ATTENTION_H

#include "nn/kernel/kernel_attention.h"

#include "skip.h"
#include "test_nn_kernel.h"

static inline struct pr_onednn *dnn_new(void)
{
    struct pr_onednn *d = NULL;
    struct pr_err err = {0};
    int r = pr_onednn_new(&d, &err);

    if (r == PR_E_UNAVAIL)
        skip_for(&err);
    assert_int_equal(r, PR_OK);
    return d;
}

/* One number of an input is moved. */
struct moved {
    const float *at;
    double by;
};

static inline double value(const float *x, const struct moved *m)
{
    return (double)*x + (x == m->at ? m->by : 0);
}

/* Softmax of n numbers. */
static inline void soften(double *x, size_t n)
{
    double most = x[0], sum = 0;

    for (size_t i = 0; i < n; i++)
        most = x[i] > most ? x[i] : most;
    for (size_t i = 0; i < n; i++)
        sum += x[i] = exp(x[i] - most);
    for (size_t i = 0; i < n; i++)
        x[i] /= sum;
}

enum { MOST = 1200 };

#endif
