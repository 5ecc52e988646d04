/* The keeper at its limits: large requests, many at once, little memory. */
#include "test_launch_keeper.h"

#include "base/mem.h"

#include "brief.h"
#include "skip.h"

static void large_arguments_arrive_whole(void **state)
{
    enum { N = 16, LEN = 65536 };
    struct scratch *t = *state;
    char *big = malloc(LEN + 1);
    const char *argv[64] = {"sh", "-c", "wc -c < /proc/$$/cmdline; exit 3",
                            "sh"};
    char want[32];

    memset(big, 'x', LEN);
    big[LEN] = '\0';
    for (int i = 0; i < N; i++)
        argv[4 + i] = big;
    spawn_id(t, 1, argv, t->id);
    assert_int_equal(WEXITSTATUS(expect_end(t, 1).wait_status), 3);
    snprintf(want, sizeof(want), "%d\n",
             N * (LEN + 1) + (int)(strlen(argv[2]) + 1 + 3 + 3 + 3));
    assert_string_equal(slurp(t->log), want);
    free(big);
}

static void more_than_the_kernel_takes_says_so(void **state)
{
    enum { N = 50, LEN = 65536 };
    struct scratch *t = *state;
    const char *preload = getenv("LD_PRELOAD");
    const char *argv[N + 2] = {"true"};
    char *big;

    if (preload && strstr(preload, "vgpreload"))
        skip_because("valgrind dies of an execve() that fails; run it "
                     "without");
    big = malloc(LEN + 1);
    memset(big, 'x', LEN);
    big[LEN] = '\0';
    for (int i = 0; i < N; i++)
        argv[1 + i] = big;
    spawn_id(t, 1, argv, t->id);
    assert_int_equal(expect(t, 1, PR_CHILD_FAILED).sys_errno, E2BIG);
    free(big);
}

static void absurd_arguments_are_refused(void **state)
{
    struct scratch *t = *state;
    size_t len = 17u << 20;
    char *huge = malloc(len + 1);
    const char *argv[] = {"true", huge, NULL};
    struct pr_spawn s = {.tag = 1, .argv = argv, .id = t->id};

    memset(huge, 'x', len);
    huge[len] = '\0';
    assert_int_equal(pr_keeper_spawn(t->k, &s, &t->err), PR_E_CONF);
    free(huge);
    spawn_sh(t, 1, "exit 4");
    assert_int_equal(WEXITSTATUS(expect_end(t, 1).wait_status), 4);
}

static void fifty_at_once(void **state)
{
    struct scratch *t = *state;
    int started = 0, ended = 0, all = is_brief() ? 10 : 50;

    for (uint32_t i = 0; i < (uint32_t)all; i++) {
        char script[64], id[80];

        snprintf(script, sizeof(script),
                 "until [ -e $D/go ]; do sleep 0.05; done; exit %u", i);
        snprintf(id, sizeof(id), "%s-%u", t->id, i);
        spawn_sh_id(t, i, script, id);
    }
    while (ended < all) {
        struct pr_child_event ev;

        assert_int_equal(next_event(t, &ev), 1);
        if (ev.kind == PR_CHILD_STARTED) {
            if (++started == all)
                touch(t, "go");
            continue;
        }
        assert_int_equal(ev.kind, PR_CHILD_ENDED);
        assert_int_equal(started, all);
        assert_int_equal(WEXITSTATUS(ev.wait_status), ev.tag);
        assert_int_equal(ev.leftovers, 0);
        ended++;
    }
}

/* More answers than a socket holds, while we do nothing but ask. */
static void asking_without_listening_does_not_lock_up(void **state)
{
    static const char *const argv[] = {"/no/such/program", NULL};
    struct scratch *t = *state;
    uint32_t all = is_brief() ? 350 : 3000; /* 278 fill one */

    for (uint32_t i = 0; i < all; i++) {
        struct pr_spawn s = {
            .tag = i, .argv = argv, .env = argv + 1, .id = "x"};

        assert_int_equal(pr_keeper_spawn(t->k, &s, &t->err), PR_OK);
    }
    for (uint32_t i = 0; i < all; i++)
        expect(t, i, PR_CHILD_FAILED);
}

/* 0: out of memory was reported, 1: it worked. Either side may run out. */
static int attempt(void)
{
    static const char *const argv[] = {"true", NULL};
    struct scratch t = {.id = "torture"};
    struct pr_spawn s = {.tag = 1, .argv = argv, .id = t.id};
    struct pr_child_event ev = {.kind = PR_CHILD_STARTED};
    int rc = pr_keeper_new(NULL, &t.k, &t.err);

    if (rc == PR_OK)
        rc = pr_keeper_spawn(t.k, &s, &t.err);
    while (rc >= 0 && ev.kind == PR_CHILD_STARTED)
        rc = next_event(&t, &ev);
    pr_mem_fail_after(-1);
    pr_keeper_free(t.k);
    if (rc < 0) {
        assert_true(rc == PR_E_NOMEM || rc == PR_E_IO);
        return 0;
    }
    if (ev.kind == PR_CHILD_ENDED) {
        assert_int_equal(ev.wait_status, 0);
        return 1;
    }
    assert_int_equal(ev.sys_errno, ENOMEM);
    return 0;
}

static void running_out_of_memory_is_an_error(void **state)
{
    int failures = 0;

    (void)state;
    for (long n = 0; n < 20; n++) {
        pr_mem_fail_after(n);
        failures += !attempt();
    }
    assert_true(failures > 5);
    assert_int_equal(attempt(), 1);
}

#define KEEPER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        KEEPER_TEST(large_arguments_arrive_whole),
        KEEPER_TEST(more_than_the_kernel_takes_says_so),
        KEEPER_TEST(absurd_arguments_are_refused),
        KEEPER_TEST(fifty_at_once),
        KEEPER_TEST(asking_without_listening_does_not_lock_up),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
