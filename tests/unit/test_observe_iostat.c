/*
 * Figures of devices: the formulas against figures worked out by hand, then
 * the sampler over a made-up /proc.
 */
#include "observe/iostat.h"

#include "base/clock.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "scratch.h"
#include "torture.h"

#include <sys/stat.h>

/* ---- reading */

struct seen {
    int count;
    char names[128];
    struct pr_iostat_disk last;
};

static int see(void *ctx, const char *name, const struct pr_iostat_disk *d)
{
    struct seen *s = ctx;

    s->count++;
    strncat(s->names, name, sizeof s->names - strlen(s->names) - 2);
    strncat(s->names, " ", 2);
    s->last = *d;
    return strcmp(name, "stop") == 0 ? 7 : 0;
}

static void lines_of_all_kernels(void **state)
{
    char text[] = "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n"
                  "   8       1 sda1 1 2 3 4\n" /* before 2.6.25 */
                  "nonsense\n"
                  "\n"
                  "   8      16 sdb x\n"
                  " 259       0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
                  " 254       0 vda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n"
                  " 254      16 vdb 1 2 3 4294967299 5 6 7 8 9 10 11 12 13 14 "
                  "15 16 17 18 19";
    struct seen s = {0};

    (void)state;
    assert_int_equal(pr_iostat_each_disk(text, see, &s), 0);
    assert_string_equal(s.names, "sda nvme0n1 vda vdb ");
    assert_int_equal(s.last.io[PR_IOSTAT_R].ios, 1);
    assert_int_equal(s.last.io[PR_IOSTAT_R].merges, 2);
    assert_int_equal(s.last.io[PR_IOSTAT_R].sectors, 3);
    assert_int_equal(s.last.ms[PR_IOSTAT_R], 3); /* wrapped */
    assert_int_equal(s.last.io[PR_IOSTAT_W].ios, 5);
    assert_int_equal(s.last.io[PR_IOSTAT_W].merges, 6);
    assert_int_equal(s.last.io[PR_IOSTAT_W].sectors, 7);
    assert_int_equal(s.last.ms[PR_IOSTAT_W], 8);
    assert_int_equal(s.last.busy_ms, 10);
    assert_int_equal(s.last.queue_ms, 11);
    assert_int_equal(s.last.io[PR_IOSTAT_D].ios, 12);
    assert_int_equal(s.last.io[PR_IOSTAT_D].merges, 13);
    assert_int_equal(s.last.io[PR_IOSTAT_D].sectors, 14);
    assert_int_equal(s.last.ms[PR_IOSTAT_D], 15);
    assert_int_equal(s.last.flushes, 16);
    assert_int_equal(s.last.flush_ms, 17);
}

static void a_visitor_may_stop(void **state)
{
    char text[] = "1 1 a 1 2 3 4 5 6 7 8 9 10 11\n"
                  "1 1 stop 1 2 3 4 5 6 7 8 9 10 11\n"
                  "1 1 b 1 2 3 4 5 6 7 8 9 10 11\n";
    struct seen s = {0};

    (void)state;
    assert_int_equal(pr_iostat_each_disk(text, see, &s), 7);
    assert_string_equal(s.names, "a stop ");
    assert_int_equal(s.last.flushes, 0);
}

static void processors(void **state)
{
    struct pr_iostat_cpu c;
    unsigned n = 0;

    (void)state;
    assert_true(pr_iostat_read_cpu("cpu  1 2 3 4 5 6 7 8 9 10\n"
                                   "cpu0 0 0 0 0\ncpu1 0 0 0 0\n"
                                   "cpu12 0 0 0 0\nintr 1\ncpufreq 1\n",
                                   &c, &n));
    assert_int_equal(n, 3);
    assert_int_equal(c.user, 1);
    assert_int_equal(c.nice, 2);
    assert_int_equal(c.system, 3);
    assert_int_equal(c.idle, 4);
    assert_int_equal(c.iowait, 5);
    assert_int_equal(c.irq, 6);
    assert_int_equal(c.softirq, 7);
    assert_int_equal(c.steal, 8);
    assert_false(pr_iostat_read_cpu("intr 1\n", &c, &n));
    assert_false(pr_iostat_read_cpu("cpu x\n", &c, &n));
    assert_false(pr_iostat_read_cpu("", &c, &n));
}

