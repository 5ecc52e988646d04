/*
 * Reading logs. The last line that fits counts, and it is near the end: of a
 * long log only the end is read first, the rest when nothing was in it.
 */
#include "analyse/gather_impl.h"
#include "base/file.h"
#include "base/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    END_BYTES = 64 << 10,
    GATHER_LOGS_MAX_PARA = 4096,
    GATHER_LOGS_MAX_LOG = 1 << 30,
};

static bool log_name_ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);

    return n >= k && strcmp(s + n - k, end) == 0;
}

static int by_file(const void *a, const void *b)
{
    return strcmp(((const struct pr_gpu_systems_log *)a)->file,
                  ((const struct pr_gpu_systems_log *)b)->file);
}

/* ---- what there is */

static void cell_read_para(const char *path, struct pr_gpu_systems_cell *cell,
                           struct pr_arena *a)
{
    const char *text;
    size_t len;

    if (pr_file_read_in(NULL, path, GATHER_LOGS_MAX_PARA, a, &text, &len,
                        NULL) == PR_OK)
        pr_gpu_task_para_read(text, len, &cell->para);
}

static int add_entry(struct pr_gpu_systems_work *w, const char *folder,
                     const char *name, struct pr_gpu_systems_cell *cell,
                     struct pr_arena *a)
{
    struct pr_gpu_systems_log *logs;

    if (log_name_ends_with(name, ".para")) {
        const char *path = pr_arena_printf(a, "%s/%s", folder, name);
        if (!path)
            return PR_E_NOMEM;
        cell_read_para(path, cell, a);
    }
    if (!log_name_ends_with(name, ".txt") || w->opts->no_logs)
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
        struct pr_gpu_systems_item *items =
            pr_arena_grow(a, w->items, w->count, &w->cap, sizeof *items);

        if (!items)
            return PR_E_NOMEM;
        w->items = items;
        items[w->count] = (struct pr_gpu_systems_item){
            .path = pr_arena_printf(a, "%s/%s", folder, cell->logs[i].file),
            .cell = cell,
            .log = i};
        if (!items[w->count++].path)
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

/* ---- reading them */

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
        st.st_size < GATHER_LOGS_MAX_LOG) {
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
