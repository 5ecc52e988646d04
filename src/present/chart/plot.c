/*
 * Series as a chart: what --chart-opts says, what series are called, and what
 * stands where. Bars and boxes stand at names, also where these are numbers;
 * lines have an axis of numbers where all x are.
 */
#include "present/chart/plot.h"

#include "base/json/json.h"
#include "base/stats/statistics.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what --chart-opts says */

/* Options of a chart, as told or as is usual. */
struct look {
    struct pr_chart chart;         /* texts, scales and sizes are set */
    const struct pr_value *legend; /* names, or NULL */
    bool errors;                   /* error bars are wanted */
};

#define WHERE "--chart-opts"

enum kind { TEXT, SCALE, NUMBER, FLAG, NAMES };

static const struct option {
    const char *name;
    enum kind kind;
    size_t at; /* in struct look */
    double least, most;
} options[] = {
#define AT(member) offsetof(struct look, member)
    {"title", TEXT, AT(chart.title), 0, 0},
    {"subtitle", TEXT, AT(chart.subtitle), 0, 0},
    {"xlabel", TEXT, AT(chart.x_label), 0, 0},
    {"ylabel", TEXT, AT(chart.y_label), 0, 0},
    {"xunit", TEXT, AT(chart.x_unit), 0, 0},
    {"yunit", TEXT, AT(chart.y_unit), 0, 0},
    {"xscale", SCALE, AT(chart.x_scale), 0, 0},
    {"yscale", SCALE, AT(chart.y_scale), 0, 0},
    {"width", NUMBER, AT(chart.width), 200, PR_CHART_SIDE},
    {"height", NUMBER, AT(chart.height), 150, PR_CHART_SIDE},
    {"scale", NUMBER, AT(chart.scale), 0.25, 8},
    {"errors", FLAG, AT(errors), 0, 0},
    {"legend", NAMES, AT(legend), 0, 0},
#undef AT
};

enum { OPTIONS = sizeof options / sizeof *options };

static int plot_fail_value(const struct pr_member *m, const char *wants,
                           struct pr_err *err)
{
    return pr_fail(err, PR_E_USAGE, WHERE, "'%s' wants %s, got %s", m->key,
                   wants, pr_kind_name(m->value.kind));
}

static int set_scale(const struct pr_member *m, enum pr_chart_scale *ret,
                     struct pr_err *err)
{
    static const char *const names[] = {"auto", "linear", "log"};

    for (int i = 0; m->value.kind == PR_STR && i < 3; i++)
        if (strcmp(m->value.s, names[i]) == 0) {
            *ret = (enum pr_chart_scale)i;
            return PR_OK;
        }
    pr_fail(err, PR_E_USAGE, WHERE, "'%s' is none of its values", m->key);
    return pr_hint(err, "\"auto\", \"linear\" or \"log\"");
}

static int set_number(const struct pr_member *m, const struct option *o,
                      double *ret, struct pr_err *err)
{
    if (!pr_value_is_number(&m->value))
        return plot_fail_value(m, "a number", err);
    if (!(pr_value_number(&m->value) >= o->least) ||
        !(pr_value_number(&m->value) <= o->most))
        return pr_fail(err, PR_E_USAGE, WHERE, "'%s' is from %g to %g", m->key,
                       o->least, o->most);
    *ret = pr_value_number(&m->value);
    return PR_OK;
}

static int plot_set_option(struct look *look, const struct pr_member *m,
                           const struct option *o, struct pr_err *err)
{
    void *at = (char *)look + o->at;

    switch (o->kind) {
    case TEXT:
        if (m->value.kind != PR_STR)
            return plot_fail_value(m, "text", err);
        *(const char **)at = m->value.s;
        return PR_OK;
    case SCALE:
        return set_scale(m, at, err);
    case NUMBER:
        return set_number(m, o, at, err);
    case FLAG:
        if (m->value.kind != PR_BOOL)
            return plot_fail_value(m, "true or false", err);
        *(bool *)at = m->value.b;
        return PR_OK;
    case NAMES:
        if (m->value.kind != PR_LIST)
            return plot_fail_value(m, "a list of names", err);
        *(const struct pr_value **)at = &m->value;
    }
    return PR_OK;
}

static int set_named(struct look *look, const struct pr_member *m,
                     struct pr_err *err)
{
    struct pr_nearest near;

