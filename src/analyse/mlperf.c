/*
 * Judging an experiment, and several runs of one benchmark, by MLPerf's rules:
 * its workloads, the size of their data sets, the parameters that may be
 * changed. mlperf_checks.c has the rules of trainings and checkpoints.
 */
#include "analyse/mlperf.h"

#include "base/file.h"
#include "base/json/json.h"
#include "base/names.h"
#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- MLPerf's workloads */

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

/* By model.name; the names that mlpstorage uses are known, too. */
static const struct pr_mlperf_model *mlperf_find_model(const char *model_name)
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

static enum pr_mlperf_class
mlperf_classify_param(const struct pr_mlperf_model *m, const char *key,
                      const char *value)
{
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++)
        if (strcmp(changes[k].key, key) == 0 &&
            (!*changes[k].kind || m->tensor) &&
            (!*changes[k].value || strcmp(changes[k].value, value) == 0))
            return changes[k].class;
    return PR_MLPERF_NOWHERE;
}

/* ---- the size of a data set, as `mlpstorage training datasize` */

enum { MEMORIES = 5, STEPS = 500, FILES_IN_FOLDER = 10000 };

/* a / b rounded down, as Python's // of floats does it. */
static double mlperf_divide_floor(double a, double b)
{
    return rint((a - fmod(a, b)) / b);
}

