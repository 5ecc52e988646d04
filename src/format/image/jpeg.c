/*
 * jpeg: an image a file, by libjpeg-turbo. Written as Pillow writes by default
 * (quality 75, colour at half the resolution); read as Pillow reads: gray as
 * (height, width), colour as (height, width, 3) in RGB, CMYK as (height,
 * width, 4). What the library only warns of, a file cut short for example, is
 * an error.
 */
#include "format/image/image.h"
#include "format/image/jpeg_part.h"

#include <limits.h>
#include <string.h>
#include <turbojpeg.h>

static const struct pr_image_rule rule = {
    .name = "jpeg",
    .channels = 1 << 1 | 1 << 3,
    .side = 65500, /* the library's limit */
    .possible = "(height, width) for gray and (height, width, 3) for colour "
                "are possible",
};

static enum TJSAMP jpeg_get_sampling(const struct pr_image *image)
{
    return image->channels == 1 ? TJSAMP_GRAY : TJSAMP_420;
}

/* Pixels of an image rounded up to what is coded together. */
static uint64_t coded_pixels(const struct pr_image *image)
{
    uint64_t unit = image->channels == 1 ? 8 : 16;

    return (image->width + unit - 1) / unit * unit *
           ((image->height + unit - 1) / unit * unit);
}

/* Markers and tables. */
static uint64_t head_bytes(const struct pr_image *image)
{
    return image->channels == 1 ? 330 : 625;
}

/* Of an image of one shade, which nothing is smaller than: 6 bits for 8 x 8
 * gray pixels, 32 for 16 x 16 of colour. */
static uint64_t flat_bytes(const struct pr_image *image)
{
    uint64_t pixels = coded_pixels(image);
    uint64_t bits = image->channels == 1 ? pixels / 64 * 6 : pixels / 256 * 32;

    return head_bytes(image) + (bits + 7) / 8;
}

static int jpeg_check(const struct pr_file_spec *spec, struct pr_err *err)
{
    int rc = pr_image_check(spec, &rule, err);
    struct pr_image image;

    if (!rc && spec->dtype != PR_U8)
        return pr_fail(err, PR_E_CONF, "dataset.record_element_type",
                       "jpeg holds uint8, not %s", pr_dtype_name(spec->dtype));
    image = pr_image_of(spec);
    return rc ? rc
              : pr_image_check_stored(spec, rule.name, flat_bytes(&image), err);
}

static uint64_t jpeg_bytes(const struct pr_file_spec *spec, bool *ret_exact)
{
    struct pr_image image = pr_image_of(spec);

    *ret_exact = spec->payload != PR_PIXELS;
    if (*ret_exact)
        return spec->payload == PR_RAW ? pr_spec_sample_bytes(spec)
                                       : spec->stored;
    return tjBufSize((int)image.width, (int)image.height,
                     jpeg_get_sampling(&image));
}

/* ---- writing */

enum {
    USUAL = 75, /* quality */
    BEST = 100,
    FLAT = 0, /* not a quality: one shade */
    TRIAL = 128,
    PAD_HEAD = 4,
    PAD_MOST = PAD_HEAD - 2 + 65535,
};

struct writer {
    struct pr_out out;
    tjhandle tj;
    struct pr_image_buf pixels, file;
    /* Bytes of noise of TRIAL x TRIAL pixels at each quality; [FLAT] of one
     * shade; 0: not tried. Gray, colour. */
    unsigned trial[2][BEST + 1];
};

/* NULL is a failure to make a handle. The library's words start with the name
 * of its function. */
static int library_failed(tjhandle tj, const char *where, struct pr_err *err)
{
    const char *text = tjGetErrorStr2(tj), *colon = strstr(text, "(): ");

    if (!tj || strncmp(text, "Insufficient memory", 19) == 0 ||
        strstr(text, "llocation failure"))
        return pr_fail_nomem(err);
    return pr_fail(err, PR_E_FORMAT, where, "%s", colon ? colon + 4 : text);
}

static int jpeg_writer_prepare(struct pr_writer *w, struct pr_err *err)
{
    struct writer *x = w->data;

    if (!x->out.block) {
        int rc = pr_out_init(&x->out, w->st, err);
        if (rc)
            return rc;
    }
    if (!x->tj)
        x->tj = tjInitCompress();
    return x->tj ? PR_OK : library_failed(NULL, "", err);
}

