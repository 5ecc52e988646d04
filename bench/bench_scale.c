/*
 * Emulated training at its limits: many files, many samples, many
 * accelerators, and nothing at all. Figures of the program alone, but for the
 * last, which is against a program that does nothing.
 */
#include "prony.h"

enum { ROUNDS = 3, NOTHING_ROUNDS = 15, NOTHING_TIMES = 20 };

#define EMULATE "exp.workload=emulate reader.data_loader=pytorch "

static double lowest(double a, double b)
{
    return a < b ? a : b;
}

/* ---- the same samples from more and more files */

enum { COUNTS = 3, SAMPLES = 65536 };

static void files(const char *dir)
{
    static const int counts[COUNTS] = {512, 8192, 32768};
    struct bench_run runs[COUNTS];
    struct bench_way ways[COUNTS];
    double least = 1e300, most = 0;
    char what[64];

    for (int i = 0; i < COUNTS; i++) {
        char set[1400];

        snprintf(set, sizeof set,
                 "dataset.format=npz dataset.record_length_bytes=114660 "
                 "dataset.data_folder=%s/%d dataset.num_files_train=%d",
                 dir, counts[i], counts[i]);
        bench_generate("%s", set);
        bench_run_init(&runs[i], dir,
                       EMULATE "%s reader.batch_size=8 reader.read_threads=2 "
                               "reader.sample_shuffle=seed train.epochs=%d",
                       set, SAMPLES / counts[i]);
        ways[i] = (struct bench_way){"ours", bench_run_once, &runs[i], 0};
    }
    bench_rounds(ways, COUNTS, bench_round_count(ROUNDS));
    for (int i = 0; i < COUNTS; i++) {
        if (ways[i].best < 0)
            return;
        snprintf(what, sizeof what, "%d npz of 112 KB", counts[i]);
        bench_at_least(what, 1 / ways[i].best, "samples/s", 0);
        least = lowest(least, 1 / ways[i].best);
        most = -lowest(-most, -1 / ways[i].best);
    }
    bench_row(&(struct bench_row){.what = "512 to 32,768 files",
                                  .unit = "samples/s",
                                  .ours_is = "the slowest",
                                  .ours = least,
                                  .other_is = "the fastest",
                                  .other = most,
                                  .at_least = 0.7});
}

/* ---- ten million samples, nothing to wait for */

static void check_order(const struct bench_run *r)
{
    const char *python = getenv("PYTHON");
    char script[1100], file[1400], option[] = "--result", out[1100];
    char name[64], *argv[] = {name, script, option, file, NULL};
    double start = bench_now();
    int status;

    snprintf(name, sizeof name, "%s", python && *python ? python : "python3");
    snprintf(script, sizeof script, "%s/../../tests/peers/order_vs_python.py",
             bench_peers());
    snprintf(out, sizeof out, "%s/order.txt", r->dir);
    bench_run_file(r, file, sizeof file);
    status = bench_spawn(argv, out, false);
    if (status == 77)
        bench_skip("the order of samples: Python has no numpy");
    else if (status)
        bench_die("the order of samples, computed again, is another");
    else
        printf("order of samples, computed again in %.1f s: the same\n",
               bench_now() - start);
}

static void samples(const char *dir)
{
    struct bench_run r;
    struct bench_way way = {"ours", bench_run_once, &r, 0};
    double busy;

    bench_run_init(&r, dir,
                   EMULATE "storage.engine=null dataset.format=npz "
                           "dataset.data_folder=%s/data "
                           "dataset.num_files_train=10000000 "
                           "dataset.record_length_bytes=1024 "
                           "reader.batch_size=1000 reader.read_threads=1 "
                           "reader.sample_shuffle=seed",
                   dir);
    r.one_core = true;
    bench_rounds(&way, 1, bench_round_count(ROUNDS));
    if (way.best < 0)
        return;
    bench_at_least("10,000,000 shuffled npz of 1 KB, no storage, one core",
                   1 / way.best, "samples/s", 1e6);
    busy = bench_run_number(&r, "cpu_user_s") +
           bench_run_number(&r, "cpu_system_s");
    printf("the same by processor time, last round: %.0f samples/s\n",
           bench_run_number(&r, "samples") / busy);
    if (bench_has_peers())
        check_order(&r);
}

/* ---- a thousand accelerators */

