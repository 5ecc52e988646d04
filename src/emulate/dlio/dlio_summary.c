/*
 * What sums up a run for DLIO. summary.json: DLIO's keys in DLIO's order, with
 * figures by DLIO's formulas, and after them an object of our own with the same
 * measures by our definitions (docs/measures.md). What log and files say of
 * checkpoints, and of the machine.
 */
#include "base/clock.h"
#include "base/file.h"
#include "emulate/dlio/dlio_files.h"
#include "emulate/emulate_results.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* ---- checkpoints: DLIO's GB are 1024 ** 3 bytes. The durations of the summary
 * and of the log, which MLPerf's tools read, are those of the slowest rank, as
 * its rules have it; a rank's own file has those of that rank. */

static const double gib = 1024.0 * 1024 * 1024;

static double dlio_checkpoint_gb(const struct pr_emulate *e)
{
    const struct pr_checkpoint_shape *c = &e->checkpoint;
    struct pr_checkpoint_sum sum;

    pr_checkpoint_sum_ranks(c, c->first, c->ranks, &sum);
    return (double)(sum.model_bytes + sum.optimizer_bytes) / gib;
}

/* ---- checkpoints: log lines */

static void say_size(const char *what, uint64_t bytes, bool subset,
                     struct pr_buf *out)
{
    pr_dlio_put_stamp(out, pr_wall_clock_ns());
    pr_buf_printf(out, "%s: %.6f GB %s\n", what, (double)bytes / gib,
                  subset ? " (subset)" : "");
}

void pr_dlio_log_sizes(const struct pr_emulate *e, struct pr_buf *out)
{
    const struct pr_checkpoint_shape *c = &e->checkpoint;
    bool subset = strcmp(c->opts.mode, "subset") == 0;
    struct pr_checkpoint_sum sum;

    pr_checkpoint_sum_ranks(c, c->first, c->ranks, &sum);
    if (subset) {
        pr_dlio_put_stamp(out, pr_wall_clock_ns());
        pr_buf_printf(out,
                      "Performing subset checkpointing: %" PRIu64 " of %" PRIu64
                      "\n",
                      c->ranks, c->all);
    }
    if (c->parameters) {
        pr_dlio_put_stamp(out, pr_wall_clock_ns());
        pr_buf_printf(out,
                      "Total number of parameters in the model: %" PRIu64 "\n",
                      c->parameters);
    }
    if (sum.model_bytes)
        say_size("Model size", sum.model_bytes, subset, out);
    if (sum.optimizer_bytes)
        say_size("Optimizer state size", sum.optimizer_bytes, subset, out);
    say_size("Total checkpoint size", sum.model_bytes + sum.optimizer_bytes,
             subset, out);
}

void pr_dlio_log_checkpoints_only(bool is_read, bool is_end, struct pr_buf *out)
{
    pr_dlio_put_stamp(out, pr_wall_clock_ns());
    pr_buf_printf(out, "Checkpointing %s %s\n", is_read ? "read" : "write",
                  is_end ? "finished" : "started");
}

void pr_dlio_log_checkpoint_start(bool is_read,
                                  const struct pr_checkpoint_at *at,
                                  uint64_t steps, struct pr_buf *out)
{
    pr_dlio_put_stamp(out, pr_wall_clock_ns());
    pr_buf_printf(out,
                  "Starting %s checkpoint %" PRIu64 " after total step %" PRIu64
                  " for epoch %" PRIu64 "\n",
                  is_read ? "loading" : "saving", at->block, steps, at->epoch);
}

static double checkpoint_op_gib_per_s(const struct pr_checkpoint_op *op,
                                      double seconds)
{
    return seconds > 0 ? (double)op->bytes / gib / seconds : 0;
}

void pr_dlio_log_checkpoint_end(const struct pr_checkpoint_op *op,
                                struct pr_buf *out)
{
    pr_dlio_put_stamp(out, op->end_wall_ns);
    pr_buf_printf(out,
                  "Finished %s checkpoint %" PRIu64 " for epoch %" PRIu64
                  " in %.4f s; Throughput: %.4f GB/s\n",
                  op->is_read ? "loading" : "saving", op->at.block,
                  op->at.epoch, op->slowest_s,
                  checkpoint_op_gib_per_s(op, op->slowest_s));
}

