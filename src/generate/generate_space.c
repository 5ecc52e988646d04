/*
 * What a data set takes on disk. Most formats can tell exactly; for the
 * others (jpeg, csv, anything compressed) one file is made in memory, and the
 * rest are taken to be like it.
 */
#include "base/units.h"
#include "generate/generate_impl.h"

#include <inttypes.h>

/* Larger ones are not tried in memory; the format's own limit is used. */
enum { MAX_TRIAL = 64 << 20 };

/* With a spread, so many files are drawn; the rest are taken to be like them
 * on average. */
enum { DRAWN = 100000 };

static int generate_trial_file(const struct pr_dataset *d,
                               const struct pr_file_spec *spec,
                               uint64_t *ret_bytes, struct pr_err *err)
{
    struct pr_storage_opts so = {.engine = "memory"};
    struct pr_writer *w = NULL;
    struct pr_storage *st;
    int rc = pr_storage_open(&so, &st, err);

    if (rc)
        return rc;
    rc = pr_writer_new(d->format, st, &w, err);
    if (!rc)
        rc = pr_writer_write(w, spec, "trial", ret_bytes, err);
    pr_writer_free(w);
    pr_storage_close(st);
    return rc;
}

/* How much the format makes of a byte of samples; 1 when it says itself. */
static int find_ratio(const struct pr_dataset *d, double *ret,
                      struct pr_err *err)
{
    struct pr_file_spec spec;
    struct pr_dataset_sides sides;
    uint64_t raw, bound, bytes;
    bool exact;
    int rc = PR_OK;

    pr_dataset_sides_start(&sides);
    pr_dataset_spec(d, &sides, 0, &spec);
    bound = bytes = d->format->bytes(&spec, &exact);
    raw = pr_spec_sample_bytes(&spec) * spec.samples;
    if (!exact && raw <= MAX_TRIAL)
        rc = generate_trial_file(d, &spec, &bytes, err);
    *ret = bound ? (double)bytes / (double)bound : 1;
    return rc;
}

static uint64_t generate_file_bytes(const struct pr_dataset *d,
                                    const struct pr_file_spec *spec,
                                    double ratio, bool *ret_exact)
{
    struct pr_file_spec labels;
    uint64_t bytes = d->format->bytes(spec, ret_exact);
    bool also;

    if (!*ret_exact)
        bytes = pr_to_u64((double)bytes * ratio);
    if (d->has_index) {
        /* Two numbers and a line end. */
        if (__builtin_add_overflow(bytes, spec->samples * 24, &bytes))
            bytes = UINT64_MAX;
        *ret_exact = false;
    }
    if (d->has_labels_apart) {
        const struct pr_format *npy;
        pr_dataset_label_spec(spec, &labels);
        if (pr_format_find("npy", &npy, NULL) == PR_OK)
            bytes += npy->bytes(&labels, &also);
    }
    return bytes;
}

int pr_generate_bytes(const struct pr_dataset *d, uint64_t *ret,
                      bool *ret_exact, struct pr_err *err)
{
    uint64_t files = pr_dataset_files(d), sum = 0;
    uint64_t drawn = files < DRAWN ? files : DRAWN;
    struct pr_file_spec spec;
    struct pr_dataset_sides sides;
    double ratio = 1;
    bool exact = true;
    int rc = files ? find_ratio(d, &ratio, err) : PR_OK;

    if (rc)
        return rc;
    pr_dataset_sides_start(&sides);
    for (uint64_t f = 0; f < drawn; f++) {
        uint64_t bytes;

        pr_dataset_spec(d, &sides, f, &spec);
        if (d->spread > 0 && d->format->check) {
            rc = d->format->check(&spec, err);
            if (rc)
                return pr_hint(err,
                               "file %" PRIu64 " came out too large: "
                               "lower record_length_bytes_stdev",
                               f);
        }
        bytes = generate_file_bytes(d, &spec, ratio, &exact);
        if (d->spread <= 0) { /* all files are like this one */
            if (__builtin_mul_overflow(bytes, files, &sum))
                sum = UINT64_MAX;
            break;
        }
        if (__builtin_add_overflow(sum, bytes, &sum))
            sum = UINT64_MAX;
    }
    if (d->spread > 0 && drawn < files) {
        sum = pr_to_u64((double)sum / (double)drawn * (double)files);
        exact = false;
    }
    *ret = sum;
    *ret_exact = exact;
    return PR_OK;
}
