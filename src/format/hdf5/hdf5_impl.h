/*
 * What the parts of the HDF5 reader share.
 *
 * libhdf5 is asked as little as possible: at open what data sets there are and
 * where their bytes lie, later where a chunk is that was not known yet. It does
 * not survive every file, so a process aside does that (hdf5_process.c).
 * Samples are then read and decoded here. What it said about one file holds
 * for the next if that has the same size and the same bytes wherever libhdf5
 * looked (struct pr_hdf5_trail): so of a data set's many files that are alike
 * only the first goes through libhdf5.
 */
#ifndef PR_FORMAT_HDF5_IMPL_H
#define PR_FORMAT_HDF5_IMPL_H

#include "base/codec/deflate.h"
#include "format/format.h"
#include "format/hdf5/hdf5_library.h"

#include <sys/types.h>

enum {
    PR_HDF5_AXES = PR_MAX_DIMS + 1, /* the axis of samples is the first */
    PR_HDF5_FILTERS = 8,
    PR_HDF5_PLACES = 64,   /* chunks that are looked up at open */
    PR_HDF5_BLOCK = 8192,  /* chunks that are asked for at once, at most */
    PR_HDF5_LABELS = 4096, /* labels read at once */
    PR_HDF5_KEPT = 16,     /* data sets whose last chunk is kept */
    PR_HDF5_NAME = 256,
};

/* ---- types */

struct pr_hdf5_type {
    enum pr_dtype dtype;
    uint64_t bytes;  /* of an element as it is stored */
    bool is_swapped; /* in the other byte order */
    bool is_blob;    /* no number: its bytes are given as uint8 */
    bool is_odd;     /* no type of ours: libhdf5 converts it to dtype */
};

/* The reason why not, or NULL. */
const char *pr_hdf5_read_type(const struct pr_hdf5_api *h5, hid_t type,
                              struct pr_hdf5_type *ret);

/* A new id, as h5py has it; negative on failure. */
hid_t pr_hdf5_type_new(const struct pr_hdf5_api *h5, enum pr_dtype t);

/* ---- data sets */

enum pr_hdf5_way {
    PR_HDF5_FLAT,    /* all rows one after another, from offset */
    PR_HDF5_CHUNKED, /* in chunks whose filters we know */
    PR_HDF5_LIBRARY, /* anything else: by libhdf5 */
};

struct pr_hdf5_place {
    uint64_t off, len;
    uint32_t mask;   /* bit i: filter i was left out */
    bool is_missing; /* never written: its elements are the fill value */
};

struct pr_hdf5_set {
    struct pr_hdf5_type type;
    enum pr_hdf5_way way;
    unsigned ndim;
    uint64_t dim[PR_HDF5_AXES];
    uint64_t row_bytes; /* of one sample, as it is stored */
    uint64_t out_bytes; /* and as it is given */
    uint64_t offset;
    uint64_t chunk[PR_HDF5_AXES];
    uint64_t chunk_bytes;
    uint64_t chunk_count;
    uint64_t row_chunks; /* chunks that one sample touches */
    unsigned first_place;
    unsigned slot; /* in kept */
    unsigned filter_count;
    int filter[PR_HDF5_FILTERS];
    unsigned shuffle_bytes; /* element size, of filter shuffle */
    hid_t id;               /* while the file is open in libhdf5 */
};

struct pr_hdf5_layout {
    struct pr_hdf5_set *sets; /* records_0, …, or one */
    size_t count, cap;
    bool is_records;         /* they are called records_K */
    char name[PR_HDF5_NAME]; /* of the one, otherwise */
    bool has_labels;
    struct pr_hdf5_set labels;
    uint64_t samples;
    uint64_t sample_bytes; /* as given */
    bool has_places;       /* all chunks are in place[] */
    unsigned place_count;
    struct pr_hdf5_place place[PR_HDF5_PLACES];
};

/* ---- the reader */

struct pr_hdf5_buf {
    uint8_t *data;
    size_t cap;
};

struct pr_hdf5_reader {
    bool is_open; /* the object is */
    const struct pr_hdf5_api *h5;
    struct pr_hdf5_io io;
    struct pr_hdf5_layout lay;
    hid_t access, file; /* in the process aside; 0: none */
    struct pr_hdf5_process {
        pid_t pid;         /* 0: there is none */
        pid_t owner;       /* whose child it is: not that of a fork of ours */
        int fd;            /* to it */
        uint64_t deadline; /* of an answer */
        bool is_there;
        bool is_attached;
        size_t head;     /* bytes of a file that it gets at once; 0: unknown */
        uint64_t learnt; /* files */
        struct pr_hdf5_buf buf;
        int rc; /* of the storage, while it was asked */
        struct pr_err err;
    } aside;
    struct pr_hdf5_place_block { /* places of some chunks of a set */
        const struct pr_hdf5_set *set;
        uint64_t first, count, asked;
        struct pr_hdf5_place *place; /* [PR_HDF5_BLOCK] */
    } block;
    bool is_known; /* lay and trail belong to a file of known_size */
    uint64_t known_size;
    struct pr_hdf5_trail *trail;
    struct pr_hdf5_buf head;
    struct pr_hdf5_buf raw, tmp[2];
    struct pr_hdf5_kept_chunk {
        struct pr_hdf5_buf chunk;      /* decoded */
        const struct pr_hdf5_set *set; /* whose; NULL: nobody's */
        uint64_t index;
    } kept[PR_HDF5_KEPT];
    struct pr_inflate *inflate;
    int64_t *labels; /* [PR_HDF5_LABELS], those from label_first on */
    uint64_t label_first, label_count;
};

