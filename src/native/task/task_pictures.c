/*
 * Tasks of pictures: waves, faces, style, two sizes, and drawn figures. A set
 * is the same everywhere: no function of the C library is used whose last bit
 * differs between versions, and places are rounded before anything is drawn.
 */
#include "native/task/task_pictures.h"

#include "base/random.h"
#include "native/task/task.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* ---- smooth random pictures */

enum { WAVES = 4 };

struct wave {
    double across, down, phase;
};

/* cos(a + b) out of those of a and b, so that a pixel costs no cosine. */
static void draw_wave(const struct wave *w, int64_t rows, int64_t columns,
                      double size, float *out)
{
    double step_cos = cos(w->across / size), step_sin = sin(w->across / size);

    for (int64_t y = 0; y < rows; y++) {
        /* In the middle of the pixel. */
        double at =
            w->phase + (w->down * ((double)y + 0.5) + w->across * 0.5) / size;
        double c = cos(at), s = sin(at);

        for (int64_t x = 0; x < columns; x++) {
            double next = c * step_cos - s * step_sin;

            out[y * columns + x] += (float)(c / 2);
            s = s * step_cos + c * step_sin;
            c = next;
        }
    }
}

/* size: how large one unit of the plane is, in pixels; the same waves drawn
 * with half the size are the same picture, half as large. */
static void waves_draw(struct pr_rng *rng, int64_t channels, int64_t rows,
                       int64_t columns, double size, float *out)
{
    for (int64_t c = 0; c < channels; c++) {
        float *plane = out + c * rows * columns;

        for (int64_t i = 0; i < rows * columns; i++)
            plane[i] = 0;
        for (int i = 0; i < WAVES; i++) {
            struct wave w = {pr_rng_gauss(rng) * 12, pr_rng_gauss(rng) * 12,
                             pr_rng_double(rng) * 6.283185307179586};

            draw_wave(&w, rows, columns, size, plane);
        }
    }
}

