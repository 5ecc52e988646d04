/* What a file specification means as arrays; see npy_write.h. */
#include "format/npy_write.h"

static void npy_finish(struct pr_npy *a)
{
    uint8_t head[PR_NPY_HEAD_BUF];

    a->count = pr_shape_count(&a->shape);
    a->data_bytes = a->count * pr_dtype_bytes(a->dtype);
    a->head_bytes = pr_npy_build(a, head);
}

void pr_npy_describe_labels(const struct pr_file_spec *spec, struct pr_npy *ret)
{
    *ret = (struct pr_npy){.dtype = PR_I64, .shape.ndim = 1};
    ret->shape.dim[0] = spec->samples;
    npy_finish(ret);
}

void pr_npy_describe_samples(const struct pr_file_spec *spec,
                             struct pr_npy *ret)
{
    if (spec->labels_alone) {
        pr_npy_describe_labels(spec, ret);
        return;
    }
    *ret = (struct pr_npy){.dtype = spec->dtype, .shape = spec->shape};
    ret->shape.dim[ret->shape.ndim++] = spec->samples;
    /* With one sample, or one element in each, both orders are the same. */
    ret->fortran = spec->samples > 1 && pr_shape_count(&spec->shape) > 1;
    npy_finish(ret);
}

int pr_npy_check(const struct pr_file_spec *spec, struct pr_err *err)
{
    uint64_t bytes = pr_spec_sample_bytes(spec);

    if (spec->shape.ndim >= PR_MAX_DIMS)
        return pr_fail(err, PR_E_CONF, "dataset.record_dims",
                       "a sample can have at most %d dimensions",
                       PR_MAX_DIMS - 1);
    if (bytes == UINT64_MAX ||
        __builtin_mul_overflow(bytes, spec->samples, &bytes) ||
        bytes > INT64_MAX / 2 || spec->samples > INT64_MAX / 16)
        return pr_fail(err, PR_E_CONF, "dataset.record_dims",
                       "the samples of a file are larger than any file");
    return PR_OK;
}
