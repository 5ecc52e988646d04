/* Lines of files that are read as a whole line by line, not for parameters. */
#ifndef PR_ANALYSE_BENCH_LINES_H
#define PR_ANALYSE_BENCH_LINES_H

#include "analyse/bench_impl.h"
#include "base/buf.h"

typedef int pr_bench_line(void *ctx, const char *line, size_t len,
                          struct pr_err *err);

struct pr_bench_lines {
    struct pr_buf part; /* the beginning of a line that goes on */
    bool skip;          /* it is too long */
    uint64_t too_long;
};

#define PR_BENCH_LINES_INIT                  \
    {                                        \
        .part = PR_BUF_INIT((size_t)8 << 20) \
    }

/* Hands on each line that has ended, with \n or \r. */
int pr_bench_lines_feed(struct pr_bench_lines *l, const char *bytes, size_t len,
                        pr_bench_line *line, void *ctx,
                        struct pr_err *err) PR_MUST_CHECK;
/* What is left may lack its end. */
int pr_bench_lines_end(struct pr_bench_lines *l, pr_bench_line *line, void *ctx,
                       struct pr_err *err) PR_MUST_CHECK;

/* milabench's .data: events, one JSON a line, of one run of one benchmark. */
struct pr_bench_events;
struct pr_bench_events *pr_bench_events_new(void); /* NULL: no memory */
void pr_bench_events_free(struct pr_bench_events *e);
int pr_bench_events_line(void *ctx, const char *line, size_t len,
                         struct pr_err *err);
int pr_bench_events_put(struct pr_bench_events *e, struct pr_bench_reader *r,
                        struct pr_err *err) PR_MUST_CHECK;

/* A log of one of Lambda's tasks, SYSTEM/TASK/DATE.txt: it is held in a
 * buffer, and put as a row at its end. */
int pr_bench_lambda_feed(struct pr_buf *log, const char *bytes, size_t len,
                         struct pr_err *err) PR_MUST_CHECK;
int pr_bench_lambda_put(const char *path, const struct pr_buf *log,
                        struct pr_bench_reader *r,
                        struct pr_err *err) PR_MUST_CHECK;

/* Whether a path is of that form. */
bool pr_bench_is_task(const char *path);

#endif
