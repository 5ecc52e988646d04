/*
 * A data set to train with, by what emulated training has for it, and the
 * workload `loader`, which reads one and nothing else.
 */
#include "native/images/image_set.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "conf/read/yaml.h"
#include "emulate/emulate_data.h"
#include "format/dataset/dataset_classes.h"
#include "generate/generate.h"
#include "job/job.h"
#include "job/result_lines.h"
#include "job/series.h"
#include "loader/batches.h"
#include "native/rate_log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct pr_image_set {
    struct pr_job job; /* with the folder of exp.data_dir */
    struct pr_emulate e;
    struct pr_emulate_stats stats;
    struct pr_data_session data;
    struct pr_buf notes; /* of emulated training: its measures are not ours */
    struct pr_image_set_opts o;
    struct pr_dataset_classes *classes[PR_SPLITS]; /* NULL: numbered files */
    struct pr_batches *batches;
    struct pr_batches *held_out; /* NULL: none asked for so far */
    uint64_t count;              /* samples that came */
    int32_t label;               /* of the first */
    bool differ;                 /* some sample has another */
};

/* ---- a data set of somebody's own, with a folder for each class */

static void listed_so_far(void *ctx, uint64_t files)
{
    struct pr_image_set *s = ctx;

    if (s->o.progress)
        pr_progress_write(s->o.progress, 0, "listing files: %llu",
                          (unsigned long long)files);
}

static int list_split(struct pr_image_set *s, enum pr_split split,
                      struct pr_storage *st, struct pr_err *err)
{
    struct pr_dataset_classes_opts opts = {s->o.stop, listed_so_far, s};

    PR_TRY(pr_dataset_classes_list(&s->e.set, split, st, &opts,
                                   &s->classes[split], err));
    if (s->classes[split])
        pr_dataset_use_classes(&s->e.set, split, s->classes[split]);
    else if (split == PR_VALID)
        s->e.set.files[PR_VALID] = 0; /* they would be of other classes */
    return PR_OK;
}

static int check_classes(const struct pr_image_set *s, struct pr_err *err)
{
    const struct pr_dataset_classes *c = s->classes[PR_TRAIN];

    if (!c || c->count <= (uint64_t)s->o.classes)
        return PR_OK;
    pr_fail(err, PR_E_CONF, c->folder,
            "there are folders of %llu classes, the model tells %lld apart",
            (unsigned long long)c->count, (long long)s->o.classes);
    return pr_hint(err, "exp.model_opts='{\"classes\": %llu}'",
                   (unsigned long long)c->count);
}

/* Lists what cannot be computed: names, where folders are classes. */
static int image_set_list_classes(struct pr_image_set *s, struct pr_err *err)
{
    struct pr_storage *st = NULL;
    int rc;

    if (s->e.workflow.generate_data || !pr_emulate_has_files(&s->e))
        return PR_OK;
    PR_TRY(pr_storage_open(&s->e.storage, &st, err));
    rc = list_split(s, PR_TRAIN, st, err);
    if (!rc && s->classes[PR_TRAIN] && s->o.evaluates)
        rc = list_split(s, PR_VALID, st, err);
    pr_storage_close(st);
    return rc ? rc : check_classes(s, err);
}

/* rc, of looking for numbered files. The format that is wanted by default is
 * none that folders of classes are in: err gets a better hint then. */
static int image_set_add_hint(struct pr_image_set *s, int rc,
                              struct pr_err *err)
{
    static const char *const names[] = {"jpeg", "png"};
    struct pr_dataset_classes_opts opts = {.stop = s->o.stop};

    for (size_t i = 0; rc == PR_E_CONF && i < 2; i++) {
        struct pr_dataset set = s->e.set;
        struct pr_dataset_classes *c = NULL;

        if (pr_format_find(names[i], &set.format, NULL) ||
            pr_dataset_classes_list(&set, PR_TRAIN, s->data.st, &opts, &c,
                                    NULL) ||
            !c)
            continue;
        pr_dataset_classes_free(c);
        return pr_hint(err, "there are folders of classes: dataset.format=%s",
                       names[i]);
    }
    return rc;
}

