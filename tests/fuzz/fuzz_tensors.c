/*
 * Files of tensors: whatever the bytes, the places of tensors lie in the file
 * and can be read, and reading comes to an end.
 */
#include "base/file.h"
#include "base/mem.h"
#include "format/tensor_file_io.h"

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

static void read_one(const struct pr_tensor_file *f,
                     const struct pr_tensor_stored *t, size_t bytes)
{
    struct pr_err err = {0};
    char shape[192];
    void *room;
    int rc;

    must(t->name && t->type_name && t->dims <= PR_TENSOR_DIMS);
    must(t->bytes <= bytes && t->from <= bytes - t->bytes);
    must(pr_tensor_stored_shape(t, shape)[0] == '[');
    if (t->type == PR_STORED_OTHER) {
        must(pr_tensor_file_floats(f, t, NULL, &err) == PR_E_FORMAT);
        return;
    }
    room = pr_alloc(t->elements * 4 + 1);
    must(room != NULL);
    rc = t->type == PR_STORED_F32 ? pr_tensor_file_floats(f, t, room, &err)
                                  : pr_tensor_file_ints(f, t, room, &err);
    must(rc == PR_OK || (rc == PR_E_FORMAT && err.msg[0]));
    pr_free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    int fd = memfd_create("tensors", MFD_CLOEXEC);
    struct pr_tensor_file f;
    struct pr_err err = {0};
    char path[64];
    int rc;

    must(a && fd >= 0 && pr_write_all(fd, data, bytes));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    rc = pr_tensor_file_open(path, a, &f, &err);
    if (!rc) {
        for (size_t i = 0; i < f.count; i++) {
            must(pr_tensor_file_find(&f, f.tensors[i].name) != NULL);
            read_one(&f, &f.tensors[i], bytes);
        }
        must(!pr_tensor_file_find(&f, "__metadata__"));
        pr_tensor_file_close(&f);
    }
    must(rc == PR_OK || (rc == PR_E_FORMAT && err.msg[0]));
    close(fd);
    return 0;
}
