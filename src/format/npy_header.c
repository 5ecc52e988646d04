/*
 * Reading the head of a .npy array. The parser knows of Python what numpy
 * writes there: one dict with three keys, a string, a word, a tuple.
 */
#include "format/npy_header.h"

#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
