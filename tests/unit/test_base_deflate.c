/* Streams of deflate, both ways: known streams, pieces of every size. */
#include "base/codec/deflate.h"

#include "base/random.h"

#include "torture.h"

#include <stdlib.h>
#include <string.h>

#define BODY "\x2b\x28\xca\xcf\xab\x54\x28\x40\x27\xb9\x00"
#define ZLIB "\x78\xda" BODY "\x78\x2a\x09\x4b"
#define GZIP_HEAD "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
#define TAIL "\x67\xce\x82\xbb\x18\x00\x00\x00"
#define GZIP GZIP_HEAD BODY TAIL
/* extra field, name, comment and header checksum */
#define GZIP_FULL                                      \
    "\x1f\x8b\x08\x1e\x01\x02\x03\x04\x02\x03\x03\x00" \
    "abcname.txt\x00"                                  \
    "a comment\x00\xd1\x47" BODY TAIL
#define STORED "\x01\x18\x00\xe7\xff" TEXT
#define TEXT "prony prony prony prony\n"
#define ROW(wrap, bytes, end, text)                               \
    {                                                             \
        wrap, (const uint8_t *)bytes, sizeof bytes - 1, end, text \
    }

/* Gives the stream in pieces of `in_step` and room in pieces of `out_step`,
 * until it ends, breaks, or has no more. Returns the number of bytes. */
static size_t inflate_all(struct pr_inflate *z, const uint8_t *in, size_t len,
                          size_t in_step, uint8_t *out, size_t cap,
                          size_t out_step, enum pr_inflate_end *ret)
{
    size_t put = 0, given = 0, have = 0;
    const uint8_t *p = in;

    for (;;) {
        size_t room = cap - put < out_step ? cap - put : out_step, n = room;
        if (!have) {
            have = len - given < in_step ? len - given : in_step;
            p = in + given;
            given += have;
        }
        const uint8_t *was = p;
        size_t had = have;
        *ret = pr_inflate_run(z, &p, &have, out + put, &n);
        assert_true(n <= room && have <= had && p == was + (had - have));
        put += n;
        if (*ret == PR_INFLATE_BAD)
            return put;
        if (*ret == PR_INFLATE_END && (given == len || have))
            return put;
        if (*ret == PR_INFLATE_MORE && given == len && !have && n < room)
            return put;
        assert_true(put < cap || !room);
    }
}

