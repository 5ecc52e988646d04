/*
 * Reading, one thread, from the page cache unless the engine goes past it: our
 * reader against plain pread of the same files into the same buffer, numpy and
 * h5py. Best of rounds.
 */
#include "data.h"

enum { ROUNDS = 7, PEER_ROUNDS = 3 };

#define LARGE "'dataset.record_length_bytes': 20000000, "
#define SMALL "'dataset.record_length_bytes': 110000, "

static const struct pr_read_opts unchecked = {.skip_checksum = true};

static bool make(struct bench_set *s, struct bench_files *f, const char *dir,
                 const char *params)
{
    if (!bench_set_init(s, dir, params))
        return false;
    bench_set_make(s, 2);
    bench_files_of(f, s, dir);
    return true;
}

/* ---- large samples */

/* The engines beside pread: no goal, they are the disk's figures. */
static void other_engine(const struct bench_files *files, const char *format,
                         const char *engine)
{
    struct bench_reading r;
    struct bench_way way = {.name = "ours", .once = bench_reading_once};
    char what[128];

    way.ctx = &r;
    if (!bench_reading_init(&r, files, format, engine, &unchecked))
        return;
    bench_rounds(&way, 1, 3);
    snprintf(what, sizeof what, "%s, 20 MB samples, engine %s", format, engine);
    bench_row(&(struct bench_row){
        .what = what, .unit = "GB/s", .ours = files->bytes / way.best / 1e9});
    bench_reading_done(&r);
}

static void large_one(const char *dir, const char *format, bool has_checksum)
{
    static const char *const engines[] = {"direct", "io_uring", "mmap"};
    char params[256], what[128];
    struct bench_set s;
    struct bench_files f;
    struct bench_reading bare, checked;
    struct bench_plain plain;

    snprintf(params, sizeof params,
             LARGE "'dataset.format': '%s', 'dataset.num_files_train': 16",
             format);
    if (!make(&s, &f, dir, params) ||
        !bench_reading_init(&bare, &f, format, "pread", &unchecked) ||
        !bench_reading_init(&checked, &f, format, "pread", NULL))
        return;
    plain = (struct bench_plain){&f, bare.buf, bare.cap};
    struct bench_way ways[] = {
        {"ours", bench_reading_once, &bare, 0},
        {"plain pread", bench_plain_once, &plain, 0},
        {"ours", bench_reading_once, &checked, 0},
    };
    bench_rounds(ways, has_checksum ? 3 : 2, ROUNDS);
    snprintf(what, sizeof what, "%s, 20 MB samples%s", format,
             has_checksum ? ", checksum not checked" : "");
    bench_ratio(what, &ways[0], &ways[1], f.bytes, 0.9);
    snprintf(what, sizeof what, "%s, 20 MB samples, checksum checked", format);
    if (has_checksum)
        bench_ratio(what, &ways[2], &ways[1], f.bytes, 0.4);
    for (int i = 0; i < 3 && !bench_is_cpu_clock(); i++)
        other_engine(&f, format, engines[i]);
}

static void large_npz(const char *dir)
{
    large_one(dir, "npz", true);
}

static void large_npy(const char *dir)
{
    large_one(dir, "npy", false);
}

static void large_hdf5(const char *dir)
{
    large_one(dir, "hdf5", false);
}

static void large_indexed(const char *dir)
{
    large_one(dir, "indexed_binary", false);
}

/* ---- small samples */

/* Script and an argument, NULL: none; then the folder of the set, for names
 * would not fit on a command line. */
static void against_peer(const char *what, struct bench_reading *r,
                         const char *script, const char *arg, const char *name,
                         double goal)
{
    char folder[1024];
    const char *args[] = {arg ? arg : folder, arg ? folder : NULL, NULL};
    struct bench_peer peer;
    struct bench_way ways[] = {{"ours", bench_reading_once, r, 0},
                               {name, bench_peer_once, &peer, 0}};

    snprintf(folder, sizeof folder, "%s/set/train", r->files->dir);
    if (!bench_peer_start(&peer, script, args))
        return;
    bench_rounds(ways, 2, PEER_ROUNDS);
    bench_ratio(what, &ways[0], &ways[1], r->files->bytes, goal);
    bench_peer_stop(&peer);
}

