/* Temperatures: the chips of hwmon, and thermal zones. They change slowly and
 * some chips take milliseconds to answer, so they are asked once a second. */
#include "monitor/sensors.h"

#include <stdio.h>

static const struct pr_sensors source_temp_like = {
    .kind = "temp",
    .like = {.unit = "°C", .sum = PR_SUM_MEAN, .decimals = 1},
    .name_start = "temp.",
    .name_end = "_c",
    .scale = 1e-3,
};

static void add_thermal_zone(void *ctx, struct pr_monitor_sample *l,
                             const char *name)
{
    char path[128], type[64];

    if (snprintf(path, sizeof(path), "/sys/class/thermal/%s/type", name) >=
            (int)sizeof(path) ||
        !pr_kernel_file_read_line(l, path, type, sizeof(type)))
        return;
    snprintf(path, sizeof(path), "/sys/class/thermal/%s/temp", name);
    pr_sensors_add(ctx, l, path, type);
}

static void temperature_sample(void *state, struct pr_monitor_sample *l)
{
    struct pr_sensors *s = state;

    if (!s->kind)
        *s = source_temp_like;
    if (l->rescan) {
        pr_sensors_find_hwmon(s, l);
        pr_kernel_file_each_entry(l, "/sys/class/thermal", "thermal_zone",
                                  add_thermal_zone, s);
    }
    pr_sensors_read(s, l);
}

static void temperature_close(void *state)
{
    pr_sensors_close(state);
}

const struct pr_monitor_source pr_source_temp = {
    .name = "temp",
    .desc = "temperatures: /sys/class/hwmon, /sys/class/thermal",
    .period_s = 1,
    .state_bytes = sizeof(struct pr_sensors),
    .look = temperature_sample,
    .close = temperature_close,
};
