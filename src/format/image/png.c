/*
 * png: an image a file, by libpng. 8 or 16 bits; (height, width) for gray and
 * (height, width, channels) for gray with alpha, RGB and RGBA. Fewer bits of
 * gray are spread over 8; a palette becomes RGB, or RGBA when it has
 * transparent colours, as Pillow converts it; a colour that stands for
 * transparency is left alone.
 */
#include "base/codec/checksum.h"
#include "base/mem.h"
#include "format/image/image.h"

#include <endian.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>
#include <zlib.h>

/* The largest side, by the format. */
enum { PR_PNG_SIDE = 0x7fffffff };

struct pr_png {
    png_structp png;
    png_infop info;
    char text[96]; /* of the error */
    bool no_memory;
    int rc; /* of an error of ours that the library passes on */
};

struct pr_png_reader {
    struct pr_image_reader image; /* first */
    unsigned depth, type, bits;   /* bits of a pixel as stored */
    bool transparent;             /* the palette is */
    uint64_t packed;              /* bytes of compressed image */
    /* while reading */
    struct pr_png lib;
    const uint8_t *at, *end;
    uint8_t *out;
    size_t row; /* bytes */
    bool skip_checksum;
};

/* ---- the library: an error jumps back to where png_run was called */

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
static int png_run(struct pr_png *lib, void (*body)(void *ctx), void *ctx)
{
    if (setjmp(png_jmpbuf(lib->png)))
        return -1;
    body(ctx);
    return 0;
}

/* Fills err after that. */
static int png_failed(const struct pr_png *lib, const char *where,
                      struct pr_err *err)
{
    if (lib->rc)
        return lib->rc;
    if (lib->no_memory)
        return pr_fail_nomem(err);
    return pr_fail(err, PR_E_FORMAT, where, "png: %s", lib->text);
}

static int png_start(struct pr_png *lib, bool reads, struct pr_err *err)
{
    *lib = (struct pr_png){0};
    lib->png = (reads ? png_create_read_struct_2 : png_create_write_struct_2)(
        PNG_LIBPNG_VER_STRING, lib, on_error, on_warning, lib, png_alloc_memory,
        png_free_memory);
    if (lib->png)
        lib->info = png_create_info_struct(lib->png);
    return lib->info ? PR_OK : pr_fail_nomem(err);
}

static void png_stop(struct pr_png *lib, bool reads)
{
    if (lib->png && reads)
        png_destroy_read_struct(&lib->png, &lib->info, NULL);
    else if (lib->png)
        png_destroy_write_struct(&lib->png, &lib->info);
}

/* 16-bit samples are big-endian in files. */
static void png_set_byte_order(struct pr_png *lib)
{
    if (BYTE_ORDER == LITTLE_ENDIAN)
        png_set_swap(lib->png);
}

/* ---- the structure of a file. It and the checksums are checked here when it
 * is opened, since the library's own checksums are slow; the library then
 * decodes into the caller's buffer. */

static uint32_t png_get_be32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, 4);
    return be32toh(v);
}

/* The header, all 13 bytes of it. */
static int png_parse_header(struct pr_reader *r, const uint8_t *p,
                            struct pr_err *err)
{
    static const uint8_t depths[] = {
        1 | 2 | 4 | 8 | 16, 0, 8 | 16, 1 | 2 | 4 | 8, 8 | 16, 0, 8 | 16};
    static const uint8_t channels[] = {1, 0, 3, 1, 2, 0, 4};
    struct pr_png_reader *x = r->data;
    uint32_t width = png_get_be32(p), height = png_get_be32(p + 4);

    x->depth = p[8];
    x->type = p[9];
    if (x->type > 6 || x->depth > 16 || __builtin_popcount(x->depth) != 1 ||
        !(depths[x->type] & x->depth) || p[10] || p[11] || p[12] > 1)
        return pr_reader_bad(r, 16, err, "the png header makes no sense");
    if (!width || !height || width > PR_PNG_SIDE || height > PR_PNG_SIDE)
        return pr_reader_bad(r, 16, err, "an image of %lu x %lu is not valid",
                             (unsigned long)width, (unsigned long)height);
    x->bits = channels[x->type] * x->depth;
    x->image.image = (struct pr_image){
        .width = width, .height = height, .channels = channels[x->type]};
    x->image.dtype = x->depth == 16 ? PR_U16 : PR_U8;
    return PR_OK;
}

/* Checks a chunk; *ret_end is where the next one starts. */
static int png_check_chunk(struct pr_reader *r, size_t at, size_t *ret_end,
                           struct pr_err *err)
{
    const struct pr_png_reader *x = r->data;
    const uint8_t *p = x->image.file + at;
    size_t left = (size_t)r->obj.size - at;
    uint32_t len = left >= 12 ? png_get_be32(p) : 0;

    if (left < 12 || len > left - 12)
        return pr_reader_bad(r, at, err, "the png file is cut short");
    for (int i = 4; i < 8; i++)
        if ((unsigned)(p[i] | 32) - 'a' > 25)
            return pr_reader_bad(r, at, err, "there is no chunk here");
    if (!r->opts.skip_checksum &&
        pr_crc32(0, p + 4, (size_t)len + 4) != png_get_be32(p + 8 + len))
        return pr_reader_bad(r, at, err, "the checksum of chunk %.4s is wrong",
                             (const char *)p + 4);
    *ret_end = at + 12 + len;
    return PR_OK;
}

