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

static void *room(void *list, size_t n, size_t *cap, size_t bytes)
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

static int by_pid(const void *a, const void *b)
{
    int x = ((const struct pr_job_seen *)a)->pid;
    int y = ((const struct pr_job_seen *)b)->pid;

    return (x > y) - (x < y);
}

static void one_entry(struct pr_jobtree *t, const struct dirent *e,
                      bool *sorted)
{
    struct pr_job_seen *list;
    int pid = atoi(e->d_name);

    if (pid <= 0)
        return;
    list = room(t->next, t->n_next, &t->cap_next, sizeof(*list));
    if (!list)
        return; /* it is seen the next time, perhaps */
    t->next = list;
    if (t->n_next && list[t->n_next - 1].pid > pid)
        *sorted = false;
    list[t->n_next++] =
        (struct pr_job_seen){.pid = pid, .ino = (uint64_t)e->d_ino};
}

/* All processes there are, into next. */
static void list_all(struct pr_jobtree *t, struct pr_look *l)
{
    char path[PATH_MAX];
    bool sorted = true;
    struct dirent *e;
    DIR *d;

    t->n_next = 0;
    snprintf(path, sizeof(path), "%s/proc", l->root);
    d = opendir(path);
    while (d && (e = readdir(d)))
        one_entry(t, e, &sorted);
    if (d)
        closedir(d);
    if (!sorted)
        qsort(t->next, t->n_next, sizeof(*t->next), by_pid);
}

static bool read_stat(struct pr_look *l, int pid, struct pr_job_process *ret)
{
    char path[48], text[1024];

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    return pr_look_line(l, path, text, sizeof(text)) && pr_job_parse(text, ret);
}

/* The environment of a process, NULs and all; "" when it may not be read. */
static const char *environment(struct pr_look *l, int pid, size_t *ret_len)
{
    struct pr_kept file = {0};
    char path[48];
    const char *text;

    snprintf(path, sizeof(path), "/proc/%d/environ", pid);
    text = pr_kept_read(l, &file, path, ret_len);
    pr_kept_close(&file);
    if (text && *ret_len > MARK_BYTES)
        *ret_len = MARK_BYTES;
    return text;
}

/* The entry that begins with start; NULL: there is none. */
static const char *entry(const char *text, size_t len, const char *start)
{
    for (const char *end = text + len; text && text < end;
         text += strlen(text) + 1)
        if (pr_scan_is(text, start))
            return text;
    return NULL;
}

/* Before it runs its own program it has our environment, and that may be the
 * environment of an experiment that we are. */
static void learn_mark(struct pr_jobtree *t, struct pr_look *l)
{
    const char *outer = getenv("PRONY_EXPERIMENT");
    size_t len = 0;
    const char *text = environment(l, t->first, &len);
    const char *found = text ? entry(text, len, mark_name) : NULL;

    if (!found || strlen(found) >= sizeof(t->mark) ||
        (outer && strcmp(found + strlen(mark_name), outer) == 0))
        return;
    memcpy(t->mark, found, strlen(found) + 1);
}

static bool has_mark(const struct pr_jobtree *t, struct pr_look *l, int pid)
{
    size_t len = 0;
    const char *text = *t->mark ? environment(l, pid, &len) : NULL;
    const char *found = text ? entry(text, len, t->mark) : NULL;

    return found && strcmp(found, t->mark) == 0;
}

/* start 0: of any time. One of ours may have ended, and a new process has its
 * number. */
static bool is_ours(const struct pr_jobtree *t, int pid, uint64_t start)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->ours[i].pid == pid && (!start || t->ours[i].start == start))
            return true;
    return false;
}

static bool add(struct pr_jobtree *t, const struct pr_job_process *p)
{
    struct pr_job_process *list =
        room(t->ours, t->n, &t->cap, sizeof(*t->ours));

    if (!list)
        return false;
    t->ours = list;
    list[t->n] = (struct pr_job_process){
        .pid = p->pid, .ppid = p->ppid, .start = p->start, .alive = true};
    t->n++;
    return true;
}

/* One that was not there before, or is young: it may be ours if it is not
 * older than the first. Whether that is still open. */
