/* What the files of image_set.h share. */
#ifndef PR_NATIVE_IMAGE_SET_IMPL_H
#define PR_NATIVE_IMAGE_SET_IMPL_H

#include "emulate/emulate_data.h"
#include "loader/batches.h"
#include "native/images/image_set.h"

struct pr_image_set {
    struct pr_job job; /* with the folder of exp.data_dir */
    struct pr_emulate e;
    struct pr_emulate_stats stats;
    struct pr_data_session data;
    struct pr_buf notes; /* of emulated training: its measures are not ours */
    struct pr_image_set_opts o;
    struct pr_dataset_classes *classes[PR_SPLITS]; /* NULL: numbered files */
    struct pr_batches *batches;
    struct pr_batches *held_out; /* NULL: none asked for so far */
    uint64_t count;              /* samples that came */
    int32_t label;               /* of the first */
    bool differ;                 /* some sample has another */
};

/* ---- image_set_classes.c */

/* Lists what cannot be computed: names, where folders are classes. */
int pr_image_set_list_classes(struct pr_image_set *s,
                              struct pr_err *err) PR_MUST_CHECK;

/* rc, of looking for numbered files. The format that is wanted by default is
 * none that folders of classes are in: err gets a better hint then. */
int pr_image_set_add_hint(struct pr_image_set *s, int rc, struct pr_err *err);

/* Files that nobody reads may be a mistake. */
void pr_image_set_warn_unread(const struct pr_image_set *s,
                              struct pr_buf *notes);

#endif
