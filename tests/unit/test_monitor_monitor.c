/* The monitor as a run uses it: short experiments, long ones, no file, lost
 * looks, no thread before it is needed. */
#include "base/clock.h"
#include "base/json/json.h"
#include "monitor/monitor.h"

#include "monitor_tool.h"
#include "torture.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static char *slurp_line(const char *path)
{
    static char text[64];
    FILE *f = fopen(path, "r");

    text[0] = '\0';
    if (f && fgets(text, sizeof text, f))
        text[strcspn(text, "\n")] = '\0';
    if (f)
        fclose(f);
    return text;
}

static void nap(double s)
{
    struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};

    nanosleep(&t, NULL);
}

/* How many threads of the monitor's there are. */
static int threads(void)
{
    DIR *d = opendir("/proc/self/task");
    struct dirent *e;
    int n = 0;

    assert_non_null(d);
    while ((e = readdir(d))) {
        char path[300], *name;

        snprintf(path, sizeof path, "/proc/self/task/%s/comm", e->d_name);
        if (e->d_name[0] == '.')
            continue;
        name = slurp_line(path);
        n += strcmp(name, "prony-monitor") == 0;
    }
    closedir(d);
    return n;
}

/* A thread that was joined may stay in the list for a moment. */
static bool all_gone(void)
{
    for (int i = 0; threads() && i < 200; i++)
        nap(0.01);
    return threads() == 0;
}

static struct pr_monitor_watch_opts watched(double interval_s)
{
    return (struct pr_monitor_watch_opts){
        .path = "m.ndjson", .interval_s = interval_s, .timeseries = ""};
}

static struct pr_monitored *begin(struct pr_monitor *m, double interval_s)
{
    struct pr_monitor_watch_opts w = watched(interval_s);
    struct pr_monitored *x = NULL;

    assert_int_equal(pr_monitor_begin(m, &w, &x, NULL), PR_OK);
    assert_non_null(x);
    return x;
}

static void short_ones_leave_nothing(void **state)
{
    struct pr_monitor *m = NULL;

    (void)state;
    assert_int_equal(pr_monitor_new(NULL, &m, NULL), PR_OK);
    assert_int_equal(threads(), 0); /* none until one is watched */
    for (int i = 0; i < 100; i++) {
        struct pr_monitor_sum sum;
        struct pr_monitored *x;

        spit("m.ndjson", "of an attempt before\n");
        x = begin(m, 30);
        pr_monitor_set_pid(m, x, (int)getpid());
        if (i == 50)
            nap(0.03); /* looked at once, but no interval is over */
        pr_monitor_end(m, x, 0, &sum);
        assert_int_equal(sum.summary.len, 0);
        assert_int_equal(sum.log.len, 0);
        assert_string_equal(sum.trouble, "");
        assert_int_equal(access("m.ndjson", F_OK), -1);
        pr_monitor_sum_free(&sum);
    }
    assert_int_equal(threads(), 1);
    pr_monitor_free(m);
    assert_true(all_gone());
    pr_monitor_free(NULL);
}

/* The value of a member of a JSON object, or -1. */
static double member(const struct pr_value *v, const char *key)
{
    const struct pr_value *x = pr_get(v, key);

    return x && pr_value_is_number(x) ? pr_value_number(x) : -1;
}

static struct pr_value parse(const char *text, size_t len, struct pr_arena *a)
{
    struct pr_json_in in = {.name = "test", .text = text, .len = len};
    struct pr_value v;

    assert_int_equal(pr_json_read(&in, a, &v, NULL, NULL), PR_OK);
    assert_int_equal(v.kind, PR_MAP);
    return v;
}

/* Every line is JSON, the times rise, and no column comes unannounced. Two
 * looks within one tick of the kernel's say nothing of the processor: that
 * column may be announced later than the others. */