    for (size_t i = 0; i < OPTIONS; i++)
        if (strcmp(m->key, options[i].name) == 0)
            return plot_set_option(look, m, &options[i], err);
    pr_fail(err, PR_E_USAGE, WHERE, "unknown option '%s'", m->key);
    pr_nearest_init(&near, m->key);
    for (size_t i = 0; i < OPTIONS; i++)
        pr_nearest_offer(&near, options[i].name);
    return near.best ? pr_hint(err, "did you mean '%s'?", near.best)
                     : pr_hint(err, "title, subtitle, xlabel, ylabel, legend, "
                                    "xscale, yscale, xunit, yunit, errors, "
                                    "width, height, scale");
}

static int plot_read_look(const struct pr_value *told, struct look *ret,
                          struct pr_err *err)
{
    struct look look = {.errors = true};
    int rc = PR_OK;

    if (told->kind != PR_NULL && told->kind != PR_MAP)
        return pr_fail(err, PR_E_USAGE, WHERE, "wants a map, got %s",
                       pr_kind_name(told->kind));
    for (uint32_t i = 0; !rc && told->kind == PR_MAP && i < told->len; i++)
        rc = set_named(&look, &told->members[i], err);
    if (!rc)
        *ret = look;
    return rc;
}

/* ---- names */

/* Whether all series have the same value of a name. */
static bool is_common(const struct pr_plot_data *s, const char *key)
{
    const struct pr_value *first = pr_get(&s->series[0].filters, key);

    for (size_t i = 1; i < s->count; i++) {
        const struct pr_value *v = pr_get(&s->series[i].filters, key);

        if (!v || !first || !pr_value_equal(v, first))
            return false;
    }
    return s->count > 1;
}

/* "mxnet", "num_gpus=4": text speaks for itself. */
static void label_put_filter(struct pr_buf *b, const struct pr_member *m)
{
    const char *dot = strrchr(m->key, '.');

    if (b->len)
        pr_buf_str(b, ", ");
    if (m->value.kind != PR_STR)
        pr_buf_printf(b, "%s=", dot ? dot + 1 : m->key);
    pr_value_write_text(b, &m->value);
}

static const char *plot_name_series(const struct pr_plot_data *s, size_t k,
                                    struct pr_arena *a)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 16);
    const struct pr_value *f = &s->series[k].filters;
    const struct pr_value *id = pr_get(f, "exp.id");
    size_t told = 0;

    for (uint32_t i = 0; f->kind == PR_MAP && i < f->len; i++) {
        const char *key = f->members[i].key;

        if (is_common(s, key) || strcmp(key, "exp.id") == 0)
            continue;
        told += strcmp(key, "column") != 0 && strcmp(key, "task") != 0;
        label_put_filter(&b, &f->members[i]);
    }
    /* An experiment that differs in nothing else goes by its id. */
    if (id && !told && !is_common(s, "exp.id"))
        label_put_filter(&b,
                         &(struct pr_member){.key = "exp.id", .value = *id});
    if (!b.len && pr_buf_ok(&b))
        pr_json_write(&b, f);
    return pr_buf_ok(&b) ? pr_arena_copy(a, b.data, b.len) : NULL;
}

const char **pr_plot_names(const struct pr_plot_data *s,
                           const struct pr_value *legend, struct pr_arena *a)
{
    const char **names = PR_ARENA_ARRAY(a, const char *, s->count + 1);

    for (size_t i = 0; names && i < s->count; i++) {
        const struct pr_value *told =
            legend && i < legend->len ? &legend->items[i] : NULL;

        names[i] =
            told && told->kind == PR_STR ? told->s : plot_name_series(s, i, a);
        if (!names[i])
            return NULL;
    }
    return names;
}

/* ---- quartiles */

/* Whiskers end at the last value within one and a half times the distance of
 * the quartiles; what is farther away stands alone. Those of the low side come
 * first in memory, those of the high side last: they are moved together. */
struct pr_chart_spread pr_plot_spread(double *v, size_t n)
{
    struct pr_chart_spread s = {0};
    double sum = 0, reach;
    size_t first = 0, last = n - 1, far;

