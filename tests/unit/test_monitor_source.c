/* What is read from /proc: processors, memory, pressure, disks, networks. */
#include "monitor_tool.h"

#include <poll.h>

static void nap_ms(int ms)
{
    poll(NULL, 0, ms);
}

static void processors_have_shares(void **state)
{
    struct rig r = rig_open(PR_SOURCE_cpu);

    (void)state;
    put("/proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\n"
                      "cpu0 100 0 100 800 0 0 0 0 0 0\n"
                      "intr 1000 5 5\nctxt 2000\nprocs_running 3\n");
    rig_look(&r, 0, true);
    assert_unknown(&r, "cpu");
    assert_value(&r, "cpu.running", 3);
    put("/proc/stat", "cpu  110 20 105 840 10 2 3 10 0 0\n"
                      "cpu0 110 20 105 840 10 2 3 10 0 0\n"
                      "cpu1 7 0 0 1 0 0 0 0 0 0\n"
                      "intr 1500 5 5\nctxt 2400\nprocs_running 1\n");
    rig_look(&r, 2, false);
    assert_value(&r, "cpu", 0.4);
    assert_value(&r, "cpu.user", 0.3);
    assert_value(&r, "cpu.system", 0.1);
    assert_value(&r, "cpu.iowait", 0.1);
    assert_value(&r, "cpu.steal", 0.1);
    assert_value(&r, "cpu.0", 0.4);
    assert_value(&r, "cpu.0.iowait", 0.1);
    assert_unknown(&r, "cpu.1"); /* it has just come */
    assert_value(&r, "cpu.interrupts_s", 250);
    assert_value(&r, "cpu.switches_s", 200);
    /* Core 0 goes; waiting is counted backwards. */
    put("/proc/stat", "cpu  120 20 105 850 5 2 3 10 0 0\n"
                      "cpu1 17 0 0 1 0 0 0 0 0 0\n");
    rig_look(&r, 1, false);
    assert_value(&r, "cpu", 0.5);
    assert_value(&r, "cpu.iowait", 0);
    assert_unknown(&r, "cpu.0");
    assert_value(&r, "cpu.1", 1);
    put("/proc/stat", "cpu  120 20 105 850 5 2 3 10 0 0\n"
                      "cpu0 0 0 0 1 0 0 0 0 0 0\n");
    rig_look(&r, 1, false);
    assert_value(&r, "cpu", 0); /* no tick in this time */
    assert_unknown(&r, "cpu.0");
    put("/proc/stat", "cpu \ncpu0\ncpu99999999 1 2 3 4\nintr\nctxt");
    rig_look(&r, 1, false);
    assert_unknown(&r, "cpu");
    rig_close(&r);
}

static void another_experiment_starts_anew(void **state)
{
    struct rig r = rig_open(PR_SOURCE_cpu);

    (void)state;
    put("/proc/stat", "cpu  0 0 0 100\nctxt 1\n");
    rig_look(&r, 0, true);
    put("/proc/stat", "cpu  900 0 0 100\nctxt 1\n");
    rig_look(&r, 0, true); /* what was used in between is nobody's */
    put("/proc/stat", "cpu  950 0 0 150\nctxt 11\n");
    rig_look(&r, 1, false);
    assert_value(&r, "cpu", 0.5);
    assert_value(&r, "cpu.switches_s", 10);
    rig_close(&r);
}

static void memory_is_told(void **state)
{
    struct rig r = rig_open(PR_SOURCE_mem);

    (void)state;
    put("/proc/meminfo", "MemTotal:  1000 kB\nMemFree: 100 kB\n"
                         "MemAvailable:  400 kB\nCached:  300 kB\n"
                         "SwapCached: 9 kB\nDirty: 7 kB\n"
                         "SwapTotal: 50 kB\nSwapFree: 40 kB\n");
    rig_look(&r, 0, true);
    assert_value(&r, "mem.used_bytes", 600 * 1024);
    assert_value(&r, "mem.available_bytes", 400 * 1024);
    assert_value(&r, "mem.cached_bytes", 300 * 1024);
    assert_value(&r, "mem.dirty_bytes", 7 * 1024);
    assert_value(&r, "mem.swap_bytes", 10 * 1024);
    put("/proc/meminfo", "MemTotal:  1000 kB\nMemFree: 100 kB\n"
                         "Cached:  300 kB\n");
    rig_look(&r, 1, false);
    assert_value(&r, "mem.used_bytes", 600 * 1024);
    put("/proc/meminfo", "Hello\n");
    rig_look(&r, 1, false);
    assert_unknown(&r, "mem.used_bytes");
    rig_close(&r);
}