/* ---- figures */

/* In 2 s: 100 reads of 8 KiB, 50 merged, 25 ms in all; 40 writes of 4 KiB;
 * 4 discards; 5 flushes; busy for 500 ms; 3 s of requests. */
static const struct pr_iostat_disk before = {
    .io = {{1000, 100, 10000}, {500, 50, 4000}, {10, 1, 80}},
    .ms = {400, 300, 20},
    .flushes = 7,
    .flush_ms = 70,
    .busy_ms = 5000,
    .queue_ms = 6000,
    .there = true,
};
static const struct pr_iostat_disk after = {
    .io = {{1100, 150, 11600}, {540, 210, 4320}, {14, 1, 8272}},
    .ms = {425, 400, 26},
    .flushes = 12,
    .flush_ms = 71,
    .busy_ms = 5500,
    .queue_ms = 9000,
    .there = true,
};

static void a_disk_by_hand(void **state)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(4096);

    (void)state;
    pr_iostat_put_disk(&b, "sda", &before, &after, 2);
    assert_string_equal(
        b.data,
        "{\"disk_device\": \"sda\", \"r/s\": 50.00, \"w/s\": 20.00, "
        "\"d/s\": 2.00, \"f/s\": 2.50, \"rMB/s\": 0.39, \"wMB/s\": 0.08, "
        "\"dMB/s\": 2.00, \"rrqm/s\": 25.00, \"wrqm/s\": 80.00, "
        "\"drqm/s\": 0.00, \"rrqm\": 33.33, \"wrqm\": 80.00, \"drqm\": 0.00, "
        "\"r_await\": 0.25, \"w_await\": 2.50, \"d_await\": 1.50, "
        "\"f_await\": 0.20, \"rareq-sz\": 8.00, \"wareq-sz\": 4.00, "
        "\"dareq-sz\": 1024.00, \"aqu-sz\": 1.50, \"util\": 25.00}");
}

static void an_idle_disk_divides_nothing_by_nothing(void **state)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(4096);

    (void)state;
    pr_iostat_put_disk(&b, "s\"a", &before, &before, 0);
    assert_non_null(strstr(b.data, "\"s\\\"a\""));
    assert_null(strpbrk(strstr(b.data, "\"r/s\""), "123456789"));
    assert_null(strstr(b.data, "nan"));
}

/* The kernel's ms are 32 bits wide. */
static void milliseconds_wrap(void **state)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(4096);
    struct pr_iostat_disk then = before, now = after;

    (void)state;
    then.ms[PR_IOSTAT_R] = UINT32_MAX - 9;
    now.ms[PR_IOSTAT_R] = 90; /* 100 ms later */
    then.busy_ms = UINT32_MAX;
    now.busy_ms = 999;
    pr_iostat_put_disk(&b, "sda", &then, &now, 2);
    assert_non_null(strstr(b.data, "\"r_await\": 1.00"));
    assert_non_null(strstr(b.data, "\"util\": 50.00"));
}

/* Plugged in anew it counts from 0; one counter that slips back is 0. */
static void counters_that_go_back(void **state)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(4096);
    struct pr_iostat_disk now = {
        .io = {{20, 0, 160}}, .ms = {10}, .there = true};

    (void)state;
    pr_iostat_put_disk(&b, "sda", &before, &now, 2);
    assert_non_null(strstr(b.data, "\"r/s\": 10.00"));
    assert_non_null(strstr(b.data, "\"r_await\": 0.50"));
    assert_non_null(strstr(b.data, "\"w/s\": 0.00"));
    pr_buf_clear(&b);
    now = after;
    now.io[PR_IOSTAT_W].ios = 499;
    pr_iostat_put_disk(&b, "sda", &before, &now, 2);
    assert_non_null(strstr(b.data, "\"r/s\": 50.00"));
    assert_non_null(strstr(b.data, "\"w/s\": 0.00"));
}

