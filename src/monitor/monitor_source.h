/*
 * What the monitor looks at, and what a source of it is given: one struct of
 * functions a source, one list (source_list.def). All hooks are called on the
 * monitor's thread, one at a time. A source that finds nothing, or stops
 * finding it, sets nothing: that is no error, and it tries again by itself.
 * SOURCE(gpu) in the list is const struct pr_monitor_source pr_source_gpu.
 */
#ifndef PR_MONITOR_SOURCE_H
#define PR_MONITOR_SOURCE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a look is told, and where it puts what it sees. */
struct pr_monitor_sample {
    const char *root; /* to be put before "/proc/…" and "/sys/…"; mostly "" */
    double dt;        /* seconds since this source's look before, in this
                         experiment; 0: it is the first, there is nothing to
                         take a difference from */
    bool rescan;      /* look for devices that have come or come back: true at
                         the first look, then about once a second */
    int pid;          /* the experiment's first process; 0: none yet */
    double used_s;    /* processor time of that one and of all it waited for,
                         once it has ended; 0: not known */
    struct pr_monitor_columns *columns;
    struct pr_buf *text; /* what pr_kernel_file_read reads into */
};

struct pr_monitor_source {
    const char *name;   /* lower case; its columns are NAME or NAME.… */
    const char *desc;   /* what it tells, and from where; for docs and help */
    double period_s;    /* not asked more often than this; its values stand
                           meanwhile. 0: every look */
    size_t state_bytes; /* zeroed before the first look */

    /* Reads, and sets what it found. The first look of an experiment has
     * dt == 0: gauges may be set, counters are only remembered (they may have
     * run on since the experiment before). Allocates only for new devices. */
    void (*sample)(void *state, struct pr_monitor_sample *l);

    /* Lets go of everything. Called once, also when sample never was. May be
     * NULL when there is nothing to let go of. */
    void (*close)(void *state);
};

/* How a column comes into the result's summary. */
enum pr_monitor_column_sum {
    PR_SUM_NONE, /* not at all: it is in monitor.ndjson alone */
    PR_SUM_MEAN, /* {"mean", "max"}; the mean is over time */
    PR_SUM_LOW,  /* {"mean", "min"}: where little is what matters */
    PR_SUM_RATE, /* {"mean", "max", "total"}: something a second, such as
                    bytes or, in watts, joules */
    PR_SUM_BITS, /* {"share", "bits", "words"}: share of the time in which any
                    bit was set, which ones ever were */
};

enum pr_monitor_column_flag {
    PR_MONITOR_COLUMN_ENERGY = 1, /* watts whose total is part of the summary's
                             energy_j: set it for what no other column with
                             this flag contains */
    PR_MONITOR_COLUMN_MIN = 2,    /* {"min"} as well as the mean and max */
};

struct pr_monitor_column {
    const char *name; /* short and dotted, with the unit at its end where it
                         has one: "gpu.0.power_w", "gpu.0.memory_bytes",
                         "gpu.0.use"; copied */
    const char *unit; /* "share" (0 to 1), "W", "°C", "bytes", "bytes/s", "MHz",
                         "1/s", …; a string constant, kept */
    enum pr_monitor_column_sum sum;
    unsigned decimals; /* digits written after the point, 0 to 6 */
    unsigned flags;    /* of pr_monitor_column_flag */
    void (*words)(uint64_t bits, char out[static 160]); /* PR_SUM_BITS; may be
                                                           NULL */
};

/* The number of the column of that name, new or old; -1 when there is no room
 * for more or the name has bytes that are not printable ASCII, or a quote or
 * backslash (pr_kernel_file_label); setting column -1 does nothing. For devices
 * as they are found, not for every look: remember the number. */
int pr_monitor_sample_column(struct pr_monitor_sample *l,
                             const struct pr_monitor_column *c);

/* Its value in this look. NaN, and not to set it at all: it is not known now,
 * written as null. */
void pr_monitor_sample_set(struct pr_monitor_sample *l, int column,
                           double value);

/* The same for a rate whose total is known better than value * dt: amount is
 * what came in since the look before (bytes, joules). */
void pr_monitor_sample_set_rate(struct pr_monitor_sample *l, int column,
                                double value, double amount);

/* ---- lists of what a source has found */

/* Room for one more item: the list, moved if need be, or NULL when out of
 * memory or beyond `most` items. n is the number of items, *cap how many fit
 * (0 at first, with a NULL list). Freed with pr_free. */
void *pr_monitor_list_reserve(void *list, size_t n, size_t *cap, size_t most,
                              size_t bytes);

/* ---- files of /proc and /sys */

/* A file below root that is read at every look through one descriptor. Zeroed,
 * it is closed. */
struct pr_kernel_file {
    int fd_plus_1;
    bool tried; /* and not there; tried again when l->rescan */
};

/* Its whole text, NUL-terminated, borrowed until the next read of any source;
 * NULL when it cannot be read now (*ret_len may be NULL). Opens it when need
 * be, and lets go of it on an error. path is without root. */
const char *pr_kernel_file_read(struct pr_monitor_sample *l,
                                struct pr_kernel_file *k, const char *path,
                                size_t *ret_len);

/* The whole number that is all its text: sysfs. False as above. */
bool pr_kernel_file_number(struct pr_monitor_sample *l,
                           struct pr_kernel_file *k, const char *path,
                           double *ret);
void pr_kernel_file_close(struct pr_kernel_file *k);

/* A small file read once, such as a label: its first line, without the line
 * feed; false when it is not there. */
bool pr_kernel_file_read_line(struct pr_monitor_sample *l, const char *path,
                              char *out, size_t cap);

/* Calls each for the entries of a folder whose names begin with prefix, in no
 * order. None when there is no such folder. */
void pr_kernel_file_each_entry(
    struct pr_monitor_sample *l, const char *path, const char *prefix,
    void (*each)(void *ctx, struct pr_monitor_sample *l, const char *name),
    void *ctx);

/* A device's name or label as part of a column's name: in lower case, with "_"
 * for what is not a letter, a digit or one of "._-". Returns out. */
const char *pr_kernel_file_label(char *out, size_t cap, const char *label);

#endif
