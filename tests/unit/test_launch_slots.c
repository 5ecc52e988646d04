/*
 * Slots on this machine: children are where they belong and can neither use
 * their neighbour's cores nor its memory.
 */
#include "machine/cpuset.h"

#include "test_launch_slots.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define THREADS 4
#define GREEDY_MS 300

/* ---- what runs in the slots */

static void *burn(void *seen)
{
    uint64_t end = now_ms() + GREEDY_MS;

    while (now_ms() < end)
        for (int i = 0; i < 1000; i++)
            pr_cpuset_add(seen, (unsigned)sched_getcpu());
    return NULL;
}

/* Tries to get away to these CPUs, then keeps four threads busy and says where
 * they were and how much of a CPU they had. */
static int greedy(const char *others)
{
    static struct pr_cpuset seen[THREADS];
    pthread_t thread[THREADS];
    struct pr_cpuset to;
    char list[256];
    bool away;

    if (!pr_cpuset_parse(others, &to))
        return 1;
    away = sched_setaffinity(0, sizeof to.word, (cpu_set_t *)to.word) == 0;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, burn, &seen[i]) != 0)
            return 2;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        pr_cpuset_join(&seen[0], &seen[i]);
    }
    pr_cpuset_print(&seen[0], list, sizeof list);
    printf("%s %s\n", away ? "away" : "kept", list);
    return 0;
}

