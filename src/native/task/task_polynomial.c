/* A polynomial of degree n without noise: powers of a normal number, and the
 * value that it has there. Its coefficients follow from the seed. */
#include "base/random.h"
#include "native/task/task.h"

enum { POWERS, VALUE };
enum { STREAM_SAMPLE, STREAM_COEFFICIENTS };

static int polynomial_open(struct pr_task_run *t, struct pr_err *err)
{
    if (pr_task_input_shape(t, POWERS)->dims == 1 &&
        pr_task_input_shape(t, VALUE)->dims == 1 &&
        pr_task_input_shape(t, VALUE)->at[0] == 1)
        return PR_OK;
    return pr_fail(err, PR_E_CONF, t->model->path,
                   "data 'polynomial' wants 'powers' of the shape [n] and "
                   "'value' of [1]");
}

static void polynomial_fill(const struct pr_task_run *t,
                            const struct pr_task_at *at, void *const *out)
{
    struct pr_task_at none = {0, 0, 1};
    float *powers = out[POWERS], *value = out[VALUE];
    struct pr_rng sample, all;
    double x, power = 1, sum;

    pr_task_seed_rng(t, at, STREAM_SAMPLE, &sample);
    pr_task_seed_rng(t, &none, STREAM_COEFFICIENTS, &all);
    x = pr_rng_gauss(&sample);
    sum = 5 * pr_rng_gauss(&all);
    for (int64_t i = 0; i < pr_task_input_shape(t, POWERS)->at[0]; i++) {
        power *= x;
        powers[i] = (float)power;
        sum += 5 * pr_rng_gauss(&all) * power;
    }
    *value = (float)sum;
}

const struct pr_task pr_task_polynomial = {
    .name = "polynomial",
    .says = "powers of a number and the value of a polynomial",
    .inputs = {"powers", "value"},
    .open = polynomial_open,
    .fill = polynomial_fill,
};
