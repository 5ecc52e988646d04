/*
 * What one thread does with one file of a data set: make it, look whether it is
 * whole, read it back and compare, take it away.
 */
#include "base/codec/deflate.h"
#include "base/mem.h"
#include "format/content.h"
#include "generate/generate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- reading back: every byte of every sample is compared with what the seed
 * gives. A format that loses something (jpeg), or a file of a given size, is
 * compared with a second copy of the file, made in memory. */

enum { PIECE = 4 * PR_CONTENT_BLOCK };

/* Bytes of one record of a file of records. */
static uint64_t generate_worker_record_bytes(const struct pr_generate_worker *w,
                                             const struct pr_file_spec *of)
{
    struct pr_file_spec plain = *of;
    bool exact;

    plain.compression = PR_PLAIN;
    plain.index_name = NULL;
    return w->set->format->bytes(&plain, &exact) / of->samples;
}

/* A buffer that grows and keeps nothing. */
static int verify_grow_buffer(uint8_t **buf, size_t *cap, size_t need,
                              struct pr_err *err)
{
    if (need <= *cap)
        return PR_OK;
    pr_free(*buf);
    *cap = 0;
    *buf = pr_alloc_aligned(PR_IO_ALIGN, need);
    if (!*buf)
        return pr_fail_nomem(err);
    *cap = need;
    return PR_OK;
}

static int verify_read_sample(struct pr_reader *r, uint64_t i, uint8_t **buf,
                              size_t *cap, struct pr_sample *ret,
                              struct pr_err *err)
{
    int rc = verify_grow_buffer(buf, cap, r->need, err);
    size_t had = r->need;

    if (!rc)
        rc = pr_reader_read(r, i, *buf, *cap, ret, err);
    if (rc == PR_E_CONF && r->need > had) { /* it knows better now */
        rc = verify_grow_buffer(buf, cap, r->need, err);
        if (!rc)
            rc = pr_reader_read(r, i, *buf, *cap, ret, err);
    }
    return rc;
}

static int verify_fail_differs(const struct pr_reader *r, uint64_t sample,
                               uint64_t at, struct pr_err *err)
{
    pr_fail(err, PR_E_FORMAT, r->name,
            "sample %llu differs from what the seed gives, at its byte %llu",
            (unsigned long long)sample, (unsigned long long)at);
    return pr_hint(err, "remove the file and make it again with --resume, or "
                        "make all again with --force");
}

static uint64_t verify_find_difference(const uint8_t *a, const uint8_t *b,
                                       size_t n)
{
    size_t i = 0;

    while (i < n && a[i] == b[i])
        i++;
    return i;
}

static int compare_content(const struct pr_reader *r,
                           const struct pr_file_spec *spec, uint64_t i,
                           const struct pr_sample *s, struct pr_err *err)
{
    uint64_t want = pr_spec_sample_bytes(spec);
    uint64_t piece[PIECE / 8];

    if (s->size != want)
        return pr_fail(
            err, PR_E_FORMAT, r->name, "sample %llu has %zu bytes, not %llu",
            (unsigned long long)i, s->size, (unsigned long long)want);
    for (uint64_t at = 0; at < want; at += PIECE) {
        size_t n = want - at < PIECE ? (size_t)(want - at) : PIECE;
        const uint8_t *got = (const uint8_t *)s->data + at;

        pr_content_fill(spec, i, at, piece, n);
        if (memcmp(got, piece, n) != 0)
            return verify_fail_differs(
                r, i, at + verify_find_difference(got, (uint8_t *)piece, n),
                err);
    }
    return PR_OK;
}

static int compare_label(const struct pr_reader *r,
                         const struct pr_file_spec *spec, uint64_t i,
                         const struct pr_sample *s, struct pr_err *err)
{
    int64_t want = pr_content_label(spec, i);

    if (!spec->labels_inside || (s->has_label && s->label == want))
        return PR_OK;
    if (!s->has_label)
        return pr_fail(err, PR_E_FORMAT, r->name, "it has no labels");
    return pr_fail(err, PR_E_FORMAT, r->name,
                   "the label of sample %llu is %lld, not %lld",
                   (unsigned long long)i, (long long)s->label, (long long)want);
}