static int check_file(const char *path)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    char *text = slurp(path, NULL);
    double last = 0;
    bool cpu = false;
    int lines = 0;

    for (char *s = text; *s; s = strchr(s, '\n') + 1, lines++) {
        struct pr_value v = parse(s, strcspn(s, "\n"), a);
        const struct pr_value *columns = pr_get(&v, "columns");

        if (!lines)
            assert_string_equal(pr_get(&v, "schema")->s, "prony.monitor/1");
        cpu |= columns && pr_get(columns, "cpu");
        if (columns)
            continue;
        assert_true(lines > 0);
        assert_true(cpu || !pr_get(&v, "cpu"));
        assert_true(member(&v, "t") > last);
        last = member(&v, "t");
    }
    free(text);
    assert_true(cpu);
    return lines;
}

static void a_long_one_is_watched(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_monitor_watch_opts w = watched(0.02);
    struct pr_monitor *m = NULL;
    struct pr_monitor_sum sum;
    struct pr_value v;

    (void)state;
    w.timeseries = "cpu:float:5,when:str:1";
    assert_int_equal(pr_monitor_new(NULL, &m, NULL), PR_OK);
    for (int i = 0; i < 2; i++) {
        struct pr_monitored *x = NULL;

        assert_int_equal(pr_monitor_begin(m, &w, &x, NULL), PR_OK);
        pr_monitor_set_pid(m, x, (int)getpid());
        nap(0.15);
        pr_monitor_end(m, x, 0, &sum);
        assert_true(check_file("m.ndjson") >= 2);
        v = parse(sum.summary.data, sum.summary.len, a);
        assert_true(member(&v, "samples") >= 1);
        assert_true(member(&v, "samples") + member(&v, "lost") >= 6);
        assert_true(member(&v, "interval_s") == 0.02);
        assert_true(member(&v, "seconds") > 0);
        assert_true(member(pr_get(&v, "cpu"), "mean") >= 0);
        assert_true(member(pr_get(&v, "cpu"), "mean") <= 1);
        assert_true(member(pr_get(&v, "job.processes"), "max") == 1);
        assert_int_equal(strncmp(sum.log.data, "__results.use.cpu__=[", 21), 0);
        pr_monitor_sum_free(&sum);
    }
    pr_monitor_free(m);
}

/* Copies that run together: each has its own file and its own processes, the
 * machine is the same for both. */
static void several_at_once(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_monitor_watch_opts w = watched(0.02);
    struct pr_monitored *x[2] = {NULL};
    struct pr_monitor *m = NULL;
    struct pr_monitor_sum sum[2];
    pid_t busy = fork();
    double cpu[2];

    (void)state;
    if (!busy) /* one burns, the other (we) sleeps */
        for (;;)
            ;
    assert_int_equal(pr_monitor_new(NULL, &m, NULL), PR_OK);
    for (int i = 0; i < 2; i++) {
        w.path = i ? "b.ndjson" : "a.ndjson";
        assert_int_equal(pr_monitor_begin(m, &w, &x[i], NULL), PR_OK);
        nap(0.005);
    }
    assert_ptr_not_equal(x[0], x[1]);
    pr_monitor_set_pid(m, x[0], (int)getpid());
    pr_monitor_set_pid(m, x[1], (int)busy);
    nap(0.3);
    pr_monitor_end(m, x[0], 0, &sum[0]);
    nap(0.1); /* the other one goes on */
    pr_monitor_end(m, x[1], 0, &sum[1]);
    kill(busy, SIGKILL);
    waitpid(busy, NULL, 0);
    for (int i = 0; i < 2; i++) {
        struct pr_value v = parse(sum[i].summary.data, sum[i].summary.len, a);

        assert_true(check_file(i ? "b.ndjson" : "a.ndjson") >= 2);
        assert_true(member(&v, "samples") + member(&v, "lost") >= 10 + 3 * i);
        assert_true(member(pr_get(&v, "cpu"), "mean") > 0);
        assert_true(member(pr_get(&v, "cpu"), "mean") <= 1);
        assert_true(member(pr_get(&v, "mem.used_bytes"), "mean") != 0);
        cpu[i] = member(pr_get(&v, "job.cpu"), "total");
        pr_monitor_sum_free(&sum[i]);
    }
    /* We have a child that burns, so ours is the larger; but its share of the
     * machine is bounded by the time that passed. */
    assert_true(cpu[1] > 0.02);
    assert_true(cpu[1] < 0.6);
    assert_int_equal(threads(), 1);
    pr_monitor_free(m);
}

