/*
 * Where tensors lie in files of torch.save and in TensorFlow's checkpoints.
 *
 * TensorFlow's table is an SSTable of LevelDB's: blocks of entries with shared
 * beginnings of keys, a block that lists the blocks, and a footer with a magic
 * number. Values are protocol buffers:
 *   BundleEntryProto  { dtype = 1; shape = 2; shard_id = 3; offset = 4;
 *                       size = 5; fixed32 crc32c = 6 (masked); slices = 7 }
 *   BundleHeaderProto { num_shards = 1; endianness = 2 }, of the entry without
 *                       a key
 */
#include "format/tensor_file_find.h"

#include "base/codec/checksum.h"
#include "base/mem.h"
#include "base/text.h"
#include "format/tensor_file.h"
#include "format/tf_example.h"
#include "format/tfrecord.h"
#include "format/zip.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the pickle of torch.save */

/*
 * A program for a small machine with a stack, which builds dicts of tensors.
 * Only what names storages matters: tuples
 *   ("storage", torch.FloatStorage, "0", "cpu", elements)
 * as persistent ids. All else becomes a thing without a value; classes and
 * functions are names, and nothing is called.
 */

enum kind { OTHER, MARK, NUMBER, TEXT, TYPE, STORAGE };

/* Python's writer sets a thousand items of a dict at a time. */
enum { DEPTH_MAX = 4096, PICKLE_MAX = 4 << 20 };

struct item {
    uint64_t number;    /* of NUMBER; elements of STORAGE */
    uint32_t text, len; /* of TEXT and the key of STORAGE: where it is */
    uint8_t kind;
    uint8_t type; /* of TYPE and STORAGE */
};

struct machine {
    const uint8_t *p, *end, *start;
    const char *name;
    struct pr_arena *a;
    struct item *stack, *memo;
    size_t depth, memo_count, memo_room;
    struct pr_tensor_torch_storage *found;
    size_t count;
    struct pr_err *err;
};

static int pickle_fail(const struct machine *m, const char *what)
{
    return pr_fail(m->err, PR_E_FORMAT, m->name,
                   "at byte %zu of its pickle: %s", (size_t)(m->p - m->start),
                   what);
}

static int cut_short(const struct machine *m)
{
    return pickle_fail(m, "it is cut short");
}

static bool pickle_read_bytes(struct machine *m, size_t len,
                              const uint8_t **ret)
{
    if (len > (size_t)(m->end - m->p))
        return false;
    *ret = m->p;
    m->p += len;
    return true;
}

static bool pickle_read_number(struct machine *m, size_t len, uint64_t *ret)
{
    const uint8_t *p;
    uint64_t n = 0;

    if (len > sizeof n || !pickle_read_bytes(m, len, &p))
        return false;
    memcpy(&n, p, len);
    *ret = le64toh(n);
    return true;
}

static int pickle_push(struct machine *m, struct item item)
{
    if (m->depth == DEPTH_MAX)
        return pickle_fail(m, "it is nested too deep");
    m->stack[m->depth++] = item;
    return PR_OK;
}

static int push_other(struct machine *m)
{
    return pickle_push(m, (struct item){.kind = OTHER});
}

static int pickle_pop(struct machine *m, size_t count)
{
    for (; count; count--)
        if (!m->depth || m->stack[--m->depth].kind == MARK)
            return pickle_fail(m, "it takes what is not there");
    return PR_OK;
}

/* Items above the last mark, which goes as well. */
static int pop_to_mark(struct machine *m, struct item **ret, size_t *ret_count)
{
    size_t at = m->depth;

    while (at && m->stack[at - 1].kind != MARK)
        at--;
    if (!at)
        return pickle_fail(m, "it has no mark");
    *ret = m->stack + at;
    *ret_count = m->depth - at;
    m->depth = at - 1;
    return PR_OK;
}

/* ---- pickle: what is pushed */

static int push_number(struct machine *m, size_t len)
{
    uint64_t n;

    if (!pickle_read_number(m, len, &n))
        return cut_short(m);
    return pickle_push(m, (struct item){.kind = NUMBER, .number = n});
}

