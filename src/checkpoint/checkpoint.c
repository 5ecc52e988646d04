/* Writing and reading checkpoints of all ranks. */
#include "checkpoint/checkpoint.h"

#include "base/clock.h"
#include "base/mem.h"
#include "checkpoint/checkpoint_file.h"
#include "checkpoint/checkpoint_folder.h"
#include "checkpoint/checkpoint_ops.h"
#include "checkpoint/checkpoint_shape.h"
#include "machine/kernel_file.h"
#include "storage/storage.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* ---- how much of a checkpoint is in the page cache */

struct look {
    struct pr_storage *st;
    bool drop;
    uint64_t cached, bytes;
    bool known;
};

static int cache_check_file(struct look *l, const char *path,
                            struct pr_err *err)
{
    uint64_t cached = 0, bytes = 0;
    int rc = l->drop ? pr_storage_drop_cache(l->st, path, err) : PR_OK;

    if (rc)
        return rc;
    rc = pr_storage_cached_bytes(l->st, path, &cached, &bytes, err);
    l->known = l->known && rc == 1;
    l->cached += cached;
    l->bytes += bytes;
    return rc < 0 && rc != PR_E_UNAVAIL ? rc : PR_OK;
}

/* Drops the files of the ranks run here with drop, then finds out which share
 * of them is there; -1: not known. */
static int checkpoint_cached_share(const struct pr_checkpoint_shape *shape,
                                   struct pr_storage *st, const char *folder,
                                   bool drop, double *ret, struct pr_err *err)
{
    struct look l = {.st = st, .drop = drop, .known = true};
    int rc = PR_OK;

    for (uint64_t i = 0; !rc && i < shape->ranks; i++) {
        uint64_t rank = shape->first + i,
                 files = pr_checkpoint_file_count(shape, rank);

        for (uint64_t n = 0; !rc && n < files; n++) {
            struct pr_checkpoint_file f;
            char path[80 + sizeof f.name];

            pr_checkpoint_get_file(shape, rank, n, &f);
            snprintf(path, sizeof path, "%s/%s", folder, f.name);
            rc = cache_check_file(&l, path, err);
        }
    }
    if (rc && err && err->sys_errno == ENOENT)
        (void)pr_hint(err, "%s", pr_checkpoint_other_model);
    if (!rc)
        *ret = l.known && l.bytes ? (double)l.cached / (double)l.bytes : -1;
    return rc;
}

/* ---- sums over checkpoints */

/* Whether the next one is listed. */
static bool checkpoint_ops_has_room(const struct pr_checkpoint_ops *all)
{
    return all->listed < PR_CHECKPOINT_LISTED;
}

static void add_total(struct pr_checkpoint_total *t,
                      const struct pr_checkpoint_op *op)
{
    double rate = op->slowest_s > 0 ? (double)op->bytes / op->slowest_s : 0;

    t->count++;
    t->bytes += op->bytes;
    t->slowest_s += op->slowest_s;
    t->slowest_square += op->slowest_s * op->slowest_s;
    if (op->slowest_s > t->slowest_max_s)
        t->slowest_max_s = op->slowest_s;
    if (op->is_read && op->cached >= 0) {
        t->cached += op->cached;
        t->cached_count++;
    }
    t->mean_s += op->mean_s;
    t->rate += rate;
    t->rate_square += rate * rate;
}

/* Adds one. */
static int checkpoint_ops_add(struct pr_checkpoint_ops *all,
                              const struct pr_checkpoint_op *op,
                              struct pr_arena *a, struct pr_err *err)
{
    struct pr_checkpoint_op *copy;

    add_total(&all->total[op->is_read], op);
    if (!checkpoint_ops_has_room(all))
        return PR_OK;
    copy = PR_ARENA_NEW(a, struct pr_checkpoint_op);
    if (!copy)
        return pr_fail_nomem(err);
    *copy = *op;
    copy->next = NULL;
    all->listed++;
    if (all->last)
        all->last->next = copy;
    else
        all->first = copy;
    all->last = copy;
    return PR_OK;
}

