/* LZF: known bytes, both ways, and what is not LZF. */
#include "format/hdf5/hdf5_chunk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BYTES(s) (const uint8_t *)(s), sizeof(s) - 1

static void known_streams_decode(void **state)
{
    static const struct {
        const uint8_t *in;
        size_t in_len;
        const char *want;
    } rows[] = {
        {BYTES("\x04hello"), "hello"},
        {BYTES("\x02"
               "abc\x80\x02"),
         "abcabcabc"},
        {BYTES("\x00x\xe0\x00\x00"), "xxxxxxxxxx"},
        {BYTES(""), ""},
        /* as h5py stores it */
        {BYTES("\x0cthe cat and t \x0b\x00h\xe0\x02\x0b\x03mat,`\x14\xe0\x10 "
               "\x01"
               "at"),
         "the cat and the hat and the mat, the cat and the hat and the mat"},
    };
    uint8_t out[80];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len = strlen(rows[i].want);

        memset(out, 0xee, sizeof out);
        if (!pr_lzf_decode(rows[i].in, rows[i].in_len, out, len))
            fail_msg("row %zu", i);
        assert_memory_equal(out, rows[i].want, len);
        assert_int_equal(out[len], 0xee);
        assert_false(pr_lzf_decode(rows[i].in, rows[i].in_len, out, len + 1));
        if (len)
            assert_false(
                pr_lzf_decode(rows[i].in, rows[i].in_len, out, len - 1));
    }
}

static void broken_streams_do_not(void **state)
{
    static const struct {
        const uint8_t *in;
        size_t in_len;
    } rows[] = {
        {BYTES("\x04hell")},          /* a run that ends early */
        {BYTES("\x00x\xe0")},         /* a length that is missing */
        {BYTES("\x00x\x20")},         /* a distance that is missing */
        {BYTES("\x00x\xe0\x01")},     /* after a length */
        {BYTES("\x00x\x20\x01")},     /* before the start */
        {BYTES("\x20\x00")},          /* at once */
        {BYTES("\x00x\xe0\xff\x00")}, /* too long for the room */
    };
    uint8_t out[32];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t len = 0; len <= sizeof out; len++)
            if (pr_lzf_decode(rows[i].in, rows[i].in_len, out, len))
                fail_msg("row %zu, %zu bytes", i, len);
}

static void must_come_back(const uint8_t *data, size_t len)
{
    struct pr_lzf *z = malloc(sizeof *z);
    size_t cap = len + len / 32 + 1;
    uint8_t *packed = malloc(cap), *back = malloc(len + 1);
    size_t n;

    assert_true(z && packed && back);
    memset(z, 0xff, sizeof *z); /* what is in it does not matter */
    n = pr_lzf_encode(z, data, len, packed, cap);
    assert_true(n > 0 && n <= cap);
    assert_true(pr_lzf_decode(packed, n, back, len));
    assert_memory_equal(back, data, len);
    for (size_t less = 0; less < n; less += 1 + less / 8)
        assert_int_equal(pr_lzf_encode(z, data, len, packed, less), 0);
    assert_int_equal(pr_lzf_encode(z, data, len, packed, n), n);
    free(back);
    free(packed);
    free(z);
}

/* Periods, lengths and alphabets around the limits of the format. */
static void what_is_encoded_comes_back(void **state)
{
    static const size_t periods[] = {1,   2,    3,    7,    263,  264,
                                     265, 8191, 8192, 8193, 20000};
    static const size_t lens[] = {1, 2, 3, 4, 32, 33, 264, 266, 300, 30000};
    uint8_t *data = malloc(30000);
    uint32_t seed = 1;

    (void)state;
    assert_non_null(data);
    for (size_t p = 0; p < sizeof periods / sizeof *periods; p++)
        for (size_t l = 0; l < sizeof lens / sizeof *lens; l++)
            for (unsigned letters = 1; letters <= 256; letters *= 16) {
                for (size_t i = 0; i < lens[l]; i++) {
                    seed = seed * 1664525u + 1013904223u;
                    data[i] = i < periods[p] ? (uint8_t)((seed >> 24) % letters)
                                             : data[i - periods[p]];
                }
                must_come_back(data, lens[l]);
            }
    free(data);
}

static void repeats_get_small(void **state)
{
    static uint8_t data[26400], out[26400];
    struct pr_lzf *z = malloc(sizeof *z);

    (void)state;
    assert_non_null(z);
    assert_true(pr_lzf_encode(z, data, sizeof data, out, sizeof out) < 310);
    free(z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_streams_decode),
        cmocka_unit_test(broken_streams_do_not),
        cmocka_unit_test(what_is_encoded_comes_back),
        cmocka_unit_test(repeats_get_small),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
