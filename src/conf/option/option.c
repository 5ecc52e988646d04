/* Options: finding a row, bringing values to its type, filling its struct. */
#include "conf/option/option.h"

#include "base/json/json.h"
#include "base/text.h"
#include "base/units.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- the tables of this build, made from the .def files */

#define OPT(k, f, d, lo, hi, ch, u, fl, s, h)                                  \
    {PR_OPT_##k, #f, offsetof(struct OWNER, f), d, lo, hi, ch, u, PR_OPT_##fl, \
     s,          h},

#define OWNER pr_exp_opts
static const struct pr_opt exp_opts[] = {
#include "conf/option/exp.def"
};
#undef OWNER

#define OWNER pr_runtime_opts
static const struct pr_opt runtime_opts[] = {
#include "conf/option/runtime.def"
};
#undef OWNER

#define OWNER pr_run_params
static const struct pr_opt run_opts[] = {
#include "conf/option/run.def"
};
#undef OWNER

#define OWNER pr_null_opts
static const struct pr_opt null_opts[] = {
#include "conf/option/null.def"
};
#undef OWNER

#define OWNER pr_storage_opts
static const struct pr_opt storage_opts[] = {
#include "conf/option/storage.def"
};
#undef OWNER

#define OWNER pr_dataset_opts
static const struct pr_opt dataset_opts[] = {
#include "conf/option/dataset.def"
};
#undef OWNER

#define OWNER pr_dataset_hdf5_opts
static const struct pr_opt dataset_hdf5_opts[] = {
#include "conf/option/dataset.hdf5.def"
};
#undef OWNER

#define OWNER pr_reader_opts
static const struct pr_opt reader_opts[] = {
#include "conf/option/reader.def"
};
#undef OWNER

#define OWNER pr_train_opts
static const struct pr_opt train_opts[] = {
#include "conf/option/train.def"
};
#undef OWNER

#define OWNER pr_evaluation_opts
static const struct pr_opt evaluation_opts[] = {
#include "conf/option/evaluation.def"
};
#undef OWNER

#define OWNER pr_workflow_opts
static const struct pr_opt workflow_opts[] = {
#include "conf/option/workflow.def"
};
#undef OWNER

#define OWNER pr_output_metric_opts
static const struct pr_opt output_metric_opts[] = {
#include "conf/option/output.metric.def"
};
#undef OWNER

#define OWNER pr_output_opts
static const struct pr_opt output_opts[] = {
#include "conf/option/output.def"
};
#undef OWNER

#define OWNER pr_metric_opts
static const struct pr_opt metric_opts[] = {
#include "conf/option/metric.def"
};
#undef OWNER

#define OWNER pr_profiling_opts
static const struct pr_opt profiling_opts[] = {
#include "conf/option/profiling.def"
};
#undef OWNER

#define OWNER pr_emulate_opts
static const struct pr_opt emulate_opts[] = {
#include "conf/option/emulate.def"
};
#undef OWNER

#define OWNER pr_model_opts
static const struct pr_opt model_opts[] = {
#include "conf/option/model.def"
};
#undef OWNER

#define OWNER pr_model_parallelism_opts
static const struct pr_opt model_parallelism_opts[] = {
#include "conf/option/model.parallelism.def"
};
#undef OWNER

#define OWNER pr_model_transformer_opts
static const struct pr_opt model_transformer_opts[] = {
#include "conf/option/model.transformer.def"
};
#undef OWNER

#define OWNER pr_checkpoint_opts
static const struct pr_opt checkpoint_opts[] = {
#include "conf/option/checkpoint.def"
};
#undef OWNER

#define OWNER pr_nn_opts
static const struct pr_opt nn_opts[] = {
#include "conf/option/nn.def"
};
#undef OWNER

#define OWNER pr_mlperf_opts
static const struct pr_opt mlperf_opts[] = {
#include "conf/option/mlperf.def"
};
#undef OWNER

#define OWNER pr_probe_params
static const struct pr_opt probe_opts[] = {
#include "conf/option/probe.def"
};
#undef OWNER

#define OWNER pr_monitor_opts
static const struct pr_opt monitor_opts[] = {
#include "conf/option/monitor.def"
};
#undef OWNER

#define OWNER pr_container_params
static const struct pr_opt container_opts[] = {
#include "conf/option/container.def"
};
#undef OWNER

