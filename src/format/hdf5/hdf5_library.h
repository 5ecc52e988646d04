/*
 * libhdf5, loaded when it is first needed: it brings three dozen libraries and
 * their start-up with it, and most runs never open an HDF5 file.
 */
#ifndef PR_FORMAT_HDF5_LIBRARY_H
#define PR_FORMAT_HDF5_LIBRARY_H

#include "base/err.h"
#include "storage/storage.h"

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
    hid_t driver; /* ours, see struct pr_hdf5_io */
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

/* Makes filter 32000, lzf, known to libhdf5. */
int pr_hdf5_register_lzf(const struct pr_hdf5_api *h5);

/*
 * libhdf5's way to an object of a storage: a virtual file driver. It can keep
 * a trail of the bytes that pass, and it can learn where raw data lies without
 * moving it: then the data goes by pr_object_fetch or pr_object_write, without
 * a copy and outside of libhdf5's lock.
 */

enum { PR_HDF5_TRAIL_RANGES = 64, PR_HDF5_TRAIL_BYTES = 64 << 10 };

/* Bytes that libhdf5 read, or wrote, and where. */
struct pr_hdf5_trail {
    unsigned count;
    bool is_full; /* there were more than fit: it says nothing */
    size_t used;
    struct pr_hdf5_range {
        uint64_t off;
        uint32_t len;
        uint32_t at; /* in bytes */
    } range[PR_HDF5_TRAIL_RANGES];
    uint8_t bytes[PR_HDF5_TRAIL_BYTES];
};

void pr_hdf5_trail_clear(struct pr_hdf5_trail *t);
void pr_hdf5_trail_add(struct pr_hdf5_trail *t, uint64_t off, const void *data,
                       size_t len);

struct pr_hdf5_file;

/* One open file; at one place in memory while it is. */
struct pr_hdf5_io {
    const struct pr_hdf5_api *h5;
    struct pr_object *obj;
    /* Where bytes come from instead, in a process aside; or NULL. Not 0: there
     * are none. */
    int (*ask)(uint64_t off, size_t len, void *buf);
    const uint8_t *head; /* the first bytes, already in memory */
    size_t head_len;
    bool is_new;     /* being written */
    uint64_t end;    /* of what has been written */
    uint64_t wanted; /* the size that libhdf5 wants the file to have */
    struct pr_hdf5_trail *trail; /* or NULL */
    bool is_learning;            /* raw data is not moved, only noted: */
    bool has_raw;
    uint64_t raw_off, raw_len;
    uint64_t last; /* where it read last, for messages */
    int rc;        /* the first failure of the storage */
    struct pr_err err;
    bool may_open;
    struct pr_hdf5_file *file;
};

/* An access list that leads to io, for any number of files after another;
 * negative on failure. Inside of pr_hdf5_enter, as all below. */
hid_t pr_hdf5_io_access(struct pr_hdf5_io *io);

/* Opens or, with a creation list, creates it. Negative on failure. */
hid_t pr_hdf5_io_open(struct pr_hdf5_io *io, hid_t access);
hid_t pr_hdf5_io_create(struct pr_hdf5_io *io, hid_t creation, hid_t access);

/* Negative on failure. Whatever libhdf5 does with it afterwards, it does not
 * touch io any more. */
int pr_hdf5_io_close(struct pr_hdf5_io *io, hid_t file);

/* The storage's failure, or libhdf5's words: "at byte N: ...". */
int pr_hdf5_io_fail(struct pr_hdf5_io *io, const char *name, struct pr_err *err,
                    const char *what);

#endif
