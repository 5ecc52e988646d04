/*
 * Rows above the part are decoded as far as the entropy coding needs it, rows
 * below not at all; of the columns beside it the transform is left out. Colour
 * of less resolution is made larger from neighbours on both sides, so a little
 * more than the part is decoded: what the edges lack is then outside.
 */
#include "format/image/jpeg_part.h"

#if PR_HAVE_LIBJPEG

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

enum {
    MARGIN = 2,    /* columns that decide over their neighbours */
    NARROWEST = 8, /* below it the library makes colour larger another way */
    ROWS = 16,     /* that are asked for at once */
};

/* ---- the library */

#define FUNCS(X)               \
    X(jpeg_std_error)          \
    X(jpeg_CreateDecompress)   \
    X(jpeg_destroy_decompress) \
    X(jpeg_mem_src)            \
    X(jpeg_read_header)        \
    X(jpeg_has_multiple_scans) \
    X(jpeg_start_decompress)   \
    X(jpeg_crop_scanline)      \
    X(jpeg_skip_scanlines)     \
    X(jpeg_read_scanlines)     \
    X(jpeg_abort_decompress)

#define POINTER(name) __typeof__(name) *name;
#define SYMBOL(name) {#name, offsetof(struct api, name)},

struct api {
    FUNCS(POINTER)
};

/* Filled once, by load(), and never changed again. */
static struct {
    pthread_once_t once;
    struct api api;
    bool is_there;
} lib = {.once = PTHREAD_ONCE_INIT};

static void jpeg_part_load_library(void)
{
    static const struct {
        const char *name;
        size_t at; /* offset of the pointer */
    } symbols[] = {FUNCS(SYMBOL)};
    /* The number goes with the layout of the structs. */
    void *so = dlopen(JPEG_LIB_VERSION >= 80   ? "libjpeg.so.8"
                      : JPEG_LIB_VERSION >= 70 ? "libjpeg.so.7"
                                               : "libjpeg.so.62",
                      RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; so && i < sizeof symbols / sizeof *symbols; i++) {
        void *p = dlsym(so, symbols[i].name);

        if (!p)
            return;
        memcpy((char *)&lib.api + symbols[i].at, &p, sizeof p);
    }
    lib.is_there = so != NULL;
}

/* ---- what goes wrong: the image is decoded whole, which says what it is */

static void jpeg_part_jump_out(j_common_ptr z)
{
    struct pr_jpeg_part *x = z->client_data;

    longjmp(x->failed, 1);
}

/* Warnings have a negative level; others are chatter. */
static void take_message(j_common_ptr z, int level)
{
    if (level < 0)
        jpeg_part_jump_out(z);
}

static void jpeg_part_ignore_message(j_common_ptr z)
{
    (void)z;
}

static bool jpeg_part_init(struct pr_jpeg_part *x)
{
    if (x->is_made)
        return true;
    pthread_once(&lib.once, jpeg_part_load_library);
    if (!lib.is_there)
        return false;
    x->z.err = lib.api.jpeg_std_error(&x->mgr);
    x->mgr.error_exit = jpeg_part_jump_out;
    x->mgr.emit_message = take_message;
    x->mgr.output_message = jpeg_part_ignore_message;
    x->z.client_data = x; /* which stays */
    if (setjmp(x->failed)) {
        lib.api.jpeg_destroy_decompress(&x->z);
        return false;
    }
    lib.api.jpeg_CreateDecompress(&x->z, JPEG_LIB_VERSION, sizeof x->z);
    x->is_made = true;
    return true;
}

void pr_jpeg_part_done(struct pr_jpeg_part *x)
{
    if (x->is_made)
        lib.api.jpeg_destroy_decompress(&x->z);
}

/* ---- the part */

/* Columns to ask for so that those that are wanted come out right. */
static struct pr_part jpeg_part_widen(const struct pr_image *image,
                                      const struct pr_part *want)
{
    struct pr_part p = *want;
    uint64_t end = want->left + want->columns + MARGIN;

    p.left = want->left > MARGIN ? want->left - MARGIN : 0;
    if (end > image->width)
        end = image->width;
    p.columns = end - p.left;
    if (p.columns < NARROWEST) {
        p.left = 0;
        p.columns = image->width;
    }
    return p;
}

