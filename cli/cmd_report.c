/* `prony report` and `prony summary`: runs, and suites with their options. */
#include "cli/cmd_report.h"

#include "analyse/gpu_systems.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/report_folder.h"
#include "conf/read/bundled.h"
#include "conf/read/toml.h"
#include "conf/read/yaml.h"
#include "present/html/html.h"
#include "present/report/report_suite.h"
#include "present/report/report_suite_json.h"
#include "present/screen.h"
#include "prony_config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- configuration as milarun's options take it: a file, or JSON */

enum { MAX_CONFIG = 1 << 28 };

/* Whether the text is JSON and no path, as milarun tells: by its first
 * character. */
static bool config_is_inline(const char *text)
{
    return *text && strchr("{[\"", *text);
}

const char *config_path(struct pr_arena *a, const char *path)
{
    const char *home = getenv("HOME");

    if (path[0] != '~' || (path[1] && path[1] != '/') || !home)
        return path;
    return pr_arena_printf(a, "%s%s", home, path + 1);
}

/* Whether it is named as a file of YAML or TOML. */
static bool config_is_document(const char *text)
{
    return pr_text_ends_with(text, ".yaml") ||
           pr_text_ends_with(text, ".yml") || pr_text_ends_with(text, ".toml");
}

/* "quick" for the weights of the bundled suite; else a path. */
static const char *config_find_file(struct pr_arena *a, const char *text)
{
    const char *bundled = !strchr(text, '/') && !strchr(text, '.')
                              ? pr_bundled_find(a, "suites/weights", text)
                              : NULL;

    return bundled && access(text, F_OK) ? bundled : config_path(a, text);
}

/* Reads a .json, .yaml or .toml file, inline JSON, or, by name, the weights of
 * a bundled suite; option is for errors. */
static int config_read(struct pr_arena *a, const char *text, const char *option,
                       struct pr_value *ret, struct pr_err *err)
{
    struct pr_json_in in = {.text = text, .name = option};
    int rc;

    if (config_is_inline(text)) {
        in.len = strlen(text);
        return pr_json_read(&in, a, ret, NULL, err);
    }
    in.name = config_find_file(a, text);
    if (!in.name)
        return pr_fail_nomem(err);
    if (pr_text_ends_with(text, ".cfg") || pr_text_ends_with(text, ".ini")) {
        pr_fail(err, PR_E_UNAVAIL, option, "cannot read '%s'", text);
        return pr_hint(err, "JSON, YAML and TOML can be read");
    }
    rc = pr_file_read(in.name, MAX_CONFIG, a, &in.text, &in.len, err);
    if (rc)
        return rc;
    if (pr_text_ends_with(text, ".yaml") || pr_text_ends_with(text, ".yml"))
        return pr_yaml_read(in.text, in.len, in.name, a, ret, err);
    if (pr_text_ends_with(text, ".toml"))
        return pr_toml_read(in.text, in.len, in.name, a, ret, err);
    return pr_json_read(&in, a, ret, NULL, err);
}

/* A run that was stopped, or still goes on: its report says so. */
void print_unfinished(const char *path, const struct pr_run_unfinished *u)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);
    PR_AUTO_BUF struct pr_buf safe = PR_BUF_INIT(1 << 17);

    if (!u->missing)
        return;
    pr_buf_str(&text, u->running ? "the run still goes on: "
                                 : "the run was interrupted: ");
    pr_unfinished_text(u, &text);
    if (!pr_buf_ok(&text))
        return;
    pr_screen_clean(&safe, text.data, text.len);
    if (pr_buf_ok(&safe))
        message_print_warning(path, safe.data,
                              u->running ? ""
                                         : "'prony run --resume DIR' goes on");
}

enum { MAX_BASES = 64, SAY_NOTES = 10 };

/* ---- what there is */

/* Whether `report PATH` is about a suite: a file, or a folder that holds
 * results of one and is nothing else we know. */
