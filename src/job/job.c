/*
 * What all workloads ask of a job: the environment, the network and the
 * arguments of its program, the files and folders it names.
 */
#include "job/job.h"

#include "base/file.h"
#include "base/text.h"
#include "conf/read/literal.h"
#include "conf/read/yaml.h"
#include "storage/path.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the environment of an experiment's program: what the experiment itself
 * sets is kept apart as well; in a container it is all there is */

/* Lays NAME=value over the list; the list has room. */
static void job_env_set_word(const char **env, size_t *count, const char *word)
{
    size_t i = 0;

    while (i < *count && !pr_environ_is_same(word, env[i]))
        i++;
    env[i] = word;
    *count += i == *count;
}

/* runtime.env.NAME to NAME=value. NULL: out of memory. */
static const char *env_word(struct pr_job *job, const char *name,
                            const struct pr_value *value)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);

    pr_value_write_text(&text, value);
    if (!pr_buf_ok(&text))
        return NULL;
    return pr_arena_printf(job->arena, "%s=%s", name,
                           text.data ? text.data : "");
}

static int own_env(struct pr_job *job, const char *const *extra,
                   size_t extra_count, const char ***ret, struct pr_err *err)
{
    static const char prefix[] = "runtime.env.";
    size_t count = 0;
    const char **own = PR_ARENA_ARRAY(job->arena, const char *,
                                      1 + extra_count + job->params->len);

    if (!own)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < job->params->len; i++) {
        const struct pr_member *m = &job->params->members[i];
        const char *word;

        if (!pr_text_starts_with(m->key, prefix))
            continue;
        word = env_word(job, m->key + sizeof prefix - 1, &m->value);
        if (!word)
            return pr_fail_nomem(err);
        job_env_set_word(own, &count, word);
    }
    for (size_t i = 0; i < extra_count; i++)
        job_env_set_word(own, &count, extra[i]);
    *ret = own;
    return PR_OK;
}

int pr_job_env_overlay(const char *const *words, struct pr_arena *a,
                       const char ***ret, struct pr_err *err)
{
    size_t room = 1, count = 0;
    const char **env;

    for (char **e = environ; e && *e; e++)
        room++;
    for (const char *const *w = words; *w; w++)
        room++;
    env = PR_ARENA_ARRAY(a, const char *, room);
    if (!env)
        return pr_fail_nomem(err);
    for (char **e = environ; e && *e; e++)
        env[count++] = *e;
    for (; *words; words++)
        job_env_set_word(env, &count, *words);
    *ret = env;
    return PR_OK;
}

int pr_job_set_start_env(struct pr_job *job, const char *const *extra,
                         size_t count, struct pr_start *ret, struct pr_err *err)
{
    const char **own = NULL, **env = NULL;
    int rc = own_env(job, extra, count, &own, err);

    if (!rc)
        rc = pr_job_env_overlay(own, job->arena, &env, err);
    if (rc)
        return rc;
    ret->own_env = own;
    ret->env = env;
    return PR_OK;
}

/* ---- the network of an experiment */

/* DLBS hands the options over as text. */
static int job_read_model_opts(struct pr_job *job, struct pr_value *ret,
                               struct pr_err *err)
{
    const struct pr_value *v = job->exp.model_opts;
    bool is_text = v->kind == PR_STR && v->len;
    int rc = PR_OK;

    *ret = *v;
    if (is_text)
        rc = pr_yaml_read(v->s, v->len, "exp.model_opts", job->arena, ret, err);
    if (rc == PR_E_NOMEM)
        return rc;
    if (!rc && (ret->kind == PR_MAP || ret->kind == PR_NULL ||
                (ret->kind == PR_STR && !ret->len)))
        return PR_OK;
    pr_fail(err, PR_E_CONF, job->id, "exp.model_opts is not a map");
    return pr_hint(err,
                   "for example -P exp.model_opts='{\"input\": [3, 64, 64]}'");
}

int pr_job_read_model(struct pr_job *job, struct pr_model **ret,
                      struct pr_err *err)
{
    struct pr_nn_opts nn;
    struct pr_model_variant variant;
    struct pr_value opts;
    int rc;

    if (!*job->exp.model) {
        pr_fail(err, PR_E_CONF, job->id, "exp.model names no network");
        return pr_hint(err, "for example -P exp.model=resnet50");
    }
    rc = pr_opt_fill(&pr_nn_section, job->params, job->arena, &nn, err);
    if (!rc)
        rc = job_read_model_opts(job, &opts, err);
    if (rc)
        return rc;
    variant = (struct pr_model_variant){
        .values = opts.kind == PR_MAP ? &opts : NULL, .tiny = nn.tiny};
    rc = pr_model_load(job->exp.model, &variant, job->arena, ret, err);
    if (rc && rc != PR_E_NOMEM && err && !*err->where)
        return pr_reword(err, "exp.model", "%s", err->msg);
    return rc;
}

