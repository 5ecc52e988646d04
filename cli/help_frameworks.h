/* `prony help --frameworks [NAME]`. */
#ifndef PR_CLI_HELP_FRAMEWORKS_H
#define PR_CLI_HELP_FRAMEWORKS_H

#include "base/json/json_write.h"
#include "catalog/framework.h"
#include "cli/cli.h"

/* A framework and whether this machine has it. */
struct framework_row {
    const struct pr_framework *f;
    int state; /* enum pr_framework_state */
    const char *detail;
};

int help_frameworks(struct cli *c, bool json, struct pr_err *err);

#endif
