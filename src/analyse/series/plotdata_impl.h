/* What makes series: values with their place, put in order at the end. */
#ifndef PR_ANALYSE_PLOTDATA_IMPL_H
#define PR_ANALYSE_PLOTDATA_IMPL_H

#include "analyse/series/plotdata.h"
#include "base/names.h"

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

#endif
