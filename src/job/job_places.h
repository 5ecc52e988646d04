/* Which files and folders of this machine an experiment's parameters name. */
#ifndef PR_JOB_PLACES_H
#define PR_JOB_PLACES_H

#include "job/job.h"

enum pr_place_use {
    PR_PLACE_KEPT, /* may be there, and may be written to then */
    PR_PLACE_READ, /* may be there, is only read */
    PR_PLACE_MADE, /* a folder that the experiment makes if it is missing */
};

struct pr_place {
    const char *path; /* as given: relative ones are those of where we are */
    enum pr_place_use use;
};

/* In the job's arena; none is empty. A file that is written counts as the
 * folder it is in. */
int pr_job_find_places(const struct pr_job *job, struct pr_place **ret,
                       size_t *ret_count, struct pr_err *err) PR_MUST_CHECK;

/* The same path from any folder: whole, without dots, links as they are. */
int pr_job_absolute_path(const char *path, struct pr_arena *a, const char **ret,
                         struct pr_err *err) PR_MUST_CHECK;

#endif
