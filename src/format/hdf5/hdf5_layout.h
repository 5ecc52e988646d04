/* One data set of an HDF5 file. */
#ifndef PR_FORMAT_HDF5_LAYOUT_H
#define PR_FORMAT_HDF5_LAYOUT_H

#include "format/hdf5/hdf5_impl.h"

/* Fills *s about the open data set id in a file of that size; the reason why
 * not, or NULL. Inside of pr_hdf5_enter. */
const char *pr_hdf5_read_set(const struct pr_hdf5_api *h5, hid_t id,
                             uint64_t size, struct pr_hdf5_set *s);

#endif