    qsort(v, n, sizeof *v, pr_double_compare);
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    s.mean = sum / (double)n;
    s.q1 = pr_steady_quantile(v, n, 0.25);
    s.median = pr_steady_quantile(v, n, 0.5);
    s.q3 = pr_steady_quantile(v, n, 0.75);
    reach = 1.5 * (s.q3 - s.q1);
    while (first < last && v[first] < s.q1 - reach)
        first++;
    while (last > first && v[last] > s.q3 + reach)
        last--;
    s.low = fmin(v[first], s.q1);
    s.high = fmax(v[last], s.q3);
    far = n - 1 - last;
    memmove(v + first, v + last + 1, far * sizeof *v);
    s.far = v;
    s.far_count = first + far;
    return s;
}

struct plot {
    const struct pr_plot_data *s;
    const struct pr_plot_opts *o;
    struct pr_arena *arena;
    struct look look;
    const char **names;
    struct pr_chart_series *series;
    bool has_errors;
};

int pr_plot_check(const struct pr_plot_opts *o, struct pr_err *err)
{
    struct look look;

    return plot_read_look(&o->chart, &look, err);
}

/* ---- data */

static bool at_names(const struct plot *p)
{
    return p->o->kind == PR_PLOT_BAR || p->o->kind == PR_PLOT_BOX ||
           !p->s->x_numbers;
}

/* The place of each point among all x: both are in order. */
static double plot_find_place(const struct plot *p,
                              const struct pr_plot_data_point *q, size_t *at)
{
    if (!at_names(p))
        return q->x_number;
    while (p->s->x_values[*at] != q->x)
        ++*at;
    return (double)*at;
}

static int plot_fill_points(struct plot *p, const struct pr_plot_data_series *s,
                            struct pr_chart_series *out, struct pr_err *err)
{
    struct pr_chart_point *points =
        PR_ARENA_ARRAY(p->arena, struct pr_chart_point, s->count + 1);
    size_t at = 0;

    if (!points)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < s->count; i++) {
        const struct pr_plot_data_point *q = &s->points[i];

        points[i] = (struct pr_chart_point){.x = plot_find_place(p, q, &at),
                                            .y = q->y,
                                            .low = q->low,
                                            .high = q->high};
        if (!p->look.errors)
            points[i].low = points[i].high = q->y;
        p->has_errors |= points[i].low < points[i].high;
    }
    out->points = points;
    out->count = s->count;
    out->style = p->o->kind == PR_PLOT_BAR      ? PR_CHART_BARS
                 : p->o->kind == PR_PLOT_POINTS ? PR_CHART_POINTS
                                                : PR_CHART_LINE;
    return PR_OK;
}

static double *copy_values(const struct plot *p,
                           const struct pr_plot_data_series *s, size_t from,
                           size_t to, size_t *ret_count)
{
    size_t n = 0;
    double *all;

    for (size_t i = from; i < to; i++)
        n += s->points[i].count;
    all = PR_ARENA_ARRAY(p->arena, double, n + 1);
    n = 0;
    for (size_t i = from; all && i < to; i++)
        for (size_t k = 0; k < s->points[i].count; k++)
            if (isfinite(s->points[i].values[k]))
                all[n++] = s->points[i].values[k];
    *ret_count = n;
    return all;
}

static int plot_fill_spreads(struct plot *p,
                             const struct pr_plot_data_series *s,
                             struct pr_chart_series *out, struct pr_err *err)
{
    struct pr_chart_spread *spreads =
        PR_ARENA_ARRAY(p->arena, struct pr_chart_spread, s->count + 1);
    size_t at = 0;

    if (!spreads)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < s->count; i++) {
        size_t n;
        double *values = copy_values(p, s, i, i + 1, &n);

        if (!values)
            return pr_fail_nomem(err);
        if (!n)
            continue;
        spreads[out->count] = pr_plot_spread(values, n);
        spreads[out->count++].x = plot_find_place(p, &s->points[i], &at);
    }
    out->spreads = spreads;
    out->style = PR_CHART_BOXES;
    return PR_OK;
}