static void processors_by_hand(void **state)
{
    static const struct {
        struct pr_iostat_cpu then, now;
        const char *want;
    } rows[] = {
        {{10, 10, 10, 10, 10, 10, 10, 10},
         {30, 15, 40, 100, 20, 12, 13, 50},
         /* 20 5 30+2+3 90 10 40: 200 */
         "\"avg-cpu\":  {\"user\": 10.00, \"nice\": 2.50, \"system\": 17.50, "
         "\"iowait\": 5.00, \"steal\": 20.00, \"idle\": 45.00}"},
        {{0},
         {1, 0, 0, 2, 0, 0, 0, 0},
         "\"avg-cpu\":  {\"user\": 33.33, \"nice\": 0.00, \"system\": 0.00, "
         "\"iowait\": 0.00, \"steal\": 0.00, \"idle\": 66.67}"},
        /* iowait is known to go back */
        {{0, 0, 0, 0, 5, 0, 0, 0},
         {5, 0, 0, 5, 4, 0, 0, 0},
         "\"avg-cpu\":  {\"user\": 50.00, \"nice\": 0.00, \"system\": 0.00, "
         "\"iowait\": 0.00, \"steal\": 0.00, \"idle\": 50.00}"},
        {{0},
         {0},
         "\"avg-cpu\":  {\"user\": 0.00, \"nice\": 0.00, \"system\": 0.00, "
         "\"iowait\": 0.00, \"steal\": 0.00, \"idle\": 0.00}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(4096);

        pr_iostat_put_cpu(&b, &rows[i].then, &rows[i].now);
        assert_string_equal(b.data, rows[i].want);
    }
}

/* ---- the log */

static void a_full_log_keeps_every_other_one(void **state)
{
    struct pr_iostat_log log;
    struct pr_iostat_snap *s = calloc(1, sizeof *s + sizeof s->disk[0]);
    uint64_t last = 0;

    (void)state;
    assert_non_null(s);
    pr_iostat_log_init(&log, 1, 100 * (sizeof *s + sizeof s->disk[0]), 1000);
    assert_int_equal(log.max, 100);
    for (uint64_t i = 0; i < 1000; i++) {
        s->clock_ns = i;
        s->disk[0].flushes = i * 3;
        assert_true(pr_iostat_log_add(&log, s));
        assert_true(log.cap <= 100);
        assert_int_equal(pr_iostat_log_at(&log, log.count - 1)->clock_ns, i);
        if (i == 100) { /* one too many: 0, 2, … 98 are left, and this */
            assert_int_equal(log.count, 51);
            for (size_t k = 0; k < log.count; k++)
                assert_int_equal(pr_iostat_log_at(&log, k)->clock_ns, 2 * k);
            assert_int_equal(log.interval_ns, 2000);
        }
    }
    assert_int_equal(pr_iostat_log_at(&log, 0)->clock_ns, 0);
    assert_true(log.count > 40);
    for (size_t i = 0; i < log.count; i++) {
        const struct pr_iostat_snap *at = pr_iostat_log_at(&log, i);

        assert_true(i == 0 || at->clock_ns > last);
        assert_int_equal(at->disk[0].flushes, at->clock_ns * 3);
        last = at->clock_ns;
    }
    assert_true(log.interval_ns >= 16000);
    pr_iostat_log_free(&log);
    free(s);
}

/* ---- the sampler */

#define CPU_A "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1\ncpu1 1\n"
#define CPU_B "cpu  150 0 120 810 20 0 0 0 0 0\ncpu0 1\ncpu1 1\n"
#define DISKS_A                                                          \
    "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"             \
    "   8       0 sda 1000 0 8000 500 10 0 80 5 0 400 505 0 0 0 0 0 0\n" \
    "   8       1 sda1 900 0 8000 500 10 0 80 5 0 400 505 0 0 0 0 0 0\n" \
    " 259       0 nvme0n1 5 0 40 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
#define DISKS_B                                                             \
    "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"                \
    "   8       0 sda 1200 100 33600 600 10 0 80 5 0 450 605 0 0 0 0 0 0\n" \
    "   8       1 sda1 900 0 8000 500 10 0 80 5 0 400 505 0 0 0 0 0 0\n"

static void make_proc(const char *stat, const char *disks)
{
    (void)mkdir("proc", 0755);
    spit("proc/.stat", stat);
    assert_int_equal(rename("proc/.stat", "proc/stat"), 0);
    spit("proc/.disks", disks);
    assert_int_equal(rename("proc/.disks", "proc/diskstats"), 0);
}

static struct pr_iostat *start(double interval_s, size_t count, ...)
{
    const char *names[8];
    struct pr_err err = {0};
    struct pr_iostat *io = NULL;
    va_list ap;

    va_start(ap, count);
    for (size_t i = 0; i < count; i++)
        names[i] = va_arg(ap, const char *);
    va_end(ap);
    if (pr_iostat_start("proc", names, count, interval_s, &io, &err))
        fail_msg("%s: %s", err.where, err.msg);
    return io;
}

/* statistics of the file's only host, which must be sound */
static const struct pr_value *statistics(struct pr_arena *a, const char *path)
{
    static const char *const keys[] = {"nodename", "sysname", "release",
                                       "machine"};
    static struct pr_value all;
    struct pr_err err = {0};
    const struct pr_value *host;
    size_t len;
    char *text = slurp(path, &len);

    if (pr_json_read(&(struct pr_json_in){.text = text,
                                          .len = len,
                                          .flags = PR_JSON_UNIQUE_KEYS},
                     a, &all, NULL, &err))
        fail_msg("%s: %s", err.where, err.msg);
    free(text);
    host = pr_get(pr_get(&all, "sysstat"), "hosts");
    assert_int_equal(host->len, 1);
    host = &host->items[0];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_int_equal(pr_get(host, keys[i])->kind, PR_STR);
    assert_int_equal(pr_get(host, "number-of-cpus")->i, 2);
    assert_int_equal(pr_get(host, "date")->len, 8);
    return pr_get(host, "statistics");
}

static double figure(const struct pr_value *disk, const char *key)
{
    const struct pr_value *v = pr_get(disk, key);

    assert_non_null(v);
    return pr_value_number(v);
}

#define assert_near(a, b) assert_true((a) - (b) < 0.006 && (b) - (a) < 0.006)

static void two_snapshots_are_one_interval(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    const struct pr_value *all, *disks, *cpu;
    struct pr_iostat *io;
    uint64_t begin = pr_clock_ns();
    double least, r;

    (void)state;
    make_proc(CPU_A, DISKS_A);
    /* nvme0n1 goes away meanwhile; sda is named twice */
    io = start(3600, 4, "nvme0n1", "/dev/sda", "sda", "loop0");
    make_proc(CPU_B, DISKS_B);
    assert_int_equal(pr_iostat_stop(io, "iostat.json", NULL), PR_OK);
    least = 200 / ((double)(pr_clock_ns() - begin) / 1e9);
    all = statistics(a, "iostat.json");
    assert_int_equal(all->len, 1);
    assert_int_equal(pr_get(&all->items[0], "timestamp")->len, 17);
    cpu = pr_get(&all->items[0], "avg-cpu");
    assert_near(figure(cpu, "user"), 50);
    assert_near(figure(cpu, "system"), 20);
    assert_near(figure(cpu, "iowait"), 20);
    assert_near(figure(cpu, "idle"), 10);
    disks = pr_get(&all->items[0], "disk");
    assert_int_equal(disks->len, 2);
    assert_string_equal(pr_get(&disks->items[0], "disk_device")->s, "sda");
    assert_string_equal(pr_get(&disks->items[1], "disk_device")->s, "loop0");
    /* 200 reads, 100 merged, 25600 sectors, 100 ms */
    assert_near(figure(&disks->items[0], "r_await"), 0.5);
    assert_near(figure(&disks->items[0], "rareq-sz"), 64);
    assert_near(figure(&disks->items[0], "rrqm"), 33.33);
    r = figure(&disks->items[0], "r/s");
    assert_true(r >= least - 0.01);
    assert_true(figure(&disks->items[0], "rMB/s") > r / 16 - 0.02);
    assert_true(figure(&disks->items[0], "rMB/s") < r / 16 + 0.02);
    assert_near(figure(&disks->items[1], "r/s"), 0);
    assert_int_equal(files_in("."), 2);
}

static void the_thread_samples_by_itself(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    const struct pr_value *all;
    struct pr_iostat *io;
    uint64_t begin;

    (void)state;
    make_proc(CPU_A, DISKS_A);
    begin = pr_clock_ns();
    io = start(0.005, 1, "sda");
    usleep(100000);
    make_proc(CPU_B, DISKS_B);
    usleep(100000);
    assert_int_equal(pr_iostat_stop(io, "iostat.json", NULL), PR_OK);
    all = statistics(a, "iostat.json");
    assert_true(all->len >= 4);
    assert_true(all->len <= (pr_clock_ns() - begin) / 5000000 + 2);
}

/* What is not there for a while is skipped, and the run goes on. */
static void a_proc_that_vanishes(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_iostat *io;

    (void)state;
    make_proc(CPU_A, DISKS_A);
    io = start(0.005, 0);
    assert_int_equal(rename("proc", "gone"), 0);
    usleep(30000);
    assert_int_equal(pr_iostat_stop(io, "iostat.json", NULL), PR_OK);
    (void)statistics(a, "iostat.json");
}

static void without_devices_there_are_processors(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    const struct pr_value *all;
    struct pr_iostat *io;

    (void)state;
    make_proc(CPU_A, DISKS_A);
    io = start(3600, 0);
    make_proc(CPU_B, DISKS_B);
    assert_int_equal(pr_iostat_stop(io, "iostat.json", NULL), PR_OK);
    all = statistics(a, "iostat.json");
    assert_int_equal(all->len, 1);
    assert_int_equal(pr_get(&all->items[0], "disk")->len, 0);
    assert_near(figure(pr_get(&all->items[0], "avg-cpu"), "user"), 50);
}

static void unknown_devices_get_a_hint(void **state)
{
    static const struct {
        const char *device, *msg, *hint;
    } rows[] = {
        {"sdb", "there is no block device 'sdb'; there are: sda, sda1, nvme0n1",
         "did you mean 'sda'?"},
        {"/dev/nvme0n2",
         "there is no block device 'nvme0n2'; there are: sda, sda1, nvme0n1",
         "did you mean 'nvme0n1'?"},
        {"hyperdisk",
         "there is no block device 'hyperdisk'; there are: sda, sda1, nvme0n1",
         ""},
        {"", "there is no block device ''; there are: sda, sda1, nvme0n1", ""},
    };

    (void)state;
    make_proc(CPU_A, DISKS_A);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *names[] = {"sda", rows[i].device};
        struct pr_iostat *io = NULL;
        struct pr_err err = {0};

        assert_int_equal(pr_iostat_start("proc", names, 2, 1, &io, &err),
                         PR_E_CONF);
        assert_null(io);
        assert_string_equal(err.where, "profiling.iostat_devices");
        assert_string_equal(err.msg, rows[i].msg);
        assert_string_equal(err.hint, rows[i].hint);
        assert_int_equal(pr_iostat_start("proc", names, 2, 1, &io, NULL),
                         PR_E_CONF);
    }
}

