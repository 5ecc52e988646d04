/*
 * Timing a loop: the trial that goes on, what is kept of it, and the figures,
 * lines and JSON that come of that, the last two as benchy writes them.
 */
#include "prony/probe.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/stats/histogram.h"
#include "base/value.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A trial that is recorded. */
struct pr_probe_kept {
    struct pr_probe_trial t;
    double *memory; /* of its rates */
};

/* What is left of one phase. */
struct pr_probe_record {
    uint64_t done; /* trials that ended, warm-ups included */
    struct pr_probe_kept *trials;
    size_t count; /* of them, recorded */
    uint64_t short_trials, batches;
    struct pr_histogram fetch, step; /* of recorded trials */
};

struct pr_probe {
    struct pr_probe_opts o;
    struct pr_probe_config config;
    struct pr_probe_record phase[PR_PROBE_PHASES];

    /* the trial that goes on */
    bool is_open;
    enum pr_probe_phase at;
    bool counts; /* it is no warm-up */
    char label[64];
    uint64_t limit, count;       /* batches to time, and timed */
    uint64_t until_line;         /* batches until a line is due; 0: never */
    uint64_t each;               /* samples of a batch that says nothing */
    uint64_t samples;            /* of this batch */
    uint64_t all_samples;        /* of the trial */
    uint64_t start, from, ready; /* clock: of the trial, the step, its batch */
    double *rates;               /* limit + 2 of the longest trial */

    struct pr_buf json;
};

/* ---- numbers from what was timed */

static const char *const phase_names[PR_PROBE_PHASES] = {"IO", "SYNTHETIC",
                                                         "FULL"};

const char *pr_probe_phase_name(enum pr_probe_phase phase)
{
    return (unsigned)phase < PR_PROBE_PHASES ? phase_names[phase] : "";
}

/* Mean and deviation of the population of all trials' throughput. */
static void probe_spread(const struct pr_probe_record *r, double *ret_mean,
                         double *ret_deviation)
{
    double n = (double)r->count, sum = 0, squares = 0, mean;

    for (size_t i = 0; i < r->count; i++)
        sum += r->trials[i].t.rate;
    mean = n > 0 ? sum / n : 0;
    for (size_t i = 0; i < r->count; i++) {
        double off = r->trials[i].t.rate - mean;

        squares += off * off;
    }
    *ret_mean = mean;
    *ret_deviation = n > 0 ? sqrt(squares / n) : 0;
}

static void probe_fill_times(const struct pr_histogram *h,
                             struct pr_probe_times *ret, double *ret_sum)
{
    ret->mean = pr_histogram_mean(h) / 1e9;
    ret->min = (double)h->min / 1e9;
    ret->p50 = (double)pr_histogram_at(h, 0.5) / 1e9;
    ret->p90 = (double)pr_histogram_at(h, 0.9) / 1e9;
    ret->p99 = (double)pr_histogram_at(h, 0.99) / 1e9;
    ret->max = (double)h->max / 1e9;
    *ret_sum = (double)h->sum / 1e9;
}

static void probe_fill_phase(const struct pr_probe_record *r,
                             struct pr_probe_figures *ret)
{
    ret->trials = r->count;
    ret->short_trials = r->short_trials;
    ret->batches = r->batches;
    probe_spread(r, &ret->rate, &ret->deviation);
    probe_fill_times(&r->fetch, &ret->fetch, &ret->fetch_s);
    probe_fill_times(&r->step, &ret->step, &ret->step_s);
}

void pr_probe_numbers(const struct pr_probe *p, struct pr_probe_numbers *ret)
{
    struct pr_probe_numbers n = {.batch_size = p->o.batch_size,
                                 .ranks = p->o.ranks};
    size_t size = ret->size < sizeof n ? ret->size : sizeof n;

    n.size = ret->size;
    for (int i = 0; i < PR_PROBE_PHASES; i++)
        probe_fill_phase(&p->phase[i], &n.phase[i]);
    memcpy(ret, &n, size);
}

bool pr_probe_trial(const struct pr_probe *p, enum pr_probe_phase phase,
                    size_t trial, struct pr_probe_trial *ret)
{
    if ((unsigned)phase >= PR_PROBE_PHASES || trial >= p->phase[phase].count)
        return false;
    *ret = p->phase[phase].trials[trial].t;
    return true;
}

/* ---- the result as benchy writes it: one line, keys in its order. What it
 * does not know comes after. */

static void probe_write_list(struct pr_buf *out, const double *x, size_t n)
{
    pr_buf_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            pr_buf_str(out, ", ");
        pr_float_write_repr(out, x[i]);
    }
    pr_buf_char(out, ']');
}

static void probe_write_rates(struct pr_buf *out,
                              const struct pr_probe_record *r, bool own)
{
    pr_buf_str(out, "{\"rates\": [");
    for (size_t i = 0; i < r->count; i++) {
        const struct pr_probe_trial *t = &r->trials[i].t;

        if (i)
            pr_buf_str(out, ", ");
        probe_write_list(out, own ? t->own_rates : t->rates, t->count);
    }
    pr_buf_char(out, ']');
}