static bool is_chunk(const uint8_t *p, const char *type)
{
    return memcmp(p + 4, type, 4) == 0;
}

/* A chunk that was checked: what it says about the image. */
static int note_chunk(struct pr_reader *r, size_t at, size_t end,
                      struct pr_err *err)
{
    struct pr_png_reader *x = r->data;
    const uint8_t *p = x->image.file + at;
    bool first = at == 8;

    if (first != is_chunk(p, "IHDR") || (first && end - at != 12 + 13))
        return pr_reader_bad(r, at, err, "the png header is out of place");
    if (first)
        return png_parse_header(r, p + 8, err);
    if (is_chunk(p, "IDAT"))
        x->packed += end - at - 12;
    if (is_chunk(p, "tRNS") && x->type == PNG_COLOR_TYPE_PALETTE && !x->packed)
        x->transparent = true;
    return PR_OK;
}

static int png_walk_chunks(struct pr_reader *r, struct pr_err *err)
{
    struct pr_png_reader *x = r->data;
    size_t at = 8, end = 0;

    x->transparent = false;
    x->packed = 0;
    if (r->obj.size < 8 || png_sig_cmp(x->image.file, 0, 8))
        return pr_reader_bad(r, 0, err, "this is not a png file");
    for (;; at = end) {
        int rc = png_check_chunk(r, at, &end, err);

        if (!rc)
            rc = note_chunk(r, at, end, err);
        if (rc)
            return rc;
        if (is_chunk(x->image.file + at, "IEND"))
            return PR_OK;
    }
}

/* Deflate makes at most 1032 bytes of one. */
static int png_check_size(struct pr_reader *r, struct pr_err *err)
{
    struct pr_png_reader *x = r->data;
    struct pr_image *image = &x->image.image;
    int rc = pr_image_set_need(r, err);

    if (rc)
        return rc;
    if ((uint64_t)image->width * image->height * x->bits / 8 > x->packed * 1032)
        return pr_reader_bad(
            r, 16, err, "an image of %lu x %lu does not fit the file",
            (unsigned long)image->width, (unsigned long)image->height);
    return PR_OK;
}

static int png_open(struct pr_reader *r, struct pr_err *err)
{
    struct pr_png_reader *x = r->data;
    int rc = pr_image_open(r, err);

    if (rc || r->opts.skip_decode)
        return rc;
    rc = png_walk_chunks(r, err);
    if (rc)
        return pr_image_undecodable(rc, err);
    if (x->type == PNG_COLOR_TYPE_PALETTE)
        x->image.image.channels = x->transparent ? 4 : 3;
    return png_check_size(r, err);
}

/* ---- reading */

static void png_get_bytes(png_structp png, png_bytep data, size_t len)
{
    struct pr_png_reader *x = png_get_io_ptr(png);

    if ((size_t)(x->end - x->at) < len)
        png_error(png, "the file is cut short");
    memcpy(data, x->at, len);
    x->at += len;
}

/* Checksums were checked or are not wanted; what is not about pixels is not
 * looked at. */
static void set_up(struct pr_png_reader *x)
{
    png_structp png = x->lib.png;

    png_set_read_fn(png, x, png_get_bytes);
    png_set_user_limits(png, PR_PNG_SIDE, PR_PNG_SIDE);
    png_set_crc_action(png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_benign_errors(png, x->skip_checksum);
#ifdef PNG_IGNORE_ADLER32 /* some builds of libpng lack it */
    if (x->skip_checksum)
        png_set_option(png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
#endif
}

static void png_decode(void *ctx)
{
    struct pr_png_reader *x = ctx;
    png_structp png = x->lib.png;
    int passes;

    set_up(x);
    png_read_info(png, x->lib.info);
    if (x->type == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(png);
    else if (x->depth < 8)
        png_set_expand_gray_1_2_4_to_8(png);
    else if (x->depth == 16)
        png_set_byte_order(&x->lib);
    passes = png_set_interlace_handling(png);
    png_read_update_info(png, x->lib.info);
    if (png_get_rowbytes(png, x->lib.info) != x->row)
        png_error(png, "the transparent colours make no sense");
    for (int pass = 0; pass < passes; pass++)
        for (size_t y = 0; y < x->image.image.height; y++)
            png_read_row(png, x->out + y * x->row, NULL);
}

static int png_read(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
                    struct pr_sample *ret, struct pr_err *err)
{
    struct pr_png_reader *x = r->data;
    int rc;

    (void)i;
    if (r->opts.skip_decode)
        return pr_image_read_stored(r, buf, cap, ret, err);
    rc = pr_image_check_room(r, cap, err);
    if (rc)
        return rc;
    x->at = x->image.file;
    x->end = x->at + r->obj.size;
    x->out = buf;
    x->row = r->need / x->image.image.height;
    x->skip_checksum = r->opts.skip_checksum;
    rc = png_start(&x->lib, true, err);
    if (!rc && png_run(&x->lib, png_decode, x))
        rc = pr_image_undecodable(png_failed(&x->lib, r->name, err), err);
    png_stop(&x->lib, true);
    if (!rc)
        *ret = pr_image_sample(r, buf);
    return rc;
}

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
        png_set_byte_order(&x->lib);
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
    rc = png_start(&x->lib, false, err);
    if (!rc && png_run(&x->lib, png_encode, x))
        rc = png_failed(&x->lib, name, err);
    png_stop(&x->lib, false);
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
    .open = png_open,
    .read = png_read,
    .close = pr_image_close,
};
