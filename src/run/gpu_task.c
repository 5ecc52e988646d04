/* A task's log, read and put in its place. */
#include "run/gpu_task.h"

#include "base/file.h"
#include "base/json/json.h"
#include "base/text.h"
#include "record/gpu_task_log.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ENV = 16 << 20, MAX_SAME_SECOND = 1000 };

struct after {
    const struct pr_job *job;
    const char *log_path;
    struct pr_attempt *attempt;
    struct pr_task_opts opts;
    const struct pr_gpu_task *task;
    struct pr_gpu_task_para para;
    struct pr_gpu_task_reading found;
};

static void gpu_task_fail(struct pr_attempt *a, const char *why)
{
    if (a->status != PR_STATUS_OK)
        return; /* the first reason stands */
    a->status = PR_STATUS_FAILED;
    snprintf(a->reason, sizeof a->reason, "%.250s", why);
}

/* ---- the figure */

static void gpu_task_fail_no_measure(struct after *x)
{
    char why[512];

    snprintf(why, sizeof why,
             "exit status 0, but its log has no figure: %s%s%s",
             pr_gpu_task_end_words(x->found.end), *x->found.words ? ": " : "",
             x->found.words);
    gpu_task_fail(x->attempt, why);
}

static void gpu_task_write_number(struct pr_buf *out, const char *name,
                                  double f)
{
    pr_buf_printf(out, "__results.%s__= ", name);
    pr_float_write_repr(out, f);
    pr_buf_char(out, '\n');
}

static bool gpu_task_append_log(const char *path, const struct pr_buf *text)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    bool ok =
        fd >= 0 && pr_buf_ok(text) && pr_write_all(fd, text->data, text->len);

    if (fd >= 0)
        close(fd);
    return ok;
}

/* What a program might have said itself. */
static void gpu_task_write_measures(struct after *x, const struct pr_view *log)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(4096);
    const struct pr_gpu_task_reading *g = &x->found;

    if (log->len && log->data[log->len - 1] != '\n')
        pr_buf_char(&text, '\n');
    gpu_task_write_number(&text, "throughput", g->value);
    if (g->value != g->printed)
        gpu_task_write_number(&text, "throughput_printed", g->printed);
    if (g->steps)
        gpu_task_write_number(&text, "steps", (double)g->steps);
    pr_buf_printf(&text, "__results.unit__= \"%s\"\n", x->task->unit);
    if (!gpu_task_append_log(x->log_path, &text))
        gpu_task_fail(x->attempt, "its figures could not be added to its log");
}

/* ---- the folder of results */

static const char *results_of(const struct after *x)
{
    if (*x->opts.results)
        return x->opts.results;
    return pr_arena_printf(x->job->arena, "%s/../..", x->job->dir);
}

/* DD-MM-YYYY_HH-MM-SS, when it began; several in one second are counted. */
static const char *log_name(const struct after *x, const char *folder)
{
    time_t t = (time_t)(x->attempt->end.started_ns / 1000000000u);
    char stamp[64], more[32] = "";
    struct tm tm;

    if (!t)
        t = time(NULL);
    if (!localtime_r(&t, &tm) ||
        !strftime(stamp, sizeof stamp, "%d-%m-%Y_%H-%M-%S", &tm))
        return NULL;
    for (int i = 2; i < MAX_SAME_SECOND; i++) {
        const char *path =
            pr_arena_printf(x->job->arena, "%s/%s%s.txt", folder, stamp, more);
        if (!path || access(path, F_OK) < 0)
            return path;
        snprintf(more, sizeof more, "_%d", i);
    }
    return NULL;
}

static int gpu_task_write_log(struct after *x, const char *folder,
                              const struct pr_view *log, struct pr_err *err)
{
    const char *path = log_name(x, folder);
    struct pr_new_file f;
    int rc = path ? pr_file_create(path, &f, err) : pr_fail_nomem(err);

    if (rc)
        return rc;
    rc = pr_file_append(&f, log->data, log->len, err);
    if (!rc && log->len && log->data[log->len - 1] != '\n')
        rc = pr_file_append(&f, "\n", 1, err);
    if (!rc && x->attempt->status == PR_STATUS_OK)
        rc = pr_file_append(&f, "DONE!\n", 6, err);
    if (!rc)
        rc = pr_file_commit(&f, err);
    if (rc)
        pr_file_discard(&f);
    return rc;
}

static int write_para(const struct after *x, const char *folder,
                      struct pr_err *err)
{
    const char *path =
        pr_arena_printf(x->job->arena, "%s/benchmark.para", folder);
    char text[128];
    int n = snprintf(text, sizeof text,
                     "GLOBAL_BATCH %" PRId64 "\nGPU %" PRId64 "\n",
                     (int64_t)x->opts.global_batch, (int64_t)x->opts.gpus);

