/* DLIO's result files and log lines, beside those that the real DLIO wrote. */
#include "emulate/dlio/dlio_files.h"

#include "test_workload_emulate.h"

#include <dirent.h>
#include <time.h>

struct folder {
    char path[64];
};

static void folder_make(struct folder *f)
{
    strcpy(f->path, "/tmp/prony-test-XXXXXX");
    assert_non_null(mkdtemp(f->path));
}

/* Removes it and returns how many files there were. */
static int folder_remove(struct folder *f)
{
    DIR *d = opendir(f->path);
    struct dirent *entry;
    int n = 0;

    assert_non_null(d);
    while ((entry = readdir(d)))
        if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2) {
            assert_int_equal(unlinkat(dirfd(d), entry->d_name, 0), 0);
            n++;
        }
    closedir(d);
    assert_int_equal(rmdir(f->path), 0);
    return n;
}

static struct pr_value written(struct bench *b, const struct folder *f,
                               const char *name)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", f->path, name);
    return json_file(b->a, path);
}

static void write_all(struct bench *b, const struct folder *f)
{
    struct pr_err err = {0};

    if (pr_dlio_write_files(&b->e, &b->s, f->path, &err))
        fail_msg("%s: %s", err.where, err.msg);
}

/* ---- files */

/* What describes the machine has the keys of the machine. */
static bool of_the_machine(const char *key)
{
    return !strcmp(key, "host_cpuinfo") || !strcmp(key, "host_meminfo");
}

/* The keys of theirs in their order, then at most "prony"; values of the same
 * kind, lists of the same length. */
static void same_form(const struct pr_value *ours,
                      const struct pr_value *theirs, const char *where)
{
    if (pr_value_is_number(ours) != pr_value_is_number(theirs) ||
        (!pr_value_is_number(ours) && ours->kind != theirs->kind))
        fail_msg("%s: %s, expected %s", where, pr_kind_name(ours->kind),
                 pr_kind_name(theirs->kind));
    if (ours->kind == PR_LIST)
        assert_int_equal(ours->len, theirs->len);
    if (ours->kind != PR_MAP || of_the_machine(where))
        return;
    for (uint32_t i = 0; i < theirs->len; i++) {
        const char *key = theirs->members[i].key;

        if (i >= ours->len || strcmp(ours->members[i].key, key))
            fail_msg("%s: no '%s' at place %u", where, key, i);
        same_form(&ours->members[i].value, &theirs->members[i].value, key);
    }
    if (ours->len > theirs->len) {
        assert_int_equal(ours->len, theirs->len + 1);
        assert_string_equal(ours->members[theirs->len].key, "prony");
    }
}

static void files_have_the_form_of_the_real_ones(void **state)
{
    (void)state;
    for (int i = 0; i < REAL_RUNS; i++) {
        struct real x = real_runs[i];
        struct pr_value ours;
        struct folder f;
        struct bench b;

        real_bench(&b, &x);
        folder_make(&f);
        write_all(&b, &f);
        ours = written(&b, &f, "summary.json");
        same_form(&ours, &x.summary, "summary.json");
        assert_near(number_at(&ours, "data_size_per_host_GB"),
                    number_at(&x.summary, "data_size_per_host_GB"), 1e-12);
        assert_near(number_at(&ours, "metric.train_io_mean_MB_per_second"),
                    number_at(&x.summary, "metric.train_io_mean_MB_per_second"),
                    0.002);
        assert_string_equal(at(&ours, "metric.train_au_meet_expectation")->s,
                            "fail");
        ours = written(&b, &f, "0_output.json");
        same_form(&ours, &x.output, "0_output.json");
        assert_near(pr_value_number(&at(&ours, "2.load.block1")->items[3]),
                    pr_value_number(&at(&x.output, "2.load.block1")->items[3]),
                    1e-6);
        ours = written(&b, &f, "0_per_epoch_stats.json");
        same_form(&ours, &x.times, "0_per_epoch_stats.json");
        assert_string_equal(at(&ours, "1.block1.duration")->s,
                            at(&x.times, "1.block1.duration")->s);
        assert_int_equal(folder_remove(&f), 3);
        bench_done(&b);
    }
}

