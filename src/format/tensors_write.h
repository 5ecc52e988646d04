/*
 * Writing a safetensors file of float32 and int32 tensors with their shapes.
 * The list comes first, then the contents in that order; the file appears whole
 * or not at all.
 */
#ifndef PR_FORMAT_TENSORS_WRITE_H
#define PR_FORMAT_TENSORS_WRITE_H

#include "base/buf.h"
#include "base/file.h"

#include <stdint.h>

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
