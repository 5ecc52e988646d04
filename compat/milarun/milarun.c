/*
 * The program under the name `milarun`. Its commands become our own verbs; what
 * differs is said in docs/from-milarun.md.
 */
#include "compat/milarun/milarun.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json/json.h"
#include "catalog/milarun_tests.h"
#include "cli/cmd_report.h"
#include "cli/suite_call.h"
#include "cli/targets.h"
#include "prony/plan.h"

#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- what all commands use */

static int say_wrong(const char *what)
{
    message_print(SAY_CRITICAL, "milarun: error: %s\n", what);
    return 1;
}

/* ~ and ~/x, as a shell would; milarun does so itself. */
static const char *milarun_expand_path(struct pr_arena *a, const char *path)
{
    return path ? config_path(a, path) : NULL;
}

static const char *milarun_dataroot(struct pr_arena *a,
                                    const struct milarun_args *m)
{
    const char *dir = m->value[M_DATAROOT];

    return milarun_expand_path(a, dir ? dir : getenv("MILARUN_DATAROOT"));
}

/* Of milarun.c. */
static int milarun_no_dataroot(void)
{
    return say_wrong("no dataroot specified,  please use --dataroot/-d or set "
                     "$MILARUN_DATAROOT");
}

/* --out, or a new folder in $MILARUN_OUTROOT; NULL: neither. */
static const char *milarun_out(struct pr_arena *a, const struct milarun_args *m)
{
    const char *root = getenv("MILARUN_OUTROOT");
    time_t now = time(NULL);
    char text[64];
    struct tm tm;

    if (m->value[M_OUT] || !root)
        return milarun_expand_path(a, m->value[M_OUT]);
    localtime_r(&now, &tm);
    strftime(text, sizeof text, "%Y-%m-%d.%H:%M:%S", &tm);
    return pr_arena_printf(a, "%s/results-%s", milarun_expand_path(a, root),
                           text);
}

/* ---- one experiment: run and rerun */

/*
 * It has a run directory like any other, in a folder for temporary files; its
 * result file alone is kept, under the name that was asked for, or is written
 * to stdout.
 */

enum { MAX_FILE = 64 << 20 };

static int milarun_print_failure(const struct pr_err *err)
{
    message_print(SAY_CRITICAL, "milarun: error: %s%s%s\n", err->where,
                  *err->where ? ": " : "", err->msg);
    return pr_code_exit_status(err->code);
}

/* The one result file of the run, in dir. NULL: there is none. */
static const char *result_in(struct pr_arena *a, const char *dir)
{
    static const char *const others[] = {"plan.json", "env.json"};
    const char *found = NULL;
    DIR *d = opendir(dir);
    struct dirent *e;

    while (d && (e = readdir(d))) {
        size_t n = strlen(e->d_name);

        if (n > 5 && strcmp(e->d_name + n - 5, ".json") == 0 &&
            strcmp(e->d_name, others[0]) != 0 &&
            strcmp(e->d_name, others[1]) != 0)
            found = pr_arena_str(a, e->d_name);
    }
    if (d)
        closedir(d);
    return found;
}

/* outdir is where the file goes, not where it was made. */
static int milarun_read_result(struct pr_arena *a, const char *path,
                               const char *outdir, struct pr_buf *out,
                               struct pr_err *err)
{
    struct pr_json_in in = {.name = path};
    struct pr_member *m;
    struct pr_value v;
    int rc = pr_file_read(path, MAX_FILE, a, &in.text, &in.len, err);

    if (!rc)
        rc = pr_json_read(&in, a, &v, NULL, err);
    if (rc)
        return rc;
    m = PR_ARENA_ARRAY(a, struct pr_member, v.len);
    if (!m)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < v.len; i++) {
        m[i] = v.members[i];
        if (strcmp(m[i].key, "outdir") == 0)
            m[i].value = outdir ? pr_str(outdir) : pr_null();
    }
    v.members = m;
    pr_json_write_indented(out, &v, 4, 0);
    pr_buf_char(out, '\n');
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}

