/*
 * The monitor: what it takes of a core while all of them are busy, what an
 * experiment costs that is over before it is looked at, and whether a training
 * is slower for being watched: run against run, and block against block of one.
 */
#include "base/json/json.h"
#include "base/stats/statistics.h"
#include "monitor/monitor.h"
#include "native.h"
#include "prony.h"
#include "race.h"

#include <math.h>
#include <signal.h>
#include <sys/prctl.h>

enum { CHILDREN_MAX = 256, SHORT_ONES = 20000, PAIRS = 10 };

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct pr_monitor *new_monitor(void)
{
    struct pr_monitor *m;
    struct pr_err err;

    if (pr_monitor_new(NULL, &m, &err))
        bench_die("%s", err.msg);
    return m;
}

static struct pr_monitored *begin(struct pr_monitor *m, double interval_s)
{
    struct pr_monitor_watch_opts w = {"monitor.ndjson", interval_s, ""};
    struct pr_monitored *x;
    struct pr_err err;

    if (pr_monitor_begin(m, &w, &x, &err))
        bench_die("%s", err.msg);
    return x;
}

/* ---- while the cores are busy */

static pid_t spin(void)
{
    pid_t parent = getpid(), pid = fork();

    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == parent)
        for (volatile int i = 0; i < 10000000; i++)
            ;
    _exit(0);
}

static double number(struct pr_arena *a, const struct pr_buf *json,
                     const char *key)
{
    struct pr_json_in in = {
        .name = "summary", .text = json->data, .len = json->len};
    const struct pr_value *v;
    struct pr_value map;

    if (!json->len || pr_json_read(&in, a, &map, NULL, NULL))
        bench_die("there is no summary");
    v = pr_get(&map, key);
    return v && pr_value_is_number(v) ? pr_value_number(v) : 0;
}

static void busy(const char *dir)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    double seconds = bench_round_count(20), cpu, start, share;
    struct pr_monitor *m = new_monitor();
    struct pr_monitored *x;
    struct pr_monitor_sum sum;
    pid_t pids[CHILDREN_MAX];
    long n = cores < CHILDREN_MAX ? cores : CHILDREN_MAX;

    if (chdir(dir))
        bench_die("cannot enter %s", dir);
    for (long i = 0; i < n; i++)
        pids[i] = spin();
    x = begin(m, 0.1);
    pr_monitor_set_pid(m, x, (int)pids[0]);
    usleep(200000); /* devices are found */
    cpu = cpu_seconds();
    start = bench_now();
    while (bench_now() < start + seconds)
        usleep(500000);
    share = (cpu_seconds() - cpu) / (bench_now() - start);
    pr_monitor_end(m, x, 0, &sum);
    for (long i = 0; i < n; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    printf("a look every 100 ms for %.0f s, %ld cores busy: %.0f looks, %.0f "
           "us each\n",
           seconds, n, number(a, &sum.summary, "samples"), share * 1e5);
    bench_at_most("a look every 100 ms, share of a core", share * 100, "%",
                  0.5);
    bench_at_most("looks lost",
                  100 * number(a, &sum.summary, "lost") /
                      number(a, &sum.summary, "samples"),
                  "%", 0.5);
    pr_monitor_sum_free(&sum);
    pr_monitor_free(m);
}

/* ---- experiments that are over at once */

static void short_ones(const char *dir)
{
    struct pr_monitor *m = new_monitor();
    struct pr_monitored *x;
    double start, seconds, cpu;

    if (chdir(dir))
        bench_die("cannot enter %s", dir);
    x = begin(m, 0.1);
    start = bench_now();
    cpu = cpu_seconds();
    for (int i = 0; i < SHORT_ONES; i++) {
        struct pr_monitor_sum sum;

        pr_monitor_end(m, x, 0, &sum);
        pr_monitor_sum_free(&sum);
        x = begin(m, 0.1);
    }
    seconds = (bench_now() - start) / SHORT_ONES;
    cpu = (cpu_seconds() - cpu) / SHORT_ONES;
    printf("an experiment over at once: %.1f us, with the thread %.1f us of "
           "processor time\n",
           seconds * 1e6, cpu * 1e6);
    bench_at_most("an experiment over at once", seconds * 1e6, "us", 20);
    pr_monitor_free(m);
}

/* ---- training */

