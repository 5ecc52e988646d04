/*
 * The charts of a probe and of a search for the capacity.
 *
 * probe.svg: for each experiment a bar for data alone, computing alone and
 * both, with the deviation of its trials. capacity.svg: utilisation over the
 * number of accelerators. Trials are dots; the line between them is what is
 * expected there: level up to the knee, then falling as 1/n.
 */
#include "present/chart/plot_probe.h"

#include "analyse/capacity/capacity.h"
#include "base/mem.h"
#include "present/chart/chart.h"
#include "present/report/report_capacity.h"
#include "present/report/report_experiment.h"
#include "present/report/report_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- capacity.svg */

enum { LINE_POINTS = 800 }; /* about so many */

/* The utilisation to expect between two trials. */
static double interpolate_utilisation(const struct pr_capacity_point *a,
                                      const struct pr_capacity_point *b,
                                      double top, double x)
{
    double from = (double)a->accelerators, to = (double)b->accelerators;
    double share = (x - from) / (to - from);

    if (b->utilisation >= top - PR_CAPACITY_KNEE || !(b->utilisation > 0))
        return a->utilisation + share * (b->utilisation - a->utilisation);
    if (a->utilisation >= top - PR_CAPACITY_KNEE) /* the knee is between them */
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

/* ---- probe.svg */

enum { PHASES = 3, MOST = 24 }; /* experiments in a chart */

static const char *const keys[PHASES] = {"io", "synthetic", "full"};
static const char *const titles[PHASES] = {
    "data alone (IO)", "computing alone (SYNTHETIC)", "both (FULL)"};

struct found {
    struct pr_arena *arena;
    const char *names[MOST];
    struct pr_chart_point points[PHASES][MOST];
    size_t counts[PHASES];
    size_t count;
    const char *verdict; /* of the only one */
};

static bool probe_chart_read_number(const struct pr_value *map, const char *key,
                                    double *ret)
{
    const struct pr_value *v = pr_get(map, key);

    if (!v || !pr_value_is_number(v))
        return false;
    *ret = pr_value_number(v);
    return true;
}

static void probe_chart_add_bar(struct found *f, const struct pr_value *results,
                                int phase)
{
    double rate, spread = 0;
    char key[32];

    if (!probe_chart_read_number(results, keys[phase], &rate))
        return;
    snprintf(key, sizeof key, "%s_stdev", keys[phase]);
    (void)probe_chart_read_number(results, key, &spread);
    f->points[phase][f->counts[phase]++] = (struct pr_chart_point){
        .x = (double)f->count,
        .y = rate,
        .low = rate - spread,
        .high = rate + spread,
    };
}

static int probe_chart_add_experiment(void *ctx, const char *id,
                                      const struct pr_value *results,
                                      struct pr_err *err)
{
    struct found *f = ctx;
    const char *verdict;

    if (!pr_is_probed(results) || f->count == MOST)
        return PR_OK;
    f->names[f->count] = pr_arena_str(f->arena, id);
    verdict = pr_run_result_verdict(results);
    verdict = verdict ? verdict : ""; /* what comes first fits */
    f->verdict = pr_arena_copy(f->arena, verdict, strcspn(verdict, ";"));
    if (!f->names[f->count] || !f->verdict)
        return pr_fail_nomem(err);
    for (int i = 0; i < PHASES; i++)
        probe_chart_add_bar(f, results, i);
    f->count++;
    return PR_OK;
}

static int probe_chart_draw(const struct found *f, struct pr_buf *out,
                            struct pr_err *err)
{
    struct pr_chart_series series[PHASES];
    struct pr_chart chart = {
        .title = "What holds it back",
        .y_label = "samples/s",
        .x_names = f->names,
        .x_name_count = f->count,
        .y_from_zero = true,
        .series = series,
    };

    if (f->count == 1)
        chart.subtitle = f->verdict;
    for (int i = 0; i < PHASES; i++)
        if (f->counts[i])
            series[chart.series_count++] =
                (struct pr_chart_series){.name = titles[i],
                                         .points = f->points[i],
                                         .count = f->counts[i],
                                         .style = PR_CHART_BARS};
    return pr_chart_draw(&chart, pr_canvas_kind("svg"), out, err);
}

int pr_probe_chart(const char *dir, struct pr_buf *out, bool *ret_any,
                   struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(8192);
    struct found f = {.arena = a};
    int rc = a ? pr_run_each_result(dir, probe_chart_add_experiment, &f, err)
               : pr_fail_nomem(err);

    *ret_any = f.counts[0] || f.counts[1] || f.counts[2];
    return rc || !*ret_any ? rc : probe_chart_draw(&f, out, err);
}
