/*
 * Slots on this machine: children are where they belong, cannot leave it, and
 * nothing of the groups is left behind. Uses control groups where they can be
 * had, and says so where not.
 */
#include "launch/slots.h"

#include "test_launch_keeper.h"

#include <sched.h>

static struct pr_slots *slots;

static void make_slots(unsigned n, bool isolate)
{
    struct pr_slots_opts o = {.count = n, .isolate = isolate};
    struct pr_err err;

    assert_int_equal(pr_slots_new(&o, &slots, &err), PR_OK);
    assert_int_equal(pr_slots_count(slots), n);
}

/* The groups that are there, kept while the slots are gone. */
static char groups[8][256];
static int n_groups;

static void keep_groups(void)
{
    n_groups = 0;
    for (unsigned i = 0; i < pr_slots_count(slots); i++)
        for (const char *const *g = pr_slots_get(slots, i)->groups; *g; g++)
            snprintf(groups[n_groups++], sizeof groups[0], "%s", *g);
}

static void expect_no_groups(void)
{
    for (int i = 0; i < n_groups; i++) {
        char *slash = strrchr(groups[i], '/');

        assert_int_equal(access(groups[i], F_OK), -1);
        *slash = '\0'; /* nor the tree they were in */
        assert_int_equal(access(groups[i], F_OK), -1);
    }
}

static int with_slots(void **state)
{
    setup(state);
    make_slots(2, true);
    keep_groups();
    assert_int_equal(pr_keeper_hold(((struct scratch *)*state)->k, slots, NULL),
                     PR_OK);
    return 0;
}

static int without_slots(void **state)
{
    teardown(state);
    pr_slots_free(slots);
    slots = NULL;
    expect_no_groups();
    return 0;
}

static void spawn_in(struct scratch *t, uint32_t tag, unsigned slot,
                     const char *script)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    char log[128];
    struct pr_spawn s = {.tag = tag,
                         .argv = argv,
                         .cwd = t->dir,
                         .log_path = log,
                         .slot = pr_slots_get(slots, slot),
                         .id = t->id};

    snprintf(log, sizeof log, "%s/log%u", t->dir, slot);
    assert_int_equal(pr_keeper_spawn(t->k, &s, &t->err), PR_OK);
}

static const char *log_of(struct scratch *t, unsigned slot)
{
    char log[128];

    snprintf(log, sizeof log, "%s/log%u", t->dir, slot);
    return slurp(log);
}

static void children_are_on_their_cores(void **state)
{
    struct scratch *t = *state;

    for (unsigned i = 0; i < 2; i++) {
        char want[512];
        struct pr_child_event ev;

        spawn_in(t, i, i,
                 "sed -n 's/Cpus_allowed_list:.//p' /proc/self/status;"
                 "echo slot $PRONY_SLOT cores $PRONY_CORES $OMP_NUM_THREADS");
        ev = expect_end(t, i);
        assert_int_equal(ev.wait_status, 0);
        snprintf(want, sizeof want, "%s\nslot %u cores %u %u\n",
                 pr_slots_get(slots, i)->cpus, i,
                 pr_slots_get(slots, i)->n_cores,
                 pr_slots_get(slots, i)->n_cores);
        assert_string_equal(log_of(t, i), want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(children_are_on_their_cores, with_slots,
                                        without_slots),
    };

    (void)unsetenv("OMP_NUM_THREADS");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
