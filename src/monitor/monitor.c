/*
 * The thread. It sleeps until an experiment has run for a moment, so that a run
 * of many short ones is not held up: beginning and ending one of those costs a
 * lock each and wakes nobody. From then on what is watched belongs to the
 * thread, until the end is asked for.
 */
#include "monitor/monitor.h"

#include "base/clock.h"
#include "base/mem.h"
#include "monitor/watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* An experiment is looked at for the first time after this, or after half an
 * interval. Whoever waits for the thread gives up after PATIENCE. */
static const double first_s = 0.01;
#define PATIENCE_NS 5000000000ull

enum phase {
    NOTHING, /* free for the next experiment */
    BEGUN,   /* not looked at yet: the watch is the caller's */
    WATCHED, /* the watch is the thread's */
    ENDED,   /* the sum is there for the caller */
};

struct pr_monitored {
    enum phase phase;
    bool ending;       /* the end is asked for */
    bool given_up;     /* and nobody waits for it any more */
    uint64_t first_ns; /* BEGUN: when to look */
    int pid;
    double used_s; /* of it, when it has ended */
    struct pr_watch watch;
    struct pr_monitor_sources looks; /* the thread's, once it is watched */
    struct pr_monitor_sum sum;       /* ENDED */
    struct pr_monitored *next;
};

struct pr_monitor {
    pthread_mutex_t lock;
    pthread_cond_t wake; /* for the thread */
    pthread_cond_t idle; /* for the caller: one is ENDED, or the thread is
                            gone */
    pthread_t thread;
    bool running, quit, gone;
    bool asleep;                /* only wake wakes it */
    struct pr_monitored *first; /* all there ever were at a time */
    unsigned watched;           /* of these */
    char *root;
    struct pr_monitor_sources
        machine; /* the thread's: what all of them follow */
};

static int wait_until(struct pr_monitor *m, pthread_cond_t *c, uint64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000),
                         .tv_nsec = (long)(ns % 1000000000)};

    return pthread_cond_timedwait(c, &m->lock, &t);
}

/* The lock is held by callers of these, but not during a look. */

static void sample_first(struct pr_monitor *m, struct pr_monitored *x)
{
    int pid = x->pid;

    x->phase = WATCHED;
    if (!m->watched++)
        pr_monitor_sources_begin(&m->machine);
    pthread_mutex_unlock(&m->lock);
    pr_watch_first_sample(&x->watch, pid);
    pthread_mutex_lock(&m->lock);
}

static void sample_again(struct pr_monitor *m, struct pr_monitored *x)
{
    int pid = x->pid;

    pthread_mutex_unlock(&m->lock);
    pr_watch_next_sample(&x->watch, pid);
    pthread_mutex_lock(&m->lock);
}

static void sample_last(struct pr_monitor *m, struct pr_monitored *x)
{
    int pid = x->pid;
    double used_s = x->used_s;

    pthread_mutex_unlock(&m->lock);
    pr_watch_end(&x->watch, pid, used_s, &x->sum);
    pthread_mutex_lock(&m->lock);
    pr_watch_close(&x->watch);
    m->watched--;
    if (x->given_up)
        pr_monitor_sum_free(&x->sum);
    x->phase = x->given_up ? NOTHING : ENDED;
    pthread_cond_broadcast(&m->idle);
}

/* When there is something to do for it; UINT64_MAX: never. */
static uint64_t monitored_due_ns(const struct pr_monitored *x)
{
    if (x->phase == BEGUN)
        return x->first_ns;
    if (x->phase == WATCHED)
        return x->ending ? 0 : pr_watch_next_ns(&x->watch);
    return UINT64_MAX;
}

static struct pr_monitored *find_most_urgent(const struct pr_monitor *m)
{
    struct pr_monitored *best = m->first;

    for (struct pr_monitored *x = best ? best->next : NULL; x; x = x->next)
        if (monitored_due_ns(x) < monitored_due_ns(best))
            best = x;
    return best && monitored_due_ns(best) != UINT64_MAX ? best : NULL;
}

