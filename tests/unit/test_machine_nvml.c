/* GPUs by NVIDIA's library, of which tests/fake_nvml is a made-up one. */
#include "machine/nvml.h"

#include "torture.h"

#include "fake_nvml.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

static void a_library_that_is_not_there(void **state)
{
    char why[PR_NVML_WHY] = "";

    (void)state;
    setenv("PRONY_NVML", "/no/such/library.so", 1);
    assert_null(pr_nvml_open(why));
    assert_non_null(strstr(why, "/no/such/library.so"));
    assert_null(pr_nvml_open(NULL));
    setenv("PRONY_NVML", "", 1);
    assert_null(pr_nvml_open(why));
    assert_string_equal(why, "switched off by PRONY_NVML");
    /* a library of another kind */
    setenv("PRONY_NVML", "libm.so.6", 1);
    assert_null(pr_nvml_open(why));
    assert_string_equal(why, "libnvidia-ml is not what its name says");
    pr_nvml_close(NULL);
    assert_int_equal(pr_nvml_count(NULL), 0);
    assert_string_equal(pr_nvml_driver(NULL), "");
}

static void reasons_for_having_none(void **state)
{
    static const struct {
        const char *name, *value, *why;
    } rows[] = {
        {"FAKE_NVML_INIT", "9", "NVIDIA's driver is not loaded"},
        {"FAKE_NVML_INIT", "18",
         "NVIDIA's driver and its library have different versions; reload the "
         "driver or start the machine again"},
        {"FAKE_NVML_INIT", "4", "no permission to ask NVIDIA's driver"},
        {"FAKE_NVML_INIT", "999", "NVIDIA's library fails with code 999"},
        {"FAKE_NVML_COUNT", "999", "NVIDIA's library fails with code 999"},
        {"FAKE_NVML_DEVICES", "0", "NVIDIA's driver is there, but no device"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char why[PR_NVML_WHY] = "";

        forget_fake_nvml(NULL);
        USE_FAKE_NVML();
        setenv(rows[i].name, rows[i].value, 1);
        assert_null(pr_nvml_open(why));
        assert_string_equal(why, rows[i].why);
    }
}

static void what_a_device_is(void **state)
{
    struct pr_nvml_device d;
    struct pr_nvml *n;

    (void)state;
    USE_FAKE_NVML();
    n = pr_nvml_open(NULL);
    assert_non_null(n);
    assert_int_equal(pr_nvml_count(n), 2);
    assert_string_equal(pr_nvml_driver(n), "999.01.02");
    assert_int_equal(pr_nvml_cuda(n), 12040);
    assert_true(pr_nvml_device(n, 0, &d));
    assert_string_equal(d.name, "Fake GPU 40GB");
    assert_string_equal(d.uuid, "GPU-00000000-0000-0000-0000-000000000000");
    assert_string_equal(d.pci, "0000:3b:00.0");
    assert_string_equal(d.serial, "1320000000000");
    assert_string_equal(d.vbios, "92.00.45.00.03");
    assert_true(d.memory_bytes == 40ull << 30);
    assert_int_equal(d.power_limit_mw, 400000);
    assert_int_equal(d.pcie_generation, 4);
    assert_int_equal(d.pcie_width, 16);
    assert_int_equal(d.max_sm_mhz, 1410);
    assert_int_equal(d.max_memory_mhz, 1215);
    assert_int_equal(d.nvlinks, 4);
    assert_int_equal(d.compute_major, 8);
    assert_int_equal(d.compute_minor, 0);
    assert_true(d.ecc == 1 && d.persistence == 0 && d.mig == 0);
    assert_true(pr_nvml_device(n, 1, &d));
    assert_string_equal(d.pci, "0000:3c:00.0");
    assert_string_equal(d.serial, "");
    assert_int_equal(d.mig, -1);
    memset(&d, 7, sizeof d);
    assert_false(pr_nvml_device(n, 2, &d));
    assert_int_equal(d.name[0], 7); /* untouched */
    pr_nvml_close(n);
}

static void how_devices_reach_each_other(void **state)
{
    static const struct {
        unsigned a, b;
        const char *want; /* NULL: unknown */
    } rows[] = {
        {0, 1, "NV4"}, {1, 0, "NV4"}, {2, 0, "NV6"}, {0, 3, "PHB"},
        {3, 4, "SYS"}, {1, 1, NULL},  {0, 5, NULL},
    };
    struct pr_nvml *n;
    char out[16];

    (void)state;
    USE_FAKE_NVML();
    setenv("FAKE_NVML_DEVICES", "5", 1);
    n = pr_nvml_open(NULL);
    assert_non_null(n);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool known = pr_nvml_link_name(n, rows[i].a, rows[i].b, out);
        assert_int_equal(known, rows[i].want != NULL);
        if (known)
            assert_string_equal(out, rows[i].want);
    }
    pr_nvml_close(n);
    setenv("FAKE_NVML_FAIL", "path:999", 1);
    n = pr_nvml_open(NULL);
    assert_non_null(n);
    assert_false(pr_nvml_link_name(n, 0, 1, out));
    pr_nvml_close(n);
}

