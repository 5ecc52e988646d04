/* The content of a sample, put into a stream. */
#include "format/fill.h"

/* Vectors are stored whole only where they are aligned; elsewhere a copy is
 * cheaper. */
enum { GOOD_ALIGN = 32 };

/* What is summed up should still be in the cache next to the processor. */
enum { STEP = PR_CONTENT_BLOCK };

/* Some bytes from off on, `left` of the sample are to come; *ret are they. */
static int content_put_piece(struct pr_out *out, struct pr_content_piece *piece,
                             const struct pr_file_spec *spec, uint64_t sample,
                             uint64_t off, uint64_t left, const void **ret,
                             size_t *ret_len, struct pr_err *err)
{
    size_t want = left < STEP ? (size_t)left : STEP, n;
    uint8_t *room;
    int rc = pr_out_room(out, want, &room, &n, err);

    if (rc)
        return rc;
    if (n < left)
        n -= n % PR_CONTENT_BLOCK;
    if (n && (uintptr_t)room % GOOD_ALIGN == 0) {
        pr_content_fill(spec, sample, off, room, n);
        pr_out_advance(out, n);
        *ret = room;
    } else {
        n = left < PR_CONTENT_BLOCK ? (size_t)left : PR_CONTENT_BLOCK;
        pr_content_fill(spec, sample, off, piece->word, n);
        rc = pr_out_put(out, piece->word, n, err);
        *ret = piece->word;
    }
    *ret_len = n;
    return rc;
}

int pr_content_put_sample(struct pr_writer *w, struct pr_out *out,
                          struct pr_content_piece *piece,
                          const struct pr_file_spec *spec, uint64_t sample,
                          pr_fill_sum *sum, uint32_t *crc, struct pr_err *err)
{
    uint64_t bytes = pr_spec_sample_bytes(spec);
    const void *data;
    size_t n;

    for (uint64_t off = 0; off < bytes; off += n) {
        int rc = content_put_piece(out, piece, spec, sample, off, bytes - off,
                                   &data, &n, err);

        if (rc)
            return rc;
        if (sum)
            *crc = sum(*crc, data, n);
        if (pr_writer_is_stopped(w))
            return pr_fail(err, PR_E_INTR, "", "interrupted");
    }
    return PR_OK;
}
