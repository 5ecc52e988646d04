/*
 * Folders of DLIO's results. The expected figures were computed with Python's
 * statistics module. With PRONY_DLIO_TEST_DATA (tests/test_data of the DLIO
 * repository) also those that DLIO's own tests expect.
 */
#include "analyse/results/read_dlio.h"
#include "present/report/report_dlio.h"

#include "skip.h"
#include "torture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct folder {
    char path[64];
    struct pr_arena *arena;
};

static void put(const struct folder *f, const char *name, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", f->path, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
    struct folder *f = calloc(1, sizeof *f);
    char path[128];

    assert_non_null(f);
    strcpy(f->path, "/tmp/prony-dlio.XXXXXX");
    assert_non_null(mkdtemp(f->path));
    snprintf(path, sizeof path, "%s/.hydra", f->path);
    assert_int_equal(mkdir(path, 0755), 0);
    f->arena = pr_arena_new(4096);
    assert_non_null(f->arena);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"summary.json",
                                        "0_output.json",
                                        "1_output.json",
                                        "iostat.json",
                                        "per_epoch_stats.json",
                                        "0_per_epoch_stats.json",
                                        "dlio.log",
                                        ".hydra/config.yaml",
                                        ".hydra/overrides.yaml",
                                        "10_output.json",
                                        ".hydra",
                                        "params.json"};
    struct folder *f = *state;
    char path[256];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", f->path, names[i]);
        (void)remove(path);
    }
    assert_int_equal(rmdir(f->path), 0);
    pr_arena_free(f->arena);
    free(f);
    return 0;
}

static const char summary[] =
    "{\"start\": \"2026-01-02T03:04:05.000000\","
    " \"end\": \"2026-01-02T03:04:15.500000\", \"metric\": {"
    "\"train_throughput_samples_per_second\": [5.5, 6.25, 7.0, NaN],"
    "\"train_throughput_mean_samples_per_second\": 6.25,"
    "\"train_io_mean_MB_per_second\": 12.5}}";
static const char epochs[] =
    "{\"1\": {\"start\": \"2026-01-02T03:04:05.250000\", \"block1\": {"
    "\"start\": \"2026-01-02T03:04:06\", \"end\": "
    "\"2026-01-02T03:04:14.000000\", \"duration\": \"8.00\"}, \"save_ckpt1\": "
    "{\"start\": \"2026-01-02T03:04:14\", \"end\": \"2026-01-02T03:04:15\", "
    "\"duration\": 1.0, \"throughput\": 0.5}, \"end\": "
    "\"2026-01-02T03:04:15.750000\", \"duration\": \"10.50\"}}";
static const char rank0[] =
    "{\"1\": {\"load\": {\"block1\": [0.5, 0.25, 0.25, 0.5, 0.25]}, \"proc\": "
    "{\"block1\": [2.0, 1.0, 1.25, 1.6, 0.8]}, \"compute\": {\"block1\": [1.5, "
    "0.75, 1.0, 1.1, 0.55]}, \"au\": {\"block1\": 80.0}, \"throughput\": "
    "{\"block1\": 3.0}}, \"hostname\": \"a\"}";
static const char rank1[] =
    "{\"1\": {\"load\": {\"block1\": [1, 0.25, 0.25, 0.5, 0]}, \"proc\": "
    "{\"block1\": [2.5, 1.0, 1.0, 2.0, 0.5]}, \"au\": {\"block1\": 70.0}, "
    "\"throughput\": {\"block1\": 2.5}}, \"hostname\": \"a\"}";

static void put_run(const struct folder *f)
{
    put(f, "summary.json", summary);
    put(f, "0_per_epoch_stats.json", epochs);
    put(f, "0_output.json", rank0);
    put(f, "1_output.json", rank1);
    put(f, ".hydra/config.yaml",
        "workload:\n  model:\n    name: m\n  dataset:\n"
        "    record_length_bytes: 2097152\n  reader:\n    batch_size: 9\n"
        "  train:\n    epochs: 3\n");
    put(f, ".hydra/overrides.yaml",
        "- workload=x\n- ++workload.reader.batch_size=4\n");
}

