/*
 * The workload `suite`: a job of a milarun profile. What is started is milarun
 * itself, the job's own command, or an equivalent of ours, which runs without a
 * program unless words are to stand before it.
 */
#include "workload/suite_workload.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "conf/read/literal.h"
#include "job/job.h"
#include "workload/framework_workload.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- laying arguments over one another, and reading them as options */

static size_t name_len(const char *word)
{
    return strcspn(word, "=");
}

/* Whether one is --NAME and the other --no-NAME. */
static bool are_opposite(const char *a, const char *b)
{
    size_t n = name_len(a), m = name_len(b);

    if (!pr_text_starts_with(a, "--no-")) {
        const char *other = a;
        size_t k = n;

        a = b;
        b = other;
        n = m;
        m = k;
    }
    return n > 5 && m == n - 3 && pr_text_starts_with(a, "--no-") &&
           pr_text_starts_with(b, "--") && memcmp(a + 5, b + 2, m - 2) == 0;
}

static int as_text(struct pr_arena *a, const struct pr_value *v,
                   struct pr_value *ret, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);
    const char *copy;

    if (v->kind == PR_STR) {
        *ret = *v;
        return PR_OK;
    }
    pr_value_write_text(&text, v);
    copy = pr_arena_copy(a, text.data ? text.data : "", text.len);
    if (!pr_buf_ok(&text) || !copy)
        return pr_fail_nomem(err);
    *ret = pr_strn(copy, text.len);
    return PR_OK;
}

/* Takes out of words what a later one contradicts; how many are left. */
static uint32_t suite_remove_opposites(struct pr_value *words, uint32_t n,
                                       const char *later)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n; i++) {
        bool gone =
            pr_word_is_option(words[i].s) && are_opposite(words[i].s, later);

        if (!gone) {
            words[kept++] = words[i];
            continue;
        }
        /* with its value, should it have one after it */
        if (i + 1 < n && !pr_word_is_option(words[i + 1].s) &&
            !pr_text_starts_with(words[i].s, "--no-"))
            i++;
    }
    return kept;
}

int pr_suite_merge_args(const struct pr_value *first,
                        const struct pr_value *later, struct pr_arena *a,
                        struct pr_value *ret, struct pr_err *err)
{
    uint32_t n = 0, all = first->len + later->len;
    struct pr_value *words = PR_ARENA_ARRAY(a, struct pr_value, all + 1);

    if (!words)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < all; i++) {
        const struct pr_value *v =
            i < first->len ? &first->items[i] : &later->items[i - first->len];
        struct pr_value word;
        int rc = as_text(a, v, &word, err);

        if (rc)
            return rc;
        if (pr_word_is_option(word.s))
            n = suite_remove_opposites(words, n, word.s);
        words[n++] = word;
    }
    *ret = (struct pr_value){.kind = PR_LIST, .len = n, .items = words};
    return PR_OK;
}

/* ---- as options */

/* int(), then float(), as Python reads them; else text. */
static struct pr_value suite_parse_scalar(const char *text)
{
    char plain[64], *end;
    size_t n = 0;
    long long i;
    double f;

    for (const char *p = text; *p && n < sizeof plain - 1; p++)
        if (*p != '_' || p == text || p[-1] == '_' || !p[1])
            plain[n++] = *p;
    plain[n] = '\0';
    if (!*plain || !strchr("+-.0123456789", *plain) || strpbrk(plain, "xXpP") ||
        strlen(text) >= sizeof plain)
        return pr_str(text);
    errno = 0;
    i = strtoll(plain, &end, 10);
    if (!*end && !errno)
        return pr_int(i);
    f = strtod(plain, &end);
    return *end ? pr_str(text) : pr_float(f);
}

/* --batch-size to batch_size. NULL: out of memory. */
static char *suite_option_key(struct pr_arena *a, const char *word)
{
    char *key;

    word += strspn(word, "-");
    key = pr_arena_copy(a, word, name_len(word));
    for (char *p = key; p && *p; p++)
        if (*p == '-')
            *p = '_';
    return key;
}

static void suite_set_member(struct pr_member *m, uint32_t *n, const char *key,
                             struct pr_value v)
{
    uint32_t i = 0;

    while (i < *n && strcmp(m[i].key, key) != 0)
        i++;
    m[i] = (struct pr_member){
        .key = key, .key_len = (uint32_t)strlen(key), .value = v};
    *n += i == *n;
}

int pr_suite_read_options(const struct pr_value *args, struct pr_arena *a,
                          struct pr_value *ret, struct pr_err *err)
{
    struct pr_member *m = PR_ARENA_ARRAY(a, struct pr_member, args->len + 1);
    uint32_t n = 0;

