/* Timing a loop: the trial that goes on, and what is kept of it. */
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "probe/probe_impl.h"

#include <stdio.h>
#include <string.h>

static uint64_t probe_now_ns(const struct pr_probe *p)
{
    return p->o.clock ? p->o.clock(p->o.ctx) : pr_clock_ns();
}

/* ---- start and end */

static int probe_check_config(const struct pr_probe_config *c,
                              struct pr_err *err)
{
    for (int i = 0; i < PR_PROBE_PHASES; i++)
        if (c->phase[i].run && !c->phase[i].batches)
            return pr_fail(err, PR_E_CONF, c->file,
                           "a trial of %s has to have a batch at least",
                           pr_probe_phase_name((enum pr_probe_phase)i));
    return PR_OK;
}

/* All that a step writes to is there before the first one. */
static int probe_alloc_trials(struct pr_probe *p, struct pr_err *err)
{
    uint64_t most = 0;

    for (int i = 0; i < PR_PROBE_PHASES; i++) {
        const struct pr_probe_phase_config *c = &p->config.phase[i];

        if (!c->run)
            continue;
        most = c->batches > most ? c->batches : most;
        if (c->trials > SIZE_MAX / sizeof *p->phase[i].trials)
            return pr_fail_nomem(err);
        p->phase[i].trials =
            pr_alloc_zeroed(c->trials * sizeof *p->phase[i].trials + 1);
        if (!p->phase[i].trials)
            return pr_fail_nomem(err);
    }
    if (most > SIZE_MAX / sizeof *p->rates - 2)
        return pr_fail_nomem(err);
    p->rates = pr_alloc_zeroed((most + 2) * sizeof *p->rates);
    return p->rates ? PR_OK : pr_fail_nomem(err);
}

static void probe_copy_opts(struct pr_probe *p, const struct pr_probe_opts *o)
{
    size_t known = o->size < sizeof p->o ? o->size : sizeof p->o;

    memcpy(&p->o, o, known);
    p->each = p->o.batch_size ? p->o.batch_size : 1;
    if (!p->o.ranks)
        p->o.ranks = 1;
    if (p->o.rank)
        p->o.line = NULL;
    p->config.size = sizeof p->config;
    pr_probe_config_init(&p->config);
    p->config.output[0] = '\0';
    if (p->o.config) {
        size_t size = p->o.config->size;

        memcpy(&p->config, p->o.config,
               size < sizeof p->config ? size : sizeof p->config);
    }
    p->config.size = sizeof p->config;
    p->o.config = NULL;
    p->json = (struct pr_buf)PR_BUF_INIT(SIZE_MAX / 2);
}

int pr_probe_new(const struct pr_probe_opts *opts, struct pr_probe **ret,
                 struct pr_err *err)
{
    struct pr_probe *p = pr_alloc_zeroed(sizeof *p);
    int rc;

    if (!p)
        return pr_fail_nomem(err);
    probe_copy_opts(p, opts);
    rc = probe_check_config(&p->config, err);
    if (!rc)
        rc = probe_alloc_trials(p, err);
    if (rc)
        pr_probe_free(p);
    else
        *ret = p;
    return rc;
}

void pr_probe_free(struct pr_probe *p)
{
    if (!p)
        return;
    for (int i = 0; i < PR_PROBE_PHASES; i++) {
        for (size_t k = 0; k < p->phase[i].count; k++)
            pr_free(p->phase[i].trials[k].memory);
        pr_free(p->phase[i].trials);
    }
    pr_free(p->rates);
    pr_buf_free(&p->json);
    pr_free(p);
}

/* ---- trials */

static uint64_t trials_of(const struct pr_probe *p, enum pr_probe_phase phase)
{
    const struct pr_probe_phase_config *c = &p->config.phase[phase];

    return c->run ? c->warmup + c->trials : 0;
}

enum pr_probe_phase pr_probe_next(const struct pr_probe *p)
{
    for (int i = 0; i < PR_PROBE_PHASES; i++)
        if (p->phase[i].done < trials_of(p, (enum pr_probe_phase)i))
            return (enum pr_probe_phase)i;
    return PR_PROBE_PHASES;
}

static void set_label(struct pr_probe *p, uint64_t done, uint64_t warmup)
{
    const char *name = pr_probe_phase_name(p->at);

    if (p->counts)
        snprintf(p->label, sizeof p->label, "%s_%llu", name,
                 (unsigned long long)(done - warmup));
    else
        snprintf(p->label, sizeof p->label, "%s_WARMUP_%llu", name,
                 (unsigned long long)done);
}

int pr_probe_begin(struct pr_probe *p, enum pr_probe_phase phase,
                   struct pr_err *err)
{
    const struct pr_probe_phase_config *c;
    uint64_t done;
    int rc = pr_probe_end(p, err);

    if (rc)
        return rc;
    if (phase < 0 || phase >= PR_PROBE_PHASES ||
        p->phase[phase].done >= trials_of(p, phase))
        return pr_fail(err, PR_E_USAGE, "", "%s has had all its trials",
                       pr_probe_phase_name(phase));
    c = &p->config.phase[phase];
    done = p->phase[phase].done;
    p->at = phase;
    p->counts = done >= c->warmup;
    set_label(p, done, c->warmup);
    p->limit = c->batches;
    p->count = p->all_samples = 0;
    p->samples = p->each;
    p->until_line = p->o.line ? p->config.report_freq : 0;
    p->is_open = true;
    p->start = p->from = p->ready = probe_now_ns(p);
    return PR_OK;
}

