/*
 * Decoding jpeg and png, one thread: our reader against a bare loop over the
 * library that reads the same files into one buffer and decodes them into
 * another. Noise as our generator makes it, and smooth pictures, which
 * decode as photographs do. Best of rounds.
 */
#include "codec.h"
#include "data.h"

#include <errno.h>
#include <sys/stat.h>
#if PR_HAVE_JPEG
#include <turbojpeg.h>
#endif
#if PR_HAVE_PNG
#include <png.h>
#endif

enum { FILES = 150, ROUNDS = 5 };

struct picture {
    unsigned width, height, channels;
};

static const struct picture gray = {387, 387, 1}, rgb = {500, 375, 3};

/* ---- the bare way */

struct bare {
    const struct bench_files *files;
    struct bench_codec codec;
};

static double bare_once(void *ctx)
{
    struct bare *b = ctx;
    double start = bench_time();

    for (size_t i = 0; i < b->files->count; i++)
        bench_codec_do(&b->codec, b->files->root, b->files->names[i]);
    return bench_time() - start;
}

static void compare(const char *format, const char *what,
                    const struct bench_files *f, const struct picture *p,
                    struct bare *bare)
{
    struct bench_reading ours;
    double pixels = (double)f->count * p->width * p->height * p->channels;

    if (!bench_reading_init(&ours, f, format, "pread", NULL))
        return;
    bare->files = f;
    struct bench_way ways[] = {
        {"ours", bench_reading_once, &ours, 0},
        {bare->codec.name, bare_once, bare, 0},
    };
    bench_rounds(ways, 2, ROUNDS);
    bench_ratio(what, &ways[0], &ways[1], pixels, 0.95);
    bench_reading_done(&ours);
}

/* ---- pictures */

/* Waves, a little different in each picture and channel. */
static void draw(uint8_t *out, const struct picture *p, unsigned number)
{
    for (unsigned y = 0; y < p->height; y++)
        for (unsigned x = 0; x < p->width; x++)
            for (unsigned c = 0; c < p->channels; c++) {
                unsigned a = (x * (c + 2) + number * 7) % 256;
                unsigned b = (y * (c + 1) + x / 2 + number) % 256;

                a = a < 128 ? a : 255 - a;
                b = b < 128 ? b : 255 - b;
                *out++ = (uint8_t)(a + b);
            }
}

static void put(const char *dir, const char *name, const void *data, size_t len)
{
    char path[1024];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "w");
    if (!f || fwrite(data, 1, len, f) != len || fclose(f))
        bench_die("%s: %s", path, strerror(errno));
}

/* Noise, made by our generator. */
static bool noise(struct bench_files *f, const char *dir, const char *format,
                  const struct picture *p)
{
    char params[256], dims[64], *folder;
    struct bench_set s;

    snprintf(dims, sizeof dims, p->channels > 1 ? "%u, %u, %u" : "%u, %u",
             p->height, p->width, p->channels);
    snprintf(params, sizeof params,
             "'dataset.format': '%s', 'dataset.num_files_train': %d, "
             "'dataset.record_dims': [%s]",
             format, FILES, dims);
    folder = malloc(1024); /* the files keep it */
    if (!folder)
        bench_die("out of memory");
    snprintf(folder, 1024, "%s/%s-noise-%u", dir, format, p->channels);
    mkdir(folder, 0755);
    if (!bench_set_init(&s, folder, params))
        return false;
    bench_set_make(&s, 2);
    bench_files_of(f, &s, folder);
    return true;
}

static void smooth(struct bench_files *f, const char *dir, const char *format,
                   const struct picture *p, struct bare *b,
                   size_t (*encode)(struct bare *b, const struct picture *p))
{
    bench_files_init(f, dir);
    for (unsigned i = 0; i < FILES; i++) {
        char name[64];

        draw(b->codec.pixels, p, i);
        snprintf(name, sizeof name, "smooth-%u-%u.%s", p->channels, i, format);
        put(dir, name, b->codec.stored, encode(b, p));
        bench_files_add(f, name);
    }
}

/* Not called when neither library is there. */
__attribute__((unused)) static void
run(const char *dir, const char *format,
    size_t (*encode)(struct bare *b, const struct picture *p))
{
    const struct picture *pictures[] = {&gray, &rgb};
    struct bare all, *b = &all;
    char what[128];

    if (!bench_codec_init(&all.codec, format))
        bench_die("no codec for %s", format);
    for (int i = 0; i < 2; i++) {
        const struct picture *p = pictures[i];
        struct bench_files f;

        snprintf(what, sizeof what, "%s, %u x %u %s, noise, rate of pixels",
                 format, p->width, p->height, i ? "RGB" : "gray");
        if (noise(&f, dir, format, p))
            compare(format, what, &f, p, b);
        snprintf(what, sizeof what, "%s, %u x %u %s, smooth, rate of pixels",
                 format, p->width, p->height, i ? "RGB" : "gray");
        smooth(&f, dir, format, p, b, encode);
        compare(format, what, &f, p, b);
    }
}

/* ---- jpeg */

#if PR_HAVE_JPEG

static size_t encode_jpeg(struct bare *b, const struct picture *p)
{
    tjhandle h = tjInitCompress();
    bool is_gray = p->channels == 1;
    unsigned char *out = b->codec.stored;
    unsigned long len = BENCH_CODEC_CAP;

    if (!h ||
        tjCompress2(h, b->codec.pixels, (int)p->width, 0, (int)p->height,
                    is_gray ? TJPF_GRAY : TJPF_RGB, &out, &len,
                    is_gray ? TJSAMP_GRAY : TJSAMP_420, 90, TJFLAG_NOREALLOC))
        bench_die("turbojpeg: %s", tjGetErrorStr2(h));
    tjDestroy(h);
    return len;
}

static void jpeg(const char *dir)
{
    run(dir, "jpeg", encode_jpeg);
}

#else

static void jpeg(const char *dir)
{
    (void)dir;
    bench_skip("jpeg: this build has no turbojpeg");
}

#endif

/* ---- png */

#if PR_HAVE_PNG

static size_t encode_png(struct bare *b, const struct picture *p)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = p->width,
                       .height = p->height,
                       .format =
                           p->channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB,
                       .flags = PNG_IMAGE_FLAG_FAST};
    png_alloc_size_t len = BENCH_CODEC_CAP;

    if (!png_image_write_to_memory(&image, b->codec.stored, &len, 0,
                                   b->codec.pixels, 0, NULL))
        bench_die("libpng: %s", image.message);
    return len;
}

static void png(const char *dir)
{
    run(dir, "png", encode_png);
}

#else

static void png(const char *dir)
{
    (void)dir;
    bench_skip("png: this build has no libpng");
}

#endif

int main(int argc, char **argv)
{
    static const struct bench_section sections[] = {
        {"jpeg", jpeg, false},
        {"png", png, false},
        {NULL, NULL, false},
    };

    return bench_sections(argc, argv, sections);
}
