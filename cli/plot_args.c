/* Options of `prony plot`. */
#include "cli/plot_args.h"

#include "base/json/json.h"
#include "base/units.h"
#include "cli/bench_args.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- JSON */

static int plot_args_read_json(struct cli *c, enum arg_id id, const char *name,
                               struct pr_value *ret, struct pr_err *err)
{
    const char *text = arg_get(c, id);
    struct pr_json_in in = {
        .text = text, .len = text ? strlen(text) : 0, .name = name};

    if (!text) {
        *ret = pr_null();
        return PR_OK;
    }
    if (pr_json_read(&in, c->arena, ret, NULL, err) == PR_OK)
        return PR_OK;
    if (err->code == PR_E_FORMAT)
        err->code = PR_E_USAGE;
    return err->code;
}

/* Filters, one filter, or the name of a parameter, which need not be JSON. */
static int read_filters(struct cli *c, struct pr_value *ret, struct pr_err *err)
{
    const char *text = arg_get(c, A_SERIES);
    struct pr_value *one;
    int rc;

    if (text && *text && !strchr("[{\"", *text)) {
        *ret = pr_str(text);
        return PR_OK;
    }
    rc = plot_args_read_json(c, A_SERIES, "--series", ret, err);
    if (rc || ret->kind != PR_MAP)
        return rc;
    one = PR_ARENA_NEW(c->arena, struct pr_value);
    if (!one)
        return pr_fail_nomem(err);
    *one = *ret;
    *ret = (struct pr_value){.kind = PR_LIST, .len = 1, .items = one};
    return PR_OK;
}

/* A series goes by its number or by its filter. */
static int read_baseline(struct cli *c, struct plot_args *p, struct pr_err *err)
{
    struct pr_value v;
    int rc =
        plot_args_read_json(c, A_BASELINE_SERIES, "--baseline-series", &v, err);

    p->series.baseline_series = PR_PLOTDATA_BASELINE_NONE;
    if (rc || v.kind == PR_NULL)
        return rc;
    if (v.kind == PR_INT && v.i >= 0 && v.i <= PR_PLOTDATA_MOST) {
        p->series.baseline_series = (long)v.i;
        return PR_OK;
    }
    for (uint32_t i = 0;
         p->series.series.kind == PR_LIST && i < p->series.series.len; i++)
        if (pr_value_equal(&p->series.series.items[i], &v)) {
            p->series.baseline_series = (long)i;
            return PR_OK;
        }
    pr_fail(err, PR_E_USAGE, "--baseline-series",
            "there is no such series in --series");
    return pr_hint(err, "a number, from 0, or one of the filters");
}

/* ---- what to read */

static bool plot_args_add_name(struct cli *c, struct plot_args *p, size_t *n,
                               size_t *cap, const char *name)
{
    p->names = pr_arena_grow(c->arena, p->names, *n, cap, sizeof *p->names);
    if (p->names)
        p->names[(*n)++] = name;
    return p->names;
}

/* Names in a filter: keys of a map, or a list of them. */
static bool add_filter(struct cli *c, struct plot_args *p, size_t *n,
                       size_t *cap, const struct pr_value *f)
{
    for (uint32_t i = 0; f->kind == PR_MAP && i < f->len; i++)
        if (!plot_args_add_name(c, p, n, cap, f->members[i].key))
            return false;
    for (uint32_t i = 0; f->kind == PR_LIST && i < f->len; i++)
        if (f->items[i].kind == PR_STR &&
            !plot_args_add_name(c, p, n, cap, f->items[i].s))
            return false;
    return f->kind != PR_STR || plot_args_add_name(c, p, n, cap, f->s);
}

/* No more than the series need. */
static int find_names(struct cli *c, struct plot_args *p, struct pr_err *err)
{
    const struct pr_value *s = &p->series.series;
    size_t n = 0, cap = 0;
    bool ok = plot_args_add_name(c, p, &n, &cap, p->series.y);

    if (ok && p->series.x)
        ok = plot_args_add_name(c, p, &n, &cap, p->series.x);
    if (ok && s->kind == PR_STR)
        ok = plot_args_add_name(c, p, &n, &cap, s->s);
    for (uint32_t i = 0; ok && s->kind == PR_LIST && i < s->len; i++)
        ok = add_filter(c, p, &n, &cap, &s->items[i]);
    return ok && plot_args_add_name(c, p, &n, &cap, NULL) ? PR_OK
                                                          : pr_fail_nomem(err);
}

