/* Man pages: the program, its verbs, and the files people read and write. */
#include "base/buf.h"
#include "base/text.h"
#include "cli/help_json.h"
#include "prony_config.h"
#include "record/event.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- man(7) from plain text */

/* The code point of a valid sequence of n bytes. */
static unsigned roff_decode_utf8(const char *s, size_t n)
{
    static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned code = (unsigned char)s[0] & first[n];

    for (size_t i = 1; i < n; i++)
        code = code << 6 | ((unsigned char)s[i] & 0x3f);
    return code;
}

/* What groff would turn into a typographic sign, or take for its own. */
static const char *roff_find_escape(char c)
{
    switch (c) {
    case '\\':
        return "\\e";
    case '-':
        return "\\-";
    case '\'':
        return "\\(aq";
    case '"':
        return "\\(dq";
    case '`':
        return "\\(ga";
    case '^':
        return "\\(ha";
    case '~':
        return "\\(ti";
    default:
        return NULL;
    }
}

static void roff_textn(struct pr_buf *out, const char *s, size_t len)
{
    while (len) {
        size_t n = pr_utf8_len(s, len);
        const char *escape = roff_find_escape(*s);

        if (escape)
            pr_buf_str(out, escape);
        else if (n > 1)
            pr_buf_printf(out, "\\[u%04X]", roff_decode_utf8(s, n));
        else if (n)
            pr_buf_char(out, *s);
        n = n ? n : 1;
        s += n;
        len -= n;
    }
}

static void roff_text(struct pr_buf *out, const char *s)
{
    roff_textn(out, s, strlen(s));
}

static void roff_bold(struct pr_buf *out, const char *s)
{
    pr_buf_str(out, "\\fB");
    roff_text(out, s);
    pr_buf_str(out, "\\fR");
}

/* Text in the middle of a line, characters escaped. */
static void roff_italic(struct pr_buf *out, const char *s)
{
    pr_buf_str(out, "\\fI");
    roff_text(out, s);
    pr_buf_str(out, "\\fR");
}

/* Head and NAME section of a page: ("prony-run", "1", "run a plan"). */
static void roff_section(struct pr_buf *out, const char *title)
{
    pr_buf_str(out, ".SH ");
    for (; *title; title++)
        pr_buf_char(out, (char)toupper((unsigned char)*title));
    pr_buf_char(out, '\n');
}

static void roff_head(struct pr_buf *out, const char *name, const char *section,
                      const char *summary)
{
    pr_buf_str(out, ".\\\" Written by \"prony __man\"; do not edit.\n.TH ");
    for (const char *p = name; *p; p++)
        pr_buf_char(out, (char)toupper((unsigned char)*p));
    pr_buf_printf(out,
                  " %s \"\" \"Prony %s\" \"Prony manual\"\n"
                  ".nh\n.ad l\n",
                  section, PR_VERSION);
    roff_section(out, "name");
    roff_text(out, name);
    pr_buf_str(out, " \\- ");
    roff_text(out, summary);
    pr_buf_char(out, '\n');
}

/* A line must not begin with a control character. */
static void roff_guard_line(struct pr_buf *out, char first)
{
    if (first == '.' || first == '\'')
        pr_buf_str(out, "\\&");
}

/* One sentence, `word` in bold. */
static void roff_write_sentence(struct pr_buf *out, const char *s, size_t len)
{
    bool bold = false;

    if (len)
        roff_guard_line(out, s[0] == '`' && len > 1 ? s[1] : s[0]);
    while (len) {
        const char *tick = memchr(s, '`', len);
        size_t n = tick ? (size_t)(tick - s) : len;

        roff_textn(out, s, n);
        if (tick) {
            bold = !bold;
            pr_buf_str(out, bold ? "\\fB" : "\\fR");
            n++;
        }
        s += n;
        len -= n;
    }
    pr_buf_char(out, '\n');
}

static void roff_lines(struct pr_buf *out, const char *s, size_t len)
{
    while (len) {
        size_t n = 1;

        while (n < len && !(s[n - 1] == '.' && s[n] == ' '))
            n++;
        roff_write_sentence(out, s, n);
        n += n < len;
        s += n;
        len -= n;
    }
}

