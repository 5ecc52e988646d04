/*
 * Pictures for training, one thread: decoding, random crop, resizing to
 * 224 x 224, flip and normalisation against decoding alone by the bare
 * library; the same through the loader in batches; and what follows decoding
 * against PyTorch's operations. Smooth pictures of 500 x 375, which decode as
 * photographs do. Best of rounds.
 */
#include "data.h"

#if PR_HAVE_JPEG

#include "codec.h"
#include "conf/option/option.h"
#include "loader/augment.h"
#include "loader/batches.h"
#include "pictures.h"

#include <sys/stat.h>

enum { FILES = 128, BATCH = 16, ROUNDS = 7, SIDE = 224 };
enum { H = BENCH_PICTURE_H, W = BENCH_PICTURE_W };

static const int64_t shape[] = {3, SIDE, SIDE};

struct work {
    struct bench_set set;
    struct bench_files files;
    struct bench_codec codec;
    struct bench_reading reading;
    struct pr_augment augment;
    struct pr_reader_opts reader;
    uint8_t *picture; /* one that was decoded */
    float *out;
};

/* ---- pictures */

static void make_file(struct work *w, const char *dir, unsigned i)
{
    char name[PR_NAME_BYTES], path[PR_NAME_BYTES + 1024];

    pr_dataset_name(&w->set.set, i, PR_NAME_DATA, name);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    bench_picture_write(path, i);
}

static bool make_files(struct work *w, const char *dir)
{
    char params[256], folder[PR_NAME_BYTES + 1024];

    snprintf(params, sizeof params,
             "'dataset.format': 'jpeg', 'dataset.num_files_train': %d,"
             "'dataset.record_dims': [%d, %d, 3]",
             FILES, H, W);
    w->picture = malloc(H * W * 3);
    w->out = malloc(3 * SIDE * SIDE * sizeof *w->out);
    if (!w->picture || !w->out)
        bench_die("out of memory");
    bench_picture_draw(w->picture, 0);
    if (!bench_set_init(&w->set, dir, params) ||
        !bench_codec_init(&w->codec, "jpeg"))
        return false;
    snprintf(folder, sizeof folder, "%s/%s", dir, w->set.set.folder);
    mkdir(folder, 0755);
    snprintf(folder, sizeof folder, "%s/%s/train", dir, w->set.set.folder);
    mkdir(folder, 0755);
    for (unsigned i = 0; i < FILES; i++)
        make_file(w, dir, i);
    bench_files_of(&w->files, &w->set, dir);
    return true;
}

/* ---- ways */

static double bare_once(void *ctx)
{
    struct work *w = ctx;
    double start = bench_time();

    for (size_t i = 0; i < w->files.count; i++)
        bench_codec_do(&w->codec, w->files.root, w->files.names[i]);
    return bench_time() - start;
}

static void augment(struct work *w, const struct pr_sample *s, uint64_t i)
{
    struct pr_err err;
    struct pr_rng rng;

    pr_rng_seed(&rng, 1, i);
    if (pr_augment_sample(&w->augment, s, &rng, "", w->out, &err))
        bench_die("%s", err.msg);
}

/* The part of it that is looked at. */
static void read_part(struct work *w, uint64_t i, struct pr_sample *ret)
{
    struct bench_reading *r = &w->reading;
    struct pr_part part;
    struct pr_err err;
    struct pr_rng rng;

    pr_rng_seed(&rng, 1, i);
    if (pr_reader_open(r->reader, w->files.names[i], &err))
        bench_die("%s: %s", err.where, err.msg);
    pr_augment_part(&w->augment, &r->reader->whole, &rng, &part);
    if (r->cap < r->reader->need ||
        pr_reader_read_part(r->reader, 0, &part, r->buf, r->cap, ret, &err))
        bench_die("%s: %s", err.where, err.msg);
}

static double both_once(void *ctx)
{
    struct work *w = ctx;
    struct bench_reading *r = &w->reading;
    double start = bench_time();

    for (size_t i = 0; i < w->files.count; i++) {
        struct pr_sample s = {0};

        read_part(w, i, &s);
        augment(w, &s, i);
        pr_reader_close(r->reader);
    }
    return bench_time() - start;
}