static bool is_suite_path(const char *path)
{
    static const char *const others[] = {"capacity.json",   "plan.json",
                                         "prony/plan.json", "result.json",
                                         "summary.json",    NULL};
    struct stat st;

    if (stat(path, &st))
        return false;
    if (!S_ISDIR(st.st_mode) || pr_suite_is_folder(path))
        return true;
    for (const char *const *name = others; *name; name++)
        if (folder_has_file(path, *name))
            return false;
    if (pr_gpu_systems_is_tree(path)) /* its full table */
        return false;
    return pr_gpu_systems_is_system(path) || pr_suite_is_tree(path);
}

/* Whether options were given that only suites have. */
static bool has_suite_options(const struct cli *c)
{
    static const enum arg_id ids[] = {A_WEIGHTS,      A_COMPARE,      A_PRICE,
                                      A_PENALIZE,     A_COMPARE_GPUS, A_TITLE,
                                      A_REPORT_SYSTEM};

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (arg_get(c, ids[i]))
            return true;
    return false;
}

/* ---- what is asked for */

/* As Python's float() takes it: 1_000.5, 1e3. */
static int read_price(const char *text, double *ret, struct pr_err *err)
{
    size_t len = strlen(text);

    if (!len || pr_decimal_length(text, len) != len) {
        pr_fail(err, PR_E_USAGE, "", "--price wants a number, got '%s'", text);
        return pr_hint(err, "for example 100000 or 2499.5");
    }
    *ret = pr_decimal_read(text, len);
    if (*ret > 0 && isfinite(*ret))
        return PR_OK;
    return pr_fail(err, PR_E_USAGE, "",
                   "--price wants a number above 0, got '%s'", text);
}

/* Every value of an option that may be repeated. */
static int read_compare_values(struct cli *c, enum arg_id id,
                               struct suite_ask *ret, struct pr_err *err)
{
    const char **list = PR_ARENA_ARRAY(c->arena, const char *, c->arg_count);

    if (!list)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < c->arg_count; i++)
        if (c->args[i].id == id)
            list[ret->compare_count++] = c->args[i].value;
    ret->compare = list;
    return PR_OK;
}

/* What the options of `report` ask for. */
static int suite_ask_read(struct cli *c, const char *path,
                          struct suite_ask *ret, struct pr_err *err)
{
    const char *price = arg_get(c, A_PRICE);
    int rc;

    *ret = (struct suite_ask){
        .path = path,
        .format = arg_get(c, A_REPORT_FORMAT),
        .weights = arg_get(c, A_WEIGHTS),
        .price = (double)NAN,
        .title = arg_get(c, A_TITLE),
        .system = arg_get(c, A_REPORT_SYSTEM),
        .html = arg_get(c, A_HTML),
        .penalise = arg_on(c, A_PENALIZE),
        .compare_gpus = arg_on(c, A_COMPARE_GPUS),
        .strict = arg_on(c, A_STRICT),
    };
    rc = read_compare_values(c, A_COMPARE, ret, err);
    return rc || !price ? rc : read_price(price, &ret->price, err);
}

/* ---- reading */

struct reading {
    struct pr_suite *suite;
    struct pr_suite *bases[MAX_BASES];
    size_t base_count;
    struct pr_suite_weights weights;
    bool has_weights;
};

static void reading_done(struct reading *r)
{
    pr_suite_free(r->suite);
    for (size_t i = 0; i < r->base_count; i++)
        pr_suite_free(r->bases[i]);
}

/* JSON, YAML and TOML are summaries; folders and archives are read as such. */
static int read_base(struct cli *c, const char *text, struct pr_suite **ret,
                     struct pr_err *err)
{
    const char *path = config_path(c->arena, text);
    struct pr_value v;
    struct stat st;
    int rc;

    if (!path)
        return pr_fail_nomem(err);
    if (!config_is_inline(text) && !config_is_document(text) &&
        stat(path, &st) == 0)
        return pr_suite_read(path, NULL, ret, err);
    rc = config_read(c->arena, text, "--compare", &v, err);
    return rc ? rc
              : pr_suite_from_value(
                    &v, config_is_inline(text) ? "--compare" : path, ret, err);
}

