/*
 * capacity.svg: utilisation over the number of accelerators. Trials are dots;
 * the line between them is what is expected there: level up to the knee, then
 * falling as 1/n.
 */
#include "present/chart/chart.h"
#include "present/report/capacity_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { LINE_POINTS = 800 }; /* about so many */

/* The utilisation to expect between two trials. */
static double interpolate_utilisation(const struct pr_capacity_point *a,
                                      const struct pr_capacity_point *b,
                                      double top, double x)
{
    double from = (double)a->accelerators, to = (double)b->accelerators;
    double share = (x - from) / (to - from);

    if (b->utilisation >= top - 0.02 || !(b->utilisation > 0))
        return a->utilisation + share * (b->utilisation - a->utilisation);
    if (a->utilisation >= top - 0.02) /* the knee is between them */
        return fmin(a->utilisation, b->utilisation * to / x);
    return 1 / (1 / a->utilisation +
                share * (1 / b->utilisation - 1 / a->utilisation));
}

/* The line, with a step that is a factor: numbers may span a million. */
static size_t fill_line(const struct pr_capacity_curve *c,
                        struct pr_chart_point *line)
{
    size_t each = c->count > 1 ? LINE_POINTS / (c->count - 1) + 1 : 0, n = 0;

    for (size_t i = 0; i + 1 < c->count; i++) {
        const struct pr_capacity_point *a = &c->points[i], *b = a + 1;
        double ratio = (double)b->accelerators / (double)a->accelerators;

        for (size_t k = 0; k <= each; k++) {
            double x =
                (double)a->accelerators * pow(ratio, (double)k / (double)each);
            line[n++] =
                (struct pr_chart_point){.x = x,
                                        .y = interpolate_utilisation(
                                            a, b, c->points[0].utilisation, x)};
        }
    }
    return n;
}

static int capacity_draw_chart(const struct pr_capacity_record *r,
                               const struct pr_capacity_curve *c,
                               const struct pr_chart_series *series,
                               struct pr_buf *out, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf name = PR_BUF_INIT(4096);
    struct pr_capacity_answer answer;
    struct pr_chart chart = {
        .title = "Utilisation by number of accelerators",
        .x_label = "accelerators",
        .y_label = "utilisation",
        .y_unit = "share",
        .series = series,
        .series_count = 2,
        .threshold = r->opts.threshold,
        .threshold_label = "threshold",
    };
    char mark[64];

    pr_capacity_name(r, &name);
    chart.subtitle = pr_buf_ok(&name) ? name.data : NULL;
    pr_capacity_find_answer(&r->opts, c, &answer);
    if (answer.known && answer.capacity) {
        snprintf(mark, sizeof mark, "%s%" PRIu64,
                 answer.at_least ? "at least " : "", answer.capacity);
        chart.mark = (double)answer.capacity;
        chart.mark_label = mark;
    }
    return pr_chart_draw(&chart, pr_canvas_kind("svg"), out, err);
}

int pr_capacity_svg(const struct pr_capacity_record *r, struct pr_buf *out,
                    struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(8192);
    struct pr_chart_series series[] = {
        {.name = "expected", .style = PR_CHART_CURVE},
        {.name = "trials", .style = PR_CHART_POINTS},
    };
    struct pr_capacity_curve c;
    struct pr_chart_point *points, *line;
    int rc =
        a ? pr_capacity_fill_curve(&r->opts, r->trials, r->count, a, &c, err)
          : pr_fail_nomem(err);

    if (rc)
        return rc;
    points = PR_ARENA_ARRAY(a, struct pr_chart_point, c.count + 1);
    line =
        PR_ARENA_ARRAY(a, struct pr_chart_point, LINE_POINTS + 3 * c.count + 1);
    if (!points || !line)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < c.count; i++) {
        const struct pr_capacity_point *p = &c.points[i];
        double error = isnan(p->error) ? 0 : p->error;

        points[i] = (struct pr_chart_point){
            .x = (double)p->accelerators,
            .y = p->utilisation,
            .low = fmax(0, p->utilisation - error),
            .high = fmin(1, p->utilisation + error),
        };
    }
    series[0].points = line;
    series[0].count = fill_line(&c, line);
    series[1].points = points;
    series[1].count = c.count;
    return capacity_draw_chart(r, &c, series, out, err);
}
