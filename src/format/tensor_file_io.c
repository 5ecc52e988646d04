/* A safetensors file of tensors: written, and read. */
#include "format/tensor_file_io.h"

#include "base/json/json.h"
#include "base/units.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ---- writing */

enum { ALIGN = 64, PIECE = 4096 /* elements, where they are turned around */ };

static void tensor_add_head_entry(struct pr_tensor_writer *w, const char *name,
                                  const char *type, unsigned dims,
                                  const int64_t *at)
{
    struct pr_buf *b = &w->head;
    uint64_t bytes = sizeof(float);

    pr_buf_str(b, b->len ? "," : "{\"__metadata__\":{\"format\":\"pt\"},");
    pr_json_write_string(b, name, strlen(name));
    pr_buf_printf(b, ":{\"dtype\":\"%s\",\"shape\":[", type);
    for (unsigned i = 0; i < dims; i++) {
        pr_buf_printf(b, "%s%lld", i ? "," : "", (long long)at[i]);
        bytes *= (uint64_t)at[i];
    }
    pr_buf_printf(b, "],\"data_offsets\":[%llu,%llu]}",
                  (unsigned long long)w->bytes,
                  (unsigned long long)w->bytes + bytes);
    w->bytes += bytes;
}

void pr_tensor_writer_add(struct pr_tensor_writer *w, const char *name,
                          unsigned dims, const int64_t *at)
{
    tensor_add_head_entry(w, name, "F32", dims, at);
}

void pr_tensor_writer_add_ints(struct pr_tensor_writer *w, const char *name,
                               unsigned dims, const int64_t *at)
{
    tensor_add_head_entry(w, name, "I32", dims, at);
}

/* The length, and blanks so that the contents start aligned. */
static int write_head(struct pr_tensor_writer *w, struct pr_err *err)
{
    uint64_t len;
    int rc;

    pr_buf_str(&w->head, w->head.len ? "}" : "{}");
    while (pr_buf_ok(&w->head) && (8 + w->head.len) % ALIGN)
        pr_buf_char(&w->head, ' ');
    if (!pr_buf_ok(&w->head))
        return pr_fail_nomem(err);
    len = htole64(w->head.len);
    rc = pr_file_append(&w->file, &len, 8, err);
    return rc ? rc : pr_file_append(&w->file, w->head.data, w->head.len, err);
}

/* Better known before hundreds of megabytes were written. */
static int tensor_check_space(const struct pr_tensor_writer *w,
                              struct pr_err *err)
{
    struct statvfs fs;
    char need[16], left[16];
    uint64_t room;

    if (fstatvfs(w->file.fd, &fs) < 0)
        return PR_OK;
    room = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (!fs.f_blocks || w->bytes <= room)
        return PR_OK;
    return pr_fail(err, PR_E_IO, w->file.path, "%s are to be written, %s free",
                   pr_format_bytes(need, w->bytes),
                   pr_format_bytes(left, room));
}

int pr_tensor_writer_open(struct pr_tensor_writer *w, const char *path,
                          struct pr_err *err)
{
    int rc = pr_file_create(path, &w->file, err);

    if (!rc)
        rc = tensor_check_space(w, err);
    return rc ? rc : write_head(w, err);
}

int pr_tensor_writer_put(struct pr_tensor_writer *w, const void *values,
                         uint64_t elements, struct pr_err *err)
{
    w->put += elements * sizeof(uint32_t);
    assert(w->put <= w->bytes);
#if __BYTE_ORDER == __BIG_ENDIAN
    uint32_t piece[PIECE];
    int rc = PR_OK;

    for (uint64_t i = 0, n; !rc && i < elements; i += n) {
        n = elements - i < PIECE ? elements - i : PIECE;
        memcpy(piece, (const uint32_t *)values + i, n * sizeof *piece);
        for (uint64_t k = 0; k < n; k++)
            piece[k] = htole32(piece[k]);
        rc = pr_file_append(&w->file, piece, n * sizeof *piece, err);
    }
    return rc;
#else
    return pr_file_append(&w->file, values, elements * sizeof(uint32_t), err);
#endif
}

