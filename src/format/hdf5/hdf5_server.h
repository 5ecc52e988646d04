/*
 * Between the program (hdf5_process.c) and the process aside that libhdf5 is in
 * (hdf5_server.c): one socket. The program asks, the process asks for bytes of
 * the file meanwhile, then it answers.
 */
#ifndef PR_FORMAT_HDF5_SERVER_H
#define PR_FORMAT_HDF5_SERVER_H

#include "format/hdf5/hdf5_impl.h"

/* The name by which it is started: nobody calls a program so. */
#define PR_HDF5_PROCESS "[prony-hdf5]"

enum {
    PR_HDF5_LEARN,
    PR_HDF5_ATTACH,
    PR_HDF5_PLACE,
    PR_HDF5_ROWS,
    PR_HDF5_CONVERT,
    PR_HDF5_READ,
    PR_HDF5_DONE,
    PR_HDF5_LABEL_SET = -1, /* which set */
    PR_HDF5_LINE = 0,       /* its only descriptor */
    PR_HDF5_HEAD = 64 << 10 /* of a file, that it gets at once, at most */
};

/* LEARN and ATTACH a: size of the file, b: so many of its first bytes follow.
 * PLACE and ROWS b: first, c: count. PLACE, ROWS, CONVERT a: which set.
 * CONVERT: data follows. READ a: offset, b: length. DONE rc, 0: a bytes follow;
 * else: the error. The first DONE says that the process is there. */
struct pr_hdf5_message {
    uint32_t kind;
    int32_t rc;
    uint64_t a, b, c;
};

/* What was learnt, but for bytes, which are known; sets follow. */
struct pr_hdf5_layout_message {
    struct pr_hdf5_layout lay;
    unsigned ranges;
    bool is_full;
    struct pr_hdf5_range range[PR_HDF5_TRAIL_RANGES];
};

/* A note, or none, and what follows it, at once: whoever waits wakes up once.
 * Not: errno. */
bool pr_hdf5_send_message(int fd, const struct pr_hdf5_message *n,
                          const void *data, size_t len);

#endif
