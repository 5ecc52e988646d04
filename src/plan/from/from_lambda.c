/*
 * Lambda configs (config_pytorch_SYSTEM.sh): shell, read by our own reader.
 *     NUM_GPU=2
 *     NUM_EXP=3
 *     PyTorch_SSD_FP32_PARAMS=( FOLDER args --batch-size 108 … )
 * Each array becomes a group: one command, so often as NUM_EXP says. Arguments
 * stay apart as they stand there.
 */
#include "catalog/gpu_tasks.h"
#include "conf/read/shell_config.h"
#include "plan/fragment.h"
#include "plan/source.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One task as a config has it. */
struct lambda_task {
    const struct pr_gpu_task *task;
    const struct pr_shell_var *var;
    const char *name; /* PyTorch_SSD_FP32 */
    int gpus;
};

/* The first word after "args" is argument 0. */
enum { FIRST_ARG = 2 };

/* ---- fix.sh */

/*
 * Lambda's configs change those that they build on by four maps, which this
 * script applies. It is not run: this does what it does.
 */
static const char *const batch_flags[] = {
    "--batch-size", "SOLVER.IMS_PER_BATCH", "--train-batch-size",
    "--batch_size", NULL};
static const char *const iteration_flags[] = {"--benchmark-iterations", NULL};
static const char *const file_flags[] = {"--training-files", NULL};
static const char *const precision_words[] = {"fp32", "fp16", NULL};

static const struct {
    const char *map;
    const char *const *flags;
    bool bert; /* the batch of BERT has no flag: it is word 4 */
} fixes[] = {
    {"BATCH_SIZE_FIX", batch_flags, true},
    {"SSD_ITER_FIX", iteration_flags, false},
    {"tacotron2_DATA_FIX", file_flags, false},
    {"BERT_GPU_FIX", precision_words, false},
};

enum { BERT_BATCH = 4 };

static bool lambda_fix_has_flag(const char *word, const char *const *flags)
{
    for (; *flags; flags++)
        if (strcmp(word, *flags) == 0)
            return true;
    return false;
}

static struct pr_shell_var *params_of(struct pr_shell_config *c,
                                      const char *task)
{
    const char *name = pr_arena_printf(c->arena, "%s_PARAMS", task);
    struct pr_shell_var *v = name ? pr_shell_find_var(c, name) : NULL;

    return v && v->kind == PR_SHELL_ARRAY ? v : NULL;
}

/* The word after each flag; there are as many as at the beginning. */
static int lambda_fix_replace(struct pr_shell_config *c, struct pr_shell_var *v,
                              const char *const *flags,
                              const struct pr_shell_word *to,
                              struct pr_err *err)
{
    size_t count = v->count;
    int rc = PR_OK;

    for (size_t i = 0; i < count && !rc; i++)
        if (lambda_fix_has_flag(v->words[i].text, flags))
            rc = pr_shell_set_word(c, v, i + 1, to, err);
    return rc;
}

/* Carries the values of BATCH_SIZE_FIX, SSD_ITER_FIX, tacotron2_DATA_FIX and
 * BERT_GPU_FIX over to the arguments of tasks: what is called in place of
 * fix.sh. */
static int lambda_fix(void *ctx, struct pr_shell_config *c, const char *file,
                      unsigned line, struct pr_err *err)
{
    int rc = PR_OK;

    (void)ctx;
    (void)file;
    (void)line;
    for (size_t i = 0; i < sizeof fixes / sizeof *fixes; i++) {
        const struct pr_shell_var *map = pr_shell_find_var(c, fixes[i].map);

        for (size_t k = 0; map && k < map->count && !rc; k++) {
            const struct pr_shell_word *w = &map->words[k];
            struct pr_shell_var *v = w->key ? params_of(c, w->key) : NULL;

            if (!v) /* a task that is not there has nothing to change */
                continue;
            rc = fixes[i].bert && strstr(w->key, "bert")
                     ? pr_shell_set_word(c, v, BERT_BATCH, w, err)
                     : lambda_fix_replace(c, v, fixes[i].flags, w, err);
        }
    }
    return rc;
}

/* ---- mistakes that Lambda's own scripts run into without a word */