static void assert_stats(const struct pr_dlio_stats *s, const double want[7])
{
    const double got[] = {s->mean, s->std, s->min, s->median,
                          s->p90,  s->p99, s->max};

    for (size_t i = 0; i < 7; i++)
        assert_true(fabs(got[i] - want[i]) <= 1e-9 * fabs(want[i]) + 1e-12);
}

static void read_run(const struct folder *f, struct pr_dlio_run *run)
{
    struct pr_dlio_opts opts = {0};
    struct pr_err err = {0};
    int rc = pr_dlio_read(f->path, &opts, f->arena, run, &err);

    if (rc)
        fail_msg("%s: %s", err.where, err.msg);
}

static void quantiles_are_pythons(void **state)
{
    static const struct {
        double series[8];
        size_t n;
        double want[7];
    } rows[] = {
        {{1, 2}, 2, {1.5, 0.7071067811865476, 1, 1.5, 1.9, 1.99, 2}},
        {{3, 1, 2}, 3, {2, 1, 1, 2, 2.8, 2.98, 3}},
        {{5.5, -1.25, 3, 3, 8.75, 2.5},
         6,
         {3.5833333333333335, 3.3341665625260335, -1.25, 3, 7.125, 8.5875,
          8.75}},
        {{0.1, 0.1, 0.1}, 3, {0.1, 0, 0.1, 0.1, 0.1, 0.1, 0.1}},
        {{1000000001, 1000000002, 1000000004},
         3,
         {1000000002.3333334, 1.5275252316519468, 1000000001, 1000000002,
          1000000003.6, 1000000003.96, 1000000004}},
    };
    double series[101];
    struct pr_dlio_stats s;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memcpy(series, rows[i].series, sizeof rows[i].series);
        pr_dlio_stats(series, rows[i].n, &s);
        assert_int_equal(s.n, rows[i].n);
        assert_stats(&s, rows[i].want);
    }
    for (int i = 0; i < 101; i++)
        series[i] = 101 - i;
    pr_dlio_stats(series, 101, &s);
    assert_stats(&s, (double[]){51, 29.300170647967224, 1, 51, 91, 100, 101});
    pr_dlio_stats(series, 1, &s);
    assert_int_equal(s.n, 1);
    assert_true(s.mean == 0);
}

static void times_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t want; /* seconds after 2026-01-02 00:00:00; -1: none */
    } rows[] = {
        {"2026-01-02T03:04:05", 11045},
        {"2026-01-02 03:04:05", 11045},
        {"01/02/26 03:04:05", 11045},
        {"01/02/2026 03:04:05", 11045},
        {"01/02/2026 03:04:05 AM", 11045},
        {"01/02/2026 03:04:05 PM", 54245},
        {"01/02/2026 12:00:00 AM", 0},
        {"2026-01-03T00:00:00Z", 86400},
        {"2026-03-01T00:00:00", 58 * 86400},
        {"", -1},
        {"yesterday", -1},
        {"2026-13-02T03:04:05", -1},
        {"2026-01-02", -1},
        {"03:04:05", -1},
    };
    int64_t base, t;

    (void)state;
    assert_true(pr_dlio_parse_time("2026-01-02T00:00:00", &base));
    assert_true(base == 1767312000LL * 1000000);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool ok = pr_dlio_parse_time(rows[i].text, &t);
        assert_int_equal(ok, rows[i].want >= 0);
        if (ok)
            assert_true(t - base == rows[i].want * 1000000);
    }
    assert_true(pr_dlio_parse_time("2026-01-02T00:00:00.25", &t));
    assert_true(t - base == 250000);
}