/* LONG1: so many bytes; those of sizes have a zero on top. */
static int push_long(struct machine *m)
{
    uint64_t len, n = 0, top = 0;

    if (!pickle_read_number(m, 1, &len) ||
        !pickle_read_number(m, len < 8 ? len : 8, &n) ||
        (len > 8 && !pickle_read_number(m, len - 8, &top)))
        return cut_short(m);
    if (top)
        return pickle_fail(m, "it has a number that is too large");
    return pickle_push(m, (struct item){.kind = NUMBER, .number = n});
}

static int pickle_push_text(struct machine *m)
{
    const uint8_t *text;
    uint64_t len;

    if (!pickle_read_number(m, 4, &len) ||
        !pickle_read_bytes(m, (size_t)len, &text))
        return cut_short(m);
    return pickle_push(m, (struct item){.kind = TEXT,
                                        .text = (uint32_t)(text - m->start),
                                        .len = (uint32_t)len});
}

static bool pickle_read_line(struct machine *m, const uint8_t **ret,
                             size_t *ret_len)
{
    const uint8_t *end = memchr(m->p, '\n', (size_t)(m->end - m->p));

    if (!end)
        return false;
    *ret = m->p;
    *ret_len = (size_t)(end - m->p);
    m->p = end + 1;
    return true;
}

static bool pickle_is_text(const uint8_t *text, size_t len, const char *want)
{
    return pr_text_is((const char *)text, len, want);
}

static int push_global(struct machine *m)
{
    const uint8_t *module, *name;
    size_t module_len, len;

    if (!pickle_read_line(m, &module, &module_len) ||
        !pickle_read_line(m, &name, &len))
        return cut_short(m);
    for (int t = 0; t < PR_TENSOR_TYPE_COUNT; t++)
        if (pickle_is_text(module, module_len, "torch") &&
            pickle_is_text(name, len,
                           pr_tensor_type_torch_name((enum pr_tensor_type)t)))
            return pickle_push(m,
                               (struct item){.kind = TYPE, .type = (uint8_t)t});
    return push_other(m);
}

static int pickle_push_tuple(struct machine *m, const struct item *in,
                             size_t count)
{
    struct item item = {.kind = OTHER};

    if (count == 5 && in[0].kind == TEXT &&
        pickle_is_text(m->start + in[0].text, in[0].len, "storage") &&
        in[1].kind == TYPE && in[2].kind == TEXT && in[4].kind == NUMBER)
        item = (struct item){in[4].number, in[2].text, in[2].len, STORAGE,
                             in[1].type};
    return pickle_push(m, item);
}

static int push_small_tuple(struct machine *m, size_t count)
{
    int rc = pickle_pop(m, count);

    return rc ? rc : push_other(m);
}

/* ---- pickle: what is remembered */

static int grow_memo(struct machine *m)
{
    size_t room = m->memo_room ? 2 * m->memo_room : 256;
    struct item *more = PR_ARENA_ARRAY(m->a, struct item, room);

    if (!more)
        return PR_E_NOMEM;
    if (m->memo_count)
        memcpy(more, m->memo, m->memo_count * sizeof *more);
    m->memo = more;
    m->memo_room = room;
    return PR_OK;
}

/* Python's writer numbers them as they come. */
static int pickle_memo_put(struct machine *m, size_t len)
{
    uint64_t at;

    if (!pickle_read_number(m, len, &at))
        return cut_short(m);
    if (at > m->memo_count || !m->depth)
        return pickle_fail(m, "it remembers what is not there");
    if (at == m->memo_room && grow_memo(m))
        return pr_fail_nomem(m->err);
    m->memo[at] = m->stack[m->depth - 1];
    m->memo_count += at == m->memo_count;
    return PR_OK;
}

static int pickle_memo_get(struct machine *m, size_t len)
{
    uint64_t at;

    if (!pickle_read_number(m, len, &at))
        return cut_short(m);
    if (at >= m->memo_count)
        return pickle_fail(m, "it recalls what it did not remember");
    return pickle_push(m, m->memo[at]);
}