/* Files that nobody reads may be a mistake. */
static void image_set_warn_unread(const struct pr_image_set *s,
                                  struct pr_buf *notes)
{
    const struct pr_dataset_classes *c = s->classes[PR_TRAIN];

    if (c && c->others)
        pr_buf_printf(notes,
                      "data: %llu of %llu files are left out, their names do "
                      "not end as those of format %s\n",
                      (unsigned long long)c->others,
                      (unsigned long long)c->others + c->files,
                      s->e.set.format->name);
}

enum { WAIT_NS = 50000000 }; /* between looks whether a set is made */

/* ---- which one */

bool pr_image_set_is_wanted(const struct pr_job *job)
{
    return *job->exp.data_dir || pr_text_equal(job->exp.data, "real") ||
           !pr_text_equal(
               pr_text_at(job->params, "dataset.data_folder", "./data/"),
               "./data/") ||
           pr_bool_at(job->params, "workflow.generate_data", false);
}

/* The parameters, with the folder of exp.data_dir where it is set. */
static int place_folder(const struct pr_job *job, struct pr_job *ret,
                        struct pr_err *err)
{
    const struct pr_value *old = job->params;
    struct pr_member *members;
    struct pr_value *map;
    uint32_t n = 0;

    *ret = *job;
    if (!*job->exp.data_dir)
        return PR_OK;
    map = PR_ARENA_NEW(job->arena, struct pr_value);
    members = PR_ARENA_ARRAY(job->arena, struct pr_member, old->len + 1);
    if (!map || !members)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < old->len; i++)
        if (!pr_text_equal(old->members[i].key, "dataset.data_folder"))
            members[n++] = old->members[i];
    members[n++] = (struct pr_member){.key = "dataset.data_folder",
                                      .key_len = 19,
                                      .value = pr_str(job->exp.data_dir)};
    *map = *old;
    map->len = n;
    map->members = members;
    ret->params = map;
    return PR_OK;
}

static int image_set_init(struct pr_image_set *s, const struct pr_job *job,
                          struct pr_err *err)
{
    int rc = place_folder(job, &s->job, err);

    if (!rc)
        rc = pr_emulate_init(&s->e, &s->job, err);
    if (!rc)
        rc = pr_storage_check(&s->e.storage, err);
    /* Which loader to behave like is a matter of emulated training. */
    if (!rc && !pr_emulate_needs_storage(&s->e))
        s->e.reader.data_loader = "pytorch";
    return rc;
}

/* ---- before it runs */

int pr_image_set_check(const struct pr_job *job, struct pr_err *err)
{
    struct pr_image_set *s = PR_ARENA_NEW(job->arena, struct pr_image_set);
    int rc = s ? image_set_init(s, job, err) : pr_fail_nomem(err);

    if (!rc && s->e.set.format->flags & PR_FORMAT_EMPTY)
        rc = pr_fail(err, PR_E_CONF, "dataset.format",
                     "there is nothing to read in the format '%s'",
                     s->e.set.format->name);
    return rc;
}

int pr_image_set_estimate_bytes(const struct pr_job *job, uint64_t *ret,
                                struct pr_err *err)
{
    struct pr_image_set *s = PR_ARENA_NEW(job->arena, struct pr_image_set);
    bool exact;
    int rc = s ? image_set_init(s, job, err) : pr_fail_nomem(err);

    *ret = 0;
    if (!rc && s->e.workflow.generate_data)
        rc = pr_generate_bytes(&s->e.set, ret, &exact, err);
    return rc;
}

/* ---- reading */

static int image_set_start_batches(struct pr_image_set *s, enum pr_split split,
                                   struct pr_batches **ret, struct pr_err *err)
{
    const struct pr_image_set_opts *o = &s->o;
    struct pr_batches_opts opts = {
        .set = &s->e.set,
        .split = split,
        .in_order = split == PR_VALID,
        .first = s->data.st,
        .reader = &s->e.reader,
        .batch = o->batch,
        .seed = o->seed,
        .dims = o->dims,
        .classes = o->classes,
        .augment = o->augment && split == PR_TRAIN,
        .stop = o->stop,
    };