/* Opens a file and sees that it has the samples it should have. */
static int verify_open_file(struct pr_reader *r, const char *name,
                            uint64_t samples, struct pr_err *err)
{
    int rc = pr_reader_open(r, name, err);

    if (rc || r->samples == samples)
        return rc;
    rc = pr_fail(err, PR_E_FORMAT, name, "it has %llu samples, not %llu",
                 (unsigned long long)r->samples, (unsigned long long)samples);
    pr_reader_close(r);
    return rc;
}

static int verify_samples(struct pr_generate_worker *w, struct pr_reader *r,
                          const struct pr_file_spec *spec, const char *name,
                          struct pr_err *err)
{
    int rc = verify_open_file(r, name, spec->samples, err);
    struct pr_sample s;

    if (rc)
        return rc;
    for (uint64_t i = 0; i < spec->samples && !rc; i++) {
        rc = pr_writer_is_stopped(w->writer)
                 ? pr_fail(err, PR_E_INTR, name, "interrupted")
                 : verify_read_sample(r, i, &w->buf, &w->buf_cap, &s, err);
        if (!rc)
            rc = compare_content(r, spec, i, &s, err);
        if (!rc)
            rc = compare_label(r, spec, i, &s, err);
    }
    pr_reader_close(r);
    return rc;
}

/* Inflates all of an object. 1: it is one whole stream, to its last byte. */
static int is_stream(struct pr_object *o, struct pr_inflate *z, uint8_t *in,
                     uint8_t *out, size_t room, struct pr_err *err)
{
    enum pr_inflate_end end = PR_INFLATE_MORE;

    for (uint64_t at = 0; at < o->size;) {
        size_t len = o->size - at < room ? (size_t)(o->size - at) : room;
        const uint8_t *p = in;
        int rc = pr_object_read(o, at, len, in, err);

        if (rc)
            return rc;
        at += len;
        for (size_t put = room; len || put == room;) {
            put = room;
            end = pr_inflate_run(z, &p, &len, out, &put);
            if (end == PR_INFLATE_BAD)
                return 0;
            if (end == PR_INFLATE_END)
                break;
        }
        if (end == PR_INFLATE_END && (len || at < o->size))
            return 0;
    }
    return end == PR_INFLATE_END;
}

static int ends_well(struct pr_generate_worker *w, enum pr_wrap wrap,
                     struct pr_err *err)
{
    enum { ROOM = 64 << 10 };
    struct pr_inflate *z = pr_inflate_new();
    uint8_t *in = pr_alloc(2 * ROOM);
    struct pr_object o;
    int rc =
        z && in ? pr_object_open(w->st, w->name, &o, err) : pr_fail_nomem(err);

    if (!rc) {
        pr_inflate_start(z, wrap);
        rc = is_stream(&o, z, in, in + ROOM, ROOM, err);
        pr_object_close(&o);
    }
    pr_inflate_free(z);
    pr_free(in);
    return rc;
}

/* Whether w->name, a compressed file, is a whole stream and holds what the
 * specification says: 1 or 0. */
static int generate_worker_is_intact(struct pr_generate_worker *w,
                                     const struct pr_file_spec *spec,
                                     struct pr_err *err)
{
    enum pr_wrap wrap =
        spec->compression == PR_ZLIB ? PR_WRAP_ZLIB : PR_WRAP_GZIP;
    /* An archive has a directory at its end. */
    int rc = spec->compression == PR_ZIP ? 1 : ends_well(w, wrap, err);

    if (rc != 1)
        return rc;
    rc = verify_samples(w, w->reader, spec, w->name, err);
    return rc == PR_E_FORMAT ? 0 : rc ? rc : 1;
}

/* ---- a second copy */

static int open_memory(struct pr_generate_worker *w, struct pr_err *err)
{
    int rc;

    if (w->memory_reader)
        return PR_OK;
    w->memory_opts.engine = "memory";
    rc = pr_storage_open(&w->memory_opts, &w->memory, err);
    if (!rc)
        rc = pr_writer_new(w->set->format, w->memory, &w->memory_writer, err);
    if (!rc)
        rc = pr_reader_new(w->set->format, w->memory, &w->reader->opts,
                           &w->memory_reader, err);
    if (!rc)
        w->memory_writer->stop = w->writer->stop;
    return rc;
}

