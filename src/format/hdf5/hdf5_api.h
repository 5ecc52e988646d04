/*
 * libhdf5, loaded when it is first needed: it brings three dozen libraries and
 * their start-up with it, and most runs never open an HDF5 file.
 */
#ifndef PR_FORMAT_HDF5_API_H
#define PR_FORMAT_HDF5_API_H

#include "base/err.h"

#include <hdf5.h>

/* Functions as they were in 1.10: later versions have them by other names. */
#define H5_USE_110_API

/* Its constants would call functions that are not linked. */
#undef H5CHECK
#undef H5OPEN
#define H5CHECK
#define H5OPEN

struct pr_hdf5_api {
#define FUNC(name) __typeof__(name) *name;
#define ID(name) const hid_t *name;
#include "format/hdf5/hdf5_api.def"
#undef FUNC
#undef ID
    hid_t driver; /* ours, see hdf5_io.h */
};

/* PR_E_UNAVAIL, with the remedy, when there is no such library here. */
int pr_hdf5_library_load(const struct pr_hdf5_api **ret,
                         struct pr_err *err) PR_MUST_CHECK;

/* Such as 1.10.8. */
int pr_hdf5_library_version(char out[static 32],
                            struct pr_err *err) PR_MUST_CHECK;

/* Around every sequence of calls, from any thread. libhdf5 takes a lock of its
 * own for each call, at best; one for the sequence spares threads that open
 * files the fight for it. Printing of errors is off inside. */
void pr_hdf5_enter(const struct pr_hdf5_api *h5);
void pr_hdf5_leave(const struct pr_hdf5_api *h5);

/* What libhdf5 says went wrong in this thread, the innermost words; inside of
 * enter and leave. It forgets it. */
void pr_hdf5_read_error(const struct pr_hdf5_api *h5, char *out, size_t cap);

/* Makes filter 32000, lzf, known to libhdf5. */
int pr_hdf5_register_lzf(const struct pr_hdf5_api *h5);

#endif
