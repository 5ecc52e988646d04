/*
 * The workload `framework`: the network of exp.model in exp.framework.
 * frameworks/NAME.yaml says how: by a program of ours in that framework's
 * language, or by a launcher of the user's (framework_script.c). A program of
 * ours reads the network from EXPERIMENT/model.json, expanded here, the model's
 * own data, if it has some, from batches.safetensors beside it, and everything
 * else from params.json.
 */
#include "workload/framework_workload.h"

#include "base/file.h"
#include "conf/read/bundled.h"
#include "job/job.h"
#include "native/task/task.h"
#include "workload/framework_script.h"
#include "workload/workload.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- finding an interpreter that has a package: importing PyTorch to find out
 * takes seconds, so folders are looked at instead; whoever is chosen says
 * itself what it lacks */

static bool python_has_match(const char *pattern)
{
    glob_t found = {0};
    bool ok = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;

    globfree(&found);
    return ok;
}

/* In PREFIX/lib/…; Debian has names of its own for these folders. */
static bool prefix_has(const char *prefix, const char *package)
{
    static const char *const places[] = {
        "lib/python3*/site-packages",
        "lib64/python3*/site-packages",
        "lib/python3*/dist-packages",
        "local/lib/python3*/dist-packages",
    };
    char pattern[PATH_MAX];

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int n = snprintf(pattern, sizeof pattern, "%s/%s/%s", prefix, places[i],
                         package);
        if (n > 0 && (size_t)n < sizeof pattern && python_has_match(pattern))
            return true;
    }
    return false;
}

/* The folders of $PYTHONPATH, separated by ':'. */
static bool path_has(const char *package)
{
    const char *at = getenv("PYTHONPATH");
    char path[PATH_MAX];

    while (at && *at) {
        size_t n = strcspn(at, ":");
        int len = snprintf(path, sizeof path, "%.*s/%s",
                           n < PATH_MAX ? (int)n : 0, at, package);

        if (n && len > 0 && (size_t)len < sizeof path &&
            access(path, R_OK) == 0)
            return true;
        at += n + (at[n] == ':');
    }
    return false;
}

static bool home_has(const char *package)
{
    const char *home = getenv("HOME");
    char prefix[PATH_MAX];
    int n = snprintf(prefix, sizeof prefix, "%s/.local", home ? home : "");

    return home && *home && n > 0 && (size_t)n < sizeof prefix &&
           prefix_has(prefix, package);
}

/* DIR/bin/python3 to DIR. False: it is not in such a folder. */
static bool cut_prefix(char *python)
{
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(python, '/');

        if (!slash || slash == python)
            return false;
        *slash = '\0';
    }
    return true;
}

static bool in_own_environment(const char *prefix)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/pyvenv.cfg", prefix);

    return n > 0 && (size_t)n < sizeof path && access(path, R_OK) == 0;
}

bool pr_python_has_package(const char *python, const char *package)
{
    char path[PATH_MAX], real[PATH_MAX];

    if (strchr(python, '/'))
        snprintf(path, sizeof path, "%s", python);
    else if (!pr_which(python, path))
        return false;
    if (access(path, X_OK) != 0)
        return false;
    if (path_has(package))
        return true;
    if (!realpath(path, real))
        return false;
    if (cut_prefix(path) && prefix_has(path, package))
        return true;
    /* What a virtual environment's interpreter links to is another one. */
    if (in_own_environment(path))
        return false;
    return home_has(package) || (cut_prefix(real) && prefix_has(real, package));
}

const char *pr_python_find_with(const char *package, const char *first,
                                const char *second, struct pr_arena *a)
{
    const char *share, *third = NULL;

    if (pr_python_has_package(first, package))
        return first;
    if (second && *second && pr_python_has_package(second, package))
        return second;
    share = pr_bundled_dir(a);
    if (share) {
        third = pr_arena_printf(a, "%s/build/venv/bin/python", share);
        if (!third)
            return NULL;
    }
    return third && pr_python_has_package(third, package) ? third : first;
}

/* ---- finding frameworks */

const char *pr_framework_find_python(const struct pr_framework *f,
                                     const char *first, struct pr_arena *a)
{
    return pr_python_find_with(f->module ? f->module : f->find_module, first,
                               f->python_var ? getenv(f->python_var) : NULL, a);
}

static int framework_set_detail(bool there, const char *detail,
                                const char **ret, struct pr_err *err)
{
    if (!detail)
        return pr_fail_nomem(err);
    *ret = detail;
    return there ? PR_FRAMEWORK_HERE : PR_FRAMEWORK_ABSENT;
}

static int native_here(struct pr_arena *a, const char **ret, struct pr_err *err)
{
    struct pr_err why = {0};
    char version[32] = "";
    bool there = pr_engine_is_there(version, &why);

    return framework_set_detail(there,
                                there ? pr_arena_printf(a, "oneDNN %s", version)
                                      : pr_arena_str(a, why.msg),
                                ret, err);
}

