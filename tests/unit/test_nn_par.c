/* The pool: every thread once, parts without gaps, processors given back. */
#include "test_nn_kernel.h"

#include <sched.h>
#include <stdatomic.h>

struct seen {
    atomic_uint calls[TEST_THREADS + 1];
    atomic_uint threads;
    int cpu[TEST_THREADS + 1], cpus[TEST_THREADS + 1];
};

static void look(void *ctx, unsigned thread, unsigned threads)
{
    struct seen *s = ctx;
    cpu_set_t mask;

    s->calls[thread]++;
    s->threads = threads;
    s->cpu[thread] = sched_getcpu();
    if (sched_getaffinity(0, sizeof mask, &mask) == 0)
        s->cpus[thread] = CPU_COUNT(&mask);
}

static unsigned processors(void)
{
    cpu_set_t mask;

    assert_int_equal(sched_getaffinity(0, sizeof mask, &mask), 0);
    return (unsigned)CPU_COUNT(&mask);
}

static void each_thread_is_called_once(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= TEST_THREADS; n++) {
        struct pr_threads *p = threads_new(n);

        assert_int_equal(pr_threads_count(p), n);
        for (int round = 0; round < 50; round++) {
            struct seen s = {0};

            pr_threads_run(p, look, &s);
            assert_int_equal(s.threads, n);
            for (unsigned i = 0; i < n; i++)
                assert_int_equal(s.calls[i], 1);
        }
        pr_threads_free(p);
    }
}

static void no_number_means_all_processors(void **state)
{
    unsigned n = processors();
    struct pr_threads *p;

    (void)state;
    if (TEST_THREADS < 2)
        skip_because(ONE_THREAD);
    p = threads_new(0);
    assert_int_equal(pr_threads_count(p), n);
    pr_threads_free(p);
}

static void threads_are_pinned_but_not_the_caller(void **state)
{
    cpu_set_t before, after;
    struct pr_threads *p;
    unsigned n = TEST_THREADS < 2 ? 1 : 2;

    (void)state;
    if (processors() < n)
        skip_because("one core; run it on two");
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    p = threads_new(n);
    for (int round = 0; round < 20; round++) {
        struct seen s = {0};

        pr_threads_run(p, look, &s);
        assert_int_equal(s.cpus[0], CPU_COUNT(&before)); /* the caller */
        for (unsigned i = 1; i < n; i++)
            assert_int_equal(s.cpus[i], 1);
        for (unsigned i = 0; i < n; i++)
            assert_true(CPU_ISSET((size_t)s.cpu[i], &before));
    }
    pr_threads_free(p);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
}

/* A second pool sees the whole machine, and its end leaves the first alone. */
static void pools_do_not_disturb_each_other(void **state)
{
    struct pr_threads *a, *b;
    struct seen s = {0};
    unsigned n = processors();

    (void)state;
    if (TEST_THREADS < 2)
        skip_because(ONE_THREAD);
    a = threads_new(0);
    b = threads_new(0);
    assert_int_equal(pr_threads_count(b), n);
    pr_threads_free(a);
    pr_threads_run(b, look, &s);
    for (unsigned i = 1; i < n; i++)
        assert_int_equal(s.cpus[i], 1);
    pr_threads_free(b);
    assert_int_equal(processors(), n);
}

static void more_threads_than_processors_wander(void **state)
{
    unsigned n = processors() + 1;
    struct seen s = {0};
    struct pr_threads *p;

    (void)state;
    if (TEST_THREADS < 2)
        skip_because(ONE_THREAD);
    p = threads_new(n);
    pr_threads_run(p, look, &s);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(s.cpus[i], n - 1);
    pr_threads_free(p);
}

/* A thread that the pool starts again begins on the caller's processor. */
static void go_to_first(void *ctx, unsigned thread, unsigned threads)
{
    cpu_set_t one;

    (void)thread;
    (void)threads;
    CPU_ZERO(&one);
    CPU_SET((size_t) * (const int *)ctx, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
}

static void a_thread_in_the_wrong_place_is_moved(void **state)
{
    struct seen s = {0};
    cpu_set_t before;
    struct pr_threads *p;
    int first = 0;

    (void)state;
    if (processors() < 2 || TEST_THREADS < 2)
        skip_because("one core, or under TSan; run it on two, without");
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    while (!CPU_ISSET((size_t)first, &before))
        first++;
    p = threads_new(2);
    for (int round = 0; round < 20; round++) {
        pr_threads_run(p, go_to_first, &first);
        pr_threads_run(p, look, &s);
        assert_true(s.cpu[0] == first && s.cpu[1] != first);
    }
    pr_threads_free(p);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

static void parts_cover_all_without_overlap(void **state)
{
    static const size_t counts[] = {0, 1, 7, 8, 9, 63, 64, 1000, 12345};
    static const size_t grains[] = {1, 8, 64, 1000};

    (void)state;
    for (size_t i = 0; i < COUNT(counts); i++)
        for (size_t g = 0; g < COUNT(grains); g++)
            for (unsigned n = 1; n < 12; n++) {
                size_t end = 0, most = 0, least = (size_t)-1;

                for (unsigned t = 0; t < n; t++) {
                    size_t from, to, whole;

                    pr_threads_part(counts[i], grains[g], t, n, &from, &to);
                    assert_int_equal(from, end);
                    assert_true(from <= to);
                    assert_true(from % grains[g] == 0 || from == counts[i]);
                    end = to;
                    whole = (to - from + grains[g] - 1) / grains[g];
                    most = whole > most ? whole : most;
                    least = whole < least ? whole : least;
                }
                assert_int_equal(end, counts[i]);
                assert_true(most - least <= 1);
            }
}

static void scratch_is_each_threads_own(void **state)
{
    unsigned n = TEST_THREADS < 2 ? 1 : 2;
    struct pr_threads *p = threads_new(n);

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        char *s = pr_threads_scratch(p, i);

        assert_int_equal((uintptr_t)s % 64, 0);
        memset(s, (int)i + 1, PR_THREADS_SCRATCH_BYTES);
    }
    for (unsigned i = 0; i < n; i++) {
        const char *s = pr_threads_scratch(p, i);

        assert_int_equal(s[0], i + 1);
        assert_int_equal(s[PR_THREADS_SCRATCH_BYTES - 1], i + 1);
    }
    pr_threads_free(p);
}

static void too_many_threads_are_refused(void **state)
{
    struct pr_threads *p = NULL;
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(pr_threads_new(PR_THREADS_MAX + 1, &p, &err), PR_E_CONF);
    assert_null(p);
    assert_non_null(strstr(err.msg, "1025"));
    pr_threads_free(NULL);
}

static int attempt(void)
{
    struct pr_threads *p = NULL;
    int r = pr_threads_new(1, &p, NULL);

    assert_true((r == PR_OK) == (p != NULL));
    pr_threads_free(p);
    return r;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    pr_threads_free(threads_new(1));
    torture(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thread_is_called_once),
        cmocka_unit_test(no_number_means_all_processors),
        cmocka_unit_test(threads_are_pinned_but_not_the_caller),
        cmocka_unit_test(pools_do_not_disturb_each_other),
        cmocka_unit_test(more_threads_than_processors_wander),
        cmocka_unit_test(a_thread_in_the_wrong_place_is_moved),
        cmocka_unit_test(parts_cover_all_without_overlap),
        cmocka_unit_test(scratch_is_each_threads_own),
        cmocka_unit_test(too_many_threads_are_refused),
        cmocka_unit_test(out_of_memory_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
