/* Lines of system information for exp.sys_info, from made-up machines. */
#include "machine/describe/sysinfo.h"

#include "record/log.h"

#include "torture.h"

#include "fake_nvml.h"
#include "made_up_root.h"

static int clean_up(void **state)
{
    forget_fake_nvml(state);
    return remove_root(state);
}

/* The modules' lines, read back as a log is, in one map. */
struct seen {
    struct pr_arena *arena;
    struct pr_value hw[8];
    char name[8][32];
    size_t count;
};

static void read_back(struct seen *s, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "\n"), key_len;
        struct pr_err err = {0};
        const char *key;

        assert_true(text[len] == '\n' && s->count < 8);
        if (pr_log_parse_line(text, len, s->arena, &key, &key_len,
                              &s->hw[s->count], &err) != 1)
            fail_msg("no parameter line: %.*s", (int)len, text);
        snprintf(s->name[s->count++], 32, "%.*s", (int)key_len, key);
        text += len + 1;
    }
}

static void ask(struct seen *s, const char *modules)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_err err = {0};

    s->count = 0;
    pr_buf_str(&out, "before\n");
    assert_int_equal(pr_machine_sysinfo_lines_at(root, modules, &out, &err),
                     PR_OK);
    assert_memory_equal(out.data, "before\n", 7);
    read_back(s, out.data + 7);
}

static void files_of_the_kernel(void **state)
{
    static const struct want rows[] = {
        {"", "[{\"processor\": \"0\", \"model name\": \"A: B\", \"flags\": "
             "\"\"}, {\"processor\": \"1\", \"power management\": \"\"}]"},
    };
    static const struct want memory[] = {
        {"", "{\"MemTotal\": \"24682416 kB\", \"HugePages_Total\": \"0\"}"},
    };
    static const struct want dmi[] = {
        {"", "{\"board_name\": \"X11\", \"sys_vendor\": \"Super \\\"M\\\"\"}"},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct seen s = {.arena = a};

    (void)state;
    put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: A: B \nflags\t\t:\n\n"
                         "processor\t: 1\npower management:\n\n\n");
    put("/proc/meminfo", "MemTotal:       24682416 kB\nHugePages_Total:   0\n");
    put("/sys/devices/virtual/dmi/id/board_name", "X11\n");
    put("/sys/devices/virtual/dmi/id/sys_vendor", "Super \"M\"\n");
    put("/sys/devices/virtual/dmi/id/product_serial", "1\n");
    ask(&s, "cpuinfo, meminfo,,dmi");
    assert_int_equal(s.count, 3);
    assert_string_equal(s.name[0], "hw.cpuinfo");
    assert_string_equal(s.name[1], "hw.meminfo");
    assert_string_equal(s.name[2], "hw.dmi");
    CHECK(&s.hw[0], rows);
    CHECK(&s.hw[1], memory);
    CHECK(&s.hw[2], dmi);
}

static void a_machine_without_anything(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct seen s = {.arena = a};

    (void)state;
    ask(&s, "inxi cpuinfo meminfo lscpu nvidiasmi");
    assert_int_equal(s.count, 5);
    for (size_t i = 0; i < s.count; i++)
        assert_int_equal(s.hw[i].kind, PR_NULL);
    ask(&s, "dmi");
    assert_int_equal(s.hw[0].kind, PR_MAP);
    ask(&s, "");
    assert_int_equal(s.count, 0);
    ask(&s, " , ");
    assert_int_equal(s.count, 0);
}

