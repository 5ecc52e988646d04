/*
 * Samples back to back, and two files beside that say where they are:
 * NAME.off.idx with the offset of each and NAME.sz.idx with its bytes, as u64
 * in little-endian order. Both names of the format have this layout; whether
 * memory is mapped is for the storage to decide.
 *
 * An index is not loaded: a window of each is kept, so that a file of hundreds
 * of millions of samples opens as fast as one of five. Only who goes on reading
 * at random in the same file has it whole, if it is not too large.
 */
#include "format/content.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

enum { PR_INDEX_OFFSETS, PR_INDEX_SIZES, PR_INDEX_COUNT };

/* What their names end with, NULL at the end. */
static const char *const index_endings[] = {".off.idx", ".sz.idx", NULL};

struct pr_indexed_writer {
    struct pr_out out, index[PR_INDEX_COUNT];
    char name[PR_INDEX_COUNT][4096]; /* of the indexes */
    struct pr_content_piece piece;
};

/* ---- writing: the samples and both indexes, side by side */

static uint64_t indexed_count_bytes(const struct pr_file_spec *spec)
{
    uint64_t each = pr_spec_sample_bytes(spec), n = spec->samples, index;

    if (__builtin_mul_overflow(each, n, &each) ||
        __builtin_mul_overflow(n, 8u * PR_INDEX_COUNT, &index) ||
        __builtin_add_overflow(each, index, &each))
        return UINT64_MAX;
    return each;
}

static int indexed_check(const struct pr_file_spec *spec, struct pr_err *err)
{
    if (spec->compression != PR_PLAIN)
        return pr_fail(err, PR_E_CONF, "dataset.compression",
                       "indexed binary files are not compressed");
    if (indexed_count_bytes(spec) > INT64_MAX)
        return pr_fail(err, PR_E_CONF, "dataset.num_samples_per_file",
                       "%llu samples are too many for a file",
                       (unsigned long long)spec->samples);
    return PR_OK;
}

static uint64_t indexed_bytes(const struct pr_file_spec *spec, bool *ret_exact)
{
    *ret_exact = true;
    return indexed_count_bytes(spec);
}

static int indexed_check_stop(const struct pr_writer *w, struct pr_err *err)
{
    return pr_writer_is_stopped(w) ? pr_fail(err, PR_E_INTR, "", "interrupted")
                                   : PR_OK;
}

/* Numbers first, first + step and so on. */
static int indexed_put_index(struct pr_writer *w, struct pr_out *out,
                             uint64_t n, uint64_t first, uint64_t step,
                             struct pr_err *err)
{
    int rc = PR_OK;

    for (uint64_t v = first; !rc && n; n--, v += step) {
        uint64_t le = htole64(v);

        if (n % 4096 == 0)
            rc = indexed_check_stop(w, err);
        if (!rc)
            rc = pr_out_put(out, &le, sizeof le, err);
    }
    return rc;
}

static int indexed_put_contents(struct pr_writer *w,
                                const struct pr_file_spec *spec,
                                struct pr_err *err)
{
    struct pr_indexed_writer *t = w->data;
    uint64_t each = pr_spec_sample_bytes(spec), n = spec->samples;
    int rc = indexed_put_index(w, &t->index[PR_INDEX_OFFSETS], n, 0, each, err);

    if (!rc)
        rc = indexed_put_index(w, &t->index[PR_INDEX_SIZES], n, each, 0, err);
    for (uint64_t i = 0; !rc && i < n; i++)
        rc = pr_content_put_sample(w, &t->out, &t->piece, spec, i, NULL, NULL,
                                   err);
    return rc;
}

static int indexed_create_file(struct pr_writer *w, struct pr_out *out,
                               const char *name, uint64_t size,
                               struct pr_err *err)
{
    int rc = out->block ? PR_OK : pr_out_init(out, w->st, err);

    return rc ? rc : pr_out_create(out, name, size, err);
}

static int create_all(struct pr_writer *w, const struct pr_file_spec *spec,
                      const char *name, struct pr_err *err)
{
    struct pr_indexed_writer *t = w->data;
    uint64_t size = pr_spec_sample_bytes(spec) * spec->samples;
    int rc = indexed_create_file(w, &t->out, name, size, err);

    for (int i = 0; !rc && i < PR_INDEX_COUNT; i++) {
        char *its = t->name[i];
        int n =
            snprintf(its, sizeof t->name[i], "%s%s", name, index_endings[i]);

        if (n < 0 || (size_t)n >= sizeof t->name[i])
            return pr_fail(err, PR_E_IO, name, "the name is too long");
        rc = indexed_create_file(w, &t->index[i], its, spec->samples * 8, err);
    }
    return rc;
}