/* ---- pickle: storages */

static bool pickle_parse_key(const uint8_t *text, uint32_t len, uint64_t *ret)
{
    *ret = 0;
    for (uint32_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || len > 10)
            return false;
        *ret = *ret * 10 + (uint64_t)(text[i] - '0');
    }
    return len > 0;
}

/* torch.save numbers them as they come; one that comes again is the same. */
static int note_storage(struct machine *m)
{
    struct item item = {0};
    uint64_t key;
    int rc;

    if (m->depth)
        item = m->stack[m->depth - 1];
    rc = pickle_pop(m, 1);
    if (rc)
        return rc;
    if (item.kind != STORAGE ||
        !pickle_parse_key(m->start + item.text, item.len, &key) ||
        key > m->count)
        return pickle_fail(
            m, "it holds what is not a tensor of a type that checkpoints "
               "have");
    if (key == m->count)
        m->found[m->count++] = (struct pr_tensor_torch_storage){
            (enum pr_tensor_type)item.type, item.number};
    else if (m->found[key].type != item.type ||
             m->found[key].elements != item.number)
        return pickle_fail(m, "it names a storage twice, with two sizes");
    return push_other(m);
}

/* ---- pickle: the program */

static int after_mark(struct machine *m, uint8_t op)
{
    struct item *items = NULL;
    size_t count = 0;
    int rc = pop_to_mark(m, &items, &count);

    if (rc || op != 't') /* SETITEMS, APPENDS: onto what is below */
        return rc;
    return pickle_push_tuple(m, items, count);
}

static int pickle_run_op(struct machine *m, uint8_t op)
{
    const uint8_t *skipped;

    switch (op) {
    case 0x80: /* PROTO */
        return pickle_read_bytes(m, 1, &skipped) ? PR_OK : cut_short(m);
    case 'G':
        return pickle_read_bytes(m, 8, &skipped) ? push_other(m) : cut_short(m);
    case '}':
    case ']':
    case ')':
    case 'N':
    case 0x88:
    case 0x89:
        return push_other(m);
    case '(':
        return pickle_push(m, (struct item){.kind = MARK});
    case 'K':
        return push_number(m, 1);
    case 'M':
        return push_number(m, 2);
    case 'J':
        return push_number(m, 4);
    case 0x8a:
        return push_long(m);
    case 'X':
        return pickle_push_text(m);
    case 'c':
        return push_global(m);
    case 0x85:
    case 0x86:
    case 0x87:
        return push_small_tuple(m, op - 0x84u);
    case 'q':
        return pickle_memo_put(m, 1);
    case 'r':
        return pickle_memo_put(m, 4);
    case 'h':
        return pickle_memo_get(m, 1);
    case 'j':
        return pickle_memo_get(m, 4);
    case 't':
    case 'u':
    case 'e':
        return after_mark(m, op);
    case 's':
        return pickle_pop(m, 2);
    case 'a':
    case 'b':
        return pickle_pop(m, 1);
    case 'R':
        PR_TRY(pickle_pop(m, 2));
        return push_other(m);
    case 'Q':
        return note_storage(m);
    default:
        m->p--;
        return pickle_fail(m, "it does what no checkpoint needs");
    }
}

int pr_tensor_find_pickle(const void *pickle, size_t len, const char *name,
                          struct pr_arena *a,
                          struct pr_tensor_torch_storage **ret,
                          size_t *ret_count, struct pr_err *err)
{
    struct machine m = {
        .p = pickle, .start = pickle, .name = name, .a = a, .err = err};
    int rc = PR_OK;

    if (len > PICKLE_MAX)
        return pr_fail(err, PR_E_FORMAT, name,
                       "its pickle has %zu bytes, %d are read at most", len,
                       PICKLE_MAX);
    m.end = m.p + len;
    m.stack = PR_ARENA_ARRAY(a, struct item, DEPTH_MAX);
    /* A key has a text of its own, of six bytes at least. */
    m.found = PR_ARENA_ARRAY(a, struct pr_tensor_torch_storage, len / 6 + 1);
    if (!m.stack || !m.found)
        return pr_fail_nomem(err);
    while (!rc) {
        if (m.p == m.end)
            return cut_short(&m);
        if (*m.p == '.') {
            *ret = m.found;
            *ret_count = m.count;
            return PR_OK;
        }
        rc = pickle_run_op(&m, *m.p++);
    }
    return rc;
}

