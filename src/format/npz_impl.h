/* The reader of npz files, and the two ways in which it reads arrays. */
#ifndef PR_FORMAT_NPZ_IMPL_H
#define PR_FORMAT_NPZ_IMPL_H

#include "format/npy_array.h"
#include "format/zip_stream.h"

struct pr_npz {
    bool is_open;
    struct pr_window win;
    struct pr_zip zip;
    struct pr_zip_member x, y; /* y.bytes is 0: no labels */
    struct pr_npy_last_head x_head, y_head;
    bool has_array; /* array fits x_head */
    struct pr_npy_array array;
    struct pr_zip_stream stream;

    /* Stored samples of a large file: its checksum goes on from one to the
     * next while they are read in order. */
    bool is_checked; /* it was right, or is of no interest */
    uint32_t sum;    /* of what comes before sample sum_next */
    uint64_t sum_next;
    uint32_t head_sum; /* of the head alone; not of a small file */

    bool has_labels;
    int64_t *labels;
    size_t labels_cap;
};

/* The directory, labels and head of the open file. */
int pr_npz_read_directory(struct pr_reader *r,
                          struct pr_err *err) PR_MUST_CHECK;

/* See struct pr_format. */
int pr_npz_open(struct pr_reader *r, struct pr_err *err) PR_MUST_CHECK;
int pr_npz_read(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
                struct pr_sample *ret, struct pr_err *err) PR_MUST_CHECK;
void pr_npz_close(struct pr_reader *r);
void pr_npz_reader_done(struct pr_reader *r);

#endif