double pr_checkpoint_mean(double sum, uint64_t count)
{
    return count ? sum / (double)count : 0;
}

double pr_checkpoint_stdev(double sum, double square, uint64_t count)
{
    double mean = pr_checkpoint_mean(sum, count);
    double d = pr_checkpoint_mean(square, count) - mean * mean;

    return d > 0 ? sqrt(d) : 0;
}

/* ---- the threads that write and read the files of all ranks: each takes the
 * next rank that nobody has and does its files in order */

/* One operation over all ranks. */
struct pr_checkpoint_threads_job {
    bool is_read;
    const char *folder;
    uint64_t start_ns; /* when it began, by the clock */
    uint64_t key;      /* of the contents */
    uint64_t shift;    /* reading: rank r takes what rank r + shift wrote */
};

struct pr_checkpoint_threads;

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

/* ---- all threads */

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

static void tell_all(struct pr_checkpoint_threads *c)
{
    c->number++;
    pr_wake(c->clock, &c->number, UINT32_MAX);
}

/* NULL is fine */
static void checkpoint_threads_free(struct pr_checkpoint_threads *c)
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

/* Storages are opened beside `first`. stop becomes true: give up. clock NULL:
 * the machine's. */
static int checkpoint_threads_new(const struct pr_checkpoint_shape *shape,
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
        checkpoint_threads_free(c);
        return rc;
    }
    *ret = c;
    return PR_OK;
}

/* Why a thread does it in another way than was asked for; "" when none does. */
static const char *
checkpoint_threads_warning(const struct pr_checkpoint_threads *c)
{
    for (unsigned i = 0; i < c->count; i++)
        if (*pr_storage_warning(c->hands[i].st))
            return pr_storage_warning(c->hands[i].st);
    return c->note;
}

/* ---- a job of the threads */

static uint64_t checkpoint_threads_bytes(const struct pr_checkpoint_threads *c)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < c->count; i++)
        sum += __atomic_load_n(&c->hands[i].io.bytes, __ATOMIC_RELAXED);
    return sum;
}

