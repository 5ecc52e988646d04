/*
 * The workload `framework`: the network of exp.model in exp.framework, by a
 * program of ours in that framework's language. It reads the network from
 * EXPERIMENT/model.json, expanded here, and everything else from params.json
 * beside it.
 */
#include "base/file.h"
#include "conf/share.h"
#include "workload/argv.h"
#include "workload/job_model.h"
#include "workload/python.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A framework, its program in the share folder, and what it imports. */
struct back_end {
    const char *framework, *program, *module, *python_var;
};
static const struct back_end back_ends[] = {
    {"pytorch", "python/prony/backends/pytorch.py", "torch",
     "PRONY_TORCH_PYTHON"},
};

static const struct back_end *find_back_end(const char *framework)
{
    for (size_t i = 0; i < sizeof back_ends / sizeof *back_ends; i++)
        if (strcmp(back_ends[i].framework, framework) == 0)
            return &back_ends[i];
    return NULL;
}

bool pr_framework_is_there(const char *framework)
{
    return find_back_end(framework) != NULL;
}

/* A whole path: the program may start in another folder. */
static int find_program(struct pr_job *job, const struct back_end *b,
                        const char **ret, struct pr_err *err)
{
    const char *share = pr_share_dir(job->arena), *path;
    char whole[PATH_MAX];

    if (!share)
        return pr_fail(err, PR_E_UNAVAIL, job->id,
                       "the files that come with prony were not found");
    path = pr_arena_printf(job->arena, "%s/%s", share, b->program);
    if (!path)
        return pr_fail_nomem(err);
    if (access(path, R_OK) != 0 || !realpath(path, whole))
        return pr_fail_errno(err, PR_E_UNAVAIL, path, "cannot read");
    *ret = pr_arena_str(job->arena, whole);
    return *ret ? PR_OK : pr_fail_nomem(err);
}

static int write_model(struct pr_job *job, const struct pr_model *m,
                       struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);
    const char *path = pr_arena_printf(job->arena, "%s/model.json", job->dir);
    struct pr_jb jb;

    pr_jb_init(&jb, &text, 0);
    pr_model_json(m, &jb);
    pr_buf_char(&text, '\n');
    if (!path || !pr_buf_ok(&text))
        return pr_fail_nomem(err);
    return pr_file_write(path, text.data, text.len, err);
}

/* "--NAME DIR/FILE", whatever folder the program will start in. */
static int add_file(struct pr_argv *a, const char *name, const char *file,
                    struct pr_err *err)
{
    const char *dir = a->job->dir, *path;
    char whole[PATH_MAX];
    int rc = pr_argv_word(a, name, err);

    if (rc)
        return rc;
    if (*dir && realpath(dir, whole))
        dir = whole;
    path = pr_arena_printf(a->job->arena, "%s%s%s", dir, *dir ? "/" : "", file);
    return path ? pr_argv_word(a, path, err) : pr_fail_nomem(err);
}

static int add_program(struct pr_argv *a, const struct back_end *b,
                       struct pr_err *err)
{
    const char *program = NULL, *python;
    int rc = find_program(a->job, b, &program, err);

    if (rc)
        return rc;
    python = pr_python_with(b->module, a->job->runtime.python,
                            getenv(b->python_var), a->job->arena);
    if (!python)
        return pr_fail_nomem(err);
    rc = pr_argv_word(a, python, err);
    return rc ? rc : pr_argv_word(a, program, err);
}

/* A plan is checked before there is a folder: dir is "" then. */
static int prepare(struct pr_job *job, struct pr_start *ret, struct pr_err *err)
{
    const struct back_end *b = find_back_end(job->exp.framework);
    struct pr_model *model;
    struct pr_argv a;
    int rc;

    if (!b) {
        pr_fail(err, PR_E_UNAVAIL, job->id, "there is no back-end for '%s'",
                job->exp.framework);
        return pr_hint(err, "-P exp.framework=pytorch has one");
    }
    rc = pr_job_model(job, &model, err);
    if (!rc && *job->dir)
        rc = write_model(job, model, err);
    if (!rc)
        rc = pr_argv_init(&a, job, err);
    if (!rc)
        rc = add_program(&a, b, err);
    if (!rc)
        rc = add_file(&a, "--model", "model.json", err);
    if (!rc)
        rc = add_file(&a, "--params", "params.json", err);
    if (!rc)
        rc = pr_argv_list(&a, "exp.args", job->exp.args, err);
    return rc ? rc : pr_argv_start(&a, ret, err);
}

const struct pr_workload pr_workload_framework = {
    .abi = PR_WORKLOAD_ABI,
    .name = "framework",
    .desc = "trains or infers exp.model in exp.framework: pytorch",
    .options = &pr_nn_section,
    .prepare = prepare,
};