static void what_a_device_does(void **state)
{
    struct pr_nvml_state s;
    struct pr_nvml *n;

    (void)state;
    USE_FAKE_NVML();
    n = pr_nvml_open(NULL);
    assert_non_null(n);
    for (int k = 1; k <= 4; k++) {
        assert_true(pr_nvml_read(n, 1, &s));
        assert_true(s.utilisation == 0.6 && s.memory_utilisation == 0.25);
        assert_true(s.memory_bytes == 2147483648.0);
        assert_true(s.power_w == 100 + k && s.energy_j == 5 * k);
        assert_true(s.sm_mhz == 1000 + k && s.memory_mhz == 1215);
        assert_true(s.temperature_c == 61 && isnan(s.fan));
        assert_true(s.pcie_in_bytes == 1000 * k);
        assert_true(s.pcie_out_bytes == 100 * k);
        assert_true(s.throttle == (k == 4 ? 0x24 : 0));
    }
    assert_true(pr_nvml_read(n, 0, &s));
    assert_true(s.utilisation == 0.5 && s.fan == 0.3);
    assert_false(pr_nvml_read(n, 2, &s));
    pr_nvml_close(n);
}

/* One figure that fails is missing; when all do, the device is of no use. */
static void figures_that_fail_are_nan(void **state)
{
    struct pr_nvml_state s = {.power_w = 7};
    struct pr_nvml *n;

    (void)state;
    USE_FAKE_NVML();
    setenv("FAKE_NVML_FAIL", "power:3,energy:999,clock:10,pcie:3,memory:21", 1);
    n = pr_nvml_open(NULL);
    assert_non_null(n);
    for (int k = 0; k < 2; k++) {
        assert_true(pr_nvml_read(n, 0, &s));
        assert_true(isnan(s.power_w) && isnan(s.energy_j) && isnan(s.sm_mhz));
        assert_true(isnan(s.memory_mhz) && isnan(s.memory_bytes));
        assert_true(isnan(s.pcie_in_bytes) && isnan(s.pcie_out_bytes));
        assert_true(s.utilisation == 0.5 && s.temperature_c == 60);
    }
    pr_nvml_close(n);
    for (int all = 0; all < 2; all++) {
        setenv("FAKE_NVML_FAIL",
               all ? "use:999,power:999,energy:999,clock:999,memory:999,"
                     "temperature:999,fan:999,throttle:999,pcie:999"
                   : "use:999,power:999,energy:999,clock:999,memory:999,"
                     "temperature:999,fan:999,throttle:999",
               1);
        n = pr_nvml_open(NULL);
        assert_non_null(n);
        s.power_w = 7;
        assert_int_equal(pr_nvml_read(n, 0, &s), !all);
        assert_true(all ? s.power_w == 7 : s.pcie_in_bytes == 1000);
        pr_nvml_close(n);
    }
}

