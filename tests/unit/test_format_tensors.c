/* Layouts of tensor files: the bytes of small ones are spelled out, large ones
 * are walked without their contents. */
#include "base/codec/checksum.h"
#include "format/tensor_file.h"

#include "torture.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists of tensors, and files in memory */

static void from_array(const void *ctx, uint64_t i, struct pr_tensor *ret)
{
    *ret = ((const struct pr_tensor *)ctx)[i];
}

static struct pr_tensor_list list_of(const struct pr_tensor *t, uint64_t count)
{
    return (struct pr_tensor_list){count, from_array, t};
}

/* Tensor i: every type in turn, some of them empty. */
static void made_up(const void *ctx, uint64_t i, struct pr_tensor *ret)
{
    (void)ctx;
    snprintf(ret->name, sizeof ret->name, "layer.%llu.weight",
             (unsigned long long)i);
    ret->type = (enum pr_tensor_type)(i % PR_TENSOR_TYPE_COUNT);
    ret->elements = i % 5;
}

struct file {
    uint8_t *data;
    uint64_t len;
    uint64_t tensor_at[16];
};

/* Byte i of a tensor's contents is its number + i. */
static int try_make(struct file *f, const char *layout,
                    const struct pr_tensor_list *list)
{
    const struct pr_tensor_layout *l = pr_tensor_layout_find(layout);
    uint64_t bytes = pr_tensor_file_bytes(l, list);
    struct pr_tensor_walk w;
    struct pr_tensor_piece p;
    int rc;

    *f = (struct file){.data = malloc(bytes + 1)};
    assert_non_null(f->data);
    pr_tensor_walk_init(&w, l, list);
    while ((rc = pr_tensor_walk_next(&w, &p, NULL)) == 1) {
        assert_true(p.bytes > 0 && p.bytes <= bytes - f->len);
        if (p.text) {
            memcpy(f->data + f->len, p.text, p.bytes);
        } else {
            assert_true(p.tensor < list->count);
            if (p.tensor < 16)
                f->tensor_at[p.tensor] = f->len;
            for (uint64_t i = 0; i < p.bytes; i++)
                f->data[f->len + i] = (uint8_t)(p.tensor + i);
            pr_tensor_walk_crc(&w, pr_crc32(0, f->data + f->len, p.bytes));
        }
        f->len += p.bytes;
        assert_int_equal(w.at, f->len);
    }
    pr_tensor_walk_done(&w);
    if (!rc)
        assert_int_equal(f->len, bytes);
    return rc;
}

static struct file make(const char *layout, const struct pr_tensor_list *list)
{
    struct file f;

    assert_int_equal(try_make(&f, layout, list), 0);
    return f;
}

static uint64_t number(const uint8_t *p, size_t bytes)
{
    uint64_t v = 0;

    memcpy(&v, p, bytes);
    return le64toh(v);
}

/* ---- types and names */

static void types_have_sizes_and_ones(void **state)
{
    static const struct {
        const char *name;
        size_t bytes;
        uint64_t one;
    } rows[] = {
        {"fp16", 2, 0x3c003c003c003c00}, {"bf16", 2, 0x3f803f803f803f80},
        {"fp32", 4, 0x3f8000003f800000}, {"fp64", 8, 0x3ff0000000000000},
        {"int8", 1, 0x0101010101010101}, {"uint8", 1, 0x0101010101010101},
    };
    enum pr_tensor_type t = PR_TENSOR_TYPE_COUNT;

    (void)state;
    assert_int_equal(sizeof rows / sizeof *rows, PR_TENSOR_TYPE_COUNT);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(pr_tensor_type_find(rows[i].name, &t));
        assert_int_equal(t, i);
        assert_int_equal(pr_tensor_type_bytes(t), rows[i].bytes);
        assert_int_equal(pr_tensor_type_one(t), htole64(rows[i].one));
        assert_string_equal(pr_tensor_type_name(t), rows[i].name);
    }
    t = PR_TENSOR_BF16;
    assert_false(pr_tensor_type_find("fp8", &t));
    assert_false(pr_tensor_type_find("", &t));
    assert_int_equal(t, PR_TENSOR_BF16);
}