typedef unsigned long long ull;

/* ---- both kinds of files */

static int tensor_compare_places(const void *a, const void *b)
{
    const struct pr_tensor_found *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

/* Sorts them by place, leaves empty ones out, and checks that all lie in a file
 * of so many bytes. */
static int tensor_find_sort(struct pr_tensor_found_list *l, uint64_t file_bytes,
                            const char *name, struct pr_err *err)
{
    uint64_t end = 0;
    size_t n = 0;

    for (size_t i = 0; i < l->count; i++)
        if (l->items[i].bytes)
            l->items[n++] = l->items[i];
    l->count = n;
    if (n)
        qsort(l->items, n, sizeof *l->items, tensor_compare_places);
    for (size_t i = 0; i < n; i++) {
        const struct pr_tensor_found *f = &l->items[i];

        if (f->at < end || f->at > file_bytes || f->bytes > file_bytes - f->at)
            return pr_fail(err, PR_E_FORMAT, name,
                           "a tensor of %llu bytes at byte %llu does not lie "
                           "in its file of %llu bytes, or in another one",
                           (ull)f->bytes, (ull)f->at, (ull)file_bytes);
        end = f->at + f->bytes;
    }
    return PR_OK;
}

/* ---- torch.save */

bool pr_tensor_find_is_torch(const uint8_t *head, size_t len)
{
    return len >= 4 && memcmp(head, "PK\3\4", 4) == 0;
}

struct archive {
    struct pr_reader r; /* what the archive is read with */
    struct pr_window win;
    struct pr_zip zip;
    struct pr_zip_member pickle;
    bool has_pickle;
    struct pr_zip_member *data; /* members data/0, data/1, … */
    uint64_t count;
};

static bool tensor_has_ending(const char *name, size_t len, const char *end)
{
    size_t n = strlen(end);

    return len >= n && memcmp(name + len - n, end, n) == 0;
}

/* The number behind "/data/", or -1. */
static int64_t data_number(const char *name, size_t len)
{
    static const char before[] = "/data/";
    size_t at = len;
    int64_t n = 0;

    while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    if (at == len || len - at > 10 || !tensor_has_ending(name, at, before))
        return -1;
    for (; at < len; at++)
        n = n * 10 + (name[at] - '0');
    return n;
}

static int on_member(void *ctx, const char *name, const struct pr_zip_member *m,
                     struct pr_err *err)
{
    struct archive *f = ctx;
    int64_t n = data_number(name, m->name_len);

    if (tensor_has_ending(name, m->name_len, "/data.pkl")) {
        f->pickle = *m;
        f->has_pickle = true;
    }
    if (n < 0)
        return PR_OK;
    if ((uint64_t)n >= f->zip.members || f->data[n].name_len)
        return pr_reader_bad(&f->r, m->at, err, "member '%.*s' is one too many",
                             (int)m->name_len, name);
    f->data[n] = *m;
    f->count++;
    return PR_OK;
}

/* The bytes of a member that is stored, in the arena. */
static int fetch_member(struct archive *f, struct pr_zip_member *m,
                        struct pr_arena *a, uint8_t **ret, struct pr_err *err)
{
    enum { MOST = 4 << 20 };
    uint8_t *all;
    int rc = pr_zip_locate(&f->zip, m, &f->r, &f->win, err);

    if (rc)
        return rc;
    if (m->method != PR_ZIP_STORED || m->bytes > MOST)
        return pr_reader_bad(&f->r, m->at, err,
                             "its pickle is packed, or larger than %d bytes",
                             MOST);
    all = pr_arena_alloc(a, (size_t)m->bytes + 1);
    if (!all)
        return pr_fail_nomem(err);
    for (uint64_t at = 0; at < m->bytes;) {
        uint64_t left = m->bytes - at;
        size_t n = left < PR_WINDOW_MAX ? (size_t)left : PR_WINDOW_MAX;
        const uint8_t *p;

        rc = pr_window_get(&f->win, &f->r, m->data + at, n, &p, err);
        if (rc)
            return rc;
        memcpy(all + at, p, n);
        at += n;
    }
    if (pr_crc32(0, all, (size_t)m->bytes) != m->crc)
        return pr_reader_bad(&f->r, m->data, err, "its pickle is damaged");
    *ret = all;
    return PR_OK;
}

static int find_storages(struct archive *f, struct pr_arena *a,
                         struct pr_tensor_found_list *ret, struct pr_err *err)
{
    struct pr_tensor_torch_storage *storages = NULL;
    size_t count = 0;
    uint8_t *text = NULL;
    int rc = fetch_member(f, &f->pickle, a, &text, err);

    if (!rc)
        rc = pr_tensor_find_pickle(text, (size_t)f->pickle.bytes, f->r.name, a,
                                   &storages, &count, err);
    if (rc)
        return rc;
    ret->items = PR_ARENA_ARRAY(a, struct pr_tensor_found, count + 1);
    if (!ret->items)
        return pr_fail_nomem(err);
    for (size_t i = 0; !rc && i < count; i++) {
        struct pr_zip_member *m = &f->data[i];
        uint64_t bytes;

        if (i >= f->zip.members || !m->name_len ||
            __builtin_mul_overflow(storages[i].elements,
                                   pr_tensor_type_bytes(storages[i].type),
                                   &bytes) ||
            m->bytes != bytes || m->method != PR_ZIP_STORED)
            return pr_reader_bad(&f->r, f->pickle.at, err,
                                 "member data/%zu is missing, or has another "
                                 "size than its pickle says",
                                 i);
        rc = pr_zip_locate(&f->zip, m, &f->r, &f->win, err);
        ret->items[i] =
            (struct pr_tensor_found){storages[i].type, m->data, bytes, m->crc};
    }
    ret->count = count;
    return rc;
}

static int read_archive(struct archive *f, struct pr_arena *a,
                        struct pr_tensor_found_list *ret, struct pr_err *err)
{
    int rc = pr_window_open(&f->win, &f->r, err);

    if (!rc)
        rc = pr_zip_open(&f->zip, &f->r, &f->win, err);
    if (rc)
        return rc;
    f->data = PR_ARENA_ARRAY(a, struct pr_zip_member, f->zip.members + 1);
    if (!f->data)
        return pr_fail_nomem(err);
    rc = pr_zip_each(&f->zip, &f->r, &f->win, on_member, f, err);
    if (!rc && !f->has_pickle)
        rc = pr_reader_bad(&f->r, 0, err,
                           "this ZIP archive has no data.pkl, so torch.save "
                           "did not write it");
    return rc ? rc : find_storages(f, a, ret, err);
}

int pr_tensor_find_torch(struct pr_storage *st, const char *path,
                         struct pr_arena *a, struct pr_tensor_found_list *ret,
                         struct pr_err *err)
{
    struct pr_tensor_found_list found = {0};
    struct archive *f = pr_alloc_zeroed(sizeof *f);
    int rc;

    if (!f)
        return pr_fail_nomem(err);
    f->r.st = st;
    snprintf(f->r.name, sizeof f->r.name, "%s", path);
    rc = pr_object_open(st, path, &f->r.obj, err);
    if (!rc) {
        rc = read_archive(f, a, &found, err);
        if (!rc)
            rc = tensor_find_sort(&found, f->r.obj.size, path, err);
        pr_object_close(&f->r.obj);
    }
    pr_free(f->r.scratch);
    pr_free(f);
    if (!rc)
        *ret = found;
    return rc;
}

/* ---- TensorFlow */

enum { FOOTER = 48, TRAILER = 5 };

struct span {
    const uint8_t *p, *end;
};

struct table {
    struct span all;
    const char *name;
    struct pr_arena *a;
    struct pr_tensor_found_list found;
    uint64_t looked_at; /* bytes of blocks, of which each is listed once */
    bool has_header;
    struct pr_err *err;
};

static int bundle_fail(const struct table *t, const char *what)
{
    return pr_fail(t->err, PR_E_FORMAT, t->name,
                   "as a table of TensorFlow's: %s", what);
}

static bool get_span(struct span *s, uint64_t len, struct span *ret)
{
    if (len > (size_t)(s->end - s->p))
        return false;
    *ret = (struct span){s->p, s->p + len};
    s->p += len;
    return true;
}

/* Of a field of a protocol buffer: a number, or bytes. */
static bool get_field(struct span *s, uint64_t *ret_tag, uint64_t *ret_number,
                      struct span *ret_bytes)
{
    uint64_t len;

    if (!pr_get_varint(&s->p, s->end, ret_tag))
        return false;
    switch (*ret_tag & 7) {
    case 0:
        return pr_get_varint(&s->p, s->end, ret_number);
    case 1:
        return get_span(s, 8, ret_bytes);
    case 2:
        return pr_get_varint(&s->p, s->end, &len) &&
               get_span(s, len, ret_bytes);
    case 5:
        return get_span(s, 4, ret_bytes);
    default:
        return false;
    }
}

struct entry {
    uint64_t dtype; /* of the header: how many files of contents */
    uint64_t endian, shard, offset, size;
    uint32_t crc;
    bool is_sliced;
};

static int bundle_read_entry(const struct table *t, struct span value,
                             struct entry *ret)
{
    uint64_t tag, n = 0;
    struct span bytes = {0};

    *ret = (struct entry){0};
    while (value.p < value.end) {
        if (!get_field(&value, &tag, &n, &bytes))
            return bundle_fail(t, "an entry is broken");
        switch (tag) {
        case 1 << 3:
            ret->dtype = n;
            break;
        case 2 << 3:
            ret->endian = n;
            break;
        case 3 << 3:
            ret->shard = n;
            break;
        case 4 << 3:
            ret->offset = n;
            break;
        case 5 << 3:
            ret->size = n;
            break;
        case 6 << 3 | 5:
            ret->crc = pr_tfrecord_load32(bytes.p);
            break;
        case 7 << 3 | 2:
            ret->is_sliced = true;
            break;
        default: /* the shape: tensors have one dimension */
            break;
        }
    }
    return PR_OK;
}

static bool bundle_find_type(uint64_t dtype, enum pr_tensor_type *ret)
{
    static const struct {
        uint64_t dtype;
        enum pr_tensor_type type;
    } types[] = {
        {1, PR_TENSOR_FP32}, {2, PR_TENSOR_FP64},  {4, PR_TENSOR_UINT8},
        {6, PR_TENSOR_INT8}, {14, PR_TENSOR_BF16}, {19, PR_TENSOR_FP16},
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].dtype == dtype) {
            *ret = types[i].type;
            return true;
        }
    return false;
}