static int jpeg_encode(struct writer *x, const struct pr_file_spec *spec,
                       int quality, const char *name, unsigned long *ret_len,
                       struct pr_err *err)
{
    struct pr_image image = pr_image_of(spec);
    unsigned long len = tjBufSize((int)image.width, (int)image.height,
                                  jpeg_get_sampling(&image));
    uint8_t *file = pr_image_buf_grow(&x->file, len);

    if (!file)
        return pr_fail_nomem(err);
    if (quality == FLAT)
        memset(x->pixels.data, 128, (size_t)pr_spec_sample_bytes(spec));
    if (tjCompress2(
            x->tj, x->pixels.data, (int)image.width, 0, (int)image.height,
            image.channels == 1 ? TJPF_GRAY : TJPF_RGB, &file, &len,
            jpeg_get_sampling(&image), quality == FLAT ? USUAL : quality,
            TJFLAG_NOREALLOC | TJFLAG_ACCURATEDCT))
        return library_failed(x->tj, name, err);
    *ret_len = len;
    return PR_OK;
}

/* ---- a file of a given size: the best quality that fits, then padding. All
 * of it follows from the specification alone, so that every thread makes the
 * same file. */

static int try_qualities(struct pr_writer *w, unsigned channels,
                         struct pr_err *err)
{
    struct writer *x = w->data;
    struct pr_file_spec spec = {.shape = {.ndim = channels == 1 ? 2 : 3,
                                          .dim = {TRIAL, TRIAL, channels}},
                                .dtype = PR_U8,
                                .samples = 1};
    int rc = pr_image_make(w, &spec, &x->pixels, err);

    for (int q = BEST; !rc && q >= FLAT; q--) {
        unsigned long len = 0;

        rc = jpeg_encode(x, &spec, q, "", &len, err);
        x->trial[channels != 1][q] = (unsigned)len;
    }
    return rc;
}

/* The best quality that an image of this size is likely to fit with. */
static int likely_quality(const struct writer *x,
                          const struct pr_file_spec *spec)
{
    struct pr_image image = pr_image_of(spec);
    double head = (double)head_bytes(&image);
    double scale = (double)coded_pixels(&image) / TRIAL / TRIAL;
    const unsigned *trial = x->trial[image.channels != 1];
    int q = BEST;

    while (q > FLAT &&
           head + (trial[q] - head) * scale * 1.002 + 64 > (double)spec->stored)
        q--;
    return q;
}

static bool jpeg_can_fit(uint64_t len, uint64_t stored)
{
    return len == stored || (len < stored && stored - len >= PAD_HEAD);
}

static int compress_to_fit(struct pr_writer *w, const struct pr_file_spec *spec,
                           const char *name, unsigned long *ret_len,
                           struct pr_err *err)
{
    struct writer *x = w->data;
    unsigned channels = pr_image_of(spec).channels;
    int rc = PR_OK, q;

    if (!x->trial[channels != 1][FLAT])
        rc = try_qualities(w, channels, err);
    if (!rc)
        rc = pr_image_make(w, spec, &x->pixels, err);
    if (rc)
        return rc;
    q = likely_quality(x, spec);
    do
        rc = jpeg_encode(x, spec, q, name, ret_len, err);
    while (!rc && !jpeg_can_fit(*ret_len, spec->stored) && q-- > FLAT);
    if (!rc && !jpeg_can_fit(*ret_len, spec->stored))
        rc = pr_fail(err, PR_E_CONF, "dataset.record_length_bytes",
                     "no jpeg file has %llu bytes, use some more",
                     (unsigned long long)spec->stored);
    return rc;
}

/* In segments of no application's, which everybody skips. */
static int put_padding(struct writer *x, const struct pr_file_spec *spec,
                       uint64_t left, struct pr_err *err)
{
    enum { STEP = 65536 }; /* of noise */
    uint64_t part;
    int rc = PR_OK;

    for (uint64_t off = 0; !rc && left; left -= part, off += STEP) {
        uint8_t *noise = pr_image_pad_noise(spec, off, STEP, &x->pixels);
        uint8_t head[PAD_HEAD] = {0xff, 0xef};

        part = pr_image_pad(left, PAD_HEAD, PAD_MOST);
        head[2] = (uint8_t)((part - 2) >> 8);
        head[3] = (uint8_t)(part - 2);
        rc = noise ? pr_out_put(&x->out, head, sizeof head, err)
                   : pr_fail_nomem(err);
        if (!rc)
            rc = pr_out_put(&x->out, noise, (size_t)part - PAD_HEAD, err);
    }
    return rc;
}

