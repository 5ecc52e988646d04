/* The writer of HDF5 files, and how a file is laid out that it makes. */
#ifndef PR_FORMAT_HDF5_WRITE_H
#define PR_FORMAT_HDF5_WRITE_H

#include "format/content.h"
#include "format/hdf5/hdf5_chunk.h"
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

/* Not more bytes than this; UINT64_MAX when they cannot be counted. */
uint64_t pr_hdf5_plan_bytes(const struct pr_hdf5_plan *p);

enum {
    PR_HDF5_BLOCKS = 64, /* pieces of content that are kept */
    PR_HDF5_OUT = 256 << 10,
};

struct pr_hdf5_writer {
    const struct pr_hdf5_api *h5;
    struct pr_hdf5_io io;
    struct pr_object obj;
    hid_t access, creation; /* 0: none */
    hid_t file;             /* 0: not open */

    /* The file being made, */
    struct pr_writer *w;
    const struct pr_file_spec *spec;
    struct pr_hdf5_plan plan;
    struct pr_hdf5_buf set_mem; /* [plan.sets]: */
    struct pr_hdf5_spot {
        uint64_t offset; /* of a set's bytes */
        hid_t id;        /* of one in chunks */
    } * sets, labels;

    /* the one before, whose structure may be that of this one too, */
    bool is_known;
    struct pr_hdf5_plan known;
    uint64_t known_size;
    struct pr_hdf5_trail *trail;

    /* bytes on their way to the object, */
    uint8_t *out; /* [PR_HDF5_OUT] */
    size_t out_used;
    uint64_t out_base;
    bool is_image; /* out is the whole file */

    /* and pieces of contents. */
    uint8_t *blocks; /* [PR_HDF5_BLOCKS][PR_CONTENT_BLOCK] */
    uint64_t block_sample[PR_HDF5_BLOCKS], block_number[PR_HDF5_BLOCKS];
    struct pr_hdf5_buf chunk, packed;
    struct pr_deflate *deflate;
    int deflate_level;
    struct pr_lzf *lzf;
};

/* Closes it there; libhdf5 writes what it has kept back. */
int pr_hdf5_finish_file(struct pr_hdf5_writer *h,
                        struct pr_err *err) PR_MUST_CHECK;

int pr_hdf5_writer_write(struct pr_writer *w, const struct pr_file_spec *spec,
                         const char *name, uint64_t *ret_bytes,
                         struct pr_err *err);
void pr_hdf5_writer_done(struct pr_writer *w);

#endif