static void devices_that_never_did_anything(void **state)
{
    const char *name = "sda";
    struct pr_iostat *io = NULL;
    struct pr_err err = {0};

    (void)state;
    make_proc(CPU_A, "7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n");
    assert_int_equal(pr_iostat_start("proc", &name, 1, 1, &io, &err),
                     PR_E_CONF);
    assert_string_equal(err.msg,
                        "there is no block device 'sda'; there are: loop0");
    make_proc(CPU_A, "");
    assert_int_equal(pr_iostat_start("proc", &name, 1, 1, &io, &err),
                     PR_E_CONF);
    assert_string_equal(err.msg,
                        "there is no block device 'sda', nor any other");
}

static void files_that_are_missing_or_odd(void **state)
{
    struct pr_iostat *io = NULL;
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(pr_iostat_start("proc", NULL, 0, 1, &io, &err), PR_E_IO);
    assert_string_equal(err.where, "proc/stat");
    make_proc("intr 1\n", DISKS_A);
    assert_int_equal(pr_iostat_start("proc", NULL, 0, 1, &io, &err),
                     PR_E_FORMAT);
    make_proc(CPU_A, DISKS_A);
    assert_int_equal(unlink("proc/diskstats"), 0);
    assert_int_equal(pr_iostat_start("proc", NULL, 0, 1, &io, &err), PR_E_IO);
    assert_string_equal(err.where, "proc/diskstats");
    assert_null(io);
}

