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

#endif
