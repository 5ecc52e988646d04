/* The parameters of an emulated training, and what follows from them. */
#include "emulate/emulate.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { STREAM_WINDOW = 1024 }; /* of tf.data, where nothing else is asked for */

static bool emulate_is_text(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

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
    if (e->reader.odirect && emulate_is_text(e->storage.engine, "pread"))
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

    if (root && *root && emulate_is_text(e->storage.storage_root, "./"))
        e->storage.storage_root = root;
}

static const char *emulate_text_param(const struct pr_value *params,
                                      const char *name, const char *otherwise)
{
    const struct pr_value *v = pr_get(params, name);

    return v && v->kind == PR_STR ? v->s : otherwise;
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
        rc = pr_emulate_check_params(e, err);
    if (rc)
        return rc;
    apply_reader(e);
    apply_data_root(e);
    e->model =
        emulate_text_param(job->params, "model.name",
                           emulate_text_param(job->params, "model", "default"));
    e->folder = *e->output.folder
                    ? e->output.folder
                    : emulate_text_param(job->params, "hydra.run.dir", "");
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

    if (!size && emulate_is_text(e->reader.data_loader, "tensorflow"))
        size = STREAM_WINDOW;
    /* A buffer that holds all of it is a full shuffle. */
    return size < total / e->accelerators ? size : 0;
}

void pr_emulate_fill_order_opts(const struct pr_emulate *e, bool evaluation,
                                unsigned epoch, struct pr_order_opts *ret)
{
    const struct pr_reader_opts *r = &e->reader;
    uint64_t files = e->set.files[evaluation ? PR_VALID : PR_TRAIN];
    bool by_chance = emulate_is_text(r->file_shuffle, "random") ||
                     emulate_is_text(r->sample_shuffle, "random");
    uint64_t seed = by_chance ? e->random : (uint64_t)e->train.seed;

    *ret = (struct pr_order_opts){
        .files = files,
        .samples_per_file = e->set.spec.samples,
        .accelerators = e->accelerators,
        .batch = (uint64_t)(evaluation ? r->batch_size_eval : r->batch_size),
        .drop_last = r->drop_last,
        .shared = emulate_is_text(r->file_access, "shared") ||
                  emulate_is_text(r->file_access, "collective"),
        /* Held-out data is looked at, not learned from: order is nothing. But
         * DLIO shuffles its files, too. */
        .shuffle_files =
            !emulate_is_text(r->file_shuffle, "off") &&
            (!evaluation || emulate_is_text(e->opts.compat, "dlio")),
        .shuffle_samples =
            !evaluation && !emulate_is_text(r->sample_shuffle, "off"),
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
    if (emulate_is_text(e->train.total_training_steps_of, "run"))
        cap = cap > done ? cap - done : 0;
    return cap < batches ? cap : batches;
}

uint64_t pr_emulate_count_all_steps(const struct pr_emulate *e,
                                    uint64_t batches)
{
    uint64_t epochs = (uint64_t)e->train.epochs;
    uint64_t each = pr_emulate_count_steps(e, batches, 0), all;

    if (emulate_is_text(e->train.total_training_steps_of, "run"))
        each = batches;
    if (__builtin_mul_overflow(each, epochs, &all))
        all = UINT64_MAX;
    /* A cap of the run is one of all its steps. */
    return emulate_is_text(e->train.total_training_steps_of, "run")
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
    return !emulate_is_text(e->reader.data_loader, "synthetic") &&
           !emulate_is_text(e->reader.data_loader, "none") &&
           !(e->set.format->flags & PR_FORMAT_EMPTY);
}

bool pr_emulate_has_files(const struct pr_emulate *e)
{
    return pr_emulate_needs_storage(e) &&
           !emulate_is_text(e->storage.engine, "null") &&
           !emulate_is_text(e->storage.engine, "memory");
}
