/* HDF5: the format itself. */
#include "format/hdf5/hdf5_read.h"
#include "format/hdf5/hdf5_write.h"

static int hdf5_check(const struct pr_file_spec *spec, struct pr_err *err)
{
    struct pr_hdf5_plan plan;

    if (spec->shape.ndim > PR_MAX_DIMS)
        return pr_fail(err, PR_E_CONF, "dataset.record_dims",
                       "a sample has at most %d dimensions", PR_MAX_DIMS);
    return pr_hdf5_plan_init(spec, &plan, err);
}

static uint64_t hdf5_bytes(const struct pr_file_spec *spec, bool *ret_exact)
{
    struct pr_hdf5_plan plan;

    *ret_exact = false;
    return pr_hdf5_plan_init(spec, &plan, NULL) ? UINT64_MAX
                                                : pr_hdf5_plan_bytes(&plan);
}

const struct pr_format pr_format_hdf5 = {
    .abi = PR_FORMAT_ABI,
    .name = "hdf5",
    .alias = "h5",
    .desc = "HDF5 files with data sets records_0, records_1, … and labels",
    .flags = PR_FORMAT_LABELS,
    .compressions = "none|gzip|lzf",
    .check = hdf5_check,
    .bytes = hdf5_bytes,
    .writer_bytes = sizeof(struct pr_hdf5_writer),
    .write = pr_hdf5_writer_write,
    .writer_done = pr_hdf5_writer_done,
    .reader_bytes = sizeof(struct pr_hdf5_reader),
    .open = pr_hdf5_reader_open,
    .read = pr_hdf5_reader_read,
    .close = pr_hdf5_reader_close,
    .reader_done = pr_hdf5_reader_done,
};
