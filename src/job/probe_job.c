/* Probing in an experiment: settings, the loop's surroundings, results. */
#include "job/probe_job.h"

#include "job/result_lines.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- results */

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

bool pr_job_needs_probe(const struct pr_job *job)
{
    return pr_bool_at(job->params, "probe.run", false);
}

/* ---- settings */

static void take_warning(void *ctx, const char *where, const char *text,
                         const char *remedy)
{
    pr_buf_printf(ctx, "%s: %s; %s\n", where, text, remedy);
}

static int phase_of(const struct pr_value *v)
{
    for (int i = 0; v->kind == PR_STR && i < PR_PROBE_PHASES; i++)
        if (strcasecmp(v->s, pr_probe_phase_name((enum pr_probe_phase)i)) == 0)
            return i;
    return -1;
}

static int choose_phases(const struct pr_value *list, struct pr_probe_config *c,
                         struct pr_err *err)
{
    for (int i = 0; list->len && i < PR_PROBE_PHASES; i++)
        c->phase[i].run = false;
    for (uint32_t i = 0; i < list->len; i++) {
        int phase = phase_of(&list->items[i]);

        if (phase < 0)
            return pr_fail(err, PR_E_CONF, "probe.phases",
                           "phases are io, synthetic and full");
        c->phase[phase].run = true;
    }
    return PR_OK;
}

/* Where results, which are lines of the log, are read from. */
static bool is_of_the_run(const char *name)
{
    static const char *const own[] = {"params.json", "result.json", "log.txt",
                                      "monitor.ndjson", "channel.ndjson"};

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(name, own[i]) == 0)
            return true;
    return false;
}

/* It goes into the experiment's folder, whatever the file says. */
static int probe_place_output(const struct pr_job *job,
                              struct pr_probe_config *c, struct pr_err *err)
{
    const char *slash = strrchr(c->output, '/');
    char name[256];
    int n = snprintf(name, sizeof name, "%s", slash ? slash + 1 : c->output);

    if (n < 0 || n >= (int)sizeof name)
        return pr_fail(err, PR_E_CONF, "output_filename", "is too long");
    if (is_of_the_run(name))
        return pr_fail(err, PR_E_CONF, "output_filename",
                       "'%s' is a file of the run itself", name);
    n = snprintf(c->output, sizeof c->output, "%s/%s", job->dir, name);
    if (n < 0 || n >= (int)sizeof c->output)
        return pr_fail(err, PR_E_CONF, "output_filename", "is too long");
    return PR_OK;
}

int pr_probe_job_read_config(const struct pr_job *job,
                             struct pr_probe_config *ret, struct pr_buf *notes,
                             struct pr_err *err)
{
    struct pr_probe_params p;
    int rc;

    PR_TRY(pr_opt_fill(&pr_probe_section, job->params, job->arena, &p, err));
    ret->size = sizeof *ret;
    rc = pr_probe_config_read(p.config, ret, take_warning, notes, err);
    for (int i = 0; !rc && i < PR_PROBE_PHASES; i++) {
        struct pr_probe_phase_config *c = &ret->phase[i];

        if (p.batches)
            c->batches = (uint64_t)p.batches;
        if (p.trials)
            c->trials = (uint64_t)p.trials;
        if (p.warmup >= 0)
            c->warmup = (uint64_t)p.warmup;
    }
    if (!rc)
        rc = choose_phases(p.phases, ret, err);
    return rc ? rc : probe_place_output(job, ret, err);
}

/* ---- the loop */

struct session {
    const struct pr_probe_job *j;
    struct pr_probe_config config;
    struct pr_probe *probe;
    uint64_t total, done; /* batches, warm-ups included */
};

static uint64_t probe_count_batches(const struct pr_probe_config *c)
{
    uint64_t n = 0;

    for (int i = 0; i < PR_PROBE_PHASES; i++)
        if (c->phase[i].run)
            n +=
                c->phase[i].batches * (c->phase[i].trials + c->phase[i].warmup);
    return n ? n : 1;
}

