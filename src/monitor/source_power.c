/*
 * Power. RAPL, which AMD's processors have under the same name, counts energy
 * in microjoules and goes round at a number that it tells; only root may read
 * it on most machines. Power meters of hwmon say what a whole machine or card
 * draws; they are not added to the joules, for they may contain what is counted
 * elsewhere.
 */
#include "base/mem.h"
#include "monitor/sensors.h"

#include <stdio.h>
#include <string.h>

enum {
    ZONES_MAX = 128,
    /* No package takes as much. More than this came from a counter that began
     * anew; and in the time in which so much would fill the counter, it may
     * have gone round more than once. */
    MOST_W = 2000,
};

struct zone {
    char dir[64]; /* of /sys/class/powercap */
    struct pr_kernel_file energy;
    double range_uj; /* where it goes round; 0: not known */
    double was;
    bool seen;
    int column;
};

struct power {
    struct zone *zones;
    size_t n, cap;
    struct pr_sensors meters;
};

static const struct pr_sensors like = {
    .kind = "power",
    .like = {.unit = "W", .sum = PR_SUM_RATE, .decimals = 3},
    .name_start = "power.",
    .name_end = "_w",
    .scale = 1e-6,
};

static bool read_zone_line(struct pr_monitor_sample *l, const char *dir,
                           const char *file, char *out, size_t cap)
{
    char path[160];

    snprintf(path, sizeof(path), "/sys/class/powercap/%s/%s", dir, file);
    return pr_kernel_file_read_line(l, path, out, cap);
}

/* "package-0"; "package-0.dram" for a part of it. False: it has no name. */
static bool read_zone_name(struct pr_monitor_sample *l, const char *dir,
                           char *out, size_t cap, unsigned *ret_flags)
{
    const char *first = strchr(dir, ':'), *last = strrchr(dir, ':');
    char whole[64], part[40], parent[64];

    if (!read_zone_line(l, dir, "name", part, sizeof(part)))
        return false;
    *ret_flags = 0;
    if (first == last) {
        /* "psys" contains the packages. */
        if (strncmp(part, "package", 7) == 0)
            *ret_flags = PR_MONITOR_COLUMN_ENERGY;
        snprintf(out, cap, "%s", part);
        return true;
    }
    snprintf(parent, sizeof(parent), "%.*s", (int)(last - dir), dir);
    if (!read_zone_line(l, parent, "name", whole, sizeof(whole)))
        return false;
    /* Cores and graphics are in the package's count, memory is not. */
    if (strcmp(part, "dram") == 0)
        *ret_flags = PR_MONITOR_COLUMN_ENERGY;
    snprintf(out, cap, "%s.%s", whole, part);
    return true;
}

static struct zone *power_append_zone(struct power *s)
{
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 16;
        struct zone *more =
            cap <= ZONES_MAX ? pr_realloc(s->zones, cap * sizeof(*more)) : NULL;

        if (!more)
            return NULL;
        s->zones = more;
        s->cap = cap;
    }
    s->zones[s->n] = (struct zone){.column = -1};
    return &s->zones[s->n++];
}

static void add_power_zone(void *ctx, struct pr_monitor_sample *l,
                           const char *dir)
{
    struct pr_monitor_column c = {
        .unit = "W", .sum = PR_SUM_RATE, .decimals = 3};
    char label[112], word[112], name[128], text[32];
    struct power *s = ctx;
    struct zone *z;

    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->zones[i].dir, dir) == 0)
            return;
    if (strlen(dir) >= sizeof(z->dir) ||
        !read_zone_name(l, dir, label, sizeof(label), &c.flags))
        return;
    z = power_append_zone(s);
    if (!z)
        return;
    memcpy(z->dir, dir, strlen(dir) + 1);
    if (read_zone_line(l, dir, "max_energy_range_uj", text, sizeof(text)))
        sscanf(text, "%lf", &z->range_uj);
    pr_kernel_file_label(word, sizeof(word), label);
    snprintf(name, sizeof(name), "power.%s_w", word);
    c.name = name;
    z->column = pr_monitor_sample_column(l, &c);
}

static bool is_likely_energy(const struct zone *z, double joules, double dt)
{
    return joules >= 0 && joules <= MOST_W * dt &&
           (z->range_uj <= 0 || MOST_W * dt * 1e6 < z->range_uj);
}

static void sample_power_zone(struct pr_monitor_sample *l, struct zone *z)
{
    char path[128];
    double now, joules;

    snprintf(path, sizeof(path), "/sys/class/powercap/%s/energy_uj", z->dir);
    if (!pr_kernel_file_number(l, &z->energy, path, &now)) {
        z->seen = false;
        return;
    }
    joules = (now - z->was) / 1e6;
    if (joules < 0 && z->range_uj > 0)
        joules += z->range_uj / 1e6;
    if (z->seen && l->dt > 0 && is_likely_energy(z, joules, l->dt))
        pr_monitor_sample_set_rate(l, z->column, joules / l->dt, joules);
    z->was = now;
    z->seen = true;
}

static void power_sample(void *state, struct pr_monitor_sample *l)
{
    struct power *s = state;

    if (!s->meters.kind)
        s->meters = like;
    if (l->rescan) {
        pr_kernel_file_each_entry(l, "/sys/class/powercap",
                                  "intel-rapl:", add_power_zone, s);
        pr_sensors_find_hwmon(&s->meters, l);
    }
    for (size_t i = 0; i < s->n; i++)
        sample_power_zone(l, &s->zones[i]);
    pr_sensors_read(&s->meters, l);
}

static void power_close(void *state)
{
    struct power *s = state;

    for (size_t i = 0; i < s->n; i++)
        pr_kernel_file_close(&s->zones[i].energy);
    pr_free(s->zones);
    pr_sensors_close(&s->meters);
}

const struct pr_monitor_source pr_source_power = {
    .name = "power",
    .desc = "power and energy of processors and memory (RAPL, "
            "/sys/class/powercap), power meters (/sys/class/hwmon)",
    .state_bytes = sizeof(struct power),
    .look = power_sample,
    .close = power_close,
};
