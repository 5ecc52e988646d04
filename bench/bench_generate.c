/*
 * Making data sets: our generator against writing bytes that are in memory
 * already, against a bare encoder that writes its files, and against DLIO's
 * generator. Every file is written whole under another name, then renamed.
 * Best of rounds; what was made is removed before the next way.
 */
#include "base/random.h"
#include "data.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#if PR_HAVE_JPEG
#include <turbojpeg.h>
#endif

enum { PIECE = 1 << 20, MAX_THREADS = 2, ROUNDS = 5 };

/* ---- our way */

struct making {
    const char *dir;
    const struct bench_set *set;
    unsigned threads;
};

static double make_once(void *ctx)
{
    struct making *m = ctx;
    char path[1024];
    double seconds = bench_set_make(m->set, m->threads);

    snprintf(path, sizeof path, "%s/set", m->dir);
    bench_remove_tree(path);
    return seconds;
}

/* ---- the bare way: threads that put files */

struct bare {
    const char *dir;
    unsigned threads, files;
    /* The bytes of a file, in memory of the thread's or of anybody's. */
    const uint8_t *(*get)(struct bare *b, unsigned thread, unsigned file,
                          size_t *ret_len);
    uint8_t **images;
    size_t image_bytes;
    void *encoders[MAX_THREADS];
    uint8_t *encoded[MAX_THREADS];
};

struct bare_thread {
    struct bare *bare;
    unsigned number;
    pthread_t id;
};

static void put_file(const char *dir, unsigned number, const uint8_t *data,
                     size_t len)
{
    char temp[1024], path[1024];
    size_t done = 0;
    int fd;

    snprintf(temp, sizeof temp, "%s/set/.part-%u", dir, number);
    snprintf(path, sizeof path, "%s/set/%u", dir, number);
    fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    while (fd >= 0 && done < len) {
        size_t n = len - done < PIECE ? len - done : PIECE;
        ssize_t put = write(fd, data + done, n);

        if (put <= 0)
            bench_die("%s: %s", temp, strerror(errno));
        done += (size_t)put;
    }
    if (fd < 0 || close(fd) < 0 || rename(temp, path) < 0)
        bench_die("%s: %s", path, strerror(errno));
}

static void *bare_main(void *arg)
{
    struct bare_thread *t = arg;
    struct bare *b = t->bare;

    for (unsigned f = t->number; f < b->files; f += b->threads) {
        size_t len;
        const uint8_t *data = b->get(b, t->number, f, &len);

        put_file(b->dir, f, data, len);
    }
    return NULL;
}

static double bare_once(void *ctx)
{
    struct bare *b = ctx;
    struct bare_thread t[MAX_THREADS];
    char path[1024];
    double start = bench_time(), seconds;

    snprintf(path, sizeof path, "%s/set", b->dir);
    mkdir(path, 0755);
    for (unsigned i = 0; i < b->threads; i++) {
        t[i] = (struct bare_thread){.bare = b, .number = i};
        if (pthread_create(&t[i].id, NULL, bare_main, &t[i]))
            bench_die("cannot start a thread");
    }
    for (unsigned i = 0; i < b->threads; i++)
        pthread_join(t[i].id, NULL);
    seconds = bench_time() - start;
    bench_remove_tree(path);
    return seconds;
}

/* So many buffers of random bytes. */
static uint8_t **random_images(unsigned count, size_t bytes)
{
    uint8_t **images = calloc(count, sizeof *images);

    for (unsigned i = 0; images && i < count; i++) {
        images[i] = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
        if (!images[i])
            bench_die("out of memory");
        pr_noise_fill(images[i], bytes, i + 1, 0);
    }
    return images;
}

/* ---- npz, 32 files of 20 MB */

enum { NPZ_FILES = 32, NPZ_BYTES = 20971520 };

#define NPZ                                                    \
    "'dataset.format': 'npz', 'dataset.num_files_train': 32, " \
    "'dataset.record_length_bytes': 20971520"

static const uint8_t *get_image(struct bare *b, unsigned thread, unsigned file,
                                size_t *ret_len)
{
    (void)thread;
    *ret_len = b->image_bytes;
    return b->images[file];
}

static void npz_in(const char *dir, const char *where)
{
    struct bench_set s;
    struct bare one = {.dir = dir,
                       .threads = 1,
                       .files = NPZ_FILES,
                       .get = get_image,
                       .image_bytes = NPZ_BYTES};
    struct bare two;
    struct making make1 = {dir, &s, 1}, make2 = {dir, &s, 2};
    double bytes = (double)NPZ_FILES * NPZ_BYTES;
    char what[128];

    if (!bench_set_init(&s, dir, NPZ))
        return;
    one.images = random_images(NPZ_FILES, NPZ_BYTES);
    two = one;
    two.threads = 2;
    struct bench_way ways[] = {
        {"ours", make_once, &make1, 0},
        {"writing from memory", bare_once, &one, 0},
        {"ours", make_once, &make2, 0},
        {"writing from memory", bare_once, &two, 0},
    };
    bench_rounds(ways, 4, ROUNDS);
    snprintf(what, sizeof what, "32 npz of 20 MB, %s, one thread", where);
    bench_ratio(what, &ways[0], &ways[1], bytes, 0.6);
    snprintf(what, sizeof what, "32 npz of 20 MB, %s, two threads", where);
    bench_ratio(what, &ways[2], &ways[3], bytes, 0.85);
}

