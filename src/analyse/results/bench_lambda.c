/*
 * Logs of Lambda's tasks, SYSTEM/TASK/DATE.txt: what the list of tasks says of
 * their lines (catalog/gpu_tasks.h), and what lies beside them.
 */
#include "analyse/results/bench_lines.h"
#include "base/file.h"
#include "record/gpu_task_log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A log is held as a whole; of a larger one the end. */
enum { MAX_LOG = 64 << 20, MAX_PARA = 4096 };

/* The folder that path is in, count levels up; its name in out. */
static void get_parent_name(const char *path, unsigned count,
                            char out[static 256])
{
    const char *end = strrchr(path, '/'), *start;

    out[0] = '\0';
    for (; end && count > 1; count--) {
        const char *p = end;
        while (p > path && p[-1] != '/')
            p--;
        end = p > path ? p - 1 : NULL;
    }
    if (!end)
        return;
    for (start = end; start > path && start[-1] != '/'; start--)
        ;
    snprintf(out, 256, "%.*s", (int)(end - start < 255 ? end - start : 255),
             start);
}

bool pr_lambda_is_task_log(const char *path)
{
    size_t n = strlen(path);
    char name[256];

    get_parent_name(path, 1, name);
    return strncmp(name, "PyTorch_", 8) == 0 && n > 4 &&
           strcmp(path + n - 4, ".txt") == 0;
}

int pr_lambda_log_feed(struct pr_buf *log, const char *bytes, size_t len,
                       struct pr_err *err)
{
    log->max = (size_t)MAX_LOG * 2;
    if (len > MAX_LOG) {
        bytes += len - MAX_LOG;
        len = MAX_LOG;
    }
    if (log->len + len > MAX_LOG) { /* the last line is what counts */
        size_t drop = log->len > MAX_LOG / 2 ? log->len - MAX_LOG / 2 : 0;
        memmove(log->data, log->data + drop, log->len - drop);
        log->len -= drop;
    }
    if (len)
        pr_buf_add(log, bytes, len);
    return pr_buf_ok(log) ? PR_OK : pr_fail_nomem(err);
}

/* The list is read once for each thread; without it there are no figures. */
static int lambda_find_task(struct pr_results_reader *r, const char *name,
                            const struct pr_gpu_task **ret, struct pr_err *err)
{
    if (!r->tasks) {
        struct pr_gpu_tasks *t = PR_ARENA_NEW(r->arena, struct pr_gpu_tasks);
        struct pr_err why = {0};
        int rc = t ? pr_gpu_tasks_load(r->arena, t, &why) : PR_E_NOMEM;

        if (rc == PR_E_NOMEM)
            return pr_fail_nomem(err);
        if (rc)
            pr_results_add_warning(r, &why);
        r->tasks = t;
    }
    *ret = pr_gpu_task_find(r->tasks, name);
    return PR_OK;
}

/* benchmark.para beside the log. */
static int lambda_read_para(const char *path, struct pr_gpu_task_para *ret,
                            struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
    const char *slash = strrchr(path, '/'), *text;
    const char *para = a ? pr_arena_printf(a, "%.*sbenchmark.para",
                                           (int)(slash + 1 - path), path)
                         : NULL;
    size_t len;
    int rc;

    *ret = (struct pr_gpu_task_para){.there = false};
    if (!para)
        return pr_fail_nomem(err);
    rc = pr_file_read_in(NULL, para, MAX_PARA, a, &text, &len, NULL);
    if (rc == PR_OK)
        pr_gpu_task_para_read(text, len, ret);
    return rc == PR_E_NOMEM ? pr_fail_nomem(err) : PR_OK;
}

static int lambda_put_int(struct pr_results_reader *r, const char *key,
                          int64_t i, struct pr_err *err)
{
    struct pr_value v = pr_int(i);

    return pr_results_row_put(r, key, strlen(key), &v, err);
}

static int lambda_put_names(struct pr_results_reader *r, const char *path,
                            const char *task, const struct pr_gpu_task *known,
                            struct pr_err *err)
{
    char system[256];
    int rc;

    get_parent_name(path, 2, system);
    rc = pr_results_row_put_str(r, "exp.name", task, err);
    if (!rc && known)
        rc = pr_results_row_put_str(r, "exp.model_title", known->column, err);
    if (!rc)
        rc = pr_results_row_put_str(r, "exp.node_title", system, err);
    if (!rc)
        rc = pr_results_row_put_str(r, "exp.dtype", pr_gpu_task_precision(task),
                                    err);
    return rc;
}

/* What counts is the figure: logs of failed runs say DONE!, too. */
static int put_status(struct pr_results_reader *r,
                      const struct pr_gpu_task_reading *g, struct pr_err *err)
{
    bool ok = g->printed > 0;
    int rc = pr_results_row_put_str(r, "exp.status", ok ? "ok" : "failed", err);

    return rc || ok
               ? rc
               : pr_results_row_put_str(r, "exp.status_msg",
                                        pr_gpu_task_end_words(g->end), err);
}

static int lambda_put_measures(struct pr_results_reader *r,
                               const struct pr_gpu_task_para *para,
                               const struct pr_gpu_task_reading *g,
                               struct pr_err *err)
{
    int rc = PR_OK;

    if (para->has_batch)
        rc = lambda_put_int(r, "exp.effective_batch", para->batch, err);
    if (!rc && para->has_gpus)
        rc = lambda_put_int(r, "exp.num_gpus", para->gpus, err);
    if (!rc && g->printed > 0)
        rc = pr_results_row_put_float(r, "results.throughput", g->value, err);
    if (!rc && fabs(g->value - g->printed) > 1e-9 * g->printed)
        rc = pr_results_row_put_float(r, "results.throughput_printed",
                                      g->printed, err);
    if (!rc && g->steps)
        rc = lambda_put_int(r, "results.steps", (int64_t)g->steps, err);
    return rc;
}

int pr_lambda_log_put(const char *path, const struct pr_buf *log,
                      struct pr_results_reader *r, struct pr_err *err)
{
    static const struct pr_gpu_task none = {.batch_place = -1};
    const struct pr_gpu_task *task = NULL;
    struct pr_gpu_task_para para;
    struct pr_gpu_task_reading g;
    char name[256];
    int rc;

    get_parent_name(path, 1, name);
    rc = lambda_find_task(r, name, &task, err);
    if (!rc)
        rc = lambda_read_para(path, &para, err);
    if (rc)
        return rc;
    pr_gpu_task_log_read(task ? task : &none, log->data ? log->data : "",
                         log->len, &para, &g);
    rc = lambda_put_names(r, path, name, task, err);
    if (!rc)
        rc = put_status(r, &g, err);
    return rc ? rc : lambda_put_measures(r, &para, &g, err);
}
