/* Figures of the client while it trains, against a /proc and a /sys of our
 * own. */
#include "observe/client_limits.h"
#include "scratch.h"
#include "skip.h"
#include "virtual_clock.h"

#include <math.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#define NO_DISK "no disk is under this folder; run it on one, not in memory"

static const struct pr_client_limits_roots roots = {"proc", "sys"};

static void shell(const char *command)
{
    assert_int_equal(system(command), 0);
}

static void own_device(unsigned *ret_major, unsigned *ret_minor)
{
    struct stat sb;

    assert_int_equal(stat(".", &sb), 0);
    *ret_major = major(sb.st_dev);
    *ret_minor = minor(sb.st_dev);
}

static struct virtual_clock passing;

static int enter_roots(void **state)
{
    if (enter(state))
        return -1;
    virtual_clock_init(&passing);
    return system("mkdir -p proc/self proc/net sys/dev/block sys/class/net "
                  "sys/fs/cgroup");
}

/* A disk sda (9000:0) with a partition sda1, which is what we are on. */
static void make_disk(void)
{
    char text[1024];
    unsigned x, y;

    own_device(&x, &y);
    snprintf(text, sizeof text,
             "mkdir -p sys/devices/sda/sda1 && echo 9000:0 > "
             "sys/devices/sda/dev && echo 1 > sys/devices/sda/sda1/partition "
             "&& echo %u:%u > sys/devices/sda/sda1/dev && ln -s "
             "../../devices/sda sys/dev/block/9000:0 && ln -s "
             "../../devices/sda/sda1 sys/dev/block/%u:%u",
             x, y, x, y);
    shell(text);
}

static void tell_disk(const char *name, unsigned minor_number, uint64_t in,
                      uint64_t out, uint64_t ms, const char *how)
{
    FILE *f = fopen("proc/diskstats", how);

    assert_non_null(f);
    fprintf(f, "9000 %u %s 7 1 %llu 5 3 1 %llu 9 0 %llu 77 0 0 0 0\n",
            minor_number, name, (unsigned long long)in, (unsigned long long)out,
            (unsigned long long)ms);
    assert_int_equal(fclose(f), 0);
}

/* A phase in which time passes as nap() says. */
static void begin(struct pr_client_limits *l)
{
    l->clock = &passing.clock;
    pr_client_limits_begin(l);
}

static void nap(double seconds)
{
    pr_sleep_until(&passing.clock, passing.now + (uint64_t)(seconds * 1e9),
                   NULL);
}

static void close_to(double got, double want, double share)
{
    if (!(fabs(got - want) <= want * share))
        fail_msg("%g, not %g", got, want);
}

/* ---- kinds */