static int read_report_suites(struct cli *c, const struct suite_ask *ask,
                              struct reading *r, struct pr_err *err)
{
    struct pr_suite_read_opts how = {.curve = ask->html ? PR_HTML_CURVE : 0,
                                     .system = ask->system};
    struct pr_value v;
    int rc = PR_OK;

    if (ask->compare_count > MAX_BASES)
        return pr_fail(err, PR_E_USAGE, "", "--compare may be given %d times",
                       MAX_BASES);
    if (ask->weights) {
        rc = config_read(c->arena, ask->weights, "--weights", &v, err);
        if (!rc)
            rc = pr_suite_weights_from_value(
                &v, config_is_inline(ask->weights) ? "--weights" : ask->weights,
                c->arena, &r->weights, err);
        r->has_weights = true;
    }
    for (size_t i = 0; !rc && i < ask->compare_count; i++) {
        rc = read_base(c, ask->compare[i], &r->bases[i], err);
        r->base_count += !rc;
    }
    return rc ? rc : pr_suite_read(ask->path, &how, &r->suite, err);
}

/* ---- saying */

static void print_suite_warnings(const struct pr_suite *s)
{
    if (!s->count && s->kind != PR_SUITE_SUMMARY)
        message_print(SAY_WARNING,
                      "warning: %s: no result of a suite among %" PRIu64
                      " files\n",
                      s->path, s->files);
    for (size_t i = 0; i < s->note_count && i < SAY_NOTES; i++)
        message_print_warning(s->notes[i].where, s->notes[i].text, "");
    if (s->bad > SAY_NOTES)
        message_print(SAY_WARNING,
                      "warning: %" PRIu64 " more files could not be read\n",
                      s->bad - SAY_NOTES);
    print_unfinished(s->path, &s->left);
}

/* A name with a line break must not make up a line of its own. */
static void print_test_runs(const struct pr_suite_test *t, uint64_t runs,
                            const char *what)
{
    PR_AUTO_BUF struct pr_buf name = PR_BUF_INIT(1u << 16);

    if (!runs)
        return;
    pr_screen_clean(&name, t->name, strlen(t->name));
    message_print(
        SAY_WARNING, "warning: %s: %" PRIu64 " of %" PRIu64 " runs %s\n",
        pr_buf_ok(&name) && name.len ? name.data : "", runs, t->n, what);
}

static void print_suite_tests(const struct pr_suite *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct pr_suite_test *t = &s->tests[i];

        print_test_runs(t, t->unavailable,
                        "were not started: the test is not available there");
        print_test_runs(
            t, t->short_runs,
            "have too few rates for a steady state, so the test has none");
        print_test_runs(t, t->silent_runs, "succeeded without any rate");
    }
}

/* The table of the run itself has another figure for the same test. */
static void print_suite_window(const struct pr_suite *s)
{
    uint64_t rates = 0, most = 0;

    for (size_t i = 0; i < s->count; i++) {
        rates += s->tests[i].train.n;
        if (s->tests[i].train.n > most)
            most = s->tests[i].train.n;
    }
    if (s->kind != PR_SUITE_RESULTS || !rates ||
        !folder_has_file(s->path, "plan.json"))
        return;
    message_print(
        SAY_INFO,
        "note: perf is the mean of slices [-20:-2] of each run, as milarun "
        "counts;\n      throughput in the table of the run is that of all "
        "timed batches\n");
    if (most == 1)
        message_print(SAY_INFO,
                      "note: one run of each test, so std%% shows no spread\n");
}

static bool is_score_different(double a, double b)
{
    return isnan(a) != isnan(b) || fabs(a - b) >= 0.005;
}

static const char *score_text(double score, char text[static 32])
{
    if (isnan(score))
        return "none";
    snprintf(text, 32, "%.2f", score);
    return text;
}

