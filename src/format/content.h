/*
 * What samples hold: random elements that follow from a key, the number of the
 * sample and the place in it, and from nothing else. So a file can be made by
 * any thread, a sample checked without its neighbours, and no block repeats.
 * Whole numbers take every value, floating-point numbers lie in [0, 1).
 */
#ifndef PR_FORMAT_CONTENT_H
#define PR_FORMAT_CONTENT_H

#include "base/random.h"
#include "format/format.h"

/* Content starts anew every so many bytes; offsets are multiples of it. */
enum { PR_CONTENT_BLOCK = PR_NOISE_BLOCK };

/* Bytes [off, off + len) of a sample; off is a multiple of PR_CONTENT_BLOCK,
 * len of the element's size. out is aligned to 8 bytes at least. */
void pr_content_fill(const struct pr_file_spec *spec, uint64_t sample,
                     uint64_t off, void *out, size_t len);

/* The label of a sample. */
int64_t pr_content_label(const struct pr_file_spec *spec, uint64_t sample);

/* The key of file `number` of a split, from the seed. */
uint64_t pr_content_key(uint64_t seed, unsigned split, uint64_t number);

/* ---- putting the content of a sample into a stream: made where it goes as far
 * as that can be, and summed up while it is in the cache */

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
