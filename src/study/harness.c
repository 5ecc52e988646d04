/* Measuring the floor: n experiments of `null` through the whole road. */
#include "study/harness.h"

#include "base/clock.h"
#include "prony/run.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int remove_harness_entry(const char *path, const struct stat *st,
                                int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int build_null_plan(struct pr_plan *p, struct pr_err *err)
{
    int rc = pr_plan_param(p, "exp.workload=\"null\"", err);

    return rc ? rc : pr_plan_build(p, err);
}

static int run_null_plan(const char *dir, unsigned n, double *ret_s,
                         struct pr_err *err)
{
    struct pr_plan_opts plan_opts = PR_PLAN_OPTS_INIT;
    struct pr_session_opts run_opts = PR_SESSION_OPTS_INIT;
    struct pr_plan *p;
    uint64_t start;
    int rc;

    plan_opts.repeat = n;
    p = pr_plan_new(&plan_opts);
    rc = p ? build_null_plan(p, err) : pr_fail_nomem(err);
    start = pr_clock_ns();
    if (!rc)
        rc = pr_session_start(p, dir, &run_opts, err);
    if (!rc)
        *ret_s = (double)(pr_clock_ns() - start) / 1e9 / n;
    pr_plan_free(p);
    return rc;
}

int pr_harness_measure_cost(const char *temp_dir, unsigned n, double *ret_s,
                            struct pr_err *err)
{
    char dir[2048];
    int rc;

    snprintf(dir, sizeof dir, "%s/prony-doctor.XXXXXX", temp_dir);
    if (!mkdtemp(dir))
        return pr_fail_errno(err, PR_E_IO, temp_dir, "cannot make a folder");
    rc = run_null_plan(dir, n, ret_s, err);
    (void)nftw(dir, remove_harness_entry, 16, FTW_DEPTH | FTW_PHYS);
    return rc;
}
