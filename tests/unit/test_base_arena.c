/* Memory: the failing allocator, arenas and buffers. */
#include "base/buf.h"
#include "base/mem.h"

#include "torture.h"

#include <string.h>

/* mem.h */

static void allocation_fails_once_when_asked(void **state)
{
    void *p;

    (void)state;
    pr_mem_fail_after(1);
    p = pr_alloc(8);
    assert_non_null(p);
    assert_false(pr_mem_failed());
    assert_null(pr_alloc(8));
    assert_true(pr_mem_failed());
    p = pr_realloc(p, 100); /* the next one succeeds again */
    assert_non_null(p);
    pr_mem_fail_after(0);
    assert_null(pr_realloc(p, 1000));
    pr_mem_fail_after(-1);
    assert_false(pr_mem_failed());
    memset(p, 1, 100); /* still ours after the failure */
    pr_free(p);
    pr_free(NULL);
}

static void zero_bytes_are_a_pointer(void **state)
{
    void *p = pr_alloc(0), *q = pr_alloc_zeroed(0);

    (void)state;
    assert_non_null(p);
    assert_non_null(q);
    pr_free(p);
    pr_free(q);
}

/* mem.h */

static void arena_memory_is_aligned_and_apart(void **state)
{
    struct pr_arena *a = pr_arena_new(1024);
    unsigned char *parts[300];
    const char *texts[300];

    (void)state;
    for (int i = 0; i < 300; i++) {
        size_t bytes = (size_t)(i % 37);
        parts[i] = pr_arena_alloc(a, bytes);
        assert_non_null(parts[i]);
        assert_int_equal((uintptr_t)parts[i] % 16, 0);
        memset(parts[i], i, bytes);
        texts[i] = pr_arena_copy(a, "abcdefgh", bytes % 9);
    }
    for (int i = 0; i < 300; i++) {
        for (int k = 0; k < i % 37; k++)
            assert_int_equal(parts[i][k], i & 255);
        assert_int_equal(strlen(texts[i]), i % 37 % 9);
        assert_memory_equal(texts[i], "abcdefgh", (size_t)(i % 37 % 9));
    }
    pr_arena_free(a);
}

static void arena_texts_are_copies(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(0);
    char text[] = "hello";
    const char *s = pr_arena_str(a, text), *n = pr_arena_copy(a, "a\0b", 3);

    (void)state;
    text[0] = 'j';
    assert_string_equal(s, "hello");
    assert_memory_equal(n, "a\0b", 4);
    assert_string_equal(pr_arena_copy(a, NULL, 0), "");
    assert_string_equal(pr_arena_printf(a, "%s-%05d", "x", 42), "x-00042");
    /* Longer than a block. */
    s = pr_arena_printf(a, "%5000d", 7);
    assert_int_equal(strlen(s), 5000);
    assert_int_equal(s[4999], '7');
}

static void arena_zeroed_is_zero_after_reset(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
    unsigned char *p = pr_arena_alloc(a, 512);
    int *array;

    (void)state;
    memset(p, 0xff, 512);
    pr_arena_reset(a);
    p = pr_arena_zeroed(a, 512);
    for (int i = 0; i < 512; i++)
        assert_int_equal(p[i], 0);
    array = PR_ARENA_ARRAY(a, int, 3);
    assert_int_equal(array[0] | array[1] | array[2], 0);
}

static void arena_counts_what_it_holds_and_lets_go(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
    size_t first;

    (void)state;
    assert_int_equal(pr_arena_bytes(a), 0);
    pr_arena_reset(a);
    assert_non_null(pr_arena_alloc(a, 100000));
    assert_true(pr_arena_bytes(a) >= 100000);
    pr_arena_reset(a);
    assert_int_equal(pr_arena_bytes(a), 0);
    assert_non_null(pr_arena_alloc(a, 1));
    first = pr_arena_bytes(a);
    assert_true(first >= 1024);
    for (int i = 0; i < 100; i++)
        assert_non_null(pr_arena_alloc(a, 1000));
    pr_arena_reset(a);
    assert_int_equal(pr_arena_bytes(a), first);
    /* The block that is kept is used again. */
    assert_non_null(pr_arena_alloc(a, 1000));
    assert_int_equal(pr_arena_bytes(a), first);
}