/* The report shows one score; there are three ways to see it. */
static void print_suite_scores(const struct pr_suite_report *r)
{
    char text[3][32];

    if (!r->scored || (!is_score_different(r->milarun, r->penalised) &&
                       !is_score_different(r->milarun, r->strict)))
        return;
    message_print(
        SAY_INFO,
        "note: score %s as %s has it, %s with the variance penalty, %s "
        "strictly\n",
        score_text(r->milarun, text[0]),
        r->suite->kind == PR_SUITE_MILABENCH ? "milabench" : "milarun",
        score_text(r->penalised, text[1]), score_text(r->strict, text[2]));
    if (r->missing)
        message_print(
            SAY_INFO,
            "note: %zu test%s with a weight %s no figure, which is left out of "
            "the last alone; the others have %.0f %% of the weights\n",
            r->missing, r->missing == 1 ? "" : "s",
            r->missing == 1 ? "has" : "have", r->coverage * 100);
}

static int check_strict(const struct suite_ask *ask,
                        const struct pr_suite_report *r, struct pr_err *err)
{
    const char *first = "";

    if (!ask->strict || !r->missing)
        return PR_OK;
    for (size_t i = r->count; i-- > 0;)
        if (r->rows[i].missing)
            first = r->rows[i].name;
    pr_fail(err, PR_E_THRESHOLD, "",
            "%zu test%s with a weight %s no figure, the first is '%s'",
            r->missing, r->missing == 1 ? "" : "s",
            r->missing == 1 ? "has" : "have", first);
    return pr_hint(err, "run what is missing, or weigh only what was run");
}

/* ---- showing */

static int print_suite_report(const struct suite_ask *ask,
                              const struct pr_suite_report *r,
                              struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT((size_t)1 << 31);
    enum pr_table_format f = report_format(ask->format ? ask->format : "text");
    int rc;

    if (f == PR_TABLE_JSON)
        rc = pr_suite_json(r, &text, err);
    else if (f == PR_TABLE_TEXT)
        rc = r->suite->kind == PR_SUITE_MILABENCH
                 ? pr_milabench_text(r, &text, err)
                 : pr_suite_text(r, &text, err);
    else
        rc = pr_suite_table(r, f, &text, err);
    return rc ? rc : answer_print_buf(&text, err);
}

static int write_suite_html(const struct suite_ask *ask,
                            const struct pr_suite_report *r, struct pr_err *err)
{
    struct pr_html_about about = {.version = PR_VERSION};

    if (folder_has_file(ask->path, "plan.json"))
        about.dir = ask->path;
    return pr_html_suite(r, &about, ask->html, err);
}

static int make_suite_report(struct cli *c, const struct suite_ask *ask,
                             const struct reading *read, struct pr_err *err)
{
    struct pr_suite_report_opts opts = {
        .weights = read->has_weights ? &read->weights : NULL,
        .bases = read->bases,
        .base_names = ask->compare,
        .base_count = read->base_count,
        .price = ask->price,
        .penalise = ask->penalise,
        .compare_devices = ask->compare_gpus,
        .title = ask->title,
    };
    struct pr_suite_report r;
    int rc = pr_suite_score_report(read->suite, &opts, c->arena, &r, err);

    if (!rc && !isnan(ask->price) && !r.scored) {
        rc = pr_fail(err, PR_E_USAGE, "", "--price wants --weights");
        pr_hint(err, "it is divided by the score, which is made of weights");
    }
    if (rc)
        return rc;
    print_suite_warnings(read->suite);
    for (size_t i = 0; i < read->base_count; i++)
        print_suite_warnings(read->bases[i]);
    print_suite_tests(read->suite);
    rc = print_suite_report(ask, &r, err);
    if (!rc && ask->html)
        rc = write_suite_html(ask, &r, err);
    if (rc)
        return rc;
    print_suite_window(read->suite);
    print_suite_scores(&r);
    return check_strict(ask, &r, err);
}

