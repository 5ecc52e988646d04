/*
 * How samples become bytes. One struct of functions, one list
 * (format_list.def), one file or two a format. A format reads and writes
 * objects of a storage and does not know what kind of storage it is.
 *
 * Reading: a reader belongs to one thread, opens one file after another and
 * gives samples by number. It decodes into the caller's buffer. Once its own
 * buffers have grown to what the files need it allocates nothing.
 * Writing: a writer belongs to one thread; it makes a file from a
 * specification, contents included, for these follow from the seed.
 */
#ifndef PR_FORMAT_H
#define PR_FORMAT_H

#include "base/codec/deflate.h"
#include "format/dtype.h"
#include "storage/storage.h"

#include <string.h>

enum { PR_FORMAT_ABI = 1, PR_MAX_DIMS = 16 };

struct pr_shape {
    unsigned ndim; /* 0: a single number */
    uint64_t dim[PR_MAX_DIMS];
};

/* How many digits a number has in decimal. */
static inline unsigned pr_count_digits(uint64_t n)
{
    unsigned count = 1;
    uint64_t limit = 10;

    for (; n >= limit && count < 19; limit *= 10)
        count++;
    return n >= limit ? 20 : count;
}

static inline bool pr_shape_is_same(const struct pr_shape *a,
                                    const struct pr_shape *b)
{
    return a->ndim == b->ndim &&
           memcmp(a->dim, b->dim, a->ndim * sizeof *a->dim) == 0;
}

/* Product of the dimensions; UINT64_MAX when it does not fit. */
uint64_t pr_shape_count(const struct pr_shape *s);

enum pr_compression {
    PR_PLAIN,
    PR_ZIP,  /* deflate: npz members */
    PR_GZIP, /* gzip: whole files, HDF5 chunks */
    PR_ZLIB, /* whole TFRecord files */
    PR_LZF,  /* HDF5 chunks */
};

/* What the length of a record is of an image. */
enum pr_payload {
    PR_PIXELS, /* the decoded image */
    PR_FILE,   /* the file as it is stored */
    PR_RAW,    /* the file, which holds bytes that are not an image */
};

/* All there is to know about a file to be written. */
struct pr_file_spec {
    struct pr_shape shape; /* of one sample */
    enum pr_dtype dtype;
    uint64_t samples;
    uint64_t key;       /* all contents follow from it */
    uint64_t number;    /* of the file, 0, 1, … */
    bool labels_inside; /* where the format has a place for them */
    bool labels_alone;  /* the samples are labels: an int64 each */
    uint64_t classes;   /* labels are below it; 0 and 1: all are 0 */
    enum pr_compression compression;
    int level; /* 1 fast to 9 small */
    enum pr_payload payload;
    uint64_t stored;        /* PR_FILE: bytes of the file */
    const char *index_name; /* TFRecord: the index file to write; or NULL */
    /* HDF5 */
    unsigned dataset_count; /* the sample is split over so many; 1 or more */
    struct pr_shape chunk;  /* with the sample axis first; ndim 0: none */
    struct pr_shape max;    /* without the sample axis; ndim 0: none */
};

/* Bytes of one sample in memory; of a label where these are alone. */
uint64_t pr_spec_sample_bytes(const struct pr_file_spec *spec);

/* ---- samples as a reader gives them */

/* Rows and columns of a picture. */
struct pr_part {
    uint64_t top, left, rows, columns;
};

struct pr_sample {
    const void *data;    /* in the caller's buffer, or the reader's until the
                            next read or close */
    size_t size;         /* bytes */
    enum pr_dtype dtype; /* in the byte order of this machine */
    struct pr_shape shape;
    bool fortran; /* first dimension fastest */
    bool has_label;
    int64_t label;
    struct pr_part part; /* rows are not 0: data has this part of the shape
                            alone */
};

struct pr_read_opts {
    bool skip_checksum;    /* do not check what has one */
    bool skip_decode;      /* give the stored bytes: storage alone */
    uint64_t samples;      /* in each file, where the file does not say which
                              axis counts them; 0: not known */
    enum pr_dtype dtype;   /* of csv, which does not say it */
    uint64_t sample_bytes; /* that the parameters say a sample has; 0: not
                              known */
};

struct pr_format;

struct pr_reader {
    const struct pr_format *format;
    struct pr_storage *st;
    struct pr_read_opts opts;
    bool is_open;
    char name[4096];       /* of the open file */
    struct pr_object obj;  /* it; hdf5 and others may use more */
    uint64_t samples;      /* in it; set by open */
    size_t need;           /* bytes of buffer that any read of it needs, slack
                              included; set by open, may grow at a read */
    struct pr_shape whole; /* of a picture that parts can be read of; set by
                              open; ndim 0: there are none */
    uint8_t *scratch;      /* pr_reader_scratch */
    size_t scratch_cap;
    void *data; /* format->reader_bytes, zeroed at the start */
};

