/*
 * ZIP archives that lie in memory, for reading results out of them: members
 * stored or deflated, with ZIP64 sizes, not encrypted. (format/zip.h reads
 * those that lie in a storage, in windows.)
 */
#ifndef PR_BASE_UNZIP_H
#define PR_BASE_UNZIP_H

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

struct pr_unzip {
    const uint8_t *data;
    size_t len;
    const char *path;   /* for errors */
    uint64_t at, left;  /* of the directory: the next entry, how many */
    uint64_t directory; /* where it begins: members end before it */
    struct pr_inflate *inflate;
};

struct pr_unzip_member {
    const char *name; /* no NUL after it */
    size_t name_len;
    uint64_t packed, bytes, local;
    uint32_t crc;
    unsigned method, flags;
};

/* Borrows data and path. PR_E_FORMAT: no archive, or one cut short. */
int pr_unzip_open(struct pr_unzip *z, const void *data, size_t len,
                  const char *path, struct pr_err *err) PR_MUST_CHECK;
void pr_unzip_close(struct pr_unzip *z);

/* 1: the next member, 0: there is none. */
int pr_unzip_next(struct pr_unzip *z, struct pr_unzip_member *ret,
                  struct pr_err *err) PR_MUST_CHECK;

/* All of a member, appended to out, whose maximum it must fit. */
int pr_unzip_take(struct pr_unzip *z, const struct pr_unzip_member *m,
                  struct pr_buf *out, struct pr_err *err) PR_MUST_CHECK;

#endif
