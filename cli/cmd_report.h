/*
 * Reports and summaries of suites, for `report`, `summary` and the command
 * line of milarun.
 */
#ifndef PR_CLI_CMD_REPORT_H
#define PR_CLI_CMD_REPORT_H

#include "analyse/suite/suite.h"
#include "base/value.h"
#include "cli/cli.h"

/* A path with "~" and "~/…" replaced by the home directory. */
const char *config_path(struct pr_arena *a, const char *path);

/* What a report is asked for. Zeroed with price NAN: nothing. */
struct suite_ask {
    const char *path;           /* folder, summary, zip */
    const char *format;         /* text, json, csv, md; NULL: text */
    const char *weights;        /* a file, or JSON; NULL */
    const char *const *compare; /* files, folders or JSON */
    size_t compare_count;
    double price; /* NAN: none */
    const char *title;
    const char *system; /* of GPU systems, which; NULL */
    const char *html;   /* a file to write; NULL: none */
    bool penalise, compare_gpus, strict;
};

/* Warns of a run that has not come to its end. */
void print_unfinished(const char *path, const struct pr_run_unfinished *u);

/* milarun's summary of a folder, on stdout or to a file. */
int suite_summary(const char *path, const char *file,
                  struct pr_err *err) PR_MUST_CHECK;

#endif
