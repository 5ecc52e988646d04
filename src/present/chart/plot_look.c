/* What --chart-opts says, and what series are called. */
#include "base/json/json.h"
#include "base/text.h"
#include "present/chart/plot_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHERE "--chart-opts"

enum kind { TEXT, SCALE, NUMBER, FLAG, NAMES };

static const struct option {
    const char *name;
    enum kind kind;
    size_t at; /* in struct pr_plot_look */
    double least, most;
} options[] = {
#define AT(member) offsetof(struct pr_plot_look, member)
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

static int plot_set_option(struct pr_plot_look *look, const struct pr_member *m,
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

static int set_named(struct pr_plot_look *look, const struct pr_member *m,
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

int pr_plot_look(const struct pr_value *told, struct pr_plot_look *ret,
                 struct pr_err *err)
{
    struct pr_plot_look look = {.errors = true};
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

static int plot_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Between two values in proportion. */
static double plot_quantile(const double *sorted, size_t n, double share)
{
    double at = share * (double)(n - 1);
    size_t i = (size_t)at;

    if (i + 1 >= n)
        return sorted[n - 1];
    return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

/* Whiskers end at the last value within one and a half times the distance of
 * the quartiles; what is farther away stands alone. Those of the low side come
 * first in memory, those of the high side last: they are moved together. */
struct pr_chart_spread pr_plot_spread(double *v, size_t n)
{
    struct pr_chart_spread s = {0};
    double sum = 0, reach;
    size_t first = 0, last = n - 1, far;

    qsort(v, n, sizeof *v, plot_compare_doubles);
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    s.mean = sum / (double)n;
    s.q1 = plot_quantile(v, n, 0.25);
    s.median = plot_quantile(v, n, 0.5);
    s.q3 = plot_quantile(v, n, 0.75);
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