static void layouts_are_found_by_name(void **state)
{
    (void)state;
    assert_non_null(pr_tensor_layout_find("plain"));
    assert_non_null(pr_tensor_layout_find("torch"));
    assert_null(pr_tensor_layout_find("zip"));
    assert_null(pr_tensor_layout_find(""));
    assert_false(pr_tensor_needs_crc(pr_tensor_layout_find("plain")));
    assert_true(pr_tensor_needs_crc(pr_tensor_layout_find("torch")));
}

/* ---- plain */

static const struct pr_tensor three[] = {
    {"a", PR_TENSOR_FP16, 3},
    {"none", PR_TENSOR_FP32, 0},
    {"b.c", PR_TENSOR_UINT8, 300},
};

static void plain_is_a_header_and_the_tensors(void **state)
{
    static const char want[] =
        "{\"__metadata__\":{\"format\":\"pt\"},"
        "\"a\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[0,6]},"
        "\"none\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[6,6]},"
        "\"b.c\":{\"dtype\":\"U8\",\"shape\":[300],"
        "\"data_offsets\":[6,306]}}";
    struct pr_tensor_list list = list_of(three, 3);
    struct file f = make("plain", &list);

    (void)state;
    assert_int_equal(f.len, 4096 + 306);
    assert_int_equal(number(f.data, 8), 4096 - 8);
    assert_memory_equal(f.data + 8, want, strlen(want));
    for (size_t i = 8 + strlen(want); i < 4096; i++)
        assert_int_equal(f.data[i], ' ');
    assert_int_equal(f.tensor_at[0], 4096);
    assert_int_equal(f.tensor_at[2], 4096 + 6);
    free(f.data);
}

static void plain_may_have_no_tensors(void **state)
{
    static const char want[] = "{\"__metadata__\":{\"format\":\"pt\"}} ";
    struct pr_tensor_list list = {0};
    struct file f = make("plain", &list);

    (void)state;
    assert_int_equal(f.len, 4096);
    assert_memory_equal(f.data + 8, want, strlen(want));
    free(f.data);
}

/* Whatever the header has in it, tensors start at a multiple of 4096, and
 * between it and them is less than that. */
static void plain_headers_end_at_a_page(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 1200; n += n < 100 ? 1 : 37) {
        struct pr_tensor_list list = {n, made_up, NULL};
        struct file f = make("plain", &list);
        uint64_t header = number(f.data, 8) + 8, end = header;

        assert_int_equal(header % 4096, 0);
        while (f.data[end - 1] == ' ')
            end--;
        assert_int_equal(f.data[end - 1], '}');
        assert_true(header - end < 4096);
        if (n > 1)
            assert_int_equal(f.tensor_at[1], header);
        free(f.data);
    }
}

/* ---- torch */

static const char *const first_names[] = {
    "archive/data.pkl", "archive/.format_version", "archive/.storage_alignment",
    "archive/byteorder"};
static const char *const last_names[] = {"archive/version",
                                         "archive/.data/serialization_id"};

/* Member i of an archive with so many tensors. */
static void name_of(char out[static 64], uint64_t i, uint64_t tensors)
{
    if (i < 4)
        strcpy(out, first_names[i]);
    else if (i < 4 + tensors)
        snprintf(out, 64, "archive/data/%llu", (unsigned long long)(i - 4));
    else
        strcpy(out, last_names[i - 4 - tensors]);
}

struct member {
    uint64_t data, bytes;
};

/* The local header agrees with the directory's entry, contents are aligned and
 * have the CRC that is told, behind them too. */
