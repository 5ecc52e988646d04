/*
 * probe.svg: for each experiment a bar for data alone, computing alone and
 * both, with the deviation of its trials.
 */
#include "present/chart/probe_chart.h"

#include "base/mem.h"
#include "present/chart/chart.h"
#include "present/report/probe_report.h"
#include "present/report/results_each.h"

#include <stdio.h>
#include <string.h>

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