static uint64_t multiply_saturating(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

void pr_mlperf_compute_size(const struct pr_mlperf_need *n,
                            struct pr_mlperf_size *ret)
{
    uint64_t memory = multiply_saturating(MEMORIES, n->memory);
    uint64_t whole = n->record_length < 0x1p63 ? (uint64_t)n->record_length : 0;
    double file = (double)n->samples_per_file * n->record_length;
    struct pr_mlperf_size s = {0};

    if (!n->samples_per_file || !(file > 0)) {
        *ret = s;
        return;
    }
    /* Sizes are whole numbers but for one workload's. */
    if ((double)whole != n->record_length)
        whole = 0;
    whole = multiply_saturating(n->samples_per_file, whole);
    s.by_memory = whole ? memory / whole
                        : pr_to_u64(mlperf_divide_floor((double)memory, file));
    s.by_steps = multiply_saturating(
                     multiply_saturating(STEPS, n->accelerators), n->batch) /
                 n->samples_per_file;
    s.files = s.by_memory > s.by_steps ? s.by_memory : s.by_steps;
    s.bytes = whole ? multiply_saturating(s.files, whole)
                    : pr_to_u64((double)s.files * file);
    if (s.files > FILES_IN_FOLDER)
        s.subfolders = s.files / FILES_IN_FOLDER;
    if (s.subfolders == 1)
        s.subfolders = 2; /* one folder would not spread them */
    *ret = s;
}

/* ---- several runs of one benchmark */

/* Appends to a list; false when out of memory. */
static bool mlperf_checks_add(struct pr_mlperf_checks *list, struct pr_arena *a,
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

/* What runs of one benchmark may differ in. */
static bool may_differ(const char *key)
{
    static const char *const names[] = {
        "exp.id",        "exp.log_file",  "exp.name",      "train.seed",
        "hydra.run.dir", "output.folder", "exp.status_msg"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(key, names[i]) == 0)
            return true;
    return false;
}

static int hash_params(const struct pr_value *params, uint64_t *ret,
                       struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);
    uint64_t sum = 0;

    for (uint32_t i = 0; i < params->len; i++) {
        const struct pr_member *m = &params->members[i];

        if (may_differ(m->key))
            continue;
        pr_buf_clear(&text);
        pr_buf_add(&text, m->key, m->key_len + 1);
        pr_json_write(&text, &m->value);
        if (!pr_buf_ok(&text))
            return pr_fail_nomem(err);
        sum += pr_hash_bytes(text.data, text.len, 0);
    }
    *ret = sum;
    return PR_OK;
}

static struct pr_mlperf_group *mlperf_find_group(struct pr_mlperf_groups *g,
                                                 uint64_t hash)
{
    for (struct pr_mlperf_group *i = g->first; i; i = i->next)
        if (i->hash == hash)
            return i;
    return NULL;
}

static struct pr_mlperf_group *mlperf_add_group(struct pr_mlperf_groups *g,
                                                const struct pr_mlperf *m,
                                                uint64_t hash, int64_t seed,
                                                struct pr_arena *a)
{
    struct pr_mlperf_group *one = PR_ARENA_NEW(a, struct pr_mlperf_group);

    if (!one)
        return NULL;
    one->workload = pr_arena_str(a, m->workload ? m->workload : "no workload");
    if (!one->workload)
        return NULL;
    one->is_checkpoint = m->is_checkpoint;
    one->accelerators = m->accelerators;
    one->hash = hash;
    one->seed = seed;
    if (g->last)
        g->last->next = one;
    else
        g->first = one;
    g->last = one;
    return one;
}

static double get_train_rate(const struct pr_value *results)
{
    return pr_number_at(results,
                        "dlio.train_throughput_mean_samples_per_second", NAN);
}

int pr_mlperf_groups_add(struct pr_mlperf_groups *g, const struct pr_mlperf *m,
                         const struct pr_mlperf_in *in, struct pr_arena *a,
                         struct pr_err *err)
{
    const struct pr_value *v = pr_get(in->params, "train.seed");
    int64_t seed = v && v->kind == PR_INT ? v->i : 123;
    struct pr_mlperf_group *one;
    uint64_t hash = 0;
    int rc = hash_params(in->params, &hash, err);

    if (rc || !in->results)
        return rc;
    one = mlperf_find_group(g, hash);
    if (!one)
        one = mlperf_add_group(g, m, hash, seed, a);
    if (!one)
        return pr_fail_nomem(err);
    one->rate[one->runs % PR_MLPERF_RUNS] = get_train_rate(in->results);
    one->runs++;
    one->invalid += m->verdict == PR_MLPERF_INVALID;
    one->seeds_differ |= seed != one->seed;
    return PR_OK;
}

/* ---- judging several runs */

static bool mlperf_add_group_check(struct pr_mlperf_group *g,
                                   struct pr_arena *a, const char *rule,
                                   enum pr_mlperf_status status,
                                   const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

static bool mlperf_add_group_check(struct pr_mlperf_group *g,
                                   struct pr_arena *a, const char *rule,
                                   enum pr_mlperf_status status,
                                   const char *fmt, ...)
{
    va_list args;
    bool ok;

    va_start(args, fmt);
    ok = mlperf_checks_add(&g->checks, a, rule, status, fmt, args);
    va_end(args);
    return ok;
}

static bool judge_run_count(struct pr_mlperf_group *g, struct pr_arena *a)
{
    const char *rule = g->is_checkpoint ? "2.2.3" : "6.6";
    uint64_t want = PR_MLPERF_RUNS + !g->is_checkpoint;

    if (g->runs < want)
        return mlperf_add_group_check(
            g, a, rule, PR_MLPERF_FAIL, "%llu of %llu runs were made%s",
            (unsigned long long)g->runs, (unsigned long long)want,
            g->is_checkpoint ? ": run it with --repeat 5"
                             : ", one to warm up and 5 that count: run "
                               "it with -V train.seed='[1, 2, 3, 4, 5, "
                               "6]'");
    return mlperf_add_group_check(
        g, a, rule, PR_MLPERF_PASS, "%llu runs were made, %llu are wanted",
        (unsigned long long)g->runs, (unsigned long long)want);
}

static bool judge_seeds(struct pr_mlperf_group *g, struct pr_arena *a)
{
    if (g->runs < 2 || g->is_checkpoint)
        return true;
    if (g->seeds_differ)
        return mlperf_add_group_check(g, a, "6.6", PR_MLPERF_PASS,
                                      "runs have different seeds");
    return mlperf_add_group_check(
        g, a, "6.6", PR_MLPERF_WARN,
        "all runs have train.seed=%lld, each should have its own: use "
        "-V train.seed='[…]' instead of --repeat",
        (long long)g->seed);
}

/* The mean of those that count, and how far from it the worst is. */
static bool judge_spread(struct pr_mlperf_group *g, struct pr_arena *a)
{
    double sum = 0, most = 0, mean;

    if (g->is_checkpoint || g->runs <= PR_MLPERF_RUNS)
        return true;
    for (int i = 0; i < PR_MLPERF_RUNS; i++)
        sum += g->rate[i];
    mean = sum / PR_MLPERF_RUNS;
    if (!(mean > 0))
        return true;
    for (int i = 0; i < PR_MLPERF_RUNS; i++)
        most = fmax(most, fabs(g->rate[i] - mean) / mean);
    return mlperf_add_group_check(
        g, a, "6.7", most <= 0.05 ? PR_MLPERF_PASS : PR_MLPERF_WARN,
        "the result is %.2f samples/s, the mean of the last 5 runs; the "
        "farthest is %.1f %% from it, within 5 %% is wanted",
        mean, 100 * most);
}

int pr_mlperf_groups_judge(struct pr_mlperf_groups *g, struct pr_arena *a,
                           struct pr_err *err)
{
    for (struct pr_mlperf_group *i = g->first; i; i = i->next)
        if (!judge_run_count(i, a) || !judge_seeds(i, a) || !judge_spread(i, a))
            return pr_fail_nomem(err);
    return PR_OK;
}

uint64_t pr_mlperf_read_run_memory(const char *dir)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    const char *path = a ? pr_arena_printf(a, "%s/env.json", dir) : NULL;
    struct pr_json_in in = {.name = path};
    const struct pr_value *v;
    struct pr_value env;

    if (!path ||
        pr_file_read_in(dir, path, 16 << 20, a, &in.text, &in.len, NULL) ||
        pr_json_read(&in, a, &env, NULL, NULL))
        return 0;
    v = pr_get(&env, "memory");
    v = v ? pr_get(v, "total_bytes") : NULL;
    return v && v->kind == PR_INT && v->i > 0 ? (uint64_t)v->i : 0;
}

/* ---- parameters */

/*
 * Whether only those were changed that may be: every one is compared with what
 * MLPerf's file has, or with its default where the file is silent.
 */

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
        return pr_text_starts_with(key, "model.") ? "2.2.1" : "2.2.5";
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

    switch (mlperf_classify_param(j->model, key, found)) {
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

static int mlperf_judge_params(struct pr_mlperf_judge *j)
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

/* ---- judging an experiment */

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

bool pr_mlperf_is_asked(const struct pr_value *params)
{
    const char *division = pr_text_at(params, "mlperf.division", "");

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
        mlperf_find_model(pr_text_at(params, "model.name", ""));

    return strcmp(pr_text_at(params, "exp.workload", ""), "emulate") == 0 &&
           (pr_mlperf_is_asked(params) || (m && has_its_samples(m, params)));
}

void pr_mlperf_add_check(struct pr_mlperf_judge *j, const char *rule,
                         enum pr_mlperf_status status, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    j->no_memory |=
        !mlperf_checks_add(&j->ret->checks, j->arena, rule, status, fmt, args);
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
    j->no_memory |=
        !mlperf_checks_add(&j->ret->checks, j->arena, rule,
                           closed ? PR_MLPERF_FAIL : PR_MLPERF_PASS, fmt, args);
    va_end(args);
    j->open = true;
}

double pr_mlperf_result_number(const struct pr_mlperf_judge *j,
                               const char *name)
{
    return pr_number_at(j->in->results, name, NAN);
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
    const char *name = pr_text_at(j->in->params, "model.name", "");

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
    struct pr_mlperf_judge j = {
        .in = in,
        .arena = a,
        .ret = &found,
        .model = mlperf_find_model(pr_text_at(in->params, "model.name", "")),
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
        rc = mlperf_judge_params(&j);
    if (rc || j.no_memory)
        return rc ? rc : pr_fail_nomem(err);
    found.verdict = j.invalid ? PR_MLPERF_INVALID
                    : j.open  ? PR_MLPERF_OPEN
                              : PR_MLPERF_CLOSED;
    *ret = found;
    return PR_OK;
}
