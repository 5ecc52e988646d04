/*
 * Smooth random pictures: a few waves across each channel, with values about
 * from -1 to 1. They cost little, and have edges of every slope.
 */
#ifndef PR_NATIVE_TASK_WAVES_H
#define PR_NATIVE_TASK_WAVES_H

#include "base/random.h"

#include <stdint.h>

/* size: how large one unit of the plane is, in pixels; the same waves drawn
 * with half the size are the same picture, half as large. */
void pr_waves_draw(struct pr_rng *rng, int64_t channels, int64_t rows,
                   int64_t columns, double size, float *out);

#endif
