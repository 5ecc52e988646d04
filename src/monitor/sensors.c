/*
 * Sensors: files of sysfs that hold one number each, of chips that may come, go
 * and come back under another number. Thermometers are one source of columns;
 * power meters, with the processors' counters of energy, are another.
 */
#include "base/mem.h"
#include "base/text.h"
#include "monitor/monitor_source.h"

#include <stdio.h>
#include <string.h>

enum { PR_SENSORS_MAX = 512 };

struct pr_sensor {
    char path[160];
    char name[96]; /* of its column */
    struct pr_kernel_file file;
    int column;
};

struct pr_sensors {
    struct pr_sensor *list;
    size_t n, cap;
    /* What its files are like. */
    const char *kind;              /* "temp": temp1_input, temp1_label */
    struct pr_monitor_column like; /* all but the name */
    const char *name_start;        /* "temp." */
    const char *name_end;          /* "_c" */
    double scale;                  /* times the number in the file */
};

static struct pr_sensor *find_sensor_by_path(struct pr_sensors *s,
                                             const char *path)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->list[i].path, path) == 0)
            return &s->list[i];
    return NULL;
}

static struct pr_sensor *find_sensor_by_name(struct pr_sensors *s,
                                             const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->list[i].name, name) == 0)
            return &s->list[i];
    return NULL;
}

/* Adds one, unless it is known; label is what it measures. */
static void sensors_add(struct pr_sensors *s, struct pr_monitor_sample *l,
                        const char *path, const char *label)
{
    char word[64], name[sizeof(s->list->name)];
    struct pr_monitor_column c = s->like;
    struct pr_sensor *x;

    if (strlen(path) >= sizeof(x->path) || find_sensor_by_path(s, path))
        return;
    pr_kernel_file_label(word, sizeof(word), label);
    for (unsigned i = 1; i <= PR_SENSORS_MAX; i++) {
        if (i == 1)
            snprintf(name, sizeof(name), "%s%s%s", s->name_start, word,
                     s->name_end);
        else
            snprintf(name, sizeof(name), "%s%s-%u%s", s->name_start, word, i,
                     s->name_end);
        x = find_sensor_by_name(s, name);
        /* One that is gone has come back under another number. */
        if (!x || (!x->file.fd_plus_1 && x->file.tried))
            break;
    }
    if (!x) {
        x = pr_monitor_list_reserve(s->list, s->n, &s->cap, PR_SENSORS_MAX,
                                    sizeof(*x));
        if (!x)
            return;
        s->list = x;
        x += s->n++;
    }
    x->file = (struct pr_kernel_file){0};
    memcpy(x->path, path, strlen(path) + 1);
    memcpy(x->name, name, sizeof(name));
    c.name = x->name;
    x->column = pr_monitor_sample_column(l, &c);
}

struct chip {
    struct pr_sensors *sensors;
    char dir[96];
};

/* temp1_input, power1_average: "CHIP.LABEL", or "CHIP.temp1" without one. */
static void add_sensor_file(void *ctx, struct pr_monitor_sample *l,
                            const char *file)
{
    struct chip *c = ctx;
    char path[160], chip[40], label[64] = "", both[112];
    size_t stem = strcspn(file, "_");
    const char *ending = file + stem;

    if (stem > 32 ||
        (strcmp(ending, "_input") != 0 && strcmp(ending, "_average") != 0) ||
        snprintf(path, sizeof(path), "%s/%s", c->dir, file) >=
            (int)sizeof(path) ||
        find_sensor_by_path(c->sensors, path))
        return;
    snprintf(both, sizeof(both), "%s/name", c->dir);
    if (!pr_kernel_file_read_line(l, both, chip, sizeof(chip)))
        snprintf(chip, sizeof(chip), "hwmon");
    snprintf(both, sizeof(both), "%s/%.*s_label", c->dir, (int)stem, file);
    if (!pr_kernel_file_read_line(l, both, label, sizeof(label)) || !*label)
        snprintf(label, sizeof(label), "%.*s", (int)stem, file);
    snprintf(both, sizeof(both), "%s.%s", chip, label);
    sensors_add(c->sensors, l, path, both);
}

