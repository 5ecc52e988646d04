/*
 * What limits above us leave, on made-up machines: the tightest of all groups
 * we are in, less what is used there.
 */
#include "machine/cgroup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fake_machine.h"
#include "torture.h"

#define MIB (UINT64_C(1) << 20)
#define V1 "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup c rw,memory\n"
#define V2 "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n"
#define CG "/sys/fs/cgroup"

static void machine_with(const char *mounts, const char *own)
{
    fake_put("/proc/meminfo", "MemTotal: 9999 kB\nMemAvailable:  8192 kB\n");
    fake_put("/proc/self/mountinfo", mounts);
    fake_put("/proc/self/cgroup", own);
}

static void nothing_but_the_machine(void **state)
{
    (void)state;
    assert_int_equal(pr_memory_remaining(fake_root), UINT64_MAX);
    machine_with("", "");
    assert_int_equal(pr_memory_remaining(fake_root), 8 * MIB);
}

/* The limit of a slot is below the root, where the root has none. */
static void a_slot_has_the_last_word(void **state)
{
    (void)state;
    machine_with(V2, "0::/prony-1/slot0\n");
    fake_put(CG "/prony-1/memory.max", "max\n");
    fake_put(CG "/prony-1/slot0/memory.max", "4194304\n");
    assert_int_equal(pr_memory_remaining(fake_root), 4 * MIB);
    fake_put(CG "/prony-1/slot0/memory.current", "3145728\n");
    assert_int_equal(pr_memory_remaining(fake_root), 1 * MIB);
    /* Two MiB of page cache, of which one is in memory for good. */
    fake_put(CG "/prony-1/slot0/memory.stat",
             "anon 1\nfile_mapped 7\nfile 2097152\nshmem 1048576\n");
    assert_int_equal(pr_memory_remaining(fake_root), 2 * MIB);
    fake_put(CG "/prony-1/slot0/memory.max", "max\n");
    assert_int_equal(pr_memory_remaining(fake_root), 8 * MIB);
}

static void so_has_a_group_above(void **state)
{
    (void)state;
    machine_with(V2, "0::/a/b\n");
    fake_put(CG "/a/b/memory.max", "6291456\n");
    fake_put(CG "/a/memory.max", "7340032\n");
    fake_put(CG "/a/memory.current", "9999999\n"); /* a limit set later */
    assert_int_equal(pr_memory_remaining(fake_root), 0);
}

static void version_1_counts_groups_below(void **state)
{
    (void)state;
    machine_with(V1, "4:memory:/prony-1/slot1\n");
    fake_put(CG "/memory/memory.limit_in_bytes", "9223372036854771712\n");
    fake_put(CG "/memory/prony-1/slot1/memory.limit_in_bytes", "5242880\n");
    fake_put(CG "/memory/prony-1/slot1/memory.usage_in_bytes", "4194304\n");
    fake_put(CG "/memory/prony-1/slot1/memory.stat",
             "cache 0\ntotal_cache 3145728\ntotal_shmem 0\n");
    assert_int_equal(pr_memory_remaining(fake_root), 4 * MIB);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fake_enter, fake_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_but_the_machine),
        TEST(a_slot_has_the_last_word),
        TEST(so_has_a_group_above),
        TEST(version_1_counts_groups_below),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
