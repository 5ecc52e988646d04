/* All of one member of a zip archive at once, checked. */
#ifndef PR_BASE_UNZIP_H
#define PR_BASE_UNZIP_H

#include "base/buf.h"
#include "base/codec/zipdir.h"

struct pr_inflate;

/* Replaces what is in out, whose maximum the member must fit; z is a state to
 * use (pr_inflate_new). PR_E_FORMAT: damaged, too large, or packed in a way
 * that nobody here knows; name is for that. */
int pr_zipdir_read_member(const struct pr_archive_member *m,
                          struct pr_inflate *z, struct pr_buf *out,
                          const char *name, struct pr_err *err) PR_MUST_CHECK;

#endif
