/*
 * Where slots' groups are made and what is written to them, on made-up
 * machines: versions 1 and 2, both at once, containers, delegated groups,
 * limits above us, too few controllers. What the kernel says to it is tried for
 * real elsewhere.
 */
#include "launch/slots/slots.h"

#include "launch/slots/cgroup_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_machine.h"
#include "torture.h"

#define V1_CPUSET "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup c rw,cpuset\n"
#define V1_MEMORY "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup c rw,memory\n"
#define V2 "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n"
#define V2_BESIDE "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n"
#define CG "/sys/fs/cgroup"
#define GIB (UINT64_C(1) << 30)
#define MIB (UINT64_C(1) << 20)

static const struct machine server = {.nodes = 2, .cores = 4, .threads = 2};

static struct pr_slots *slots;

static int leave_slots(void **state)
{
    pr_slots_free(slots);
    slots = NULL;
    return fake_leave(state);
}

static void system_of(const char *mounts, const char *own)
{
    make_machine(&server);
    fake_put("/proc/self/mountinfo", mounts);
    fake_put("/proc/self/cgroup", own);
}

static void make_slots(unsigned n)
{
    struct pr_slots_opts o = {.count = n, .isolate = true, .root = fake_root};
    struct pr_err err;

    if (pr_slots_new(&o, &slots, &err) != PR_OK)
        fail_msg("%s: %s", err.where, err.msg);
}

/* The group of a slot that is below this folder, or NULL. */
static const char *group_in(unsigned slot, const char *folder)
{
    const char *const *g = pr_slots_get(slots, slot)->groups;
    char want[256];

    snprintf(want, sizeof want, "%s%s/prony-", fake_root, folder);
    for (; *g; g++)
        if (strncmp(*g, want, strlen(want)) == 0)
            return *g;
    return NULL;
}

static void expect_file(const char *dir, const char *file, const char *want)
{
    char path[1024], got[256] = "";
    FILE *f;

    assert_non_null(dir);
    snprintf(path, sizeof path, "%s/%s", dir, file);
    f = fopen(path, "re");
    assert_non_null(f);
    assert_true(fgets(got, sizeof got, f) || !*want);
    fclose(f);
    assert_string_equal(got, want);
}

static void expect_number(const char *dir, const char *file, uint64_t n)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    expect_file(dir, file, text);
}

static void expect_hold(enum pr_slot_hold cpu, enum pr_slot_hold memory,
                        size_t notes)
{
    size_t n;

    (void)pr_slots_get_warnings(slots, &n);
    assert_int_equal(pr_slots_cpu_hold(slots), cpu);
    assert_int_equal(pr_slots_memory_hold(slots), memory);
    assert_int_equal(n, notes);
}

/* 64 GiB without the 2 that the harness keeps. */
#define SHARE (31 * GIB)

static void version_1(void **state)
{
    const char *dir;

    (void)state;
    system_of(V1_CPUSET V1_MEMORY, "3:cpuset:/\n4:memory:/job/7\n0::/\n");
    fake_put(CG "/cpuset/tasks", "");
    fake_put(CG "/memory/job/7/tasks", "");
    make_slots(2);
    expect_hold(PR_HOLD_CGROUP1, PR_HOLD_CGROUP1, 0);
    dir = group_in(1, CG "/cpuset");
    expect_file(dir, "cpuset.cpus", "4-7,12-15");
    expect_file(dir, "cpuset.mems", "1");
    dir = group_in(1, CG "/memory/job/7"); /* limits on us hold for them */
    expect_number(dir, "memory.limit_in_bytes", SHARE);
    expect_number(dir, "memory.memsw.limit_in_bytes", SHARE);
    assert_string_equal(pr_slots_get(slots, 1)->memory_group, dir);
    assert_int_equal(pr_slots_get(slots, 1)->memory_bytes, SHARE);
    assert_int_equal(pr_slots_reserve(slots), 2 * GIB);
}

