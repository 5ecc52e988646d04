/* Pictures to measure with; see pictures.h. */
#include "pictures.h"

#include <errno.h>
#if PR_HAVE_JPEG
#include <turbojpeg.h>
#endif

enum { H = BENCH_PICTURE_H, W = BENCH_PICTURE_W };

void bench_picture_draw(uint8_t *out, unsigned number)
{
    for (unsigned y = 0; y < H; y++)
        for (unsigned x = 0; x < W; x++)
            for (unsigned c = 0; c < 3; c++) {
                unsigned a = (x * (c + 2) + number * 7) % 256;
                unsigned b = (y * (c + 1) + x / 2 + number) % 256;

                a = a < 128 ? a : 255 - a;
                b = b < 128 ? b : 255 - b;
                *out++ = (uint8_t)(a + b);
            }
}

#if PR_HAVE_JPEG

bool bench_picture_write(const char *path, unsigned number)
{
    tjhandle h = tjInitCompress();
    uint8_t *picture = malloc(H * W * 3);
    unsigned char *out = NULL;
    unsigned long len = 0;
    FILE *f;

    if (!h || !picture)
        bench_die("out of memory");
    bench_picture_draw(picture, number);
    if (tjCompress2(h, picture, W, 0, H, TJPF_RGB, &out, &len, TJSAMP_420, 90,
                    0))
        bench_die("turbojpeg: %s", tjGetErrorStr2(h));
    f = fopen(path, "w");
    if (!f || fwrite(out, 1, len, f) != len || fclose(f))
        bench_die("%s: %s", path, strerror(errno));
    tjFree(out);
    tjDestroy(h);
    free(picture);
    return true;
}

#else

bool bench_picture_write(const char *path, unsigned number)
{
    (void)path;
    (void)number;
    return false;
}

#endif
