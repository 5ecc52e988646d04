/*
 * Arrays as numpy writes them: their samples, their heads, and the format npy,
 * which is one array a file.
 */
#include "format/npy.h"

#include "format/content.h"
#include "format/format.h"

#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- samples of an array */

enum { NO_AXIS = -1, WRONG = -2 };

/* The axis that counts n samples. */
static int find_axis(const struct pr_shape *s, uint64_t n)
{
    if (!n)
        return NO_AXIS;
    if (s->ndim && s->dim[s->ndim - 1] == n)
        return (int)s->ndim - 1;
    if (s->ndim && s->dim[0] == n)
        return 0;
    return n == 1 ? NO_AXIS : WRONG;
}

static int bad_count(const struct pr_npy *npy, const struct pr_reader *r,
                     uint64_t at, uint64_t n, struct pr_err *err)
{
    const struct pr_shape *s = &npy->shape;

    if (!s->ndim)
        return pr_reader_bad(r, at, err,
                             "a single number was found, not %llu samples",
                             (unsigned long long)n);
    return pr_reader_bad(
        r, at, err,
        "neither the last nor the first dimension, %llu and %llu, counts %llu "
        "samples",
        (unsigned long long)s->dim[s->ndim - 1], (unsigned long long)s->dim[0],
        (unsigned long long)n);
}

static void drop_axis(struct pr_shape *s, unsigned axis)
{
    s->ndim--;
    for (unsigned i = axis; i < s->ndim; i++)
        s->dim[i] = s->dim[i + 1];
}

int pr_npy_array_init(struct pr_npy_array *a, const struct pr_npy *npy,
                      const struct pr_reader *r, uint64_t at, uint64_t n,
                      struct pr_err *err)
{
    int axis = find_axis(&npy->shape, n);
    bool is_slowest;

    if (axis == WRONG)
        return bad_count(npy, r, at, n, err);
    *a = (struct pr_npy_array){
        .npy = *npy, .samples = n ? n : 1, .shape = npy->shape, .step = 1};
    is_slowest = npy->fortran ? axis == (int)npy->shape.ndim - 1 : axis == 0;
    if (axis != NO_AXIS)
        drop_axis(&a->shape, (unsigned)axis);
    a->count = npy->count / a->samples;
    a->bytes = npy->data_bytes / a->samples;
    if (axis != NO_AXIS && !is_slowest && a->count > 1)
        a->step = n;
    a->fortran = npy->fortran && a->shape.ndim > 1;
    return PR_OK;
}

/* All of ret but the label; the bytes lie in the file's order. */
static void npy_array_sample(const struct pr_npy_array *a, const void *data,
                             struct pr_sample *ret)
{
    *ret = (struct pr_sample){
        .data = data,
        .size = (size_t)a->bytes,
        .dtype = a->npy.dtype,
        .shape = a->shape,
        .fortran = a->fortran,
    };
}

void pr_npy_array_native(const struct pr_npy_array *a, const uint8_t *data,
                         uint8_t *buf, struct pr_sample *ret)
{
    if (a->npy.is_swapped) {
        if (a->bytes)
            memmove(buf, data, (size_t)a->bytes);
        pr_dtype_swap(a->npy.dtype, buf, (size_t)a->bytes);
        data = buf;
    }
    npy_array_sample(a, data, ret);
}

/* ---- samples: picking out */

#define PICK(bytes)                \
    for (size_t k = 0; k < n; k++) \
    memcpy(out + k * (bytes), in + k * step, bytes)

/* n elements, step bytes from one to the next. */
static void npy_pick_elements(uint8_t *out, const uint8_t *in, size_t n,
                              size_t step, size_t bytes)
{
    switch (bytes) {
    case 1:
        PICK(1);
        break;
    case 2:
        PICK(2);
        break;
    case 4:
        PICK(4);
        break;
    default:
        PICK(8);
        break;
    }
}

