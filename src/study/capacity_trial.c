/* One trial: how long, with which data, run, and read back. */
#include "analyse/run/run_data.h"
#include "base/clock.h"
#include "run/run.h"
#include "run/session.h"
#include "study/capacity_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_SCOUT = 10, MAX_CHANGES = 20 };

/* How long a trial is. */
struct shape {
    uint64_t files, epochs, steps; /* of an epoch */
    uint64_t exclude;              /* of these, at its start */
};

/* Batches that one accelerator may have waiting. */
static uint64_t count_queued_batches(const struct pr_emulate *e)
{
    uint64_t ahead = (uint64_t)e->reader.prefetch_size;
    uint64_t threads = (uint64_t)e->reader.read_threads;

    if (strcmp(e->reader.data_loader, "tensorflow") == 0)
        return ahead;
    if (!ahead)
        ahead = 2 * threads;
    return ahead > threads ? ahead : threads;
}

/* What is read ahead before the first step comes for free; in a short trial
 * that counts. Under MLPerf's rules nothing is changed. */
static uint64_t count_excluded_steps(const struct pr_capacity_study *s)
{
    uint64_t own = (uint64_t)s->e.window.exclude_start_steps;
    uint64_t fill = count_queued_batches(&s->e) + 1;

    if (fill > s->rec.steps)
        fill = s->rec.steps;
    return pr_capacity_is_mlperf(s) || own > fill ? own : fill;
}

static uint64_t count_trial_steps(const struct pr_capacity_study *s,
                                  enum pr_capacity_kind kind, uint64_t exclude)
{
    uint64_t part = kind == PR_CAPACITY_SCOUT ? 4 : 2;
    uint64_t steps = s->rec.steps / part;

    if (kind != PR_CAPACITY_FULL)
        return steps > LEAST_SCOUT ? steps : LEAST_SCOUT;
    steps = s->rec.steps;
    if (pr_capacity_is_mlperf(s)) /* all of them are the rule's */
        return steps > exclude + 1 ? steps : exclude + 1;
    return steps + exclude + (uint64_t)s->e.window.exclude_end_steps;
}

/* Spreads the steps over as many epochs as the data needs, all alike. */
static void spread_over_epochs(struct shape *h, uint64_t batches)
{
    uint64_t counted, each;

    if (batches >= h->steps)
        return;
    counted = h->steps > h->exclude ? h->steps - h->exclude : 1;
    if (h->exclude >= batches)
        h->exclude = batches - 1;
    each = batches - h->exclude;
    h->epochs = (counted + each - 1) / each;
    h->steps = (counted + h->epochs - 1) / h->epochs + h->exclude;
}

/* 1: not enough data for so many. */
static int compute_trial_shape(struct pr_capacity_study *s,
                               const struct pr_capacity_step *step,
                               struct shape *h, struct pr_err *err)
{
    uint64_t batch = (uint64_t)s->e.reader.batch_size;
    uint64_t per_file = s->e.set.spec.samples, most, needed;
    int rc;

    *h = (struct shape){.epochs = 1, .exclude = count_excluded_steps(s)};
    h->steps = count_trial_steps(s, step->kind, h->exclude);
    needed = (h->steps * step->accelerators * batch + per_file - 1) / per_file;
    rc = pr_capacity_provide_files(s, needed, &h->files, err);
    if (rc || h->files >= needed)
        return rc;
    /* Two batches each: one to leave out, one to measure. */
    most = h->files * per_file / (2 * batch);
    if (!most)
        return pr_fail(err, PR_E_CONF, "dataset",
                       "%" PRIu64 " samples do not make two batches of "
                       "%" PRIu64,
                       h->files * per_file, batch);
    if (step->accelerators > most) {
        s->rec.opts.max = most;
        rc = pr_capacity_warn(s, err,
                              "the data set has enough samples for %" PRIu64
                              " accelerators at most",
                              most);
        return rc ? rc : 1;
    }
    spread_over_epochs(h, h->files * per_file / (step->accelerators * batch));
    return PR_OK;
}

/* ---- its plan */

struct changes {
    struct pr_capacity_param list[MAX_CHANGES];
    size_t count;
};

static void set_change(struct changes *c, const char *name, struct pr_value v)
{
    c->list[c->count++] = (struct pr_capacity_param){name, v};
}