int pr_tensor_writer_commit(struct pr_tensor_writer *w, struct pr_err *err)
{
    assert(w->put == w->bytes);
    return pr_file_commit(&w->file, err);
}

void pr_tensor_writer_done(struct pr_tensor_writer *w)
{
    pr_file_discard(&w->file);
    pr_buf_free(&w->head);
}

enum {
    HEAD_MAX = 100 << 20, /* as safetensors itself has it */
    BYTES_AT_ONCE = 8192
};

static const struct {
    const char *name;
    unsigned bytes;
} types[] = {
#define X(id, name, bytes) {name, bytes},
    PR_STORED_TYPES(X)
#undef X
    /* can be listed, not read */
    {"F64", 8},
    {"F16", 2},
    {"BF16", 2},
    {"I16", 2},
    {"I8", 1},
    {"U64", 8},
    {"U32", 4},
    {"U16", 2},
    {"U8", 1},
    {"BOOL", 1},
    {"F8_E4M3", 1},
    {"F8_E5M2", 1},
};

/* ---- reading: the header */

struct head {
    const char *name; /* of the file */
    uint64_t body_bytes;
};

static int tensor_fail_head(const struct head *h, const struct pr_member *m,
                            const char *what, struct pr_err *err)
{
    return pr_fail(err, PR_E_FORMAT, h->name, "tensor '%.100s': %s", m->key,
                   what);
}

static int tensor_read_type(const struct head *h, const struct pr_member *m,
                            struct pr_tensor_stored *t, unsigned *ret_bytes,
                            struct pr_err *err)
{
    const struct pr_value *v = pr_get(&m->value, "dtype");

    if (!v || v->kind != PR_STR)
        return tensor_fail_head(h, m, "its dtype is missing or no text", err);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, v->s) != 0)
            continue;
        t->type = i < PR_STORED_OTHER ? (enum pr_tensor_stored_type)i
                                      : PR_STORED_OTHER;
        t->type_name = types[i].name;
        *ret_bytes = types[i].bytes;
        return PR_OK;
    }
    return pr_fail(err, PR_E_FORMAT, h->name,
                   "tensor '%.100s': dtype '%.40s' is not known", m->key, v->s);
}

static int tensor_read_shape(const struct head *h, const struct pr_member *m,
                             struct pr_tensor_stored *t, struct pr_err *err)
{
    const struct pr_value *v = pr_get(&m->value, "shape");

    if (!v || v->kind != PR_LIST)
        return tensor_fail_head(h, m, "its shape is missing or no list", err);
    if (v->len > PR_TENSOR_DIMS)
        return tensor_fail_head(h, m, "its shape has too many dimensions", err);
    t->dims = v->len;
    t->elements = 1;
    for (uint32_t i = 0; i < v->len; i++) {
        if (v->items[i].kind != PR_INT || v->items[i].i < 0)
            return tensor_fail_head(
                h, m, "its shape holds something else than sizes", err);
        t->at[i] = (uint64_t)v->items[i].i;
        if (__builtin_mul_overflow(t->elements, t->at[i], &t->elements))
            return tensor_fail_head(h, m, "its shape is too large", err);
    }
    return PR_OK;
}

static int read_place(const struct head *h, const struct pr_member *m,
                      struct pr_tensor_stored *t, unsigned each,
                      struct pr_err *err)
{
    const struct pr_value *v = pr_get(&m->value, "data_offsets");
    uint64_t from, to;

    if (!v || v->kind != PR_LIST || v->len != 2 || v->items[0].kind != PR_INT ||
        v->items[1].kind != PR_INT || v->items[0].i < 0 ||
        v->items[1].i < v->items[0].i)
        return tensor_fail_head(
            h, m, "its data_offsets are not two rising numbers", err);
    from = (uint64_t)v->items[0].i;
    to = (uint64_t)v->items[1].i;
    if (to > h->body_bytes)
        return tensor_fail_head(h, m, "it ends after the end of the file", err);
    if (__builtin_mul_overflow(t->elements, (uint64_t)each, &t->bytes) ||
        t->bytes != to - from)
        return tensor_fail_head(h, m, "its shape and data_offsets do not agree",
                                err);
    t->from = from;
    return PR_OK;
}

