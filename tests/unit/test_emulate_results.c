/* Metric lines and the verdict of an emulated training. */
#include "emulate/emulate_results.h"
#include "emulate/emulate_session.h"

#include "test_workload_emulate.h"

/* ---- metric lines */

/* The lines as a map. Each must be a metric line. */
static struct pr_value results(struct bench *b)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 24);
    PR_AUTO_BUF struct pr_buf json = PR_BUF_INIT(1 << 24);
    struct pr_json_in in = {.name = "results", .flags = PR_JSON_UNIQUE_KEYS};
    struct pr_value v = {0};
    struct pr_err err = {0};

    pr_emulate_write_results(&b->e, &b->s, &out);
    assert_true(pr_buf_ok(&out));
    pr_buf_char(&json, '{');
    for (char *line = out.data; *line;) {
        char *end = strchr(line, '\n'), *eq = strstr(line, "__= ");

        assert_non_null(end);
        assert_int_equal(strncmp(line, "__results.", 10), 0);
        assert_true(eq && eq < end);
        pr_buf_printf(&json, "%s\"%.*s\": %.*s", line > out.data ? ", " : "",
                      (int)(eq - line - 10), line + 10, (int)(end - eq - 4),
                      eq + 4);
        line = end + 1;
    }
    pr_buf_char(&json, '}');
    in.text = pr_arena_copy(b->a, json.data, json.len);
    in.len = json.len;
    if (pr_json_read(&in, b->a, &v, NULL, &err))
        fail_msg("%s: %s", err.where, err.msg);
    assert_null(strstr(json.data, "nan"));
    assert_null(strstr(json.data, "NaN"));
    assert_null(strstr(json.data, "inf"));
    return v;
}

static double figure(const struct pr_value *v, const char *name)
{
    const struct pr_value *f = pr_get(v, name);

    if (!f || !pr_value_is_number(f))
        fail_msg("no number '%s'", name);
    return pr_value_number(f);
}

/* Two epochs on two accelerators: waits of 100 and 300 ms, 100 ms computed. */
static void two_epochs(struct bench *b)
{
    struct pr_emulate_phase *p;

    bench_init(b);
    b->e.accelerators = 2;
    p = even_phase(b, 1, 4, 0.1, 0.1);
    p->feed = (struct pr_feed_stats){.samples = 32,
                                     .bytes = 64000000,
                                     .storage_bytes = 32000000,
                                     .order = 0xfedcba9876543210u,
                                     .storage_share = 0.75};
    p->cached = 0.5;
    p->device_bytes = 1000;
    p = even_phase(b, 2, 4, 0.3, 0.1);
    p->start_ns += second;
    p->end_ns += second;
    for (int r = 0; r < 2; r++)
        p->accel[r].last_ns += second + (uint64_t)r * 1000;
    p->feed = b->s.first->feed;
    p->cached = 1;
    p->device_bytes = 500;
    b->s.threads = 7;
    b->s.engine = "io_uring";
}

