/* Pictures, and one picture whose style they shall have: always the same. */
#include "native/task/task.h"
#include "native/task/task_waves.h"

enum { TASK_STYLE_IMAGE, STYLE };

static int style_open(struct pr_task_run *t, struct pr_err *err)
{
    if (pr_task_input_shape(t, TASK_STYLE_IMAGE)->dims == 3 &&
        pr_task_input_shape(t, STYLE)->dims == 3)
        return PR_OK;
    return pr_fail(err, PR_E_CONF, t->model->path,
                   "data 'style' wants 'image' and 'style' of [channels, rows, "
                   "columns]");
}

static void style_draw_waves(const struct pr_layer_shape *s, struct pr_rng *rng,
                             double waves, float *out)
{
    pr_waves_draw(rng, s->at[0], s->at[1], s->at[2], (double)s->at[1] / waves,
                  out);
}

static void style_fill(const struct pr_task_run *t, const struct pr_task_at *at,
                       void *const *out)
{
    enum { STREAM_IMAGE, STREAM_STYLE };
    struct pr_task_at none = {0, 0, 1};
    struct pr_rng rng;

    pr_task_seed_rng(t, at, STREAM_IMAGE, &rng);
    style_draw_waves(pr_task_input_shape(t, TASK_STYLE_IMAGE), &rng, 1,
                     out[TASK_STYLE_IMAGE]);
    pr_task_seed_rng(t, &none, STREAM_STYLE, &rng);
    style_draw_waves(pr_task_input_shape(t, STYLE), &rng, 6, out[STYLE]);
}

const struct pr_task pr_task_style = {
    .name = "style",
    .says = "pictures, and one whose style they shall have",
    .inputs = {"image", "style"},
    .open = style_open,
    .fill = style_fill,
};
