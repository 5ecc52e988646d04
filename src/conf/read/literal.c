/* Values written by hand. */
#include "conf/read/literal.h"

#include "base/json/json.h"
#include "base/units.h"
#include "conf/option/opt.h"

#include <string.h>

/* Text that was surely meant as something else: it has JSON's brackets or
 * quotes, or is a word of Python's. */
static bool is_slip(const char *s, size_t len)
{
    static const char *const words[] = {"True", "False", "None"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == len && memcmp(words[i], s, len) == 0)
            return true;
    return len && memchr("[{\"'", *s, 4);
}

/* 1_000_000 is a number, though not JSON's. */
static bool literal_read_int(const char *s, struct pr_value *ret)
{
    int64_t i;

    if (!strchr(s, '_') || !pr_parse_int(s, &i))
        return false;
    *ret = pr_int(i);
    return true;
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
    if (rc == PR_OK ? stays_text(name, ret) : !literal_read_int(copy, ret))
        *ret = pr_strn(copy, len);
    if (ret_slip)
        *ret_slip = rc && is_slip(text, len) ? slip : (struct pr_err){0};
    return PR_OK;
}
