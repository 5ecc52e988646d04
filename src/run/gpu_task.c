/* Tasks of GPU systems: the data they need, and their logs read and put in
 * their place. */
#include "run/gpu_task.h"

#include "base/file.h"
#include "base/json/json.h"
#include "base/text.h"
#include "record/gpu_task_log.h"
#include "run/plan_jobs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- a system's file: ten lines, in Lambda's order */

/* From what env.json knows; what it does not know is left empty. */
static const struct pr_value *gpu_task_env_value(const struct pr_value *v,
                                                 const char *a, const char *b)
{
    v = v ? pr_get(v, a) : NULL;
    return v && b ? pr_get(v, b) : v;
}

static void gpu_task_write_line(struct pr_buf *out, const char *key,
                                const struct pr_value *v, bool underlined)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(4096);

    if (v)
        pr_value_write_text(&text, v);
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] == '\n' || (underlined && text.data[i] == ' '))
            text.data[i] = '_';
    pr_buf_printf(out, "%s: %s\n", key, text.len ? text.data : "");
}

/* "23Gi" */
static void gpu_task_write_memory(struct pr_buf *out,
                                  const struct pr_value *bytes)
{
    double gib = bytes && pr_value_is_number(bytes)
                     ? pr_value_number(bytes) / (1024.0 * 1024 * 1024)
                     : 0;

    pr_buf_printf(out, "CPU Memory: %.0fGi\n", gib);
}

static void put_gpu(struct pr_buf *out, const struct pr_value *env)
{
    const struct pr_value *gpus = pr_get(env, "gpus");
    const struct pr_value *gpu =
        gpus && gpus->kind == PR_LIST && gpus->len ? &gpus->items[0] : NULL;
    const struct pr_value *bytes =
        gpu_task_env_value(gpu, "memory_bytes", NULL);

    gpu_task_write_line(out, "GPU", gpu_task_env_value(gpu, "name", NULL),
                        true);
    if (bytes && pr_value_is_number(bytes))
        pr_buf_printf(out, "GPU Memory: %.0f_MiB\n",
                      pr_value_number(bytes) / (1024.0 * 1024));
    else
        pr_buf_str(out, "GPU Memory: \n");
    gpu_task_write_line(out, "NVIDIA driver",
                        gpu_task_env_value(gpu, "driver_version", NULL), false);
}

/* The system's file, as text: ten lines of Lambda's form, from env.json. */
static void gpu_task_write_system(const struct pr_value *env,
                                  struct pr_buf *out)
{
    gpu_task_write_line(out, "CPU", gpu_task_env_value(env, "cpu", "model"),
                        false);
    gpu_task_write_memory(out,
                          gpu_task_env_value(env, "memory", "total_bytes"));
    put_gpu(out, env);
    gpu_task_write_line(out, "CUDA Version",
                        gpu_task_env_value(env, "versions", "cuda"), false);
    gpu_task_write_line(out, "CUDNN Version",
                        gpu_task_env_value(env, "versions", "cudnn"), false);
    gpu_task_write_line(out, "Motherboard",
                        gpu_task_env_value(env, "dmi", "board_name"), false);
    gpu_task_write_line(out, "OS", pr_get(env, "distribution"), false);
    gpu_task_write_line(out, "PyTorch Version",
                        gpu_task_env_value(env, "versions", "pytorch"), false);
}

/* ---- what systems/lambda-tasks.yaml says of the data of a plan's tasks */

enum { STOP = 1 }; /* the plan is not about tasks */

struct search {
    struct pr_arena *arena;
    struct pr_gpu_tasks tasks;
    bool any;
    struct pr_task_need *first, **end;
};

static bool holds_something(const char *path, struct pr_arena *a)
{
    const char **names;
    size_t n = 0;

    return !pr_folder_names(path, NULL, a, &names, &n, NULL) && n > 0;
}

/* ---- sets that are made */

/* The job's parameters with what makes the set over them. */
static int task_data_merge_params(const struct pr_value *old,
                                  const struct pr_gpu_dataset *d,
                                  struct pr_arena *a, struct pr_value *ret)
{
    struct pr_member *members =
        PR_ARENA_ARRAY(a, struct pr_member, old->len + d->make->len + 1);
    uint32_t n = 0;

