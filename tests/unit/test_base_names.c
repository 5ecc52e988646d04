/* Interned names: dense numbers, found again, whatever the text. */
#include "base/names.h"

#include "torture.h"

#include <stdio.h>
#include <string.h>

static uint32_t add(struct pr_names *n, const char *s)
{
    return pr_names_add(n, s, strlen(s));
}

static uint32_t find(const struct pr_names *n, const char *s)
{
    return pr_names_find(n, s, strlen(s));
}

static void numbers_are_dense_and_stable(void **state)
{
    struct pr_names *n = pr_names_new();

    (void)state;
    assert_non_null(n);
    assert_int_equal(pr_names_count(n), 0);
    assert_int_equal(find(n, "a"), PR_NO_NAME);
    assert_int_equal(add(n, "a"), 0);
    assert_int_equal(add(n, "b"), 1);
    assert_int_equal(add(n, "a"), 0);
    assert_int_equal(add(n, ""), 2);
    assert_int_equal(find(n, ""), 2);
    assert_int_equal(find(n, "b"), 1);
    assert_int_equal(find(n, "c"), PR_NO_NAME);
    assert_int_equal(pr_names_count(n), 3);
    assert_string_equal(pr_names_text(n, 1), "b");
    pr_names_free(n);
    pr_names_free(NULL);
}

/* The text need not end with a NUL, is copied, and may hold one. */
static void text_is_told_apart_by_its_bytes_and_length(void **state)
{
    struct pr_names *n = pr_names_new();
    char text[] = "abcdefgh";

    (void)state;
    assert_int_equal(pr_names_add(n, text, 3), 0);
    assert_int_equal(pr_names_add(n, text, 8), 1);
    assert_int_equal(pr_names_add(n, "a\0b", 3), 2);
    assert_int_equal(pr_names_add(n, "a\0c", 3), 3);
    assert_int_equal(pr_names_add(n, "a", 1), 4);
    memset(text, 'x', sizeof text - 1);
    assert_string_equal(pr_names_text(n, 0), "abc");
    assert_string_equal(pr_names_text(n, 1), "abcdefgh");
    assert_memory_equal(pr_names_text(n, 3), "a\0c", 4);
    pr_names_free(n);
}

/* Through many growths of the table; texts do not move. */
static void thousands_of_names_keep_their_numbers(void **state)
{
    struct pr_names *n = pr_names_new();
    const char *first;
    char text[32];

    (void)state;
    assert_int_equal(add(n, "name 0"), 0);
    first = pr_names_text(n, 0);
    for (uint32_t i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, "name %u", i);
        assert_int_equal(add(n, text), i);
    }
    assert_ptr_equal(pr_names_text(n, 0), first);
    for (uint32_t i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, "name %u", i);
        assert_int_equal(find(n, text), i);
        assert_string_equal(pr_names_text(n, i), text);
    }
    assert_int_equal(find(n, "name 20000"), PR_NO_NAME);
    pr_names_free(n);
}

/* One bit changed anywhere must change the hash; equal bytes must not. */
static void hashes_depend_on_every_bit_and_the_seed(void **state)
{
    unsigned char bytes[40];

    (void)state;
    for (size_t len = 0; len <= sizeof bytes; len++) {
        uint64_t was;

        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)(i * 37);
        was = pr_hash_bytes(bytes, len, 5);
        assert_true(was == pr_hash_bytes(bytes, len, 5));
        assert_true(was != pr_hash_bytes(bytes, len, 6));
        if (len < sizeof bytes) {
            bytes[len] = 0;
            assert_true(was != pr_hash_bytes(bytes, len + 1, 5));
        }
        for (size_t bit = 0; bit < len * 8; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            assert_true(was != pr_hash_bytes(bytes, len, 5));
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
    }
}

static int fill(void)
{
    struct pr_names *n = pr_names_new();
    char text[16];
    int rc = n ? PR_OK : PR_E_NOMEM;

    for (uint32_t i = 0; !rc && i < 1000; i++) {
        snprintf(text, sizeof text, "%u", i);
        /* A failure leaves what is there as it was. */
        if (add(n, text) == PR_NO_NAME) {
            assert_int_equal(pr_names_count(n), i);
            assert_int_equal(find(n, text), PR_NO_NAME);
            assert_int_equal(add(n, text), i);
            assert_int_equal(find(n, "0"), 0);
            rc = PR_E_NOMEM;
        }
    }
    pr_names_free(n);
    return rc;
}

static void out_of_memory_leaves_the_names_usable(void **state)
{
    (void)state;
    torture(fill);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_dense_and_stable),
        cmocka_unit_test(text_is_told_apart_by_its_bytes_and_length),
        cmocka_unit_test(thousands_of_names_keep_their_numbers),
        cmocka_unit_test(hashes_depend_on_every_bit_and_the_seed),
        cmocka_unit_test(out_of_memory_leaves_the_names_usable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
