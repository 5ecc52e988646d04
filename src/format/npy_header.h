/*
 * The head of a .npy array: a magic string, a version, and a Python dict as
 * text, {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }. Versions
 * 1.0, 2.0 and 3.0, which differ in the width of a length and in the encoding.
 */
#ifndef PR_FORMAT_NPY_HEADER_H
#define PR_FORMAT_NPY_HEADER_H

#include "format/format.h"

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

#endif