int pr_npy_array_pick(const struct pr_npy_array *a, uint64_t i, uint8_t *out,
                      int (*get)(void *ctx, uint64_t off, size_t len,
                                 const uint8_t **ret, struct pr_err *err),
                      void *ctx, struct pr_err *err)
{
    size_t el = pr_dtype_bytes(a->npy.dtype);
    uint64_t step = a->step * el, off = i * el, left = a->count;

    while (left) {
        /* As many as a piece holds; the last one's successor is not needed. */
        uint64_t n = step < PR_NPY_PIECE ? (PR_NPY_PIECE - el) / step + 1 : 1;
        const uint8_t *in;
        int rc;

        if (n > left)
            n = left;
        rc = get(ctx, off, (size_t)((n - 1) * step + el), &in, err);
        if (rc)
            return rc;
        npy_pick_elements(out, in, (size_t)n, (size_t)step, el);
        out += n * el;
        off += n * step;
        left -= n;
    }
    return PR_OK;
}

/* ---- samples: as they lie in a file */

static int get_piece(void *ctx, uint64_t off, size_t len, const uint8_t **ret,
                     struct pr_err *err)
{
    const struct pr_npy_place *p = ctx;
    uint8_t *buf;

    if (pr_window_is_whole(p->win, p->r)) {
        *ret = p->win->data + p->base + off;
        return PR_OK;
    }
    buf = pr_reader_scratch(p->r, PR_NPY_PIECE + PR_IO_SLACK);
    if (!buf)
        return pr_fail_nomem(err);
    return pr_object_fetch(&p->r->obj, p->base + off, len, buf,
                           p->r->scratch_cap, ret, err);
}

int pr_npy_array_read(const struct pr_npy_array *a,
                      const struct pr_npy_place *at, uint64_t i, uint8_t *buf,
                      size_t cap, struct pr_sample *ret, struct pr_err *err)
{
    uint64_t off = at->base + i * a->bytes;
    struct pr_npy_place place = *at;
    const uint8_t *data = buf;
    int rc = pr_npy_array_check_room(at->r, cap, err);

    if (rc)
        return rc;
    if (a->step > 1)
        rc = pr_npy_array_pick(a, i, buf, get_piece, &place, err);
    else if (pr_window_is_whole(at->win, at->r))
        data = at->win->data + off;
    else
        rc = pr_object_fetch(&at->r->obj, off, (size_t)a->bytes, buf, cap,
                             &data, err);
    if (!rc)
        pr_npy_array_native(a, data, buf, ret);
    return rc;
}

int pr_npy_array_check_room(const struct pr_reader *r, size_t cap,
                            struct pr_err *err)
{
    if (cap >= r->need)
        return PR_OK;
    return pr_fail(err, PR_E_CONF, r->name,
                   "a buffer of %zu bytes is too small, %zu are needed", cap,
                   r->need);
}

/* ---- reading a head. The parser knows of Python what numpy writes there: one
 * dict with three keys, a string, a word, a tuple. */

static const uint8_t magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* Magic, version, length of the text: eight bytes and two or four. */
static size_t text_start(const uint8_t *head)
{
    return head[6] == 1 ? 10 : 12;
}

int pr_npy_head_length(const struct pr_reader *r, uint64_t at,
                       const uint8_t *fixed, size_t *ret, struct pr_err *err)
{
    uint32_t text;

    if (memcmp(fixed, magic, sizeof magic) != 0)
        return pr_reader_bad(r, at, err, "this is not a .npy array");
    if (fixed[6] < 1 || fixed[6] > 3 || fixed[7] != 0)
        return pr_reader_bad(r, at + 6, err,
                             "version %u.%u of .npy is not known", fixed[6],
                             fixed[7]);
    if (fixed[6] == 1) {
        uint16_t v;
        memcpy(&v, fixed + 8, sizeof v);
        text = le16toh(v);
    } else {
        memcpy(&text, fixed + 8, sizeof text);
        text = le32toh(text);
    }
    if (text > PR_NPY_HEAD_MAX - text_start(fixed))
        return pr_reader_bad(r, at + 8, err,
                             "a .npy head of %lu bytes is too long",
                             (unsigned long)text);
    *ret = text_start(fixed) + text;
    return PR_OK;
}

struct parser {
    const struct pr_reader *r;
    uint64_t at; /* of the head in the file */
    const uint8_t *head, *p, *end;
    struct pr_err *err;
};

static int npy_fail_head(const struct parser *s, const char *text)
{
    return pr_reader_bad(s->r, s->at + (uint64_t)(s->p - s->head), s->err,
                         "bad .npy head: %s", text);
}

