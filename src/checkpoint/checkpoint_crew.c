/* Threads that do the files of all ranks. */
#include "checkpoint/checkpoint_crew.h"

#include "base/clock.h"
#include "base/mem.h"
#include "checkpoint/checkpoint_file.h"
#include "machine/kernel_file.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS_MAX = 64 };

struct hand {
    struct pr_checkpoint_threads *crew;
    struct pr_storage *st;
    struct pr_checkpoint_io io;
    pthread_t thread;
};

struct pr_checkpoint_threads {
    const struct pr_checkpoint_shape *shape;
    const bool *stop;
    struct hand *hands;
    unsigned count, started;
    struct rank_time {
        uint64_t ns;
        bool had_files;
    } * took;

    struct pr_clock *clock;

    const struct pr_checkpoint_threads_job *job;
    _Atomic uint32_t number; /* of the job; a thread does each once */
    _Atomic uint32_t busy;   /* threads that are at it */
    _Atomic bool quit;
    pthread_mutex_t lock; /* of the error */
    struct pr_err error;

    uint64_t next;   /* rank to be taken; atomic */
    bool halt;       /* atomic: all stop, for an error or by wish */
    uint64_t before; /* bytes of earlier jobs */
    char note[200];
};

/* ---- one rank */

static int do_file(struct hand *h, const struct pr_checkpoint_threads_job *job,
                   const struct pr_checkpoint_file *f, struct pr_err *err)
{
    if (job->is_read)
        return pr_checkpoint_file_read(&h->io, job->folder, f, job->key,
                                       h->crew->shape->opts.verify, err);
    return pr_checkpoint_file_write(&h->io, job->folder, f, job->key, err);
}

/* i is the number of the rank among those run here. */
static int do_rank(struct hand *h, const struct pr_checkpoint_threads_job *job,
                   uint64_t i, struct pr_err *err)
{
    struct pr_checkpoint_threads *c = h->crew;
    uint64_t rank = c->shape->first +
                    (i + (job->is_read ? job->shift : 0)) % c->shape->ranks;
    uint64_t files = pr_checkpoint_file_count(c->shape, rank);
    uint64_t since = files ? job->start_ns : pr_now(c->clock);
    int rc = PR_OK;

    for (uint64_t n = 0; !rc && n < files; n++) {
        struct pr_checkpoint_file f;

        pr_checkpoint_get_file(c->shape, rank, n, &f);
        rc = do_file(h, job, &f, err);
    }
    c->took[i] = (struct rank_time){pr_now(c->clock) - since, files > 0};
    return rc;
}

static void note_error(struct pr_checkpoint_threads *c,
                       const struct pr_err *err)
{
    pthread_mutex_lock(&c->lock);
    /* That others had to stop is no reason of its own. */
    if (!c->error.code || c->error.code == PR_E_INTR)
        c->error = *err;
    pthread_mutex_unlock(&c->lock);
    __atomic_store_n(&c->halt, true, __ATOMIC_RELAXED);
}

static void do_job(struct hand *h, const struct pr_checkpoint_threads_job *job)
{
    struct pr_checkpoint_threads *c = h->crew;
    struct pr_err err = {0};
    int rc = PR_OK;

    while (!rc && !__atomic_load_n(&c->halt, __ATOMIC_RELAXED)) {
        uint64_t i = __atomic_fetch_add(&c->next, 1, __ATOMIC_RELAXED);

        if (i >= c->shape->ranks)
            return;
        rc = do_rank(h, job, i, &err);
    }
    if (rc)
        note_error(c, &err);
}

/* ---- threads */

static void *checkpoint_thread_main(void *ctx)
{
    struct hand *h = ctx;
    struct pr_checkpoint_threads *c = h->crew;
    uint32_t seen = 0;

    for (;;) {
        while (c->number == seen)
            pr_sleep_on(c->clock, &c->number, seen, 0);
        if (c->quit)
            break;
        seen = c->number;
        do_job(h, c->job);
        if (--c->busy == 0)
            pr_wake(c->clock, &c->busy, 1);
    }
    pr_attend(c->clock, -1);
    return NULL;
}

/* Blocks in more than half of the free memory would push out what is
 * measured. */
static unsigned checkpoint_choose_threads(struct pr_checkpoint_threads *c,
                                          const struct pr_storage *st)
{
    const struct pr_checkpoint_shape *s = c->shape;
    uint64_t n = s->opts.writers ? (uint64_t)s->opts.writers : THREADS_MAX;
    uint64_t block = s->opts.block_size * pr_storage_depth(st);
    uint64_t fit = pr_machine_available_memory() / 2 / (block + 65536);

    fit = fit ? fit : 1;
    if (n > s->ranks)
        n = s->ranks;
    if (n <= fit)
        return (unsigned)n;
    snprintf(c->note, sizeof c->note,
             "%llu threads write and read instead of %llu: the blocks of more "
             "would take over half of the free memory",
             (unsigned long long)fit, (unsigned long long)n);
    return (unsigned)fit;
}

static int open_hand(struct pr_checkpoint_threads *c, struct hand *h,
                     struct pr_storage *first, struct pr_err *err)
{
    int rc = pr_storage_open_beside(first, &h->st, err);