int pr_framework_find_installed(const struct pr_framework *f, const char *first,
                                struct pr_arena *a, const char **ret,
                                struct pr_err *err)
{
    const char *module = f->module ? f->module : f->find_module, *python;
    char path[PATH_MAX];

    if (f->kind == PR_FRAMEWORK_NATIVE)
        return native_here(a, ret, err);
    if (f->find_program && pr_which(f->find_program, path))
        return framework_set_detail(true, pr_arena_str(a, path), ret, err);
    if (module) {
        python = pr_framework_find_python(f, first, a);
        if (!python)
            return pr_fail_nomem(err);
        return pr_python_has_package(python, module)
                   ? framework_set_detail(true, python, ret, err)
                   : framework_set_detail(false, "in no Python looked at", ret,
                                          err);
    }
    if (f->find_program)
        return framework_set_detail(
            false, pr_arena_printf(a, "no '%s' on PATH", f->find_program), ret,
            err);
    *ret = "not looked for";
    return PR_FRAMEWORK_UNKNOWN;
}

const char *pr_framework_remedy(const struct pr_framework *f,
                                struct pr_arena *a)
{
    const char *how = f->remedy ? f->remedy : "see its own documentation";

    if (f->python_var)
        return pr_arena_printf(a,
                               "only exp.framework=%s needs it: %s, or set "
                               "%s",
                               f->name, how, f->python_var);
    return pr_arena_printf(a, "only exp.framework=%s needs it: %s", f->name,
                           how);
}

#define BATCHES "batches.safetensors"

/* A whole path: the program may start in another folder. */
static int framework_find_program(struct pr_job *job,
                                  const struct pr_framework *f,
                                  const char **ret, struct pr_err *err)
{
    bool own = *f->program == '/';
    const char *share = own ? "" : pr_bundled_dir(job->arena), *path;
    char whole[PATH_MAX];

    if (!share)
        return pr_fail(err, PR_E_UNAVAIL, job->id,
                       "the files that come with prony were not found");
    path = own ? f->program
               : pr_arena_printf(job->arena, "%s/%s", share, f->program);
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
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, &text, 0);
    pr_model_write_json(m, &jb);
    pr_buf_char(&text, '\n');
    if (!path || !pr_buf_ok(&text))
        return pr_fail_nomem(err);
    return pr_file_write_later(path, text.data, text.len, err);
}

/* START DIR/FILE as one word, whatever folder the program will start in. */
static int add_path(struct pr_argv *a, const char *start, const char *file,
                    struct pr_err *err)
{
    const char *dir = a->job->dir, *word;
    char whole[PATH_MAX];

    if (*dir && realpath(dir, whole))
        dir = whole;
    word = pr_arena_printf(a->job->arena, "%s%s%s%s", start, dir,
                           *dir ? "/" : "", file);
    return word ? pr_argv_add_word(a, word, err) : pr_fail_nomem(err);
}

/* "--NAME DIR/FILE". */
static int framework_add_file(struct pr_argv *a, const char *name,
                              const char *file, struct pr_err *err)
{
    int rc = pr_argv_add_word(a, name, err);

    return rc ? rc : add_path(a, "", file, err);
}

/* ---- the model's own data */

static uint64_t framework_count_steps(const struct pr_job *job,
                                      const struct pr_nn_opts *nn,
                                      const struct pr_model *m)
{
    uint64_t each, most = (uint64_t)nn->max_count;
    uint64_t steps = (uint64_t)job->exp.num_batches;

    if (__builtin_mul_overflow((uint64_t)job->exp.replica_batch, m->items,
                               &each))
        each = UINT64_MAX;
    if (most)
        steps = most / each + (most % each != 0);
    return (uint64_t)job->exp.num_warmup_batches + steps;
}

static int write_batches(const struct pr_job *job, const struct pr_nn_opts *nn,
                         const struct pr_model *m, struct pr_err *err)
{
    const char *path = pr_arena_printf(job->arena, "%s/" BATCHES, job->dir);
    struct pr_task_batches b;
    int rc;

    if (!path)
        return pr_fail_nomem(err);
    PR_TRY(pr_task_batches_open(&b, m, (uint64_t)nn->seed,
                                (uint64_t)job->exp.replica_batch,
                                framework_count_steps(job, nn, m), err));
    rc = pr_task_batches_save(&b, path, err);
    pr_task_batches_close(&b);
    return rc;
}

/* Where the model says what its data is, frameworks get the batches that the
 * native engine has. */
static int add_batches(struct pr_argv *a, const struct pr_model *m,
                       struct pr_err *err)
{
    struct pr_job *job = a->job;
    struct pr_nn_opts nn;
    int rc = pr_opt_fill(&pr_nn_section, job->params, job->arena, &nn, err);

