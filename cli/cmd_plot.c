/* `prony scaling` and `prony plot`: series of figures, and charts of them. */
#include "analyse/series/scaling.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/results_args.h"
#include "present/report/report_scaling.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* ---- prony scaling: how time changes with devices and batches */

enum { LARGE = 16 << 20 }; /* bytes to read */

/* What is read of each result: no more than the report needs. */
static const char **scaling_needed_names(struct cli *c, const char *target)
{
    size_t n = 0;
    const char **names;

    while (pr_scaling_names[n])
        n++;
    names = PR_ARENA_ARRAY(c->arena, const char *, n + 2);
    if (!names)
        return NULL;
    memcpy(names, pr_scaling_names, n * sizeof *names);
    names[n] = target;
    return names;
}

static int scaling_save_report(const char *path, const struct pr_scaling *s,
                               struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT((size_t)1 << 31);

    pr_scaling_json(s, &text);
    if (!pr_buf_ok(&text))
        return pr_fail_nomem(err);
    return pr_file_write(path, text.data, text.len, err);
}

static int scaling_print_answer(struct cli *c, const struct pr_scaling *s,
                                const char *target, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT((size_t)1 << 31);
    const char *path = arg_get(c, A_REPORT_FILE);
    const char *format = arg_get(c, A_SCALING_FORMAT);
    int rc;

    if (s->unusable)
        message_print(SAY_WARNING,
                      "warning: %" PRIu64
                      " results have no batch, or no '%s' above "
                      "zero\n",
                      s->unusable, target);
    if (s->unrated)
        message_print(SAY_WARNING,
                      "warning: %" PRIu64
                      " results report no throughput; it does not "
                      "follow from the batch that was asked for\n",
                      s->unrated);
    if (format && strcmp(format, "json") == 0) {
        pr_scaling_json(s, &text);
        pr_buf_char(&text, '\n');
    } else {
        /* Where and as DLBS says it. */
        for (uint64_t i = 0; i < s->without; i++)
            pr_buf_str(&text, "target variable not in experiment, skipping\n");
        pr_scaling_text(s, &text);
    }
    rc = answer_print_buf(&text, err);
    return rc || !path ? rc : scaling_save_report(path, s, err);
}

static int scaling_fail_if_empty(const struct pr_scaling *s,
                                 const struct pr_results *set,
                                 const char *target, struct pr_err *err)
{
    uint64_t results = pr_results_get_counts(set)->results;

    if (s->row_count)
        return PR_OK;
    if (!results) {
        pr_fail(err, PR_E_FORMAT, "", "there are no results to report on");
        return pr_hint(err, "folders inside folders are read with --recursive");
    }
    if (s->without == results) {
        pr_fail(err, PR_E_FORMAT, "", "no result has '%s'", target);
        return pr_hint(err, "--target-variable names the time to report, in "
                            "milliseconds");
    }
    return PR_OK;
}

/* Of many results half of the time went into getting memory page by page. */
static void expect_results_memory(const char *const *inputs, size_t count)
{
    struct stat st;
    off_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += stat(inputs[i], &st) ? 0 : st.st_size;
    if (bytes >= LARGE)
        pr_mem_large();
}

static int scaling_run_report(struct cli *c, const struct results_args *args,
                              const struct pr_scaling_opts *o,
                              const char *const *inputs, size_t count,
                              struct pr_err *err)
{
    const char **names = scaling_needed_names(c, o->target);
    struct pr_results_opts how;
    struct pr_results *set = NULL;
    struct pr_scaling s;
    int rc = names ? results_args_opts(c, args, names, &how, err)
                   : pr_fail_nomem(err);

    if (rc)
        return rc;
    expect_results_memory(inputs, count);
    how.keep_all = true; /* who lacks the time is told before the query */
    rc = pr_scaling_read(inputs, count, &how, o, c->arena, &s, &set, err);
    if (rc)
        return rc;
    results_args_warn(c, set);
    rc = scaling_fail_if_empty(&s, set, o->target, err);
    if (!rc)
        rc = scaling_print_answer(c, &s, o->target, err);
    if (!rc)
        rc = results_args_check_whole(c, set, err);
    pr_results_free(set);
    return rc;
}

int cmd_scaling(struct cli *c, struct pr_err *err)
{
    const char *file = arg_get(c, A_SUMMARY_FILE);
    const char *type = arg_get(c, A_SCALING_TYPE);
    const char *target = arg_get(c, A_TARGET_VARIABLE);
    struct pr_scaling_opts o = {.target = target ? target : "results.time"};
    struct results_args args;
    int rc;

    if (!file == !c->rest_count) {
        pr_fail(err, PR_E_USAGE, "",
                file ? "scaling takes --summary-file or files, not both"
                     : "scaling wants a file of results");
        return pr_hint(err, "'prony parse LOGS --output-file FILE' makes one; "
                            "logs and run directories will do, too");
    }
    if (type)
        (void)pr_scaling_find_type(type, &o.type);
    rc = results_args_init(c, &args, err);
    if (rc)
        return rc;
    o.filters = args.filters;
    o.filter_count = args.filter_count;
    rc = scaling_run_report(c, &args, &o, file ? &file : c->rest,
                            file ? 1 : c->rest_count, err);
    results_args_close(&args);
    return rc;
}

