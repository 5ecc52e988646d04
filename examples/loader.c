/*
 * Batches of a folder: counts the classes of its pictures, an epoch long.
 *     cc loader.c $(pkg-config --cflags --libs prony) && ./a.out FOLDER
 */
#include <prony/loader.h>

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct pr_loader_opts opts = PR_LOADER_OPTS_INIT;
    struct pr_loader_facts facts = {.size = sizeof facts};
    struct pr_loader_batch *batch = NULL;
    struct pr_loader *loader = NULL;
    struct pr_err err = {0};
    uint64_t batches = 0, bytes = 0;
    int rc;

    opts.path = argc > 1 ? argv[1] : "data";
    opts.batch_size = 4;
    opts.shuffle = true;
    rc = pr_loader_new(&opts, &loader, &err);
    while (!rc && (rc = pr_loader_next(loader, -1, &batch, &err)) == 1) {
        batches++;
        bytes += batch->bytes;
        pr_loader_release(batch); /* its memory may be used again */
        rc = PR_OK;
    }
    if (!rc) {
        pr_loader_facts(loader, &facts);
        printf("%s: %" PRIu64 " samples, %" PRIu64 " batches, %" PRIu64
               " bytes\n",
               facts.format, facts.samples, batches, bytes);
    } else {
        fprintf(stderr, "%s: %s: %s\n", pr_code_text(rc), err.where, err.msg);
    }
    pr_loader_free(loader);
    return pr_code_exit_status(rc);
}
