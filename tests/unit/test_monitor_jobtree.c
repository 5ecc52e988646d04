/* The processes of an experiment: who belongs to it, and what they use when
 * some of them end. */
#include "monitor/job_tree.h"

#include "monitor_tool.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

struct fake {
    int pid, ppid;
    unsigned start, own, children; /* ticks */
    unsigned read_bytes;
};

static void put_process(struct fake p)
{
    char path[64], text[256];

    snprintf(path, sizeof path, "/proc/%d/stat", p.pid);
    snprintf(text, sizeof text,
             "%d (a) b) S %d 1 1 0 -1 0 0 0 0 0 %u 0 %u 0 20 0 3 0 %u 8192 2 "
             "99 0\n",
             p.pid, p.ppid, p.own, p.children, p.start);
    put(path, text);
    snprintf(path, sizeof path, "/proc/%d/statm", p.pid);
    put(path, "2 2 1 1 0 1 0\n");
    snprintf(path, sizeof path, "/proc/%d/io", p.pid);
    snprintf(text, sizeof text,
             "rchar: 5\nread_bytes: %u\nwrite_bytes: 7\n"
             "cancelled_write_bytes: 0\n",
             p.read_bytes);
    put(path, text);
}

static void put_environment(int pid, const char *text, size_t len)
{
    char path[64];
    FILE *f;

    snprintf(path, sizeof path, "root/proc/%d/environ", pid);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    fclose(f);
}

static void end_process(int pid)
{
    static const char *const files[] = {"stat", "statm", "io"};
    char path[64];

    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "/proc/%d/%s", pid, files[i]);
        take_away(path);
    }
    snprintf(path, sizeof path, "rm -rf root/proc/%d", pid);
    assert_int_equal(system(path), 0);
}

/* Something was made: the number changes with every process and thread. */
static void news(int last_pid)
{
    char text[64];

    snprintf(text, sizeof text, "0.00 0.01 0.05 1/99 %d\n", last_pid);
    put("/proc/loadavg", text);
}