/* The file that was compressed; padding goes behind its first segment, which
 * must come first. */
static int jpeg_put_file(struct writer *x, const struct pr_file_spec *spec,
                         size_t len, struct pr_err *err)
{
    const uint8_t *file = x->file.data;
    size_t first = 2 + 2 + ((size_t)file[4] << 8 | file[5]);
    uint64_t left = spec->payload == PR_FILE ? spec->stored - len : 0;
    int rc = pr_out_put(&x->out, file, first, err);

    if (!rc && left)
        rc = put_padding(x, spec, left, err);
    return rc ? rc : pr_out_put(&x->out, file + first, len - first, err);
}

static int jpeg_write(struct pr_writer *w, const struct pr_file_spec *spec,
                      const char *name, uint64_t *ret_bytes, struct pr_err *err)
{
    struct writer *x = w->data;
    unsigned long len = 0;
    uint64_t bytes;
    int rc = jpeg_writer_prepare(w, err);

    if (!rc && spec->payload == PR_RAW)
        return pr_image_write_raw(w, &x->out, spec, name, ret_bytes, err);
    if (!rc && spec->payload == PR_FILE)
        rc = compress_to_fit(w, spec, name, &len, err);
    else if (!rc)
        rc = pr_image_make(w, spec, &x->pixels, err);
    if (!rc && spec->payload == PR_PIXELS)
        rc = jpeg_encode(x, spec, USUAL, name, &len, err);
    bytes = spec->payload == PR_FILE ? spec->stored : len;
    if (!rc)
        rc = pr_out_create(&x->out, name, bytes, err);
    if (!rc)
        rc = jpeg_put_file(x, spec, len, err);
    if (!rc)
        rc = pr_out_commit(&x->out, err);
    if (rc)
        pr_out_discard(&x->out);
    else
        *ret_bytes = bytes;
    return rc;
}

static void jpeg_writer_done(struct pr_writer *w)
{
    struct writer *x = w->data;

    if (x->tj)
        tjDestroy(x->tj);
    pr_image_buf_done(&x->pixels);
    pr_image_buf_done(&x->file);
}

/* ---- reading */

struct reader {
    struct pr_image_reader image; /* first */
    tjhandle tj;
    struct pr_jpeg_part part;
};

struct frame {
    unsigned marker;
    size_t at; /* of the marker */
    struct pr_image image;
};

static unsigned jpeg_get_be16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

/* SOF0 to SOF15; three of that range are other things. */
static bool is_frame(unsigned marker)
{
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 &&
           marker != 0xc8 && marker != 0xcc;
}

static int bad_head(const struct pr_reader *r, size_t at, struct pr_err *err)
{
    return pr_reader_bad(r, at, err, "this is not a jpeg file");
}

/* The header of the image; everything before it is skipped. */
static int find_frame(const struct pr_reader *r, const uint8_t *file,
                      struct frame *ret, struct pr_err *err)
{
    size_t size = (size_t)r->obj.size, at = 2, len;

    if (size < 4 || jpeg_get_be16(file) != 0xffd8)
        return bad_head(r, 0, err);
    for (;; at += 2 + len) {
        while (at + 1 < size && file[at] == 0xff && file[at + 1] == 0xff)
            at++;
        if (size - at < 4 || file[at] != 0xff)
            return bad_head(r, at, err);
        ret->marker = file[at + 1];
        len = jpeg_get_be16(file + at + 2);
        if (ret->marker < 0xc0 || ret->marker == 0xd9 || ret->marker == 0xda ||
            len < 2 || len > size - at - 2)
            return bad_head(r, at, err);
        if (is_frame(ret->marker))
            break;
    }
    if (len < 8)
        return bad_head(r, at, err);
    ret->at = at;
    ret->image = (struct pr_image){.height = jpeg_get_be16(file + at + 5),
                                   .width = jpeg_get_be16(file + at + 7),
                                   .channels = file[at + 9]};
    return PR_OK;
}

/* Every block of 8 x 8 samples takes a bit at least. A gray image has one for
 * 64 pixels; one of several components has nine or more for 32 x 32, as one of
 * them has each of the largest sampling factors, which are 4 at most. With
 * arithmetic coding there is no such bound. */
static int check_frame(const struct pr_reader *r, const struct frame *f,
                       struct pr_err *err)
{
    const struct pr_image *image = &f->image;
    uint64_t most = r->obj.size * (image->channels == 1 ? 8 * 64 : 1024);
    uint64_t pixels = (uint64_t)image->width * image->height;