static void put_processors(void)
{
    put("/proc/cpuinfo",
        "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
        "model\t\t: 106\nmodel name\t: Xeon 9\nstepping\t: 6\n"
        "cpu MHz\t\t: 2445.432\nphysical id\t: 0\ncpu cores\t: 1\n"
        "flags\t\t: fpu lm vmx hypervisor\nbogomips\t: 4890.86\n\n"
        "processor\t: 1\nphysical id\t: 0\ncpu cores\t: 1\ncpu MHz\t\t: 9\n");
    put("/sys/devices/system/cpu/online", "0-1\n");
    put("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3500500\n");
    put("/sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
    put("/sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
    put("/sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n");
    put("/sys/devices/system/cpu/cpu0/cache/index3/level", "3\n");
    put("/sys/devices/system/cpu/cpu0/cache/index3/type", "Unified\n");
    put("/sys/devices/system/cpu/cpu0/cache/index3/size", "32768K\n");
    put("/sys/devices/system/node/node0/cpulist", "0-1\n");
    put("/sys/devices/system/cpu/vulnerabilities/spectre_v2", "Retpolines\n");
}

static void lscpu_by_its_names(void **state)
{
    static const struct want rows[] = {
        {"CPU op-mode(s)", "\"32-bit, 64-bit\""},
        {"CPU(s)", "\"2\""},
        {"On-line CPU(s) list", "\"0-1\""},
        {"Thread(s) per core", "\"2\""},
        {"Core(s) per socket", "\"1\""},
        {"Socket(s)", "\"1\""},
        {"NUMA node(s)", "\"1\""},
        {"Vendor ID", "\"GenuineIntel\""},
        {"CPU family", "\"6\""},
        {"Model", "\"106\""},
        {"Model name", "\"Xeon 9\""},
        {"Stepping", "\"6\""},
        {"CPU MHz", "\"2445.432\""},
        {"CPU max MHz", "\"3500.5000\""},
        {"CPU min MHz", NULL},
        {"BogoMIPS", "\"4890.86\""},
        {"Virtualization", "\"VT-x\""},
        {"Virtualization type", "\"full\""},
        {"L1d cache", "\"48K\""},
        {"L3 cache", "\"32768K\""},
        {"NUMA node0 CPU(s)", "\"0-1\""},
        {"Vulnerability Spectre v2", "\"Retpolines\""},
        {"Flags", "\"fpu lm vmx hypervisor\""},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct seen s = {.arena = a};

    (void)state;
    put_processors();
    ask(&s, "lscpu");
    CHECK(&s.hw[0], rows);
    assert_non_null(pr_get(&s.hw[0], "Architecture"));
    assert_non_null(pr_get(&s.hw[0], "Byte Order"));
}

/* Keys have dots, so one is looked up by hand. */
static void gpus_as_nvidia_smi_prints_them(void **state)
{
    static const struct want all[] = {
        {"Driver Version", "\"999.01.02\""},
        {"CUDA Version", "\"12.4\""},
        {"Attached GPUs", "\"2\""},
        {"GPU 00000000:3C:00", NULL},
    };
    static const struct want rows[] = {
        {"Product Name", "\"Fake GPU 40GB\""},
        {"Persistence Mode", "\"Disabled\""},
        {"MIG Mode", "{\"Current\": \"Disabled\"}"},
        {"PCI.GPU Link Info.Link Width", "{\"Max\": \"16x\"}"},
        {"Fan Speed", "\"30 %\""},
        {"FB Memory Usage",
         "{\"Total\": \"40960 MiB\", \"Used\": \"1024 MiB\", "
         "\"Free\": \"39936 MiB\"}"},
        {"Utilization", "{\"Gpu\": \"50 %\", \"Memory\": \"25 %\"}"},
        {"Temperature", "{\"GPU Current Temp\": \"60 C\"}"},
        {"Power Readings",
         "{\"Power Draw\": \"N/A\", \"Power Limit\": \"400.00 W\"}"},
        {"Clocks", "{\"SM\": \"1001 MHz\", \"Memory\": \"1215 MHz\"}"},
        {"Max Clocks", "{\"SM\": \"1410 MHz\", \"Memory\": \"1215 MHz\"}"},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct seen s = {.arena = a};
    const struct pr_value *gpu;

    (void)state;
    USE_FAKE_NVML();
    setenv("FAKE_NVML_FAIL", "power:3", 1);
    setenv("FAKE_NVML_LOST", "1:0:99", 1); /* it is left out */
    ask(&s, "nvidiasmi");
    CHECK(&s.hw[0], all);
    gpu = pr_get(&s.hw[0], "GPU 00000000:3B:00.0");
    assert_non_null(gpu);
    CHECK(gpu, rows);
    assert_null(pr_get(&s.hw[0], "GPU 00000000:3C:00.0"));
}

static void modules_that_do_not_exist(void **state)
{
    static const struct {
        const char *list, *msg, *hint;
    } rows[] = {
        {"cpuinf", "there is no module 'cpuinf'", "did you mean 'cpuinfo'?"},
        {"dmi,LSCPUX9", "there is no module 'LSCPUX9'", NULL},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         "there is no module 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'",
         "there are cpuinfo, meminfo, lscpu, dmi, nvidiasmi and inxi"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
        struct pr_err err = {0};

        pr_buf_str(&out, "x");
        assert_int_equal(
            pr_machine_sysinfo_lines_at(root, rows[i].list, &out, &err),
            PR_E_CONF);
        assert_string_equal(err.where, "exp.sys_info");
        assert_string_equal(err.msg, rows[i].msg);
        if (rows[i].hint)
            assert_string_equal(err.hint, rows[i].hint);
        assert_string_equal(out.data, "x");
        assert_int_equal(pr_machine_sysinfo_check(rows[i].list, NULL),
                         PR_E_CONF);
    }
    assert_int_equal(pr_machine_sysinfo_check("", NULL), PR_OK);
    assert_int_equal(pr_machine_sysinfo_check(" dmi,inxi lscpu, ", NULL),
                     PR_OK);
}

static int attempt(void)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    int rc = pr_machine_sysinfo_lines("lscpu,meminfo,dmi", &out, NULL);

    assert_int_equal(out.len > 0, rc == PR_OK);
    return rc;
}

static void out_of_memory_appends_nothing(void **state)
{
    (void)state;
    torture(attempt);
}

/* This machine, whatever it is: lines that a log's reader takes. */
static void all_of_this_machine(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT((size_t)64 << 20);
    struct seen s = {.arena = a};

    (void)state;
    setenv("PRONY_NVML", "", 1);
    assert_int_equal(
        pr_machine_sysinfo_lines("cpuinfo,meminfo,lscpu,dmi,nvidiasmi,inxi",
                                 &out, NULL),
        PR_OK);
    read_back(&s, out.data);
    assert_int_equal(s.count, 6);
    assert_int_equal(s.hw[0].kind, PR_LIST);
    assert_int_equal(s.hw[0].len, sysconf(_SC_NPROCESSORS_ONLN));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_root, clean_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_of_the_kernel),       TEST(a_machine_without_anything),
        TEST(lscpu_by_its_names),        TEST(gpus_as_nvidia_smi_prints_them),
        TEST(modules_that_do_not_exist), TEST(out_of_memory_appends_nothing),
        TEST(all_of_this_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