static void a_full_disk_leaves_no_file(void **state)
{
    struct pr_err err = {0};
    struct pr_iostat *io;

    (void)state;
    make_proc(CPU_A, DISKS_A);
    io = start(3600, 1, "sda");
    limit_files(100);
    assert_int_equal(pr_iostat_stop(io, "iostat.json", &err), PR_E_IO);
    limit_files(RLIM_INFINITY);
    assert_string_equal(err.where, "iostat.json");
    assert_int_equal(files_in("."), 1);
    assert_int_equal(pr_iostat_stop(NULL, "iostat.json", &err), PR_OK);
}

static int attempt(void)
{
    const char *names[] = {"sda", "nvme0n1"};
    struct pr_iostat *io;
    int rc = pr_iostat_start("proc", names, 2, 3600, &io, NULL);

    return rc ? rc : pr_iostat_stop(io, "iostat.json", NULL);
}

static int attempt_unknown(void)
{
    const char *name = "sdb";
    struct pr_iostat *io;
    int rc = pr_iostat_start("proc", &name, 1, 3600, &io, NULL);

    return rc == PR_E_CONF ? PR_OK : rc;
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    make_proc(CPU_A, DISKS_A);
    torture(attempt);
    torture(attempt_unknown);
}

/* ---- names */

static void names_as_they_are_given(void **state)
{
    static const struct {
        const char *given, *want;
    } rows[] = {
        {"sda", "sda"},
        {"/dev/no-such-disk", "no-such-disk"},
        {"/dev/cciss/c0d0", "cciss/c0d0"},
        {"/dev/../dev/null", "null"},
    };
    char name[64];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pr_iostat_device_name(rows[i].given, name);
        assert_string_equal(name, rows[i].want);
    }
    /* as /dev/disk/by-id/… and /dev/mapper/… are links */
    assert_int_equal(symlink("/dev/null", "link"), 0);
    {
        char path[128];

        snprintf(path, sizeof path, "%s/link", scratch_dir);
        pr_iostat_device_name(path, name);
        assert_string_equal(name, "null");
    }
}

