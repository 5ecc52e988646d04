/*
 * The workload `command`: any program. exp.command is a list of arguments, or
 * text split into arguments by our own rules; no shell is involved.
 */
#include "job/job.h"

static int command_prepare(struct pr_job *job, struct pr_start *ret,
                           struct pr_err *err)
{
    const struct pr_value *command = job->exp.command;
    struct pr_argv a;
    int rc = pr_argv_init(&a, job, err);

    if (!rc)
        rc = command->kind == PR_LIST
                 ? pr_argv_add_list(&a, "exp.command", command, err)
                 : pr_argv_add_text(&a, "exp.command", command->s, err);
    if (!rc)
        rc = pr_argv_add_list(&a, "exp.command", job->exp.args, err);
    if (!rc && !pr_argv_word_count(&a)) {
        pr_fail(err, PR_E_CONF, job->id, "exp.command is empty");
        return pr_hint(err, "for example -P exp.command='\"sleep 1\"'");
    }
    return rc ? rc : pr_argv_fill_start(&a, ret, err);
}

static const struct pr_honour honours[] = {
    {"exp.command", NULL, false},
    {"exp.args", NULL, false},
    {"exp.cwd", NULL, false},
    {"exp.docker_args", NULL, false},
    {"runtime.*", NULL, false},
    {"exp.gpus", NULL, false},
    {0},
};

const struct pr_workload pr_workload_command = {
    .abi = PR_WORKLOAD_ABI,
    .name = "command",
    .desc = "any program; lines __results.NAME__= JSON in its output are kept",
    .honours = honours,
    .program = true,
    .prepare = command_prepare,
};