/* A group that is named may limit nothing: that is no limit of exabytes. */
static void named_ones_may_not_limit(void **state)
{
    struct pr_slots_opts o = {.count = 2,
                              .isolate = true,
                              .root = fake_root,
                              .group = "cpuset,memory:s{slot}"};

    (void)state;
    system_of(V1_CPUSET V1_MEMORY, "3:cpuset:/\n4:memory:/\n0::/\n");
    fake_put(CG "/cpuset/s0/cpuset.cpus", "0-3\n");
    fake_put(CG "/cpuset/s1/cpuset.cpus", "4-7\n");
    fake_put(CG "/memory/s0/memory.limit_in_bytes", "9223372036854771712\n");
    fake_put(CG "/memory/s1/memory.limit_in_bytes", "1073741824\n");
    assert_int_equal(pr_slots_new(&o, &slots, NULL), PR_OK);
    expect_hold(PR_HOLD_NAMED, PR_HOLD_NAMED, 0);
    assert_int_equal(pr_slots_get(slots, 0)->memory_bytes, 0);
    assert_int_equal(pr_slots_get(slots, 1)->memory_bytes, GIB);
}

static void version_2_at_the_root(void **state)
{
    const char *dir;

    (void)state;
    system_of(V2, "0::/\n");
    fake_put(CG "/cgroup.controllers", "cpuset cpu io memory pids\n");
    fake_put(CG "/cgroup.subtree_control", "cpu memory\n");
    make_slots(2);
    expect_hold(PR_HOLD_CGROUP2, PR_HOLD_CGROUP2, 0);
    dir = group_in(0, CG);
    assert_null(pr_slots_get(slots, 0)->groups[1]); /* one for both */
    expect_file(dir, "cpuset.cpus", "0-3,8-11");
    expect_file(dir, "cpuset.mems", "0");
    expect_number(dir, "memory.max", SHARE);
    expect_file(dir, "memory.swap.max", "0");
    expect_file(dir, "../cgroup.subtree_control", "+cpuset +memory");
    expect_file(dir, "../../cgroup.subtree_control", "+cpuset +memory");
}

/* Only we are in the group: we move. */
static void version_2_delegated(void **state)
{
    char us[16];
    const char *dir;

    (void)state;
    system_of(V2, "0::/user.slice/run.scope\n");
    snprintf(us, sizeof us, "%d\n", (int)getpid());
    fake_put(CG "/user.slice/run.scope/cgroup.procs", us);
    fake_put(CG "/user.slice/run.scope/cgroup.type", "domain\n");
    fake_put(CG "/user.slice/run.scope/cgroup.controllers", "cpuset memory\n");
    fake_put(CG "/user.slice/run.scope/cgroup.subtree_control", "");
    make_slots(2);
    expect_hold(PR_HOLD_CGROUP2, PR_HOLD_CGROUP2, 0);
    dir = group_in(1, CG "/user.slice/run.scope");
    expect_number(dir, "../harness/cgroup.procs", (uint64_t)getpid());
    expect_file(dir, "../../cgroup.subtree_control", "+cpuset +memory");
}

/* Only told: nobody moves, nothing is enabled, made or removed. */
static struct pr_slots_opts looking(void)
{
    return (struct pr_slots_opts){
        .count = 2, .isolate = true, .root = fake_root, .look = true};
}

static void put_delegated(const char *procs)
{
    system_of(V2, "0::/user.slice/run.scope\n");
    fake_put(CG "/user.slice/run.scope/cgroup.procs", procs);
    fake_put(CG "/user.slice/run.scope/cgroup.type", "domain\n");
    fake_put(CG "/user.slice/run.scope/cgroup.controllers", "cpuset memory\n");
    fake_put(CG "/user.slice/run.scope/cgroup.subtree_control", "");
}

