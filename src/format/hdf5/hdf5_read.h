/* The reader of HDF5 files. */
#ifndef PR_FORMAT_HDF5_READ_H
#define PR_FORMAT_HDF5_READ_H

#include "format/hdf5/hdf5_impl.h"

int pr_hdf5_reader_open(struct pr_reader *r, struct pr_err *err);
int pr_hdf5_reader_read(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
                        struct pr_sample *ret, struct pr_err *err);
void pr_hdf5_reader_close(struct pr_reader *r);
void pr_hdf5_reader_done(struct pr_reader *r);

#endif