    memcpy(opts.shape, o->shape, sizeof opts.shape);
    return pr_batches_new(&opts, ret, err);
}

static bool image_set_is_stopped(const struct pr_image_set *s)
{
    return s->o.stop && __atomic_load_n(s->o.stop, __ATOMIC_RELAXED);
}

/* Copies of a test on several devices make one set: the first one does, the
 * others wait for it. */
static int image_set_make_data(struct pr_image_set *s, struct pr_err *err)
{
    struct pr_err why = {0};
    int rc = pr_data_session_make(&s->data, &why);

    while (rc && why.sys_errno == EWOULDBLOCK && !image_set_is_stopped(s)) {
        if (s->o.progress)
            pr_progress_write(s->o.progress, 0,
                              "another program makes the data");
        pr_sleep_until(NULL, pr_clock_ns() + WAIT_NS, s->o.stop);
        why = (struct pr_err){0};
        rc = pr_data_session_make(&s->data, &why);
    }
    if (rc && err)
        *err = why;
    return rc;
}

static int image_set_start(struct pr_image_set *s, struct pr_err *err)
{
    int rc = image_set_make_data(s, err);

    if (!rc)
        rc = image_set_list_classes(s, err);
    if (rc)
        return rc;
    rc = pr_data_session_open(&s->data, err);
    return rc ? image_set_add_hint(s, rc, err)
              : image_set_start_batches(s, PR_TRAIN, &s->batches, err);
}

int pr_image_set_open(const struct pr_job *job,
                      const struct pr_image_set_opts *opts,
                      struct pr_image_set **ret, struct pr_err *err)
{
    struct pr_image_set *s = pr_alloc_zeroed(sizeof *s);
    int rc = s ? image_set_init(s, job, err) : pr_fail_nomem(err);

    if (rc) {
        pr_free(s);
        return rc;
    }
    s->notes = (struct pr_buf)PR_BUF_INIT(65536);
    s->data = (struct pr_data_session){.e = &s->e,
                                       .stats = &s->stats,
                                       .progress = opts->progress,
                                       .stop = opts->stop,
                                       .notes = &s->notes};
    s->o = *opts;
    s->e.workflow.evaluation = opts->evaluates;
    rc = image_set_start(s, err);
    if (rc)
        pr_image_set_free(s);
    else
        *ret = s;
    return rc;
}

static void look_at_labels(struct pr_image_set *s, const int32_t *labels)
{
    if (!s->count)
        s->label = labels[0];
    for (uint64_t i = 0; !s->differ && i < s->o.batch; i++)
        s->differ = labels[i] != s->label;
    s->count += s->o.batch;
}

int pr_image_set_next(struct pr_image_set *s, float *input, int32_t *labels,
                      uint64_t *ret_wait_ns, struct pr_err *err)
{
    int rc = pr_batches_next(s->batches, input, labels, ret_wait_ns, err);

    if (!rc)
        look_at_labels(s, labels);
    return rc;
}

/* The same where it lies, until the next one is asked for. */
static int image_set_borrow(struct pr_image_set *s, const float **ret_input,
                            const int32_t **ret_labels, uint64_t *ret_wait_ns,
                            struct pr_err *err)
{
    int rc =
        pr_batches_borrow(s->batches, ret_input, ret_labels, ret_wait_ns, err);

    if (!rc)
        look_at_labels(s, *ret_labels);
    return rc;
}

uint64_t pr_image_set_held_out_count(const struct pr_image_set *s)
{
    uint64_t samples = s->e.set.files[PR_VALID] * s->e.set.spec.samples;

    return s->o.evaluates ? samples / s->o.batch * s->o.batch : 0;
}

int pr_image_set_next_held_out(struct pr_image_set *s, float *input,
                               int32_t *labels, struct pr_err *err)
{
    int rc = PR_OK;

    pr_batches_end(s->batches);
    if (!s->held_out)
        rc = image_set_start_batches(s, PR_VALID, &s->held_out, err);
    return rc ? rc : pr_batches_next(s->held_out, input, labels, NULL, err);
}