static int folders_in(const char *path)
{
    char cmd[512];
    int n = -1;
    FILE *f;

    snprintf(cmd, sizeof cmd, "find '%s%s' -mindepth 1 -type d | wc -l",
             fake_root, path);
    f = popen(cmd, "re");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%d", &n), 1);
    pclose(f);
    return n;
}

static void looking_leaves_all_as_it_is(void **state)
{
    struct pr_slots_opts o = looking();
    char own[256], gone[256], name[PR_CGROUP_NAME], us[16];

    (void)state;
    snprintf(us, sizeof us, "%d\n", (int)getpid());
    put_delegated(us);
    snprintf(own, sizeof own, "%s" CG "/user.slice/run.scope", fake_root);
    /* the tree of a run that is gone: it was started at another time */
    assert_true(pr_cgroup_make_name(name, 0));
    *strrchr(name, '-') = '\0';
    *strrchr(name, '-') = '\0';
    snprintf(gone, sizeof gone,
             CG "/user.slice/run.scope/%s-1-0/slot0/cgroup.procs", name);
    fake_put(gone, "");
    assert_int_equal(pr_slots_new(&o, &slots, NULL), PR_OK);
    expect_hold(PR_HOLD_CGROUP2, PR_HOLD_CGROUP2, 0);
    assert_int_equal(pr_slots_get(slots, 1)->memory_bytes, SHARE);
    assert_null(pr_slots_get(slots, 0)->groups[0]);
    expect_file(own, "cgroup.subtree_control", "");
    assert_int_equal(folders_in(CG "/user.slice/run.scope"), 2);
}

/* Nothing can be had below us, nor beside us. */
static void looking_tells_why_not(void **state)
{
    struct pr_slots_opts o = looking();
    const struct pr_slots_warning *note;
    size_t n;

    (void)state;
    put_delegated("0\n");
    assert_int_equal(pr_slots_new(&o, &slots, NULL), PR_OK);
    expect_hold(PR_HOLD_AFFINITY, PR_HOLD_NONE, 2);
    note = pr_slots_get_warnings(slots, &n);
    assert_non_null(strstr(note[0].what, "not ours"));
    assert_int_equal(pr_slots_get(slots, 0)->memory_bytes, 0);
}

static void looking_finds_the_group_above(void **state)
{
    struct pr_slots_opts o = looking();

    (void)state;
    put_delegated("0\n");
    fake_put(CG "/user.slice/cgroup.procs", "");
    fake_put(CG "/user.slice/cgroup.controllers", "cpuset memory\n");
    fake_put(CG "/user.slice/cgroup.subtree_control", "cpuset memory\n");
    assert_int_equal(pr_slots_new(&o, &slots, NULL), PR_OK);
    expect_hold(PR_HOLD_CGROUP2, PR_HOLD_CGROUP2, 0);
    assert_int_equal(folders_in(CG "/user.slice"), 1);
}

/* Somebody of another namespace is in it: nothing there is touched. */
static void version_2_with_strangers(void **state)
{
    (void)state;
    system_of(V2, "0::/app.slice/run.scope\n");
    fake_put(CG "/app.slice/cgroup.subtree_control", "cpuset memory\n");
    fake_put(CG "/app.slice/run.scope/cgroup.procs", "0\n");
    fake_put(CG "/app.slice/run.scope/cgroup.type", "domain\n");
    fake_put(CG "/app.slice/run.scope/cgroup.controllers", "cpuset memory\n");
    fake_put(CG "/app.slice/run.scope/cgroup.subtree_control", "");
    make_slots(2);
    expect_hold(PR_HOLD_CGROUP2, PR_HOLD_CGROUP2, 0);
    assert_non_null(group_in(0, CG "/app.slice"));
    assert_null(group_in(0, CG "/app.slice/run.scope"));
}

