/*
 * Reports of suites: `prony report` over 1,440 result files of milarun's, of
 * the size they have on a machine with eight devices, against milarun's way in
 * Python, and milarun itself where there is one, started anew each time; then
 * over 10,000 and 100,000 files, where the time of a file must stay the same
 * and memory must not matter.
 */
#include "words.h"

#include <sys/stat.h>

enum {
    ROUNDS = 5,
    TESTS = 18,
    DEVICES = 8,
    REPEATS = 10,
    RATES = 120, /* of half a second: a minute */
    SOME = 10000,
    MANY = 100000,
};

/* ---- results */

static void put_monitor(FILE *f)
{
    static const char *const what[] = {"load", "memory", "temperature"};

    fprintf(f, "    \"gpu_monitor\": {\n");
    for (int d = 0; d < DEVICES; d++) {
        fprintf(f, "        \"%d\": {\n", d);
        for (int k = 0; k < 3; k++)
            fprintf(f,
                    "            \"%s\": {\n                \"min\": %d.0,\n"
                    "                \"mean\": %d.1234567890123,\n"
                    "                \"max\": %d.0\n            }%s\n",
                    what[k], k, 10 + d, 1000 + d * 7, k < 2 ? "," : "");
        fprintf(f, "        }%s\n", d < DEVICES - 1 ? "," : "");
    }
    fprintf(f, "    }\n}\n");
}

static void put_rates(FILE *f, int number, int rates)
{
    fprintf(f, "        \"train\": {\n"
               "            \"type\": \"milabench.experiment.RateLogger\",\n"
               "            \"wall_time\": 60.123,\n"
               "            \"sample_duration\": 0.5,\n"
               "            \"rates\": [\n");
    for (int i = 0; i < rates; i++)
        fprintf(f, "                %d.%013d%s\n", 200 + (number + i) % 50,
                (i * 7919 + number) % 1000000, i < rates - 1 ? "," : "");
    fprintf(f, "            ],\n            \"metrics\": {\n"
               "                \"loss\": 0.0261234\n            }\n"
               "        }\n    },\n");
}

static void put_result(const char *dir, int test, int repeat, int device)
{
    int number = (repeat * TESTS + test) * DEVICES + device;
    char path[512];
    FILE *f;

    snprintf(path, sizeof path,
             "%s/standard.test%02d.J%d.%d.20261118-000000-%06d.json", dir, test,
             repeat, device, number);
    f = fopen(path, "w");
    if (!f)
        bench_die("cannot write %s", path);
    fprintf(f,
            "{\n    \"name\": \"standard.test%02d\",\n"
            "    \"job_id\": \"%d.%d\",\n    \"dataroot\": \"/data\",\n"
            "    \"outdir\": \"/out\",\n    \"job\": {\n"
            "        \"experiment\": \"milarun.models.vae:main\",\n"
            "        \"arguments\": {\n            \"--batch-size\": 128\n"
            "        },\n        \"partition_scheme\": {\n"
            "            \"type\": \"per-gpu\"\n        }\n    },\n"
            "    \"device\": %d,\n    \"devices\": [\n        %d\n    ],\n"
            "    \"success\": true,\n    \"error\": null,\n"
            "    \"hostname\": \"host\",\n    \"gpu\": \"GPU\",\n"
            "    \"device_count\": 1,\n    \"environ\": {\n"
            "        \"CUDA_VISIBLE_DEVICES\": \"%d\"\n    },\n"
            "    \"metrics\": {\n        \"loss\": 0.026\n    },\n"
            "    \"timings\": {\n        \"program\": {\n"
            "            \"type\": \"milabench.experiment.SimpleTimer\",\n"
            "            \"start\": \"2020-06-15 12:00:00.000001\",\n"
            "            \"time\": 61.9\n        },\n",
            test, repeat, device, device, device, device);
    put_rates(f, number, RATES);
    put_monitor(f);
    if (fclose(f))
        bench_die("cannot write %s", path);
}

static void put_results(const char *dir, int from, int to)
{
    for (int i = from; i < to; i++)
        put_result(dir, i / DEVICES % TESTS, i / DEVICES / TESTS, i % DEVICES);
}

static void put_weights(const char *path)
{
    FILE *f = fopen(path, "w");

    if (!f)
        bench_die("cannot write %s", path);
    for (int i = 0; i < TESTS; i++)
        fprintf(f, "%s\"standard.test%02d\": {\"weight\": 8}", i ? ", " : "{",
                i);
    fprintf(f, "}\n");
    fclose(f);
}

/* ---- 1,440 files */

static const char *python(void)
{
    const char *given = getenv("PYTHON");

    return given && *given ? given : "python3";
}

/* What the three programs are told. */
struct task {
    char results[512], weights[512], page[512], seconds[512], stubs[512];
};

static void put_files(const char *dir, struct task *ret)
{
    snprintf(ret->results, sizeof ret->results, "%s/results", dir);
    snprintf(ret->weights, sizeof ret->weights, "%s/weights.json", dir);
    snprintf(ret->page, sizeof ret->page, "%s/report.html", dir);
    snprintf(ret->seconds, sizeof ret->seconds, "%s/seconds", dir);
    snprintf(ret->stubs, sizeof ret->stubs, "%s/stubs", dir);
    if (mkdir(ret->results, 0700))
        bench_die("cannot make %s", ret->results);
    put_results(ret->results, 0, TESTS * DEVICES * REPEATS);
    put_weights(ret->weights);
}

