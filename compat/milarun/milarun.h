/* The program under the name `milarun`: its command line, on our own verbs. */
#ifndef PR_COMPAT_MILARUN_H
#define PR_COMPAT_MILARUN_H

#include "cli/cli.h"

/* Whether we are called by that name; then *ret_status is the exit status. */
bool milarun_called(int argc, char **argv, int *ret_status);

/* ---- its options, read by argparse's rules */

enum milarun_opt {
    M_OUT,
    M_DATAROOT,
    M_NAME, /* --experiment-name */
    M_JOB_ID,
    M_EXTRA,
    M_REPEAT,
    M_CGEXEC,
    M_DOWNLOAD,
    M_JOBS, /* --name */
    M_COMPARE,
    M_WEIGHTS,
    M_HTML,
    M_COMPARE_GPUS,
    M_PENALIZE,
    M_PRICE,
    M_TITLE,
    M_OPTS
};

enum milarun_verb { V_DATASET, V_RUN, V_RERUN, V_JOBS, V_SUMMARY, V_REPORT };

struct milarun_args {
    enum milarun_verb verb;
    const char *value[M_OPTS]; /* the last one given; NULL: none */
    signed char flag[M_OPTS];  /* 1: given, -1: --no-…, 0: neither */
    const char **jobs;         /* of --name */
    size_t job_count;
    const char **words; /* what is no option */
    size_t word_count;
    char **tail; /* after the first -- */
    int tail_count;
};

/* 0: read; 1: help was asked for and is printed; 2: an error was said. */
int milarun_args_read(struct pr_arena *a, int argc, char **argv,
                      struct milarun_args *ret);

#endif
