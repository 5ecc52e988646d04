/* Judging an experiment by MLPerf's rules: what all of them share. */
#include "analyse/mlperf.h"

#include "analyse/mlperf_impl.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *pr_mlperf_status_word(enum pr_mlperf_status s)
{
    static const char *const words[] = {"pass", "fail", "warn", "not checked"};

    return words[s];
}

const char *pr_mlperf_verdict_word(enum pr_mlperf_verdict v)
{
    static const char *const words[] = {"closed", "open", "invalid"};

    return words[v];
}

static const char *mlperf_get_text(const struct pr_value *params,
                                   const char *key)
{
    const struct pr_value *v = pr_get(params, key);

    return v && v->kind == PR_STR ? v->s : "";
}

bool pr_mlperf_is_asked(const struct pr_value *params)
{
    const char *division = mlperf_get_text(params, "mlperf.division");

    return *division && strcmp(division, "none") != 0;
}

/* A training is MLPerf's by its name and by the size of its samples: many a
 * test is called unet3d. */
static bool has_its_samples(const struct pr_mlperf_model *m,
                            const struct pr_value *params)
{
    const char *want =
        pr_mlperf_model_value(m, "dataset.record_length_bytes", 0);
    const struct pr_value *v = pr_get(params, "dataset.record_length_bytes");

    return !want || (v && pr_value_is_number(v) &&
                     pr_value_number(v) == strtod(want, NULL));
}

bool pr_mlperf_is_concerned(const struct pr_value *params)
{
    const struct pr_mlperf_model *m =
        pr_mlperf_find_model(mlperf_get_text(params, "model.name"));

    return strcmp(mlperf_get_text(params, "exp.workload"), "emulate") == 0 &&
           (pr_mlperf_is_asked(params) || (m && has_its_samples(m, params)));
}

bool pr_mlperf_checks_add(struct pr_mlperf_checks *list, struct pr_arena *a,
                          const char *rule, enum pr_mlperf_status status,
                          const char *fmt, va_list args)
{
    struct pr_mlperf_check *c = PR_ARENA_NEW(a, struct pr_mlperf_check);
    char text[2048];

    vsnprintf(text, sizeof text, fmt, args);
    if (!c || !(c->text = pr_arena_str(a, text)))
        return false;
    c->rule = rule;
    c->status = status;
    list->by_status[status]++;
    if (list->last)
        list->last->next = c;
    else
        list->first = c;
    list->last = c;
    return true;
}

void pr_mlperf_add_check(struct pr_mlperf_judge *j, const char *rule,
                         enum pr_mlperf_status status, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    j->no_memory |= !pr_mlperf_checks_add(&j->ret->checks, j->arena, rule,
                                          status, fmt, args);
    va_end(args);
    if (status == PR_MLPERF_FAIL)
        j->invalid = true;
}

void pr_mlperf_add_open_check(struct pr_mlperf_judge *j, const char *rule,
                              const char *fmt, ...)
{
    bool closed = strcmp(j->ret->division, "closed") == 0;
    va_list args;

    va_start(args, fmt);
    j->no_memory |= !pr_mlperf_checks_add(
        &j->ret->checks, j->arena, rule,
        closed ? PR_MLPERF_FAIL : PR_MLPERF_PASS, fmt, args);
    va_end(args);
    j->open = true;
}

double pr_mlperf_result_number(const struct pr_mlperf_judge *j,
                               const char *name)
{
    const struct pr_value *v =
        j->in->results ? pr_get(j->in->results, name) : NULL;

    return v && pr_value_is_number(v) ? pr_value_number(v) : NAN;
}

static int mlperf_read_options(struct pr_mlperf_judge *j)
{
    const struct {
        const struct pr_opt_section *section;
        void *opts;
    } rows[] = {{&pr_mlperf_section, &j->opts},
                {&pr_dataset_section, &j->dataset},
                {&pr_reader_section, &j->reader},
                {&pr_train_section, &j->train},
                {&pr_workflow_section, &j->workflow},
                {&pr_checkpoint_section, &j->checkpoint},
                {&pr_model_parallelism_section, &j->parallelism},
                {&pr_storage_section, &j->storage}};
    int rc = PR_OK;

    for (size_t i = 0; i < sizeof rows / sizeof *rows && !rc; i++)
        rc = pr_opt_fill(rows[i].section, j->in->params, j->arena, rows[i].opts,
                         j->err);
    return rc;
}

/* exp.accelerators is computed when a plan is made, so it is always there. */
static uint64_t get_accelerators(const struct pr_value *params)
{
    const struct pr_value *v = pr_get(params, "exp.accelerators");

    return v && v->kind == PR_INT && v->i > 0 ? (uint64_t)v->i : 1;
}

static void set_facts(struct pr_mlperf_judge *j)
{
    struct pr_mlperf *r = j->ret;

    r->division = j->opts.division;
    r->hosts = (uint64_t)j->opts.hosts;
    r->host_memory = j->opts.host_memory ? j->opts.host_memory : j->in->memory;
    r->accelerators = get_accelerators(j->in->params);
    r->is_checkpoint = j->model ? j->model->tensor > 0
                                : j->workflow.checkpoint && !j->workflow.train;
    if (j->model && r->is_checkpoint) {
        r->workload = j->model->name;
        r->ranks = j->model->tensor * j->model->pipeline * j->model->data;
    }
}

static void judge_model(struct pr_mlperf_judge *j)
{
    const char *name = mlperf_get_text(j->in->params, "model.name");

    if (j->model)
        return;
    pr_mlperf_add_check(
        j, j->ret->is_checkpoint ? "2.2.1" : "2.1", PR_MLPERF_FAIL,
        "model.name is '%s', which is none of MLPerf's: unet3d, "
        "resnet50, cosmoflow, llama_8b, llama_70b, llama_405b, "
        "llama_1t",
        *name ? name : "default");
}

int pr_mlperf_judge_experiment(const struct pr_mlperf_in *in,
                               struct pr_arena *a, struct pr_mlperf *ret,
                               struct pr_err *err)
{
    struct pr_mlperf found = {0};
    struct pr_mlperf_judge j = {.in = in,
                                .arena = a,
                                .ret = &found,
                                .model = pr_mlperf_find_model(
                                    mlperf_get_text(in->params, "model.name")),
                                .err = err};
    int rc = mlperf_read_options(&j);

    if (rc)
        return rc;
    set_facts(&j);
    judge_model(&j);
    if (found.is_checkpoint)
        pr_mlperf_judge_checkpoint(&j);
    else
        pr_mlperf_judge_training(&j);
    if (j.model)
        rc = pr_mlperf_judge_params(&j);
    if (rc || j.no_memory)
        return rc ? rc : pr_fail_nomem(err);
    found.verdict = j.invalid ? PR_MLPERF_INVALID
                    : j.open  ? PR_MLPERF_OPEN
                              : PR_MLPERF_CLOSED;
    *ret = found;
    return PR_OK;
}