void pr_probe_batch_ready(struct pr_probe *p, uint64_t samples)
{
    p->samples = samples ? samples : p->each;
    p->ready = probe_now_ns(p);
}

/* Time that it takes to say something counts for nobody. */
static void probe_report_rate(struct pr_probe *p, double rate)
{
    uint64_t before = p->from;

    p->until_line = p->config.report_freq;
    pr_probe_print_iteration(p, rate);
    p->from = p->ready = probe_now_ns(p);
    p->start += p->from - before;
}

bool pr_probe_step_done(struct pr_probe *p)
{
    uint64_t end = probe_now_ns(p), time;
    double rate;

    if (!p->is_open || p->count == p->limit)
        return false;
    time = end > p->from ? end - p->from : 1;
    rate = (double)(p->samples * p->o.ranks) / ((double)time / 1e9);
    p->rates[p->count++] = rate;
    p->all_samples += p->samples;
    if (p->counts) {
        pr_histogram_add(&p->phase[p->at].fetch, p->ready - p->from);
        pr_histogram_add(&p->phase[p->at].step, end - p->ready);
    }
    p->from = p->ready = end;
    if (p->until_line && !--p->until_line)
        probe_report_rate(p, rate);
    return p->count < p->limit;
}

/* ---- the end of a trial */

static double probe_mean_rate(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return n ? sum / (double)n : 0;
}

/* As this rank sees it, which is benchy's way. */
static void judge_own(const struct pr_probe *p, struct pr_probe_trial *t)
{
    uint64_t time = p->from > p->start ? p->from - p->start : 1;

    t->rates = p->rates;
    t->count = (size_t)p->count;
    t->time_s = (double)time / 1e9;
    t->rate = (double)(p->all_samples * p->o.ranks) / t->time_s;
    t->mean_rate = probe_mean_rate(p->rates, t->count);
}

/* A block for the rates of all ranks and, beside them, those of this one. */
static double *copy_rates(const struct pr_probe *p, size_t count)
{
    double *copy = pr_alloc((2 * count + 1) * sizeof *copy);

    if (!copy)
        return NULL;
    memcpy(copy, p->rates, count * sizeof *copy);
    memcpy(copy + count, p->rates, count * sizeof *copy);
    return copy;
}

/* Every rank sums up as many values, whatever it measured, and ranks that have
 * nothing add nothing. */
static int probe_sum_ranks(struct pr_probe *p, struct pr_probe_trial *t,
                           struct pr_err *err)
{
    double ranks = (double)p->o.ranks;
    size_t n = (size_t)p->limit;
    int rc;

    for (size_t i = 0; i < n; i++)
        p->rates[i] = i < t->count ? p->rates[i] / ranks : 0;
    p->rates[n] = t->count ? t->rate / ranks : 0;
    p->rates[n + 1] = t->count ? t->time_s : 0;
    rc = p->o.sum(p->o.ctx, p->rates, n + 2, err);
    if (rc)
        return rc;
    t->rate = p->rates[n];
    t->time_s = p->rates[n + 1] / ranks;
    t->mean_rate = probe_mean_rate(p->rates, t->count);
    return PR_OK;
}

static int probe_measure_trial(struct pr_probe *p, struct pr_probe_kept *ret,
                               struct pr_err *err)
{
    double *copy = copy_rates(p, (size_t)p->count);
    struct pr_probe_trial *t = &ret->t;
    int rc = PR_OK;

    if (!copy)
        return pr_fail_nomem(err);
    judge_own(p, t);
    if (p->o.sum) {
        t->own_rates = copy + t->count;
        t->own_mean_rate = t->mean_rate;
        t->own_rate = t->rate;
        t->own_time_s = t->time_s;
        rc = probe_sum_ranks(p, t, err);
        memcpy(copy, p->rates, t->count * sizeof *copy);
    }
    t->rates = ret->memory = copy;
    if (rc)
        pr_free(copy);
    return rc;
}

static void probe_keep_trial(struct pr_probe *p, const struct pr_probe_kept *k)
{
    struct pr_probe_record *r = &p->phase[p->at];

    r->trials[r->count++] = *k;
    r->batches += k->t.count;
    r->short_trials += k->t.count < p->limit;
}

int pr_probe_end(struct pr_probe *p, struct pr_err *err)
{
    struct pr_probe_kept k = {.memory = NULL};
    bool kept;
    int rc;

    if (!p->is_open)
        return PR_OK;
    p->is_open = false;
    p->phase[p->at].done++;
    rc = probe_measure_trial(p, &k, err);
    if (rc)
        return rc;
    kept = p->counts && k.t.count;
    if (k.t.count)
        pr_probe_print_trial(p, &k.t);
    if (kept)
        probe_keep_trial(p, &k);
    else
        pr_free(k.memory);
    return kept ? pr_probe_save(p, err) : PR_OK;
}

const char *pr_probe_label(const struct pr_probe *p)
{
    return p->is_open ? p->label : "";
}

uint64_t pr_probe_count(const struct pr_probe *p)
{
    return p->is_open ? p->count : 0;
}

int pr_probe_finish(struct pr_probe *p, struct pr_err *err)
{
    int ended = pr_probe_end(p, err), rc;

    pr_probe_print_summary(p);
    rc = pr_probe_save(p, ended ? NULL : err);
    if (!rc && !p->o.rank && *p->config.output)
        pr_probe_print_writing(p); /* it was */
    return ended ? ended : rc;
}