/* ---- kinds of charts */

static int plot_args_read_columns(struct cli *c, struct plot_args *p,
                                  struct pr_err *err)
{
    static const enum arg_id no[] = {A_XPARAM, A_SERIES, A_BASELINE_X,
                                     A_BASELINE_SERIES, A_AGGREGATION};
    const char *y = arg_get(c, A_YPARAM);
    size_t n;

    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (arg_get(c, no[i]))
            return pr_fail(err, PR_E_USAGE, "",
                           "--%s does not go with what is shown over time",
                           option_at(no[i])->name);
    if (!y && p->source == PLOT_MONITOR)
        y = "job.cpu";
    if (!y)
        return PR_OK;
    p->columns = results_args_split_names(c->arena, y, &n);
    return p->columns ? PR_OK : pr_fail_nomem(err);
}

static int read_results(struct cli *c, struct plot_args *p, struct pr_err *err)
{
    static const char *const hows[] = {"avg", "min", "max"};
    const char *how = arg_get(c, A_AGGREGATION);
    int rc = read_filters(c, &p->series.series, err);

    p->series.x = arg_get(c, A_XPARAM);
    p->series.y = arg_get(c, A_YPARAM);
    p->series.baseline_x = arg_get(c, A_BASELINE_X);
    if (!p->series.y) {
        pr_fail(err, PR_E_USAGE, "", "--yparam is missing");
        return pr_hint(err, "it names what to show: --yparam results.time");
    }
    for (int i = 0; how && i < 3; i++)
        if (strcmp(how, hows[i]) == 0)
            p->series.how = (enum pr_plot_data_how)i;
    if (!rc)
        rc = read_baseline(c, p, err);
    p->look.relative = p->series.baseline_x || p->series.baseline_series >= 0;
    return rc ? rc : find_names(c, p, err);
}

static void choose_kind(struct cli *c, struct plot_args *p)
{
    static const struct {
        const char *name;
        enum pr_plot_kind kind;
        int source;
    } kinds[] = {
        {"line", PR_PLOT_LINE, PLOT_RESULTS},
        {"bar", PR_PLOT_BAR, PLOT_RESULTS},
        {"points", PR_PLOT_POINTS, PLOT_RESULTS},
        {"box", PR_PLOT_BOX, PLOT_RESULTS},
        {"rate", PR_PLOT_LINE, PLOT_RATES},
        {"rate-box", PR_PLOT_SPREAD, PLOT_RATES},
        {"monitor", PR_PLOT_LINE, PLOT_MONITOR},
        {"monitor-box", PR_PLOT_SPREAD, PLOT_MONITOR},
    };
    const char *type = arg_get(c, A_CHART_TYPE);

    for (size_t i = 0; type && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(type, kinds[i].name) == 0) {
            p->look.kind = kinds[i].kind;
            p->source = kinds[i].source;
        }
}

static int choose_file(struct cli *c, struct plot_args *p, struct pr_err *err)
{
    const char *dot;
    char version[64];

    p->series_file = arg_get(c, A_SERIES_FILE);
    p->chart_file = arg_get(c, A_CHART_FILE);
    if (!p->chart_file)
        return PR_OK;
    dot = strrchr(p->chart_file, '.');
    p->kind = dot ? pr_canvas_kind(dot + 1) : NULL;
    if (!p->kind) {
        pr_fail(err, PR_E_USAGE, p->chart_file,
                "its name does not tell what kind of image it is");
        return pr_hint(err, "it ends in .png, .svg or .pdf");
    }
    /* Said before hours of logs are read. */
    return strcmp(p->kind->name, "svg") == 0
               ? PR_OK
               : pr_canvas_libraries(version, err);
}

int plot_args_init(struct cli *c, struct plot_args *ret, struct pr_err *err)
{
    struct plot_args p = {0};
    int rc = plot_args_read_json(c, A_CHART_OPTS, "--chart-opts", &p.look.chart,
                                 err);

    choose_kind(c, &p);
    if (!rc)
        rc = pr_plot_check(&p.look, err);
    if (!rc)
        rc = p.source == PLOT_RESULTS ? read_results(c, &p, err)
                                      : plot_args_read_columns(c, &p, err);
    if (!rc)
        rc = choose_file(c, &p, err);
    if (!rc)
        *ret = p;
    return rc;
}
