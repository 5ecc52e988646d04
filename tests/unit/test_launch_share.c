/*
 * Lists of CPUs, cores of made-up machines (by /sys and by hwloc), and how they
 * are shared out.
 */
#include "launch/slots/slots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_machine.h"
#include "skip.h"

static void lists_are_read_and_written(void **state)
{
    static const struct {
        const char *in, *out;
        unsigned n;
    } rows[] = {
        {"0", "0", 1},
        {"0-3", "0-3", 4},
        {"3,1,2", "1-3", 3},
        {" 0-1,64-65\n", "0-1,64-65", 4},
        {"", "", 0},
        {"8191", "8191", 1},
        {"0-8191", "0-8191", 8192},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_cpuset s;
        char text[64];

        assert_true(pr_cpuset_parse(rows[i].in, &s));
        assert_int_equal(pr_cpuset_count(&s), rows[i].n);
        assert_true(pr_cpuset_print(&s, text, sizeof text));
        assert_string_equal(text, rows[i].out);
    }
}

static void what_is_no_list_is_refused(void **state)
{
    static const char *const bad[] = {"x",
                                      "1,",
                                      ",1",
                                      "1-",
                                      "-1",
                                      "3-1",
                                      "1 2",
                                      "8192",
                                      "1-x",
                                      "1,,2",
                                      "99999999999999999999"};
    char text[4];
    struct pr_cpuset s = {0};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(pr_cpuset_parse(bad[i], &s));
    assert_int_equal(pr_cpuset_count(&s), 0); /* left as it was */
    assert_true(pr_cpuset_parse("1,3,5", &s));
    assert_false(pr_cpuset_print(&s, text, sizeof text));
}

/* ---- sharing */

struct wish {
    const char *near; /* or NULL */
    const char *want;
};

static void share_out(const struct machine *m, const struct wish *w, unsigned n,
                      bool enough)
{
    struct pr_slot_share shares[8] = {0};
    struct pr_topology t;
    struct pr_err err;

    make_machine(m);
    assert_int_equal(pr_topology_read(fake_root, fake_arena, &t, &err), PR_OK);
    assert_string_equal(t.source, "sysfs");
    for (unsigned i = 0; i < n; i++)
        shares[i].has_near =
            w[i].near && pr_cpuset_parse(w[i].near, &shares[i].near);
    assert_int_equal(pr_slots_share_cores(&t, shares, n), enough);
    for (unsigned i = 0; i < n; i++) {
        char text[64];

        assert_true(pr_cpuset_print(&shares[i].cpus, text, sizeof text));
        assert_string_equal(text, w[i].want);
    }
}

/* Two nodes of four cores with two threads each, as servers count them. */
static const struct machine server = {.nodes = 2, .cores = 4, .threads = 2};

static void threads_of_a_core_stay_together(void **state)
{
    static const struct wish two[] = {{0, "0-3,8-11"}, {0, "4-7,12-15"}};
    static const struct wish four[] = {
        {0, "0-1,8-9"}, {0, "4-5,12-13"}, {0, "2-3,10-11"}, {0, "6-7,14-15"}};

    (void)state;
    share_out(&server, two, 2, true);
    share_out(&server, four, 4, true);
}

/* Eight cores for three: two each, none across nodes, two for the harness. */
static void what_does_not_divide_is_nobodys(void **state)
{
    static const struct wish three[] = {
        {0, "0-1,8-9"}, {0, "4-5,12-13"}, {0, "2-3,10-11"}};

    (void)state;
    share_out(&server, three, 3, true);
}

static void devices_get_the_cores_near_them(void **state)
{
    static const struct wish crossed[] = {{"4-7,12-15", "4-7,12-15"},
                                          {"0-3,8-11", "0-3,8-11"}};
    static const struct wish one_wish[] = {{0, "4-7,12-15"},
                                           {"0-3,8-11", "0-3,8-11"}};
    static const struct wish same[] = {{"0-3,8-11", "0-3,8-11"},
                                       {"0-3,8-11", "4-7,12-15"}};

    (void)state;
    share_out(&server, crossed, 2, true);
    share_out(&server, one_wish, 2, true);
    share_out(&server, same, 2, true);
}

