/* The threads that make or verify a data set: each takes the next file. */
#include "base/clock.h"
#include "base/mem.h"
#include "generate/generate_impl.h"

#include <sched.h>
#include <stdio.h>

enum { MAX_THREADS = 1024, TICK_NS = 100000000 };

/* ---- one thread */

static void note_failure(struct pr_generate_job *j, int rc,
                         const struct pr_err *err)
{
    pthread_mutex_lock(&j->lock);
    /* The others were interrupted by the first one. */
    if (!j->rc || (j->rc == PR_E_INTR && rc != PR_E_INTR)) {
        j->rc = rc;
        j->err = *err;
    }
    pthread_mutex_unlock(&j->lock);
}

static void stop_all(struct pr_generate_job *j)
{
    __atomic_store_n(&j->stop, true, __ATOMIC_RELAXED);
}

static int generate_make_file(struct pr_generate_job *j,
                              struct pr_generate_worker *w, uint64_t f,
                              struct pr_err *err)
{
    uint64_t bytes = 0;
    int rc = j->keep ? pr_generate_worker_has_file(w, f, err) : 0;

    if (rc < 0)
        return rc;
    if (rc == 1) {
        atomic_fetch_add(&j->kept, 1);
        return PR_OK;
    }
    rc = pr_generate_worker_make(w, f, &bytes, err);
    if (rc)
        return rc;
    atomic_fetch_add(&j->made, 1);
    atomic_fetch_add(&j->bytes, bytes);
    return PR_OK;
}

static void generate_keep_bad(struct pr_generate_job *j,
                              const struct pr_err *err)
{
    pthread_mutex_lock(&j->lock);
    if (j->result->bad < PR_GENERATE_ERRORS)
        j->result->errors[j->result->bad] = *err;
    j->result->bad++;
    pthread_mutex_unlock(&j->lock);
}

/* A file that is wrong does not end the search for others. */
static int verify_one(struct pr_generate_job *j, struct pr_generate_worker *w,
                      uint64_t f, struct pr_err *err)
{
    uint64_t bytes = 0;
    int rc = pr_generate_worker_verify(w, f, &bytes, err);

    if (rc == PR_E_FORMAT || rc == PR_E_IO) {
        if (!*err->hint)
            pr_hint(err, "remove the file and make it again with --resume, or "
                         "make all again with --force");
        generate_keep_bad(j, err);
        note_failure(j, rc, err);
        return PR_OK;
    }
    if (!rc)
        atomic_fetch_add(&j->bytes, bytes);
    return rc;
}

static int generate_run_worker(struct pr_generate_job *j,
                               struct pr_generate_worker *w, struct pr_err *err)
{
    uint64_t total = pr_dataset_files(j->set), f;
    int rc = PR_OK;

    while (!rc && (f = atomic_fetch_add(&j->next, 1)) < total &&
           !__atomic_load_n(&j->stop, __ATOMIC_RELAXED)) {
        rc = j->verifying ? verify_one(j, w, f, err)
                          : generate_make_file(j, w, f, err);
        if (!rc)
            atomic_fetch_add(&j->files, 1);
    }
    return rc;
}

/* Progress is what the storages of all threads have written. */
static void join_in(struct pr_generate_job *j, struct pr_storage *st,
                    unsigned *ret_slot)
{
    pthread_mutex_lock(&j->lock);
    *ret_slot = j->started++;
    j->storages[*ret_slot] = st;
    pthread_mutex_unlock(&j->lock);
}

