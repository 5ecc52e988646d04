/*
 * Pictures with coloured boxes in them, and for each box that a detector looks
 * at, as SSD lays them, what it should find: the place of the object that
 * covers it by half, relative to it, and its kind. Kind 0 is none.
 */
#include "base/mem.h"
#include "base/random.h"
#include "native/task/task.h"

#include <math.h>

enum { IMAGE, PLACES, KINDS };
enum { OBJECTS = 4, MAPS = 6 };

struct box {
    float x, y, wide, high; /* of the middle; the picture is 1 by 1 */
};

/* Sides of the default boxes of each map, in parts of 300. */
static const double scales[MAPS + 1] = {21, 45, 99, 153, 207, 261, 315};

/* ---- default boxes, from the maps that the model has */

/* The boxes of one map: each shape at all places. */
static struct box *lay_map(struct box *to, unsigned map, int64_t rows,
                           int64_t columns, int64_t shapes)
{
    double small = scales[map] / 300,
           between = sqrt(small * scales[map + 1] / 300);

    for (int64_t k = 0; k < shapes; k++) {
        double longer = sqrt(k < 4 ? 2 : 3);
        double wide = k == 0   ? small
                      : k == 1 ? between
                      : k % 2  ? small / longer
                               : small * longer;
        double high = k < 2 ? wide : small * small / wide;

        for (int64_t y = 0; y < rows; y++)
            for (int64_t x = 0; x < columns; x++)
                *to++ =
                    (struct box){(float)(((double)x + 0.5) / (double)columns),
                                 (float)(((double)y + 0.5) / (double)rows),
                                 (float)wide, (float)high};
    }
    return to;
}

/* The convolution that the i-th part of the predicted places comes from. */
static const struct pr_layer *boxes_find_map(const struct pr_model *m,
                                             unsigned i)
{
    const struct pr_layer *all = &m->layers[m->losses[0].of[0]];
    const struct pr_layer *part = &m->layers[all->inputs[i]];

    return part->input_count ? &m->layers[part->inputs[0]] : part;
}

static bool has_maps(const struct pr_model *m, int64_t boxes)
{
    const struct pr_layer *all;
    int64_t found = 0;

    if (!m->loss_count || m->losses[0].kind != PR_LOSS_MULTIBOX)
        return false;
    all = &m->layers[m->losses[0].of[0]];
    if (all->op != PR_LAYER_CONCAT || all->input_count > MAPS)
        return false;
    for (unsigned i = 0; i < all->input_count; i++) {
        const struct pr_layer_shape *s = &boxes_find_map(m, i)->shape;

        if (s->dims != 3 || (s->at[0] != 16 && s->at[0] != 24))
            return false;
        found += s->at[0] / 4 * s->at[1] * s->at[2];
    }
    return found == boxes;
}

static bool has_room(const struct pr_task_run *t, int64_t boxes)
{
    const struct pr_layer_shape *places = pr_task_input_shape(t, PLACES);

    return pr_task_input_shape(t, KINDS)->dims == 1 && places->dims == 2 &&
           places->at[0] == 4 && places->at[1] == boxes &&
           t->model->layers[t->input[KINDS]].ids > 1;
}

static int boxes_open(struct pr_task_run *t, struct pr_err *err)
{
    const struct pr_model *m = t->model;
    int64_t boxes = pr_task_input_shape(t, KINDS)->at[0];
    struct box *to;

    if (pr_task_input_shape(t, IMAGE)->dims != 3 || !has_room(t, boxes) ||
        !has_maps(m, boxes))
        return pr_fail(err, PR_E_CONF, m->path,
                       "data 'boxes' wants an 'image', and as many 'places' "
                       "and 'kinds', two kinds at least, as the joined maps of "
                       "the loss multibox have, four or six at each point");
    to = t->state = pr_alloc((size_t)boxes * sizeof *to);
    if (!to)
        return pr_fail_nomem(err);
    for (unsigned i = 0; i < m->layers[m->losses[0].of[0]].input_count; i++) {
        const struct pr_layer_shape *s = &boxes_find_map(m, i)->shape;

        to = lay_map(to, i, s->at[1], s->at[2], s->at[0] / 4);
    }
    return PR_OK;
}

static void boxes_close(struct pr_task_run *t)
{
    pr_free(t->state);
}

/* ---- a sample */

static float span_overlap(float a, float wide_a, float b, float wide_b)
{
    float from = fmaxf(a - wide_a / 2, b - wide_b / 2);
    float to = fminf(a + wide_a / 2, b + wide_b / 2);

    return to > from ? to - from : 0;
}

/* How much two boxes have in common, of all that they cover. */
static float box_overlap_share(const struct box *a, const struct box *b)
{
    float both = span_overlap(a->x, a->wide, b->x, b->wide) *
                 span_overlap(a->y, a->high, b->y, b->high);

    return both / (a->wide * a->high + b->wide * b->high - both);
}

