/* The first experiments of a plan that was accepted: valid JSON, or an error
 * that says something. */
#ifndef TESTS_FUZZ_FUZZ_PLAN_H
#define TESTS_FUZZ_FUZZ_PLAN_H

#include "base/json/json.h"
#include "plan/plan.h"

#include <stdlib.h>

enum { MAX_EXPERIMENTS = 20 };

static inline void must(bool ok)
{
    if (!ok)
        abort();
}

static inline void walk(struct pr_plan *p)
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
        must(v.kind == PR_MAP);
        pr_arena_reset(a);
    }
    must(rc >= 0 || (rc == PR_E_CONF && err.code == rc && err.msg[0]));
    pr_walk_free(w);
}

#endif
