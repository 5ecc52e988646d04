/*
 * The experiment itself: what its processes use, together. Memory is the sum of
 * their resident sizes, so that pages which several share count several times;
 * the fair share of each would have to be asked with the process standing
 * still.
 */
#include "monitor/jobtree.h"

#include <unistd.h>

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
    SOURCE_JOB_RSS,
    VIRT,
    SHARED,
    PROCESSES,
    SOURCE_JOB_THREADS,
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
        sum[SOURCE_JOB_RSS] += (double)p->rss_bytes;
        sum[VIRT] += (double)p->virt_bytes;
        sum[SHARED] += (double)p->shared_bytes;
        sum[PROCESSES] += !p->zombie;
        sum[SOURCE_JOB_THREADS] += p->zombie ? 0 : (double)p->threads;
        sum[READ_S] += p->gain[PR_JOB_READ];
        sum[WRITE_S] += p->gain[PR_JOB_WRITTEN];
        p->known = true;
    }
    if (!any)
        return;
    pr_monitor_sample_set_rate(l, s->column[CPU], sum[CPU] / s->hz / l->dt,
                               cpu / s->hz);
    /* After the end there is nothing that could have a size. */
    for (int i = SOURCE_JOB_RSS; sum[PROCESSES] > 0 && i <= SOURCE_JOB_THREADS;
         i++)
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
    pr_job_tree_read(&s->tree, l);
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
    .look = job_sample,
    .close = job_close,
};
