/* Results in a table of comma-separated values. */
#ifndef PR_ANALYSE_BENCH_CSV_H
#define PR_ANALYSE_BENCH_CSV_H

#include "analyse/results/bench_impl.h"

struct pr_results_csv;

/* NULL: no memory. from must outlive the rows. */
struct pr_results_csv *pr_results_csv_new(struct pr_results_reader *r,
                                          const char *from);
void pr_results_csv_free(struct pr_results_csv *c); /* NULL is fine */
int pr_results_csv_feed(struct pr_results_csv *c, const char *bytes, size_t len,
                        struct pr_err *err) PR_MUST_CHECK;
/* The last line may lack its end. */
int pr_results_csv_end(struct pr_results_csv *c,
                       struct pr_err *err) PR_MUST_CHECK;

#endif
