/*
 * Logs of Lambda's tasks, SYSTEM/TASK/DATE.txt: what the list of tasks says of
 * their lines (catalog/gpu_tasks.h), and what lies beside them. As cells of a
 * table the last line that fits counts, and it is near the end: of a long log
 * only the end is read first, the rest when nothing was in it. As results
 * among others they come line by line.
 */
#include "analyse/gpu_systems.h"
#include "analyse/results/results_take.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "record/gpu_task_log.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    END_BYTES = 64 << 10,
    MAX_PARA = 4096,
    MAX_CELL_LOG = 1 << 30, /* larger ones are not looked at */
};

static int by_file(const void *a, const void *b)
{
    return strcmp(((const struct pr_gpu_systems_log *)a)->file,
                  ((const struct pr_gpu_systems_log *)b)->file);
}

static int read_para(const char *path, struct pr_arena *a,
                     struct pr_gpu_task_para *ret)
{
    const char *text;
    size_t len;
    int rc = pr_file_read_in(NULL, path, MAX_PARA, a, &text, &len, NULL);

    if (!rc)
        pr_gpu_task_para_read(text, len, ret);
    return rc;
}

/* ---- as cells: what there is */

static int add_entry(struct pr_gpu_systems_work *w, const char *folder,
                     const char *name, struct pr_gpu_systems_cell *cell,
                     struct pr_arena *a)
{
    struct pr_gpu_systems_log *logs;

    if (pr_text_ends_with(name, ".para")) {
        const char *path = pr_arena_printf(a, "%s/%s", folder, name);
        if (!path)
            return PR_E_NOMEM;
        (void)read_para(path, a, &cell->para);
    }
    if (!pr_text_ends_with(name, ".txt") || w->opts->no_logs)
        return PR_OK;
    logs = pr_arena_grow(a, cell->logs, cell->count, &cell->cap, sizeof *logs);
    if (!logs)
        return PR_E_NOMEM;
    cell->logs = logs;
    logs[cell->count] =
        (struct pr_gpu_systems_log){.file = pr_arena_str(a, name)};
    return logs[cell->count++].file ? PR_OK : PR_E_NOMEM;
}

static int add_items(struct pr_gpu_systems_work *w, const char *folder,
                     struct pr_gpu_systems_cell *cell, struct pr_arena *a)
{
    for (size_t i = 0; i < cell->count; i++) {
        struct pr_gpu_systems_item *item = PR_PUSH(a, w);

        if (!item)
            return PR_E_NOMEM;
        item->path = pr_arena_printf(a, "%s/%s", folder, cell->logs[i].file);
        item->cell = cell;
        item->log = i;
        if (!item->path)
            return PR_E_NOMEM;
    }
    return PR_OK;
}

int pr_gpu_systems_find_logs(struct pr_gpu_systems_work *w,
                             const struct pr_gpu_systems_row *row,
                             struct pr_gpu_systems_cell *cell,
                             struct pr_arena *a, struct pr_err *err)
{
    const char *folder =
        pr_arena_printf(a, "%s/%s/%s", w->dir, row->folder, cell->name);
    DIR *d = folder ? opendir(folder) : NULL;
    struct dirent *e;
    int rc = folder ? PR_OK : PR_E_NOMEM;

    cell->there = d != NULL;
    while (d && !rc && (e = readdir(d)))
        rc = add_entry(w, folder, e->d_name, cell, a);
    if (d)
        closedir(d);
    if (!rc && cell->count)
        qsort(cell->logs, cell->count, sizeof *cell->logs, by_file);
    if (!rc)
        rc = add_items(w, folder, cell, a);
    return rc ? pr_fail_nomem(err) : PR_OK;
}

/* ---- as cells: reading */

struct room {
    char *bytes;
    size_t cap;
};

/* Reads len bytes from a place; how many came, -1 without memory. What cannot
 * be read is as if it were not there. */
static ssize_t log_read_at(int fd, off_t from, size_t len, struct room *room)
{
    size_t got = 0;

    if (len > room->cap) {
        char *more = pr_realloc(room->bytes, len);
        if (!more)
            return -1;
        room->bytes = more;
        room->cap = len;
    }
    while (got < len) {
        ssize_t n = pread(fd, room->bytes + got, len - got, from + (off_t)got);
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

static bool log_read_full(struct pr_gpu_systems_work *w, int fd, size_t size,
                          struct pr_gpu_systems_item *item, struct room *room)
{
    struct pr_gpu_systems_log *log = &item->cell->logs[item->log];
    ssize_t n = log_read_at(fd, 0, size, room);

    if (n < 0)
        return false;
    w->bytes += (size_t)n;
    pr_gpu_task_log_read(item->cell->task, n ? room->bytes : "", (size_t)n,
                         &item->cell->para, &log->reading);
    return true;
}

static bool log_read_value(struct pr_gpu_systems_work *w, int fd, size_t size,
                           struct pr_gpu_systems_item *item, struct room *room)
{
    const struct pr_gpu_task_rule *rule = item->cell->rule;
    size_t tail = size > END_BYTES ? END_BYTES : size;
    ssize_t n = log_read_at(fd, (off_t)(size - tail), tail, room);
    double f = 0;
    bool found;

    if (n < 0)
        return false;
    w->bytes += (size_t)n;
    found = n &&
            pr_gpu_task_log_find(rule, room->bytes, (size_t)n, tail < size, &f);
    if (!found && tail < size) {
        n = log_read_at(fd, 0, size, room);
        if (n < 0)
            return false;
        w->bytes += (size_t)n;
        f = 0;
        (void)!pr_gpu_task_log_find(rule, room->bytes, (size_t)n, false, &f);
    }
    item->cell->logs[item->log].value = f > 0 ? f : 0;
    return true;
}

static bool log_read_item(struct pr_gpu_systems_work *w,
                          struct pr_gpu_systems_item *item, struct room *room)
{
    /* A pipe of that name must not keep us waiting. */
    int fd = open(item->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct pr_gpu_systems_log *log = &item->cell->logs[item->log];
    struct stat st;
    bool ok = true;

    log->reading.end = PR_GPU_TASK_UNREADABLE;
    if (fd < 0)
        return true;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        st.st_size < MAX_CELL_LOG) {
        size_t size = (size_t)st.st_size;
        if (w->opts->full)
            ok = log_read_full(w, fd, size, item, room);
        else if (item->cell->rule)
            ok = log_read_value(w, fd, size, item, room);
    }
    close(fd);
    return ok;
}

void *pr_gpu_systems_read_logs(void *work)
{
    struct pr_gpu_systems_work *w = work;
    struct room room = {NULL, 0};
    size_t i;

    while (!w->failed && (i = w->next++) < w->count)
        if (!log_read_item(w, &w->items[i], &room))
            w->failed = true;
    pr_free(room.bytes);
    return NULL;
}

/* ---- as results */

/* A log is held as a whole; of a larger one the end. */
enum { MAX_LOG = 64 << 20 };

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
    char name[256];

    get_parent_name(path, 1, name);
    return pr_text_starts_with(name, "PyTorch_") &&
           pr_text_ends_with(path, ".txt");
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
    const char *slash = strrchr(path, '/');
    const char *para = a ? pr_arena_printf(a, "%.*sbenchmark.para",
                                           (int)(slash + 1 - path), path)
                         : NULL;

    *ret = (struct pr_gpu_task_para){.there = false};
    if (!para)
        return pr_fail_nomem(err);
    return read_para(para, a, ret) == PR_E_NOMEM ? pr_fail_nomem(err) : PR_OK;
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