static bool is_json(const char *out)
{
    size_t n = strlen(out);

    return n > 5 && strcmp(out + n - 5, ".json") == 0;
}

static int milarun_deliver_result(struct pr_arena *a, const char *dir,
                                  const char *out, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(MAX_FILE);
    const char *name = result_in(a, dir), *to = out;
    const char *from = name ? pr_arena_printf(a, "%s/%s", dir, name) : NULL;
    char *slash;
    int rc;

    if (!from)
        return pr_fail(err, PR_E_IO, dir, "the run left no result");
    if (out && !is_json(out))
        to = pr_arena_printf(a, "%s/%s", out, name);
    if (out && !to)
        return pr_fail_nomem(err);
    if (out) {
        char *folder = pr_arena_str(a, to);

        slash = folder ? strrchr(folder, '/') : NULL;
        if (slash && slash > folder) {
            *slash = '\0';
            rc = pr_make_dirs(folder, err);
            if (rc)
                return rc;
        }
    }
    rc = milarun_read_result(a, from, out, &text, err);
    if (rc)
        return rc;
    return out ? pr_file_write(to, text.data, text.len, err)
               : answer_print_buf(&text, err);
}

/* What the experiment said comes to stderr, where milarun's children write. */
static void show_log(struct pr_arena *a, const char *dir)
{
    const char *path = pr_arena_printf(a, "%s/experiments", dir);
    DIR *d = path ? opendir(path) : NULL;
    struct dirent *e;

    while (d && (e = readdir(d))) {
        const char *log, *text;
        size_t len;

        if (e->d_name[0] == '.')
            continue;
        log = pr_arena_printf(a, "%s/%s/log.txt", path, e->d_name);
        if (log && !pr_file_read(log, MAX_FILE, a, &text, &len, NULL))
            (void)!write(2, text, len);
    }
    if (d)
        closedir(d);
}

static int milarun_remove_file(const char *path, const struct stat *st,
                               int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static int run_call(struct pr_arena *a, const struct suite_call *call,
                    const struct milarun_args *m, const char *out)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = pr_arena_printf(a, "%s/milarun-XXXXXX", tmp ? tmp : "/tmp");
    static const struct verb none = {.name = "run", .bit = ON_RUN};
    struct cli c = {.verb = &none, .arena = a};
    struct pr_err err = {0}, why = {0};
    struct pr_plan *p = NULL;
    int rc, ended = PR_OK;

    if (!dir || !mkdtemp(dir))
        return milarun_print_failure(
            &(struct pr_err){.code = PR_E_IO,
                             .msg = "cannot make a folder for "
                                    "temporary files"});
    message_set_level(SAY_ERROR);
    rc = suite_call_plan(&c, call, (const char *const *)m->tail,
                         (size_t)m->tail_count, &p, &err);
    if (!rc) {
        ended = run_plan_in_dir(&c, p, dir, false, &why);
        pr_plan_free(p);
        show_log(a, dir);
        rc = milarun_deliver_result(a, dir, out, &err);
    }
    if (nftw(dir, milarun_remove_file, 16, FTW_DEPTH | FTW_PHYS))
        message_print(SAY_WARNING, "%s could not be removed\n", dir);
    if (rc)
        return milarun_print_failure(&err);
    if (ended)
        message_print(SAY_CRITICAL, "milarun: error: %s\n", why.msg);
    return c.signo ? 128 + c.signo : pr_code_exit_status(ended);
}

static int milarun_run(struct pr_arena *a, const struct milarun_args *m)
{
    struct suite_call call = {.function = m->words[0],
                              .name = m->value[M_NAME],
                              .job_id = m->value[M_JOB_ID],
                              .dataroot = milarun_dataroot(a, m),
                              .argv = {.kind = PR_LIST}};
    const char *extra = m->value[M_EXTRA];
    struct pr_err err = {0};

    if (!call.dataroot)
        return milarun_no_dataroot();
    if (extra) {
        struct pr_json_in in = {
            .name = "--extra", .text = extra, .len = strlen(extra)};
        int rc = pr_json_read(&in, a, &call.extra, NULL, &err);

        if (!rc && call.extra.kind != PR_MAP)
            rc = pr_fail(&err, PR_E_USAGE, "--extra", "it is no JSON object");
        if (rc)
            return milarun_print_failure(&err);
    }
    if (set_data_root(a, call.dataroot, &err))
        return milarun_print_failure(&err);
    return run_call(a, &call, m, milarun_out(a, m));
}

