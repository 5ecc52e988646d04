/*
 * Arrays of npy and npz files: the head of an array, and its samples.
 *
 * Which axis counts samples is not in the file: DLIO's is the last, most
 * others' the first. Where a sample's elements lie together it is read by its
 * position; where those of all samples alternate, as in DLIO's files of several
 * samples, they are picked out of all that is read.
 */
#ifndef PR_FORMAT_NPY_H
#define PR_FORMAT_NPY_H

#include "format/format.h"

/* ---- the head: a magic string, a version, and a Python dict as text,
 * {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }. Versions 1.0,
 * 2.0 and 3.0, which differ in the width of a length and in the encoding. */

struct pr_npy {
    enum pr_dtype dtype;
    bool is_swapped; /* the other byte order than this machine's */
    bool fortran;    /* first dimension fastest */
    struct pr_shape shape;
    uint64_t count;      /* elements */
    uint64_t head_bytes; /* where the data starts */
    uint64_t data_bytes;
};

enum {
    PR_NPY_FIXED = 12,          /* bytes that tell the length of the head */
    PR_NPY_HEAD_MAX = 64 << 10, /* far more than any shape needs */
    PR_NPY_HEAD_BUF = 640,      /* what pr_npy_build needs */
    PR_NPY_KEPT = 256,          /* heads up to this are kept to compare */
};

/* The bytes of the head, at most PR_NPY_HEAD_MAX, from its first PR_NPY_FIXED
 * bytes. `at` is where they are in the file, for messages. */
int pr_npy_head_length(const struct pr_reader *r, uint64_t at,
                       const uint8_t *fixed, size_t *ret,
                       struct pr_err *err) PR_MUST_CHECK;

/* Understands a head of that length. No size in it is trusted: data_bytes may
 * be more than there is. */
int pr_npy_parse(const struct pr_reader *r, uint64_t at, const uint8_t *head,
                 size_t len, struct pr_npy *ret,
                 struct pr_err *err) PR_MUST_CHECK;

/* The head read last: files of a data set have the same one as a rule, and to
 * compare it takes a tenth of the time. Zeroed at the start. */
struct pr_npy_last_head {
    struct pr_npy npy;
    bool is_same; /* as the one before */
    size_t len;   /* 0: nothing to compare with */
    uint8_t head[PR_NPY_KEPT];
};
int pr_npy_parse_head(struct pr_npy_last_head *last, const struct pr_reader *r,
                      uint64_t at, const uint8_t *head, size_t len,
                      struct pr_err *err) PR_MUST_CHECK;

/* The head as numpy.save writes it, of dtype, shape and fortran, which is put
 * at out (PR_NPY_HEAD_BUF bytes). A Fortran head is as long as the C head of
 * that shape would be: so are the files. Returns its length. */
size_t pr_npy_build(const struct pr_npy *a, uint8_t *out);

/* ---- samples */

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

/* ---- samples: step > 1 */

enum { PR_NPY_PIECE = 256 << 10 };

/* Picks sample i out: a->bytes bytes at out. get gives bytes [off, off + len)
 * of the array's data, len <= PR_NPY_PIECE, until its next call; off only
 * grows. */
int pr_npy_array_pick(const struct pr_npy_array *a, uint64_t i, uint8_t *out,
                      int (*get)(void *ctx, uint64_t off, size_t len,
                                 const uint8_t **ret, struct pr_err *err),
                      void *ctx, struct pr_err *err) PR_MUST_CHECK;

/* ---- samples: arrays that lie in a file as they are */

/* Where the data of an array is. */
struct pr_npy_place {
    struct pr_reader *r;         /* with an open file */
    const struct pr_window *win; /* which may have the whole of it */
    uint64_t base;               /* the data's first byte */
};

/* Sample i of the array, as pr_reader_read gives it. */
int pr_npy_array_read(const struct pr_npy_array *a,
                      const struct pr_npy_place *at, uint64_t i, uint8_t *buf,
                      size_t cap, struct pr_sample *ret,
                      struct pr_err *err) PR_MUST_CHECK;

/* What pr_reader_read wants of its buffer. */
int pr_npy_array_check_room(const struct pr_reader *r, size_t cap,
                            struct pr_err *err) PR_MUST_CHECK;

/* ---- what a file specification means as arrays */

/* The array of samples: they are counted by the last axis, as in DLIO's files.
 * So that each lies together nevertheless, several of them are in Fortran
 * order. head_bytes and data_bytes are set. */
void pr_npy_describe_samples(const struct pr_file_spec *spec,
                             struct pr_npy *ret);

/* The array of their labels. */
void pr_npy_describe_labels(const struct pr_file_spec *spec,
                            struct pr_npy *ret);

/* Whether there is such an array. */
int pr_npy_check(const struct pr_file_spec *spec,
                 struct pr_err *err) PR_MUST_CHECK;

#endif
