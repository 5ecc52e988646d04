/* The devices that copies of a job are spread over: --devices. */
#ifndef PR_PLAN_FROM_MILARUN_H
#define PR_PLAN_FROM_MILARUN_H

#include "plan/fragment.h"

enum { PR_DEVICES_MAX = 1024 };

/* text is "auto", a number of devices, or their numbers: "0,2" or "0-3". Auto:
 * the GPUs of this machine, one slot without any. PR_E_USAGE. */
int pr_devices_set(struct pr_plan_scope *s, const char *text,
                   struct pr_err *err) PR_MUST_CHECK;

#endif