/* Two accelerators, two epochs, an evaluation after the second. */
static void small_training(struct bench *b)
{
    struct pr_emulate_phase *p;

    bench_init(b);
    b->e.accelerators = 2;
    b->e.workflow.evaluation = true;
    for (unsigned epoch = 1; epoch <= 2; epoch++) {
        p = add_phase(b, epoch, 3, 4);
        for (int i = 0; i < 3; i++) {
            add_step(b, p, 0, 0.25, 1, 0.125);
            add_step(b, p, 1, 0.5, 0.5, 0);
        }
    }
    p = add_phase(b, 2, 2, 2.5);
    p->evaluation = true;
    p->start_wall_ns += 5 * second;
    p->end_wall_ns += 5 * second;
    for (int i = 0; i < 2; i++) {
        add_step(b, p, 0, 0.125, 1, 0);
        add_step(b, p, 1, 0.25, 0.5, 0);
    }
}

static void lists_and_figures_of_each_accelerator(void **state)
{
    struct pr_value v;
    struct folder f;
    struct bench b;

    (void)state;
    small_training(&b);
    folder_make(&f);
    write_all(&b, &f);
    v = written(&b, &f, "0_output.json");
    assert_int_equal(at(&v, "1.load.block1")->len, 3);
    assert_near(pr_value_number(&at(&v, "1.load.block1")->items[2]), 0.25,
                1e-9);
    assert_near(pr_value_number(&at(&v, "1.compute.block1")->items[2]), 1,
                1e-9);
    assert_near(pr_value_number(&at(&v, "1.proc.block1")->items[2]), 1.25,
                1e-9);
    assert_near(number_at(&v, "1.au.block1"), 100 * 2 / 2.75, 1e-9);
    assert_near(number_at(&v, "1.throughput.block1"), 1 / 2.75 * 4, 1e-9);
    assert_null(pr_get(at(&v, "1.load"), "eval"));
    assert_int_equal(at(&v, "2.load.eval")->len, 2);
    assert_near(number_at(&v, "2.throughput.eval"), 2 / 2.5 * 2, 1e-9);
    assert_near(number_at(&v, "2.au.eval"), 100 * 1 / 1.375, 1e-9);
    assert_null(pr_get(&v, "prony"));
    v = written(&b, &f, "1_output.json");
    assert_near(pr_value_number(&at(&v, "1.proc.block1")->items[0]), 1, 1e-9);
    assert_near(pr_value_number(&at(&v, "2.load.eval")->items[1]), 0.25, 1e-9);
    assert_int_equal(folder_remove(&f), 5);
    bench_done(&b);
}

static void times_are_local_and_epochs_end_after_evaluation(void **state)
{
    struct pr_value v;
    struct folder f;
    struct bench b;

    (void)state;
    setenv("TZ", "UTC-2", 1);
    tzset();
    small_training(&b);
    b.s.first->start_wall_ns += 7008;
    folder_make(&f);
    write_all(&b, &f);
    v = written(&b, &f, "1_per_epoch_stats.json");
    assert_string_equal(at(&v, "1.start")->s, "2023-11-15T00:13:20.000007");
    assert_string_equal(at(&v, "1.block1.end")->s,
                        "2023-11-15T00:13:24.000000");
    assert_string_equal(at(&v, "1.end")->s, "2023-11-15T00:13:24.000000");
    assert_string_equal(at(&v, "1.duration")->s, "4.00");
    assert_string_equal(at(&v, "2.eval.duration")->s, "2.50");
    assert_string_equal(at(&v, "2.end")->s, at(&v, "2.eval.end")->s);
    assert_string_equal(at(&v, "2.duration")->s, "4.00");
    v = written(&b, &f, "summary.json");
    assert_string_equal(at(&v, "start")->s, "2023-11-15T00:13:20.000000");
    assert_string_equal(at(&v, "end")->s, "2023-11-15T00:15:00.000000");
    folder_remove(&f);
    bench_done(&b);
    unsetenv("TZ");
    tzset();
}

