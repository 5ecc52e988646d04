/*
 * Results out of files: `prony parse` over logs that are mostly chatter, and
 * `prony scaling` over a file of many results. Against what DLBS's programs do,
 * in Python, and against grep, which only counts. Programs are started anew
 * each time.
 */
#include "words.h"

enum {
    ROUNDS = 3,
    LOGS = 2000,
    LOG_BYTES = 2000000,
    PARAMETERS = 60,
    RESULTS = 200,
    RECORDS = 100000
};

/* peers/dlbs_read.py WHAT PATH */
static void put_dlbs(struct bench_words *w, const char *what, const char *path)
{
    const char *python = getenv("PYTHON");

    bench_put(w, python && *python ? python : "python3");
    bench_putf(w, "%s/dlbs_read.py", bench_peers());
    bench_put(w, what);
    bench_put(w, path);
}

/* ---- logs */

static void write_log(const char *path, int number)
{
    FILE *f = fopen(path, "w");
    long chatter = LOG_BYTES / 100, each = chatter / RESULTS;

    if (!f)
        bench_die("cannot write %s", path);
    for (int i = 0; i < PARAMETERS - 3; i++)
        fprintf(f, "__exp.parameter_%d__= \"value %d of %d\"\n", i, i, number);
    fprintf(f, "__exp.model_title__= \"Model%d\"\n__exp.gpus__= \"0,1\"\n",
            number % 10);
    fprintf(f, "__exp.effective_batch__= %d\n", 16 << number % 5);
    for (long i = 0; i < chatter; i++) {
        fprintf(f,
                "I1116 23:%02ld:%02ld.%06ld framework/core/executor.cc:%ld] "
                "step %ld of a loop that says much about itself\n",
                i / 60 % 60, i % 60, i * 7919 % 1000000, i % 900 + 100, i);
        if (i % each == each - 1)
            fprintf(f, "__results.step_%ld__= %ld.%03ld\n", i / each,
                    100 + i % 17, i % 1000);
    }
    fprintf(f, "__results.time__= %d.5\n__results.throughput__= %d.25\n",
            100 + number % 50, 300 + number % 70);
    fclose(f);
}

static void logs(const char *dir)
{
    struct bench_words ours = {0}, grep = {0}, theirs = {0};
    struct bench_way ways[] = {{"ours", bench_words_once, &ours, 0},
                               {"grep -c", bench_words_once, &grep, 0},
                               {"DLBS's way", bench_words_once, &theirs, 0}};
    double bytes = (double)LOGS * LOG_BYTES;

    for (int i = 0; i < LOGS; i++) {
        char path[512];

        snprintf(path, sizeof path, "%s/%04d.log", dir, i);
        write_log(path, i);
    }
    bench_put(&ours, bench_words_prony());
    bench_put(&ours, "parse");
    bench_put(&ours, dir);
    bench_put(&ours, "--threads=2");
    bench_put(&ours, "--output-file");
    bench_putf(&ours, "%s/out.json", dir);
    bench_put(&ours, "--overwrite");
    bench_put(&grep, "sh");
    bench_put(&grep, "-c");
    /* What goes to /dev/null itself it does not count to the end. */
    bench_putf(&grep, "ls %s/*.log | xargs -P 2 -n 250 grep -c __ | wc -l",
               dir);
    put_dlbs(&theirs, "logs", dir);
    bench_rounds(ways, 3, bench_round_count(ROUNDS));
    bench_ratio("2,000 logs of 2 MB, two threads", &ways[0], &ways[1], bytes,
                0.5);
    bench_ratio("2,000 logs of 2 MB, two threads", &ways[0], &ways[2], bytes,
                9);
}

/* ---- scaling */

static void write_records(const char *path)
{
    static const char *const gpus[] = {"0", "0,1", "0,1,2,3"};
    FILE *f = fopen(path, "w");

    if (!f)
        bench_die("cannot write %s", path);
    fprintf(f, "{\"data\": [\n");
    for (int i = 0; i < RECORDS; i++) {
        int device = i % 3, model = i / 3 % 5000, batch = i / 15000;

        fprintf(f,
                "{\"exp.model_title\": \"Model%d\", \"exp.gpus\": \"%s\", "
                "\"exp.effective_batch\": %d, \"results.time\": %d.%d",
                model, gpus[device], (8 << batch) << device, 100 + device * 5,
                i % 10);
        for (int k = 0; k < 16; k++)
            fprintf(f, ", \"exp.parameter_%d\": \"value %d\"", k, i % (k + 7));
        fprintf(f, "}%s\n", i == RECORDS - 1 ? "" : ",");
    }
    fprintf(f, "]}\n");
    fclose(f);
}

static void scaling(const char *dir)
{
    struct bench_words ours = {0}, theirs = {0};
    struct bench_way ways[] = {{"ours", bench_words_once, &ours, 0},
                               {"DLBS's way", bench_words_once, &theirs, 0}};
    char path[512];

    snprintf(path, sizeof path, "%s/results.json", dir);
    write_records(path);
    bench_put(&ours, bench_words_prony());
    bench_put(&ours, "scaling");
    bench_put(&ours, path);
    bench_put(&ours, "--type=weak-scaling");
    bench_put(&ours, "--target-variable=results.time");
    put_dlbs(&theirs, "weak", path);
    bench_rounds(ways, 2, bench_round_count(ROUNDS + 2));
    bench_ratio("weak scaling of 100,000 results", &ways[0], &ways[1], 59.4e6,
                20);
}

int main(int argc, char **argv)
{
    static const struct bench_section sections[] = {
        {"logs", logs, true},
        {"scaling", scaling, true},
        {NULL, NULL, false},
    };

    return bench_words_main(argc, argv, sections);
}