/* A whole number from 1; 0: it is none. */
static int64_t lambda_number(const char *text)
{
    int64_t n = 0;

    if (!*text)
        return 0;
    for (; isdigit((unsigned char)*text) && n < INT64_MAX / 100; text++)
        n = n * 10 + (*text - '0');
    return *text ? 0 : n;
}

/* The word after a flag; NULL: it is not there. */
static const struct pr_shell_word *
lambda_word_after(const struct pr_shell_var *v, const char *flag)
{
    for (size_t i = FIRST_ARG; i + 1 < v->count; i++)
        if (strcmp(v->words[i].text, flag) == 0)
            return &v->words[i + 1];
    return NULL;
}

/* The word that holds the batch; NULL: there is none. */
static const struct pr_shell_word *lambda_batch(const struct lambda_task *t)
{
    size_t place = (size_t)t->task->batch_place + FIRST_ARG;

    if (t->task->batch_flag)
        return lambda_word_after(t->var, t->task->batch_flag);
    return t->task->batch_place >= 0 && place < t->var->count
               ? &t->var->words[place]
               : NULL;
}

static const char *lambda_word_place(struct pr_warnings *w,
                                     const struct pr_shell_word *at)
{
    return pr_arena_printf(w->arena, "%s:%u", at->file, at->line);
}

/* A batch of all GPUs must grow with them: that of the template, for one GPU,
 * times their number. */
static bool lint_global(const struct lambda_task *t,
                        const struct pr_shell_word *batch, int64_t n,
                        struct pr_warnings *w)
{
    int64_t one = batch->first ? lambda_number(batch->first) : 0;
    const char *where = lambda_word_place(w, batch);

    if (!where)
        return false;
    if (one > 0 && one < INT64_MAX / 100000 && n < one * t->gpus)
        return pr_warn(w, where,
                       "the batch of this task is that of all GPUs together",
                       "the batch of %s is %" PRId64
                       ", not %d times the %" PRId64 " of one GPU",
                       t->name, n, t->gpus, one);
    if (n % t->gpus)
        return pr_warn(
            w, where, "the batch of this task is that of all GPUs together",
            "the batch of %s, %" PRId64 ", cannot be shared by %d GPUs",
            t->name, n, t->gpus);
    return true;
}

/* "…_subset_625_…": files enough for one batch on every GPU. */
static bool lint_subset(const struct lambda_task *t, int64_t batch,
                        struct pr_warnings *w)
{
    const struct pr_shell_word *files =
        lambda_word_after(t->var, t->task->subset_flag);
    const char *at = files ? strstr(files->text, "subset_") : NULL, *where;
    long long have = at ? strtoll(at + 7, NULL, 10) : 0;

    if (have <= 0 || batch > INT64_MAX / 100000 || batch * t->gpus <= have)
        return true;
    where = lambda_word_place(w, files);
    return where &&
           pr_warn(w, where, "name a larger subset of files",
                   "%s wants %" PRId64 " files for one step, and '%s' has %lld",
                   t->name, batch * t->gpus, files->text, have);
}

/* Warns of what cannot be meant. False: out of memory. */
static bool lambda_lint(const struct lambda_task *t, struct pr_warnings *w)
{
    const struct pr_shell_word *batch = lambda_batch(t);
    int64_t n = batch ? lambda_number(batch->text) : 0;
    const char *where;

    if (!batch)
        return true;
    if (n <= 0) {
        where = lambda_word_place(w, batch);
        return where &&
               pr_warn(w, where, "a batch is a whole number",
                       "the batch of %s is '%s'", t->name, batch->text);
    }
    if (t->task->batch_of_all && t->gpus > 1 && !lint_global(t, batch, n, w))
        return false;
    return !t->task->subset_flag || lint_subset(t, n, w);
}

/* … of a number of GPUs that is not the one in the config's name. */
static bool lambda_lint_name(const char *system,
                             const struct pr_shell_word *gpus,
                             struct pr_warnings *w)
{
    int named = pr_system_gpus(system);
    int64_t n = lambda_number(gpus->text);
    const char *where;

    if (named == 1 || n == named)
        return true;
    where = lambda_word_place(w, gpus);
    return where && pr_warn(w, where, "rename the file, or set NUM_GPU",
                            "NUM_GPU is %s, and '%s' speaks of %d GPUs",
                            gpus->text, system, named);
}

/* ---- names and counts */

