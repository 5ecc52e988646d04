/*
 * Reading the processes of an experiment, and who inherits what the dead have
 * used; finding them in /proc; and the source of columns that they are.
 */
#include "monitor/job_tree.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "monitor/scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Descriptors are kept for so many processes; others are opened every time. */
enum { KEPT_PROCESSES = 64 };

/* Fields of /proc/PID/stat, as proc(5) numbers them; the state is the third. */
enum {
    STAT_PPID = 4,
    STAT_UTIME = 14, /* then stime, and both of the children waited for */
    STAT_THREADS = 20,
    STAT_START = 22,
    STAT_VSIZE = 23,
    STAT_RSS = 24,
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
    ret->ppid = (int)read_stat_field(rest, STAT_PPID);
    ret->count[PR_JOB_OWN] = read_stat_field(rest, STAT_UTIME) +
                             read_stat_field(rest, STAT_UTIME + 1);
    ret->count[PR_JOB_WAITED] = read_stat_field(rest, STAT_UTIME + 2) +
                                read_stat_field(rest, STAT_UTIME + 3);
    ret->threads = read_stat_field(rest, STAT_THREADS);
    ret->start = read_stat_field(rest, STAT_START);
    ret->virt_bytes = read_stat_field(rest, STAT_VSIZE);
    ret->rss_bytes =
        read_stat_field(rest, STAT_RSS) * (uint64_t)sysconf(_SC_PAGESIZE);
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
        if (pr_text_starts_with(text, name))
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
        double gain = pr_scan_gain(now->count[k], was);

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

/* Reads those that are known; the counts of those that ended are taken from
 * whoever inherited them. The dead are gone after it, but for the first. */
static void job_tree_read(struct pr_job_tree *t, struct pr_monitor_sample *l)
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

/* ---- finding processes */

static const char mark_name[] = "PRONY_EXPERIMENT=";

/* At most one part in so many of the time goes into looking for processes. */
enum { REST = 1000, MARK_BYTES = 256 << 10 };

/* How long a process may take from its start to its own program, and how often
 * it is asked. */
#define YOUNG_NS UINT64_C(5000000000)
#define AGAIN_NS UINT64_C(200000000)

static int compare_seen_pids(const void *a, const void *b)
{
    int x = ((const struct pr_job_tree_seen *)a)->pid;
    int y = ((const struct pr_job_tree_seen *)b)->pid;

    return (x > y) - (x < y);
}

static void add_proc_entry(struct pr_job_tree *t, const struct dirent *e,
                           bool *sorted)
{
    struct pr_job_tree_seen *list;
    int pid = atoi(e->d_name);

    if (pid <= 0)
        return;
    list = pr_monitor_list_reserve(t->next, t->n_next, &t->cap_next, SIZE_MAX,
                                   sizeof(*list));
    if (!list)
        return; /* it is seen the next time, perhaps */
    t->next = list;
    if (t->n_next && list[t->n_next - 1].pid > pid)
        *sorted = false;
    list[t->n_next++] =
        (struct pr_job_tree_seen){.pid = pid, .ino = (uint64_t)e->d_ino};
}

/* All processes there are, into next. */
static void list_processes(struct pr_job_tree *t, struct pr_monitor_sample *l)
{
    char path[PATH_MAX];
    bool sorted = true;
    struct dirent *e;
    DIR *d;

    t->n_next = 0;
    snprintf(path, sizeof(path), "%s/proc", l->root);
    d = opendir(path);
    while (d && (e = readdir(d)))
        add_proc_entry(t, e, &sorted);
    if (d)
        closedir(d);
    if (!sorted)
        qsort(t->next, t->n_next, sizeof(*t->next), compare_seen_pids);
}

static bool read_process_stat(struct pr_monitor_sample *l, int pid,
                              struct pr_job_tree_process *ret)
{
    char path[48], text[1024];

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    return pr_kernel_file_read_line(l, path, text, sizeof(text)) &&
           pr_job_tree_parse_stat(text, ret);
}

/* The environment of a process, NULs and all; "" when it may not be read. */
static const char *read_process_environ(struct pr_monitor_sample *l, int pid,
                                        size_t *ret_len)
{
    struct pr_kernel_file file = {0};
    char path[48];
    const char *text;

    snprintf(path, sizeof(path), "/proc/%d/environ", pid);
    text = pr_kernel_file_read(l, &file, path, ret_len);
    pr_kernel_file_close(&file);
    if (text && *ret_len > MARK_BYTES)
        *ret_len = MARK_BYTES;
    return text;
}

/* The entry that begins with start; NULL: there is none. */
static const char *find_environ_entry(const char *text, size_t len,
                                      const char *start)
{
    for (const char *end = text + len; text && text < end;
         text += strlen(text) + 1)
        if (pr_text_starts_with(text, start))
            return text;
    return NULL;
}

/* Before it runs its own program it has our environment, and that may be the
 * environment of an experiment that we are. */
static void read_job_mark(struct pr_job_tree *t, struct pr_monitor_sample *l)
{
    const char *outer = getenv("PRONY_EXPERIMENT");
    size_t len = 0;
    const char *text = read_process_environ(l, t->first, &len);
    const char *found = text ? find_environ_entry(text, len, mark_name) : NULL;

    if (!found || strlen(found) >= sizeof(t->mark) ||
        (outer && strcmp(found + strlen(mark_name), outer) == 0))
        return;
    memcpy(t->mark, found, strlen(found) + 1);
}

static bool has_job_mark(const struct pr_job_tree *t,
                         struct pr_monitor_sample *l, int pid)
{
    size_t len = 0;
    const char *text = *t->mark ? read_process_environ(l, pid, &len) : NULL;
    const char *found = text ? find_environ_entry(text, len, t->mark) : NULL;

