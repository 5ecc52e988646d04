/* --name: which experiments are wanted, and whether a profile has them all. */
#include "plan/only.h"

#include <string.h>

bool pr_only_has(const char *list, const char *name, size_t len)
{
    for (const char *p = list;; p++) {
        size_t n = strcspn(p, ",");

        if (n == len && memcmp(p, name, n) == 0)
            return true;
        p += n;
        if (!*p)
            return false;
    }
}

static bool check_has_job(const struct pr_plan *p, const char *name, size_t len)
{
    for (size_t i = 0; i < p->target_count; i++)
        if (strlen(p->targets[i].name) == len &&
            memcmp(p->targets[i].name, name, len) == 0)
            return true;
    return false;
}

static int check_fail_missing_jobs(const struct pr_plan *p,
                                   const struct pr_buf *names,
                                   struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf all = PR_BUF_INIT(200);

    if (!pr_buf_ok(names) && !names->over)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < p->target_count; i++)
        pr_buf_printf(&all, "%s%s", i ? ", " : "", p->targets[i].name);
    pr_fail(err, PR_E_USAGE, p->targets[0].file, "could not find job(s): %s",
            names->data);
    return pr_hint(err, "it has: %.200s%s", all.data ? all.data : "",
                   all.over ? "…" : "");
}

int pr_plan_check_only(const struct pr_plan *p, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf names = PR_BUF_INIT(300);

    if (!p->opts.only || !p->target_count)
        return PR_OK;
    for (size_t i = 0; i < p->target_count; i++)
        if (!p->targets[i].suite)
            return PR_OK;
    for (const char *at = p->opts.only;; at++) {
        size_t n = strcspn(at, ",");

        if (!check_has_job(p, at, n))
            pr_buf_printf(&names, "%s%.*s", names.len ? ", " : "", (int)n, at);
        at += n;
        if (!*at)
            break;
    }
    return names.len ? check_fail_missing_jobs(p, &names, err) : PR_OK;
}