static void npy_skip_space(struct parser *s)
{
    while (s->p < s->end && (*s->p == ' ' || (*s->p >= '\t' && *s->p <= '\r')))
        s->p++;
}

/* Whether c comes next; then it is taken. */
static bool npy_accept_char(struct parser *s, char c)
{
    npy_skip_space(s);
    if (s->p == s->end || *s->p != (uint8_t)c)
        return false;
    s->p++;
    return true;
}

static int parse_string(struct parser *s, char *out, size_t cap)
{
    const uint8_t *start;
    char quote;

    npy_skip_space(s);
    if (s->p == s->end || (*s->p != '\'' && *s->p != '"'))
        return npy_fail_head(s, "a string is missing");
    quote = (char)*s->p++;
    start = s->p;
    while (s->p < s->end && *s->p != (uint8_t)quote)
        if (*s->p < ' ' || *s->p > '~' || *s->p++ == '\\')
            return npy_fail_head(s, "an odd character in a string");
    if (s->p == s->end)
        return npy_fail_head(s, "a string does not end");
    if ((size_t)(s->p - start) >= cap)
        return npy_fail_head(s, "a string is too long");
    memcpy(out, start, (size_t)(s->p - start));
    out[s->p - start] = '\0';
    s->p++;
    return PR_OK;
}

static int parse_bool(struct parser *s, bool *ret)
{
    static const char *const words[] = {"False", "True"};

    npy_skip_space(s);
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(words[i]);

        if ((size_t)(s->end - s->p) >= n && memcmp(s->p, words[i], n) == 0) {
            s->p += n;
            *ret = i;
            return PR_OK;
        }
    }
    return npy_fail_head(s, "'fortran_order' is neither True nor False");
}

static int parse_number(struct parser *s, uint64_t *ret)
{
    const uint8_t *start;
    uint64_t v = 0;

    npy_skip_space(s);
    start = s->p;
    for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++)
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, *s->p - '0', &v))
            return npy_fail_head(s, "a dimension is too large");
    if (s->p == start)
        return npy_fail_head(s, "a dimension is not a whole number");
    if (s->p - start > 1 && *start == '0')
        return npy_fail_head(s, "a dimension starts with 0");
    *ret = v;
    return PR_OK;
}

/* (), (5,) or (3, 4), with or without a comma at the end; (5) is no tuple. */
static int parse_shape(struct parser *s, struct pr_shape *ret)
{
    bool comma = true;
    int rc;

    ret->ndim = 0;
    if (!npy_accept_char(s, '('))
        return npy_fail_head(s, "'shape' is not a tuple");
    while (!npy_accept_char(s, ')')) {
        if (!comma)
            return npy_fail_head(s, "',' or ')' is missing in 'shape'");
        if (ret->ndim == PR_MAX_DIMS)
            return npy_fail_head(
                s, "an array has too many dimensions, 16 is the most");
        rc = parse_number(s, &ret->dim[ret->ndim]);
        if (rc)
            return rc;
        ret->ndim++;
        comma = npy_accept_char(s, ',');
    }
    if (ret->ndim == 1 && !comma)
        return npy_fail_head(s, "'shape' is not a tuple");
    return PR_OK;
}

static int refuse_type(const struct parser *s, const char *descr)
{
    const char *kind = strpbrk(descr, "OSUVaMmc");

    if (!kind)
        return pr_reader_bad(s->r, s->at, s->err,
                             "elements of type '%s' are not known", descr);
    return pr_reader_bad(s->r, s->at, s->err,
                         "elements of type '%s' (%s) cannot be read", descr,
                         *kind == 'O'                   ? "Python objects"
                         : *kind == 'c'                 ? "complex numbers"
                         : *kind == 'V'                 ? "records"
                         : *kind == 'M' || *kind == 'm' ? "times"
                                                        : "strings");
}