    h->crew = c;
    if (rc)
        return rc;
    pr_storage_stop_by(h->st, &c->halt);
    pr_storage_time_by(h->st, c->clock);
    return pr_checkpoint_io_init(&h->io, c->shape, h->st, &c->halt, err);
}

static int start_hands(struct pr_checkpoint_threads *c,
                       struct pr_storage *first, struct pr_err *err)
{
    int rc = PR_OK;

    for (unsigned i = 0; !rc && i < c->count; i++)
        rc = open_hand(c, &c->hands[i], first, err);
    while (!rc && c->started < c->count) {
        struct hand *h = &c->hands[c->started];

        pr_attend(c->clock, 1);
        if (pthread_create(&h->thread, NULL, checkpoint_thread_main, h)) {
            pr_attend(c->clock, -1);
            pr_fail(err, PR_E_NOMEM, "checkpoint.writers",
                    "cannot start thread %u of %u", c->started + 1, c->count);
            return pr_hint(err, "set it to a smaller number");
        }
        c->started++;
    }
    return rc;
}

int pr_checkpoint_threads_new(const struct pr_checkpoint_shape *shape,
                              struct pr_storage *first, const bool *stop,
                              struct pr_clock *clock,
                              struct pr_checkpoint_threads **ret,
                              struct pr_err *err)
{
    struct pr_checkpoint_threads *c = pr_alloc_zeroed(sizeof *c);
    int rc;

    if (!c)
        return pr_fail_nomem(err);
    c->shape = shape;
    c->stop = stop;
    c->clock = clock;
    c->count = checkpoint_choose_threads(c, first);
    pthread_mutex_init(&c->lock, NULL);
    c->hands = pr_alloc_zeroed(c->count * sizeof *c->hands);
    c->took = pr_alloc_zeroed((size_t)shape->ranks * sizeof *c->took);
    rc = c->hands && c->took ? start_hands(c, first, err) : pr_fail_nomem(err);
    if (rc) {
        pr_checkpoint_threads_free(c);
        return rc;
    }
    *ret = c;
    return PR_OK;
}

static void tell_all(struct pr_checkpoint_threads *c)
{
    c->number++;
    pr_wake(c->clock, &c->number, UINT32_MAX);
}

void pr_checkpoint_threads_free(struct pr_checkpoint_threads *c)
{
    if (!c)
        return;
    c->quit = true;
    tell_all(c);
    pr_attend(c->clock, -1);
    for (unsigned i = 0; i < c->started; i++)
        pthread_join(c->hands[i].thread, NULL);
    pr_attend(c->clock, 1);
    for (unsigned i = 0; c->hands && i < c->count; i++)
        pr_storage_close(c->hands[i].st);
    pthread_mutex_destroy(&c->lock);
    pr_free(c->hands);
    pr_free(c->took);
    pr_free(c);
}

unsigned pr_checkpoint_threads_count(const struct pr_checkpoint_threads *c)
{
    return c->count;
}

const char *pr_checkpoint_threads_warning(const struct pr_checkpoint_threads *c)
{
    for (unsigned i = 0; i < c->count; i++)
        if (*pr_storage_warning(c->hands[i].st))
            return pr_storage_warning(c->hands[i].st);
    return c->note;
}

/* ---- a job */

static uint64_t checkpoint_threads_bytes(const struct pr_checkpoint_threads *c)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < c->count; i++)
        sum += __atomic_load_n(&c->hands[i].io.bytes, __ATOMIC_RELAXED);
    return sum;
}

void pr_checkpoint_threads_begin(struct pr_checkpoint_threads *c,
                                 const struct pr_checkpoint_threads_job *job)
{
    memset(c->took, 0, (size_t)c->shape->ranks * sizeof *c->took);
    c->before = checkpoint_threads_bytes(c);
    c->job = job;
    c->busy = c->count;
    c->next = 0;
    c->halt = false;
    c->error = (struct pr_err){0};
    tell_all(c);
}

bool pr_checkpoint_threads_wait(struct pr_checkpoint_threads *c,
                                unsigned milliseconds)
{
    uint64_t until = pr_now(c->clock) + milliseconds * UINT64_C(1000000);
    uint32_t busy;

    if (__atomic_load_n(c->stop, __ATOMIC_RELAXED))
        __atomic_store_n(&c->halt, true, __ATOMIC_RELAXED);
    while ((busy = c->busy) && pr_now(c->clock) < until)
        pr_sleep_on(c->clock, &c->busy, busy, until);
    return busy == 0;
}

uint64_t pr_checkpoint_threads_job_bytes(const struct pr_checkpoint_threads *c)
{
    return checkpoint_threads_bytes(c) - c->before;
}

int pr_checkpoint_threads_error(const struct pr_checkpoint_threads *c,
                                struct pr_err *err)
{
    if (c->error.code && err)
        *err = c->error;
    if (!c->error.code && c->halt)
        return pr_fail(err, PR_E_INTR, "", "interrupted");
    return c->error.code;
}

bool pr_checkpoint_threads_rank_time(const struct pr_checkpoint_threads *c,
                                     uint64_t i, uint64_t *ret_ns)
{
    *ret_ns = c->took[i].ns;
    return c->took[i].had_files;
}
