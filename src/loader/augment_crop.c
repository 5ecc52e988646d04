/* Which part of a picture is taken: at random, as is usual for training on
 * ImageNet, or its middle. */
#include "loader/augment.h"

#include <math.h>

enum { TRIES = 10 };

static double crop_draw_between(struct pr_rng *rng, double from, double to)
{
    return from + (to - from) * pr_rng_double(rng);
}

/* A whole number from 0 to most. */
static double draw_place(struct pr_rng *rng, double most)
{
    double x = floor(pr_rng_double(rng) * (most + 1));

    return x < most ? x : most;
}

/* As wide as can be, in the middle. */
static void crop_fall_back(double rows, double columns, struct pr_crop *ret)
{
    double ratio = columns / rows;

    ret->rows = rows;
    ret->columns = columns;
    if (ratio < 3. / 4)
        ret->rows = round(columns * 4 / 3);
    else if (ratio > 4. / 3)
        ret->columns = round(rows * 4 / 3);
    ret->top = floor((rows - ret->rows) / 2);
    ret->left = floor((columns - ret->columns) / 2);
}

void pr_crop_draw(struct pr_rng *rng, uint64_t rows, uint64_t columns,
                  struct pr_crop *ret)
{
    double h = (double)rows, w = (double)columns;
    bool found = false;

    *ret = (struct pr_crop){.alone = true};
    for (int i = 0; !found && i < TRIES; i++) {
        double area = h * w * crop_draw_between(rng, 0.08, 1);
        double ratio = exp(crop_draw_between(rng, log(3. / 4), log(4. / 3)));

        ret->columns = round(sqrt(area * ratio));
        ret->rows = round(sqrt(area / ratio));
        found = ret->columns >= 1 && ret->columns <= w && ret->rows >= 1 &&
                ret->rows <= h;
    }
    if (found) {
        ret->top = draw_place(rng, h - ret->rows);
        ret->left = draw_place(rng, w - ret->columns);
    } else {
        crop_fall_back(h, w, ret);
    }
    ret->flip = pr_rng_double(rng) < 0.5;
}

/* What resizing to `resized` pixels and cutting out the middle takes of one
 * side. */
static void middle_of(double side, double resized, double want, double *ret_at,
                      double *ret_len)
{
    double scale = side / resized;

    *ret_at = rint((resized - want) / 2) * scale; /* half to even */
    *ret_len = want * scale;
}

void pr_crop_middle(uint64_t rows, uint64_t columns, uint64_t want_rows,
                    uint64_t want_columns, struct pr_crop *ret)
{
    double h = (double)rows, w = (double)columns;
    double want_h = (double)want_rows, want_w = (double)want_columns;
    double big_h = round(want_h * 256 / 224), big_w = round(want_w * 256 / 224);

    *ret = (struct pr_crop){.rows = h, .columns = w};
    if (rows == want_rows && columns == want_columns)
        return;
    if (big_h * w >= big_w * h)
        big_w = floor(big_h * w / h);
    else
        big_h = floor(big_w * h / w);
    middle_of(h, big_h, want_h, &ret->top, &ret->rows);
    middle_of(w, big_w, want_w, &ret->left, &ret->columns);
}