static int compare_copies(struct pr_generate_worker *w, const char *name,
                          struct pr_err *err)
{
    struct pr_sample a = {0}, b = {0};
    int rc = verify_open_file(w->reader, name, 1, err);

    if (!rc)
        rc = verify_open_file(w->memory_reader, "copy", 1, err);
    if (!rc)
        rc = verify_read_sample(w->reader, 0, &w->buf, &w->buf_cap, &a, err);
    if (!rc)
        rc = verify_read_sample(w->memory_reader, 0, &w->other, &w->other_cap,
                                &b, err);
    if (!rc && w->reader->obj.size != w->memory_reader->obj.size)
        rc = pr_fail(err, PR_E_FORMAT, name,
                     "it has %" PRIu64 " bytes, not "
                     "%" PRIu64,
                     w->reader->obj.size, w->memory_reader->obj.size);
    if (!rc && (a.size != b.size || memcmp(a.data, b.data, a.size) != 0))
        rc = verify_fail_differs(
            w->reader, 0,
            verify_find_difference(a.data, b.data,
                                   a.size < b.size ? a.size : b.size),
            err);
    pr_reader_close(w->reader);
    pr_reader_close(w->memory_reader);
    return rc;
}

/* Formats without a real reader: the bytes of the file itself. */
static int compare_objects(struct pr_generate_worker *w, const char *name,
                           struct pr_err *err)
{
    struct pr_object a = {0}, b = {0};
    char x[64], y[64];
    bool has_copy;
    int rc;

    PR_TRY(pr_object_open(w->st, name, &a, err));
    rc = pr_object_open(w->memory, "copy", &b, err);
    has_copy = rc == PR_OK;
    if (!rc && (a.size != b.size || b.size > sizeof y))
        rc = pr_fail(err, PR_E_FORMAT, name, "it has %llu bytes, not %llu",
                     (unsigned long long)a.size, (unsigned long long)b.size);
    if (!rc)
        rc = pr_object_read(&a, 0, (size_t)a.size, x, err);
    if (!rc)
        rc = pr_object_read(&b, 0, (size_t)b.size, y, err);
    if (!rc && memcmp(x, y, (size_t)a.size) != 0)
        rc = pr_fail(err, PR_E_FORMAT, name, "it is not what prony wrote");
    if (has_copy)
        pr_object_close(&b);
    pr_object_close(&a);
    return rc;
}

static int verify_by_copy(struct pr_generate_worker *w,
                          const struct pr_file_spec *spec, const char *name,
                          struct pr_err *err)
{
    uint64_t n;
    int rc = open_memory(w, err);

    if (!rc)
        rc = pr_writer_write(w->memory_writer, spec, "copy", &n, err);
    if (rc)
        return rc;
    return w->set->format->flags & PR_FORMAT_EMPTY
               ? compare_objects(w, name, err)
               : compare_copies(w, name, err);
}

/* ---- an index of records */

/* Lines of where a record begins and how long it is, from record *next on. */
static size_t verify_format_index(char *out, size_t cap, uint64_t *next,
                                  uint64_t samples, uint64_t record)
{
    size_t n = 0;

    for (; *next < samples && cap - n > 48; ++*next)
        n += (size_t)snprintf(out + n, cap - n, "%" PRIu64 " %" PRIu64 "\n",
                              *next * record, record);
    return n;
}

static int verify_index(struct pr_generate_worker *w,
                        const struct pr_file_spec *spec, struct pr_err *err)
{
    uint64_t next = 0, at = 0, record = generate_worker_record_bytes(w, spec);
    char want[4096], got[4096];
    struct pr_object obj;
    int rc = pr_object_open(w->st, w->extra, &obj, err);

    if (rc)
        return rc;
    while (!rc && next < spec->samples) {
        size_t n = verify_format_index(want, sizeof want, &next, spec->samples,
                                       record);

        rc = pr_object_read(&obj, at, n, got, err);
        if (!rc && memcmp(want, got, n) != 0)
            rc = pr_fail(err, PR_E_FORMAT, w->extra,
                         "it does not tell where the records are");
        at += n;
    }
    pr_object_close(&obj);
    return rc;
}