static void a_partition_is_on_its_disk(void **state)
{
    static const struct {
        unsigned major, minor;
        const char *want; /* NULL: not known */
    } rows[] = {
        {8, 0, "sda"},    {8, 1, "sda"},          {259, 0, "nvme0n1"},
        {253, 0, "dm-0"}, {104, 0, "cciss/c0d0"}, {0, 45, NULL},
    };

    (void)state;
    assert_int_equal(
        system("mkdir -p sys/dev/block sys/block/sda/sda1 sys/block/nvme0n1 "
               "sys/block/dm-0 'sys/block/cciss!c0d0' && "
               "echo 1 > sys/block/sda/sda1/partition && cd sys/dev/block && "
               "ln -s ../../block/sda 8:0 && ln -s ../../block/sda/sda1 8:1 && "
               "ln -s ../../block/nvme0n1 259:0 && "
               "ln -s ../../block/dm-0 253:0 && "
               "ln -s '../../block/cciss!c0d0' 104:0"),
        0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[64] = "as it was";

        assert_int_equal(
            pr_iostat_disk_name("sys", rows[i].major, rows[i].minor, name),
            rows[i].want != NULL);
        assert_string_equal(name, rows[i].want ? rows[i].want : "as it was");
    }
}

static void proc_is_on_no_device(void **state)
{
    char name[64] = "";

    (void)state;
    assert_false(pr_iostat_find_device("/proc/self", name));
    assert_false(pr_iostat_find_device("no/such/file", name));
    assert_string_equal(name, "");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)
    const struct CMUnitTest tests[] = {
        TEST(lines_of_all_kernels),
        TEST(a_visitor_may_stop),
        TEST(processors),
        TEST(a_disk_by_hand),
        TEST(an_idle_disk_divides_nothing_by_nothing),
        TEST(milliseconds_wrap),
        TEST(counters_that_go_back),
        TEST(processors_by_hand),
        TEST(a_full_log_keeps_every_other_one),
        TEST(two_snapshots_are_one_interval),
        TEST(the_thread_samples_by_itself),
        TEST(a_proc_that_vanishes),
        TEST(without_devices_there_are_processors),
        TEST(unknown_devices_get_a_hint),
        TEST(devices_that_never_did_anything),
        TEST(files_that_are_missing_or_odd),
        TEST(a_full_disk_leaves_no_file),
        TEST(out_of_memory_is_an_error),
        TEST(names_as_they_are_given),
        TEST(a_partition_is_on_its_disk),
        TEST(proc_is_on_no_device),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
