/*
 * The parameters of an emulated training: whether they make sense together, and
 * what follows from them.
 */
#include "emulate/emulate.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* ---- whether they make sense together */

/* Python's None in a text means that there is none. */
static bool is_python_class(const char *text)
{
    return *text && !pr_text_equal(text, "None");
}

/* DLIO can be extended by Python classes; we have no Python to run them. */
static int emulate_refuse_python(const struct pr_emulate *e, struct pr_err *err)
{
    const char *key = NULL;

    if (is_python_class(e->reader.reader_classname))
        key = "reader.reader_classname";
    else if (is_python_class(e->reader.data_loader_classname))
        key = "reader.data_loader_classname";
    else if (pr_text_equal(e->reader.data_loader, "custom"))
        key = "reader.data_loader=custom";
    if (!key)
        return PR_OK;
    pr_fail(err, PR_E_CONF, key,
            "Python classes cannot be used: reading is "
            "native");
    return pr_hint(err, "leave it out, and say what to read with "
                        "dataset.format and reader.data_loader");
}

static int check_workflow(const struct pr_emulate *e, struct pr_err *err)
{
    const struct pr_workflow_opts *w = &e->workflow;

    if (w->train || w->generate_data || w->checkpoint)
        return PR_OK;
    pr_fail(err, PR_E_CONF, "workflow",
            "nothing to do: neither generate_data nor train is true");
    return pr_hint(err, "set workflow.train=true");
}

/* Neither a write nor a read was asked for. */
static int check_alone(const struct pr_emulate *e, struct pr_err *err)
{
    const struct pr_checkpoint_opts *o = &e->checkpoint.opts;

    if (!pr_emulate_is_save_only(e) || e->workflow.generate_data ||
        o->num_checkpoints_write > 0 || o->num_checkpoints_read > 0)
        return PR_OK;
    pr_fail(err, PR_E_CONF, "checkpoint",
            "nothing to do: no checkpoint is to be written or read");
    return pr_hint(err, "set checkpoint.num_checkpoints_write, or "
                        "workflow.train=true");
}

/* Some ranks of a job may be those that write nothing. */
static int check_writers(const struct pr_emulate *e, struct pr_err *err)
{
    const struct pr_checkpoint_shape *c = &e->checkpoint;

    if (!e->workflow.checkpoint || c->here.files)
        return PR_OK;
    pr_fail(err, PR_E_CONF, "checkpoint",
            "ranks %llu to %llu have nothing to write",
            (unsigned long long)c->first,
            (unsigned long long)(c->first + c->ranks - 1));
    return pr_hint(err, "without ZeRO only the first ranks write "
                        "(checkpoint.first_rank); a model has a size or layers "
                        "(model.model_size_bytes, model.num_layers)");
}

/* What went nowhere cannot be compared. */
static int check_verify(const struct pr_emulate *e, struct pr_err *err)
{
    const struct pr_checkpoint_opts *o = &e->checkpoint.opts;
    const char *engine =
        e->workflow.checkpoint && !pr_text_equal(o->engine, "same")
            ? o->engine
            : e->storage.engine;

    if (!e->workflow.checkpoint || !o->verify || !pr_text_equal(engine, "null"))
        return PR_OK;
    pr_fail(err, PR_E_CONF, "checkpoint.verify",
            "there is nothing to compare: the engine null keeps nothing");
    return pr_hint(err, "use checkpoint.engine=memory, or leave verify out");
}

/* It goes into the experiment's folder, beside files of ours. */
static int check_log_file(const struct pr_emulate *e, struct pr_err *err)
{
    const char *name = e->output.log_file;
    size_t n = strlen(name);

    if (n > 4 && n < 200 && !strchr(name, '/') && *name != '.' &&
        pr_text_equal(name + n - 4, ".log"))
        return PR_OK;
    pr_fail(err, PR_E_CONF, "output.log_file",
            "wants a name that ends with .log and has no slash, got '%s'",
            name);
    return pr_hint(err, "output.folder says where it goes, too");
}

