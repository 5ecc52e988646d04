/*
 * The environment of a run, its second half: GPUs by NVML, disks, network,
 * sensors, the board, what the kernel is set to.
 */
#include "machine/describe/env.h"

#include "torture.h"

#include "fake_nvml.h"
#include "made_up_root.h"

static int clean_up(void **state)
{
    forget_fake_nvml(state);
    return remove_root(state);
}

static void gpus_by_their_library(void **state)
{
    static const struct want rows[] = {
        {"gpus.0",
         "{\"vendor\": \"nvidia\", \"index\": 0, \"model\": \"Fake GPU 40GB\", "
         "\"uuid\": \"GPU-00000000-0000-0000-0000-000000000000\", \"pci\": "
         "\"0000:3b:00.0\", \"numa_node\": 1, \"vbios\": \"92.00.45.00.03\", "
         "\"memory_bytes\": 42949672960, \"compute_capability\": \"8.0\", "
         "\"power_limit_w\": 400.0, \"pcie_generation\": 4, \"pcie_width\": "
         "16, \"max_sm_mhz\": 1410, \"max_memory_mhz\": 1215, \"nvlinks\": 4, "
         "\"ecc\": true, \"persistence\": false, \"mig\": false, "
         "\"driver_version\": \"999.01.02\"}"},
        {"gpus.1.uuid", "\"GPU-00000000-0000-0000-0000-000000000001\""},
        {"gpus.1.mig", NULL},
        {"gpus.1.numa_node", NULL}, /* the kernel says -1 */
        {"gpus.2.uuid", "\"GPU-00000000-0000-0000-0000-000000000002\""},
        /* neither /proc nor DRM lists NVIDIA's again */
        {"gpus.3.vendor", "\"amd\""},
        {"gpus.4", NULL},
        {"nvml.devices", "3"},
        {"nvml.cuda_version", "\"12.4\""},
        {"nvml.paths", "[[\"X\", \"NV4\", \"NV4\"], [\"NV4\", \"X\", \"NV4\"], "
                       "[\"NV6\", \"NV6\", \"X\"]]"},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value v;

    (void)state;
    USE_FAKE_NVML();
    setenv("FAKE_NVML_DEVICES", "3", 1);
    put("/proc/driver/nvidia/gpus/0000:3b:00.0/information", "Model: x\n");
    put("/sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
    put("/sys/bus/pci/devices/0000:3c:00.0/numa_node", "-1\n");
    put("/sys/class/drm/card0/device/vendor", "0x10de\n");
    put("/sys/class/drm/card1/device/vendor", "0x1002\n");
    v = capture_root(a);
    CHECK(&v, rows);
}

static void a_lost_gpu_is_told(void **state)
{
    static const struct want rows[] = {
        {"gpus.0.model", "\"Fake GPU 40GB\""},
        {"gpus.1", "{\"vendor\": \"nvidia\", \"index\": 1, \"lost\": true, "
                   "\"driver_version\": \"999.01.02\"}"},
        {"nvml.paths", "[[\"X\", null], [null, \"X\"]]"},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value v;

    (void)state;
    USE_FAKE_NVML();
    setenv("FAKE_NVML_LOST", "1:0:999", 1);
    v = capture_root(a);
    CHECK(&v, rows);
}

/* Without its library the driver's files serve, and the reason is kept. */
static void a_library_that_fails(void **state)
{
    static const struct want rows[] = {
        {"gpus", "[{\"vendor\": \"nvidia\", \"model\": \"x\"}]"},
        {"nvml", "{\"missing\": \"NVIDIA's driver is not loaded\"}"},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value v;

    (void)state;
    USE_FAKE_NVML();
    setenv("FAKE_NVML_INIT", "9", 1);
    put("/proc/driver/nvidia/gpus/0000:3b:00.0/information", "Model: x\n");
    v = capture_root(a);
    CHECK(&v, rows);
}

static void disks_that_are_disks(void **state)
{
    static const struct want rows[] = {
        {"disks",
         "[{\"name\": \"nvme0n1\", \"model\": \"Fast 9000\", \"size_bytes\": "
         "4096, \"rotational\": false, \"scheduler\": \"none\", "
         "\"queue_depth\": 1023}, {\"name\": \"nvme10n1\", \"size_bytes\": "
         "512}, {\"name\": \"sda\", \"size_bytes\": 1024}]"},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value v;

    (void)state;
    put("/sys/block/nvme10n1/size", "1\n");
    put("/sys/block/nvme0n1/size", "8\n");
    put("/sys/block/nvme0n1/device/model", "Fast 9000  \n");
    put("/sys/block/nvme0n1/queue/rotational", "0\n");
    put("/sys/block/nvme0n1/queue/scheduler", "[none] kyber\n");
    put("/sys/block/nvme0n1/queue/nr_requests", "1023\n");
    put("/sys/block/sda/size", "2\n");
    put("/sys/block/sdb/size", "0\n"); /* a reader without a card */
    put("/sys/block/loop0/size", "8\n");
    put("/sys/block/zram0/size", "8\n");
    put("/sys/block/sr0/size", "8\n");
    v = capture_root(a);
    CHECK(&v, rows);
}

static void networks(void **state)
{
    static const struct want rows[] = {
        {"network",
         "[{\"name\": \"docker0\", \"state\": \"down\", \"virtual\": true}, "
         "{\"name\": \"eth0\", \"state\": \"up\", \"speed_mbit_s\": 100000, "
         "\"duplex\": \"full\", \"mtu\": 9000, \"driver\": \"mlx5_core\", "
         "\"virtual\": false}, {\"name\": \"eth1\", \"state\": \"down\", "
         "\"virtual\": true}]"},
        {"infiniband",
         "[{\"name\": \"mlx5_0\", \"port\": \"1\", \"state\": \"ACTIVE\", "
         "\"rate\": \"200 Gb/sec (4X HDR)\", \"link_layer\": "
         "\"InfiniBand\"}]"},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value v;

    (void)state;
    put("/sys/class/net/lo/operstate", "unknown\n");
    put("/sys/class/net/eth0/operstate", "up\n");
    put("/sys/class/net/eth0/speed", "100000\n");
    put("/sys/class/net/eth0/duplex", "full\n");
    put("/sys/class/net/eth0/mtu", "9000\n");
    put("/sys/class/net/eth0/address", "00:11:22:33:44:55\n");
    put("/sys/class/net/eth0/device/vendor", "0x15b3\n");
    put_link("/sys/class/net/eth0/device/driver",
             "../../../bus/pci/drivers/mlx5_core");
    put("/sys/class/net/eth1/operstate", "down\n");
    put("/sys/class/net/eth1/speed", "-1\n");
    put("/sys/class/net/docker0/operstate", "down\n");
    put("/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
    put("/sys/class/infiniband/mlx5_0/ports/1/rate", "200 Gb/sec (4X HDR)\n");
    put("/sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n");
    v = capture_root(a);
    CHECK(&v, rows);
}

static void sensors_and_swaps(void **state)
{
    static const struct want rows[] = {
        {"power_sources",
         "[{\"name\": \"package-0\", \"source\": \"intel-rapl:0\"}, {\"name\": "
         "\"dram\", \"source\": \"intel-rapl:0:0\"}]"},
        {"thermal_sources",
         "[{\"name\": \"coretemp\", \"source\": \"hwmon2\"}, {\"name\": "
         "\"nvme\", \"source\": \"hwmon10\"}, {\"name\": \"x86_pkg_temp\", "
         "\"source\": \"thermal_zone0\"}]"},
        {"memory.swaps",
         "[{\"file\": \"/dev/sda2\", \"type\": \"partition\", \"size_bytes\": "
         "2048}]"},
        {"pressure", "[\"cpu\", \"io\"]"},
        {"numa_nodes.0.distances", "[10, 21]"},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value v;

    (void)state;
    put("/sys/class/powercap/intel-rapl/enabled", "1\n");
    put("/sys/class/powercap/intel-rapl:0/name", "package-0\n");
    put("/sys/class/powercap/intel-rapl:0:0/name", "dram\n");
    put("/sys/class/hwmon/hwmon10/name", "nvme\n");
    put("/sys/class/hwmon/hwmon2/name", "coretemp\n");
    put("/sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n");
    put("/sys/class/thermal/cooling_device0/type", "Processor\n");
    put("/proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n"
                       "/dev/sda2  partition\t2\t0\t-2\n");
    put("/proc/pressure/cpu", "some avg10=0.00\n");
    put("/proc/pressure/io", "some avg10=0.00\n");
    put("/sys/devices/system/node/node0/distance", "10 21\n");
    v = capture_root(a);
    CHECK(&v, rows);
}

static void board_and_settings(void **state)
{
    static const struct want rows[] = {
        {"dmi", "{\"sys_vendor\": \"Dell\", \"product_name\": \"R750\", "
                "\"bios_version\": \"1.2\"}"},
        {"kernel.command_line", "\"root=/dev/sda1 quiet mitigations=off\""},
        {"virtualisation.container", "\"systemd-nspawn\""},
        {"uptime_s", "12.5"},
        {"load", "[0.5, 1.25, 2.0]"},
        {"settings", "{\"vm.swappiness\": 60, \"kernel.numa_balancing\": 1}"},
        {"cpu.mitigations", "{\"spectre_v2\": \"Mitigation: IBRS\"}"},
        {"cpu.smt", "true"},
        {"cpu.isolated", "\"2-3\""},
        {"cpu.microcode", "\"0xd0003\""},
        {"cpu.model_number", "\"106\""},
        {"cpu.model", "\"Xeon\""},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value v;

    (void)state;
    put("/sys/class/dmi/id/sys_vendor", "Dell\n");
    put("/sys/class/dmi/id/product_name", "R750\n");
    put("/sys/class/dmi/id/product_serial", "SECRET\n");
    put("/sys/class/dmi/id/bios_version", "1.2\n");
    put("/proc/cmdline", "root=/dev/sda1  quiet console_password=x "
                         "url=https://me:pw@host/ mitigations=off token\n");
    put("/run/systemd/container", "systemd-nspawn\n");
    put("/proc/uptime", "12.50 20.00\n");
    put("/proc/loadavg", "0.50 1.25 2.00 1/200 33\n");
    put("/proc/sys/vm/swappiness", "60\n");
    put("/proc/sys/kernel/numa_balancing", "1\n");
    put("/sys/devices/system/cpu/vulnerabilities/spectre_v2",
        "Mitigation: IBRS\n");
    put("/sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n");
    put("/sys/devices/system/cpu/smt/active", "1\n");
    put("/sys/devices/system/cpu/isolated", "2-3\n");
    put("/proc/cpuinfo", "processor\t: 0\nmodel\t\t: 106\nmodel name\t: Xeon\n"
                         "microcode\t: 0xd0003\n");
    v = capture_root(a);
    CHECK(&v, rows);
}

/* Whatever is in these files, the document is JSON. */
static void garbage_does_no_harm(void **state)
{
    static const char *const files[] = {
        "/proc/cmdline",
        "/proc/uptime",
        "/proc/loadavg",
        "/proc/swaps",
        "/proc/pressure/cpu",
        "/proc/sys/vm/swappiness",
        "/sys/block/sda/size",
        "/sys/block/sda/queue/nr_requests",
        "/sys/class/net/eth0/operstate",
        "/sys/class/net/eth0/speed",
        "/sys/class/infiniband/x/ports/1/state",
        "/sys/class/powercap/x/name",
        "/sys/class/hwmon/hwmon0/name",
        "/sys/class/dmi/id/bios_date",
        "/sys/devices/system/node/node0/distance",
        "/sys/devices/system/cpu/vulnerabilities/x",
        "/run/systemd/container",
    };
    static const char *const texts[] = {
        "",
        "-1\n",
        "99999999999999999999999\n",
        "\xff\xfe\n",
        "4:\n",
        "a b c d\n",
        "nan inf 1e999\n",
        "\n\n\n",
        "1 2\t3  4 5\n",
    };

    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        for (size_t i = 0; i < sizeof files / sizeof *files; i++)
            put(files[i], texts[t]);
        capture_root(a);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_root, clean_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(gpus_by_their_library),
        TEST(a_lost_gpu_is_told),
        TEST(a_library_that_fails),
        TEST(disks_that_are_disks),
        TEST(networks),
        TEST(sensors_and_swaps),
        TEST(board_and_settings),
        TEST(garbage_does_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