int pr_generate_worker_verify(struct pr_generate_worker *w, uint64_t f,
                              uint64_t *ret_bytes, struct pr_err *err)
{
    struct pr_file_spec spec, labels;
    uint64_t before = pr_storage_read_bytes(w->st);
    int rc = pr_generate_worker_has_file(w, f, err);

    if (rc < 0)
        return rc;
    if (rc == 0) {
        pr_dataset_name(w->set, f, PR_NAME_DATA, w->name);
        return pr_fail(err, PR_E_FORMAT, w->name,
                       "it, or what goes with it, is missing or not whole");
    }
    pr_dataset_spec(w->set, &w->sides, f, &spec);
    pr_dataset_name(w->set, f, PR_NAME_DATA, w->name);
    if (w->set->format->flags & (PR_FORMAT_LOSSY | PR_FORMAT_EMPTY) ||
        spec.payload != PR_PIXELS)
        rc = verify_by_copy(w, &spec, w->name, err);
    else
        rc = verify_samples(w, w->reader, &spec, w->name, err);
    if (!rc && w->label_reader) {
        pr_dataset_label_spec(&spec, &labels);
        pr_dataset_name(w->set, f, PR_NAME_LABELS, w->extra);
        rc = verify_samples(w, w->label_reader, &labels, w->extra, err);
    }
    if (!rc && w->set->has_index) {
        pr_dataset_name(w->set, f, PR_NAME_INDEX, w->extra);
        rc = verify_index(w, &spec, err);
    }
    if (!rc)
        *ret_bytes = pr_storage_read_bytes(w->st) - before;
    return rc;
}

/* ---- one file: making it, its size, taking it away */

/* Opens w->name and reads the last of its samples. */
static int generate_worker_read_last(struct pr_generate_worker *w,
                                     uint64_t samples, uint64_t *ret_bytes,
                                     struct pr_err *err)
{
    int rc = verify_open_file(w->reader, w->name, samples, err);
    struct pr_sample s;

    if (rc)
        return rc;
    rc = verify_read_sample(w->reader, samples - 1, &w->buf, &w->buf_cap, &s,
                            err);
    if (!rc)
        *ret_bytes = s.size;
    pr_reader_close(w->reader);
    return rc;
}

int pr_generate_worker_init(struct pr_generate_worker *w,
                            const struct pr_dataset *d,
                            const struct pr_storage_opts *so,
                            const struct pr_storage *first, bool *stop,
                            struct pr_err *err)
{
    struct pr_read_opts ro = {.samples = d->spec.samples,
                              .dtype = d->spec.dtype,
                              .sample_bytes = pr_spec_sample_bytes(&d->spec),
                              /* The file counts, not what it decodes to. */
                              .skip_decode = d->spec.payload != PR_PIXELS};
    struct pr_read_opts lo = {.samples = d->spec.samples, .dtype = PR_I64};
    const struct pr_format *npy = NULL;
    int rc;

    memset(w, 0, sizeof *w);
    w->set = d;
    pr_dataset_sides_start(&w->sides);
    rc = first ? pr_storage_open_beside(first, &w->st, err)
               : pr_storage_open(so, &w->st, err);
    if (!rc)
        rc = pr_writer_new(d->format, w->st, &w->writer, err);
    if (!rc)
        rc = pr_reader_new(d->format, w->st, &ro, &w->reader, err);
    if (!rc && d->has_labels_apart)
        rc = pr_format_find("npy", &npy, err);
    if (!rc && npy)
        rc = pr_writer_new(npy, w->st, &w->label_writer, err);
    if (!rc && npy)
        rc = pr_reader_new(npy, w->st, &lo, &w->label_reader, err);
    if (rc) {
        pr_generate_worker_done(w);
        return rc;
    }
    pr_storage_stop_by(w->st, stop);
    w->writer->stop = stop;
    if (w->label_writer)
        w->label_writer->stop = stop;
    return PR_OK;
}

