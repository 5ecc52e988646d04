/* Values written by hand. */
#include "conf/literal.h"

#include "base/json.h"
#include "conf/opt.h"

#include <string.h>

static bool meant_as_json(const char *s, size_t len)
{
    return len && memchr("[{\"'", *s, 4);
}

static bool stays_text(const char *name, const struct pr_value *v)
{
    const struct pr_opt *opt = pr_opt_find(name, NULL);

    return opt && opt->kind == PR_OPT_STR &&
           (v->kind <= PR_FLOAT); /* null, true, 1, 1.0 */
}

int pr_literal_read(const char *name, const char *text, size_t len,
                    struct pr_arena *a, struct pr_value *ret,
                    struct pr_err *ret_slip, struct pr_err *err)
{
    const char *copy = pr_arena_copy(a, text, len);
    struct pr_json_in in = {.text = copy, .len = len, .name = name};
    struct pr_err slip = {0};
    int rc;

    if (!copy)
        return pr_fail_nomem(err);
    rc = pr_json_read(&in, a, ret, NULL, &slip);
    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    if (rc || stays_text(name, ret))
        *ret = pr_strn(copy, len);
    if (ret_slip)
        *ret_slip = rc && meant_as_json(text, len) ? slip : (struct pr_err){0};
    return PR_OK;
}