    if (!m)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < args->len; i++) {
        const char *word = args->items[i].s, *eq = strchr(word, '=');
        struct pr_value v = pr_bool(true);
        char *key;

        if (!pr_word_is_option(word))
            continue;
        key = suite_option_key(a, word);
        if (!key)
            return pr_fail_nomem(err);
        if (eq)
            v = suite_parse_scalar(eq + 1);
        else if (i + 1 < args->len && !pr_word_is_option(args->items[i + 1].s))
            v = suite_parse_scalar(args->items[++i].s);
        else if (pr_text_starts_with(key, "no_")) {
            key += 3;
            v = pr_bool(false);
        }
        suite_set_member(m, &n, key, v);
    }
    *ret = (struct pr_value){.kind = PR_MAP, .len = n, .members = m};
    return PR_OK;
}

/* ---- who runs a job of a suite */

const char *pr_suite_engine_word(enum pr_suite_engine e)
{
    static const char *const words[] = {"command", "milarun", "native"};

    return words[e];
}

static int suite_fail_unavailable(const struct pr_job *job,
                                  const struct pr_suite_call *r,
                                  const char *why, struct pr_err *err)
{
    const char *what = r->suite.experiment;

    if (strcmp(r->suite.engine, "milarun") == 0)
        pr_fail(err, PR_E_UNAVAIL, job->id,
                "'%.100s' needs milarun, which '%.100s' does not find", what,
                r->python);
    else
        pr_fail(err, PR_E_UNAVAIL, job->id, "'%.80s' is not available: %.250s",
                what, why);
    return pr_hint(err,
                   "install milarun for '%.100s', or leave the job out "
                   "with --name",
                   r->python);
}

/* A plan has defaults for everything: what is not the default is somebody's
 * wish. But what is run is no job of a suite any more, and what was computed
 * from others was so before the equivalent set them. */
static bool suite_is_param_given(const struct pr_member *param)
{
    const struct pr_opt *opt = pr_opt_find(param->key, NULL);
    struct pr_value def = opt ? pr_opt_default(opt) : pr_null();

    return strcmp(param->key, "exp.workload") != 0 &&
           !(opt && opt->flags & PR_OPT_DERIVED) &&
           (!opt || !pr_value_equal(&def, &param->value));
}

static bool suite_is_key(const struct pr_member *m, const char *key)
{
    return strcmp(m->key, key) == 0;
}

/* Parameters of the equivalent laid under those the user gave. */
static int lay_under(struct pr_job *job, const struct pr_value *under,
                     struct pr_suite_call *ret, struct pr_err *err)
{
    const struct pr_value *own = job->params;
    struct pr_value *all = PR_ARENA_NEW(job->arena, struct pr_value);
    struct pr_member *m =
        PR_ARENA_ARRAY(job->arena, struct pr_member, own->len + under->len);
    uint32_t n = 0;

    if (!m || !all)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < own->len; i++) {
        const struct pr_value *v = pr_get(under, own->members[i].key);

        m[n] = own->members[i];
        if (v && !suite_is_param_given(&m[n]))
            m[n].value = *v;
        else if (suite_is_key(&m[n], "exp.workload"))
            m[n].value = pr_str("native");
        else if (suite_is_key(&m[n], "exp.args"))
            m[n].value = (struct pr_value){.kind = PR_LIST};
        n++;
    }
    for (uint32_t i = 0; i < under->len; i++)
        if (!pr_get(own, under->members[i].key))
            m[n++] = under->members[i];
    *all = (struct pr_value){.kind = PR_MAP, .len = n, .members = m};
    return pr_job_init(&ret->native, job->id, job->dir, all, job->arena, err);
}

/* Whole: folders of data that are not lie below it. */
static const char *data_root(const char *run_dir, struct pr_arena *a)
{
    const char *root = getenv("PRONY_DATA");

    if (!root)
        root = pr_arena_printf(a, "%s/data", run_dir);
    return root ? pr_folder_absolute(root, a) : NULL;
}

/* experiments/ID is cut off; before there is a run, it would be here. */
static const char *run_dir_of(const struct pr_job *job)
{
    size_t n = strlen(job->dir);

    for (int i = 0; i < 2; i++)
        while (n && job->dir[--n] != '/')
            ;
    return n ? pr_arena_copy(job->arena, job->dir, n) : ".";
}

