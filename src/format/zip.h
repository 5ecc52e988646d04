/*
 * ZIP archives, as far as .npz and torch.save need them: members stored or
 * deflated, with ZIP64 sizes; not encrypted, not split over disks. The central
 * directory is what counts; local headers must agree with it.
 */
#ifndef PR_FORMAT_ZIP_H
#define PR_FORMAT_ZIP_H

#include "format/window.h"

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

#endif
