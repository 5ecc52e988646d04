/*
 * Files that hold nothing but their number, as DLIO writes them: a reader
 * opens nothing and makes up samples without a byte. What is left is the cost
 * of everything else.
 */
#include "format/format.h"
#include "format/out.h"

#include <stdio.h>

struct state {
    struct pr_out out;
};

static int number_text(const struct pr_file_spec *spec, char *out, size_t cap)
{
    return snprintf(out, cap, "%llu", (unsigned long long)spec->number);
}

static int synthetic_check(const struct pr_file_spec *spec, struct pr_err *err)
{
    if (spec->compression != PR_PLAIN)
        return pr_fail(err, PR_E_CONF, "dataset.compression",
                       "synthetic files are not compressed");
    return PR_OK;
}

static uint64_t synthetic_bytes(const struct pr_file_spec *spec,
                                bool *ret_exact)
{
    char text[24];

    *ret_exact = true;
    return (uint64_t)number_text(spec, text, sizeof text);
}

static int synthetic_write(struct pr_writer *w, const struct pr_file_spec *spec,
                           const char *name, uint64_t *ret_bytes,
                           struct pr_err *err)
{
    struct pr_out *out = &((struct state *)w->data)->out;
    char text[24];
    size_t n = (size_t)number_text(spec, text, sizeof text);
    int rc = synthetic_check(spec, err);

    if (!rc && !out->block)
        rc = pr_out_init(out, w->st, err);
    if (!rc)
        rc = pr_out_create(out, name, n, err);
    if (!rc)
        rc = pr_out_put(out, text, n, err);
    if (!rc)
        rc = pr_out_commit(out, err);
    if (rc)
        pr_out_discard(out);
    else
        *ret_bytes = n;
    return rc;
}

static int synthetic_open(struct pr_reader *r, struct pr_err *err)
{
    (void)err;
    r->samples = r->opts.samples ? r->opts.samples : 1;
    return PR_OK;
}

static int synthetic_read(struct pr_reader *r, uint64_t i, void *buf,
                          size_t cap, struct pr_sample *ret, struct pr_err *err)
{
    (void)r;
    (void)i;
    (void)cap;
    (void)err;
    *ret = (struct pr_sample){
        .data = buf,
        .dtype = PR_U8,
        .shape = {.ndim = 1, .dim = {0}},
    };
    return PR_OK;
}

static void synthetic_close(struct pr_reader *r)
{
    (void)r;
}

const struct pr_format pr_format_synthetic = {
    .abi = PR_FORMAT_ABI,
    .name = "synthetic",
    .desc = "a number: samples are made up, nothing is read",
    .flags = PR_FORMAT_EMPTY,
    .compressions = "none",
    .check = synthetic_check,
    .bytes = synthetic_bytes,
    .writer_bytes = sizeof(struct state),
    .write = synthetic_write,
    .open = synthetic_open,
    .read = synthetic_read,
    .close = synthetic_close,
};
