/* `prony demo`: whether storage keeps up with a training and what holds that
 * back; then a line each of what else there is, and a page. All of it fits on
 * two screens: what the verbs answer is kept, and shown when one fails. */
#include "base/clock.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/help_json.h"
#include "present/html/html.h"
#include "present/report/report_run.h"
#include "prony_config.h"
#include "workload/workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct demo {
    struct cli *c;
    const char *dir;
    struct pr_buf out;  /* what is to be told next */
    struct pr_buf said; /* what the last verb answered */
};

static int demo_flush(struct demo *d, struct pr_err *err)
{
    int rc = answer_print_buf(&d->out, err);

    pr_buf_clear(&d->out);
    return rc;
}

static const char *demo_path(struct demo *d, const char *name)
{
    return pr_arena_printf(d->c->arena, "%s/%s", d->dir, name);
}

/* A path as it is typed: in quotes if the shell would split or change it. */
static void put_path(struct pr_buf *out, const char *path)
{
    bool plain = !path[strcspn(path, " \t\n'\"\\$&|;<>()*?[]#`!~{}")];

    pr_buf_str(out, plain ? "" : "'");
    for (; *path; path++)
        if (*path == '\'')
            pr_buf_str(out, "'\\''");
        else
            pr_buf_char(out, *path);
    pr_buf_str(out, plain ? "" : "'");
}

/* ---- verbs */

/* Without its answer, unless it fails, and without what it says on the way. */
static int run_quietly(struct demo *d, struct cli *c, struct pr_err *err)
{
    enum level before = message_level();
    int rc;

    pr_buf_clear(&d->said);
    answer_print_into(&d->said);
    if (before == SAY_INFO)
        message_set_level(SAY_ERROR);
    rc = c->verb->run(c, err);
    message_set_level(before);
    answer_print_into(NULL);
    if (rc)
        message_print_text(SAY_ERROR, d->said.data ? d->said.data : "");
    return rc;
}

/* Another verb, with our options and some more, as if it had been typed. */
static int demo_run_verb(struct demo *d, const char *verb, const char **words,
                         size_t count, const struct arg *more,
                         size_t more_count, struct pr_err *err)
{
    struct cli *c = d->c, other = *c;
    struct arg *args = PR_ARENA_ARRAY(c->arena, struct arg,
                                      c->arg_count + count + more_count + 1);
    size_t n = c->arg_count;
    int rc;

    for (size_t i = 0; i < more_count; i++)
        if (!more[i].value)
            return pr_fail_nomem(err);
    if (!args)
        return pr_fail_nomem(err);
    if (n)
        memcpy(args, c->args, n * sizeof *args);
    for (size_t i = 0; i < count; i++)
        args[n++] = (struct arg){.id = A_COUNT, .value = words[i]};
    memcpy(args + n, more, more_count * sizeof *args);
    n += more_count;
    if (!arg_get(c, A_PROGRESS) && message_level() >= SAY_INFO)
        args[n++] =
            (struct arg){.id = A_PROGRESS,
                         .value = isatty(STDERR_FILENO) ? "auto" : "never"};
    other.verb = verb_find(verb);
    other.rest = words;
    other.rest_count = count;
    other.args = args;
    other.arg_count = n;
    rc = run_quietly(d, &other, err);
    c->signo = other.signo;
    return rc;
}

/* ---- what a run found */

struct found {
    struct pr_buf *out; /* gets the verdict of the first */
    const char *figure; /* of results.json */
    double least, most; /* of all experiments */
    unsigned count;
};

static int demo_read_results(void *ctx, const char *id,
                             const struct pr_value *results, struct pr_err *err)
{
    struct found *f = ctx;
    const char *verdict = pr_run_result_verdict(results);
    const struct pr_value *v = results ? pr_get(results, f->figure) : NULL;

    (void)id;
    (void)err;
    if (verdict && f->out) {
        text_blanks(f->out, 3);
        text_wrap(f->out, verdict, 3, 3);
        pr_buf_char(f->out, '\n');
        f->out = NULL;
    }
    if (v) {
        f->least = fmin(f->least, pr_value_number(v));
        f->most = fmax(f->most, pr_value_number(v));
    }
    f->count++;
    return PR_OK;
}

static int demo_find_results(const char *dir, const char *figure,
                             struct pr_buf *out, struct found *ret,
                             struct pr_err *err)
{
    *ret =
        (struct found){.out = out, .figure = figure, .least = NAN, .most = NAN};
    return dir ? pr_run_each_result(dir, demo_read_results, ret, err)
               : pr_fail_nomem(err);
}

/* ---- the main job */

/* What is made, trained with, and probed. */
#define DATA_SET                                        \
    "dataset.format=npz", "dataset.num_files_train=64", \
        "dataset.record_length_bytes=2M", "dataset.data_folder=data"