#define OWNER pr_suite_opts
static const struct pr_opt suite_opts[] = {
#include "conf/option/suite.def"
};
#undef OWNER

#define OWNER pr_task_opts
static const struct pr_opt task_opts[] = {
#include "conf/option/task.def"
};
#undef OWNER

#define OWNER pr_plan_builder_opts
static const struct pr_opt plan_builder_opts[] = {
#include "conf/option/sys.plan_builder.def"
};
#undef OWNER
#undef OPT

#define SECTION(var, text, about, table, type) \
    const struct pr_opt_section var = {        \
        text, about, table, sizeof table / sizeof *table, sizeof(type)}

SECTION(pr_exp_section, "exp", "one experiment", exp_opts, struct pr_exp_opts);
SECTION(pr_runtime_section, "runtime",
        "the surroundings of an experiment's process", runtime_opts,
        struct pr_runtime_opts);
SECTION(pr_run_section, "run", "how a run keeps what it finds out", run_opts,
        struct pr_run_params);
SECTION(pr_null_section, "null", "the workload that does nothing", null_opts,
        struct pr_null_opts);
SECTION(pr_storage_section, "storage",
        "where data sets live and how they are reached", storage_opts,
        struct pr_storage_opts);
SECTION(pr_dataset_section, "dataset", "the files of a data set", dataset_opts,
        struct pr_dataset_opts);
SECTION(pr_dataset_hdf5_section, "dataset.hdf5", "what only HDF5 files have",
        dataset_hdf5_opts, struct pr_dataset_hdf5_opts);
SECTION(pr_reader_section, "reader", "how training reads its data set",
        reader_opts, struct pr_reader_opts);
SECTION(pr_train_section, "train", "the training that is emulated", train_opts,
        struct pr_train_opts);
SECTION(pr_evaluation_section, "evaluation",
        "looking at held-out data between epochs", evaluation_opts,
        struct pr_evaluation_opts);
SECTION(pr_workflow_section, "workflow",
        "which parts of an emulated training are done", workflow_opts,
        struct pr_workflow_opts);
SECTION(pr_output_metric_section, "output.metric",
        "steps that the measures leave out", output_metric_opts,
        struct pr_output_metric_opts);
SECTION(pr_output_section, "output", "where DLIO's result files go",
        output_opts, struct pr_output_opts);
SECTION(pr_metric_section, "metric", "what a run should reach", metric_opts,
        struct pr_metric_opts);
SECTION(pr_profiling_section, "profiling",
        "what is watched while training is emulated", profiling_opts,
        struct pr_profiling_opts);
SECTION(pr_emulate_section, "emulate", "how training is emulated", emulate_opts,
        struct pr_emulate_opts);
SECTION(pr_model_section, "model", "the model that is trained", model_opts,
        struct pr_model_opts);
SECTION(pr_model_parallelism_section, "model.parallelism",
        "how the model is spread over ranks", model_parallelism_opts,
        struct pr_model_parallelism_opts);
SECTION(pr_model_transformer_section, "model.transformer",
        "what the sizes of a transformer follow from", model_transformer_opts,
        struct pr_model_transformer_opts);
SECTION(pr_checkpoint_section, "checkpoint",
        "when checkpoints are written and read, where and how", checkpoint_opts,
        struct pr_checkpoint_opts);
SECTION(pr_nn_section, "nn", "training and inference of a network", nn_opts,
        struct pr_nn_opts);
SECTION(pr_mlperf_section, "mlperf", "the rules of MLPerf Storage", mlperf_opts,
        struct pr_mlperf_opts);
SECTION(pr_probe_section, "probe", "finding out what holds a training back",
        probe_opts, struct pr_probe_params);
SECTION(pr_monitor_section, "monitor", "watching the machine", monitor_opts,
        struct pr_monitor_opts);
SECTION(pr_container_section, "container", "containers of experiments",
        container_opts, struct pr_container_params);
SECTION(pr_suite_section, "suite", "jobs of a suite, one copy a device",
        suite_opts, struct pr_suite_opts);
SECTION(pr_task_section, "task", "tasks of GPU systems", task_opts,
        struct pr_task_opts);
SECTION(pr_plan_builder_section, "sys.plan_builder", "how the plan is built",
        plan_builder_opts, struct pr_plan_builder_opts);