static void lines_have_our_figures(void **state)
{
    static const struct {
        const char *name;
        double want;
    } rows[] = {
        {"utilisation", 1.0 / 3},
        {"samples_per_second", 64 / 2.4},
        {"accelerators", 2},
        {"epochs", 2},
        {"steps", 16},
        {"samples", 64},
        {"skipped_samples", 0},
        {"seconds", 2.4},
        {"bytes_read", 64e6},
        {"bytes_delivered", 128e6},
        {"device_bytes", 1500},
        {"storage_mb_per_second", 64 / 2.4},
        {"wait_share", 2.0 / 3},
        {"barrier_share", 0},
        {"wait_ms_max", 300},
        {"step_ms_max", 400},
        {"late_us_mean", 0},
        {"late_us_max", 0},
        {"first_done_s", 2.6},
        {"last_done_s", 2.600001},
        {"storage_share", 0.75},
        {"decode_share", 0.25},
        {"cached_share", 0.75},
        {"threads", 7},
        {"time", 300},
        /* Of a million bytes a sample, not of the 2 ** 20 that were
         * configured. */
        {"dlio.train_io_mean_MB_per_second",
         (2 * 2 / 0.6 * 4 + 2 * 2 / 1.2 * 4) / 2 * 1e6 / 1048576},
        {"dlio.train_au_mean_percentage", 37.5},
        {"dlio.train_au_stdev_percentage", 12.5},
    };
    struct pr_value v;
    struct bench b;

    (void)state;
    two_epochs(&b);
    v = results(&b);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!(fabs(figure(&v, rows[i].name) - rows[i].want) <= 1e-6))
            fail_msg("%s: %.9g, expected %.9g", rows[i].name,
                     figure(&v, rows[i].name), rows[i].want);
    assert_near(figure(&v, "wait_ms_p50"), 100, 0.03);
    assert_near(figure(&v, "wait_ms_p99"), 300, 0.03);
    assert_string_equal(pr_get(&v, "engine")->s, "io_uring");
    assert_true(pr_get(&v, "decode")->b && pr_get(&v, "checksum")->b);
    assert_string_equal(pr_get(&v, "dlio.train_au_meet_expectation")->s,
                        "fail");
    assert_int_equal(pr_get(&v, "verdict")->kind, PR_STR);
    assert_null(pr_get(&v, "eval_utilisation"));
    assert_null(pr_get(&v, "dlio.eval_au_mean_percentage"));
    bench_done(&b);
}

static void lines_by_epoch_and_accelerator(void **state)
{
    const struct pr_value *list;
    struct pr_emulate_phase *p;
    struct pr_value v;
    struct bench b;

    (void)state;
    two_epochs(&b);
    b.e.workflow.evaluation = true;
    p = even_phase(&b, 2, 1, 1, 1);
    p->evaluation = true;
    v = results(&b);
    list = pr_get(&v, "utilisation_by_epoch");
    assert_int_equal(list->len, 2);
    assert_near(pr_value_number(&list->items[1]), 0.25, 1e-9);
    list = pr_get(&v, "by_epoch");
    assert_int_equal(list->len, 3);
    assert_int_equal(at(&list->items[1], "epoch")->i, 2);
    assert_string_equal(at(&list->items[1], "phase")->s, "train");
    assert_string_equal(at(&list->items[2], "phase")->s, "eval");
    assert_near(number_at(&list->items[0], "mb_per_second"), 40, 1e-9);
    assert_near(number_at(&list->items[0], "cached_share"), 0.5, 1e-9);
    assert_int_equal(at(&list->items[0], "device_bytes")->i, 1000);
    assert_string_equal(at(&list->items[0], "order_hash")->s,
                        "fedcba9876543210");
    assert_null(pr_get(&list->items[2], "order_hash"));
    assert_null(pr_get(&list->items[2], "cached_share"));
    assert_null(pr_get(&list->items[2], "device_bytes"));
    list = at(pr_get(&v, "by_accelerator"), "samples");
    assert_int_equal(list->len, 2);
    assert_int_equal(list->items[0].i, 32); /* evaluation not counted */
    assert_near(figure(&v, "eval_utilisation"), 0.5, 1e-9);
    assert_near(figure(&v, "eval_seconds"), 2, 1e-9);
    assert_near(figure(&v, "dlio.eval_throughput_mean_samples_per_second"), 2,
                1e-9);
    assert_near(figure(&v, "utilisation"), 1.0 / 3, 1e-9);
    bench_done(&b);
}

