/*
 * A set of images as people have them, one folder a class:
 *   FOLDER/train/n01440764/n01440764_18.JPEG     and valid/ or val/ likewise
 * Names cannot be computed, so they are listed once: one text of all names and
 * an offset for each file. Classes are folders in the order of their names,
 * files of a class, too: nothing depends on the order of a directory.
 */
#ifndef PR_FORMAT_DATASET_CLASSES_H
#define PR_FORMAT_DATASET_CLASSES_H

#include "format/dataset/dataset.h"

struct pr_dataset_classes {
    char folder[PR_NAME_BYTES];
    uint64_t count;        /* classes */
    uint64_t *class_names; /* where each begins in text */
    uint64_t *first;       /* file of each class; count + 1 of them */
    uint64_t files;
    uint64_t *names; /* where each begins in text, without its folder */
    uint64_t others; /* files that were left out: not of the format */
    bool is_flat;    /* no classes: one folder, "." */
    char *text;
    size_t len, cap, class_cap, name_cap;
};

struct pr_dataset_classes_opts {
    const bool *stop; /* becomes true: give up (PR_E_INTR); or NULL */
    /* Now and then: files so far; or NULL. */
    void (*progress)(void *ctx, uint64_t files);
    void *ctx;
};

/* Lists a split of d that is laid out like that; *ret is NULL when it is not:
 * the format is none of images, there is no such folder, or it has files as
 * `generate` names them. The classes of PR_VALID are those of PR_TRAIN, which
 * must be listed in d by then; a folder that is none of them is PR_E_CONF. So
 * is one without a single file. */
int pr_dataset_classes_list(const struct pr_dataset *d, enum pr_split split,
                            struct pr_storage *st,
                            const struct pr_dataset_classes_opts *opts,
                            struct pr_dataset_classes **ret,
                            struct pr_err *err) PR_MUST_CHECK;
void pr_dataset_classes_free(struct pr_dataset_classes *c); /* NULL is fine */

/* The same for any folder and format: files in it, which are of no class, or
 * else in folders of it, one a class; PR_E_CONF when there is none. Folders of
 * files that `generate` named are no classes. */
int pr_dataset_classes_list_in(const struct pr_dataset *d, const char *folder,
                               struct pr_storage *st,
                               const struct pr_dataset_classes_opts *opts,
                               struct pr_dataset_classes **ret,
                               struct pr_err *err) PR_MUST_CHECK;

/* Whether a file of this name is one of that format. */
bool pr_dataset_is_format_file(const struct pr_format *f, const char *name);

/* The format of the first file there whose name tells, or NULL. */
int pr_dataset_guess_format(const char *folder, struct pr_storage *st,
                            const struct pr_format **ret,
                            struct pr_err *err) PR_MUST_CHECK;

/* From now on the files of that split are these; c is borrowed. */
void pr_dataset_use_classes(struct pr_dataset *d, enum pr_split split,
                            const struct pr_dataset_classes *c);

/* Of file i of them. */
void pr_dataset_classes_file_name(const struct pr_dataset_classes *c,
                                  uint64_t i, char out[static PR_NAME_BYTES]);
uint64_t pr_dataset_classes_label(const struct pr_dataset_classes *c,
                                  uint64_t i);

/* The name of class i of them. */
const char *pr_dataset_classes_class_name(const struct pr_dataset_classes *c,
                                          uint64_t i);

#endif