enum { MAX_GPUS = 10000, MAX_REPEATS = 10000 };

struct reader {
    struct pr_plan_scope *scope;
    const char *path;
    enum pr_origin_kind origin;
    struct pr_gpu_tasks tasks;
    struct pr_shell_config conf;
    const char *system;
    int gpus, repeats;
    struct pr_config_part *list;
    size_t count, cap;
    struct pr_err *err;
};

static const char suffix[] = "_PARAMS";

/* "PyTorch_SSD_FP32" of "PyTorch_SSD_FP32_PARAMS"; NULL: it is no task. */
static const char *task_name(struct reader *r, const struct pr_shell_var *v)
{
    size_t n = strlen(v->name), k = sizeof suffix - 1;

    if (v->kind != PR_SHELL_ARRAY || n <= k ||
        strcmp(v->name + n - k, suffix) != 0)
        return NULL;
    return pr_arena_copy(r->scope->arena, v->name, n - k);
}

/* "dir/config_pytorch_8xA100_v1.sh" is the system 8xA100_v1. */
static const char *system_name(struct reader *r)
{
    static const char prefix[] = "config_pytorch_";
    const char *slash = strrchr(r->path, '/');
    const char *base = slash ? slash + 1 : r->path, *dot = strrchr(base, '.');

    if (strncmp(base, prefix, sizeof prefix - 1) == 0)
        base += sizeof prefix - 1;
    return pr_arena_copy(r->scope->arena, base,
                         dot && dot > base ? (size_t)(dot - base)
                                           : strlen(base));
}

static int from_lambda_read_count(struct reader *r, const char *name, int most,
                                  int *ret)
{
    const struct pr_shell_var *v = pr_shell_find_var(&r->conf, name);
    int64_t n = v && v->kind == PR_SHELL_TEXT && v->count
                    ? lambda_number(v->words[0].text)
                    : 0;

    if (v && (n < 1 || n > most))
        return pr_fail_at(r->err, PR_E_CONF, v->file, v->line, 0,
                          "%s must be a whole number from 1 to %d", name, most);
    *ret = v ? (int)n : 1;
    return PR_OK;
}

/* ---- one task */

struct maker {
    struct reader *r;
    struct pr_config_part *f;
    struct pr_origin at;
    int rc;
};

static void from_lambda_set_param(struct maker *m, const char *name,
                                  struct pr_value v)
{
    if (!m->rc)
        m->rc = pr_config_part_add_param(m->r->scope, m->f, name, strlen(name),
                                         &v, &m->at, m->r->err);
}

static void from_lambda_set_text(struct maker *m, const char *name,
                                 const char *text)
{
    if (!text && !m->rc)
        m->rc = pr_fail_nomem(m->r->err);
    else if (!m->rc)
        from_lambda_set_param(m, name, pr_str(text));
}

/* Data lies elsewhere outside of a container. */
static const char *from_lambda_map_argument(struct reader *r,
                                            const struct pr_shell_word *w)
{
    if (strncmp(w->text, "/data", 5) == 0 && (w->text[5] == '/' || !w->text[5]))
        return pr_arena_printf(r->scope->arena, "${task.data}%s", w->text + 5);
    return w->text;
}

/* {gpus} in a word of the list of tasks. */
static const char *launch_word(struct reader *r, const char *word)
{
    const char *at = strstr(word, "{gpus}");

    if (!at)
        return word;
    return pr_arena_printf(r->scope->arena, "%.*s%d%s", (int)(at - word), word,
                           r->gpus, at + 6);
}

static int check_word(struct reader *r, const struct pr_shell_word *w,
                      const char *what)
{
    if (!strstr(w->text, "${") && !strstr(w->text, "$("))
        return PR_OK;
    return pr_fail_at(r->err, PR_E_CONF, w->file, w->line, 0,
                      "'%s' cannot be %s: '${' and '$(' begin references to "
                      "parameters",
                      w->text, what);
}

