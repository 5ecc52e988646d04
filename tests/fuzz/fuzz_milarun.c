/*
 * A profile to experiments: no text may crash, leak or take long, and what is
 * accepted gives valid JSON. The first byte says how many devices.
 */
#include "base/json.h"
#include "plan/devices.h"
#include "plan/plan_json.h"
#include "plan/source.h"
#include "plan/spec.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_EXPERIMENTS = 20, MAX_INPUT = 4096 };

static void must(bool ok)
{
    if (!ok)
        abort();
}

static int add_target(struct pr_plan *p, const char *text, size_t len,
                      struct pr_err *err)
{
    struct pr_source src;
    int rc = pr_source_parse(text, len, "in", p->scope.arena, &src, err);

    if (rc)
        return rc;
    rc = pr_source_fragments(&p->scope, &src, PR_FROM_TARGET, &p->targets,
                             &p->target_count, err);
    p->target_cap = p->target_count;
    return rc;
}

static void walk(struct pr_plan *p)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_walk *w = pr_walk_new(p);
    struct pr_experiment e;
    struct pr_err err = {0};
    int rc = 1;

    for (int i = 0; i < MAX_EXPERIMENTS && rc == 1; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT((size_t)1 << 28);
        struct pr_value v;

        rc = pr_walk_next(w, &e, &err);
        if (rc != 1)
            break;
        must(pr_experiment_json(p, &e, true, &out));
        struct pr_json_in in = {.text = out.data, .len = out.len, .name = "x"};
        must(pr_json_read(&in, a, &v, NULL, NULL) == PR_OK);
        pr_arena_reset(a);
    }
    must(rc >= 0 || (rc == PR_E_CONF && err.code == rc && err.msg[0]));
    pr_walk_free(w);
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
