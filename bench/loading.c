/*
 * Images as training wants them: the program's workload `loader` (decode,
 * random crop, resizing to 224 x 224, flip, normalisation) against decoding
 * alone by the bare library, and against torch's DataLoader with Pillow. Ours
 * and the library have as many threads as torch has workers. All read the same
 * files, which are in memory.
 */
#include "loading.h"

#include "codec.h"
#include "pictures.h"
#include "prony.h"
#include "race.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>

enum { FILES = 512, BATCH = 32, EPOCHS = 4, ROUNDS = 5, MOST_THREADS = 64 };

struct files {
    DIR *folder;
    char *names[FILES];
    unsigned count;
};

/* ---- the files */

/* The names are those of a set that the program made. */
static bool draw_over(const char *dir, const char *name, unsigned i)
{
    char path[1400];

    snprintf(path, sizeof path, "%s/data/train/%s", dir, name);
    return bench_picture_write(path, i);
}

static bool make_files(const char *dir, struct files *ret)
{
    const struct dirent *e;
    char path[1100];

    *ret = (struct files){.count = 0};
    bench_generate("dataset.data_folder=%s/data dataset.format=jpeg "
                   "dataset.num_files_train=%d dataset.record_dims=[%d,%d,3]",
                   dir, FILES, 8, 8);
    snprintf(path, sizeof path, "%s/data/train", dir);
    ret->folder = opendir(path);
    while (ret->folder && (e = readdir(ret->folder))) {
        if (e->d_name[0] == '.' || ret->count == FILES)
            continue;
        ret->names[ret->count] = strdup(e->d_name);
        if (!ret->names[ret->count])
            bench_die("out of memory");
        if (!draw_over(dir, e->d_name, ret->count++))
            return false;
    }
    if (ret->count != FILES)
        bench_die("%s: %s", path, strerror(errno));
    return true;
}

/* ---- the bare codec */

struct decoding {
    const struct files *files;
    unsigned thread, threads;
    struct bench_codec codec;
};

static void *decode_part(void *ctx)
{
    struct decoding *d = ctx;

    for (unsigned i = d->thread; i < d->files->count; i += d->threads)
        bench_codec_do(&d->codec, dirfd(d->files->folder), d->files->names[i]);
    return NULL;
}

/* Seconds of one picture. */
static double decode_once(void *ctx)
{
    struct decoding *all = ctx;
    pthread_t threads[MOST_THREADS];
    double start = bench_now();

    for (unsigned i = 0; i < all->threads; i++)
        if (pthread_create(&threads[i], NULL, decode_part, &all[i]))
            bench_die("cannot start a thread");
    for (unsigned i = 0; i < all->threads; i++)
        pthread_join(threads[i], NULL);
    return (bench_now() - start) / FILES;
}

static bool init_decoding(struct decoding *all, const struct files *files,
                          unsigned threads)
{
    for (unsigned i = 0; i < threads; i++) {
        all[i] = (struct decoding){files, i, threads, {0}};
        if (!bench_codec_init(&all[i].codec, "jpeg"))
            return false;
    }
    return true;
}

/* ---- comparing */

static double load_once(void *run)
{
    struct bench_run *r = run;

    return bench_run_do(r) ? 1 / bench_run_number(r, "throughput") : -1;
}

static bool start_torch(struct bench_peer *p, const char *dir, unsigned threads)
{
    static char folder[1100], workers[16], batch[16];
    const char *args[] = {workers, batch, folder, NULL};

    snprintf(folder, sizeof folder, "%s/data/train", dir);
    snprintf(workers, sizeof workers, "%u", threads);
    snprintf(batch, sizeof batch, "%d", BATCH);
    return bench_peer_start(p, "torch_loader.py", args);
}

static void compare(struct bench_way *ways, size_t n, unsigned threads)
{
    char text[64];

    bench_rounds(ways, n, bench_round_count(ROUNDS));
    for (size_t i = 1; i < n; i++) {
        snprintf(text, sizeof text, "loader, %u thread%s", threads,
                 threads == 1 ? "" : "s");
        bench_samples(text, &ways[0], &ways[i], i == 1 ? 0.9 : 2);
    }
}

void bench_loading(const char *dir)
{
    static struct decoding decoding[MOST_THREADS];
    static struct files files;
    unsigned threads = (unsigned)bench_threads();
    struct bench_peer torch;
    struct bench_run run;
    bool has_torch;

    if (threads > MOST_THREADS || !make_files(dir, &files) ||
        !init_decoding(decoding, &files, threads)) {
        bench_skip("loader: this build has no turbojpeg");
        return;
    }
    bench_run_init(&run, dir,
                   "exp.workload=loader dataset.data_folder=%s/data "
                   "dataset.format=jpeg dataset.num_files_train=%d "
                   "exp.replica_batch=%d exp.num_warmup_batches=%d "
                   "exp.num_batches=%d reader.read_threads=%u",
                   dir, FILES, BATCH, FILES / BATCH, EPOCHS * FILES / BATCH,
                   threads);
    has_torch = start_torch(&torch, dir, threads);
    struct bench_way ways[] = {
        {"ours", load_once, &run, 0},
        {"turbojpeg alone", decode_once, decoding, 0},
        {"torch DataLoader", bench_peer_once, &torch, 0},
    };
    compare(ways, has_torch ? 3 : 2, threads);
    if (has_torch)
        bench_peer_stop(&torch);
}