static void known_streams(void **state)
{
    static const struct {
        enum pr_wrap wrap;
        const uint8_t *bytes;
        size_t len;
        enum pr_inflate_end end;
        const char *text; /* NULL: not looked at */
    } rows[] = {
        ROW(PR_WRAP_NONE, BODY, PR_INFLATE_END, TEXT),
        ROW(PR_WRAP_NONE, STORED, PR_INFLATE_END, TEXT),
        ROW(PR_WRAP_NONE, "\x03\x00", PR_INFLATE_END, ""),
        ROW(PR_WRAP_ZLIB, ZLIB, PR_INFLATE_END, TEXT),
        ROW(PR_WRAP_GZIP, GZIP, PR_INFLATE_END, TEXT),
        ROW(PR_WRAP_GZIP, GZIP_FULL, PR_INFLATE_END, TEXT),
        ROW(PR_WRAP_GZIP, GZIP GZIP_FULL GZIP, PR_INFLATE_END, TEXT TEXT TEXT),
        ROW(PR_WRAP_GZIP, GZIP "\0\0\0\0\0", PR_INFLATE_END, TEXT),
        ROW(PR_WRAP_GZIP, GZIP "\0\0" GZIP "\0", PR_INFLATE_END, TEXT TEXT),
        /* cut short */
        ROW(PR_WRAP_NONE, "", PR_INFLATE_MORE, ""),
        ROW(PR_WRAP_NONE, "\x2b\x28\xca\xcf\xab\x54\x28", PR_INFLATE_MORE,
            NULL),
        ROW(PR_WRAP_ZLIB, "\x78\xda" BODY "\x78\x2a\x09", PR_INFLATE_MORE,
            TEXT),
        ROW(PR_WRAP_GZIP, GZIP_HEAD BODY "\x67\xce\x82\xbb\x18\x00\x00",
            PR_INFLATE_MORE, TEXT),
        ROW(PR_WRAP_GZIP, GZIP "\x1f\x8b\x08", PR_INFLATE_MORE, TEXT),
        ROW(PR_WRAP_GZIP, GZIP GZIP_HEAD, PR_INFLATE_MORE, TEXT),
        /* broken */
        ROW(PR_WRAP_NONE, "\x07", PR_INFLATE_BAD, ""),
        ROW(PR_WRAP_NONE, "\x01\x18\x00\xe8\xff" TEXT, PR_INFLATE_BAD, ""),
        ROW(PR_WRAP_ZLIB, "\x78\xdb" BODY "\x78\x2a\x09\x4b", PR_INFLATE_BAD,
            ""),
        ROW(PR_WRAP_ZLIB, "\x78\xda" BODY "\x78\x2a\x09\x4c", PR_INFLATE_BAD,
            TEXT),
        ROW(PR_WRAP_ZLIB,
            "\x78\xf9\x1b\x4f\x04\x91\x2b\x40\x30\x91\x49\x2e\x00"
            "\x78\x2a\x09\x4b", /* wants a dictionary */
            PR_INFLATE_BAD, ""),
        ROW(PR_WRAP_ZLIB, GZIP, PR_INFLATE_BAD, ""),
        ROW(PR_WRAP_GZIP, ZLIB, PR_INFLATE_BAD, ""),
        ROW(PR_WRAP_GZIP, "\x1f\x8b\x08\x02\0\0\0\0\0\xff\x12\x34" BODY TAIL,
            PR_INFLATE_BAD, ""), /* checksum of the header */
        ROW(PR_WRAP_GZIP, "\x1f\x8b\x08\x20\0\0\0\0\0\xff" BODY TAIL,
            PR_INFLATE_BAD, ""), /* a flag that nobody knows */
        ROW(PR_WRAP_GZIP, GZIP_HEAD BODY "\x66\xce\x82\xbb\x18\x00\x00\x00",
            PR_INFLATE_BAD, TEXT), /* checksum */
        ROW(PR_WRAP_GZIP, GZIP_HEAD BODY "\x67\xce\x82\xbb\x19\x00\x00\x00",
            PR_INFLATE_BAD, TEXT), /* length */
        ROW(PR_WRAP_GZIP, GZIP "junk, not a member", PR_INFLATE_BAD, TEXT),
        ROW(PR_WRAP_GZIP, GZIP "\0\0\0more junk here", PR_INFLATE_BAD, TEXT),
    };
    static const size_t steps[] = {1, 2, 3, 7, 1000};
    struct pr_inflate *z = pr_inflate_new();
    uint8_t out[256];

    (void)state;
    assert_non_null(z);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; k < 25; k++) {
            enum pr_inflate_end end;
            size_t n;

            pr_inflate_start(z, rows[i].wrap);
            n = inflate_all(z, rows[i].bytes, rows[i].len, steps[k % 5], out,
                            sizeof out, steps[k / 5], &end);
            if (end != rows[i].end)
                fail_msg("row %zu, steps %d: %d", i, k, end);
            if (!rows[i].text)
                continue;
            if (n != strlen(rows[i].text) || memcmp(out, rows[i].text, n) != 0)
                fail_msg("row %zu, steps %d: '%.*s'", i, k, (int)n, out);
        }
    pr_inflate_free(z);
}

