/*
 * Reading a safetensors file: the length of a header in eight bytes, a header
 * that is JSON with type, shape and place of each tensor, and the tensors. The
 * file may come from a stranger: no number in it is trusted. Contents are read
 * when they are asked for, so a file may be larger than memory.
 */
#ifndef PR_FORMAT_TENSOR_FILE_IO_H
#define PR_FORMAT_TENSOR_FILE_IO_H

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PR_TENSOR_DIMS = 8 };

/* Types whose contents can be read. X(id, name in the file, bytes) */
#define PR_STORED_TYPES(X) \
    X(F32, "F32", 4)       \
    X(I32, "I32", 4)       \
    X(I64, "I64", 8)

enum pr_tensor_stored_type {
#define X(id, name, bytes) PR_STORED_##id,
    PR_STORED_TYPES(X)
#undef X
        PR_STORED_OTHER, /* can be listed, not read */
};

struct pr_tensor_stored {
    const char *name;
    const char *type_name; /* as in the file */
    enum pr_tensor_stored_type type;
    unsigned dims; /* 0: a single number */
    uint64_t at[PR_TENSOR_DIMS];
    uint64_t elements;
    uint64_t from, bytes; /* place after the header */
};

struct pr_tensor_file {
    int fd;                           /* -1: not open */
    const char *path;                 /* in the arena */
    uint64_t body;                    /* where the tensors start */
    struct pr_tensor_stored *tensors; /* in the order of the header */
    size_t count;
};

/* Opens a file and understands its header. All text is in the arena. */
int pr_tensor_file_open(const char *path, struct pr_arena *a,
                        struct pr_tensor_file *ret,
                        struct pr_err *err) PR_MUST_CHECK;
void pr_tensor_file_close(struct pr_tensor_file *f);

/* NULL: there is none of this name. */
const struct pr_tensor_stored *
pr_tensor_file_find(const struct pr_tensor_file *f, const char *name);

/* [64, 3, 7, 7] for messages. Returns out. */
const char *pr_tensor_stored_shape(const struct pr_tensor_stored *t,
                                   char out[static 192]);

/* Reads a whole tensor. Floats are F32; whole numbers are I64 or I32 that fit.
 * PR_E_FORMAT for another type. */
int pr_tensor_file_floats(const struct pr_tensor_file *f,
                          const struct pr_tensor_stored *t, float *out,
                          struct pr_err *err) PR_MUST_CHECK;
int pr_tensor_file_ints(const struct pr_tensor_file *f,
                        const struct pr_tensor_stored *t, int32_t *out,
                        struct pr_err *err) PR_MUST_CHECK;

/*
 * Writing a safetensors file of float32 and int32 tensors with their shapes.
 * The list comes first, then the contents in that order; the file appears whole
 * or not at all.
 */

/* Starts zeroed but for the buffer: PR_TENSOR_WRITER_INIT. */
struct pr_tensor_writer {
    struct pr_buf head;
    uint64_t bytes; /* of contents, planned */
    uint64_t put;   /* of them, written */
    struct pr_new_file file;
};
#define PR_TENSOR_WRITER_INIT                               \
    {                                                       \
        .head = PR_BUF_INIT(100 << 20), .file = {.fd = -1 } \
    }

/* Announces a tensor of these sizes: of float32, or of int32_t. */
void pr_tensor_writer_add(struct pr_tensor_writer *w, const char *name,
                          unsigned dims, const int64_t *at);
void pr_tensor_writer_add_ints(struct pr_tensor_writer *w, const char *name,
                               unsigned dims, const int64_t *at);

/* Creates the file beside path and writes the header. PR_E_IO when there is
 * no room for all of it. */
int pr_tensor_writer_open(struct pr_tensor_writer *w, const char *path,
                          struct pr_err *err) PR_MUST_CHECK;

/* The contents of the next tensor. */
int pr_tensor_writer_put(struct pr_tensor_writer *w, const void *values,
                         uint64_t elements, struct pr_err *err) PR_MUST_CHECK;

/* Gives it its name. */
int pr_tensor_writer_commit(struct pr_tensor_writer *w,
                            struct pr_err *err) PR_MUST_CHECK;

/* Frees; a file that was not committed is gone. */
void pr_tensor_writer_done(struct pr_tensor_writer *w);

#endif
