/*
 * The channel of an experiment: channel.ndjson in its folder, to which the
 * child appends JSON lines through a descriptor given in its environment
 * (PRONY_FD; DATA_FD for milabench's instruments), or by its path
 * (PRONY_CHANNEL) where descriptors do not reach, as in a container.
 * docs/channel.md has the lines. Written by strangers: nothing is trusted.
 */
#ifndef PR_RECORD_CHANNEL_H
#define PR_RECORD_CHANNEL_H

#include "base/buf.h"
#include "base/err.h"
#include "base/random.h"
#include "base/value.h"
#include "record/log.h"

#include <stdbool.h>
#include <stdint.h>

#define PR_CHANNEL_FILE "channel.ndjson"

struct pr_channel_sum {
    struct pr_buf rates;     /* a JSON object for result.json, or empty */
    uint64_t lines;          /* all but empty ones */
    uint64_t params;         /* times that one was set */
    uint64_t machine;        /* rows about the machine, not kept */
    uint64_t dropped;        /* rates of too many tasks, not kept */
    uint64_t bad;            /* no JSON object, too long */
    uint64_t first_bad_line; /* 0: the file itself */
    struct pr_err first_bad;
};

/* Reads the whole of it in bounded memory, and calls param for each parameter
 * that the lines set, as for the log's lines. A file that is not there is an
 * empty one; one that cannot be read is bad, as its child may have made it
 * so. Free ret->rates with pr_buf_free. */
int pr_channel_collect(const char *path, pr_log_param *param, void *ctx,
                       struct pr_channel_sum *ret,
                       struct pr_err *err) PR_MUST_CHECK;

/* The same for bytes that come in pieces of any size. param may be NULL. Free
 * with pr_channel_scanner_free; name is borrowed. */
struct pr_channel_scanner;
struct pr_channel_scanner *pr_channel_scanner_new(const char *name,
                                                  pr_log_param *param,
                                                  void *ctx); /* NULL: memory */
int pr_channel_scanner_feed(struct pr_channel_scanner *s, const char *bytes,
                            size_t len, struct pr_err *err) PR_MUST_CHECK;
int pr_channel_scanner_finish(struct pr_channel_scanner *s,
                              struct pr_channel_sum *ret,
                              struct pr_err *err) PR_MUST_CHECK;
void pr_channel_scanner_free(struct pr_channel_scanner *s);

/* What its last lines say of progress: share done (negative: unknown) and
 * words ("" for none). False: nothing. Looks at the last few kilobytes. */
bool pr_channel_progress(const char *path, double *ret_done,
                         char words[static 160]);

/* ---- rates */

/*
 * Rates that a child reported, by task and units. Count, mean, deviation and
 * the extremes are exact however many there are; quartiles are exact up to
 * PR_CHANNEL_RATES_EXACT values of a task, and from as many drawn evenly from
 * all of them afterwards.
 */
enum {
    PR_CHANNEL_RATES_EXACT = 16384,
    PR_CHANNEL_RATES_TASKS = 64, /* at most; 128 KB each when full */
    PR_CHANNEL_RATES_NAME = 64,  /* bytes of a task's name, or units; cut */
};

enum { PR_CHANNEL_RATES_TITLE = 2 * PR_CHANNEL_RATES_NAME + 8 };

struct pr_channel_rate_series {
    char task[PR_CHANNEL_RATES_NAME], units[PR_CHANNEL_RATES_NAME];
    char title[PR_CHANNEL_RATES_TITLE]; /* no two have the same */
    uint64_t count;
    double mean, m2; /* m2: sum of squared distances from the mean */
    double min, max;
    double *values;
    size_t cap; /* of values */
    struct pr_rng rng;
};

struct pr_channel_rates {
    struct pr_channel_rate_series *series;
    size_t count, cap;
};

/* task and units are text of that many bytes. 1: kept; 0: too many tasks;
 * PR_E_NOMEM. */
int pr_channel_rates_add(struct pr_channel_rates *r, const char *task,
                         size_t task_len, const char *units, size_t units_len,
                         double rate);

/* {"train": {"count": 60, "mean": …}}; nothing when there are none. Puts the
 * values in order, so it comes last. */
void pr_channel_rates_write(struct pr_channel_rates *r, struct pr_buf *out);

/* Of one of them; after pr_channel_rates_write. */
void pr_channel_rates_close(struct pr_channel_rates *r);

/* ---- one line */

/* Taken apart for both the reader of results and the one of progress. */
struct pr_channel_row {
    const struct pr_value *data;     /* the object; NULL: no data */
    const struct pr_value *rate;     /* as the next: NULL when there is none */
    const struct pr_value *progress; /* a number, or a list of two */
    const struct pr_value *task, *units, *text; /* text */
    const char *event; /* of milabench's lines about a run; NULL: data */
    bool machine;      /* about the machine: gpudata and the like */
    bool stamped;      /* "time" in it is when, not how long */
};

/* Looks at a line's object, in milabench's wrapping or without. Borrowed. */
struct pr_channel_row pr_channel_row_read(const struct pr_value *line);

#endif