static void dlio_log_checkpoint_total(const char *what,
                                      const struct pr_checkpoint_total *t,
                                      struct pr_buf *out)
{
    uint64_t n = t->count;

    if (!n)
        return;
    pr_buf_printf(out,
                  "[METRIC] Checkpoint %s duration (seconds): %.4f "
                  "(%.4f)\n",
                  what, pr_checkpoint_mean(t->slowest_s, n),
                  pr_checkpoint_stdev(t->slowest_s, t->slowest_square, n));
    pr_buf_printf(out,
                  "[METRIC] Checkpoint %s I/O Throughput (GB/second): %.4f "
                  "(%.4f)\n",
                  what, pr_checkpoint_mean(t->rate, n) / gib,
                  pr_checkpoint_stdev(t->rate, t->rate_square, n) / gib);
}

void pr_dlio_log_checkpoints(const struct pr_emulate_stats *s,
                             struct pr_buf *out)
{
    dlio_log_checkpoint_total("save", &s->checkpoints.total[0], out);
    dlio_log_checkpoint_total("load", &s->checkpoints.total[1], out);
}

/* ---- checkpoints: files */

static void dlio_put_checkpoint_total(struct pr_json_writer *jb,
                                      const char *what,
                                      const struct pr_checkpoint_total *t)
{
    const struct {
        const char *name;
        double value;
    } rows[] = {
        {"io_mean_GB_per_second", pr_checkpoint_mean(t->rate, t->count) / gib},
        {"io_stdev_GB_per_second",
         pr_checkpoint_stdev(t->rate, t->rate_square, t->count) / gib},
        {"duration_mean_seconds", pr_checkpoint_mean(t->slowest_s, t->count)},
        {"duration_stdev_seconds",
         pr_checkpoint_stdev(t->slowest_s, t->slowest_square, t->count)},
    };
    char name[80];

    for (size_t i = 0; t->count && i < sizeof rows / sizeof *rows; i++) {
        snprintf(name, sizeof name, "%s_checkpoint_%s", what, rows[i].name);
        pr_json_put_float(jb, name, rows[i].value);
    }
}

static void dlio_put_checkpoints(const struct pr_emulate *e,
                                 const struct pr_emulate_stats *s,
                                 struct pr_json_writer *jb)
{
    dlio_put_checkpoint_total(jb, "save", &s->checkpoints.total[0]);
    dlio_put_checkpoint_total(jb, "load", &s->checkpoints.total[1]);
    pr_json_put_float(jb, "checkpoint_size_GB", dlio_checkpoint_gb(e));
}

void pr_dlio_put_checkpoint_ops(const struct pr_checkpoint_op **cursor,
                                uint64_t epoch, uint64_t block, uint64_t r,
                                struct pr_json_writer *jb)
{
    const struct pr_checkpoint_op *op;
    char name[48];

    while (*cursor && (*cursor)->at.epoch < epoch)
        *cursor = (*cursor)->next;
    for (op = *cursor;
         op && op->at.epoch == epoch && (!block || op->at.block == block);
         op = op->next) {
        double s = op->rank_s ? (double)op->rank_s[r] : op->slowest_s;

        snprintf(name, sizeof name, "%s_ckpt%" PRIu64,
                 op->is_read ? "load" : "save", op->at.block);
        pr_json_open_object(jb, name);
        pr_dlio_put_time(jb, "start", op->start_wall_ns);
        pr_dlio_put_time(jb, "end", op->start_wall_ns + (uint64_t)(s * 1e9));
        pr_json_put_float(jb, "duration", s);
        pr_json_put_float(jb, "throughput", checkpoint_op_gib_per_s(op, s));
        pr_json_close(jb);
    }
    *cursor = op;
}

/* ---- the machine as DLIO's result files describe it, and the size of the data
 * as DLIO reckons it */

enum { PROC_MAX = 32 << 20, PAIRS_MAX = 256 };

static const char *proc_file(const char *path, struct pr_arena *a)
{
    const char *text;
    size_t len;

    return pr_file_read(path, PROC_MAX, a, &text, &len, NULL) ? NULL : text;
}

static double memory_gb(const char *meminfo)
{
    const char *at = meminfo ? strstr(meminfo, "MemTotal:") : NULL;
    unsigned long long kb;

    if (!at || sscanf(at, "MemTotal: %llu", &kb) != 1)
        return 0;
    return (double)kb * 1024 / gib;
}