int pr_reader_new(const struct pr_format *format, struct pr_storage *st,
                  const struct pr_read_opts *opts, struct pr_reader **ret,
                  struct pr_err *err) PR_MUST_CHECK;
void pr_reader_free(struct pr_reader *r); /* NULL is fine; closes */

/* Opens a file, checks its structure and counts its samples. */
int pr_reader_open(struct pr_reader *r, const char *name,
                   struct pr_err *err) PR_MUST_CHECK;

/* Sample i < r->samples; buf has at least r->need bytes and is aligned to
 * PR_IO_ALIGN (pr_storage_buffer). In order is never slower than at random. */
int pr_reader_read(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
                   struct pr_sample *ret, struct pr_err *err) PR_MUST_CHECK;

/* A part of sample i, of a reader that has a `whole`, with the same pixels that
 * reading all of it gives. ret->part says what is there: as much or more, or
 * its rows are 0: all. What is wrong with the rest of the sample may go
 * unnoticed. The buffer is as above. */
int pr_reader_read_part(struct pr_reader *r, uint64_t i,
                        const struct pr_part *part, void *buf, size_t cap,
                        struct pr_sample *ret,
                        struct pr_err *err) PR_MUST_CHECK;
void pr_reader_close(struct pr_reader *r);

/* For formats: a buffer of the reader's with at least so many bytes, aligned
 * to PR_IO_ALIGN; it grows and keeps nothing. NULL: out of memory. */
uint8_t *pr_reader_scratch(struct pr_reader *r, size_t bytes);

/* For formats, before so much memory is asked for: what is unpacked may be far
 * larger than its file, so there is a limit beyond the file's size, of 1 GiB or
 * four times what the parameters say a sample has. A reader's need is checked
 * for them. */
int pr_reader_limit(const struct pr_reader *r, uint64_t bytes,
                    struct pr_err *err) PR_MUST_CHECK;

/* For formats: the file is not what it should be. "FILE: at byte 128: text" */
int pr_reader_bad(const struct pr_reader *r, uint64_t offset,
                  struct pr_err *err, const char *fmt, ...) PR_PRINTF(4, 5);

/* ---- writers */

struct pr_writer {
    const struct pr_format *format;
    struct pr_storage *st;
    const bool *stop; /* becomes true when it should give up; or NULL */
    void *data;       /* format->writer_bytes, zeroed at the start */
};

int pr_writer_new(const struct pr_format *format, struct pr_storage *st,
                  struct pr_writer **ret, struct pr_err *err) PR_MUST_CHECK;
void pr_writer_free(struct pr_writer *w); /* NULL is fine */

/* Makes a file, and those that go with it; nothing is left on failure.
 * ret_bytes is what was written, all of them together. */
int pr_writer_write(struct pr_writer *w, const struct pr_file_spec *spec,
                    const char *name, uint64_t *ret_bytes,
                    struct pr_err *err) PR_MUST_CHECK;

/* For formats, now and then while they write: give up, return PR_E_INTR. */
bool pr_writer_is_stopped(const struct pr_writer *w);

/* ---- a format */

enum pr_format_flags {
    PR_FORMAT_LOSSY = 1 << 0,  /* reading does not give what was written */
    PR_FORMAT_U8 = 1 << 1,     /* only uint8 */
    PR_FORMAT_LABELS = 1 << 2, /* has a place for labels */
    PR_FORMAT_ONE = 1 << 3,    /* one sample a file */
    PR_FORMAT_EMPTY = 1 << 4,  /* nothing to read: samples are made up */
    PR_FORMAT_U16 = 1 << 5,    /* only uint8 and uint16 */
    PR_FORMAT_STREAM = 1 << 6, /* where the size is not exact, making it once
                                  more tells it; cut or continued it might
                                  still be read */
    PR_FORMAT_IMAGE = 1 << 7,  /* has a payload */
};

struct pr_format {
    int abi; /* PR_FORMAT_ABI */
    const char *name;
    const char *alias; /* a second name, or NULL */
    const char *desc;  /* one line */
    unsigned flags;
    const char *compressions;      /* "none|gzip", the first is the default */
    const char *const *companions; /* endings of files beside; NULL-ended, or
                                      NULL */

    /* Whether it can hold this. PR_E_CONF, the message names dataset.*. */
    int (*check)(const struct pr_file_spec *spec, struct pr_err *err);
    /* Bytes of the file and its companions; exact, or at most. */
    uint64_t (*bytes)(const struct pr_file_spec *spec, bool *ret_exact);

    size_t writer_bytes;
    int (*write)(struct pr_writer *w, const struct pr_file_spec *spec,
                 const char *name, uint64_t *ret_bytes, struct pr_err *err);
    void (*writer_done)(struct pr_writer *w); /* optional */

