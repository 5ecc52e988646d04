/* Taking a data set away. */
#include "generate/generate_impl.h"

#include <stdio.h>

/* Folders from the innermost out; one with something else in it stays. */
static void remove_folders(struct pr_storage *st, const struct pr_dataset *d)
{
    static const char *const above[] = {"/index", "/labels", ""};
    char name[PR_NAME_BYTES];
    uint64_t count = 0;

    for (;; count++) {
        pr_dataset_folder(d, count, name);
        if (!*name)
            break;
    }
    while (count--) {
        pr_dataset_folder(d, count, name);
        (void)!pr_storage_remove(st, name, NULL);
    }
    /* What these were in. */
    for (size_t i = 0; i < sizeof above / sizeof *above; i++) {
        snprintf(name, sizeof name, "%s%s", d->folder, above[i]);
        (void)!pr_storage_remove(st, name, NULL);
    }
}

/* The folder may have more files than this set, which go with it. */
static int generate_find_whole(struct pr_dataset *d,
                               const struct pr_storage_opts *so,
                               struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);
    struct pr_storage_opts plain = pr_generate_plain(so);
    struct pr_dataset *there;
    struct pr_storage *st;
    struct pr_manifest m;
    int rc = a ? pr_storage_open(&plain, &st, err) : pr_fail_nomem(err);

    if (rc)
        return rc;
    rc = pr_manifest_read(st, d, a, &m, err);
    if (!rc && m.state != PR_MANIFEST_NONE)
        rc = pr_generate_find_like(d, &m.params, a, &there, NULL, err);
    if (rc == 1)
        pr_generate_resize(d, there->files);
    pr_storage_close(st);
    /* A manifest that cannot be read tells nothing. */
    return rc == PR_E_NOMEM ? rc : PR_OK;
}

int pr_generate_remove(const struct pr_dataset *d,
                       const struct pr_storage_opts *so, struct pr_err *err)
{
    struct pr_dataset whole = *d;
    struct pr_generate_opts opts = {.later = false};
    struct pr_generate_job j = {.so = so, .opts = &opts};
    struct pr_generate_worker w;
    int rc = generate_find_whole(&whole, so, err);

    if (!rc)
        rc = pr_generate_worker_init(&w, &whole, so, NULL, NULL, err);
    if (rc)
        return rc;
    d = &whole;
    /* Whatever happens meanwhile, it is not complete any more. */
    j.st = w.st;
    rc = pr_manifest_write(&j, d, false, NULL, err);
    for (uint64_t f = 0; !rc && f < pr_dataset_files(d); f++)
        rc = pr_generate_worker_remove(&w, f, err);
    if (!rc)
        rc = pr_manifest_remove(w.st, d, err);
    if (!rc)
        remove_folders(w.st, d);
    pr_generate_worker_done(&w);
    return rc;
}
