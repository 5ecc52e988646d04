/*
 * Tables out of logs of GPU systems: `prony gather` over as many logs as
 * Lambda's repository has, of the same size in all, against grep, which only
 * counts. The table needs the end of a log, the full one all of it. Programs
 * are started anew each time.
 */
#include "words.h"

#include <sys/stat.h>

enum { ROUNDS = 3, SYSTEMS = 90, LOGS = 10, LOG_BYTES = 64000 };

/* The last line of each task, whose figure counts. */
static const struct {
    const char *task, *line;
} tasks[] = {
    {"SSD",
     "Done benchmarking. Total images: 16000\ttotal time: 110.6\tAverage "
     "images/sec: 144.660\tMedian images/sec: %d.631\n"},
    {"bert_base_squad", "DLL d t -  e2e_train_time : 56.02  "
                        "training_sequences_per_second : %d.68  final_loss : "
                        "5.918 \n"},
    {"bert_large_squad", "DLL d t -  e2e_train_time : 56.02  "
                         "training_sequences_per_second : %d.68  final_loss : "
                         "5.918 \n"},
    {"gnmt", "0: Performance: Epoch: 1\tTraining: %d Tok/s\tValidation: 58461 "
             "Tok/s\n"},
    {"ncf", "DLL d t - () best_train_throughput : %d.92 samples/s x : 1\n"},
    {"resnet50", "DLL d t - Summary: train.loss : 4.4 None train.compute_ips : "
                 "%d.44 images/s train.total_ips : 905.05 images/s\n"},
    {"tacotron2", "DLL d t - () train_items_per_sec : %d.41 items/s\n"},
    {"transformerxlbase", "Training throughput: %d.26 tok/s\n"},
    {"transformerxllarge", "Training throughput: %d.26 tok/s\n"},
    {"waveglow", "DLL d t - () train_items_per_sec : %d.41 items/s\n"},
};

enum { TASKS = sizeof tasks / sizeof *tasks };

static void write_log(const char *path, size_t task, int number)
{
    FILE *f = fopen(path, "w");

    if (!f)
        bench_die("cannot write %s", path);
    for (long i = 0; ftell(f) < LOG_BYTES; i++)
        fprintf(f,
                "DLL 2026-01-02 22:%02ld:%02ld.%06ld - Epoch: 0 Iteration: %ld "
                "step_loss : 5.%ld  speed : %ld.5 of what it says\n",
                i / 60 % 60, i % 60, i * 7919 % 1000000, i, i % 1000, i % 900);
        /* clang knows no format that is not a literal; these are our own. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    fprintf(f, tasks[task].line, 100 + number);
#pragma GCC diagnostic pop
    fprintf(f, "DONE!\n");
    fclose(f);
}

static void write_task(const char *folder, size_t task, int system)
{
    char path[1024];
    FILE *f;

    if (mkdir(folder, 0755) < 0)
        bench_die("cannot make %s", folder);
    snprintf(path, sizeof path, "%s/benchmark.para", folder);
    f = fopen(path, "w");
    if (!f)
        bench_die("cannot write %s", path);
    fprintf(f, "GLOBAL_BATCH 256\nGPU 1\n");
    fclose(f);
    for (int i = 0; i < LOGS; i++) {
        snprintf(path, sizeof path, "%s/%02d-01-2026_10-00-00.txt", folder,
                 i + 1);
        write_log(path, task, system * LOGS + i);
    }
}

/* tree/SYSTEM/TASK/DATE.txt, and a list of the systems. */
static void write_tree(const char *dir)
{
    char path[512], folder[768];
    FILE *list;

    snprintf(path, sizeof path, "%s/systems.yaml", dir);
    list = fopen(path, "w");
    snprintf(path, sizeof path, "%s/tree", dir);
    if (!list || mkdir(path, 0755) < 0)
        bench_die("cannot write in %s", dir);
    fprintf(list, "systems:\n");
    for (int i = 0; i < SYSTEMS; i++) {
        fprintf(list, "  - {folder: system%d, watt: 300, price: 2000}\n", i);
        snprintf(path, sizeof path, "%s/tree/system%d", dir, i);
        if (mkdir(path, 0755) < 0)
            bench_die("cannot make %s", path);
        for (size_t k = 0; k < TASKS; k++) {
            snprintf(folder, sizeof folder, "%s/PyTorch_%s_FP32", path,
                     tasks[k].task);
            write_task(folder, k, i);
        }
    }
    fclose(list);
}

static void put_gather(struct bench_words *w, const char *dir,
                       const char *format)
{
    bench_put(w, bench_words_prony());
    bench_put(w, "gather");
    bench_putf(w, "%s/tree", dir);
    bench_put(w, "--precision=fp32");
    bench_put(w, "--dialect=v1");
    bench_put(w, "--threads=2");
    bench_put(w, "--systems");
    bench_putf(w, "%s/systems.yaml", dir);
    bench_put(w, format);
}

static void tree(const char *dir)
{
    struct bench_words table = {0}, full = {0}, grep = {0};
    struct bench_way ways[] = {{"ours", bench_words_once, &table, 0},
                               {"ours", bench_words_once, &full, 0},
                               {"grep -c", bench_words_once, &grep, 0}};
    double bytes = (double)SYSTEMS * TASKS * LOGS * LOG_BYTES;

    write_tree(dir);
    put_gather(&table, dir, "--format=csv");
    put_gather(&full, dir, "--format=json");
    bench_put(&grep, "sh");
    bench_put(&grep, "-c");
    /* What goes to /dev/null itself it does not count to the end. */
    bench_putf(
        &grep,
        "find %s/tree -name '*.txt' | xargs -P 2 -n 500 grep -c throughput "
        "| wc -l",
        dir);
    bench_rounds(ways, 3, bench_round_count(ROUNDS));
    bench_ratio("the table of 9,000 logs, 576 MB, two threads", &ways[0],
                &ways[2], bytes, 0.5);
    bench_ratio("the full table of 9,000 logs", &ways[1], &ways[2], bytes, 0.5);
}

int main(int argc, char **argv)
{
    static const struct bench_section sections[] = {
        {"tree", tree, true},
        {NULL, NULL, false},
    };

    return bench_words_main(argc, argv, sections);
}