static void many_accelerators_are_summed_up(void **state)
{
    const struct pr_value *u;
    struct pr_emulate_phase *p;
    struct pr_value v;
    struct bench b;

    (void)state;
    bench_init(&b);
    b.e.accelerators = 1001;
    p = add_phase(&b, 1, 1, 2);
    for (uint64_t r = 0; r < 1001; r++)
        add_step(&b, p, r, 0, r == 500 ? 2 : 1, 0);
    v = results(&b);
    u = at(pr_get(&v, "by_accelerator"), "utilisation");
    assert_near(number_at(u, "min"), 0.5, 1e-9);
    assert_near(number_at(u, "max"), 1, 1e-9);
    assert_near(number_at(u, "mean"), 501.0 / 1001, 1e-9);
    bench_done(&b);
}

static void compat_makes_dlios_figures_the_main_ones(void **state)
{
    struct pr_value v;
    struct bench b;

    (void)state;
    two_epochs(&b);
    b.e.opts.compat = "dlio";
    v = results(&b);
    assert_near(figure(&v, "utilisation"), 0.375, 1e-9);
    b.s.first->end_ns += 400000000; /* 0.4 of 1.2 s; 0.3 of 1 in the window */
    v = results(&b);
    assert_near(pr_value_number(&pr_get(&v, "utilisation_by_epoch")->items[0]),
                0.3, 1e-9);
    b.e.opts.compat = "none";
    v = results(&b);
    assert_near(pr_value_number(&pr_get(&v, "utilisation_by_epoch")->items[0]),
                0.4 / 1.2, 1e-9);
    bench_done(&b);
    two_epochs(&b);
    b.e.opts.compat = "dlio";
    v = results(&b);
    assert_near(pr_value_number(&pr_get(&v, "utilisation_by_epoch")->items[0]),
                0.5, 1e-9);
    assert_near(figure(&v, "samples_per_second"),
                figure(&v, "dlio.train_throughput_mean_samples_per_second"),
                1e-9);
    assert_near(figure(&v, "prony.utilisation"), 1.0 / 3, 1e-9);
    assert_near(figure(&v, "prony.samples_per_second"), 64 / 2.4, 1e-9);
    assert_near(pr_emulate_main_utilisation(&b.e, &b.s), 0.375, 1e-9);
    b.e.opts.compat = "none";
    assert_near(pr_emulate_main_utilisation(&b.e, &b.s), 1.0 / 3, 1e-9);
    bench_done(&b);
}

static void nothing_done_gives_lines_without_figures_of_nothing(void **state)
{
    struct pr_value v;
    struct bench b;

    (void)state;
    bench_init(&b);
    v = results(&b);
    assert_true(figure(&v, "utilisation") == 0);
    assert_true(figure(&v, "steps") == 0);
    assert_null(pr_get(&v, "time"));
    assert_null(pr_get(&v, "wait_ms_p50"));
    assert_null(pr_get(&v, "storage_share"));
    assert_null(pr_get(&v, "cached_share"));
    assert_null(pr_get(&v, "device_bytes"));
    assert_string_equal(pr_get(&v, "engine")->s, "pread");
    bench_done(&b);
}

/* ---- the verdict */

/* One way a training may go; 100 ms of computing unless computes says else. */
struct row {
    const char *want;
    uint64_t accelerators; /* 0: 16 */
    double utilisation;    /* of 10 steps; waits are the rest */
    double share;          /* of a sample's time: storage */
    bool no_compute, no_decode, spread, no_cache_drop_left;
    double barrier; /* share of the time */
    double cached;  /* 0: not known */
    double preprocess, late;
    uint64_t failed;
    const char *loader, *engine, *read_type;
    double goal;
};

