/* Options of verbs that read results, and of plot and probe. */
#include "cli/results_args.h"

#include "base/file.h"
#include "base/json/json.h"
#include "base/units.h"
#include "present/chart/plot_probe.h"
#include "prony/probe.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- prony probe */

/* Its options are parameters, so that the plan keeps them. */

static int probe_args_add_number(struct cli *c, struct pr_plan *p,
                                 enum arg_id id, long min, const char *name,
                                 struct pr_err *err)
{
    const char *value = arg_get(c, id);
    long n;
    int rc;

    if (!value)
        return PR_OK;
    rc = arg_number(c, id, min, 0, &n, err);
    return rc ? rc
              : pr_plan_param_text(p, name, value, option_at(id)->name, err);
}

static void probe_args_print_warning(void *ctx, const char *where,
                                     const char *text, const char *remedy)
{
    (void)ctx;
    message_print_warning(where, text, remedy);
}

/* Read here to complain before anything runs; experiments read it again, so
 * its name becomes absolute. */
static int add_config(struct cli *c, struct pr_plan *p, struct pr_err *err)
{
    const char *file = arg_get(c, A_PROBE_CONFIG), *from = "--probe-config";
    struct pr_probe_config config = {.size = sizeof config};
    char path[PATH_MAX];
    int rc;

    if (!file) {
        file = getenv("BENCHY_CONFIG_FILE");
        from = "BENCHY_CONFIG_FILE";
    }
    if (!file || !*file)
        return PR_OK;
    rc = pr_probe_config_read(file, &config, probe_args_print_warning, NULL,
                              err);
    if (rc)
        return rc;
    if (!realpath(file, path))
        return pr_fail_errno(err, PR_E_IO, file, "where is it");
    return pr_plan_param_text(p, "probe.config", path, from, err);
}

int probe_params(struct cli *c, struct pr_plan *p, struct pr_err *err)
{
    int rc = pr_plan_param_text(p, "probe.run", "true", "probe", err);

    if (!rc)
        rc = add_config(c, p, err);
    if (!rc)
        rc = probe_args_add_number(c, p, A_PROBE_BATCHES, 1, "probe.batches",
                                   err);
    if (!rc)
        rc =
            probe_args_add_number(c, p, A_PROBE_TRIALS, 1, "probe.trials", err);
    return rc ? rc
              : probe_args_add_number(c, p, A_PROBE_WARMUP, 0, "probe.warmup",
                                      err);
}

int probe_chart(const char *dir, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf svg = PR_BUF_INIT(64 << 20);
    char path[4096];
    bool any;
    int rc = pr_probe_chart(dir, &svg, &any, err);

    if (rc || !any)
        return rc;
    if (!pr_buf_ok(&svg))
        return pr_fail_nomem(err);
    if (snprintf(path, sizeof path, "%s/probe.svg", dir) >= (int)sizeof path)
        return pr_fail(err, PR_E_IO, dir, "the name is too long");
    return pr_file_write(path, svg.data, svg.len, err);
}

/* ---- results */

const char **results_args_split_names(struct pr_arena *a, const char *text,
                                      size_t *ret_count)
{
    const char **list = NULL;
    size_t count = 0, cap = 0;

    for (;;) {
        size_t n;

        text += strspn(text, " \t,");
        n = strcspn(text, ",");
        list = pr_arena_grow(a, list, count, &cap, sizeof *list);
        if (!list)
            return NULL;
        list[count] = NULL;
        if (!n)
            break;
        while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
            n--;
        list[count] = pr_arena_copy(a, text, n);
        if (!list[count++])
            return NULL;
        text += strcspn(text, ",");
    }
    *ret_count = count;
    return list;
}

static int results_args_add_filter(struct results_args *a, struct pr_query *q,
                                   enum pr_query_policy policy,
                                   struct pr_err *err)
{
    if (a->filter_count == RESULTS_MAX_FILTERS) {
        pr_query_free(q);
        return pr_fail(err, PR_E_USAGE, "", "more than %d queries",
                       RESULTS_MAX_FILTERS);
    }
    a->queries[a->filter_count] = q;
    a->filters[a->filter_count++] = (struct pr_results_filter){q, policy};
    return PR_OK;
}

/* --filter-params a,b: all must be there. */
static int results_args_add_params(const struct cli *c, struct results_args *a,
                                   const char *text, struct pr_err *err)
{
    struct pr_value *list = PR_ARENA_NEW(c->arena, struct pr_value);
    struct pr_query *q;
    size_t n;
    const char **names = results_args_split_names(c->arena, text, &n);
    struct pr_value *items =
        names ? PR_ARENA_ARRAY(c->arena, struct pr_value, n) : NULL;
    int rc;

    if (!list || !items)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        items[i] = pr_str(names[i]);
    *list =
        (struct pr_value){.kind = PR_LIST, .len = (uint32_t)n, .items = items};
    rc = pr_query_new(list, "--filter-params", &q, err);
    return rc ? rc : results_args_add_filter(a, q, PR_QUERY_STRICT, err);
}

