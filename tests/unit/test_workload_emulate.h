/*
 * For tests of what an emulated training measured: an experiment filled by
 * hand, phases made of steps, and the results of the real DLIO.
 */
#ifndef TESTS_UNIT_TEST_WORKLOAD_EMULATE_H
#define TESTS_UNIT_TEST_WORKLOAD_EMULATE_H

#include "base/file.h"
#include "base/json/json.h"
#include "emulate/emulate.h"

#include "skip.h"
#include "torture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t second = 1000000000u;

struct bench {
    struct pr_arena *a;
    struct pr_job job;
    struct pr_emulate e;
    struct pr_emulate_stats s;
};

/* 16 accelerators, batches of 4, 0.1 s of computing, npz files. */
static inline void bench_init(struct bench *b)
{
    *b = (struct bench){.a = pr_arena_new(1 << 16)};
    assert_non_null(b->a);
    b->job = (struct pr_job){.id = "1", .dir = "experiments/1"};
    b->e = (struct pr_emulate){
        .job = &b->job,
        .set.opts = {.record_length_bytes = 1 << 20, .num_samples_per_file = 1},
        .set.files = {64, 8},
        .storage.engine = "pread",
        .reader = {.data_loader = "pytorch",
                   .batch_size = 4,
                   .batch_size_eval = 2,
                   .read_type = "on_demand",
                   .decode = true,
                   .checksum = true},
        .train = {.epochs = 1,
                  .total_training_steps = -1,
                  .total_training_steps_of = "epoch",
                  .barrier = true},
        .workflow.train = true,
        .output = {.folder = "", .log_file = "dlio.log"},
        .window.exclude_start_steps = 1,
        .metric.au = 0.9,
        .opts = {.compat = "none", .drop_cache = "generate"},
        .compute = {.kind = PR_DURATION_FIXED, .a = 0.1},
        .accelerators = 16,
        .model = "default",
    };
    b->s.start_wall_ns = 1700000000u * second;
    b->s.end_wall_ns = 1700000100u * second;
}

static inline void bench_done(struct bench *b)
{
    pr_arena_free(b->a);
}

static inline struct pr_emulate_phase *
add_phase(struct bench *b, unsigned epoch, uint64_t steps, double seconds)
{
    struct pr_emulate_phase *p =
        pr_emulate_stats_add_phase(&b->s, b->a, b->e.accelerators, steps);

    assert_non_null(p);
    p->epoch = epoch;
    p->start_ns = 5 * second;
    p->end_ns = p->start_ns + (uint64_t)(seconds * 1e9 + 0.5);
    p->start_wall_ns = b->s.start_wall_ns + (epoch - 1) * 10 * second;
    p->end_wall_ns = p->start_wall_ns + (p->end_ns - p->start_ns);
    return p;
}

/* A step that follows the last one of its accelerator. In seconds. */
static inline void add_step(struct bench *b, struct pr_emulate_phase *p,
                            uint64_t r, double wait, double compute,
                            double late)
{
    struct pr_emulate_accelerator_stats *a = &p->accel[r];
    uint64_t n = a->steps;
    struct pr_emulate_step s = {
        .accelerator = r,
        .step = n,
        .asked_ns = (n ? a->last_ns : p->start_ns) + a->barrier_ns,
        .samples = (uint64_t)(p->evaluation ? b->e.reader.batch_size_eval
                                            : b->e.reader.batch_size),
    };

    s.came_ns = s.ready_ns = s.asked_ns + (uint64_t)(wait * 1e9 + 0.5);
    s.end_ns = s.ready_ns + (uint64_t)(compute * 1e9 + 0.5);
    s.woke_ns = s.end_ns + (uint64_t)(late * 1e9 + 0.5);
    pr_emulate_stats_add_step(p, &s,
                              n >= (uint64_t)b->e.window.exclude_start_steps &&
                                  n + (uint64_t)b->e.window.exclude_end_steps <
                                      p->steps_planned);
}

/* The same steps on all accelerators. */
static inline struct pr_emulate_phase *even_phase(struct bench *b,
                                                  unsigned epoch,
                                                  uint64_t steps, double wait,
                                                  double compute)
{
    struct pr_emulate_phase *p =
        add_phase(b, epoch, steps, (double)steps * (wait + compute));

    for (uint64_t r = 0; r < b->e.accelerators; r++)
        for (uint64_t i = 0; i < steps; i++)
            add_step(b, p, r, wait, compute, 0);
    return p;
}

