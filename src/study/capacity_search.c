/* Searching for the capacity: its target, its trials, the loop over them, and
 * what stays of it on disk. */
#include "study/capacity_search.h"

#include "analyse/mlperf.h"
#include "analyse/run/run_data.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/json/json_write.h"
#include "base/units.h"
#include "present/report/report_capacity.h"
#include "run/plan_jobs.h"
#include "run/run.h"
#include "run/session.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * The target of a search is kept as the parameters somebody set, as they stood
 * before they were expanded, so that what follows from the number of
 * accelerators follows it in every trial.
 */
enum { MAX_TARGET = 64 << 20 };

/* Seconds of computing that a trial should last. */
#define TRIAL_S 15.0

struct target_param {
    const char *name;
    struct pr_value value;
};

/* ---- writing the target */

/* Names that a peer's file has in a section of ours mean nothing here. */
static bool is_ours_to_set(const char *name)
{
    const struct pr_opt_section *section;

    return pr_opt_find(name, &section) || !section;
}

static void put_params(struct pr_json_writer *jb, struct pr_plan *plan,
                       const struct pr_experiment *e)
{
    const struct pr_names *names = pr_plan_names(plan);

    pr_json_open_object(jb, NULL);
    for (uint32_t i = 0; i < e->params->count; i++) {
        const struct pr_setting *set =
            pr_params_get(e->params, e->params->order[i]);
        const char *name = pr_names_text(names, e->params->order[i]);

        if (set && pr_is_given(set) && strcmp(name, "exp.id") != 0 &&
            is_ours_to_set(name))
            pr_json_put_value(jb, name, &set->value);
    }
    pr_json_close(jb);
}

static int write_first(struct pr_walk *w, struct pr_plan *plan,
                       const char *path, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf json = PR_BUF_INIT(MAX_TARGET);
    struct pr_experiment e;
    struct pr_json_writer jb;
    int rc = pr_walk_next(w, &e, err);

    if (rc < 0)
        return rc;
    /* A config that can be run by itself, too. */
    pr_json_writer_init(&jb, &json, 2);
    put_params(&jb, plan, &e);
    pr_buf_char(&json, '\n');
    if (!pr_buf_ok(&json))
        return pr_fail_nomem(err);
    return pr_file_write(path, json.data, json.len, err);
}

/* Writes target.json: the one experiment of a plan, without defaults. */
static int capacity_target_write(const char *dir, struct pr_plan *plan,
                                 struct pr_err *err)
{
    char path[4096];
    struct pr_walk *w;
    uint64_t n;
    int rc = pr_plan_count(plan, &n, err);

    if (rc)
        return rc;
    if (n != 1) {
        pr_fail(err, PR_E_CONF, "",
                "the target gives %llu experiments, but the capacity is that "
                "of one",
                (unsigned long long)n);
        return pr_hint(err, "leave out variables and --repeat (trials are "
                            "repeated as --repeats says)");
    }
    snprintf(path, sizeof path, "%s/target.json", dir);
    w = pr_walk_new(plan);
    rc = w ? write_first(w, plan, path, err) : pr_fail_nomem(err);
    pr_walk_free(w);
    return rc;
}

/* ---- plans from the target */

static bool capacity_is_set(const struct pr_capacity_study *s, const char *name)
{
    return pr_get(&s->target, name) != NULL;
}

/* As if all of it stood on the command line, so that the environment of today
 * changes nothing. */
static int add_target_sources(struct pr_capacity_study *s, struct pr_plan *p,
                              const struct target_param *changes, size_t count,
                              struct pr_err *err)
{
    int rc = PR_OK;

    for (uint32_t i = 0; !rc && i < s->target.len; i++)
        rc = pr_plan_param_value(p, s->target.members[i].key,
                                 &s->target.members[i].value, "target.json",
                                 err);
    for (size_t i = 0; !rc && i < count; i++)
        rc = pr_plan_param_value(p, changes[i].name, &changes[i].value,
                                 "capacity", err);
    return rc ? rc : pr_plan_build(p, err);
}

/* A built plan of the target with some parameters changed. */
static int capacity_make_plan(struct pr_capacity_study *s,
                              const struct target_param *changes, size_t count,
                              struct pr_plan **ret, struct pr_err *err)
{
    struct pr_plan_opts opts = PR_PLAN_OPTS_INIT;
    struct pr_plan *p = pr_plan_new(&opts);
    int rc =
        p ? add_target_sources(s, p, changes, count, err) : pr_fail_nomem(err);

