/* How a file that is to be written is laid out. */
#ifndef PR_FORMAT_HDF5_PLAN_H
#define PR_FORMAT_HDF5_PLAN_H

#include "format/hdf5/hdf5_impl.h"

/* Equal plans, byte by byte, give equal files but for the contents. */
struct pr_hdf5_plan {
    uint64_t sets; /* records_0, … */
    uint64_t ndim; /* of each, with the axis of samples */
    uint64_t dim[PR_HDF5_AXES];
    uint64_t max[PR_HDF5_AXES];   /* UINT64_MAX: no limit; 0: as dim */
    uint64_t chunk[PR_HDF5_AXES]; /* chunk[0] 0: none */
    uint64_t row_bytes;           /* a set's part of a sample */
    uint64_t chunk_bytes;
    uint64_t element_bytes;
    uint64_t dtype;
    uint64_t compression, level;
    uint64_t has_labels;
};

/* PR_E_CONF, and the message names dataset.*, when it cannot be. */
int pr_hdf5_plan_init(const struct pr_file_spec *spec, struct pr_hdf5_plan *ret,
                      struct pr_err *err) PR_MUST_CHECK;

static inline uint64_t pr_hdf5_plan_grid(const struct pr_hdf5_plan *p,
                                         unsigned a)
{
    return p->dim[a] / p->chunk[a] + (p->dim[a] % p->chunk[a] != 0);
}

/* Chunks of one set. */
uint64_t pr_hdf5_plan_chunks(const struct pr_hdf5_plan *p);

/* Not more bytes than this; UINT64_MAX when they cannot be counted. */
uint64_t pr_hdf5_plan_bytes(const struct pr_hdf5_plan *p);

#endif
