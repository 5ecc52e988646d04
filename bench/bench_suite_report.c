/*
 * Reports of suites: `prony report` over 1,440 result files of milarun's, of
 * the size they have on a machine with eight devices, against milarun's way in
 * Python, started anew each time; then over 10,000 and 100,000 files, where
 * the time of a file must stay the same and memory must not matter.
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

static void report(const char *dir)
{
    const char *python = getenv("PYTHON");
    struct bench_words ours = {0}, theirs = {0};
    struct bench_way ways[] = {{"ours", bench_words_once, &ours, 0},
                               {"milarun's way", bench_words_once, &theirs, 0}};
    char results[512], weights[512], page[512];

    snprintf(results, sizeof results, "%s/results", dir);
    snprintf(weights, sizeof weights, "%s/weights.json", dir);
    snprintf(page, sizeof page, "%s/report.html", dir);
    if (mkdir(results, 0700))
        bench_die("cannot make %s", results);
    put_results(results, 0, TESTS * DEVICES * REPEATS);
    put_weights(weights);
    bench_put(&ours, bench_words_prony());
    bench_put(&ours, "report");
    bench_put(&ours, results);
    bench_put(&ours, "-q");
    bench_put(&ours, "--weights");
    bench_put(&ours, weights);
    bench_put(&ours, "--html");
    bench_put(&ours, page);
    bench_put(&theirs, python && *python ? python : "python3");
    bench_putf(&theirs, "%s/milarun_report.py", bench_peers());
    bench_put(&theirs, results);
    bench_put(&theirs, weights);
    bench_put(&theirs, page);
    bench_rounds(ways, 2, bench_round_count(ROUNDS));
    bench_ratio("report with HTML of 1,440 results", &ways[0], &ways[1],
                1440 * 10e3, 50);
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
    printf("10,000 results: %.3f s, %.1f us a file, %.0f MB; 100,000: %.3f s, "
           "%.1f us a file\n",
           some.seconds, some.seconds / SOME * 1e6, some.peak_mb, all.seconds,
           all.seconds / MANY * 1e6);
    bench_at_most("time of a file among 100,000 to that among 10,000",
                  all.seconds / MANY / (some.seconds / SOME), "times", 1.2);
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