void pr_dlio_host_read(struct pr_dlio_host *h, struct pr_arena *a)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct utsname u;

    *h = (struct pr_dlio_host){.cpus = cpus > 0 ? (uint64_t)cpus : 1};
    if (uname(&u) == 0) {
        snprintf(h->name, sizeof h->name, "%s", u.nodename);
        snprintf(h->processor, sizeof h->processor, "%s", u.machine);
    }
    h->cpuinfo = proc_file("/proc/cpuinfo", a);
    h->meminfo = proc_file("/proc/meminfo", a);
    h->memory_gb = memory_gb(h->meminfo);
}

/* Part of a text. */
struct piece {
    const char *at;
    size_t len;
};

static struct piece piece_strip(const char *from, const char *to)
{
    while (from < to && strchr(" \t\r", *from))
        from++;
    while (to > from && strchr(" \t\r", to[-1]))
        to--;
    return (struct piece){from, (size_t)(to - from)};
}

struct pairs {
    struct piece key[PAIRS_MAX], value[PAIRS_MAX];
    size_t count;
};

static bool piece_equals(struct piece a, const char *s, size_t len)
{
    return a.len == len && memcmp(a.at, s, len) == 0;
}

static void pairs_set(struct pairs *p, struct piece key, struct piece value)
{
    size_t i = 0;

    if (piece_equals(key, "processor", 9))
        return; /* as in DLIO: the processors are not told apart */
    while (i < p->count && !piece_equals(p->key[i], key.at, key.len))
        i++;
    if (i == PAIRS_MAX)
        return;
    if (i == p->count)
        p->count++;
    p->key[i] = key;
    p->value[i] = value;
}

static void read_pairs(struct pairs *p, const char *text)
{
    while (*text) {
        const char *end = strchrnul(text, '\n');
        const char *colon = memchr(text, ':', (size_t)(end - text));

        /* DLIO leaves out what has a second colon. */
        if (colon && !memchr(colon + 1, ':', (size_t)(end - colon - 1)))
            pairs_set(p, piece_strip(text, colon), piece_strip(colon + 1, end));
        text = *end ? end + 1 : end;
    }
}

void pr_dlio_put_pairs(struct pr_json_writer *jb, const char *key,
                       const char *text)
{
    struct pairs p;
    char name[128];

    if (!text)
        return;
    p.count = 0;
    read_pairs(&p, text);
    pr_json_open_object(jb, key);
    for (size_t i = 0; i < p.count; i++) {
        snprintf(name, sizeof name, "%.*s", (int)p.key[i].len, p.key[i].at);
        pr_json_put_strn(jb, name, p.value[i].at, p.value[i].len);
    }
    pr_json_close(jb);
}

static double dlio_record_bytes(const struct pr_emulate *e)
{
    const struct pr_value *dims = e->set.opts.record_dims;

    if (dims && dims->kind == PR_LIST && dims->len)
        return (double)pr_spec_sample_bytes(&e->set.spec);
    return e->set.opts.record_length_bytes;
}

/* Size of the training data in GB of 1024 ** 3 bytes: of the files that were
 * found, or, where there are none, as DLIO reckons it. */
static double dlio_data_gb(const struct pr_emulate *e)
{
    if (e->train_bytes > 0)
        return e->train_bytes / gib;
    return (double)e->set.opts.num_samples_per_file *
           (double)e->set.files[PR_TRAIN] * dlio_record_bytes(e) / gib;
}

int pr_dlio_can_cache(const struct pr_emulate *e, const struct pr_dlio_host *h)
{
    return h->memory_gb > dlio_data_gb(e);
}

const char *pr_dlio_format_time(char out[static 32], uint64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / 1000000000u);
    struct tm t;

    localtime_r(&seconds, &t);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &t);
    snprintf(out + strlen(out), 12, ".%06u",
             (unsigned)(wall_ns % 1000000000u / 1000));
    return out;
}

const char *pr_dlio_met_word(const struct pr_emulate *e, double au)
{
    return au >= e->metric.au * 100 ? "success" : "fail";
}

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
    pr_json_put_float(jb, "data_size_per_host_GB", dlio_data_gb(e));
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
        dlio_put_checkpoints(e, s, &jb);
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