static void *thread_main(void *arg)
{
    struct pr_generate_job *j = arg;
    struct pr_generate_worker w;
    struct pr_err err = {0};
    unsigned slot;
    int rc =
        pr_generate_worker_init(&w, j->set, j->so, j->first, &j->stop, &err);

    if (!rc) {
        join_in(j, w.st, &slot);
        rc = generate_run_worker(j, &w, &err);
        pthread_mutex_lock(&j->lock);
        j->written += pr_storage_written(w.st);
        j->storages[slot] = NULL;
        snprintf(j->result->engine, sizeof j->result->engine, "%s",
                 pr_storage_engine(w.st));
        snprintf(j->result->note, sizeof j->result->note, "%s",
                 pr_storage_warning(w.st));
        pthread_mutex_unlock(&j->lock);
        pr_generate_worker_done(&w);
    }
    if (rc) {
        note_failure(j, rc, &err);
        stop_all(j);
    }
    pthread_mutex_lock(&j->lock);
    j->running--;
    pthread_cond_signal(&j->ended);
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

/* ---- all of them */

static uint64_t generate_count_written(struct pr_generate_job *j)
{
    uint64_t sum;

    pthread_mutex_lock(&j->lock);
    sum = j->written;
    for (unsigned i = 0; i < j->started; i++)
        if (j->storages[i])
            sum += pr_storage_written(j->storages[i]);
    pthread_mutex_unlock(&j->lock);
    return sum;
}

/* Tells the caller how far things are, and whether to stop. */
static void generate_tick_now(struct pr_generate_job *j)
{
    j->status.files = atomic_load(&j->files);
    j->status.bytes =
        j->verifying ? atomic_load(&j->bytes) : generate_count_written(j);
    if (j->tick && j->tick(j->ctx, &j->status))
        stop_all(j);
}

int pr_generate_keep_going(struct pr_generate_job *j, uint64_t f,
                           struct pr_err *err)
{
    if (f % 256 == 255)
        generate_tick_now(j);
    return j->stop ? pr_fail(err, PR_E_INTR, j->place, "interrupted") : PR_OK;
}

static void wait_for_threads(struct pr_generate_job *j)
{
    struct timespec until;

    pthread_mutex_lock(&j->lock);
    while (j->running) {
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += TICK_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&j->ended, &j->lock, &until);
        pthread_mutex_unlock(&j->lock);
        generate_tick_now(j);
        pthread_mutex_lock(&j->lock);
    }
    pthread_mutex_unlock(&j->lock);
}

static unsigned thread_count(const struct pr_generate_job *j)
{
    uint64_t files = pr_dataset_files(j->set);
    unsigned n = j->opts->threads;
    cpu_set_t cpus;

    if (!n && sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        n = (unsigned)CPU_COUNT(&cpus);
    if (!n)
        n = 1;
    if (n > MAX_THREADS)
        n = MAX_THREADS;
    return n > files ? (unsigned)(files ? files : 1) : n;
}

int pr_generate_run_phase(struct pr_generate_job *j, const char *phase,
                          bool verifying, double *ret_seconds,
                          struct pr_err *err)
{
    unsigned n = thread_count(j), started = 0;
    pthread_t *threads = pr_alloc(n * sizeof *threads);
    uint64_t start = pr_clock_ns();

    j->storages = pr_alloc_zeroed(n * sizeof *j->storages);
    if (!threads || !j->storages) {
        pr_free(threads);
        pr_free(j->storages);
        return pr_fail_nomem(err);
    }
    j->verifying = verifying;
    j->status.phase = phase;
    j->rc = PR_OK;
    j->written = 0;
    j->started = 0;
    atomic_store(&j->next, 0);
    atomic_store(&j->files, 0);
    atomic_store(&j->bytes, 0);
    j->result->threads = n;
    j->running = n;
    while (started < n &&
           pthread_create(&threads[started], NULL, thread_main, j) == 0)
        started++;
    pthread_mutex_lock(&j->lock);
    j->running -= n - started; /* fewer will do */
    pthread_mutex_unlock(&j->lock);
    if (!started)
        j->rc = pr_fail(&j->err, PR_E_IO, "", "cannot start a thread");
    wait_for_threads(j);
    while (started)
        pthread_join(threads[--started], NULL);
    generate_tick_now(j);
    pr_free(threads);
    pr_free(j->storages);
    j->started = 0; /* there is nobody to ask any more */
    *ret_seconds = (double)(pr_clock_ns() - start) / 1e9;
    if (j->rc == PR_E_INTR)
        pr_fail(&j->err, PR_E_INTR, j->place, "interrupted");
    if (j->rc && err)
        *err = j->err;
    if (!j->rc && j->stop)
        j->rc = pr_fail(err, PR_E_INTR, j->place, "interrupted");
    return j->rc;
}