    if (rc)
        pr_plan_free(p);
    else
        *ret = p;
    return rc;
}

/* ---- reading the target */

static int read_target_params(struct pr_capacity_study *s, struct pr_err *err)
{
    struct pr_json_in in = {0};
    struct pr_value root;
    char path[4096];
    int rc;

    snprintf(path, sizeof path, "%s/target.json", s->dir);
    in.name = path;
    rc = pr_file_read_in(s->dir, path, MAX_TARGET, s->arena, &in.text, &in.len,
                         err);
    if (!rc)
        rc = pr_json_read(&in, s->arena, &root, NULL, err);
    if (rc)
        return rc;
    if (root.kind != PR_MAP)
        return pr_fail(err, PR_E_FORMAT, path, "holds no parameters");
    s->target = root;
    return PR_OK;
}

static int capacity_check_target(const struct pr_capacity_study *s,
                                 struct pr_err *err)
{
    if (pr_job_is_off(&s->job))
        return pr_fail(err, PR_E_CONF, "exp.status",
                       "the experiment is switched off");
    if (!s->e.workflow.train)
        return pr_fail(err, PR_E_CONF, "workflow.train",
                       "the target does not train; the capacity is that of a "
                       "training");
    if (!pr_emulate_needs_storage(&s->e))
        return pr_fail(err, PR_E_CONF, "reader.data_loader",
                       "the target reads nothing, so no storage limits it");
    if (pr_duration_mean(&s->e.compute) > 0)
        return PR_OK;
    pr_fail(err, PR_E_CONF, "train.computation_time",
            "accelerators that compute nothing are never busy");
    return pr_hint(err, "set the time of a step, for example "
                        "train.computation_time=0.3");
}

/* Before checkpoints are switched off: without them it would do nothing. */
static int refuse_checkpoints(const struct pr_capacity_study *s,
                              struct pr_err *err)
{
    const struct pr_value *train = pr_get(&s->target, "workflow.train");
    const struct pr_value *save = pr_get(&s->target, "workflow.checkpoint");

    if (!train || train->kind != PR_BOOL || train->b || !save ||
        save->kind != PR_BOOL || !save->b)
        return PR_OK;
    pr_fail(err, PR_E_CONF, "workflow.train",
            "the target only writes and reads checkpoints; the capacity is "
            "that of a training");
    return pr_hint(err, "'prony run' measures checkpoints");
}

static int read_target_job(void *ctx, struct pr_job *job, struct pr_err *err)
{
    struct pr_capacity_study *s = ctx;
    struct pr_value *params = PR_ARENA_NEW(s->arena, struct pr_value);
    const struct pr_workload *w;
    int rc;

    if (!params || !pr_value_copy(s->arena, job->params, params))
        return pr_fail_nomem(err);
    rc = pr_job_init(&s->job, "capacity", "", params, s->arena, err);
    if (!rc)
        rc = pr_workload_find_for_job(&s->job, &w, err);
    if (rc)
        return rc;
    if (strcmp(w->name, "emulate") != 0) {
        pr_fail(err, PR_E_CONF, "exp.workload",
                "the capacity is that of an emulated training, not of '%s'",
                w->name);
        return pr_hint(err, "'prony plan --list' shows such workloads");
    }
    rc = pr_emulate_init(&s->e, &s->job, err);
    return rc ? rc : capacity_check_target(s, err);
}

/* Reads it, and the training that it describes. PR_E_CONF: not one whose
 * capacity could be found. */
static int capacity_target_read(struct pr_capacity_study *s, struct pr_err *err)
{
    const struct target_param one[] = {
        {"exp.accelerators", pr_int(1)},
        {"workflow.evaluation", pr_bool(false)},
        {"workflow.checkpoint", pr_bool(false)},
    };
    struct pr_plan *p;
    int rc = read_target_params(s, err);

    if (!rc)
        rc = refuse_checkpoints(s, err);
    if (!rc)
        rc = capacity_make_plan(s, one, sizeof one / sizeof *one, &p, err);
    if (rc)
        return rc;
    rc = pr_plan_each_job(p, NULL, read_target_job, s, err);
    pr_plan_free(p);
    return rc;
}

/* ---- steps */