static const struct row rows[] = {
    /* Busy, or not. */
    {"storage keeps all 16 accelerators busy: they wait 0.3 % of the time; "
     "utilisation is 99.7 %, reaching the 90 % that metric.au asks for",
     .utilisation = 0.997, .share = 0.9},
    {"storage keeps 14 of 16 accelerators busy; they wait 12 % of the time, on "
     "reading (not decoding); utilisation is 88.0 %, below the 90 % that "
     "metric.au asks for",
     .utilisation = 0.88, .share = 0.5},
    {"storage and decoding keep 14 of 16 accelerators busy; they wait 12 % of "
     "the time, on decoding (not reading); utilisation is 88.0 %, reaching "
     "the 88 % that metric.au asks for",
     .utilisation = 0.88, .share = 0.49, .goal = 0.88},
    {"storage keeps 15 of 16 accelerators busy; they wait 5.0 % of the time, "
     "on reading; decoding was off; utilisation is 95.0 %, reaching the 90 % "
     "that metric.au asks for",
     .utilisation = 0.95, .share = 0.1, .no_decode = true},
    {"storage keeps not one of 16 accelerators busy; they wait 97 % of the "
     "time, on reading (not decoding); utilisation is 3.0 %, below the 90 % "
     "that metric.au asks for",
     .utilisation = 0.03, .share = 1},
    {"storage keeps 800 of 1,000 accelerators busy; they wait 20 % of the "
     "time, on reading (not decoding); utilisation is 80.0 %, below the 90 % "
     "that metric.au asks for",
     .accelerators = 1000, .utilisation = 0.8, .share = 1},
    {"storage keeps the accelerator busy 88 % of the time; it waits 12 % of "
     "the time, on reading (not decoding); utilisation is 88.0 %, below the "
     "90 % that metric.au asks for",
     .accelerators = 1, .utilisation = 0.88, .share = 1},
    {"storage keeps the accelerator busy: it waits 0 % of the time; "
     "utilisation is 100.0 %, reaching the 90 % that metric.au asks for",
     .accelerators = 1, .utilisation = 1, .share = 1},
    {"storage keeps 1.9 of 2 accelerators busy; they wait 4.0 % of the time, "
     "on reading (not decoding); utilisation is 96.0 %, reaching the 90 % that "
     "metric.au asks for",
     .accelerators = 2, .utilisation = 0.96, .share = 1},
    /* So close that more digits are needed. */
    {"storage keeps 14 of 16 accelerators busy; they wait 10 % of the time, on "
     "reading (not decoding); utilisation is 89.996 %, below the 90 % that "
     "metric.au asks for",
     .utilisation = 0.89996, .share = 1},
    /* What they wait for. */
    {"the loader keeps 14 of 16 accelerators busy; they wait 12 % of the time, "
     "on preprocessing (not reading or decoding); utilisation is 88.0 %, "
     "below the 90 % that metric.au asks for",
     .utilisation = 0.88, .share = 0.9, .preprocess = 0.02},
    {"storage keeps 14 of 16 accelerators busy; they wait 12 % of the time, on "
     "reading (not decoding); utilisation is 88.0 %, below the 90 % that "
     "metric.au asks for",
     .utilisation = 0.88, .share = 0.9, .preprocess = 0.005},
    {"storage keeps all 16 accelerators busy: they wait 0.5 % of the time for "
     "data, and 20 % for each other, because train.computation_time varies "
     "and train.barrier makes all wait for the slowest; utilisation is "
     "79.5 %, below the 90 % that metric.au asks for",
     .utilisation = 0.795, .share = 0.9, .spread = true, .barrier = 0.2},
    {"storage keeps 14 of 16 accelerators busy; they wait 9.5 % of the time, "
     "on reading (not decoding); they wait 20 % for each other, because "
     "train.computation_time varies and train.barrier makes all wait for the "
     "slowest; utilisation is 70.5 %, below the 90 % that metric.au asks for",
     .utilisation = 0.705, .share = 0.9, .spread = true, .barrier = 0.2},
    {"storage keeps 9 of 16 accelerators busy; they wait 40 % of the time, on "
     "reading (not decoding); utilisation is 40.0 %, below the 90 % that "
     "metric.au asks for",
     .utilisation = 0.4, .share = 0.9, .spread = true, .barrier = 0.2},
    /* With equal steps a barrier passes on the waits for data. */
    {"storage keeps 11 of 16 accelerators busy; they wait 30 % of the time, on "
     "reading (not decoding); utilisation is 70.0 %, below the 90 % that "
     "metric.au asks for",
     .utilisation = 0.7, .share = 0.9, .barrier = 0.2},
    /* No computation. */
    {"no computation: storage and decoding deliver 1,234 samples/s, 5.6 GB/s; "
     "of a sample's time 82 % is reading, 18 % decoding",
     .share = 0.82, .no_compute = true},
    {"no computation: storage delivers 1,234 samples/s, 5.6 GB/s; decoding "
     "was off",
     .share = 0.82, .no_compute = true, .no_decode = true},
    {"no computation: storage and decoding deliver 1,234 samples/s, 5.6 GB/s; "
     "of a sample's time 40 % is reading, 10 % decoding, 50 % preprocessing",
     .share = 0.8, .no_compute = true, .preprocess = 0.01},
    {"no computation: storage delivers 1,234 samples/s, 5.6 GB/s; decoding "
     "was off; of a sample's time 40 % is reading, 50 % preprocessing",
     .share = 0.8, .no_compute = true, .no_decode = true, .preprocess = 0.01},
    {"no computation: the loader delivers 1,234 samples/s; nothing was read: "
     "the data is synthetic",
     .no_compute = true, .loader = "synthetic"},
    {"no computation: decoding delivers 1,234 samples/s; nothing was read "
     "from storage: storage.engine is null",
     .no_compute = true, .engine = "null"},
    /* Doubts. */
    {"the loader keeps all 16 accelerators busy: they wait 0 % of the time; "
     "utilisation is 100.0 %, reaching the 90 % that metric.au asks for; "
     "nothing was read: the data is synthetic",
     .utilisation = 1, .loader = "none"},
    {"storage keeps all 16 accelerators busy: they wait 0 % of the time; "
     "utilisation is 100.0 %, reaching the 90 % that metric.au asks for; the "
     "data was read from memory, not from storage: 97 % was in the page cache",
     .utilisation = 1, .share = 0.9, .cached = 0.97},
    {"no computation: storage and decoding deliver 1,234 samples/s, 5.6 GB/s; "
     "of a sample's time 50 % is reading, 50 % decoding; 74 % of the data was "
     "in the page cache",
     .share = 0.5, .no_compute = true, .cached = 0.74,
     .no_cache_drop_left = true},
    {"no computation: storage and decoding deliver 1,234 samples/s, 5.6 GB/s; "
     "of a sample's time 50 % is reading, 50 % decoding",
     .share = 0.5, .no_compute = true, .cached = 0.05},
    {"no computation: storage and decoding deliver 1,234 samples/s, 5.6 GB/s; "
     "of a sample's time 50 % is reading, 50 % decoding",
     .share = 0.5, .no_compute = true, .cached = 0.97, .engine = "direct"},
    {"no computation: storage and decoding deliver 1,233 samples/s, 5.6 GB/s; "
     "of a sample's time 50 % is reading, 50 % decoding; 1 sample could not "
     "be read and was skipped (a.npz: bad)",
     .share = 0.5, .no_compute = true, .failed = 1},
    {"no computation: storage and decoding deliver 34.0 samples/s, 5.6 GB/s; "
     "of a sample's time 50 % is reading, 50 % decoding; 1,200 samples could "
     "not be read and were skipped (a.npz: bad)",
     .share = 0.5, .no_compute = true, .failed = 1200},
    {"storage keeps all 16 accelerators busy: they wait 0 % of the time; "
     "utilisation is 100.0 %, reaching the 90 % that metric.au asks for; "
     "steps were noticed 9.0 ms late on average: this machine is too busy",
     .utilisation = 1, .share = 1, .late = 0.009},
    {"storage keeps all 16 accelerators busy: they wait 0 % of the time; "
     "utilisation is 100.0 %, reaching the 90 % that metric.au asks for",
     .utilisation = 1, .share = 1, .late = 0.004},
};