/* ---- signals */

static bool stop;

static void on_signal(int signo)
{
    (void)signo;
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
}

const bool *pr_job_watch_signals(void)
{
    struct sigaction sa = {.sa_handler = on_signal};

    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGINT, &sa, NULL);
    return &stop;
}

/* ---- arguments of programs; no shell is involved */

int pr_argv_add_word(struct pr_argv *a, const char *word, struct pr_err *err)
{
    const char **slot = PR_PUSH(a->job->arena, a);

    if (!slot)
        return pr_fail_nomem(err);
    *slot = word;
    return PR_OK;
}

int pr_argv_add_words(struct pr_argv *a, const char *const *words, size_t count,
                      struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; i < count && !rc; i++)
        rc = pr_argv_add_word(a, words[i], err);
    return rc;
}

static int argv_add_value(struct pr_argv *a, const char *what,
                          const struct pr_value *v, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);
    const char *word;

    pr_value_write_text(&text, v);
    word = pr_arena_copy(a->job->arena, text.data ? text.data : "", text.len);
    if (!pr_buf_ok(&text) || !word)
        return pr_fail_nomem(err);
    if (strlen(word) != text.len)
        return pr_fail(err, PR_E_CONF, a->job->id,
                       "an argument of %s holds a NUL character", what);
    return pr_argv_add_word(a, word, err);
}

int pr_argv_add_list(struct pr_argv *a, const char *what,
                     const struct pr_value *list, struct pr_err *err)
{
    int rc = PR_OK;

    for (uint32_t i = 0; i < list->len && !rc; i++)
        rc = argv_add_value(a, what, &list->items[i], err);
    return rc;
}

int pr_argv_add_text(struct pr_argv *a, const char *what, const char *text,
                     struct pr_err *err)
{
    const char **words;
    size_t n;
    int rc = pr_words_split(text, a->job->arena, &words, &n, err);

    if (rc == PR_E_CONF && err)
        return pr_reword(err, a->job->id, "%s: %s", what, err->msg);
    for (size_t i = 0; !rc && i < n; i++)
        rc = pr_argv_add_word(a, words[i], err);
    return rc;
}

int pr_argv_add_words_of(struct pr_argv *a, const char *what,
                         const struct pr_value *v, struct pr_err *err)
{
    return v->kind == PR_LIST ? pr_argv_add_list(a, what, v, err)
                              : pr_argv_add_text(a, what, v->s, err);
}

static bool argv_is_assignment(const char *word)
{
    size_t n = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "abcdefghijklmnopqrstuvwxyz0123456789_");

    return n && word[n] == '=' && !(word[0] >= '0' && word[0] <= '9');
}

int pr_argv_init(struct pr_argv *a, struct pr_job *job, struct pr_err *err)
{
    int rc;

    *a = (struct pr_argv){.job = job};
    rc = pr_argv_add_text(a, "runtime.launcher", job->runtime.launcher, err);
    while (!rc && a->assignments < a->count &&
           argv_is_assignment(a->items[a->assignments]))
        a->assignments++;
    return rc;
}

size_t pr_argv_word_count(const struct pr_argv *a)
{
    return a->count - a->assignments;
}

int pr_argv_fill_start(struct pr_argv *a, struct pr_start *ret,
                       struct pr_err *err)
{
    int rc = pr_argv_add_word(a, NULL, err);

    if (!rc)
        rc = pr_job_set_start_env(a->job, a->items, a->assignments, ret, err);
    if (!rc)
        ret->argv = a->items + a->assignments;
    return rc;
}

/* ---- the job and its parameters */

const char *pr_job_param_text(const struct pr_job *job, const char *name)
{
    return pr_text_at(job->params, name, "");
}

bool pr_job_needs_sync(const struct pr_value *params)
{
    return pr_bool_at(params, "run.fsync", true);
}

int pr_job_find_framework(const struct pr_job *job,
                          const struct pr_framework **ret, struct pr_err *err)
{
    const char *name = job->exp.framework;

    return job->frameworks ? pr_frameworks_get(job->frameworks, name, ret, err)
                           : pr_framework_find(name, job->arena, ret, err);
}

int pr_job_init(struct pr_job *job, const char *id, const char *dir,
                const struct pr_value *params, struct pr_arena *a,
                struct pr_err *err)
{
    int rc;

    *job = (struct pr_job){.id = id, .dir = dir, .params = params, .arena = a};
    rc = pr_opt_fill(&pr_exp_section, params, a, &job->exp, err);
    if (!rc)
        rc = pr_opt_fill(&pr_runtime_section, params, a, &job->runtime, err);
    return rc;
}

bool pr_job_is_off(const struct pr_job *job)
{
    static const char *const words[] = {"disabled", "inactive", "simulate"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(job->exp.status, words[i]) == 0)
            return true;
    return false;
}

/* ---- files and folders that parameters name: a container sees these alone, so
 * that what is missing here is not there inside, and what is written elsewhere
 * is lost with it */

