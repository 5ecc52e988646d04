/* What the image formats share: shapes, contents, and whole files in memory. */
#ifndef PR_FORMAT_IMAGE_H
#define PR_FORMAT_IMAGE_H

#include "format/content.h"

/* Pixels are rows of columns of channels. */
struct pr_image {
    uint32_t width, height;
    unsigned channels;
};

struct pr_image_rule {
    const char *name;     /* of the format */
    unsigned channels;    /* bit n: a third dimension of n is possible */
    uint64_t side;        /* the largest */
    const char *possible; /* for the hint */
};

/* (height, width) or (height, width, channels), one sample, no compression. */
int pr_image_check(const struct pr_file_spec *spec,
                   const struct pr_image_rule *rule,
                   struct pr_err *err) PR_MUST_CHECK;

/* Of a specification that was checked. */
struct pr_image pr_image_of(const struct pr_file_spec *spec);

/* The largest image that is read: 2 GiB. */
enum { PR_IMAGE_MAX_SHIFT = 31 };

/* A buffer that grows and keeps nothing. */
struct pr_image_buf {
    uint8_t *data;
    size_t cap;
};
uint8_t *pr_image_buf_grow(struct pr_image_buf *buf, size_t bytes);
void pr_image_buf_done(struct pr_image_buf *buf);

/* Makes the pixels of a file's sample in buf. */
int pr_image_make(struct pr_writer *w, const struct pr_file_spec *spec,
                  struct pr_image_buf *buf, struct pr_err *err) PR_MUST_CHECK;

/* PR_RAW: the file, which is the content of its sample as it is. */
int pr_image_write_raw(struct pr_writer *w, struct pr_out *out,
                       const struct pr_file_spec *spec, const char *name,
                       uint64_t *ret_bytes, struct pr_err *err) PR_MUST_CHECK;

/* PR_FILE: what is left of a file is filled by parts that readers skip, of
 * `head` bytes and some of noise. How many bytes the next part has, heads
 * included, at most `most`; left is 0 or head at least, and stays so. */
uint64_t pr_image_pad(uint64_t left, unsigned head, uint64_t most);

/* Noise for these: `len` bytes in buf, from off on, as of a second sample. */
uint8_t *pr_image_pad_noise(const struct pr_file_spec *spec, uint64_t off,
                            size_t len, struct pr_image_buf *buf);

/* PR_FILE: an image of this shape takes `least` bytes. */
int pr_image_check_stored(const struct pr_file_spec *spec, const char *format,
                          uint64_t least, struct pr_err *err) PR_MUST_CHECK;

/* Names the remedy for a file that is not an image. Returns rc. */
int pr_image_undecodable(int rc, struct pr_err *err);

/* What readers start with. */
struct pr_image_reader {
    bool is_open;        /* the object */
    const uint8_t *file; /* all of it, in the scratch or a map */
    struct pr_image image;
    enum pr_dtype dtype;
};

/* Opens the object and fetches all of it. With skip_decode nothing is fetched,
 * the file is NULL, and there is no more to do. */
int pr_image_open(struct pr_reader *r, struct pr_err *err) PR_MUST_CHECK;

/* Sets the need of the reader by image and dtype; refuses what is too large. */
int pr_image_set_need(struct pr_reader *r, struct pr_err *err) PR_MUST_CHECK;

/* The stored bytes as the sample. */
int pr_image_read_stored(struct pr_reader *r, void *buf, size_t cap,
                         struct pr_sample *ret,
                         struct pr_err *err) PR_MUST_CHECK;

/* PR_E_CONF when cap is below r->need. */
int pr_image_check_room(const struct pr_reader *r, size_t cap,
                        struct pr_err *err) PR_MUST_CHECK;

/* The decoded image in buf as the sample. */
struct pr_sample pr_image_sample(const struct pr_reader *r, const void *buf);

void pr_image_close(struct pr_reader *r);

#endif
