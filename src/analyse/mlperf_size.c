/* How large MLPerf wants a data set: as `mlpstorage training datasize`. */
#include "analyse/mlperf.h"
#include "base/units.h"

#include <math.h>

enum { MEMORIES = 5, STEPS = 500, FILES_IN_FOLDER = 10000 };

/* a / b rounded down, as Python's // of floats does it. */
static double mlperf_divide_floor(double a, double b)
{
    return rint((a - fmod(a, b)) / b);
}

static uint64_t multiply_saturating(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

void pr_mlperf_compute_size(const struct pr_mlperf_need *n,
                            struct pr_mlperf_size *ret)
{
    uint64_t memory = multiply_saturating(MEMORIES, n->memory);
    uint64_t whole = n->record_length < 0x1p63 ? (uint64_t)n->record_length : 0;
    double file = (double)n->samples_per_file * n->record_length;
    struct pr_mlperf_size s = {0};

    if (!n->samples_per_file || !(file > 0)) {
        *ret = s;
        return;
    }
    /* Sizes are whole numbers but for one workload's. */
    if ((double)whole != n->record_length)
        whole = 0;
    whole = multiply_saturating(n->samples_per_file, whole);
    s.by_memory = whole ? memory / whole
                        : pr_to_u64(mlperf_divide_floor((double)memory, file));
    s.by_steps = multiply_saturating(
                     multiply_saturating(STEPS, n->accelerators), n->batch) /
                 n->samples_per_file;
    s.files = s.by_memory > s.by_steps ? s.by_memory : s.by_steps;
    s.bytes = whole ? multiply_saturating(s.files, whole)
                    : pr_to_u64((double)s.files * file);
    if (s.files > FILES_IN_FOLDER)
        s.subfolders = s.files / FILES_IN_FOLDER;
    if (s.subfolders == 1)
        s.subfolders = 2; /* one folder would not spread them */
    *ret = s;
}