/* '<u2': byte order, letter, bytes. */
static int parse_descr(struct parser *s, struct pr_npy *ret)
{
    const char ours = BYTE_ORDER == LITTLE_ENDIAN ? '<' : '>';
    char descr[32], order = '=';
    const char *p = descr;
    int rc;

    if (npy_accept_char(s, '['))
        return pr_reader_bad(s->r, s->at, s->err,
                             "elements of a structured type cannot be read");
    rc = parse_string(s, descr, sizeof descr);
    if (rc)
        return rc;
    if (*p && strchr("<>|=", *p))
        order = *p++;
    if (strlen(p) != 2 || p[1] < '1' || p[1] > '9' ||
        !pr_dtype_of(p[0], (size_t)(p[1] - '0'), &ret->dtype))
        return refuse_type(s, descr);
    if (p[1] != '1' && order == '|')
        return refuse_type(s, descr);
    ret->is_swapped = p[1] != '1' && order != '=' && order != ours;
    return PR_OK;
}

/* One key and its value; found has a bit for each key there was. */
static int parse_item(struct parser *s, unsigned *found, struct pr_npy *ret)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    char key[16];
    unsigned k = 0;
    int rc = parse_string(s, key, sizeof key);

    if (rc)
        return rc;
    while (k < 3 && strcmp(key, keys[k]) != 0)
        k++;
    if (k == 3)
        return npy_fail_head(s,
                             "a key other than descr, fortran_order and shape");
    if (*found & 1u << k)
        return npy_fail_head(s, "a key comes twice");
    *found |= 1u << k;
    if (!npy_accept_char(s, ':'))
        return npy_fail_head(s, "':' is missing after a key");
    return k == 0   ? parse_descr(s, ret)
           : k == 1 ? parse_bool(s, &ret->fortran)
                    : parse_shape(s, &ret->shape);
}

static int parse_dict(struct parser *s, struct pr_npy *ret)
{
    unsigned found = 0;
    bool comma = true;
    int rc;

    if (!npy_accept_char(s, '{'))
        return npy_fail_head(s, "'{' is missing");
    while (!npy_accept_char(s, '}')) {
        if (!comma)
            return npy_fail_head(s, "',' or '}' is missing");
        rc = parse_item(s, &found, ret);
        if (rc)
            return rc;
        comma = npy_accept_char(s, ',');
    }
    if (found != 7)
        return npy_fail_head(s, "descr, fortran_order or shape is missing");
    npy_skip_space(s);
    return s->p == s->end ? PR_OK
                          : npy_fail_head(s, "something follows the '}'");
}

int pr_npy_parse(const struct pr_reader *r, uint64_t at, const uint8_t *head,
                 size_t len, struct pr_npy *ret, struct pr_err *err)
{
    struct parser s = {r, at, head, head + text_start(head), head + len, err};
    struct pr_npy a = {.head_bytes = len};
    int rc = parse_dict(&s, &a);

    if (rc)
        return rc;
    a.count = pr_shape_count(&a.shape);
    if (a.count == UINT64_MAX ||
        __builtin_mul_overflow(a.count, pr_dtype_bytes(a.dtype),
                               &a.data_bytes) ||
        a.data_bytes > INT64_MAX)
        return npy_fail_head(&s, "the array is larger than any file");
    *ret = a;
    return PR_OK;
}

int pr_npy_parse_head(struct pr_npy_last_head *last, const struct pr_reader *r,
                      uint64_t at, const uint8_t *head, size_t len,
                      struct pr_err *err)
{
    int rc;

    last->is_same = len == last->len && memcmp(head, last->head, len) == 0;
    if (last->is_same)
        return PR_OK;
    last->len = 0;
    rc = pr_npy_parse(r, at, head, len, &last->npy, err);
    if (!rc && len <= PR_NPY_KEPT) {
        memcpy(last->head, head, len);
        last->len = len;
    }
    return rc;
}

/* ---- writing */

static size_t npy_print_head(char *out, size_t at, const char *fmt, ...)
    PR_PRINTF(3, 4);

static size_t npy_print_head(char *out, size_t at, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(out + at, PR_NPY_HEAD_BUF - at, fmt, ap);
    va_end(ap);
    return at + (size_t)n;
}

