/* Shared by checkpoint_file*.c. */
#ifndef PR_CHECKPOINT_FILE_IMPL_H
#define PR_CHECKPOINT_FILE_IMPL_H

#include "checkpoint/checkpoint_file.h"

#include <limits.h>

/* A file and its tensors. */
struct pr_checkpoint_subject {
    struct pr_checkpoint_io *io;
    const struct pr_checkpoint_file *file;
    uint64_t key; /* of the file's contents */
    struct pr_tensor_list list;
    char path[PATH_MAX];
};

/* It must stay where it is. */
int pr_checkpoint_subject_init(struct pr_checkpoint_subject *s,
                               struct pr_checkpoint_io *io, const char *path,
                               const struct pr_checkpoint_file *f, uint64_t key,
                               struct pr_err *err) PR_MUST_CHECK;

/* What TensorFlow has beside a file of contents: its name. */
int pr_checkpoint_companion_path(const struct pr_checkpoint_subject *s,
                                 char out[static PATH_MAX],
                                 struct pr_err *err) PR_MUST_CHECK;

/* PR_E_INTR when it is time to stop. */
int pr_checkpoint_check_stop(const struct pr_checkpoint_io *io,
                             const char *path,
                             struct pr_err *err) PR_MUST_CHECK;
void pr_checkpoint_io_count(struct pr_checkpoint_io *io, size_t bytes);

/* What a tensor holds: noise, or ones. */
struct pr_checkpoint_contents {
    bool is_noise;
    uint64_t key; /* or the number 1 */
};
struct pr_checkpoint_contents
pr_checkpoint_get_contents(const struct pr_checkpoint_subject *s,
                           const struct pr_tensor_piece *p);

/* Its bytes at off, a multiple of PR_NOISE_BLOCK. */
void pr_checkpoint_fill_contents(const struct pr_checkpoint_contents *c,
                                 uint8_t *out, size_t len, uint64_t off);

#endif