static void kinds_of_file_systems(void **state)
{
    static const struct {
        uint64_t type;
        const char *want;
    } rows[] = {
        {0x6969, "network"},        {0xff534d42, "network"},
        {0xfe534d42, "network"},    {0x0bd00bd0, "network"},
        {0x00c36400, "network"},    {0x47504653, "network"},
        {0x19830326, "network"},    {0x65735546, "fuse"},
        {0x01021994, "memory"},     {0xef53, "local disk"},
        {0x58465342, "local disk"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(pr_client_limits_filesystem_kind(rows[i].type),
                            rows[i].want);
}

static void engines_without_files_have_no_device(void **state)
{
    struct pr_client_limits l;

    (void)state;
    make_disk();
    tell_disk("sda", 0, 0, 0, 0, "w");
    pr_client_limits_init_at(&l, "null", ".", &roots);
    assert_string_equal(pr_client_limits_storage_kind(&l), "none");
    assert_int_equal(l.device_count, 0);
    pr_client_limits_init_at(&l, "memory", ".", &roots);
    assert_string_equal(pr_client_limits_storage_kind(&l), "memory");
    assert_int_equal(l.device_count, 0);
    pr_client_limits_init_at(&l, "pread", "nowhere", &roots);
    assert_string_equal(pr_client_limits_storage_kind(&l), "");
}

/* ---- devices */

static void a_partition_stands_for_its_disk(void **state)
{
    struct pr_client_limits l;

    (void)state;
    make_disk();
    tell_disk("sda", 0, 1000, 500, 100, "w");
    tell_disk("sda1", 1, 7, 7, 7, "a");
    pr_client_limits_init_at(&l, "pread", ".", &roots);
    if (!strcmp(l.kind, "memory"))
        skip_because(NO_DISK);
    assert_int_equal(l.device_count, 1);
    assert_int_equal(l.devices[0].major, 9000);
    assert_int_equal(l.devices[0].minor, 0);
    assert_true(isnan(pr_client_limits_device_busy_share(&l)));
    /* Two phases; what is between them does not count. */
    begin(&l);
    nap(0.1);
    tell_disk("sda", 0, 3000, 700, 140, "w");
    pr_client_limits_end(&l);
    tell_disk("sda", 0, 900000, 700, 90000, "w");
    begin(&l);
    nap(0.1);
    tell_disk("sda", 0, 900000, 800, 90020, "w");
    pr_client_limits_end(&l);
    assert_int_equal(l.devices[0].bytes, (2000 + 200 + 100) * 512);
    assert_int_equal(l.devices[0].busy_ms, 60);
    close_to(pr_client_limits_device_busy_share(&l), 0.06 / l.device_s, 1e-9);
    close_to(pr_client_limits_device_mb_per_s(&l),
             2300 * 512 / 1e6 / l.device_s, 1e-9);
    close_to(l.device_s, 0.2, 1e-9);
    pr_client_limits_end(&l);
    assert_int_equal(l.devices[0].busy_ms, 60);
}

static void a_raid_stands_for_its_disks(void **state)
{
    struct pr_client_limits l;
    char text[1024];
    unsigned x, y;

    (void)state;
    own_device(&x, &y);
    snprintf(text, sizeof text,
             "mkdir -p sys/devices/md0/slaves sys/devices/sda/sda1 "
             "sys/devices/sdb/sdb1 && for d in a b; do "
             "ln -s ../../sd$d/sd${d}1 sys/devices/md0/slaves/; "
             "echo 1 > sys/devices/sd$d/sd${d}1/partition; done && "
             "echo 9000:0 > sys/devices/sda/dev && "
             "echo 9000:16 > sys/devices/sdb/dev && "
             "echo 9000:1 > sys/devices/sda/sda1/dev && "
             "echo 9000:17 > sys/devices/sdb/sdb1/dev && cd sys/dev/block && "
             "ln -s ../../devices/md0 %u:%u && "
             "ln -s ../../devices/sda 9000:0 && "
             "ln -s ../../devices/sda/sda1 9000:1 && "
             "ln -s ../../devices/sdb 9000:16 && "
             "ln -s ../../devices/sdb/sdb1 9000:17",
             x, y);
    shell(text);
    tell_disk("sda", 0, 0, 0, 0, "w");
    tell_disk("sdb", 16, 0, 0, 0, "a");
    pr_client_limits_init_at(&l, "pread", ".", &roots);
    if (!strcmp(l.kind, "memory"))
        skip_because(NO_DISK);
    assert_int_equal(l.device_count, 2);
    begin(&l);
    nap(0.05);
    tell_disk("sda", 0, 100, 0, 10, "w");
    tell_disk("sdb", 16, 200, 0, 30, "a");
    pr_client_limits_end(&l);
    close_to(pr_client_limits_device_busy_share(&l), 0.03 / l.device_s, 1e-9);
    close_to(pr_client_limits_device_mb_per_s(&l), 300 * 512 / 1e6 / l.device_s,
             1e-9);
}

static void no_device_no_figure(void **state)
{
    struct pr_client_limits l;

    (void)state;
    pr_client_limits_init_at(&l, "pread", ".", &roots);
    assert_int_equal(l.device_count, 0);
    begin(&l);
    nap(0.01);
    pr_client_limits_end(&l);
    assert_true(isnan(pr_client_limits_device_busy_share(&l)));
    assert_true(isnan(pr_client_limits_device_mb_per_s(&l)));
    assert_true(isnan(pr_client_limits_network_mb_per_s(&l)));
    assert_true(isnan(pr_client_limits_network_share(&l)));
    assert_true(isnan(pr_client_limits_memory_share(&l)));
}

/* ---- network */

static void tell_net(uint64_t lo, uint64_t eth0, uint64_t bond0)
{
    FILE *f = fopen("proc/net/dev", "w");

    assert_non_null(f);
    fprintf(f,
            "Inter-|   Receive                  |  Transmit\n"
            " face |bytes    packets errs drop |bytes\n"
            "    lo: %llu 1 0 0 9 1\n"
            "  eth0:%llu 1 0 0 9 1\n"
            " bond0: %llu 1 0 0 9 1\n",
            (unsigned long long)lo, (unsigned long long)eth0,
            (unsigned long long)bond0);
    assert_int_equal(fclose(f), 0);
}

static void received_bytes_count_once(void **state)
{
    struct pr_client_limits l;

    (void)state;
    shell("mkdir -p sys/class/net/eth0/device sys/class/net/bond0 && "
          "echo 800 > sys/class/net/eth0/speed && "
          "echo 99 > sys/class/net/bond0/speed");
    tell_net(5, 1000, 1000);
    pr_client_limits_init_at(&l, "null", ".", &roots);
    begin(&l);
    nap(0.05);
    tell_net(500000000, 2001000, 2001000);
    pr_client_limits_end(&l);
    close_to(pr_client_limits_network_mb_per_s(&l), 2 / l.net_s, 1e-9);
    close_to(pr_client_limits_network_share(&l), 2 / 100.0 / l.net_s, 1e-9);
}

static void without_real_interfaces_all_but_lo_count(void **state)
{
    struct pr_client_limits l;

    (void)state;
    shell("mkdir -p sys/class/net/eth0 && echo -1 > sys/class/net/eth0/speed");
    tell_net(0, 0, 0);
    pr_client_limits_init_at(&l, "null", ".", &roots);
    begin(&l);
    nap(0.02);
    tell_net(1, 1000000, 3000000);
    pr_client_limits_end(&l);
    close_to(pr_client_limits_network_mb_per_s(&l), 4 / l.net_s, 1e-9);
    assert_true(isnan(pr_client_limits_network_share(&l)));
}

/* ---- processors and memory */

static void quotas_lower_the_processors(void **state)
{
    static const struct {
        const char *make;
        double want; /* 0: as many as the affinity says */
    } rows[] = {
        {"echo 0::/a/b > proc/self/cgroup; mkdir -p sys/fs/cgroup/a/b; echo "
         "'50000 100000' > sys/fs/cgroup/a/b/cpu.max",
         0.5},
        {"echo 'max 100000' > sys/fs/cgroup/a/b/cpu.max; echo '25000 100000' "
         "> sys/fs/cgroup/a/cpu.max",
         0.25},
        {"rm sys/fs/cgroup/a/cpu.max", 0},
        {"echo 3:cpuacct,cpu:/x > proc/self/cgroup; mkdir -p "
         "sys/fs/cgroup/cpu/x; echo 75000 > "
         "sys/fs/cgroup/cpu/x/cpu.cfs_quota_us; echo 100000 > "
         "sys/fs/cgroup/cpu/x/cpu.cfs_period_us",
         0.75},
        {"echo -1 > sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", 0},
    };
    struct pr_client_limits l;
    cpu_set_t cpus;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof cpus, &cpus), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        shell(rows[i].make);
        pr_client_limits_init_at(&l, "null", "", &roots);
        close_to(pr_client_limits_processors(&l),
                 rows[i].want > 0 ? rows[i].want : CPU_COUNT(&cpus), 1e-9);
    }
}

