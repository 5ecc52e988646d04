/*
 * How time changes with devices and batches: DLBS's weak scaling, strong
 * scaling and exploration reports, out of any set of results. Repeats of the
 * same experiment become a mean with a confidence interval.
 */
#ifndef PR_ANALYSE_SCALING_H
#define PR_ANALYSE_SCALING_H

#include "analyse/results/results.h"

enum pr_scaling_type {
    PR_SCALING_WEAK,        /* the batch of a device stays the same */
    PR_SCALING_STRONG,      /* the batch of all devices does */
    PR_SCALING_EXPLORATION, /* devices by batches */
};

/* weak-scaling, strong-scaling, exploration. */
bool pr_scaling_find_type(const char *word, enum pr_scaling_type *ret);

struct pr_scaling_opts {
    enum pr_scaling_type type;
    const char *target; /* a time in milliseconds: results.time */
    const struct pr_results_filter *filters;
    size_t filter_count;
};

/* The names that are looked at, beside the target and what filters ask for;
 * NULL at the end. */
extern const char *const pr_scaling_names[];

struct pr_scaling_cell {
    uint64_t n;        /* repeats; 0: there is no such experiment */
    double time;       /* their mean */
    double time_ci;    /* half of its 95 % interval; 0 without repeats */
    double rate;       /* samples a second; NaN: not reported */
    double speedup;    /* to the base of the row; NaN without rates */
    double efficiency; /* in percent, two digits, not rounded */
    double efficiency_ci;
    bool rated; /* speedup and efficiency are known */
    bool base;  /* what the others are compared with */
};

struct pr_scaling_row {
    const char *net;
    const char *device; /* exploration */
    int64_t batch;      /* weak: of a device; strong: of all */
    const struct pr_scaling_cell *cells;
};

struct pr_scaling_column {
    const char *device;
    int64_t count; /* of devices */
    int64_t batch; /* exploration */
};

struct pr_scaling {
    enum pr_scaling_type type;
    const struct pr_scaling_column *columns;
    size_t column_count;
    const struct pr_scaling_row *rows;
    size_t row_count;
    uint64_t without;  /* results that lack the target */
    uint64_t unusable; /* … whose target is no time above zero, or that have no
                          batch */
    uint64_t unrated;  /* runs of ours that report no throughput */
    bool repeats;      /* a cell has more than one */
};

/* Everything is in the arena. */
int pr_scaling_build(const struct pr_results *set,
                     const struct pr_scaling_opts *opts, struct pr_arena *a,
                     struct pr_scaling *ret, struct pr_err *err) PR_MUST_CHECK;

/* The same while files are read, without keeping their rows. how says which
 * names and threads; *ret_set, which has counts alone, is freed by the
 * caller. */
int pr_scaling_read(const char *const *inputs, size_t count,
                    const struct pr_results_opts *how,
                    const struct pr_scaling_opts *opts, struct pr_arena *a,
                    struct pr_scaling *ret, struct pr_results **ret_set,
                    struct pr_err *err) PR_MUST_CHECK;

/* ---- for the files of this room */

/* One experiment with its repeats. */
struct pr_scaling_point {
    uint32_t net, device; /* numbers of names, in the order of the report */
    int64_t batch;        /* of all devices */
    uint64_t n;
    double mean, m2; /* the sum of squares about it */
    double rate;     /* NaN: none was reported */
};

struct pr_scaling_points {
    const char *const *nets;
    size_t net_count;
    const struct pr_scaling_column *devices;
    size_t device_count;
    struct pr_scaling_point *list; /* by net, batch, device */
    size_t count;
};

/* Points out of rows that come from several threads; each and restart are
 * those of pr_results_opts. */
struct pr_scaling_gather;

/* How many devices an experiment used: GPUs, emulated accelerators, or replicas
 * on processors; those that ran, where it says so. What
 * distinguishes it from others goes to *ret_device, in the arena; NULL: no
 * memory. */
int64_t pr_scaling_row_devices(const struct pr_results_row *row,
                               struct pr_arena *a, const char **ret_device);

/* Samples in a step of all devices: what a run of ours reported, else the
 * parameters. 0: unknown. */
int64_t pr_scaling_row_batch(const struct pr_results_row *row, int64_t devices);

/* Half the width of the 95 % interval of a mean; 0 below two. Student's t takes
 * a while: that of the last n is kept. */
struct pr_scaling_student_t {
    uint64_t n;
    double t;
};
double pr_scaling_half_width(struct pr_scaling_student_t *last, uint64_t n,
                             double m2);

#endif