static void apply(struct bench *b, const struct row *r)
{
    b->e.accelerators = r->accelerators ? r->accelerators : 16;
    b->e.reader.decode = !r->no_decode;
    if (r->loader)
        b->e.reader.data_loader = r->loader;
    if (r->engine)
        b->e.storage.engine = r->engine;
    if (r->read_type)
        b->e.reader.read_type = r->read_type;
    if (r->goal > 0)
        b->e.metric.au = r->goal;
    if (r->spread)
        b->e.compute = (struct pr_duration){
            .kind = PR_DURATION_NORMAL, .a = 0.1, .b = 0.01};
    if (r->no_compute)
        b->e.compute.a = 0;
    if (r->no_cache_drop_left)
        b->e.opts.drop_cache = "epoch";
}

static struct pr_emulate_phase *phase_of(struct bench *b, const struct row *r)
{
    double compute = r->no_compute ? 0 : 0.1;
    double step = r->no_compute ? 0.1 : compute / r->utilisation;
    double barrier = r->barrier * step;
    struct pr_emulate_phase *p = add_phase(b, 1, 10, 10 * step);

    for (uint64_t i = 0; i < b->e.accelerators; i++) {
        for (int n = 0; n < 10; n++)
            add_step(b, p, i, step - barrier - compute, compute, r->late);
        p->accel[i].barrier_ns = (uint64_t)(10 * barrier * 1e9);
    }
    if (r->no_compute) /* 1,234 samples in a second */
        for (uint64_t i = 0; i < b->e.accelerators; i++)
            p->accel[i].samples = i ? 0 : 1234;
    return p;
}