/* What systemd gives a user by default. */
static void version_2_without_cpuset(void **state)
{
    const struct pr_slots_warning *note;
    size_t n;

    (void)state;
    system_of(V2, "0::/\n");
    fake_put(CG "/cgroup.controllers", "cpu memory pids\n");
    fake_put(CG "/cgroup.subtree_control", "");
    make_slots(2);
    expect_hold(PR_HOLD_AFFINITY, PR_HOLD_CGROUP2, 1);
    note = pr_slots_get_warnings(slots, &n);
    assert_non_null(strstr(note->what, "affinity alone"));
    assert_non_null(strstr(note->remedy, "Delegate=cpu cpuset"));
    expect_file(group_in(0, CG), "../cgroup.subtree_control", "+memory");
    assert_string_equal(pr_slots_get(slots, 1)->cpus, "4-7,12-15");
}

static void both_versions_at_once(void **state)
{
    (void)state;
    system_of(V1_CPUSET V2_BESIDE, "3:cpuset:/\n0::/\n");
    fake_put(CG "/cpuset/tasks", "");
    fake_put(CG "/unified/cgroup.controllers", "memory\n");
    make_slots(2);
    expect_hold(PR_HOLD_CGROUP1, PR_HOLD_CGROUP2, 0);
    assert_non_null(group_in(0, CG "/cpuset"));
    assert_non_null(group_in(0, CG "/unified"));
}

static void nothing_is_mounted(void **state)
{
    const struct pr_slots_warning *note;
    size_t n;

    (void)state;
    system_of("25 1 8:1 / / rw - ext4 /dev/sda1 rw\n", "");
    make_slots(2);
    expect_hold(PR_HOLD_AFFINITY, PR_HOLD_NONE, 2);
    note = pr_slots_get_warnings(slots, &n);
    assert_non_null(strstr(note[1].what, "memory is not limited"));
    assert_int_equal(pr_slots_get(slots, 0)->memory_bytes, 0);
    assert_null(pr_slots_get(slots, 0)->memory_group);
    assert_null(pr_slots_get(slots, 0)->groups[0]);
}