static void say_call(const struct suite_call *call,
                     const struct milarun_args *m)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);

    pr_buf_str(&out, "=== re-run command ===\n");
    for (uint32_t i = 0; call->environ.kind == PR_MAP && i < call->environ.len;
         i++) {
        const struct pr_member *e = &call->environ.members[i];

        pr_buf_printf(&out, "%s = ", e->key);
        pr_value_write_text(&out, &e->value);
        pr_buf_char(&out, '\n');
        if (e->value.kind == PR_STR)
            setenv(e->key, e->value.s, 1);
    }
    pr_buf_printf(&out, "milarun run %s --", call->function);
    for (uint32_t i = 0; i < call->argv.len; i++) {
        pr_buf_char(&out, ' ');
        pr_value_write_text(&out, &call->argv.items[i]);
    }
    for (int i = 0; i < m->tail_count; i++)
        pr_buf_printf(&out, " %s", m->tail[i]);
    pr_buf_str(&out, "\n======================\n");
    if (pr_buf_ok(&out))
        message_print_text(SAY_CRITICAL, out.data);
}

static int milarun_rerun(struct pr_arena *a, const struct milarun_args *m)
{
    static const struct verb none = {.name = "rerun", .bit = ON_RERUN};
    struct cli c = {.verb = &none, .arena = a};
    struct suite_call call;
    struct pr_err err = {0};
    int rc = suite_call_read(&c, m->words[0], &call, &err);

    if (!rc && !call.function)
        rc = pr_fail(&err, PR_E_FORMAT, m->words[0],
                     "is not a result of milarun's");
    if (rc)
        return milarun_print_failure(&err);
    say_call(&call, m);
    if (set_data_root(a, call.dataroot, &err))
        return milarun_print_failure(&err);
    return run_call(a, &call, m, milarun_out(a, m));
}

/* ---- words for one of our verbs */

struct words {
    struct pr_arena *a;
    char **argv;
    size_t n, cap;
    bool failed; /* out of memory */
};

static void milarun_add_word(struct words *w, const char *word)
{
    char **argv = pr_arena_grow(w->a, w->argv, w->n, &w->cap, sizeof(char *));
    char *copy = word ? pr_arena_str(w->a, word) : NULL;

    w->failed |= !argv || !copy;
    if (w->failed)
        return;
    w->argv = argv;
    argv[w->n++] = copy;
}

static void milarun_add_option(struct words *w, const char *name,
                               const char *value)
{
    if (!value)
        return;
    milarun_add_word(w, name);
    milarun_add_word(w, value);
}

static struct words milarun_begin_verb(struct pr_arena *a, const char *verb)
{
    struct words w = {.a = a};

    milarun_add_word(&w, "prony");
    milarun_add_word(&w, verb);
    return w;
}

static int milarun_run_verb(struct words *w)
{
    char **argv = pr_arena_grow(w->a, w->argv, w->n, &w->cap, sizeof(char *));

    if (w->failed || !argv || w->n > INT_MAX)
        return pr_code_exit_status(PR_E_NOMEM);
    argv[w->n] = NULL;
    return cli_main((int)w->n, argv);
}

/* A folder that has something in it gets a folder of its own for this run:
 * milarun adds to what is there, and its summary looks into folders. */
static const char *milarun_find_fresh_folder(struct pr_arena *a,
                                             const char *out)
{
    DIR *d = opendir(out);
    struct dirent *e;
    char time[32];
    bool used = false;

    if (!d)
        return out;
    while (!used && (e = readdir(d)))
        used = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return used ? pr_arena_printf(a, "%s/run.%s", out,
                                  pr_time_name(time, pr_wall_clock_ns()))
                : out;
}

