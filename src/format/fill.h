/*
 * Putting the content of a sample into a stream: made where it goes as far as
 * that can be, and summed up while it is in the cache.
 */
#ifndef PR_FORMAT_FILL_H
#define PR_FORMAT_FILL_H

#include "format/content.h"
#include "format/out.h"

/* Content is made here where the stream has no room for a whole block. */
struct pr_content_piece {
    uint64_t word[PR_CONTENT_BLOCK / 8];
};

/* pr_crc32 and pr_crc32c are such. */
typedef uint32_t pr_fill_sum(uint32_t sum, const void *data, size_t len);

/* All bytes of a sample. *crc goes on over them by sum; NULL: neither.
 * PR_E_INTR when the writer was stopped. */
int pr_content_put_sample(struct pr_writer *w, struct pr_out *out,
                          struct pr_content_piece *piece,
                          const struct pr_file_spec *spec, uint64_t sample,
                          pr_fill_sum *sum, uint32_t *crc,
                          struct pr_err *err) PR_MUST_CHECK;

#endif
