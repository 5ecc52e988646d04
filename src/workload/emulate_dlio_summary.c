/*
 * summary.json: DLIO's keys in DLIO's order, with figures by DLIO's formulas,
 * and after them an object of our own with the same measures by our
 * definitions (docs/measures.md).
 */
#include "workload/emulate_dlio_impl.h"
#include "workload/emulate_result.h"

#include <stdio.h>

/* The name of a figure: train_… or eval_…. */
struct name {
    char text[64];
};

static struct name name_of(bool evaluation, const char *what)
{
    struct name n;

    snprintf(n.text, sizeof n.text, "%s_%s", evaluation ? "eval" : "train",
             what);
    return n;
}

static void put(struct pr_jb *jb, bool evaluation, const char *what, double f)
{
    pr_jb_float(jb, name_of(evaluation, what).text, f);
}

/* One number for each epoch. */
static void put_epochs(struct pr_jb *jb, const struct pr_emulate_stats *s,
                       bool evaluation, const char *what, uint64_t batch)
{
    pr_jb_arr(jb, name_of(evaluation, what).text);
    for (const struct pr_phase *p = s->first; p; p = p->next)
        if (p->evaluation == evaluation)
            pr_jb_float(jb, NULL,
                        batch ? pr_dlio_phase_throughput(p, batch)
                              : pr_dlio_phase_au(p));
    pr_jb_end(jb);
}

static void put_metric(struct pr_jb *jb, const struct pr_emulate *e,
                       const struct pr_emulate_stats *s, bool evaluation)
{
    uint64_t batch = pr_dlio_batch(e, evaluation);
    struct pr_dlio_figures f;

    pr_dlio_figures(s, evaluation, batch, &f);
    put_epochs(jb, s, evaluation, "au_percentage", 0);
    put(jb, evaluation, "au_mean_percentage", f.au);
    pr_jb_str(jb, name_of(evaluation, "au_meet_expectation").text,
              pr_dlio_meets(e, f.au));
    put(jb, evaluation, "au_stdev_percentage", f.au_stdev);
    put_epochs(jb, s, evaluation, "throughput_samples_per_second", batch);
    put(jb, evaluation, "throughput_mean_samples_per_second", f.throughput);
    put(jb, evaluation, "throughput_stdev_samples_per_second",
        f.throughput_stdev);
    put(jb, evaluation, "io_mean_MB_per_second", f.mb);
    put(jb, evaluation, "io_stdev_MB_per_second", f.mb_stdev);
}

static void put_host(struct pr_jb *jb, const struct pr_emulate *e,
                     const struct pr_dlio_host *h)
{
    pr_jb_arr(jb, "host_cpu_count");
    pr_jb_uint(jb, NULL, h->cpus);
    pr_jb_end(jb);
    pr_jb_str(jb, "host_processor_name", h->processor);
    pr_jb_arr(jb, "potential_caching");
    pr_jb_int(jb, NULL, pr_dlio_may_cache(e, h));
    pr_jb_end(jb);
    pr_dlio_pairs(jb, "host_cpuinfo", h->cpuinfo);
    pr_dlio_pairs(jb, "host_meminfo", h->meminfo);
    pr_jb_arr(jb, "host_memory_GB");
    pr_jb_float(jb, NULL, h->memory_gb);
    pr_jb_end(jb);
    pr_jb_float(jb, "data_size_per_host_GB", pr_dlio_data_gb(e));
}

static uint64_t epochs_trained(const struct pr_emulate_stats *s)
{
    uint64_t n = 0;

    for (const struct pr_phase *p = s->first; p; p = p->next)
        n += !p->evaluation;
    return n;
}

void pr_dlio_summary(const struct pr_emulate *e,
                     const struct pr_emulate_stats *s,
                     const struct pr_dlio_host *h, struct pr_buf *out)
{
    struct pr_jb jb;

    pr_jb_init(&jb, out, 4);
    pr_jb_obj(&jb, NULL);
    pr_dlio_put_time(&jb, "start", s->start_wall_ns);
    pr_jb_uint(&jb, "num_accelerators", e->accelerators);
    pr_jb_int(&jb, "num_hosts", 1);
    pr_jb_str(&jb, "hostname", h->name);
    pr_jb_obj(&jb, "metric");
    if (e->workflow.checkpoint)
        pr_dlio_put_checkpoints(e, s, &jb);
    if (e->workflow.train)
        put_metric(&jb, e, s, false);
    if (e->workflow.evaluation)
        put_metric(&jb, e, s, true);
    pr_jb_end(&jb);
    pr_jb_uint(&jb, "num_files_train", e->set.files[PR_TRAIN]);
    pr_jb_uint(&jb, "num_files_eval", e->set.files[PR_VALID]);
    pr_jb_int(&jb, "num_samples_per_file", e->set.opts.num_samples_per_file);
    put_host(&jb, e, h);
    pr_jb_uint(&jb, "epochs", epochs_trained(s));
    pr_dlio_put_time(&jb, "end", s->end_wall_ns);
    pr_emulate_object(e, s, &jb, "prony");
    pr_jb_end(&jb);
    pr_buf_char(out, '\n');
}
