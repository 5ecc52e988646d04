/*
 * Block devices, from /proc/diskstats: bytes, operations, how long they took,
 * and the share of time in which the device was busy. A device gets columns
 * when it does something; partitions get none, their disk has them.
 */
#include "base/mem.h"
#include "base/text.h"
#include "monitor/monitor_source.h"
#include "monitor/scan.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* Fields of a row after the name. */
enum {
    READS = 0,
    READ_SECTORS = 2,
    READ_MS = 3,
    WRITES = 4,
    WRITE_SECTORS = 6,
    WRITE_MS = 7,
    BUSY_MS = 9,
    FIELDS = 11,
    SECTOR_BYTES = 512, /* in this file, whatever the device has */
    NAME_MAX_BYTES = 64,
};

enum {
    READ_BYTES_S,
    WRITE_BYTES_S,
    READ_OPS_S,
    WRITE_OPS_S,
    READ_TIME,
    WRITE_TIME,
    USE,
    COLUMNS,
};

static const struct {
    const char *ending, *unit;
    enum pr_monitor_column_sum sum;
    unsigned decimals;
} kinds[COLUMNS] = {
    {"read_bytes_s", "bytes/s", PR_SUM_RATE, 0},
    {"write_bytes_s", "bytes/s", PR_SUM_RATE, 0},
    {"read_ops_s", "1/s", PR_SUM_NONE, 1},
    {"write_ops_s", "1/s", PR_SUM_NONE, 1},
    {"read_ms", "ms", PR_SUM_MEAN, 3},
    {"write_ms", "ms", PR_SUM_MEAN, 3},
    {"use", "share", PR_SUM_MEAN, 4},
};

struct device {
    char name[NAME_MAX_BYTES];
    uint64_t was[FIELDS];
    bool seen, there;
    enum { IDLE_SO_FAR, WATCHED, NOT_OURS } state;
    int column[COLUMNS];
};

struct disk {
    struct pr_kernel_file stats;
    struct device *devices; /* in the order of the file */
    size_t n, cap;
};

/* A whole device, not a partition, is in /sys/block. */
static bool is_whole_disk(struct pr_monitor_sample *l, const char *name)
{
    char path[PATH_MAX];
    size_t n = (size_t)snprintf(path, sizeof(path), "%s/sys/block/", l->root);

    if (n >= sizeof(path))
        return false;
    snprintf(path + n, sizeof(path) - n, "%s", name);
    for (char *s = path + n; (s = strchr(s, '/'));)
        *s = '!';
    return access(path, F_OK) == 0;
}

static void name_disk_columns(struct pr_monitor_sample *l, struct device *d)
{
    char word[NAME_MAX_BYTES], name[NAME_MAX_BYTES + 32];

    pr_kernel_file_label(word, sizeof(word), d->name);
    for (int i = 0; i < COLUMNS; i++) {
        struct pr_monitor_column c = {.name = name,
                                      .unit = kinds[i].unit,
                                      .sum = kinds[i].sum,
                                      .decimals = kinds[i].decimals};

        snprintf(name, sizeof(name), "disk.%s.%s", word, kinds[i].ending);
        d->column[i] = pr_monitor_sample_column(l, &c);
    }
}

/* The device of that name; hint is where it was the last time. */
static struct device *find_disk_device(struct disk *s, const char *name,
                                       size_t len, size_t hint)
{
    struct device *more;

    if (len >= NAME_MAX_BYTES)
        return NULL;
    for (size_t i = 0; i < s->n; i++) {
        struct device *d = &s->devices[(hint + i) % s->n];

        if (pr_text_is(name, len, d->name))
            return d;
    }
    more = pr_monitor_list_reserve(s->devices, s->n, &s->cap, SIZE_MAX,
                                   sizeof(*more));
    if (!more)
        return NULL;
    s->devices = more;
    more += s->n++;
    *more = (struct device){0};
    memcpy(more->name, name, len);
    return more;
}

static double divide_or_0(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static void disk_set_columns(struct pr_monitor_sample *l,
                             const struct device *d, const double *by)
{
    double read = by[READ_SECTORS] * SECTOR_BYTES;
    double written = by[WRITE_SECTORS] * SECTOR_BYTES;
    double busy = by[BUSY_MS] / 1e3 / l->dt;

    pr_monitor_sample_set_rate(l, d->column[READ_BYTES_S], read / l->dt, read);
    pr_monitor_sample_set_rate(l, d->column[WRITE_BYTES_S], written / l->dt,
                               written);
    pr_monitor_sample_set(l, d->column[READ_OPS_S], by[READS] / l->dt);
    pr_monitor_sample_set(l, d->column[WRITE_OPS_S], by[WRITES] / l->dt);
    /* Nothing read: there is no latency, rather than one of 0. */
    if (by[READS] > 0)
        pr_monitor_sample_set(l, d->column[READ_TIME],
                              divide_or_0(by[READ_MS], by[READS]));
    if (by[WRITES] > 0)
        pr_monitor_sample_set(l, d->column[WRITE_TIME],
                              divide_or_0(by[WRITE_MS], by[WRITES]));
    pr_monitor_sample_set(l, d->column[USE], busy < 1 ? busy : 1);
}

static void sample_disk_device(struct pr_monitor_sample *l, struct device *d,
                               const char *numbers)
{
    uint64_t now[FIELDS] = {0};
    double by[FIELDS];
    bool active = false;

    d->there = true;
    if (d->state == NOT_OURS || pr_scan_all(&numbers, now, FIELDS) < FIELDS)
        return;
    for (int i = 0; i < FIELDS; i++)
        by[i] = pr_scan_gain(now[i], d->was[i]);
    active = now[READS] != d->was[READS] || now[WRITES] != d->was[WRITES];
    memcpy(d->was, now, sizeof(now));
    if (!d->seen || l->dt <= 0) {
        d->seen = true;
        return;
    }
    if (d->state == IDLE_SO_FAR && active) {
        d->state = is_whole_disk(l, d->name) ? WATCHED : NOT_OURS;
        if (d->state == WATCHED)
            name_disk_columns(l, d);
    }
    if (d->state == WATCHED)
        disk_set_columns(l, d, by);
}

static void disk_sample(void *state, struct pr_monitor_sample *l)
{
    struct disk *s = state;
    const char *text =
        pr_kernel_file_read(l, &s->stats, "/proc/diskstats", NULL);
    size_t hint = 0;

    for (; text && *text; text = pr_scan_line(text), hint++) {
        uint64_t numbers[2];
        const char *at = text;
        struct device *d;
        size_t len;

        if (pr_scan_all(&at, numbers, 2) < 2)
            continue;
        at = pr_scan_blanks(at);
        len = strcspn(at, " \t\n");
        d = find_disk_device(s, at, len, s->n ? hint % s->n : 0);
        if (d)
            sample_disk_device(l, d, at + len);
    }
    for (size_t i = 0; i < s->n; i++) {
        s->devices[i].seen = s->devices[i].seen && s->devices[i].there;
        s->devices[i].there = false;
    }
}

static void disk_close(void *state)
{
    struct disk *s = state;

    pr_kernel_file_close(&s->stats);
    pr_free(s->devices);
}

const struct pr_monitor_source pr_source_disk = {
    .name = "disk",
    .desc = "bytes, operations, latency and use of each block device that "
            "does something: /proc/diskstats",
    .state_bytes = sizeof(struct disk),
    .sample = disk_sample,
    .close = disk_close,
};
