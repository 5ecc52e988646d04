/* milarun's run and rerun: one experiment, its result to a file or stdout. */
#ifndef PR_COMPAT_MILARUN_RUN_H
#define PR_COMPAT_MILARUN_RUN_H

#include "compat/milarun/milarun.h"

int milarun_run(struct pr_arena *a, const struct milarun_args *m);
int milarun_rerun(struct pr_arena *a, const struct milarun_args *m);

/* Of milarun.c. */
const char *milarun_dataroot(struct pr_arena *a, const struct milarun_args *m);
const char *milarun_out(struct pr_arena *a, const struct milarun_args *m);
int milarun_no_dataroot(void);

#endif