static void roff_verbatim(struct pr_buf *out, const char *s, size_t len)
{
    pr_buf_str(out, ".PP\n.RS 4\n.nf\n");
    while (len) {
        const char *end = memchr(s, '\n', len);
        size_t n = end ? (size_t)(end - s) : len;
        size_t blanks = strspn(s, " ");

        /* Prose is indented by four, examples by two. */
        blanks = blanks > 4 ? 4 : blanks;
        blanks = blanks < n ? blanks : n;
        if (n > blanks)
            roff_guard_line(out, s[blanks]);
        roff_textn(out, s + blanks, n - blanks);
        pr_buf_char(out, '\n');
        n += end != NULL;
        s += n;
        len -= n;
    }
    pr_buf_str(out, ".fi\n.RE\n");
}

/* Lines from s on that are indented by four. */
static size_t roff_count_indented(const char *s)
{
    const char *p = s;

    while (strncmp(p, "    ", 4) == 0) {
        p += strcspn(p, "\n");
        p += *p == '\n';
    }
    return (size_t)(p - s);
}

/* Lines as they are, until the end of s. */
static void roff_prose(struct pr_buf *out, const char *s)
{
    bool tagged = false;

    while (*s) {
        size_t n = roff_count_indented(s);

        if (n) {
            roff_verbatim(out, s, n);
            s += n;
            continue;
        }
        n = strcspn(s, "\n");
        if (s[0] == '#') {
            pr_buf_str(out, ".SH ");
            roff_textn(out, s + 2, n - 2);
            pr_buf_char(out, '\n');
        } else if (s[0] == '=') {
            pr_buf_str(out, ".TP\n");
            roff_write_sentence(out, s + 2, n - 2);
            tagged = true;
        } else if (n) {
            pr_buf_str(out, tagged ? "" : ".PP\n");
            roff_lines(out, s, n);
            tagged = false;
        }
        s += n;
        s += *s == '\n';
    }
}

/* ---- prony-config.5 and prony-run-directory.5 */

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

static void man_config(struct pr_buf *out)
{
    roff_head(out, "prony-config", "5", "files that describe experiments");
    roff_prose(out, config);
}

static void man_run_directory(struct pr_buf *out)
{
    roff_head(out, "prony-run-directory", "5", "what a run leaves behind");
    roff_prose(out, layout);
    roff_section(out, "status");
    man_write_words(out, status_words, status_texts, PR_STATUS_COUNT);
    roff_prose(out, events);
    man_write_words(out, event_words, event_texts, PR_EVENT_COUNT);
}

/* ---- prony.1 and prony-options.7 */

static void man_option_group(struct pr_buf *out, const struct verb *v,
                             enum option_group g);

static const char description[] =
    "Prony measures deep-learning systems. A description of experiments, "
    "written as text, becomes a plan; a plan is run; the run is recorded in a "
    "run directory; reports are made from that. Each step is a command of its "
    "own and leaves files that the next one reads.\n"
    "\n"
    "The answer of a command goes to stdout, progress and warnings to stderr, "
    "the verdict is the exit status.\n"
    "\n"
    "In long options `-` and `_` are the same, an unambiguous beginning is "
    "enough, and `--no-X` undoes `--X`. Numbers may be written 1_000_000, "
    "sizes 150k or 2GiB, times 90, 1.5s or 2m.\n";

static const char examples[] =
    "prony demo\n"
    "prony run -P exp.command='sleep ${t}' -V t='[1, 2]' -o out\n"
    "prony report out\n"
    "prony help exp.timeout\n";

static const char surroundings[] =
    "# ENVIRONMENT\n"
    "= `PRONY_SECTION_NAME`\n"
    "Sets the parameter section.name, for example PRONY_EXP_TIMEOUT=60 sets "
    "exp.timeout. Stronger than files, weaker than the command line.\n"
    "= `PRONY_SHARE`\n"
    "Folder of the bundled files, if they are not where they were installed.\n"
    "= `PRONY_FRAMEWORKS`\n"
    "Folder of frameworks of your own, NAME.yaml each, looked at before the "
    "bundled ones.\n"
    "= `PRONY_NVML`\n"
    "Library to ask for NVIDIA GPUs instead of libnvidia-ml.so.1; when set and "
    "empty, none is asked.\n"
    "= `NO_COLOR`\n"
    "When not empty, nothing is coloured unless `--color` says so.\n"
    "\n"
    "Programs that are run as experiments find their identifier in "
    "`PRONY_EXPERIMENT` and the root of data sets (`run --data`) in "
    "`PRONY_DATA`; `PRONY_FD` is a descriptor on which they can say figures, "
    "rates and progress as JSON lines, `PRONY_CHANNEL` the same file by its "
    "path.\n"
    "# FILES\n"
    "= `runs/NAME.TIME`\n"
    "Run directories, unless `run --output` says where.\n"
    "# COMPATIBILITY\n"
    "Commands of DLBS are understood: `jobs` is `run`; `build`, "
    "`print-config`, `validate` and `analyze-plan` are forms of `plan`.\n";

