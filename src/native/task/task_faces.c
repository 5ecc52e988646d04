/* Pictures that have much in common, as faces have, and normal noise to make
 * such out of. */
#include "native/task/task.h"
#include "native/task/task_waves.h"

enum { TASK_FACES_IMAGE, TASK_FACES_NOISE };

static int faces_open(struct pr_task_run *t, struct pr_err *err)
{
    if (pr_task_input_shape(t, TASK_FACES_IMAGE)->dims == 3 &&
        pr_task_input_shape(t, TASK_FACES_NOISE)->dims == 1)
        return PR_OK;
    return pr_fail(err, PR_E_CONF, t->model->path,
                   "data 'faces' wants an 'image' of [channels, rows, columns] "
                   "and 'noise' of [n]");
}

/* A round shape at about the same place, of any colour, in front of waves. */
static void draw_head(const struct pr_layer_shape *s, struct pr_rng *rng,
                      float *out)
{
    double x = 0.5 + 0.05 * pr_rng_gauss(rng),
           y = 0.5 + 0.05 * pr_rng_gauss(rng);
    double wide = 0.25 + 0.03 * pr_rng_gauss(rng);
    double high = 0.33 + 0.03 * pr_rng_gauss(rng);

    for (int64_t c = 0; c < s->at[0]; c++) {
        float shade = (float)(2 * pr_rng_double(rng) - 1);

        for (int64_t i = 0; i < s->at[1]; i++)
            for (int64_t k = 0; k < s->at[2]; k++, out++) {
                double u = ((double)k / (double)s->at[2] - x) / wide;
                double v = ((double)i / (double)s->at[1] - y) / high;

                if (u * u + v * v < 1)
                    *out = shade;
                *out = *out > 1 ? 1 : *out < -1 ? -1 : *out;
            }
    }
}

static void faces_fill(const struct pr_task_run *t, const struct pr_task_at *at,
                       void *const *out)
{
    const struct pr_layer_shape *s = pr_task_input_shape(t, TASK_FACES_IMAGE);
    float *noise = out[TASK_FACES_NOISE];
    struct pr_rng rng;

    pr_task_seed_rng(t, at, 0, &rng);
    pr_waves_draw(&rng, s->at[0], s->at[1], s->at[2], (double)s->at[1],
                  out[TASK_FACES_IMAGE]);
    draw_head(s, &rng, out[TASK_FACES_IMAGE]);
    for (int64_t i = 0; i < pr_task_input_shape(t, TASK_FACES_NOISE)->at[0];
         i++)
        noise[i] = (float)pr_rng_gauss(&rng);
}

const struct pr_task pr_task_faces = {
    .name = "faces",
    .says = "pictures with a head in the middle, and noise",
    .inputs = {"image", "noise"},
    .open = faces_open,
    .fill = faces_fill,
};
