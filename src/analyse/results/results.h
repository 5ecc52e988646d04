/*
 * Results of benchmarks, wherever they lie, as a list of flat maps from names
 * to values: logs of DLBS, what was parsed from them ({"data": […]}), run
 * directories, results of DLIO, milarun and milabench, logs of Lambda's tasks;
 * plain, gzipped, or in a tar archive. Files are told apart by their content.
 * They were written by strangers: what cannot be read is counted and noted,
 * and never loses the rest.
 */
#ifndef PR_ANALYSE_RESULTS_H
#define PR_ANALYSE_RESULTS_H

#include "base/err.h"
#include "base/value.h"
#include "conf/option/query.h"

struct pr_results;

/* One result. */
struct pr_results_row {
    struct pr_value params; /* a map: exp.model, results.time, … */
    const char *from;       /* file or folder it was read from */
};

struct pr_results_filter {
    const struct pr_query *query;
    enum pr_query_policy policy;
};

struct pr_results_opts {
    bool recursive;   /* folders inside folders, too */
    bool run_only;    /* no rows of experiments that have no result yet */
    unsigned threads; /* 0: one for each processor */
    const struct pr_results_filter *filters; /* all must match */
    size_t filter_count;
    bool keep_all; /* … but only name what is read: rows that do not
                      match are kept */
    const char *const *names; /* all that is needed, beside what filters ask
                                 for; NULL: everything */
    size_t name_count;
    /* Instead of keeping rows: hands each to a function, from several threads
     * at once, in no order; the row is borrowed. restart: forget all, it
     * begins again. */
    int (*each)(void *ctx, unsigned thread, const struct pr_results_row *row,
                struct pr_err *err);
    void (*restart)(void *ctx);
    void *ctx;
};

enum { PR_RESULTS_MAX_THREADS = 16 };

enum { PR_RESULTS_NOTES = 10 };

/* What a result may hold, as values in memory; what comes later is dropped. */
#define PR_RESULTS_MAX_ROW ((size_t)128 << 20)

struct pr_results_counts {
    uint64_t files;      /* read; an experiment of a run counts as one */
    uint64_t results;    /* found in them, before filters */
    uint64_t empty;      /* files without any */
    uint64_t unreadable; /* files that failed, in whole or from some place on */
    uint64_t damaged;    /* of these: archives and packed files, not whole */
    struct pr_err damage; /* of the first of them */
    uint64_t missing;     /* experiments without a result that were left out */
    uint64_t bad_lines;   /* parameter lines whose value is unreadable */
    uint64_t long_lines;  /* over PR_LOG_MAX_LINE */
    uint64_t dropped;     /* values beyond PR_RESULTS_MAX_ROW */
    uint64_t underived; /* results that lack what pr_results_derive asks for */
    size_t note_count;  /* the first of these troubles, with place */
    struct pr_err notes[PR_RESULTS_NOTES];
};

/* Reads files and folders, several at a time. Of a folder that is no run
 * directory and no result of DLIO: *.log, *.log.gz, milabench's *.data, logs
 * of Lambda's tasks, milarun's results and run directories in it. Rows are in
 * the order of the inputs, within a folder in that of their names. What is
 * only wrong with some file is in the counts.
 * PR_E_IO for an input that is not there, PR_E_NOMEM.
 * Free with pr_results_free; rows live as long. */
int pr_results_read(const char *const *inputs, size_t count,
                    const struct pr_results_opts *opts, struct pr_results **ret,
                    struct pr_err *err) PR_MUST_CHECK;
void pr_results_free(struct pr_results *b); /* NULL is fine */

size_t pr_results_size(const struct pr_results *b);
const struct pr_results_row *pr_results_row_at(const struct pr_results *b,
                                               size_t i);
const struct pr_results_counts *
pr_results_get_counts(const struct pr_results *b);

/* Adds parameters to every result, "${name}" and "$(expression)$" in them
 * expanded with those it has. A result in which that fails stays as it was,
 * and is counted. */
int pr_results_derive(struct pr_results *b, const struct pr_value *added,
                      struct pr_err *err) PR_MUST_CHECK;

/* 1: every filter matches the row; 0; or negative. */
int pr_results_match_row(const struct pr_results_row *row,
                         const struct pr_results_filter *filters, size_t count,
                         struct pr_err *err) PR_MUST_CHECK;

/* JSON, or the name of a file that holds it. In the arena; name is for
 * errors. */
int pr_results_parse_json(const char *text, const char *name,
                          struct pr_arena *a, struct pr_value **ret,
                          struct pr_err *err) PR_MUST_CHECK;

/* The same as a query: what --query, --select and --filter-query take. */
int pr_results_parse_query(const char *text, const char *name,
                           struct pr_arena *a, struct pr_query **ret,
                           struct pr_err *err) PR_MUST_CHECK;

/* DLBS's test of success: results.time, or without it results.throughput, is
 * above zero. */
bool pr_results_is_good(const struct pr_results_row *row);

/* Whether Prony ran it; else it is a log or list of somebody else's. */
bool pr_results_is_ours(const struct pr_results_row *row);

/* Whether the rows of a set, which has some, differ in a parameter: one may
 * lack it. */
bool pr_results_is_varied(const struct pr_results *b, const char *name);

/* Samples a second as reported; NaN: nothing is. */
double pr_results_rate(const struct pr_results_row *row);

#endif