static void put_commands(struct pr_buf *out)
{
    const struct verb *v;

    roff_section(out, "commands");
    for (size_t i = 0; (v = verb_at(i)); i++) {
        pr_buf_printf(out, ".TP\n\\fBprony\\-%s\\fR(1)\n", v->name);
        roff_text(out, v->summary);
        pr_buf_str(out, ".\n");
    }
}

/* Exit statuses, each once, in order; texts of codes that share one are
 * joined. */
static void put_statuses(struct pr_buf *out)
{
    static const struct {
        int status;
        const char *text;
    } rows[] = {
#define X(name, value, status, text) {status, text},
        PR_CODES(X)
#undef X
    };
    size_t count = sizeof rows / sizeof *rows;

    roff_section(out, "exit status");
    for (int status = 0; status < 128; status++) {
        bool any = false;
        for (size_t i = 0; i < count; i++) {
            if (rows[i].status != status)
                continue;
            if (!any)
                pr_buf_printf(out, ".TP\n.B %d\n", status);
            pr_buf_str(out, any ? ", or " : "");
            roff_text(out, rows[i].text);
            any = true;
        }
        pr_buf_str(out, any ? ".\n" : "");
    }
    pr_buf_str(out, ".TP\n.B 128+N\n"
                    "stopped by signal N: 130 after Ctrl\\-C, 143 after "
                    "SIGTERM.\n");
}

static void man_prony(struct pr_buf *out)
{
    roff_head(out, "prony", "1", "benchmarks deep-learning systems");
    roff_section(out, "synopsis");
    pr_buf_str(out, ".B prony\n.I COMMAND\n");
    roff_text(out, "[OPTION…] [ARGUMENT…]");
    pr_buf_str(out, "\n.br\n.B prony \\-\\-version\n.br\n"
                    ".B prony\n.I COMMAND\n.B \\-\\-help\n");
    roff_section(out, "examples");
    roff_verbatim(out, examples, sizeof examples - 1);
    roff_section(out, "description");
    roff_prose(out, description);
    put_commands(out);
    man_option_group(out, NULL, GROUP_EVERY);
    put_statuses(out);
    roff_prose(out, surroundings);
}

static void man_write_fact(struct pr_buf *out, const char *label,
                           const char *text)
{
    if (!text || !*text)
        return;
    pr_buf_printf(out, ".br\n%s: ", label);
    roff_text(out, text);
    pr_buf_char(out, '\n');
}

static void man_write_param(struct pr_buf *out, const struct param *p)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);

    pr_buf_str(out, ".TP\n");
    roff_bold(out, p->title);
    pr_buf_char(out, '\n');
    roff_lines(out, p->opt->help, strlen(p->opt->help));
    pr_opt_describe(p->opt, &text);
    man_write_fact(out, "Takes", text.data);
    man_write_fact(out, "Unit", p->opt->unit);
    text_clear(&text, out);
    param_default(p, &text);
    man_write_fact(out, "Default", text.data);
    text_clear(&text, out);
    param_example(p, &text);
    man_write_fact(out, "Example", text.data);
    man_write_fact(out, "Environment", p->env);
    man_write_fact(out, "Since", p->opt->since);
    text_clear(&text, out);
}