static void lines_of_stat_are_understood(void **state)
{
    static const char tail[] = " 1 1 0 -1 0 0 0 0 0 10 20 3 4 20 0 5 0 777 "
                               "8192 3 99";
    static const struct {
        const char *head;
        bool ok;
        int pid, ppid;
        bool zombie;
    } rows[] = {
        {"12 (sh) S 3", true, 12, 3, false},
        {"12 (a) b) (c) R 3", true, 12, 3, false},
        {"12 () Z 9) Z 3", true, 12, 3, true},
        {"12 sh S 3", false, 0, 0, false},
        {"(sh) S 3", false, 0, 0, false},
        {"12 (sh)", false, 0, 0, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_job_tree_process p = {0};
        char text[256];

        snprintf(text, sizeof text, "%s%s", rows[i].head, tail);
        assert_int_equal(pr_job_tree_parse_stat(text, &p), rows[i].ok);
        if (!rows[i].ok)
            continue;
        assert_int_equal(p.pid, rows[i].pid);
        assert_int_equal(p.ppid, rows[i].ppid);
        assert_int_equal(p.zombie, rows[i].zombie);
        assert_int_equal(p.count[PR_JOB_OWN], 30);
        assert_int_equal(p.count[PR_JOB_WAITED], 7);
        assert_int_equal(p.threads, 5);
        assert_int_equal(p.start, 777);
        assert_int_equal(p.virt_bytes, 8192);
        assert_int_equal(p.rss_bytes, 3 * sysconf(_SC_PAGESIZE));
    }
    for (size_t n = 0; n < strlen(tail); n++) { /* cut anywhere: no harm */
        struct pr_job_tree_process p = {0};
        char text[256];

        snprintf(text, sizeof text, "12 (sh) S 3%.*s", (int)n, tail);
        (void)pr_job_tree_parse_stat(text, &p);
    }
}

static void the_family_is_found(void **state)
{
    struct rig r = rig_open(PR_SOURCE_job);

    (void)state;
    put_process((struct fake){.pid = 1, .start = 1});
    put_process((struct fake){.pid = 50, .ppid = 1, .start = 900}); /* other */
    put_process((struct fake){.pid = 100, .ppid = 1, .start = 500});
    /* The numbers went round: a child before its parent. */
    put_process((struct fake){.pid = 60, .ppid = 101, .start = 600});
    put_process((struct fake){.pid = 101, .ppid = 100, .start = 500});
    news(101);
    r.pid = 100;
    rig_look(&r, 0, true);
    rig_look(&r, 1, false);
    assert_value(&r, "job.processes", 3);
    assert_value(&r, "job.threads", 9);
    assert_value(&r, "job.rss_bytes", 3 * 2 * (double)sysconf(_SC_PAGESIZE));
    assert_value(&r, "job.shared_bytes", 3 * (double)sysconf(_SC_PAGESIZE));
    assert_value(&r, "job.virt_bytes", 3 * 8192);
    /* Another one comes; it is seen when something was made. */
    put_process((struct fake){.pid = 102, .ppid = 60, .start = 700});
    rig_look(&r, 1, false);
    assert_value(&r, "job.processes", 3);
    news(102);
    rig_look(&r, 1, false);
    assert_value(&r, "job.processes", 4);
    /* Its number is given to a stranger. */
    put_process((struct fake){.pid = 102, .ppid = 1, .start = 800});
    rig_look(&r, 1, false);
    assert_value(&r, "job.processes", 3);
    /* All gone. */
    end_process(100);
    end_process(101);
    end_process(60);
    rig_look(&r, 1, true);
    assert_unknown(&r, "job.processes");
    assert_unknown(&r, "job.cpu");
    rig_close(&r);
}

static void the_marked_belong_to_it(void **state)
{
    static const char ours[] = "A=1\0PRONY_EXPERIMENT=x1\0B=2";
    static const char other[] = "PRONY_EXPERIMENT=x12\0B=PRONY_EXPERIMENT=x1";
    struct rig r = rig_open(PR_SOURCE_job);

    (void)state;
    put_process((struct fake){.pid = 100, .ppid = 1, .start = 500});
    put_environment(100, ours, sizeof ours);
    put_process((struct fake){.pid = 200, .ppid = 1, .start = 510});
    put_environment(200, ours, sizeof ours); /* in a container, say */
    put_process((struct fake){.pid = 201, .ppid = 200, .start = 510});
    put_process((struct fake){.pid = 300, .ppid = 1, .start = 510});
    put_environment(300, other, sizeof other);
    put_process((struct fake){.pid = 400, .ppid = 1, .start = 400});
    put_environment(400, ours, sizeof ours); /* of an attempt before */
    r.pid = 100;
    rig_look(&r, 0, true);
    rig_look(&r, 1, true);
    assert_value(&r, "job.processes", 3);
    rig_close(&r);
}

/* 100 ticks a second, wherever this runs. */
static double cores(const struct rig *r)
{
    assert_false(isnan(value(r, "job.cpu")));
    return value(r, "job.cpu") * (double)sysconf(_SC_CLK_TCK) / 100;
}

static void what_the_dead_used_counts_once(void **state)
{
    struct rig r = rig_open(PR_SOURCE_job);
    struct fake parent = {100, 1, 500, 0, 0, 0},
                child = {101, 100, 500, 0, 0, 0};

    (void)state;
    put_process(parent);
    put_process(child);
    r.pid = 100;
    rig_look(&r, 0, true);
    parent.own = 10;
    child.own = 30;
    child.read_bytes = 4096;
    put_process(parent);
    put_process(child);
    rig_look(&r, 1, false);
    assert_float_equal(cores(&r), 0.4, 1e-9);
    assert_value(&r, "job.read_bytes_s", 4096);
    /* It ended after 50 ticks, and the parent waited for it. */
    end_process(101);
    parent.own = 15;
    parent.children = 50;
    parent.read_bytes = 5000;
    put_process(parent);
    rig_look(&r, 1, false);
    assert_float_equal(cores(&r), 0.25, 1e-9);
    assert_value(&r, "job.read_bytes_s", 904);
    /* One that was never seen: its parent has its time. */
    parent.children = 80;
    put_process(parent);
    rig_look(&r, 1, false);
    assert_float_equal(cores(&r), 0.3, 1e-9);
    assert_value(&r, "job.processes", 1);
    rig_close(&r);
}

static void an_orphan_takes_nothing_from_others(void **state)
{
    struct rig r = rig_open(PR_SOURCE_job);
    struct fake first = {100, 1, 500, 10, 0, 0};

    (void)state;
    put_process(first);
    put_process((struct fake){101, 100, 500, 70, 0, 0});
    put_process((struct fake){102, 101, 500, 5, 0, 0});
    r.pid = 100;
    rig_look(&r, 0, true);
    rig_look(&r, 1, false);
    /* Both end at once; the first waits for 101, which waited for 102. */
    end_process(101);
    end_process(102);
    first.own = 12;
    first.children = 76;
    put_process(first);
    rig_look(&r, 1, false);
    assert_float_equal(cores(&r), 0.03, 1e-9);
    /* The first ends and is waited for by nobody of ours. */
    end_process(100);
    rig_look(&r, 1, false);
    assert_unknown(&r, "job.cpu");
    rig_close(&r);
}

/* The parent is read, waits for its child, and then the child is not there:
 * what the parent inherits is seen one look later. */
static void a_child_that_ends_between_two_reads_counts_once(void **state)
{
    struct rig r = rig_open(PR_SOURCE_job);
    struct fake parent = {100, 1, 500, 0, 0, 0};

    (void)state;
    put_process(parent);
    put_process((struct fake){101, 100, 500, 30, 0, 4096});
    r.pid = 100;
    rig_look(&r, 0, true);
    rig_look(&r, 1, false);
    assert_float_equal(cores(&r), 0.3, 1e-9);
    end_process(101);
    parent.own = 10;
    put_process(parent);
    rig_look(&r, 1, false);
    assert_float_equal(cores(&r), 0.1, 1e-9); /* its own is left to it */
    parent.children = 35;
    parent.read_bytes = 5000;
    put_process(parent);
    rig_look(&r, 1, false);
    assert_float_equal(cores(&r), 0.05, 1e-9);
    assert_value(&r, "job.read_bytes_s", 904);
    parent.own = 20; /* and that was all it owed */
    put_process(parent);
    rig_look(&r, 1, false);
    assert_float_equal(cores(&r), 0.1, 1e-9);
    rig_close(&r);
}

/* Of one that does not wait for its children nothing is taken back. */
static void who_does_not_wait_loses_nothing(void **state)
{
    struct rig r = rig_open(PR_SOURCE_job);
    struct fake parent = {100, 1, 500, 0, 0, 0};

    (void)state;
    put_process(parent);
    put_process((struct fake){101, 100, 500, 90, 0, 0});
    r.pid = 100;
    rig_look(&r, 0, true);
    rig_look(&r, 1, false);
    end_process(101);
    for (int i = 0; i < 3; i++) {
        parent.own += 40;
        put_process(parent);
        rig_look(&r, 1, false);
        assert_float_equal(cores(&r), 0.4, 1e-9);
    }
    rig_close(&r);
}

/* "total" of job.cpu in the summary, in hundredths of a second. */
static double total(const struct rig *r)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);
    const char *at;
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, &out, 0);
    pr_json_open_object(&jb, NULL);
    pr_monitor_columns_write_sums(&r->columns, &jb);
    pr_json_close(&jb);
    at = strstr(out.data, "\"job.cpu\"");
    assert_non_null(at);
    at = strstr(at, "\"total\": ");
    assert_non_null(at);
    return strtod(at + 9, NULL) * (double)sysconf(_SC_CLK_TCK);
}

