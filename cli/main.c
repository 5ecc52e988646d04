/* The program: finds the verb, reads its options, runs it, tells the verdict.
 */
#include "base/json/json_write.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/ranks.h"
#include "compat/dlio/dlio.h"
#include "compat/milarun/milarun.h"
#include "job/job.h"
#include "prony_config.h"
#include "run/attempt.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct verb verbs[] = {
    {"demo", ON_DEMO, "", "a tour on this machine in about a minute",
     "Makes a data set, emulates a training that reads it and says whether "
     "this storage is fast enough; finds what holds a training back. Then, in "
     "a line each: a small sweep of a program with this machine's own figures, "
     "a small network that learns to read drawn digits, the score of three "
     "tests of a suite, and report.html. Says where everything is.",
     "  prony demo\n  prony demo -o /tmp/demo\n", cmd_demo},
    {"plan", ON_PLAN, "[TARGET…] [NAME=VALUE…]",
     "show the experiments that run would run, and their cost",
     "A TARGET is a config file or the name of something bundled. Parameters "
     "are set, weakest first, by built-in defaults, targets, --config, the "
     "environment (PRONY_SECTION_NAME), overrides and -P in the order given, "
     "-V, and extensions. --validate tells what the experiments need and this "
     "machine lacks: images, container programs, GPUs, frameworks, models, "
     "launchers, data, room; its status is 0 when nothing is missing.",
     "  prony plan sweep.yaml\n"
     "  prony plan -P exp.command='\"sleep ${t}\"' -V t='[1, 2, 4]'\n"
     "  prony plan sweep.yaml --explain exp.model\n"
     "  prony plan sweep.yaml --validate\n"
     "  prony plan --list\n",
     cmd_plan},
    {"run", ON_RUN, "[TARGET…] [NAME=VALUE…] [-- ARGS…]",
     "run a plan and record every result",
     "Runs the experiments one after another. Where something is missing that "
     "they need, all of that is listed and nothing is started "
     "(--no-validation starts it). Each ends with exactly one "
     "result in the run directory: ok, failed, timeout, oom, interrupted or "
     "skipped. Ctrl-C stops cleanly and says how to go on; twice stops at "
     "once. What stands after -- is appended to each command. A workload of "
     "DLIO's or MLPerf Storage's reads its data set as training would, with "
     "exp.accelerators emulated accelerators.",
     "  prony run sweep.yaml\n"
     "  prony run unet3d_h100 exp.accelerators=8 -d /mnt/data\n"
     "  prony run workload.yaml ++workload.dataset.num_files_train=16\n"
     "  prony run -P exp.command='\"sleep ${t}\"' -V t='[0.1, 0.2]' -o out\n"
     "  prony run --resume out\n"
     "  prony run sweep.yaml --repeat 3 --timeout 10m --retry 1\n"
     "  prony run sweep.yaml --image localhost/prony\n",
     cmd_run},
    {"rerun", ON_RERUN, "RESULT.json [-- ARGS…]",
     "one experiment again, from its result",
     "Runs the experiment of a result once more, in a new run directory: a "
     "result file of a suite (milarun's or ours), with its arguments, devices, "
     "environment and job id; or experiments/ID/result.json of any run, with "
     "its parameters. What stands after -- is appended to the arguments, and "
     "-P changes parameters.",
     "  prony rerun out/standard.vae.J0.0.20261118-010507-618620.json\n"
     "  prony rerun out/standard.vae.J0.0.*.json -- --batch-size 32\n"
     "  prony rerun out/experiments/0001-a571f80d/result.json -P exp.timeout=60"
     "\n",
     cmd_rerun},
    {"generate", ON_GENERATE, "[TARGET…] [NAME=VALUE…]",
     "make the data set of an experiment, and nothing else",
     "Makes the files that dataset.* describes: npz, npy, hdf5, tfrecord, csv, "
     "jpeg, png, indexed_binary, mmap_indexed_binary or synthetic. Contents "
     "are "
     "random but follow from dataset.seed: the same seed gives the same bytes, "
     "whatever the number of threads. A file appears under its name only when "
     "it is whole. A set that is complete is left alone; --resume makes what "
     "is missing of one that was not finished, --force replaces it.",
     "  prony generate dataset.format=npz dataset.data_folder=/tmp/data\n"
     "  prony generate workload.yaml --threads 8\n"
     "  prony generate workload.yaml --resume\n"
     "  prony generate workload.yaml --verify\n",
     cmd_generate},
    {"capacity", ON_CAPACITY, "TARGET… [NAME=VALUE…]",
     "the most accelerators that this storage keeps busy",
     "Finds the largest number of emulated accelerators whose utilisation, as "
     "DLIO computes it, is at or above the threshold. Short trials with few "
     "and many accelerators close in on it; the number found and the next one "
     "are repeated until the answer holds at the confidence asked for. Data "
     "is made as trials need it while the disk has room. The answer comes "
     "with the curve, the knee where waiting begins, what limits beyond it, a "
     "chart and JSON. Ctrl-C stops cleanly and says how to go on.",
     "  prony capacity unet3d_h100 -d /mnt/data\n"
     "  prony capacity unet3d_h100 -d /mnt/data --au 0.95 --max 64\n"
     "  prony capacity workload.yaml reader.read_threads=8 -o out\n"
     "  prony capacity --resume out\n",
     cmd_capacity},
    {"probe", ON_PROBE, "TARGET… [NAME=VALUE…]",
     "what holds a training back: data or computing",
     "Measures how many samples a second the data side delivers alone (IO), "
     "how many computing takes when one batch is used again and again "
     "(SYNTHETIC), and how many both reach together (FULL), each in several "
     "trials after a warm-up, and says which side is the limit, what the other "
     "could reach, and what fixing the slower one would gain. For native "
     "training on data files and for emulated training; every target is an "
     "experiment of a run directory, with probe.svg and a file of benchy's.",
     "  prony probe unet3d_h100 -d /data\n"
     "  prony probe -P exp.framework=native -P exp.model=resnet50 \\\n"
     "      -P exp.data_dir=imagenet -P dataset.format=jpeg\n"
     "  prony probe training.yaml --probe-config benchy.yaml\n"
     "  prony probe training.yaml --batches 20 --trials 5 "
     "storage.throttle=50M\n",
     cmd_probe},
    {"report", ON_REPORT, "DIR|FILE", "the results of a run or a suite",
     "Reads a run directory, also of a run that was stopped or is still going "
     "on, and prints one row for each experiment: what varies, how it ended, "
     "and its figures. Of emulated trainings it tells what they waited for, "
     "epoch by epoch, and gives DLIO's report. DIR may also be the folder of "
     "one experiment, or one of results that DLIO wrote. Of a suite, a folder "
     "of milarun's result files, a summary, or a run of milabench as a folder "
     "or zip, it prints the table and score of that program, beside "
     "baselines if asked to.",
     "  prony report runs/sweep.20261115T221702Z\n"
     "  prony report out/experiments/0001-a571f80d\n"
     "  prony report out --format csv > out.csv\n"
     "  prony report results --weights weights.json --compare v100.json\n",
     cmd_report},
    {"summary", ON_SUMMARY, "DIR", "the results of a suite in one JSON",
     "Reads every result file below DIR and prints, for each test, how many "
     "runs there were and failed, and the rates and times of the others: what "
     "milarun's summary prints, and what reports take as a baseline. A file "
     "that cannot be read is named on stderr and left out.",
     "  prony summary results -o v100.json\n"
     "  prony report results2 --compare v100.json\n",
     cmd_summary},
    {"parse", ON_PARSE, "LOG|DIR…", "numbers out of logs",
     "Reads results wherever they lie and writes them as one list, "
     "{\"data\": […]}: logs with DLBS's __name__= JSON lines, lists that were "
     "parsed before, run directories, results of DLIO, milarun and milabench, "
     "logs of Lambda's tasks; plain, gzipped, or in a tar archive. One bad "
     "line never loses a file. Without an output file it prints a summary, "
     "with --report tables.",
     "  prony parse logs --recursive --output-file results.json\n"
     "  prony parse logs -o small.json.gz --output-params exp.id,results.time\n"
     "  prony parse logs --report regular\n"
     "  prony parse runs/sweep --query '{\"exp.status\": \"ok\"}'\n",
     cmd_parse},
    {"scaling", ON_SCALING, "[FILE|DIR…]",
     "how time changes with devices and batches",
     "DLBS's reports out of parsed results, logs or run directories. Weak "
     "scaling: the batch of a device stays the same; strong scaling: the batch "
     "of all of them does; exploration: times by device and batch. Devices are "
     "GPUs, or replicas where processors computed. Repeats of an experiment "
     "become a mean with a 95 % confidence interval.",
     "  prony scaling results.json --type weak-scaling\n"
     "  prony scaling runs/sweep --type exploration --report-file out.json\n"
     "  prony scaling --summary-file a.json --query '{\"exp.model\": "
     "\"vgg\"}'\n",
     cmd_scaling},
    {"compare", ON_COMPARE, "A B…", "faster, slower, or the same?",
     "Compares the first of two or more runs with each other one, test by "
     "test and over all: the ratio, an interval that holds the true one, and "
     "a word. Chance is kept out of the words: of a hundred comparisons of a "
     "thing with itself at least 95 have no 'faster' or 'slower' at all. What "
     "the runs cannot tell is 'unclear'. Repeats are what is "
     "counted; notes tell of outliers, slow first runs and drift, and what to "
     "do about them. A, B may be run directories, suites, summaries, and "
     "whatever else 'prony parse' reads.",
     "  prony compare runs/before runs/after\n"
     "  prony compare before.json after.json --fail-if slower:5%,failed\n"
     "  prony compare old new --measure 'time_p*' --format md\n",
     cmd_compare},
    {"plot", ON_PLOT, "FILE|DIR…", "series of figures, and charts of them",
     "Takes results wherever 'prony parse' finds them, sorts them into series "
     "and prints these as JSON, as DLBS's series_builder does. --chart-file "
     "draws them: lines, bars, points or boxes, with error bars where an "
     "experiment was repeated. Of a run directory it shows rates that programs "
     "told and what the monitor saw, over time. An .svg needs nothing; .png "
     "and .pdf need cairo and pango.",
     "  prony plot results.json --xparam exp.num_gpus --yparam results.time\n"
     "  prony plot results.json --xparam exp.num_gpus --yparam results.time "
     "\\\n"
     "    --series '[{\"exp.model\": \"vgg16\"}, {\"exp.model\": \"bert\"}]' "
     "\\\n"
     "    --baseline-xvalue 1 --chart-file speedup.png\n"
     "  prony plot logs -r --xparam exp.gpus --yparam results.time --series "
     "\\\n"
     "    exp.model --chart-type bar --chart-file time.svg\n"
     "  prony plot runs/sweep --chart-type monitor --yparam cpu \\\n"
     "    --chart-file cpu.pdf\n",
     cmd_plot},
    {"gather", ON_GATHER, "DIR", "tables of GPU systems and their tasks",
     "Reads results in the layout of Lambda's benchmarks, "
     "DIR/SYSTEM/TASK/DATE.txt, and prints the table that its scripts make of "
     "them, byte for byte. --format text prints what that table leaves out: "
     "how many runs count, their mean and spread, what failed and why, figures "
     "that reckon with steps never done, figures that cannot be, and what a "
     "dollar and a watt buy. Systems and rules are files that can be "
     "extended.",
     "  prony gather results --precision fp32 --dialect v1 > fp32.csv\n"
     "  prony gather results --precision fp16 --metric bs\n"
     "  prony gather results --format text --systems mine.yaml\n"
     "  prony gather results --system 8xH100_80GB_SXM5_v1 --format json\n",
     cmd_gather},
    {"model", ON_MODEL, "[NAME|FILE…]",
     "the networks there are, and their layers",
     "Without a name: the networks that come with Prony, with their inputs, "
     "parameters and operations. With one: its layers as they are computed, "
     "blocks and repetitions written out, with shapes, parameters and FLOPs "
     "(forward of one sample, two for each multiply-add of convolutions and "
     "linear layers), and what was published about it. A FILE is a definition "
     "of one's own, NAME.yaml; what is wrong with it is said by line. "
     "--format json is what frameworks build the network from.",
     "  prony model\n"
     "  prony model resnet50\n"
     "  prony model resnet50 --input 3,64,64 --classes 10\n"
     "  prony model ./mine.yaml --format json\n",
     cmd_model},
    {"help", ON_HELP, "[VERB|NAME…]", "parameters, verbs and what they mean",
     "With the name of a verb or of a parameter: its page. With --params and "
     "--text: the parameters that match.",
     "  prony help run\n  prony help exp.timeout\n"
     "  prony help --params '^exp' --text batch\n",
     cmd_help},
    {"doctor", ON_DOCTOR, "", "what this machine and this build have and lack",
     "Checks the build, the machine and the cost of the harness itself, and "
     "names a remedy for whatever is missing.",
     "  prony doctor\n  prony doctor --format json\n"
     "  prony doctor --sys-info\n",
     cmd_doctor},
};