/* ---- prony plot: what is read */

enum { MAX_IMAGE = 1 << 30 };

static int read_series(struct cli *c, struct plot_args *p,
                       const struct pr_results *set, struct pr_err *err)
{
    const char *none = NULL;
    const char *const *names = p->columns ? p->columns : &none;

    if (p->source == PLOT_MONITOR)
        return pr_plot_data_read_monitor(set, names, c->arena, &p->set, err);
    if (p->source == PLOT_RATES)
        return pr_plot_data_read_rates(set, names, c->arena, &p->set, err);
    return pr_plot_data_build(set, &p->series, c->arena, &p->set, err);
}

static int fail_empty(const struct plot_args *p, const struct pr_results *set,
                      struct pr_err *err)
{
    if (!pr_results_size(set)) {
        pr_fail(err, PR_E_FORMAT, "", "there are no results to plot");
        return pr_hint(err, "folders inside folders are read with --recursive");
    }
    if (p->source == PLOT_MONITOR) {
        pr_fail(err, PR_E_FORMAT, "", "no experiment has such columns");
        return pr_hint(err, "--yparam names columns of monitor.ndjson, as "
                            "'cpu' or 'disk.*.use'");
    }
    if (p->source == PLOT_RATES) {
        pr_fail(err, PR_E_FORMAT, "", "no experiment told a rate");
        return pr_hint(err, "programs tell them on their channel; --yparam "
                            "names tasks");
    }
    pr_fail(err, PR_E_FORMAT, "",
            "no result of a series has numbers for '%s' by '%s'", p->set.y,
            p->set.x);
    return pr_hint(err, "'prony parse' shows what results hold");
}

/* Says what is not as it should be; an error when nothing is left. */
static int plot_check_series(const struct plot_args *p,
                             const struct pr_results *set, struct pr_err *err)
{
    if (!p->set.x_count)
        return fail_empty(p, set, err);
    for (size_t i = 0; i < p->set.count; i++)
        if (!p->set.series[i].count)
            message_print(SAY_WARNING, "warning: series %zu has no points\n",
                          i);
    if (p->set.unusable)
        message_print(SAY_WARNING,
                      "warning: results without a number as '%s': %llu\n",
                      p->set.y, (unsigned long long)p->set.unusable);
    if (p->set.warning)
        message_print(SAY_WARNING, "warning: %s\n", p->set.warning);
    return PR_OK;
}

/* ---- prony plot: what is written */

static int write_chart(const struct plot_args *p, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf image = PR_BUF_INIT(MAX_IMAGE);
    int rc = pr_plot_draw(&p->set, &p->look, p->kind, &image, err);

    return rc ? rc : pr_file_write(p->chart_file, image.data, image.len, err);
}

/* As DLBS, series on stdout; on a terminal not beside an image. */
static int plot_print_series(const struct plot_args *p, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT((size_t)1 << 31);
    bool brief = stdout_width() && (p->chart_file || p->series_file);
    int rc = pr_plot_data_write_json(&p->set, &text, err);

    if (!rc && p->series_file)
        rc = pr_file_write(p->series_file, text.data, text.len, err);
    if (!rc && p->chart_file)
        rc = write_chart(p, err);
    if (rc)
        return rc;
    if (brief) {
        pr_buf_clear(&text);
        if (p->chart_file)
            pr_buf_printf(&text, "chart: %s\n", p->chart_file);
        if (p->series_file)
            pr_buf_printf(&text, "series: %s\n", p->series_file);
    }
    return answer_print_buf(&text, err);
}

int cmd_plot(struct cli *c, struct pr_err *err)
{
    struct plot_args p = {0};
    struct results_args args;
    struct pr_results *set = NULL;
    int rc;

    if (!c->rest_count) {
        pr_fail(err, PR_E_USAGE, "", "plot wants a file of results");
        return pr_hint(err, "'prony parse LOGS --output-file FILE' makes one; "
                            "logs and run directories will do, too");
    }
    rc = plot_args_init(c, &p, err);
    if (!rc)
        rc = results_args_init(c, &args, err);
    if (rc)
        return rc;
    args.unfinished = true; /* there may be something to see already */
    rc =
        results_args_read(c, &args, c->rest, c->rest_count, p.names, &set, err);
    if (!rc)
        results_args_warn(c, set);
    if (!rc)
        rc = read_series(c, &p, set, err);
    if (!rc)
        rc = plot_check_series(&p, set, err);
    if (!rc)
        rc = plot_print_series(&p, err);
    if (!rc)
        rc = results_args_check_whole(c, set, err);
    pr_results_free(set);
    results_args_close(&args);
    return rc;
}
