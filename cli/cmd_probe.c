/* `prony probe`: a run whose experiments are probed instead of done. */
#include "cli/cli.h"

/* Defaults alone describe no training. */
static bool probe_has_targets(const struct cli *c)
{
    return c->rest_count || arg_get(c, A_PARAM) || arg_get(c, A_CONFIG) ||
           arg_get(c, A_SET_FILE);
}

int cmd_probe(struct cli *c, struct pr_err *err)
{
    if (probe_has_targets(c))
        return cmd_run(c, err);
    (void)pr_fail(err, PR_E_USAGE, "", "nothing says what is to be probed");
    return pr_hint(err, "name a workload: prony probe unet3d_h100 -d DIR; "
                        "'prony plan --list' shows the names");
}
