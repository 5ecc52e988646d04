/* Native training that is probed instead of done. */
#ifndef PR_NATIVE_PROBE_H
#define PR_NATIVE_PROBE_H

#include "native/native_run.h"

/* Whether it has both sides. */
int pr_native_check_probe(const struct pr_native *n,
                          struct pr_err *err) PR_MUST_CHECK;

/* With a net and a source that are ready; writes the results. */
int pr_native_run_probe(struct pr_native_session *r,
                        struct pr_err *err) PR_MUST_CHECK;

#endif
