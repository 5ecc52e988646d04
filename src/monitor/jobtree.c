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
static uint64_t field(const char *rest, unsigned wanted)
{
    uint64_t v;

    for (unsigned i = 3; i < wanted; i++) {
        rest = pr_scan_blanks(rest);
        rest += strcspn(rest, " \n");
    }
    pr_scan_u64(rest, &v);
    return v;
}

bool pr_job_parse(const char *text, struct pr_job_process *ret)
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
    ret->ppid = (int)field(rest, PPID);
    ret->count[PR_JOB_OWN] = field(rest, UTIME) + field(rest, UTIME + 1);
    ret->count[PR_JOB_WAITED] = field(rest, UTIME + 2) + field(rest, UTIME + 3);
    ret->threads = field(rest, THREADS);
    ret->start = field(rest, START);
    ret->virt_bytes = field(rest, VSIZE);
    ret->rss_bytes = field(rest, RSS) * (uint64_t)sysconf(_SC_PAGESIZE);
    return pid > 0 && ret->start > 0;
}

static const char *read_one(struct pr_look *l, const struct pr_job_process *p,
                            struct pr_kept *file, const char *name)
{
    char path[48];

    snprintf(path, sizeof(path), "/proc/%d/%s", p->pid, name);
    return pr_kept_read(l, file, path, NULL);
}

static uint64_t row(const char *text, const char *name)
{
    uint64_t v = 0;

    for (; *text; text = pr_scan_line(text))
        if (pr_scan_is(text, name))
            pr_scan_u64(text + strlen(name), &v);
    return v;
}

/* False: it is gone, or another one has its number. */
static bool read_process(struct pr_look *l, struct pr_job_process *p,
                         struct pr_job_process *now)
{
    const char *text = read_one(l, p, &p->stat, "stat");
    uint64_t pages[3] = {0};

    *now = *p;
    if (!text || !pr_job_parse(text, now) || now->start != p->start)
        return false;
    text = read_one(l, p, &p->statm, "statm");
    if (text)
        pr_scan_all(&text, pages, 3);
    now->shared_bytes = pages[2] * (uint64_t)sysconf(_SC_PAGESIZE);
    /* Not ours to read: its bytes stay as they are. */
    text = read_one(l, p, &p->io, "io");
    if (text) {
        now->count[PR_JOB_READ] = row(text, "read_bytes:");
        now->count[PR_JOB_WRITTEN] = row(text, "write_bytes:");
    }
    return true;
}

static void close_files(struct pr_job_process *p)
{
    pr_kept_close(&p->stat);
    pr_kept_close(&p->statm);
    pr_kept_close(&p->io);
}

static uint64_t ticks(const struct pr_job_process *p)
{
    return p->count[PR_JOB_OWN] + p->count[PR_JOB_WAITED];
}

/* The first process after its end: what it used, nothing else is left of it. */
static bool read_end(const struct pr_look *l, const struct pr_job_process *p,
                     struct pr_job_process *now)
{
    double all = l->used_s * (double)sysconf(_SC_CLK_TCK);

    if (p->pid != l->pid || !(all > 0))
        return false;
    *now = *p;
    now->zombie = true;
    now->threads = now->virt_bytes = now->rss_bytes = now->shared_bytes = 0;
    if (all > (double)ticks(p))
        now->count[PR_JOB_WAITED] += (uint64_t)all - ticks(p);
    return true;
}

/* What it has gained since the look before, as it was then. */
static void see_gain(struct pr_job_process *now, const struct pr_job_process *p)
{
    for (int k = 0; k < PR_JOB_COUNTS; k++) {
        uint64_t was = p->known ? p->count[k] : 0;
        double gain = now->count[k] > was ? (double)(now->count[k] - was) : 0;

        now->gain[k] = gain > p->owed[k] ? gain - p->owed[k] : 0;
        now->owed[k] = 0;
    }
}

static void read_into(struct pr_look *l, struct pr_job_process *p, bool keep)
{
    struct pr_job_process now;

    p->alive = read_process(l, p, &now) || read_end(l, p, &now);
    if (p->alive) {
        now.alive = true;
        see_gain(&now, p);
        now.stat = p->stat;
        now.statm = p->statm;
        now.io = p->io;
        *p = now;
    } else {
        memset(p->gain, 0, sizeof(p->gain));
    }
    if (!keep)
        close_files(p);
}

static struct pr_job_process *find(struct pr_jobtree *t, int pid)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->ours[i].pid == pid)
            return &t->ours[i];
    return NULL;
}

/* The nearest ancestor that lives: what a process has used goes to the one that
 * waits for it. Without one it is the first, whose end is told later. NULL:
 * somebody else waited. */
static struct pr_job_process *heir(struct pr_jobtree *t,
                                   const struct pr_job_process *dead)
{
    struct pr_job_process *p = find(t, dead->ppid);

    for (size_t i = 0; p && !p->alive && p->pid != t->first && i < t->n; i++)
        p = find(t, p->ppid);
    return p != dead ? p : NULL;
}

/* What the dead had used was counted as theirs already. The heir may have been
 * read a moment before it waited: it owes the rest in the next look. */
static void take_back(struct pr_jobtree *t, const struct pr_job_process *dead)
{
    struct pr_job_process *p = heir(t, dead);

    for (int k = PR_JOB_WAITED; p && dead->known && k < PR_JOB_COUNTS; k++) {
        double had =
            (double)(k == PR_JOB_WAITED ? ticks(dead) : dead->count[k]);
        double now = had < p->gain[k] ? had : p->gain[k];

        p->gain[k] -= now;
        p->owed[k] += had - now;
    }
}

void pr_jobtree_read(struct pr_jobtree *t, struct pr_look *l)
{
    size_t left = 0;

    for (size_t i = 0; i < t->n; i++)
        read_into(l, &t->ours[i], i < KEPT_PROCESSES);
    for (size_t i = 0; i < t->n; i++)
        if (!t->ours[i].alive)
            take_back(t, &t->ours[i]);
    for (size_t i = 0; i < t->n; i++) {
        if (!t->ours[i].alive)
            close_files(&t->ours[i]);
        if (t->ours[i].alive || t->ours[i].pid == t->first)
            t->ours[left++] = t->ours[i];
    }
    t->n = left;
}

void pr_jobtree_start(struct pr_jobtree *t, int first)
{
    for (size_t i = 0; i < t->n; i++)
        close_files(&t->ours[i]);
    t->n = 0;
    t->first = first;
    t->first_start = 0;
    t->mark[0] = '\0';
    t->all = t->near = (struct pr_job_turn){0};
}

void pr_jobtree_done(struct pr_jobtree *t)
{
    pr_jobtree_start(t, 0);
    pr_kept_close(&t->loadavg);
    pr_free(t->ours);
    pr_free(t->seen);
    pr_free(t->next);
    pr_free(t->fresh);
    *t = (struct pr_jobtree){0};
}
