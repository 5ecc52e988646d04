/*
 * The workload `suite`: a job of a milarun profile. What is started is milarun
 * itself, the job's own command, or an equivalent of ours, which runs without a
 * program unless words are to stand before it.
 */
#include "job/job.h"
#include "native/replica/mpi.h"
#include "workload/suite.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int suite_add_words(struct pr_argv *a, const char *const *words,
                           size_t count, struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; i < count && !rc; i++)
        rc = pr_argv_add_word(a, words[i], err);
    return rc;
}

static int suite_add_all_words(struct pr_argv *a, const char *const *words,
                               struct pr_err *err)
{
    size_t n = 0;

    while (words[n])
        n++;
    return suite_add_words(a, words, n, err);
}

static int add_either(struct pr_argv *a, const char *name,
                      const struct pr_value *v, struct pr_err *err)
{
    return v->kind == PR_LIST ? pr_argv_add_list(a, name, v, err)
                              : pr_argv_add_text(a, name, v->s, err);
}

/* A path that holds in another folder, too. */
static const char *suite_absolute_path(struct pr_job *job, const char *path)
{
    char out[PATH_MAX];

    return pr_arena_str(job->arena, *path && realpath(path, out) ? out : path);
}

static int add_milarun(struct pr_argv *a, const struct pr_suite_call *r,
                       struct pr_err *err)
{
    struct pr_job *job = a->job;
    const char *data = getenv("MILARUN_DATAROOT");
    const char *dir = suite_absolute_path(job, job->dir);
    const char *name =
        pr_arena_printf(job->arena, "%s.%s", r->suite.name, r->suite.job);
    const char *out =
        dir ? pr_arena_printf(job->arena, "%s/" PR_SUITE_MILARUN_FILE, dir)
            : NULL;
    const char *words[] = {r->python,
                           "-c",
                           "from milarun.cli import main; main()",
                           "run",
                           r->suite.experiment,
                           "--experiment-name",
                           name,
                           "--out",
                           out,
                           "--dataroot",
                           data ? data : dir,
                           "--"};

    if (!name || !out)
        return pr_fail_nomem(err);
    return suite_add_words(a, words, sizeof words / sizeof *words, err);
}

/* `prony __rank DIR` is what a forked child would do. */
static int add_ourselves(struct pr_argv *a, struct pr_err *err)
{
    const char *words[] = {suite_absolute_path(a->job, "/proc/self/exe"),
                           PR_MPI_VERB,
                           suite_absolute_path(a->job, a->job->dir)};

    if (!words[0] || !words[2])
        return pr_fail_nomem(err);
    return suite_add_words(a, words, 3, err);
}

/* Our own equivalent: as its workload starts it, behind the prefix if there is
 * one. */
static int start_native(struct pr_argv *a, struct pr_suite_call *r,
                        struct pr_start *ret, struct pr_err *err)
{
    const struct pr_workload *w;
    int rc = pr_workload_find_for_job(&r->native, &w, err);

    if (!rc)
        rc = w->prepare(&r->native, ret, err);
    if (rc || (!pr_argv_word_count(a) && !ret->argv))
        return rc;
    rc = ret->argv ? suite_add_all_words(a, ret->argv, err)
                   : add_ourselves(a, err);
    if (!rc)
        rc = pr_argv_fill_start(a, ret, err);
    ret->runs_ours = true;
    return rc;
}

static int suite_prepare(struct pr_job *job, struct pr_start *ret,
                         struct pr_err *err)
{
    struct pr_suite_call r = {.notes = NULL};
    struct pr_argv a;
    int rc = pr_suite_resolve(job, &r, err);

    if (!rc)
        rc = pr_argv_init(&a, job, err);
    if (!rc)
        rc = suite_add_all_words(&a, r.prefix, err);
    if (!rc && r.engine == PR_SUITE_NATIVE)
        return start_native(&a, &r, ret, err);
    if (!rc)
        rc = r.engine == PR_SUITE_MILARUN
                 ? add_milarun(&a, &r, err)
                 : add_either(&a, "exp.command", job->exp.command, err);
    if (!rc && !pr_argv_word_count(&a))
        rc = pr_fail(err, PR_E_CONF, job->id, "exp.command is empty");
    if (!rc)
        rc = pr_argv_add_list(&a, "suite.arguments", &r.args, err);
    return rc ? rc : pr_argv_fill_start(&a, ret, err);
}

static int suite_run(struct pr_job *job, struct pr_err *err)
{
    struct pr_suite_call r = {.notes = NULL};
    const struct pr_workload *w;
    int rc = pr_suite_resolve(job, &r, err);

    if (!rc && r.engine != PR_SUITE_NATIVE)
        rc = pr_fail(err, PR_E_CONF, job->id,
                     "'%.100s' is not run by Prony itself", r.suite.experiment);
    if (!rc)
        rc = pr_workload_find_for_job(&r.native, &w, err);
    return rc ? rc : w->run(&r.native, err);
}

static int suite_estimate(struct pr_job *job, struct pr_cost *ret,
                          struct pr_err *err)
{
    struct pr_suite_call r = {.notes = NULL};
    const struct pr_workload *w;
    struct pr_err why = {0};

    /* What is not available costs nothing and is no reason to refuse the
     * others. */
    if (pr_suite_resolve(job, &r, &why) || r.engine != PR_SUITE_NATIVE ||
        pr_workload_find_for_job(&r.native, &w, &why) || !w->estimate)
        return PR_OK;
    return w->estimate(&r.native, ret, err);
}

/* Of milarun itself; an equivalent or a command has a list of its own. */
static const struct pr_honour honours[] = {
    {"exp.args", NULL, false},
    {"exp.gpus", NULL, false},
    {"runtime.*", NULL, false},
    {"suite.*", NULL, false},
    {0},
};

const struct pr_workload pr_workload_suite = {
    .abi = PR_WORKLOAD_ABI,
    .name = "suite",
    .desc = "a job of a suite: a function of milarun's or its equivalent, or a "
            "command",
    .options = &pr_suite_section,
    .honours = honours,
    .prepare = suite_prepare,
    .run = suite_run,
    .estimate = suite_estimate,
};
