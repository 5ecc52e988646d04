/* Finding sensors, naming them, reading them. */
#include "monitor/sensors.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

static struct pr_sensor *by_path(struct pr_sensors *s, const char *path)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->list[i].path, path) == 0)
            return &s->list[i];
    return NULL;
}

static struct pr_sensor *by_name(struct pr_sensors *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->list[i].name, name) == 0)
            return &s->list[i];
    return NULL;
}

static struct pr_sensor *append(struct pr_sensors *s)
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

void pr_sensors_add(struct pr_sensors *s, struct pr_look *l, const char *path,
                    const char *label)
{
    char word[64], name[sizeof(s->list->name)];
    struct pr_column c = s->like;
    struct pr_sensor *x;

    if (strlen(path) >= sizeof(x->path) || by_path(s, path))
        return;
    pr_look_word(word, sizeof(word), label);
    for (unsigned i = 1; i <= PR_SENSORS_MAX; i++) {
        if (i == 1)
            snprintf(name, sizeof(name), "%s%s%s", s->name_start, word,
                     s->name_end);
        else
            snprintf(name, sizeof(name), "%s%s-%u%s", s->name_start, word, i,
                     s->name_end);
        x = by_name(s, name);
        /* One that is gone has come back under another number. */
        if (!x || (!x->file.fd_plus_1 && x->file.tried))
            break;
    }
    if (!x)
        x = append(s);
    if (!x)
        return;
    x->file = (struct pr_kept){0};
    memcpy(x->path, path, strlen(path) + 1);
    memcpy(x->name, name, sizeof(name));
    c.name = x->name;
    x->column = pr_look_column(l, &c);
}

struct chip {
    struct pr_sensors *sensors;
    char dir[96];
};

/* temp1_input, power1_average: "CHIP.LABEL", or "CHIP.temp1" without one. */
static void one_file(void *ctx, struct pr_look *l, const char *file)
{
    struct chip *c = ctx;
    char path[160], chip[40], label[64] = "", both[112];
    size_t stem = strcspn(file, "_");
    const char *ending = file + stem;

    if (stem > 32 ||
        (strcmp(ending, "_input") != 0 && strcmp(ending, "_average") != 0) ||
        snprintf(path, sizeof(path), "%s/%s", c->dir, file) >=
            (int)sizeof(path) ||
        by_path(c->sensors, path))
        return;
    snprintf(both, sizeof(both), "%s/name", c->dir);
    if (!pr_look_line(l, both, chip, sizeof(chip)))
        snprintf(chip, sizeof(chip), "hwmon");
    snprintf(both, sizeof(both), "%s/%.*s_label", c->dir, (int)stem, file);
    if (!pr_look_line(l, both, label, sizeof(label)) || !*label)
        snprintf(label, sizeof(label), "%.*s", (int)stem, file);
    snprintf(both, sizeof(both), "%s.%s", chip, label);
    pr_sensors_add(c->sensors, l, path, both);
}

static void one_chip(void *ctx, struct pr_look *l, const char *name)
{
    struct chip c = {.sensors = ctx};

    if (snprintf(c.dir, sizeof(c.dir), "/sys/class/hwmon/%s", name) <
        (int)sizeof(c.dir))
        pr_look_entries(l, c.dir, c.sensors->kind, one_file, &c);
}

void pr_sensors_hwmon(struct pr_sensors *s, struct pr_look *l)
{
    pr_look_entries(l, "/sys/class/hwmon", "hwmon", one_chip, s);
}

void pr_sensors_read(struct pr_sensors *s, struct pr_look *l)
{
    for (size_t i = 0; i < s->n; i++) {
        struct pr_sensor *x = &s->list[i];
        double v;

        if (pr_kept_number(l, &x->file, x->path, &v))
            pr_look_set(l, x->column, v * s->scale);
    }
}

void pr_sensors_done(struct pr_sensors *s)
{
    for (size_t i = 0; i < s->n; i++)
        pr_kept_close(&s->list[i].file);
    pr_free(s->list);
    s->list = NULL;
    s->n = s->cap = 0;
}