static void set_trial_changes(const struct pr_capacity_study *s,
                              const struct pr_capacity_step *step,
                              const struct shape *h, struct changes *c)
{
    c->count = 0;
    set_change(c, "exp.accelerators", pr_int((int64_t)step->accelerators));
    set_change(c, "exp.log_file",
               pr_str("")); /* one for all would end the second */
    set_change(c, "workflow.generate_data", pr_bool(false));
    set_change(c, "workflow.evaluation", pr_bool(false));
    set_change(c, "workflow.checkpoint", pr_bool(false));
    set_change(c, "dataset.num_files_train", pr_int((int64_t)h->files));
    set_change(c, "train.epochs", pr_int((int64_t)h->epochs));
    set_change(c, "train.total_training_steps", pr_int((int64_t)h->steps));
    set_change(c, "train.total_training_steps_of", pr_str("epoch"));
    set_change(c, "output.metric.exclude_start_steps",
               pr_int((int64_t)h->exclude));
    if (!pr_capacity_is_set(s, "emulate.drop_cache"))
        set_change(c, "emulate.drop_cache",
                   pr_str(h->epochs > 1 ? "epoch" : "start"));
    if (step->kind != PR_CAPACITY_FULL) {
        set_change(c, "train.computation_time", pr_int(0));
        set_change(c, "train.computation_time_stdev", pr_int(0));
    }
    if (step->kind == PR_CAPACITY_STORAGE)
        set_change(c, "reader.decode", pr_bool(false));
}

/* ---- running it */

struct watcher {
    struct pr_capacity_study *s;
    const struct pr_rundir *dir;
    char label[80], id[256];
};

static void watch_trial(void *ctx, const struct pr_event *e)
{
    struct watcher *w = ctx;
    struct pr_live_line *live = w->s->watch->live;
    char folder[4096], text[320];

    if (e && e->id)
        snprintf(w->id, sizeof w->id, "%s", e->id);
    if (e && e->kind == PR_EVENT_INTERRUPT)
        pr_capacity_print(w->s, "stopping; once more stops at once");
    if (!e && *w->id && !pr_rundir_file(w->dir, w->id, ".", folder, NULL) &&
        pr_run_progress(folder, text))
        pr_live_update(live, w->s->rec.count, 0, 0, w->label, text);
    else if (e)
        pr_live_update(live, w->s->rec.count, 0, 0, w->label, NULL);
    pr_live_tick(live);
}

static unsigned count_trial_runs(const struct pr_capacity_study *s,
                                 const struct pr_capacity_step *step)
{
    unsigned n = 0;

    for (size_t i = 0; i < s->rec.count; i++)
        n += s->rec.trials[i].kind == step->kind &&
             s->rec.trials[i].accelerators == step->accelerators;
    return n;
}

static void name_trial(const struct pr_capacity_study *s,
                       const struct pr_capacity_step *step,
                       struct pr_capacity_trial *t, char label[static 80])
{
    unsigned run = count_trial_runs(s, step) + 1;
    int number = (int)s->rec.count + 1;

    if (step->kind == PR_CAPACITY_FULL) {
        snprintf(t->name, sizeof t->name, "%04d-a%" PRIu64 "-r%u", number,
                 step->accelerators, run);
        snprintf(label, 80, "%" PRIu64 " accelerators, run %u",
                 step->accelerators, run);
    } else {
        snprintf(t->name, sizeof t->name, "%04d-a%" PRIu64 "-%s", number,
                 step->accelerators, pr_capacity_kind_word(step->kind));
        snprintf(label, 80, "%" PRIu64 " accelerators, only reading",
                 step->accelerators);
    }
}

static int run_trial_plan(struct pr_capacity_study *s, struct pr_plan *p,
                          const char *path, const char *label,
                          struct pr_err *err)
{
    struct pr_rundir d;
    struct watcher w = {.s = s, .dir = &d};
    struct pr_run_opts opts = {
        .dir = &d, .retry = -1, .watch = watch_trial, .watch_ctx = &w};
    struct pr_run_summary sum;
    int rc = pr_session_create(path, p, &d, err);

    if (rc)
        return rc;
    snprintf(w.label, sizeof w.label, "%s", label);
    rc = pr_run(&opts, &sum, err);
    s->signo = sum.signo;
    pr_rundir_close(&d);
    return rc;
}

/* ---- reading it back */