static void a_broken_stream_stays_broken(void **state)
{
    struct pr_inflate *z = pr_inflate_new();
    const uint8_t *p = (const uint8_t *)"\x07\x00";
    size_t len = 2, n = 8;
    uint8_t out[8];

    (void)state;
    pr_inflate_start(z, PR_WRAP_NONE);
    assert_int_equal(pr_inflate_run(z, &p, &len, out, &n), PR_INFLATE_BAD);
    p = (const uint8_t *)BODY;
    len = sizeof BODY - 1;
    n = 8;
    assert_int_equal(pr_inflate_run(z, &p, &len, out, &n), PR_INFLATE_BAD);
    assert_int_equal(n, 0);
    pr_inflate_free(z);
}

/* What follows the stream is not touched. */
static void the_end_leaves_the_rest(void **state)
{
    struct pr_inflate *z = pr_inflate_new();
    static const uint8_t bytes[] = ZLIB "the rest";
    const uint8_t *p = bytes;
    size_t len = sizeof bytes - 1, n = 100;
    uint8_t out[100];

    (void)state;
    pr_inflate_start(z, PR_WRAP_ZLIB);
    assert_int_equal(pr_inflate_run(z, &p, &len, out, &n), PR_INFLATE_END);
    assert_int_equal(n, strlen(TEXT));
    assert_int_equal(len, strlen("the rest"));
    assert_memory_equal(p, "the rest", len);
    n = sizeof out;
    assert_int_equal(pr_inflate_run(z, &p, &len, out, &n), PR_INFLATE_END);
    assert_int_equal(n, 0);
    assert_int_equal(len, strlen("the rest"));
    pr_inflate_free(z);
}

/* ---- both ways */

static size_t deflate_all(struct pr_deflate *z, const uint8_t *in, size_t len,
                          size_t in_step, uint8_t *out, size_t cap,
                          size_t out_step)
{
    size_t put = 0, given = 0, have = 0;
    const uint8_t *p = in;
    bool done = false;

    while (!done) {
        size_t room = cap - put < out_step ? cap - put : out_step, n = room;
        if (!have) {
            have = len - given < in_step ? len - given : in_step;
            p = in + given;
            given += have;
        }
        done = pr_deflate_run(z, &p, &have, given == len, out + put, &n);
        assert_true(n <= room);
        put += n;
        assert_true(done || put < cap);
    }
    assert_int_equal(have, 0);
    assert_int_equal(given, len);
    return put;
}

enum { LEN = 200000, CAP = LEN + LEN / 16 + 1024 };

/* Noise, runs, and text-like bytes. */
static void make_up(uint8_t *data, size_t len, int kind)
{
    pr_noise_fill(data, len, 7, 0);
    for (size_t i = 0; i < len; i++)
        if (kind == 1)
            data[i] = (uint8_t)(i / 1000);
        else if (kind == 2)
            data[i] = (uint8_t) "etaoin shrdlu,."[data[i] % 15];
}

static void what_goes_in_comes_out(void **state)
{
    static const struct {
        size_t len, in, out;
    } rows[] = {
        {0, 1, 1},          {1, 1, 1},           {100, 1, 1},
        {1000, 7, 13},      {LEN, LEN, CAP},     {LEN, 4096, 1000},
        {LEN, 1000, 65536}, {LEN, 65536, 65536}, {65536, 65536, 256},
    };
    uint8_t *data = malloc(LEN), *packed = malloc(CAP), *back = malloc(CAP);
    struct pr_inflate *inf = pr_inflate_new();

    (void)state;
    for (int level = 1; level <= 9; level += 2) {
        struct pr_deflate *def = pr_deflate_new(level);
        assert_non_null(def);
        for (unsigned k = 0; k < 9 * sizeof rows / sizeof *rows; k++) {
            enum pr_wrap wrap = (enum pr_wrap)(k % 3);
            size_t len = rows[k / 9].len, n;
            enum pr_inflate_end end;

            make_up(data, len, k / 3 % 3);
            pr_deflate_start(def, wrap);
            n = deflate_all(def, data, len, rows[k / 9].in, packed, CAP,
                            rows[k / 9].out);
            assert_true(n <= pr_deflate_bound(len));
            if (len == LEN && k / 3 % 3 == 1)
                assert_true(n < 20000); /* it does compress */
            pr_inflate_start(inf, wrap);
            n = inflate_all(inf, packed, n, rows[k / 9].out, back, CAP,
                            rows[k / 9].in, &end);
            assert_int_equal(end, PR_INFLATE_END);
            assert_int_equal(n, len);
            if (len)
                assert_memory_equal(data, back, len);
        }
        pr_deflate_free(def);
    }
    pr_inflate_free(inf);
    free(data);
    free(packed);
    free(back);
}