/* Starts a job; job is borrowed until it is done. */
static void
checkpoint_threads_begin(struct pr_checkpoint_threads *c,
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

/* Waits for its end, at most so long. True: it has ended. */
static bool checkpoint_threads_wait(struct pr_checkpoint_threads *c,
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

/* Bytes written or read since it began; at any time. */
static uint64_t
checkpoint_threads_job_bytes(const struct pr_checkpoint_threads *c)
{
    return checkpoint_threads_bytes(c) - c->before;
}

/* After its end: what went wrong first, or PR_OK. */
static int checkpoint_threads_error(const struct pr_checkpoint_threads *c,
                                    struct pr_err *err)
{
    if (c->error.code && err)
        *err = c->error;
    if (!c->error.code && c->halt)
        return pr_fail(err, PR_E_INTR, "", "interrupted");
    return c->error.code;
}

/* How long rank i of those run here (from 0) took, since the job began. One
 * that had no files: how long it took to see that. Whether it had any. */
static bool checkpoint_threads_rank_time(const struct pr_checkpoint_threads *c,
                                         uint64_t i, uint64_t *ret_ns)
{
    *ret_ns = c->took[i].ns;
    return c->took[i].had_files;
}

enum { TICK_MS = 100, NAME_BYTES = 80 };

struct pr_checkpoint {
    struct pr_checkpoint_open_opts opts;
    const struct pr_checkpoint_shape *shape;
    struct pr_checkpoint_folder place;
    struct pr_storage *st;
    struct pr_checkpoint_threads *crew;
    struct pr_checkpoint_sum sum;  /* of the ranks run here */
    struct pr_checkpoint_at *kept; /* a ring of checkpoint.keep */
    uint64_t saved;
};

/* ---- opening a checkpoint */

/* Two runs that write there would mix their files. */
static int lock_place(struct pr_checkpoint *c, struct pr_err *err)
{
    struct pr_err why = {0};
    int rc = pr_storage_lock(c->st, "", &why);

    if (!rc)
        return PR_OK;
    pr_fail(err, rc, c->place.folder, "%s", why.msg);
    return pr_hint(err, "%s", why.hint);
}

/* The folder, ours alone from now on, without what killed runs had begun. One
 * that is not there is made when there is room for what will be in it. */
static int checkpoint_claim_folder(struct pr_checkpoint *c,
                                   const struct pr_checkpoint_names *names,
                                   struct pr_err *err)
{
    struct pr_object_info info;
    int rc = pr_storage_stat(c->st, "", &info, err);
    bool is_there = rc == 1;

    if (rc >= 0)
        rc = is_there ? lock_place(c, err) : PR_OK;
    if (!rc && is_there)
        rc = pr_checkpoint_folder_clean(c->st, err);
    if (!rc)
        rc = pr_checkpoint_folder_check_room(&c->place, c->st, c->shape, names,
                                             err);
    if (rc || is_there)
        return rc;
    rc = pr_storage_make_folder(c->st, "", err);
    if (rc)
        (void)pr_hint(err, "%s", pr_checkpoint_folder_hint);
    return rc ? rc : lock_place(c, err);
}

int pr_checkpoint_open(const struct pr_checkpoint_open_opts *opts,
                       const struct pr_checkpoint_names *names,
                       struct pr_checkpoint **ret, struct pr_err *err)
{
    struct pr_checkpoint *c = pr_alloc_zeroed(sizeof *c);
    size_t keep = (size_t)opts->shape->opts.keep;
    int rc;

    if (!c)
        return pr_fail_nomem(err);
    c->opts = *opts;
    c->shape = opts->shape;
    pr_checkpoint_sum_ranks(c->shape, c->shape->first, c->shape->ranks,
                            &c->sum);
    if (keep > names->count)
        keep = (size_t)names->count;
    c->kept = pr_alloc_zeroed((keep + 1) * sizeof *c->kept);
    rc = c->kept ? pr_checkpoint_folder_find(&c->place, c->shape, opts->storage,
                                             err)
                 : pr_fail_nomem(err);
    if (!rc)
        rc = pr_checkpoint_folder_open(&c->place, &c->st, err);
    if (!rc) {
        pr_storage_stop_by(c->st, opts->stop);
        pr_storage_time_by(c->st, opts->clock);
        rc = names->count ? checkpoint_claim_folder(c, names, err) : PR_OK;
    }
    if (!rc)
        rc = checkpoint_threads_new(c->shape, c->st, opts->stop, opts->clock,
                                    &c->crew, err);
    if (rc) {
        pr_checkpoint_close(c);
        return rc;
    }
    *ret = c;
    return PR_OK;
}

void pr_checkpoint_close(struct pr_checkpoint *c)
{
    if (!c)
        return;
    checkpoint_threads_free(c->crew);
    pr_storage_close(c->st);
    pr_free(c->kept);
    pr_free(c);
}

const char *pr_checkpoint_warning(const struct pr_checkpoint *c)
{
    return *pr_storage_warning(c->st) ? pr_storage_warning(c->st)
                                      : checkpoint_threads_warning(c->crew);
}

const char *pr_checkpoint_engine(const struct pr_checkpoint *c)
{
    return pr_storage_engine(c->st);
}

unsigned pr_checkpoint_thread_count(const struct pr_checkpoint *c)
{
    return c->crew->count;
}

/* ---- counting */

static void count_ranks(const struct pr_checkpoint *c,
                        struct pr_checkpoint_op *op)
{
    double sum = 0, fastest = -1;

    for (uint64_t i = 0; i < c->shape->ranks; i++) {
        uint64_t ns;
        double s;

        if (!checkpoint_threads_rank_time(c->crew, i, &ns))
            continue;
        s = (double)ns / 1e9;
        op->writers++;
        sum += s;
        fastest = fastest < 0 || s < fastest ? s : fastest;
    }
    /* The checkpoint is there when it has its name. */
    op->slowest_s = (double)(op->end_ns - op->start_ns) / 1e9;
    op->fastest_s = fastest < 0 ? op->slowest_s : fastest;
    op->mean_s = op->writers ? sum / (double)op->writers : op->slowest_s;
}

/* What each rank took, of those that have a file of results. The one that ends
 * last gives the checkpoint its name, which is part of its time. */
static int list_ranks(const struct pr_checkpoint *c,
                      struct pr_checkpoint_op *op, struct pr_err *err)
{
    uint64_t n = c->shape->ranks < c->opts.listed_ranks ? c->shape->ranks
                                                        : c->opts.listed_ranks;
    uint64_t last = 0, most = 0, ns;

    if (!checkpoint_ops_has_room(c->opts.ops) || !n)
        return PR_OK;
    op->rank_s = PR_ARENA_ARRAY(c->opts.arena, float, (size_t)n);
    if (!op->rank_s)
        return pr_fail_nomem(err);
    for (uint64_t i = 0; i < c->shape->ranks; i++) {
        bool takes_part = checkpoint_threads_rank_time(c->crew, i, &ns);

        if (takes_part && ns > most) {
            most = ns;
            last = i;
        }
        if (i < n)
            op->rank_s[i] =
                (float)(c->shape->opts.rank_sync ? op->slowest_s
                                                 : (double)ns / 1e9);
    }
    if (last < n)
        op->rank_s[last] = (float)op->slowest_s;
    return PR_OK;
}

static int count_op(struct pr_checkpoint *c, struct pr_checkpoint_op *op,
                    struct pr_err *err)
{
    int rc;

    op->end_ns = pr_now(c->opts.clock);
    op->end_wall_ns = op->start_wall_ns + (op->end_ns - op->start_ns);
    op->bytes = c->sum.model_bytes + c->sum.optimizer_bytes;
    op->files = c->sum.files;
    count_ranks(c, op);
    rc = list_ranks(c, op, err);
    return rc ? rc : checkpoint_ops_add(c->opts.ops, op, c->opts.arena, err);
}

static void start_op(const struct pr_checkpoint *c, struct pr_checkpoint_op *op)
{
    op->start_wall_ns = pr_wall_now(c->opts.clock);
    op->start_ns = pr_now(c->opts.clock);
}

static int checkpoint_run_threads(struct pr_checkpoint *c,
                                  const struct pr_checkpoint_threads_job *job,
                                  struct pr_err *err)
{
    checkpoint_threads_begin(c->crew, job);
    while (!checkpoint_threads_wait(c->crew, TICK_MS))
        if (c->opts.tick)
            c->opts.tick(c->opts.tick_ctx, job->is_read,
                         checkpoint_threads_job_bytes(c->crew),
                         c->sum.disk_bytes);
    return checkpoint_threads_error(c->crew, err);
}

/* ---- writing */

/* TensorFlow keeps the name of the newest checkpoint in a file beside it. */
static int write_newest(struct pr_checkpoint *c, const char *folder,
                        struct pr_err *err)
{
    static const char text[] = "model_checkpoint_path: \"1\"\n";
    char name[NAME_BYTES + 16];

    if (!c->shape->is_tensorflow || !c->sum.files)
        return PR_OK;
    snprintf(name, sizeof name, "%s/checkpoint", folder);
    return pr_checkpoint_file_write_text(c->st, name, text, sizeof text - 1,
                                         c->shape->opts.fsync, err);
}

/* Everything under the hidden name, then the rename. */
static int write_all(struct pr_checkpoint *c, const char *part,
                     const char *name, const struct pr_checkpoint_op *op,
                     bool *ret_swapped, struct pr_err *err)
{
    struct pr_checkpoint_threads_job job = {
        .folder = part,
        .start_ns = op->start_ns,
        .key = pr_checkpoint_make_key(c->shape, op->at.epoch, op->at.step),
    };
    int rc = pr_storage_make_folder(c->st, part, err);

    if (!rc)
        rc = checkpoint_run_threads(c, &job, err);
    if (!rc)
        rc = write_newest(c, part, err);
    if (!rc && __atomic_load_n(c->opts.stop, __ATOMIC_RELAXED))
        rc = pr_fail(err, PR_E_INTR, "", "interrupted");
    if (!rc)
        rc = pr_storage_publish(c->st, part, name, c->shape->opts.fsync,
                                ret_swapped, err);
    return rc;
}

/* Forgets the oldest of this run when there are more than are kept. */
static int remove_old(struct pr_checkpoint *c,
                      const struct pr_checkpoint_at *at, struct pr_err *err)
{
    uint64_t keep = (uint64_t)c->shape->opts.keep;
    char name[64];
    struct pr_checkpoint_at *slot;

    if (!keep)
        return PR_OK;
    slot = &c->kept[c->saved++ % keep];
    if (c->saved > keep) {
        int rc = pr_storage_remove_all(
            c->st, pr_checkpoint_folder_name(name, slot->epoch, slot->step),
            err);

        if (rc)
            return rc;
    }
    *slot = *at;
    return PR_OK;
}

int pr_checkpoint_save(struct pr_checkpoint *c,
                       const struct pr_checkpoint_at *at,
                       struct pr_checkpoint_op *ret, struct pr_err *err)
{
    struct pr_checkpoint_op op = {.at = *at};
    char name[64], part[NAME_BYTES];
    bool swapped = false;
    int rc;

    pr_checkpoint_folder_name(name, at->epoch, at->step);
    snprintf(part, sizeof part, PR_PART_PREFIX "%s", name);
    /* What a run that was killed had begun. */
    PR_TRY(pr_storage_remove_all(c->st, part, err));
    start_op(c, &op);
    rc = write_all(c, part, name, &op, &swapped, err);
    if (!rc)
        rc = count_op(c, &op, err);
    if (rc || swapped) {
        struct pr_err later = {0};

        if (pr_storage_remove_all(c->st, part, &later) && !rc) {
            rc = later.code;
            *err = later;
        }
    }
    if (!rc)
        rc = remove_old(c, at, err);
    if (!rc)
        *ret = op;
    return rc;
}

/* ---- reading */

static uint64_t shift_of(const struct pr_checkpoint *c)
{
    const struct pr_checkpoint_opts *o = &c->shape->opts;

    if (!o->recovery_rank_shift)
        return 0;
    if (o->rank_shift)
        return (uint64_t)o->rank_shift;
    return c->opts.nodes > 1 && c->shape->ranks > c->opts.nodes
               ? c->shape->ranks / c->opts.nodes
               : 1;
}

static int must_be_there(struct pr_checkpoint *c, const char *name,
                         struct pr_err *err)
{
    struct pr_object_info info;
    int rc = pr_storage_stat(c->st, name, &info, err);

    if (rc < 0 || (rc == 1 && info.is_folder))
        return rc < 0 ? rc : PR_OK;
    pr_fail(err, PR_E_IO, c->place.folder,
            "there is no checkpoint '%s' to read", name);
    return pr_hint(err, "write it first, with checkpoint.num_checkpoints_write "
                        "and without removing it by checkpoint.keep");
}

int pr_checkpoint_load(struct pr_checkpoint *c,
                       const struct pr_checkpoint_at *at,
                       struct pr_checkpoint_op *ret, struct pr_err *err)
{
    struct pr_checkpoint_op op = {.is_read = true, .at = *at};
    char name[64];
    struct pr_checkpoint_threads_job job = {
        .is_read = true,
        .folder = pr_checkpoint_folder_name(name, at->epoch, at->step),
        .key = pr_checkpoint_make_key(c->shape, at->epoch, at->step),
        .shift = shift_of(c),
    };
    int rc = must_be_there(c, name, err);

    if (!rc)
        rc = checkpoint_cached_share(c->shape, c->st, name, c->opts.cold,
                                     &op.cached, err);
    if (rc)
        return rc;
    start_op(c, &op);
    job.start_ns = op.start_ns;
    rc = checkpoint_run_threads(c, &job, err);
    if (!rc)
        rc = count_op(c, &op, err);
    if (!rc)
        *ret = op;
    return rc;
}
