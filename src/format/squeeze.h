/* Compressing on the way into a stream: npz members, csv and TFRecord files.
 * One state for any number of files; it is made again when the level changes.
 */
#ifndef PR_FORMAT_SQUEEZE_H
#define PR_FORMAT_SQUEEZE_H

#include "base/codec/deflate.h"
#include "format/out.h"

struct pr_squeeze {
    struct pr_deflate *z;
    int level; /* of z */
};

int pr_squeeze_start(struct pr_squeeze *q, int level, enum pr_wrap wrap,
                     struct pr_err *err) PR_MUST_CHECK;

/* last: nothing comes after this. */
int pr_squeeze_put(struct pr_squeeze *q, struct pr_out *out, const void *data,
                   size_t len, bool last, struct pr_err *err) PR_MUST_CHECK;

void pr_squeeze_done(struct pr_squeeze *q);

#endif