/* Whether the profile has all jobs that are named; says which it has not, in
 * milarun's words. All else that may be wrong is the run's to say. */
static bool has_jobs(const char *profile, const char *names)
{
    static const char start[] = "could not find job(s): ";
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);
    struct pr_plan_opts opts = {
        .size = sizeof opts, .repeat = 1, .only = names};
    struct pr_plan *p = pr_plan_new(&opts);
    struct pr_err err = {0};
    bool missing;

    if (p && !pr_plan_target(p, profile, &err))
        (void)!pr_plan_build(p, &err);
    pr_plan_free(p);
    missing = strncmp(err.msg, start, sizeof start - 1) == 0;
    for (char *at = err.msg + sizeof start - 1, *rest; missing;) {
        char *name = strtok_r(at, ", ", &rest);

        if (!name)
            break;
        pr_buf_printf(&out, "%s'%s'", out.len ? ", " : "", name);
        at = NULL;
    }
    if (missing)
        message_print(SAY_CRITICAL, "Could not find job(s): {%s}\n",
                      out.data ? out.data : "");
    return !missing;
}

static int milarun_run_jobs(struct pr_arena *a, const struct milarun_args *m)
{
    PR_AUTO_BUF struct pr_buf names = PR_BUF_INIT(1 << 16);
    const char *out = milarun_out(a, m), *data = milarun_dataroot(a, m);
    struct words w = milarun_begin_verb(a, "run");

    if (!out)
        return say_wrong("no output directory specified,  please use --out/-o "
                         "or set $MILARUN_OUTROOT");
    if (!data)
        return milarun_no_dataroot();
    milarun_add_word(&w, milarun_expand_path(a, m->words[0]));
    milarun_add_option(&w, "-o", milarun_find_fresh_folder(a, out));
    milarun_add_option(&w, "-d", data);
    milarun_add_option(&w, "--repeat", m->value[M_REPEAT]);
    if (m->flag[M_CGEXEC] < 0)
        milarun_add_word(&w, "--no-isolation");
    for (size_t i = 0; i < m->job_count; i++)
        pr_buf_printf(&names, "%s%s", i ? "," : "", m->jobs[i]);
    if (!pr_buf_ok(&names))
        return say_wrong("these are too many jobs");
    if (names.data &&
        !has_jobs(milarun_expand_path(a, m->words[0]), names.data))
        return 1;
    milarun_add_option(&w, "--name", names.data);
    if (m->tail_count)
        milarun_add_word(&w, "--");
    for (int i = 0; i < m->tail_count; i++)
        milarun_add_word(&w, m->tail[i]);
    return milarun_run_verb(&w);
}

static int milarun_run_summary(struct pr_arena *a, const struct milarun_args *m)
{
    struct words w = milarun_begin_verb(a, "summary");

    milarun_add_word(&w, milarun_expand_path(a, m->words[0]));
    milarun_add_option(&w, "-o", milarun_expand_path(a, m->value[M_OUT]));
    return milarun_run_verb(&w);
}

static int milarun_run_report(struct pr_arena *a, const struct milarun_args *m)
{
    struct words w = milarun_begin_verb(a, "report");

    milarun_add_word(&w, milarun_expand_path(a, m->words[0]));
    milarun_add_option(&w, "--compare",
                       milarun_expand_path(a, m->value[M_COMPARE]));
    milarun_add_option(&w, "--weights",
                       milarun_expand_path(a, m->value[M_WEIGHTS]));
    milarun_add_option(&w, "--html", milarun_expand_path(a, m->value[M_HTML]));
    if (m->value[M_WEIGHTS]) /* without a score milarun does not care */
        milarun_add_option(&w, "--price", m->value[M_PRICE]);
    milarun_add_option(&w, "--title", m->value[M_TITLE]);
    if (m->flag[M_COMPARE_GPUS] > 0)
        milarun_add_word(&w, "--compare-gpus");
    if (m->flag[M_PENALIZE] > 0)
        milarun_add_word(&w, "--penalize-variance");
    return milarun_run_verb(&w);
}

