/*
 * The data of an emulated training: made if that is asked for, found, and out
 * of the page cache when it should be.
 */
#ifndef PR_EMULATE_DATA_H
#define PR_EMULATE_DATA_H

#include "emulate/emulate.h"
#include "job/progress.h"

struct pr_data_session {
    struct pr_emulate *e; /* its set may learn other names of files */
    struct pr_emulate_stats *stats;
    struct pr_progress *progress;
    const bool *stop;
    struct pr_storage
        *st;      /* open from pr_data_session_open to pr_data_session_close */
    bool is_ours; /* this run made all of it */
    bool dropped[PR_SPLITS]; /* before its first phase, or not at all */
    struct pr_buf *notes;    /* warnings, a line each */
};

/* workflow.generate_data: makes the set, or sees that it is there. */
int pr_data_session_make(struct pr_data_session *d,
                         struct pr_err *err) PR_MUST_CHECK;

/* Opens the storage and looks for the files. */
int pr_data_session_open(struct pr_data_session *d,
                         struct pr_err *err) PR_MUST_CHECK;

/* Before a phase: drops pages where that is asked for, and finds out how much
 * is in the page cache (a share, -1: not known). */
int pr_data_session_before_phase(struct pr_data_session *d, enum pr_split split,
                                 double *ret_cached,
                                 struct pr_err *err) PR_MUST_CHECK;

void pr_data_session_close(struct pr_data_session *d);

/* dataset.keep_files=false: takes the set away that this run made. */
int pr_data_session_remove(struct pr_data_session *d,
                           struct pr_err *err) PR_MUST_CHECK;

#endif
