/*
 * System information in an experiment's log, as DLBS's exp.sys_info asks for
 * it: one line "__hw.MODULE__= JSON" for each module. env.json has more; these
 * lines are for scripts that read DLBS's logs. No process is started.
 */
#ifndef PR_MACHINE_SYSINFO_H
#define PR_MACHINE_SYSINFO_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json/json_write.h"

/*
 * list: modules, separated by commas or blanks: cpuinfo, meminfo, lscpu, dmi,
 * nvidiasmi, inxi. Appends their lines; a module that this machine has nothing
 * for gives null. PR_E_CONF: no such module; PR_E_NOMEM. Then nothing is
 * appended.
 */
int pr_machine_sysinfo_lines(const char *list, struct pr_buf *out,
                             struct pr_err *err) PR_MUST_CHECK;

/* Whether there are such modules: before an experiment runs. PR_E_CONF. */
int pr_machine_sysinfo_check(const char *list,
                             struct pr_err *err) PR_MUST_CHECK;

/* All modules, as members "hw.MODULE" of the object that is open. */
void pr_machine_sysinfo_write(struct pr_json_writer *jb);

/* pr_machine_sysinfo_lines for files below root, for tests. */
int pr_machine_sysinfo_lines_at(const char *root, const char *list,
                                struct pr_buf *out,
                                struct pr_err *err) PR_MUST_CHECK;

#endif
