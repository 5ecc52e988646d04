/* The modules of machine/describe/sysinfo.h; each writes one JSON value, as the
 * member key of an object or, without one, by itself. */
#ifndef PR_MACHINE_SYSINFO_IMPL_H
#define PR_MACHINE_SYSINFO_IMPL_H

#include "machine/envinfo_read.h"

void pr_machine_sysinfo_lscpu(struct pr_machine_env *e, const char *key);
void pr_machine_sysinfo_nvidiasmi(struct pr_machine_env *e, const char *key);

#endif
