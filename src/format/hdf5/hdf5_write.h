/* The writer of HDF5 files; its parts. */
#ifndef PR_FORMAT_HDF5_WRITE_H
#define PR_FORMAT_HDF5_WRITE_H

#include "format/content.h"
#include "format/hdf5/hdf5_plan.h"
#include "format/hdf5/lzf.h"

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

/* Bytes [off, off + len) of a sample, any that are whole elements. */
void pr_hdf5_content_fill(struct pr_hdf5_writer *h, uint64_t sample,
                          uint64_t off, uint8_t *dst, size_t len);

/* Forgets pieces of the file before. */
void pr_hdf5_content_reset(struct pr_hdf5_writer *h);

/* Makes the file and its data sets in libhdf5, and says where they are. */
int pr_hdf5_make_file(struct pr_hdf5_writer *h,
                      struct pr_err *err) PR_MUST_CHECK;

/* Closes it there; libhdf5 writes what it has kept back. */
int pr_hdf5_finish_file(struct pr_hdf5_writer *h,
                        struct pr_err *err) PR_MUST_CHECK;

/* All chunks of set k, open in libhdf5. */
int pr_hdf5_write_chunks(struct pr_hdf5_writer *h, uint64_t k,
                         struct pr_err *err) PR_MUST_CHECK;

int pr_hdf5_writer_write(struct pr_writer *w, const struct pr_file_spec *spec,
                         const char *name, uint64_t *ret_bytes,
                         struct pr_err *err);
void pr_hdf5_writer_done(struct pr_writer *w);

#endif