/* ---- pictures that have much in common, as faces have, and normal noise to
 * make such out of */

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
    waves_draw(&rng, s->at[0], s->at[1], s->at[2], (double)s->at[1],
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

/* ---- pictures, and one picture whose style they shall have: always the
 * same */

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
    waves_draw(rng, s->at[0], s->at[1], s->at[2], (double)s->at[1] / waves,
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

/* ---- a picture in two sizes: small, and as large as it shall become */

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
    waves_draw(&rng, large->at[0], large->at[1], large->at[2],
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

enum { POINTS = 24 };

/* Points of the pen in a box of 100 by 100, y down; UP lifts it, END ends. */
enum { UP = -1, END = -2 };

static const signed char figures[PR_DIGITS_CLASSES][2 * POINTS] = {
    {50, 5,  30, 12, 20, 32, 18, 55, 24, 80, 40, 94, 60,
     94, 76, 80, 82, 55, 80, 32, 70, 12, 50, 5,  END},
    {32, 24, 54, 6, 54, 94, END},
    {20, 28, 28, 12, 46, 5, 66, 9, 78, 24, 74, 42, 52, 64, 20, 93, 82, 93, END},
    {22, 14, 42, 5,  64, 8,  76, 22, 70, 40, 46, 48, UP,
     46, 48, 72, 56, 80, 74, 68, 90, 44, 95, 20, 86, END},
    {62, 5, 16, 64, 84, 64, UP, 62, 40, 62, 95, END},
    {76, 6,  30, 6,  24, 45, 46, 38, 68, 44, 80,
     62, 74, 84, 54, 95, 32, 93, 18, 84, END},
    {68, 6,  42, 22, 24, 48, 20, 72, 32, 91, 52, 96, 72,
     88, 80, 70, 72, 53, 52, 46, 32, 54, 21, 70, END},
    {18, 7, 82, 7, 58, 45, 42, 95, END},
    {50, 48, 28, 38, 24, 20, 38, 6,  62, 6,  76, 20, 72, 38, 50, 48,
     24, 60, 18, 78, 32, 94, 68, 94, 82, 78, 76, 60, 50, 48, END},
    {78, 30, 68, 46, 48, 54, 28, 46, 20, 28, 30, 10,
     50, 4,  70, 11, 79, 30, 76, 58, 62, 95, END},
};

bool pr_digits_init(struct pr_digit_images *d, unsigned dims, const int64_t *at)
{
    int64_t side;

    if (dims == 3) {
        d->channels = (unsigned)at[0];
        d->rows = (unsigned)at[1];
        d->columns = (unsigned)at[2];
    } else {
        side = (int64_t)(sqrt((double)at[0]) + 0.5);
        if (side * side != at[0])
            return false;
        d->channels = 1;
        d->rows = d->columns = (unsigned)side;
    }
    return d->rows >= PR_DIGITS_SIDE_MIN && d->columns >= PR_DIGITS_SIDE_MIN;
}

/* ---- drawn figures: a pen */

enum { UNIT = 256 }; /* parts of a pixel in which places are counted */

struct pen {
    uint8_t *gray;
    unsigned rows, columns;
    int64_t thick; /* half of the stroke */
};

struct spot {
    int64_t x, y;
};

/* How far a place is from the stroke a b. Whole numbers until the root, so
 * that there is nothing to round differently. */
static double stroke_distance(struct spot p, struct spot a, struct spot b)
{
    int64_t dx = b.x - a.x, dy = b.y - a.y, len2 = dx * dx + dy * dy;
    int64_t px = p.x - a.x, py = p.y - a.y, along = px * dx + py * dy;
    double cross;

    if (along <= 0)
        return sqrt((double)(px * px + py * py));
    if (along >= len2)
        return stroke_distance(p, b, b);
    cross = (double)(px * dy - py * dx);
    return sqrt(cross * cross / (double)len2);
}

/* The pixel a place is in, 0 to max. */
static unsigned pen_pixel(int64_t v, unsigned max)
{
    return v <= 0 ? 0 : v / UNIT >= max ? max : (unsigned)(v / UNIT);
}

static uint8_t ink_at(const struct pen *pen, struct spot p, struct spot a,
                      struct spot b)
{
    int64_t ink = pen->thick + UNIT / 2 - (int64_t)stroke_distance(p, a, b);

    ink = ink < 0 ? 0 : ink > UNIT ? UNIT : ink;
    return (uint8_t)(ink * 255 / UNIT);
}

static void pen_draw_stroke(const struct pen *pen, struct spot a, struct spot b)
{
    int64_t reach = pen->thick + UNIT;
    unsigned top = pen_pixel((a.y < b.y ? a.y : b.y) - reach, pen->rows);
    unsigned end = pen_pixel((a.y > b.y ? a.y : b.y) + reach + UNIT, pen->rows);
    unsigned left = pen_pixel((a.x < b.x ? a.x : b.x) - reach, pen->columns);
    unsigned right =
        pen_pixel((a.x > b.x ? a.x : b.x) + reach + UNIT, pen->columns);

    for (unsigned r = top; r < end; r++)
        for (unsigned c = left; c < right; c++) {
            struct spot p = {c * UNIT + UNIT / 2, r * UNIT + UNIT / 2};
            uint8_t *at = &pen->gray[(size_t)r * pen->columns + c];
            uint8_t ink = ink_at(pen, p, a, b);

            *at = *at < ink ? ink : *at;
        }
}

/* ---- drawn figures: a hand */

/* How one sample differs from the model figure: places are turned and slanted
 * about the middle, scaled and moved. */
struct hand {
    double xx, xy, yx, yy, x0, y0;
    double shaky; /* in hundredths of the box */
    struct pr_rng rng;
};

static double rng_between(struct pr_rng *r, double low, double high)
{
    return low + (high - low) * pr_rng_double(r);
}

static void take_hand(struct hand *h, const struct pr_digit_images *d)
{
    double wide = rng_between(&h->rng, 0.50, 0.80) * d->columns / 100;
    double high = rng_between(&h->rng, 0.60, 0.90) * d->rows / 100;
    double slant = rng_between(&h->rng, -0.35, 0.35);
    double turn = rng_between(&h->rng, -0.20, 0.20);

    h->xx = wide;
    h->xy = wide * (slant + turn);
    h->yx = -high * turn;
    h->yy = high;
    h->x0 = d->columns * (0.5 + rng_between(&h->rng, -0.10, 0.10));
    h->y0 = d->rows * (0.5 + rng_between(&h->rng, -0.08, 0.08));
    h->shaky = rng_between(&h->rng, 0, 4);
}

static struct spot hand_place_point(struct hand *h, const signed char *point)
{
    double x = point[0] - 50 + rng_between(&h->rng, -h->shaky, h->shaky);
    double y = point[1] - 50 + rng_between(&h->rng, -h->shaky, h->shaky);

    return (struct spot){llround(UNIT * (h->x0 + h->xx * x - h->xy * y)),
                         llround(UNIT * (h->y0 + h->yx * x + h->yy * y))};
}

static void draw_figure(const struct pen *pen, struct hand *h,
                        const signed char *points)
{
    struct spot from = {0, 0}, to;
    bool down = false;

    while (*points != END) {
        if (*points == UP) {
            down = false;
            points++;
            continue;
        }
        to = hand_place_point(h, points);
        if (down)
            pen_draw_stroke(pen, from, to);
        from = to;
        down = true;
        points += 2;
    }
}

/* Spots and a paper that is not quite white. */
static void hand_spoil_paper(struct hand *h, uint8_t *gray, size_t count)
{
    unsigned much = (unsigned)rng_between(&h->rng, 10, 60);
    uint64_t word = 0;

    for (size_t i = 0; i < count; i++, word >>= 8) {
        int v;

        if (i % 8 == 0)
            word = pr_rng_u64(&h->rng);
        v = gray[i] + (int)((word & 255) * much / 255) - (int)much / 3;
        gray[i] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
}

int32_t pr_digits_draw(const struct pr_digit_images *d, bool held_out,
                       uint64_t i, uint8_t *gray)
{
    size_t count = (size_t)d->rows * d->columns;
    unsigned side = d->rows < d->columns ? d->rows : d->columns;
    struct pen pen = {.gray = gray, .rows = d->rows, .columns = d->columns};
    struct hand h;
    int32_t label;

    pr_rng_seed(&h.rng, d->seed, i << 1 | held_out);
    label = (int32_t)(pr_rng_u64(&h.rng) % PR_DIGITS_CLASSES);
    take_hand(&h, d);
    pen.thick = llround(UNIT * rng_between(&h.rng, 0.03, 0.07) * side);
    memset(gray, 0, count);
    draw_figure(&pen, &h, figures[label]);
    hand_spoil_paper(&h, gray, count);
    return label;
}

void pr_digits_numbers(const struct pr_digit_images *d, const uint8_t *gray,
                       float *out)
{
    size_t count = (size_t)d->rows * d->columns;

    for (size_t i = 0; i < count; i++)
        out[i] = ((float)gray[i] - 46) / 84;
    for (unsigned c = 1; c < d->channels; c++)
        memcpy(out + c * count, out, count * sizeof *out);
}

/* ---- drawn figures as numbers from 0 to 1, and normal noise beside each */

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