static struct member check_member(const struct file *f, const uint8_t *entry,
                                  const char *name)
{
    uint64_t bytes = number(entry + 24, 4), at = number(entry + 42, 4);
    const uint8_t *local = f->data + at;
    struct member m = {at + 30 + strlen(name) + number(local + 28, 2), bytes};
    unsigned flags = bytes ? 0x808 : 0x800;
    uint32_t crc = (uint32_t)number(entry + 16, 4);

    assert_memory_equal(local, "PK\x03\x04", 4);
    assert_int_equal(number(local + 6, 2), flags);
    assert_int_equal(number(entry + 8, 2), flags);
    assert_int_equal(number(entry + 10, 2), 0); /* stored */
    assert_int_equal(number(entry + 20, 4), bytes);
    assert_int_equal(number(local + 26, 2), strlen(name));
    assert_memory_equal(local + 30, name, strlen(name));
    assert_memory_equal(entry + 46, name, strlen(name));
    assert_int_equal(m.data % 64, 0);
    assert_true(m.data + bytes < f->len);
    assert_int_equal(crc, pr_crc32(0, f->data + m.data, bytes));
    if (bytes) {
        const uint8_t *after = f->data + m.data + bytes;

        assert_memory_equal(after, "PK\x07\x08", 4);
        assert_int_equal(number(after + 4, 4), crc);
        assert_int_equal(number(after + 8, 4), bytes);
        assert_int_equal(number(after + 12, 4), bytes);
    }
    return m;
}

static uint64_t check_archive(const struct file *f, uint64_t tensors,
                              struct member *ret)
{
    const uint8_t *end = f->data + f->len - 22;
    uint64_t members = number(end + 10, 2), at = number(end + 16, 4), next = 0;

    assert_memory_equal(end, "PK\x05\x06", 4);
    assert_int_equal(members, tensors + 6);
    assert_int_equal(at + number(end + 12, 4), f->len - 22);
    for (uint64_t i = 0; i < members; i++) {
        const uint8_t *entry = f->data + at;
        struct member m;
        char name[64];

        name_of(name, i, tensors);
        assert_memory_equal(entry, "PK\x01\x02", 4);
        assert_int_equal(number(entry + 28, 2), strlen(name));
        assert_int_equal(number(entry + 42, 4), next); /* no gap */
        m = check_member(f, entry, name);
        next = m.data + m.bytes + (m.bytes ? 16 : 0);
        at += 46 + strlen(name) + number(entry + 30, 2);
        if (i < 16)
            ret[i] = m;
    }
    assert_int_equal(at, f->len - 22);
    return next;
}

static void assert_text(const struct file *f, const struct member *m,
                        const char *text, size_t len)
{
    assert_int_equal(m->bytes, len);
    assert_memory_equal(f->data + m->data, text, len);
}

static void torch_is_an_archive(void **state)
{
    static const char pickle[] =
        "\x80\x02}("
        "X\1\0\0\0a"
        "ctorch._utils\n_rebuild_tensor_v2\nq\0(("
        "X\7\0\0\0storageq\1"
        "ctorch\nHalfStorage\n"
        "X\1\0\0\0"
        "0"
        "X\3\0\0\0cpuq\2"
        "K\3tQK\0K\3\x85K\1\x85\x89"
        "ccollections\nOrderedDict\nq\3)RtR"
        "X\4\0\0\0none"
        "h\0((h\1ctorch\nFloatStorage\nX\1\0\0\0001h\2K\0tQK\0K\0"
        "\x85K\1\x85\x89h\3)RtR"
        "X\3\0\0\0b.c"
        "h\0((h\1ctorch\nByteStorage\nX\1\0\0\0002h\2M\x2c\1tQK\0M\x2c\1"
        "\x85K\1\x85\x89h\3)RtRu.";
    struct pr_tensor_list list = list_of(three, 3);
    struct file f = make("torch", &list);
    struct member m[16];

    (void)state;
    check_archive(&f, 3, m);
    assert_text(&f, &m[0], pickle, sizeof pickle - 1);
    assert_text(&f, &m[1], "1", 1);
    assert_text(&f, &m[2], "64", 2);
    assert_text(&f, &m[3], "little", 6);
    assert_text(&f, &m[7], "3\n", 2);
    assert_int_equal(m[8].bytes, 40);
    assert_int_equal(m[4].data, f.tensor_at[0]);
    assert_int_equal(m[4].bytes, 6);
    assert_int_equal(m[5].bytes, 0);
    assert_int_equal(m[6].data, f.tensor_at[2]);
    assert_int_equal(m[6].bytes, 300);
    free(f.data);
}