static int set_command(struct maker *m, const struct lambda_task *t)
{
    struct reader *r = m->r;
    const struct pr_shell_word *words = t->var->words;
    bool old = strncmp(words[0].text, "examples/", 9) == 0;
    const struct pr_value *launch = old ? t->task->launch_old : t->task->launch;
    size_t args = t->var->count - FIRST_ARG, n = 0;
    struct pr_value *items =
        PR_ARENA_ARRAY(r->scope->arena, struct pr_value, launch->len + args);
    struct pr_value list;

    if (!items)
        return pr_fail_nomem(r->err);
    for (uint32_t i = 0; i < launch->len; i++)
        items[n++] = pr_str(launch_word(r, launch->items[i].s));
    for (size_t i = 0; i < args; i++) {
        int rc = check_word(r, &words[i + FIRST_ARG], "an argument");
        if (rc)
            return rc;
        items[n++] = pr_str(from_lambda_map_argument(r, &words[i + FIRST_ARG]));
    }
    for (size_t i = 0; i < n; i++)
        if (!items[i].s)
            return pr_fail_nomem(r->err);
    list =
        (struct pr_value){.kind = PR_LIST, .len = (uint32_t)n, .items = items};
    from_lambda_set_param(m, "exp.command", list);
    return m->rc;
}

static void set_batch(struct maker *m, const struct lambda_task *t)
{
    const struct pr_shell_word *batch = lambda_batch(t);
    int64_t n = batch ? lambda_number(batch->text) : 0, gpus = m->r->gpus;

    if (n <= 0 || n > INT64_MAX / MAX_GPUS)
        return;
    if (!t->task->batch_of_all || n % gpus == 0)
        from_lambda_set_param(m, "exp.replica_batch",
                              pr_int(t->task->batch_of_all ? n / gpus : n));
    n = t->task->batch_of_all ? n : n * gpus;
    from_lambda_set_param(m, "exp.effective_batch", pr_int(n));
    from_lambda_set_param(m, "task.global_batch", pr_int(n));
}

/* "0,1,2,3" */
static const char *gpu_list(struct reader *r)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);

    for (int i = 0; i < r->gpus; i++)
        pr_buf_printf(&text, "%s%d", i ? "," : "", i);
    return pr_buf_ok(&text) ? pr_arena_str(r->scope->arena, text.data) : NULL;
}

/* What the containers of these tasks need: much shared memory, and /data. */
static void set_places(struct maker *m, const struct lambda_task *t)
{
    const char *data = getenv("PRONY_DATA");
    struct pr_value mount, list;

    from_lambda_set_text(m, "exp.cwd",
                         pr_arena_printf(m->r->scope->arena,
                                         "${task.workspace}/%s",
                                         t->var->words[0].text));
    from_lambda_set_text(
        m, "task.data",
        "$('/data' if ${exp.docker} else '${task.data_root}')$");
    from_lambda_set_text(m, "container.shm_size", "256GiB");
    if (!data || !*data)
        return;
    mount = pr_str("${task.data_root}:/data");
    list = (struct pr_value){.kind = PR_LIST, .len = 1, .items = &mount};
    if (!pr_value_copy(m->r->scope->arena, &list, &list))
        m->rc = m->rc ? m->rc : pr_fail_nomem(m->r->err);
    from_lambda_set_param(m, "container.mounts", list);
}

static int set_repeats(struct maker *m)
{
    struct reader *r = m->r;
    struct pr_value *items, list;
    struct pr_origin at = m->at;

    if (r->repeats < 2)
        return PR_OK;
    items = PR_ARENA_ARRAY(r->scope->arena, struct pr_value, r->repeats);
    if (!items)
        return pr_fail_nomem(r->err);
    for (int i = 0; i < r->repeats; i++)
        items[i] = pr_int(i + 1);
    list = (struct pr_value){
        .kind = PR_LIST, .len = (uint32_t)r->repeats, .items = items};
    at.kind = PR_FROM_VARIABLE;
    return pr_config_part_add_variable(r->scope, m->f, "task.repeat", 11, &list,
                                       &at, r->err);
}

static int from_lambda_make_task(struct reader *r, const struct lambda_task *t,
                                 struct pr_config_part *f)
{
    struct maker m = {r, f, {r->origin, t->var->file, t->var->line, 1}, PR_OK};
    bool half = strcmp(pr_gpu_task_precision(t->name), "fp32") != 0;

