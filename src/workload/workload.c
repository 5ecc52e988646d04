/*
 * The list of workloads and what they share, with the two smallest of them,
 * `null` and `command`.
 */
#include "workload/workload.h"

#include "base/clock.h"
#include "base/file.h"
#include "job/job.h"
#include "job/probe_job.h"
#include "workload/framework_script.h"

#include <stdio.h>
#include <string.h>

/* ---- asking for the engine, in builds with it and without */

#if PR_HAVE_ONEDNN

#include "nn/engine/net.h"

bool pr_engine_is_there(char version[static 32], struct pr_err *err)
{
    return pr_net_is_available(version, err);
}

#else

bool pr_engine_is_there(char version[static 32], struct pr_err *err)
{
    version[0] = '\0';
    pr_fail(err, PR_E_UNAVAIL, "oneDNN",
            "this build was made without it, native training needs it");
    pr_hint(err, "apt-get install libdnnl-dev, then make");
    return false;
}

#endif

/* ---- the workload `null`: does nothing, null.steps times. What a run of it
 * takes is the cost of the harness itself; it is also the template for a
 * workload that runs in a process of ours. */

static int null_prepare(struct pr_job *job, struct pr_start *ret,
                        struct pr_err *err)
{
    struct pr_null_opts o;
    int rc = pr_opt_fill(&pr_null_section, job->params, job->arena, &o, err);

    if (!rc)
        rc = pr_job_set_start_env(job, NULL, 0, ret, err);
    ret->argv = NULL;
    return rc;
}

static int null_run(struct pr_job *job, struct pr_err *err)
{
    struct pr_null_opts o;
    int rc = pr_opt_fill(&pr_null_section, job->params, job->arena, &o, err);
    uint64_t start = pr_now(job->clock), elapsed;
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(256);

    if (rc)
        return rc;
    for (int64_t i = 0; i < o.steps; i++)
        if (o.sleep > 0)
            pr_sleep_until(job->clock,
                           pr_now(job->clock) + (uint64_t)(o.sleep * 1e9),
                           NULL);
    elapsed = pr_now(job->clock) - start;
    pr_buf_printf(&out, "__results.steps__= %lld\n__results.time__= ",
                  (long long)o.steps);
    pr_float_write_repr(&out, (double)elapsed / 1e6);
    pr_buf_char(&out, '\n');
    if (!pr_buf_ok(&out) || !pr_write_all(1, out.data, out.len))
        return pr_fail_errno(err, PR_E_IO, "stdout", "cannot write");
    return PR_OK;
}

static int null_estimate(struct pr_job *job, struct pr_cost *ret,
                         struct pr_err *err)
{
    struct pr_null_opts o;

    PR_TRY(pr_opt_fill(&pr_null_section, job->params, job->arena, &o, err));
    ret->seconds = o.sleep * (double)o.steps;
    ret->seconds_known = true;
    return PR_OK;
}

static const struct pr_honour null_honours[] = {{"null.*", NULL, false}, {0}};

const struct pr_workload pr_workload_null = {
    .abi = PR_WORKLOAD_ABI,
    .name = "null",
    .desc = "nothing: what the harness itself costs",
    .options = &pr_null_section,
    .honours = null_honours,
    .prepare = null_prepare,
    .run = null_run,
    .estimate = null_estimate,
};

/* ---- the workload `command`: any program. exp.command is a list of arguments,
 * or text split into arguments by our own rules; no shell is involved. */

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

static const struct pr_honour command_honours[] = {
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
    .honours = command_honours,
    .program = true,
    .prepare = command_prepare,
};

#define WORKLOAD(name) extern const struct pr_workload pr_workload_##name;
#include "workload/workload_list.def"
#undef WORKLOAD

/* ---- the list */

static const struct pr_workload *const workloads[] = {
#define WORKLOAD(name) &pr_workload_##name,
#include "workload/workload_list.def"
#undef WORKLOAD
};

const struct pr_workload *pr_workload_at(size_t i)
{
    return i < sizeof workloads / sizeof *workloads ? workloads[i] : NULL;
}

const struct pr_workload *pr_workload_find(const char *name)
{
    const struct pr_workload *w;

    for (size_t i = 0; (w = pr_workload_at(i)); i++)
        if (strcmp(w->name, name) == 0)
            return w;
    return NULL;
}

static bool job_has_command(const struct pr_job *job)
{
    const struct pr_value *c = job->exp.command;

    return c && c->len; /* text or a list */
}

/* What follows from the rest when exp.workload is empty; NULL: nothing does. */
static int workload_find_name(const struct pr_job *job, const char **ret,
                              struct pr_err *err)
{
    const struct pr_framework *f;
    int rc;

    *ret = NULL;
    if (*job->exp.workload)
        *ret = job->exp.workload;
    else if (job_has_command(job))
        *ret = "command";
    else if (strcmp(job->exp.framework, "native") == 0)
        *ret = "native";
    if (*ret || !*job->exp.framework)
        return PR_OK;
    rc = pr_job_find_framework(job, &f, err);
    if (rc == 1)
        *ret = f->kind == PR_FRAMEWORK_NATIVE ? "native" : "framework";
    else if (!rc && pr_framework_get_setting(job, "launcher"))
        *ret = "framework";
    return rc < 0 ? rc : PR_OK;
}

static int nothing_to_run(const struct pr_job *job, struct pr_err *err)
{
    if (*job->exp.framework) {
        pr_fail(err, PR_E_CONF, job->id, "there is no framework '%.128s'",
                job->exp.framework);
        return pr_framework_hint(job->exp.framework, err);
    }
    pr_fail(err, PR_E_CONF, job->id, "nothing to run");
    return pr_hint(err, "set exp.command, for example "
                        "-P exp.command='\"sleep 1\"'");
}

static bool can_be_probed(const char *name)
{
    return strcmp(name, "native") == 0 || strcmp(name, "emulate") == 0;
}

static int not_probed(const struct pr_job *job, const char *name,
                      struct pr_err *err)
{
    (void)pr_fail(err, PR_E_CONF, job->id,
                  "probe.run is for native and emulated training, not for the "
                  "workload '%s'",
                  name);
    return pr_hint(err, "in a program of yours, prony/probe.h or the Python "
                        "package prony times the loop");
}

int pr_workload_find_for_job(const struct pr_job *job,
                             const struct pr_workload **ret, struct pr_err *err)
{
    const struct pr_workload *w;
    const char *name;
    char version[32];

    PR_TRY(workload_find_name(job, &name, err));
    if (!name)
        return nothing_to_run(job, err);
    w = pr_workload_find(name);
    if (!w && strcmp(name, "native") == 0 && !pr_engine_is_there(version, err))
        return PR_E_UNAVAIL;
    if (!w)
        return pr_fail(err, PR_E_UNAVAIL, job->id,
                       "this build has no workload '%s'", name);
    if (pr_job_needs_probe(job) && !can_be_probed(name))
        return not_probed(job, name, err);
    *ret = w;
    return PR_OK;
}

int pr_job_estimate_cost(struct pr_job *job, struct pr_cost *ret,
                         struct pr_err *err)
{
    const struct pr_workload *w = NULL;
    struct pr_cost cost = {0};
    int rc = pr_workload_find_for_job(job, &w, err);

    if (!rc && w->estimate)
        rc = w->estimate(job, &cost, err);
    if (rc)
        return rc;
    cost.at_most_s = job->exp.timeout * (double)(job->exp.retry + 1);
    *ret = cost;
    return PR_OK;
}
