/* Measuring the floor: n experiments of `null` through the whole road. */
#include "study/harness.h"

#include "base/buf.h"
#include "base/file.h"
#include "record/rundir.h"
#include "run/run.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int write_plan(const struct pr_rundir *d, unsigned n, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 20);
    char path[4096];
    int rc = pr_rundir_path(d, "plan.json", path, err);

    pr_buf_printf(&b,
                  "{\"schema\": \"prony.plan/1\", \"count\": %u, "
                  "\"experiments\": [",
                  n);
    for (unsigned i = 0; i < n; i++)
        pr_buf_printf(&b,
                      "%s\n{\"id\": \"%04u\", \"params\": "
                      "{\"exp.workload\": \"null\"}}",
                      i ? "," : "", i + 1);
    pr_buf_str(&b, "\n]}\n");
    if (!pr_buf_ok(&b))
        return pr_fail_nomem(err);
    return rc ? rc : pr_file_write(path, b.data, b.len, err);
}

static int run_in(const char *dir, unsigned n, double *ret_s,
                  struct pr_err *err)
{
    struct pr_run_summary sum;
    struct pr_rundir d;
    struct pr_run_opts opts = {.dir = &d, .retry = -1};
    int rc = pr_rundir_create(dir, &d, err);

    if (rc)
        return rc;
    rc = write_plan(&d, n, err);
    if (!rc)
        rc = pr_run(&opts, &sum, err);
    pr_rundir_close(&d);
    if (!rc)
        *ret_s = sum.elapsed_s / n;
    return rc;
}

int pr_harness_cost(const char *temp_dir, unsigned n, double *ret_s,
                    struct pr_err *err)
{
    char dir[2048];
    int rc;

    snprintf(dir, sizeof dir, "%s/prony-doctor.XXXXXX", temp_dir);
    if (!mkdtemp(dir))
        return pr_fail_errno(err, PR_E_IO, temp_dir, "cannot make a folder");
    rc = run_in(dir, n, ret_s, err);
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return rc;
}
