/*
 * What the tests of slots share: two slots on this machine with a keeper that
 * starts children in them, and seeing to it that no group is left behind.
 * $PRONY_TEST_HOLD says how CPUs and memory must be held where that is known
 * ("cgroup v2, cgroup v2"); else what cannot be had here is skipped.
 */
#ifndef TESTS_UNIT_TEST_LAUNCH_SLOTS_H
#define TESTS_UNIT_TEST_LAUNCH_SLOTS_H

#include "launch/slots/slots.h"

#include "skip.h"
#include "test_launch_keeper.h"

#define MIB (UINT64_C(1) << 20)

/* Little enough to be filled in a moment. */
#define SHARED_BYTES (256 * MIB)

static struct pr_slots *slots;

/* The groups that were there, kept when the slots are gone. */
static char groups[8][512];
static int n_groups;

static inline void keep_groups(void)
{
    n_groups = 0;
    for (unsigned i = 0; i < pr_slots_count(slots); i++)
        for (const char *const *g = pr_slots_get(slots, i)->groups; *g; g++)
            snprintf(groups[n_groups++], sizeof groups[0], "%s", *g);
}

/* Neither the groups nor the trees they were in. */
static inline int any_group(void)
{
    int n = 0;

    for (int i = 0; i < n_groups; i++) {
        char tree[512];

        snprintf(tree, sizeof tree, "%s", groups[i]);
        *strrchr(tree, '/') = '\0';
        n += access(groups[i], F_OK) == 0;
        n += access(tree, F_OK) == 0;
    }
    return n;
}

static inline void wait_no_group(void)
{
    uint64_t end = now_ms() + DEADLINE_MS;

    while (any_group()) {
        assert_true(now_ms() < end);
        poll(NULL, 0, 5);
    }
}

static inline void check_hold(void)
{
    const char *want = getenv("PRONY_TEST_HOLD");
    char got[64];

    snprintf(got, sizeof got, "%s, %s",
             pr_slots_hold_name(pr_slots_cpu_hold(slots)),
             pr_slots_hold_name(pr_slots_memory_hold(slots)));
    if (want)
        assert_string_equal(got, want);
}

static inline void make_slots(const struct pr_slots_opts *o)
{
    struct pr_err err;

    assert_int_equal(pr_slots_new(o, &slots, &err), PR_OK);
    keep_groups();
}

static inline void make_two(void)
{
    struct pr_slots_opts o = {
        .count = 2, .isolate = true, .memory_bytes = SHARED_BYTES};

    make_slots(&o);
    check_hold();
}

static inline void hold(struct pr_keeper *k)
{
    assert_int_equal(pr_keeper_hold_cgroups(k, slots, NULL), PR_OK);
}

static inline void drop_slots(void)
{
    pr_slots_free(slots);
    slots = NULL;
}

static inline const char *log_of(struct scratch *t, unsigned slot)
{
    char log[128];

    snprintf(log, sizeof log, "%s/log%u", t->dir, slot);
    return slurp(log);
}

/* script NULL: the body, with this argument. */
static inline void spawn_in(struct scratch *t, uint32_t tag, unsigned slot,
                            const char *script, const char *arg)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    char log[128];
    struct pr_spawn s = {.tag = tag,
                         .argv = script ? argv : NULL,
                         .body_arg = arg,
                         .cwd = t->dir,
                         .log_path = log,
                         .slot = pr_slots_get(slots, slot),
                         .id = t->id};

    snprintf(log, sizeof log, "%s/log%u", t->dir, slot);
    assert_int_equal(pr_keeper_spawn(t->k, &s, &t->err), PR_OK);
}

static inline void need(int there, const char *what)
{
    if (!there)
        skip_because("no %s here; %s", what,
                     strstr(what, "core") ? "run it on two cores"
                                          : "run it as root where "
                                            "/sys/fs/cgroup can be written");
}

#endif