/* O_DIRECT has an engine of its own; another one would not do what is asked. */
static int check_direct(const struct pr_emulate *e, struct pr_err *err)
{
    const char *engine = e->storage.engine;

    if (!e->reader.odirect || pr_text_equal(engine, "pread") ||
        pr_text_equal(engine, "direct"))
        return PR_OK;
    pr_fail(err, PR_E_CONF, "reader.odirect",
            "reads by storage.engine=direct, but '%s' is asked for", engine);
    return pr_hint(err, "leave out one of the two");
}

static int check_delivered(const struct pr_emulate *e, struct pr_err *err)
{
    const struct pr_value *dims = e->reader.transformed_record_dims;
    enum pr_dtype type;

    for (uint32_t i = 0; dims && i < dims->len; i++)
        if (dims->items[i].kind != PR_INT || dims->items[i].i < 1)
            return pr_fail(err, PR_E_CONF, "reader.transformed_record_dims",
                           "wants whole numbers from 1 on");
    if (pr_dtype_find(e->reader.transformed_record_element_type, &type))
        return PR_OK;
    return pr_fail(err, PR_E_CONF, "reader.transformed_record_element_type",
                   "wants one of %s, got '%s'", pr_dtype_list(),
                   e->reader.transformed_record_element_type);
}

/* An epoch without a step would measure nothing. */
static int check_samples(const struct pr_emulate *e, struct pr_err *err)
{
    struct pr_order_opts opts;
    struct pr_order order;
    int rc;

    pr_emulate_fill_order_opts(e, false, 1, &opts);
    rc = pr_order_init(&order, &opts, err);
    if (pr_text_equal(e->opts.compat,
                      "dlio")) /* it always drops what is left */
        order.batches = order.total / opts.batch / opts.accelerators;
    if (rc || order.batches || !e->train.epochs || !e->workflow.train)
        return rc;
    pr_fail(err, PR_E_CONF, "dataset",
            "%llu samples do not make one batch of %llu for each of %llu "
            "accelerators",
            (unsigned long long)order.total, (unsigned long long)opts.batch,
            (unsigned long long)opts.accelerators);
    return pr_hint(err,
                   "dataset.num_files_train=%llu are enough for one; or use a "
                   "smaller reader.batch_size, or reader.drop_last=false",
                   (unsigned long long)((opts.batch * opts.accelerators +
                                         opts.samples_per_file - 1) /
                                        opts.samples_per_file));
}

static int emulate_check_params(const struct pr_emulate *e, struct pr_err *err)
{
    static int (*const checks[])(const struct pr_emulate *e,
                                 struct pr_err *err) = {
        emulate_refuse_python, check_workflow, check_log_file, check_direct,
        check_delivered,       check_alone,    check_writers,  check_verify,
    };
    int rc = PR_OK;

    for (size_t i = 0; !rc && i < sizeof checks / sizeof *checks; i++)
        rc = checks[i](e, err);
    return rc;
}

int pr_emulate_check(const struct pr_emulate *e, struct pr_err *err)
{
    int rc = pr_storage_check(&e->storage, err);

    return rc ? rc : check_samples(e, err);
}

/* ---- what follows from them */

enum { STREAM_WINDOW = 1024 }; /* of tf.data, where nothing else is asked for */

static int emulate_fill_sections(struct pr_emulate *e, struct pr_job *job,
                                 struct pr_err *err)
{
    const struct {
        const struct pr_opt_section *section;
        void *to;
    } all[] = {
        {&pr_reader_section, &e->reader},
        {&pr_train_section, &e->train},
        {&pr_evaluation_section, &e->evaluation},
        {&pr_workflow_section, &e->workflow},
        {&pr_output_section, &e->output},
        {&pr_output_metric_section, &e->window},
        {&pr_metric_section, &e->metric},
        {&pr_profiling_section, &e->profiling},
        {&pr_emulate_section, &e->opts},
    };
    int rc = pr_storage_read_opts(job->params, job->arena, &e->storage, err);

