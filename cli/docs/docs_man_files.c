/* prony-config.5 and prony-run-directory.5: the files people read and write. */
#include "cli/docs/docs_man.h"
#include "cli/docs/docs_roff.h"
#include "record/event.h"

static const char config[] =
    "# DESCRIPTION\n"
    "A config says what is to be run. Prony tells from the content of a file "
    "what it is, never from its name. Any number of them may be given as "
    "targets of `prony plan` and `prony run`: their experiments follow one "
    "another. A file given with `--config` is laid over all of them, later "
    "ones over earlier ones.\n"
    "# PRONY'S OWN: PARAMETERS\n"
    "YAML or JSON, parameters flat or nested:\n"
    "    exp.command: [sleep, \"0.1\"]\n"
    "    exp:\n"
    "      timeout: 2m\n"
    "      model: resnet50\n"
    "    my.note: a name in a section of your own\n"
    "\n"
    "Sections that Prony knows (`prony-options`(7)) take only names that are "
    "listed there; all others are yours.\n"
    "# PRONY'S OWN: EXPERIMENTS\n"
    "Groups of experiments, each with its own parameters, variables and "
    "extensions; what stands beside `experiments` is shared by all groups:\n"
    "    parameters:\n"
    "      exp.command: train --batch ${exp.replica_batch}\n"
    "    experiments:\n"
    "      - name: small\n"
    "        variables: {exp.replica_batch: [16, 32]}\n"
    "      - name: large\n"
    "        parameters: {exp.timeout: 1h}\n"
    "        variables: {exp.replica_batch: [256, 512]}\n"
    "= `parameters`\n"
    "Names and values; a map inside nests names.\n"
    "= `variables`\n"
    "Names and lists of values. Each combination is one experiment; the last "
    "variable varies fastest, unless sys.plan_builder.var_order says "
    "otherwise.\n"
    "= `extensions`\n"
    "A list of changes to experiments that match; see EXTENSIONS.\n"
    "= `name`\n"
    "Of a group; shown in reports.\n"
    "\n"
    "Any other key is an error. share/prony.schema.json describes these files "
    "to editors.\n"
    "# DLBS\n"
    "JSON with any of `parameters`, `variables` and `extensions`. A parameter "
    "is a value, or a map that also says what it is:\n"
    "    {\"parameters\": {\n"
    "       \"exp.model\": \"resnet50\",\n"
    "       \"my.size\": {\"val\": 4, \"type\": \"int\", \"desc\": \"how "
    "big\",\n"
    "                   \"val_domain\": [2, 4, 8]}},\n"
    "     \"variables\": {\"exp.gpus\": [\"0\", \"0,1\"]},\n"
    "     \"extensions\": []}\n"
    "\n"
    "`type` is int, float, str or bool; `val_domain` lists the values allowed; "
    "`val_regexp` is a pattern that the value must match. Keys unknown to "
    "Prony are warned of and left out.\n"
    "# EXTENSIONS\n"
    "    extensions:\n"
    "      - condition: {exp.model: \"(vgg|resnet)([0-9]+)\"}\n"
    "        parameters: {my.layers: \"${__condition.exp.model_2}\"}\n"
    "        cases: [{exp.dtype: float16}, {exp.dtype: float32}]\n"
    "\n"
    "An experiment matches when all of its parameters named in `condition` "
    "do: text is a regular expression that must match from the start, a list "
    "means one of these, anything else must be equal; a name that the "
    "experiment has not is no obstacle. A match sets `parameters`, and gives "
    "one experiment for each of `cases`. `${__condition.NAME_0}` is the value "
    "that matched, `_1` and so on are the groups of the expression.\n"
    "# EXPANSION\n"
    "= `${name}`\n"
    "The value of another parameter, or else of an environment variable. "
    "Names may be nested: ${${exp.framework}.model}.\n"
    "= `$(expression)$`\n"
    "The value of an expression, after all ${} in it are replaced. The "
    "language is that of Python's expressions: numbers, text in quotes, lists, "
    "tuples and maps, arithmetic, comparison, `and`, `or`, `not`, `in`, "
    "`A if C else B`, indexing and slicing, methods of text such as replace, "
    "split, strip and format, and len, str, int, float, min, max, round, "
    "re.sub, os.path and json. It reaches no file and no shell, and is bounded "
    "in time and memory.\n"
    "\n"
    "A list becomes text, its items joined by blanks, unless the parameter "
    "takes a list. There is no escape: a $ that is not followed by { or ( is "
    "a $.\n"
    "    exp.command: train --out=$('${exp.model}'.upper())$.log\n"
    "    exp.effective_batch: $(${exp.num_gpus} * ${exp.replica_batch})$\n"
    "# PRECEDENCE\n"
    "Weakest first: built-in defaults, targets, `--config`, the environment "
    "(PRONY_SECTION_NAME), overrides and `-P` in the order given, variables, "
    "extensions. `prony plan --explain NAME` shows it for one parameter.\n";

