/* The tree of processes by /proc, and what environment they were given. */
#include "machine/process_tree.h"

#include "base/mem.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

bool pr_proctree_parse(const char *text, struct pr_proc *ret)
{
    /* The name stands in brackets and may hold brackets and blanks itself. */
    const char *rest = strrchr(text, ')');
    int pid, ppid, pgrp;
    long threads;
    char state;

    if (!rest || sscanf(text, "%d", &pid) != 1)
        return false;
    if (sscanf(rest + 1,
               " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
               "%*d %*d %ld",
               &state, &ppid, &pgrp, &threads) != 4)
        return false;
    *ret = (struct pr_proc){.pid = pid, .ppid = ppid, .pgrp = pgrp};
    /* A process whose first thread has ended shows as a zombie but lives. */
    ret->dead = (state == 'Z' || state == 'X') && threads <= 1;
    return true;
}

/* Reads a small file; the length, or -1. */
static ssize_t proctree_read_file(int dir, const char *path, char *out,
                                  size_t cap)
{
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return -1;
    n = read(fd, out, cap - 1);
    close(fd);
    if (n >= 0)
        out[n] = '\0';
    return n;
}

static bool proctree_add_process(struct pr_proctree *t, const struct pr_proc *p)
{
    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 256;
        struct pr_proc *more = pr_realloc(t->procs, cap * sizeof(*more));

        if (!more)
            return false;
        t->procs = more;
        t->cap = cap;
    }
    t->procs[t->n++] = *p;
    return true;
}

static int proctree_compare_pids(const void *a, const void *b)
{
    pid_t x = ((const struct pr_proc *)a)->pid;
    pid_t y = ((const struct pr_proc *)b)->pid;

    return (x > y) - (x < y);
}

int pr_proctree_read(struct pr_proctree *t)
{
    DIR *d = opendir("/proc");
    struct dirent *e;

    t->n = 0;
    if (!d)
        return -errno;
    while ((e = readdir(d))) {
        char path[sizeof(e->d_name) + 8], text[1024];
        struct pr_proc p;

        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        snprintf(path, sizeof(path), "%s/stat", e->d_name);
        if (proctree_read_file(dirfd(d), path, text, sizeof(text)) < 0 ||
            !pr_proctree_parse(text, &p))
            continue; /* it has just gone */
        if (!proctree_add_process(t, &p)) {
            t->n = 0;
            closedir(d);
            return -ENOMEM;
        }
    }
    closedir(d);
    if (t->n)
        qsort(t->procs, t->n, sizeof(*t->procs), proctree_compare_pids);
    return 0;
}

void pr_proctree_free(struct pr_proctree *t)
{
    pr_free(t->procs);
    *t = (struct pr_proctree){0};
}

struct pr_proc *pr_proctree_find(const struct pr_proctree *t, pid_t pid)
{
    struct pr_proc key = {.pid = pid};

    if (!t->n)
        return NULL;
    return bsearch(&key, t->procs, t->n, sizeof(key), proctree_compare_pids);
}

void pr_proctree_clear(struct pr_proctree *t, unsigned mark)
{
    for (size_t i = 0; i < t->n; i++)
        t->procs[i].marks &= ~mark;
}

void pr_proctree_spread(struct pr_proctree *t, unsigned mark)
{
    bool changed = true;

    /* A parent mostly has the lower pid, so that one round does nearly all. */
    while (changed) {
        changed = false;
        for (size_t i = 0; i < t->n; i++) {
            struct pr_proc *p = &t->procs[i];
            struct pr_proc *parent;

            if (p->marks & mark)
                continue;
            parent = pr_proctree_find(t, p->ppid);
            if (!parent || !(parent->marks & mark))
                continue;
            p->marks |= mark;
            changed = true;
        }
    }
}

enum pr_proc_has pr_proctree_has_env(pid_t pid, const char *entry)
{
    char path[32], chunk[4096];
    const char *next = entry; /* what would go on matching; NULL: nothing */
    bool empty = true;
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return PR_PROC_HAS_NOT;
    while ((n = read(fd, chunk, sizeof(chunk))) > 0) {
        empty = false;
        for (ssize_t i = 0; i < n; i++) {
            if (next && *next == chunk[i]) {
                if (*next++ == '\0') {
                    close(fd);
                    return PR_PROC_HAS;
                }
            } else {
                next = chunk[i] ? NULL : entry;
            }
        }
    }
    close(fd);
    if (n == 0 && next && next != entry && *next == '\0')
        return PR_PROC_HAS;
    return n == 0 && empty ? PR_PROC_UNSURE : PR_PROC_HAS_NOT;
}

uint64_t pr_proctree_get_mark(pid_t pid)
{
    static const char name[] = "Max file locks";
    char path[32], text[4096];
    const char *line;

    snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
    if (proctree_read_file(AT_FDCWD, path, text, sizeof(text)) < 0)
        return 0;
    line = strstr(text, name);
    /* "unlimited" is no number, and so 0. */
    return line ? strtoull(line + sizeof(name) - 1, NULL, 10) : 0;
}

void pr_proctree_set_mark(uint64_t mark)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_LOCKS, &limit) == 0) {
        limit.rlim_cur = (rlim_t)mark;
        (void)setrlimit(RLIMIT_LOCKS, &limit);
    }
}

bool pr_pids_has(const struct pr_pids *s, pid_t pid)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->pids[i] == pid)
            return true;
    return false;
}

bool pr_pids_add(struct pr_pids *s, pid_t pid)
{
    if (pr_pids_has(s, pid))
        return false;
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 16;
        pid_t *more = pr_realloc(s->pids, cap * sizeof(*more));

        if (!more)
            return true;
        s->pids = more;
        s->cap = cap;
    }
    s->pids[s->n++] = pid;
    return true;
}

void pr_pids_remove(struct pr_pids *s, pid_t pid)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->pids[i] == pid) {
            s->pids[i] = s->pids[--s->n];
            return;
        }
    }
}

void pr_pids_free(struct pr_pids *s)
{
    pr_free(s->pids);
    *s = (struct pr_pids){0};
}