static size_t put_dict(const struct pr_npy *a, char *out)
{
    size_t bytes = pr_dtype_bytes(a->dtype), n = 0;

    n = npy_print_head(
        out, n, "{'descr': '%c%c%zu', 'fortran_order': %s, 'shape': (",
        bytes == 1                    ? '|'
        : BYTE_ORDER == LITTLE_ENDIAN ? '<'
                                      : '>',
        pr_dtype_letter(a->dtype), bytes, a->fortran ? "True" : "False");
    for (unsigned i = 0; i < a->shape.ndim; i++)
        n = npy_print_head(out, n, i ? ", %llu" : "%llu",
                           (unsigned long long)a->shape.dim[i]);
    return npy_print_head(out, n, a->shape.ndim == 1 ? ",), }" : "), }");
}

/* Of the whole C head: numpy leaves room for the first dimension to grow to 21
 * digits, then fills up to a multiple of 64, by at least one. */
static size_t npy_pad_length(const struct pr_npy *a)
{
    struct pr_npy c = *a;
    char text[PR_NPY_HEAD_BUF], digits[24];
    size_t n;

    c.fortran = false;
    n = put_dict(&c, text);
    if (a->shape.ndim)
        n += 21 - (size_t)snprintf(digits, sizeof digits, "%llu",
                                   (unsigned long long)a->shape.dim[0]);
    return (10 + n + 1) / 64 * 64 + 64;
}

size_t pr_npy_build(const struct pr_npy *a, uint8_t *out)
{
    size_t total = npy_pad_length(a);
    uint16_t text = htole16((uint16_t)(total - 10));

    memset(out, ' ', total);
    memcpy(out, magic, sizeof magic);
    out[6] = 1;
    out[7] = 0;
    memcpy(out + 8, &text, sizeof text);
    out[10 + put_dict(a, (char *)out + 10)] = ' '; /* was the NUL */
    out[total - 1] = '\n';
    return total;
}

/* ---- what a file specification means as arrays */

static void npy_finish(struct pr_npy *a)
{
    uint8_t head[PR_NPY_HEAD_BUF];

    a->count = pr_shape_count(&a->shape);
    a->data_bytes = a->count * pr_dtype_bytes(a->dtype);
    a->head_bytes = pr_npy_build(a, head);
}

void pr_npy_describe_labels(const struct pr_file_spec *spec, struct pr_npy *ret)
{
    *ret = (struct pr_npy){.dtype = PR_I64, .shape.ndim = 1};
    ret->shape.dim[0] = spec->samples;
    npy_finish(ret);
}

void pr_npy_describe_samples(const struct pr_file_spec *spec,
                             struct pr_npy *ret)
{
    if (spec->labels_alone) {
        pr_npy_describe_labels(spec, ret);
        return;
    }
    *ret = (struct pr_npy){.dtype = spec->dtype, .shape = spec->shape};
    ret->shape.dim[ret->shape.ndim++] = spec->samples;
    /* With one sample, or one element in each, both orders are the same. */
    ret->fortran = spec->samples > 1 && pr_shape_count(&spec->shape) > 1;
    npy_finish(ret);
}

int pr_npy_check(const struct pr_file_spec *spec, struct pr_err *err)
{
    uint64_t bytes = pr_spec_sample_bytes(spec);

    if (spec->shape.ndim >= PR_MAX_DIMS)
        return pr_fail(err, PR_E_CONF, "dataset.record_dims",
                       "a sample can have at most %d dimensions",
                       PR_MAX_DIMS - 1);
    if (bytes == UINT64_MAX ||
        __builtin_mul_overflow(bytes, spec->samples, &bytes) ||
        bytes > INT64_MAX / 2 || spec->samples > INT64_MAX / 16)
        return pr_fail(err, PR_E_CONF, "dataset.record_dims",
                       "the samples of a file are larger than any file");
    return PR_OK;
}

/* ---- reading */

struct reading {
    bool is_open;
    struct pr_window win;
    struct pr_npy_last_head head;
    bool has_array; /* array fits head */
    struct pr_npy_array array;
};

static int npy_read_head(struct pr_reader *r, struct reading *d,
                         struct pr_err *err)
{
    const struct pr_npy *npy = &d->head.npy;
    const uint8_t *head;
    size_t len;
    int rc = pr_window_get(&d->win, r, 0, PR_NPY_FIXED, &head, err);

