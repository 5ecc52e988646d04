/* turbojpeg and libpng, called as directly as they can be; see codec.h. */
#include "codec.h"

#include <errno.h>
#if PR_HAVE_JPEG
#include <turbojpeg.h>
#endif
#if PR_HAVE_PNG
#include <png.h>
#endif

#if PR_HAVE_JPEG

static void decode_jpeg(struct bench_codec *c, size_t len)
{
    int w, h, sampling, space;

    if (tjDecompressHeader3(c->decoder, c->stored, len, &w, &h, &sampling,
                            &space) ||
        tjDecompress2(c->decoder, c->stored, len, c->pixels, w, 0, h,
                      space == TJCS_GRAY ? TJPF_GRAY : TJPF_RGB, 0))
        bench_die("turbojpeg: %s", tjGetErrorStr2(c->decoder));
}

#endif

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

static void decode_png(struct bench_codec *c, size_t len)
{
    png_structp png =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    struct source s = {c->stored, c->stored + len};
    size_t row;

    if (!info || setjmp(png_jmpbuf(png)))
        bench_die("libpng failed");
    png_set_read_fn(png, &s, take);
    png_read_info(png, info);
    row = png_get_rowbytes(png, info);
    for (size_t y = 0, h = png_get_image_height(png, info); y < h; y++)
        png_read_row(png, c->pixels + y * row, NULL);
    png_read_end(png, NULL);
    png_destroy_read_struct(&png, &info, NULL);
}

#endif

bool bench_codec_init(struct bench_codec *c, const char *format)
{
    *c = (struct bench_codec){0};
    (void)format; /* if there is no codec at all */
#if PR_HAVE_JPEG
    if (strcmp(format, "jpeg") == 0)
        *c = (struct bench_codec){.decoder = tjInitDecompress(),
                                  .decode = decode_jpeg,
                                  .name = "turbojpeg"};
#endif
#if PR_HAVE_PNG
    if (strcmp(format, "png") == 0)
        *c = (struct bench_codec){.decode = decode_png, .name = "libpng"};
#endif
    if (!c->decode)
        return false;
    c->stored = malloc(BENCH_CODEC_CAP);
    c->pixels = malloc(BENCH_CODEC_CAP);
    if (!c->stored || !c->pixels)
        bench_die("out of memory");
    return true;
}

void bench_codec_do(struct bench_codec *c, int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : pread(fd, c->stored, BENCH_CODEC_CAP, 0);

    if (n <= 0)
        bench_die("%s: %s", name, strerror(errno));
    close(fd);
    c->decode(c, (size_t)n);
}
