/* `prony plan`: show what would be run, without running it. */
#include "base/file.h"
#include "cli/plan_show.h"
#include "cli/targets.h"
#include "conf/read/bundled.h"
#include "plan/plan.h"
#include "plan/plan_write.h"
#include "present/screen.h"

#include <string.h>

enum { MAX_ROWS = 200 };

static int write_plan_to_file(struct pr_plan *p, const char *path, bool full,
                              struct pr_err *err)
{
    uint64_t n = 0;
    int rc = pr_plan_write_file(p, path, full, false, &n, err);

    if (!rc)
        message_print(SAY_INFO, "%llu experiment%s planned in %s\n",
                      (unsigned long long)n, n == 1 ? "" : "s", path);
    return rc;
}

static int print_explanation(struct pr_plan *p, const char *name,
                             struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);
    int rc = pr_plan_explain(p, name, &text, err);

    return rc ? rc : answer_print_buf(&text, err);
}

static int print_plan_config(struct pr_plan *p, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);

    pr_plan_print_config(p, &text);
    return answer_print_buf(&text, err);
}

/* The first comment of a bundled file says what it is. */
static int list_workload(void *ctx, const char *name, const char *path)
{
    struct pr_buf *out = ctx;
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    const char *text = NULL;
    size_t len;

    if (!a)
        return PR_E_NOMEM;
    if (pr_file_read(path, 1 << 20, a, &text, &len, NULL) || text[0] != '#')
        text = "# ";
    text += strspn(text, "# ");
    pr_buf_printf(out, "  %-24s ", name);
    pr_screen_clean(out, text, strcspn(text, "\n"));
    pr_buf_char(out, '\n');
    return PR_OK;
}

/* A JSON file has no comments. */
static int list_suite(void *ctx, const char *name, const char *path)
{
    const char *dot = strrchr(path, '.');

    if (!dot || strcmp(dot, ".json") != 0)
        return list_workload(ctx, name, path);
    pr_buf_printf(
        ctx, "  %-24s a suite of weighted tests (docs/bundled-suites.md)\n",
        name);
    return PR_OK;
}

/* A build without suites has none to list. */
static int list_suites(struct pr_buf *out, struct pr_err *err)
{
    struct pr_err none;
    int rc = pr_bundled_each("suites", list_suite, out, &none);

    return rc == PR_E_NOMEM ? pr_fail_nomem(err) : PR_OK;
}

static int list_bundled(struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);
    int rc = pr_bundled_each("workloads", list_workload, &text, err);

    if (!rc)
        rc = list_suites(&text, err);
    if (!rc && !text.len) {
        pr_fail(err, PR_E_UNAVAIL, "", "the bundled files are not found");
        return pr_hint(err, "set PRONY_SHARE to the folder that holds "
                            "'workloads'");
    }
    return rc ? rc : answer_print_buf(&text, err);
}

static bool plan_needs_json(const struct cli *c)
{
    const char *format = arg_get(c, A_PLAN_FORMAT);

    return format && strcmp(format, "json") == 0;
}

static int print_validation(struct cli *c, struct pr_plan *p,
                            const char *plan_file, struct pr_err *err)
{
    struct pr_validation v;
    int rc = p ? pr_plan_validate(p, &v, err)
               : pr_plan_file_validate(plan_file, &v, err);

    if (rc)
        return rc;
    rc = validation_show(&v, plan_needs_json(c), err);
    pr_validation_close(&v);
    return rc;
}

static int print_plan_view(struct cli *c, struct pr_plan *p, struct pr_err *err)
{
    const char *file = arg_get(c, A_PLAN_FILE);
    bool full = arg_on(c, A_FULL);

    if (arg_on(c, A_VALIDATE))
        return print_validation(c, p, NULL, err);
    if (arg_get(c, A_EXPLAIN))
        return print_explanation(p, arg_get(c, A_EXPLAIN), err);
    if (arg_on(c, A_PRINT_CONFIG))
        return print_plan_config(p, err);
    if (file)
        return write_plan_to_file(p, file, full, err);
    return plan_show(c, p, plan_needs_json(c), MAX_ROWS, err);
}

int cmd_plan(struct cli *c, struct pr_err *err)
{
    struct pr_plan *p;
    int rc;

    if (arg_on(c, A_LIST))
        return c->rest_count
                   ? pr_fail(err, PR_E_USAGE, "", "--list takes no target")
                   : list_bundled(err);
    rc = set_data_root(c->arena, arg_get(c, A_PLAN_DATA), err);
    if (rc)
        return rc;
    if (arg_on(c, A_VALIDATE) && finished_plan(c))
        return print_validation(c, NULL, finished_plan(c), err);
    rc = plan_from_args(c, &p, err);
    if (rc)
        return rc;
    rc = print_plan_view(c, p, err);
    pr_plan_free(p);
    return rc;
}
