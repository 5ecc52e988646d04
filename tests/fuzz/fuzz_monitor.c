/*
 * What the kernel tells, if it told anything at all: the bytes are every file
 * that the monitor reads, first up to a line "--", then what follows. Whatever
 * they are, each line that is written must be JSON. They are DLBS's list of
 * series and a line of /proc/PID/stat as well.
 */
#include "base/file.h"
#include "base/json/json.h"
#include "monitor/columns.h"
#include "monitor/job_tree.h"
#include "monitor/monitor.h"
#include "monitor/source_net.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const files[] = {
    "/proc/stat",
    "/proc/meminfo",
    "/proc/diskstats",
    "/proc/net/dev",
    "/proc/pressure/io",
    "/proc/loadavg",
    "/proc/cpuinfo",
    "/proc/7/stat",
    "/proc/7/statm",
    "/proc/7/io",
    "/proc/7/environ",
    "/sys/block/vda/size",
    "/sys/class/powercap/intel-rapl:0/name",
    "/sys/class/powercap/intel-rapl:0/energy_uj",
    "/sys/class/powercap/intel-rapl:0/max_energy_range_uj",
    "/sys/class/hwmon/hwmon0/name",
    "/sys/class/hwmon/hwmon0/temp1_label",
    "/sys/class/hwmon/hwmon0/temp1_input",
    "/sys/class/hwmon/hwmon0/power1_average",
    "/sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq",
};

enum { FILES = sizeof(files) / sizeof(files[0]) };

static char root[64];

static void remove_root(void)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf '%s'", root);
    if (system(command))
        abort();
}

static void full(const char *file, char path[static 256])
{
    snprintf(path, 256, "%s%s", root, file);
}

static void make_root(void)
{
    char path[256];

    snprintf(root, sizeof(root), "%s/prony-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(root))
        abort();
    atexit(remove_root);
    for (unsigned i = 0; i < FILES; i++) {
        full(files[i], path);
        *strrchr(path, '/') = '\0';
        if (pr_make_dirs(path, NULL))
            abort();
    }
    /* GPUs are not in files. */
    setenv("PRONY_NVML", "/nowhere/libnvidia-ml.so", 1);
}

static void put(const char *data, size_t bytes)
{
    if (!*root)
        make_root();
    for (unsigned i = 0; i < FILES; i++) {
        char path[256];
        int fd;

        full(files[i], path);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (fd < 0 || !pr_write_all(fd, data, bytes))
            abort();
        close(fd);
    }
}

static void check_line(struct pr_monitor_columns *c)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf line = PR_BUF_INIT(1 << 20);
    struct pr_json_in in = {.name = "line"};
    struct pr_value v;

    pr_buf_str(&line, "{\"columns\":{");
    pr_monitor_columns_announce(c, &line);
    pr_buf_char(&line, '}');
    pr_monitor_columns_write_line(c, &line);
    pr_buf_char(&line, '}');
    in.text = line.data;
    in.len = line.len;
    if (!a || !pr_buf_ok(&line) || pr_json_read(&in, a, &v, NULL, NULL))
        abort();
}

static void try_text(const char *text)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_timeseries *t = NULL;
    struct pr_job_tree_process p = {0};

    (void)pr_job_tree_parse_stat(text, &p);
    if (pr_timeseries_new(text, &t, NULL) == PR_OK)
        pr_timeseries_write_log(t, &out);
    pr_timeseries_free(t);
}

/* Wherever an answer of the kernel is cut, there is no more in it. */
static void try_answer(const char *data, size_t bytes)
{
    struct pr_tcp_sum sum = {0};

    (void)pr_tcp_sum_add(&sum, data, bytes);
    if (sum.connections > bytes)
        abort();
}

static void look_twice(const char *text, size_t bytes)
{
    const char *cut = strstr(text, "\n--\n");
    size_t first = cut ? (size_t)(cut - text) + 1 : bytes;
    struct pr_monitor_sources looks;

    put(text, first);
    if (!pr_monitor_sources_init(&looks, root))
        return;
    pr_monitor_sources_begin(&looks);
    pr_monitor_sources_sample(&looks, 1e-9, 7);
    check_line(&looks.columns);
    if (cut)
        put(cut + 4, bytes - first - 3);
    for (unsigned i = 0; i < PR_SOURCES; i++) {
        looks.of[i].rest_ns = 0;
        looks.of[i].last_ns -= 2000000000;
    }
    pr_monitor_sources_sample(&looks, 1e-9, 7);
    check_line(&looks.columns);
    pr_monitor_sources_close(&looks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = malloc(bytes + 1);

    if (!text)
        return 0;
    if (bytes)
        memcpy(text, data, bytes);
    text[bytes] = '\0';
    try_text(text);
    try_answer(text, bytes);
    look_twice(text, bytes);
    free(text);
    return 0;
}