/* Prints the report on stdout and what is to be said of it on stderr.
 * PR_E_THRESHOLD: strict, and a test with a weight has no figure. */
static int suite_report(struct cli *c, const struct suite_ask *ask,
                        struct pr_err *err)
{
    struct reading r = {0};
    int rc = read_report_suites(c, ask, &r, err);

    if (!rc && ask->strict && !ask->weights &&
        r.suite->kind != PR_SUITE_MILABENCH) {
        rc = pr_fail(err, PR_E_USAGE, "", "--strict wants --weights");
        pr_hint(err, "weights say which tests there must be");
    }
    if (!rc)
        rc = make_suite_report(c, ask, &r, err);
    reading_done(&r);
    return rc;
}

int suite_summary(const char *path, const char *file, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT((size_t)1 << 31);
    struct pr_suite *s = NULL;
    int rc = pr_suite_read(path, NULL, &s, err);

    if (rc)
        return rc;
    print_suite_warnings(s);
    print_suite_tests(s);
    pr_suite_summary_json(s, &text);
    pr_suite_free(s);
    if (!pr_buf_ok(&text))
        return pr_fail_nomem(err);
    if (file)
        return pr_file_write(file, text.data, text.len, err);
    pr_buf_char(&text, '\n');
    return answer_print_buf(&text, err);
}

/* ---- the verbs */

/* Options of suites want a suite, whatever the folder looks like. */
static int report_suite(struct cli *c, const char *path, struct pr_err *err)
{
    struct suite_ask ask;
    int rc = suite_ask_read(c, path, &ask, err);

    return rc ? rc : suite_report(c, &ask, err);
}

/* Where the records of ours are: of what dlio_benchmark made, beside DLIO's.
 * NULL: there are none, or out of memory. */
static const char *run_of(struct cli *c, const char *dir)
{
    static const char *const places[] = {"", "/prony"};

    for (size_t i = 0; i < 2; i++) {
        const char *at = pr_arena_printf(c->arena, "%s%s", dir, places[i]);
        const char *plan =
            at ? pr_arena_printf(c->arena, "%s/plan.json", at) : NULL;

        if (plan && access(plan, F_OK) == 0)
            return at;
    }
    return NULL;
}

static int write_run_html(struct cli *c, const char *dir, struct pr_err *err)
{
    struct pr_html_about about = {.version = PR_VERSION};

    about.dir = run_of(c, dir);
    if (!about.dir) {
        pr_fail(err, PR_E_USAGE, "--html", "'%s' is not a run directory", dir);
        return pr_hint(err, "pages are made of run directories, suites and "
                            "summaries");
    }
    return pr_html_run(about.dir, arg_get(c, A_TITLE), &about,
                       arg_get(c, A_HTML), err);
}

int cmd_report(struct cli *c, struct pr_err *err)
{
    const char *format = arg_get(c, A_REPORT_FORMAT);
    int rc;

    if (c->rest_count != 1) {
        pr_fail(err, PR_E_USAGE, "",
                "report wants one run directory, folder of results or summary");
        return pr_hint(err, "'prony run' says where it put its results");
    }
    if (has_suite_options(c) || is_suite_path(c->rest[0]))
        return report_suite(c, c->rest[0], err);
    rc = report_folder(c, c->rest[0], format ? format : "text", err);
    if (!rc && arg_get(c, A_HTML))
        rc = write_run_html(c, c->rest[0], err);
    return rc || !arg_on(c, A_STRICT) ? rc : report_strict(c, c->rest[0], err);
}

int cmd_summary(struct cli *c, struct pr_err *err)
{
    if (c->rest_count != 1) {
        pr_fail(err, PR_E_USAGE, "", "summary wants one folder of results");
        return pr_hint(err, "'prony run PROFILE.json -o DIR' makes one");
    }
    return suite_summary(c->rest[0], arg_get(c, A_SUMMARY_OUT), err);
}