static void attend_monitored(struct pr_monitor *m, struct pr_monitored *x)
{
    if (x->phase == BEGUN)
        sample_first(m, x);
    else if (x->ending)
        sample_last(m, x);
    else
        sample_again(m, x);
}

static void *monitor_thread(void *arg)
{
    struct pr_monitor *m = arg;

    pthread_mutex_lock(&m->lock);
    while (!m->quit) {
        struct pr_monitored *x = find_most_urgent(m);

        if (!x) {
            m->asleep = true;
            pthread_cond_wait(&m->wake, &m->lock);
            m->asleep = false;
        } else if (pr_clock_ns() < monitored_due_ns(x)) {
            (void)wait_until(m, &m->wake, monitored_due_ns(x));
        } else {
            attend_monitored(m, x);
        }
    }
    m->gone = true;
    pthread_cond_broadcast(&m->idle);
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

/* Signals are the caller's business. */
static int monitor_start_thread(struct pr_monitor *m, struct pr_err *err)
{
    sigset_t all, old;
    int r;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    r = pthread_create(&m->thread, NULL, monitor_thread, m);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (r)
        return pr_fail(err, PR_E_UNAVAIL, "", "no thread can be started: %s",
                       strerror(r));
    (void)pthread_setname_np(m->thread, "prony-monitor");
    m->running = true;
    return PR_OK;
}

int pr_monitor_new(const char *root, struct pr_monitor **ret,
                   struct pr_err *err)
{
    struct pr_monitor *m = pr_alloc_zeroed(sizeof(*m));
    pthread_condattr_t attr;

    if (!m)
        return pr_fail_nomem(err);
    m->root = pr_alloc_zeroed(strlen(root ? root : "") + 1);
    if (!m->root || !pr_monitor_sources_init(&m->machine, root)) {
        pr_free(m->root);
        pr_free(m);
        return pr_fail_nomem(err);
    }
    m->machine.leads = true;
    memcpy(m->root, root ? root : "", strlen(root ? root : ""));
    pthread_mutex_init(&m->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&m->wake, &attr);
    pthread_cond_init(&m->idle, &attr);
    pthread_condattr_destroy(&attr);
    *ret = m;
    return PR_OK;
}

/* Whether the thread has ended. One that is stuck in a device is left to it,
 * with all it uses. */
static bool monitor_stop_thread(struct pr_monitor *m)
{
    uint64_t until = pr_clock_ns() + PATIENCE_NS;
    bool gone;

    if (!m->running)
        return true;
    pthread_mutex_lock(&m->lock);
    m->quit = true;
    pthread_cond_signal(&m->wake);
    while (!m->gone && pr_clock_ns() < until)
        (void)wait_until(m, &m->idle, until);
    gone = m->gone;
    pthread_mutex_unlock(&m->lock);
    if (gone)
        pthread_join(m->thread, NULL);
    else
        pthread_detach(m->thread);
    return gone;
}

void pr_monitor_free(struct pr_monitor *m)
{
    if (!m || !monitor_stop_thread(m))
        return;
    for (struct pr_monitored *x = m->first, *next; x; x = next) {
        next = x->next;
        if (x->phase == BEGUN || x->phase == WATCHED)
            pr_watch_close(&x->watch);
        pr_monitor_sum_free(&x->sum);
        pr_monitor_sources_close(&x->looks);
        pr_free(x);
    }
    pr_monitor_sources_close(&m->machine);
    pthread_cond_destroy(&m->wake);
    pthread_cond_destroy(&m->idle);
    pthread_mutex_destroy(&m->lock);
    pr_free(m->root);
    pr_free(m);
}

/* One that is free, or a new one. NULL: out of memory. */
static struct pr_monitored *take_free_monitored(struct pr_monitor *m)
{
    struct pr_monitored *x = m->first;

    while (x && x->phase != NOTHING)
        x = x->next;
    if (x)
        return x;
    x = pr_alloc_zeroed(sizeof(*x));
    if (!x || !pr_monitor_sources_init(&x->looks, m->root)) {
        pr_free(x);
        return NULL;
    }
    x->looks.lead = &m->machine;
    x->watch.looks = &x->looks;
    x->next = m->first;
    m->first = x;
    return x;
}

static int monitor_begin_locked(struct pr_monitor *m,
                                const struct pr_monitor_watch_opts *w,
                                struct pr_monitored **ret, struct pr_err *err)
{
    double wait_s = w->interval_s / 2 < first_s ? w->interval_s / 2 : first_s;
    struct pr_monitored *x = take_free_monitored(m);
    int rc = x ? pr_watch_init(&x->watch, w, err) : pr_fail_nomem(err);

    if (rc)
        return rc;
    x->phase = BEGUN;
    x->ending = x->given_up = false;
    x->pid = 0;
    x->used_s = 0;
    x->first_ns = x->watch.begin_ns + (uint64_t)(wait_s * 1e9);
    /* Awake, it looks at the others in time; this one may be due earlier. */
    if (m->asleep || m->watched)
        pthread_cond_signal(&m->wake);
    *ret = x;
    return PR_OK;
}

int pr_monitor_begin(struct pr_monitor *m,
                     const struct pr_monitor_watch_opts *w,
                     struct pr_monitored **ret, struct pr_err *err)
{
    int rc = m->running ? PR_OK : monitor_start_thread(m, err);

    if (rc)
        return rc;
    pr_watch_remove_file(w->path);
    pthread_mutex_lock(&m->lock);
    rc = monitor_begin_locked(m, w, ret, err);
    pthread_mutex_unlock(&m->lock);
    return rc;
}

void pr_monitor_set_pid(struct pr_monitor *m, struct pr_monitored *x, int pid)
{
    pthread_mutex_lock(&m->lock);
    x->pid = pid;
    pthread_mutex_unlock(&m->lock);
}

static void describe_hang(struct pr_monitor *m, struct pr_monitored *x,
                          char *out, size_t cap)
{
    const char *asking =
        atomic_load_explicit(&m->machine.asking, memory_order_relaxed);

    if (!*asking)
        asking = atomic_load_explicit(&x->looks.asking, memory_order_relaxed);
    if (*asking)
        snprintf(out, cap, "it hangs: '%s' does not answer", asking);
    else
        snprintf(out, cap,
                 "it hangs: monitor.ndjson cannot be written, or it "
                 "gets no processor");
}

/* The thread has it, or should have: asks for the end, and waits. */
static void end_watched(struct pr_monitor *m, struct pr_monitored *x,
                        struct pr_monitor_sum *ret)
{
    uint64_t until = pr_clock_ns() + PATIENCE_NS;

    x->ending = true;
    pthread_cond_signal(&m->wake);
    while (x->phase != ENDED && pr_clock_ns() < until)
        (void)wait_until(m, &m->idle, until);
    if (x->phase != ENDED) {
        x->given_up = true;
        describe_hang(m, x, ret->trouble, sizeof(ret->trouble));
        return;
    }
    *ret = x->sum;
    x->sum = (struct pr_monitor_sum){.trouble = ""};
    x->phase = NOTHING;
}

/* Whether an interval has passed. On a machine that is very busy the thread may
 * not have come round to it all the same. */
static bool has_interval_passed(const struct pr_monitored *x)
{
    return pr_clock_ns() >= x->watch.begin_ns + x->watch.interval_ns;
}

void pr_monitor_end(struct pr_monitor *m, struct pr_monitored *x, double used_s,
                    struct pr_monitor_sum *ret)
{
    *ret = (struct pr_monitor_sum){.trouble = ""};
    pthread_mutex_lock(&m->lock);
    x->used_s = used_s;
    if (x->phase == BEGUN && !has_interval_passed(x)) {
        pr_watch_close(&x->watch);
        x->phase = NOTHING;
    } else {
        end_watched(m, x, ret);
    }
    pthread_mutex_unlock(&m->lock);
}

void pr_monitor_sum_free(struct pr_monitor_sum *s)
{
    pr_buf_free(&s->summary);
    pr_buf_free(&s->log);
}