/* Names from other programs. */
static const char *const old_names[][2] = {
    {"jobs", "run"},      {"build", "plan"},        {"print-config", "plan"},
    {"validate", "plan"}, {"analyze-plan", "plan"}, {"sysinfo", "doctor"},
};

const struct verb *verb_at(size_t i)
{
    return i < sizeof verbs / sizeof *verbs ? &verbs[i] : NULL;
}

const struct verb *verb_find(const char *name)
{
    const struct verb *v;

    for (size_t i = 0; i < sizeof old_names / sizeof *old_names; i++)
        if (strcmp(name, old_names[i][0]) == 0)
            name = old_names[i][1];
    for (size_t i = 0; (v = verb_at(i)); i++)
        if (strcmp(name, v->name) == 0)
            return v;
    return NULL;
}

static int unknown_verb(const char *name, struct pr_err *err)
{
    struct pr_nearest near;

    pr_fail(err, PR_E_USAGE, "", "unknown command '%s'", name);
    pr_nearest_init(&near, name);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        pr_nearest_offer(&near, verbs[i].name);
    return near.best ? pr_hint(err, "did you mean '%s'?", near.best)
                     : pr_hint(err, "'prony help' lists the commands");
}

static void read_message_level(const struct cli *c)
{
    static const char *const names[] = {"critical", "error", "warning", "info",
                                        "debug"};
    const char *level = arg_get(c, A_LOG_LEVEL);

    if (arg_on(c, A_QUIET))
        message_set_level(SAY_ERROR);
    if (arg_on(c, A_VERBOSE))
        message_set_level(SAY_DEBUG);
    for (int i = 0; level && i <= SAY_DEBUG; i++)
        if (strcasecmp(level, names[i]) == 0)
            message_set_level((enum level)i);
}