const struct pr_opt_section *const *pr_opt_sections(void)
{
    static const struct pr_opt_section *const sections[] = {
        &pr_exp_section,
        &pr_runtime_section,
        &pr_run_section,
        &pr_null_section,
        &pr_storage_section,
        &pr_dataset_hdf5_section, /* before the one it
                                     begins like */
        &pr_dataset_section,
        &pr_reader_section,
        &pr_train_section,
        &pr_evaluation_section,
        &pr_workflow_section,
        &pr_output_metric_section,
        &pr_output_section,
        &pr_metric_section,
        &pr_profiling_section,
        &pr_emulate_section,
        &pr_model_parallelism_section,
        &pr_model_transformer_section,
        &pr_model_section,
        &pr_checkpoint_section,
        &pr_nn_section,
        &pr_mlperf_section,
        &pr_probe_section,
        &pr_monitor_section,
        &pr_container_section,
        &pr_suite_section,
        &pr_task_section,
        &pr_plan_builder_section,
        NULL,
    };
    return sections;
}

const char *pr_opt_kind_words(enum pr_opt_kind kind)
{
    static const char *const words[] = {
#define X(name, type, text) text,
        PR_OPT_KINDS(X)
#undef X
    };
    return words[kind];
}

static const struct pr_opt *section_find_option(const struct pr_opt_section *s,
                                                const char *rest)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct pr_opt *o = &s->opts[i];
        size_t n = strlen(o->name);
        bool exact = strcmp(rest, o->name) == 0;

        if (o->flags & PR_OPT_PREFIX ? strncmp(rest, o->name, n) == 0 &&
                                           rest[n] == '.' && rest[n + 1]
                                     : exact)
            return o;
    }
    return NULL;
}

const struct pr_opt *pr_opt_find(const char *name,
                                 const struct pr_opt_section **ret_section)
{
    const struct pr_opt_section *const *s = pr_opt_sections();

    for (; *s; s++) {
        size_t n = strlen((*s)->name);
        if (strncmp(name, (*s)->name, n) != 0 || name[n] != '.')
            continue;
        if (ret_section)
            *ret_section = *s;
        return section_find_option(*s, name + n + 1);
    }
    if (ret_section)
        *ret_section = NULL;
    return NULL;
}

bool pr_opt_env_name(const char *name, char out[static 160])
{
    int n = snprintf(out, 160, "PRONY_%s", name);

    if (n < 0 || n >= 160)
        return false;
    for (char *c = out; *c; c++)
        *c = *c == '.' || *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    return true;
}

const struct pr_honour *pr_honour_find(const struct pr_honour *list,
                                       const char *name)
{
    for (; list && list->name; list++) {
        size_t n = strlen(list->name);
        bool all = n && list->name[n - 1] == '*';

        if (all ? strncmp(list->name, name, n - 1) == 0
                : strcmp(list->name, name) == 0)
            return list->none ? NULL : list;
    }
    return NULL;
}

bool pr_honour_has(const struct pr_honour *h, const struct pr_value *v)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(4096);
    const char *word = h->values;

    if (!word)
        return true;
    pr_value_write_text(&text, v);
    for (;;) {
        size_t n = strcspn(word, "|");

        if (n == text.len && (!n || memcmp(word, text.data, n) == 0))
            return true;
        if (!word[n])
            return false;
        word += n + 1;
    }
}

const char *pr_opt_nearest(const struct pr_opt_section *section,
                           const char *name)
{
    struct pr_nearest near;

    pr_nearest_init(&near, name + strlen(section->name) + 1);
    for (size_t i = 0; i < section->count; i++)
        pr_nearest_offer(&near, section->opts[i].name);
    return near.best;
}

struct pr_value pr_opt_default(const struct pr_opt *opt)
{
    uint64_t bytes;
    int64_t i;
    double f;

    if (opt->kind == PR_OPT_BOOL && strchr(opt->def, '$') == NULL)
        return pr_bool(opt->def[0] == 't');
    if (opt->kind == PR_OPT_INT && pr_parse_int(opt->def, &i))
        return pr_int(i);
    if ((opt->kind == PR_OPT_FLOAT || opt->kind == PR_OPT_SECONDS) &&
        pr_parse_float(opt->def, &f))
        return pr_float(f);
    if (opt->kind == PR_OPT_SIZE && pr_parse_size(opt->def, &bytes))
        return pr_int((int64_t)bytes);
    if (opt->kind == PR_OPT_LIST && strcmp(opt->def, "[]") == 0)
        return (struct pr_value){.kind = PR_LIST};
    return pr_str(opt->def);
}