static void probe_job_print_line(void *ctx, const char *text, size_t len)
{
    PR_AUTO_BUF struct pr_buf line = PR_BUF_INIT(16384);

    (void)ctx;
    pr_buf_add(&line, text, len);
    pr_buf_char(&line, '\n');
    (void)!pr_job_log_write(&line, NULL);
}

static int take_sum(void *ctx, double *values, size_t count, struct pr_err *err)
{
    const struct session *s = ctx;

    return s->j->sum(s->j->sum_ctx, values, count, err);
}

/* Progress is told between steps: about once a second, one write. */
static int stop_or_tell(struct session *s, struct pr_err *err)
{
    if (__atomic_load_n(s->j->stop, __ATOMIC_RELAXED))
        return pr_fail(err, PR_E_INTR, "", "interrupted");
    if (pr_progress_is_due(s->j->progress))
        pr_progress_write(s->j->progress, (double)s->done / (double)s->total,
                          "%s: batch %llu", pr_probe_label(s->probe),
                          (unsigned long long)pr_probe_count(s->probe));
    return PR_OK;
}

static int probe_job_fetch(void *ctx, void **ret_batch, uint64_t *ret_samples,
                           struct pr_err *err)
{
    struct session *s = ctx;
    int rc;

    PR_TRY(stop_or_tell(s, err));
    rc = s->j->calls.fetch(s->j->calls.ctx, ret_batch, ret_samples, err);
    s->done += rc == 1 && pr_probe_next(s->probe) == PR_PROBE_IO;
    return rc;
}

static int probe_job_use(void *ctx, void *batch, struct pr_err *err)
{
    struct session *s = ctx;
    int rc = s->j->calls.use(s->j->calls.ctx, batch, err);

    /* What SYNTHETIC uses before its trial begins is none of its batches. */
    s->done += *pr_probe_label(s->probe) != '\0';
    return rc ? rc : stop_or_tell(s, err);
}

static int probe_job_restart(void *ctx, struct pr_err *err)
{
    struct session *s = ctx;

    return s->j->calls.restart(s->j->calls.ctx, err);
}

static int probe_job_report(struct session *s, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_result_lines k;

    if (s->j->rank)
        return PR_OK;
    pr_result_lines_init(&k, &out);
    pr_probe_job_put_results(s->probe, &k);
    pr_warnings_put(s->j->notes, &out);
    return pr_job_log_write(&out, err);
}

static int probe_job_run(struct session *s, struct pr_err *err)
{
    struct pr_probe_calls calls = PR_PROBE_CALLS_INIT;
    struct pr_err later;
    int rc;

    calls.fetch = probe_job_fetch;
    calls.use = probe_job_use;
    calls.restart = s->j->calls.restart ? probe_job_restart : NULL;
    calls.ctx = s;
    pr_probe_say(s->probe, PR_PROBE_SAY_CONFIG);
    pr_progress_start(s->j->progress);
    rc = pr_probe_run(s->probe, &calls, err);
    if (rc) { /* what there is, and the first error */
        (void)!pr_probe_finish(s->probe, &later);
        (void)!probe_job_report(s, &later);
        return rc;
    }
    rc = pr_probe_finish(s->probe, err);
    return rc ? rc : probe_job_report(s, err);
}

int pr_probe_job_run(const struct pr_probe_job *j, struct pr_err *err)
{
    struct session s = {.j = j};
    struct pr_probe_opts opts = PR_PROBE_OPTS_INIT;
    int rc;

    PR_TRY(pr_probe_job_read_config(j->job, &s.config, j->notes, err));
    s.total = probe_count_batches(&s.config);
    opts.config = &s.config;
    opts.batch_size = j->batch;
    opts.rank = j->rank;
    opts.ranks = j->ranks;
    opts.line = probe_job_print_line;
    opts.sum = j->sum ? take_sum : NULL;
    opts.ctx = &s;
    rc = pr_probe_new(&opts, &s.probe, err);
    if (!rc)
        rc = probe_job_run(&s, err);
    pr_probe_free(s.probe);
    return rc;
}
