/*
 * Samples of an array. Which axis counts them is not in the file: DLIO's is
 * the last, most others' the first. Where a sample's elements lie together it
 * is read by its position; where those of all samples alternate, as in DLIO's
 * files of several samples, they are picked out of all that is read.
 */
#ifndef PR_FORMAT_NPY_ARRAY_H
#define PR_FORMAT_NPY_ARRAY_H

#include "format/npy_header.h"
#include "format/window.h"

struct pr_npy_array {
    struct pr_npy npy;
    uint64_t samples;
    uint64_t count; /* elements of a sample */
    uint64_t bytes; /* of a sample */
    uint64_t step;  /* from one of its elements to the next, 1: together */
    struct pr_shape shape; /* of a sample */
    bool fortran;
};

/* Finds the axis that counts n samples: the last, or else the first. n is 0:
 * the array is one sample. `at` is for messages. */
int pr_npy_array_init(struct pr_npy_array *a, const struct pr_npy *npy,
                      const struct pr_reader *r, uint64_t at, uint64_t n,
                      struct pr_err *err) PR_MUST_CHECK;

/* The same from the stored bytes: turns them around if that is needed, in buf,
 * where data is or else a copy is made. */
void pr_npy_array_native(const struct pr_npy_array *a, const uint8_t *data,
                         uint8_t *buf, struct pr_sample *ret);

/* ---- step > 1 */

enum { PR_NPY_PIECE = 256 << 10 };

/* Picks sample i out: a->bytes bytes at out. get gives bytes [off, off + len)
 * of the array's data, len <= PR_NPY_PIECE, until its next call; off only
 * grows. */
int pr_npy_array_pick(const struct pr_npy_array *a, uint64_t i, uint8_t *out,
                      int (*get)(void *ctx, uint64_t off, size_t len,
                                 const uint8_t **ret, struct pr_err *err),
                      void *ctx, struct pr_err *err) PR_MUST_CHECK;

/* ---- arrays that lie in a file as they are */

/* Sample i of the array whose data starts at byte `base` of the open file, as
 * pr_reader_read gives it. win may have the whole file. */
int pr_npy_array_read(const struct pr_npy_array *a, struct pr_reader *r,
                      const struct pr_window *win, uint64_t base, uint64_t i,
                      uint8_t *buf, size_t cap, struct pr_sample *ret,
                      struct pr_err *err) PR_MUST_CHECK;

/* What pr_reader_read wants of its buffer. */
int pr_npy_array_check_room(const struct pr_reader *r, size_t cap,
                            struct pr_err *err) PR_MUST_CHECK;

#endif
