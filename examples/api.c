/*
 * The library: plans three experiments, runs them in the folder named on the
 * command line, and prints each event.
 *     cc api.c $(pkg-config --cflags --libs prony) -o api && ./api out
 */
#include <prony/run.h>

#include <stdio.h>

static void show(void *ctx, const char *line, size_t len)
{
    (void)ctx;
    fwrite(line, 1, len, stdout);
}

int main(int argc, char **argv)
{
    struct pr_plan_opts plan_opts = PR_PLAN_OPTS_INIT;
    struct pr_session_opts run_opts = PR_SESSION_OPTS_INIT;
    struct pr_plan *plan = pr_plan_new(&plan_opts);
    struct pr_err err = {0};
    int rc = plan && argc == 2 ? PR_OK : PR_E_USAGE;

    run_opts.event = show;
    if (!rc)
        rc = pr_plan_param(plan, "exp.command=[\"echo\", \"${n}\"]", &err);
    if (!rc)
        rc = pr_plan_variable(plan, "n=[1, 2, 3]", &err);
    if (!rc)
        rc = pr_plan_build(plan, &err);
    if (!rc)
        rc = pr_session_start(plan, argv[1], &run_opts, &err);
    if (rc)
        fprintf(stderr, "%s: %s\n", pr_code_text(rc), err.msg);
    pr_plan_free(plan);
    return pr_code_exit_status(rc);
}