void pr_image_set_print(const struct pr_image_set *s, struct pr_buf *out)
{
    struct pr_batches_stats f;

    pr_batches_stats(s->batches, &f);
    pr_buf_printf(out, "data: %llu batches in an epoch, %u thread%s read; %s\n",
                  (unsigned long long)f.epoch_batches, f.threads,
                  f.threads == 1 ? "" : "s", pr_batches_warning(s->batches));
}

/* What is learned is not in the data. */
static void note_labels(const struct pr_image_set *s, struct pr_buf *notes)
{
    const char *whose = pr_batches_warning(s->batches);

    if (strstr(whose, "follow"))
        pr_buf_printf(notes, "data: %s; there is nothing to learn in them\n",
                      whose);
    else if (s->count > 1 && !s->differ)
        pr_buf_printf(notes,
                      "data: all %llu samples that came are of class %d, "
                      "which is learned at once; data that are made get more "
                      "classes by dataset.num_classes\n",
                      (unsigned long long)s->count, s->label);
}

void pr_image_set_add_warnings(const struct pr_image_set *s,
                               struct pr_buf *notes)
{
    struct pr_batches_stats f;

    pr_batches_stats(s->batches, &f);
    if (f.failed)
        pr_buf_printf(notes,
                      "samples that could not be read and were replaced: %llu; "
                      "the first: %s: %s\n",
                      (unsigned long long)f.failed, f.first_error.where,
                      f.first_error.msg);
    image_set_warn_unread(s, notes);
    if (s->o.learns && s->count)
        note_labels(s, notes);
}

/* Ends what is read ahead. False: it hangs, and uses what there is. */
static bool image_set_end_batches(struct pr_image_set *s)
{
    pr_batches_end(s->batches);
    pr_batches_end(s->held_out);
    return !pr_batches_is_hung(s->batches) && !pr_batches_is_hung(s->held_out);
}

int pr_image_set_remove(struct pr_image_set *s, struct pr_err *err)
{
    if (!image_set_end_batches(s))
        return PR_OK; /* what it reads stays */
    pr_batches_free(s->batches);
    pr_batches_free(s->held_out);
    s->batches = s->held_out = NULL;
    return pr_data_session_remove(&s->data, err);
}

double pr_image_set_made_s(const struct pr_image_set *s)
{
    return s->stats.generated_s;
}

void pr_image_set_free(struct pr_image_set *s)
{
    bool is_over;

    if (!s)
        return;
    is_over = image_set_end_batches(s); /* may find out that it hangs */
    pr_batches_free(s->batches);
    pr_batches_free(s->held_out);
    if (!is_over)
        return; /* what it uses stays, until the process ends */
    pr_data_session_close(&s->data);
    for (int i = 0; i < PR_SPLITS; i++)
        pr_dataset_classes_free(s->classes[i]);
    pr_buf_free(&s->notes);
    pr_free(s);
}

/* ---- the workload `loader`: what training asks of storage and processors
 * before any network computes. Images of a data set are read, decoded, cropped,
 * flipped and normalised as for ImageNet, and thrown away. */

enum { SIDE = 224 };

struct loading {
    struct pr_job *job;
    struct pr_nn_opts nn;
    struct pr_image_set_opts set;
    uint64_t warmup, batches;
    struct pr_progress progress;
    struct pr_series times; /* ms */
    struct pr_rate_log rates;
    bool stops; /* the rate is known, or time is over */
};

/* ---- what is asked for */

/* exp.model_opts may say how large images shall be: {"input": [3, 64, 64]}. */
static int choose_size(struct loading *l, struct pr_err *err)
{
    const struct pr_value *v = l->job->exp.model_opts, *input;

    l->set.dims = 3;
    l->set.shape[0] = 3;
    l->set.shape[1] = l->set.shape[2] = SIDE;
    l->set.classes = INT32_MAX; /* nobody learns them */
    input = v->kind == PR_MAP ? pr_get(v, "input") : NULL;
    if (!input)
        return PR_OK;
    for (unsigned i = 0; i < 3; i++) {
        const struct pr_value *n =
            input->kind == PR_LIST && input->len == 3 ? &input->items[i] : NULL;

        if (!n || n->kind != PR_INT || n->i < 1 || n->i > 65536)
            return pr_fail(err, PR_E_CONF, "exp.model_opts",
                           "'input' wants three whole numbers such as [3, 224, "
                           "224]");
        l->set.shape[i] = n->i;
    }
    return PR_OK;
}