static int tensor_read_entry(const struct head *h, const struct pr_member *m,
                             struct pr_tensor_stored *t, struct pr_err *err)
{
    unsigned each = 0;
    int rc;

    if (m->value.kind != PR_MAP)
        return tensor_fail_head(h, m, "its entry is not a map", err);
    *t = (struct pr_tensor_stored){.name = m->key};
    rc = tensor_read_type(h, m, t, &each, err);
    if (!rc)
        rc = tensor_read_shape(h, m, t, err);
    return rc ? rc : read_place(h, m, t, each, err);
}

/* The header alone, as text; body_bytes is what follows it in the file. */
static int tensor_head_parse(const char *text, size_t len, uint64_t body_bytes,
                             const char *name, struct pr_arena *a,
                             struct pr_tensor_stored **ret, size_t *ret_count,
                             struct pr_err *err)
{
    struct head h = {.name = name, .body_bytes = body_bytes};
    struct pr_json_in in = {
        .text = text, .len = len, .name = name, .flags = PR_JSON_UNIQUE_KEYS};
    struct pr_tensor_stored *all;
    struct pr_value v;
    size_t n = 0;
    int rc = pr_json_read(&in, a, &v, NULL, err);

    if (rc)
        return rc;
    if (v.kind != PR_MAP)
        return pr_fail(err, PR_E_FORMAT, name, "its header is not a map");
    all = PR_ARENA_ARRAY(a, struct pr_tensor_stored, v.len ? v.len : 1);
    if (!all)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; !rc && i < v.len; i++)
        if (strcmp(v.members[i].key, "__metadata__") != 0)
            rc = tensor_read_entry(&h, &v.members[i], &all[n++], err);
    if (rc)
        return rc;
    *ret = all;
    *ret_count = n;
    return PR_OK;
}

/* ---- reading: the file */

/* Exactly so many bytes from there. */
static int tensor_read_at(const struct pr_tensor_file *f, uint64_t at,
                          void *out, size_t bytes, struct pr_err *err)
{
    char *to = out;

    while (bytes) {
        ssize_t n = pread(f->fd, to, bytes, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return pr_fail_errno(err, PR_E_IO, f->path, "cannot read");
        if (!n)
            return pr_fail(err, PR_E_FORMAT, f->path,
                           "it is shorter than its header says");
        to += n;
        at += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return PR_OK;
}

static int not_one(const char *path, struct pr_err *err)
{
    pr_fail(err, PR_E_FORMAT, path, "this is not a safetensors file");
    return pr_hint(err, "nn.save writes one, as does safetensors' save_file "
                        "in Python");
}

static int tensor_read_head(struct pr_tensor_file *f, uint64_t size,
                            struct pr_arena *a, struct pr_err *err)
{
    uint64_t len;
    char *text;
    int rc;

    if (size < 8)
        return not_one(f->path, err);
    rc = tensor_read_at(f, 0, &len, 8, err);
    if (rc)
        return rc;
    len = le64toh(len);
    if (len > HEAD_MAX || len > size - 8)
        return not_one(f->path, err);
    text = pr_arena_alloc(a, (size_t)len + 1);
    if (!text)
        return pr_fail_nomem(err);
    rc = tensor_read_at(f, 8, text, (size_t)len, err);
    f->body = 8 + len;
    if (!rc)
        rc = tensor_head_parse(text, (size_t)len, size - f->body, f->path, a,
                               &f->tensors, &f->count, err);
    return rc;
}

int pr_tensor_file_open(const char *path, struct pr_arena *a,
                        struct pr_tensor_file *ret, struct pr_err *err)
{
    struct pr_tensor_file f = {.fd = -1, .path = pr_arena_str(a, path)};
    struct stat st;
    int rc = PR_OK;

    if (!f.path)
        return pr_fail_nomem(err);
    f.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (f.fd < 0)
        return pr_fail_errno(err, PR_E_IO, path, "cannot open");
    if (fstat(f.fd, &st) < 0)
        rc = pr_fail_errno(err, PR_E_IO, path, "cannot look at it");
    else if (!S_ISREG(st.st_mode))
        rc = pr_fail(err, PR_E_IO, path, "this is not a file");
    else
        rc = tensor_read_head(&f, (uint64_t)st.st_size, a, err);
    if (rc)
        pr_tensor_file_close(&f);
    else
        *ret = f;
    return rc;
}

void pr_tensor_file_close(struct pr_tensor_file *f)
{
    if (f->fd >= 0)
        (void)close(f->fd);
    f->fd = -1;
}

const struct pr_tensor_stored *
pr_tensor_file_find(const struct pr_tensor_file *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->tensors[i].name, name) == 0)
            return &f->tensors[i];
    return NULL;
}

