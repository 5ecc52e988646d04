/* The monitor's source of GPU figures, on a made-up library. */
#include "monitor/columns.h"

#include "torture.h"

#include "fake_nvml.h"

#include <math.h>
#include <string.h>

extern const struct pr_monitor_source pr_source_gpu;

/* A monitor with this source alone. */
struct watch {
    struct pr_monitor_columns columns;
    void *state;
};

static struct watch begin(void)
{
    struct watch w = {.state = pr_alloc_zeroed(pr_source_gpu.state_bytes)};

    assert_non_null(w.state);
    assert_true(pr_monitor_columns_init(&w.columns));
    return w;
}

static void end(struct watch *w)
{
    pr_source_gpu.close(w->state);
    pr_free(w->state);
    pr_monitor_columns_close(&w->columns);
}

static void look(struct watch *w, double dt)
{
    struct pr_monitor_sample l = {.root = "", .dt = dt, .columns = &w->columns};
    struct pr_monitor_source_sampled looked = {true, dt, true};

    pr_monitor_columns_begin_source(&w->columns, 0);
    pr_source_gpu.sample(w->state, &l);
    pr_monitor_columns_add(&w->columns, &looked);
}

static void expect(const struct watch *w, const char *name, double want)
{
    double got = pr_monitor_columns_value(&w->columns, name);

    if (isnan(want) ? !isnan(got) : fabs(got - want) > 1e-9)
        fail_msg("%s is %g, not %g", name, got, want);
}

static void sum(const struct watch *w, struct pr_buf *out)
{
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, out, 0);
    pr_json_open_object(&jb, NULL);
    pr_monitor_columns_write_sums(&w->columns, &jb);
    pr_json_close(&jb);
    assert_true(pr_buf_ok(out));
}

static void expect_text(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no %s in %s", part, text);
}

static void every_figure_of_every_device(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);
    struct watch w;

    (void)state;
    USE_FAKE_NVML();
    w = begin();
    look(&w, 0);
    expect(&w, "gpu.0.use", 0.5);
    expect(&w, "gpu.1.use", 0.6);
    expect(&w, "gpu.0.power_w", 101);
    expect(&w, "gpu.0.pcie_in_bytes_s", NAN); /* nothing to compare with */
    for (int i = 0; i < 3; i++)
        look(&w, 0.5);
    expect(&w, "gpu.0.memory_use", 0.25);
    expect(&w, "gpu.1.memory_bytes", 2147483648.0);
    expect(&w, "gpu.0.power_w", 104);
    expect(&w, "gpu.0.sm_mhz", 1004);
    expect(&w, "gpu.0.memory_mhz", 1215);
    expect(&w, "gpu.1.temperature_c", 61);
    expect(&w, "gpu.0.fan", 0.3);
    expect(&w, "gpu.1.fan", NAN);
    expect(&w, "gpu.0.pcie_in_bytes_s", 2000);
    expect(&w, "gpu.0.pcie_out_bytes_s", 200);
    expect(&w, "gpu.0.throttle", 0x24);
    expect(&w, "gpu.2.use", NAN);
    sum(&w, &out);
    /* joules by the counter, 5 a look, not by 103 W in half a second */
    expect_text(out.data, "\"gpu.0.power_w\": {\"mean\": 103, \"max\": 104, "
                          "\"total\": 15}");
    expect_text(out.data, "\"gpu.0.throttle\": {\"share\": 0.3333, \"bits\": "
                          "36, \"words\": \"power cap, thermal\"}");
    expect_text(out.data, "\"energy_j\": 30}");
    end(&w);
}

static void power_without_a_counter_and_the_reverse(void **state)
{
    static const struct {
        const char *fail;
        double watts;
        const char *sum;
    } rows[] = {
        {"energy:3", 102, "{\"mean\": 102, \"max\": 102, \"total\": 51}"},
        {"power:3", 10, "{\"mean\": 10, \"max\": 10, \"total\": 5}"},
        {"power:3,energy:3", NAN, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);
        struct watch w;

        USE_FAKE_NVML();
        setenv("FAKE_NVML_FAIL", rows[i].fail, 1);
        w = begin();
        look(&w, 0);
        look(&w, 0.5);
        expect(&w, "gpu.0.power_w", rows[i].watts);
        sum(&w, &out);
        if (rows[i].sum)
            expect_text(out.data, rows[i].sum);
        else
            assert_null(strstr(out.data, "power_w"));
        end(&w);
    }
}

static void what_a_device_does_not_tell_is_no_column(void **state)
{
    struct watch w;

    (void)state;
    USE_FAKE_NVML();
    setenv("FAKE_NVML_FAIL", "throttle:3,clock:3", 1);
    w = begin();
    look(&w, 0);
    look(&w, 0.5);
    expect(&w, "gpu.0.use", 0.5);
    expect(&w, "gpu.0.sm_mhz", NAN);
    expect(&w, "gpu.0.throttle", NAN); /* not: runs freely */
    end(&w);
}

/* Counters are not compared across the gap: the driver may have begun anew. */
static void a_device_that_vanishes_and_comes_back(void **state)
{
    struct watch w;

    (void)state;
    USE_FAKE_NVML();
    setenv("FAKE_NVML_LOST", "1:3:2", 1);
    w = begin();
    look(&w, 0);
    look(&w, 0.5);
    expect(&w, "gpu.1.use", 0.6);
    for (int i = 0; i < 3; i++) {
        look(&w, 0.5);
        expect(&w, "gpu.1.use", NAN);
        expect(&w, "gpu.1.throttle", NAN);
        expect(&w, "gpu.0.use", 0.5);
    }
    look(&w, 0.5);
    expect(&w, "gpu.1.use", 0.6);
    expect(&w, "gpu.1.pcie_in_bytes_s", NAN);
    look(&w, 0.5);
    expect(&w, "gpu.1.pcie_in_bytes_s", 2000);
    end(&w);
}

static void an_experiment_after_another(void **state)
{
    struct watch w;

    (void)state;
    USE_FAKE_NVML();
    w = begin();
    look(&w, 0);
    look(&w, 0.5);
    pr_monitor_columns_clear(&w.columns);
    look(&w, 0);
    expect(&w, "gpu.0.use", 0.5);
    expect(&w, "gpu.0.pcie_in_bytes_s", NAN);
    look(&w, 1);
    expect(&w, "gpu.0.pcie_in_bytes_s", 1000);
    end(&w);
}

/* The library is looked for at the beginning of an experiment alone. */
static void no_library_is_no_column(void **state)
{
    struct watch w = begin();

    (void)state;
    setenv("PRONY_NVML", "/no/such/library.so", 1);
    look(&w, 0);
    look(&w, 0.5);
    assert_int_equal(w.columns.n, 0);
    if (getenv("FAKE_NVML")) {
        setenv("PRONY_NVML", getenv("FAKE_NVML"), 1);
        look(&w, 0.5);
        assert_int_equal(w.columns.n, 0);
        look(&w, 0);
        expect(&w, "gpu.0.use", 0.5);
    }
    end(&w);
    /* never looked */
    w = begin();
    end(&w);
}

#define TEST(f) cmocka_unit_test_teardown(f, forget_fake_nvml)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_figure_of_every_device),
        TEST(power_without_a_counter_and_the_reverse),
        TEST(what_a_device_does_not_tell_is_no_column),
        TEST(a_device_that_vanishes_and_comes_back),
        TEST(an_experiment_after_another),
        TEST(no_library_is_no_column),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