static bool capacity_is_mlperf(const struct pr_capacity_study *s)
{
    const struct pr_value *v = pr_get(s->job.params, "mlperf.division");

    return v && v->kind == PR_STR && *v->s && strcmp(v->s, "none") != 0;
}

static uint64_t capacity_default_steps(const struct pr_emulate *e, bool mlperf)
{
    double steps = ceil(TRIAL_S / pr_duration_mean(&e->compute));

    if (mlperf || steps > 500)
        return 500;
    return steps > 20 ? (uint64_t)steps : 20;
}

/* ---- how long a trial is, and with which data */

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
    return capacity_is_mlperf(s) || own > fill ? own : fill;
}

static uint64_t count_trial_steps(const struct pr_capacity_study *s,
                                  enum pr_capacity_kind kind, uint64_t exclude)
{
    uint64_t part = kind == PR_CAPACITY_SCOUT ? 4 : 2;
    uint64_t steps = s->rec.steps / part;

    if (kind != PR_CAPACITY_FULL)
        return steps > LEAST_SCOUT ? steps : LEAST_SCOUT;
    steps = s->rec.steps;
    if (capacity_is_mlperf(s)) /* all of them are the rule's */
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

/* ---- a trial's plan */

struct changes {
    struct target_param list[MAX_CHANGES];
    size_t count;
};

static void set_change(struct changes *c, const char *name, struct pr_value v)
{
    c->list[c->count++] = (struct target_param){name, v};
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
    if (!capacity_is_set(s, "emulate.drop_cache"))
        set_change(c, "emulate.drop_cache",
                   pr_str(h->epochs > 1 ? "epoch" : "start"));
    if (step->kind != PR_CAPACITY_FULL) {
        set_change(c, "train.computation_time", pr_int(0));
        set_change(c, "train.computation_time_stdev", pr_int(0));
    }
    if (step->kind == PR_CAPACITY_STORAGE)
        set_change(c, "reader.decode", pr_bool(false));
}

/* ---- running a trial */

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

/* ---- reading a trial back */

static void read_trial_measures(const struct pr_emulate *e,
                                const struct pr_value *r,
                                struct pr_capacity_trial *t)
{
    struct pr_capacity_measures *f = &t->figures;
    const struct pr_value *kind = pr_get(r, "storage_kind");
    const struct pr_value *disturbed = pr_get(r, "disturbed");

