/*
 * ZIP archives, as far as .npz and torch.save need them: members stored or
 * deflated, with ZIP64 sizes; not encrypted, not split over disks. The central
 * directory is what counts; local headers must agree with it.
 */
#ifndef PR_FORMAT_ZIP_H
#define PR_FORMAT_ZIP_H

#include "base/codec/deflate.h"
#include "format/format.h"

enum { PR_ZIP_STORED = 0, PR_ZIP_DEFLATED = 8 };

struct pr_zip_member {
    uint64_t at;     /* of its local header */
    uint64_t data;   /* of its bytes; see pr_zip_locate */
    uint64_t packed; /* bytes in the file */
    uint64_t bytes;  /* when unpacked */
    uint32_t crc;    /* of those */
    uint32_t name_crc;
    uint16_t name_len, method, flags;
};

/* ---- reading */

struct pr_zip {
    uint64_t dir_at, dir_bytes, members;
};

/* Finds the directory at the end of the file. */
int pr_zip_open(struct pr_zip *ret, struct pr_reader *r, struct pr_window *win,
                struct pr_err *err) PR_MUST_CHECK;

/* Calls each for every member, in the directory's order; stops when it returns
 * non-zero and returns that. The name has no NUL and lives for that call; each
 * must not use the window. */
int pr_zip_each(const struct pr_zip *zip, struct pr_reader *r,
                struct pr_window *win,
                int (*each)(void *ctx, const char *name,
                            const struct pr_zip_member *m, struct pr_err *err),
                void *ctx, struct pr_err *err) PR_MUST_CHECK;

/* Checks that a member can be read, and finds its bytes. */
int pr_zip_locate(const struct pr_zip *zip, struct pr_zip_member *m,
                  struct pr_reader *r, struct pr_window *win,
                  struct pr_err *err) PR_MUST_CHECK;

/* ---- writing, byte by byte as Python's zipfile with force_zip64 does */

enum { PR_ZIP_DESCRIPTOR = 1 << 3, PR_ZIP_UTF8 = 1 << 11 }; /* flags */

enum {
    PR_ZIP_ALIGN_MAX = 4096,
    PR_ZIP_STREAMED_MAX = 30 + 64 + 28 + 4 + PR_ZIP_ALIGN_MAX,
    PR_ZIP_DESCRIPTOR_MAX = 24,
    PR_ZIP_LOCAL_MAX = 30 + 20 + 64, /* names are short */
    PR_ZIP_ENTRY_MAX = 46 + 28 + 64,
    PR_ZIP_END_MAX = 56 + 20 + 22,
};

/* Each puts a structure at out and returns its length. */
size_t pr_zip_build_local(const struct pr_zip_member *m, const char *name,
                          uint8_t *out);
size_t pr_zip_build_entry(const struct pr_zip_member *m, const char *name,
                          uint8_t *out);
size_t pr_zip_build_end(const struct pr_zip *zip, uint8_t *out);

/* As torch.save does: a local header before the CRC is known, so long that the
 * contents are at a multiple of align, and what follows the contents where the
 * flags say PR_ZIP_DESCRIPTOR. */
size_t pr_zip_build_streamed(const struct pr_zip_member *m, const char *name,
                             size_t align, uint8_t *out);
size_t pr_zip_build_descriptor(const struct pr_zip_member *m, uint8_t *out);

/* ---- the bytes of one member from its start to its end, unpacked in constant
 * memory. Its checksum is worked out on the way and compared at the end. */

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