/* One box a series, side by side under its name. */
static int plot_fill_whole_spreads(struct plot *p, struct pr_err *err)
{
    struct pr_chart_series *out = p->series;
    struct pr_chart_spread *spreads =
        PR_ARENA_ARRAY(p->arena, struct pr_chart_spread, p->s->count + 1);

    if (!spreads)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < p->s->count; i++) {
        const struct pr_plot_data_series *s = &p->s->series[i];
        size_t n;
        double *values = copy_values(p, s, 0, s->count, &n);

        if (!values)
            return pr_fail_nomem(err);
        if (!n)
            continue;
        spreads[out->count] = pr_plot_spread(values, n);
        spreads[out->count++].x = (double)i;
    }
    out->spreads = spreads;
    out->style = PR_CHART_BOXES;
    p->look.chart.series_count = 1;
    p->look.chart.x_names = p->names;
    p->look.chart.x_name_count = p->s->count;
    return PR_OK;
}

static int plot_fill_series(struct plot *p, struct pr_err *err)
{
    struct pr_chart *c = &p->look.chart;
    int rc = PR_OK;

    c->series = p->series;
    if (p->o->kind == PR_PLOT_SPREAD)
        return plot_fill_whole_spreads(p, err);
    c->series_count = p->s->count;
    c->x_at_points = true;
    if (at_names(p)) {
        c->x_names = p->s->x_values;
        c->x_name_count = p->s->x_count;
    }
    for (size_t i = 0; !rc && i < p->s->count; i++) {
        p->series[i].name = p->names[i];
        rc = p->o->kind == PR_PLOT_BOX
                 ? plot_fill_spreads(p, &p->s->series[i], &p->series[i], err)
                 : plot_fill_points(p, &p->s->series[i], &p->series[i], err);
    }
    return rc;
}

/* ---- words */

static const char *plot_make_title(const struct plot *p)
{
    if (p->o->kind == PR_PLOT_SPREAD)
        return p->s->y;
    return pr_arena_printf(p->arena, p->s->x_unit ? "%s over %s" : "%s by %s",
                           p->s->y, p->s->x);
}

/* What was not told. */
static int plot_fill_defaults(struct plot *p, struct pr_err *err)
{
    struct pr_chart *c = &p->look.chart;

    if (!c->title)
        c->title = plot_make_title(p);
    if (!c->title)
        return pr_fail_nomem(err);
    if (!c->subtitle &&
        (p->o->kind == PR_PLOT_BOX || p->o->kind == PR_PLOT_SPREAD))
        c->subtitle = "median and quartiles, the rest within 1.5 times their "
                      "distance, the mean as a dot";
    else if (!c->subtitle && p->has_errors)
        c->subtitle = "means with 95 % confidence intervals";
    if (!c->x_label && p->o->kind != PR_PLOT_SPREAD)
        c->x_label = p->s->x;
    if (!c->y_label)
        c->y_label = p->s->y;
    if (!c->x_unit && !c->x_names)
        c->x_unit = p->s->x_unit;
    c->y_from_zero = p->s->x_unit; /* a steady load is no noise */
    if (p->s->x_unit && c->x_scale == PR_SCALE_AUTO)
        c->x_scale = PR_SCALE_LINEAR; /* time goes on evenly */
    if (!c->y_unit)
        c->y_unit = p->s->y_unit;
    if (p->o->relative && !p->s->warning) {
        c->threshold = 1;
        c->threshold_label = "baseline";
    }
    return PR_OK;
}

/* One chart of series that have one unit. */
static int make_chart(struct plot *p, const char **names, struct pr_chart *ret,
                      struct pr_err *err)
{
    int rc = plot_read_look(&p->o->chart, &p->look, err);

    p->names = names;
    p->series =
        PR_ARENA_ARRAY(p->arena, struct pr_chart_series, p->s->count + 1);
    if (!rc && !p->series)
        rc = pr_fail_nomem(err);
    if (!rc)
        rc = plot_fill_series(p, err);
    if (!rc)
        rc = plot_fill_defaults(p, err);
    *ret = p->look.chart;
    return rc;
}

/* ---- panels, where units differ */

enum { MOST_PANELS = 8, PANEL = 220, HEADING = 60 };

struct panel {
    struct pr_plot_data set;
    const char **names;
};

/* What a panel of one column or task is called; of several, their common
 * beginning: "mem" of mem.used_bytes and mem.cached_bytes. */
