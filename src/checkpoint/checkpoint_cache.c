/* How much of a checkpoint is in the page cache. */
#include "checkpoint/checkpoint_cache.h"

#include "checkpoint/checkpoint_file.h"

#include <errno.h>
#include <stdio.h>

struct look {
    struct pr_storage *st;
    bool drop;
    uint64_t cached, bytes;
    bool known;
};

static int cache_check_file(struct look *l, const char *path,
                            struct pr_err *err)
{
    uint64_t cached = 0, bytes = 0;
    int rc = l->drop ? pr_storage_drop_cache(l->st, path, err) : PR_OK;

    if (rc)
        return rc;
    rc = pr_storage_cached_bytes(l->st, path, &cached, &bytes, err);
    l->known = l->known && rc == 1;
    l->cached += cached;
    l->bytes += bytes;
    return rc < 0 && rc != PR_E_UNAVAIL ? rc : PR_OK;
}

int pr_checkpoint_cached_share(const struct pr_checkpoint_shape *shape,
                               struct pr_storage *st, const char *folder,
                               bool drop, double *ret, struct pr_err *err)
{
    struct look l = {.st = st, .drop = drop, .known = true};
    int rc = PR_OK;

    for (uint64_t i = 0; !rc && i < shape->ranks; i++) {
        uint64_t rank = shape->first + i,
                 files = pr_checkpoint_file_count(shape, rank);

        for (uint64_t n = 0; !rc && n < files; n++) {
            struct pr_checkpoint_file f;
            char path[80 + sizeof f.name];

            pr_checkpoint_get_file(shape, rank, n, &f);
            snprintf(path, sizeof path, "%s/%s", folder, f.name);
            rc = cache_check_file(&l, path, err);
        }
    }
    if (rc && err && err->sys_errno == ENOENT)
        (void)pr_hint(err, "%s", pr_checkpoint_other_model);
    if (!rc)
        *ret = l.known && l.bytes ? (double)l.cached / (double)l.bytes : -1;
    return rc;
}
