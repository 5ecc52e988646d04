/*
 * What was seen: one column a measure, its value in this look, and its sums
 * over the experiment. Columns keep their numbers for as long as the monitor
 * lives, so that sources look them up once.
 */
#ifndef PR_MONITOR_COLUMNS_H
#define PR_MONITOR_COLUMNS_H

#include "base/buf.h"
#include "base/json/json_write.h"
#include "base/names.h"
#include "monitor/monitor_source.h"

#include <stdatomic.h>

enum { PR_MONITOR_COLUMNS_MAX = 8192 };

struct pr_monitor_column_state {
    struct pr_monitor_column is;
    unsigned source;
    bool set;        /* by its source's latest look */
    bool announced;  /* its unit is in the file */
    bool fresh;      /* known in this experiment, not summed up yet */
    double value;    /* when set */
    double amount;   /* for the total; NaN: value times the time */
    int64_t written; /* in units of the last decimal; NOTHING_WRITTEN */
    double seconds, integral, total, min, max, set_seconds;
    uint64_t bits;
};

struct pr_monitor_columns {
    struct pr_names *names;
    struct pr_monitor_column_state *cols;
    size_t n, cap;
    unsigned source; /* whose look it is */
};

/* How the look of a source went. */
struct pr_monitor_source_sampled {
    bool looked;  /* it was asked */
    double dt;    /* seconds since it was before; 0: the first time */
    bool extreme; /* dt is long enough for minimum and maximum */
};

/* False when out of memory. */
bool pr_monitor_columns_init(struct pr_monitor_columns *c);
void pr_monitor_columns_close(struct pr_monitor_columns *c);

/* Forgets values and sums: a new experiment. */
void pr_monitor_columns_clear(struct pr_monitor_columns *c);

/* Before a source is asked: nothing of it is set. */
void pr_monitor_columns_begin_source(struct pr_monitor_columns *c,
                                     unsigned source);

/* After a look of all sources: adds up. by_source has one entry for each. */
void pr_monitor_columns_add(struct pr_monitor_columns *c,
                            const struct pr_monitor_source_sampled *by_source);

/* Members "name":unit of columns that have come since; the number of them. */
size_t pr_monitor_columns_announce(struct pr_monitor_columns *c,
                                   struct pr_buf *out);

/* Appends ,"name":value for each value that differs from the one written
 * before; null for what is not known any more. */
void pr_monitor_columns_write_line(struct pr_monitor_columns *c,
                                   struct pr_buf *out);

/* The members of the summary. */
void pr_monitor_columns_write_sums(const struct pr_monitor_columns *c,
                                   struct pr_json_writer *jb);

/* The latest value of a column; NaN when there is none, or it is not known. */
double pr_monitor_columns_value(const struct pr_monitor_columns *c,
                                const char *name);

/* value with so many decimals, 0 to 6, no zeros at the end; returns the length.
 * Numbers too large for that are cut. */
size_t pr_monitor_column_text(char out[static 32], double value,
                              unsigned decimals);

/*
 * ---- one look at everything
 *
 * Asks each source that is due, and keeps the time each
 * takes. A slow source is asked less often, so that no device, however slow,
 * takes more than a twentieth of a core.
 *
 * Of several experiments at once each looks at its own processes; the machine
 * is looked at once for all of them, by the looks that the others follow.
 */
enum {
#define SOURCE(n) PR_SOURCE_##n,
#include "monitor/source_list.def"
#undef SOURCE
    PR_SOURCES,
};

/* In the order of the list. */
const struct pr_monitor_source *pr_monitor_source_at(unsigned i);

struct pr_monitor_sources {
    char *root;
    struct pr_monitor_sources
        *lead;      /* whoever looks at the machine; NULL: we do */
    bool leads;     /* others follow: no processes are looked at */
    uint64_t at_ns; /* of the latest look; 0: none yet */
    int *ours;      /* by number of the lead's columns: ours; -1 */
    size_t n_ours;
    struct pr_monitor_columns columns;
    struct pr_buf text;
    bool last;                    /* this look is the experiment's last */
    double used_s;                /* as in struct pr_monitor_sample */
    _Atomic(const char *) asking; /* the source that is being asked; "": none */
    struct {
        void *state;
        uint64_t last_ns;   /* when it was asked, in this experiment; 0 */
        uint64_t rescan_ns; /* when it is to look for devices */
        uint64_t rest_ns;   /* not to be asked before */
        uint64_t took_ns;   /* the last time */
        double dt;          /* of that look */
    } of[PR_SOURCES];
    struct pr_monitor_source_sampled
        looked[PR_SOURCES]; /* in the latest look */
};

/* False when out of memory. root is copied; NULL: "". */
bool pr_monitor_sources_init(struct pr_monitor_sources *l, const char *root);
void pr_monitor_sources_close(struct pr_monitor_sources *l);

/* A new experiment: the next look is its first. */
void pr_monitor_sources_begin(struct pr_monitor_sources *l);

/* interval_s: what is between two looks; for an extreme, at least half of that
 * must have passed. pid as in struct pr_monitor_sample. */
void pr_monitor_sources_sample(struct pr_monitor_sources *l, double interval_s,
                               int pid);

#endif