    if (image->channels != 1 && image->channels != 3 && image->channels != 4)
        return pr_reader_bad(r, f->at, err,
                             "an image of %u components is not supported",
                             image->channels);
    if (!pixels)
        return pr_reader_bad(r, f->at, err, "the image has no pixels");
    if (pixels > most && f->marker < 0xc8)
        return pr_reader_bad(
            r, f->at, err, "an image of %lu x %lu does not fit the file",
            (unsigned long)image->width, (unsigned long)image->height);
    return PR_OK;
}

static int jpeg_open(struct pr_reader *r, struct pr_err *err)
{
    struct reader *x = r->data;
    struct frame frame = {0};
    int rc = pr_image_open(r, err);

    if (rc || r->opts.skip_decode)
        return rc;
    rc = find_frame(r, x->image.file, &frame, err);
    if (!rc)
        rc = check_frame(r, &frame, err);
    if (rc)
        return pr_image_undecodable(rc, err);
    x->image.image = frame.image;
    x->image.dtype = PR_U8;
    rc = pr_image_set_need(r, err);
    if (!rc)
        r->whole = pr_image_sample(r, NULL).shape;
    return rc;
}

/* Adobe stores the four inks inverted, and Pillow takes every file for one of
 * theirs. */
static void jpeg_invert(uint8_t *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (uint8_t)~p[i];
}

static int jpeg_decode(struct pr_reader *r, uint8_t *buf, struct pr_err *err)
{
    static const int formats[] = {
        [1] = TJPF_GRAY, [3] = TJPF_RGB, [4] = TJPF_CMYK};
    struct reader *x = r->data;
    const struct pr_image *image = &x->image.image;

    if (!x->tj)
        x->tj = tjInitDecompress();
    if (!x->tj)
        return library_failed(NULL, "", err);
    if (tjDecompress2(x->tj, x->image.file, (unsigned long)r->obj.size, buf,
                      (int)image->width, 0, (int)image->height,
                      formats[image->channels],
                      TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS))
        return library_failed(x->tj, r->name, err);
    if (image->channels == 4)
        jpeg_invert(buf, r->need);
    return PR_OK;
}

static int jpeg_read(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
                     struct pr_sample *ret, struct pr_err *err)
{
    int rc;

    (void)i;
    if (r->opts.skip_decode)
        return pr_image_read_stored(r, buf, cap, ret, err);
    rc = pr_image_check_room(r, cap, err);
    if (!rc)
        rc = pr_image_undecodable(jpeg_decode(r, buf, err), err);
    if (!rc)
        *ret = pr_image_sample(r, buf);
    return rc;
}

static int read_part(struct pr_reader *r, uint64_t i,
                     const struct pr_part *part, void *buf, size_t cap,
                     struct pr_sample *ret, struct pr_err *err)
{
    struct reader *x = r->data;
    const struct pr_image *image = &x->image.image;
    struct pr_part there;
    int rc = pr_image_check_room(r, cap, err);

    if (rc)
        return rc;
    if (!pr_jpeg_part_decode(&x->part, x->image.file, (size_t)r->obj.size,
                             image, part, buf, &there))
        return jpeg_read(r, i, buf, cap, ret, err);
    *ret = pr_image_sample(r, buf);
    ret->part = there;
    ret->size = (size_t)(there.rows * there.columns * image->channels);
    return PR_OK;
}

static void jpeg_reader_done(struct pr_reader *r)
{
    struct reader *x = r->data;

    pr_jpeg_part_done(&x->part);
    if (x->tj)
        tjDestroy(x->tj);
}

const struct pr_format pr_format_jpeg = {
    .abi = PR_FORMAT_ABI,
    .name = "jpeg",
    .alias = "jpg",
    .desc = "an image a file, compressed with loss",
    .flags = PR_FORMAT_LOSSY | PR_FORMAT_U8 | PR_FORMAT_ONE | PR_FORMAT_IMAGE,
    .compressions = "none",
    .check = jpeg_check,
    .bytes = jpeg_bytes,
    .writer_bytes = sizeof(struct writer),
    .write = jpeg_write,
    .writer_done = jpeg_writer_done,
    .reader_bytes = sizeof(struct reader),
    .open = jpeg_open,
    .read = jpeg_read,
    .read_part = read_part,
    .close = pr_image_close,
    .reader_done = jpeg_reader_done,
};