/* Milliseconds of a step; negative: it cannot. */
static double one_training(const char *dir, const char *frequency)
{
    struct bench_run r;
    double ms;

    bench_run_init(
        &r, dir,
        "exp.framework=native exp.model=lenet exp.replica_batch=16 "
        "exp.num_warmup_batches=20 exp.num_batches=400 nn.peak=false "
        "monitor.frequency=%s",
        frequency);
    if (!bench_run_do(&r))
        return -1;
    ms = bench_run_number(&r, "time");
    pr_arena_free(r.arena);
    return ms;
}

/* An interval as wide as this says nothing. */
static const double wide = 0.02;

static const char *verdict(double mean, double half)
{
    if (mean - half > 0)
        return "slower";
    return half > wide ? "too much noise to tell; is the machine busy?"
                       : "no difference can be measured";
}

/* Logarithms of ratios, one a pair. */
struct ratios {
    double sum, squares;
    int pairs;
};

static void add_pair(struct ratios *r, double on, double off)
{
    double ratio = log(on / off);

    r->sum += ratio;
    r->squares += ratio * ratio;
    r->pairs++;
}

/* The interval is that of their mean. */
static void print_ratios(const char *what, const struct ratios *r)
{
    double mean = r->sum / r->pairs;
    double half =
        r->pairs > 1
            ? pr_student_t(0.025, (unsigned)r->pairs - 1) *
                  sqrt((r->squares - r->sum * mean) / (r->pairs - 1) / r->pairs)
            : 0;
    char text[64];

    printf("%s of lenet, watched every 100 ms against not at all: %+.2f %% "
           "(95 %%: %+.2f to %+.2f, %d pairs): %s\n",
           what, mean * 100, (mean - half) * 100, (mean + half) * 100, r->pairs,
           verdict(mean, half));
    snprintf(text, sizeof text, "%s of lenet, longer when watched", what);
    bench_at_most(text, mean * 100, "%", 0);
}

/* In pairs, either way first in turn. */
static void training(const char *dir)
{
    int pairs = bench_round_count(PAIRS);
    struct ratios all = {0};

    for (int i = 0; i < pairs; i++) {
        double off = i % 2 ? 0 : one_training(dir, "0");
        double on = one_training(dir, "0.1");

        if (i % 2)
            off = one_training(dir, "0");
        if (on < 0 || off < 0) {
            bench_skip("training: it does not run here");
            return;
        }
        add_pair(&all, on, off);
    }
    print_ratios("training", &all);
}

/* ---- the same in one process */

#if PR_HAVE_ONEDNN
/* Seconds of a step, in a block of half a second. */
static double block(struct pr_net *net, struct pr_monitor *m)
{
    double start = bench_now(), seconds = 0;
    struct pr_net_score score;
    struct pr_monitored *x = NULL;
    struct pr_monitor_sum sum;
    struct pr_err err = {0};
    int steps = 0;

    if (m)
        x = begin(m, 0.1);
    for (; seconds < 0.5; seconds = bench_now() - start, steps++)
        if (pr_net_train(net, &score, &err))
            bench_die("%s: %s", err.where, err.msg);
    if (m) {
        pr_monitor_end(m, x, 0, &sum);
        pr_monitor_sum_free(&sum);
    }
    return seconds / steps;
}

/* One run differs from the next by more than any monitor takes: here blocks of
 * one and the same training are watched or not, in turn. */
static void steps(const char *dir)
{
    enum { BLOCKS = 5 };
    const struct pr_model *model = bench_model(bench_peers(), "lenet");
    struct pr_net *net =
        bench_net(model, true, false, 16, (unsigned)bench_threads());
    struct pr_monitor *m = new_monitor();
    struct ratios all = {0};

    if (chdir(dir))
        bench_die("cannot enter %s", dir);
    (void)block(net, m);
    for (int i = 0; i < bench_round_count(PAIRS); i++) {
        double on = 0, off = 0;

        for (int k = 0; k < 2 * BLOCKS; k++) {
            bool watched = (k + (k >> 1)) & 1; /* off on on off off on … */

            *(watched ? &on : &off) += block(net, watched ? m : NULL);
        }
        add_pair(&all, on, off);
    }
    print_ratios("steps", &all);
    pr_monitor_free(m);
    pr_net_free(net);
}
#endif

int main(int argc, char **argv)
{
    static const struct bench_section sections[] = {
        {"busy", busy, true},
        {"short", short_ones, true},
        {"training", training, true},
#if PR_HAVE_ONEDNN
        {"steps", steps, true},
#endif
        {NULL, NULL, false},
    };

    return bench_prony_sections(argc, argv, sections);
}
