/* Files of sysfs that hold one number each, of chips that may come, go and
 * come back under another number: thermometers, power meters. */
#ifndef PR_MONITOR_SENSORS_H
#define PR_MONITOR_SENSORS_H

#include "monitor/source.h"

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

/* Adds those of /sys/class/hwmon that are not known yet. */
void pr_sensors_find_hwmon(struct pr_sensors *s, struct pr_monitor_sample *l);

/* Adds one, unless it is known; label is what it measures. */
void pr_sensors_add(struct pr_sensors *s, struct pr_monitor_sample *l,
                    const char *path, const char *label);

void pr_sensors_read(struct pr_sensors *s, struct pr_monitor_sample *l);
void pr_sensors_close(struct pr_sensors *s);

#endif