    return path ? pr_file_write(path, text, (size_t)n, err)
                : pr_fail_nomem(err);
}

static int write_system(const struct after *x, const char *folder,
                        struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(65536);
    struct pr_arena *a = x->job->arena;
    const char *env = pr_arena_printf(a, "%s/../../env.json", x->job->dir);
    const char *path = pr_arena_printf(a, "%s/sys_pytorch.txt", folder), *json;
    struct pr_json_in in = {.name = env};
    struct pr_value root = pr_null();
    int rc;

    if (!env || !path)
        return pr_fail_nomem(err);
    rc = pr_file_read(env, MAX_ENV, a, &json, &in.len, err);
    in.text = json;
    if (!rc)
        rc = pr_json_read(&in, a, &root, NULL, err);
    if (rc)
        return rc;
    pr_gpu_task_write_system(&root, &text);
    return pr_buf_ok(&text) ? pr_file_write(path, text.data, text.len, err)
                            : pr_fail_nomem(err);
}

static int gpu_task_write_results(struct after *x, const struct pr_view *log,
                                  struct pr_err *err)
{
    const char *top = results_of(x), *system, *folder;
    int rc;

    /* names come from configs of strangers, and are folders here */
    if (!pr_filename_is_safe(x->opts.system))
        return pr_fail(err, PR_E_CONF, "",
                       "task.system '%s' cannot be the name of a folder",
                       x->opts.system);
    if (!pr_filename_is_safe(x->opts.name))
        return pr_fail(err, PR_E_CONF, "",
                       "task.name '%s' cannot be the name of a folder",
                       x->opts.name);
    system = top ? pr_arena_printf(x->job->arena, "%s/%s", top, x->opts.system)
                 : NULL;
    folder = system
                 ? pr_arena_printf(x->job->arena, "%s/%s", system, x->opts.name)
                 : NULL;
    rc = folder ? pr_make_dirs(folder, err) : pr_fail_nomem(err);
    if (!rc)
        rc = write_para(x, folder, err);
    if (!rc)
        rc = write_system(x, system, err);
    return rc ? rc : gpu_task_write_log(x, folder, log, err);
}

/* ---- after an attempt */

/* What trains here says its figures itself. */
static bool gpu_task_has_command(const struct pr_job *job)
{
    const struct pr_value *c = job->exp.command;

    return c && (c->kind == PR_LIST || c->kind == PR_STR) && c->len > 0;
}

static bool gpu_task_prepare(struct after *x)
{
    struct pr_gpu_tasks *tasks =
        PR_ARENA_NEW(x->job->arena, struct pr_gpu_tasks);
    struct pr_err why = {0};

    if (pr_opt_fill(&pr_task_section, x->job->params, x->job->arena, &x->opts,
                    &why)) {
        gpu_task_fail(x->attempt, why.msg);
        return false;
    }
    if (!*x->opts.name || !gpu_task_has_command(x->job))
        return false;
    if (!tasks || pr_gpu_tasks_load(x->job->arena, tasks, &why)) {
        gpu_task_fail(x->attempt, tasks ? why.msg : "out of memory");
        return false;
    }
    x->task = pr_gpu_task_find(tasks, x->opts.name);
    if (!x->task)
        gpu_task_fail(x->attempt,
                      "task.name is not in systems/lambda-tasks.yaml");
    x->para = (struct pr_gpu_task_para){
        .there = true,
        .has_batch = x->opts.global_batch > 0,
        .batch = x->opts.global_batch,
        .has_gpus = true,
        .gpus = x->opts.gpus,
    };
    return x->task != NULL;
}

void pr_gpu_task_finish(const struct pr_job *job, const char *log_path,
                        struct pr_attempt *a)
{
    struct after x = {.job = job, .log_path = log_path, .attempt = a};
    struct pr_view log = {"", 0};
    struct pr_err why = {0};

    if (a->status == PR_STATUS_INTERRUPTED || !gpu_task_prepare(&x))
        return;
    if (pr_file_map(log_path, &log, &why))
        log = (struct pr_view){"", 0};
    pr_gpu_task_log_read(x.task, log.data ? log.data : "", log.len, &x.para,
                         &x.found);
    if (x.found.printed <= 0)
        gpu_task_fail_no_measure(&x);
    if (*x.opts.system && gpu_task_write_results(&x, &log, &why))
        gpu_task_fail(a, why.msg);
    if (a->status == PR_STATUS_OK) /* else the log keeps its last words */
        gpu_task_write_measures(&x, &log);
    if (log.len)
        pr_file_unmap(&log);
}