    if (!rc)
        rc = pr_npy_head_length(r, 0, head, &len, err);
    if (!rc)
        rc = pr_window_get(&d->win, r, 0, len, &head, err);
    if (!rc)
        rc = pr_npy_parse_head(&d->head, r, 0, head, len, err);
    if (rc)
        return rc;
    if (!d->head.is_same)
        d->has_array = false;
    if (npy->data_bytes > r->obj.size - npy->head_bytes)
        return pr_reader_bad(r, r->obj.size, err,
                             "the file ends, its array has %llu bytes",
                             (unsigned long long)npy->data_bytes);
    if (!d->has_array)
        rc = pr_npy_array_init(&d->array, npy, r, 0, r->opts.samples, err);
    d->has_array = rc == PR_OK;
    return rc;
}

static int npy_open(struct pr_reader *r, struct pr_err *err)
{
    struct reading *d = r->data;
    int rc = pr_object_open(r->st, r->name, &r->obj, err);

    d->is_open = rc == PR_OK;
    if (!rc)
        rc = pr_window_open(&d->win, r, err);
    if (!rc)
        rc = npy_read_head(r, d, err);
    if (rc)
        return rc;
    if (r->opts.skip_decode) { /* as the bytes lie there */
        d->array.step = 1;
        d->array.npy.is_swapped = false;
    }
    r->samples = d->array.samples;
    r->need = (size_t)d->array.bytes + PR_IO_SLACK;
    return PR_OK;
}

static int npy_read(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
                    struct pr_sample *ret, struct pr_err *err)
{
    struct reading *d = r->data;
    struct pr_npy_place at = {r, &d->win, d->array.npy.head_bytes};

    return pr_npy_array_read(&d->array, &at, i, buf, cap, ret, err);
}

static void npy_close(struct pr_reader *r)
{
    struct reading *d = r->data;

    if (d->is_open)
        pr_object_close(&r->obj);
    d->is_open = false;
}

/* ---- writing */

struct writing {
    struct pr_out out;
    struct pr_content_piece piece;
};

static int npy_check(const struct pr_file_spec *spec, struct pr_err *err)
{
    if (spec->compression != PR_PLAIN)
        return pr_fail(err, PR_E_CONF, "dataset.compression",
                       "npy files are not compressed");
    return pr_npy_check(spec, err);
}

static uint64_t npy_bytes(const struct pr_file_spec *spec, bool *ret_exact)
{
    struct pr_npy a;

    pr_npy_describe_samples(spec, &a);
    *ret_exact = true;
    return a.head_bytes + a.data_bytes;
}

static int put_array(struct pr_writer *w, const struct pr_file_spec *spec,
                     const struct pr_npy *a, struct pr_err *err)
{
    struct writing *d = w->data;
    uint8_t head[PR_NPY_HEAD_BUF];
    int rc = pr_out_put(&d->out, head, pr_npy_build(a, head), err);

    for (uint64_t s = 0; !rc && s < spec->samples; s++)
        rc = pr_content_put_sample(w, &d->out, &d->piece, spec, s, NULL, NULL,
                                   err);
    return rc;
}

static int npy_write(struct pr_writer *w, const struct pr_file_spec *spec,
                     const char *name, uint64_t *ret_bytes, struct pr_err *err)
{
    struct writing *d = w->data;
    struct pr_npy a;
    uint64_t bytes;
    int rc = d->out.block ? PR_OK : pr_out_init(&d->out, w->st, err);

    if (rc)
        return rc;
    pr_npy_describe_samples(spec, &a);
    rc = pr_out_create(&d->out, name, a.head_bytes + a.data_bytes, err);
    if (rc)
        return rc;
    rc = put_array(w, spec, &a, err);
    bytes = pr_out_offset(&d->out);
    if (rc)
        pr_out_discard(&d->out);
    else
        rc = pr_out_commit(&d->out, err);
    if (!rc)
        *ret_bytes = bytes;
    return rc;
}

const struct pr_format pr_format_npy = {
    .abi = PR_FORMAT_ABI,
    .name = "npy",
    .desc = "one numpy array a file",
    .compressions = "none",
    .check = npy_check,
    .bytes = npy_bytes,
    .writer_bytes = sizeof(struct writing),
    .write = npy_write,
    .reader_bytes = sizeof(struct reading),
    .open = npy_open,
    .read = npy_read,
    .close = npy_close,
};
