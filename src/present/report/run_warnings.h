/* The warnings of a run's experiments, each text once. */
#ifndef PR_PRESENT_RUN_WARNINGS_H
#define PR_PRESENT_RUN_WARNINGS_H

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

/* Lines "warning: TEXT (3 experiments)", at most max of them. */
int pr_run_warnings(const char *dir, uint32_t max, struct pr_buf *out,
                    struct pr_err *err) PR_MUST_CHECK;

#endif
