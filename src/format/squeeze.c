/* Compressing on the way into a stream. */
#include "format/squeeze.h"

int pr_squeeze_start(struct pr_squeeze *q, int level, enum pr_wrap wrap,
                     struct pr_err *err)
{
    level = level < 1 ? 1 : level > 9 ? 9 : level;
    if (q->z && q->level != level)
        pr_squeeze_done(q);
    if (!q->z)
        q->z = pr_deflate_new(level);
    if (!q->z)
        return pr_fail_nomem(err);
    q->level = level;
    pr_deflate_start(q->z, wrap);
    return PR_OK;
}

int pr_squeeze_put(struct pr_squeeze *q, struct pr_out *out, const void *data,
                   size_t len, bool last, struct pr_err *err)
{
    const uint8_t *in = data;
    bool is_done = false;

    while (len || (last && !is_done)) {
        uint8_t *room;
        size_t n;
        int rc = pr_out_room(out, PR_OUT_BLOCK, &room, &n, err);

        if (rc)
            return rc;
        is_done = pr_deflate_run(q->z, &in, &len, last, room, &n);
        pr_out_advance(out, n);
    }
    return PR_OK;
}

void pr_squeeze_done(struct pr_squeeze *q)
{
    pr_deflate_free(q->z);
    q->z = NULL;
}
