/*
 * Checksums: known answers, pieces of any size and place give what one pass
 * gives, and all of it agrees with the definition, bit by bit.
 */
#include "base/codec/checksum.h"
#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { BYTES = 8192 };

static uint8_t data[BYTES + 64];

static uint32_t by_definition(uint32_t poly, const uint8_t *p, size_t len)
{
    uint32_t crc = ~(uint32_t)0;

    for (size_t i = 0; i < len; i++) {
        crc ^= p[i];
        for (int k = 0; k < 8; k++)
            crc = crc & 1 ? crc >> 1 ^ poly : crc >> 1;
    }
    return ~crc;
}

static void known_answers(void **state)
{
    static const uint8_t zeros[32];

    (void)state;
    assert_int_equal(pr_crc32(0, "123456789", 9), 0xcbf43926u);
    assert_int_equal(pr_crc32c(0, "123456789", 9), 0xe3069283u);
    assert_int_equal(pr_crc32c(0, zeros, 32), 0x8a9136aau); /* RFC 3720 */
    assert_int_equal(pr_crc32(0, "", 0), 0);
    assert_int_equal(pr_crc32c(0, "", 0), 0);
}

static void all_lengths_and_places(void **state)
{
    (void)state;
    pr_noise_fill(data, sizeof data, 1, 0);
    for (size_t len = 0; len <= BYTES; len += len < 1100 ? 1 : 97) {
        const uint8_t *p = data + len % 61;

        assert_int_equal(pr_crc32(0, p, len),
                         by_definition(0xedb88320u, p, len));
        assert_int_equal(pr_crc32c(0, p, len),
                         by_definition(0x82f63b78u, p, len));
    }
}

static void pieces_give_the_whole(void **state)
{
    uint32_t whole = pr_crc32(0, data, BYTES);
    uint32_t whole_c = pr_crc32c(0, data, BYTES);

    (void)state;
    for (size_t cut = 0; cut <= BYTES; cut += 31) {
        uint32_t a = pr_crc32(0, data, cut), b = pr_crc32c(0, data, cut);

        assert_int_equal(pr_crc32(a, data + cut, BYTES - cut), whole);
        assert_int_equal(pr_crc32c(b, data + cut, BYTES - cut), whole_c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(all_lengths_and_places),
        cmocka_unit_test(pieces_give_the_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
