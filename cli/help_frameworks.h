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

/* A page on one, and a JSON object. */
void framework_page(const struct framework_row *r, struct pr_buf *out);
void framework_json(const struct framework_row *r, struct pr_json_writer *jb);

/* "built in", "by a program of Prony's", "by a launcher of yours". */
const char *framework_how(const struct pr_framework *f);

#endif
