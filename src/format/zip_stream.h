/*
 * The bytes of one member of a ZIP archive from its start to its end, unpacked
 * in constant memory. Its checksum is worked out on the way and compared at
 * the end.
 */
#ifndef PR_FORMAT_ZIP_STREAM_H
#define PR_FORMAT_ZIP_STREAM_H

#include "base/codec/deflate.h"
#include "format/zip.h"

enum { PR_ZIP_PIECE = 256 << 10 }; /* what is done at a time */

/* Belongs to a reader and goes from file to file; zeroed at the start. */
struct pr_zip_stream {
    struct pr_reader *r;
    struct pr_window *win; /* emptied when its scratch is used */
    const struct pr_zip_member *m;
    bool has_sum;      /* the checksum is to be right */
    uint64_t pos;      /* bytes given so far */
    uint64_t fetched;  /* packed bytes */
    const uint8_t *in; /* of those, not yet unpacked; may be in the scratch */
    size_t in_len;     /* … how many */
    bool is_at_end;    /* of the deflate stream */
    uint32_t crc;      /* of the bytes given */
    struct pr_inflate *z;
    uint8_t *spare; /* PR_ZIP_PIECE bytes, see pr_zip_stream_spare */
};

void pr_zip_stream_done(struct pr_zip_stream *s);

/* From the start of a member, which was located. */
int pr_zip_stream_start(struct pr_zip_stream *s, struct pr_reader *r,
                        struct pr_window *win, const struct pr_zip_member *m,
                        struct pr_err *err) PR_MUST_CHECK;

/* The next len bytes, to dst. When they are the last the end is checked. */
int pr_zip_stream_read(struct pr_zip_stream *s, uint8_t *dst, size_t len,
                       struct pr_err *err) PR_MUST_CHECK;

/* On to byte `to` of the member: forward, or from the start again. */
int pr_zip_stream_seek(struct pr_zip_stream *s, uint64_t to,
                       struct pr_err *err) PR_MUST_CHECK;

/* PR_ZIP_PIECE bytes for the caller, until the next seek. NULL: no memory. */
uint8_t *pr_zip_stream_spare(struct pr_zip_stream *s);

/* For those who read a member without a stream: the message. */
int pr_zip_fail_checksum(const struct pr_reader *r,
                         const struct pr_zip_member *m, uint32_t crc,
                         struct pr_err *err);

#endif
