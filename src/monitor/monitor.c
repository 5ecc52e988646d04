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
    NOTHING, /* to be watched */
    BEGUN,   /* not looked at yet: watch is the caller's */
    WATCHED, /* watch is the thread's */
};

struct pr_monitor {
    pthread_mutex_t lock;
    pthread_cond_t wake; /* for the thread */
    pthread_cond_t idle; /* for the caller: phase is NOTHING again, or the
                            thread is gone */
    pthread_t thread;
    bool running, quit, gone;
    bool asleep; /* only wake wakes it */
    enum phase phase;
    bool ending;       /* the end is asked for */
    bool given_up;     /* and nobody waits for it any more */
    uint64_t first_ns; /* BEGUN: when to look */
    int pid;
    double used_s; /* of it, when it has ended */
    struct pr_watch watch;
    struct pr_monitor_sum sum; /* of the experiment that was ended */
    struct pr_looks looks;     /* the thread's */
};

static int wait_until(struct pr_monitor *m, pthread_cond_t *c, uint64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000),
                         .tv_nsec = (long)(ns % 1000000000)};

    return pthread_cond_timedwait(c, &m->lock, &t);
}

/* One experiment, from the first look to the last. The lock is held, but for
 * the looks themselves. */
static void watch(struct pr_monitor *m)
{
    struct pr_watch *x = &m->watch;
    int pid = m->pid;
    double used_s;

    m->phase = WATCHED;
    pthread_mutex_unlock(&m->lock);
    pr_watch_first(x, pid);
    pthread_mutex_lock(&m->lock);
    while (!m->ending) {
        uint64_t next = pr_watch_next_ns(x);

        if (pr_clock_ns() < next) {
            (void)wait_until(m, &m->wake, next);
            continue;
        }
        pid = m->pid;
        pthread_mutex_unlock(&m->lock);
        pr_watch_look(x, pid);
        pthread_mutex_lock(&m->lock);
    }
    pid = m->pid;
    used_s = m->used_s;
    pthread_mutex_unlock(&m->lock);
    pr_watch_end(x, pid, used_s, &m->sum);
    pthread_mutex_lock(&m->lock);
    pr_watch_done(x);
    if (m->given_up)
        pr_monitor_sum_done(&m->sum);
    m->given_up = m->ending = false;
    m->phase = NOTHING;
    pthread_cond_signal(&m->idle);
}

static void *work(void *arg)
{
    struct pr_monitor *m = arg;

    pthread_mutex_lock(&m->lock);
    while (!m->quit) {
        if (m->phase == BEGUN && pr_clock_ns() >= m->first_ns) {
            watch(m);
        } else if (m->phase == BEGUN) {
            (void)wait_until(m, &m->wake, m->first_ns);
        } else {
            m->asleep = true;
            pthread_cond_wait(&m->wake, &m->lock);
            m->asleep = false;
        }
    }
    m->gone = true;
    pthread_cond_signal(&m->idle);
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

/* Signals are the caller's business. */
static int start_thread(struct pr_monitor *m, struct pr_err *err)
{
    sigset_t all, old;
    int r;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    r = pthread_create(&m->thread, NULL, work, m);
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
    if (!pr_looks_init(&m->looks, root)) {
        pr_free(m);
        return pr_fail_nomem(err);
    }
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
static bool stop_thread(struct pr_monitor *m)
{
    uint64_t until = pr_clock_ns() + PATIENCE_NS;
    bool gone;

    if (!m->running)
        return true;
    pthread_mutex_lock(&m->lock);
    m->quit = m->ending = true;
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
    if (!m || !stop_thread(m))
        return;
    if (m->phase == BEGUN)
        pr_watch_done(&m->watch);
    pr_monitor_sum_done(&m->sum);
    pr_looks_done(&m->looks);
    pthread_cond_destroy(&m->wake);
    pthread_cond_destroy(&m->idle);
    pthread_mutex_destroy(&m->lock);
    pr_free(m);
}

int pr_monitor_begin(struct pr_monitor *m, const struct pr_watched *w,
                     struct pr_err *err)
{
    double wait_s = w->interval_s / 2 < first_s ? w->interval_s / 2 : first_s;
    int rc = m->running ? PR_OK : start_thread(m, err);

    if (rc)
        return rc;
    pr_watch_forget(w->path);
    pthread_mutex_lock(&m->lock);
    if (m->phase == NOTHING) {
        m->watch.looks = &m->looks;
        rc = pr_watch_init(&m->watch, w, err);
        if (!rc) {
            m->phase = BEGUN;
            m->pid = 0;
            m->used_s = 0;
            m->first_ns = m->watch.begin_ns + (uint64_t)(wait_s * 1e9);
        }
        if (!rc && m->asleep)
            pthread_cond_signal(&m->wake);
    }
    pthread_mutex_unlock(&m->lock);
    return rc;
}

void pr_monitor_pid(struct pr_monitor *m, int pid)
{
    pthread_mutex_lock(&m->lock);
    m->pid = pid;
    pthread_mutex_unlock(&m->lock);
}

static void say_hangs(struct pr_monitor *m, char *out, size_t cap)
{
    const char *asking =
        atomic_load_explicit(&m->looks.asking, memory_order_relaxed);

    if (*asking)
        snprintf(out, cap, "it hangs: '%s' does not answer", asking);
    else
        snprintf(out, cap,
                 "it hangs: monitor.ndjson cannot be written, or it "
                 "gets no processor");
}

/* The thread has it, or should have: asks for the end, and waits. */
static void end_watched(struct pr_monitor *m, struct pr_monitor_sum *ret)
{
    uint64_t until = pr_clock_ns() + PATIENCE_NS;

    m->ending = true;
    pthread_cond_signal(&m->wake);
    while (m->phase != NOTHING && !m->given_up && pr_clock_ns() < until)
        (void)wait_until(m, &m->idle, until);
    if (m->phase != NOTHING) {
        m->given_up = true;
        say_hangs(m, ret->trouble, sizeof(ret->trouble));
        return;
    }
    *ret = m->sum;
    m->sum = (struct pr_monitor_sum){.trouble = ""};
}

/* Whether an interval has passed. On a machine that is very busy the thread may
 * not have come round to it all the same. */
static bool is_long(const struct pr_monitor *m)
{
    return pr_clock_ns() >= m->watch.begin_ns + m->watch.interval_ns;
}

void pr_monitor_end(struct pr_monitor *m, double used_s,
                    struct pr_monitor_sum *ret)
{
    *ret = (struct pr_monitor_sum){.trouble = ""};
    pthread_mutex_lock(&m->lock);
    m->used_s = used_s;
    if (m->phase == BEGUN && !is_long(m)) {
        pr_watch_done(&m->watch);
        m->phase = NOTHING;
    } else if (m->phase != NOTHING) {
        end_watched(m, ret);
    }
    pthread_mutex_unlock(&m->lock);
}

void pr_monitor_sum_done(struct pr_monitor_sum *s)
{
    pr_buf_done(&s->summary);
    pr_buf_done(&s->log);
}