const char *pr_tensor_stored_shape(const struct pr_tensor_stored *t,
                                   char out[static 192])
{
    size_t n = 0;

    out[n++] = '[';
    for (unsigned i = 0; i < t->dims; i++)
        n += (size_t)snprintf(out + n, 192 - n, "%s%llu", i ? ", " : "",
                              (unsigned long long)t->at[i]);
    snprintf(out + n, 192 - n, "]");
    return out;
}

/* ---- reading: contents */

static int tensor_fail_type(const struct pr_tensor_file *f,
                            const struct pr_tensor_stored *t, const char *want,
                            struct pr_err *err)
{
    return pr_fail(err, PR_E_FORMAT, f->path,
                   "tensor '%.100s' is %s, %s is wanted", t->name, t->type_name,
                   want);
}

int pr_tensor_file_floats(const struct pr_tensor_file *f,
                          const struct pr_tensor_stored *t, float *out,
                          struct pr_err *err)
{
    int rc;

    if (t->type != PR_STORED_F32)
        return tensor_fail_type(f, t, "F32", err);
    rc = tensor_read_at(f, f->body + t->from, out, (size_t)t->bytes, err);
#if __BYTE_ORDER == __BIG_ENDIAN
    for (uint64_t i = 0; !rc && i < t->elements; i++) {
        uint32_t word;

        memcpy(&word, &out[i], 4);
        word = le32toh(word);
        memcpy(&out[i], &word, 4);
    }
#endif
    return rc;
}

/* Some words to numbers; false: one does not fit. */
static bool words_to_ints(const uint8_t *from, enum pr_tensor_stored_type type,
                          size_t count, int32_t *out)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t word = 0;
        int64_t n;

        memcpy(&word, from + i * types[type].bytes, types[type].bytes);
        word = le64toh(word);
        n = type == PR_STORED_I64 ? (int64_t)word : (int32_t)word;
        if (n < INT32_MIN || n > INT32_MAX)
            return false;
        out[i] = (int32_t)n;
    }
    return true;
}

int pr_tensor_file_ints(const struct pr_tensor_file *f,
                        const struct pr_tensor_stored *t, int32_t *out,
                        struct pr_err *err)
{
    uint8_t piece[BYTES_AT_ONCE];
    size_t each, n;
    int rc = PR_OK;

    if (t->type != PR_STORED_I32 && t->type != PR_STORED_I64)
        return tensor_fail_type(f, t, "I64 or I32", err);
    each = types[t->type].bytes;
    for (uint64_t i = 0; !rc && i < t->elements; i += n) {
        n = sizeof piece / each;
        n = t->elements - i < n ? (size_t)(t->elements - i) : n;
        rc = tensor_read_at(f, f->body + t->from + i * each, piece, n * each,
                            err);
        if (!rc && !words_to_ints(piece, t->type, n, out + i))
            rc = pr_fail(err, PR_E_FORMAT, f->path,
                         "tensor '%.100s' holds a number that does not fit in "
                         "32 bits",
                         t->name);
    }
    return rc;
}