    if (!members)
        return PR_E_NOMEM;
    for (uint32_t i = 0; i < old->len; i++)
        if (strcmp(old->members[i].key, "dataset.data_folder") != 0 &&
            !pr_get(d->make, old->members[i].key))
            members[n++] = old->members[i];
    for (uint32_t i = 0; i < d->make->len; i++)
        members[n++] = d->make->members[i];
    members[n++] = (struct pr_member){.key = "dataset.data_folder",
                                      .key_len = 19,
                                      .value = pr_str(d->folder)};
    *ret = (struct pr_value){.kind = PR_MAP, .len = n, .members = members};
    return PR_OK;
}

static int task_data_make_set(struct search *s, const struct pr_job *job,
                              struct pr_task_need *need, struct pr_err *err)
{
    struct pr_plan_dataset *d = PR_ARENA_NEW(s->arena, struct pr_plan_dataset);
    struct pr_value all, params;
    int rc;

    if (!d ||
        task_data_merge_params(job->params, need->data, job->arena, &all) ||
        !pr_value_copy(s->arena, &all, &params))
        return pr_fail_nomem(err);
    snprintf(d->id, sizeof d->id, "%s", job->id);
    rc = pr_dataset_init(&d->set, &params, s->arena, err);
    if (!rc)
        rc = pr_storage_read_opts(&params, s->arena, &d->storage, err);
    need->set = d;
    return rc;
}

/* ---- needs */

static int task_data_add_need(struct search *s, const struct pr_job *job,
                              const struct pr_gpu_dataset *data,
                              const char *task, struct pr_err *err)
{
    struct pr_task_need *n = PR_ARENA_NEW(s->arena, struct pr_task_need);
    const struct pr_value *v = pr_get(job->params, "storage.storage_root");
    const char *root = v && v->kind == PR_STR && v->len ? v->s : ".";
    bool slash = root[strlen(root) - 1] == '/';

    if (!n)
        return pr_fail_nomem(err);
    n->data = data;
    n->path = pr_arena_printf(s->arena, "%s%s%s", root, slash ? "" : "/",
                              data->folder);
    n->tasks = pr_arena_str(s->arena, task);
    if (!n->path || !n->tasks)
        return pr_fail_nomem(err);
    n->there = holds_something(n->path, s->arena);
    *s->end = n;
    s->end = &n->next;
    return data->make ? task_data_make_set(s, job, n, err) : PR_OK;
}

/* Whether a list of words with ", " between has one. */
static bool task_data_has_word(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = list; len && (at = strstr(at, word)); at += len)
        if ((at == list || at[-1] == ' ') && (!at[len] || at[len] == ','))
            return true;
    return false;
}

static int task_data_merge_need(struct search *s, const struct pr_job *job,
                                const struct pr_gpu_dataset *data,
                                const char *task, struct pr_err *err)
{
    struct pr_task_need *n = s->first;

    while (n && n->data != data)
        n = n->next;
    if (!n)
        return task_data_add_need(s, job, data, task, err);
    if (task_data_has_word(n->tasks, task))
        return PR_OK;
    n->tasks = pr_arena_printf(s->arena, "%s, %s", n->tasks, task);
    return n->tasks ? PR_OK : pr_fail_nomem(err);
}

/* Without a command it is the native equivalent, which makes up its data where
 * none of ours is there. */
static bool task_data_has_command(const struct pr_job *job)
{
    const struct pr_value *v = pr_get(job->params, "exp.command");

    return v && (v->kind == PR_LIST || v->kind == PR_STR) && v->len > 0;
}

static int task_data_add_job(void *ctx, struct pr_job *job, struct pr_err *err)
{
    struct search *s = ctx;
    const struct pr_value *name = pr_get(job->params, "task.name");
    const struct pr_gpu_task *task;
    int rc = PR_OK;

    if (!name || name->kind != PR_STR || !name->len)
        return s->any ? PR_OK : STOP;
    if (!s->any)
        rc = pr_gpu_tasks_load(s->arena, &s->tasks, err);
    s->any = true;
    task = rc ? NULL : pr_gpu_task_find(&s->tasks, name->s);
    for (size_t i = 0; task && !rc && i < task->data_count; i++)
        if (task->data[i]->make || task_data_has_command(job))
            rc = task_data_merge_need(s, job, task->data[i], name->s, err);
    return rc;
}

int pr_plan_task_data(struct pr_plan *p, struct pr_arena *a, bool *ret_tasks,
                      struct pr_task_need **ret, struct pr_err *err)
{
    struct search s = {.arena = a};
    int rc;

    s.end = &s.first;
    rc = pr_plan_each_job(p, NULL, task_data_add_job, &s, err);
    *ret_tasks = s.any;
    *ret = s.first;
    return rc == STOP ? PR_OK : rc;
}

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
    gpu_task_write_system(&root, &text);
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
