/* Tensors in files that other programs wrote: found where they are, and refused
 * where the files are not what they say. */
#include "base/codec/checksum.h"
#include "format/tensor_file_find.h"
#include "format/tfrecord.h"

#include "scratch.h"

#include <endian.h>

/* ---- torch.save: pickles by hand */

#define STORAGE(type, key, elements)                        \
    "((X\x07\0\0\0storagectorch\n" type "\nX\x01\0\0\0" key \
    "X\x03\0\0\0cpu" elements "tQ"
#define TENSOR(name, type, key, elements)                             \
    "X\x01\0\0\0" name "ctorch._utils\n_rebuild_tensor_v2\n" STORAGE( \
        type, key, elements) "K\0" elements "\x85K\x01\x85\x89"       \
                             "ccollections\nOrderedDict\n)RtR"

static int pickle(const char *text, size_t len, struct pr_arena *a,
                  struct pr_tensor_torch_storage **ret, size_t *ret_count,
                  struct pr_err *err)
{
    return pr_tensor_find_pickle(text, len, "x.pt", a, ret, ret_count, err);
}
#define PICKLE(text, ...) pickle(text, sizeof text - 1, __VA_ARGS__)

static void a_pickle_names_its_storages(void **state)
{
    static const char one[] = "\x80\x02}q\0(" TENSOR(
        "a", "HalfStorage", "0",
        "K\x05") "X\x01\0\0\0b}(" TENSOR("c", "DoubleStorage", "1",
                                         "J\0\0\x01\0")
        TENSOR("d", "CharStorage", "2", "\x8a\x09\0\0\0\0\x01\0\0\0\0")
            TENSOR("e", "HalfStorage", "0", "K\x05") "uu.";
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_tensor_torch_storage *found;
    struct pr_err err = {0};
    size_t count;

    (void)state;
    if (PICKLE(one, a, &found, &count, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(count, 3); /* the last is the first again */
    assert_int_equal(found[0].type, PR_TENSOR_FP16);
    assert_int_equal(found[0].elements, 5);
    assert_int_equal(found[1].type, PR_TENSOR_FP64);
    assert_int_equal(found[1].elements, 65536);
    assert_int_equal(found[2].type, PR_TENSOR_INT8);
    assert_int_equal(found[2].elements, 1LL << 32);
}

static void what_is_remembered_is_recalled(void **state)
{
    static const char text[] =
        "\x80\x02(X\x07\0\0\0storageq\0ctorch\nByteStorage\nq\x01X\x01\0\0\0"
        "0"
        "X\x03\0\0\0cpuq\x02K\x03tq\x03Q((h\0h\x01X\x01\0\0\0"
        "1h\x02M\0\x01tQ.";
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_tensor_torch_storage *found;
    struct pr_err err = {0};
    size_t count;

    (void)state;
    if (PICKLE(text, a, &found, &count, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(count, 2);
    assert_int_equal(found[1].type, PR_TENSOR_UINT8);
    assert_int_equal(found[1].elements, 256);
}

static void bad_pickles_are_refused(void **state)
{
#define ROW(text, msg)             \
    {                              \
        text, sizeof text - 1, msg \
    }
    static const struct {
        const char *text;
        size_t len;
        const char *msg;
    } rows[] = {
        ROW("", "cut short"),
        ROW("\x80", "cut short"),
        ROW("X\xff\xff\xff\xff", "cut short"),
        ROW("cos\nsystem", "cut short"),
        /* names a function and calls nothing */
        ROW("cos\nsystem\n(X\x02\0\0\0lstR", "cut short"),
        ROW("R.", "what is not there"),
        ROW("((R", "what is not there"),
        ROW("t", "no mark"),
        ROW("h\x01", "did not remember"),
        ROW("q\0", "remembers what is not there"),
        ROW("Nq\x05", "remembers what is not there"),
        ROW("NQ", "not a tensor"),
        ROW(STORAGE("HalfStorage", "1", "K\x01"), "not a tensor"),
        ROW(STORAGE("HalfStorage", "x", "K\x01"), "not a tensor"),
        ROW(STORAGE("ComplexStorage", "0", "K\x01"), "not a tensor"),
        ROW(STORAGE("HalfStorage", "0", "K\x01")
                STORAGE("HalfStorage", "0", "K\x02"),
            "two sizes"),
        ROW("\x8a\x0a\0\0\0\0\0\0\0\0\0\x01", "too large"),
        ROW("i", "no checkpoint needs"),
        ROW("\x93", "no checkpoint needs"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_tensor_torch_storage *found;
        struct pr_err err = {0};
        size_t count;

        assert_int_equal(
            pickle(rows[i].text, rows[i].len, a, &found, &count, &err),
            PR_E_FORMAT);
        if (!strstr(err.msg, rows[i].msg))
            fail_msg("row %zu: %s", i, err.msg);
    }
}

static void a_deep_or_huge_pickle_is_refused(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    enum { HUGE = 5 << 20 };
    char *text = malloc(HUGE);
    struct pr_tensor_torch_storage *found;
    struct pr_err err = {0};
    size_t count;

    (void)state;
    assert_non_null(text);
    memset(text, '(', HUGE);
    assert_int_equal(pickle(text, 10000, a, &found, &count, &err), PR_E_FORMAT);
    assert_non_null(strstr(err.msg, "too deep"));
    assert_int_equal(pickle(text, HUGE, a, &found, &count, &err), PR_E_FORMAT);
    assert_non_null(strstr(err.msg, "at most"));
    free(text);
}

/* ---- archives: those of our own layout, which torch.load reads */

static void tensor_at(const void *ctx, uint64_t i, struct pr_tensor *ret)
{
    const uint64_t *sizes = ctx;

    *ret = (struct pr_tensor){.type = (enum pr_tensor_type)(i % 6),
                              .elements = sizes[i]};
    snprintf(ret->name, sizeof ret->name, "t%d", (int)i);
}

static const uint64_t sizes[] = {5, 0, 1000, 77, 3, 1 << 20};

/* Contents are the number of the tensor. */
static void write_archive(const char *path)
{
    struct pr_tensor_list list = {6, tensor_at, sizes};
    FILE *f = fopen(path, "w");
    struct pr_tensor_piece p;
    struct pr_tensor_walk w;

    assert_non_null(f);
    pr_tensor_walk_init(&w, pr_tensor_layout_find("torch"), &list);
    while (pr_tensor_walk_next(&w, &p, NULL) == 1) {
        char *data = malloc((size_t)p.bytes);

        assert_non_null(data);
        memset(data, (int)p.tensor, (size_t)p.bytes);
        if (!p.text)
            pr_tensor_walk_crc(&w, pr_crc32(0, data, (size_t)p.bytes));
        assert_int_equal(fwrite(p.text ? p.text : data, 1, (size_t)p.bytes, f),
                         p.bytes);
        free(data);
    }
    pr_tensor_walk_done(&w);
    assert_int_equal(fclose(f), 0);
}

static struct pr_storage *open_storage(void)
{
    static const struct pr_storage_opts opts = {.engine = "pread",
                                                .storage_type = "local_fs",
                                                .storage_root = ".",
                                                .block_size = 1 << 20,
                                                .queue_depth = 1,
                                                .fault = "",
                                                .trace = ""};
    struct pr_storage *st;

    assert_int_equal(pr_storage_open(&opts, &st, NULL), PR_OK);
    return st;
}

static void an_archive_lists_its_tensors(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_storage *st = open_storage();
    struct pr_tensor_found_list found;
    struct pr_err err = {0};
    FILE *f;

    (void)state;
    write_archive("x.pt");
    if (pr_tensor_find_torch(st, "x.pt", a, &found, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(found.count, 5); /* one is empty */
    assert_false(found.is_crc32c);
    f = fopen("x.pt", "r");
    for (size_t i = 0, t = 0; i < 5; i++, t++) {
        t += sizes[t] == 0;
        assert_int_equal(found.items[i].type, t % 6);
        assert_int_equal(found.items[i].bytes,
                         sizes[t] * pr_tensor_type_bytes(found.items[i].type));
        assert_int_equal(fseek(f, (long)found.items[i].at, SEEK_SET), 0);
        assert_int_equal(fgetc(f), (int)t);
    }
    fclose(f);
    assert_int_equal(truncate("x.pt", 1000), 0);
    assert_int_equal(pr_tensor_find_torch(st, "x.pt", a, &found, &err),
                     PR_E_FORMAT);
    spit("y.pt", "PK\3\4 and no more");
    assert_int_equal(pr_tensor_find_torch(st, "y.pt", a, &found, &err),
                     PR_E_FORMAT);
    assert_int_equal(pr_tensor_find_torch(st, "none.pt", a, &found, &err),
                     PR_E_IO);
    pr_storage_close(st);
}

/* ---- TensorFlow's tables by hand */

struct bytes {
    uint8_t at[4096];
    size_t len;
};

static void add(struct bytes *b, const void *data, size_t len)
{
    memcpy(b->at + b->len, data, len);
    b->len += len;
}

static void add32(struct bytes *b, uint32_t n)
{
    n = htole32(n);
    add(b, &n, 4);
}

static void add_varint(struct bytes *b, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        b->at[b->len++] = (uint8_t)(n | 0x80);
    b->at[b->len++] = (uint8_t)n;
}

static void add_entry(struct bytes *block, const char *key, const void *value,
                      size_t len)
{
    add_varint(block, 0);
    add_varint(block, strlen(key));
    add_varint(block, len);
    add(block, key, strlen(key));
    add(block, value, len);
}

static void add_tensor(struct bytes *block, const char *key, uint64_t dtype,
                       uint64_t offset, uint64_t size, uint32_t crc)
{
    struct bytes v = {.len = 0};

    add_varint(&v, 1 << 3);
    add_varint(&v, dtype);
    add(&v, "\x12\x04\x12\x02\x08\x07", 6); /* a shape, which is skipped */
    add_varint(&v, 4 << 3);
    add_varint(&v, offset);
    add_varint(&v, 5 << 3);
    add_varint(&v, size);
    add_varint(&v, 6 << 3 | 5);
    add32(&v, crc);
    add_entry(block, key, v.at, v.len);
}

/* A block with its end, and where it is. */
static void add_block(struct bytes *table, struct bytes *block,
                      struct bytes *ret_handle)
{
    size_t at = table->len;

    add32(block, 0);
    add32(block, 1);
    add(table, block->at, block->len);
    add(table, "", 1);
    add32(table,
          pr_tfrecord_mask(pr_crc32c(0, table->at + at, block->len + 1)));
    ret_handle->len = 0;
    add_varint(ret_handle, at);
    add_varint(ret_handle, block->len);
}

/* times: how often it lists its block. */
static void make_table(struct bytes *table, struct bytes *block, int times)
{
    struct bytes index = {.len = 0}, meta = {.len = 0}, handle, footer;
    uint8_t rest[40] = {0};

    table->len = 0;
    add_block(table, block, &handle);
    while (times--)
        add_entry(&index, "z", handle.at, handle.len);
    add_block(table, &meta, &footer);
    add_block(table, &index, &handle);
    add(&footer, handle.at, handle.len);
    add(table, footer.at, footer.len);
    add(table, rest, 40 - footer.len);
    add(table, "\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
}

static const char header[] = "\x08\x01\x1a\x02\x08\x01";

static void a_table_lists_its_tensors(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct bytes block = {.len = 0}, table;
    struct pr_tensor_found_list found;
    struct pr_err err = {0};

    (void)state;
    add_entry(&block, "", header, 6);
    add_tensor(&block, "0/V", 1, 500, 400, 0xdeadbeef);
    add_tensor(&block, "1/V", 19, 0, 500, 7);
    add_tensor(&block, "2/V", 14, 900, 0, 7); /* empty */
    add_tensor(&block, "_CHECKPOINTABLE_OBJECT_GRAPH", 7, 908, 50, 7);
    add_tensor(&block, "save_counter/V", 9, 900, 8, 7);
    make_table(&table, &block, 1);
    if (pr_tensor_find_bundle(table.at, table.len, 1000, "x.index", a, &found,
                              &err))
        fail_msg("%s", err.msg);
    assert_true(found.is_crc32c);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.items[0].type, PR_TENSOR_FP16);
    assert_int_equal(found.items[0].bytes, 500);
    assert_int_equal(found.items[1].type, PR_TENSOR_FP32);
    assert_int_equal(found.items[1].at, 500);
    assert_int_equal(found.items[1].crc, 0xdeadbeef);
    /* Contents that end too early, and a byte that changed. */
    assert_int_equal(pr_tensor_find_bundle(table.at, table.len, 899, "x.index",
                                           a, &found, &err),
                     PR_E_FORMAT);
    for (size_t i = 0; i < table.len; i++) {
        table.at[i] ^= 0x40;
        (void)!pr_tensor_find_bundle(table.at, table.len, 1000, "x.index", a,
                                     &found, &err);
        if (i < block.len)
            assert_int_equal(pr_tensor_find_bundle(table.at, table.len, 1000,
                                                   "x.index", a, &found, &err),
                             PR_E_FORMAT);
        table.at[i] ^= 0x40;
        assert_int_equal(pr_tensor_find_bundle(table.at, i, 1000, "x.index", a,
                                               &found, &err),
                         PR_E_FORMAT);
    }
}

static void bad_tables_are_refused(void **state)
{
    static const struct {
        uint64_t dtype, offset, size;
        const char *header, *msg;
    } rows[] = {
        {1, 0, 1001, header, "does not lie"},
        {1, UINT64_MAX, 2, header, "does not lie"},
        {3, 0, 8, header, "a type"},
        {1, 0, 8, "\x08\x02\x1a\x02\x08\x01", "several files"},
        {1, 0, 8, "\x08\x01\x10\x01\x18\x01", "big-endian"},
        {1, 0, 8, NULL, "no header"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct bytes block = {.len = 0}, table;
        struct pr_tensor_found_list found;
        struct pr_err err = {0};

        if (rows[i].header)
            add_entry(&block, "", rows[i].header, 6);
        add_tensor(&block, "0", rows[i].dtype, rows[i].offset, rows[i].size, 0);
        make_table(&table, &block, 1);
        assert_int_equal(pr_tensor_find_bundle(table.at, table.len, 1000,
                                               "x.index", a, &found, &err),
                         PR_E_FORMAT);
        if (!strstr(err.msg, rows[i].msg))
            fail_msg("row %zu: %s", i, err.msg);
    }
}

/* Work is linear in the table: a block counts once. */
static void a_block_that_is_listed_again_is_refused(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct bytes block = {.len = 0}, table;
    struct pr_tensor_found_list found;
    struct pr_err err = {0};

    (void)state;
    add_entry(&block, "", header, 6);
    for (int i = 0; i < 20; i++) /* empty, so that nothing overlaps */
        add_tensor(&block, "0", 1, 0, 0, 0);
    make_table(&table, &block, 50);
    assert_int_equal(pr_tensor_find_bundle(table.at, table.len, 1000, "x.index",
                                           a, &found, &err),
                     PR_E_FORMAT);
    assert_non_null(strstr(err.msg, "its blocks overlap"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pickle_names_its_storages),
        cmocka_unit_test(what_is_remembered_is_recalled),
        cmocka_unit_test(bad_pickles_are_refused),
        cmocka_unit_test(a_deep_or_huge_pickle_is_refused),
        cmocka_unit_test_setup_teardown(an_archive_lists_its_tensors, enter,
                                        leave),
        cmocka_unit_test(a_table_lists_its_tensors),
        cmocka_unit_test(bad_tables_are_refused),
        cmocka_unit_test(a_block_that_is_listed_again_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