void pr_generate_worker_done(struct pr_generate_worker *w)
{
    pr_writer_free(w->null_writer);
    pr_storage_close(w->null);
    pr_reader_free(w->memory_reader);
    pr_writer_free(w->memory_writer);
    pr_storage_close(w->memory);
    pr_reader_free(w->label_reader);
    pr_reader_free(w->reader);
    pr_writer_free(w->label_writer);
    pr_writer_free(w->writer);
    pr_storage_close(w->st);
    pr_free(w->buf);
    pr_free(w->other);
    memset(w, 0, sizeof *w);
}

int pr_generate_worker_make(struct pr_generate_worker *w, uint64_t f,
                            uint64_t *ret_bytes, struct pr_err *err)
{
    struct pr_file_spec spec, labels;
    uint64_t bytes = 0, more = 0;
    int rc = PR_OK;

    pr_dataset_spec(w->set, &w->sides, f, &spec);
    if (w->set->has_index) {
        pr_dataset_name(w->set, f, PR_NAME_INDEX, w->extra);
        spec.index_name = w->extra;
    }
    /* Labels first: a data file is never without them. */
    if (w->label_writer) {
        pr_dataset_label_spec(&spec, &labels);
        pr_dataset_name(w->set, f, PR_NAME_LABELS, w->name);
        rc = pr_writer_write(w->label_writer, &labels, w->name, &more, err);
    }
    pr_dataset_name(w->set, f, PR_NAME_DATA, w->name);
    if (!rc)
        rc = pr_writer_write(w->writer, &spec, w->name, &bytes, err);
    if (!rc)
        *ret_bytes = bytes + more;
    return rc;
}

/* Adds the size of an object to *sum. 1: it is there, 0: it is not. */
static int add_size(struct pr_generate_worker *w, const char *name,
                    uint64_t *sum, struct pr_err *err)
{
    struct pr_object_info info;
    int rc = pr_storage_stat(w->st, name, &info, err);

    if (rc == 1 && info.is_folder)
        return pr_fail(err, PR_E_IO, name,
                       "a folder is in the place of a file");
    if (rc == 1)
        *sum += info.size;
    return rc;
}

/* The file itself and what its format puts beside it. */
static int add_sizes(struct pr_generate_worker *w, uint64_t f, uint64_t *sum,
                     struct pr_err *err)
{
    const char *const *ending = w->set->format->companions;
    size_t len;
    int rc;

    pr_dataset_name(w->set, f, PR_NAME_DATA, w->name);
    len = strlen(w->name);
    rc = add_size(w, w->name, sum, err);
    for (; rc == 1 && ending && *ending; ending++) {
        snprintf(w->name + len, sizeof w->name - len, "%s", *ending);
        rc = add_size(w, w->name, sum, err);
    }
    w->name[len] = '\0';
    return rc;
}

static int add_other_sizes(struct pr_generate_worker *w, uint64_t f,
                           uint64_t *sum, struct pr_err *err)
{
    int rc = 1;

    if (w->set->has_index) {
        pr_dataset_name(w->set, f, PR_NAME_INDEX, w->extra);
        rc = add_size(w, w->extra, sum, err);
    }
    if (rc == 1 && w->set->has_labels_apart) {
        pr_dataset_name(w->set, f, PR_NAME_LABELS, w->extra);
        rc = add_size(w, w->extra, sum, err);
    }
    return rc;
}

int pr_generate_worker_count_present(struct pr_generate_worker *w, uint64_t f,
                                     uint64_t *ret, struct pr_err *err)
{
    uint64_t sum = 0;
    int rc = add_sizes(w, f, &sum, err);

    if (rc >= 0)
        rc = add_other_sizes(w, f, &sum, err);
    if (rc < 0)
        return rc;
    *ret = sum;
    return PR_OK;
}

static uint64_t generate_index_bytes(const struct pr_generate_worker *w,
                                     const struct pr_file_spec *of)
{
    struct pr_file_spec with = *of, without = *of;
    bool exact;

    with.compression = without.compression = PR_PLAIN;
    with.index_name = "index";
    without.index_name = NULL;
    return w->set->format->bytes(&with, &exact) -
           w->set->format->bytes(&without, &exact);
}

static uint64_t other_bytes(const struct pr_generate_worker *w,
                            const struct pr_file_spec *spec)
{
    struct pr_file_spec labels;
    uint64_t sum = w->set->has_index ? generate_index_bytes(w, spec) : 0;
    bool exact;

    if (w->label_writer) {
        pr_dataset_label_spec(spec, &labels);
        sum += w->label_writer->format->bytes(&labels, &exact);
    }
    return sum;
}