    if (rc || *nn.data || *nn.batches || !pr_task_find(m->data) ||
        job->exp.replica_batch < 1)
        return rc;
    if (*job->dir)
        rc = write_batches(job, &nn, m, err);
    return rc ? rc : add_path(a, "nn.batches=", BATCHES, err);
}

/* In a container runtime.python is one of the image's. */
static int framework_add_program(struct pr_argv *a,
                                 const struct pr_framework *f,
                                 struct pr_err *err)
{
    struct pr_job *job = a->job;
    const char *program = NULL, *python = job->runtime.python;
    int rc = framework_find_program(job, f, &program, err);

    if (!rc && !job->exp.docker)
        python = pr_framework_find_python(f, python, job->arena);
    if (!rc && !python)
        return pr_fail_nomem(err);
    if (!rc)
        rc = pr_argv_add_word(a, python, err);
    return rc ? rc : pr_argv_add_word(a, program, err);
}

/* ---- which way */

static int framework_fail_unknown(const struct pr_job *job, struct pr_err *err)
{
    if (!*job->exp.framework) {
        pr_fail(err, PR_E_CONF, job->id, "exp.framework names no framework");
        return pr_hint(err, "for example -P exp.framework=pytorch");
    }
    pr_fail(err, PR_E_CONF, job->id, "there is no framework '%.128s'",
            job->exp.framework);
    return pr_framework_hint(job->exp.framework, err);
}

static int is_native(const struct pr_job *job, struct pr_err *err)
{
    pr_fail(err, PR_E_CONF, job->id,
            "exp.workload=framework is not for exp.framework=%.128s",
            job->exp.framework);
    return pr_hint(err, "leave exp.workload out");
}

/* The program would say so as well, but only once it runs. */
static int check_phase(const struct pr_job *job, const struct pr_framework *f,
                       struct pr_err *err)
{
    bool training = strcmp(job->exp.phase, "training") == 0;

    if (training ? f->trains : f->infers)
        return PR_OK;
    pr_fail(err, PR_E_UNAVAIL, job->id, "%s %s", f->title,
            training ? "infers, it does not train"
                     : "trains, it does not infer");
    return pr_hint(err, "-P exp.phase=%s", training ? "inference" : "training");
}

static int framework_check_place(const struct pr_job *job,
                                 const struct pr_framework *f,
                                 struct pr_err *err)
{
    if (job->exp.docker ? f->contained : f->bare)
        return PR_OK;
    pr_fail(err, PR_E_UNAVAIL, job->id, "%s runs %s", f->title,
            f->bare ? "on bare metal alone" : "in a container alone");
    return pr_hint(err, "-P exp.docker=%s", f->bare ? "false" : "true");
}

/* A plan is checked before there is a folder: dir is "" then. */
static int prepare_own(struct pr_job *job, const struct pr_framework *f,
                       struct pr_start *ret, struct pr_err *err)
{
    struct pr_model *model;
    struct pr_argv a;
    int rc = pr_job_read_model(job, &model, err);

    if (!rc && *job->dir)
        rc = write_model(job, model, err);
    if (!rc)
        rc = pr_argv_init(&a, job, err);
    if (!rc)
        rc = framework_add_program(&a, f, err);
    if (!rc)
        rc = framework_add_file(&a, "--model", "model.json", err);
    if (!rc)
        rc = framework_add_file(&a, "--params", "params.json", err);
    if (!rc)
        rc = add_batches(&a, model, err);
    if (!rc)
        rc = pr_argv_add_list(&a, "exp.args", job->exp.args, err);
    if (!rc)
        rc = pr_argv_fill_start(&a, ret, err);
    if (!rc)
        ret->runs_ours = true;
    return rc;
}

static int framework_prepare(struct pr_job *job, struct pr_start *ret,
                             struct pr_err *err)
{
    const struct pr_framework *f = NULL;
    int rc = pr_job_find_framework(job, &f, err);

    if (rc < 0)
        return rc;
    if (!rc) /* it needs no file, if the user brings everything */
        return pr_framework_get_setting(job, "launcher")
                   ? pr_framework_script_start(job, NULL, ret, err)
                   : framework_fail_unknown(job, err);
    if (f->kind == PR_FRAMEWORK_NATIVE)
        return is_native(job, err);
    rc = check_phase(job, f, err);
    if (!rc)
        rc = framework_check_place(job, f, err);
    if (rc)
        return rc;
    return pr_framework_is_user_program(job, f)
               ? pr_framework_script_start(job, f, ret, err)
               : prepare_own(job, f, ret, err);
}

const struct pr_workload pr_workload_framework = {
    .abi = PR_WORKLOAD_ABI,
    .name = "framework",
    .desc = "trains or infers exp.model in exp.framework: pytorch, "
            "tensorflow, onnxruntime, or what a launcher of yours starts",
    .options = &pr_nn_section,
    .prepare = framework_prepare,
};
