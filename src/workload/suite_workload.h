/*
 * A job of a suite: who runs it and with what arguments. A function of
 * milarun's is run by milarun where Python finds it, else by Prony's own
 * equivalent (catalog/milarun_tests.h).
 */
#ifndef PR_WORKLOAD_SUITE_WORKLOAD_H
#define PR_WORKLOAD_SUITE_WORKLOAD_H

#include "base/err.h"
#include "base/value.h"
#include "catalog/milarun_tests.h"
#include "workload/workload.h"

enum pr_suite_engine {
    PR_SUITE_COMMAND, /* exp.command */
    PR_SUITE_MILARUN,
    PR_SUITE_NATIVE,
};

/* The file in an experiment's folder that milarun itself writes. */
#define PR_SUITE_MILARUN_FILE "milarun.json"

struct pr_suite_call {
    struct pr_suite_opts suite;
    enum pr_suite_engine engine;
    struct pr_value args;    /* words, all of them */
    const char **prefix;     /* of suite.exec_prefix, up to NULL */
    const char *lost_prefix; /* its program, which is not there: then prefix is
                                empty; NULL: it is */
    const char *python;      /* of milarun */
    struct pr_buf *notes;    /* in: where the equivalent says what it does
                                otherwise, a line each; NULL: nowhere */
    struct pr_job native; /* the equivalent; its parameters are in the arena */
};

const char *pr_suite_engine_word(enum pr_suite_engine e); /* "native" */

/* The equivalent of a function with these arguments, a list of texts. Its data
 * is where PRONY_DATA says, else in the run directory. */
int pr_suite_make_work(const struct pr_suite_opts *suite, const char *run_dir,
                       const struct pr_value *args, struct pr_arena *a,
                       struct pr_milarun_work *ret, struct pr_buf *notes,
                       struct pr_err *err) PR_MUST_CHECK;

/* Decides; ret->notes is read. PR_E_UNAVAIL: nobody here can run it. */
int pr_suite_resolve(struct pr_job *job, struct pr_suite_call *ret,
                     struct pr_err *err) PR_MUST_CHECK;

/* ---- arguments of a job of a suite: those of the profile with those of the
 * command line laid over, and what they come to */

/* The words of one list after those of the other. Where a later word is --no-x,
 * an earlier --x goes away with its value, and where it is --x an earlier
 * --no-x: argparse refuses to have both. A list of texts, in the arena. */
int pr_suite_merge_args(const struct pr_value *first,
                        const struct pr_value *later, struct pr_arena *a,
                        struct pr_value *ret, struct pr_err *err) PR_MUST_CHECK;

/* Options of such a list by name, as milarun's results have them:
 * {"batch_size": 16, "cuda": true}. Numbers by Python's rules, --no-x is x:
 * false, the last one of a name counts, what is no option is left out. */
int pr_suite_read_options(const struct pr_value *args, struct pr_arena *a,
                          struct pr_value *ret,
                          struct pr_err *err) PR_MUST_CHECK;

#endif