static void accelerators(const char *dir)
{
    struct bench_run r;
    char set[1400];
    double busy;

    snprintf(set, sizeof set,
             "dataset.format=npz dataset.record_length_bytes=4096 "
             "dataset.data_folder=%s/data dataset.num_files_train=32000",
             dir);
    bench_generate("%s", set);
    bench_run_init(&r, dir,
                   EMULATE "%s exp.accelerators=1000 reader.read_threads=1 "
                           "reader.sample_shuffle=seed "
                           "train.computation_time=0.1 train.epochs=2",
                   set);
    if (!bench_run_do(&r))
        return;
    busy = bench_run_number(&r, "cpu_user_s") +
           bench_run_number(&r, "cpu_system_s");
    bench_at_least("1,000 accelerators, 0.1 s a step, utilisation",
                   bench_run_number(&r, "utilisation"), "", 0.95);
    bench_at_most("1,000 accelerators, cores in use",
                  busy / bench_run_number(&r, "elapsed_s"), "", 1);
    bench_at_most("1,000 accelerators, memory",
                  bench_run_number(&r, "max_rss_bytes") / 1e6, "MB", 300);
    bench_at_most("1,000 accelerators, what is not training",
                  bench_run_number(&r, "elapsed_s") -
                      bench_run_number(&r, "seconds"),
                  "s", 0);
}

/* ---- fifty million files */

/* Two samples a file, so that fifty are enough for a step of 64. */
static void first_batch(const char *dir, long count)
{
    struct bench_run r;
    double best = 1e300;
    char what[128];

    bench_run_init(&r, dir,
                   EMULATE
                   "storage.engine=null dataset.format=npz "
                   "dataset.data_folder=%s/data "
                   "dataset.num_files_train=%ld "
                   "dataset.num_samples_per_file=2 "
                   "dataset.record_length_bytes=4096 "
                   "exp.accelerators=64 reader.read_threads=1 "
                   "reader.sample_shuffle=seed emulate.check_files=none "
                   "train.total_training_steps=1",
                   dir, count);
    for (int i = 0; i < bench_round_count(ROUNDS); i++) {
        if (!bench_run_do(&r))
            return;
        best = lowest(best, r.seconds);
    }
    snprintf(what, sizeof what,
             "%ld files, 64 accelerators, one step, from start to end", count);
    bench_at_most(what, best, "s", 1);
    snprintf(what, sizeof what, "%ld files, 64 accelerators, memory", count);
    bench_at_most(what, bench_run_number(&r, "max_rss_bytes") / 1e6, "MB", 100);
}

static void names(const char *dir)
{
    first_batch(dir, 50000000);
    first_batch(dir, 50);
}

/* ---- nothing */

static double run_round(struct bench_run *r)
{
    double seconds = 0;

    for (int i = 0; i < NOTHING_TIMES; i++) {
        if (!bench_run_do(r))
            bench_die("a run of nothing failed");
        seconds += r->seconds;
    }
    return seconds / NOTHING_TIMES;
}

static double bare_round(void)
{
    char name[1024], *argv[] = {name, NULL};
    double start = bench_now();

    snprintf(name, sizeof name, "%s", bench_bare());
    for (int i = 0; i < NOTHING_TIMES; i++)
        if (bench_spawn(argv, "/dev/null", false))
            bench_die("cannot run %s", name);
    return (bench_now() - start) / NOTHING_TIMES;
}

static void nothing(const char *dir)
{
    static const struct {
        const char *what;
        double at_most;
    } rows[] = {{"a run of nothing", 8.5}, {"a training of no epochs", 10.5}};
    double times[3][NOTHING_ROUNDS];
    struct bench_run runs[2];

    bench_run_init(&runs[0], dir, "exp.workload=null");
    bench_run_init(&runs[1], dir, EMULATE "storage.engine=null train.epochs=0");
    size_t rounds = bench_rounds_of(NOTHING_ROUNDS);
    for (size_t i = 0; i < rounds; i++) {
        times[0][i] = run_round(&runs[0]);
        times[1][i] = run_round(&runs[1]);
        times[2][i] = bare_round();
    }
    double bare = bench_median(times[2], rounds);
    for (int i = 0; i < 2; i++)
        bench_line(rows[i].what, NULL, bench_median(times[i], rounds),
                   "a bare program", bare, 1e3, "ms", rows[i].at_most);
}

int main(int argc, char **argv)
{
    static const struct bench_section sections[] = {
        {"files", files, false},
        {"samples", samples, false},
        {"accelerators", accelerators, false},
        {"names", names, false},
        {"nothing", nothing, true},
        {NULL, NULL, false},
    };

    return bench_prony_sections(argc, argv, sections);
}