static void pressure_is_a_share_of_the_time(void **state)
{
    struct rig r = rig_open(PR_SOURCE_psi);

    (void)state;
    put("/proc/pressure/io", "some avg10=9.00 avg60=0 avg300=0 total=1000\n"
                             "full avg10=0.00 avg60=0 avg300=0 total=500\n");
    rig_look(&r, 0, true);
    put("/proc/pressure/io",
        "some avg10=9.00 avg60=0 avg300=0 total=501000\n"
        "full avg10=0.00 avg60=0 avg300=0 total=9000500\n");
    put("/proc/pressure/cpu", "some avg10=0 total=100\n");
    rig_look(&r, 1, false);
    assert_value(&r, "psi.io.some", 0.5);
    assert_value(&r, "psi.io.full", 1); /* never more than all of it */
    assert_unknown(&r, "psi.cpu.some"); /* looked for once a second */
    take_away("/proc/pressure/io");
    rig_look(&r, 1, true);
    assert_unknown(&r, "psi.io.some");
    put("/proc/pressure/cpu", "some avg10=0 total=250100\n");
    rig_look(&r, 1, true);
    assert_value(&r, "psi.cpu.some", 0.25);
    rig_close(&r);
}

static void disks_that_do_something_are_told(void **state)
{
    struct rig r = rig_open(PR_SOURCE_disk);

    (void)state;
    put("/sys/block/vda/size", "1");
    put("/sys/block/cciss!c0d0/size", "1");
    put("/proc/diskstats", " 7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n"
                           " 254 0 vda 10 0 80 5 20 0 160 10 0 100 15 1 1\n"
                           " 254 1 vda1 10 0 80 5 20 0 160 10 0 100 15\n"
                           " 104 0 cciss/c0d0 0 0 0 0 0 0 0 0 0 0 0\n");
    rig_look(&r, 0, true);
    put("/proc/diskstats", " 7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n"
                           " 254 0 vda 14 0 88 25 20 0 160 10 0 600 15 1 1\n"
                           " 254 1 vda1 14 0 88 25 20 0 160 10 0 600 15\n"
                           " 104 0 cciss/c0d0 0 0 0 0 1 0 2 4 0 0 0\n");
    rig_look(&r, 0.5, false);
    assert_value(&r, "disk.vda.read_bytes_s", 8 * 512 / 0.5);
    assert_value(&r, "disk.vda.write_bytes_s", 0);
    assert_value(&r, "disk.vda.read_ops_s", 8);
    assert_value(&r, "disk.vda.read_ms", 5);
    assert_unknown(&r, "disk.vda.write_ms"); /* nothing was written */
    assert_value(&r, "disk.vda.use", 1);
    assert_value(&r, "disk.cciss_c0d0.write_bytes_s", 2048);
    assert_unknown(&r, "disk.vda1.use");
    assert_unknown(&r, "disk.loop0.use");
    /* The disk is pulled, and comes back with counters that begin anew. */
    put("/proc/diskstats", " 7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n");
    rig_look(&r, 0.5, false);
    assert_unknown(&r, "disk.vda.use");
    put("/proc/diskstats", " 254 0 vda 90 0 800 5 20 0 160 10 0 100 15\n");
    rig_look(&r, 0.5, false);
    assert_unknown(&r, "disk.vda.read_bytes_s");
    put("/proc/diskstats", " 254 0 vda 91 0 802 5 20 0 160 10 0 100 15\n"
                           " 1 vdb\n 8 16 sdb 1 2 3\nnonsense\n");
    rig_look(&r, 0.5, false);
    assert_value(&r, "disk.vda.read_bytes_s", 2048);
    rig_close(&r);
}