static int note_header(struct table *t, const struct entry *e)
{
    if (e->dtype != 1 || e->endian)
        return bundle_fail(
            t, "it is of several files of contents, or of a big-endian "
               "machine");
    t->has_header = true;
    return PR_OK;
}

static int bundle_add_tensor(struct table *t, const struct entry *e)
{
    enum { STRING = 7, INT64 = 9 }; /* of the saver's own */
    struct pr_tensor_found f = {
        .at = e->offset, .bytes = e->size, .crc = e->crc};
    struct pr_tensor_found *found;

    if (e->shard || e->is_sliced)
        return bundle_fail(t, "a tensor is in several files or parts");
    if (e->dtype == STRING || e->dtype == INT64)
        return PR_OK;
    if (!bundle_find_type(e->dtype, &f.type))
        return bundle_fail(t,
                           "a tensor has a type that checkpoints do not have");
    found = PR_PUSH(t->a, &t->found);
    if (!found)
        return pr_fail_nomem(t->err);
    *found = f;
    return PR_OK;
}

/* A block by its handle, without the list of restarts at its end. */
static int open_block(struct table *t, struct span *handle, struct span *ret)
{
    struct span from = t->all, trailer;
    uint64_t at, len;
    uint32_t restarts;
    size_t tail;

    if (!pr_get_varint(&handle->p, handle->end, &at) ||
        !pr_get_varint(&handle->p, handle->end, &len) ||
        !get_span(&from, at, ret) || !get_span(&from, len, ret) ||
        !get_span(&from, TRAILER, &trailer) || len < 4)
        return bundle_fail(t, "a block lies outside of it");
    t->looked_at += len;
    if (t->looked_at > (size_t)(t->all.end - t->all.p))
        return bundle_fail(t, "its blocks overlap");
    if (trailer.p[0])
        return bundle_fail(t, "a block is packed");
    if (pr_tfrecord_mask(pr_crc32c(0, ret->p, (size_t)len + 1)) !=
        pr_tfrecord_load32(trailer.p + 1))
        return bundle_fail(t, "a block is damaged");
    restarts = pr_tfrecord_load32(ret->end - 4);
    if (restarts > (len - 4) / 4)
        return bundle_fail(t, "a block is broken");
    tail = 4 + 4 * (size_t)restarts;
    ret->end -= tail;
    return PR_OK;
}