static void torch_numbers_members_of_many_tensors(void **state)
{
    static const uint64_t counts[] = {0, 1, 2, 11, 97, 98, 99, 100, 101, 3000};
    struct member m[16];

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct pr_tensor_list list = {counts[i], made_up, NULL};
        struct file f = make("torch", &list);

        check_archive(&f, counts[i], m);
        free(f.data);
    }
}

/* Names and numbers of elements of every length: nothing outgrows the piece of
 * text it is in. */
static void longest_names_fit(void **state)
{
    static struct pr_tensor t[400];
    static const char *const layouts[] = {"plain", "torch"};

    (void)state;
    for (size_t i = 0; i < 400; i++) {
        memset(t[i].name, 'x', sizeof t->name - 1);
        t[i].type = PR_TENSOR_BF16;
        t[i].elements = UINT64_MAX >> (10 + i % 54);
    }
    for (size_t k = 0; k < 2; k++) {
        struct pr_tensor_list list = list_of(t, 400);

        assert_true(
            pr_tensor_file_bytes(pr_tensor_layout_find(layouts[k]), &list) > 0);
    }
}

/* ---- beyond 4 GiB: texts only, each with its place */

struct text {
    uint64_t at, bytes;
    uint8_t data[1024];
};

static size_t walk_texts(const char *layout, const struct pr_tensor_list *list,
                         struct text *ret, size_t max)
{
    const struct pr_tensor_layout *l = pr_tensor_layout_find(layout);
    struct pr_tensor_walk w;
    struct pr_tensor_piece p;
    size_t n = 0;

    pr_tensor_walk_init(&w, l, list);
    while (pr_tensor_walk_next(&w, &p, NULL) == 1) {
        if (!p.text) {
            pr_tensor_walk_crc(&w, 0x12345678);
            continue;
        }
        assert_true(n < max);
        ret[n].at = w.at - p.bytes;
        ret[n].bytes = p.bytes;
        if (p.bytes <= sizeof ret->data)
            memcpy(ret[n].data, p.text, p.bytes);
        n++;
    }
    assert_int_equal(w.at, pr_tensor_file_bytes(l, list));
    pr_tensor_walk_done(&w);
    return n;
}

static void torch_goes_beyond_4_gib(void **state)
{
    static const uint64_t big = (5ull << 30) + 3;
    const struct pr_tensor t[] = {{"big", PR_TENSOR_INT8, big},
                                  {"small", PR_TENSOR_FP32, 2}};
    static struct text x[8];
    struct pr_tensor_list list = list_of(t, 2);
    const uint8_t *p;
    uint64_t far;

    (void)state;
    assert_int_equal(walk_texts("torch", &list, x, 8), 5);
    /* Before the large one: a field with both sizes. */
    p = x[1].data;
    assert_memory_equal(p, "PK\x03\x04", 4);
    assert_memory_equal(p + 30 + strlen("archive/data/0"), "\1\0\x10\0", 4);
    assert_int_equal(number(p + 30 + strlen("archive/data/0") + 4, 8), big);
    assert_int_equal((x[1].at + x[1].bytes) % 64, 0);
    /* After it: sizes of eight bytes; then a header that is far away. */
    p = x[2].data;
    assert_memory_equal(p, "PK\x07\x08\x78\x56\x34\x12", 8);
    assert_int_equal(number(p + 8, 8), big);
    assert_int_equal(number(p + 16, 8), big);
    far = x[2].at + 24;
    p += 24;
    assert_memory_equal(p, "PK\x03\x04", 4);
    assert_memory_equal(p + 30 + strlen("archive/data/1"), "\1\0\x08\0", 4);
    assert_int_equal(number(p + 30 + strlen("archive/data/1") + 4, 8), far);
    assert_int_equal((x[2].at + x[2].bytes) % 64, 0);
    /* After that: eight bytes too, for it starts beyond. */
    assert_int_equal(number(x[3].data + 8, 8), 8);
    assert_memory_equal(x[3].data + 24, "PK\x03\x04", 4);
    /* The end has the form for large files. */
    p = x[4].data + x[4].bytes - 22 - 20 - 56;
    assert_memory_equal(p, "PK\x06\x06", 4);
    assert_int_equal(number(p + 32, 8), 8); /* members */
    assert_int_equal(number(p + 48, 8), x[4].at);
    assert_int_equal(number(p + 40, 8), x[4].bytes - 22 - 20 - 56);
}

