/* Finding the processes of an experiment in /proc. */
#include "base/clock.h"
#include "base/mem.h"
#include "monitor/jobtree.h"
#include "monitor/scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char mark_name[] = "PRONY_EXPERIMENT=";

/* At most one part in so many of the time goes into looking for processes. */
enum { REST = 1000, MARK_BYTES = 256 << 10 };

/* How long a process may take from its start to its own program, and how often
 * it is asked. */
#define YOUNG_NS UINT64_C(5000000000)
#define AGAIN_NS UINT64_C(200000000)

static void *job_list_reserve(void *list, size_t n, size_t *cap, size_t bytes)
{
    size_t more = *cap ? 2 * *cap : 64;
    void *r;

    if (n < *cap)
        return list;
    r = pr_realloc(list, more * bytes);
    if (r)
        *cap = more;
    return r;
}

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
    list = job_list_reserve(t->next, t->n_next, &t->cap_next, sizeof(*list));
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
        if (pr_scan_has_prefix(text, start))
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
    struct pr_job_tree_process *list =
        job_list_reserve(t->ours, t->n, &t->cap, sizeof(*t->ours));

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
    list = job_list_reserve(t->fresh, t->n_fresh, &t->cap_fresh, sizeof(*list));
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

/* ---- turns */

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