    for (size_t i = 0; !rc && i < sizeof all / sizeof *all; i++)
        rc = pr_opt_fill(all[i].section, job->params, job->arena, all[i].to,
                         err);
    return rc;
}

static int parse_times(struct pr_emulate *e, struct pr_err *err)
{
    int rc =
        pr_duration_parse("train.computation_time", e->train.computation_time,
                          e->train.computation_time_stdev, &e->compute, err);

    if (!rc)
        rc = pr_duration_parse("evaluation.eval_time", e->evaluation.eval_time,
                               e->evaluation.eval_time_stdev, &e->eval, err);
    if (!rc)
        rc = pr_duration_parse(
            "reader.preprocess_time", e->reader.preprocess_time,
            e->reader.preprocess_time_stdev, &e->preprocess, err);
    return rc;
}

static void apply_reader(struct pr_emulate *e)
{
    if (e->set.spec.payload == PR_RAW)
        e->reader.decode = false;
    if (e->reader.odirect && pr_text_equal(e->storage.engine, "pread"))
        e->storage.engine = "direct";
    e->storage.request_size = e->reader.transfer_size ? e->reader.transfer_size
                                                      : e->storage.request_size;
    if (e->reader.transfer_size)
        e->storage.block_size = e->reader.transfer_size < PR_IO_ALIGN
                                    ? PR_IO_ALIGN
                                    : e->reader.transfer_size;
}

/* Where data lies may also be said for all experiments: prony run -d. */
static void apply_data_root(struct pr_emulate *e)
{
    const char *root = getenv("PRONY_DATA");

    if (root && *root && pr_text_equal(e->storage.storage_root, "./"))
        e->storage.storage_root = root;
}

/* exp.accelerators, or what a plan would have put there. */
static int find_accelerators(struct pr_emulate *e, struct pr_err *err)
{
    const struct pr_job *job = e->job;
    struct pr_model_parallelism_opts p = {.tensor = 1, .pipeline = 1};
    uint64_t n = (uint64_t)job->exp.accelerators;
    int rc = PR_OK;

    if (!n && e->workflow.checkpoint)
        rc = pr_opt_fill(&pr_model_parallelism_section, job->params, job->arena,
                         &p, err);
    if (!n && e->workflow.checkpoint && !rc)
        n = (uint64_t)p.tensor * (uint64_t)p.pipeline *
            (uint64_t)(p.data > 0 ? p.data : 1);
    e->accelerators = n ? n : 1;
    return rc;
}

int pr_emulate_init(struct pr_emulate *e, struct pr_job *job,
                    struct pr_err *err)
{
    int rc;

    memset(e, 0, sizeof *e);
    e->job = job;
    rc = emulate_fill_sections(e, job, err);
    if (!rc)
        rc = find_accelerators(e, err);
    if (!rc)
        rc = parse_times(e, err);
    if (!rc)
        rc = pr_dataset_init(&e->set, job->params, job->arena, err);
    if (!rc && e->workflow.checkpoint)
        rc = pr_checkpoint_shape_init(&e->checkpoint, job->params,
                                      e->accelerators, job->arena, err);
    if (!rc)
        rc = emulate_check_params(e, err);
    if (rc)
        return rc;
    apply_reader(e);
    apply_data_root(e);
    e->model = pr_text_at(job->params, "model.name",
                          pr_text_at(job->params, "model", "default"));
    e->folder = *e->output.folder
                    ? e->output.folder
                    : pr_text_at(job->params, "hydra.run.dir", "");
    if (getrandom(&e->random, sizeof e->random, 0) < 0)
        return pr_fail_errno(err, PR_E_IO, "", "cannot get random numbers");
    return PR_OK;
}

bool pr_emulate_is_save_only(const struct pr_emulate *e)
{
    return e->workflow.checkpoint && !e->workflow.train;
}