/* ---- data sets */

static bool is_made_up(const char *name)
{
    static const char *const names[] = {"mnist", "bsds500_reso", "wmt16",
                                        "wiki2", "coco",         "ml20m"};
    const char *colon = strrchr(name, ':');

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(colon ? colon + 1 : name, names[i]) == 0)
            return true;
    return false;
}

static bool milarun_is_image_set(const char *name)
{
    const char *colon = strrchr(name, ':');

    return strcmp(colon ? colon + 1 : name, "fake_imagenet") == 0;
}

/* What the test of the loader reads, made beforehand. */
static int make_images(struct pr_arena *a, const char *data)
{
    struct pr_milarun_ask ask = {.experiment = "milarun.models.loader:main",
                                 .dataroot = pr_folder_absolute(data, a)};
    struct words w = milarun_begin_verb(a, "generate");
    struct pr_milarun_work work;
    struct pr_err err = {0};

    if (!ask.dataroot)
        return pr_code_exit_status(PR_E_NOMEM);
    if (pr_milarun_make_work(&ask, a, &work, NULL, &err) || work.missing) {
        message_print_error(&err);
        return pr_code_exit_status(err.code ? err.code : PR_E_UNAVAIL);
    }
    if (!pr_get(&work.params, "workflow.generate_data")) {
        message_print(SAY_INFO, "%s/ImageNet is there, and is used\n", data);
        return 0;
    }
    for (uint32_t i = 0; i < work.params.len; i++) {
        const struct pr_member *m = &work.params.members[i];
        bool place = strcmp(m->key, "exp.data_dir") == 0;
        PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);

        if (strncmp(m->key, "dataset.", 8) != 0 && !place)
            continue;
        pr_buf_printf(&text, "%s=", place ? "dataset.data_folder" : m->key);
        pr_json_write(&text, &m->value);
        milarun_add_option(&w, "-P", text.data);
    }
    return milarun_run_verb(&w);
}

static int milarun_make_datasets(struct pr_arena *a,
                                 const struct milarun_args *m)
{
    const char *data = milarun_dataroot(a, m);
    int status = 0;

    if (!data)
        return milarun_no_dataroot();
    for (size_t i = 0; i < m->word_count && !status; i++) {
        const char *name = m->words[i];

        if (milarun_is_image_set(name))
            status = make_images(a, data);
        else if (is_made_up(name))
            message_print(SAY_INFO,
                          "%s: made up while a test runs, there is nothing to "
                          "make\n",
                          name);
        else {
            message_print(SAY_CRITICAL,
                          "milarun: error: there is no data set '%s' "
                          "here\n",
                          name);
            status = pr_code_exit_status(PR_E_UNAVAIL);
        }
    }
    return status;
}

static int milarun_main(int argc, char **argv)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);
    struct milarun_args m;
    int rc;

    if (!a)
        return pr_code_exit_status(PR_E_NOMEM);
    rc = milarun_args_read(a, argc, argv, &m);
    if (rc) /* help; an error; no command at all */
        return rc == 1 ? 0 : rc == 3 ? 1 : 2;
    switch (m.verb) {
    case V_JOBS:
        return milarun_run_jobs(a, &m);
    case V_SUMMARY:
        return milarun_run_summary(a, &m);
    case V_REPORT:
        return milarun_run_report(a, &m);
    case V_DATASET:
        return milarun_make_datasets(a, &m);
    case V_RUN:
        return milarun_run(a, &m);
    case V_RERUN:
        return milarun_rerun(a, &m);
    }
    return 2;
}

bool milarun_called(int argc, char **argv, int *ret_status)
{
    const char *slash = argc ? strrchr(argv[0], '/') : NULL;
    const char *name = slash ? slash + 1 : argc ? argv[0] : "";

    if (strcmp(name, "milarun") != 0)
        return false;
    *ret_status = milarun_main(argc - 1, argv + 1);
    return true;
}