static void draw_object(const struct pr_layer_shape *s, const struct box *b,
                        uint64_t colour, float *image)
{
    int64_t rows = s->at[1], columns = s->at[2];
    int64_t y0 = (int64_t)((b->y - b->high / 2) * (float)rows);
    int64_t y1 = (int64_t)((b->y + b->high / 2) * (float)rows);
    int64_t x0 = (int64_t)((b->x - b->wide / 2) * (float)columns);
    int64_t x1 = (int64_t)((b->x + b->wide / 2) * (float)columns);

    for (int64_t c = 0; c < s->at[0]; c++) {
        float shade = (float)(colour >> 8 * (c % 3) & 255) / 64 - 2;

        for (int64_t y = y0; y < y1; y++)
            for (int64_t x = x0; x < x1; x++)
                image[(c * rows + y) * columns + x] = shade;
    }
}

/* What there is to find, and where it is to be written. */
struct scene {
    const struct box *at; /* the default boxes */
    int64_t boxes;
    struct box objects[OBJECTS];
    int32_t kinds[OBJECTS];
    unsigned count;
    float *places;
    int32_t *found;
};

/* Box i should find object k. */
static void scene_assign_object(const struct scene *s, int64_t i, unsigned k)
{
    const struct box *o = &s->objects[k], *at = &s->at[i];
    float *place = s->places + i;

    s->found[i] = s->kinds[k];
    place[0] = 10 * (o->x - at->x) / at->wide;
    place[s->boxes] = 10 * (o->y - at->y) / at->high;
    place[2 * s->boxes] = 5 * logf(o->wide / at->wide);
    place[3 * s->boxes] = 5 * logf(o->high / at->high);
}

/* Each box is for the object that covers it most, by half at least, and each
 * object for the box that it covers most, however little that is. */
static void scene_match_boxes(const struct scene *s)
{
    float best[OBJECTS] = {0};
    int64_t of[OBJECTS] = {0};

    for (int64_t i = 0; i < s->boxes; i++) {
        float most = 0.5f;

        s->found[i] = 0;
        for (unsigned k = 0; k < 4; k++)
            s->places[(int64_t)k * s->boxes + i] = 0;
        for (unsigned k = 0; k < s->count; k++) {
            float c = box_overlap_share(&s->at[i], &s->objects[k]);

            if (c >= most) {
                most = c;
                scene_assign_object(s, i, k);
            }
            if (c > best[k]) {
                best[k] = c;
                of[k] = i;
            }
        }
    }
    for (unsigned k = 0; k < s->count; k++)
        scene_assign_object(s, of[k], k);
}

static void scene_add_object(struct scene *s, struct pr_rng *rng, int64_t ids)
{
    float wide = (float)(0.1 + 0.6 * pr_rng_double(rng));
    float high = (float)(0.1 + 0.6 * pr_rng_double(rng));

    s->objects[s->count] = (struct box){
        wide / 2 + (float)pr_rng_double(rng) * (1 - wide),
        high / 2 + (float)pr_rng_double(rng) * (1 - high), wide, high};
    s->kinds[s->count++] = 1 + (int32_t)(pr_rng_u64(rng) % (uint64_t)(ids - 1));
}

static void boxes_fill(const struct pr_task_run *t, const struct pr_task_at *at,
                       void *const *out)
{
    const struct pr_layer_shape *shape = pr_task_input_shape(t, IMAGE);
    int64_t ids = t->model->layers[t->input[KINDS]].ids;
    struct scene s = {.at = t->state,
                      .boxes = pr_task_input_shape(t, KINDS)->at[0],
                      .places = out[PLACES],
                      .found = out[KINDS]};
    float *image = out[IMAGE];
    struct pr_rng rng;
    unsigned count;

    pr_task_seed_rng(t, at, 0, &rng);
    for (int64_t i = 0; i < shape->at[0] * shape->at[1] * shape->at[2]; i++)
        image[i] = (float)(pr_rng_double(&rng) - 0.5);
    count = 1 + (unsigned)(pr_rng_u64(&rng) % OBJECTS);
    for (unsigned k = 0; k < count; k++) {
        scene_add_object(&s, &rng, ids);
        draw_object(shape, &s.objects[k],
                    pr_mix64(t->seed + (uint64_t)s.kinds[k]), image);
    }
    scene_match_boxes(&s);
}

const struct pr_task pr_task_boxes = {
    .name = "boxes",
    .says = "pictures with boxes in them, and where these are",
    .inputs = {"image", "places", "kinds"},
    .ids = 1 << KINDS,
    .open = boxes_open,
    .close = boxes_close,
    .fill = boxes_fill,
};