int pr_suite_make_work(const struct pr_suite_opts *suite, const char *run_dir,
                       const struct pr_value *args, struct pr_arena *a,
                       struct pr_milarun_work *ret, struct pr_buf *notes,
                       struct pr_err *err)
{
    const char **argv = PR_ARENA_ARRAY(a, const char *, args->len + 1);
    const char *root = run_dir ? data_root(run_dir, a) : NULL;
    struct pr_milarun_ask ask = {.experiment = suite->experiment,
                                 .argv = argv,
                                 .argc = args->len,
                                 .dataroot = root,
                                 .devices = suite->devices->len,
                                 .half = pr_milarun_has_bfloat16()};

    if (!argv || !root)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < args->len; i++)
        argv[i] = args->items[i].s;
    return pr_milarun_make_work(&ask, a, ret, notes, err);
}

static int resolve_native(struct pr_job *job, struct pr_suite_call *ret,
                          struct pr_err *err)
{
    struct pr_milarun_work work;
    int rc = pr_suite_make_work(&ret->suite, run_dir_of(job), &ret->args,
                                job->arena, &work, ret->notes, err);

    if (!rc && work.missing)
        return suite_fail_unavailable(job, ret, work.missing, err);
    if (!rc)
        rc = lay_under(job, &work.params, ret, err);
    if (!rc)
        ret->native.frameworks = job->frameworks;
    return rc;
}

/* suite.exec_prefix, unless its program is not there: what a machine lacks of
 * comforts is no reason not to measure it. */
static int find_prefix(struct pr_job *job, struct pr_suite_call *r,
                       struct pr_err *err)
{
    const struct pr_value *v = r->suite.exec_prefix;
    struct pr_argv words = {.job = job};
    char path[PATH_MAX];
    int rc = v->kind == PR_LIST
                 ? pr_argv_add_list(&words, "suite.exec_prefix", v, err)
                 : pr_argv_add_text(&words, "suite.exec_prefix", v->s, err);

    if (!rc && words.count && !strchr(words.items[0], '/') &&
        !pr_which(words.items[0], path)) {
        r->lost_prefix = words.items[0];
        words = (struct pr_argv){.job = job};
    }
    if (!rc)
        rc = pr_argv_add_word(&words, NULL, err);
    r->prefix = words.items;
    return rc;
}

int pr_suite_resolve(struct pr_job *job, struct pr_suite_call *ret,
                     struct pr_err *err)
{
    int rc;

    *ret = (struct pr_suite_call){.python = job->runtime.python,
                                  .notes = ret->notes};
    rc = pr_opt_fill(&pr_suite_section, job->params, job->arena, &ret->suite,
                     err);
    if (!rc)
        rc = pr_suite_merge_args(ret->suite.arguments, job->exp.args,
                                 job->arena, &ret->args, err);
    if (!rc)
        rc = find_prefix(job, ret, err);
    if (rc)
        return rc;
    if (!*ret->suite.experiment) {
        pr_fail(err, PR_E_CONF, job->id, "suite.experiment is empty");
        return pr_hint(err, "it comes from a profile: docs/suites.md");
    }
    if (strcmp(ret->suite.experiment, "command") == 0) {
        ret->engine = PR_SUITE_COMMAND;
        return PR_OK;
    }
    ret->engine = PR_SUITE_MILARUN;
    if (strcmp(ret->suite.engine, "native") != 0 &&
        !pr_milarun_is_ours(ret->suite.experiment) &&
        pr_python_has_package(ret->python, "milarun"))
        return PR_OK;
    if (strcmp(ret->suite.engine, "milarun") == 0)
        return suite_fail_unavailable(job, ret, "", err);
    ret->engine = PR_SUITE_NATIVE;
    return resolve_native(job, ret, err);
}

static int suite_add_all_words(struct pr_argv *a, const char *const *words,
                               struct pr_err *err)
{
    size_t n = 0;

    while (words[n])
        n++;
    return pr_argv_add_words(a, words, n, err);
}

/* A path that holds in another folder, too. */
static const char *suite_absolute_path(struct pr_job *job, const char *path)
{
    char out[PATH_MAX];

    return pr_arena_str(job->arena, *path && realpath(path, out) ? out : path);
}

static int add_milarun(struct pr_argv *a, const struct pr_suite_call *r,
                       struct pr_err *err)
{
    struct pr_job *job = a->job;
    const char *data = getenv("MILARUN_DATAROOT");
    const char *dir = suite_absolute_path(job, job->dir);
    const char *name =
        pr_arena_printf(job->arena, "%s.%s", r->suite.name, r->suite.job);
    const char *out =
        dir ? pr_arena_printf(job->arena, "%s/" PR_SUITE_MILARUN_FILE, dir)
            : NULL;
    const char *words[] = {r->python,
                           "-c",
                           "from milarun.cli import main; main()",
                           "run",
                           r->suite.experiment,
                           "--experiment-name",
                           name,
                           "--out",
                           out,
                           "--dataroot",
                           data ? data : dir,
                           "--"};