static void man_options(struct pr_buf *out)
{
    const struct pr_opt_section *section = NULL;
    struct param p;

    roff_head(out, "prony-options", "7", "parameters of experiments");
    roff_section(out, "description");
    roff_prose(out, "Every parameter that Prony itself knows, by section. "
                    "Names in sections that are not listed here are yours. "
                    "A text may hold `${name}` and `$(expression)$`; see "
                    "`prony-config`(5). `prony help NAME` shows one of these "
                    "entries, `prony help --params RE --text RE` searches "
                    "them, `prony plan --explain NAME` tells who set one.\n");
    for (size_t i = 0; param_at(i, &p); i++) {
        if (p.section != section) {
            pr_buf_printf(out, ".SH SECTION %s\n", p.section->name);
            roff_text(out, p.section->desc);
            pr_buf_str(out, ".\n");
            section = p.section;
        }
        man_write_param(out, &p);
    }
}

static const struct page {
    const char *name;
    void (*write)(struct pr_buf *out);
} pages[] = {
    {"prony.1", man_prony},
    {"prony-config.5", man_config},
    {"prony-run-directory.5", man_run_directory},
    {"prony-options.7", man_options},
};

static void man_write_option(struct pr_buf *out, const struct option *o)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(8192);

    pr_buf_str(out, ".TP\n");
    if (o->letter)
        pr_buf_printf(out, "\\fB\\-%c\\fR, ", o->letter);
    option_argument(o, &text);
    pr_buf_str(out, "\\fB\\-\\-");
    roff_text(out, o->name);
    pr_buf_str(out, "\\fR");
    if (text.len) {
        pr_buf_char(out, ' ');
        roff_italic(out, text.data);
    }
    pr_buf_char(out, '\n');
    text_clear(&text, out);
    option_help(o, &text);
    pr_buf_char(&text, '.');
    if (pr_buf_ok(&text))
        roff_lines(out, text.data, text.len);
    else
        out->failed = true;
}

/* A section with the options of one group; v may be NULL: of all verbs. */
static void man_option_group(struct pr_buf *out, const struct verb *v,
                             enum option_group g)
{
    const struct option *o;
    bool any = false;

    for (size_t i = 0; (o = option_at(i)); i++) {
        if ((v && !option_of(o, v)) || option_group(o) != g)
            continue;
        if (!any)
            roff_section(out, option_group_title(g));
        any = true;
        man_write_option(out, o);
    }
}

static void man_write_see_also(struct pr_buf *out)
{
    pr_buf_str(out, ".SH SEE ALSO\n.BR prony (1),\n.BR prony\\-config (5),\n"
                    ".BR prony\\-run\\-directory (5),\n"
                    ".BR prony\\-options (7)\n");
}

static void man_verb(struct pr_buf *out, const struct verb *v)
{
    char name[64];

    snprintf(name, sizeof name, "prony-%s", v->name);
    roff_head(out, name, "1", v->summary);
    roff_section(out, "synopsis");
    pr_buf_printf(out, ".B prony %s\n", v->name);
    roff_text(out, *v->takes ? "[OPTION…] " : "[OPTION…]");
    roff_text(out, v->takes);
    pr_buf_char(out, '\n');
    roff_section(out, "examples");
    roff_verbatim(out, v->examples, strlen(v->examples));
    roff_section(out, "description");
    roff_prose(out, v->about);
    for (int g = 0; g < GROUP_COUNT; g++)
        man_option_group(out, v, (enum option_group)g);
    man_write_see_also(out);
}

void man_list(struct pr_buf *out)
{
    const struct verb *v;

    pr_buf_printf(out, "%s\n", pages[0].name);
    for (size_t i = 0; (v = verb_at(i)); i++)
        pr_buf_printf(out, "prony-%s.1\n", v->name);
    for (size_t i = 1; i < sizeof pages / sizeof *pages; i++)
        pr_buf_printf(out, "%s\n", pages[i].name);
}

int man_page(const char *name, struct pr_buf *out, struct pr_err *err)
{
    const struct verb *v;
    char page[64];

    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        if (strcmp(name, pages[i].name) == 0) {
            pages[i].write(out);
            man_write_see_also(out);
            return PR_OK;
        }
    }
    for (size_t i = 0; (v = verb_at(i)); i++) {
        snprintf(page, sizeof page, "prony-%s.1", v->name);
        if (strcmp(name, page) == 0) {
            man_verb(out, v);
            return PR_OK;
        }
    }
    pr_fail(err, PR_E_USAGE, "", "no man page is named '%s'", name);
    return pr_hint(err, "'prony __man' lists them");
}
