/* Every engine keeps what it is given, and shows it whole or not at all. */
#include "test_storage_setups.h"

#include "brief.h"

enum { BIG = (3 << 20) + 77 };

static uint8_t model[BIG + 1]; /* what an object should hold */

static void fill_model(void)
{
    static uint8_t full[BIG]; /* made once: it takes a while */

    if (!full[0])
        fill(full, 0, BIG);
    memcpy(model, full, BIG);
}

static void check_range(struct pr_object *o, uint64_t off, size_t len,
                        uint8_t *buf, size_t cap)
{
    const uint8_t *got = NULL;
    struct pr_err err = {0};

    memset(buf, 0xee, len); /* nothing may be left from the last time */
    if (cap) {
        buf[cap] = 0xa5;
        if (pr_object_fetch(o, off, len, buf, cap, &got, &err))
            fail_msg("fetch %zu at %lu: %s", len, (long)off, err.msg);
        assert_int_equal(buf[cap], 0xa5);
    } else {
        buf[len] = 0xa5;
        if (pr_object_read(o, off, len, buf, &err))
            fail_msg("read %zu at %lu: %s", len, (long)off, err.msg);
        assert_int_equal(buf[len], 0xa5);
        got = buf;
    }
    if (memcmp(got, model + off, len) != 0)
        fail_msg("%zu bytes at %lu are wrong", len, (long)off);
}

/* Offsets and lengths around blocks, and the tail. */
static void check_all(struct pr_object *o, uint8_t *buf)
{
    static const size_t offs[] = {0,    1,    511,   4095,   4096,
                                  4097, 8191, 65536, 131071, 1 << 20};
    static const size_t lens[] = {1,    2,     4095,  4096,    4097,
                                  8192, 12289, 65537, 1 << 20, SIZE_MAX};

    size_t step = is_brief() ? 17 : 4;

    for (size_t i = 0; i < sizeof offs / sizeof *offs; i++) {
        for (size_t k = 0; k < sizeof lens / sizeof *lens; k++) {
            size_t off = offs[i];
            size_t len = lens[k];

            if (off > o->size || (o->size > 100000 && (i + k) % step))
                continue; /* large ones take time */
            if (len > o->size - off)
                len = (size_t)(o->size - off);
            check_range(o, off, len, buf, len + PR_IO_SLACK);
            check_range(o, off, len, buf + 1, len + PR_IO_SLACK);
            check_range(o, off, len, buf, len ? len : 1); /* no slack */
            check_range(o, off, len, buf, 0);
            check_range(o, off, len, buf + 3, 0);
            /* … and seen from the end */
            check_range(o, o->size - len, len, buf, len + PR_IO_SLACK);
        }
    }
}

static void contents_come_back(void **state)
{
    static const size_t sizes[] = {1,    100,   4095,          4096,
                                   4097, 65659, (1 << 20) + 5, BIG};
    uint8_t *buf = pr_storage_buffer(st, BIG + PR_IO_SLACK + 16);

    (void)state;
    assert_non_null(buf);
    assert_int_equal((uintptr_t)buf % PR_IO_ALIGN, 0);
    fill_model();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct pr_object o = create(st, "d/f", sizes[i]);

        put(&o, 0, model, sizes[i]);
        assert_int_equal(o.size, sizes[i]);
        commit(&o);
        o = open_object(st, "d/f");
        assert_int_equal(o.size, sizes[i]);
        check_all(&o, buf);
        pr_object_close(&o);
    }
    assert_int_equal(count_in(st, "d"), 1);
}

/* Blocks in a wild order, overlapping, from aligned and odd memory; then
 * patches. Holes are zeros. */
static void writes_land_where_they_should(void **state)
{
    uint8_t *buf = pr_storage_buffer(st, BIG + PR_IO_SLACK + 16);
    struct pr_object o = create(st, "d/f", 0);
    uint64_t random = 42;
    size_t size = 0;

    (void)state;
    assert_non_null(buf);
    memset(model, 0, sizeof model);
    for (unsigned i = 0; i < (is_brief() ? 30 : 150); i++) {
        size_t off, len, odd;

        random = random * 6364136223846793005u + 1442695040888963407u;
        off = (random >> 33) % (BIG - 1);
        len = 1 + (random >> 20) % (i % 3 ? 9000 : 700000);
        odd = i % 5 == 0 ? random >> 60 : 0;
        if (i % 2)
            off &= ~(size_t)4095;
        if (len > BIG - off)
            len = BIG - off;
        for (size_t k = 0; k < len; k++)
            buf[odd + k] = (uint8_t)(byte_at(off + k) ^ i);
        memcpy(model + off, buf + odd, len);
        put(&o, off, buf + odd, len);
        size = off + len > size ? off + len : size;
        assert_int_equal(o.size, size);
    }
    commit(&o);
    o = open_object(st, "d/f");
    assert_int_equal(o.size, size);
    check_all(&o, buf);
    pr_object_close(&o);
}

