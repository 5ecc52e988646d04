/*
 * Decoding jpeg and png, one thread: our reader against a bare loop over the
 * library that reads the same files into one buffer and decodes them into
 * another. Noise as our generator makes it, and smooth pictures, which
 * decode as photographs do. Best of rounds.
 */
#include "data.h"

#include <errno.h>
#include <sys/stat.h>
#if PR_HAVE_JPEG
#include <turbojpeg.h>
#endif
#if PR_HAVE_PNG
#include <png.h>
#endif

enum { FILES = 150, ROUNDS = 5, CAP = 4 << 20 };

struct picture {
    unsigned width, height, channels;
};

static const struct picture gray = {387, 387, 1}, rgb = {500, 375, 3};

/* ---- the bare way */

struct bare {
    const struct bench_files *files;
    uint8_t *stored, *pixels; /* CAP bytes each */
    void *decoder;
    void (*decode)(struct bare *b, size_t len);
};

static size_t load(const struct bare *b, const char *name)
{
    int fd = openat(b->files->root, name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : pread(fd, b->stored, CAP, 0);

    if (n <= 0)
        bench_die("%s: %s", name, strerror(errno));
    close(fd);
    return (size_t)n;
}

static double bare_once(void *ctx)
{
    struct bare *b = ctx;
    double start = bench_time();

    for (size_t i = 0; i < b->files->count; i++)
        b->decode(b, load(b, b->files->names[i]));
    return bench_time() - start;
}

static void compare(const char *format, const char *library, const char *what,
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
        {library, bare_once, bare, 0},
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

        draw(b->pixels, p, i);
        snprintf(name, sizeof name, "smooth-%u-%u.%s", p->channels, i, format);
        put(dir, name, b->stored, encode(b, p));
        bench_files_add(f, name);
    }
}

/* Not called when neither library is there. */
__attribute__((unused)) static void
run(const char *dir, const char *format, const char *library, struct bare *b,
    size_t (*encode)(struct bare *b, const struct picture *p))
{
    const struct picture *pictures[] = {&gray, &rgb};
    char what[128];

    b->stored = malloc(CAP);
    b->pixels = malloc(CAP);
    if (!b->stored || !b->pixels)
        bench_die("out of memory");
    for (int i = 0; i < 2; i++) {
        const struct picture *p = pictures[i];
        struct bench_files f;

        snprintf(what, sizeof what, "%s, %u x %u %s, noise, rate of pixels",
                 format, p->width, p->height, i ? "RGB" : "gray");
        if (noise(&f, dir, format, p))
            compare(format, library, what, &f, p, b);
        snprintf(what, sizeof what, "%s, %u x %u %s, smooth, rate of pixels",
                 format, p->width, p->height, i ? "RGB" : "gray");
        smooth(&f, dir, format, p, b, encode);
        compare(format, library, what, &f, p, b);
    }
}

/* ---- jpeg */

#if PR_HAVE_JPEG

static void decode_jpeg(struct bare *b, size_t len)
{
    int w, h, sampling, space;

    if (tjDecompressHeader3(b->decoder, b->stored, len, &w, &h, &sampling,
                            &space) ||
        tjDecompress2(b->decoder, b->stored, len, b->pixels, w, 0, h,
                      space == TJCS_GRAY ? TJPF_GRAY : TJPF_RGB, 0))
        bench_die("turbojpeg: %s", tjGetErrorStr2(b->decoder));
}

static size_t encode_jpeg(struct bare *b, const struct picture *p)
{
    tjhandle h = tjInitCompress();
    bool is_gray = p->channels == 1;
    unsigned char *out = b->stored;
    unsigned long len = CAP;

    if (!h ||
        tjCompress2(h, b->pixels, (int)p->width, 0, (int)p->height,
                    is_gray ? TJPF_GRAY : TJPF_RGB, &out, &len,
                    is_gray ? TJSAMP_GRAY : TJSAMP_420, 90, TJFLAG_NOREALLOC))
        bench_die("turbojpeg: %s", tjGetErrorStr2(h));
    tjDestroy(h);
    return len;
}

static void jpeg(const char *dir)
{
    struct bare b = {.decoder = tjInitDecompress(), .decode = decode_jpeg};

    run(dir, "jpeg", "turbojpeg", &b, encode_jpeg);
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

struct source {
    const uint8_t *next, *end;
};

static void take(png_structp png, png_bytep out, png_size_t len)
{
    struct source *s = png_get_io_ptr(png);

    if ((size_t)(s->end - s->next) < len)
        png_error(png, "too short");
    memcpy(out, s->next, len);
    s->next += len;
}

static void decode_png(struct bare *b, size_t len)
{
    png_structp png =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    struct source s = {b->stored, b->stored + len};
    size_t row;

    if (!info || setjmp(png_jmpbuf(png)))
        bench_die("libpng failed");
    png_set_read_fn(png, &s, take);
    png_read_info(png, info);
    row = png_get_rowbytes(png, info);
    for (size_t y = 0, h = png_get_image_height(png, info); y < h; y++)
        png_read_row(png, b->pixels + y * row, NULL);
    png_read_end(png, NULL);
    png_destroy_read_struct(&png, &info, NULL);
}

static size_t encode_png(struct bare *b, const struct picture *p)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = p->width,
                       .height = p->height,
                       .format =
                           p->channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB,
                       .flags = PNG_IMAGE_FLAG_FAST};
    png_alloc_size_t len = CAP;

    if (!png_image_write_to_memory(&image, b->stored, &len, 0, b->pixels, 0,
                                   NULL))
        bench_die("libpng: %s", image.message);
    return len;
}

static void png(const char *dir)
{
    struct bare b = {.decode = decode_png};

    run(dir, "png", "libpng", &b, encode_png);
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