/* A file without an end is decoded whole, for that is an error. */
static bool is_worth_it(const uint8_t *file, size_t size,
                        const struct pr_image *image, const struct pr_part *p)
{
    return (image->channels == 1 || image->channels == 3) && size > 2 &&
           file[size - 2] == 0xff && file[size - 1] == 0xd9 &&
           (p->columns < image->width || p->rows < image->height);
}

/* The usual ways of sampling, in one scan: in others a part of the image takes
 * all of it to be decoded, or is seldom tried. */
static bool is_usual(const struct jpeg_decompress_struct *z,
                     const struct pr_image *image)
{
    const jpeg_component_info *c = z->comp_info;

    if (z->image_width != image->width || z->image_height != image->height ||
        z->num_components != (int)image->channels)
        return false;
    for (int i = 1; i < z->num_components; i++)
        if (c[i].h_samp_factor != 1 || c[i].v_samp_factor != 1)
            return false;
    if (z->num_components == 1)
        return c[0].h_samp_factor == 1 && c[0].v_samp_factor == 1;
    return c[0].h_samp_factor <= 2 && c[0].v_samp_factor <= 2;
}

/* Rows of the part, one after another. */
static void jpeg_part_read_rows(struct pr_jpeg_part *x, const struct pr_part *p,
                                size_t stride, uint8_t *buf)
{
    for (uint64_t y = 0; y < p->rows;) {
        unsigned n = p->rows - y < ROWS ? (unsigned)(p->rows - y) : ROWS;
        JSAMPROW rows[ROWS];

        for (unsigned i = 0; i < n; i++)
            rows[i] = buf + (y + i) * stride;
        y += lib.api.jpeg_read_scanlines(&x->z, rows, n);
    }
}

static bool jpeg_part_run(struct pr_jpeg_part *x, const uint8_t *file,
                          size_t size, const struct pr_image *image,
                          struct pr_part *p, uint8_t *buf)
{
    struct jpeg_decompress_struct *z = &x->z;
    JDIMENSION left = (JDIMENSION)p->left, columns = (JDIMENSION)p->columns;

    lib.api.jpeg_mem_src(z, file, (unsigned long)size);
    (void)lib.api.jpeg_read_header(z, TRUE);
    if (!is_usual(z, image) || lib.api.jpeg_has_multiple_scans(z))
        return false;
    z->out_color_space = image->channels == 1 ? JCS_GRAYSCALE : JCS_EXT_RGB;
    (void)lib.api.jpeg_start_decompress(z);
    if (columns < image->width)
        lib.api.jpeg_crop_scanline(z, &left, &columns);
    if (p->top && lib.api.jpeg_skip_scanlines(z, (JDIMENSION)p->top) != p->top)
        return false;
    p->left = left;
    p->columns = columns;
    jpeg_part_read_rows(x, p, (size_t)columns * image->channels, buf);
    return true;
}

bool pr_jpeg_part_decode(struct pr_jpeg_part *x, const uint8_t *file,
                         size_t size, const struct pr_image *image,
                         const struct pr_part *want, uint8_t *buf,
                         struct pr_part *ret)
{
    struct pr_part p = jpeg_part_widen(image, want);
    bool ok;

    if (!is_worth_it(file, size, image, &p) || !jpeg_part_init(x))
        return false;
    if (setjmp(x->failed)) {
        lib.api.jpeg_abort_decompress(&x->z);
        return false;
    }
    ok = jpeg_part_run(x, file, size, image, &p, buf);
    lib.api.jpeg_abort_decompress(&x->z);
    if (ok)
        *ret = p;
    return ok;
}

#else

bool pr_jpeg_part_decode(struct pr_jpeg_part *x, const uint8_t *file,
                         size_t size, const struct pr_image *image,
                         const struct pr_part *want, uint8_t *buf,
                         struct pr_part *ret)
{
    (void)x;
    (void)file;
    (void)size;
    (void)image;
    (void)want;
    (void)buf;
    (void)ret;
    return false;
}

void pr_jpeg_part_done(struct pr_jpeg_part *x)
{
    (void)x;
}

#endif
