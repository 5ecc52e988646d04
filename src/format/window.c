/* Looking at small parts of a file; see window.h. */
#include "format/window.h"

#include <assert.h>

static int window_fetch(struct pr_window *w, struct pr_reader *r, uint64_t off,
                        size_t len, struct pr_err *err)
{
    uint8_t *buf = pr_reader_scratch(r, len + PR_IO_SLACK);
    int rc;

    w->len = 0;
    if (!buf)
        return pr_fail_nomem(err);
    rc = pr_object_fetch(&r->obj, off, len, buf, r->scratch_cap, &w->data, err);
    if (!rc) {
        w->off = off;
        w->len = len;
    }
    return rc;
}

int pr_window_open(struct pr_window *w, struct pr_reader *r, struct pr_err *err)
{
    w->off = 0;
    w->len = 0;
    if (r->obj.size > PR_WINDOW_WHOLE)
        return PR_OK;
    return window_fetch(w, r, 0, (size_t)r->obj.size, err);
}

int pr_window_get(struct pr_window *w, struct pr_reader *r, uint64_t off,
                  size_t len, const uint8_t **ret, struct pr_err *err)
{
    uint64_t size = r->obj.size;
    size_t want = len < PR_WINDOW_STEP ? PR_WINDOW_STEP : len;

    assert(len <= PR_WINDOW_MAX);
    if (off > size || len > size - off)
        return pr_reader_bad(
            r, size, err, "the file ends, %zu bytes at byte %llu are missing",
            len, (unsigned long long)off);
    if (off < w->off || off - w->off > w->len ||
        len > w->len - (off - w->off)) {
        int rc =
            window_fetch(w, r, off, want < size - off ? want : size - off, err);

        if (rc)
            return rc;
    }
    *ret = w->data + (off - w->off);
    return PR_OK;
}