static void ranks_are_summed_step_by_step(void **state)
{
    const double samples[] = {7.26, 3.6916121139686386, 3.6, 7.2, 11, 12.8, 13};
    double mb[7];
    const struct pr_dlio_phase *p;
    struct folder *f = *state;
    struct pr_dlio_run run;

    put_run(f);
    read_run(f, &run);
    assert_int_equal(run.ranks, 2);
    assert_int_equal(run.epoch_count, 1);
    p = run.epochs[0].phases;
    assert_string_equal(p->name, "block1");
    for (int i = 0; i < 7; i++)
        mb[i] = 2 * samples[i];
    assert_stats(&p->samples, samples);
    assert_stats(&p->mb, mb);
    assert_true(p->load_s == (1.75 + 2.0) / 2);
    assert_true(fabs(p->proc_s - (6.65 + 7.0) / 2) < 1e-12);
    assert_true(run.load_s == p->load_s && run.proc_s == p->proc_s);
    assert_true(p->seconds == 8);
    assert_int_equal(p->ranks[1].steps, 5);
    assert_true(p->ranks[0].au == 80 && p->ranks[1].throughput == 2.5);
    assert_true(fabs(p->ranks[0].compute_s - 4.9) < 1e-12);
    /* without its list: what is left of the time */
    assert_true(fabs(p->ranks[1].compute_s - 5.0) < 1e-12);
    assert_false(p->next->steps_known);
    assert_string_equal(p->next->duration, "1.00");
}

static void the_run_is_as_its_summary_says(void **state)
{
    struct folder *f = *state;
    struct pr_dlio_run run;

    put_run(f);
    read_run(f, &run);
    assert_stats(&run.samples,
                 (double[]){6.25, 0.75, 5.5, 6.25, 6.85, 6.985, 7});
    assert_stats(&run.mb, (double[]){12.5, 1.5, 11, 12.5, 13.7, 13.97, 14});
    assert_string_equal(run.setup.name, "m");
    assert_int_equal(run.setup.batch, 4); /* the override, not the config */
    assert_true(run.seconds == 10.5);     /* first epoch's start to its end */
}

static void settings_come_from_where_they_are(void **state)
{
    struct folder *f = *state;
    struct pr_dlio_run run;

    put_run(f);
    put(f, ".hydra/config.yaml", "[no");
    put(f, ".hydra/overrides.yaml", "{");
    read_run(f, &run);
    assert_int_equal(run.setup.batch, 0);
    assert_true(run.setup.record_bytes == 2097152); /* MB/s by samples/s */
    assert_int_equal(run.epochs[0].phases->samples.n, 0);

    put(f, "dlio.log",
        "[OUTPUT] x Max steps per epoch: 8 = 1 * 32 / 4 / 1 (samples per\n");
    read_run(f, &run);
    assert_int_equal(run.setup.batch, 4);

    put(f, "params.json",
        "{\"reader.batch_size\": 5, \"model.name\": \"p\", "
        "\"dataset.record_length_bytes\": 10}");
    read_run(f, &run);
    assert_int_equal(run.setup.batch, 5);
    assert_string_equal(run.setup.name, "p");
    assert_true(run.setup.record_bytes == 10);
}

static void the_older_file_of_epochs_is_read(void **state)
{
    struct folder *f = *state;
    struct pr_dlio_run run;
    char path[128];

    put_run(f);
    snprintf(path, sizeof path, "%s/0_per_epoch_stats.json", f->path);
    assert_int_equal(unlink(path), 0);
    read_run(f, &run); /* none: the ranks know the epochs */
    assert_int_equal(run.epoch_count, 1);
    assert_true(isnan(run.epochs[0].phases->seconds));
    assert_int_equal(run.epochs[0].phases->samples.n, 5);

    put(f, "per_epoch_stats.json", epochs);
    read_run(f, &run);
    assert_true(run.epochs[0].phases->seconds == 8);
}

