/* What verbs that read results share: --query, --select, --recursive. */
#ifndef PR_CLI_BENCH_ARGS_H
#define PR_CLI_BENCH_ARGS_H

#include "analyse/results/results.h"
#include "cli/cli.h"

enum { RESULTS_MAX_FILTERS = 32 };

struct results_args {
    struct pr_query *queries[RESULTS_MAX_FILTERS];
    struct pr_results_filter filters[RESULTS_MAX_FILTERS];
    size_t filter_count;
    bool unfinished; /* with experiments that have no result yet */
};

/* Every --query and --select, all of which must match, and --filter-query and
 * --filter-params of `parse`. */
int results_args_init(const struct cli *c, struct results_args *a,
                      struct pr_err *err) PR_MUST_CHECK;
void results_args_close(struct results_args *a);

/* How to read: --recursive, --threads, the filters. names (NULL: all) ends
 * with NULL. */
int results_args_opts(const struct cli *c, const struct results_args *a,
                      const char *const *names, struct pr_results_opts *ret,
                      struct pr_err *err) PR_MUST_CHECK;

/* Says what could not be read. */
void results_args_warn(const struct cli *c, const struct pr_results *set);
/* Said at the end: an archive that is not whole is status 5, whatever it held;
 * not with --ignore-errors. */
int results_args_check_whole(const struct cli *c, const struct pr_results *set,
                             struct pr_err *err) PR_MUST_CHECK;

/* Reads the inputs. What the queries do not match is left out; what could not
 * be read is for bench_args_warn. */
int results_args_read(const struct cli *c, const struct results_args *a,
                      const char *const *inputs, size_t count,
                      const char *const *names, struct pr_results **ret,
                      struct pr_err *err) PR_MUST_CHECK;

/* "a,b,c" as a list in the arena that ends with NULL. */
const char **results_args_split_names(struct pr_arena *a, const char *text,
                                      size_t *ret_count);

#endif
