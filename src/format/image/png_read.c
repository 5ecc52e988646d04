/*
 * Reading png. The structure and the checksums of a file are checked here when
 * it is opened, since the library's own checksums are slow; the library then
 * decodes into the caller's buffer.
 */
#include "base/codec/checksum.h"
#include "format/image/png.h"

#include <endian.h>
#include <string.h>

/* ---- the structure of a file */

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

int pr_png_open(struct pr_reader *r, struct pr_err *err)
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
        pr_png_set_byte_order(&x->lib);
    passes = png_set_interlace_handling(png);
    png_read_update_info(png, x->lib.info);
    if (png_get_rowbytes(png, x->lib.info) != x->row)
        png_error(png, "the transparent colours make no sense");
    for (int pass = 0; pass < passes; pass++)
        for (size_t y = 0; y < x->image.image.height; y++)
            png_read_row(png, x->out + y * x->row, NULL);
}

int pr_png_read(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
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
    rc = pr_png_start(&x->lib, true, err);
    if (!rc && pr_png_run(&x->lib, png_decode, x))
        rc = pr_image_undecodable(pr_png_failed(&x->lib, r->name, err), err);
    pr_png_stop(&x->lib, true);
    if (!rc)
        *ret = pr_image_sample(r, buf);
    return rc;
}
