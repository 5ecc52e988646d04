/*
 * A framework that the user launches: a script or command that is given every
 * parameter as "--exp_model resnet50" and appends "__name__= JSON" lines to
 * the file of --exp_log_file. It is the contract of DLBS, whose scripts run
 * unchanged. docs/launchers.md.
 */
#ifndef PR_WORKLOAD_FRAMEWORK_SCRIPT_H
#define PR_WORKLOAD_FRAMEWORK_SCRIPT_H

#include "catalog/framework.h"
#include "workload/workload.h"

/* FRAMEWORK.name, else FAMILY.name: text or a list; NULL: neither is set. */
const struct pr_value *pr_framework_get_setting(const struct pr_job *job,
                                                const char *name);

/* Whether what runs is the user's: a script, or a command in an image. */
bool pr_framework_is_user_program(const struct pr_job *job,
                                  const struct pr_framework *f);

/* Whether a parameter is for launchers: those of exp, runtime and monitor,
 * those no table of ours has, and others that are not at their default. */
bool pr_framework_is_launcher_param(const char *name,
                                    const struct pr_value *value);

/* How to start the launcher, or FAMILY.command where there is none. f may be
 * NULL: a framework that has no file. PR_E_CONF: neither is set;
 * PR_E_UNAVAIL: the script is not there. */
int pr_framework_script_start(struct pr_job *job, const struct pr_framework *f,
                              struct pr_start *ret,
                              struct pr_err *err) PR_MUST_CHECK;

#endif
