/* Cutting a stream into lines, in bounded memory. */
#include "analyse/results/bench_lines.h"

#include <string.h>

static const char *find_line_end(const char *p, const char *end)
{
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    const char *cr = memchr(p, '\r', (size_t)((nl ? nl : end) - p));

    return cr ? cr : nl;
}

static int pass_line_on(struct pr_results_line_cutter *l, const char *p,
                        size_t len, pr_results_line_fn *line, void *ctx,
                        struct pr_err *err)
{
    int rc = PR_OK;

    if (l->part.len || l->skip) {
        pr_buf_add(&l->part, p, len);
        p = l->part.data;
        len = l->part.len;
        if (!pr_buf_ok(&l->part) && !l->part.over)
            return pr_fail_nomem(err);
        l->skip |= l->part.over;
    }
    if (l->skip)
        l->too_long++;
    else if (len)
        rc = line(ctx, p, len, err);
    pr_buf_clear(&l->part);
    l->part.failed = l->part.over = l->skip = false;
    return rc;
}

int pr_results_line_cutter_feed(struct pr_results_line_cutter *l,
                                const char *bytes, size_t len,
                                pr_results_line_fn *line, void *ctx,
                                struct pr_err *err)
{
    const char *p = bytes, *end = bytes + len;

    while (p < end) {
        const char *stop = find_line_end(p, end);
        int rc;

        if (!stop)
            break;
        rc = pass_line_on(l, p, (size_t)(stop - p), line, ctx, err);
        if (rc)
            return rc;
        p = stop + 1;
    }
    pr_buf_add(&l->part, p, (size_t)(end - p));
    if (!pr_buf_ok(&l->part) && !l->part.over)
        return pr_fail_nomem(err);
    if (l->part.over) {
        l->skip = true;
        pr_buf_clear(&l->part);
        l->part.failed = l->part.over = false;
    }
    return PR_OK;
}

int pr_results_line_cutter_end(struct pr_results_line_cutter *l,
                               pr_results_line_fn *line, void *ctx,
                               struct pr_err *err)
{
    int rc =
        l->part.len || l->skip ? pass_line_on(l, "", 0, line, ctx, err) : PR_OK;

    pr_buf_free(&l->part);
    return rc;
}