/* Samples of two phases, one outside, one of another form. */
static void iostat_is_cut_by_phases(void **state)
{
    struct folder *f = *state;
    struct pr_dlio_run run;

    put_run(f);
    put(f, "iostat.json",
        "{\"sysstat\": {\"hosts\": [{\"statistics\": ["
        "{\"timestamp\": \"01/02/26 03:04:05\", \"avg-cpu\": {\"user\": 99},"
        " \"disk\": [{\"disk_device\": \"sda\", \"rMB/s\": 99}]},"
        "{\"timestamp\": \"01/02/26 03:04:06\", \"avg-cpu\": {\"user\": 1,"
        " \"nice\": 2}, \"disk\": [{\"disk_device\": \"sda\", \"rMB/s\": 1}]},"
        "{\"timestamp\": \"01/02/26 03:04:13\", \"avg-cpu\": {\"user\": 4},"
        " \"disk\": [{\"disk_device\": \"sda\", \"rMB/s\": 3}]},"
        "{\"timestamp\": \"01/02/26 03:04:14\", \"avg-cpu\": {\"user\": 8},"
        " \"disk\": [{\"disk_device\": \"sda\", \"rMB/s\": 8}]},"
        "{\"timestamp\": 7, \"disk\": 3}, null]}]}}");
    read_run(f, &run);
    assert_true(run.has_iostat);
    assert_int_equal(run.disk_count, 1);
    assert_int_equal(run.epochs[0].phases->machine.cpu[PR_DLIO_CPU_USER].n, 2);
    assert_true(run.epochs[0].phases->machine.cpu[PR_DLIO_CPU_USER].mean ==
                3.5);
    assert_true(run.epochs[0]
                    .phases->machine.disks[0]
                    .figure[PR_DLIO_DISK_READ_MB]
                    .mean == 2);
    assert_int_equal(run.machine.cpu[PR_DLIO_CPU_USER].n, 3);
    assert_true(run.machine.disks[0].figure[PR_DLIO_DISK_READ_MB].mean == 4);
    assert_int_equal(run.machine.disks[0].figure[PR_DLIO_DISK_QUEUE].n, 0);
}

static void other_shapes_do_no_harm(void **state)
{
    static const char *const shapes[] = {
        "{}",
        "[]",
        "null",
        "{\"1\": 3}",
        "{\"1\": {\"load\": []}}",
        "{\"1\": {\"load\": {\"block1\": 4}, \"proc\": 3}}",
        ("{\"1\": {\"load\": {\"block1\": [\"a\", null]}, \"proc\": "
         "{\"block1\": [true, {}, 0, -1, NaN, 1e999]}}}"),
        "{\"1\": {\"block1\": {\"start\": 3, \"end\": [], \"duration\": {}}}}",
        "{\"sysstat\": {\"hosts\": [{\"statistics\": [[], {\"disk\": [3]}]}]}}",
        "not JSON",
    };
    static const char *const names[] = {
        "0_output.json", "0_per_epoch_stats.json", "iostat.json",
        ".hydra/config.yaml", ".hydra/overrides.yaml"};
    struct folder *f = *state;
    struct pr_dlio_opts opts = {0};

    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
            struct pr_dlio_run run;
            struct pr_err err = {0};
            int rc;

            put_run(f);
            put(f, names[n], shapes[i]);
            rc = pr_dlio_read(f->path, &opts, f->arena, &run, &err);
            assert_int_equal(rc, n == 0 && i == 9 ? PR_E_FORMAT : PR_OK);
            if (!rc)
                pr_dlio_report_text(&run, &out);
            assert_true(rc || out.len > 100);
        }
}

static const char *tortured;

static int read_and_report(void)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_dlio_opts opts = {0};
    struct pr_dlio_run run;
    int rc = a ? pr_dlio_read(tortured, &opts, a, &run, NULL) : PR_E_NOMEM;

    if (rc)
        return rc;
    pr_dlio_report_text(&run, &out);
    rc = pr_dlio_phase_table(&run, PR_TABLE_TEXT, NULL, &out, NULL);
    if (!rc)
        rc = pr_dlio_rank_table(&run, PR_TABLE_CSV, NULL, &out, NULL);
    return rc || pr_buf_ok(&out) ? rc : PR_E_NOMEM;
}