/* What it used since the last look can only be told by who waited for it. */
static void the_end_of_the_first_is_told(void **state)
{
    static const bool late[] = {false, true};

    (void)state;
    for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
        struct rig r = rig_open(PR_SOURCE_job);

        put_process((struct fake){100, 1, 500, 50, 0, 0});
        put_process((struct fake){101, 100, 500, 20, 0, 0});
        r.pid = 100;
        rig_look(&r, 0, true);
        rig_look(&r, 1, false);
        assert_float_equal(cores(&r), 0.7, 1e-9);
        end_process(101);
        end_process(100);
        if (late[i]) { /* a look before the end is known */
            rig_look(&r, 1, false);
            assert_unknown(&r, "job.cpu");
        }
        r.used_s = 110.5 / (double)sysconf(_SC_CLK_TCK);
        rig_look(&r, 1, false);
        assert_float_equal(cores(&r), 0.4, 1e-9);
        assert_unknown(&r, "job.processes"); /* nobody is left */
        assert_unknown(&r, "job.rss_bytes");
        assert_float_equal(total(&r), 110, 1e-6);
        rig_close(&r);
    }
}

static void time_before_it_was_found_counts_in_the_total(void **state)
{
    struct rig r = rig_open(PR_SOURCE_job);

    (void)state;
    put_process((struct fake){100, 1, 500, 1000, 0, 0});
    r.pid = 100;
    rig_look(&r, 0, true);
    rig_look(&r, 0.5, false);
    /* Three threads cannot have used more than this in half a second. */
    if (sysconf(_SC_CLK_TCK) <= 600)
        assert_value(&r, "job.cpu", 3);
    assert_float_equal(total(&r), 1000, 1e-6);
    rig_close(&r);
}

/* All of /proc is not listed often on a machine with many processes; the
 * children of ours are. */