static void summary_has_evaluation_and_ours(void **state)
{
    struct pr_value v;
    struct folder f;
    struct bench b;

    (void)state;
    small_training(&b);
    b.e.metric.au = 0.5;
    folder_make(&f);
    write_all(&b, &f);
    v = written(&b, &f, "summary.json");
    assert_int_equal(at(&v, "metric.train_au_percentage")->len, 2);
    assert_int_equal(at(&v, "metric.eval_au_percentage")->len, 1);
    assert_near(
        pr_value_number(&at(&v, "metric.train_au_percentage")->items[1]),
        (100 * 2 / 2.75 + 100 * 1 / 3.0) / 2, 1e-9);
    assert_near(
        pr_value_number(
            &at(&v, "metric.train_throughput_samples_per_second")->items[0]),
        4 / 2.75 + 4 / 3.0, 1e-9);
    assert_near(number_at(&v, "metric.train_au_mean_percentage"),
                (100 * 2 / 2.75 + 100 * 1 / 3.0) / 2, 1e-9);
    assert_near(number_at(&v, "metric.eval_throughput_mean_samples_per_second"),
                2 * 2 / 2.5 * 2, 1e-9);
    assert_string_equal(at(&v, "metric.train_au_meet_expectation")->s,
                        "success");
    assert_int_equal(at(&v, "epochs")->i, 2);
    assert_int_equal(at(&v, "num_accelerators")->i, 2);
    assert_int_equal(at(&v, "num_files_eval")->i, 8);
    assert_string_equal(v.members[v.len - 1].key, "prony");
    assert_near(number_at(&v, "prony.utilisation"), 9.0 / 16, 1e-9);
    assert_near(number_at(&v, "prony.samples_per_second"), 6, 1e-9);
    assert_int_equal(at(&v, "prony.by_epoch")->len, 3);
    assert_near(number_at(&v, "prony.wait_ms_max"), 500, 1e-9);
    folder_remove(&f);
    bench_done(&b);
}

static void parts_that_were_not_done_have_no_figures(void **state)
{
    struct pr_value v;
    struct folder f;
    struct bench b;

    (void)state;
    bench_init(&b);
    b.e.accelerators = 1;
    b.e.workflow.evaluation = true; /* but there was none */
    folder_make(&f);
    write_all(&b, &f);
    v = written(&b, &f, "summary.json");
    assert_int_equal(at(&v, "metric.eval_au_percentage")->len, 0);
    assert_true(number_at(&v, "metric.eval_io_stdev_MB_per_second") == 0);
    b.e.workflow.train = b.e.workflow.evaluation = false;
    write_all(&b, &f);
    v = written(&b, &f, "summary.json");
    assert_int_equal(at(&v, "metric")->len, 0);
    folder_remove(&f);
    bench_done(&b);
}

static void lines_of_proc_become_pairs(void **state)
{
    static const char text[] = "processor\t: 0\nmodel name\t: A  B\n"
                               "odd: a:b\nempty\t:\n\nMem: 4 kB \n"
                               "processor\t: 1\nmodel name\t: C\nlast: 1";
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);
    struct pr_json_writer jb;

    (void)state;
    pr_json_writer_init(&jb, &out, 0);
    pr_json_open_object(&jb, NULL);
    pr_dlio_put_pairs(&jb, "host", text);
    pr_dlio_put_pairs(&jb, "none", NULL);
    pr_dlio_put_pairs(&jb, "nothing", "");
    pr_json_close(&jb);
    assert_true(pr_buf_ok(&out));
    assert_string_equal(out.data, "{\"host\": {\"model name\": \"C\", "
                                  "\"empty\": \"\", \"Mem\": \"4 kB\", "
                                  "\"last\": \"1\"}, \"nothing\": {}}");
}

static void shortened_lists_say_so(void **state)
{
    struct pr_emulate_phase *p;
    struct pr_value v;
    struct folder f;
    struct bench b;

    (void)state;
    bench_init(&b);
    b.e.accelerators = 1;
    b.s.listed = PR_LIST_ALL - 2;
    p = add_phase(&b, 1, 5, 1);
    for (int i = 0; i < 5; i++)
        add_step(&b, p, 0, 0.01, 0.1, 0);
    even_phase(&b, 2, 5, 0.01, 0.1); /* nothing fits any more */
    folder_make(&f);
    write_all(&b, &f);
    v = written(&b, &f, "0_output.json");
    assert_int_equal(at(&v, "1.proc.block1")->len, 2);
    assert_int_equal(at(&v, "2.proc.block1")->len, 0);
    assert_int_equal(at(&v, "prony.steps")->i, 10);
    assert_int_equal(at(&v, "prony.steps_listed")->i, 2);
    folder_remove(&f);
    bench_done(&b);
}

