/* Finding sensors, naming them, reading them. */
#include "monitor/sensors.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

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

static struct pr_sensor *sensors_append(struct pr_sensors *s)
{
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 16;
        struct pr_sensor *more = cap <= PR_SENSORS_MAX
                                     ? pr_realloc(s->list, cap * sizeof(*more))
                                     : NULL;

        if (!more)
            return NULL;
        s->list = more;
        s->cap = cap;
    }
    s->list[s->n] = (struct pr_sensor){.column = -1};
    return &s->list[s->n++];
}

void pr_sensors_add(struct pr_sensors *s, struct pr_monitor_sample *l,
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
    if (!x)
        x = sensors_append(s);
    if (!x)
        return;
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
    pr_sensors_add(c->sensors, l, path, both);
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

void pr_sensors_find_hwmon(struct pr_sensors *s, struct pr_monitor_sample *l)
{
    pr_kernel_file_each_entry(l, "/sys/class/hwmon", "hwmon", add_sensor_chip,
                              s);
}

void pr_sensors_read(struct pr_sensors *s, struct pr_monitor_sample *l)
{
    for (size_t i = 0; i < s->n; i++) {
        struct pr_sensor *x = &s->list[i];
        double v;

        if (pr_kernel_file_number(l, &x->file, x->path, &v))
            pr_monitor_sample_set(l, x->column, v * s->scale);
    }
}

void pr_sensors_close(struct pr_sensors *s)
{
    for (size_t i = 0; i < s->n; i++)
        pr_kernel_file_close(&s->list[i].file);
    pr_free(s->list);
    s->list = NULL;
    s->n = s->cap = 0;
}
