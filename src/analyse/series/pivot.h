/*
 * Results by columns: DLBS's `bench_data report`. Rows are what some
 * parameters are (inputs), columns the values of another (output); cells are
 * the time and the throughput of the experiment, or the mean of its repeats.
 */
#ifndef PR_ANALYSE_PIVOT_H
#define PR_ANALYSE_PIVOT_H

#include "analyse/results/results.h"

enum { PR_PIVOT_INPUTS = 8 };

struct pr_pivot_spec {
    const char *inputs[PR_PIVOT_INPUTS];
    size_t input_count;
    const char *output;
    const struct pr_value *output_cols; /* a list; NULL: all there are */
    bool speedup, efficiency;
    bool no_times, no_specs; /* leave out a table, and the last lines */
};

/* regular, weak-scaling, strong-scaling, exploration (weak and strong, too),
 * or JSON {"inputs": […], "output": "…", "report_speedup": true, …}. In the
 * arena. PR_E_USAGE. */
int pr_pivot_spec_read(const char *text, struct pr_arena *a,
                       struct pr_pivot_spec *ret,
                       struct pr_err *err) PR_MUST_CHECK;

/* A figure of a cell. */
struct pr_pivot_measure {
    uint64_t n; /* repeats; 0: none */
    double mean;
    bool whole;    /* one, and written without a point */
    double m2, ci; /* half of the 95 % interval */
};

struct pr_pivot_cell {
    struct pr_pivot_measure time, rate;
};

struct pr_pivot_row {
    const struct pr_value *keys[PR_PIVOT_INPUTS];
    struct pr_pivot_cell *cells;
};

struct pr_pivot_axis {
    const struct pr_value *values; /* in order */
    size_t count;
};

struct pr_pivot {
    struct pr_pivot_spec spec;
    struct pr_pivot_axis axes[PR_PIVOT_INPUTS]; /* of the inputs */
    struct pr_pivot_axis columns;
    struct pr_pivot_row *rows;
    size_t row_count;
    uint64_t results, failed, without; /* without a name that is asked for */
    bool processors; /* some ran without GPUs: devices are counted */
    bool repeats;
};

/* Everything is in the arena, but values of parameters are the set's. */
int pr_pivot_build(const struct pr_results *set,
                   const struct pr_pivot_spec *spec, struct pr_arena *a,
                   struct pr_pivot *ret, struct pr_err *err) PR_MUST_CHECK;

/* Of a row, relative to its first column; NaN: not known. */
double pr_pivot_speedup(const struct pr_pivot *p,
                        const struct pr_pivot_row *row, size_t column);
/* In percent; weak or strong by the batch that is among the inputs. */
double pr_pivot_efficiency(const struct pr_pivot *p,
                           const struct pr_pivot_row *row, size_t column);

#endif