/* What the file would be, by making it once more and keeping nothing. */
static int generate_trial_bytes(struct pr_generate_worker *w,
                                const struct pr_file_spec *spec, uint64_t *ret,
                                struct pr_err *err)
{
    int rc = PR_OK;

    if (!w->null) {
        w->null_opts.engine = "null";
        rc = pr_storage_open(&w->null_opts, &w->null, err);
    }
    if (!rc && !w->null_writer)
        rc = pr_writer_new(w->set->format, w->null, &w->null_writer, err);
    if (!rc)
        w->null_writer->stop = w->writer->stop;
    return rc ? rc : pr_writer_write(w->null_writer, spec, "file", ret, err);
}

/* A size that cannot be foretold: the last sample must be there and in order,
 * or, where that proves little, the size is found out. */
static int generate_is_whole(struct pr_generate_worker *w,
                             const struct pr_file_spec *spec, uint64_t size,
                             struct pr_err *err)
{
    uint64_t bytes;
    int rc;

    if (w->set->format->flags & PR_FORMAT_STREAM) {
        rc = generate_trial_bytes(w, spec, &bytes, err);
        if (rc || bytes == size || spec->compression == PR_PLAIN)
            return rc ? rc : bytes == size;
        /* The same text may be compressed to another size: igzip's lower
         * levels do so with small ones, depending on where their memory is. */
        return generate_worker_is_intact(w, spec, err);
    }
    rc = generate_worker_read_last(w, spec->samples, &bytes, err);
    if (rc)
        return rc == PR_E_FORMAT ? 0 : rc;
    return bytes == pr_spec_sample_bytes(spec);
}

/* 1: everything is there, and has the sizes that can be foretold; *ret_exact:
 * that is all of them. *ret_size: of the file and what its format puts beside
 * it. */
static int compare_sizes(struct pr_generate_worker *w, uint64_t f,
                         struct pr_file_spec *ret_spec, uint64_t *ret_size,
                         bool *ret_exact, struct pr_err *err)
{
    uint64_t others = 0, want;
    int rc = add_sizes(w, f, ret_size, err);

    if (rc == 1)
        rc = add_other_sizes(w, f, &others, err);
    if (rc != 1)
        return rc;
    pr_dataset_spec(w->set, &w->sides, f, ret_spec);
    want = w->set->format->bytes(ret_spec, ret_exact);
    return others == other_bytes(w, ret_spec) &&
           (!*ret_exact || *ret_size == want);
}

int pr_generate_worker_has_file(struct pr_generate_worker *w, uint64_t f,
                                struct pr_err *err)
{
    struct pr_file_spec spec;
    uint64_t size = 0;
    bool exact;
    int rc = compare_sizes(w, f, &spec, &size, &exact, err);

    return rc != 1 || exact ? rc : generate_is_whole(w, &spec, size, err);
}

int pr_generate_worker_has_size(struct pr_generate_worker *w, uint64_t f,
                                struct pr_err *err)
{
    struct pr_file_spec spec;
    uint64_t size = 0;
    bool exact;
    int rc = compare_sizes(w, f, &spec, &size, &exact, err);

    return rc == 1 ? exact || size > 0 : rc;
}

int pr_generate_worker_remove(struct pr_generate_worker *w, uint64_t f,
                              struct pr_err *err)
{
    const char *const *ending = w->set->format->companions;
    size_t len;
    int rc;

    pr_dataset_name(w->set, f, PR_NAME_DATA, w->name);
    len = strlen(w->name);
    rc = pr_storage_remove(w->st, w->name, err);
    for (; !rc && ending && *ending; ending++) {
        snprintf(w->name + len, sizeof w->name - len, "%s", *ending);
        rc = pr_storage_remove(w->st, w->name, err);
    }
    for (int kind = PR_NAME_INDEX; !rc && kind <= PR_NAME_LABELS; kind++) {
        pr_dataset_name(w->set, f, (enum pr_name_kind)kind, w->extra);
        rc = pr_storage_remove(w->st, w->extra, err);
    }
    return rc;
}
