/* `prony demo`: a sweep, a data set, a training that would read it and its
 * bottleneck, one that really learns, a score, and a page. */
#include "base/clock.h"
#include "cli/cli.h"
#include "present/html.h"
#include "prony_config.h"
#include "workload/engine.h"

#include <string.h>

/* Another verb, with our options and some more, as if it had been typed. */
static int run_verb(struct cli *c, const char *verb, const char **words,
                    size_t count, const struct arg *more, size_t more_count,
                    struct pr_err *err)
{
    struct cli other = *c;
    struct arg *args =
        PR_ARENA_ARRAY(c->arena, struct arg, c->arg_count + count + more_count);
    size_t n = c->arg_count;
    int rc;

    if (!args)
        return pr_fail_nomem(err);
    if (n)
        memcpy(args, c->args, n * sizeof *args);
    for (size_t i = 0; i < count; i++)
        args[n++] = (struct arg){.id = A_COUNT, .value = words[i]};
    memcpy(args + n, more, more_count * sizeof *args);
    other.verb = verb_find(verb);
    other.rest = words;
    other.rest_count = count;
    other.args = args;
    other.arg_count = n + more_count;
    rc = other.verb->run(&other, err);
    c->signo = other.signo;
    return rc;
}

/* What is made, trained with, and probed. */
#define DATA_SET                                        \
    "dataset.format=npz", "dataset.num_files_train=64", \
        "dataset.record_length_bytes=2M", "dataset.data_folder=data"

/* A data set in the run's folder, every byte of it checked. */
static int demo_data(struct cli *c, const char *dir, struct pr_err *err)
{
    const char *words[] = {DATA_SET};
    const struct arg more[] = {{.id = A_VERIFY, .value = ""},
                               {.id = A_GENERATE_DATA, .value = dir}};

    say(SAY_INFO,
        "\nA data set: 64 npz files of 2 MB, made and read back. The same "
        "as:\n  prony generate %s %s \\\n    %s %s -d %s --verify\n\n",
        words[0], words[1], words[2], words[3], dir);
    return run_verb(c, "generate", words, sizeof words / sizeof *words, more, 2,
                    err);
}

/* Training with four accelerators that would read it. */
static int demo_training(struct cli *c, const char *dir, struct pr_err *err)
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
    const char *out = pr_arena_printf(c->arena, "%s/training", dir);
    const struct arg more[] = {{.id = A_DATA, .value = dir},
                               {.id = A_DIR, .value = out}};

    if (!out)
        return pr_fail_nomem(err);
    say(SAY_INFO,
        "\nTraining: four accelerators that would read this data set, from "
        "the disk.\nOf a real model it would be:\n  prony run unet3d_h100 "
        "exp.accelerators=4 -d DIR\n\n");
    return run_verb(c, "run", words, sizeof words / sizeof *words, more, 2,
                    err);
}

/* A network that learns to read, here and now. */
static int demo_learning(struct cli *c, const char *dir, bool *ret_learned,
                         struct pr_err *err)
{
    const char *words[] = {"exp.framework=native",    "exp.model=lenet",
                           "nn.data=digits",          "nn.evaluate=1000",
                           "exp.replica_batch=32",    "exp.num_batches=60",
                           "exp.num_warmup_batches=1"};
    const char *out = pr_arena_printf(c->arena, "%s/digits", dir);
    const struct arg more[] = {{.id = A_DIR, .value = out}};
    struct pr_err why = {0};
    char version[32];

    if (!out)
        return pr_fail_nomem(err);
    *ret_learned = pr_engine_is_there(version, &why);
    if (!*ret_learned) {
        say(SAY_INFO, "\nA network that learns is left out: %s\n%s%s%s",
            why.msg, *why.hint ? "  " : "", why.hint, *why.hint ? "\n" : "");
        return PR_OK;
    }
    say(SAY_INFO,
        "\nLearning: LeNet learns to read drawn digits, by oneDNN %s. The "
        "same as:\n  prony run %s %s %s \\\n    %s %s %s -o %s\n\n",
        version, words[0], words[1], words[2], words[3], words[4], words[5],
        out);
    return run_verb(c, "run", words, sizeof words / sizeof *words, more, 1,
                    err);
}

