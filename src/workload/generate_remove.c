/* Taking a data set away. */
#include "workload/generate_impl.h"

/* Folders from the innermost out; one with something else in it stays. */
static void remove_folders(struct pr_storage *st, const struct pr_dataset *d)
{
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
    (void)!pr_storage_remove(st, d->folder, NULL);
}

int pr_generate_remove(const struct pr_dataset *d,
                       const struct pr_storage_opts *so, struct pr_err *err)
{
    struct pr_generate_worker w;
    int rc = pr_worker_init(&w, d, so, NULL, err);

    if (rc)
        return rc;
    /* Whatever happens meanwhile, it is not complete any more. */
    rc = pr_manifest_write(w.st, d, false, err);
    for (uint64_t f = 0; !rc && f < pr_dataset_files(d); f++)
        rc = pr_worker_remove(&w, f, err);
    if (!rc)
        rc = pr_manifest_remove(w.st, d, err);
    if (!rc)
        remove_folders(w.st, d);
    pr_worker_done(&w);
    return rc;
}
