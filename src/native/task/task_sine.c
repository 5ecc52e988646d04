/* Sine waves of period 2 π 20 that begin anywhere, and the same one row on:
 * what comes next is to be told. */
#include "base/random.h"
#include "native/task/task.h"

#include <math.h>

enum { WAVE, NEXT };
enum { PERIOD = 20 };

static int sine_open(struct pr_task_run *t, struct pr_err *err)
{
    const struct pr_layer_shape *a = pr_task_input_shape(t, WAVE);
    const struct pr_layer_shape *b = pr_task_input_shape(t, NEXT);

    if (a->dims == 2 && b->dims == 2 && a->at[1] == 1 && b->at[1] == 1 &&
        a->at[0] == b->at[0])
        return PR_OK;
    return pr_fail(err, PR_E_CONF, t->model->path,
                   "data 'sine' wants 'wave' and 'next' of one shape [rows, "
                   "1]");
}

static void sine_fill(const struct pr_task_run *t, const struct pr_task_at *at,
                      void *const *out)
{
    float *wave = out[WAVE], *next = out[NEXT];
    struct pr_rng rng;
    int64_t begin;

    pr_task_seed_rng(t, at, 0, &rng);
    begin = (int64_t)(pr_rng_u64(&rng) % (8 * PERIOD)) - 4 * PERIOD;
    for (int64_t i = 0; i < pr_task_input_shape(t, WAVE)->at[0]; i++) {
        wave[i] = (float)sin((double)(begin + i) / PERIOD);
        next[i] = (float)sin((double)(begin + i + 1) / PERIOD);
    }
}

const struct pr_task pr_task_sine = {
    .name = "sine",
    .says = "sine waves and what comes next in them",
    .inputs = {"wave", "next"},
    .open = sine_open,
    .fill = sine_fill,
};