/* What holds that training back: its reading, or its computing? */
static int demo_probe(struct cli *c, const char *dir, struct pr_err *err)
{
    const char *words[] = {"exp.workload=emulate", DATA_SET,
                           "reader.batch_size=2", "reader.read_threads=2",
                           "train.computation_time=0.02"};
    const char *out = pr_arena_printf(c->arena, "%s/probe", dir);
    const struct arg more[] = {{.id = A_DATA, .value = dir},
                               {.id = A_DIR, .value = out},
                               {.id = A_PROBE_BATCHES, .value = "16"},
                               {.id = A_PROBE_TRIALS, .value = "2"}};

    if (!out)
        return pr_fail_nomem(err);
    say(SAY_INFO,
        "\nThe bottleneck: the same data for an accelerator that takes 20 ms "
        "a batch;\nreading alone, computing alone, both together. Of a real "
        "model it would be:\n  prony probe unet3d_h100 -d DIR\n\n");
    return run_verb(c, "probe", words, sizeof words / sizeof *words, more, 4,
                    err);
}

/* Three tests of the short suite, their score, and a page of them. */
static int demo_score(struct cli *c, const char *dir, const char **ret_page,
                      struct pr_err *err)
{
    const char *suite = "quick";
    const char *out = pr_arena_printf(c->arena, "%s/suite", dir);
    const char *page = pr_arena_printf(c->arena, "%s/report.html", dir);
    const struct arg run[] = {{.id = A_NAME, .value = "toy_reg,vae,recom"},
                              {.id = A_DIR, .value = out}};
    const struct arg report[] = {
        {.id = A_WEIGHTS,
         .value = "{\"quick.toy_reg\": {\"weight\": 4}, \"quick.vae\": "
                  "{\"weight\": 8}, \"quick.recom\": {\"weight\": 8}}"},
        {.id = A_TITLE, .value = "A part of the short suite"},
        {.id = A_HTML, .value = page}};
    int rc;

    if (!out || !page)
        return pr_fail_nomem(err);
    say(SAY_INFO,
        "\nA score: three tests of the short suite. All of it, in a minute:\n"
        "  prony run quick -o out\n  prony report out --weights quick\n\n");
    rc = run_verb(c, "run", &suite, 1, run, 2, err);
    if (!rc)
        rc = run_verb(c, "report", &out, 1, report, 3, err);
    *ret_page = page;
    return rc;
}

/* Without the engine there is no suite: the sweep is the page. */
static int demo_page(struct cli *c, const char *dir, const char **ret_page,
                     struct pr_err *err)
{
    struct pr_html_about about = {.version = PR_VERSION, .dir = dir};

    *ret_page = pr_arena_printf(c->arena, "%s/report.html", dir);
    return *ret_page
               ? pr_html_run(dir, "The demo of Prony", &about, *ret_page, err)
               : pr_fail_nomem(err);
}

static int demo_sweep(struct cli *c, const char *dir, struct pr_err *err)
{
    const char *target = "demo";
    const struct arg out = {.id = A_DIR, .value = dir};

    say(SAY_INFO,
        "A sweep: three checksum programs, three sizes, nine "
        "experiments. The same as:\n  prony run demo -o %s\n\n",
        dir);
    return run_verb(c, "run", &target, 1, &out, 1, err);
}

static void say_next(const char *dir, const char *page, bool learned)
{
    say(SAY_INFO,
        "\nA page of it, for a browser: %s\n\n"
        "What next:\n"
        "  prony plan demo                      what was run\n"
        "  prony report %s --format csv\n"
        "  prony report %s/training             what the training waited for\n"
        "%s%s%s"
        "  prony run -P exp.command='\"sleep ${t}\"' -V t='[0.1, "
        "0.2]'\n"
        "  prony help                           all commands\n",
        page, dir, dir, learned ? "  prony report " : "", learned ? dir : "",
        learned ? "/digits               how the loss fell\n" : "");
}

int cmd_demo(struct cli *c, struct pr_err *err)
{
    const char *dir = arg_get(c, A_DEMO_DIR), *page = NULL;
    bool learned = false;
    char time[32];
    int rc;

    if (!dir)
        dir = pr_arena_printf(c->arena, "runs/demo.%s",
                              pr_time_name(time, pr_wall_clock_ns()));
    if (!dir)
        return pr_fail_nomem(err);
    rc = demo_sweep(c, dir, err);
    if (!rc)
        rc = demo_data(c, dir, err);
    if (!rc)
        rc = demo_training(c, dir, err);
    if (!rc)
        rc = demo_probe(c, dir, err);
    if (!rc)
        rc = demo_learning(c, dir, &learned, err);
    if (!rc)
        rc = learned ? demo_score(c, dir, &page, err)
                     : demo_page(c, dir, &page, err);
    if (!rc)
        say_next(dir, page, learned);
    return rc;
}
