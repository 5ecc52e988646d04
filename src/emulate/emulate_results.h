/*
 * What an emulated training found, as metric lines: __results.NAME__= JSON.
 * Ours under plain names, DLIO's under dlio.*; and the verdict in words.
 * docs/measures.md defines them.
 */
#ifndef PR_EMULATE_RESULTS_H
#define PR_EMULATE_RESULTS_H

#include "base/json/json_write.h"
#include "emulate/emulate.h"

void pr_emulate_write_results(const struct pr_emulate *e,
                              const struct pr_emulate_stats *s,
                              struct pr_buf *out);

/* Our measures as one JSON object, by our definitions in any case. */
void pr_emulate_put_object(const struct pr_emulate *e,
                           const struct pr_emulate_stats *s,
                           struct pr_json_writer *jb, const char *key);

/* Parts of it. Of more accelerators than are listed there is the least, the
 * mean and the most; of more phases the first ones. */
enum { PR_ACCELERATORS_LISTED = 1000, PR_EPOCHS_LISTED = 10000 };

/* The main figure: ours, or DLIO's with emulate.compat=dlio. */
double pr_emulate_main_utilisation(const struct pr_emulate *e,
                                   const struct pr_emulate_stats *s);

/* What took time from the measurement itself, so that it says little of the
 * storage: a tenth of what accelerators waited, or more. */
enum pr_disturbance {
    PR_UNDISTURBED,
    PR_STOPPED, /* nothing of this process ran */
    PR_STARVED, /* threads that read had no processor: others had it */
    PR_STOLEN,  /* a hypervisor gave processors to others */
};
enum pr_disturbance
pr_verdict_emulate_disturbance(const struct pr_emulate *e,
                               const struct pr_emulate_stats *s);
/* Seconds that each reading thread could have run and had no processor; NAN:
 * not known. */
double pr_verdict_emulate_delay_s(const struct pr_emulate_stats *s);

/* DLIO's formulas leave the first steps out, and with them the time in which
 * the next ones were read ahead. Of a short epoch little else is left, and
 * then its figures are not those of the storage. */
bool pr_emulate_is_dlio_misleading(const struct pr_emulate *e,
                                   const struct pr_emulate_stats *s);

/* Whether emulate.compat makes DLIO's figures the main ones, and they may be.
 */
bool pr_emulate_is_dlio_main(const struct pr_emulate *e,
                             const struct pr_emulate_stats *s);

/* "storage keeps 14 of 16 accelerators busy; they wait 12 % of the time, on
 * reading (not decoding)". */
void pr_verdict_emulate_write(const struct pr_emulate *e,
                              const struct pr_emulate_stats *s,
                              struct pr_buf *out);

#endif
