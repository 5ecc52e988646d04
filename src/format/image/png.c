/*
 * png: an image a file, by libpng. 8 or 16 bits; (height, width) for gray and
 * (height, width, channels) for gray with alpha, RGB and RGBA. Fewer bits of
 * gray are spread over 8; a palette becomes RGB, or RGBA when it has
 * transparent colours, as Pillow converts it; a colour that stands for
 * transparency is left alone. Reading is in png_read.c.
 */
#include "format/image/png.h"

#include "base/mem.h"

#include <endian.h>
#include <setjmp.h>
#include <string.h>
#include <zlib.h>

static const struct pr_image_rule rule = {
    .name = "png",
    .channels = 1 << 1 | 1 << 3 | 1 << 4,
    .side = PR_PNG_SIDE,
    .possible = "(height, width) for gray, (height, width, 3) for colour and "
                "(height, width, 4) for colour with alpha are possible",
};

/* Of the pieces that the compressed image is written in, and the head of one
 * and of any other chunk. */
enum { PIECE = 64 << 10, CHUNK_HEAD = 12 };

/* The bytes of an image before it is compressed, a filter for each row. */
static uint64_t raw_bytes(const struct pr_file_spec *spec)
{
    return pr_spec_sample_bytes(spec) + spec->shape.dim[0];
}

/* PR_FILE: of an image that begins with so many bytes of noise and has zeros
 * behind them, with one chunk of padding, at most. Zeros become runs of 258,
 * each of a few bits. */
static uint64_t most_bytes(const struct pr_file_spec *spec, uint64_t noise)
{
    uint64_t raw = raw_bytes(spec);

    return 512 + (raw / PIECE + 1) * CHUNK_HEAD + noise + noise / 1024 +
           (raw - noise) / 64;
}

