/*
 * Making a sample fit for a model: a picture is cropped, resized, flipped and
 * normalised in one go, as training on ImageNet does it; an array of numbers
 * is converted. Straight into the batch, as float32, channels first.
 *
 * Resizing is bilinear with the filter as wide as pixels are far apart when it
 * shrinks (antialiasing), which is what Pillow and torchvision do, without
 * their rounding to whole numbers in between. It is two passes over tables of
 * weights. Once buffers have grown to what the samples need nothing is
 * allocated. The same numbers come out with and without AVX2.
 */
#ifndef PR_LOADER_AUGMENT_H
#define PR_LOADER_AUGMENT_H

#include "base/random.h"
#include "format/format.h"

/* The part of a picture that is taken, in its pixels. */
struct pr_crop {
    double top, left, rows, columns;
    bool alone; /* what is outside does not count, not even at the edges */
    bool flip;  /* left becomes right */
};

/* 8 to 100 % of the area, 3/4 to 4/3 as wide as high, anywhere, flipped or
 * not; after ten tries that do not fit, the middle. */
void pr_crop_draw(struct pr_rng *rng, uint64_t rows, uint64_t columns,
                  struct pr_crop *ret);

/* The middle of the picture resized so that 8/7 (256/224) of what the model
 * wants just fit in; all of a picture that has the right size. */
void pr_crop_middle(uint64_t rows, uint64_t columns, uint64_t want_rows,
                    uint64_t want_columns, struct pr_crop *ret);

struct pr_augment;

/* What goes into one pixel or row of the result: weights[at * taps …] of the
 * pixels from first[at] on, count[at] of them; the others are 0. taps is a
 * multiple of 4. */
struct pr_augment_taps {
    uint32_t *first, *count; /* one piece of memory */
    float *weights;
    unsigned taps; /* at most, of each */
    unsigned most; /* of any */
    size_t room, weights_room;
};

struct pr_picture {
    const void *data; /* rows of columns of channels */
    uint64_t rows, columns;
    unsigned channels;   /* 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha */
    bool is_16;          /* bits an element; else 8 */
    bool is_cmyk;        /* what the 4 channels are */
    struct pr_part part; /* rows are not 0: data has this part of it alone,
                            with all that pr_augment_part says */
};

/* Where it goes, and scratch memory; belongs to one thread. */
struct pr_augment {
    unsigned dims; /* 3 or 1 */
    uint64_t shape[3], count;
    bool random;        /* crops and flips */
    bool is_image;      /* samples are pictures whatever their shape */
    bool is_cmyk;       /* if they have 4 channels */
    struct pr_shape as; /* samples that have no shape have this one if its
                           count fits */
    struct pr_augment_taps down, across;
    float *row; /* of the picture, resized in height */
    size_t row_room;
    uint8_t *turned; /* a sample in C order */
    size_t turned_room;
};

/* Sets dims and shape, [channels, rows, columns] or [numbers], and clears the
 * rest. PR_E_CONF for a shape that is not above 0 or too large. */
int pr_augment_init(struct pr_augment *a, unsigned dims, const int64_t *shape,
                    struct pr_err *err) PR_MUST_CHECK;
void pr_augment_done(struct pr_augment *a);

/* Writes a->count numbers to out. A gray picture is repeated for each channel,
 * a coloured one made gray for a model with one channel. 0 to 255 becomes 0 to
 * 1, less the mean, by the deviation: ImageNet's for three channels, else 0.5.
 * PR_E_CONF: its channels cannot become the model's. */
int pr_augment_picture(struct pr_augment *a, const struct pr_picture *p,
                       const struct pr_crop *c, float *out,
                       struct pr_err *err) PR_MUST_CHECK;

/* Any sample. What is no picture must have as many elements as the model's
 * input: uint8 and uint16 become 0 to 1 and are normalised, all others stay
 * what they are. where is for messages. */
int pr_augment_sample(struct pr_augment *a, const struct pr_sample *s,
                      struct pr_rng *rng, const char *where, float *out,
                      struct pr_err *err) PR_MUST_CHECK;

/* The part of a picture that pr_augment_sample will look at if it gets a
 * generator in the same state. */
void pr_augment_part(const struct pr_augment *a, const struct pr_shape *whole,
                     struct pr_rng *rng, struct pr_part *ret);

/* ---- passes over a picture, in augment_simd.c */

/* The weighted sum of count rows that are stride bytes apart,
 * n elements of 8 bits each. */
void pr_augment_blend(const uint8_t *data, size_t stride, const float *weights,
                      unsigned count, size_t n, float *out);

/* A row of pixels of three channels, resized and normalised into three planes.
 * What is in the row for `most` pixels and a float after its last one is
 * finite. */
struct pr_augment_across {
    const float *row; /* from column `left` on */
    uint64_t left, columns, plane;
    const struct pr_augment_taps *taps;
    float factor[4], plus[4]; /* the last one counts for nothing */
    float *out;
};
void pr_augment_across(const struct pr_augment_across *a);

/* The same for one channel, into one plane, not normalised. */
void pr_augment_gray(const struct pr_augment_across *a);

/* out may be where from is. */
void pr_augment_scale(const float *from, uint64_t n, float factor, float plus,
                      float *out);

#endif