static void wrapping_is_what_it_should_be(void **state)
{
    struct pr_deflate *z = pr_deflate_new(6);
    uint8_t out[256];
    size_t n;

    (void)state;
    pr_deflate_start(z, PR_WRAP_GZIP);
    n = deflate_all(z, (const uint8_t *)TEXT, strlen(TEXT), 100, out,
                    sizeof out, 100);
    assert_memory_equal(out, "\x1f\x8b\x08\x00", 4);
    assert_memory_equal(out + n - 8, TAIL, 8);
    pr_deflate_start(z, PR_WRAP_ZLIB);
    n = deflate_all(z, (const uint8_t *)TEXT, strlen(TEXT), 100, out,
                    sizeof out, 100);
    assert_int_equal(out[0], 0x78);
    assert_int_equal((out[0] << 8 | out[1]) % 31, 0);
    assert_memory_equal(out + n - 4, "\x78\x2a\x09\x4b", 4);
    pr_deflate_free(z);
}

static void a_stream_left_midway_is_forgotten(void **state)
{
    struct pr_deflate *z = pr_deflate_new(1);
    struct pr_inflate *inf = pr_inflate_new();
    uint8_t out[512], back[512];
    const uint8_t *p = (const uint8_t *)"something else altogether";
    size_t len = 25, n = sizeof out;
    enum pr_inflate_end end;

    (void)state;
    pr_deflate_start(z, PR_WRAP_GZIP);
    assert_false(pr_deflate_run(z, &p, &len, false, out, &n));
    pr_deflate_start(z, PR_WRAP_NONE);
    n = deflate_all(z, (const uint8_t *)TEXT, strlen(TEXT), 5, out, sizeof out,
                    5);
    pr_inflate_start(inf, PR_WRAP_GZIP);
    inflate_all(inf, (const uint8_t *)GZIP, 15, 3, back, sizeof back, 3, &end);
    pr_inflate_start(inf, PR_WRAP_NONE);
    n = inflate_all(inf, out, n, 100, back, sizeof back, 100, &end);
    assert_int_equal(end, PR_INFLATE_END);
    assert_int_equal(n, strlen(TEXT));
    assert_memory_equal(back, TEXT, n);
    pr_deflate_free(z);
    pr_inflate_free(inf);
    pr_deflate_free(NULL);
    pr_inflate_free(NULL);
}

static int make_both(void)
{
    struct pr_deflate *z = pr_deflate_new(9);
    struct pr_inflate *inf = pr_inflate_new();
    int rc = z && inf ? PR_OK : PR_E_NOMEM;

    pr_deflate_free(z);
    pr_inflate_free(inf);
    return rc;
}

static void no_memory_is_null(void **state)
{
    (void)state;
    torture(make_both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_streams),
        cmocka_unit_test(a_broken_stream_stays_broken),
        cmocka_unit_test(the_end_leaves_the_rest),
        cmocka_unit_test(what_goes_in_comes_out),
        cmocka_unit_test(wrapping_is_what_it_should_be),
        cmocka_unit_test(a_stream_left_midway_is_forgotten),
        cmocka_unit_test(no_memory_is_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