static void what_cannot_be_written_is_told(void **state)
{
    static const char *const rows[][2] = {
        {"no/such/folder/m.ndjson", "No such file or directory"},
        {"/dev/full", "No space left on device"},
        {"m.ndjson", "File too large"},
    };
    struct rlimit all, little;
    struct pr_monitor *m = NULL;

    (void)state;
    /* No signal comes of it: the thread takes none. */
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &all), 0);
    little = (struct rlimit){.rlim_cur = 100, .rlim_max = all.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    assert_int_equal(pr_monitor_new(NULL, &m, NULL), PR_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_monitor_watch_opts w = watched(0.01);
        struct pr_monitored *x = NULL;
        struct pr_monitor_sum sum;
        char want[96];

        w.path = rows[i][0];
        assert_int_equal(pr_monitor_begin(m, &w, &x, NULL), PR_OK);
        nap(0.05);
        pr_monitor_end(m, x, 0, &sum);
        snprintf(want, sizeof want, "monitor.ndjson was not written: %s",
                 rows[i][1]);
        assert_string_equal(sum.trouble, want);
        assert_true(sum.summary.len > 0);
        pr_monitor_sum_free(&sum);
    }
    assert_int_equal(access("m.ndjson", F_OK), -1); /* no half of one */
    pr_monitor_free(m);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
}

static void a_wrong_list_is_refused(void **state)
{
    struct pr_monitor_watch_opts w = watched(1);
    struct pr_monitor *m = NULL;
    struct pr_monitored *x = NULL;
    struct pr_err err = {0};

    (void)state;
    w.timeseries = "cpu:percent:5";
    assert_int_equal(pr_monitor_new(NULL, &m, NULL), PR_OK);
    assert_int_equal(pr_monitor_begin(m, &w, &x, &err), PR_E_CONF);
    assert_string_equal(err.where, "monitor.timeseries");
    assert_null(x);
    (void)begin(m, 1);
    pr_monitor_free(m); /* with one that is not ended */
}

static void freed_while_it_watches(void **state)
{
    struct pr_monitor *m = NULL;

    (void)state;
    assert_int_equal(pr_monitor_new(NULL, &m, NULL), PR_OK);
    (void)begin(m, 0.01);
    nap(0.04);
    pr_monitor_free(m);
}

static volatile sig_atomic_t it_came;

static void on_signal(int signo)
{
    (void)signo;
    it_came = 1;
}

static void signals_are_left_to_others(void **state)
{
    struct pr_monitor *m = NULL;
    sigset_t set, old;

    (void)state;
    signal(SIGUSR1, on_signal);
    assert_int_equal(pr_monitor_new(NULL, &m, NULL), PR_OK);
    (void)begin(m, 1);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    kill(getpid(), SIGUSR1);
    nap(0.02);
    assert_int_equal(it_came, 0); /* the thread did not take it */
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    assert_int_equal(it_came, 1);
    signal(SIGUSR1, SIG_DFL);
    pr_monitor_free(m);
}

/* ---- the times of looks, without a thread */

static void late_looks_are_counted(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_monitor_sources looks;
    struct pr_watch x = {.looks = &looks};
    struct pr_monitor_watch_opts w = watched(0.01);
    struct pr_monitor_sum sum;
    struct pr_value v;
    uint64_t next, before;

    (void)state;
    put("/proc/stat", "cpu 1 2 3 4 5 6 7 8\n");
    assert_true(pr_monitor_sources_init(&looks, "root"));
    assert_int_equal(pr_watch_init(&x, &w, NULL), PR_OK);
    pr_watch_first_sample(&x, 0);
    x.begin_ns -= 205000000; /* it is twenty intervals and a half late */
    before = pr_clock_ns();
    pr_watch_next_sample(&x, 0);
    assert_true(x.lost >= 19);
    next = pr_watch_next_ns(&x);
    assert_true(next > before); /* back in step */
    assert_int_equal((next - x.begin_ns) % 10000000, 0);
    pr_watch_end(&x, 0, 0, &sum);
    v = parse(sum.summary.data, sum.summary.len, a);
    assert_true(member(&v, "lost") == (double)x.lost);
    assert_int_equal(strncmp(sum.trouble, "it missed ", 10), 0);
    pr_monitor_sum_free(&sum);
    pr_watch_close(&x);
    pr_monitor_sources_close(&looks);
}

