/* Writing and reading checkpoints of all ranks. */
#include "checkpoint/checkpoint.h"

#include "base/clock.h"
#include "base/mem.h"
#include "checkpoint/checkpoint_cache.h"
#include "checkpoint/checkpoint_crew.h"
#include "checkpoint/checkpoint_file.h"
#include "checkpoint/checkpoint_place.h"

#include <stdio.h>
#include <string.h>

enum { TICK_MS = 100, NAME_BYTES = 80 };

struct pr_checkpoint {
    struct pr_checkpoint_open_opts opts;
    const struct pr_checkpoint_shape *shape;
    struct pr_checkpoint_place place;
    struct pr_storage *st;
    struct pr_checkpoint_threads *crew;
    struct pr_checkpoint_sum sum;  /* of the ranks run here */
    struct pr_checkpoint_at *kept; /* a ring of checkpoint.keep */
    uint64_t saved;
};

/* ---- opening */

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
        rc = pr_checkpoint_place_clean(c->st, err);
    if (!rc)
        rc = pr_checkpoint_place_check_room(&c->place, c->st, c->shape, names,
                                            err);
    if (rc || is_there)
        return rc;
    rc = pr_storage_make_folder(c->st, "", err);
    if (rc)
        (void)pr_hint(err, "%s", pr_checkpoint_place_hint);
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
    rc = c->kept
             ? pr_checkpoint_place_find(&c->place, c->shape, opts->storage, err)
             : pr_fail_nomem(err);
    if (!rc)
        rc = pr_checkpoint_place_open(&c->place, &c->st, err);
    if (!rc) {
        pr_storage_stop_by(c->st, opts->stop);
        pr_storage_time_by(c->st, opts->clock);
        rc = names->count ? checkpoint_claim_folder(c, names, err) : PR_OK;
    }
    if (!rc)
        rc = pr_checkpoint_threads_new(c->shape, c->st, opts->stop, opts->clock,
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
    pr_checkpoint_threads_free(c->crew);
    pr_storage_close(c->st);
    pr_free(c->kept);
    pr_free(c);
}

const char *pr_checkpoint_warning(const struct pr_checkpoint *c)
{
    return *pr_storage_warning(c->st) ? pr_storage_warning(c->st)
                                      : pr_checkpoint_threads_warning(c->crew);
}

const char *pr_checkpoint_engine(const struct pr_checkpoint *c)
{
    return pr_storage_engine(c->st);
}

unsigned pr_checkpoint_thread_count(const struct pr_checkpoint *c)
{
    return pr_checkpoint_threads_count(c->crew);
}

/* ---- counting */

static void count_ranks(const struct pr_checkpoint *c,
                        struct pr_checkpoint_op *op)
{
    double sum = 0, fastest = -1;

    for (uint64_t i = 0; i < c->shape->ranks; i++) {
        uint64_t ns;
        double s;

        if (!pr_checkpoint_threads_rank_time(c->crew, i, &ns))
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

    if (!pr_checkpoint_ops_has_room(c->opts.ops) || !n)
        return PR_OK;
    op->rank_s = PR_ARENA_ARRAY(c->opts.arena, float, (size_t)n);
    if (!op->rank_s)
        return pr_fail_nomem(err);
    for (uint64_t i = 0; i < c->shape->ranks; i++) {
        bool takes_part = pr_checkpoint_threads_rank_time(c->crew, i, &ns);

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
    return rc ? rc : pr_checkpoint_ops_add(c->opts.ops, op, c->opts.arena, err);
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
    pr_checkpoint_threads_begin(c->crew, job);
    while (!pr_checkpoint_threads_wait(c->crew, TICK_MS))
        if (c->opts.tick)
            c->opts.tick(c->opts.tick_ctx, job->is_read,
                         pr_checkpoint_threads_job_bytes(c->crew),
                         c->sum.disk_bytes);
    return pr_checkpoint_threads_error(c->crew, err);
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
    rc = pr_storage_remove_all(c->st, part, err);
    if (rc)
        return rc;
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
        rc = pr_checkpoint_cached_share(c->shape, c->st, name, c->opts.cold,
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
