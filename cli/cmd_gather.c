/* `prony gather`: tables of GPU systems and their tasks. */
#include "analyse/gpu_systems.h"
#include "base/file.h"
#include "cli/cli.h"
#include "present/report/report_gpu_systems.h"

#include <inttypes.h>
#include <string.h>

struct wish {
    struct pr_gpu_tasks tasks;
    struct pr_systems systems;
    struct pr_gpu_systems_opts opts;
    const char *dir;
    bool batches;
    const char *format; /* NULL: csv */
};

static int gather_load_tables(struct cli *c, struct wish *w, struct pr_err *err)
{
    int rc = pr_gpu_tasks_load(c->arena, &w->tasks, err);

    if (!rc)
        rc = pr_systems_load(&w->systems, c->arena, err);
    for (size_t i = 0; !rc && i < c->arg_count; i++)
        if (c->args[i].id == A_SYSTEMS)
            rc = pr_systems_read(&w->systems, c->args[i].value, c->arena, err);
    w->opts.tasks = &w->tasks;
    w->opts.systems = &w->systems;
    return rc;
}

static int pick_dialect(struct cli *c, struct wish *w, struct pr_err *err)
{
    const char *word = arg_get(c, A_DIALECT);

    for (int i = 0; word && i < PR_GPU_TASK_DIALECTS; i++)
        if (strcmp(word, pr_gpu_task_dialect_word(i)) == 0)
            w->opts.dialect = (enum pr_gpu_task_dialect_kind)i;
    return word ? PR_OK
                : pr_gpu_systems_find_dialect(w->dir, &w->systems,
                                              &w->opts.dialect, err);
}

static int gather_read_args(struct cli *c, struct wish *w, struct pr_err *err)
{
    const char *precision = arg_get(c, A_PRECISION);
    const char *metric = arg_get(c, A_METRIC);
    const char *system = arg_get(c, A_SYSTEM);
    const char *format = arg_get(c, A_GATHER_FORMAT);
    long threads;
    int rc = arg_number(c, A_GATHER_THREADS, 1, 0, &threads, err);

    if (rc)
        return rc;
    if (c->rest_count != 1)
        return pr_fail(err, PR_E_USAGE, "",
                       "gather wants one folder of results");
    w->dir = c->rest[0];
    w->format = format && strcmp(format, "csv") != 0 ? format : NULL;
    w->batches = metric && strcmp(metric, "bs") == 0;
    w->opts.full = w->format != NULL;
    w->opts.no_logs = w->batches && !w->format;
    w->opts.system = system ? system : "all";
    w->opts.threads = (unsigned)threads;
    w->opts.precision = precision && strcmp(precision, "fp16") == 0
                            ? PR_GPU_SYSTEMS_FP16
                        : precision || !w->format ? PR_GPU_SYSTEMS_FP32
                                                  : PR_GPU_SYSTEMS_BOTH;
    return PR_OK;
}

/* What a cell of 0 may hide. */
static void gather_print_failures(const struct pr_gpu_systems *g,
                                  const struct wish *w)
{
    if (!w->opts.no_logs && !w->format && !g->logs)
        message_print_warning(
            w->dir, "has no log of such a task",
            "logs lie in SYSTEM/PyTorch_TASK_PRECISION/DATE.txt");
    if (w->opts.no_logs || g->logs == g->found)
        return;
    message_print(SAY_WARNING,
                  "warning: %" PRIu64 " of %" PRIu64 " logs have no figure%s\n",
                  g->logs - g->found, g->logs,
                  w->format ? "" : "; --format text says which, and why");
}

static int print_full(const struct pr_gpu_systems *g, const struct wish *w,
                      struct pr_buf *out, struct pr_err *err)
{
    struct pr_table_style style = {.width = stdout_width(),
                                   .empty = "no tasks were found\n"};
    enum pr_table_format format = strcmp(w->format, "json") == 0 ? PR_TABLE_JSON
                                  : strcmp(w->format, "md") == 0
                                      ? PR_TABLE_MARKDOWN
                                      : PR_TABLE_TEXT;

    return pr_gpu_systems_report(g, format, &style, out, err);
}

static int gather_print_tables(struct cli *c, const struct pr_gpu_systems *g,
                               const struct wish *w, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT((size_t)1 << 30);
    const char *path = arg_get(c, A_GATHER_FILE);
    int rc = PR_OK;

    if (w->format)
        rc = print_full(g, w, &text, err);
    else if (w->batches)
        pr_gpu_systems_csv_batches(g, &w->opts, &text);
    else
        pr_gpu_systems_csv(g, &w->opts, &text);
    if (!rc && !pr_buf_ok(&text))
        rc = pr_fail_nomem(err);
    if (rc || !path)
        return rc ? rc : answer_print_buf(&text, err);
    return pr_file_write(path, text.data ? text.data : "", text.len, err);
}

/* Results of 2022 have no benchmark.para: its script took batches from the
 * lines of configs, which do not lie beside them. */
static int check_batches(const struct wish *w, struct pr_err *err)
{
    if (!w->batches || w->format || w->opts.dialect != PR_GPU_TASK_G1)
        return PR_OK;
    pr_fail(err, PR_E_UNAVAIL, w->dir,
            "results of dialect g1 do not say their batches: they are in the "
            "configs alone");
    return pr_hint(err, "'prony plan CONFIG.sh --format json' shows those of a "
                        "config; where there is a benchmark.para, --dialect v1 "
                        "reads it");
}

int cmd_gather(struct cli *c, struct pr_err *err)
{
    struct wish w = {.format = NULL};
    struct pr_gpu_systems g;
    int rc = gather_read_args(c, &w, err);

    if (!rc)
        rc = gather_load_tables(c, &w, err);
    if (!rc)
        rc = pick_dialect(c, &w, err);
    if (!rc)
        rc = check_batches(&w, err);
    if (!rc)
        rc = pr_gpu_systems_read(w.dir, &w.opts, c->arena, &g, err);
    if (rc)
        return rc;
    gather_print_failures(&g, &w);
    return gather_print_tables(c, &g, &w, err);
}