/* One node, two caches of three cores: slots of two do not straddle them as
 * long as there is another way. */
static void caches_are_not_straddled(void **state)
{
    static const struct machine m = {
        .nodes = 1, .cores = 6, .threads = 1, .per_cache = 3};
    static const struct wish two[] = {{0, "0-1"}, {0, "3-4"}};
    static const struct wish three[] = {{0, "0-1"}, {0, "3-4"}, {0, "2,5"}};

    (void)state;
    share_out(&(struct machine){.nodes = 1,
                                .cores = 6,
                                .threads = 1,
                                .per_cache = 3,
                                .allowed = "0-1,3-4"},
              two, 2, true);
    share_out(&m, three, 3, true);
}

static void only_what_is_allowed_is_shared(void **state)
{
    static const struct machine m = {
        .nodes = 2, .cores = 4, .threads = 2, .allowed = "1-2,9,13"};
    static const struct wish two[] = {{0, "1,9"}, {0, "2"}};

    (void)state; /* cores 1 (both threads), 2 (one), 5 (one) */
    share_out(&m, two, 2, true);
}

static void more_slots_than_cores_share(void **state)
{
    static const struct machine m = {.nodes = 1, .cores = 2, .threads = 2};
    static const struct wish three[] = {{0, "0,2"}, {0, "1,3"}, {0, "0,2"}};

    (void)state;
    share_out(&m, three, 3, false);
}

static void machines_without_files_have_cpus(void **state)
{
    static const struct machine m = {
        .nodes = 0, .cores = 4, .threads = 1, .allowed = "0-3"};
    static const struct wish two[] = {{0, "0-1"}, {0, "2-3"}};

    (void)state;
    share_out(&m, two, 2, true);
}

/* hwloc describes a machine that is told by its variable. */
static void hwloc_tells_the_same(void **state)
{
    struct pr_topology t = {0};
    struct pr_core cores[8];
    char text[32];

    (void)state;
    setenv("HWLOC_SYNTHETIC", "numa:2 l3:1 core:2 pu:2", 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    t.cores = cores;
    assert_true(pr_cpuset_parse("0-7", &t.allowed));
    if (!pr_topology_read_hwloc(&t))
        skip_because("no hwloc in this build or on this machine; install "
                     "libhwloc-dev");
    assert_string_equal(t.source, "hwloc");
    assert_int_equal(t.n_cores, 4);
    for (unsigned i = 0; i < 4; i++) {
        char want[32];

        snprintf(want, sizeof want, "%u-%u", 2 * i, 2 * i + 1);
        assert_true(pr_cpuset_print(&t.cores[i].cpus, text, sizeof text));
        assert_string_equal(text, want);
        assert_int_equal(t.cores[i].node, i / 2);
        assert_int_equal(t.cores[i].cache, i / 2 * 4);
    }
    /* CPUs that it does not know: it is not asked further. */
    t.n_cores = 0;
    assert_true(pr_cpuset_parse("0-8", &t.allowed));
    assert_false(pr_topology_read_hwloc(&t));
    assert_int_equal(t.n_cores, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_enter, fake_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read_and_written),
        cmocka_unit_test(what_is_no_list_is_refused),
        TEST(threads_of_a_core_stay_together),
        TEST(what_does_not_divide_is_nobodys),
        TEST(devices_get_the_cores_near_them),
        TEST(caches_are_not_straddled),
        TEST(only_what_is_allowed_is_shared),
        TEST(more_slots_than_cores_share),
        TEST(machines_without_files_have_cpus),
        cmocka_unit_test(hwloc_tells_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
