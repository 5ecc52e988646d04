/* Zip archives that Python's zipfile made, byte by byte; and what is left of
 * one when any byte of it is another, or it ends anywhere. */
#include "base/codec/archive.h"

#include "torture.h"

#include <string.h>

/* Two members, a.txt stored ("hello") and b/c.txt deflated ("x" * 40), and a
 * comment "note". */
static const char archive[] =
    "PK\x03\x04\x14\0\0\0\0\0\0\0!X\x86\xa6\x10\x36\x05\0\0\0\x05\0\0\0"
    "\x05\0\0\0a.txthello"
    "PK\x03\x04\x14\0\0\0\x08\0\0\0!X\xf0q\x1a\xc4\x06\0\0\0\x28\0\0\0"
    "\x07\0\0\0b/c.txt\xab\xa8 \x0e\0\0"
    "PK\x01\x02\x14\x03\x14\0\0\0\0\0\0\0!X\x86\xa6\x10\x36\x05\0\0\0"
    "\x05\0\0\0\x05\0\0\0\0\0\0\0\0\0\0\0\x80\x01\0\0\0\0a.txt"
    "PK\x01\x02\x14\x03\x14\0\0\0\x08\0\0\0!X\xf0q\x1a\xc4\x06\0\0\0"
    "\x28\0\0\0\x07\0\0\0\0\0\0\0\0\0\0\0\x80\x01\x28\0\0\0b/c.txt"
    "PK\x05\x06\0\0\0\0\x02\0\x02\0\x68\0\0\0S\0\0\0\x04\0note";

enum { BYTES = sizeof archive - 1 };

static void members_are_listed_in_order(void **state)
{
    struct pr_zipdir z;
    struct pr_archive_member m;
    struct pr_err err;

    (void)state;
    assert_true(pr_zipdir_is_archive(archive, BYTES));
    assert_int_equal(pr_zipdir_open(&z, archive, BYTES, "a.zip", &err), PR_OK);
    assert_int_equal(pr_zipdir_next(&z, &m, &err), 1);
    assert_int_equal(m.name_len, 5);
    assert_memory_equal(m.name, "a.txt", 5);
    assert_int_equal(m.method, PR_ZIP_STORED);
    assert_int_equal(m.bytes, 5);
    assert_int_equal(m.crc, 0x3610a686);
    assert_memory_equal(m.data, "hello", 5);
    assert_int_equal(pr_zipdir_next(&z, &m, &err), 1);
    assert_memory_equal(m.name, "b/c.txt", 7);
    assert_int_equal(m.method, PR_ZIP_DEFLATED);
    assert_int_equal(m.packed_bytes, 6);
    assert_int_equal(m.bytes, 40);
    assert_false(m.encrypted);
    assert_int_equal(pr_zipdir_next(&z, &m, &err), 0);
    assert_int_equal(pr_zipdir_next(&z, &m, &err), 0);
}

/* Whatever it is, only its own bytes are handed out. */
static void walk(const char *bytes, size_t n)
{
    struct pr_zipdir z;
    struct pr_archive_member m;
    struct pr_err err;
    int rc = pr_zipdir_open(&z, bytes, n, "a.zip", &err);

    while (rc >= 0 && (rc = pr_zipdir_next(&z, &m, &err)) == 1) {
        assert_true((const char *)m.data >= bytes);
        assert_true((const char *)m.data + m.packed_bytes <= bytes + n);
        assert_true(m.name >= bytes && m.name + m.name_len <= bytes + n);
    }
    assert_true(rc == 0 || rc == PR_E_FORMAT);
}

static void damage_is_told(void **state)
{
    static const unsigned char others[] = {0, 1, 0x7f, 0x80, 0xff};
    char copy[BYTES];
    struct pr_zipdir z;
    struct pr_err err;

    (void)state;
    for (size_t n = 0; n < BYTES; n++) {
        memcpy(copy, archive, n);
        walk(copy, n);
    }
    for (size_t i = 0; i < BYTES; i++)
        for (size_t k = 0; k < sizeof others; k++) {
            memcpy(copy, archive, BYTES);
            copy[i] = (char)others[k];
            walk(copy, BYTES);
        }
    assert_int_equal(pr_zipdir_open(&z, archive, BYTES - 60, "a.zip", &err),
                     PR_E_FORMAT);
    assert_string_equal(err.where, "a.zip");
    assert_false(pr_zipdir_is_archive("PK", 2));
    assert_false(
        pr_zipdir_is_archive("PK\x05\x07 and much that is no archive", 30));
}

/* The same with its numbers in 64 bits: the offset of the directory and all of
 * a member are in the fields for that. */
static void large_archives_have_wide_numbers(void **state)
{
    static const char wide[] =
        "PK\x03\x04\x2d\0\0\0\0\0\0\0\x21\x58\x86\xa6\x10\x36\xff\xff\xff\xff"
        "\xff\xff\xff\xff\x01\0\0\0ahello"
        "PK\x01\x02\x2d\x03\x2d\0\0\0\0\0\0\0\x21\x58\x86\xa6\x10\x36"
        "\xff\xff\xff\xff\xff\xff\xff\xff\x01\0\x20\0\0\0\0\0\0\0\0\0\0\0"
        "\xff\xff\xff\xff"
        "a\x99\x99\0\0\x01\0\x18\0\x05\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0\0\0\0\0"
        "\0\0\0\0"
        "PK\x06\x06\x2c\0\0\0\0\0\0\0\x2d\0\x2d\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0"
        "\0\0\x01\0\0\0\0\0\0\0\x4f\0\0\0\0\0\0\0\x24\0\0\0\0\0\0\0"
        "PK\x06\x07\0\0\0\0\x73\0\0\0\0\0\0\0\x01\0\0\0"
        "PK\x05\x06\0\0\0\0\x01\0\x01\0\xff\xff\xff\xff\xff\xff\xff\xff\0\0";
    struct pr_zipdir z;
    struct pr_archive_member m;
    struct pr_err err;

    (void)state;
    assert_int_equal(pr_zipdir_open(&z, wide, sizeof wide - 1, "w.zip", &err),
                     PR_OK);
    assert_int_equal(pr_zipdir_next(&z, &m, &err), 1);
    assert_int_equal(m.bytes, 5);
    assert_int_equal(m.packed_bytes, 5);
    assert_memory_equal(m.data, "hello", 5);
    assert_int_equal(pr_zipdir_next(&z, &m, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_listed_in_order),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(large_archives_have_wide_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