static double trial_get_number(const struct pr_value *results, const char *name)
{
    const struct pr_value *v = pr_get(results, name);

    return v && pr_value_is_number(v) ? pr_value_number(v) : NAN;
}

static void read_trial_measures(const struct pr_emulate *e,
                                const struct pr_value *r,
                                struct pr_capacity_trial *t)
{
    struct pr_capacity_measures *f = &t->figures;
    const struct pr_value *kind = pr_get(r, "storage_kind");
    const struct pr_value *disturbed = pr_get(r, "disturbed");

    t->utilisation = trial_get_number(r, "dlio.train_au_mean_percentage") / 100;
    t->samples_per_second = trial_get_number(r, "samples_per_second");
    t->mb_per_second = trial_get_number(r, "storage_mb_per_second");
    f->cached_share = trial_get_number(r, "cached_share");
    f->cpu_share = trial_get_number(r, "cpu_share");
    f->decode_share = trial_get_number(r, "decode_share");
    f->device_busy_share = trial_get_number(r, "device_busy_share");
    f->network_share = trial_get_number(r, "network_share");
    f->wait_share = trial_get_number(r, "wait_share");
    /* With equal steps who waits at the barrier waits for another's data. */
    f->barrier_share = e->compute.kind == PR_DURATION_FIXED
                           ? NAN
                           : trial_get_number(r, "barrier_share");
    f->disturbed = disturbed && disturbed->kind == PR_BOOL && disturbed->b;
    if (kind && kind->kind == PR_STR)
        snprintf(f->storage_kind, sizeof f->storage_kind, "%s", kind->s);
}

static int read_trial_row(const struct pr_emulate *e,
                          const struct pr_run_data_row *row, const char *path,
                          struct pr_capacity_trial *t, struct pr_err *err)
{
    const struct pr_value *reason =
        row->result ? pr_get(row->result, "reason") : NULL;
    const struct pr_value *r =
        row->result ? pr_get(row->result, "results") : NULL;

    if (r)
        read_trial_measures(e, r, t);
    if (r && !isnan(t->samples_per_second) &&
        (t->kind != PR_CAPACITY_FULL || !isnan(t->utilisation)))
        return PR_OK;
    pr_fail(err, PR_E_JOB, path, "the trial failed: %s",
            reason && reason->kind == PR_STR && *reason->s ? reason->s
                                                           : "no result");
    return pr_hint(err, "its log: experiments/%s/log.txt in there", row->id);
}

static int read_back(const struct pr_emulate *e, const char *path,
                     struct pr_capacity_trial *t, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_run_data_row row;
    struct pr_run_data *d;
    int rc = a ? pr_run_data_open(path, &d, err) : pr_fail_nomem(err);

    if (rc)
        return rc;
    rc = pr_run_data_next(d, a, &row, NULL, err);
    if (rc == 0)
        rc = pr_fail(err, PR_E_FORMAT, path, "the trial has no experiment");
    else if (rc == 1)
        rc = read_trial_row(e, &row, path, t, err);
    pr_run_data_close(d);
    return rc;
}

int pr_capacity_run_trial(struct pr_capacity_study *s,
                          const struct pr_capacity_step *step,
                          struct pr_err *err)
{
    struct pr_capacity_trial t = {.kind = step->kind,
                                  .accelerators = step->accelerators};
    uint64_t start = pr_clock_ns();
    struct changes c;
    struct shape h;
    struct pr_plan *p;
    char path[4096], label[80];
    int rc = compute_trial_shape(s, step, &h, err);

    if (rc)
        return rc;
    name_trial(s, step, &t, label);
    snprintf(path, sizeof path, "%s/trials/%s", s->dir, t.name);
    set_trial_changes(s, step, &h, &c);
    rc = pr_capacity_make_plan(s, c.list, c.count, &p, err);
    if (rc)
        return rc;
    rc = run_trial_plan(s, p, path, label, err);
    pr_plan_free(p);
    /* A trial that failed says why better than its run does. */
    if (!rc || rc == PR_E_JOB || rc == PR_E_TIMEOUT)
        rc = read_back(&s->e, path, &t, err);
    t.seconds = (double)(pr_clock_ns() - start) / 1e9;
    if (!rc && !pr_capacity_add_trial(&s->rec, s->arena, &t))
        rc = pr_fail_nomem(err);
    return rc;
}
