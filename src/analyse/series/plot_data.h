/*
 * Series of figures, for charts: results of benchmarks by a parameter, as
 * DLBS's series_builder has them, and what run directories hold over time.
 */
#ifndef PR_ANALYSE_PLOT_DATA_H
#define PR_ANALYSE_PLOT_DATA_H

#include "analyse/results/results.h"
#include "base/names.h"

#include <string.h>

enum pr_plot_data_how { PR_PLOTDATA_AVG, PR_PLOTDATA_MIN, PR_PLOTDATA_MAX };

struct pr_plot_data_point {
    const char *x;    /* as Python's str() writes it */
    double x_number;  /* NaN: it is none */
    double y;         /* of all values there */
    double low, high; /* 95 % confidence interval of a mean; equal: none */
    bool whole;       /* y is a whole number, and was one in the results */
    double *values;   /* in the order of the results */
    size_t count;
};

struct pr_plot_data_series {
    struct pr_value filters; /* what it was made of */
    struct pr_plot_data_point *points;
    size_t count;
    const char *unit; /* its own, where series have different ones; or NULL */
};

struct pr_plot_data {
    const char *x, *y; /* parameters, or what stands for them */
    const char *x_unit,
        *y_unit; /* as present/chart/chart.h has them; or NULL */
    struct pr_plot_data_series *series;
    size_t count;
    const char **x_values; /* all of them, in order */
    size_t x_count;
    bool x_numbers;      /* all are; they are in their order */
    uint64_t unusable;   /* results whose y is no number */
    const char *warning; /* why there is no baseline; or NULL */
};

enum { PR_PLOTDATA_MOST = 1000, PR_PLOTDATA_BASELINE_NONE = -1 };

struct pr_plot_data_opts {
    /* NULL: the place in a list, or the number of the result. */
    const char *x;
    const char *y; /* a number, or a list of numbers that all count */
    /* A list of filters (conf/option/query.h), a series each; text: the name of
     * a parameter, each value of which is one; null: all results are one. */
    struct pr_value series;
    enum pr_plot_data_how how;
    const char *baseline_x; /* values are divided by the one there; or NULL */
    /* … by those of a series; or negative. As in DLBS, values stay as they are
     * where the baseline lacks one. */
    long baseline_series;
};

/* In the arena; what series borrow of the results lives as long as these.
 * PR_E_USAGE for filters that are none. */
int pr_plot_data_build(const struct pr_results *set,
                       const struct pr_plot_data_opts *o, struct pr_arena *a,
                       struct pr_plot_data *ret,
                       struct pr_err *err) PR_MUST_CHECK;

/*
 * Over time, of experiments of run directories: columns of their monitor
 * (names with * and ?, NULL at the end), or rates of their channel (tasks, the
 * same; none: all). Filters name exp.id, and the column or task. x is in
 * seconds, or the number of a rate where lines do not tell the time.
 */
int pr_plot_data_read_monitor(const struct pr_results *set,
                              const char *const *columns, struct pr_arena *a,
                              struct pr_plot_data *ret,
                              struct pr_err *err) PR_MUST_CHECK;
int pr_plot_data_read_rates(const struct pr_results *set,
                            const char *const *tasks, struct pr_arena *a,
                            struct pr_plot_data *ret,
                            struct pr_err *err) PR_MUST_CHECK;

/* {"ylabel": …, "xlabel": …, "series": […], "xvals": […]}, as DLBS has it. */
int pr_plot_data_write_json(const struct pr_plot_data *s, struct pr_buf *out,
                            struct pr_err *err) PR_MUST_CHECK;

/* ---- values with their place, put in order at the end */

struct pr_plot_data_value {
    uint32_t series, x; /* numbers of both */
    uint32_t at;        /* of the value itself: the order stays */
    bool whole;
    double y;
};

struct pr_plot_data_maker {
    struct pr_arena *arena;
    struct pr_names *x; /* every x that there is */
    struct pr_plot_data_value *values;
    size_t count, cap;
};

int pr_plot_data_maker_init(struct pr_plot_data_maker *m, struct pr_arena *a,
                            struct pr_err *err) PR_MUST_CHECK;
void pr_plot_data_maker_free(struct pr_plot_data_maker *m);

int pr_plot_data_add(struct pr_plot_data_maker *m, size_t series, const char *x,
                     size_t x_len, double y, bool whole,
                     struct pr_err *err) PR_MUST_CHECK;

/* Points of the set's series from all values. */
int pr_plot_data_finish(struct pr_plot_data_maker *m, enum pr_plot_data_how how,
                        struct pr_plot_data *set,
                        struct pr_err *err) PR_MUST_CHECK;

static inline struct pr_member pr_plot_data_member(const char *key,
                                                   struct pr_value v)
{
    return (struct pr_member){
        .key = key, .key_len = (uint32_t)strlen(key), .value = v};
}

#endif