enum { MOST = 16 };

struct places {
    const struct pr_job *job;
    struct pr_place *items;
    size_t count;
    bool failed; /* no memory */
};

static void places_add(struct places *p, const char *path,
                       enum pr_place_use use)
{
    if (!path)
        p->failed = true;
    else if (*path && p->count < MOST)
        p->items[p->count++] = (struct pr_place){path, use};
}

/* What is relative to another folder, if there is one. */
static void add_below(struct places *p, const char *root, const char *path,
                      enum pr_place_use use)
{
    bool below = *root && *path && *path != '/';

    places_add(
        p, below ? pr_arena_printf(p->job->arena, "%s/%s", root, path) : path,
        use);
}

static void add_folder_of(struct places *p, const char *file,
                          enum pr_place_use use)
{
    const char *slash = strrchr(file, '/');

    if (slash)
        places_add(p,
                   slash == file ? "/"
                                 : pr_arena_copy(p->job->arena, file,
                                                 (size_t)(slash - file)),
                   use);
    else
        places_add(p, *file ? "." : "", use);
}

/* Data sets and checkpoints. Roots come first: what is in them is seen in its
 * own place even where a link leads there. */
static void add_data(struct places *p)
{
    const struct pr_job *job = p->job;
    const char *all = getenv("PRONY_DATA");
    const char *root = pr_job_param_text(job, "storage.storage_root");
    const char *engine = pr_job_param_text(job, "storage.engine");
    bool files = strcmp(engine, "memory") != 0 && strcmp(engine, "null") != 0;
    bool own = *root && strcmp(root, "./") != 0;

    all = all ? all : "";
    places_add(p, all, PR_PLACE_KEPT);
    if (*root == '/')
        places_add(p, root, PR_PLACE_KEPT);
    add_below(p, own ? root : all,
              pr_job_param_text(job, "dataset.data_folder"),
              files && pr_bool_at(job->params, "workflow.generate_data", false)
                  ? PR_PLACE_MADE
                  : PR_PLACE_KEPT);
    add_below(p, all, pr_job_param_text(job, "checkpoint.checkpoint_folder"),
              files && pr_bool_at(job->params, "workflow.checkpoint", false)
                  ? PR_PLACE_MADE
                  : PR_PLACE_KEPT);
    places_add(p, job->exp.data_dir, PR_PLACE_KEPT);
}

static void add_results(struct places *p)
{
    const char *folder = pr_job_param_text(p->job, "output.folder");

    places_add(p, *folder ? folder : pr_job_param_text(p->job, "hydra.run.dir"),
               PR_PLACE_MADE);
    add_folder_of(p, pr_job_param_text(p->job, "nn.save"), PR_PLACE_KEPT);
    add_folder_of(p, pr_job_param_text(p->job, "storage.trace"), PR_PLACE_KEPT);
}

static int add_inputs(struct places *p, struct pr_err *err)
{
    const struct pr_job *job = p->job;
    const struct pr_framework *f = NULL;
    int rc = *job->exp.framework ? pr_job_find_framework(job, &f, err) : 0;

    if (rc < 0)
        return rc;
    places_add(p, pr_job_param_text(job, "nn.batches"), PR_PLACE_READ);
    places_add(p, pr_job_param_text(job, "nn.load"), PR_PLACE_READ);
    places_add(p, pr_job_param_text(job, "probe.config"), PR_PLACE_READ);
    if (strchr(job->exp.model, '/')) /* the name of a bundled one is no path */
        places_add(p, job->exp.model, PR_PLACE_READ);
    if (f && f->program && *f->program == '/') /* with what it imports */
        add_folder_of(p, f->program, PR_PLACE_READ);
    return PR_OK;
}

int pr_job_find_places(const struct pr_job *job, struct pr_place **ret,
                       size_t *ret_count, struct pr_err *err)
{
    struct places p = {
        .job = job, .items = PR_ARENA_ARRAY(job->arena, struct pr_place, MOST)};

    if (!p.items)
        return pr_fail_nomem(err);
    add_data(&p);
    add_results(&p);
    PR_TRY(add_inputs(&p, err));
    if (p.failed)
        return pr_fail_nomem(err);
    *ret = p.items;
    *ret_count = p.count;
    return PR_OK;
}

int pr_job_absolute_path(const char *path, struct pr_arena *a, const char **ret,
                         struct pr_err *err)
{
    char cwd[PATH_MAX] = "/", clean[PR_PATH_BYTES];

    if (*path != '/') {
        (void)!getcwd(cwd, sizeof cwd);
        path = pr_arena_printf(a, "%s/%s", cwd, path);
        if (!path)
            return pr_fail_nomem(err);
    }
    PR_TRY(pr_path_clean(path, clean, err));
    *ret = pr_arena_str(a, clean);
    return *ret ? PR_OK : pr_fail_nomem(err);
}
