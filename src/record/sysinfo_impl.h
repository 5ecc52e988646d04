/* The modules of record/sysinfo.h; each writes one JSON value. */
#ifndef PR_RECORD_SYSINFO_IMPL_H
#define PR_RECORD_SYSINFO_IMPL_H

#include "record/envinfo_read.h"

void pr_sysinfo_lscpu(struct pr_env *e);
void pr_sysinfo_nvidiasmi(struct pr_env *e);

#endif