    if (!name || !out)
        return pr_fail_nomem(err);
    return pr_argv_add_words(a, words, sizeof words / sizeof *words, err);
}

/* `prony __rank DIR` is what a forked child would do. */
static int add_ourselves(struct pr_argv *a, struct pr_err *err)
{
    const char *words[] = {suite_absolute_path(a->job, "/proc/self/exe"),
                           PR_MPI_VERB,
                           suite_absolute_path(a->job, a->job->dir)};

    if (!words[0] || !words[2])
        return pr_fail_nomem(err);
    return pr_argv_add_words(a, words, 3, err);
}

/* Our own equivalent: as its workload starts it, behind the prefix if there is
 * one. */
static int start_native(struct pr_argv *a, struct pr_suite_call *r,
                        struct pr_start *ret, struct pr_err *err)
{
    const struct pr_workload *w;
    int rc = pr_workload_find_for_job(&r->native, &w, err);

    if (!rc)
        rc = w->prepare(&r->native, ret, err);
    if (rc || (!pr_argv_word_count(a) && !ret->argv))
        return rc;
    rc = ret->argv ? suite_add_all_words(a, ret->argv, err)
                   : add_ourselves(a, err);
    if (!rc)
        rc = pr_argv_fill_start(a, ret, err);
    ret->runs_ours = true;
    return rc;
}

static int suite_prepare(struct pr_job *job, struct pr_start *ret,
                         struct pr_err *err)
{
    struct pr_suite_call r = {.notes = NULL};
    struct pr_argv a;
    int rc = pr_suite_resolve(job, &r, err);

    if (!rc)
        rc = pr_argv_init(&a, job, err);
    if (!rc)
        rc = suite_add_all_words(&a, r.prefix, err);
    if (!rc && r.engine == PR_SUITE_NATIVE)
        return start_native(&a, &r, ret, err);
    if (!rc)
        rc = r.engine == PR_SUITE_MILARUN
                 ? add_milarun(&a, &r, err)
                 : pr_argv_add_words_of(&a, "exp.command", job->exp.command,
                                        err);
    if (!rc && !pr_argv_word_count(&a))
        rc = pr_fail(err, PR_E_CONF, job->id, "exp.command is empty");
    if (!rc)
        rc = pr_argv_add_list(&a, "suite.arguments", &r.args, err);
    return rc ? rc : pr_argv_fill_start(&a, ret, err);
}

static int suite_run(struct pr_job *job, struct pr_err *err)
{
    struct pr_suite_call r = {.notes = NULL};
    const struct pr_workload *w;
    int rc = pr_suite_resolve(job, &r, err);

    if (!rc && r.engine != PR_SUITE_NATIVE)
        rc = pr_fail(err, PR_E_CONF, job->id,
                     "'%.100s' is not run by Prony itself", r.suite.experiment);
    if (!rc)
        rc = pr_workload_find_for_job(&r.native, &w, err);
    return rc ? rc : w->run(&r.native, err);
}

static int suite_estimate(struct pr_job *job, struct pr_cost *ret,
                          struct pr_err *err)
{
    struct pr_suite_call r = {.notes = NULL};
    const struct pr_workload *w;
    struct pr_err why = {0};

    /* What is not available costs nothing and is no reason to refuse the
     * others. */
    if (pr_suite_resolve(job, &r, &why) || r.engine != PR_SUITE_NATIVE ||
        pr_workload_find_for_job(&r.native, &w, &why) || !w->estimate)
        return PR_OK;
    return w->estimate(&r.native, ret, err);
}

/* Of milarun itself; an equivalent or a command has a list of its own. */
static const struct pr_honour honours[] = {
    {"exp.args", NULL, false},
    {"exp.gpus", NULL, false},
    {"runtime.*", NULL, false},
    {"suite.*", NULL, false},
    {0},
};

const struct pr_workload pr_workload_suite = {
    .abi = PR_WORKLOAD_ABI,
    .name = "suite",
    .desc = "a job of a suite: a function of milarun's or its equivalent, or a "
            "command",
    .options = &pr_suite_section,
    .honours = honours,
    .prepare = suite_prepare,
    .run = suite_run,
    .estimate = suite_estimate,
};