/* A data set in the run's folder, every byte of it checked. */
static int demo_data(struct demo *d, struct pr_err *err)
{
    const char *words[] = {DATA_SET};
    const struct arg more[] = {{.id = A_VERIFY, .value = ""},
                               {.id = A_GENERATE_DATA, .value = d->dir}};

    return demo_run_verb(d, "generate", words, sizeof words / sizeof *words,
                         more, 2, err);
}

/* Tells what a run in the folder name found, and how to ask it of a real
 * model. */
static int demo_print_verdict(struct demo *d, const char *name,
                              const char *real, struct pr_err *err)
{
    const char *dir = demo_path(d, name);
    struct found f;
    int rc = demo_find_results(dir, "", &d->out, &f, err);

    if (rc)
        return rc;
    pr_buf_printf(&d->out,
                  "   of a real model:  prony %s -d DIR\n"
                  "   more of this:     prony report ",
                  real);
    put_path(&d->out, dir);
    pr_buf_str(&d->out, "\n\n");
    return demo_flush(d, err);
}

/* Training with four accelerators that would read it. */
static int demo_training(struct demo *d, struct pr_err *err)
{
    const char *words[] = {"exp.workload=emulate",
                           DATA_SET,
                           "reader.data_loader=pytorch",
                           "reader.batch_size=1",
                           "reader.read_threads=2",
                           "reader.sample_shuffle=seed",
                           "train.epochs=2",
                           "train.computation_time=0.06",
                           "exp.accelerators=4",
                           "emulate.drop_cache=epoch"};
    const struct arg more[] = {
        {.id = A_DATA, .value = d->dir},
        {.id = A_DIR, .value = demo_path(d, "training")}};
    int rc;

    pr_buf_str(&d->out,
               "1. Is my storage fast enough?\n"
               "   Four accelerators, 60 ms a step, train on 64 npz files of "
               "2 MB from the disk:\n\n");
    rc = demo_flush(d, err);
    if (!rc)
        rc = demo_data(d, err);
    if (!rc)
        rc = demo_run_verb(d, "run", words, sizeof words / sizeof *words, more,
                           2, err);
    return rc ? rc
              : demo_print_verdict(d, "training",
                                   "run unet3d_h100 exp.accelerators=4", err);
}

/* What holds that training back: its reading, or its computing? */
static int demo_probe(struct demo *d, struct pr_err *err)
{
    const char *words[] = {"exp.workload=emulate", DATA_SET,
                           "reader.batch_size=2", "reader.read_threads=2",
                           "train.computation_time=0.02"};
    const struct arg more[] = {{.id = A_DATA, .value = d->dir},
                               {.id = A_DIR, .value = demo_path(d, "probe")},
                               {.id = A_PROBE_BATCHES, .value = "16"},
                               {.id = A_PROBE_TRIALS, .value = "2"}};
    int rc;

    pr_buf_str(&d->out,
               "2. What holds my training back?\n"
               "   One accelerator, 20 ms a step, on the same files: data "
               "alone, computing alone, both:\n\n");
    rc = demo_flush(d, err);
    if (!rc)
        rc = demo_run_verb(d, "probe", words, sizeof words / sizeof *words,
                           more, 4, err);
    return rc ? rc : demo_print_verdict(d, "probe", "probe unet3d_h100", err);
}

/* ---- what else there is, a line each */

static int demo_print_stop(struct demo *d, const char *name, const char *text,
                           const char *more, const char *dir,
                           struct pr_err *err)
{
    if (!dir)
        return pr_fail_nomem(err);
    pr_buf_printf(&d->out, "   %-8s  %-35s  %s", name, text, more);
    put_path(&d->out, dir);
    pr_buf_char(&d->out, '\n');
    return demo_flush(d, err);
}

/* A network that learns to read, here and now. */
static int demo_learning(struct demo *d, struct pr_err *err)
{
    const char *words[] = {"exp.framework=native",    "exp.model=lenet",
                           "nn.data=digits",          "nn.evaluate=1000",
                           "exp.replica_batch=32",    "exp.num_batches=60",
                           "exp.num_warmup_batches=1"};
    const char *out = demo_path(d, "digits");
    const struct arg more[] = {{.id = A_DIR, .value = out}};
    struct found f;
    char text[64];
    int rc = demo_run_verb(d, "run", words, sizeof words / sizeof *words, more,
                           1, err);

    if (!rc)
        rc = demo_find_results(out, "accuracy", NULL, &f, err);
    if (rc)
        return rc;
    snprintf(text, sizeof text, "LeNet reads %.1f %% of drawn digits",
             f.most * 100);
    return demo_print_stop(d, "training", text, "prony report ", out, err);
}