static void memory_is_the_lower_of_machine_and_group(void **state)
{
    struct pr_client_limits l;

    (void)state;
    spit("proc/meminfo", "MemTotal:       1000000 kB\nMemFree: 5 kB\n");
    pr_client_limits_init_at(&l, "null", "", &roots);
    assert_int_equal(l.memory, 1024000000);
    assert_true(pr_client_limits_memory_share(&l) > 0.0005);
    assert_true(pr_client_limits_memory_share(&l) < 1);
    shell("echo 0::/ > proc/self/cgroup; echo max > sys/fs/cgroup/memory.max");
    pr_client_limits_init_at(&l, "null", "", &roots);
    assert_int_equal(l.memory, 1024000000);
    shell("echo 5000000 > sys/fs/cgroup/memory.max");
    pr_client_limits_init_at(&l, "null", "", &roots);
    assert_int_equal(l.memory, 5000000);
}

static void cpu_time_counts_in_phases_only(void **state)
{
    struct pr_client_limits l;
    struct timespec t;
    double until;

    (void)state;
    pr_client_limits_init_at(&l, "null", "", &roots);
    l.processors = 1;
    assert_true(isnan(pr_client_limits_cpu_share(&l)));
    begin(&l);
    nap(0.1);
    pr_client_limits_end(&l);
    assert_true(pr_client_limits_cpu_share(&l) < 0.3);
    l = (struct pr_client_limits){.roots = roots, .processors = 1};
    pr_client_limits_begin(&l);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    until = (double)t.tv_sec + (double)t.tv_nsec / 1e9 + 0.1;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < until);
    pr_client_limits_end(&l);
    /* However busy the machine is, it took this much. */
    close_to(l.cpu_s, 0.1, 0.3);
    close_to(pr_client_limits_cpu_share(&l), l.cpu_s / l.seconds, 1e-9);
}