static int loading_init(struct loading *l, struct pr_job *job,
                        struct pr_err *err)
{
    const struct pr_exp_opts *e = &job->exp;
    int rc;

    *l = (struct loading){.job = job};
    rc = pr_opt_fill(&pr_nn_section, job->params, job->arena, &l->nn, err);
    if (!rc)
        rc = choose_size(l, err);
    if (rc)
        return rc;
    l->set.batch = (uint64_t)e->replica_batch;
    l->set.seed = (uint64_t)l->nn.seed;
    l->set.augment = l->nn.augment;
    l->warmup = (uint64_t)e->num_warmup_batches;
    l->batches = (uint64_t)e->num_batches;
    if (!l->set.batch)
        return pr_fail(err, PR_E_CONF, "exp.replica_batch",
                       "a batch of no sample cannot be loaded");
    if (!l->nn.max_count && (l->nn.steady > 0 || l->nn.max_time > 0))
        l->batches = UINT64_MAX / 2;
    if (l->nn.max_count)
        l->batches =
            ((uint64_t)l->nn.max_count + l->set.batch - 1) / l->set.batch;
    if (!l->batches)
        return pr_fail(err, PR_E_CONF, "exp.num_batches",
                       "no batch is to be measured");
    if (!pr_image_set_is_wanted(job)) {
        pr_fail(err, PR_E_CONF, job->id, "there is no data set to load");
        return pr_hint(err, "-P exp.data_dir=FOLDER, or "
                            "-P workflow.generate_data=true to make one");
    }
    return pr_image_set_check(job, err);
}

/* ---- the work */

static void loading_write_progress(struct loading *l, uint64_t done)
{
    uint64_t all = l->warmup + l->batches;
    double share = (double)done / (double)all;
    double by_time = pr_rate_log_time_share(&l->rates);
    bool by_count = l->batches < UINT64_MAX / 2;

    pr_progress_write(&l->progress,
                      !by_count || by_time > share ? by_time : share,
                      "batch %llu", (unsigned long long)done);
}

static int loading_load_batch(struct loading *l, struct pr_image_set *set,
                              uint64_t i, struct pr_err *err)
{
    uint64_t start = pr_now(l->job->clock), wait;
    const int32_t *labels;
    const float *input;

    PR_TRY(image_set_borrow(set, &input, &labels, &wait, err));
    if (i >= l->warmup) {
        uint64_t end = pr_now(l->job->clock);

        pr_series_add(&l->times, (double)(end - start) / 1e6);
        l->stops = pr_rate_log_add(&l->rates, start, end, l->set.batch);
    }
    if (pr_progress_is_due(&l->progress))
        loading_write_progress(l, i + 1);
    return __atomic_load_n(l->set.stop, __ATOMIC_RELAXED)
               ? pr_fail(err, PR_E_INTR, "", "interrupted")
               : PR_OK;
}

static void loading_put_verdict(const struct loading *l,
                                struct pr_result_lines *k, double speed,
                                const struct pr_series_summary *times)
{
    char took[PR_SERIES_TEXT], text[256];

    snprintf(text, sizeof text,
             "%.*f images/s of %lld x %lld are loaded (batch %llu in %s)",
             speed < 100, speed, (long long)l->set.shape[1],
             (long long)l->set.shape[2], (unsigned long long)l->set.batch,
             pr_series_text(times, took));
    pr_result_lines_put_str(k, "verdict", text);
}

static int loading_put_rates(struct loading *l, struct pr_result_lines *k,
                             struct pr_err *err)
{
    struct pr_rate_log_timing t;