/* A thousand times the work of one, not a million times. */
static void many_accelerators(void **state)
{
    struct timespec from, to;
    struct pr_value v;
    struct folder f;
    struct bench b;
    double s;

    (void)state;
    bench_init(&b);
    b.e.accelerators = 1000;
    even_phase(&b, 1, 200, 0.00123456, 0.1);
    folder_make(&f);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    write_all(&b, &f);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    s = (double)(to.tv_sec - from.tv_sec) +
        (double)(to.tv_nsec - from.tv_nsec) / 1e9;
    print_message("%.2f s\n", s);
    assert_true(s < 20);
    v = written(&b, &f, "999_output.json");
    assert_int_equal(at(&v, "1.compute.block1")->len, 200);
    assert_near(pr_value_number(&at(&v, "1.load.block1")->items[199]),
                0.00123456, 1e-6);
    assert_int_equal(folder_remove(&f), 2001);
    bench_done(&b);
}

/* Lists longer than a piece that is written at once. */
static void long_lists_stay_whole(void **state)
{
    struct pr_value v;
    struct folder f;
    struct bench b;

    (void)state;
    bench_init(&b);
    b.e.accelerators = 1;
    even_phase(&b, 1, 90000, 0.001, 0.002);
    folder_make(&f);
    write_all(&b, &f);
    v = written(&b, &f, "0_output.json");
    assert_int_equal(at(&v, "1.load.block1")->len, 90000);
    assert_int_equal(at(&v, "1.compute.block1")->len, 90000);
    folder_remove(&f);
    bench_done(&b);
}

static struct folder tortured;

static int write_once(void)
{
    struct pr_err err = {0};
    struct bench b;
    int rc;

    b = (struct bench){.a = pr_arena_new(1 << 16)};
    if (!b.a)
        return PR_E_NOMEM;
    b.job.dir = "x";
    b.e.job = &b.job;
    b.e.accelerators = 2;
    b.e.reader.batch_size = b.e.reader.batch_size_eval = 1;
    b.e.workflow.train = true;
    if (!pr_emulate_stats_add_phase(&b.s, b.a, 2, 10)) {
        pr_arena_free(b.a);
        return PR_E_NOMEM;
    }
    rc = pr_dlio_write_files(&b.e, &b.s, tortured.path, &err);
    pr_arena_free(b.a);
    return rc;
}

static void no_memory_is_an_error(void **state)
{
    (void)state;
    folder_make(&tortured);
    torture(write_once);
    assert_int_equal(folder_remove(&tortured), 5);
}

static void folder_that_is_not_there(void **state)
{
    struct pr_err err = {0};
    struct bench b;

    (void)state;
    small_training(&b);
    assert_int_equal(pr_dlio_write_files(&b.e, &b.s, "/nonexistent/x", &err),
                     PR_E_IO);
    assert_non_null(strstr(err.where, "/nonexistent/x"));
    bench_done(&b);
}

/* ---- log lines */