static int print_verb_help(const struct verb *v, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);

    if (v)
        help_verb(v, &text);
    else
        help_overview(&text);
    return answer_print_buf(&text, err);
}

/* DLBS's words for forms of `plan` and `doctor` become their options. */
static int add_old_name(struct cli *c, const char *name, struct pr_err *err)
{
    static char json[] = "--format=json", config[] = "--print-config",
                validate[] = "--validate", sys_info[] = "--sys-info";
    char *extra =
        strcmp(name, "build") == 0          ? json
        : strcmp(name, "print-config") == 0 ? config
        : strcmp(name, "sysinfo") == 0      ? sys_info
        : strcmp(name, "validate") == 0 || strcmp(name, "analyze-plan") == 0
            ? validate
            : NULL;

    return extra ? args_read(c, 1, &extra, err) : PR_OK;
}

static bool has_json_format(const struct cli *c)
{
    for (size_t i = 0; i < c->arg_count; i++) {
        enum arg_id id = c->args[i].id;
        if (id != A_COUNT && strcmp(option_at(id)->name, "format") == 0 &&
            strcmp(c->args[i].value, "json") == 0)
            return true;
    }
    return false;
}

/* Who asked for JSON gets a document also when there is nothing to show. */
static void answer_error(const struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, &text, 2);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "schema", "prony.error/1");
    pr_json_put_str(&jb, "error", err->msg);
    pr_json_put_str(&jb, "where", err->where);
    pr_json_put_str(&jb, "hint", err->hint);
    pr_json_put_int(&jb, "exit_status", pr_code_exit_status(err->code));
    pr_json_close(&jb);
    pr_buf_char(&text, '\n');
    (void)!answer_print_buf(&text, NULL);
}