    pr_rate_log_end(&l->rates);
    t = pr_rate_log_get_timing(&l->rates);
    pr_rate_log_put_timing(&t, k, "train");
    return pr_rate_log_put_steady(&l->rates, k, err);
}

static int loading_report(struct loading *l, struct pr_image_set *set,
                          struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(16 << 20);
    PR_AUTO_BUF struct pr_buf notes = PR_BUF_INIT(65536);
    double speed = (double)l->set.batch / (l->times.mean / 1e3);
    struct pr_series_summary times;
    struct pr_result_lines k;
    int rc;

    pr_image_set_print(set, &out);
    pr_result_lines_init(&k, &out);
    pr_buf_str(&out, "__results.prony.main__= [\"throughput\", \"time\"]\n");
    PR_TRY(pr_series_put_times(&l->times, &k, &times, err));
    pr_result_lines_put_float(&k, "throughput", speed);
    loading_put_verdict(l, &k, speed, &times);
    pr_result_lines_put_str(&k, "item", "image");
    pr_result_lines_put_uint(&k, "items", l->times.count * l->set.batch);
    pr_result_lines_put_uint(&k, "batch", l->set.batch);
    rc = loading_put_rates(l, &k, err);
    pr_image_set_add_warnings(set, &notes);
    pr_warnings_put(&notes, &out);
    if (!rc)
        rc = pr_job_log_write(&out, err);
    return rc ? rc : pr_image_set_remove(set, err);
}

static int loading_load_batches(struct loading *l, struct pr_err *err)
{
    struct pr_image_set *set = NULL;
    int rc = pr_image_set_open(l->job, &l->set, &set, err);

    pr_progress_start(&l->progress);
    for (uint64_t i = 0; i < l->warmup + l->batches && !rc && !l->stops; i++)
        rc = loading_load_batch(l, set, i, err);
    pr_progress_end(&l->progress);
    if (!rc)
        rc = loading_report(l, set, err);
    pr_image_set_free(set);
    return rc;
}

static int loader_run(struct pr_job *job, struct pr_err *err)
{
    const bool *stop = pr_job_watch_signals();
    struct loading l;
    int rc;

    PR_TRY(loading_init(&l, job, err));
    pr_progress_init(&l.progress, job->dir, job->clock);
    l.set.stop = stop;
    l.set.progress = &l.progress;
    rc = pr_series_init(&l.times, err);
    if (!rc)
        rc = pr_rate_log_init(&l.rates, &l.nn, err);
    if (!rc)
        rc = loading_load_batches(&l, err);
    pr_series_free(&l.times);
    pr_rate_log_free(&l.rates);
    return rc;
}

static int loader_prepare(struct pr_job *job, struct pr_start *ret,
                          struct pr_err *err)
{
    struct loading l;
    int rc = loading_init(&l, job, err);

    if (!rc)
        rc = pr_job_set_start_env(job, NULL, 0, ret, err);
    ret->argv = NULL;
    return rc;
}

static int loader_estimate(struct pr_job *job, struct pr_cost *ret,
                           struct pr_err *err)
{
    return pr_image_set_estimate_bytes(job, &ret->write_bytes, err);
}

static const struct pr_honour honours[] = {
    {"exp.model_opts", NULL, false},
    {"exp.replica_batch", NULL, false},
    {"exp.num_warmup_batches", NULL, false},
    {"exp.num_batches", NULL, false},
    {"exp.phase", NULL, false},
    {"exp.data_dir", NULL, false},
    {"exp.data", NULL, false},
    {"reader.batch_size", NULL, true},
    {"dataset.*", NULL, false},
    {"reader.*", NULL, false},
    {"storage.*", NULL, false},
    {"workflow.generate_data", NULL, false},
    {"nn.*", NULL, false},
    {0},
};

const struct pr_workload pr_workload_loader = {
    .abi = PR_WORKLOAD_ABI,
    .name = "loader",
    .desc = "loads images as training does: decode, crop, flip, normalise",
    .options = &pr_nn_section,
    .honours = honours,
    .prepare = loader_prepare,
    .run = loader_run,
    .estimate = loader_estimate,
};
