/*
 * A data set: how many files of which format, what is in each, and what they
 * are called. Everything follows from the parameters and the number of a file,
 * so that a set of fifty million files takes no more memory than one of five.
 *
 *   FOLDER/train/[SUB/]PREFIX_3_of_8.FORMAT      and valid/ likewise
 *   FOLDER/index/train/PREFIX_3_of_8.tfrecord.idx
 *   FOLDER/labels/train/[SUB/]PREFIX_3_of_8.FORMAT.npy
 */
#ifndef PR_FORMAT_DATASET_H
#define PR_FORMAT_DATASET_H

#include "base/random.h"
#include "format/format.h"

enum pr_split { PR_TRAIN, PR_VALID, PR_SPLITS };

struct pr_dataset_classes; /* in dataset_classes.h */

struct pr_dataset {
    struct pr_dataset_opts opts;
    struct pr_dataset_hdf5_opts hdf5;
    const struct pr_format *format;
    char folder[2048]; /* without a slash at the end */
    uint64_t files[PR_SPLITS];
    uint64_t named[PR_SPLITS];      /* the 8 of _of_8: files, or more where only
                                       some of those that are there are used */
    uint64_t subfolders[PR_SPLITS]; /* 0: none */
    double side, spread; /* of the square; spread 0: all files are alike */
    bool has_index, has_labels_apart;
    struct pr_file_spec spec; /* of all files; number, key and, with a
                                 spread, shape differ */
    char note[160];           /* what was changed, or "" */
    /* Files that are listed, one folder a class; NULL: names follow from
     * their numbers. */
    const struct pr_dataset_classes *classes[PR_SPLITS];
};

/* Reads and checks dataset.* of an experiment; params maps full names to
 * values. Text and lists are borrowed from it and the arena. */
int pr_dataset_init(struct pr_dataset *ret, const struct pr_value *params,
                    struct pr_arena *a, struct pr_err *err) PR_MUST_CHECK;

/* All files, those to train with first: file f of all is file i of a split. */
uint64_t pr_dataset_files(const struct pr_dataset *d);
enum pr_split pr_dataset_split(const struct pr_dataset *d, uint64_t f,
                               uint64_t *ret_i);

/* Sizes are drawn one after another: a place in that series. */
struct pr_dataset_sides {
    struct pr_mt mt;
    uint64_t next; /* file whose sides come next */
};
void pr_dataset_sides_start(struct pr_dataset_sides *s);

/* The specification of file f of all. Going forward is cheap; sides may be
 * NULL when the set has no spread. */
void pr_dataset_spec(const struct pr_dataset *d, struct pr_dataset_sides *sides,
                     uint64_t f, struct pr_file_spec *ret);

/* The labels of that file as a file of its own. */
void pr_dataset_label_spec(const struct pr_file_spec *of,
                           struct pr_file_spec *ret);

enum pr_name_kind { PR_NAME_DATA, PR_NAME_INDEX, PR_NAME_LABELS };

enum { PR_NAME_BYTES = 4096 };

/* The name of file f of all. Never too long: that was checked. */
void pr_dataset_name(const struct pr_dataset *d, uint64_t f,
                     enum pr_name_kind kind, char out[static PR_NAME_BYTES]);

/* FOLDER/train or FOLDER/valid. */
void pr_dataset_split_folder(const struct pr_dataset *d, enum pr_split split,
                             char out[static PR_NAME_BYTES]);

/* The folders of a set, one after another, "" at the end: train, valid, their
 * subfolders, and those of index and label files. */
void pr_dataset_folder(const struct pr_dataset *d, uint64_t i,
                       char out[static PR_NAME_BYTES]);

/* ---- a set that is there */

enum pr_check_files { PR_CHECK_SAMPLED, PR_CHECK_ALL, PR_CHECK_NONE };

struct pr_dataset_find_opts {
    bool wanted[PR_SPLITS]; /* splits that are to be read */
    enum pr_check_files check;
    const bool *stop; /* becomes true: give up (PR_E_INTR); or NULL */
    /* Now and then; or NULL. */
    void (*progress)(void *ctx, uint64_t done, uint64_t of);
    void *ctx;
};

struct pr_dataset_found {
    enum pr_check_files check; /* that was done; NONE for a format that has
                                  nothing to read */
    uint64_t looked_at;        /* files, the first of a split always */
    double bytes; /* of all files wanted, as the mean of those says */
    struct {
        uint64_t looked_at;
        double mean_bytes; /* of those; without companions */
    } split[PR_SPLITS];
};

/* Finds the files of a set, which may be the first of more than are to be
 * read: sets d->named, and the ending where a format has two (jpg). What is
 * not as the parameters say is an error with the remedy: PR_E_CONF, PR_E_IO
 * for a single file that is missing. */
int pr_dataset_find(struct pr_dataset *d, struct pr_storage *st,
                    const struct pr_dataset_find_opts *opts,
                    struct pr_dataset_found *ret,
                    struct pr_err *err) PR_MUST_CHECK;

/* ---- a set that nobody made */

/* Makes one file as the writer would, without a spread, and has a storage of
 * engine null give it for every name of the set; likewise what goes with it:
 * companions, labels, index. The file is in memory until the storage, and all
 * beside it, are closed. Other engines: PR_E_CONF. */
int pr_dataset_serve(const struct pr_dataset *d, struct pr_storage *st,
                     struct pr_err *err) PR_MUST_CHECK;

#endif
