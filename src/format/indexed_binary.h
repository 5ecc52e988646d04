/* What the reader and the writer of indexed binary files share. */
#ifndef PR_FORMAT_INDEXED_BINARY_H
#define PR_FORMAT_INDEXED_BINARY_H

#include "format/fill.h"

enum { PR_INDEX_OFFSETS, PR_INDEX_SIZES, PR_INDEX_COUNT };

/* What their names end with, NULL at the end. */
extern const char *const pr_index_endings[PR_INDEX_COUNT + 1];

struct pr_indexed_writer {
    struct pr_out out, index[PR_INDEX_COUNT];
    char name[PR_INDEX_COUNT][4096]; /* of the indexes */
    struct pr_content_piece piece;
};

int pr_indexed_check(const struct pr_file_spec *spec, struct pr_err *err);
uint64_t pr_indexed_bytes(const struct pr_file_spec *spec, bool *ret_exact);
int pr_indexed_write(struct pr_writer *w, const struct pr_file_spec *spec,
                     const char *name, uint64_t *ret_bytes,
                     struct pr_err *err) PR_MUST_CHECK;

#endif