static void torch_has_any_number_of_members(void **state)
{
    static const uint64_t counts[] = {65535 - 7, 65535 - 6, 70000};

    (void)state;
    for (size_t i = is_brief() ? 2 : 0; i < 3; i++) {
        struct pr_tensor_list list = {counts[i], made_up, NULL};
        struct file f = make("torch", &list);
        const uint8_t *end = f.data + f.len - 22;
        uint64_t members = counts[i] + 6;

        if (members < 0xffff) {
            assert_int_equal(number(end + 10, 2), members);
            assert_memory_not_equal(end - 20, "PK\x06\x07", 4);
        } else {
            assert_int_equal(number(end + 10, 2), 0xffff);
            assert_memory_equal(end - 20, "PK\x06\x07", 4);
            assert_int_equal(number(end - 20 - 56 + 32, 8), members);
        }
        free(f.data);
    }
}

static void plain_goes_beyond_4_gib(void **state)
{
    const struct pr_tensor t[] = {{"big", PR_TENSOR_INT8, 5ull << 30},
                                  {"small", PR_TENSOR_FP32, 2}};
    struct pr_tensor_list list = list_of(t, 2);

    (void)state;
    assert_int_equal(
        pr_tensor_file_bytes(pr_tensor_layout_find("plain"), &list),
        4096 + (5ull << 30) + 8);
}

/* ---- the rest */

/* Files with other contents have another serialization_id. */
static void ids_follow_contents(void **state)
{
    static const struct pr_tensor more[] = {{"a", PR_TENSOR_FP16, 4}};
    struct pr_tensor_list lists[2] = {list_of(three, 1), list_of(more, 1)};
    struct file f[2];
    struct member m[2][16];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        f[i] = make("torch", &lists[i]);
        check_archive(&f[i], 1, m[i]);
    }
    assert_memory_not_equal(f[0].data + m[0][6].data, f[1].data + m[1][6].data,
                            40);
    free(f[0].data);
    free(f[1].data);
}

static int attempt(void)
{
    struct pr_tensor_list list = {300, made_up, NULL};
    struct file f;
    int rc = try_make(&f, "torch", &list);

    free(f.data);
    return rc;
}

static void survives_without_memory(void **state)
{
    (void)state;
    torture(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_have_sizes_and_ones),
        cmocka_unit_test(layouts_are_found_by_name),
        cmocka_unit_test(plain_is_a_header_and_the_tensors),
        cmocka_unit_test(plain_may_have_no_tensors),
        cmocka_unit_test(plain_headers_end_at_a_page),
        cmocka_unit_test(torch_is_an_archive),
        cmocka_unit_test(torch_numbers_members_of_many_tensors),
        cmocka_unit_test(longest_names_fit),
        cmocka_unit_test(torch_goes_beyond_4_gib),
        cmocka_unit_test(torch_has_any_number_of_members),
        cmocka_unit_test(plain_goes_beyond_4_gib),
        cmocka_unit_test(ids_follow_contents),
        cmocka_unit_test(survives_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
