/*
 * Reads files with our readers, for other programs to compare:
 *     format_tool FORMAT ENGINE SAMPLES TYPE FILE OUT [FLAG]...
 * SAMPLES and TYPE are what a reader is told beforehand (0 and uint8 if
 * nothing). One line of JSON a sample on stdout, the bytes of all samples in
 * OUT. Flags: backward (last sample first), raw (not decoded), nocheck.
 */
#include "base/mem.h"
#include "format/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_flag(int argc, char **argv, const char *flag)
{
    for (int i = 7; i < argc; i++)
        if (strcmp(argv[i], flag) == 0)
            return true;
    return false;
}

static int fail(const struct pr_err *err)
{
    fprintf(stderr, "%s: %s\n", err->where, err->msg);
    return pr_code_exit_status(err->code);
}

static void print_sample(uint64_t i, const struct pr_sample *s)
{
    printf("{\"i\": %llu, \"dtype\": \"%s\", \"fortran\": %s, \"size\": %zu, "
           "\"label\": ",
           (unsigned long long)i, pr_dtype_name(s->dtype),
           s->fortran ? "true" : "false", s->size);
    if (s->has_label)
        printf("%lld", (long long)s->label);
    else
        printf("null");
    printf(", \"shape\": [");
    for (unsigned k = 0; k < s->shape.ndim; k++)
        printf("%s%llu", k ? ", " : "", (unsigned long long)s->shape.dim[k]);
    printf("]}\n");
}

static int read_one(struct pr_reader *r, uint64_t i, FILE *out,
                    struct pr_err *err)
{
    size_t need = r->need;
    uint8_t *buf = pr_alloc_aligned(PR_IO_ALIGN, need + 1);
    struct pr_sample s;
    int rc;

    if (!buf)
        return pr_fail_nomem(err);
    rc = pr_reader_read(r, i, buf, need, &s, err);
    if (rc == PR_E_CONF && r->need > need) {
        pr_free(buf);
        return read_one(r, i, out, err);
    }
    if (!rc) {
        print_sample(i, &s);
        if (fwrite(s.data, 1, s.size, out) != s.size)
            rc = pr_fail_errno(err, PR_E_IO, "", "cannot write");
    }
    pr_free(buf);
    return rc;
}

static int read_all(struct pr_reader *r, bool backward, FILE *out,
                    struct pr_err *err)
{
    int rc = PR_OK;

    for (uint64_t k = 0; k < r->samples && !rc; k++)
        rc = read_one(r, backward ? r->samples - 1 - k : k, out, err);
    return rc;
}

int main(int argc, char **argv)
{
    struct pr_storage_opts so = {.storage_type = "local_fs",
                                 .storage_root = ".",
                                 .block_size = 1 << 20,
                                 .queue_depth = 8,
                                 .fault = "",
                                 .trace = ""};
    struct pr_read_opts ro = {0};
    const struct pr_format *format;
    struct pr_storage *st = NULL;
    struct pr_reader *r = NULL;
    struct pr_err err = {0};
    FILE *out;
    int rc;

    if (argc < 7)
        return 2;
    so.engine = argv[2];
    ro.samples = strtoull(argv[3], NULL, 10);
    if (!pr_dtype_find(argv[4], &ro.dtype))
        return 2;
    ro.skip_decode = has_flag(argc, argv, "raw");
    ro.skip_checksum = has_flag(argc, argv, "nocheck");
    out = fopen(argv[6], "wb");
    rc = out ? pr_format_find(argv[1], &format, &err)
             : pr_fail_errno(&err, PR_E_IO, argv[6], "cannot write");
    if (!rc)
        rc = pr_storage_open(&so, &st, &err);
    if (!rc)
        rc = pr_reader_new(format, st, &ro, &r, &err);
    if (!rc)
        rc = pr_reader_open(r, argv[5], &err);
    if (!rc)
        rc = read_all(r, has_flag(argc, argv, "backward"), out, &err);
    pr_reader_free(r);
    pr_storage_close(st);
    if (out && fclose(out) != 0 && !rc)
        rc = pr_fail_errno(&err, PR_E_IO, argv[6], "cannot write");
    return rc ? fail(&err) : 0;
}
