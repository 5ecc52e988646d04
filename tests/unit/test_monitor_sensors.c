/* Power, temperatures and frequencies: counters that go round, chips that
 * vanish and come back, several of one name. */
#include "monitor_tool.h"

#define RAPL "/sys/class/powercap/"

static void energy_becomes_power(void **state)
{
    struct rig r = rig_open(PR_SOURCE_power);

    (void)state;
    put(RAPL "intel-rapl/enabled", "1\n"); /* no zone */
    put(RAPL "intel-rapl:0/name", "package-0\n");
    put(RAPL "intel-rapl:0/max_energy_range_uj", "262143328850\n");
    put(RAPL "intel-rapl:0/energy_uj", "262133328850\n");
    put(RAPL "intel-rapl:0:0/name", "core\n");
    put(RAPL "intel-rapl:0:0/energy_uj", "0\n");
    put(RAPL "intel-rapl:0:1/name", "dram\n");
    put(RAPL "intel-rapl:0:1/energy_uj", "1000000\n");
    put(RAPL "intel-rapl:1/name", "psys\n");
    put(RAPL "intel-rapl:1/energy_uj", "0\n");
    rig_look(&r, 0, true);
    assert_unknown(&r, "power.package-0_w");
    put(RAPL "intel-rapl:0/energy_uj", "10000000\n"); /* it went round */
    put(RAPL "intel-rapl:0:0/energy_uj", "5000000\n");
    put(RAPL "intel-rapl:0:1/energy_uj", "2000000\n");
    put(RAPL "intel-rapl:1/energy_uj", "40000000\n");
    rig_look(&r, 0.5, false);
    assert_value(&r, "power.package-0_w", 40);
    assert_value(&r, "power.package-0.core_w", 10);
    assert_value(&r, "power.package-0.dram_w", 2);
    assert_value(&r, "power.psys_w", 80);
    /* Without a range, going back is no figure. */
    put(RAPL "intel-rapl:0:1/energy_uj", "500000\n");
    rig_look(&r, 0.5, false);
    assert_unknown(&r, "power.package-0.dram_w");
    assert_value(&r, "power.package-0_w", 0);
    rig_close(&r);
}

static void joules_count_nothing_twice(void **state)
{
    struct rig r = rig_open(PR_SOURCE_power);
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);
    struct pr_json_writer jb;

    (void)state;
    put(RAPL "intel-rapl:0/name", "package-0\n");
    put(RAPL "intel-rapl:0:0/name", "core\n");
    put(RAPL "intel-rapl:0:1/name", "dram\n");
    put(RAPL "intel-rapl:1/name", "psys\n");
    put("/sys/class/hwmon/hwmon0/name", "power_meter\n");
    put("/sys/class/hwmon/hwmon0/power1_average", "300000000\n");
    for (int i = 0; i < 2; i++) {
        const char *text = i ? "7000000\n" : "1000000\n";

        put(RAPL "intel-rapl:0/energy_uj", text);
        put(RAPL "intel-rapl:0:0/energy_uj", text);
        put(RAPL "intel-rapl:0:1/energy_uj", text);
        put(RAPL "intel-rapl:1/energy_uj", text);
        rig_look(&r, i, false);
    }
    assert_value(&r, "power.power_meter.power1_w", 300);
    pr_json_writer_init(&jb, &out, 0);
    pr_json_open_object(&jb, NULL);
    pr_monitor_columns_write_sums(&r.columns, &jb);
    pr_json_close(&jb);
    assert_non_null(strstr(out.data, "\"energy_j\": 12}"));
    rig_close(&r);
}

/* A counter that began anew, and one that had the time to go round twice. */
static void what_cannot_be_is_not_told(void **state)
{
    struct rig r = rig_open(PR_SOURCE_power);

    (void)state;
    put(RAPL "intel-rapl:0/name", "package-0\n");
    put(RAPL "intel-rapl:0/max_energy_range_uj", "65532610987\n");
    put(RAPL "intel-rapl:0/energy_uj", "30000000000\n");
    rig_look(&r, 0, true);
    put(RAPL "intel-rapl:0/energy_uj", "1000000\n");
    rig_look(&r, 0.1, false);
    assert_unknown(&r, "power.package-0_w");
    put(RAPL "intel-rapl:0/energy_uj", "21000000\n");
    rig_look(&r, 0.1, false);
    assert_value(&r, "power.package-0_w", 200);
    put(RAPL "intel-rapl:0/energy_uj", "5021000000\n");
    rig_look(&r, 25, false);
    assert_value(&r, "power.package-0_w", 200);
    put(RAPL "intel-rapl:0/energy_uj", "6021000000\n");
    rig_look(&r, 600, false);
    assert_unknown(&r, "power.package-0_w");
    rig_close(&r);
}