void pr_opt_describe(const struct pr_opt *opt, struct pr_buf *out)
{
    if (opt->choices) {
        pr_buf_str(out, "one of ");
        for (const char *p = opt->choices; *p; p++) {
            if (*p == '|')
                pr_buf_str(out, p == opt->choices ? "" : ", ");
            else
                pr_buf_char(out, *p);
        }
        return;
    }
    pr_buf_str(out, pr_opt_kind_words(opt->kind));
    if (opt->min || opt->max)
        pr_buf_printf(out, " from %.15g to %.15g", opt->min, opt->max);
}

static bool is_among_choices(const char *choices, const char *text, size_t n)
{
    for (const char *p = choices;; p++) {
        const char *end = strchr(p, '|');
        size_t len = end ? (size_t)(end - p) : strlen(p);
        if (len == n && memcmp(p, text, n) == 0)
            return true;
        if (!end)
            return false;
        p = end;
    }
}

/* The choice nearest to what was typed, as a hint. */
static int hint_choice(const struct pr_opt *opt, const char *typed,
                       struct pr_err *err)
{
    struct pr_nearest near;
    char choice[64];
    char best[64] = "";

    pr_nearest_init(&near, typed);
    for (const char *p = opt->choices; *p;) {
        size_t n = strcspn(p, "|");
        if (n && n < sizeof choice) {
            memcpy(choice, p, n);
            choice[n] = '\0';
            near.best = NULL;
            pr_nearest_offer(&near, choice);
            if (near.best)
                memcpy(best, choice, n + 1);
        }
        p += n + (p[n] == '|');
    }
    return *best ? pr_hint(err, "did you mean '%s'?", best) : PR_E_CONF;
}

/* The message begins with what is wanted: callers know the name. */
static int option_fail_value(const struct pr_opt *opt,
                             const struct pr_value *in, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf wants = PR_BUF_INIT(256);
    PR_AUTO_BUF struct pr_buf got = PR_BUF_INIT(1 << 20);

    pr_opt_describe(opt, &wants);
    pr_json_write(&got, in);
    pr_fail(err, PR_E_CONF, "", "wants %s, got %.120s",
            wants.data ? wants.data : "something else",
            got.data ? got.data : "?");
    if (opt->choices && in->kind == PR_STR)
        return hint_choice(opt, in->s, err);
    return PR_E_CONF;
}