static bool examine(struct pr_jobtree *t, struct pr_look *l, int pid)
{
    struct pr_job_process p = {0}, *list;

    if (pid == t->first || !read_stat(l, pid, &p) || p.start < t->first_start ||
        is_ours(t, pid, p.start))
        return false;
    if (has_mark(t, l, pid)) {
        add(t, &p);
        return false;
    }
    list = room(t->fresh, t->n_fresh, &t->cap_fresh, sizeof(*list));
    if (!list)
        return true;
    t->fresh = list;
    list[t->n_fresh++] = p;
    return true;
}

static void examine_new(struct pr_jobtree *t, struct pr_look *l, uint64_t now)
{
    size_t old = 0;

    t->n_fresh = 0;
    for (size_t i = 0; i < t->n_next; i++) {
        struct pr_job_seen *e = &t->next[i];
        bool known;

        while (old < t->n_seen && t->seen[old].pid < e->pid)
            old++;
        known = old < t->n_seen && t->seen[old].pid == e->pid &&
                t->seen[old].ino == e->ino;
        e->young_ns = known ? t->seen[old].young_ns : now + YOUNG_NS;
        if (e->young_ns && (now > e->young_ns || !examine(t, l, e->pid)))
            e->young_ns = 0;
        if (e->young_ns > t->young_ns)
            t->young_ns = e->young_ns;
    }
}

/* Children of ours are ours; a child may stand before its parent. */
static void adopt(struct pr_jobtree *t)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (size_t i = 0; i < t->n_fresh; i++) {
            struct pr_job_process *p = &t->fresh[i];

            if (!p->pid || !is_ours(t, p->ppid, 0))
                continue;
            changed = add(t, p);
            p->pid = 0;
        }
    }
}

/* ---- turns */

/* Whether a process or thread was made since; true when that is not told. */
static bool has_news(struct pr_jobtree *t, struct pr_look *l,
                     struct pr_job_turn *turn)
{
    const char *text = pr_kept_read(l, &t->loadavg, "/proc/loadavg", NULL);
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

static void rest(struct pr_job_turn *turn, uint64_t since)
{
    uint64_t took = pr_clock_ns() - since;

    /* Once, somebody else may have had the processor. */
    turn->at_ns = since + REST * (took < turn->took_ns ? took : turn->took_ns);
    turn->took_ns = took;
}

static void scan_all(struct pr_jobtree *t, struct pr_look *l, uint64_t now)
{
    struct pr_job_seen *swap = t->seen;
    size_t cap = t->cap_seen;

    t->again_ns = now + AGAIN_NS;
    t->near.last_pid = t->all.last_pid;
    if (!*t->mark)
        learn_mark(t, l);
    list_all(t, l);
    examine_new(t, l, now);
    adopt(t);
    t->seen = t->next;
    t->cap_seen = t->cap_next;
    t->n_seen = t->n_next;
    t->next = swap;
    t->cap_next = cap;
    rest(&t->all, now);
}

/* Children that its first thread made, where the kernel lists them. */
static void scan_children(struct pr_jobtree *t, struct pr_look *l, int parent)
{
    char path[64], text[4096];
    const char *at = text;
    uint64_t pid;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
    if (!pr_look_line(l, path, text, sizeof(text)))
        return;
    while (pr_scan_all(&at, &pid, 1)) {
        struct pr_job_process p = {0};

        if (pid <= INT_MAX && !is_ours(t, (int)pid, 0) &&
            read_stat(l, (int)pid, &p) && p.ppid == parent)
            add(t, &p);
    }
}

static void scan_near(struct pr_jobtree *t, struct pr_look *l, uint64_t now)
{
    for (size_t i = 0; i < t->n; i++) /* those that are added, too */
        scan_children(t, l, t->ours[i].pid);
    rest(&t->near, now);
}

static bool has_first(struct pr_jobtree *t, struct pr_look *l)
{
    struct pr_job_process first = {0};

    if (!t->first_start && t->first && read_stat(l, t->first, &first)) {
        t->first_start = first.start;
        add(t, &first);
    }
    return t->first_start != 0;
}

void pr_jobtree_scan(struct pr_jobtree *t, struct pr_look *l)
{
    uint64_t now = pr_clock_ns();

    if (!has_first(t, l))
        return;
    if (now >= t->all.at_ns &&
        (has_news(t, l, &t->all) || (now <= t->young_ns && now >= t->again_ns)))
        scan_all(t, l, now);
    else if (now >= t->near.at_ns && has_news(t, l, &t->near))
        scan_near(t, l, now);
}