    return found && strcmp(found, t->mark) == 0;
}

/* start 0: of any time. One of ours may have ended, and a new process has its
 * number. */
static bool is_job_process(const struct pr_job_tree *t, int pid, uint64_t start)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->ours[i].pid == pid && (!start || t->ours[i].start == start))
            return true;
    return false;
}

static bool job_tree_add(struct pr_job_tree *t,
                         const struct pr_job_tree_process *p)
{
    struct pr_job_tree_process *list = pr_monitor_list_reserve(
        t->ours, t->n, &t->cap, SIZE_MAX, sizeof(*t->ours));

    if (!list)
        return false;
    t->ours = list;
    list[t->n] = (struct pr_job_tree_process){
        .pid = p->pid, .ppid = p->ppid, .start = p->start, .alive = true};
    t->n++;
    return true;
}

/* One that was not there before, or is young: it may be ours if it is not
 * older than the first. Whether that is still open. */
static bool examine_process(struct pr_job_tree *t, struct pr_monitor_sample *l,
                            int pid)
{
    struct pr_job_tree_process p = {0}, *list;

    if (pid == t->first || !read_process_stat(l, pid, &p) ||
        p.start < t->first_start || is_job_process(t, pid, p.start))
        return false;
    if (has_job_mark(t, l, pid)) {
        job_tree_add(t, &p);
        return false;
    }
    list = pr_monitor_list_reserve(t->fresh, t->n_fresh, &t->cap_fresh,
                                   SIZE_MAX, sizeof(*list));
    if (!list)
        return true;
    t->fresh = list;
    list[t->n_fresh++] = p;
    return true;
}

static void examine_new_processes(struct pr_job_tree *t,
                                  struct pr_monitor_sample *l, uint64_t now)
{
    size_t old = 0;

    t->n_fresh = 0;
    for (size_t i = 0; i < t->n_next; i++) {
        struct pr_job_tree_seen *e = &t->next[i];
        bool known;

        while (old < t->n_seen && t->seen[old].pid < e->pid)
            old++;
        known = old < t->n_seen && t->seen[old].pid == e->pid &&
                t->seen[old].ino == e->ino;
        e->young_ns = known ? t->seen[old].young_ns : now + YOUNG_NS;
        if (e->young_ns &&
            (now > e->young_ns || !examine_process(t, l, e->pid)))
            e->young_ns = 0;
        if (e->young_ns > t->young_ns)
            t->young_ns = e->young_ns;
    }
}