/* The next entry of a block. Of keys only whether there is one matters. */
static int next_entry(const struct table *t, struct span *block,
                      bool *ret_has_key, struct span *ret_value)
{
    uint64_t shared, rest, len;
    struct span key;

    if (!pr_get_varint(&block->p, block->end, &shared) ||
        !pr_get_varint(&block->p, block->end, &rest) ||
        !pr_get_varint(&block->p, block->end, &len) ||
        !get_span(block, rest, &key) || !get_span(block, len, ret_value))
        return bundle_fail(t, "a block is broken");
    *ret_has_key = shared || rest;
    return PR_OK;
}

static int read_block(struct table *t, struct span block)
{
    int rc = PR_OK;

    while (!rc && block.p < block.end) {
        struct entry e;
        struct span value;
        bool has_key;

        rc = next_entry(t, &block, &has_key, &value);
        if (!rc)
            rc = bundle_read_entry(t, value, &e);
        if (!rc)
            rc = has_key ? bundle_add_tensor(t, &e) : note_header(t, &e);
    }
    return rc;
}

static int read_blocks(struct table *t)
{
    struct span footer = {t->all.end - FOOTER, t->all.end}, block, index;
    uint64_t skipped;
    int rc;

    for (int i = 0; i < 2; i++) /* where the block of metadata is, its size */
        if (!pr_get_varint(&footer.p, footer.end, &skipped))
            return bundle_fail(t, "its footer is broken");
    rc = open_block(t, &footer, &index);
    while (!rc && index.p < index.end) {
        struct span handle;
        bool has_key;

        rc = next_entry(t, &index, &has_key, &handle);
        if (!rc)
            rc = open_block(t, &handle, &block);
        if (!rc)
            rc = read_block(t, block);
    }
    if (!rc && !t->has_header)
        rc = bundle_fail(t, "it has no header");
    return rc;
}

int pr_tensor_find_bundle(const void *table, size_t len, uint64_t data_bytes,
                          const char *name, struct pr_arena *a,
                          struct pr_tensor_found_list *ret, struct pr_err *err)
{
    static const uint8_t magic[8] = {0x57, 0xfb, 0x80, 0x8b,
                                     0x24, 0x75, 0x47, 0xdb};
    struct table t = {.name = name, .a = a, .err = err};
    int rc;

    t.all = (struct span){table, (const uint8_t *)table + len};
    if (len < FOOTER || memcmp(t.all.end - 8, magic, 8) != 0)
        return bundle_fail(&t, "it does not end as one");
    t.found.is_crc32c = true;
    rc = read_blocks(&t);
    if (!rc)
        rc = tensor_find_sort(&t.found, data_bytes, name, err);
    if (!rc)
        *ret = t.found;
    return rc;
}
