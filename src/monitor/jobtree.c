/* Reading the processes of an experiment, and who inherits what the dead have
 * used. Finding them is in jobtree_scan.c. */
#include "monitor/jobtree.h"

#include "base/mem.h"
#include "monitor/scan.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Descriptors are kept for so many processes; others are opened every time. */
enum { KEPT_PROCESSES = 64 };

/* Fields of /proc/PID/stat, as proc(5) numbers them; the state is the third. */
enum {
    PPID = 4,
    UTIME = 14, /* then stime, and both of the children waited for */
    THREADS = 20,
    START = 22,
    VSIZE = 23,
    RSS = 24,
};

/* The number of that field, counted from the state on. */
static uint64_t read_stat_field(const char *rest, unsigned wanted)
{
    uint64_t v;

    for (unsigned i = 3; i < wanted; i++) {
        rest = pr_scan_blanks(rest);
        rest += strcspn(rest, " \n");
    }
    pr_scan_u64(rest, &v);
    return v;
}

bool pr_job_tree_parse_stat(const char *text, struct pr_job_tree_process *ret)
{
    /* The name stands in brackets and may hold brackets and blanks itself. */
    const char *rest = strrchr(text, ')');
    uint64_t pid;

    if (!rest || strspn(rest, ") RSDZTtXxKWPIN") < 3)
        return false;
    pr_scan_u64(text, &pid);
    rest = pr_scan_blanks(rest + 1);
    ret->zombie = *rest == 'Z' || *rest == 'X';
    ret->pid = (int)pid;
    ret->ppid = (int)read_stat_field(rest, PPID);
    ret->count[PR_JOB_OWN] =
        read_stat_field(rest, UTIME) + read_stat_field(rest, UTIME + 1);
    ret->count[PR_JOB_WAITED] =
        read_stat_field(rest, UTIME + 2) + read_stat_field(rest, UTIME + 3);
    ret->threads = read_stat_field(rest, THREADS);
    ret->start = read_stat_field(rest, START);
    ret->virt_bytes = read_stat_field(rest, VSIZE);
    ret->rss_bytes =
        read_stat_field(rest, RSS) * (uint64_t)sysconf(_SC_PAGESIZE);
    return pid > 0 && ret->start > 0;
}

static const char *read_process_file(struct pr_monitor_sample *l,
                                     const struct pr_job_tree_process *p,
                                     struct pr_kernel_file *file,
                                     const char *name)
{
    char path[48];

    snprintf(path, sizeof(path), "/proc/%d/%s", p->pid, name);
    return pr_kernel_file_read(l, file, path, NULL);
}

static uint64_t read_io_row(const char *text, const char *name)
{
    uint64_t v = 0;

    for (; *text; text = pr_scan_line(text))
        if (pr_scan_has_prefix(text, name))
            pr_scan_u64(text + strlen(name), &v);
    return v;
}

/* False: it is gone, or another one has its number. */
static bool read_process(struct pr_monitor_sample *l,
                         struct pr_job_tree_process *p,
                         struct pr_job_tree_process *now)
{
    const char *text = read_process_file(l, p, &p->stat, "stat");
    uint64_t pages[3] = {0};

    *now = *p;
    if (!text || !pr_job_tree_parse_stat(text, now) || now->start != p->start)
        return false;
    text = read_process_file(l, p, &p->statm, "statm");
    if (text)
        pr_scan_all(&text, pages, 3);
    now->shared_bytes = pages[2] * (uint64_t)sysconf(_SC_PAGESIZE);
    /* Not ours to read: its bytes stay as they are. */
    text = read_process_file(l, p, &p->io, "io");
    if (text) {
        now->count[PR_JOB_READ] = read_io_row(text, "read_bytes:");
        now->count[PR_JOB_WRITTEN] = read_io_row(text, "write_bytes:");
    }
    return true;
}

static void close_process_files(struct pr_job_tree_process *p)
{
    pr_kernel_file_close(&p->stat);
    pr_kernel_file_close(&p->statm);
    pr_kernel_file_close(&p->io);
}

static uint64_t process_ticks(const struct pr_job_tree_process *p)
{
    return p->count[PR_JOB_OWN] + p->count[PR_JOB_WAITED];
}

