/*
 * Slots in groups that were there before: they are entered, told of, and left
 * as they were. Names from a configuration lead nowhere else.
 */
#include "test_launch_slots.h"

#include "base/mem.h"
#include "launch/slots/cgroup_tree.h"

#include <sys/stat.h>

#define LIMIT "67108864"

static const char *const controllers[] = {"cpuset", "memory"};

static struct pr_arena *arena;
static char name[64], made[4][512];
static int n_made;

static int put(const char *dir, const char *file, const char *text)
{
    char path[640];
    FILE *f;
    int bad;

    snprintf(path, sizeof path, "%s/%s", dir, file);
    f = fopen(path, "r+e");
    if (!f)
        return -1;
    bad = fputs(text, f) < 0;
    return fclose(f) != 0 || bad ? -1 : 0;
}

static void fill(const char *dir, int version, int slot)
{
    char cpu[16];

    snprintf(cpu, sizeof cpu, "%d", slot);
    (void)put(dir, "cpuset.cpus", cpu);
    (void)put(dir, "cpuset.mems", "0");
    (void)put(dir, version == 2 ? "memory.max" : "memory.limit_in_bytes",
              LIMIT);
}

/* As somebody with the right to do so would have made them. */
static int make_named(int count)
{
    for (int c = 0; c < 2; c++) {
        struct pr_cgroup h;

        assert_int_equal(
            pr_cgroup_find_mount("", controllers[c], arena, &h, NULL), PR_OK);
        if (!h.version)
            return 0;
        if (h.version == 2)
            (void)put(h.mount, "cgroup.subtree_control", "+cpuset +memory");
        for (int i = 0; i < count; i++) {
            char *dir = made[n_made];

            snprintf(dir, sizeof made[0], "%s/%s%d", h.mount, name, i);
            if (mkdir(dir, 0755) == 0)
                n_made++;
            else if (errno != EEXIST)
                return 0;
            fill(dir, h.version, i);
        }
    }
    return 1;
}

static int begin(void **state)
{
    setup(state);
    arena = pr_arena_new(4096);
    assert_non_null(arena);
    snprintf(name, sizeof name, "prony-student-%d-", (int)getpid());
    return 0;
}

static int end(void **state)
{
    uint64_t until = now_ms() + DEADLINE_MS;

    teardown(state);
    drop_slots();
    while (n_made > 0) {
        if (rmdir(made[n_made - 1]) == 0)
            n_made--;
        assert_true(now_ms() < until);
    }
    pr_arena_free(arena);
    return 0;
}

static void ask_for(const char *pattern, char *out, size_t bytes)
{
    snprintf(out, bytes, "cpuset,memory:%s{%s}", name, pattern);
}

static void named_groups_are_used_and_stay(void **state)
{
    struct scratch *t = *state;
    char pattern[128];
    struct pr_slots_opts o = {.count = 2, .isolate = true, .group = pattern};
    const struct pr_slot *slot;
    size_t notes;

    ask_for("CUDA_VISIBLE_DEVICES", pattern, sizeof pattern);
    need(sysconf(_SC_NPROCESSORS_ONLN) > 1, "second core");
    need(make_named(2), "control groups of our own");
    make_slots(&o);
    (void)pr_slots_get_warnings(slots, &notes);
    assert_int_equal(notes, 0);
    assert_int_equal(pr_slots_cpu_hold(slots), PR_HOLD_NAMED);
    assert_int_equal(pr_slots_memory_hold(slots), PR_HOLD_NAMED);
    slot = pr_slots_get(slots, 1);
    assert_string_equal(slot->cpus, "1");
    assert_int_equal(slot->memory_bytes, 67108864);
    spawn_in(t, 1, 1, "cat /proc/self/cgroup; nproc; exec tail /dev/zero",
             NULL);
    assert_true(expect_end(t, 1).oom);
    snprintf(pattern, sizeof pattern, "/%s1\n", name);
    assert_non_null(strstr(log_of(t, 1), pattern));
    assert_non_null(strstr(log_of(t, 1), "\n1\n"));
    drop_slots();
    for (int i = 0; i < n_made; i++)
        assert_int_equal(access(made[i], F_OK), 0);
}

/* One of two is there: both get groups of ours. */
static void missing_groups_are_made_up_for(void **state)
{
    char pattern[128];
    struct pr_slots_opts o = {.count = 2, .isolate = true, .group = pattern};
    const struct pr_slots_warning *note;
    size_t notes;

    (void)state;
    need(make_named(1), "control groups of our own");
    ask_for("slot", pattern, sizeof pattern);
    make_slots(&o);
    note = pr_slots_get_warnings(slots, &notes);
    assert_true(notes >= 1);
    assert_non_null(strstr(note[0].what, name));
    assert_non_null(strstr(note[0].what, "No such file"));
    assert_true(note[0].remedy[0] != '\0');
    for (int i = 0; i < n_groups; i++)
        assert_null(strstr(groups[i], name));
}

static void hostile_names_are_refused(void **state)
{
    static const char *const bad[] = {
        "cpuset:../../etc",
        "memory:a/../b",
        "..",
        "cpuset:a b",
        "cpuset:a\nb",
        "cpuset:{HOME}",
        "cpuset:{",
        ":x",
        "cpuset:",
        "CPUSET:x",
        "cpuset,/tmp:x",
        "cpuset:$(x)",
        "cpuset:{PRONY_SLOT",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pr_slots_opts o = {.count = 1, .isolate = true, .group = bad[i]};
        struct pr_err err = {0};

        assert_int_equal(pr_slots_new(&o, &slots, &err), PR_E_CONF);
        assert_true(err.msg[0] && err.hint[0]);
    }
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(named_groups_are_used_and_stay),
        TEST(missing_groups_are_made_up_for),
        TEST(hostile_names_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
