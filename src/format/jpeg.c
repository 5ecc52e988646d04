/*
 * jpeg: an image a file, by libjpeg-turbo. Written as Pillow writes by default
 * (quality 75, colour at half the resolution); read as Pillow reads: gray as
 * (height, width), colour as (height, width, 3) in RGB, CMYK as (height,
 * width, 4). What the library only warns of, a file cut short for example, is
 * an error.
 */
#include "format/image.h"
#include "format/jpeg_part.h"

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

static int check(const struct pr_file_spec *spec, struct pr_err *err)
{
    int rc = pr_image_check(spec, &rule, err);

    if (rc || spec->dtype == PR_U8)
        return rc;
    return pr_fail(err, PR_E_CONF, "dataset.record_element_type",
                   "jpeg holds uint8, not %s", pr_dtype_name(spec->dtype));
}

static enum TJSAMP sampling(const struct pr_image *image)
{
    return image->channels == 1 ? TJSAMP_GRAY : TJSAMP_420;
}

static uint64_t file_bytes(const struct pr_file_spec *spec, bool *ret_exact)
{
    struct pr_image image = pr_image_of(spec);

    *ret_exact = false;
    return tjBufSize((int)image.width, (int)image.height, sampling(&image));
}

/* ---- writing */

struct writer {
    struct pr_out out;
    tjhandle tj;
    struct pr_image_buf pixels, file;
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

static int prepare(struct pr_writer *w, struct pr_err *err)
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

static int compress(struct writer *x, const struct pr_file_spec *spec,
                    const char *name, unsigned long *ret_len,
                    struct pr_err *err)
{
    struct pr_image image = pr_image_of(spec);
    unsigned long len =
        tjBufSize((int)image.width, (int)image.height, sampling(&image));
    uint8_t *file = pr_image_room(&x->file, len);

    if (!file)
        return pr_fail_nomem(err);
    if (tjCompress2(
            x->tj, x->pixels.data, (int)image.width, 0, (int)image.height,
            image.channels == 1 ? TJPF_GRAY : TJPF_RGB, &file, &len,
            sampling(&image), 75, TJFLAG_NOREALLOC | TJFLAG_ACCURATEDCT))
        return library_failed(x->tj, name, err);
    *ret_len = len;
    return PR_OK;
}

static int write_file(struct pr_writer *w, const struct pr_file_spec *spec,
                      const char *name, uint64_t *ret_bytes, struct pr_err *err)
{
    struct writer *x = w->data;
    unsigned long len = 0;
    int rc = prepare(w, err);

    if (!rc)
        rc = pr_image_make(w, spec, &x->pixels, err);
    if (!rc)
        rc = compress(x, spec, name, &len, err);
    if (!rc)
        rc = pr_out_create(&x->out, name, len, err);
    if (!rc)
        rc = pr_out_put(&x->out, x->file.data, len, err);
    if (!rc)
        rc = pr_out_commit(&x->out, err);
    if (rc)
        pr_out_discard(&x->out);
    else
        *ret_bytes = len;
    return rc;
}

static void writer_done(struct pr_writer *w)
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

static unsigned be16(const uint8_t *p)
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
    return pr_reader_bad(r, at, err, "this is no jpeg file");
}

/* The header of the image; everything before it is skipped. */
static int find_frame(const struct pr_reader *r, const uint8_t *file,
                      struct frame *ret, struct pr_err *err)
{
    size_t size = (size_t)r->obj.size, at = 2, len;

    if (size < 4 || be16(file) != 0xffd8)
        return bad_head(r, 0, err);
    for (;; at += 2 + len) {
        while (at + 1 < size && file[at] == 0xff && file[at + 1] == 0xff)
            at++;
        if (size - at < 4 || file[at] != 0xff)
            return bad_head(r, at, err);
        ret->marker = file[at + 1];
        len = be16(file + at + 2);
        if (ret->marker < 0xc0 || ret->marker == 0xd9 || ret->marker == 0xda ||
            len < 2 || len > size - at - 2)
            return bad_head(r, at, err);
        if (is_frame(ret->marker))
            break;
    }
    if (len < 8)
        return bad_head(r, at, err);
    ret->at = at;
    ret->image = (struct pr_image){.height = be16(file + at + 5),
                                   .width = be16(file + at + 7),
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

static int open_file(struct pr_reader *r, struct pr_err *err)
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
        return rc;
    x->image.image = frame.image;
    x->image.dtype = PR_U8;
    rc = pr_image_size(r, err);
    if (!rc)
        r->whole = pr_image_sample(r, NULL).shape;
    return rc;
}

/* Adobe stores the four inks inverted, and Pillow takes every file for one of
 * theirs. */
static void invert(uint8_t *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (uint8_t)~p[i];
}

static int decode(struct pr_reader *r, uint8_t *buf, struct pr_err *err)
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
        invert(buf, r->need);
    return PR_OK;
}

static int read_sample(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
                       struct pr_sample *ret, struct pr_err *err)
{
    int rc;

    (void)i;
    if (r->opts.skip_decode)
        return pr_image_stored(r, buf, cap, ret, err);
    rc = pr_image_cap(r, cap, err);
    if (!rc)
        rc = decode(r, buf, err);
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
    int rc = pr_image_cap(r, cap, err);

    if (rc)
        return rc;
    if (!pr_jpeg_part_decode(&x->part, x->image.file, (size_t)r->obj.size,
                             image, part, buf, &there))
        return read_sample(r, i, buf, cap, ret, err);
    *ret = pr_image_sample(r, buf);
    ret->part = there;
    ret->size = (size_t)(there.rows * there.columns * image->channels);
    return PR_OK;
}

static void reader_done(struct pr_reader *r)
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
    .flags = PR_FORMAT_LOSSY | PR_FORMAT_U8 | PR_FORMAT_ONE,
    .compressions = "none",
    .check = check,
    .bytes = file_bytes,
    .writer_bytes = sizeof(struct writer),
    .write = write_file,
    .writer_done = writer_done,
    .reader_bytes = sizeof(struct reader),
    .open = open_file,
    .read = read_sample,
    .read_part = read_part,
    .close = pr_image_close,
    .reader_done = reader_done,
};
