/* A zip archive: each member that may hold results is a file in turn. */
#include "analyse/results/bench_impl.h"
#include "base/codec/archive.h"
#include "base/codec/checksum.h"
#include "base/codec/deflate.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

struct unzip {
    struct pr_results_reader *r;
    const char *path;
    struct pr_inflate *inflate; /* made when first needed */
};

/* What is wrong with one member does not lose the others. */
static void unzip_add_warning(struct unzip *u, const char *name,
                              const char *what)
{
    struct pr_err e = {0};

    pr_fail(&e, PR_E_FORMAT, u->path, "'%.100s': %s", name, what);
    pr_results_add_damaged(u->r, &e);
}

/* What was unpacked before damage is read. */
static int unzip_feed_inflated(struct unzip *u,
                               const struct pr_archive_member *m,
                               struct pr_results_intake *in, bool *ret_good,
                               struct pr_err *err)
{
    const uint8_t *p = m->data;
    size_t left = m->packed_bytes;
    enum pr_inflate_end end = PR_INFLATE_MORE;
    uint32_t crc = 0;
    int rc = PR_OK;

    if (!u->inflate)
        u->inflate = pr_inflate_new();
    if (!u->inflate)
        return pr_fail_nomem(err);
    pr_inflate_start(u->inflate, PR_WRAP_NONE);
    while (!rc && end == PR_INFLATE_MORE) {
        size_t got = PR_RESULTS_PIECE;

        end =
            pr_inflate_run(u->inflate, &p, &left, (uint8_t *)u->r->piece, &got);
        crc = pr_crc32(crc, u->r->piece, got);
        rc = got ? pr_results_intake_feed(in, u->r->piece, got, err) : PR_OK;
        if (!left && got < PR_RESULTS_PIECE && end == PR_INFLATE_MORE)
            break; /* cut short */
    }
    *ret_good = end == PR_INFLATE_END && crc == m->crc;
    return rc;
}

static int feed_member(struct unzip *u, const struct pr_archive_member *m,
                       struct pr_results_intake *in, bool *ret_good,
                       struct pr_err *err)
{
    if (m->method == PR_ZIP_DEFLATED)
        return unzip_feed_inflated(u, m, in, ret_good, err);
    *ret_good = pr_crc32(0, m->data, m->packed_bytes) == m->crc;
    return m->packed_bytes ? pr_results_intake_feed(in, (const char *)m->data,
                                                    m->packed_bytes, err)
                           : PR_OK;
}

static int unzip_read_member(struct unzip *u, const struct pr_archive_member *m,
                             struct pr_err *err)
{
    struct pr_results_intake *in;
    char name[4096];
    bool good = false;
    int rc;

    snprintf(name, sizeof name, "%.*s",
             (int)(m->name_len < sizeof name ? m->name_len : 0), m->name);
    if (!pr_results_is_candidate(name))
        return PR_OK;
    if (m->encrypted ||
        (m->method != PR_ZIP_STORED && m->method != PR_ZIP_DEFLATED)) {
        unzip_add_warning(u, name,
                          m->encrypted ? "it is encrypted"
                                       : "its compression is not known");
        return PR_OK;
    }
    in = pr_results_intake_new_member(u->r, u->path, name, err);
    if (!in)
        return PR_E_NOMEM;
    rc = feed_member(u, m, in, &good, err);
    if (rc) {
        pr_results_intake_free(in);
        return rc;
    }
    if (!good)
        unzip_add_warning(u, name, "it is damaged");
    return pr_results_intake_end(in, err);
}

int pr_results_read_zip(struct pr_results_reader *r, const char *path,
                        const char *data, size_t bytes, struct pr_err *err)
{
    struct unzip u = {.r = r, .path = path};
    struct pr_archive_member m;
    struct pr_zipdir z;
    int rc = pr_zipdir_open(&z, data, bytes, path, err);

    while (!rc && (rc = pr_zipdir_next(&z, &m, err)) == 1)
        rc = unzip_read_member(&u, &m, err);
    pr_inflate_free(u.inflate);
    return rc;
}
