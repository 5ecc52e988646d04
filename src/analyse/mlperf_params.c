/*
 * Whether only parameters were changed that may be: every one is compared with
 * what MLPerf's file has, or with its default where the file is silent.
 */
#include "analyse/mlperf_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_TEXT = 256 };

struct compare {
    struct pr_mlperf_judge *j;
    struct pr_buf allowed; /* names of what may be changed, and was */
    uint64_t wrong;
};

/* A value for people and for comparing: 4 for 4.0, true for True. */
static bool format_param_value(const struct pr_value *v,
                               char out[static MAX_TEXT])
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);

    if (v->kind == PR_BOOL)
        pr_buf_str(&text, v->b ? "true" : "false");
    else if (v->kind == PR_FLOAT && v->f == rint(v->f) && fabs(v->f) < 1e15)
        pr_buf_printf(&text, "%.0f", v->f);
    else
        pr_value_write_text(&text, v);
    snprintf(out, MAX_TEXT, "%s", text.data ? text.data : "");
    return pr_buf_ok(&text) || text.over;
}

/* The value as the option has it; one that it does not take stays as it is. */
static void put_cast(struct pr_mlperf_judge *j, const struct pr_opt *opt,
                     const struct pr_value *v, char out[static MAX_TEXT])
{
    struct pr_value cast;
    int rc = pr_opt_cast(opt, v, j->arena, &cast, NULL);

    if (rc == PR_E_NOMEM || !format_param_value(rc ? v : &cast, out))
        j->no_memory = true;
}

/* Whether a value is one of those that MLPerf's file has; *want: the first. */
static bool as_theirs(struct pr_mlperf_judge *j, const struct pr_opt *opt,
                      const char *key, const char *found,
                      char want[static MAX_TEXT])
{
    struct pr_value v = pr_opt_default(opt);
    const char *text = pr_mlperf_model_value(j->model, key, 0);
    char other[MAX_TEXT];

    if (text)
        v = pr_str(text);
    put_cast(j, opt, &v, want);
    if (strcmp(found, want) == 0)
        return true;
    for (size_t i = 1; (text = pr_mlperf_model_value(j->model, key, i)); i++) {
        v = pr_str(text);
        put_cast(j, opt, &v, other);
        if (strcmp(found, other) == 0)
            return true;
    }
    return false;
}

static const char *get_param_rule(const struct pr_mlperf_judge *j,
                                  const char *key, bool open)
{
    if (j->ret->is_checkpoint)
        return strncmp(key, "model.", 6) == 0 ? "2.2.1" : "2.2.5";
    return open ? "10.2" : "10.1";
}

static const char *text_or_empty(const char *text)
{
    return *text ? text : "empty";
}

static void judge_param_change(struct compare *c, const char *key,
                               const char *found, const char *want)
{
    struct pr_mlperf_judge *j = c->j;

    switch (pr_mlperf_classify_param(j->model, key, found)) {
    case PR_MLPERF_FREE:
    case PR_MLPERF_APART:
        break;
    case PR_MLPERF_IN_CLOSED:
        pr_buf_printf(&c->allowed, "%s%s", c->allowed.len ? ", " : "", key);
        break;
    case PR_MLPERF_IN_OPEN:
        pr_mlperf_add_open_check(
            j, get_param_rule(j, key, true),
            "%s is %s, MLPerf's %s has %s: OPEN alone allows "
            "it, and wants it disclosed",
            key, text_or_empty(found), j->model->name, text_or_empty(want));
        break;
    case PR_MLPERF_NOWHERE:
        c->wrong++;
        pr_mlperf_add_check(
            j, get_param_rule(j, key, false), PR_MLPERF_FAIL,
            "%s is %s, MLPerf's %s has %s, and neither division lets "
            "it be changed: set it back",
            key, text_or_empty(found), j->model->name, text_or_empty(want));
        break;
    }
}

static void judge_param(struct compare *c, const struct pr_opt_section *s,
                        const struct pr_opt *opt)
{
    struct pr_value def = pr_opt_default(opt);
    char key[128], found[MAX_TEXT], want[MAX_TEXT];
    const struct pr_value *v;

    snprintf(key, sizeof key, "%s.%s", s->name, opt->name);
    v = pr_get(c->j->in->params, key);
    put_cast(c->j, opt, v ? v : &def, found);
    if (!as_theirs(c->j, opt, key, found, want))
        judge_param_change(c, key, found, want);
}

/* A checkpoint has no data set, and is not trained. */
static bool is_compared(const char *section, bool checkpoint)
{
    static const struct {
        const char *name;
        bool both;
    } rows[] = {
        {"model", true},
        {"model.parallelism", true},
        {"model.transformer", true},
        {"checkpoint", true},
        {"workflow", true},
        {"storage", true},
        {"emulate", true},
        {"dataset", false},
        {"dataset.hdf5", false},
        {"reader", false},
        {"train", false},
        {"evaluation", false},
        {"metric", false},
        {"output.metric", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(section, rows[i].name) == 0)
            return rows[i].both || !checkpoint;
    return false;
}

int pr_mlperf_judge_params(struct pr_mlperf_judge *j)
{
    const struct pr_opt_section *const *s = pr_opt_sections();
    struct compare c = {j, PR_BUF_INIT(1 << 16), 0};
    bool open = j->open;

    for (; *s; s++)
        for (size_t i = 0;
             is_compared((*s)->name, j->ret->is_checkpoint) && i < (*s)->count;
             i++)
            judge_param(&c, *s, &(*s)->opts[i]);
    if (!c.wrong && j->open == open)
        pr_mlperf_add_check(
            j, get_param_rule(j, "", false), PR_MLPERF_PASS,
            c.allowed.len ? "of MLPerf's %s only what may be changed "
                            "was: %s"
                          : "no parameter of MLPerf's %s was "
                            "changed%s",
            j->model->name, c.allowed.len ? c.allowed.data : "");
    j->no_memory |= !pr_buf_ok(&c.allowed);
    pr_buf_free(&c.allowed);
    return PR_OK;
}