    f->name = t->name;
    f->file = r->path;
    f->peer = true;
    from_lambda_set_text(&m, "exp.name", t->name);
    from_lambda_set_text(&m, "task.name", t->name);
    from_lambda_set_text(&m, "task.system", r->system);
    from_lambda_set_param(&m, "task.gpus", pr_int(r->gpus));
    from_lambda_set_text(&m, "exp.model_title", t->task->column);
    from_lambda_set_text(&m, "exp.dtype", half ? "float16" : "float32");
    from_lambda_set_text(&m, "exp.gpus", gpu_list(r));
    from_lambda_set_param(&m, "exp.timeout", pr_int(1800)); /* of a repeat */
    set_batch(&m, t);
    set_places(&m, t);
    if (!m.rc)
        m.rc = set_command(&m, t);
    return m.rc ? m.rc : set_repeats(&m);
}

/* ---- all of them */

static int check_args(struct reader *r, const struct pr_shell_var *v)
{
    if (v->count >= FIRST_ARG && strcmp(v->words[1].text, "args") == 0)
        return PR_OK;
    pr_fail_at(r->err, PR_E_CONF, v->file, v->line, 0,
               "'%s' lacks the word args after its folder", v->name);
    return pr_hint(r->err, "%s=( FOLDER args --batch-size 64 … )", v->name);
}

static int from_lambda_warn_unknown(struct reader *r,
                                    const struct pr_shell_var *v,
                                    const char *name)
{
    const char *where =
        pr_arena_printf(r->scope->arena, "%s:%u", v->file, v->line);

    return where && pr_warn(&r->scope->warnings, where,
                            "the tasks there are stand in "
                            "systems/lambda-tasks.yaml",
                            "unknown task '%s', left out", name)
               ? PR_OK
               : pr_fail_nomem(r->err);
}

static int add_task(struct reader *r, const struct pr_shell_var *v)
{
    struct lambda_task t = {.var = v, .name = task_name(r, v), .gpus = r->gpus};
    struct pr_config_part *list;
    int rc;

    if (!t.name)
        return PR_OK;
    t.task = pr_gpu_task_find(&r->tasks, t.name);
    if (!t.task)
        return from_lambda_warn_unknown(r, v, t.name);
    rc = check_args(r, v);
    if (!rc)
        rc = check_word(r, &v->words[0], "a folder");
    if (rc)
        return rc;
    list = pr_arena_grow(r->scope->arena, r->list, r->count, &r->cap,
                         sizeof *list);
    if (!list || !lambda_lint(&t, &r->scope->warnings))
        return pr_fail_nomem(r->err);
    r->list = list;
    list[r->count] = (struct pr_config_part){0};
    return from_lambda_make_task(r, &t, &list[r->count++]);
}

static int from_lambda_read_head(struct reader *r)
{
    const struct pr_shell_var *gpus = pr_shell_find_var(&r->conf, "NUM_GPU");
    int rc = from_lambda_read_count(r, "NUM_GPU", MAX_GPUS, &r->gpus);

    if (!rc)
        rc = from_lambda_read_count(r, "NUM_EXP", MAX_REPEATS, &r->repeats);
    r->system = system_name(r);
    if (!rc &&
        (!r->system || (gpus && !lambda_lint_name(r->system, &gpus->words[0],
                                                  &r->scope->warnings))))
        rc = pr_fail_nomem(r->err);
    return rc;
}

int pr_from_lambda(struct pr_plan_scope *s, const struct pr_config_source *src,
                   enum pr_origin_kind origin, struct pr_config_part **ret,
                   size_t *ret_count, struct pr_err *err)
{
    static const struct pr_shell_opts opts = {"fix.sh", lambda_fix, NULL};
    struct reader r = {
        .scope = s, .path = src->path, .origin = origin, .err = err};
    int rc = pr_gpu_tasks_load(s->arena, &r.tasks, err);

    if (!rc)
        rc = pr_shell_config_read(src->path, &opts, s->arena, &r.conf, err);
    if (!rc)
        rc = from_lambda_read_head(&r);
    for (size_t i = 0; i < r.conf.count && !rc; i++)
        rc = add_task(&r, &r.conf.vars[i]);
    if (!rc && !r.count)
        rc = pr_fail(err, PR_E_CONF, src->path,
                     "has no task that is known: no PyTorch_…_PARAMS=( … )");
    if (rc)
        return rc;
    *ret = r.list;
    *ret_count = r.count;
    return PR_OK;
}