static void add_sensor_chip(void *ctx, struct pr_monitor_sample *l,
                            const char *name)
{
    struct chip c = {.sensors = ctx};

    if (snprintf(c.dir, sizeof(c.dir), "/sys/class/hwmon/%s", name) <
        (int)sizeof(c.dir))
        pr_kernel_file_each_entry(l, c.dir, c.sensors->kind, add_sensor_file,
                                  &c);
}

/* Adds those of /sys/class/hwmon that are not known yet. */
static void sensors_find_hwmon(struct pr_sensors *s,
                               struct pr_monitor_sample *l)
{
    pr_kernel_file_each_entry(l, "/sys/class/hwmon", "hwmon", add_sensor_chip,
                              s);
}

static void sensors_read(struct pr_sensors *s, struct pr_monitor_sample *l)
{
    for (size_t i = 0; i < s->n; i++) {
        struct pr_sensor *x = &s->list[i];
        double v;

        if (pr_kernel_file_number(l, &x->file, x->path, &v))
            pr_monitor_sample_set(l, x->column, v * s->scale);
    }
}

static void sensors_close(struct pr_sensors *s)
{
    for (size_t i = 0; i < s->n; i++)
        pr_kernel_file_close(&s->list[i].file);
    pr_free(s->list);
    s->list = NULL;
    s->n = s->cap = 0;
}

/* ---- temperatures: the chips of hwmon, and thermal zones */

static const struct pr_sensors thermometers = {
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
    sensors_add(ctx, l, path, type);
}

static void temperature_sample(void *state, struct pr_monitor_sample *l)
{
    struct pr_sensors *s = state;

    if (!s->kind)
        *s = thermometers;
    if (l->rescan) {
        sensors_find_hwmon(s, l);
        pr_kernel_file_each_entry(l, "/sys/class/thermal", "thermal_zone",
                                  add_thermal_zone, s);
    }
    sensors_read(s, l);
}

static void temperature_close(void *state)
{
    sensors_close(state);
}

/* They change slowly, and some chips take milliseconds to answer. */
const struct pr_monitor_source pr_source_temp = {
    .name = "temp",
    .desc = "temperatures: /sys/class/hwmon, /sys/class/thermal",
    .period_s = 1,
    .state_bytes = sizeof(struct pr_sensors),
    .sample = temperature_sample,
    .close = temperature_close,
};

/*
 * ---- power
 *
 * RAPL, which AMD's processors have under the same name, counts energy in
 * microjoules and goes round at a number that it tells; only root may read it
 * on most machines. Power meters of hwmon say what a whole machine or card
 * draws; they are not added to the joules, for they may contain what is counted
 * elsewhere.
 */

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

static const struct pr_sensors power_meters = {
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
        if (pr_text_starts_with(part, "package"))
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
    z = pr_monitor_list_reserve(s->zones, s->n, &s->cap, ZONES_MAX, sizeof(*z));
    if (!z)
        return;
    s->zones = z;
    z += s->n++;
    *z = (struct zone){.column = -1};
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
        s->meters = power_meters;
    if (l->rescan) {
        pr_kernel_file_each_entry(l, "/sys/class/powercap",
                                  "intel-rapl:", add_power_zone, s);
        sensors_find_hwmon(&s->meters, l);
    }
    for (size_t i = 0; i < s->n; i++)
        sample_power_zone(l, &s->zones[i]);
    sensors_read(&s->meters, l);
}

static void power_close(void *state)
{
    struct power *s = state;

    for (size_t i = 0; i < s->n; i++)
        pr_kernel_file_close(&s->zones[i].energy);
    pr_free(s->zones);
    sensors_close(&s->meters);
}

const struct pr_monitor_source pr_source_power = {
    .name = "power",
    .desc = "power and energy of processors and memory (RAPL, "
            "/sys/class/powercap), power meters (/sys/class/hwmon)",
    .state_bytes = sizeof(struct power),
    .sample = power_sample,
    .close = power_close,
};
