/* From milarun's functions to parameters of ours. */
#include "workload/suite_native.h"

#include "conf/opt.h"

int pr_suite_native(const char *experiment, const struct pr_value *args,
                    struct pr_arena *a, struct pr_value *ret,
                    struct pr_err *err)
{
    (void)experiment;
    (void)args;
    (void)a;
    (void)ret;
    return pr_fail(err, PR_E_UNAVAIL, "",
                   "milarun is not installed and Prony has no equivalent");
}

bool pr_suite_is_given(const struct pr_member *param)
{
    const struct pr_opt *opt = pr_opt_find(param->key, NULL);
    struct pr_value def = opt ? pr_opt_default(opt) : pr_null();

    return !opt || !pr_equal(&def, &param->value);
}
