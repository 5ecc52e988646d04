/*
 * summary.json: DLIO's keys in DLIO's order, with figures by DLIO's formulas,
 * and after them an object of our own with the same measures by our
 * definitions (docs/measures.md).
 */
#include "emulate/dlio/emulate_dlio_impl.h"
#include "emulate/emulate_result.h"

#include <stdio.h>

/* The name of a figure: train_… or eval_…. */
struct name {
    char text[64];
};

static struct name summary_make_name(bool evaluation, const char *what)
{
    struct name n;

    snprintf(n.text, sizeof n.text, "%s_%s", evaluation ? "eval" : "train",
             what);
    return n;
}

static void summary_put_float(struct pr_json_writer *jb, bool evaluation,
                              const char *what, double f)
{
    pr_json_put_float(jb, summary_make_name(evaluation, what).text, f);
}

/* One number for each epoch. */
static void put_epochs(struct pr_json_writer *jb,
                       const struct pr_emulate_stats *s, bool evaluation,
                       const char *what, uint64_t batch)
{
    pr_json_open_array(jb, summary_make_name(evaluation, what).text);
    for (const struct pr_emulate_phase *p = s->first; p; p = p->next)
        if (p->evaluation == evaluation)
            pr_json_put_float(jb, NULL,
                              batch ? pr_dlio_phase_throughput(p, batch)
                                    : pr_dlio_phase_au(p));
    pr_json_close(jb);
}

static void summary_put_metric(struct pr_json_writer *jb,
                               const struct pr_emulate *e,
                               const struct pr_emulate_stats *s,
                               bool evaluation)
{
    uint64_t batch = pr_dlio_batch_size(e, evaluation);
    struct pr_dlio_measures f;

    pr_dlio_compute_measures(s, evaluation, batch, &f);
    put_epochs(jb, s, evaluation, "au_percentage", 0);
    summary_put_float(jb, evaluation, "au_mean_percentage", f.au);
    pr_json_put_str(jb,
                    summary_make_name(evaluation, "au_meet_expectation").text,
                    pr_dlio_met_word(e, f.au));
    summary_put_float(jb, evaluation, "au_stdev_percentage", f.au_stdev);
    put_epochs(jb, s, evaluation, "throughput_samples_per_second", batch);
    summary_put_float(jb, evaluation, "throughput_mean_samples_per_second",
                      f.throughput);
    summary_put_float(jb, evaluation, "throughput_stdev_samples_per_second",
                      f.throughput_stdev);
    summary_put_float(jb, evaluation, "io_mean_MB_per_second", f.mb);
    summary_put_float(jb, evaluation, "io_stdev_MB_per_second", f.mb_stdev);
}

static void summary_put_host(struct pr_json_writer *jb,
                             const struct pr_emulate *e,
                             const struct pr_dlio_host *h)
{
    pr_json_open_array(jb, "host_cpu_count");
    pr_json_put_uint(jb, NULL, h->cpus);
    pr_json_close(jb);
    pr_json_put_str(jb, "host_processor_name", h->processor);
    pr_json_open_array(jb, "potential_caching");
    pr_json_put_int(jb, NULL, pr_dlio_can_cache(e, h));
    pr_json_close(jb);
    pr_dlio_put_pairs(jb, "host_cpuinfo", h->cpuinfo);
    pr_dlio_put_pairs(jb, "host_meminfo", h->meminfo);
    pr_json_open_array(jb, "host_memory_GB");
    pr_json_put_float(jb, NULL, h->memory_gb);
    pr_json_close(jb);
    pr_json_put_float(jb, "data_size_per_host_GB", pr_dlio_data_gb(e));
}

static uint64_t epochs_trained(const struct pr_emulate_stats *s)
{
    uint64_t n = 0;

    for (const struct pr_emulate_phase *p = s->first; p; p = p->next)
        n += !p->evaluation;
    return n;
}

void pr_dlio_put_summary(const struct pr_emulate *e,
                         const struct pr_emulate_stats *s,
                         const struct pr_dlio_host *h, struct pr_buf *out)
{
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, out, 4);
    pr_json_open_object(&jb, NULL);
    pr_dlio_put_time(&jb, "start", s->start_wall_ns);
    pr_json_put_uint(&jb, "num_accelerators", e->accelerators);
    pr_json_put_int(&jb, "num_hosts", 1);
    pr_json_put_str(&jb, "hostname", h->name);
    pr_json_open_object(&jb, "metric");
    if (e->workflow.checkpoint)
        pr_dlio_put_checkpoints(e, s, &jb);
    if (e->workflow.train)
        summary_put_metric(&jb, e, s, false);
    if (e->workflow.evaluation)
        summary_put_metric(&jb, e, s, true);
    pr_json_close(&jb);
    pr_json_put_uint(&jb, "num_files_train", e->set.files[PR_TRAIN]);
    pr_json_put_uint(&jb, "num_files_eval", e->set.files[PR_VALID]);
    pr_json_put_int(&jb, "num_samples_per_file",
                    e->set.opts.num_samples_per_file);
    summary_put_host(&jb, e, h);
    pr_json_put_uint(&jb, "epochs", epochs_trained(s));
    pr_dlio_put_time(&jb, "end", s->end_wall_ns);
    pr_emulate_put_object(e, s, &jb, "prony");
    pr_json_close(&jb);
    pr_buf_char(out, '\n');
}