/* Times become T. */
static void mask(char *text)
{
    char *to = text;

    for (char *from = text; *from;) {
        int n = 0;

        sscanf(from, "%*4d-%*2d-%*2dT%*2d:%*2d:%*2d.%*6d%n", &n);
        if (n == 26) {
            *to++ = 'T';
            from += n;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

static void expect_lines(struct pr_buf *out, const char *want)
{
    assert_true(pr_buf_ok(out));
    mask(out->data);
    assert_string_equal(out->data, want);
    pr_buf_clear(out);
}

#define CACHING                                                               \
    "[WARNING] The amount of dataset is smaller than the host memory; data "  \
    "might be cached after the first epoch. Increase the size of dataset to " \
    "eliminate the caching effect!!!\n"

static void lines_at_the_start(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);
    struct bench b;

    (void)state;
    bench_init(&b);
    b.e.accelerators = 2;
    pr_dlio_log_mode(&b.e, &out);
    pr_dlio_log_start(&b.e, 8, &out);
    expect_lines(
        &out, "[OUTPUT] T Running DLIO [Training] with 2 process(es)\n" CACHING
              "[OUTPUT] T Max steps per epoch: 8 = 1 * 64 / 4 / 2 (samples per "
              "file * num files / batch size / comm size)\n");
    b.e.workflow.generate_data = b.e.workflow.evaluation = true;
    b.e.train.total_training_steps = 20;
    b.e.train.epochs = 2;
    b.e.set.opts.record_length_bytes = 1e15;
    pr_dlio_log_mode(&b.e, &out);
    pr_dlio_log_start(&b.e, 8, &out);
    expect_lines(
        &out,
        "[OUTPUT] T Running DLIO [Generating data & Training & Evaluation] "
        "with 2 process(es)\n"
        "[OUTPUT] T Max steps per epoch: 8 = 1 * 64 / 4 / 2 (samples per "
        "file * num files / batch size / comm size)\n"
        "[OUTPUT] T Total training steps is set to be 20. Will only run up "
        "to 16\n"
        "[WARNING] Only have enough data for 8 steps but 20 wanted\n"
        "[OUTPUT] T Steps per eval: 2 = 1 * 8 / 2 / 2 (samples per file * "
        "num files / batch size eval / comm size)\n");
    pr_dlio_log_making(false, &out);
    pr_dlio_log_making(true, &out);
    expect_lines(&out, "[OUTPUT] T Starting data generation\n"
                       "[OUTPUT] T Generation done\n");
    b.e.train.total_training_steps = -1;
    pr_dlio_log_epoch(&b.e, 3, 8, &out);
    expect_lines(&out, "[OUTPUT] T Starting epoch 3: 8 steps expected\n"
                       "[OUTPUT] T Starting block 1\n");
    b.e.train.total_training_steps = 5;
    pr_dlio_log_epoch(&b.e, 1, 5, &out);
    expect_lines(&out,
                 "[OUTPUT] T Starting epoch 1: Overriding number of steps to "
                 "5.\n"
                 "[OUTPUT] T Starting block 1\n");
    bench_done(&b);
}

static void lines_of_phases(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);
    struct bench b;

    (void)state;
    small_training(&b);
    pr_dlio_log_phase(&b.e, b.s.first, &out);
    expect_lines(
        &out,
        "[OUTPUT] T Ending block 1 - 3 steps completed in 4.00 s\n"
        "[OUTPUT] T Epoch 1 - Block 1 [Training] Accelerator Utilization "
        "[AU] (%): 72.7273\n"
        "[OUTPUT] T Epoch 1 - Block 1 [Training] Throughput "
        "(samples/second): 2.9091\n"
        "[OUTPUT] T Epoch 1 - Block 1 [Training] Computation time per step "
        "(second): 1.0000+/-0.0000 (set value: {'mean': 0.1})\n"
        "[OUTPUT] T Ending epoch 1 - 3 steps completed in 4.00 s\n");
    pr_dlio_log_phase(&b.e, b.s.last, &out);
    expect_lines(&out, "[OUTPUT] T Starting eval - 2 steps expected\n"
                       "[OUTPUT] T Ending eval - 2 steps completed in 2.50 s\n"
                       "[OUTPUT] T Epoch 2 [Eval] Accelerator Utilization [AU] "
                       "(%): 72.7273\n"
                       "[OUTPUT] T Epoch 2 [Eval] Throughput (samples/second): "
                       "3.2000\n");
    bench_done(&b);
}

static void lines_at_the_end(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);
    struct bench b;

    (void)state;
    small_training(&b);
    /* Half of what is configured in training, twice as much in evaluation. */
    for (struct pr_emulate_phase *p = b.s.first; p; p = p->next)
        p->feed =
            (struct pr_feed_stats){.samples = 6, .storage_bytes = 3 << 20};
    b.s.last->feed =
        (struct pr_feed_stats){.samples = 4, .storage_bytes = 8 << 20};
    pr_dlio_log_end(&b.e, &b.s, &out);
    expect_lines(
        &out,
        "[OUTPUT] T Saved outputs in experiments/1\n"
        "[OUTPUT] Averaged metric over all steps/epochs\n"
        "[METRIC] ==========================================================\n"
        "[METRIC] Number of Simulated Accelerators: 2 \n"
        "[METRIC] Training Accelerator Utilization [AU] (%): 53.0303 "
        "(0.0000)\n"
        "[METRIC] Training Throughput (samples/second): 2.7879 (0.0000)\n"
        "[METRIC] Training I/O Throughput (MB/second): 1.3939 (0.0000)\n"
        "[METRIC] train_au_meet_expectation: fail\n"
        "[METRIC] Eval Accelerator Utilization [AU] (%): 50.6494 (0.0000)\n"
        "[METRIC] Eval Throughput (samples/second): 3.200000 (0.000000)\n"
        "[METRIC] Eval Throughput (MB/second): 6.400000 (0.000000)\n"
        "[METRIC] eval_au_meet_expectation: fail\n"
        "[METRIC] ==========================================================\n"
        "\n"
        "[OUTPUT] T outputs saved in RANKID_output.json\n");
    bench_done(&b);
}

