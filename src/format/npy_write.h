/* What a file specification means as arrays; shared by npy and npz. */
#ifndef PR_FORMAT_NPY_WRITE_H
#define PR_FORMAT_NPY_WRITE_H

#include "format/npy_header.h"

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