/* The indexes come first: who finds the samples finds where they are. */
static int indexed_commit_files(struct pr_writer *w, struct pr_err *err)
{
    struct pr_indexed_writer *t = w->data;
    int rc = PR_OK, done = 0;

    for (; !rc && done < PR_INDEX_COUNT; done++)
        rc = pr_out_commit(&t->index[done], err);
    if (!rc)
        rc = pr_out_commit(&t->out, err);
    while (rc && done-- > 0)
        (void)!pr_storage_remove(w->st, t->name[done], NULL);
    return rc;
}

static int indexed_write(struct pr_writer *w, const struct pr_file_spec *spec,
                         const char *name, uint64_t *ret_bytes,
                         struct pr_err *err)
{
    struct pr_indexed_writer *t = w->data;
    int rc = indexed_check(spec, err);

    if (!rc)
        rc = create_all(w, spec, name, err);
    if (!rc)
        rc = indexed_put_contents(w, spec, err);
    if (!rc)
        rc = indexed_commit_files(w, err);
    if (!rc) {
        *ret_bytes = indexed_count_bytes(spec);
        return PR_OK;
    }
    pr_out_discard(&t->out);
    for (int i = 0; i < PR_INDEX_COUNT; i++)
        pr_out_discard(&t->index[i]);
    return rc;
}

enum {
    AHEAD = 64 << 10, /* bytes of an index read at once, in order */
    PAGE = 4 << 10,   /* and at random */
    ANY = 1 << 20,    /* files up to this: buffer for whatever they hold */
    OFTEN = 64,       /* misses after which an index is loaded */
    WHOLE = 32 << 20, /* if it has no more bytes than this */
};

struct window {
    char name[4096 + 16];
    struct pr_object obj;
    bool is_open;
    const uint8_t *data;
    uint64_t off; /* of data in the index */
    size_t len;
};

struct state {
    bool has_object;
    unsigned misses; /* samples at random that no window had */
    size_t each;     /* bytes of memory for a window */
    struct window index[PR_INDEX_COUNT];
};

/* ---- reading: indexes */

static uint8_t *indexed_get_space(struct pr_reader *r, int which)
{
    size_t each = ((struct state *)r->data)->each;
    uint8_t *scratch = pr_reader_scratch(r, PR_INDEX_COUNT * each);

    return scratch ? scratch + (size_t)which * each : NULL;
}

static int indexed_fill_window(struct pr_reader *r, int which, uint64_t off,
                               size_t max, struct pr_err *err)
{
    struct window *x = &((struct state *)r->data)->index[which];
    uint64_t left = x->obj.size - off;
    size_t len = left < max ? (size_t)left : max;
    uint8_t *space = indexed_get_space(r, which);
    int rc = PR_OK;

    x->len = 0;
    if (!space)
        return pr_fail_nomem(err);
    if (len)
        rc = pr_object_fetch(&x->obj, off, len, space,
                             ((struct state *)r->data)->each, &x->data, err);
    if (!rc) {
        x->off = off;
        x->len = len;
    }
    return rc;
}

static int open_index(struct pr_reader *r, int which, struct pr_err *err)
{
    struct window *x = &((struct state *)r->data)->index[which];
    int rc;

    snprintf(x->name, sizeof x->name, "%s%s", r->name, index_endings[which]);
    rc = pr_object_open(r->st, x->name, &x->obj, err);
    x->is_open = rc == PR_OK;
    if (!rc && x->obj.size % 8)
        rc = pr_fail(err, PR_E_FORMAT, x->name,
                     "an index has 8 bytes a sample, this one %llu in all",
                     (unsigned long long)x->obj.size);
    return rc ? rc : indexed_fill_window(r, which, 0, AHEAD, err);
}

static uint64_t indexed_get_entry(const struct window *x, size_t place)
{
    uint64_t v;

    memcpy(&v, x->data + place, sizeof v);
    return le64toh(v);
}

/* Both are of the same size, and their memory is one piece. */
static int load_indexes(struct pr_reader *r, struct pr_err *err)
{
    struct state *s = r->data;
    size_t bytes = (size_t)s->index[0].obj.size;
    int rc = PR_OK;

    s->each = bytes + PR_IO_SLACK + (PR_IO_ALIGN - bytes % PR_IO_ALIGN);
    for (int i = 0; !rc && i < PR_INDEX_COUNT; i++)
        rc = indexed_fill_window(r, i, 0, bytes, err);
    return rc;
}

static int fill_at_random(struct pr_reader *r, int which, uint64_t off,
                          struct pr_err *err)
{
    struct state *s = r->data;

    if (s->misses++ >= OFTEN && s->index[which].obj.size <= WHOLE)
        return load_indexes(r, err);
    return indexed_fill_window(r, which, off - off % PAGE, PAGE, err);
}

/* Number i of an index. */
static int look_up(struct pr_reader *r, int which, uint64_t i, uint64_t *ret,
                   struct pr_err *err)
{
    struct window *x = &((struct state *)r->data)->index[which];
    uint64_t off = i * 8;
    int rc = PR_OK;