static bool bool_word(const char *s, bool *ret)
{
    static const char *const words[][2] = {
        {"false", "true"}, {"off", "on"}, {"0", "1"}, {"no", "yes"}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (int b = 0; b < 2; b++)
            if (strcasecmp(s, words[i][b]) == 0) {
                *ret = b;
                return true;
            }
    return false;
}

/* Text to a number of the option's kind. */
static bool option_read_number(const struct pr_opt *opt, const char *s,
                               struct pr_value *ret)
{
    enum pr_opt_kind kind = opt->kind;
    int64_t i;
    uint64_t bytes;
    double f;

    switch (kind) {
    case PR_OPT_INT:
        if (!pr_parse_int(s, &i))
            return false;
        *ret = pr_int(i);
        return true;
    case PR_OPT_FLOAT:
    case PR_OPT_SECONDS:
        if ((kind == PR_OPT_FLOAT ? pr_parse_float : pr_parse_seconds)(s, &f))
            *ret = pr_float(f);
        else if (opt->unit && strcmp(opt->unit, "bytes") == 0 &&
                 pr_parse_size(s, &bytes))
            *ret = pr_float((double)bytes); /* 1.5M for a mean size */
        else
            return false;
        return true;
    default:
        if (!pr_parse_size(s, &bytes) || bytes > INT64_MAX)
            return false;
        *ret = pr_int((int64_t)bytes);
        return true;
    }
}

/* Blanks around a number are ignored, as Python's int() does. */
static bool text_to_number(const struct pr_opt *opt, const struct pr_value *in,
                           struct pr_value *ret)
{
    static const char blanks[] = " \t\r\n\v\f";
    const char *s = in->s;
    size_t n = in->len;
    char text[64];

    for (; n && memchr(blanks, *s, sizeof blanks - 1); s++)
        n--;
    while (n && memchr(blanks, s[n - 1], sizeof blanks - 1))
        n--;
    if (n >= sizeof text || memchr(s, '\0', n))
        return false;
    memcpy(text, s, n);
    text[n] = '\0';
    return option_read_number(opt, text, ret);
}

/* 4.0 for 4; false when f is no whole number of 64 bits. */
static bool float_to_whole(double f, struct pr_value *ret)
{
    if (!(f >= -0x1p63 && f < 0x1p63) || f != (double)(int64_t)f)
        return false;
    *ret = pr_int((int64_t)f);
    return true;
}

static bool option_cast_number(const struct pr_opt *opt,
                               const struct pr_value *in, struct pr_value *ret)
{
    bool size = opt->kind == PR_OPT_SIZE;
    bool whole = opt->kind == PR_OPT_INT || size;

    if (in->kind == PR_STR)
        return text_to_number(opt, in, ret);
    if (!pr_value_is_number(in) || (size && pr_value_number(in) < 0))
        return false;
    if (in->kind == PR_FLOAT && whole)
        return float_to_whole(in->f, ret);
    *ret = in->kind == PR_INT && !whole ? pr_float((double)in->i) : *in;
    return true;
}

static int cast_number(const struct pr_opt *opt, const struct pr_value *in,
                       struct pr_value *ret, struct pr_err *err)
{
    struct pr_value v;

    if (!option_cast_number(opt, in, &v))
        return option_fail_value(opt, in, err);
    if ((opt->min || opt->max) &&
        !(pr_value_number(&v) >= opt->min && pr_value_number(&v) <= opt->max))
        return option_fail_value(opt, in, err);
    *ret = v;
    return PR_OK;
}

static int cast_bool(const struct pr_opt *opt, const struct pr_value *in,
                     struct pr_value *ret, struct pr_err *err)
{
    bool b;

    if (in->kind == PR_STR && bool_word(in->s, &b))
        *ret = pr_bool(b);
    else if (in->kind == PR_INT && (in->i == 0 || in->i == 1))
        *ret = pr_bool(in->i);
    else if (in->kind == PR_BOOL)
        *ret = *in;
    else
        return option_fail_value(opt, in, err);
    return PR_OK;
}

/* YAML reads off and on as truth values, and DLIO's first documentation has
 * True and False: among words that have off and on they mean those. */
static const char *truth_word(const struct pr_opt *opt,
                              const struct pr_value *in)
{
    bool b = in->kind == PR_BOOL && in->b;
    const char *word;

    if (!opt->choices || (in->kind != PR_BOOL &&
                          (in->kind != PR_STR ||
                           is_among_choices(opt->choices, in->s, in->len) ||
                           !bool_word(in->s, &b))))
        return NULL;
    word = b ? "on" : "off";
    return is_among_choices(opt->choices, word, strlen(word)) ? word : NULL;
}

static int cast_str(const struct pr_opt *opt, const struct pr_value *in,
                    struct pr_arena *a, struct pr_value *ret,
                    struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 24);
    const char *word = truth_word(opt, in);
    struct pr_value v = *in;

    if (in->kind == PR_MAP)
        return option_fail_value(opt, in, err);
    if (word)
        v = pr_str(word);
    else if (in->kind == PR_NULL) /* `null` may be meant as the word */
        v = pr_str(opt->choices && is_among_choices(opt->choices, "null", 4)
                       ? "null"
                       : "");
    else if (in->kind != PR_STR) {
        const char *s;
        pr_value_write_text(&text, in);
        if (!pr_buf_ok(&text) || !(s = pr_arena_copy(a, text.data, text.len)))
            return pr_fail_nomem(err);
        v = pr_strn(s, text.len);
    }
    if (memchr(v.s, '\0', v.len))
        return pr_fail(err, PR_E_CONF, "", "wants text without NUL characters");
    if (opt->choices && !is_among_choices(opt->choices, v.s, v.len))
        return option_fail_value(opt, in, err);
    *ret = v;
    return PR_OK;
}

/* `-P exp.command=true` is the program of that name, not a truth value. */
static int cast_words(const struct pr_opt *opt, const struct pr_value *in,
                      struct pr_arena *a, struct pr_value *ret,
                      struct pr_err *err)
{
    if (in->kind == PR_LIST) {
        *ret = *in;
        return PR_OK;
    }
    if (in->kind == PR_BOOL) {
        *ret = pr_str(in->b ? "true" : "false");
        return PR_OK;
    }
    return cast_str(opt, in, a, ret, err);
}