/* Digits become #: what a line says apart from its figures. */
static void without_figures(char *text)
{
    char *to = text;

    for (char *from = text; *from; from++) {
        bool figure = *from >= '0' && *from <= '9';

        if (figure && to > text && to[-1] == '#')
            continue;
        *to++ = figure ? '#' : *from;
    }
    *to = '\0';
}

/* The whole log, figures aside, but for where the files are. */
static void log_reads_as_the_real_one(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct real x = real_runs[1];
    char path[4096], *ours, *theirs;
    const char *text;
    struct bench b;
    size_t len;

    (void)state;
    real_bench(&b, &x);
    b.e.output.folder = "data";
    pr_dlio_log_mode(&b.e, &out);
    pr_dlio_log_start(&b.e, 8, &out);
    for (struct pr_emulate_phase *p = b.s.first; p; p = p->next) {
        pr_dlio_log_epoch(&b.e, p->epoch, p->steps_planned, &out);
        pr_dlio_log_phase(&b.e, p, &out);
    }
    pr_dlio_log_end(&b.e, &b.s, &out);
    find_results(x.run, "dlio.log", path);
    assert_int_equal(pr_file_read(path, 1 << 20, b.a, &text, &len, NULL),
                     PR_OK);
    /* What has been rounded alike is the same to the last digit. */
    assert_non_null(strstr(out.data, "(second): 0.0258+/-0.0010 (set value: "
                                     "{'mean': 0.0252})\n"));
    assert_non_null(strstr(text, "(second): 0.0258+/-0.0010 (set value: "
                                 "{'mean': 0.0252})\n"));
    assert_non_null(strstr(out.data, "Ending block 1 - 8 steps completed in "
                                     "0.55 s\n"));
    ours = pr_arena_copy(b.a, out.data, out.len);
    theirs = pr_arena_copy(b.a, text, len);
    without_figures(ours);
    without_figures(theirs);
    assert_string_equal(ours, theirs);
    bench_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_have_the_form_of_the_real_ones),
        cmocka_unit_test(lists_and_figures_of_each_accelerator),
        cmocka_unit_test(times_are_local_and_epochs_end_after_evaluation),
        cmocka_unit_test(summary_has_evaluation_and_ours),
        cmocka_unit_test(parts_that_were_not_done_have_no_figures),
        cmocka_unit_test(lines_of_proc_become_pairs),
        cmocka_unit_test(shortened_lists_say_so),
        cmocka_unit_test(many_accelerators),
        cmocka_unit_test(long_lists_stay_whole),
        cmocka_unit_test(no_memory_is_an_error),
        cmocka_unit_test(folder_that_is_not_there),
        cmocka_unit_test(lines_at_the_start),
        cmocka_unit_test(lines_of_phases),
        cmocka_unit_test(lines_at_the_end),
        cmocka_unit_test(log_reads_as_the_real_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