static void feed_of(struct pr_emulate_phase *p, const struct row *r)
{
    bool nothing = r->loader || (r->engine && !strcmp(r->engine, "null"));

    p->feed.samples = 1000;
    p->feed.storage_bytes = nothing ? 0 : 5600000000u;
    p->feed.storage_share = r->share;
    p->feed.failed = r->failed;
    strcpy(p->feed.first_error.where, "a.npz");
    strcpy(p->feed.first_error.msg, "bad");
    p->feed.timed = 1;
    p->feed.timed_ns = 10000000;
    p->cached = r->cached > 0 ? r->cached : -1;
}

static void verdict_of_each_way_it_may_go(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 12);
        struct pr_value preprocess = pr_float(rows[i].preprocess);
        struct bench b;

        bench_init(&b);
        b.e.reader.preprocess_time = &preprocess;
        apply(&b, &rows[i]);
        feed_of(phase_of(&b, &rows[i]), &rows[i]);
        pr_verdict_emulate_write(&b.e, &b.s, &out);
        assert_true(pr_buf_ok(&out));
        if (strcmp(out.data, rows[i].want))
            fail_msg("row %zu:\n%s\nexpected:\n%s", i, out.data, rows[i].want);
        bench_done(&b);
    }
}

static void verdict(struct bench *b, const char *want)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 12);

    pr_verdict_emulate_write(&b->e, &b->s, &out);
    assert_true(pr_buf_ok(&out));
    assert_string_equal(out.data, want);
}

static void verdict_when_nothing_was_trained(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b);
    verdict(&b, "nothing was trained: there was no epoch");
    add_phase(&b, 1, 0, 0);
    verdict(&b, "nothing was trained: there are fewer samples than a batch "
                "for every accelerator takes");
    b.e.workflow.train = false;
    verdict(&b, "nothing was trained: workflow.train is false");
    bench_done(&b);
}

