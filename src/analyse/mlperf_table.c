/* Looking up MLPerf's workloads. */
#include "analyse/mlperf_impl.h"

#include <string.h>

static const struct pr_mlperf_model models[] = {
#define MODEL(name, model_name, tp, pp, dp) {name, model_name, tp, pp, dp},
#include "analyse/mlperf_table.def"
#undef MODEL
};

static const struct pr_mlperf_accelerator accelerators[] = {
#define ACCELERATOR(model, name, seconds) {model, name, seconds},
#include "analyse/mlperf_table.def"
#undef ACCELERATOR
    {NULL, NULL, 0},
};

static const struct {
    const char *model, *key, *value;
} values[] = {
#define VALUE(model, key, value) {model, key, value},
#include "analyse/mlperf_table.def"
#undef VALUE
};

static const struct {
    const char *kind, *key, *value;
    enum pr_mlperf_class class;
} changes[] = {
#define CHANGE(kind, key, value, class) {kind, key, value, PR_MLPERF_##class},
#include "analyse/mlperf_table.def"
#undef CHANGE
};

/* Whether two names are one but for '-' and '_', and the 3 of llama3. */
static bool same_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        if (*a == '3' && (a[1] == '-' || a[1] == '_') && *b != '3')
            a++;
        if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b))
            return false;
        if (!*a)
            return true;
    }
}

const struct pr_mlperf_model *pr_mlperf_find_model(const char *model_name)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (same_name(model_name, models[i].model_name))
            return &models[i];
    return NULL;
}

const struct pr_mlperf_accelerator *pr_mlperf_accelerator_at(size_t i)
{
    return &accelerators[i];
}

const char *pr_mlperf_model_value(const struct pr_mlperf_model *m,
                                  const char *key, size_t i)
{
    for (size_t k = 0; k < sizeof values / sizeof *values; k++)
        if (strcmp(values[k].model, m->name) == 0 &&
            strcmp(values[k].key, key) == 0 && !i--)
            return values[k].value;
    return NULL;
}

enum pr_mlperf_class pr_mlperf_classify_param(const struct pr_mlperf_model *m,
                                              const char *key,
                                              const char *value)
{
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++)
        if (strcmp(changes[k].key, key) == 0 &&
            (!*changes[k].kind || m->tensor) &&
            (!*changes[k].value || strcmp(changes[k].value, value) == 0))
            return changes[k].class;
    return PR_MLPERF_NOWHERE;
}