static void children_are_found_between_two_lists(void **state)
{
    struct pr_job_tree t = {0};
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);
    struct pr_monitor_sample l = {.root = "root", .pid = 100, .text = &text};

    (void)state;
    put_process((struct fake){.pid = 100, .ppid = 1, .start = 500});
    news(100);
    pr_job_tree_start(&t, 100);
    pr_job_tree_scan(&t, &l);
    assert_int_equal(t.n, 1);
    t.all.at_ns = UINT64_MAX;
    put_process((struct fake){.pid = 101, .ppid = 100, .start = 600});
    put_process((struct fake){.pid = 102, .ppid = 101, .start = 600});
    put_process((struct fake){.pid = 103, .ppid = 1, .start = 600});
    /* 103 was a child of 100 a moment ago, 104 has ended. */
    put("/proc/100/task/100/children", "101 103 104 ");
    put("/proc/101/task/101/children", "102 x ");
    pr_job_tree_scan(&t, &l); /* nothing was made, as far as is told */
    assert_int_equal(t.n, 1);
    news(104);
    pr_job_tree_scan(&t, &l);
    assert_int_equal(t.n, 3);
    assert_int_equal(t.ours[1].pid, 101);
    assert_int_equal(t.ours[2].pid, 102);
    pr_job_tree_scan(&t, &l);
    assert_int_equal(t.n, 3);
    pr_job_tree_close(&t);
}

/* A new process has the number of one that has just ended. */
static void a_number_given_again_is_a_new_process(void **state)
{
    struct rig r = rig_open(PR_SOURCE_job);

    (void)state;
    put_process((struct fake){100, 1, 500, 0, 0, 0});
    put_process((struct fake){101, 100, 500, 0, 0, 0});
    news(101);
    r.pid = 100;
    rig_look(&r, 0, true);
    rig_look(&r, 1, false);
    assert_value(&r, "job.processes", 2);
    end_process(101);
    put_process((struct fake){50, 1, 400, 0, 0, 0}); /* has its inode, maybe */
    put_process((struct fake){101, 100, 900, 0, 0, 0});
    rig_look(&r, 1, true);
    assert_value(&r, "job.processes", 2);
    rig_close(&r);
}

/* What runs inside of an experiment has its mark until it sets its own. */
static void the_mark_of_an_experiment_around_is_none(void **state)
{
    static const char outer[] = "PRONY_EXPERIMENT=outer";
    static const char inner[] = "PRONY_EXPERIMENT=inner";
    struct rig r = rig_open(PR_SOURCE_job);

    (void)state;
    setenv("PRONY_EXPERIMENT", "outer", 1);
    put_process((struct fake){.pid = 100, .ppid = 1, .start = 500});
    put_environment(100, outer, sizeof outer);
    put_process((struct fake){.pid = 200, .ppid = 1, .start = 510});
    put_environment(200, outer, sizeof outer);
    news(200);
    r.pid = 100;
    rig_look(&r, 0, true);
    rig_look(&r, 1, false);
    assert_value(&r, "job.processes", 1);
    put_environment(100, inner, sizeof inner);
    put_process((struct fake){.pid = 300, .ppid = 1, .start = 510});
    put_environment(300, inner, sizeof inner);
    rig_look(&r, 1, true);
    assert_value(&r, "job.processes", 2);
    unsetenv("PRONY_EXPERIMENT");
    rig_close(&r);
}

/* Works until it is killed; not for ever, though. */
static _Noreturn void spin(void)
{
    volatile unsigned n = 0;

    alarm(60);
    for (;;)
        n++;
}

/* The real /proc: a child that works. */
static void a_real_process_is_seen(void **state)
{
    struct pr_monitor_sources looks;
    pid_t pid;

    (void)state;
    assert_true(pr_monitor_sources_init(&looks, NULL));
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        spin();
    pr_monitor_sources_begin(&looks);
    pr_monitor_sources_sample(&looks, 0.1, pid);
    for (int i = 0; i < 2000; i++) { /* the machine may be busy */
        struct timespec nap = {0, 20000000};

        nanosleep(&nap, NULL);
        pr_monitor_sources_sample(&looks, 0.02, pid);
        if (pr_monitor_columns_value(&looks.columns, "job.cpu") > 0)
            break;
    }
    assert_true(pr_monitor_columns_value(&looks.columns, "job.cpu") > 0);
    assert_true(pr_monitor_columns_value(&looks.columns, "job.processes") == 1);
    assert_true(pr_monitor_columns_value(&looks.columns, "job.rss_bytes") >
                4096);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    pr_monitor_sources_close(&looks);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_stat_are_understood),
        TEST(the_family_is_found),
        TEST(the_marked_belong_to_it),
        TEST(what_the_dead_used_counts_once),
        TEST(an_orphan_takes_nothing_from_others),
        TEST(a_child_that_ends_between_two_reads_counts_once),
        TEST(who_does_not_wait_loses_nothing),
        TEST(the_end_of_the_first_is_told),
        TEST(children_are_found_between_two_lists),
        TEST(a_number_given_again_is_a_new_process),
        TEST(the_mark_of_an_experiment_around_is_none),
        TEST(time_before_it_was_found_counts_in_the_total),
        TEST(a_real_process_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