static void verdict_knows_data_kept_in_memory(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b);
    b.e.reader.read_type = "memory";
    even_phase(&b, 1, 4, 0, 0.1)->feed = (struct pr_feed_stats){
        .samples = 1, .storage_bytes = 1, .storage_share = 1};
    even_phase(&b, 2, 4, 0, 0.1);
    verdict(&b, "storage keeps all 16 accelerators busy: they wait 0 % of the "
                "time; utilisation is 100.0 %, reaching the 90 % that "
                "metric.au asks for; reader.read_type is memory: only the "
                "first epoch read from storage");
    bench_done(&b);
}

/* ---- a measurement that was disturbed */

struct trouble {
    double stall, delay, cpu, steal; /* seconds, seconds, shares */
    const char *want;                /* how the verdict begins */
    const char *by;                  /* NULL: not disturbed */
};

/* Sixteen accelerators wait 12 % of 1.14 s; a tenth of that is less than what
 * is worth telling. */
static void a_disturbed_measurement_does_not_blame_the_storage(void **state)
{
    static const struct trouble rows_of[] = {
        {.want = "storage keeps 14 of 16 accelerators busy; "},
        {.stall = 0.049, .want = "storage keeps 14 of 16 "},
        {.stall = 3,
         .want = "disturbed: this process did not run for 3.0 s (it was "
                 "stopped, or the machine is too busy); this says little of "
                 "the storage, run it again while the machine is idle; "
                 "accelerators waited 12 % of the time; utilisation is "
                 "88.0 %, below the 90 % that metric.au asks for",
         .by = "stopped"},
        {.delay = 0.39, .want = "storage keeps 14 of 16 "}, /* of 8 threads */
        {.stall = 0.5,
         .delay = 8,
         .want = "disturbed: other work kept the threads that read off the "
                 "processors, 1.0 s each; ",
         .by = "other work"},
        {.delay = 8,
         .cpu = 0.95,
         .want = "the loader keeps 14 of 16 accelerators busy; they wait 12 % "
                 "of the time, on processors that reading and decoding fill; "},
        {.steal = 0.09, .want = "storage keeps 14 of 16 "},
        {.steal = 0.25,
         .want = "disturbed: the hypervisor took 25 % of this machine's "
                 "processors; ",
         .by = "stolen processors"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows_of / sizeof *rows_of; i++) {
        const struct trouble *x = &rows_of[i];
        const struct row r = {.utilisation = 0.88, .share = 0.9};
        const struct pr_value *by;
        struct pr_emulate_phase *p;
        struct pr_value v;
        const char *said;
        struct bench b;

        bench_init(&b);
        b.s.threads = 8;
        p = phase_of(&b, &r);
        feed_of(p, &r);
        p->stall_ns = p->stall_max_ns = (uint64_t)(x->stall * 1e9);
        b.s.limits = (struct pr_client_limits){.kind = "",
                                               .processors = 2,
                                               .seconds = 1,
                                               .cpu_s = 2 * x->cpu,
                                               .has_delay = true,
                                               .delay_s = x->delay,
                                               .has_steal = true,
                                               .steal = {x->steal * 100, 100}};
        v = results(&b);
        said = pr_get(&v, "verdict")->s;
        if (strncmp(said, x->want, strlen(x->want)))
            fail_msg("row %zu:\n%s\nexpected:\n%s", i, said, x->want);
        by = pr_get(&v, "disturbed_by");
        assert_int_equal(pr_get(&v, "disturbed")->b, x->by != NULL);
        assert_int_equal(by != NULL, x->by != NULL);
        if (by)
            assert_string_equal(by->s, x->by);
        if (x->by)
            assert_null(strstr(said, "keeps"));
        assert_near(figure(&v, "stall_max_s"), x->stall, 1e-6);
        assert_near(figure(&v, "run_delay_s"), x->delay / 8, 1e-6);
        bench_done(&b);
    }
}

static void who_waits_for_nothing_was_not_disturbed(void **state)
{
    const struct row r = {.utilisation = 0.995, .share = 0.9};
    struct pr_emulate_phase *p;
    struct bench b;

    (void)state;
    bench_init(&b);
    p = phase_of(&b, &r);
    feed_of(p, &r);
    p->stall_ns = p->stall_max_ns = second;
    assert_int_equal(pr_verdict_emulate_disturbance(&b.e, &b.s),
                     PR_UNDISTURBED);
    bench_done(&b);
}

/* ---- epochs shorter than what is read ahead */

/* Eight steps: the first waits 2 s, in which all others come as well. */
static void short_epoch(struct bench *b, double compute)
{
    struct pr_emulate_phase *p;

    bench_init(b);
    b->e.accelerators = 1;
    b->e.opts.compat = "dlio";
    p = add_phase(b, 1, 8, 2 + 8 * compute);
    add_step(b, p, 0, 2, compute, 0);
    for (int i = 1; i < 8; i++) {
        struct pr_emulate_accelerator_stats *a = &p->accel[0];
        struct pr_emulate_step s = {
            .step = a->steps,
            .asked_ns = a->last_ns,
            .ready_ns = a->last_ns,
            .came_ns = p->start_ns + 2 * second,
            .end_ns = a->last_ns + (uint64_t)(compute * 1e9),
            .woke_ns = a->last_ns + (uint64_t)(compute * 1e9),
            .samples = 4};

        pr_emulate_stats_add_step(p, &s, true);
    }
}

static void reading_before_the_window_is_no_headline(void **state)
{
    PR_AUTO_BUF struct pr_buf notes = PR_BUF_INIT(1 << 12);
    struct pr_value v;
    struct bench b;

    (void)state;
    short_epoch(&b, 0.1);
    v = results(&b);
    assert_near(figure(&v, "dlio.train_au_mean_percentage"), 100, 1e-6);
    assert_near(figure(&v, "utilisation"), 0.8 / 2.8, 1e-6);
    assert_near(figure(&v, "samples_per_second"), 32 / 2.8, 1e-6);
    assert_near(figure(&v, "read_ahead_share"), 1, 1e-6);
    assert_false(pr_get(&v, "target_met")->b);
    assert_null(strstr(pr_get(&v, "verdict")->s, "DLIO"));
    pr_warnings_add_steps(&b.e, &b.s, &notes);
    assert_non_null(strstr(notes.data, "100 % of the steps that DLIO's "
                                       "formulas count were read before"));
    assert_non_null(strstr(notes.data, "utilisation of 100.0 %"));
    assert_non_null(strstr(notes.data, "28.6 % and 11.43 samples/s have it"));
    assert_non_null(strstr(notes.data, "use more files, or a smaller "
                                       "reader.prefetch_size"));
    bench_done(&b);
}

static void a_long_epoch_keeps_dlios_figures(void **state)
{
    PR_AUTO_BUF struct pr_buf notes = PR_BUF_INIT(1 << 12);
    struct bench b;

    (void)state;
    two_epochs(&b);
    b.e.opts.compat = "dlio";
    assert_true(pr_emulate_is_dlio_main(&b.e, &b.s));
    pr_warnings_add_steps(&b.e, &b.s, &notes);
    assert_true(notes.len == 0);
    bench_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_our_figures),
        cmocka_unit_test(lines_by_epoch_and_accelerator),
        cmocka_unit_test(many_accelerators_are_summed_up),
        cmocka_unit_test(compat_makes_dlios_figures_the_main_ones),
        cmocka_unit_test(nothing_done_gives_lines_without_figures_of_nothing),
        cmocka_unit_test(verdict_of_each_way_it_may_go),
        cmocka_unit_test(verdict_when_nothing_was_trained),
        cmocka_unit_test(verdict_knows_data_kept_in_memory),
        cmocka_unit_test(a_disturbed_measurement_does_not_blame_the_storage),
        cmocka_unit_test(who_waits_for_nothing_was_not_disturbed),
        cmocka_unit_test(reading_before_the_window_is_no_headline),
        cmocka_unit_test(a_long_epoch_keeps_dlios_figures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