/* Children of ours are ours; a child may stand before its parent. */
static void adopt_job_children(struct pr_job_tree *t)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (size_t i = 0; i < t->n_fresh; i++) {
            struct pr_job_tree_process *p = &t->fresh[i];

            if (!p->pid || !is_job_process(t, p->ppid, 0))
                continue;
            changed = job_tree_add(t, p);
            p->pid = 0;
        }
    }
}

/* ---- turns to look for processes */

/* Whether a process or thread was made since; true when that is not told. */
static bool has_new_process(struct pr_job_tree *t, struct pr_monitor_sample *l,
                            struct pr_job_tree_turn *turn)
{
    const char *text =
        pr_kernel_file_read(l, &t->loadavg, "/proc/loadavg", NULL);
    const char *last = text ? strrchr(text, ' ') : NULL;
    uint64_t pid;

    if (!last)
        return true;
    pr_scan_u64(last, &pid);
    if (pid == turn->last_pid && !l->rescan)
        return false;
    turn->last_pid = pid;
    return true;
}

static void rest_job_turn(struct pr_job_tree_turn *turn, uint64_t since)
{
    uint64_t took = pr_clock_ns() - since;

    /* Once, somebody else may have had the processor. */
    turn->at_ns = since + REST * (took < turn->took_ns ? took : turn->took_ns);
    turn->took_ns = took;
}

static void scan_all_processes(struct pr_job_tree *t,
                               struct pr_monitor_sample *l, uint64_t now)
{
    struct pr_job_tree_seen *swap = t->seen;
    size_t cap = t->cap_seen;

    t->again_ns = now + AGAIN_NS;
    t->near.last_pid = t->all.last_pid;
    if (!*t->mark)
        read_job_mark(t, l);
    list_processes(t, l);
    examine_new_processes(t, l, now);
    adopt_job_children(t);
    t->seen = t->next;
    t->cap_seen = t->cap_next;
    t->n_seen = t->n_next;
    t->next = swap;
    t->cap_next = cap;
    rest_job_turn(&t->all, now);
}

/* Children that its first thread made, where the kernel lists them. */
static void scan_job_children(struct pr_job_tree *t,
                              struct pr_monitor_sample *l, int parent)
{
    char path[64], text[4096];
    const char *at = text;
    uint64_t pid;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
    if (!pr_kernel_file_read_line(l, path, text, sizeof(text)))
        return;
    while (pr_scan_all(&at, &pid, 1)) {
        struct pr_job_tree_process p = {0};

        if (pid <= INT_MAX && !is_job_process(t, (int)pid, 0) &&
            read_process_stat(l, (int)pid, &p) && p.ppid == parent)
            job_tree_add(t, &p);
    }
}

static void scan_job_descendants(struct pr_job_tree *t,
                                 struct pr_monitor_sample *l, uint64_t now)
{
    for (size_t i = 0; i < t->n; i++) /* those that are added, too */
        scan_job_children(t, l, t->ours[i].pid);
    rest_job_turn(&t->near, now);
}

static bool has_first_process(struct pr_job_tree *t,
                              struct pr_monitor_sample *l)
{
    struct pr_job_tree_process first = {0};

    if (!t->first_start && t->first && read_process_stat(l, t->first, &first)) {
        t->first_start = first.start;
        job_tree_add(t, &first);
    }
    return t->first_start != 0;
}

void pr_job_tree_scan(struct pr_job_tree *t, struct pr_monitor_sample *l)
{
    uint64_t now = pr_clock_ns();

    if (!has_first_process(t, l))
        return;
    if (now >= t->all.at_ns && (has_new_process(t, l, &t->all) ||
                                (now <= t->young_ns && now >= t->again_ns)))
        scan_all_processes(t, l, now);
    else if (now >= t->near.at_ns && has_new_process(t, l, &t->near))
        scan_job_descendants(t, l, now);
}

/* ---- the source: what the processes use, together */

/* Memory is the sum of their resident sizes, so that pages which several share
 * count several times; the fair share of each would have to be asked with the
 * process standing still. */