/* The first process after its end: what it used, nothing else is left of it. */
static bool read_process_end(const struct pr_monitor_sample *l,
                             const struct pr_job_tree_process *p,
                             struct pr_job_tree_process *now)
{
    double all = l->used_s * (double)sysconf(_SC_CLK_TCK);

    if (p->pid != l->pid || !(all > 0))
        return false;
    *now = *p;
    now->zombie = true;
    now->threads = now->virt_bytes = now->rss_bytes = now->shared_bytes = 0;
    if (all > (double)process_ticks(p))
        now->count[PR_JOB_WAITED] += (uint64_t)all - process_ticks(p);
    return true;
}

/* What it has gained since the look before, as it was then. */
static void update_process_gain(struct pr_job_tree_process *now,
                                const struct pr_job_tree_process *p)
{
    for (int k = 0; k < PR_JOB_COUNTS; k++) {
        uint64_t was = p->known ? p->count[k] : 0;
        double gain = now->count[k] > was ? (double)(now->count[k] - was) : 0;

        now->gain[k] = gain > p->owed[k] ? gain - p->owed[k] : 0;
        now->owed[k] = 0;
    }
}

static void update_process(struct pr_monitor_sample *l,
                           struct pr_job_tree_process *p, bool keep)
{
    struct pr_job_tree_process now;

    p->alive = read_process(l, p, &now) || read_process_end(l, p, &now);
    if (p->alive) {
        now.alive = true;
        update_process_gain(&now, p);
        now.stat = p->stat;
        now.statm = p->statm;
        now.io = p->io;
        *p = now;
    } else {
        memset(p->gain, 0, sizeof(p->gain));
    }
    if (!keep)
        close_process_files(p);
}

static struct pr_job_tree_process *find_job_process(struct pr_job_tree *t,
                                                    int pid)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->ours[i].pid == pid)
            return &t->ours[i];
    return NULL;
}

/* The nearest ancestor that lives: what a process has used goes to the one that
 * waits for it. Without one it is the first, whose end is told later. NULL:
 * somebody else waited. */
static struct pr_job_tree_process *
find_process_heir(struct pr_job_tree *t, const struct pr_job_tree_process *dead)
{
    struct pr_job_tree_process *p = find_job_process(t, dead->ppid);

    for (size_t i = 0; p && !p->alive && p->pid != t->first && i < t->n; i++)
        p = find_job_process(t, p->ppid);
    return p != dead ? p : NULL;
}

/* What the dead had used was counted as theirs already. The heir may have been
 * read a moment before it waited: it owes the rest in the next look. */
static void deduct_inherited_use(struct pr_job_tree *t,
                                 const struct pr_job_tree_process *dead)
{
    struct pr_job_tree_process *p = find_process_heir(t, dead);

    for (int k = PR_JOB_WAITED; p && dead->known && k < PR_JOB_COUNTS; k++) {
        double had =
            (double)(k == PR_JOB_WAITED ? process_ticks(dead) : dead->count[k]);
        double now = had < p->gain[k] ? had : p->gain[k];

        p->gain[k] -= now;
        p->owed[k] += had - now;
    }
}

void pr_job_tree_read(struct pr_job_tree *t, struct pr_monitor_sample *l)
{
    size_t left = 0;

    for (size_t i = 0; i < t->n; i++)
        update_process(l, &t->ours[i], i < KEPT_PROCESSES);
    for (size_t i = 0; i < t->n; i++)
        if (!t->ours[i].alive)
            deduct_inherited_use(t, &t->ours[i]);
    for (size_t i = 0; i < t->n; i++) {
        if (!t->ours[i].alive)
            close_process_files(&t->ours[i]);
        if (t->ours[i].alive || t->ours[i].pid == t->first)
            t->ours[left++] = t->ours[i];
    }
    t->n = left;
}

void pr_job_tree_start(struct pr_job_tree *t, int first)
{
    for (size_t i = 0; i < t->n; i++)
        close_process_files(&t->ours[i]);
    t->n = 0;
    t->first = first;
    t->first_start = 0;
    t->mark[0] = '\0';
    t->all = t->near = (struct pr_job_tree_turn){0};
}

void pr_job_tree_close(struct pr_job_tree *t)
{
    pr_job_tree_start(t, 0);
    pr_kernel_file_close(&t->loadavg);
    pr_free(t->ours);
    pr_free(t->seen);
    pr_free(t->next);
    pr_free(t->fresh);
    *t = (struct pr_job_tree){0};
}