/* Fills memory until it is stopped. */
static int eat(void)
{
    for (;;) {
        char *p = mmap(NULL, MIB, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (p == MAP_FAILED)
            return 1;
        memset(p, 1, MIB);
    }
}

static int body(void *ctx, const char *arg)
{
    (void)ctx;
    return strcmp(arg, "eat") == 0 ? eat() : greedy(arg);
}

/* ---- around them */

static int begin(void **state)
{
    static struct scratch t;

    scratch_open(&t);
    make_two();
    assert_int_equal(
        pr_keeper_new(&(struct pr_keeper_calls){.body = body}, &t.k, &t.err),
        PR_OK);
    hold(t.k);
    *state = &t;
    return 0;
}

static int end(void **state)
{
    teardown(state);
    drop_slots();
    assert_int_equal(any_group(), 0);
    return 0;
}

static void children_are_told_where_they_are(void **state)
{
    struct scratch *t = *state;

    for (unsigned i = 0; i < 2; i++) {
        const struct pr_slot *slot = pr_slots_get(slots, i);
        char want[512];

        spawn_in(t, i, i,
                 "sed -n 's/Cpus_allowed_list:.//p' /proc/self/status;"
                 "echo slot $PRONY_SLOT cores $PRONY_CORES $OMP_NUM_THREADS;"
                 /* a session of its own: the sixth field */
                 "read pid name state parent group session rest </proc/$$/stat;"
                 "test $session = $$ || echo a session with others",
                 NULL);
        assert_int_equal(expect_end(t, i).wait_status, 0);
        snprintf(want, sizeof want, "%s\nslot %u cores %u %u\n", slot->cpus, i,
                 slot->n_cores, slot->n_cores);
        assert_string_equal(log_of(t, i), want);
    }
}

static void slots_are_alike_and_apart(void **state)
{
    const struct pr_slot *a = pr_slots_get(slots, 0);
    const struct pr_slot *b = pr_slots_get(slots, 1);
    struct pr_cpuset x, y;

    (void)state;
    need(sysconf(_SC_NPROCESSORS_ONLN) > 1, "second core");
    assert_true(pr_cpuset_parse(a->cpus, &x) && pr_cpuset_parse(b->cpus, &y));
    assert_false(pr_cpuset_overlaps(&x, &y));
    assert_int_equal(a->n_cores, b->n_cores);
    assert_int_equal(a->memory_bytes, b->memory_bytes);
    if (a->memory_bytes)
        assert_int_equal(2 * a->memory_bytes + pr_slots_reserve(slots),
                         SHARED_BYTES);
}

static void greedy_child_stays_on_its_cores(void **state)
{
    struct scratch *t = *state;
    const struct pr_slot *slot = pr_slots_get(slots, 0);
    struct pr_cpuset mine, seen;
    struct pr_child_event ev;
    char word[16], list[256];

    need(sysconf(_SC_NPROCESSORS_ONLN) > 1, "second core");
    need(pr_slots_cpu_hold(slots) >= PR_HOLD_CGROUP1,
         "control groups of our own");
    spawn_in(t, 1, 0, NULL, pr_slots_get(slots, 1)->cpus);
    ev = expect_end(t, 1);
    assert_int_equal(ev.wait_status, 0);
    assert_int_equal(sscanf(log_of(t, 0), "%15s %255s", word, list), 2);
    assert_string_equal(word, "kept");
    assert_true(pr_cpuset_parse(slot->cpus, &mine));
    assert_true(pr_cpuset_parse(list, &seen));
    pr_cpuset_subtract(&seen, &mine);
    assert_int_equal(pr_cpuset_count(&seen), 0);
    /* four threads, and no more time than its CPUs have */
    assert_true(ev.cpu_user_ns + ev.cpu_system_ns <=
                ev.elapsed_ns / 100 * 105 * slot->n_cpus);
}

static void a_child_alone_runs_out_of_its_memory(void **state)
{
    struct scratch *t = *state;
    struct pr_child_event ev;

    need(pr_slots_memory_hold(slots) != PR_HOLD_NONE,
         "control groups of our own");
    spawn_in(t, 1, 1,
             "echo here; while ! test -e go; do sleep 0.01; done; "
             "kill -KILL $$",
             NULL);
    (void)expect(t, 1, PR_CHILD_STARTED);
    spawn_in(t, 0, 0, NULL, "eat");
    ev = expect_end(t, 0);
    assert_true(WIFSIGNALED(ev.wait_status));
    assert_int_equal(WTERMSIG(ev.wait_status), SIGKILL);
    assert_true(ev.oom);
    /* what it shares with the keeper is not its own */
    assert_true(ev.max_rss_bytes <=
                pr_slots_get(slots, 0)->memory_bytes + 64 * MIB);
    assert_true(ev.max_rss_bytes > pr_slots_get(slots, 0)->memory_bytes / 2);
    /* The neighbour noticed nothing, and its death is its own. */
    assert_true(alive(t->id) >= 1);
    assert_string_equal(log_of(t, 1), "here\n");
    touch(t, "go");
    ev = expect(t, 1, PR_CHILD_ENDED);
    assert_int_equal(WTERMSIG(ev.wait_status), SIGKILL);
    assert_false(ev.oom);
}

/* A worker of its own was killed: it coped, or failed of it. The neighbour's
 * death a moment later has nothing to do with that. */
static void whose_worker_it_was_is_known(void **state)
{
    struct scratch *t = *state;
    struct pr_child_event ev;

    need(pr_slots_memory_hold(slots) != PR_HOLD_NONE,
         "control groups of our own");
    spawn_in(t, 1, 1, "while ! test -e go; do sleep 0.01; done; kill -KILL $$",
             NULL);
    (void)expect(t, 1, PR_CHILD_STARTED);
    spawn_in(t, 0, 0, "tail /dev/zero; exit 0", NULL);
    ev = expect_end(t, 0);
    assert_int_equal(ev.wait_status, 0);
    assert_false(ev.oom);
    touch(t, "go");
    ev = expect(t, 1, PR_CHILD_ENDED);
    assert_int_equal(WTERMSIG(ev.wait_status), SIGKILL);
    assert_false(ev.oom);
    spawn_in(t, 2, 0, "tail /dev/zero; exit 1", NULL);
    ev = expect_end(t, 2);
    assert_int_equal(WEXITSTATUS(ev.wait_status), 1);
    assert_true(ev.oom);
}

static void the_dead_by_their_own_hand_are_no_oom(void **state)
{
    struct scratch *t = *state;

    need(pr_slots_memory_hold(slots) != PR_HOLD_NONE,
         "control groups of our own");
    spawn_in(t, 0, 0, NULL, "eat");
    assert_true(expect_end(t, 0).oom);
    spawn_in(t, 1, 0, "kill -KILL $$", NULL); /* in the same slot */
    assert_false(expect_end(t, 1).oom);
    spawn_in(t, 2, 1, "kill -KILL $$", NULL);
    assert_false(expect_end(t, 2).oom);
}

/* What the user says about threads is left as it is, but for devices. */
static void environment_is_the_users_where_it_may_be(void **state)
{
    static const struct pr_slot_device devices[] = {{.id = "5"}, {.id = "7"}};
    static const char *const env[] = {"OMP_NUM_THREADS=3", "ABC=1",
                                      "CUDA_VISIBLE_DEVICES=0,1", NULL};
    static const char *const argv[] = {"/usr/bin/env", NULL};
    struct pr_slots_opts o = {.count = 2, .devices = devices};
    struct scratch *t = *state;
    struct pr_spawn s = {
        .tag = 1, .argv = argv, .env = env, .log_path = t->log, .id = "x"};

    drop_slots();
    make_slots(&o);
    assert_int_equal(n_groups, 0);
    assert_null(pr_slots_get(slots, 0)->cpus);
    s.slot = pr_slots_get(slots, 1);
    assert_int_equal(pr_keeper_spawn(t->k, &s, &t->err), PR_OK);
    assert_int_equal(expect_end(t, 1).wait_status, 0);
    assert_string_equal(slurp(t->log), "PRONY_EXPERIMENT=x\nPRONY_SLOT=1\n"
                                       "CUDA_VISIBLE_DEVICES=7\n"
                                       "ROCR_VISIBLE_DEVICES=7\n"
                                       "OMP_NUM_THREADS=3\nABC=1\n"
                                       "CUDA_DEVICE_ORDER=PCI_BUS_ID\n");
}

static void a_slot_that_vanished_is_told(void **state)
{
    static const char *const nowhere[] = {"/no/such/group", NULL};
    struct scratch *t = *state;
    struct pr_slot gone = *pr_slots_get(slots, 0);
    struct pr_spawn s = {.tag = 1, .body_arg = "eat", .slot = &gone, .id = "x"};
    struct pr_child_event ev;

    gone.groups = nowhere;
    assert_int_equal(pr_keeper_spawn(t->k, &s, &t->err), PR_OK);
    ev = expect(t, 1, PR_CHILD_FAILED);
    assert_string_equal(ev.what, "slot");
    assert_int_equal(ev.sys_errno, ENOENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(slots_are_alike_and_apart),
        TEST(children_are_told_where_they_are),
        TEST(greedy_child_stays_on_its_cores),
        TEST(a_child_alone_runs_out_of_its_memory),
        TEST(whose_worker_it_was_is_known),
        TEST(the_dead_by_their_own_hand_are_no_oom),
        TEST(environment_is_the_users_where_it_may_be),
        TEST(a_slot_that_vanished_is_told),
    };

    (void)unsetenv("OMP_NUM_THREADS");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
