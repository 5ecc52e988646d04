/* The list of workloads and what they share. */
#include "workload/workload.h"

#include "workload/engine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WORKLOAD(name) extern const struct pr_workload pr_workload_##name;
#include "workload/workload_list.def"
#undef WORKLOAD

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

static bool has_command(const struct pr_job *job)
{
    const struct pr_value *c = job->exp.command;

    return c && c->len; /* text or a list */
}

/* What follows from the rest when exp.workload is empty; NULL: unknown. */
static const char *name_of(const struct pr_job *job)
{
    if (*job->exp.workload)
        return job->exp.workload;
    if (has_command(job))
        return "command";
    if (strcmp(job->exp.framework, "native") == 0)
        return "native";
    return pr_framework_is_there(job->exp.framework) ? "framework" : NULL;
}

static int nothing_to_run(const struct pr_job *job, struct pr_err *err)
{
    if (*job->exp.framework) {
        pr_fail(err, PR_E_UNAVAIL, job->id,
                "framework '%s' cannot be launched by this version",
                job->exp.framework);
        return pr_hint(err, "give the program to run with -P exp.command=…");
    }
    pr_fail(err, PR_E_CONF, job->id, "nothing to run");
    return pr_hint(err, "set exp.command, for example "
                        "-P exp.command='\"sleep 1\"'");
}

int pr_workload_of(const struct pr_job *job, const struct pr_workload **ret,
                   struct pr_err *err)
{
    const char *name = name_of(job);
    const struct pr_workload *w;
    char version[32];

    if (!name)
        return nothing_to_run(job, err);
    if (job->exp.docker)
        return pr_fail(err, PR_E_UNAVAIL, job->id,
                       "exp.docker=true: this version has no containers");
    w = pr_workload_find(name);
    if (!w && strcmp(name, "native") == 0 && !pr_engine_is_there(version, err))
        return PR_E_UNAVAIL;
    if (!w)
        return pr_fail(err, PR_E_UNAVAIL, job->id,
                       "this build has no workload '%s'", name);
    *ret = w;
    return PR_OK;
}

int pr_job_init(struct pr_job *job, const char *id, const char *dir,
                const struct pr_value *params, struct pr_arena *a,
                struct pr_err *err)
{
    int rc;

    *job = (struct pr_job){.id = id, .dir = dir, .params = params, .arena = a};
    rc = pr_opt_fill(&pr_exp_section, params, a, &job->exp, err);
    if (!rc)
        rc = pr_opt_fill(&pr_runtime_section, params, a, &job->runtime, err);
    return rc;
}

bool pr_job_is_off(const struct pr_job *job)
{
    static const char *const words[] = {"disabled", "inactive", "simulate"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(job->exp.status, words[i]) == 0)
            return true;
    return false;
}

static bool same_name(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");

    return strncmp(a, b, n) == 0 && b[n] == '=';
}

/* Lays NAME=value over the list; the list has room. */
static void lay_env(const char **env, size_t *count, const char *word)
{
    size_t i = 0;

    while (i < *count && !same_name(word, env[i]))
        i++;
    env[i] = word;
    *count += i == *count;
}

/* runtime.env.NAME to NAME=value. NULL: out of memory. */
static const char *env_word(struct pr_job *job, const char *name,
                            const struct pr_value *value)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);

    pr_text(&text, value);
    if (!pr_buf_ok(&text))
        return NULL;
    return pr_arena_printf(job->arena, "%s=%s", name,
                           text.data ? text.data : "");
}

int pr_job_env(struct pr_job *job, const char *const *extra, size_t extra_count,
               const char ***ret, struct pr_err *err)
{
    static const char prefix[] = "runtime.env.";
    size_t room = 1 + extra_count + job->params->len, count = 0;
    const char **env;

    for (char **e = environ; e && *e; e++)
        room++;
    env = PR_ARENA_ARRAY(job->arena, const char *, room);
    if (!env)
        return pr_fail_nomem(err);
    for (char **e = environ; e && *e; e++)
        env[count++] = *e;
    for (uint32_t i = 0; i < job->params->len; i++) {
        const struct pr_member *m = &job->params->members[i];
        const char *word;

        if (strncmp(m->key, prefix, sizeof prefix - 1) != 0)
            continue;
        word = env_word(job, m->key + sizeof prefix - 1, &m->value);
        if (!word)
            return pr_fail_nomem(err);
        lay_env(env, &count, word);
    }
    for (size_t i = 0; i < extra_count; i++)
        lay_env(env, &count, extra[i]);
    *ret = env;
    return PR_OK;
}

int pr_job_cost(struct pr_job *job, struct pr_cost *ret, struct pr_err *err)
{
    const struct pr_workload *w = NULL;
    struct pr_cost cost = {0};
    int rc = pr_workload_of(job, &w, err);

    if (!rc && w->estimate)
        rc = w->estimate(job, &cost, err);
    if (rc)
        return rc;
    cost.at_most_s = job->exp.timeout * (double)(job->exp.retry + 1);
    *ret = cost;
    return PR_OK;
}