/* PR_FILE: as much noise as fits. */
static uint64_t fitting_noise(const struct pr_file_spec *spec)
{
    uint64_t low = 0, high = raw_bytes(spec);

    while (low < high) {
        uint64_t mid = low + (high - low + 1) / 2;

        if (most_bytes(spec, mid) <= spec->stored)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

static int png_check(const struct pr_file_spec *spec, struct pr_err *err)
{
    int rc = pr_image_check(spec, &rule, err);

    if (!rc && spec->dtype != PR_U8 && spec->dtype != PR_U16)
        return pr_fail(err, PR_E_CONF, "dataset.record_element_type",
                       "png holds uint8 or uint16, not %s",
                       pr_dtype_name(spec->dtype));
    return rc ? rc
              : pr_image_check_stored(spec, rule.name, most_bytes(spec, 0),
                                      err);
}

/* Noise is stored, in blocks of 16 KiB or more, each with a head of 5 bytes;
 * a piece has 12 more, and a file fewer than 100. */
static uint64_t png_bytes(const struct pr_file_spec *spec, bool *ret_exact)
{
    uint64_t raw = raw_bytes(spec);

    *ret_exact = spec->payload != PR_PIXELS;
    if (*ret_exact)
        return spec->payload == PR_RAW ? pr_spec_sample_bytes(spec)
                                       : spec->stored;
    return raw + raw / 1024 + 1024;
}

/* ---- the library: an error jumps back to where pr_png_run was called */

static png_voidp png_alloc_memory(png_structp png, png_alloc_size_t bytes)
{
    struct pr_png *lib = png_get_mem_ptr(png);
    void *p = pr_alloc(bytes);

    if (!p)
        lib->no_memory = true;
    return p;
}

static void png_free_memory(png_structp png, png_voidp p)
{
    (void)png;
    pr_free(p);
}

static PNG_NORETURN void on_error(png_structp png, png_const_charp text)
{
    struct pr_png *lib = png_get_error_ptr(png);

    strncpy(lib->text, text, sizeof lib->text - 1);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

/* Nothing of this function is used after the jump but ctx and lib, which it
 * does not change. */
int pr_png_run(struct pr_png *lib, void (*body)(void *ctx), void *ctx)
{
    if (setjmp(png_jmpbuf(lib->png)))
        return -1;
    body(ctx);
    return 0;
}

int pr_png_failed(const struct pr_png *lib, const char *where,
                  struct pr_err *err)
{
    if (lib->rc)
        return lib->rc;
    if (lib->no_memory)
        return pr_fail_nomem(err);
    return pr_fail(err, PR_E_FORMAT, where, "png: %s", lib->text);
}

int pr_png_start(struct pr_png *lib, bool reads, struct pr_err *err)
{
    *lib = (struct pr_png){0};
    lib->png = (reads ? png_create_read_struct_2 : png_create_write_struct_2)(
        PNG_LIBPNG_VER_STRING, lib, on_error, on_warning, lib, png_alloc_memory,
        png_free_memory);
    if (lib->png)
        lib->info = png_create_info_struct(lib->png);
    return lib->info ? PR_OK : pr_fail_nomem(err);
}

void pr_png_stop(struct pr_png *lib, bool reads)
{
    if (lib->png && reads)
        png_destroy_read_struct(&lib->png, &lib->info, NULL);
    else if (lib->png)
        png_destroy_write_struct(&lib->png, &lib->info);
}

void pr_png_set_byte_order(struct pr_png *lib)
{
    if (BYTE_ORDER == LITTLE_ENDIAN)
        png_set_swap(lib->png);
}

/* ---- writing */

struct writer {
    struct pr_out out;
    struct pr_png lib;
    struct pr_image_buf pixels;
    const struct pr_file_spec *spec;
    struct pr_writer *w;
    struct pr_err *err;
};

static void png_put_bytes(png_structp png, png_bytep data, size_t len)
{
    struct writer *x = png_get_io_ptr(png);

    x->lib.rc = pr_out_put(&x->out, data, len, x->err);
    if (!x->lib.rc && pr_writer_is_stopped(x->w))
        x->lib.rc = pr_fail(x->err, PR_E_INTR, "", "interrupted");
    if (x->lib.rc)
        png_error(png, "writing failed");
}

/* Up to the size asked for; a chunk of nobody's that everybody skips. */
static void png_pad_file(struct writer *x)
{
    uint64_t at = pr_out_offset(&x->out) + CHUNK_HEAD; /* of the last chunk */
    uint64_t left = x->spec->stored - at, part;

    if (at > x->spec->stored || (left && left < CHUNK_HEAD))
        png_error(x->lib.png, "the image came out too large");
    for (uint64_t off = 0; left; left -= part, off += PIECE) {
        uint8_t *noise;

        part = pr_image_pad(left, CHUNK_HEAD, PIECE + CHUNK_HEAD);
        noise = pr_image_pad_noise(x->spec, off, PIECE, &x->pixels);
        if (!noise)
            x->lib.no_memory = true;
        if (!noise)
            png_error(x->lib.png, "no memory");
        png_write_chunk(x->lib.png, (png_const_bytep) "prOn", noise,
                        (size_t)(part - CHUNK_HEAD));
    }
}

/* PR_FILE: what is behind the noise that fits becomes zeros. */
static void png_flatten_noise(struct writer *x)
{
    uint64_t bytes = pr_spec_sample_bytes(x->spec);
    uint64_t noise = fitting_noise(x->spec);

    noise -= noise * x->spec->shape.dim[0] / raw_bytes(x->spec);
    if (noise < bytes)
        memset(x->pixels.data + noise, 0, (size_t)(bytes - noise));
}

static void png_encode(void *ctx)
{
    static const int types[] = {[1] = PNG_COLOR_TYPE_GRAY,
                                [3] = PNG_COLOR_TYPE_RGB,
                                [4] = PNG_COLOR_TYPE_RGB_ALPHA};
    struct writer *x = ctx;
    struct pr_image image = pr_image_of(x->spec);
    size_t size = pr_dtype_bytes(x->spec->dtype);
    size_t row = (size_t)image.width * image.channels * size;
    png_structp png = x->lib.png;
    bool fits = x->spec->payload == PR_FILE;

    if (fits)
        png_flatten_noise(x);
    png_set_write_fn(png, x, png_put_bytes, NULL);
    png_set_user_limits(png, PR_PNG_SIDE, PR_PNG_SIDE);
    png_set_compression_level(png, x->spec->level);
    png_set_compression_buffer_size(png, PIECE);
    /* Noise has no neighbours and nothing in it repeats: looking for that
     * takes three times as long and saves nothing. */
    png_set_filter(png, 0, PNG_FILTER_NONE);
    png_set_compression_strategy(png, fits ? Z_RLE : Z_HUFFMAN_ONLY);
    png_set_IHDR(png, x->lib.info, image.width, image.height, (int)size * 8,
                 types[image.channels], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, x->lib.info);
    if (size == 2)
        pr_png_set_byte_order(&x->lib);
    for (size_t y = 0; y < image.height; y++)
        png_write_row(png, x->pixels.data + y * row);
    if (fits)
        png_pad_file(x);
    png_write_end(png, NULL);
}

static int png_write(struct pr_writer *w, const struct pr_file_spec *spec,
                     const char *name, uint64_t *ret_bytes, struct pr_err *err)
{
    struct writer *x = w->data;
    int rc = x->out.block ? PR_OK : pr_out_init(&x->out, w->st, err);

    x->spec = spec;
    x->w = w;
    x->err = err;
    if (!rc && spec->payload == PR_RAW)
        return pr_image_write_raw(w, &x->out, spec, name, ret_bytes, err);
    if (!rc)
        rc = pr_image_make(w, spec, &x->pixels, err);
    if (!rc)
        rc = pr_out_create(&x->out, name, 0, err);
    if (rc)
        return rc;
    rc = pr_png_start(&x->lib, false, err);
    if (!rc && pr_png_run(&x->lib, png_encode, x))
        rc = pr_png_failed(&x->lib, name, err);
    pr_png_stop(&x->lib, false);
    if (!rc) {
        uint64_t bytes = pr_out_offset(&x->out);
        rc = pr_out_commit(&x->out, err);
        if (!rc)
            *ret_bytes = bytes;
    }
    pr_out_discard(&x->out);
    return rc;
}

static void png_writer_done(struct pr_writer *w)
{
    struct writer *x = w->data;

    pr_image_buf_done(&x->pixels);
}

const struct pr_format pr_format_png = {
    .abi = PR_FORMAT_ABI,
    .name = "png",
    .desc = "an image a file, compressed without loss",
    .flags = PR_FORMAT_ONE | PR_FORMAT_U16 | PR_FORMAT_STREAM | PR_FORMAT_IMAGE,
    .compressions = "none",
    .check = png_check,
    .bytes = png_bytes,
    .writer_bytes = sizeof(struct writer),
    .write = png_write,
    .writer_done = png_writer_done,
    .reader_bytes = sizeof(struct pr_png_reader),
    .open = pr_png_open,
    .read = pr_png_read,
    .close = pr_image_close,
};