/* As a format writes: blocks one after another, a header patched at the end. */
static void a_stream_with_a_patch_comes_back(void **state)
{
    enum { BLOCK = 256 << 10 };
    uint8_t *buf = pr_storage_buffer(st, BIG + PR_IO_SLACK + 16);
    struct pr_object o = create(st, "d/f", BIG);

    (void)state;
    assert_non_null(buf);
    fill_model();
    for (size_t off = 0; off < BIG; off += BLOCK) {
        size_t n = BIG - off < BLOCK ? BIG - off : BLOCK;

        memcpy(buf, model + off, n);
        put(&o, off, buf, n);
    }
    memcpy(model + 16, "head", 4);
    put(&o, 16, "head", 4);
    memcpy(model + 3 * BLOCK - 2, "seam", 4);
    put(&o, 3 * BLOCK - 2, "seam", 4);
    memset(buf, 7, 8192);
    memset(model + 8192, 7, 8192);
    put(&o, 8192, buf, 8192);
    commit(&o);
    o = open_object(st, "d/f");
    assert_int_equal(o.size, BIG);
    check_all(&o, buf);
    pr_object_close(&o);
}

static void an_empty_object_is_one(void **state)
{
    uint8_t buf[16] = {0};
    const uint8_t *got = NULL;
    struct pr_err err = {0};
    struct pr_object o = create(st, "d/f", 0);

    (void)state;
    commit(&o);
    o = open_object(st, "d/f");
    assert_int_equal(o.size, 0);
    assert_int_equal(pr_object_fetch(&o, 0, 0, buf, sizeof buf, &got, NULL), 0);
    assert_non_null(got);
    assert_int_equal(pr_object_read(&o, 0, 0, buf, NULL), PR_OK);
    assert_int_equal(pr_object_read(&o, 0, 1, buf, &err), PR_E_FORMAT);
    assert_says(&err, "ends at byte 0");
    pr_object_close(&o);
}

static void beyond_the_end_is_an_error(void **state)
{
    static const struct {
        uint64_t off;
        size_t len;
    } rows[] = {{10, 1},         {0, 11},          {9, 2},       {11, 0},
                {UINT64_MAX, 1}, {UINT64_MAX, 12}, {5, SIZE_MAX}};
    uint8_t buf[64];

    (void)state;
    make(st, "d/f", "0123456789", 10);
    struct pr_object o = open_object(st, "d/f");

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint8_t *got = buf;
        struct pr_err err = {0};

        assert_int_equal(pr_object_fetch(&o, rows[i].off, rows[i].len, buf,
                                         sizeof buf, &got, &err),
                         PR_E_FORMAT);
        assert_says(&err, "ends at byte 10");
        assert_string_equal(err.where, "d/f");
        assert_ptr_equal(got, buf);
        assert_int_equal(
            pr_object_read(&o, rows[i].off, rows[i].len, buf, NULL),
            PR_E_FORMAT);
    }
    assert_int_equal(pr_object_read(&o, 10, 0, buf, NULL), PR_OK);
    pr_object_close(&o);
}

static void a_small_buffer_is_refused(void **state)
{
    uint8_t buf[8];
    const uint8_t *got;
    struct pr_err err = {0};

    (void)state;
    make(st, "d/f", "0123456789", 10);
    struct pr_object o = open_object(st, "d/f");

    assert_int_equal(pr_object_fetch(&o, 0, 10, buf, sizeof buf, &got, &err),
                     PR_E_CONF);
    assert_says(&err, "8 bytes is too small for 10");
    pr_object_close(&o);
}

/* A slip in the alignment would not be seen: the page cache would be used. */
static void direct_passes_the_page_cache_by(void **state)
{
    uint8_t *buf = pr_storage_buffer(st, 65536 + PR_IO_SLACK);
    const uint8_t *got;
    int fd;

    (void)state;
    memset(buf, 1, 65536 + PR_IO_SLACK);
    make(st, "d/f", model, 50001);
    fd = open(real_path("d/f"), O_RDONLY | O_DIRECT);
    if (fd < 0 || strcmp(now->opts.engine, "direct") != 0)
        return;
    close(fd);
    struct pr_object o = create(st, "d/g", 0);

    put(&o, 0, buf, 8192);
    assert_true(fcntl(o.fd, F_GETFL) & O_DIRECT);
    put(&o, 4000, buf, 100);
    put(&o, 8192, buf + 1, 8192);
    assert_true(fcntl(o.fd, F_GETFL) & O_DIRECT);
    pr_object_discard(&o);
    o = open_object(st, "d/f");
    for (size_t off = 0; off < 10000; off += 999)
        for (int odd = 0; odd < 2; odd++) {
            assert_int_equal(pr_object_fetch(&o, off, 40000, buf + odd,
                                             40000 + PR_IO_SLACK, &got, NULL),
                             PR_OK);
            assert_int_equal(
                pr_object_read(&o, off + odd, 40000, buf + odd, NULL), PR_OK);
        }
    assert_int_equal(pr_object_read(&o, 4096, 40000, buf + 1, NULL), PR_OK);
    assert_true(fcntl(o.fd, F_GETFL) & O_DIRECT);
    assert_string_equal(pr_storage_warning(st), "");
    pr_object_close(&o);
}

