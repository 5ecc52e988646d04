/*
 * A profile to experiments: no text may crash, leak or take long, and what is
 * accepted gives valid JSON. The first byte says how many devices.
 */
#include "plan/from/from_milarun.h"
#include "plan/plan.h"
#include "plan/source.h"

#include "fuzz_plan.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_INPUT = 4096 };

static int add_target(struct pr_plan *p, const char *text, size_t len,
                      struct pr_err *err)
{
    struct pr_config_source src;
    int rc = pr_config_source_parse(text, len, "in", p->scope.arena, &src, err);

    if (rc)
        return rc;
    rc = pr_config_source_read_parts(&p->scope, &src, PR_FROM_TARGET,
                                     &p->targets, &p->target_count, err);
    p->target_cap = p->target_count;
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct pr_plan_opts opts = {.no_defaults = true};
    struct pr_err err = {0};
    struct pr_plan *p;
    char *text, devices[8];
    int rc;

    if (!bytes || bytes > MAX_INPUT)
        return 0;
    p = pr_plan_new(&opts);
    text = malloc(bytes);
    must(p && text);
    memcpy(text, data + 1, bytes - 1);
    text[bytes - 1] = '\0';
    devices[0] = (char)('1' + data[0] % 4);
    devices[1] = '\0';
    must(pr_devices_set(&p->scope, devices, NULL) == PR_OK);
    rc = add_target(p, text, bytes - 1, &err);
    if (!rc)
        rc = pr_plan_build(p, &err);
    must(rc == err.code || !rc);
    if (rc)
        must(err.msg[0] && (rc == PR_E_CONF || rc == PR_E_UNAVAIL));
    else
        walk(p);
    pr_plan_free(p);
    free(text);
    return 0;
}