static const char *panel_label(struct pr_arena *a, const struct pr_plot_data *d)
{
    const char *first = NULL;
    size_t n = 0;

    for (size_t i = 0; i < d->count; i++) {
        const struct pr_value *v = pr_get(&d->series[i].filters, "column");
        size_t same = 0;

        if (!v)
            v = pr_get(&d->series[i].filters, "task");
        if (!v || v->kind != PR_STR)
            return d->y;
        if (!first) {
            first = v->s;
            n = strlen(first);
        }
        while (same < n && first[same] == v->s[same])
            same++;
        if (same < n || v->s[same])
            while (same && first[same - 1] != '.')
                same--;
        n = same;
    }
    while (n && first[n - 1] == '.')
        n--;
    return n ? pr_arena_copy(a, first, n) : "";
}

static int plot_split_panels(const struct pr_plot_data *s, const char **names,
                             struct pr_arena *a,
                             struct panel panels[static MOST_PANELS],
                             size_t *ret_count, struct pr_err *err)
{
    size_t n = 0;

    for (size_t i = 0; i < s->count; i++) {
        struct panel *p = panels;

        while (p < panels + n && strcmp(p->set.y_unit, s->series[i].unit) != 0)
            p++;
        if (p == panels + MOST_PANELS) {
            pr_fail(err, PR_E_CONF, "--yparam",
                    "these have more than %d different units", MOST_PANELS);
            return pr_hint(err, "name fewer with --yparam");
        }
        if (p == panels + n) {
            n++;
            *p = (struct panel){.set = *s};
            p->set.y_unit = s->series[i].unit;
            p->set.count = 0;
            p->set.series =
                PR_ARENA_ARRAY(a, struct pr_plot_data_series, s->count);
            p->names = PR_ARENA_ARRAY(a, const char *, s->count + 1);
            if (!p->set.series || !p->names)
                return pr_fail_nomem(err);
        }
        p->names[p->set.count] = names[i];
        p->set.series[p->set.count++] = s->series[i];
    }
    *ret_count = n;
    return PR_OK;
}

/* So that all have the same x. */
static void span_x(const struct pr_plot_data *s, struct pr_chart *c)
{
    if (!s->x_numbers || !s->x_count || c->x_names)
        return;
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < s->series[i].count; k++) {
            double x = s->series[i].points[k].x_number;

            c->x_from = fmin(c->x_from, x);
            c->x_to = fmax(c->x_to, x);
        }
}

static void plot_arrange_panels(struct pr_chart *charts, size_t n)
{
    double height =
        charts[0].height > 0 ? charts[0].height : HEADING + PANEL * (double)n;

    for (size_t i = 0; i < n; i++) {
        charts[i].height = fmax(120, (height - HEADING) / (double)n);
        if (i) {
            charts[i].title = charts[i].subtitle = "";
        } else {
            charts[i].height += HEADING;
        }
        if (i + 1 < n && !charts[i].x_names)
            charts[i].x_label = "";
    }
}

static int draw_split(const struct plot *whole, const char **names,
                      const struct pr_canvas_kind *kind, struct pr_buf *out,
                      struct pr_err *err)
{
    struct panel panels[MOST_PANELS] = {{.names = NULL}};
    struct pr_chart charts[MOST_PANELS];
    size_t n = 0;
    int rc = plot_split_panels(whole->s, names, whole->arena, panels, &n, err);

    for (size_t i = 0; !rc && i < n; i++) {
        struct plot p = *whole;

        p.s = &panels[i].set;
        rc = make_chart(&p, panels[i].names, &charts[i], err);
        if (rc)
            break;
        charts[i].y_label = panel_label(whole->arena, p.s);
        if (!charts[i].y_label)
            return pr_fail_nomem(err);
        span_x(whole->s, &charts[i]);
    }
    if (rc)
        return rc;
    plot_arrange_panels(charts, n);
    return pr_chart_draw_panels(charts, n, kind, out, err);
}

int pr_plot_draw(const struct pr_plot_data *s, const struct pr_plot_opts *o,
                 const struct pr_canvas_kind *kind, struct pr_buf *out,
                 struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct plot p = {.s = s, .o = o, .arena = a};
    struct pr_chart chart;
    const char **names;
    int rc = a ? plot_read_look(&o->chart, &p.look, err) : pr_fail_nomem(err);

    if (rc)
        return rc;
    names = pr_plot_names(s, p.look.legend, a);
    if (!names)
        return pr_fail_nomem(err);
    if (s->count && s->series[0].unit)
        return draw_split(&p, names, kind, out, err);
    rc = make_chart(&p, names, &chart, err);
    return rc ? rc : pr_chart_draw(&chart, kind, out, err);
}