static void sources_with_a_period_keep_their_values(void **state)
{
    struct pr_monitor_sources looks;

    (void)state;
    put("/proc/stat", "cpu 1 2 3 4 5 6 7 8\nprocs_running 1\n");
    put("/sys/class/thermal/thermal_zone0/type", "soc\n");
    put("/sys/class/thermal/thermal_zone0/temp", "41000\n");
    assert_true(pr_monitor_sources_init(&looks, "root"));
    pr_monitor_sources_begin(&looks);
    pr_monitor_sources_sample(&looks, 0.1, 0);
    put("/sys/class/thermal/thermal_zone0/temp", "99000\n");
    put("/proc/stat", "cpu 1 2 3 4 5 6 7 8\nprocs_running 2\n");
    looks.of[PR_SOURCE_cpu].rest_ns = 0;
    pr_monitor_sources_sample(&looks, 0.1, 0);
    assert_true(pr_monitor_columns_value(&looks.columns, "cpu.running") == 2);
    assert_true(pr_monitor_columns_value(&looks.columns, "temp.soc_c") == 41);
    assert_false(looks.looked[PR_SOURCE_temp].looked);
    looks.of[PR_SOURCE_temp].last_ns -= 1000000000;
    looks.of[PR_SOURCE_temp].rest_ns = 0;
    pr_monitor_sources_sample(&looks, 0.1, 0);
    assert_true(pr_monitor_columns_value(&looks.columns, "temp.soc_c") == 99);
    /* One that is slow every time rests. */
    looks.of[PR_SOURCE_cpu].rest_ns = pr_clock_ns() + 10000000000;
    looks.of[PR_SOURCE_mem].rest_ns = 0;
    pr_monitor_sources_sample(&looks, 0.1, 0);
    assert_false(looks.looked[PR_SOURCE_cpu].looked);
    assert_true(looks.looked[PR_SOURCE_mem].looked);
    /* At the end it is asked all the same, unless that takes long. */
    looks.last = true;
    looks.of[PR_SOURCE_cpu].took_ns = 10000000;
    pr_monitor_sources_sample(&looks, 0.1, 0);
    assert_false(looks.looked[PR_SOURCE_cpu].looked);
    looks.of[PR_SOURCE_cpu].took_ns = 9999999;
    pr_monitor_sources_sample(&looks, 0.1, 0);
    assert_true(looks.looked[PR_SOURCE_cpu].looked);
    pr_monitor_sources_close(&looks);
}

static int attempt(void)
{
    struct pr_monitor *m = NULL;
    struct pr_err err = {0};
    int rc = pr_monitor_new("root", &m, &err);

    pr_monitor_free(m);
    return rc;
}

static void out_of_memory_is_survived(void **state)
{
    (void)state;
    torture(attempt);
}

/* Looks go on without what there was no memory for. */
static int look_twice(void)
{
    struct pr_monitor_sources looks;

    if (!pr_monitor_sources_init(&looks, NULL))
        return PR_E_NOMEM;
    pr_monitor_sources_begin(&looks);
    pr_monitor_sources_sample(&looks, 0.001, (int)getpid());
    nap(0.001);
    pr_monitor_sources_sample(&looks, 0.001, (int)getpid());
    pr_monitor_sources_close(&looks);
    return PR_OK;
}

static void looks_survive_it_too(void **state)
{
    (void)state;
    torture(look_twice);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(short_ones_leave_nothing),
        TEST(a_long_one_is_watched),
        TEST(several_at_once),
        TEST(what_cannot_be_written_is_told),
        TEST(a_wrong_list_is_refused),
        TEST(freed_while_it_watches),
        TEST(signals_are_left_to_others),
        TEST(late_looks_are_counted),
        TEST(sources_with_a_period_keep_their_values),
        TEST(out_of_memory_is_survived),
        TEST(looks_survive_it_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
