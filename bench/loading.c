/*
 * Images as training wants them: the program's workload `loader` (decode,
 * random crop, resizing to 224 x 224, flip, normalisation) against decoding
 * alone by the bare library, and against torch's DataLoader with Pillow. Ours
 * and the library have as many threads as torch has workers. All read the same
 * files, which are in memory.
 */
#include "loading.h"

#include "decoding.h"
#include "pictures.h"
#include "prony.h"
#include "race.h"

#include <dirent.h>
#include <errno.h>

enum { FILES = 512, BATCH = 32, EPOCHS = 4, ROUNDS = 5 };

/* ---- the files */

/* The names are those of a set that the program made. */
static bool draw_over(const char *dir, const char *name, unsigned i)
{
    char path[1400];

    snprintf(path, sizeof path, "%s/data/train/%s", dir, name);
    return bench_picture_write(path, i);
}

/* The folder they are in; NULL: no turbojpeg. */
static const char *make_files(const char *dir)
{
    static char path[1100];
    const struct dirent *e;
    unsigned count = 0;
    DIR *folder;

    bench_generate("dataset.data_folder=%s/data dataset.format=jpeg "
                   "dataset.num_files_train=%d dataset.record_dims=[%d,%d,3]",
                   dir, FILES, 8, 8);
    snprintf(path, sizeof path, "%s/data/train", dir);
    folder = opendir(path);
    while (folder && (e = readdir(folder)))
        if (e->d_name[0] != '.' && !draw_over(dir, e->d_name, count++))
            return NULL;
    if (count != FILES)
        bench_die("%s: %s", path, strerror(errno));
    closedir(folder);
    return path;
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
    unsigned threads = (unsigned)bench_threads();
    const char *folder = make_files(dir);
    struct bench_decoding *decoding =
        folder ? bench_decoding_new(folder, "jpeg", threads) : NULL;
    struct bench_peer torch;
    struct bench_run run;
    bool has_torch;

    if (!decoding) {
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
        {"turbojpeg alone", bench_decoding_once, decoding, 0},
        {"torch DataLoader", bench_peer_once, &torch, 0},
    };
    compare(ways, has_torch ? 3 : 2, threads);
    if (has_torch)
        bench_peer_stop(&torch);
}