static const char layout[] =
    "# DESCRIPTION\n"
    "What `prony run` leaves behind, and all that `prony report` reads. "
    "events.ndjson only grows; every other file appears whole or not at all, "
    "so a run that was killed can be read, and gone on with by `prony run "
    "--resume DIR`.\n"
    "# LAYOUT\n"
    "    DIR/plan.json\n"
    "    DIR/env.json\n"
    "    DIR/events.ndjson\n"
    "    DIR/experiments/ID/params.json\n"
    "    DIR/experiments/ID/log.txt, channel.ndjson, monitor.ndjson\n"
    "    DIR/experiments/ID/result.json\n"
    "    DIR/experiments/ID/summary.json, R_output.json, "
    "R_per_epoch_stats.json, dlio.log\n"
    "    DIR/experiments/ID/iostat.json, trace.json, tensorboard/\n"
    "= `plan.json`\n"
    "The experiments in order: schema prony.plan/1, count, defaults, and "
    "experiments with id and params. Parameters are fully expanded; those that "
    "have their default are only in defaults.\n"
    "= `env.json`\n"
    "The machine and its software at the time of the run.\n"
    "= `params.json`\n"
    "The parameters of one experiment.\n"
    "= `log.txt`\n"
    "All that it wrote to stdout and stderr. A line `__results.NAME__= JSON` "
    "becomes a figure of that name; of several the last counts.\n"
    "= `channel.ndjson`\n"
    "The JSON lines that it wrote to the descriptor PRONY_FD or the file "
    "PRONY_CHANNEL of its environment: figures, rates, progress. Absent when "
    "there are none.\n"
    "= `monitor.ndjson`\n"
    "What the machine did meanwhile; absent with monitor.frequency=0.\n"
    "= `result.json`\n"
    "Its one result.\n"
    "= `summary.json`, `R_output.json`, `R_per_epoch_stats.json`, `dlio.log`\n"
    "Of an emulated training: the files that DLIO writes, R being the number "
    "of an accelerator.\n"
    "= `iostat.json`, `trace.json`, `tensorboard/`\n"
    "Where workflow.profiling, emulate.trace or emulate.tensorboard ask for "
    "them: figures of block devices, a trace for ui.perfetto.dev, event "
    "files.\n"
    "# RESULT.JSON\n"
    "= `schema`\n"
    "prony.result/1.\n"
    "= `id`\n"
    "Identifier in the plan.\n"
    "= `status`\n"
    "How it ended; see STATUS.\n"
    "= `reason`\n"
    "Why, in words; empty when ok.\n"
    "= `started`, `ended`\n"
    "Times in UTC; absent when it never started.\n"
    "= `attempts`\n"
    "How often it was tried.\n"
    "= `results`\n"
    "Its figures: elapsed_s, cpu_user_s, cpu_system_s, max_rss_bytes, "
    "exit_status or signal, and those of its log and channel.\n"
    "= `rates`\n"
    "By task: count, mean, std, min, q1, median, q3, max and units of the "
    "rates that it reported on its channel; absent when there are none.\n"
    "= `monitor`\n"
    "What the machine did meanwhile, in short; absent when nobody watched.\n"
    "= `params`\n"
    "Its parameters.\n"
    "= `log_tail`, `warnings`\n"
    "The last lines of its log when it failed, and what else should be "
    "known; absent when there are none.\n";

static const char events[] =
    "# EVENTS.NDJSON\n"
    "One JSON object a line. Every line has `time` (UTC), `event`, and the "
    "state of the run: `done`, `failed` and `total` experiments. Lines of an "
    "experiment have its `id` and `attempt`, and when it ended `status` and "
    "`elapsed_s`; `reason` where there is one. By `mark` and `group` of "
    "run_start a resumed run finds processes that are left. A reader must skip "
    "events it "
    "does not know, and a last line that is not complete.\n";

static const char *const event_words[] = {
#define X(name, word) word,
    PR_EVENTS(X)
#undef X
};
static const char *const event_texts[] = {
    [PR_EVENT_RUN_START] = "The run began, or was resumed.",
    [PR_EVENT_EXPERIMENT_START] = "An attempt at an experiment began.",
    [PR_EVENT_EXPERIMENT_RETRY] = "An attempt failed, another one follows.",
    [PR_EVENT_EXPERIMENT_END] = "The experiment has its result.",
    [PR_EVENT_INTERRUPT] = "A signal asked the run to stop.",
    [PR_EVENT_LEFTOVERS] = "What a killed run had left running was ended.",
    [PR_EVENT_RUN_END] = "The run ended.",
};
_Static_assert(sizeof event_texts / sizeof *event_texts == PR_EVENT_COUNT,
               "an event without a description");

static const char *const status_words[] = {
#define X(name, word) word,
    PR_STATUSES(X)
#undef X
};
static const char *const status_texts[] = {
    [PR_STATUS_OK] = "It ended with exit status 0.",
    [PR_STATUS_FAILED] = "It ended with another status or by a signal, or "
                         "could not be started.",
    [PR_STATUS_TIMEOUT] = "It was stopped after exp.timeout.",
    [PR_STATUS_OOM] = "The kernel killed it for want of memory.",
    [PR_STATUS_INTERRUPTED] = "The run was stopped while it ran; resuming "
                              "runs it again.",
    [PR_STATUS_SKIPPED] = "It was not to be run: exp.status or exp.rerun.",
};
_Static_assert(sizeof status_texts / sizeof *status_texts == PR_STATUS_COUNT,
               "a status without a description");

static void man_write_words(struct pr_buf *out, const char *const *words,
                            const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pr_buf_str(out, ".TP\n");
        roff_bold(out, words[i]);
        pr_buf_char(out, '\n');
        roff_text(out, texts[i] ? texts[i] : "");
        pr_buf_char(out, '\n');
    }
}

void man_config(struct pr_buf *out)
{
    roff_head(out, "prony-config", "5", "files that describe experiments");
    roff_prose(out, config);
}

void man_run_directory(struct pr_buf *out)
{
    roff_head(out, "prony-run-directory", "5", "what a run leaves behind");
    roff_prose(out, layout);
    roff_section(out, "status");
    man_write_words(out, status_words, status_texts, PR_STATUS_COUNT);
    roff_prose(out, events);
    man_write_words(out, event_words, event_texts, PR_EVENT_COUNT);
}
