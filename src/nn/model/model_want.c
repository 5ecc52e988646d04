/* Values of a definition as what an option wants: a number, yes or no. */
#include "nn/model/model_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

int pr_model_fail_wants(struct pr_model_builder *b, const struct pr_value *v,
                        const char *key, const char *want)
{
    PR_AUTO_BUF struct pr_buf got = PR_BUF_INIT(4096);

    if (v->kind == PR_NULL)
        return PR_MODEL_FAIL(b, v, "'%.64s' wants %s, got nothing", key, want);
    if (v->kind == PR_STR)
        return PR_MODEL_FAIL(b, v, "'%.64s' wants %s, got '%.64s'", key, want,
                             v->s);
    if (v->kind == PR_MAP || v->kind == PR_LIST)
        return PR_MODEL_FAIL(b, v, "'%.64s' wants %s, got %s", key, want,
                             pr_kind_name(v->kind));
    pr_value_write_text(&got, v);
    return PR_MODEL_FAIL(b, v, "'%.64s' wants %s, got %.64s", key, want,
                         pr_buf_ok(&got) ? got.data : "another");
}

int pr_model_eval_int(struct pr_model_builder *b,
                      const struct pr_model_env *env, const struct pr_value *v,
                      const char *key, int64_t min, int64_t max, int64_t *ret)
{
    struct pr_value is;
    char want[96];
    int rc = pr_model_eval(b, env, v, &is);

    if (rc)
        return rc;
    if (is.kind == PR_INT && is.i >= min && is.i <= max) {
        *ret = is.i;
        return PR_OK;
    }
    if (is.kind == PR_INT && is.i > max)
        snprintf(want, sizeof want, "a whole number of at most %" PRId64, max);
    else if (is.kind == PR_INT)
        snprintf(want, sizeof want, "a whole number of at least %" PRId64, min);
    else
        snprintf(want, sizeof want, "a whole number");
    return pr_model_fail_wants(b, &is, key, want);
}

int pr_model_eval_bool(struct pr_model_builder *b,
                       const struct pr_model_env *env, const struct pr_value *v,
                       const char *key, bool *ret)
{
    struct pr_value is;
    int rc = pr_model_eval(b, env, v, &is);

    if (rc)
        return rc;
    if (is.kind != PR_BOOL)
        return pr_model_fail_wants(b, &is, key, "true or false");
    *ret = is.b;
    return PR_OK;
}

static bool fits_field_limits(const struct pr_model_field *f, double x)
{
    return isfinite(x) && (f->open_min ? x > f->min : x >= f->min) &&
           (f->open_max ? x < f->max : x <= f->max);
}

int pr_model_eval_number(struct pr_model_builder *b,
                         const struct pr_model_env *env,
                         const struct pr_value *v,
                         const struct pr_model_field *f, double *ret)
{
    struct pr_value is;
    char want[96];
    int rc = pr_model_eval(b, env, v, &is);

    if (rc)
        return rc;
    if (!pr_value_is_number(&is))
        return pr_model_fail_wants(b, &is, f->name, "a number");
    if (!fits_field_limits(f, pr_value_number(&is))) {
        snprintf(want, sizeof want, "a number %s %g %s %g",
                 f->open_min ? "above" : "from", f->min,
                 f->open_max ? "to below" : "to", f->max);
        return pr_model_fail_wants(b, &is, f->name, want);
    }
    *ret = pr_value_number(&is);
    return PR_OK;
}
