/*
 * The workload `framework`: the network of exp.model in exp.framework, by a
 * program of ours in that framework's language. It reads the network from
 * EXPERIMENT/model.json, expanded here, the model's own data, if it has some,
 * from batches.safetensors beside it, and everything else from params.json.
 */
#include "base/file.h"
#include "conf/share.h"
#include "workload/argv.h"
#include "workload/back_end.h"
#include "workload/job_model.h"
#include "workload/task_batches.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCHES "batches.safetensors"

bool pr_framework_is_there(const char *framework)
{
    return pr_back_end_find(framework) != NULL;
}

/* A whole path: the program may start in another folder. */
static int find_program(struct pr_job *job, const struct pr_back_end *b,
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
    return word ? pr_argv_word(a, word, err) : pr_fail_nomem(err);
}

/* "--NAME DIR/FILE". */
static int add_file(struct pr_argv *a, const char *name, const char *file,
                    struct pr_err *err)
{
    int rc = pr_argv_word(a, name, err);

    return rc ? rc : add_path(a, "", file, err);
}

/* ---- the model's own data */

static uint64_t steps_of(const struct pr_job *job, const struct pr_nn_opts *nn,
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
    rc = pr_task_batches_open(&b, m, (uint64_t)nn->seed,
                              (uint64_t)job->exp.replica_batch,
                              steps_of(job, nn, m), err);
    if (rc)
        return rc;
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

static int add_program(struct pr_argv *a, const struct pr_back_end *b,
                       struct pr_err *err)
{
    const char *program = NULL, *python;
    int rc = find_program(a->job, b, &program, err);

    if (rc)
        return rc;
    python = pr_back_end_python(b, a->job->runtime.python, a->job->arena);
    if (!python)
        return pr_fail_nomem(err);
    rc = pr_argv_word(a, python, err);
    return rc ? rc : pr_argv_word(a, program, err);
}

/* The program would say so as well, but only once it runs. */
static int check_back_end(const struct pr_job *job, const struct pr_back_end *b,
                          struct pr_err *err)
{
    if (!b) {
        pr_fail(err, PR_E_UNAVAIL, job->id, "there is no back-end for '%s'",
                job->exp.framework);
        return pr_hint(err, "exp.framework may be pytorch, tensorflow or "
                            "onnxruntime");
    }
    if (!b->trains && strcmp(job->exp.phase, "training") == 0) {
        pr_fail(err, PR_E_UNAVAIL, job->id, "%s infers, it does not train",
                b->title);
        return pr_hint(err, "-P exp.phase=inference");
    }
    return PR_OK;
}

/* A plan is checked before there is a folder: dir is "" then. */
static int prepare(struct pr_job *job, struct pr_start *ret, struct pr_err *err)
{
    const struct pr_back_end *b = pr_back_end_find(job->exp.framework);
    struct pr_model *model;
    struct pr_argv a;
    int rc = check_back_end(job, b, err);

    if (!rc)
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
        rc = add_batches(&a, model, err);
    if (!rc)
        rc = pr_argv_list(&a, "exp.args", job->exp.args, err);
    return rc ? rc : pr_argv_start(&a, ret, err);
}

const struct pr_workload pr_workload_framework = {
    .abi = PR_WORKLOAD_ABI,
    .name = "framework",
    .desc = "trains or infers exp.model in exp.framework: pytorch, "
            "tensorflow, onnxruntime",
    .options = &pr_nn_section,
    .prepare = prepare,
};