static void small_npz(const char *dir)
{
    struct bench_set s;
    struct bench_files f;
    struct bench_reading bare, checked;
    struct bench_plain plain;

    if (!make(&s, &f, dir,
              SMALL "'dataset.format': 'npz', "
                    "'dataset.num_files_train': 10000") ||
        !bench_reading_init(&bare, &f, "npz", "pread", &unchecked) ||
        !bench_reading_init(&checked, &f, "npz", "pread", NULL))
        return;
    plain = (struct bench_plain){&f, bare.buf, bare.cap};
    struct bench_way ways[] = {
        {"ours", bench_reading_once, &bare, 0},
        {"open, pread, close", bench_plain_once, &plain, 0},
        {"ours", bench_reading_once, &checked, 0},
    };
    bench_rounds(ways, 3, ROUNDS);
    bench_ratio("10,000 npz of 110 KB, checksum not checked", &ways[0],
                &ways[1], f.bytes, 0.85);
    bench_ratio("10,000 npz of 110 KB, checksum checked", &ways[2], &ways[1],
                f.bytes, 0.55);
    against_peer("10,000 npz of 110 KB, checksum checked", &checked,
                 "numpy_read.py", NULL, "numpy.load", 10);
}

static void many_hdf5(const char *dir)
{
    struct bench_set s;
    struct bench_files f;
    struct bench_reading ours;

    if (!make(&s, &f, dir,
              SMALL "'dataset.format': 'hdf5', 'dataset.num_files_train': 20, "
                    "'dataset.num_samples_per_file': 100") ||
        !bench_reading_init(&ours, &f, "hdf5", "pread", NULL))
        return;
    against_peer("hdf5, 100 samples of 110 KB a file", &ours, "h5py_read.py",
                 "each", "h5py as DLIO calls it", 3);
    against_peer("hdf5, 100 samples of 110 KB a file", &ours, "h5py_read.py",
                 "once", "h5py, data set looked up once a file", 0);
}

static void tfrecord(const char *dir)
{
    struct bench_set s;
    struct bench_files f;
    struct bench_reading ours;
    struct bench_plain plain;

    if (!make(&s, &f, dir,
              SMALL "'dataset.format': 'tfrecord', "
                    "'dataset.num_files_train': 20, "
                    "'dataset.num_samples_per_file': 100") ||
        !bench_reading_init(&ours, &f, "tfrecord", "pread", NULL))
        return;
    /* As many calls as there are records. */
    plain = (struct bench_plain){&f, ours.buf,
                                 (size_t)(f.bytes / (double)ours.samples) + 1};
    if (plain.piece > ours.cap)
        plain.piece = ours.cap;
    struct bench_way ways[] = {
        {"ours", bench_reading_once, &ours, 0},
        {"plain pread, one for each", bench_plain_once, &plain, 0},
    };
    bench_rounds(ways, 2, ROUNDS);
    bench_ratio("tfrecord, records of 110 KB, checksum checked", &ways[0],
                &ways[1], f.bytes, 0.55);
}

/* ---- memory */

static void peak_of(const char *dir, const char *what, const char *params)
{
    struct bench_set s;
    struct bench_files f;
    struct bench_reading r;
    char text[128];
    double beside;

    if (!make(&s, &f, dir, params) ||
        !bench_reading_init(&r, &f, "npz", "pread", NULL))
        return;
    beside = bench_peak_mb() - (double)r.cap / 1e6;
    snprintf(text, sizeof text, "memory beside the buffer, reading %s", what);
    bench_row(&(struct bench_row){.what = text,
                                  .unit = "MB",
                                  .ours = beside,
                                  .is_cost = true,
                                  .at_most = 200});
}

static void memory(const char *dir)
{
    peak_of(dir, "an npz of 1 GB",
            "'dataset.format': 'npz', 'dataset.num_files_train': 1, "
            "'dataset.record_length_bytes': 1000000000");
}

static void memory_zip(const char *dir)
{
    peak_of(dir, "a compressed npz of 1 GB",
            "'dataset.format': 'npz', 'dataset.num_files_train': 1, "
            "'dataset.compression': 'zip', 'dataset.compression_level': 1, "
            "'dataset.record_length_bytes': 1000000000");
}

int main(int argc, char **argv)
{
    static const struct bench_section sections[] = {
        {"npz", large_npz, false},
        {"npy", large_npy, false},
        {"hdf5", large_hdf5, false},
        {"indexed_binary", large_indexed, false},
        {"small", small_npz, false},
        {"hdf5-many", many_hdf5, false},
        {"tfrecord", tfrecord, false},
        {"memory", memory, false},
        {"memory-zip", memory_zip, false},
        {NULL, NULL, false},
    };

    return bench_sections(argc, argv, sections);
}
