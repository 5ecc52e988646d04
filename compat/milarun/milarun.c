/*
 * The program under the name `milarun`. Its commands become our own verbs; what
 * differs is said in docs/from-milarun.md.
 */
#include "compat/milarun/milarun.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json/json.h"
#include "catalog/milarun_tests.h"
#include "cli/suite_config.h"
#include "compat/milarun/milarun_run.h"
#include "prony/plan.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

const char *milarun_dataroot(struct pr_arena *a, const struct milarun_args *m)
{
    const char *dir = m->value[M_DATAROOT];

    return milarun_expand_path(a, dir ? dir : getenv("MILARUN_DATAROOT"));
}

int milarun_no_dataroot(void)
{
    return say_wrong("no dataroot specified,  please use --dataroot/-d or set "
                     "$MILARUN_DATAROOT");
}

/* --out, or a new folder in $MILARUN_OUTROOT; NULL: neither. */
const char *milarun_out(struct pr_arena *a, const struct milarun_args *m)
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