/* One figure of every trial. */
static void probe_write_measure(struct pr_buf *out, const char *name,
                                const struct pr_probe_record *r, size_t offset)
{
    pr_buf_printf(out, ", \"%s\": [", name);
    for (size_t i = 0; i < r->count; i++) {
        double x;

        memcpy(&x, (const char *)&r->trials[i].t + offset, sizeof x);
        if (i)
            pr_buf_str(out, ", ");
        pr_float_write_repr(out, x);
    }
    pr_buf_char(out, ']');
}

#define PUT(out, name, r, own, field)                                        \
    probe_write_measure(out, name, r,                                        \
                        (own) ? offsetof(struct pr_probe_trial, own_##field) \
                              : offsetof(struct pr_probe_trial, field))

static void probe_write_phases(struct pr_buf *out, const struct pr_probe *p,
                               bool own)
{
    const char *comma = own ? "" : ", ";

    for (int i = 0; i < PR_PROBE_PHASES; i++) {
        const struct pr_probe_record *r = &p->phase[i];

        if (!r->count)
            continue;
        pr_buf_printf(out, "%s\"%s\": ", comma,
                      pr_probe_phase_name((enum pr_probe_phase)i));
        probe_write_rates(out, r, own);
        PUT(out, "avg_iter_throughput", r, own, mean_rate);
        PUT(out, "trial_throughput", r, own, rate);
        PUT(out, "trial_time", r, own, time_s);
        pr_buf_char(out, '}');
        comma = ", ";
    }
}

int pr_probe_json(struct pr_probe *p, const char **ret_text, size_t *ret_len,
                  struct pr_err *err)
{
    struct pr_buf *out = &p->json;

    pr_buf_clear(out);
    pr_buf_printf(out, "{\"nranks\": %llu", (unsigned long long)p->o.ranks);
    probe_write_phases(out, p, false);
    if (p->o.sum) {
        pr_buf_str(out, ", \"rank0\": {");
        probe_write_phases(out, p, true);
        pr_buf_char(out, '}');
    }
    pr_buf_char(out, '}');
    if (!pr_buf_ok(out)) {
        pr_buf_free(out);
        return pr_fail_nomem(err);
    }
    *ret_text = out->data;
    if (ret_len)
        *ret_len = out->len;
    return PR_OK;
}

static int probe_make_folder(const char *path, struct pr_err *err)
{
    char dir[sizeof((struct pr_probe *)0)->config.output];
    const char *slash = strrchr(path, '/');

    if (!slash || slash == path)
        return PR_OK;
    memcpy(dir, path, (size_t)(slash - path));
    dir[slash - path] = '\0';
    return pr_make_dirs(dir, err);
}

/* Writes the result where the config says, if anywhere. */
static int probe_save(struct pr_probe *p, struct pr_err *err)
{
    const char *path = p->config.output, *text;
    size_t len;
    int rc;

    if (p->o.rank || !*path)
        return PR_OK;
    rc = pr_probe_json(p, &text, &len, err);
    if (!rc)
        rc = probe_make_folder(path, err);
    return rc ? rc : pr_file_write(path, text, len, err);
}

/* ---- benchy's console lines, letter by letter: people have programs that read
 * them. Nothing without somebody to take them. */

static void probe_print_line(struct pr_probe *p, const char *fmt, ...)
    PR_PRINTF(2, 3);

static void probe_print_line(struct pr_probe *p, const char *fmt, ...)
{
    char line[sizeof p->config.file + 128] = "BENCHY::";
    size_t used = strlen(line);
    va_list args;
    int n;

    if (!p->o.line)
        return;
    va_start(args, fmt);
    n = vsnprintf(line + used, sizeof line - used, fmt, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof line - used)
        p->o.line(p->o.ctx, line, used + (size_t)n);
}

static void probe_print_rate(struct pr_probe *p, const char *what, double rate)
{
    char number[32];
    size_t n = pr_float_repr(number, rate);

    probe_print_line(p, "%s::%s: %.*s", p->label, what, (int)n, number);
}

static void probe_print_iteration(struct pr_probe *p, double rate)
{
    probe_print_rate(p, "Iteration Throughput", rate);
}

static void probe_print_trial(struct pr_probe *p,
                              const struct pr_probe_trial *t)
{
    probe_print_rate(p, "Average Iteration Throughput", t->mean_rate);
    probe_print_rate(p, "Trial Throughput", t->rate);
}

static void probe_print_summary(struct pr_probe *p)
{
    /* The second has a blank too many, and there are parsers that want it. */
    static const char *const names[] = {"IO", " SYNTHETIC", "FULL"};
    double mean, deviation;

    for (int i = 0; i < PR_PROBE_PHASES; i++) {
        if (!p->phase[i].count)
            continue;
        probe_spread(&p->phase[i], &mean, &deviation);
        probe_print_line(p,
                         "SUMMARY::%s average trial throughput: %.3f +/- %.3f",
                         names[i], mean, deviation);
    }
}

static void probe_print_writing(struct pr_probe *p)
{
    probe_print_line(p, "INFO::Message: Writing JSON output to %s.",
                     p->config.output);
}

static void probe_print_profiler(struct pr_probe *p)
{
    const char *mode = p->config.profiler_mode;

    if (strcmp(mode, "single") == 0)
        probe_print_line(
            p, "INFO::Message: Profiling mode single. Starting profiler on "
               "rank 0 only.");
    else if (strcmp(mode, "all") == 0)
        probe_print_line(
            p, "INFO::Message: Profiling mode all. Starting profiler on all "
               "ranks.");
}

void pr_probe_say(struct pr_probe *p, enum pr_probe_message what)
{
    switch (what) {
    case PR_PROBE_SAY_CONFIG:
        if (*p->config.file)
            probe_print_line(
                p, "INFO::Message: Using benchy configuration file %s.",
                p->config.file);
        else
            probe_print_line(
                p, "INFO::Message: Using default benchy configuration.");
        break;
    case PR_PROBE_SAY_PROFILER:
        probe_print_profiler(p);
        break;
    case PR_PROBE_SAY_EXIT:
        probe_print_line(p, "INFO::Message: Tests completed.... exiting.");
        break;
    }
}

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
    if ((unsigned)phase >= PR_PROBE_PHASES ||
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
    probe_print_iteration(p, rate);
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
        probe_print_trial(p, &k.t);
    if (kept)
        probe_keep_trial(p, &k);
    else
        pr_free(k.memory);
    return kept ? probe_save(p, err) : PR_OK;
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

    probe_print_summary(p);
    rc = probe_save(p, ended ? NULL : err);
    if (!rc && !p->o.rank && *p->config.output)
        probe_print_writing(p); /* it was */
    return ended ? ended : rc;
}

/* ---- the loop itself, for whoever has a function to fetch a batch and one to
 * use it */

struct loop {
    struct pr_probe *p;
    struct pr_probe_calls calls;
    void *batch;
    uint64_t samples;
};

static int no_data(struct pr_err *err)
{
    (void)pr_fail(err, PR_E_CONF, "", "there is no batch to measure with");
    return pr_hint(err, "fetch has to return 1 when there is one");
}

/* The next batch; from the start when the data ended. */
static int probe_fetch_batch(struct loop *l, struct pr_err *err)
{
    void *ctx = l->calls.ctx;
    int rc;

    l->samples = 0;
    rc = l->calls.fetch(ctx, &l->batch, &l->samples, err);
    if (rc == 0 && l->calls.restart) {
        rc = l->calls.restart(ctx, err);
        if (!rc)
            rc = l->calls.fetch(ctx, &l->batch, &l->samples, err);
    }
    if (rc == 0)
        return no_data(err);
    return rc < 0 ? rc : PR_OK;
}

/* One trial of a phase. What is used in SYNTHETIC was fetched before. */
static int run_trial(struct loop *l, enum pr_probe_phase phase,
                     struct pr_err *err)
{
    bool fetches = phase != PR_PROBE_SYNTHETIC, uses = phase != PR_PROBE_IO;
    int rc = PR_OK;

    if (!fetches) {
        rc = probe_fetch_batch(l, err);
        if (!rc) /* benchy, too, lets the first one go untimed */
            rc = l->calls.use(l->calls.ctx, l->batch, err);
    }
    if (!rc)
        rc = pr_probe_begin(l->p, phase, err);
    while (!rc) {
        if (fetches)
            rc = probe_fetch_batch(l, err);
        if (rc)
            break;
        pr_probe_batch_ready(l->p, l->samples);
        if (uses)
            rc = l->calls.use(l->calls.ctx, l->batch, err);
        if (rc || !pr_probe_step_done(l->p))
            break;
    }
    return rc;
}

int pr_probe_run(struct pr_probe *p, const struct pr_probe_calls *calls,
                 struct pr_err *err)
{
    struct loop l = {.p = p};
    enum pr_probe_phase phase;
    struct pr_err ended;
    int rc = PR_OK;

    memcpy(&l.calls, calls,
           calls->size < sizeof l.calls ? calls->size : sizeof l.calls);
    if (!l.calls.fetch || !l.calls.use)
        return pr_fail(err, PR_E_USAGE, "",
                       "a probe wants a function to fetch a batch and one to "
                       "use it");
    while (!rc && (phase = pr_probe_next(p)) != PR_PROBE_PHASES) {
        rc = run_trial(&l, phase, err);
        if (rc)
            (void)!pr_probe_end(p, &ended); /* the first error counts */
        else
            rc = pr_probe_end(p, err);
    }
    return rc;
}