static uint64_t window_of(const struct pr_emulate *e, uint64_t total)
{
    uint64_t size = (uint64_t)e->reader.shuffle_size;

    if (!size && pr_text_equal(e->reader.data_loader, "tensorflow"))
        size = STREAM_WINDOW;
    /* A buffer that holds all of it is a full shuffle. */
    return size < total / e->accelerators ? size : 0;
}

void pr_emulate_fill_order_opts(const struct pr_emulate *e, bool evaluation,
                                unsigned epoch, struct pr_order_opts *ret)
{
    const struct pr_reader_opts *r = &e->reader;
    uint64_t files = e->set.files[evaluation ? PR_VALID : PR_TRAIN];
    bool by_chance = pr_text_equal(r->file_shuffle, "random") ||
                     pr_text_equal(r->sample_shuffle, "random");
    uint64_t seed = by_chance ? e->random : (uint64_t)e->train.seed;

    *ret = (struct pr_order_opts){
        .files = files,
        .samples_per_file = e->set.spec.samples,
        .accelerators = e->accelerators,
        .batch = (uint64_t)(evaluation ? r->batch_size_eval : r->batch_size),
        .drop_last = r->drop_last,
        .shared = pr_text_equal(r->file_access, "shared") ||
                  pr_text_equal(r->file_access, "collective"),
        /* Held-out data is looked at, not learned from: order is nothing. But
         * DLIO shuffles its files, too. */
        .shuffle_files = !pr_text_equal(r->file_shuffle, "off") &&
                         (!evaluation || pr_text_equal(e->opts.compat, "dlio")),
        .shuffle_samples =
            !evaluation && !pr_text_equal(r->sample_shuffle, "off"),
        .window = window_of(e, files * e->set.spec.samples),
        .seed = e->train.seed_change_epoch ? seed + epoch : seed,
    };
}

bool pr_emulate_has_evaluation(const struct pr_emulate *e, unsigned epoch)
{
    int64_t first = e->evaluation.eval_after_epoch;

    return e->workflow.evaluation && e->set.files[PR_VALID] && epoch >= first &&
           (epoch - first) % e->evaluation.epochs_between_evals == 0;
}

uint64_t pr_emulate_count_steps(const struct pr_emulate *e, uint64_t batches,
                                uint64_t done)
{
    uint64_t cap;

    if (e->train.total_training_steps <= 0)
        return batches;
    cap = (uint64_t)e->train.total_training_steps;
    if (pr_text_equal(e->train.total_training_steps_of, "run"))
        cap = cap > done ? cap - done : 0;
    return cap < batches ? cap : batches;
}

uint64_t pr_emulate_count_all_steps(const struct pr_emulate *e,
                                    uint64_t batches)
{
    uint64_t epochs = (uint64_t)e->train.epochs;
    uint64_t each = pr_emulate_count_steps(e, batches, 0), all;

    if (pr_text_equal(e->train.total_training_steps_of, "run"))
        each = batches;
    if (__builtin_mul_overflow(each, epochs, &all))
        all = UINT64_MAX;
    /* A cap of the run is one of all its steps. */
    return pr_text_equal(e->train.total_training_steps_of, "run")
               ? pr_emulate_count_steps(e, all, 0)
               : all;
}

uint64_t pr_emulate_count_evaluations(const struct pr_emulate *e)
{
    int64_t first = e->evaluation.eval_after_epoch;

    if (!e->workflow.evaluation || !e->set.files[PR_VALID] ||
        e->train.epochs < first)
        return 0;
    return (uint64_t)((e->train.epochs - first) /
                          e->evaluation.epochs_between_evals +
                      1);
}

bool pr_emulate_needs_storage(const struct pr_emulate *e)
{
    return !pr_text_equal(e->reader.data_loader, "synthetic") &&
           !pr_text_equal(e->reader.data_loader, "none") &&
           !(e->set.format->flags & PR_FORMAT_EMPTY);
}

bool pr_emulate_has_files(const struct pr_emulate *e)
{
    return pr_emulate_needs_storage(e) &&
           !pr_text_equal(e->storage.engine, "null") &&
           !pr_text_equal(e->storage.engine, "memory");
}
