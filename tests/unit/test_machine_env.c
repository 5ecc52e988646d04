/*
 * The environment of a run, captured from made-up machines below a temporary
 * root, and from the real one.
 */
#include "machine/describe/env.h"

#include "torture.h"

#include "made_up_root.h"

#include <unistd.h>

/* Four threads a socket, two to a core, numbered as Linux does. */
static void put_cpuinfo(void)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 16);

    for (int i = 0; i < 8; i++)
        pr_buf_printf(&b,
                      "processor\t: %d\nvendor_id\t: GenuineIntel\n"
                      "model name\t: Xeon %s\nphysical id\t: %d\n"
                      "siblings\t: 4\ncore id\t\t: %d\ncpu cores\t: 2\n"
                      "flags\t\t: fpu sse4_2 avx avx2 xavx512f amx_tile\n\n",
                      i, i ? "other" : "\"9\"", i / 2 % 2 ? 7 : 0, i % 2);
    put("/proc/cpuinfo", b.data);
}

static void put_cpu_files(void)
{
    put_cpuinfo();
    for (int i = 0; i < 12; i++) {
        char path[128];
        snprintf(path, sizeof path,
                 "/sys/devices/system/cpu/cpufreq/policy%d/scaling_governor",
                 i);
        put(path, i == 11 ? "powersave\n" : "performance\n");
        snprintf(path, sizeof path,
                 "/sys/devices/system/cpu/cpufreq/policy%d/cpuinfo_max_freq",
                 i);
        put(path, i == 3 ? "3500500\n" : "2000000\n");
    }
    put("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    put("/sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
    put("/sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
    put("/sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n");
    put("/sys/devices/system/cpu/cpu0/cache/index10/level", "3\n");
    put("/sys/devices/system/cpu/cpu0/cache/index10/size", "32M\n");
    put("/sys/devices/system/cpu/cpu0/cache/index10/shared_cpu_list",
        "0-1,4-5\n");
    put("/proc/self/status", "Name:\tx\nCpus_allowed:\tf\n"
                             "Cpus_allowed_list:\t0-2,7\n");
}

static void two_sockets_with_all_their_parts(void **state)
{
    static const struct want rows[] = {
        {"schema", "\"prony.env/1\""},
        {"cpu.model", "\"Xeon \\\"9\\\"\""},
        {"cpu.vendor", "\"GenuineIntel\""},
        {"cpu.sockets", "2"},
        {"cpu.cores", "4"},
        {"cpu.threads", "8"},
        {"cpu.allowed", "\"0-2,7\""},
        {"cpu.allowed_threads", "4"},
        {"cpu.flags", "[\"sse4_2\", \"avx\", \"avx2\", \"amx_tile\"]"},
        {"cpu.max_mhz", "3500.5"},
        {"cpu.governors", "{\"performance\": 11, \"powersave\": 1}"},
        {"cpu.boost", "false"},
        {"cpu.caches",
         "[{\"level\": 1, \"type\": \"Data\", \"size_bytes\": 49152}, "
         "{\"level\": 3, \"size_bytes\": 33554432, \"shared_by_threads\": 4}]"},
        {"virtualisation.hypervisor", "false"},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value v;

    (void)state;
    put_cpu_files();
    v = capture_root(a);
    CHECK(&v, rows);
}

static void arm_is_counted_by_its_topology(void **state)
{
    static const struct want rows[] = {
        {"cpu.sockets", "1"},
        {"cpu.cores", "2"},
        {"cpu.threads", "3"},
        {"cpu.model", NULL},
        {"cpu.flags", "[\"asimd\", \"sve\"]"},
    };
    static const char *const sibling[] = {"0-1", "0-1", "2"};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value v;

    (void)state;
    put("/proc/cpuinfo",
        "processor\t: 0\nFeatures\t: fp asimd sve\nCPU implementer\t: 0x41\n\n"
        "processor\t: 1\n\nprocessor\t: 2\n");
    for (int i = 0; i < 3; i++) {
        char path[128];
        snprintf(path, sizeof path,
                 "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
                 i);
        put(path, sibling[i]);
        snprintf(path, sizeof path,
                 "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
                 i);
        put(path, "36\n");
    }
    v = capture_root(a);
    CHECK(&v, rows);
}

static void memory_nodes_and_distribution(void **state)
{
    static const struct want rows[] = {
        {"memory", "{\"total_bytes\": 1048576, \"available_bytes\": 2048, "
                   "\"swap_total_bytes\": 0, \"huge_pages_total\": 5, "
                   "\"huge_page_bytes\": 2097152, "
                   "\"transparent_huge_pages\": \"madvise\"}"},
        {"numa_nodes",
         "[{\"node\": 0, \"cpus\": \"0-3\", \"memory_bytes\": 4096}, "
         "{\"node\": 2}, {\"node\": 10, \"cpus\": \"4-7\"}]"},
        {"distribution", "\"Test \\u001b Linux 1\""},
        {"virtualisation", "{\"product\": \"KVM\", \"container\": \"podman\"}"},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value v;

    (void)state;
    put("/proc/meminfo",
        "MemTotal:  1024 kB\nMemFree: 7 kB\nMemAvailable: 2 kB\n"
        "SwapTotal:  0 kB\nHugePages_Total:  5\nHugepagesize:  2048 kB\n"
        "MemTotal: 9 kB\n");
    put("/sys/kernel/mm/transparent_hugepage/enabled",
        "always [madvise] never\n");
    put("/sys/devices/system/node/node0/cpulist", "0-3\n");
    put("/sys/devices/system/node/node0/meminfo",
        "Node 0 MemTotal:      4 kB\nNode 0 MemFree: 1 kB\n");
    put("/sys/devices/system/node/node2/other", "");
    put("/sys/devices/system/node/node10/cpulist", "4-7\n");
    put("/sys/devices/system/node/node_x/cpulist", "4-7\n");
    put("/etc/os-release", "NAME=x\nPRETTY_NAME=\"Test \x1b Linux 1\"\n");
    put("/sys/class/dmi/id/product_name", "  KVM \n");
    put("/run/.containerenv", "");
    v = capture_root(a);
    CHECK(&v, rows);
}

static void control_groups_of_each_kind(void **state)
{
    static const struct {
        const char *groups, *mounts, *file[4], *text[4], *want;
    } rows[] = {
        {"0::/a/b\n",
         "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
         {"/sys/fs/cgroup/a/b/memory.max", "/sys/fs/cgroup/a/memory.max",
          "/sys/fs/cgroup/a/b/cpu.max", "/sys/fs/cgroup/memory.max"},
         {"max\n", "4096\n", "150000 100000\n", "8192\n"},
         "{\"version\": \"v2\", \"path\": \"/a/b\", \"memory_limit_bytes\": "
         "4096, \"cpu_limit\": 1.5}"},
        {"0::/\n",
         "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
         {"/sys/fs/cgroup/cpu.max"},
         {"max 100000\n"},
         "{\"version\": \"v2\", \"path\": \"/\"}"},
        {"4:memory:/m\n3:cpu,cpuacct:/c\n",
         "31 1 0:27 / /sys/fs/cgroup/memory rw - cgroup m rw,memory\n"
         "32 1 0:28 / /sys/fs/cgroup/cpu rw - cgroup c rw,cpu,cpuacct\n",
         {"/sys/fs/cgroup/memory/m/memory.limit_in_bytes",
          "/sys/fs/cgroup/memory/memory.limit_in_bytes",
          "/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us",
          "/sys/fs/cgroup/cpu/c/cpu.cfs_period_us"},
         {"8192\n", "9223372036854771712\n", "50000\n", "100000\n"},
         "{\"version\": \"v1\", \"path\": \"/m\", \"memory_limit_bytes\": "
         "8192, \"cpu_limit\": 0.5}"},
        /* inside a container: its root is the mount's; no quota is -1; the
         * other hierarchy has no say where version 1 has the controller */
        {"4:memory:/docker/1\n3:cpu:/\n0::/x\n",
         "31 1 0:27 /docker/1 /sys/fs/cgroup/memory rw - cgroup m rw,memory\n"
         "32 1 0:28 / /sys/fs/cgroup/cpu rw - cgroup c rw,cpu,cpuacct\n"
         "33 1 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
         {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
          "/sys/fs/cgroup/unified/memory.max",
          "/sys/fs/cgroup/cpu/cpu.cfs_quota_us",
          "/sys/fs/cgroup/cpu/cpu.cfs_period_us"},
         {"7000\n", "6000\n", "-1\n", "100000\n"},
         "{\"version\": \"hybrid\", \"path\": \"/docker/1\", "
         "\"memory_limit_bytes\": 7000}"},
        {"garbage\n::\nx", "", {0}, {0}, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct want want = {"cgroup", rows[i].want};
        struct pr_value v;

        if (i)
            assert_int_equal(remove_root(NULL) || make_root(NULL), 0);
        put("/proc/self/cgroup", rows[i].groups);
        put("/proc/self/mountinfo", rows[i].mounts);
        for (int f = 0; f < 4 && rows[i].file[f]; f++)
            put(rows[i].file[f], rows[i].text[f]);
        v = capture_root(a);
        check(&v, &want, 1);
    }
}

static void gpus_of_two_makers(void **state)
{
    static const struct want rows[] = {
        {"gpus",
         "[{\"vendor\": \"nvidia\", \"model\": \"NVIDIA A100\", \"uuid\": "
         "\"GPU-1\", \"pci\": \"0000:01:00.0\", \"driver_version\": "
         "\"535.1\"}, {\"vendor\": \"amd\", \"vendor_id\": \"0x1002\", "
         "\"device_id\": \"0x740f\", \"memory_bytes\": 68702699520, "
         "\"driver\": \"amdgpu\", \"pci\": \"0000:41:00.0\"}, "
         "{\"vendor_id\": \"0x1a03\"}]"},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value v;

    (void)state;
    put("/proc/driver/nvidia/gpus/0000:01:00.0/information",
        "Model: \t\t NVIDIA A100\nIRQ:   \t 17\nGPU UUID: \t GPU-1\n"
        "Bus Location: \t 0000:01:00.0\nModel: twice\n");
    put("/sys/module/nvidia/version", "535.1\n");
    put("/sys/class/drm/card0/device/vendor", "0x10de\n");
    put("/sys/class/drm/card1/device/vendor", "0x1002\n");
    put("/sys/class/drm/card1/device/device", "0x740f\n");
    put("/sys/class/drm/card1/device/mem_info_vram_total", "68702699520\n");
    put("/sys/class/drm/card1/device/uevent",
        "DRIVER=amdgpu\nPCI_ID=1\nPCI_SLOT_NAME=0000:41:00.0\n");
    put("/sys/class/drm/card1-DP-1/device/vendor", "0x1002\n");
    put("/sys/class/drm/card2/device/vendor", "0x1a03\n");
    v = capture_root(a);
    CHECK(&v, rows);
}

static void put_disks(void)
{
    put("/proc/self/mountinfo",
        "21 20 259:2 / /no/such\\040data rw,noatime shared:7 master:1 - xfs "
        "/dev/nvme0n1p2 rw,attr2\n"
        "22 20 0:9 /export /no/such ro - nfs4 server:/export ro,vers=4.2\n"
        "23 20 0:50 / /no/btrfs rw - btrfs /dev/sda1 rw\n"
        "garbage\n24 20 - -\n"
        "20 1 0:2 / / ro - ext4 /dev/hidden ro\n"
        "20 1 0:1 / / rw,relatime - overlay overlay rw,lowerdir=/x\n");
    put_link("/sys/dev/block/259:2",
             "../../devices/pci/block/nvme0n1/nvme0n1p2");
    put("/sys/block/nvme0n1/device/model", "Fast 9000   \n");
    put("/sys/block/nvme0n1/queue/rotational", "0\n");
    put("/sys/block/nvme0n1/queue/scheduler", "[none] mq-deadline\n");
    put("/sys/block/nvme0n1/queue/read_ahead_kb", "128\n");
    put_link("/sys/class/block/sda1", "../../devices/ata/block/sda/sda1");
    put("/sys/block/sda/queue/rotational", "1\n");
}

static void file_systems_and_their_disks(void **state)
{
    static const char *const paths[] = {"/", "/no/such data/x/y", "/no/such/",
                                        "/no/suchlike", "/no/btrfs"};
    static const struct want rows[] = {
        {"file_systems.0.type", "\"overlay\""},
        {"file_systems.0.disk", NULL},
        {"file_systems.1.path", "\"/no/such data/x/y\""},
        {"file_systems.1.mount_point", "\"/no/such data\""},
        {"file_systems.1.type", "\"xfs\""},
        {"file_systems.1.source", "\"/dev/nvme0n1p2\""},
        {"file_systems.1.options", "\"rw,noatime,attr2\""},
        {"file_systems.1.disk",
         "{\"name\": \"nvme0n1\", \"model\": \"Fast 9000\", \"rotational\": "
         "false, \"scheduler\": \"none\", \"read_ahead_bytes\": 131072}"},
        {"file_systems.2.type", "\"nfs4\""},
        {"file_systems.2.source", "\"server:/export\""},
        {"file_systems.2.options", "\"ro,vers=4.2\""},
        {"file_systems.3.type", "\"overlay\""},
        {"file_systems.4.disk", "{\"name\": \"sda\", \"rotational\": true}"},
        {"file_systems.5", NULL},
    };
    struct pr_machine_env_opts opts = {.root = root,
                                       .cwd = root,
                                       .environment = no_variables,
                                       .paths = paths,
                                       .path_count = 5};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value v;

    (void)state;
    put_disks();
    v = capture(&opts, a);
    CHECK(&v, rows);
    for (int i = 0; i < 5; i++)
        assert_true(
            pr_get(&pr_get(&v, "file_systems")->items[i], "total_bytes")->i >
            0);
}

#define REV_A "0123456789abcdef0123456789abcdef01234567"
#define REV_B "89abcdef0123456789abcdef0123456789abcdef"

static void check_revision(const char *cwd, const char *want)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    char full[512];
    struct pr_machine_env_opts opts = {
        .root = root, .cwd = full, .environment = no_variables};
    struct want row = {"git_revision", want};
    struct pr_value v;

    snprintf(full, sizeof full, "%s%s", root, cwd);
    v = capture(&opts, a);
    check(&v, &row, 1);
}

static void git_revision_without_git(void **state)
{
    (void)state;
    put("/r/deep/er/file", "");
    check_revision("/r/deep/er", NULL);
    put("/r/.git/HEAD", REV_A "\n");
    check_revision("/r/deep/er", "\"" REV_A "\"");
    put("/r/.git/HEAD", "ref: refs/heads/main\n");
    check_revision("/r", NULL);
    put("/r/.git/packed-refs",
        "# pack-refs with: peeled\n" REV_B " refs/heads/main2\n" REV_A
        " refs/heads/main\n^" REV_B "\n");
    check_revision("/r", "\"" REV_A "\"");
    put("/r/.git/refs/heads/main", REV_B "\n");
    check_revision("/r", "\"" REV_B "\"");
    /* a linked worktree */
    put("/w/.git", "gitdir: ../r/.git/worktrees/w\n");
    put("/r/.git/worktrees/w/HEAD", "ref: refs/heads/main\n");
    put("/r/.git/worktrees/w/commondir", "../..\n");
    check_revision("/w", "\"" REV_B "\"");
    /* nothing but revisions gets out */
    put("/r/.git/refs/heads/main", "secret\n");
    check_revision("/r", NULL);
    put("/r/.git/HEAD", "ref: refs/../../file\n");
    put("/r/file", REV_A "\n");
    check_revision("/r", NULL);
}

static void variables_that_matter_and_no_secrets(void **state)
{
    static const char *const variables[] = {
        "PATH=/bin",
        "TF_ENABLE=1",
        "OMP_NUM_THREADS=4",
        "PRONY_S3_SECRET=x",
        "PRONY_token=x",
        "NCCL_API_KEYS=x",
        "CUDA_PASSWORD=x",
        "PRONY_ENDPOINT=https://me:pw@host/",
        "PRONY_NOTE=my token",
        "LD_PRELOAD=",
        "LD_PRELOADED=x",
        "SLURM_JOB_ID=7",
        "MALLOC_ARENA_MAX=caf\xe9",
        "OMP_",
        "=x",
        NULL,
    };
    static const struct want rows[] = {
        {"environment",
         "{\"LD_PRELOAD\": \"\", \"MALLOC_ARENA_MAX\": \"caf\xef\xbf\xbd\", "
         "\"OMP_NUM_THREADS\": \"4\", \"PRONY_NOTE\": \"my token\", "
         "\"SLURM_JOB_ID\": \"7\", \"TF_ENABLE\": \"1\"}"},
    };
    struct pr_machine_env_opts opts = {
        .root = root, .cwd = root, .environment = variables};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value v;

    (void)state;
    v = capture(&opts, a);
    CHECK(&v, rows);
}

static void an_empty_machine_leaves_things_out(void **state)
{
    static const struct want rows[] = {
        {"cpu", "{}"},          {"numa_nodes", "[]"},
        {"memory", "{}"},       {"cgroup", NULL},
        {"gpus", "[]"},         {"file_systems", "[]"},
        {"distribution", NULL}, {"virtualisation", "{}"},
        {"prony", "{}"},        {"versions", "{}"},
        {"git_revision", NULL}, {"environment", "{}"},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value v;

    (void)state;
    v = capture_root(a);
    CHECK(&v, rows);
    assert_non_null(at(&v, "kernel.release"));
    assert_non_null(at(&v, "limits.nofile.soft"));
}

static void garbage_does_no_harm(void **state)
{
    static const char *const files[] = {
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/proc/self/cgroup",
        "/proc/self/mountinfo",
        "/proc/self/status",
        "/etc/os-release",
        "/sys/devices/system/node/node0/meminfo",
        "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
        "/sys/devices/system/cpu/cpufreq/policy0/cpuinfo_max_freq",
        "/sys/devices/system/cpu/cpu0/cache/index0/level",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/proc/driver/nvidia/gpus/x/information",
        "/sys/class/drm/card0/device/vendor",
        "/sys/class/drm/card0/device/uevent",
        "/.git/HEAD",
    };
    static const char *const paths[] = {"/", ""};
    struct pr_machine_env_opts opts = {.root = root,
                                       .cwd = root,
                                       .environment = no_variables,
                                       .paths = paths,
                                       .path_count = 2};
    static char noise[100000];
    uint64_t x = 88172645463325252u;

    (void)state;
    for (int round = 0; round < 8; round++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        for (size_t i = 0; i < sizeof noise; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            noise[i] = round == 0   ? 'p'
                       : round == 1 ? '\0'
                       : round == 2 ? '\n'
                                    : (char)(x >> 32);
            if (round > 3 && i % 20 == 0 && i + 12 < sizeof noise) {
                memcpy(noise + i, "\nprocessor:9", 12);
                i += 11;
            }
        }
        for (size_t i = 0; i < sizeof files / sizeof *files; i++)
            put_bytes(files[i], noise, sizeof noise);
        capture(&opts, a);
    }
}

/* A line longer than the reader's buffer is cut, and the next one read. */
static void very_long_lines_are_cut(void **state)
{
    static const struct want rows[] = {{"memory.total_bytes", "1024"},
                                       {"memory.swap_total_bytes", "2048"}};
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 20);
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value v;

    (void)state;
    for (int i = 0; i < 50000; i++)
        pr_buf_str(&b, "MemTotal: 9 ");
    pr_buf_char(&b, '\n');
    b.data[0] = 'x';
    pr_buf_str(&b, "MemTotal: 1 kB\nSwapTotal: 2 kB");
    put("/proc/meminfo", b.data);
    v = capture_root(a);
    CHECK(&v, rows);
}

static void this_machine(void **state)
{
    static const char *const keys[] = {
        "time",
        "hostname",
        "kernel.release",
        "cpu.threads",
        "memory.total_bytes",
        "memory.available_bytes",
        "limits.nproc",
        "file_systems.0.free_bytes",
        "compiler",
        "gpus",
        "environment",
    };
    static const struct pr_machine_env_version versions[] = {
        {"libyaml", "0.2.5"}};
    static const char *const paths[] = {"."};
    static const struct want rows[] = {
        {"prony", "{\"version\": \"9.9\", \"revision\": \"abc\"}"},
        {"versions", "{\"libyaml\": \"0.2.5\"}"},
    };
    struct pr_machine_env_opts opts = {.version = "9.9",
                                       .revision = "abc",
                                       .versions = versions,
                                       .version_count = 1,
                                       .paths = paths,
                                       .path_count = 1};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_json_in in = {.name = "env", .flags = PR_JSON_UNIQUE_KEYS};
    struct pr_value v;

    (void)state;
    assert_int_equal(pr_machine_env_capture(&opts, &out, NULL), PR_OK);
    in.text = out.data;
    in.len = out.len;
    assert_int_equal(pr_json_read(&in, a, &v, NULL, NULL), PR_OK);
    CHECK(&v, rows);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!at(&v, keys[i]))
            fail_msg("no %s", keys[i]);
    assert_int_equal(at(&v, "cpu.threads")->i, sysconf(_SC_NPROCESSORS_ONLN));
}

static int attempt(void)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    int rc = pr_machine_env_capture(NULL, &out, NULL);

    assert_int_equal(out.len > 0, rc == PR_OK);
    return rc;
}

static void out_of_memory_appends_nothing(void **state)
{
    (void)state;
    torture(attempt);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(two_sockets_with_all_their_parts),
        TEST(arm_is_counted_by_its_topology),
        TEST(memory_nodes_and_distribution),
        TEST(control_groups_of_each_kind),
        TEST(gpus_of_two_makers),
        TEST(file_systems_and_their_disks),
        TEST(git_revision_without_git),
        TEST(variables_that_matter_and_no_secrets),
        TEST(an_empty_machine_leaves_things_out),
        TEST(garbage_does_no_harm),
        TEST(very_long_lines_are_cut),
        cmocka_unit_test(this_machine),
        cmocka_unit_test(out_of_memory_appends_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