/* The mount shows the container's part alone, at a path with a blank. */
static void containers_see_a_part(void **state)
{
    static const struct {
        const char *own, *folder;
    } rows[] = {
        {"4:memory:/docker/ab/x\n", "/my groups/x"},
        {"4:memory:/docker/ab\n", "/my groups"},
        {"4:memory:/docker/abc\n", "/my groups"}, /* another one */
        {"4:memory:/\n", "/my groups"},
        {"4:memory:/../../away\n", "/my groups"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        system_of("35 31 0:32 /docker/ab /my\\040groups rw - cgroup c memory\n",
                  rows[i].own);
        fake_put("/my groups/x/tasks", "");
        make_slots(1);
        assert_int_equal(pr_slots_memory_hold(slots), PR_HOLD_CGROUP1);
        assert_non_null(group_in(0, rows[i].folder));
        pr_slots_free(slots);
        slots = NULL;
    }
}

static void limits_above_us_count(void **state)
{
    (void)state;
    system_of(V1_CPUSET V1_MEMORY, "3:cpuset:/\n4:memory:/a/b/c\n");
    fake_put(CG "/cpuset/tasks", "");
    fake_put(CG "/memory/memory.limit_in_bytes", "9223372036854771712\n");
    fake_put(CG "/memory/a/memory.limit_in_bytes", "4294967296\n");
    fake_put(CG "/memory/a/b/memory.limit_in_bytes", "8589934592\n");
    fake_put(CG "/memory/a/b/c/memory.limit_in_bytes", "9223372036854771712");
    make_slots(3);
    /* 4 GiB, of which a 32nd and what does not divide is kept */
    assert_int_equal(pr_slots_get(slots, 2)->memory_bytes, 1322 * MIB);
    assert_int_equal(pr_slots_reserve(slots), 4096 * MIB - 3 * 1322 * MIB);
}

static void a_quota_of_time_is_noted(void **state)
{
    static const struct {
        const char *mounts, *own, *files[4];
        size_t notes;
    } rows[] = {
        {V2, "0::/c\n", {CG "/c/cpu.max", "200000 100000"}, 1},
        {V2, "0::/c\n", {CG "/c/cpu.max", "max 100000"}, 0},
        {V2, "0::/c\n", {CG "/c/cpu.max", "1600000 100000"}, 0},
        {"3 2 0:1 / /cpu rw - cgroup c rw,cpu,cpuacct\n",
         "2:cpu,cpuacct:/c\n",
         {"/cpu/c/cpu.cfs_quota_us", "50000", "/cpu/c/cpu.cfs_period_us",
          "100000"},
         1},
        {"3 2 0:1 / /cpu rw - cgroup c rw,cpu,cpuacct\n",
         "2:cpu,cpuacct:/c\n",
         {"/cpu/c/cpu.cfs_quota_us", "-1", "/cpu/c/cpu.cfs_period_us",
          "100000"},
         0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pr_slots_warning *note;
        size_t n, quotas = 0;

        system_of(rows[i].mounts, rows[i].own);
        for (int k = 0; k < 4 && rows[i].files[k]; k += 2)
            fake_put(rows[i].files[k], rows[i].files[k + 1]);
        make_slots(2);
        note = pr_slots_get_warnings(slots, &n);
        for (size_t k = 0; k < n; k++)
            quotas += strstr(note[k].what, "quota") != NULL;
        assert_int_equal(quotas, rows[i].notes);
        assert_int_equal(leave_slots(state), 0);
        assert_int_equal(fake_enter(state), 0);
    }
}

/* A slot across nodes, or more memory than a node has: any node will do. */
static void nodes_are_bound_where_they_suffice(void **state)
{
    static const struct machine uneven = {.nodes = 2, .cores = 3, .threads = 1};

    (void)state;
    system_of(V1_CPUSET, "3:cpuset:/\n");
    make_machine(&uneven);
    fake_put(CG "/cpuset/tasks", "");
    make_slots(3);
    expect_file(group_in(0, CG "/cpuset"), "cpuset.mems", "0-1");
}

static void too_little_memory_is_not_shared(void **state)
{
    const struct pr_slots_warning *note;
    size_t n;

    (void)state;
    system_of(V1_CPUSET V1_MEMORY, "3:cpuset:/\n4:memory:/\n");
    fake_put(CG "/cpuset/tasks", "");
    fake_put(CG "/memory/memory.limit_in_bytes", "100000000\n");
    make_slots(2);
    expect_hold(PR_HOLD_CGROUP1, PR_HOLD_NONE, 1);
    note = pr_slots_get_warnings(slots, &n);
    assert_non_null(strstr(note->what, "too little memory"));
}

static int attempt(void)
{
    struct pr_slots_opts o = {.count = 2, .isolate = true, .root = fake_root};
    struct pr_slots *s = NULL;
    struct pr_err err;
    int rc = pr_slots_new(&o, &s, &err);

    if (rc == PR_OK)
        pr_slots_free(s);
    return rc;
}

static void running_out_of_memory_is_an_error(void **state)
{
    (void)state;
    version_2_delegated(state);
    pr_slots_free(slots);
    slots = NULL;
    torture(attempt);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, fake_enter, leave_slots)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(version_1),
        TEST(named_ones_may_not_limit),
        TEST(version_2_at_the_root),
        TEST(version_2_delegated),
        TEST(looking_leaves_all_as_it_is),
        TEST(looking_tells_why_not),
        TEST(looking_finds_the_group_above),
        TEST(version_2_with_strangers),
        TEST(version_2_without_cpuset),
        TEST(both_versions_at_once),
        TEST(nothing_is_mounted),
        TEST(containers_see_a_part),
        TEST(limits_above_us_count),
        TEST(a_quota_of_time_is_noted),
        TEST(nodes_are_bound_where_they_suffice),
        TEST(too_little_memory_is_not_shared),
        TEST(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