/* The signal that ended a run, for the exit status a shell expects. */
static int stopped_by;

/* Of what writes or measures there must be one. */
static int be_alone(const struct verb *v, struct pr_err *err)
{
    struct ranks ranks;

    if (!(v->bit & (ON_RUNS | ON_RERUN | ON_GENERATE | ON_CAPACITY | ON_DEMO)))
        return PR_OK;
    ranks_read(&ranks);
    return ranks_refuse(&ranks, err);
}

static int run_verb_args(const struct verb *v, const char *name, int argc,
                         char **argv, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(8192);
    struct cli c = {.verb = v, .arena = a};
    int rc;

    if (!a)
        return pr_fail_nomem(err);
    rc = add_old_name(&c, name, err);
    if (!rc)
        rc = args_read(&c, argc, argv, err);
    if (rc)
        return rc;
    read_message_level(&c);
    if (arg_on(&c, A_HELP))
        return print_verb_help(v, err);
    if (!*v->takes && c.rest_count)
        rc = pr_fail(err, PR_E_USAGE, "", "%s takes no '%s'", v->name,
                     c.rest[0]);
    else
        rc = be_alone(v, err);
    if (!rc)
        rc = v->run(&c, err);
    stopped_by = c.signo;
    if (rc && !has_answered() && has_json_format(&c))
        answer_error(err);
    return rc;
}

