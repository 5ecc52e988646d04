/*
 * A DLBS config to experiments: no text may crash, leak or take long, and what
 * is accepted gives valid JSON. The first experiments are enough.
 */
#include "plan/plan.h"
#include "plan/source.h"

#include "fuzz_plan.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_INPUT = 4096 };

/* As pr_plan_config, from memory. */
static int add_config(struct pr_plan *p, const char *text, size_t len,
                      struct pr_err *err)
{
    struct pr_config_source src;
    int rc = pr_config_source_parse(text, len, "in", p->scope.arena, &src, err);

    if (rc)
        return rc;
    rc = pr_config_source_read_parts(&p->scope, &src, PR_FROM_CONFIG,
                                     &p->configs, &p->config_count, err);
    p->config_cap = p->config_count;
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* The last byte says whether our own parameters take part. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct pr_plan_opts opts = {.no_defaults =
                                    !bytes || data[bytes - 1] % 2 == 0};
    struct pr_err err = {0};
    struct pr_plan *p;
    char *text;
    int rc;

    if (bytes > MAX_INPUT)
        return 0;
    p = pr_plan_new(&opts);
    text = malloc(bytes + 1);
    must(p && text);
    if (bytes)
        memcpy(text, data, bytes);
    text[bytes] = '\0';
    rc = add_config(p, text, bytes, &err);
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
