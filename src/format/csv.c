/*
 * csv: a row for each sample, its elements as decimal numbers with commas
 * between, no header, as DLIO lays it out. With gzip the whole file is
 * compressed and keeps its name.
 */
#include "format/csv.h"

static int csv_check(const struct pr_file_spec *spec, struct pr_err *err)
{
    uint64_t count = pr_shape_count(&spec->shape), bytes;

    if (!count)
        return pr_fail(err, PR_E_CONF, "dataset.record_dims",
                       "csv cannot hold samples without elements");
    if (spec->compression != PR_PLAIN && spec->compression != PR_GZIP)
        return pr_fail(err, PR_E_CONF, "dataset.compression",
                       "csv takes none or gzip");
    if (__builtin_mul_overflow(count, pr_csv_widest(spec->dtype), &bytes) ||
        __builtin_mul_overflow(bytes, spec->samples, &bytes) ||
        bytes > INT64_MAX)
        return pr_fail(err, PR_E_CONF, "dataset.num_samples_per_file",
                       "a file would be too large");
    return PR_OK;
}

static uint64_t csv_bytes(const struct pr_file_spec *spec, bool *ret_exact)
{
    uint64_t bytes = pr_shape_count(&spec->shape) * spec->samples *
                     pr_csv_widest(spec->dtype);

    *ret_exact = false;
    return spec->compression == PR_GZIP ? pr_deflate_bound(bytes) : bytes;
}

const struct pr_format pr_format_csv = {
    .abi = PR_FORMAT_ABI,
    .name = "csv",
    .desc = "rows of decimal numbers, one for each sample",
    .flags = PR_FORMAT_STREAM,
    .compressions = "none|gzip",
    .check = csv_check,
    .bytes = csv_bytes,
    .writer_bytes = sizeof(struct pr_csv_writer),
    .write = pr_csv_write,
    .writer_done = pr_csv_writer_done,
    .reader_bytes = sizeof(struct pr_csv_reader),
    .open = pr_csv_open,
    .read = pr_csv_read,
    .close = pr_csv_close,
    .reader_done = pr_csv_reader_done,
};