int results_args_init(const struct cli *c, struct results_args *a,
                      struct pr_err *err)
{
    int rc = PR_OK;

    *a = (struct results_args){0};
    for (size_t i = 0; !rc && i < c->arg_count; i++) {
        enum arg_id id = c->args[i].id;
        const char *value = c->args[i].value;
        struct pr_query *q;

        if (id == A_FILTER_PARAMS)
            rc = results_args_add_params(c, a, value, err);
        if (id != A_QUERY && id != A_SELECT && id != A_FILTER_QUERY)
            continue;
        rc = pr_results_parse_query(value,
                                    id == A_QUERY    ? "--query"
                                    : id == A_SELECT ? "--select"
                                                     : "--filter-query",
                                    c->arena, &q, err);
        /* DLBS's log parser lets what lacks a name pass. */
        if (!rc)
            rc = results_args_add_filter(
                a, q, id == A_FILTER_QUERY ? PR_QUERY_RELAXED : PR_QUERY_STRICT,
                err);
    }
    if (rc)
        results_args_close(a);
    return rc;
}

void results_args_close(struct results_args *a)
{
    for (size_t i = 0; i < a->filter_count; i++)
        pr_query_free(a->queries[i]);
    a->filter_count = 0;
}

static void print_results_warnings(const struct pr_results_counts *n)
{
    for (size_t i = 0; i < n->note_count; i++)
        if (!n->damaged || strcmp(n->notes[i].msg, n->damage.msg) != 0)
            message_print_warning(n->notes[i].where, n->notes[i].msg,
                                  n->notes[i].hint);
    if (n->bad_lines > 1)
        message_print(SAY_WARNING,
                      "warning: %llu lines had unreadable values\n",
                      (unsigned long long)n->bad_lines);
    if (n->long_lines)
        message_print(SAY_WARNING,
                      "warning: %llu lines of more than 8 MiB were skipped\n",
                      (unsigned long long)n->long_lines);
    if (n->dropped)
        message_print(SAY_WARNING,
                      "warning: %llu values were too many or too large for "
                      "a result, and left out\n",
                      (unsigned long long)n->dropped);
    if (n->underived > 1)
        message_print(
            SAY_WARNING,
            "warning: %llu results lack what a parameter to add refers to\n",
            (unsigned long long)n->underived);
    if (n->unreadable > 1)
        message_print(SAY_WARNING,
                      "warning: %llu of %llu files could not be read, or "
                      "not whole\n",
                      (unsigned long long)n->unreadable,
                      (unsigned long long)n->files);
}

int results_args_opts(const struct cli *c, const struct results_args *a,
                      const char *const *names, struct pr_results_opts *ret,
                      struct pr_err *err)
{
    struct pr_results_opts o = {
        .recursive = arg_on(c, A_RECURSIVE),
        .run_only = !a->unfinished,
        .filters = a->filters,
        .filter_count = a->filter_count,
        .names = names,
    };
    long threads = 0;
    int rc = arg_number(c, A_READ_THREADS, 1, 0, &threads, err);

    if (rc)
        return rc;
    o.threads = (unsigned)threads;
    while (names && names[o.name_count])
        o.name_count++;
    *ret = o;
    return PR_OK;
}

void results_args_warn(const struct cli *c, const struct pr_results *set)
{
    if (!arg_on(c, A_IGNORE_ERRORS))
        print_results_warnings(pr_results_get_counts(set));
    if (pr_results_get_counts(set)->missing)
        message_print(
            SAY_WARNING,
            "warning: %llu experiments of runs have no result yet, and are "
            "left out\n",
            (unsigned long long)pr_results_get_counts(set)->missing);
    else if (!pr_results_get_counts(set)->files)
        message_print_warning(
            "", "there is nothing to read in these folders",
            "folders inside folders are read with --recursive");
}

int results_args_check_whole(const struct cli *c, const struct pr_results *set,
                             struct pr_err *err)
{
    const struct pr_results_counts *n = pr_results_get_counts(set);

    if (!n->damaged || arg_on(c, A_IGNORE_ERRORS))
        return PR_OK;
    *err = n->damage;
    return pr_hint(err, "what could be read is in the answer; "
                        "--ignore-errors takes that for all of it");
}

int results_args_read(const struct cli *c, const struct results_args *a,
                      const char *const *inputs, size_t count,
                      const char *const *names, struct pr_results **ret,
                      struct pr_err *err)
{
    struct pr_results_opts o;
    int rc = results_args_opts(c, a, names, &o, err);

    return rc ? rc : pr_results_read(inputs, count, &o, ret, err);
}

/* ---- prony plot: its JSON */

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

/* ---- prony plot: what to read */

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

/* ---- prony plot: kinds of charts */

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
