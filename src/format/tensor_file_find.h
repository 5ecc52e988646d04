/*
 * Files of tensors that other programs wrote: what torch.save makes (a ZIP
 * archive with a pickle in it) and TensorFlow's checkpoints (a file of contents
 * and a table that lists them). Found is where each tensor lies, of which type,
 * and its checksum; a pickle is looked through, never executed.
 */
#ifndef PR_FORMAT_TENSOR_FILE_FIND_H
#define PR_FORMAT_TENSOR_FILE_FIND_H

#include "base/mem.h"
#include "format/tensor_file.h"
#include "storage/storage.h"

struct pr_tensor_found {
    enum pr_tensor_type type;
    uint64_t at, bytes; /* in the file of contents */
    uint32_t crc;       /* of the contents, see is_crc32c */
};

/* Without empty ones, in the order of the file; they do not overlap. */
struct pr_tensor_found_list {
    struct pr_tensor_found *items;
    size_t count, cap;
    bool is_crc32c; /* or CRC-32 */
};

/* Whether a file that begins with these bytes can be one of torch.save's. */
bool pr_tensor_find_is_torch(const uint8_t *head, size_t len);

/* Lists are in the arena. PR_E_FORMAT: the file is damaged, or holds what
 * checkpoints do not. */
int pr_tensor_find_torch(struct pr_storage *st, const char *path,
                         struct pr_arena *a, struct pr_tensor_found_list *ret,
                         struct pr_err *err) PR_MUST_CHECK;

/* A table (NAME.index) in memory; the contents have data_bytes. */
int pr_tensor_find_bundle(const void *table, size_t len, uint64_t data_bytes,
                          const char *name, struct pr_arena *a,
                          struct pr_tensor_found_list *ret,
                          struct pr_err *err) PR_MUST_CHECK;

/* ---- of torch.save, for tests */

/* A storage is a row of elements that tensors lie in; number i is in the
 * member data/i. */
struct pr_tensor_torch_storage {
    enum pr_tensor_type type;
    uint64_t elements;
};
int pr_tensor_find_pickle(const void *pickle, size_t len, const char *name,
                          struct pr_arena *a,
                          struct pr_tensor_torch_storage **ret,
                          size_t *ret_count, struct pr_err *err) PR_MUST_CHECK;

#endif
