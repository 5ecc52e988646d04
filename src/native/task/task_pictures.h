/*
 * A set of drawn figures, 0 to 9, that a network can learn: strokes of a pen
 * with another place, size, slant and thickness each time, and noise. Sample i
 * follows from (seed, i) alone; samples that are held out are others than
 * those to train with.
 */
#ifndef PR_NATIVE_TASK_PICTURES_H
#define PR_NATIVE_TASK_PICTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PR_DIGITS_CLASSES = 10, PR_DIGITS_SIDE_MIN = 8 };

struct pr_digit_images {
    uint64_t seed;
    unsigned rows, columns, channels;
};

/* Whether samples of these sizes can be drawn: [channels, rows, columns], or
 * [n] where n is a square. Fills all but the seed. */
bool pr_digits_init(struct pr_digit_images *d, unsigned dims,
                    const int64_t *at);

/* Draws sample i as rows * columns bytes, 0 is paper and 255 ink. Returns its
 * class. */
int32_t pr_digits_draw(const struct pr_digit_images *d, bool held_out,
                       uint64_t i, uint8_t *gray);

/* The numbers a network gets: about mean 0 and deviation 1, every channel the
 * same. */
void pr_digits_numbers(const struct pr_digit_images *d, const uint8_t *gray,
                       float *out);

#endif
