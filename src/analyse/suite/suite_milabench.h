/* milabench's runs: one .data file, and the bench it belongs to. */
#ifndef PR_ANALYSE_SUITE_MILABENCH_H
#define PR_ANALYSE_SUITE_MILABENCH_H

#include "analyse/suite/suite_impl.h"

/* What was sampled of one device. */
struct pr_milabench_load {
    const char *id;
    struct pr_suite_numbers memory, power;
};

/* One .data file. Text is in the arena it was read with. */
struct pr_milabench_data {
    bool has_config, started, ended, early_stop, nan_loss, no_log;
    bool has_device;
    const char *name, *group, *device, *error;
    uint64_t gpus;
    double weight;
    bool enabled;
    double start_time, end_time;
    int64_t return_code;
    struct pr_suite_numbers rates;
    struct pr_milabench_load *loads;
    size_t load_count, load_cap;
    double energy, first_time, last_time; /* J; NaN: no sample */
    struct pr_suite_host host;
    struct pr_suite_slices slices;
};

/* Reads all events; lines that are none are passed over. PR_E_NOMEM. */
int pr_milabench_data_read(struct pr_milabench_data *d, const char *text,
                           size_t len, struct pr_arena *keep,
                           struct pr_arena *scratch, unsigned curve,
                           struct pr_err *err) PR_MUST_CHECK;
void pr_milabench_data_free(struct pr_milabench_data *d);

bool pr_milabench_data_is_good(const struct pr_milabench_data *d);

#endif
