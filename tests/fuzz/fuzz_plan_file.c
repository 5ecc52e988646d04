/*
 * plan.json read back: whatever the bytes, ids can name folders and reading
 * comes to an end.
 */
#include "record/plan_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* A file in memory; its path to out. */
static int memory_file(const uint8_t *data, size_t bytes, char out[static 64])
{
    int fd = memfd_create("plan", MFD_CLOEXEC);

    must(fd >= 0 && pr_write_all(fd, data, bytes));
    snprintf(out, 64, "/proc/self/fd/%d", fd);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_plan_file f;
    struct pr_plan_file_experiment e;
    struct pr_err err = {0};
    char path[64];
    int fd = memory_file(data, bytes, path);
    int rc = pr_plan_file_open(path, &f, &err);

    if (!rc) {
        while ((rc = pr_plan_file_next(&f, a, &e, &err)) == 1) {
            must(e.id[0] && e.id[0] != '.' && !strchr(e.id, '/'));
            must(e.params.kind == PR_MAP);
            pr_arena_reset(a);
        }
        pr_plan_file_close(&f);
    }
    must(rc == 0 || (rc == PR_E_FORMAT && err.msg[0]));
    close(fd);
    return 0;
}