static void maps_copy_nothing(void **state)
{
    uint8_t buf[4 + PR_IO_SLACK];
    const uint8_t *got;
    bool mapped = strcmp(now->opts.engine, "mmap") == 0 || !now->files;

    (void)state;
    make(st, "d/f", "0123456789", 10);
    struct pr_object o = open_object(st, "d/f");

    assert_int_equal(pr_object_fetch(&o, 3, 4, buf, sizeof buf, &got, NULL), 0);
    assert_memory_equal(got, "3456", 4);
    assert_true((o.map != NULL) == mapped);
    if (mapped)
        assert_ptr_equal(got, o.map + 3);
    pr_object_close(&o);
}

/* ---- appearing whole */

static void an_object_appears_when_committed(void **state)
{
    struct pr_object_info info;

    (void)state;
    struct pr_object o = create(st, "d/f", 3);

    put(&o, 0, "new", 3);
    assert_int_equal(pr_storage_stat(st, "d/f", &info, NULL), 0);
    assert_int_equal(pr_storage_stat(st, "d/" PR_PART_PREFIX "f", &info, NULL),
                     1);
    commit(&o);
    assert_object(st, "d/f", "new", 3);
    assert_int_equal(count_in(st, "d"), 1);

    o = create(st, "d/f", 5);
    put(&o, 0, "newer", 5);
    assert_object(st, "d/f", "new", 3); /* until then the old one */
    commit(&o);
    assert_object(st, "d/f", "newer", 5);
    assert_int_equal(count_in(st, "d"), 1);
}

static void what_is_discarded_leaves_nothing(void **state)
{
    (void)state;
    make(st, "d/f", "old", 3);
    struct pr_object o = create(st, "d/f", 100000);

    put(&o, 0, model, 100000);
    pr_object_discard(&o);
    assert_object(st, "d/f", "old", 3);
    o = create(st, "d/g", 0);
    pr_object_discard(&o);
    assert_int_equal(count_in(st, "d"), 1);
}

static void a_failed_commit_leaves_nothing(void **state)
{
    struct pr_object o = create(st, "d/f", 0);
    struct pr_err err = {0};

    (void)state;
    put(&o, 0, "x", 1);
    assert_int_equal(pr_storage_make_folder(st, "d/f", NULL), PR_OK);
    assert_int_equal(pr_object_commit(&o, &err), PR_E_IO);
    assert_non_null(strstr(err.where, "d/f"));
    assert_int_equal(count_in(st, "d"), 1);
    o = create(st, "d/g", 0);
    if (pr_storage_remove(st, "d/" PR_PART_PREFIX "g", NULL))
        fail();
    assert_int_equal(pr_object_commit(&o, &err), PR_E_IO);
    assert_int_equal(count_in(st, "d"), 1);
}

/* A killed writer leaves a part, longer than what comes now. */
static void leftovers_are_overwritten(void **state)
{
    (void)state;
    if (now->files) {
        make(st, "d/" PR_PART_PREFIX "f", model, 50000);
        make(st, "d/f", "short", 5);
    } else {
        struct pr_object killed = create(st, "d/f", 0);
        struct pr_object o = create(st, "d/f", 0);

        put(&killed, 0, "what the killed one wrote", 25);
        put(&o, 0, "short", 5);
        commit(&o);
        pr_object_discard(&killed);
    }
    assert_object(st, "d/f", "short", 5);
    assert_int_equal(count_in(st, "d"), 1);
}

static void an_open_object_outlives_its_name(void **state)
{
    uint8_t buf[8];

    (void)state;
    make(st, "d/f", "old", 3);
    struct pr_object o = open_object(st, "d/f");

    make(st, "d/f", "newer", 5);
    assert_int_equal(pr_storage_remove(st, "d/f", NULL), PR_OK);
    assert_int_equal(pr_object_read(&o, 0, 3, buf, NULL), PR_OK);
    assert_memory_equal(buf, "old", 3);
    pr_object_close(&o);
}

int main(void)
{
    static const struct test tests[] = {
        TEST(contents_come_back),
        TEST(writes_land_where_they_should),
        TEST(a_stream_with_a_patch_comes_back),
        TEST(an_empty_object_is_one),
        TEST(beyond_the_end_is_an_error),
        TEST(a_small_buffer_is_refused),
        TEST(direct_passes_the_page_cache_by),
        TEST(maps_copy_nothing),
        TEST(an_object_appears_when_committed),
        TEST(what_is_discarded_leaves_nothing),
        TEST(a_failed_commit_leaves_nothing),
        TEST(leftovers_are_overwritten),
        TEST(an_open_object_outlives_its_name),
    };
    return run_for_all(tests, sizeof tests / sizeof *tests);
}