/* Three tests of the short suite, their score, and a page of them. */
static int demo_score(struct demo *d, struct pr_err *err)
{
    const char *suite = "quick", *out = demo_path(d, "suite"), *score;
    const struct arg run[] = {{.id = A_NAME, .value = "toy_reg,vae,recom"},
                              {.id = A_DIR, .value = out}};
    const struct arg report[] = {
        {.id = A_WEIGHTS,
         .value = "{\"quick.toy_reg\": {\"weight\": 4}, \"quick.vae\": "
                  "{\"weight\": 8}, \"quick.recom\": {\"weight\": 8}}"},
        {.id = A_TITLE, .value = "A part of the short suite"},
        {.id = A_HTML, .value = demo_path(d, "report.html")}};
    char text[64];
    int rc = demo_run_verb(d, "run", &suite, 1, run, 2, err);

    if (!rc)
        rc = demo_run_verb(d, "report", &out, 1, report, 3, err);
    if (rc)
        return rc;
    pr_buf_char(&d->said, '\0');
    score = pr_buf_ok(&d->said) ? strstr(d->said.data, "Score:") : NULL;
    snprintf(text, sizeof text, "%.0f points in 3 tests of a suite",
             score ? strtod(score + 6, NULL) : NAN);
    return demo_print_stop(d, "score", text, "prony run quick", "", err);
}

/* Without the engine there is no suite: the sweep is the page. */
static int demo_page(struct demo *d, const struct pr_err *why,
                     struct pr_err *err)
{
    const char *page = demo_path(d, "report.html"),
               *dir = demo_path(d, "sweep");
    struct pr_html_about about = {.version = PR_VERSION, .dir = dir};

    pr_buf_printf(&d->out, "   training  left out: %s\n             %s\n",
                  why->msg, why->hint);
    return page && dir
               ? pr_html_run(dir, "The demo of Prony", &about, page, err)
               : pr_fail_nomem(err);
}

static int demo_sweep(struct demo *d, struct pr_err *err)
{
    const char *target = "demo", *dir = demo_path(d, "sweep");
    const struct arg out = {.id = A_DIR, .value = dir};
    struct found f;
    char text[64];
    int rc = demo_run_verb(d, "run", &target, 1, &out, 1, err);

    if (!rc)
        rc = demo_find_results(dir, "throughput_mb_per_s", NULL, &f, err);
    if (rc)
        return rc;
    snprintf(text, sizeof text, "%u experiments, %.0f to %.0f MB/s", f.count,
             f.least, f.most);
    return demo_print_stop(d, "sweep", text, "prony report ", dir, err);
}

static int demo_more(struct demo *d, struct pr_err *err)
{
    struct pr_err why = {0};
    char version[32];
    int rc;

    pr_buf_str(&d->out, "3. And more, with the command to see it\n");
    rc = demo_sweep(d, err);
    if (rc)
        return rc;
    if (!pr_engine_is_there(version, &why))
        rc = demo_page(d, &why, err);
    else if (!(rc = demo_learning(d, err)))
        rc = demo_score(d, err);
    if (!rc)
        rc = demo_print_stop(d, "page", "for a browser", "",
                             demo_path(d, "report.html"), err);
    return rc ? rc
              : demo_print_stop(d, "capacity",
                                "how many accelerators it can feed",
                                "prony capacity unet3d_h100 -d DIR", "", err);
}

/* ---- the end */

/* Where the program is, and how it gets on the PATH if it is not. */
static int demo_print_where(struct demo *d, struct pr_err *err)
{
    char exe[PATH_MAX], known[PATH_MAX];
    struct stat a, b;
    bool on_path;

    if (!realpath("/proc/self/exe", exe))
        return pr_fail_errno(err, PR_E_IO, "/proc/self/exe", "cannot read");
    on_path = pr_which("prony", known) && stat(known, &a) == 0 &&
              stat(exe, &b) == 0 && a.st_dev == b.st_dev &&
              a.st_ino == b.st_ino;
    pr_buf_printf(&d->out, "\nprony is %s%s\n", exe,
                  on_path ? ", on the PATH" : "");
    if (!on_path)
        pr_buf_str(&d->out, "To have it on the PATH: make install "
                            "PREFIX=~/.local (or as root: make install)\n");
    pr_buf_str(&d->out, "All commands: prony help\n");
    return demo_flush(d, err);
}

int cmd_demo(struct cli *c, struct pr_err *err)
{
    struct demo d = {.c = c,
                     .dir = arg_get(c, A_DEMO_DIR),
                     .out = PR_BUF_INIT(1 << 20),
                     .said = PR_BUF_INIT(1 << 24)};
    char time[32];
    int rc;

    if (!d.dir)
        d.dir = pr_arena_printf(c->arena, "runs/demo.%s",
                                pr_time_name(time, pr_wall_clock_ns()));
    if (!d.dir)
        return pr_fail_nomem(err);
    /* On a busy machine threads that spin while they wait make a training of
     * seconds one of minutes. */
    (void)setenv("OMP_WAIT_POLICY", "passive", 0);
    rc = demo_training(&d, err);
    if (!rc)
        rc = demo_probe(&d, err);
    if (!rc)
        rc = demo_more(&d, err);
    if (!rc)
        rc = demo_print_where(&d, err);
    pr_buf_free(&d.out);
    pr_buf_free(&d.said);
    return rc;
}