static const struct pr_monitor_column columns[] = {
    {"job.cpu", "cores", PR_SUM_RATE, 3, 0, NULL},
    {"job.rss_bytes", "bytes", PR_SUM_MEAN, 0, 0, NULL},
    {"job.virt_bytes", "bytes", PR_SUM_NONE, 0, 0, NULL},
    {"job.shared_bytes", "bytes", PR_SUM_NONE, 0, 0, NULL},
    {"job.processes", "processes", PR_SUM_MEAN, 2, 0, NULL},
    {"job.threads", "threads", PR_SUM_MEAN, 2, 0, NULL},
    {"job.read_bytes_s", "bytes/s", PR_SUM_RATE, 0, 0, NULL},
    {"job.write_bytes_s", "bytes/s", PR_SUM_RATE, 0, 0, NULL},
};

enum {
    CPU,
    RSS,
    VIRT,
    SHARED,
    PROCESSES,
    THREADS,
    READ_S,
    WRITE_S,
    COLUMNS,
};

struct job {
    struct pr_job_tree tree;
    bool named;
    int column[COLUMNS];
    double hz;
};

static double process_ticks_gained(const struct pr_job_tree_process *p)
{
    return p->gain[PR_JOB_OWN] + p->gain[PR_JOB_WAITED];
}

/* What a process that has just been found used came together in more than this
 * look: its threads cannot have worked longer than they could. */
static double limit_ticks_gained(const struct job *s,
                                 const struct pr_monitor_sample *l,
                                 const struct pr_job_tree_process *p)
{
    double most = l->dt * s->hz * (double)p->threads;

    return p->known || process_ticks_gained(p) < most ? process_ticks_gained(p)
                                                      : most;
}

static void job_set_columns(struct job *s, struct pr_monitor_sample *l)
{
    double sum[COLUMNS] = {0}, cpu = 0;
    bool any = false;

    for (size_t i = 0; i < s->tree.n; i++) {
        struct pr_job_tree_process *p = &s->tree.ours[i];

        if (!p->alive)
            continue;
        any = true;
        sum[CPU] += limit_ticks_gained(s, l, p);
        cpu += process_ticks_gained(p);
        sum[RSS] += (double)p->rss_bytes;
        sum[VIRT] += (double)p->virt_bytes;
        sum[SHARED] += (double)p->shared_bytes;
        sum[PROCESSES] += !p->zombie;
        sum[THREADS] += p->zombie ? 0 : (double)p->threads;
        sum[READ_S] += p->gain[PR_JOB_READ];
        sum[WRITE_S] += p->gain[PR_JOB_WRITTEN];
        p->known = true;
    }
    if (!any)
        return;
    pr_monitor_sample_set_rate(l, s->column[CPU], sum[CPU] / s->hz / l->dt,
                               cpu / s->hz);
    /* After the end there is nothing that could have a size. */
    for (int i = RSS; sum[PROCESSES] > 0 && i <= THREADS; i++)
        pr_monitor_sample_set(l, s->column[i], sum[i]);
    pr_monitor_sample_set_rate(l, s->column[READ_S], sum[READ_S] / l->dt,
                               sum[READ_S]);
    pr_monitor_sample_set_rate(l, s->column[WRITE_S], sum[WRITE_S] / l->dt,
                               sum[WRITE_S]);
}

static void job_sample(void *state, struct pr_monitor_sample *l)
{
    struct job *s = state;

    for (int i = 0; !s->named && i < COLUMNS; i++)
        s->column[i] = pr_monitor_sample_column(l, &columns[i]);
    s->named = true;
    s->hz = (double)sysconf(_SC_CLK_TCK);
    if (l->dt <= 0 || l->pid != s->tree.first)
        pr_job_tree_start(&s->tree, l->pid);
    pr_job_tree_scan(&s->tree, l);
    if (l->dt <= 0)
        return;
    job_tree_read(&s->tree, l);
    job_set_columns(s, l);
}

static void job_close(void *state)
{
    pr_job_tree_close(&((struct job *)state)->tree);
}

const struct pr_monitor_source pr_source_job = {
    .name = "job",
    .desc = "the experiment's processes: processor time, memory, threads, "
            "bytes to and from storage: /proc/PID",
    .state_bytes = sizeof(struct job),
    .sample = job_sample,
    .close = job_close,
};
