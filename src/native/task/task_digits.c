/* Drawn figures as numbers from 0 to 1, and normal noise beside each. */
#include "base/random.h"
#include "native/task/digits.h"
#include "native/task/task.h"

enum { IMAGE, NOISE };

static int digits_open(struct pr_task_run *t, struct pr_err *err)
{
    const struct pr_layer_shape *s = pr_task_input_shape(t, IMAGE);
    struct pr_digit_images d;

    if (pr_digits_init(&d, s->dims, s->at) && d.channels == 1 &&
        pr_task_input_shape(t, NOISE)->dims == 1)
        return PR_OK;
    return pr_fail(err, PR_E_CONF, t->model->path,
                   "data 'digits' wants an 'image' of [n], n being a square, "
                   "or of [1, rows, columns], %d by %d at least, and "
                   "'noise' of [n]",
                   PR_DIGITS_SIDE_MIN, PR_DIGITS_SIDE_MIN);
}

static void digits_fill(const struct pr_task_run *t,
                        const struct pr_task_at *at, void *const *out)
{
    const struct pr_layer_shape *s = pr_task_input_shape(t, IMAGE);
    struct pr_digit_images d = {.seed = t->seed};
    float *image = out[IMAGE], *noise = out[NOISE];
    /* Bytes are drawn where the last of the numbers are going to be. */
    uint8_t *gray;
    struct pr_rng rng;
    size_t n;

    pr_digits_init(&d, s->dims, s->at);
    n = (size_t)d.rows * d.columns;
    gray = (uint8_t *)(image + n) - n;
    pr_digits_draw(&d, false, at->step * at->columns + at->column, gray);
    for (size_t i = 0; i < n; i++)
        image[i] = (float)gray[i] / 255;
    pr_task_seed_rng(t, at, 0, &rng);
    for (int64_t i = 0; i < pr_task_input_shape(t, NOISE)->at[0]; i++)
        noise[i] = (float)pr_rng_gauss(&rng);
}

const struct pr_task pr_task_digits = {
    .name = "digits",
    .says = "drawn figures and noise",
    .inputs = {"image", "noise"},
    .open = digits_open,
    .fill = digits_fill,
};
