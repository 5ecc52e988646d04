/* Whether the parameters of an emulated training make sense together. */
#include "emulate/emulate.h"

#include <string.h>

static bool is_param_text(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* Python's None in a text means that there is none. */
static bool is_python_class(const char *text)
{
    return *text && !is_param_text(text, "None");
}

/* DLIO can be extended by Python classes; we have no Python to run them. */
static int emulate_refuse_python(const struct pr_emulate *e, struct pr_err *err)
{
    const char *key = NULL;

    if (is_python_class(e->reader.reader_classname))
        key = "reader.reader_classname";
    else if (is_python_class(e->reader.data_loader_classname))
        key = "reader.data_loader_classname";
    else if (is_param_text(e->reader.data_loader, "custom"))
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
        e->workflow.checkpoint && !is_param_text(o->engine, "same")
            ? o->engine
            : e->storage.engine;

    if (!e->workflow.checkpoint || !o->verify || !is_param_text(engine, "null"))
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
        is_param_text(name + n - 4, ".log"))
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

    if (!e->reader.odirect || is_param_text(engine, "pread") ||
        is_param_text(engine, "direct"))
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
    if (is_param_text(e->opts.compat,
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

int pr_emulate_check_params(const struct pr_emulate *e, struct pr_err *err)
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
