/* dlio_postprocessor: DLIO's report of a folder of results, as a file in it. */
#include "base/file.h"
#include "base/units.h"
#include "compat/dlio/dlio.h"
#include "present/report/report_dlio.h"
#include "present/screen.h"

#include <limits.h>
#include <string.h>

struct post {
    const char *folder, *hydra;
    struct pr_dlio_setup setup;
    bool help;
};

enum kind { TEXT, COUNT, SWITCH, IGNORED };

static const struct flag {
    const char *name, *letter, *help;
    enum kind kind;
    size_t offset;
} flags[] = {
    {"--output-folder", "-of", "folder of the results (default: ./output)",
     TEXT, offsetof(struct post, folder)},
    {"--hydra-folder", "-hf", "folder of hydra's files in it (default: .hydra)",
     TEXT, offsetof(struct post, hydra)},
    {"--num-proc", "-np", "not used: files of ranks are counted", IGNORED, 0},
    {"--epochs", "-e", "epochs, if the config does not say", COUNT,
     offsetof(struct post, setup.epochs)},
    {"--batch-size", "-bs", "batch of a rank, likewise", COUNT,
     offsetof(struct post, setup.batch)},
    {"--do-eval", "-de", "whether evaluations were made, likewise", SWITCH,
     offsetof(struct post, setup.evaluation)},
    {"--batch-size-eval", "-bse", "batch when evaluating, likewise", COUNT,
     offsetof(struct post, setup.batch_eval)},
    {"--do-checkpoint", "-c", "not used", IGNORED, 0},
    {"--debug", "-d", "not used", IGNORED, 0},
    {"--name", "-n", "name of the run, likewise", TEXT,
     offsetof(struct post, setup.name)},
};

static const struct flag *flag_of(const char *arg, const char **ret_value)
{
    *ret_value = NULL;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        size_t n = strlen(flags[i].name);
        if (strcmp(arg, flags[i].name) == 0 ||
            strcmp(arg, flags[i].letter) == 0)
            return &flags[i];
        if (strncmp(arg, flags[i].name, n) == 0 && arg[n] == '=') {
            *ret_value = arg + n + 1;
            return &flags[i];
        }
    }
    return NULL;
}

static int postprocessor_set_flag(struct post *p, const struct flag *f,
                                  const char *value, struct pr_err *err)
{
    static const char *const yes[] = {"yes", "true", "t", "y", "1"};
    void *at = (char *)p + f->offset;
    int64_t n;

    if (f->kind == TEXT)
        *(const char **)at = value;
    for (size_t i = 0; f->kind == SWITCH && i < sizeof yes / sizeof *yes; i++)
        if (strcasecmp(value, yes[i]) == 0)
            *(bool *)at = true;
    if (f->kind != COUNT)
        return PR_OK;
    if (!pr_parse_int(value, &n) || n < 1)
        return pr_fail(err, PR_E_USAGE, "",
                       "%s wants a whole number of at least 1, got '%s'",
                       f->name, value);
    *(uint64_t *)at = (uint64_t)n;
    return PR_OK;
}

static int postprocessor_read_args(struct post *p, int argc, char **argv,
                                   struct pr_err *err)
{
    int rc = PR_OK;

    for (int i = 0; i < argc && !rc; i++) {
        const char *value;
        const struct flag *f = flag_of(argv[i], &value);

        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            p->help = true;
            continue;
        }
        if (!f)
            return pr_fail(err, PR_E_USAGE, "", "unknown option '%s'", argv[i]);
        if (!value && i + 1 == argc)
            return pr_fail(err, PR_E_USAGE, "", "%s wants a value", argv[i]);
        rc = postprocessor_set_flag(p, f, value ? value : argv[++i], err);
    }
    return rc;
}

static int postprocessor_print_help(struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);

    pr_buf_str(&out, "usage: dlio_postprocessor --output-folder DIR\n\n"
                     "Writes DLIO_NAME_report.txt into a folder of DLIO's "
                     "results.\n\n");
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        pr_buf_printf(&out, "  %-5s %-18s %s\n", flags[i].letter, flags[i].name,
                      flags[i].help);
    return answer_print_buf(&out, err);
}

static int postprocessor_write_report(const struct post *p,
                                      const struct pr_dlio_run *run,
                                      struct pr_arena *a, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1u << 30);
    PR_AUTO_BUF struct pr_buf name = PR_BUF_INIT(4096);
    const char *path;
    int rc;

    pr_dlio_report_text(run, &text);
    pr_dlio_report_name(run, &name);
    if (!pr_buf_ok(&text) || !pr_buf_ok(&name))
        return pr_fail_nomem(err);
    path = pr_arena_printf(a, "%s/%s", p->folder, name.data);
    if (!path)
        return pr_fail_nomem(err);
    rc = pr_file_write(path, text.data, text.len, err);
    pr_buf_clear(&name);
    pr_buf_str(&name, "report: ");
    pr_screen_clean(&name, path, strlen(path));
    pr_buf_char(&name, '\n');
    return rc ? rc : answer_print_buf(&name, err);
}

int dlio_postprocessor(int argc, char **argv, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct post p = {.folder = "./output"};
    struct pr_dlio_opts opts = {0};
    struct pr_dlio_run run;
    int rc =
        a ? postprocessor_read_args(&p, argc, argv, err) : pr_fail_nomem(err);

    if (rc || p.help)
        return rc ? rc : postprocessor_print_help(err);
    opts.hydra = p.hydra;
    opts.setup = p.setup;
    rc = pr_dlio_read(p.folder, &opts, a, &run, err);
    if (rc)
        return rc;
    if (!run.has_iostat)
        message_print_warning(p.folder,
                              "there is no iostat.json, so nothing is said of "
                              "disks and processors",
                              "");
    return postprocessor_write_report(&p, &run, a, err);
}