static void out_of_memory_is_an_error(void **state)
{
    struct folder *f = *state;

    put_run(f);
    put(f, "iostat.json",
        "{\"sysstat\": {\"hosts\": [{\"statistics\": [{\"timestamp\": "
        "\"01/02/26 03:04:06\", \"disk\": [{\"disk_device\": \"sda\", "
        "\"rMB/s\": 1}]}]}]}}");
    tortured = f->path;
    torture(read_and_report);
}

static void a_summary_must_be_there(void **state)
{
    struct folder *f = *state;
    struct pr_dlio_opts opts = {0};
    struct pr_dlio_run run;
    struct pr_err err = {0};

    assert_int_equal(pr_dlio_read(f->path, &opts, f->arena, &run, &err),
                     PR_E_IO);
    assert_true(err.hint[0]);
    put(f, "summary.json", "[1]");
    assert_int_equal(pr_dlio_read(f->path, &opts, f->arena, &run, NULL),
                     PR_E_FORMAT);
    put(f, "summary.json", "{\"a\": ");
    assert_int_equal(pr_dlio_read(f->path, &opts, f->arena, &run, &err),
                     PR_E_FORMAT);
    put(f, "summary.json", "{}");
    /* Of nobody there is nothing to report. */
    assert_int_equal(pr_dlio_read(f->path, &opts, f->arena, &run, &err),
                     PR_E_FORMAT);
    assert_true(err.hint[0]);
}

static void a_report_is_named_harmlessly(void **state)
{
    static const char *const rows[][2] = {
        {"unet3d", "DLIO_unet3d_report.txt"},
        {"../../x", "DLIO_.._.._x_report.txt"},
        {"a\nb", "DLIO_a_b_report.txt"},
        {"", "DLIO_report.txt"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);
        struct pr_dlio_run run = {.setup = {.name = rows[i][0]}};
        pr_dlio_report_name(&run, &out);
        assert_string_equal(out.data, rows[i][1]);
    }
}

static void check_own_figures(const char *dir)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_dlio_opts opts = {0};
    struct pr_dlio_run run;
    struct pr_err err = {0};
    char text[32];

    if (pr_dlio_read(dir, &opts, a, &run, &err))
        fail_msg("%s: %s", err.where, err.msg);
    snprintf(text, sizeof text, "%.2f", run.samples.mean);
    assert_string_equal(text, "5.10");
    snprintf(text, sizeof text, "%.2f", run.load_s);
    assert_string_equal(text, "7.78");
    snprintf(text, sizeof text, "%.2f", run.proc_s);
    assert_string_equal(text, "65.87");
    pr_dlio_report_text(&run, &out);
    assert_non_null(strstr(out.data, "Run name:                     unet3d\n"));
}

static void dlios_own_figures(void **state)
{
    const char *dir = getenv("PRONY_DLIO_TEST_DATA");

    (void)state;
    if (!dir)
        skip_because("no tests/test_data of DLIO; PRONY_DLIO_TEST_DATA=FOLDER "
                     "says where it is");
    check_own_figures(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_pythons),
        cmocka_unit_test(times_are_read),
        cmocka_unit_test_setup_teardown(ranks_are_summed_step_by_step, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_run_is_as_its_summary_says, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(settings_come_from_where_they_are,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_older_file_of_epochs_is_read,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(iostat_is_cut_by_phases, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(other_shapes_do_no_harm, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(out_of_memory_is_an_error, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_summary_must_be_there, set_up,
                                        tear_down),
        cmocka_unit_test(a_report_is_named_harmlessly),
        cmocka_unit_test(dlios_own_figures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
