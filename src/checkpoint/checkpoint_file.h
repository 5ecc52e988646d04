/*
 * One file of a checkpoint: written, read, or compared with what was written.
 * Contents follow from a key and the place in the file, so that nothing is
 * kept and nothing repeats.
 */
#ifndef PR_CHECKPOINT_FILE_H
#define PR_CHECKPOINT_FILE_H

#include "checkpoint/checkpoint_shape.h"
#include "storage/storage.h"

/* Of one thread. */
struct pr_checkpoint_io {
    const struct pr_checkpoint_shape *shape;
    struct pr_storage *st;
    const struct pr_tensor_layout *layout;
    uint8_t *block; /* of checkpoint.block_size, and room after it */
    uint8_t *want;  /* PR_NOISE_BLOCK bytes that a file should have */
    size_t block_bytes;
    const bool *stop;
    uint64_t bytes; /* written or read so far; others may look at it */
};

/* Memory is the storage's; there is nothing to free. */
int pr_checkpoint_io_init(struct pr_checkpoint_io *io,
                          const struct pr_checkpoint_shape *shape,
                          struct pr_storage *st, const bool *stop,
                          struct pr_err *err) PR_MUST_CHECK;

/* A hint for files that are not what they should be. */
extern const char pr_checkpoint_other_model[];

/* The key of a checkpoint's contents. */
uint64_t pr_checkpoint_make_key(const struct pr_checkpoint_shape *s,
                                uint64_t epoch, uint64_t step);

/* Writes a file, and what TensorFlow has beside it, under path/f->name; synced
 * when checkpoint.fsync says so. Whole, or not there. PR_E_INTR: stopped. */
int pr_checkpoint_file_write(struct pr_checkpoint_io *io, const char *path,
                             const struct pr_checkpoint_file *f, uint64_t key,
                             struct pr_err *err) PR_MUST_CHECK;

/* A small file of text, whole or not there. */
int pr_checkpoint_file_write_text(struct pr_storage *st, const char *path,
                                  const char *text, size_t len, bool sync,
                                  struct pr_err *err) PR_MUST_CHECK;

/* Reads all of it. With is_verified every byte must be what was written:
 * PR_E_FORMAT names the first that is not. A file that is too short or too long
 * is an error in any case. One that torch.save or TensorFlow wrote must hold
 * tensors as the model has them, with is_verified as their checksums say. */
int pr_checkpoint_file_read(struct pr_checkpoint_io *io, const char *path,
                            const struct pr_checkpoint_file *f, uint64_t key,
                            bool is_verified, struct pr_err *err) PR_MUST_CHECK;

#endif