static double augment_once(void *ctx)
{
    struct work *w = ctx;
    struct pr_sample s = {.data = w->picture,
                          .size = H * W * 3,
                          .dtype = PR_U8,
                          .shape = {.ndim = 3, .dim = {H, W, 3}}};
    double start = bench_time();

    for (size_t i = 0; i < w->files.count; i++)
        augment(w, &s, i);
    return bench_time() - start;
}

/* From start to end, a few epochs. What was read ahead in vain counts as well:
 * the answer is for as many pictures as there are. */
static double batches_once(void *ctx)
{
    struct work *w = ctx;
    struct pr_batches_opts o = {.set = &w->set.set,
                                .first = w->reading.st,
                                .reader = &w->reader,
                                .batch = BATCH,
                                .threads = 1,
                                .dims = 3,
                                .shape = {3, SIDE, SIDE},
                                .classes = 1000,
                                .augment = true};
    struct pr_batches_stats figures;
    double start = bench_time(), took;
    const int32_t *labels;
    const float *input;
    struct pr_batches *b;
    struct pr_err err;
    int rc = pr_batches_new(&o, &b, &err);

    for (int i = 0; !rc && i < 4 * FILES / BATCH; i++)
        rc = pr_batches_borrow(b, &input, &labels, NULL, &err);
    if (rc)
        bench_die("%s: %s", err.where, err.msg);
    pr_batches_stats(b, &figures);
    took = bench_time() - start;
    pr_batches_free(b);
    return took * FILES / (double)figures.read_samples;
}

/* ---- comparing */

static void set_reader(struct work *w)
{
    struct pr_value none = {.kind = PR_MAP};
    struct pr_err err;

    if (pr_opt_fill(&pr_reader_section, &none, w->set.arena, &w->reader, &err))
        bench_die("%s: %s", err.where, err.msg);
}

static void message_print(const char *what, const struct bench_way *w)
{
    bench_row(&(struct bench_row){
        .what = what, .unit = "pictures/s", .ours = FILES / w->best});
}

static void against_library(struct work *w)
{
    double pixels = (double)FILES * W * H * 3;
    struct bench_way ways[] = {
        {"ours", both_once, w, 0},
        {"turbojpeg alone", bare_once, w, 0},
        {"ours in batches", batches_once, w, 0},
        {"ours", augment_once, w, 0},
    };

    bench_rounds(ways, 4, ROUNDS);
    bench_ratio("decode and augment, rate of pixels", &ways[0], &ways[1],
                pixels, 0.9);
    message_print("decode and augment", &ways[0]);
    bench_ratio("decode and augment in batches", &ways[2], &ways[1], pixels,
                0.9);
    message_print("augment alone", &ways[3]);
}

static void against_torch(struct work *w)
{
    static char files[16], rows[16], columns[16];
    const char *args[] = {files, rows, columns, NULL};
    struct bench_peer peer;

    snprintf(files, sizeof files, "%d", FILES);
    snprintf(rows, sizeof rows, "%d", H);
    snprintf(columns, sizeof columns, "%d", W);
    if (!bench_peer_start(&peer, "torch_augment.py", args))
        return;
    struct bench_way ways[] = {
        {"ours", augment_once, w, 0},
        {"PyTorch", bench_peer_once, &peer, 0},
    };
    bench_rounds(ways, 2, ROUNDS);
    bench_ratio("augment, rate of pixels", &ways[0], &ways[1],
                (double)FILES * W * H * 3, 1);
    bench_peer_stop(&peer);
}

static void jpeg(const char *dir)
{
    static struct work w;

    if (!make_files(&w, dir) ||
        !bench_reading_init(&w.reading, &w.files, "jpeg", "pread", NULL))
        return;
    if (pr_augment_init(&w.augment, 3, shape, NULL))
        bench_die("out of memory");
    w.augment.is_image = w.augment.random = true;
    bench_reading_once(&w.reading); /* its buffer gets its size */
    set_reader(&w);
    against_library(&w);
    against_torch(&w);
    pr_augment_done(&w.augment);
    bench_reading_done(&w.reading);
}

#else

static void jpeg(const char *dir)
{
    (void)dir;
    bench_skip("jpeg: this build has no turbojpeg");
}

#endif

int main(int argc, char **argv)
{
    static const struct bench_section sections[] = {
        {"jpeg", jpeg, true},
        {NULL, NULL, false},
    };

    return bench_sections(argc, argv, sections);
}
