/*
 * Reading csv files of uint8, one thread: megabytes of text a second, and
 * against pandas. A sample is a row. Best of rounds.
 */
#include "data.h"

enum { ROUNDS = 5, PEER_ROUNDS = 2 };

static void against_pandas(struct bench_reading *ours, const char *dir,
                           const char *engine, const char *what)
{
    char path[1024], name[64];
    const char *args[] = {engine, path, NULL};
    struct bench_peer peer;
    struct bench_way ways[] = {{"ours", bench_reading_once, ours, 0},
                               {name, bench_peer_once, &peer, 0}};

    snprintf(path, sizeof path, "%s/%s", dir, ours->files->names[0]);
    snprintf(name, sizeof name, "pandas (engine %s)", engine);
    if (!bench_peer_start(&peer, "pandas_read.py", args))
        return;
    bench_rounds(ways, 2, PEER_ROUNDS);
    bench_ratio(what, &ways[0], &ways[1], ours->files->bytes, 4);
    bench_peer_stop(&peer);
}

static void rows_of(const char *dir, unsigned columns, unsigned rows)
{
    static const struct pr_read_opts opts = {.dtype = PR_U8};
    char params[256], what[64];
    struct bench_set s;
    struct bench_files f;
    struct bench_reading ours;
    struct bench_way way = {.name = "ours", .once = bench_reading_once};

    snprintf(params, sizeof params,
             "'dataset.format': 'csv', 'dataset.num_files_train': 1, "
             "'dataset.num_samples_per_file': %u, 'dataset.record_dims': [%u]",
             rows, columns);
    if (!bench_set_init(&s, dir, params))
        return;
    bench_set_make(&s, 1);
    bench_files_of(&f, &s, dir);
    if (!bench_reading_init(&ours, &f, "csv", "pread", &opts))
        return;
    if (ours.samples != rows)
        bench_die("%u rows were written, %llu read", rows,
                  (unsigned long long)ours.samples);
    way.ctx = &ours;
    bench_rounds(&way, 1, ROUNDS);
    double rate = f.bytes / way.best / 1e6;
    snprintf(what, sizeof what, "csv, %u columns", columns);
    bench_row(&(struct bench_row){
        .what = what, .unit = "MB/s", .ours = rate, .at_least = 300});
    against_pandas(&ours, dir, "c", what);
    against_pandas(&ours, dir, "pyarrow", what);
}

/* 50 MB, and 10: pandas takes long for many columns. */
static void narrow(const char *dir)
{
    rows_of(dir, 100, 140000);
}

static void wide(const char *dir)
{
    rows_of(dir, 40000, 70);
}

int main(int argc, char **argv)
{
    static const struct bench_section sections[] = {
        {"100-columns", narrow, false},
        {"40000-columns", wide, false},
        {NULL, NULL, false},
    };

    return bench_sections(argc, argv, sections);
}