    size_t reader_bytes;
    int (*open)(struct pr_reader *r, struct pr_err *err);
    int (*read)(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
                struct pr_sample *ret, struct pr_err *err);
    /* Optional; needed by one whose open sets `whole`. */
    int (*read_part)(struct pr_reader *r, uint64_t i,
                     const struct pr_part *part, void *buf, size_t cap,
                     struct pr_sample *ret, struct pr_err *err);
    void (*close)(struct pr_reader *r);       /* also after a failed open */
    void (*reader_done)(struct pr_reader *r); /* optional */
};

/* Formats of this build; NULL when i is too large. */
const struct pr_format *pr_format_at(size_t i);

/* PR_E_UNAVAIL, with the remedy, for one that was not built in. */
int pr_format_find(const char *name, const struct pr_format **ret,
                   struct pr_err *err) PR_MUST_CHECK;

/* ---- a stream of bytes into an object being written: a block is filled, then
 * written whole. What fills it may do so in place, so that a byte made up is
 * touched once before the storage takes it. */

struct pr_out {
    struct pr_object obj;
    struct pr_storage *st;
    uint8_t *whole; /* PR_OUT_LEAD bytes more than the block needs */
    uint8_t *block; /* in it */
    size_t cap, used;
    uint64_t base; /* offset of the block in the object */
    bool is_open;
};

enum { PR_OUT_BLOCK = 256 << 10, PR_OUT_LEAD = 64 };

/* Once a writer: the block comes from pr_storage_buffer. */
int pr_out_init(struct pr_out *out, struct pr_storage *st,
                struct pr_err *err) PR_MUST_CHECK;

int pr_out_create(struct pr_out *out, const char *name, uint64_t size,
                  struct pr_err *err) PR_MUST_CHECK;

/* Right after creating: so many bytes come before the bulk, which should be
 * aligned in memory. No effect where the storage wants the file's own
 * alignment. */
void pr_out_lead(struct pr_out *out, size_t lead);

/* Where the next byte goes. */
static inline uint64_t pr_out_offset(const struct pr_out *out)
{
    return out->base + out->used;
}

/* Room for up to want bytes at the offset; *ret_len says how many, at least
 * one. Fill some from the start, then pr_out_advance. */
int pr_out_room(struct pr_out *out, size_t want, uint8_t **ret, size_t *ret_len,
                struct pr_err *err) PR_MUST_CHECK;
void pr_out_advance(struct pr_out *out, size_t len);

int pr_out_put(struct pr_out *out, const void *data, size_t len,
               struct pr_err *err) PR_MUST_CHECK;

/* Overwrites bytes that were put before. */
int pr_out_patch(struct pr_out *out, uint64_t off, const void *data, size_t len,
                 struct pr_err *err) PR_MUST_CHECK;

int pr_out_commit(struct pr_out *out, struct pr_err *err) PR_MUST_CHECK;
void pr_out_discard(struct pr_out *out); /* no-op when none is open */

/* ---- compressing on the way into a stream: npz members, csv and TFRecord
 * files. One state for any number of files; it is made again when the level
 * changes. */

struct pr_squeeze {
    struct pr_deflate *z;
    int level; /* of z */
};

int pr_squeeze_start(struct pr_squeeze *q, int level, enum pr_wrap wrap,
                     struct pr_err *err) PR_MUST_CHECK;

/* last: nothing comes after this. */
int pr_squeeze_put(struct pr_squeeze *q, struct pr_out *out, const void *data,
                   size_t len, bool last, struct pr_err *err) PR_MUST_CHECK;

void pr_squeeze_done(struct pr_squeeze *q);

/* ---- looking at small parts of a file while its structure is read: what was
 * fetched last is kept, a small file is fetched whole, so that few requests are
 * made. The bytes are in the reader's scratch, or in memory of the object's. */

enum {
    PR_WINDOW_WHOLE = 1 << 20, /* files up to this are fetched whole */
    PR_WINDOW_STEP = 4096,     /* of others at least so much */
    PR_WINDOW_MAX = 256 << 10, /* and at most so much */
};

struct pr_window {
    uint64_t off;
    size_t len;
    const uint8_t *data;
};

/* At the start of a file that was opened: forgets, fetches a small file. */
int pr_window_open(struct pr_window *w, struct pr_reader *r,
                   struct pr_err *err) PR_MUST_CHECK;

/* Whether the whole file is there, and stays until it is closed. */
static inline bool pr_window_is_whole(const struct pr_window *w,
                                      const struct pr_reader *r)
{
    return w->len == r->obj.size;
}

/* Bytes [off, off + len), len up to PR_WINDOW_MAX, until the next call or use
 * of the scratch. Beyond the end of the file: PR_E_FORMAT. */
int pr_window_get(struct pr_window *w, struct pr_reader *r, uint64_t off,
                  size_t len, const uint8_t **ret,
                  struct pr_err *err) PR_MUST_CHECK;

#endif
