/* Lines of files that are read as a whole line by line, not for parameters. */
#ifndef PR_ANALYSE_RESULTS_TAKE_H
#define PR_ANALYSE_RESULTS_TAKE_H

#include "analyse/results/results_impl.h"
#include "base/buf.h"

typedef int pr_results_line_fn(void *ctx, const char *line, size_t len,
                               struct pr_err *err);

struct pr_results_line_cutter {
    struct pr_buf part; /* the beginning of a line that goes on */
    bool skip;          /* it is too long */
    uint64_t too_long;
};

#define PR_RESULTS_LINE_CUTTER_INIT          \
    {                                        \
        .part = PR_BUF_INIT((size_t)8 << 20) \
    }

/* Hands on each line that has ended, with \n or \r. */
int pr_results_line_cutter_feed(struct pr_results_line_cutter *l,
                                const char *bytes, size_t len,
                                pr_results_line_fn *line, void *ctx,
                                struct pr_err *err) PR_MUST_CHECK;
/* What is left may lack its end. */
int pr_results_line_cutter_end(struct pr_results_line_cutter *l,
                               pr_results_line_fn *line, void *ctx,
                               struct pr_err *err) PR_MUST_CHECK;

/* milabench's .data: events, one JSON a line, of one run of one benchmark. */
struct pr_milabench_events;
struct pr_milabench_events *pr_milabench_events_new(void); /* NULL: no memory */
void pr_milabench_events_free(struct pr_milabench_events *e);
int pr_milabench_events_line(void *ctx, const char *line, size_t len,
                             struct pr_err *err);
int pr_milabench_events_put(struct pr_milabench_events *e,
                            struct pr_results_reader *r,
                            struct pr_err *err) PR_MUST_CHECK;

/* A log of one of Lambda's tasks, SYSTEM/TASK/DATE.txt: it is held in a
 * buffer, and put as a row at its end. */
int pr_lambda_log_feed(struct pr_buf *log, const char *bytes, size_t len,
                       struct pr_err *err) PR_MUST_CHECK;
int pr_lambda_log_put(const char *path, const struct pr_buf *log,
                      struct pr_results_reader *r,
                      struct pr_err *err) PR_MUST_CHECK;

/* Whether a path is of that form. */
bool pr_lambda_is_task_log(const char *path);

#endif
