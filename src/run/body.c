/*
 * The inside of an experiment that starts no program: a forked child of the
 * keeper reads params.json and lets the workload run. Its words and errors go
 * to the log, where stdout and stderr already point.
 */
#include "base/file.h"
#include "base/json/json.h"
#include "run/attempt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMS = 64 << 20 };

static int run_job(const char *dir, struct pr_arena *a, struct pr_err *err)
{
    const char *id = strrchr(dir, '/');
    const struct pr_workload *w;
    struct pr_json_in in = {0};
    struct pr_value params;
    struct pr_job job;
    char path[4096];
    int rc;

    snprintf(path, sizeof path, "%s/params.json", dir);
    in.name = path;
    rc = pr_file_read(path, MAX_PARAMS, a, &in.text, &in.len, err);
    if (!rc)
        rc = pr_json_read(&in, a, &params, NULL, err);
    if (!rc)
        rc = pr_job_init(&job, id ? id + 1 : dir, dir, &params, a, err);
    if (!rc)
        rc = pr_workload_find_for_job(&job, &w, err);
    if (!rc)
        rc = w->run(&job, err);
    return rc;
}

/* Processes of mpirun are also told to end when another one has failed, which
 * is the one with something to say. */
static bool has_words(int rc)
{
    return rc && (rc != PR_E_INTR || !getenv("OMPI_COMM_WORLD_RANK"));
}

int pr_experiment_body(void *ctx, const char *arg)
{
    struct pr_arena *a = pr_arena_new(65536);
    struct pr_err err = {0};
    int rc = a ? run_job(arg, a, &err) : pr_fail_nomem(&err);

    (void)ctx;
    if (has_words(rc))
        dprintf(2, "prony: %s%s%s%s%s\n", err.where, *err.where ? ": " : "",
                err.msg, *err.hint ? "; " : "", err.hint);
    if (rc) /* a thread that hangs may still use it */
        return pr_code_exit_status(rc);
    pr_arena_free(a);
    return 0;
}
