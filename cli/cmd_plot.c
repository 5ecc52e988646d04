/* `prony plot`: series of figures, and charts of them. */
#include "base/file.h"
#include "cli/bench_args.h"
#include "cli/plot_args.h"

#include <string.h>

enum { MAX_IMAGE = 1 << 30 };

/* ---- what is read */

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

/* ---- what is written */

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