static void arena_refuses_absurd_sizes(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);

    (void)state;
    assert_null(pr_arena_alloc(a, SIZE_MAX));
    assert_null(pr_arena_alloc(a, SIZE_MAX - 20));
    assert_null(pr_arena_copy(a, "", SIZE_MAX));
    assert_non_null(pr_arena_alloc(a, 16)); /* and lives on */
    pr_arena_free(NULL);
}

static int try_arena(void)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);

    if (!a || !pr_arena_alloc(a, 2000) || !pr_arena_str(a, "text") ||
        !pr_arena_printf(a, "%2000d", 1) || !pr_arena_zeroed(a, 5000))
        return PR_E_NOMEM;
    return PR_OK;
}

static void arena_survives_running_out(void **state)
{
    (void)state;
    torture(try_arena);
}

/* buf.h */

static void buffer_grows_and_ends_with_a_nul(void **state)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(100000);

    (void)state;
    for (int i = 0; i < 10000; i++) {
        pr_buf_char(&b, (char)('a' + i % 26));
        assert_int_equal(b.data[b.len], 0);
    }
    pr_buf_str(&b, "xyz");
    pr_buf_printf(&b, "%d%s", 12, "!");
    pr_buf_add(&b, NULL, 0);
    assert_true(pr_buf_ok(&b));
    assert_int_equal(b.len, 10006);
    assert_string_equal(b.data + 9998, "opxyz12!");
}

static void buffer_stops_at_its_maximum(void **state)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(5);

    (void)state;
    pr_buf_str(&b, "12345");
    assert_true(pr_buf_ok(&b));
    pr_buf_char(&b, '6');
    assert_false(pr_buf_ok(&b));
    assert_string_equal(b.data, "12345");
    pr_buf_str(&b, ""); /* nothing works after a failure, nothing breaks */
    pr_buf_printf(&b, "%d", 1);
    assert_false(pr_buf_reserve(&b, 0));
    assert_int_equal(b.len, 5);
    pr_buf_clear(&b);
    pr_buf_printf(&b, "%s", "abcdef");
    assert_false(pr_buf_ok(&b));
    pr_buf_clear(&b);
    pr_buf_printf(&b, "%s", "abcde");
    assert_true(pr_buf_ok(&b));
    assert_string_equal(b.data, "abcde");
    pr_buf_free(&b);
    assert_null(b.data);
    assert_int_equal(b.max, 5);
}

static void buffer_without_limit_refuses_absurd_sizes(void **state)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(SIZE_MAX);

    (void)state;
    pr_buf_str(&b, "a");
    assert_false(pr_buf_reserve(&b, SIZE_MAX - 1));
    assert_false(pr_buf_ok(&b));
    pr_buf_clear(&b);
    assert_false(pr_buf_reserve(&b, SIZE_MAX / 2));
    pr_buf_clear(&b);
    pr_buf_str(&b, "b");
    assert_string_equal(b.data, "b");
}

static int try_buffer(void)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(10000);

    for (int i = 0; i < 50; i++)
        pr_buf_printf(&b, "%050d", i);
    return pr_buf_ok(&b) ? PR_OK : PR_E_NOMEM;
}

static void buffer_survives_running_out(void **state)
{
    (void)state;
    torture(try_buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocation_fails_once_when_asked),
        cmocka_unit_test(zero_bytes_are_a_pointer),
        cmocka_unit_test(arena_memory_is_aligned_and_apart),
        cmocka_unit_test(arena_texts_are_copies),
        cmocka_unit_test(arena_zeroed_is_zero_after_reset),
        cmocka_unit_test(arena_counts_what_it_holds_and_lets_go),
        cmocka_unit_test(arena_refuses_absurd_sizes),
        cmocka_unit_test(arena_survives_running_out),
        cmocka_unit_test(buffer_grows_and_ends_with_a_nul),
        cmocka_unit_test(buffer_stops_at_its_maximum),
        cmocka_unit_test(buffer_without_limit_refuses_absurd_sizes),
        cmocka_unit_test(buffer_survives_running_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