static inline void assert_near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("got %.12g, expected %.12g", got, want);
}

/* ---- results of the real DLIO */

/* Skips the test where they are not there. */
static inline void find_results(const char *run, const char *file,
                                char out[static 4096])
{
    char part[512];

    snprintf(part, sizeof part, "dlio/results/%s/%s", run, file);
    find_peers(part, out);
}

static inline struct pr_value json_file(struct pr_arena *a, const char *path)
{
    struct pr_json_in in = {.name = path};
    struct pr_value v = {0};
    struct pr_err err = {0};

    if (pr_file_read(path, 1 << 28, a, &in.text, &in.len, &err) ||
        pr_json_read(&in, a, &v, NULL, &err))
        fail_msg("%s: %s", path, err.msg);
    return v;
}

/* "a.b.c", which must be there. */
static inline const struct pr_value *at(const struct pr_value *v,
                                        const char *path)
{
    char key[64];

    while (*path) {
        size_t n = strcspn(path, ".");

        snprintf(key, sizeof key, "%.*s", (int)n, path);
        v = pr_get(v, key);
        if (!v)
            fail_msg("no '%s' in there", key);
        path += n + (path[n] == '.');
    }
    return v;
}

static inline double number_at(const struct pr_value *v, const char *path)
{
    v = at(v, path);
    assert_true(pr_value_is_number(v));
    return pr_value_number(v);
}

/* Microseconds of a day, of "2026-11-15T20:57:08.222945". */
static inline uint64_t micros(const struct pr_value *v)
{
    unsigned h, m, s, us;

    assert_int_equal(v->kind, PR_STR);
    assert_int_equal(
        sscanf(v->s, "%*d-%*d-%*dT%2u:%2u:%2u.%6u", &h, &m, &s, &us), 4);
    return ((h * 60 + m) * 60ull + s) * 1000000 + us;
}

struct real {
    const char *run;
    int64_t batch;
    double compute, record;
    uint64_t files;
    struct pr_value output, times, summary;
};

static const struct real real_runs[] = {
    {.run = "p_cosmoflow_hdf5.w1.c0.00936",
     .batch = 1,
     .compute = 0.00936,
     .record = 2828486,
     .files = 256},
    {.run = "p_unet3d_npz.w2.c0.0252",
     .batch = 4,
     .compute = 0.0252,
     .record = 20971520,
     .files = 32},
};
enum { REAL_RUNS = sizeof real_runs / sizeof *real_runs };

/* One epoch of it as a phase of ours, step by step. */
static inline void real_epoch(struct bench *b, const struct real *x,
                              unsigned epoch)
{
    char path[64];
    const struct pr_value *load, *compute;
    uint64_t start, end;
    struct pr_emulate_phase *p;

    snprintf(path, sizeof path, "%u.block1.start", epoch);
    start = micros(at(&x->times, path));
    snprintf(path, sizeof path, "%u.block1.end", epoch);
    end = micros(at(&x->times, path));
    snprintf(path, sizeof path, "%u.load.block1", epoch);
    load = at(&x->output, path);
    snprintf(path, sizeof path, "%u.compute.block1", epoch);
    compute = at(&x->output, path);
    p = add_phase(b, epoch, load->len, (double)(end - start) / 1e6);
    for (uint32_t i = 0; i < load->len; i++)
        add_step(b, p, 0, pr_value_number(&load->items[i]),
                 pr_value_number(&compute->items[i]), 0);
    p->feed.samples = 100; /* of the size that was configured */
    p->feed.storage_bytes = (uint64_t)(100 * x->record);
}

/* All of it. */
static inline void real_bench(struct bench *b, struct real *x)
{
    char path[4096];

    find_results(x->run, "summary.json", path);
    bench_init(b);
    x->summary = json_file(b->a, path);
    find_results(x->run, "0_output.json", path);
    x->output = json_file(b->a, path);
    find_results(x->run, "0_per_epoch_stats.json", path);
    x->times = json_file(b->a, path);
    b->e.accelerators = 1;
    b->e.reader.batch_size = x->batch;
    b->e.set.files[PR_TRAIN] = x->files;
    b->e.set.files[PR_VALID] = 0;
    b->e.set.opts.record_length_bytes = x->record;
    b->e.compute.a = x->compute;
    b->e.train.epochs = x->times.len;
    for (unsigned i = 1; i <= x->times.len; i++)
        real_epoch(b, x, i);
}

#endif
