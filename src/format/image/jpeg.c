/*
 * jpeg: an image a file, by libjpeg-turbo. Written as Pillow writes by default
 * (quality 75, colour at half the resolution); read as Pillow reads: gray as
 * (height, width), colour as (height, width, 3) in RGB, CMYK as (height,
 * width, 4). What the library only warns of, a file cut short for example, is
 * an error.
 */
#include "format/image/image.h"

#include <limits.h>
#include <string.h>
#include <turbojpeg.h>

/* ---- a part of an image */

/*
 * Its pixels are the same as if all of the image was decoded. libturbojpeg
 * decodes whole images; libjpeg beside it, of the same makers, can leave out
 * rows and columns. It is loaded when first needed. Without it, and where a
 * part costs as much as the whole, images are decoded whole.
 *
 * Rows above the part are decoded as far as the entropy coding needs it, rows
 * below not at all; of the columns beside it the transform is left out. Colour
 * of less resolution is made larger from neighbours on both sides, so a little
 * more than the part is decoded: what the edges lack is then outside.
 */

#if PR_HAVE_LIBJPEG

#include <stdio.h> /* which jpeglib.h needs */

#include <dlfcn.h>
#include <jpeglib.h>
#include <pthread.h>
#include <setjmp.h>

/* Zeroed at the start; it stays where it is. */
struct pr_jpeg_part {
    struct jpeg_decompress_struct z;
    struct jpeg_error_mgr mgr;
    jmp_buf failed;
    bool is_made;
};

#else

struct pr_jpeg_part {
    bool is_made;
};

#endif

#if PR_HAVE_LIBJPEG

enum {
    MARGIN = 2,    /* columns that decide over their neighbours */
    NARROWEST = 8, /* below it the library makes colour larger another way */
    ROWS = 16,     /* that are asked for at once */
};

/* ---- a part: the library */

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

/* ---- a part: what goes wrong: the image is decoded whole, which says what it
 * is */

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

/* Decodes at least the part that is wanted into buf, which has room for the
 * whole image, and says which one that was. False: it was not done, for
 * whatever reason, and the image has to be decoded whole. What is wrong with a
 * file below the part is not noticed, as long as the file has an end. */
static void jpeg_part_done(struct pr_jpeg_part *x)
{
    if (x->is_made)
        lib.api.jpeg_destroy_decompress(&x->z);
}

/* ---- a part: decoding it */

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

static bool jpeg_part_decode(struct pr_jpeg_part *x, const uint8_t *file,
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

bool jpeg_part_decode(struct pr_jpeg_part *x, const uint8_t *file, size_t size,
                      const struct pr_image *image, const struct pr_part *want,
                      uint8_t *buf, struct pr_part *ret)
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

void jpeg_part_done(struct pr_jpeg_part *x)
{
    (void)x;
}

#endif

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
    if (!jpeg_part_decode(&x->part, x->image.file, (size_t)r->obj.size, image,
                          part, buf, &there))
        return jpeg_read(r, i, buf, cap, ret, err);
    *ret = pr_image_sample(r, buf);
    ret->part = there;
    ret->size = (size_t)(there.rows * there.columns * image->channels);
    return PR_OK;
}

static void jpeg_reader_done(struct pr_reader *r)
{
    struct reader *x = r->data;

    jpeg_part_done(&x->part);
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