static void npz(const char *dir)
{
    npz_in(dir, "page cache of the disk");
}

static void npz_in_memory(const char *dir)
{
    npz_in(dir, "tmpfs");
}

/* ---- the same set, DLIO */

static void dlio(const char *dir)
{
    char config[1024];
    const char *program = getenv("DLIO");
    const char *args[] = {program ? program : "dlio_benchmark", config, dir,
                          NULL};
    struct bench_set s;
    struct bench_peer peer;
    struct making make1 = {dir, &s, 1}, make0 = {dir, &s, 0};
    struct bench_way ways[] = {
        {"ours, one thread", make_once, &make1, 0},
        {"DLIO, one process", bench_peer_once, &peer, 0},
        {"ours, as many threads as processors", make_once, &make0, 0},
    };
    double bytes = (double)NPZ_FILES * NPZ_BYTES;

    snprintf(config, sizeof config, "%s/unet3d.yaml", bench_peers());
    if (!bench_set_init(&s, dir, NPZ) ||
        !bench_peer_start(&peer, "dlio_generate.py", args))
        return;
    bench_rounds(ways, 3, 2);
    bench_ratio("making 32 npz of 20 MB, one thread", &ways[0], &ways[1], bytes,
                5);
    bench_ratio("making 32 npz of 20 MB, all processors", &ways[2], &ways[1],
                bytes, 5);
    if (ways[1].best > 0)
        printf("DLIO took %.1f s to start and end, not counted above\n",
               peer.extra);
    bench_peer_stop(&peer);
}

/* ---- jpeg, 10,000 files of 150 KB */

#if PR_HAVE_JPEG

enum { JPEG_FILES = 10000, JPEG_SIDE = 387, JPEG_IMAGES = 16 };

static const uint8_t *encode(struct bare *b, unsigned thread, unsigned file,
                             size_t *ret_len)
{
    unsigned char *out = b->encoded[thread];
    unsigned long len = tjBufSize(JPEG_SIDE, JPEG_SIDE, TJSAMP_GRAY);

    if (tjCompress2(b->encoders[thread], b->images[file % JPEG_IMAGES],
                    JPEG_SIDE, 0, JPEG_SIDE, TJPF_GRAY, &out, &len, TJSAMP_GRAY,
                    75, TJFLAG_NOREALLOC))
        bench_die("turbojpeg: %s", tjGetErrorStr2(b->encoders[thread]));
    *ret_len = len;
    return out;
}

static void jpeg(const char *dir)
{
    struct bench_set s;
    struct bare bare = {.dir = dir,
                        .threads = 2,
                        .files = JPEG_FILES,
                        .get = encode,
                        .image_bytes = JPEG_SIDE * JPEG_SIDE};
    struct making make = {dir, &s, 2};

    if (!bench_set_init(&s, dir,
                        "'dataset.format': 'jpeg', "
                        "'dataset.num_files_train': 10000, "
                        "'dataset.record_length_bytes': 150528"))
        return;
    bare.images = random_images(JPEG_IMAGES, bare.image_bytes);
    for (int i = 0; i < 2; i++) {
        bare.encoders[i] = tjInitCompress();
        bare.encoded[i] = malloc(tjBufSize(JPEG_SIDE, JPEG_SIDE, TJSAMP_GRAY));
    }
    struct bench_way ways[] = {
        {"ours", make_once, &make, 0},
        {"turbojpeg and write", bare_once, &bare, 0},
    };
    bench_rounds(ways, 2, 2);
    bench_ratio(
        "10,000 jpeg of 387 x 387 gray in tmpfs, two threads, rate of pixels",
        &ways[0], &ways[1], (double)JPEG_FILES * JPEG_SIDE * JPEG_SIDE, 0.9);
}

#else

static void jpeg(const char *dir)
{
    (void)dir;
    bench_skip("jpeg: this build has no turbojpeg");
}

#endif

/* ---- memory */

static void memory(const char *dir)
{
    struct bench_set s;
    double peak;

    if (!bench_set_init(&s, dir,
                        "'dataset.format': 'npz', "
                        "'dataset.num_files_train': 4, "
                        "'dataset.record_length_bytes': 500000000, "
                        "'storage.engine': 'null'"))
        return;
    bench_set_make(&s, 2);
    peak = bench_peak_mb();
    bench_row(&(struct bench_row){.what = "memory, making 4 npz of 500 MB",
                                  .unit = "MB",
                                  .ours = peak,
                                  .is_cost = true,
                                  .at_most = 200});
}

int main(int argc, char **argv)
{
    static const struct bench_section sections[] = {
        {"npz", npz, false},       {"npz-in-memory", npz_in_memory, true},
        {"dlio", dlio, false},     {"jpeg", jpeg, true},
        {"memory", memory, false}, {NULL, NULL, false},
    };

    return bench_sections(argc, argv, sections);
}