static void a_meter_that_vanishes_comes_back(void **state)
{
    struct rig r = rig_open(PR_SOURCE_power);

    (void)state;
    put(RAPL "intel-rapl:0/name", "package-0\n");
    put(RAPL "intel-rapl:0/energy_uj", "1000000\n");
    rig_look(&r, 0, true);
    take_away(RAPL "intel-rapl:0/energy_uj");
    rig_look(&r, 1, false);
    assert_unknown(&r, "power.package-0_w");
    put(RAPL "intel-rapl:0/energy_uj", "9000000\n");
    rig_look(&r, 1, false); /* not looked for yet */
    assert_unknown(&r, "power.package-0_w");
    rig_look(&r, 1, true); /* there, with nothing to compare with */
    assert_unknown(&r, "power.package-0_w");
    put(RAPL "intel-rapl:0/energy_uj", "12000000\n");
    rig_look(&r, 1, false);
    assert_value(&r, "power.package-0_w", 3);
    put(RAPL "intel-rapl:0/energy_uj", "no number\n");
    rig_look(&r, 1, false);
    assert_unknown(&r, "power.package-0_w");
    rig_close(&r);
}

static void thermometers_have_names(void **state)
{
    struct rig r = rig_open(PR_SOURCE_temp);

    (void)state;
    put("/sys/class/hwmon/hwmon0/name", "coretemp\n");
    put("/sys/class/hwmon/hwmon0/temp1_input", "45000\n");
    put("/sys/class/hwmon/hwmon0/temp1_label", "Package id 0\n");
    put("/sys/class/hwmon/hwmon0/temp1_max", "90000\n");
    put("/sys/class/hwmon/hwmon0/fan1_input", "2000\n");
    put("/sys/class/hwmon/hwmon1/name", "nvme\n");
    put("/sys/class/hwmon/hwmon1/temp1_input", "-5500\n");
    put("/sys/class/hwmon/hwmon2/name", "nvme\n");
    put("/sys/class/hwmon/hwmon2/temp1_input", "-5500\n");
    put("/sys/class/hwmon/hwmon3/temp2_input", "1000\n");
    put("/sys/class/thermal/thermal_zone0/type", "acpitz\n");
    put("/sys/class/thermal/thermal_zone0/temp", "27800\n");
    put("/sys/class/thermal/cooling_device0/type", "fan\n");
    rig_look(&r, 0, true);
    assert_value(&r, "temp.coretemp.package_id_0_c", 45);
    assert_value(&r, "temp.nvme.temp1_c", -5.5);
    assert_value(&r, "temp.nvme.temp1-2_c", -5.5);
    assert_value(&r, "temp.hwmon.temp2_c", 1);
    assert_value(&r, "temp.acpitz_c", 27.8);
    assert_int_equal(r.columns.n, 5);
    rig_close(&r);
}

static void a_chip_comes_back_under_another_number(void **state)
{
    struct rig r = rig_open(PR_SOURCE_temp);

    (void)state;
    put("/sys/class/hwmon/hwmon1/name", "nvme\n");
    put("/sys/class/hwmon/hwmon1/temp1_input", "40000\n");
    rig_look(&r, 0, true);
    take_away("/sys/class/hwmon/hwmon1/temp1_input");
    rig_look(&r, 1, true);
    assert_unknown(&r, "temp.nvme.temp1_c");
    put("/sys/class/hwmon/hwmon7/name", "nvme\n");
    put("/sys/class/hwmon/hwmon7/temp1_input", "50000\n");
    rig_look(&r, 1, true);
    assert_value(&r, "temp.nvme.temp1_c", 50);
    assert_int_equal(r.columns.n, 1);
    rig_close(&r);
}

static void frequencies_come_from_either(void **state)
{
    static const char policy0[] =
        "/sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq";
    static const char policy1[] =
        "/sys/devices/system/cpu/cpufreq/policy1/scaling_cur_freq";
    struct rig r = rig_open(PR_SOURCE_freq);

    (void)state;
    put("/proc/cpuinfo", "processor : 0\nmodel name : cpu MHz\n"
                         "cpu MHz\t\t: 2000.500\n\nprocessor : 1\n"
                         "cpu MHz\t\t: 1000.500\ncpu MHz\n");
    rig_look(&r, 0, true);
    assert_value(&r, "freq.mean_mhz", 1500.5);
    put(policy0, "3000000\n");
    put(policy1, "1000000\n");
    rig_look(&r, 1, true);
    assert_value(&r, "freq.mean_mhz", 2000);
    assert_value(&r, "freq.min_mhz", 1000);
    assert_value(&r, "freq.max_mhz", 3000);
    take_away(policy1);
    rig_look(&r, 1, false);
    assert_value(&r, "freq.mean_mhz", 3000);
    rig_close(&r);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(energy_becomes_power),
        TEST(joules_count_nothing_twice),
        TEST(what_cannot_be_is_not_told),
        TEST(a_meter_that_vanishes_comes_back),
        TEST(thermometers_have_names),
        TEST(a_chip_comes_back_under_another_number),
        TEST(frequencies_come_from_either),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
