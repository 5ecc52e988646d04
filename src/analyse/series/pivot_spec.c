/* What a report is told to show. */
#include "analyse/series/pivot.h"
#include "base/json/json.h"

#include <string.h>

static const struct named {
    const char *names[3];
    struct pr_pivot_spec spec;
} named[] = {
    {{"regular"},
     {.inputs = {"exp.model_title", "exp.device_type"},
      .input_count = 2,
      .output = "exp.replica_batch"}},
    {{"weak-scaling", "weak"},
     {.inputs = {"exp.model_title", "exp.replica_batch"},
      .input_count = 2,
      .output = "exp.num_gpus",
      .speedup = true,
      .efficiency = true}},
    {{"strong-scaling", "strong"},
     {.inputs = {"exp.model_title", "exp.effective_batch"},
      .input_count = 2,
      .output = "exp.num_gpus",
      .speedup = true,
      .efficiency = true}},
    {{"exploration"},
     {.inputs = {"exp.model_title", "exp.gpus"},
      .input_count = 2,
      .output = "exp.effective_batch"}},
};

static int pivot_fail_spec(struct pr_err *err, const char *what)
{
    pr_fail(err, PR_E_USAGE, "--report", "%s", what);
    return pr_hint(err, "regular, weak-scaling, strong-scaling, exploration, "
                        "or '{\"inputs\": [\"exp.model_title\"], \"output\": "
                        "\"exp.replica_batch\"}'");
}

static int read_inputs(const struct pr_value *list, struct pr_pivot_spec *s,
                       struct pr_err *err)
{
    if (!list || list->kind != PR_LIST || !list->len ||
        list->len > PR_PIVOT_INPUTS)
        return pivot_fail_spec(err, "'inputs' is a list of one to eight names");
    for (uint32_t i = 0; i < list->len; i++) {
        if (list->items[i].kind != PR_STR)
            return pivot_fail_spec(err,
                                   "'inputs' is a list of one to eight names");
        s->inputs[s->input_count++] = list->items[i].s;
    }
    return PR_OK;
}

static int read_flag(const struct pr_value *v, const char *key, bool *flag,
                     struct pr_err *err)
{
    const struct pr_value *f = pr_get(v, key);

    if (!f)
        return PR_OK;
    if (f->kind != PR_BOOL)
        return pivot_fail_spec(err,
                               "what begins with 'report_' is true or false");
    *flag = f->b;
    return PR_OK;
}

static int pivot_read_flags(const struct pr_value *v, struct pr_pivot_spec *s,
                            struct pr_err *err)
{
    bool times = true, specs = true;
    int rc = read_flag(v, "report_speedup", &s->speedup, err);

    if (!rc)
        rc = read_flag(v, "report_efficiency", &s->efficiency, err);
    if (!rc)
        rc = read_flag(v, "report_batch_times", &times, err);
    if (!rc)
        rc = read_flag(v, "report_input_specs", &specs, err);
    s->no_times = !times;
    s->no_specs = !specs;
    return rc;
}

static bool has_input(const struct pr_pivot_spec *s, const char *name)
{
    for (size_t i = 0; i < s->input_count; i++)
        if (strcmp(s->inputs[i], name) == 0)
            return true;
    return false;
}

static int pivot_check_spec(const struct pr_pivot_spec *s, struct pr_err *err)
{
    bool replica = has_input(s, "exp.replica_batch");
    bool effective = has_input(s, "exp.effective_batch");

    if (s->efficiency &&
        (replica == effective || strcmp(s->output, "exp.num_gpus") != 0))
        return pivot_fail_spec(
            err, "an efficiency wants exp.replica_batch or "
                 "exp.effective_batch among the inputs, and the output "
                 "exp.num_gpus");
    return PR_OK;
}

int pr_pivot_spec_read(const char *text, struct pr_arena *a,
                       struct pr_pivot_spec *ret, struct pr_err *err)
{
    struct pr_json_in in = {
        .text = text, .len = strlen(text), .name = "--report"};
    struct pr_value *v = PR_ARENA_NEW(a, struct pr_value);
    const struct pr_value *output;
    struct pr_pivot_spec s = {0};
    int rc;

    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        for (size_t k = 0; named[i].names[k]; k++)
            if (strcmp(text, named[i].names[k]) == 0) {
                *ret = named[i].spec;
                return PR_OK;
            }
    if (!v)
        return pr_fail_nomem(err);
    rc = pr_json_read(&in, a, v, NULL, err);
    if (rc || v->kind != PR_MAP)
        return rc == PR_E_NOMEM
                   ? rc
                   : pivot_fail_spec(err, "no report of that name");
    rc = read_inputs(pr_get(v, "inputs"), &s, err);
    output = pr_get(v, "output");
    if (!rc && (!output || output->kind != PR_STR))
        rc = pivot_fail_spec(err, "'output' is the name of a parameter");
    if (rc)
        return rc;
    s.output = output->s;
    s.output_cols = pr_get(v, "output_cols");
    if (s.output_cols && s.output_cols->kind != PR_LIST)
        s.output_cols = NULL;
    rc = pivot_read_flags(v, &s, err);
    if (!rc)
        rc = pivot_check_spec(&s, err);
    if (!rc)
        *ret = s;
    return rc;
}