static void ask_ours(struct bench_words *w, const struct task *t)
{
    bench_put(w, bench_words_prony());
    bench_put(w, "report");
    bench_put(w, t->results);
    bench_put(w, "-q");
    bench_put(w, "--weights");
    bench_put(w, t->weights);
    bench_put(w, "--html");
    bench_put(w, t->page);
}

static void ask_standin(struct bench_words *w, const struct task *t)
{
    bench_put(w, python());
    bench_putf(w, "%s/milarun_report.py", bench_peers());
    bench_put(w, t->results);
    bench_put(w, t->weights);
    bench_put(w, t->page);
}

/* It needs a pandas that others are too new for. */
static const char *milarun_python(void)
{
    const char *given = getenv("PRONY_MILARUN_PYTHON");

    return given && *given ? given : python();
}

/* milarun's own code; without words it says what had to be stubbed. */
static void ask_milarun(struct bench_words *w, const struct task *t)
{
    bench_put(w, milarun_python());
    bench_putf(w, "%s/milarun_main.py", bench_peers());
    bench_put(w, getenv("PRONY_MILARUN"));
    bench_put(w, t->seconds);
}

/* Whether there is a milarun that works here; says what it is. */
static bool milarun_works(const struct task *t)
{
    const char *checkout = getenv("PRONY_MILARUN");
    struct bench_words w = {0};
    char stubs[256] = "";
    FILE *f;

    if (!bench_has_peers())
        return false;
    if (!checkout || !*checkout) {
        bench_skip("milarun itself: no checkout of it (PRONY_MILARUN)");
        return false;
    }
    ask_milarun(&w, t);
    if (bench_spawn(w.argv, t->stubs, false)) {
        bench_skip("milarun itself: it cannot be imported with %s",
                   milarun_python());
        return false;
    }
    f = fopen(t->stubs, "r");
    if (f && fgets(stubs, sizeof stubs, f))
        stubs[strcspn(stubs, "\n")] = '\0';
    if (f)
        fclose(f);
    printf("milarun itself: %s, stubbed: %s\n", checkout,
           *stubs ? stubs : "nothing");
    return true;
}

/* The least it took once all was imported. */
static double milarun_work(const struct task *t)
{
    FILE *f = fopen(t->seconds, "r");
    double best = 0, s;

    while (f && fscanf(f, "%lf", &s) == 1)
        best = best == 0 || s < best ? s : best;
    if (f)
        fclose(f);
    return best;
}

static void report(const char *dir)
{
    struct bench_words ours = {0}, standin = {0}, theirs = {0};
    struct bench_way ways[] = {
        {"ours", bench_words_once, &ours, 0},
        {"milarun's way", bench_words_once, &standin, 0},
        {"milarun itself", bench_words_once, &theirs, 0}};
    struct task t;
    bool real;

    put_files(dir, &t);
    ask_ours(&ours, &t);
    ask_standin(&standin, &t);
    real = milarun_works(&t);
    if (real) {
        ask_milarun(&theirs, &t);
        bench_put(&theirs, "report");
        bench_put(&theirs, t.results);
        bench_put(&theirs, "--weights");
        bench_put(&theirs, t.weights);
        bench_put(&theirs, "--html");
        bench_put(&theirs, t.page);
    }
    bench_rounds(ways, real ? 3 : 2, bench_round_count(ROUNDS));
    bench_times("report with HTML of 1,440 results", &ways[0], &ways[1], 1e3,
                "ms", 50);
    if (!real)
        return;
    bench_times("report with HTML of 1,440 results", &ways[0], &ways[2], 1e3,
                "ms", 50);
    ways[2].name = "milarun itself after its imports";
    ways[2].best = milarun_work(&t);
    bench_times("report with HTML of 1,440 results", &ways[0], &ways[2], 1e3,
                "ms", 50);
}

/* ---- 100,000 files */

static struct bench_cost measure(const char *dir)
{
    struct bench_words w = {0};
    struct bench_cost best;

    bench_put(&w, bench_words_prony());
    bench_put(&w, "report");
    bench_put(&w, dir);
    bench_put(&w, "-q");
    best = bench_program(w.argv, "/dev/null");

    for (int i = 1; i < bench_round_count(3); i++) {
        struct bench_cost c = bench_program(w.argv, "/dev/null");
        best = c.seconds < best.seconds ? c : best;
    }
    return best;
}

static void many(const char *dir)
{
    struct bench_cost some, all;
    char results[512];

    snprintf(results, sizeof results, "%s/results", dir);
    if (mkdir(results, 0700))
        bench_die("cannot make %s", results);
    put_results(results, 0, SOME);
    some = measure(results);
    put_results(results, SOME, MANY);
    all = measure(results);
    bench_line("report, time of a file among 100,000", NULL, all.seconds / MANY,
               "among 10,000", some.seconds / SOME, 1e6, "us", 1.2);
    bench_at_most("memory for 100,000 results", all.peak_mb, "MB", 1000);
}

int main(int argc, char **argv)
{
    static const struct bench_section sections[] = {
        {"report", report, true},
        {"many", many, true},
        {NULL, NULL, false},
    };

    return bench_words_main(argc, argv, sections);
}
