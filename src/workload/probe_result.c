/* Results of a probe. */
#include "workload/probe_result.h"

#include <stdio.h>
#include <string.h>

static const char *const names[PR_PROBE_PHASES] = {"io", "synthetic", "full"};

static void put(struct pr_sink *k, const char *phase, const char *what,
                double value)
{
    char name[64];

    snprintf(name, sizeof name, "%s%s", phase, what);
    pr_sink_float(k, name, value);
}

static void put_times(struct pr_sink *k, const char *phase, const char *part,
                      const struct pr_probe_times *t)
{
    const struct {
        const char *what;
        double s;
    } rows[] = {{"ms", t->mean},
                {"p50_ms", t->p50},
                {"p90_ms", t->p90},
                {"p99_ms", t->p99},
                {"max_ms", t->max}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[64];

        snprintf(name, sizeof name, "_%s_%s", part, rows[i].what);
        put(k, phase, name, 1e3 * rows[i].s);
    }
}

static void put_trials(struct pr_sink *k, const struct pr_probe *p, int phase)
{
    struct pr_probe_trial t;
    char name[64];
    const char *key;

    snprintf(name, sizeof name, "%s_trials", names[phase]);
    key = pr_sink_begin(k, name);
    pr_jb_arr(k->at, key);
    for (size_t i = 0; pr_probe_trial(p, (enum pr_probe_phase)phase, i, &t);
         i++)
        pr_jb_float(k->at, NULL, t.rate);
    pr_jb_end(k->at);
    pr_sink_end(k);
}

static void put_phase(struct pr_sink *k, const struct pr_probe *p, int phase,
                      const struct pr_probe_figures *f)
{
    const char *name = names[phase];

    if (!f->trials)
        return;
    put(k, name, "", f->rate);
    put(k, name, "_stdev", f->deviation);
    put_trials(k, p, phase);
    if (phase != PR_PROBE_SYNTHETIC)
        put_times(k, name, "fetch", &f->fetch);
    if (phase != PR_PROBE_IO)
        put_times(k, name, "step", &f->step);
}

/* What other reports look for. */
static void put_common(struct pr_sink *k, const struct pr_probe_numbers *n)
{
    const struct pr_probe_figures *f = &n->phase[PR_PROBE_FULL];

    if (!f->trials)
        return;
    pr_sink_float(k, "throughput", f->rate);
    if (f->batches)
        pr_sink_float(k, "time",
                      1e3 * (f->fetch_s + f->step_s) / (double)f->batches);
}

static void put_verdict(struct pr_sink *k, const struct pr_probe_verdict *v)
{
    pr_sink_str(k, "bound", pr_probe_bound_name(v->bound));
    if (v->stall >= 0)
        pr_sink_float(k, "stall", v->stall);
    if (v->overlap >= 0)
        pr_sink_float(k, "overlap", v->overlap);
    if (v->gain > 0)
        pr_sink_float(k, "gain", v->gain);
    pr_sink_str(k, "verdict", v->text);
}

static void put_main(struct pr_sink *k, const struct pr_probe_numbers *n)
{
    pr_jb_arr(k->at, pr_sink_begin(k, "prony.main"));
    for (int i = 0; i < PR_PROBE_PHASES; i++)
        if (n->phase[i].trials)
            pr_jb_str(k->at, NULL, names[i]);
    pr_jb_str(k->at, NULL, "bound");
    pr_jb_end(k->at);
    pr_sink_end(k);
}

void pr_probe_results(const struct pr_probe *p, struct pr_sink *k)
{
    struct pr_probe_numbers n = {.size = sizeof n};
    struct pr_probe_verdict v = {.size = sizeof v};

    pr_probe_numbers(p, &n);
    pr_probe_judge(&n, &v);
    put_main(k, &n);
    if (n.batch_size)
        pr_sink_uint(k, "batch_size", n.batch_size);
    for (int i = 0; i < PR_PROBE_PHASES; i++)
        put_phase(k, p, i, &n.phase[i]);
    put_common(k, &n);
    put_verdict(k, &v);
}