/* A device that does not know a figure is not asked again; one that failed
 * is. */
static void what_is_not_supported_is_asked_once(void **state)
{
    static const struct {
        const char *fail;
        unsigned calls;
    } rows[] = {{"power:3", 1}, {"power:13", 1}, {"power:999", 5}, {"", 5}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_nvml_state s;
        struct pr_nvml *n;
        unsigned *calls, before;
        void *so;

        USE_FAKE_NVML();
        setenv("FAKE_NVML_FAIL", rows[i].fail, 1);
        n = pr_nvml_open(NULL);
        assert_non_null(n);
        so = dlopen(getenv("FAKE_NVML"), RTLD_NOW);
        assert_non_null(so);
        calls = dlsym(so, "fake_nvml_power_calls");
        assert_non_null(calls);
        before = *calls;
        for (int k = 0; k < 5; k++)
            assert_true(pr_nvml_read(n, 0, &s));
        assert_int_equal(*calls - before, rows[i].calls);
        dlclose(so);
        pr_nvml_close(n);
    }
}

static void a_device_that_vanishes_and_comes_back(void **state)
{
    struct pr_nvml_device d;
    struct pr_nvml_state s;
    struct pr_nvml *n;
    int failed = 0;

    (void)state;
    USE_FAKE_NVML();
    setenv("FAKE_NVML_LOST", "1:3:4", 1);
    n = pr_nvml_open(NULL);
    assert_non_null(n);
    for (int k = 0; k < 3; k++) {
        s.power_w = 7;
        /* with the third look it is lost between two calls */
        assert_int_equal(pr_nvml_read(n, 1, &s), k < 2);
        assert_true(k < 2 ? s.power_w == 101 + k : s.power_w == 7);
        assert_true(pr_nvml_read(n, 0, &s));
    }
    assert_false(pr_nvml_device(n, 1, &d));
    while (!pr_nvml_read(n, 1, &s)) {
        assert_true(pr_nvml_read(n, 0, &s)); /* the other one lives on */
        assert_true(++failed < 10);
    }
    assert_int_equal(failed, 3);
    assert_true(s.power_w == 104);
    assert_true(pr_nvml_device(n, 1, &d));
    pr_nvml_close(n);
}

static void words_for_being_held_back(void **state)
{
    static const struct {
        uint64_t bits;
        const char *want;
    } rows[] = {
        {0, ""},
        {1, ""},
        {0x25, "power cap, thermal"},
        {0x40, "hardware thermal"},
        {0x8a, "set clocks, hardware slow-down, power brake"},
        {0x110, "sync boost, display"},
        {0x204, "power cap, others"},
        {(uint64_t)1 << 63, "others"},
        {UINT64_MAX, "set clocks, power cap, hardware slow-down, sync boost, "
                     "thermal, hardware thermal, power brake, display, "
                     "others"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[160];
        pr_nvml_throttle_words(rows[i].bits, out);
        assert_string_equal(out, rows[i].want);
    }
}

static void out_of_memory_is_no_gpu(void **state)
{
    char why[PR_NVML_WHY] = "";
    struct pr_nvml *n;

    (void)state;
    USE_FAKE_NVML();
    pr_mem_fail_after(0);
    n = pr_nvml_open(why);
    pr_mem_fail_after(-1);
    assert_null(n);
    assert_string_equal(why, "out of memory");
}

#define TEST(f) cmocka_unit_test_teardown(f, forget_fake_nvml)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_library_that_is_not_there),
        TEST(reasons_for_having_none),
        TEST(what_a_device_is),
        TEST(how_devices_reach_each_other),
        TEST(what_a_device_does),
        TEST(figures_that_fail_are_nan),
        TEST(what_is_not_supported_is_asked_once),
        TEST(a_device_that_vanishes_and_comes_back),
        TEST(words_for_being_held_back),
        TEST(out_of_memory_is_no_gpu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
