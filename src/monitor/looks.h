/*
 * One look at everything: asks each source that is due, and keeps the time each
 * takes. A slow source is asked less often, so that no device, however slow,
 * takes more than a twentieth of a core.
 *
 * Of several experiments at once each looks at its own processes; the machine
 * is looked at once for all of them, by the looks that the others follow.
 */
#ifndef PR_MONITOR_LOOKS_H
#define PR_MONITOR_LOOKS_H

#include "monitor/columns.h"

#include <stdatomic.h>

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