int pr_opt_cast(const struct pr_opt *opt, const struct pr_value *in,
                struct pr_arena *a, struct pr_value *ret, struct pr_err *err)
{
    switch (opt->kind) {
    case PR_OPT_BOOL:
        return cast_bool(opt, in, ret, err);
    case PR_OPT_STR:
        return cast_str(opt, in, a, ret, err);
    case PR_OPT_WORDS:
        return cast_words(opt, in, a, ret, err);
    case PR_OPT_LIST:
        if (in->kind != PR_LIST)
            return option_fail_value(opt, in, err);
        *ret = *in;
        return PR_OK;
    case PR_OPT_ANY:
        *ret = *in;
        return PR_OK;
    default:
        return cast_number(opt, in, ret, err);
    }
}

static int option_store_field(const struct pr_opt *opt,
                              const struct pr_value *v, struct pr_arena *a,
                              char *field, struct pr_err *err)
{
    struct pr_value *kept;

    switch (opt->kind) {
    case PR_OPT_BOOL:
        *(bool *)field = v->b;
        return PR_OK;
    case PR_OPT_INT:
        *(int64_t *)field = v->i;
        return PR_OK;
    case PR_OPT_SIZE:
        *(uint64_t *)field = (uint64_t)v->i;
        return PR_OK;
    case PR_OPT_FLOAT:
    case PR_OPT_SECONDS:
        *(double *)field = v->f;
        return PR_OK;
    case PR_OPT_STR:
        *(const char **)field = v->s;
        return PR_OK;
    case PR_OPT_WORDS:
    case PR_OPT_LIST:
    case PR_OPT_ANY:
        kept = PR_ARENA_NEW(a, struct pr_value);
        if (!kept)
            return pr_fail_nomem(err);
        *kept = *v;
        *(const struct pr_value **)field = kept;
        return PR_OK;
    }
    return pr_fail(err, PR_E_BUG, opt->name, "option of unknown kind");
}

/* Whether a member is of a section. */
static bool is_in_option_section(const struct pr_member *m, const char *section,
                                 size_t len)
{
    return m->key_len > len && m->key[len] == '.' &&
           memcmp(m->key, section, len) == 0;
}

static const struct pr_value *section_find_value(const struct pr_value *params,
                                                 const char *section,
                                                 const char *name)
{
    size_t len = strlen(section), n = strlen(name);

    for (uint32_t i = 0; i < params->len; i++) {
        const struct pr_member *m = &params->members[i];
        if (m->key_len == len + 1 + n &&
            memcmp(m->key + len + 1, name, n) == 0 &&
            is_in_option_section(m, section, len))
            return &m->value;
    }
    return NULL;
}

/* The stretch of a map that has all members of a section: mostly these stand
 * together, or there are none. */
static struct pr_value find_section_span(const struct pr_value *params,
                                         const char *section)
{
    struct pr_value all = {.kind = PR_MAP, .len = params->len};
    size_t len = strlen(section);

    if (params->kind != PR_MAP)
        all.len = 0;
    else
        all.members = params->members;
    for (; all.len && !is_in_option_section(all.members, section, len);
         all.len--)
        all.members++;
    while (all.len &&
           !is_in_option_section(&all.members[all.len - 1], section, len))
        all.len--;
    return all;
}

int pr_opt_fill(const struct pr_opt_section *section,
                const struct pr_value *params, struct pr_arena *a, void *ret,
                struct pr_err *err)
{
    struct pr_value own = find_section_span(params, section->name);

    memset(ret, 0, section->struct_bytes);
    for (size_t i = 0; i < section->count; i++) {
        const struct pr_opt *o = &section->opts[i];
        const struct pr_value *set =
            section_find_value(&own, section->name, o->name);
        struct pr_value v = set ? *set : pr_opt_default(o);
        int rc;

        if (!set && v.kind == PR_STR && strchr(v.s, '$')) {
            /* Derived, and the plan was made without defaults. */
            if (o->kind != PR_OPT_STR)
                continue;
            *(const char **)((char *)ret + o->offset) = "";
            continue;
        }
        rc = pr_opt_cast(o, &v, a, &v, err);
        if (rc)
            return err ? pr_reword(err, err->where, "'%s.%s' %s", section->name,
                                   o->name, err->msg)
                       : rc;
        rc = option_store_field(o, &v, a, (char *)ret + o->offset, err);
        if (rc)
            return rc;
    }
    return PR_OK;
}