static void networks_in_use_are_told(void **state)
{
    static const char head[] = "Inter-|   Receive  |  Transmit\n"
                               " face |bytes    packets errs drop\n";
    struct rig r = rig_open(PR_SOURCE_net);
    char text[512];

    (void)state;
    snprintf(text, sizeof text,
             "%s  eth0: 100 1 0 0 0 0 0 0 200 2 0 0 0 0 0 0\n"
             "  ifb0:   0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
             head);
    put("/proc/net/dev", text);
    rig_look(&r, 0, true);
    snprintf(text, sizeof text,
             "%s  eth0:1100 3 1 2 0 0 0 0 2200 6 3 4 0 0 0 0\n"
             "  ifb0:   0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
             head);
    put("/proc/net/dev", text);
    rig_look(&r, 2, false);
    assert_value(&r, "net.eth0.rx_bytes_s", 500);
    assert_value(&r, "net.eth0.tx_bytes_s", 1000);
    assert_value(&r, "net.eth0.rx_packets_s", 1);
    assert_value(&r, "net.eth0.tx_packets_s", 2);
    assert_value(&r, "net.eth0.errors_s", 5);
    assert_unknown(&r, "net.ifb0.rx_bytes_s");
    put("/proc/net/dev", head);
    rig_look(&r, 2, false);
    assert_unknown(&r, "net.eth0.rx_bytes_s");
    /* It comes back, with counters that begin anew. */
    for (int i = 1; i < 3; i++) {
        snprintf(text, sizeof text,
                 "%s  eth0: %d00 %d 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", head, i, i);
        put("/proc/net/dev", text);
        rig_look(&r, 2, false);
    }
    assert_value(&r, "net.eth0.rx_bytes_s", 50);
    rig_close(&r);
}

static void nothing_there_is_no_harm(void **state)
{
    (void)state;
    assert_int_equal(pr_make_dirs("root", NULL), PR_OK);
    for (unsigned i = 0; i < PR_SOURCES; i++) {
        struct rig r = rig_open(i);

        if (i != PR_SOURCE_gpu) { /* it reads no files */
            r.pid = 1234;
            for (int k = 0; k < 3; k++)
                rig_look(&r, k, true);
            for (size_t k = 0; k < r.columns.n; k++)
                assert_false(r.columns.cols[k].set);
        }
        rig_close(&r);
    }
}

static void sources_are_complete(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PR_SOURCES; i++) {
        const struct pr_monitor_source *s = pr_monitor_source_at(i);

        assert_non_null(s->sample);
        assert_true(strlen(s->desc) > 10);
        assert_true(s->state_bytes > 0);
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(s->name, pr_monitor_source_at(k)->name);
    }
}

/* Copies end at about the same time. The second one's last look must not tell
 * the moment between the two ends as if it were all of its time. */
static void the_last_looks_of_two_tell_the_same(void **state)
{
    struct pr_monitor_sources lead, one, two, *all[] = {&lead, &one, &two};

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_true(pr_monitor_sources_init(all[i], "root"));
        if (i)
            all[i]->lead = &lead;
        pr_monitor_sources_begin(all[i]);
    }
    lead.leads = true;
    put("/proc/stat", "cpu  0 0 0 100\nctxt 1\n");
    pr_monitor_sources_sample(&one, 10, 0);
    pr_monitor_sources_sample(&two, 10, 0);
    put("/proc/stat", "cpu  0 0 0 200\nctxt 1000001\n");
    nap_ms(20);
    one.last = two.last = true;
    pr_monitor_sources_sample(&one, 10, 0);
    nap_ms(2);
    pr_monitor_sources_sample(&two, 10, 0);
    assert_true(pr_monitor_columns_value(&one.columns, "cpu.switches_s") >
                1000);
    assert_true(pr_monitor_columns_value(&two.columns, "cpu.switches_s") >
                1000);
    /* Alone there is nobody to have looked. */
    put("/proc/stat", "cpu  0 0 0 300\nctxt 1000001\n");
    nap_ms(2);
    pr_monitor_sources_sample(&two, 10, 0);
    assert_true(pr_monitor_columns_value(&two.columns, "cpu.switches_s") == 0);
    for (int i = 2; i >= 0; i--)
        pr_monitor_sources_close(all[i]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(processors_have_shares),
        TEST(another_experiment_starts_anew),
        TEST(memory_is_told),
        TEST(pressure_is_a_share_of_the_time),
        TEST(disks_that_do_something_are_told),
        TEST(networks_in_use_are_told),
        TEST(nothing_there_is_no_harm),
        TEST(sources_are_complete),
        TEST(the_last_looks_of_two_tell_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
