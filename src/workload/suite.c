/* Who runs a job of a suite. */
#include "workload/suite.h"

#include "base/file.h"
#include "job/job.h"
#include "workload/python.h"
#include "workload/suite_args.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char *pr_suite_engine_word(enum pr_suite_engine e)
{
    static const char *const words[] = {"command", "milarun", "native"};

    return words[e];
}

static int suite_fail_unavailable(const struct pr_job *job,
                                  const struct pr_suite_call *r,
                                  const char *why, struct pr_err *err)
{
    const char *what = r->suite.experiment;

    if (strcmp(r->suite.engine, "milarun") == 0)
        pr_fail(err, PR_E_UNAVAIL, job->id,
                "'%.100s' needs milarun, which '%.100s' does not find", what,
                r->python);
    else
        pr_fail(err, PR_E_UNAVAIL, job->id, "'%.80s' is not available: %.250s",
                what, why);
    return pr_hint(err,
                   "install milarun for '%.100s', or leave the job out "
                   "with --name",
                   r->python);
}

/* A plan has defaults for everything: what is not the default is somebody's
 * wish. But what is run is no job of a suite any more, and what was computed
 * from others was so before the equivalent set them. */
static bool suite_is_param_given(const struct pr_member *param)
{
    const struct pr_opt *opt = pr_opt_find(param->key, NULL);
    struct pr_value def = opt ? pr_opt_default(opt) : pr_null();

    return strcmp(param->key, "exp.workload") != 0 &&
           !(opt && opt->flags & PR_OPT_DERIVED) &&
           (!opt || !pr_value_equal(&def, &param->value));
}

static bool suite_is_key(const struct pr_member *m, const char *key)
{
    return strcmp(m->key, key) == 0;
}

/* Parameters of the equivalent laid under those the user gave. */
static int lay_under(struct pr_job *job, const struct pr_value *under,
                     struct pr_suite_call *ret, struct pr_err *err)
{
    const struct pr_value *own = job->params;
    struct pr_value *all = PR_ARENA_NEW(job->arena, struct pr_value);
    struct pr_member *m =
        PR_ARENA_ARRAY(job->arena, struct pr_member, own->len + under->len);
    uint32_t n = 0;

    if (!m || !all)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < own->len; i++) {
        const struct pr_value *v = pr_get(under, own->members[i].key);

        m[n] = own->members[i];
        if (v && !suite_is_param_given(&m[n]))
            m[n].value = *v;
        else if (suite_is_key(&m[n], "exp.workload"))
            m[n].value = pr_str("native");
        else if (suite_is_key(&m[n], "exp.args"))
            m[n].value = (struct pr_value){.kind = PR_LIST};
        n++;
    }
    for (uint32_t i = 0; i < under->len; i++)
        if (!pr_get(own, under->members[i].key))
            m[n++] = under->members[i];
    *all = (struct pr_value){.kind = PR_MAP, .len = n, .members = m};
    return pr_job_init(&ret->native, job->id, job->dir, all, job->arena, err);
}

/* Whole: folders of data that are not lie below it. */
static const char *data_root(const char *run_dir, struct pr_arena *a)
{
    const char *root = getenv("PRONY_DATA");

    if (!root)
        root = pr_arena_printf(a, "%s/data", run_dir);
    return root ? pr_folder_absolute(root, a) : NULL;
}

/* experiments/ID is cut off; before there is a run, it would be here. */
static const char *run_dir_of(const struct pr_job *job)
{
    size_t n = strlen(job->dir);

    for (int i = 0; i < 2; i++)
        while (n && job->dir[--n] != '/')
            ;
    return n ? pr_arena_copy(job->arena, job->dir, n) : ".";
}

int pr_suite_make_work(const struct pr_suite_opts *suite, const char *run_dir,
                       const struct pr_value *args, struct pr_arena *a,
                       struct pr_milarun_work *ret, struct pr_buf *notes,
                       struct pr_err *err)
{
    const char **argv = PR_ARENA_ARRAY(a, const char *, args->len + 1);
    const char *root = run_dir ? data_root(run_dir, a) : NULL;
    struct pr_milarun_ask ask = {.experiment = suite->experiment,
                                 .argv = argv,
                                 .argc = args->len,
                                 .dataroot = root,
                                 .devices = suite->devices->len,
                                 .half = pr_milarun_has_bfloat16()};

    if (!argv || !root)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < args->len; i++)
        argv[i] = args->items[i].s;
    return pr_milarun_make_work(&ask, a, ret, notes, err);
}

static int resolve_native(struct pr_job *job, struct pr_suite_call *ret,
                          struct pr_err *err)
{
    struct pr_milarun_work work;
    int rc = pr_suite_make_work(&ret->suite, run_dir_of(job), &ret->args,
                                job->arena, &work, ret->notes, err);

    if (!rc && work.missing)
        return suite_fail_unavailable(job, ret, work.missing, err);
    if (!rc)
        rc = lay_under(job, &work.params, ret, err);
    if (!rc)
        ret->native.frameworks = job->frameworks;
    return rc;
}

/* suite.exec_prefix, unless its program is not there: what a machine lacks of
 * comforts is no reason not to measure it. */
static int find_prefix(struct pr_job *job, struct pr_suite_call *r,
                       struct pr_err *err)
{
    const struct pr_value *v = r->suite.exec_prefix;
    struct pr_argv words = {.job = job};
    char path[PATH_MAX];
    int rc = v->kind == PR_LIST
                 ? pr_argv_add_list(&words, "suite.exec_prefix", v, err)
                 : pr_argv_add_text(&words, "suite.exec_prefix", v->s, err);

    if (!rc && words.count && !strchr(words.items[0], '/') &&
        !pr_which(words.items[0], path)) {
        r->lost_prefix = words.items[0];
        words = (struct pr_argv){.job = job};
    }
    if (!rc)
        rc = pr_argv_add_word(&words, NULL, err);
    r->prefix = words.items;
    return rc;
}

int pr_suite_resolve(struct pr_job *job, struct pr_suite_call *ret,
                     struct pr_err *err)
{
    int rc;

    *ret = (struct pr_suite_call){.python = job->runtime.python,
                                  .notes = ret->notes};
    rc = pr_opt_fill(&pr_suite_section, job->params, job->arena, &ret->suite,
                     err);
    if (!rc)
        rc = pr_suite_merge_args(ret->suite.arguments, job->exp.args,
                                 job->arena, &ret->args, err);
    if (!rc)
        rc = find_prefix(job, ret, err);
    if (rc)
        return rc;
    if (!*ret->suite.experiment) {
        pr_fail(err, PR_E_CONF, job->id, "suite.experiment is empty");
        return pr_hint(err, "it comes from a profile: docs/suites.md");
    }
    if (strcmp(ret->suite.experiment, "command") == 0) {
        ret->engine = PR_SUITE_COMMAND;
        return PR_OK;
    }
    ret->engine = PR_SUITE_MILARUN;
    if (strcmp(ret->suite.engine, "native") != 0 &&
        !pr_milarun_is_ours(ret->suite.experiment) &&
        pr_python_has_package(ret->python, "milarun"))
        return PR_OK;
    if (strcmp(ret->suite.engine, "milarun") == 0)
        return suite_fail_unavailable(job, ret, "", err);
    ret->engine = PR_SUITE_NATIVE;
    return resolve_native(job, ret, err);
}