static inline struct pr_hdf5_reader *pr_hdf5_state(struct pr_reader *r)
{
    return r->data;
}

/* NULL: out of memory; what was in it is lost. */
uint8_t *pr_hdf5_buf_grow(struct pr_hdf5_buf *b, uint64_t bytes);

/* Fills h->lay from the object, through libhdf5. */
int pr_hdf5_read_layout(struct pr_reader *r, struct pr_err *err) PR_MUST_CHECK;

/* Where a chunk is; rows by libhdf5's own reading; a row of an odd type to its
 * dtype, in place: there is room for both. */
int pr_hdf5_find_place(struct pr_reader *r, const struct pr_hdf5_set *s,
                       uint64_t index, struct pr_hdf5_place *ret,
                       struct pr_err *err) PR_MUST_CHECK;
int pr_hdf5_library_rows(struct pr_reader *r, const struct pr_hdf5_set *s,
                         uint64_t first, uint64_t count, uint8_t *dst,
                         struct pr_err *err) PR_MUST_CHECK;
int pr_hdf5_convert(struct pr_reader *r, const struct pr_hdf5_set *s,
                    uint8_t *data, struct pr_err *err) PR_MUST_CHECK;

/* Whether libhdf5 will be asked again. */
bool pr_hdf5_has_questions(const struct pr_hdf5_layout *lay);

/* Ends the process aside, if there is one. */
void pr_hdf5_process_stop(struct pr_reader *r);

/* Seconds that an answer of it may take; tests have less. */
extern int pr_hdf5_patience_s;

/* ---- in the process aside, all inside of pr_hdf5_enter */

/* The same things, done; the file is open there. */
int pr_hdf5_library_rows_here(struct pr_reader *r, const struct pr_hdf5_set *s,
                              uint64_t first, uint64_t count, uint8_t *dst,
                              struct pr_err *err) PR_MUST_CHECK;
int pr_hdf5_convert_here(struct pr_reader *r, const struct pr_hdf5_set *s,
                         uint8_t *data, struct pr_err *err) PR_MUST_CHECK;

/* Where chunk `index` is (counted in C order). */
int pr_hdf5_find_place_here(struct pr_reader *r, const struct pr_hdf5_set *s,
                            uint64_t index, struct pr_hdf5_place *ret,
                            struct pr_err *err) PR_MUST_CHECK;

/* ---- in the program again */

/* Whether h->lay, of an earlier file, holds for this one: 1, 0, or an error. */
int pr_hdf5_recall_layout(struct pr_reader *r,
                          struct pr_err *err) PR_MUST_CHECK;

/* The first element of a chunk. */
void pr_hdf5_chunk_start(const struct pr_hdf5_set *s, uint64_t index,
                         uint64_t *at);

/* A decoded chunk, to dst or to memory of the reader's: the last one of a set
 * is kept, for one with several samples is wanted several times. 1: there is
 * no such chunk, its elements are the fill value. */
int pr_hdf5_chunk_read(struct pr_reader *r, const struct pr_hdf5_set *s,
                       uint64_t index, uint8_t *dst,
                       struct pr_err *err) PR_MUST_CHECK;
int pr_hdf5_chunk_load(struct pr_reader *r, const struct pr_hdf5_set *s,
                       uint64_t index, const uint8_t **ret,
                       struct pr_err *err) PR_MUST_CHECK;

/* Bytes of the object. */
int pr_hdf5_read_bytes(struct pr_reader *r, uint64_t off, uint64_t len,
                       uint8_t *dst, struct pr_err *err) PR_MUST_CHECK;

/* Rows [first, first + count) of a set, decoded but in the file's byte order,
 * to dst, which has room for them. */
int pr_hdf5_read_rows(struct pr_reader *r, const struct pr_hdf5_set *s,
                      uint64_t first, uint64_t count, uint8_t *dst,
                      struct pr_err *err) PR_MUST_CHECK;

/* The stored chunks of one row, as they are; *ret_len bytes of them. */
int pr_hdf5_read_stored(struct pr_reader *r, const struct pr_hdf5_set *s,
                        uint64_t row, uint8_t *dst, size_t cap, size_t *ret_len,
                        struct pr_err *err) PR_MUST_CHECK;

/* Whether we can, and how many bytes one stored byte can become. */
bool pr_hdf5_is_filter_known(int id);

/* h5py's number of lzf, and what it says about it. */
enum {
    PR_HDF5_LZF = 32000,
    PR_HDF5_LZF_REVISION = 4,
    PR_HDF5_LZF_VERSION = 0x105
};

#endif
