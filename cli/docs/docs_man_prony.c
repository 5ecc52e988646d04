/* prony.1 and prony-options.7. */
#include "cli/docs/docs_man.h"
#include "cli/docs/docs_roff.h"

#include <string.h>

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

void man_prony(struct pr_buf *out)
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

void man_options(struct pr_buf *out)
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