static int print_prony_version(struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(256);

    pr_buf_printf(&text, "prony %s (%s)\n", PR_VERSION, PR_GIT_REV);
    return answer_print_buf(&text, err);
}

/* `prony -q plan …` is `prony plan -q …`: the verb is moved to the front. */
static void verb_first(int argc, char **argv)
{
    static const char *const valued[] = {"--log-level", "--color",
                                         "--progress"};
    int i = 1;

    for (; i < argc && argv[i][0] == '-'; i++)
        for (size_t k = 0; k < sizeof valued / sizeof *valued; k++)
            if (strcmp(argv[i], valued[k]) == 0 && i + 1 < argc) {
                i++;
                break;
            }
    if (i == 1 || i == argc)
        return;
    char *verb = argv[i];
    memmove(argv + 2, argv + 1, (size_t)(i - 1) * sizeof *argv);
    argv[1] = verb;
}

static int dispatch_command(int argc, char **argv, struct pr_err *err)
{
    const struct verb *v;

    if (argc < 2 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0)
        return print_verb_help(NULL, err);
    if (strcmp(argv[1], "--version") == 0)
        return print_prony_version(err);
    if (is_hidden_verb(argv[1]))
        return hidden_verb(argv[1], argc - 2, argv + 2, err);
    verb_first(argc, argv);
    v = verb_find(argv[1]);
    return v ? run_verb_args(v, argv[1], argc - 2, argv + 2, err)
             : unknown_verb(argv[1], err);
}

int cli_main(int argc, char **argv)
{
    struct pr_err err = {0};
    int rc = dispatch_command(argc, argv, &err);

    /* A reader that has seen enough ("| head") is no failure of ours. */
    if (rc == PR_E_IO && err.sys_errno == EPIPE && !strcmp(err.where, "stdout"))
        return 0;
    if (rc)
        message_print_error(&err);
    return stopped_by ? 128 + stopped_by : pr_code_exit_status(rc);
}

int main(int argc, char **argv)
{
    int status;

    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error return */
    signal(SIGXFSZ, SIG_IGN); /* and so is a file beyond ulimit -f */
    if (dlio_called(argc, argv, &status) || milarun_called(argc, argv, &status))
        return status;
    /* One of the processes that mpirun starts for an experiment. */
    if (argc == 3 && strcmp(argv[1], PR_MPI_VERB) == 0)
        return pr_experiment_body(NULL, argv[2]);
    return cli_main(argc, argv);
}