    t->utilisation =
        pr_number_at(r, "dlio.train_au_mean_percentage", NAN) / 100;
    t->samples_per_second = pr_number_at(r, "samples_per_second", NAN);
    t->mb_per_second = pr_number_at(r, "storage_mb_per_second", NAN);
    f->cached_share = pr_number_at(r, "cached_share", NAN);
    f->cpu_share = pr_number_at(r, "cpu_share", NAN);
    f->decode_share = pr_number_at(r, "decode_share", NAN);
    f->device_busy_share = pr_number_at(r, "device_busy_share", NAN);
    f->network_share = pr_number_at(r, "network_share", NAN);
    f->wait_share = pr_number_at(r, "wait_share", NAN);
    /* With equal steps who waits at the barrier waits for another's data. */
    f->barrier_share = e->compute.kind == PR_DURATION_FIXED
                           ? NAN
                           : pr_number_at(r, "barrier_share", NAN);
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

/* Runs it and adds it to the record. 1: there is not enough data for so many
 * accelerators; opts.max says how many there may be. */
static int capacity_run_trial(struct pr_capacity_study *s,
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
    rc = capacity_make_plan(s, c.list, c.count, &p, err);
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

enum { LOCK_WAIT_MS = 4000, MAX_REPORT = 64 << 20 };

/* ---- saying things */

void pr_capacity_print(const struct pr_capacity_study *s, const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    if (!s->watch->say)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    s->watch->say(s->watch->ctx, text);
}

int pr_capacity_warn(struct pr_capacity_study *s, struct pr_err *err,
                     const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    bool ok;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (pr_capacity_add_warning(&s->rec, s->arena, text, &ok))
        pr_capacity_print(s, "%s", text);
    return ok ? PR_OK : pr_fail_nomem(err);
}

/* ---- files */

typedef int make_text(const struct pr_capacity_record *r, struct pr_buf *out,
                      struct pr_err *err);

static int capacity_write_file(const struct pr_capacity_study *s,
                               const char *name, make_text *text,
                               struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(MAX_REPORT);
    char path[4096];
    int rc = text(&s->rec, &out, err);

    snprintf(path, sizeof path, "%s/%s", s->dir, name);
    return rc ? rc : pr_file_write(path, out.data, out.len, err);
}

/* capacity.json and the chart, as things are. */
static int capacity_write_files(const struct pr_capacity_study *s,
                                struct pr_err *err)
{
    int rc = capacity_write_file(s, "capacity.svg", pr_capacity_svg, err);

    return rc ? rc
              : capacity_write_file(s, "capacity.json",
                                    pr_capacity_record_write, err);
}

static int remove_trial_entry(const char *path, const struct stat *st, int type,
                              struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static bool is_recorded(const struct pr_capacity_study *s, const char *name)
{
    for (size_t i = 0; i < s->rec.count; i++)
        if (strcmp(s->rec.trials[i].name, name) == 0)
            return true;
    return false;
}

/* A trial that was under way is done again. What ran it may still be ending:
 * its lock is waited for. */
static int remove_half(const struct pr_capacity_study *s, struct pr_err *err)
{
    char path[4096], one[4096 + 300];
    struct pr_rundir d;
    struct dirent *e;
    DIR *dir;

    snprintf(path, sizeof path, "%s/trials", s->dir);
    if (pr_make_dirs(path, err))
        return err ? err->code : PR_E_IO;
    dir = opendir(path);
    if (!dir)
        return pr_fail_errno(err, PR_E_IO, path, "cannot open");
    while ((e = readdir(dir))) {
        if (*e->d_name == '.' || is_recorded(s, e->d_name))
            continue;
        snprintf(one, sizeof one, "%s/%s", path, e->d_name);
        if (pr_rundir_resume(one, &d, NULL) == PR_OK)
            pr_rundir_close(&d);
        (void)nftw(one, remove_trial_entry, 16, FTW_DEPTH | FTW_PHYS);
    }
    closedir(dir);
    return PR_OK;
}

/* Two searches in one folder would spoil both. */
static int lock_search_folder(const char *dir, int *ret_fd, struct pr_err *err)
{
    struct timespec nap = {0, 10 * 1000 * 1000};
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return pr_fail_errno(err, PR_E_IO, dir, "cannot open");
    for (int ms = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; ms += 10) {
        if (ms >= LOCK_WAIT_MS) {
            close(fd);
            return pr_fail(err, PR_E_IO, dir, "another search is using it");
        }
        nanosleep(&nap, NULL);
    }
    *ret_fd = fd;
    return PR_OK;
}

/* ---- the loop */

static int print_last_trial(const struct pr_capacity_study *s,
                            struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf line = PR_BUF_INIT(4096);
    int rc = pr_capacity_line(&s->rec, &line, err);

    if (!rc)
        pr_capacity_print(s, "%s", line.data);
    return rc;
}

int pr_capacity_check_interrupt(struct pr_capacity_study *s, struct pr_err *err)
{
    pr_stop_read(&s->stop);
    if (!s->stop.count)
        return PR_OK;
    s->signo = s->stop.signo;
    return pr_fail(err, PR_E_INTR, "", "interrupted");
}

static int run_search_step(struct pr_capacity_study *s,
                           const struct pr_capacity_step *step,
                           struct pr_err *err)
{
    int rc = pr_capacity_check_interrupt(s, err);

    if (!rc)
        rc = capacity_run_trial(s, step, err);
    if (rc == 1) /* no data for so many: opts.max is another */
        return capacity_write_files(s, err);
    if (!rc)
        rc = print_last_trial(s, err);
    return rc ? rc : capacity_write_files(s, err);
}

/* Where the client is the limit, the storage alone is asked. */
static int probe_storage_limit(struct pr_capacity_study *s, struct pr_err *err)
{
    struct pr_capacity_step step = {.kind = PR_CAPACITY_STORAGE};
    enum pr_capacity_limit limit = PR_CAPACITY_BY_NONE;
    struct pr_capacity_curve c;
    char why[256];
    int rc;

    if (pr_capacity_find_trial(&s->rec, PR_CAPACITY_STORAGE))
        return PR_OK;
    rc = pr_capacity_fill_curve(&s->rec.opts, s->rec.trials, s->rec.count,
                                s->arena, &c, err);
    if (!rc && c.high && c.low) {
        limit = pr_capacity_find_limit(&c.high->figures, s->rec.throttle, why);
        step.accelerators = c.high->accelerators;
    }
    if (rc || (limit != PR_CAPACITY_BY_CPU && limit != PR_CAPACITY_BY_DECODE))
        return rc;
    return run_search_step(s, &step, err);
}

static int run_search_steps(struct pr_capacity_study *s, struct pr_err *err)
{
    struct pr_capacity_step step = {0};
    int rc = PR_OK;

    while (!rc && !s->rec.done) {
        rc = pr_capacity_next_step(&s->rec.opts, s->rec.trials, s->rec.count,
                                   &step, err);
        if (rc || step.done)
            break;
        rc = run_search_step(s, &step, err);
    }
    if (rc || s->rec.done)
        return rc;
    rc = probe_storage_limit(s, err);
    if (rc)
        return rc;
    s->rec.done = true;
    return capacity_write_files(s, err);
}

/* What one accelerator takes in, and what trials leave out of the target. */
static int print_search_start(struct pr_capacity_study *s, struct pr_err *err)
{
    bool eval = pr_bool_at(&s->target, "workflow.evaluation", false);
    bool save = pr_bool_at(&s->target, "workflow.checkpoint", false);
    struct pr_capacity_need need =
        pr_capacity_compute_need(&s->rec.opts, NULL, 0);
    double bytes = need.samples * pr_capacity_sample_bytes(s);
    char size[16];

    pr_capacity_print(s,
                      "one accelerator that never waits takes in %.4g "
                      "samples/s%s%s%s",
                      need.samples, bytes > 0 ? ", about " : "",
                      bytes > 0 ? pr_format_bytes(size, (uint64_t)bytes) : "",
                      bytes > 0 ? "/s" : "");
    if (!eval && !save)
        return PR_OK;
    return pr_capacity_warn(
        s, err,
        "trials only train: %s%s%s of the target %s left "
        "out",
        eval ? "workflow.evaluation" : "", eval && save ? " and " : "",
        save ? "workflow.checkpoint" : "", eval && save ? "are" : "is");
}

static int run_locked(struct pr_capacity_study *s, struct pr_err *err)
{
    int rc = pr_capacity_record_read(s->dir, s->arena, &s->rec, err);

    if (!rc)
        rc = capacity_target_read(s, err);
    if (!rc && !s->rec.done)
        rc = remove_half(s, err);
    if (!rc)
        rc = pr_stop_init(&s->stop, err);
    if (rc)
        return rc;
    if (!s->rec.done)
        rc = print_search_start(s, err);
    if (!rc)
        rc = run_search_steps(s, err);
    if (rc == PR_E_INTR && !s->signo)
        s->signo = s->stop.signo;
    pr_stop_close(&s->stop);
    return rc;
}

int pr_capacity_run(const char *dir, const struct pr_capacity_watch *watch,
                    struct pr_arena *a, struct pr_capacity_record *ret,
                    int *ret_signo, struct pr_err *err)
{
    struct pr_capacity_study s = {.dir = dir, .watch = watch, .arena = a};
    int fd = -1, rc;

    *ret_signo = 0;
    memset(ret, 0, sizeof *ret);
    if (strlen(dir) > 2000)
        return pr_fail(err, PR_E_USAGE, dir, "the path is too long");
    rc = lock_search_folder(dir, &fd, err);
    if (rc)
        return rc;
    rc = run_locked(&s, err);
    close(fd);
    *ret = s.rec;
    *ret_signo = s.signo;
    return rc;
}

/* ---- a new search: what was asked for, and whether it can be found */

enum { MAX_ACCELERATORS = 1000000 };

static int check_empty(const char *dir, struct pr_err *err)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    bool used = false, ours = false;

    if (!d)
        return pr_fail_errno(err, PR_E_IO, dir, "cannot open");
    while ((e = readdir(d))) {
        used |= *e->d_name != '.';
        ours |= strcmp(e->d_name, "capacity.json") == 0;
    }
    closedir(d);
    if (!used)
        return PR_OK;
    pr_fail(err, PR_E_USAGE, dir, "is not empty");
    if (ours)
        return pr_hint(err,
                       "go on with its search by 'prony capacity --resume %s', "
                       "or choose another directory with -o",
                       dir);
    return pr_hint(err, "choose another directory with -o");
}

/* "unet3d_h100": by its samples and the time of a step, not by its name. */
static int find_accelerator(struct pr_capacity_study *s, struct pr_err *err)
{
    struct pr_capacity_record *r = &s->rec;
    struct pr_mlperf_in in = {.params = s->job.params};
    const char *mark;
    struct pr_mlperf m;
    char *name;
    int rc;

    r->accelerator = "";
    if (!pr_mlperf_is_concerned(s->job.params))
        return PR_OK;
    rc = pr_mlperf_judge_experiment(&in, s->arena, &m, err);
    mark = rc || !m.workload ? NULL : strrchr(m.workload, '_');
    if (!mark)
        return rc;
    name = pr_arena_str(s->arena, mark + 1);
    for (char *c = name; c && *c; c++)
        *c = (char)toupper((unsigned char)*c);
    r->accelerator = name;
    return name ? PR_OK : pr_fail_nomem(err);
}

static int check_ask(const struct pr_capacity_opts *o, struct pr_err *err)
{
    if (!(o->threshold > 0 && o->threshold <= 1))
        return pr_fail(err, PR_E_CONF, "--au",
                       "wants a share above 0 and up to 1, such as 0.9");
    if (!(o->confidence > 0.5 && o->confidence < 1))
        return pr_fail(err, PR_E_CONF, "--confidence",
                       "wants a share above 0.5 and below 1, such as 0.95");
    if (o->max > MAX_ACCELERATORS)
        return pr_fail(err, PR_E_CONF, "--max", "is %d at most",
                       MAX_ACCELERATORS);
    if (o->min > o->max)
        return pr_fail(err, PR_E_CONF, "--min", "is larger than --max");
    if (o->repeats < 2)
        return pr_fail(err, PR_E_CONF, "--repeats",
                       "is 2 at least: one run says nothing of the spread");
    return PR_OK;
}

static int fill_record(struct pr_capacity_study *s,
                       const struct pr_capacity_ask *ask, struct pr_err *err)
{
    struct pr_capacity_record *r = &s->rec;
    double compute = pr_duration_mean(&s->e.compute);
    int rc = find_accelerator(s, err);

    if (rc)
        return rc;
    r->target = ask->target;
    r->model = strcmp(s->e.model, "default") == 0 ? "" : s->e.model;
    r->opts = (struct pr_capacity_opts){
        .threshold = ask->threshold > 0 ? ask->threshold : s->e.metric.au,
        .confidence = ask->confidence > 0 ? ask->confidence : 0.95,
        .min = ask->min ? ask->min : 1,
        .max = ask->max ? ask->max : MAX_ACCELERATORS,
        .repeats = ask->repeats ? (unsigned)ask->repeats : 8,
    };
    r->opts.need = (double)s->e.reader.batch_size * r->opts.threshold / compute;
    r->asked_max = r->opts.max;
    r->steps = ask->steps
                   ? ask->steps
                   : capacity_default_steps(&s->e, capacity_is_mlperf(s));
    r->throttle = s->e.storage.throttle;
    r->no_generate = ask->no_generate;
    return check_ask(&r->opts, err);
}

bool pr_capacity_remove_unused(const char *dir)
{
    static const char *const ours[] = {"target.json", "capacity.svg",
                                       "capacity.json"};
    char path[4096];

    snprintf(path, sizeof path, "%s/trials", dir);
    if (rmdir(path) < 0 && errno != ENOENT)
        return false; /* somebody may want to see what is in it */
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, ours[i]);
        (void)unlink(path);
    }
    (void)rmdir(dir);
    return true;
}

int pr_capacity_create(const char *dir, struct pr_plan *plan,
                       const struct pr_capacity_ask *ask, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    const struct pr_capacity_watch nobody = {0};
    struct pr_capacity_study s = {.dir = dir, .watch = &nobody, .arena = a};
    bool made;
    int rc;

    if (!a)
        return pr_fail_nomem(err);
    if (strlen(dir) > 2000)
        return pr_fail(err, PR_E_USAGE, dir, "the path is too long");
    made = access(dir, F_OK) != 0;
    rc = pr_make_dirs(dir, err);
    if (!rc)
        rc = check_empty(dir, err);
    if (rc)
        return rc;
    rc = capacity_target_write(dir, plan, err);
    if (!rc)
        rc = capacity_target_read(&s, err);
    if (!rc)
        rc = fill_record(&s, ask, err);
    if (!rc)
        rc = capacity_write_files(&s, err);
    if (rc)
        (void)pr_capacity_remove_unused(dir);
    if (rc && !made)
        (void)mkdir(dir, 0755); /* an empty folder of the user's stays */
    return rc;
}
