/*
 * The channel of an experiment: channel.ndjson in its folder, to which the
 * child appends JSON lines through a descriptor given in its environment
 * (PRONY_FD; DATA_FD for milabench's instruments), or by its path
 * (PRONY_CHANNEL) where descriptors do not reach, as in a container.
 * docs/channel.md has the lines. Written by strangers: nothing is trusted.
 */
#ifndef PR_RECORD_CHANNEL_H
#define PR_RECORD_CHANNEL_H

#include "base/err.h"
#include "base/value.h"
#include "record/logline.h"

#include <stdbool.h>

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

#endif
