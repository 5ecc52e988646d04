/* Results of a probe. */
#include "job/probe_result.h"

#include <stdio.h>
#include <string.h>

static const char *const names[PR_PROBE_PHASES] = {"io", "synthetic", "full"};

static void probe_put_float(struct pr_result_lines *k, const char *phase,
                            const char *what, double value)
{
    char name[64];

    snprintf(name, sizeof name, "%s%s", phase, what);
    pr_result_lines_put_float(k, name, value);
}

static void probe_put_times(struct pr_result_lines *k, const char *phase,
                            const char *part, const struct pr_probe_times *t)
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
        probe_put_float(k, phase, name, 1e3 * rows[i].s);
    }
}

static void probe_put_trials(struct pr_result_lines *k,
                             const struct pr_probe *p, int phase)
{
    struct pr_probe_trial t;
    char name[64];
    const char *key;

    snprintf(name, sizeof name, "%s_trials", names[phase]);
    key = pr_result_lines_begin(k, name);
    pr_json_open_array(k->at, key);
    for (size_t i = 0; pr_probe_trial(p, (enum pr_probe_phase)phase, i, &t);
         i++)
        pr_json_put_float(k->at, NULL, t.rate);
    pr_json_close(k->at);
    pr_result_lines_end(k);
}

static void probe_put_phase(struct pr_result_lines *k, const struct pr_probe *p,
                            int phase, const struct pr_probe_figures *f)
{
    const char *name = names[phase];

    if (!f->trials)
        return;
    probe_put_float(k, name, "", f->rate);
    probe_put_float(k, name, "_stdev", f->deviation);
    probe_put_trials(k, p, phase);
    if (phase != PR_PROBE_SYNTHETIC)
        probe_put_times(k, name, "fetch", &f->fetch);
    if (phase != PR_PROBE_IO)
        probe_put_times(k, name, "step", &f->step);
}

/* What other reports look for. */
static void probe_put_common(struct pr_result_lines *k,
                             const struct pr_probe_numbers *n)
{
    const struct pr_probe_figures *f = &n->phase[PR_PROBE_FULL];

    if (!f->trials)
        return;
    pr_result_lines_put_float(k, "throughput", f->rate);
    if (f->batches)
        pr_result_lines_put_float(
            k, "time", 1e3 * (f->fetch_s + f->step_s) / (double)f->batches);
}

static void probe_put_verdict(struct pr_result_lines *k,
                              const struct pr_probe_verdict *v)
{
    pr_result_lines_put_str(k, "bound", pr_probe_bound_name(v->bound));
    if (v->stall >= 0)
        pr_result_lines_put_float(k, "stall", v->stall);
    if (v->overlap >= 0)
        pr_result_lines_put_float(k, "overlap", v->overlap);
    if (v->gain > 0)
        pr_result_lines_put_float(k, "gain", v->gain);
    pr_result_lines_put_str(k, "verdict", v->text);
}

static void probe_put_main(struct pr_result_lines *k,
                           const struct pr_probe_numbers *n)
{
    pr_json_open_array(k->at, pr_result_lines_begin(k, "prony.main"));
    for (int i = 0; i < PR_PROBE_PHASES; i++)
        if (n->phase[i].trials)
            pr_json_put_str(k->at, NULL, names[i]);
    pr_json_put_str(k->at, NULL, "bound");
    pr_json_close(k->at);
    pr_result_lines_end(k);
}

void pr_probe_job_put_results(const struct pr_probe *p,
                              struct pr_result_lines *k)
{
    struct pr_probe_numbers n = {.size = sizeof n};
    struct pr_probe_verdict v = {.size = sizeof v};

    pr_probe_numbers(p, &n);
    pr_probe_judge(&n, &v);
    probe_put_main(k, &n);
    if (n.batch_size)
        pr_result_lines_put_uint(k, "batch_size", n.batch_size);
    for (int i = 0; i < PR_PROBE_PHASES; i++)
        probe_put_phase(k, p, i, &n.phase[i]);
    probe_put_common(k, &n);
    probe_put_verdict(k, &v);
}
