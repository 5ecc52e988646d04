/* A picture in two sizes: small, and as large as it shall become. */
#include "native/task/task.h"
#include "native/task/task_waves.h"

enum { SMALL, LARGE };

static int pictures_open(struct pr_task_run *t, struct pr_err *err)
{
    const struct pr_layer_shape *a = pr_task_input_shape(t, SMALL);
    const struct pr_layer_shape *b = pr_task_input_shape(t, LARGE);

    if (a->dims == 3 && b->dims == 3 && a->at[0] == b->at[0] &&
        b->at[1] % a->at[1] == 0 && b->at[1] * a->at[2] == b->at[2] * a->at[1])
        return PR_OK;
    return pr_fail(err, PR_E_CONF, t->model->path,
                   "data 'pictures' wants 'small' and 'large' of [channels, "
                   "rows, columns], one a multiple of the other");
}

static void pictures_fill(const struct pr_task_run *t,
                          const struct pr_task_at *at, void *const *out)
{
    const struct pr_layer_shape *large = pr_task_input_shape(t, LARGE);
    const struct pr_layer_shape *small = pr_task_input_shape(t, SMALL);
    int64_t times = large->at[1] / small->at[1];
    const float *from = out[LARGE];
    float *to = out[SMALL];
    struct pr_rng rng;

    pr_task_seed_rng(t, at, 0, &rng);
    pr_waves_draw(&rng, large->at[0], large->at[1], large->at[2],
                  (double)large->at[1] / 4, out[LARGE]);
    for (int64_t c = 0; c < small->at[0]; c++)
        for (int64_t y = 0; y < small->at[1]; y++)
            for (int64_t x = 0; x < small->at[2]; x++) {
                const float *p = from +
                                 (c * large->at[1] + y * times) * large->at[2] +
                                 x * times;
                float sum = 0;

                for (int64_t dy = 0; dy < times; dy++)
                    for (int64_t dx = 0; dx < times; dx++)
                        sum += p[dy * large->at[2] + dx];
                *to++ = sum / (float)(times * times);
            }
}

const struct pr_task pr_task_pictures = {
    .name = "pictures",
    .says = "pictures, small and large",
    .inputs = {"small", "large"},
    .open = pictures_open,
    .fill = pictures_fill,
};