    if (off < x->off || off - x->off >= x->len) {
        bool in_order = x->len && off == x->off + x->len;
        rc = in_order ? indexed_fill_window(r, which, off, AHEAD, err)
                      : fill_at_random(r, which, off, err);
    }
    if (!rc)
        *ret = indexed_get_entry(x, (size_t)(off - x->off));
    return rc;
}

/* ---- reading: samples */

/* Without reading the whole index only the samples in the window are known;
 * larger ones make need grow when they are read. */
static void indexed_set_need(struct pr_reader *r)
{
    const struct window *x = &((struct state *)r->data)->index[PR_INDEX_SIZES];
    uint64_t most = 0;

    for (size_t at = 0; at + 8 <= x->len; at += 8)
        if (indexed_get_entry(x, at) > most)
            most = indexed_get_entry(x, at);
    if (r->obj.size <= ANY || most > r->obj.size)
        most = r->obj.size;
    r->need = (size_t)most + PR_IO_SLACK;
}

static int indexed_open(struct pr_reader *r, struct pr_err *err)
{
    struct state *s = r->data;
    const struct window *x = s->index;
    int rc = pr_object_open(r->st, r->name, &r->obj, err);

    s->has_object = rc == PR_OK;
    s->misses = 0;
    s->each = AHEAD + PR_IO_SLACK;
    for (int i = 0; !rc && i < PR_INDEX_COUNT; i++)
        rc = open_index(r, i, err);
    if (!rc && x[PR_INDEX_OFFSETS].obj.size != x[PR_INDEX_SIZES].obj.size)
        rc = pr_fail(err, PR_E_FORMAT, r->name,
                     "its indexes have %llu offsets and %llu sizes",
                     (unsigned long long)x[PR_INDEX_OFFSETS].obj.size / 8,
                     (unsigned long long)x[PR_INDEX_SIZES].obj.size / 8);
    if (rc)
        return rc;
    r->samples = x[PR_INDEX_SIZES].obj.size / 8;
    indexed_set_need(r);
    return PR_OK;
}

static int check_sample(struct pr_reader *r, uint64_t i, uint64_t off,
                        uint64_t size, size_t cap, struct pr_err *err)
{
    if (off > r->obj.size || size > r->obj.size - off)
        return pr_reader_bad(r, off, err,
                             "sample %llu has %llu bytes by its index, beyond "
                             "the end of the file at %llu",
                             (unsigned long long)i, (unsigned long long)size,
                             (unsigned long long)r->obj.size);
    if (size <= cap && cap - size >= PR_IO_SLACK)
        return PR_OK;
    if (size + PR_IO_SLACK > r->need)
        r->need = (size_t)size + PR_IO_SLACK;
    return pr_fail(err, PR_E_CONF, r->name,
                   "sample %llu needs a buffer of %llu bytes, this one has "
                   "%llu",
                   (unsigned long long)i,
                   (unsigned long long)size + PR_IO_SLACK,
                   (unsigned long long)cap);
}

static int indexed_read(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
                        struct pr_sample *ret, struct pr_err *err)
{
    uint64_t off = 0, size = 0;
    const uint8_t *data = buf;
    int rc = look_up(r, PR_INDEX_OFFSETS, i, &off, err);

    if (!rc)
        rc = look_up(r, PR_INDEX_SIZES, i, &size, err);
    if (!rc)
        rc = check_sample(r, i, off, size, cap, err);
    if (!rc && size)
        rc = pr_object_fetch(&r->obj, off, (size_t)size, buf, cap, &data, err);
    if (!rc)
        *ret = (struct pr_sample){
            .data = data,
            .size = (size_t)size,
            .dtype = PR_U8,
            .shape = {.ndim = 1, .dim = {size}},
        };
    return rc;
}

static void indexed_close(struct pr_reader *r)
{
    struct state *s = r->data;

    for (int i = 0; i < PR_INDEX_COUNT; i++) {
        if (s->index[i].is_open)
            pr_object_close(&s->index[i].obj);
        s->index[i].is_open = false;
    }
    if (s->has_object)
        pr_object_close(&r->obj);
    s->has_object = false;
}

/* ---- the formats */

#define FORMAT(is)                                                          \
    {                                                                       \
        .abi = PR_FORMAT_ABI, .name = #is,                                  \
        .desc = "samples back to back, with files of offsets, sizes",       \
        .compressions = "none", .companions = index_endings,                \
        .check = indexed_check, .bytes = indexed_bytes,                     \
        .writer_bytes = sizeof(struct pr_indexed_writer),                   \
        .write = indexed_write, .reader_bytes = sizeof(struct state),       \
        .open = indexed_open, .read = indexed_read, .close = indexed_close, \
    }

const struct pr_format pr_format_indexed_binary = FORMAT(indexed_binary);
const struct pr_format pr_format_mmap_indexed_binary =
    FORMAT(mmap_indexed_binary);