static void this_machine_is_understood(void **state)
{
    struct pr_client_limits l;

    (void)state;
    pr_client_limits_init(&l, "pread", ".");
    assert_true(pr_client_limits_processors(&l) > 0);
    assert_true(*pr_client_limits_storage_kind(&l));
    begin(&l);
    nap(0.02);
    pr_client_limits_end(&l);
    assert_true(pr_client_limits_cpu_share(&l) >= 0);
    if (l.device_count) {
        assert_true(pr_client_limits_device_busy_share(&l) >= 0);
        assert_true(pr_client_limits_device_mb_per_s(&l) >= 0);
    }
}

/* ---- time that others took */

static void tell_processors(int ran, unsigned long long delay, int idle,
                            int steal)
{
    char text[400];

    snprintf(text, sizeof text,
             "mkdir -p proc/self/task/7 proc/self/task/8 && echo %d %llu 3 > "
             "proc/self/task/7/schedstat && echo 1 5 3 > "
             "proc/self/task/8/schedstat && echo 'cpu  %d 0 0 %d 0 0 0 %d 0 0' "
             "> proc/stat",
             ran, delay, ran, idle, steal);
    shell(text);
}

static void time_without_a_processor_is_that_of_all_threads(void **state)
{
    struct pr_client_limits l;

    (void)state;
    pr_client_limits_init_at(&l, "null", ".", &roots);
    pr_client_limits_begin(&l);
    pr_client_limits_end(&l);
    assert_true(isnan(pr_client_limits_delay_s(&l)));
    assert_true(isnan(pr_client_limits_steal_share(&l)));
    tell_processors(100, 1000, 50, 10);
    pr_client_limits_begin(&l);
    tell_processors(110, 2500001000, 60, 30);
    pr_client_limits_end(&l);
    close_to(pr_client_limits_delay_s(&l), 2.5, 1e-9);
    close_to(pr_client_limits_steal_share(&l), 0.5, 1e-9);
    /* Counters that go back count for nothing. */
    pr_client_limits_begin(&l);
    tell_processors(100, 1000, 50, 10);
    pr_client_limits_end(&l);
    close_to(pr_client_limits_delay_s(&l), 2.5, 1e-9);
    close_to(pr_client_limits_steal_share(&l), 0.5, 1e-9);
}

int main(void)
{
#define ROW(f) cmocka_unit_test_setup_teardown(f, enter_roots, leave)
    const struct CMUnitTest tests[] = {
        ROW(kinds_of_file_systems),
        ROW(engines_without_files_have_no_device),
        ROW(a_partition_stands_for_its_disk),
        ROW(a_raid_stands_for_its_disks),
        ROW(no_device_no_figure),
        ROW(received_bytes_count_once),
        ROW(without_real_interfaces_all_but_lo_count),
        ROW(quotas_lower_the_processors),
        ROW(memory_is_the_lower_of_machine_and_group),
        ROW(cpu_time_counts_in_phases_only),
        ROW(this_machine_is_understood),
        ROW(time_without_a_processor_is_that_of_all_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
