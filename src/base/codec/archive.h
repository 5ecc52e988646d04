/*
 * The members of a zip archive that lies in memory: as its directory lists
 * them, packed, or one of them unpacked and checked.
 */
#ifndef PR_BASE_ARCHIVE_H
#define PR_BASE_ARCHIVE_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pr_zipdir {
    const uint8_t *data;
    size_t bytes;
    const char *name; /* of the archive, for errors */
    size_t at, end;   /* of what is left of the directory */
    uint64_t listed;  /* packed bytes of the members so far */
};

enum pr_zip_method { PR_ZIP_STORED = 0, PR_ZIP_DEFLATED = 8 };

struct pr_archive_member {
    const char *name; /* borrowed, not terminated */
    size_t name_len;
    unsigned method; /* of pr_zip_method, or one that nobody here knows */
    bool encrypted;
    const uint8_t *data; /* as it is packed */
    size_t packed_bytes;
    uint64_t bytes; /* unpacked, as the directory says */
    uint32_t crc;   /* of those */
};

/* Whether it begins as a zip archive does. */
bool pr_zipdir_is_archive(const void *data, size_t bytes);

/* Finds the directory, also of archives over 4 GiB. data is borrowed. */
int pr_zipdir_open(struct pr_zipdir *z, const void *data, size_t bytes,
                   const char *name, struct pr_err *err) PR_MUST_CHECK;

/* 1 and a member, 0 at the end, PR_E_FORMAT where the directory is damaged or
 * names bytes that are not there. Folders are members, too: their names end
 * with '/'. */
int pr_zipdir_next(struct pr_zipdir *z, struct pr_archive_member *ret,
                   struct pr_err *err) PR_MUST_CHECK;

/* ---- a member, unpacked */

struct pr_inflate;

/* Replaces what is in out, whose maximum the member must fit; z is a state to
 * use (pr_inflate_new). PR_E_FORMAT: damaged, too large, or packed in a way
 * that nobody here knows; name is for that. */
int pr_zipdir_read_member(const struct pr_archive_member *m,
                          struct pr_inflate *z, struct pr_buf *out,
                          const char *name, struct pr_err *err) PR_MUST_CHECK;

#endif
