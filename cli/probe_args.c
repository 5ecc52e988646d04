/* The options of `prony probe` are parameters, so that the plan keeps them. */
#include "cli/probe_args.h"

#include "base/file.h"
#include "present/chart/plot_probe.h"
#include "prony/probe.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static int probe_args_add_number(struct cli *c, struct pr_plan *p,
                                 enum arg_id id, long min, const char *name,
                                 struct pr_err *err)
{
    const char *value = arg_get(c, id);
    long n;
    int rc;

    if (!value)
        return PR_OK;
    rc = arg_number(c, id, min, 0, &n, err);
    return rc ? rc
              : pr_plan_param_text(p, name, value, option_at(id)->name, err);
}

static void probe_args_print_warning(void *ctx, const char *where,
                                     const char *text, const char *remedy)
{
    (void)ctx;
    message_print_warning(where, text, remedy);
}

/* Read here to complain before anything runs; experiments read it again, so
 * its name becomes absolute. */
static int add_config(struct cli *c, struct pr_plan *p, struct pr_err *err)
{
    const char *file = arg_get(c, A_PROBE_CONFIG), *from = "--probe-config";
    struct pr_probe_config config = {.size = sizeof config};
    char path[PATH_MAX];
    int rc;

    if (!file) {
        file = getenv("BENCHY_CONFIG_FILE");
        from = "BENCHY_CONFIG_FILE";
    }
    if (!file || !*file)
        return PR_OK;
    rc = pr_probe_config_read(file, &config, probe_args_print_warning, NULL,
                              err);
    if (rc)
        return rc;
    if (!realpath(file, path))
        return pr_fail_errno(err, PR_E_IO, file, "where is it");
    return pr_plan_param_text(p, "probe.config", path, from, err);
}

int probe_params(struct cli *c, struct pr_plan *p, struct pr_err *err)
{
    int rc = pr_plan_param_text(p, "probe.run", "true", "probe", err);

    if (!rc)
        rc = add_config(c, p, err);
    if (!rc)
        rc = probe_args_add_number(c, p, A_PROBE_BATCHES, 1, "probe.batches",
                                   err);
    if (!rc)
        rc =
            probe_args_add_number(c, p, A_PROBE_TRIALS, 1, "probe.trials", err);
    return rc ? rc
              : probe_args_add_number(c, p, A_PROBE_WARMUP, 0, "probe.warmup",
                                      err);
}

int probe_chart(const char *dir, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf svg = PR_BUF_INIT(64 << 20);
    char path[4096];
    bool any;
    int rc = pr_probe_chart(dir, &svg, &any, err);

    if (rc || !any)
        return rc;
    if (!pr_buf_ok(&svg))
        return pr_fail_nomem(err);
    if (snprintf(path, sizeof path, "%s/probe.svg", dir) >= (int)sizeof path)
        return pr_fail(err, PR_E_IO, dir, "the name is too long");
    return pr_file_write(path, svg.data, svg.len, err);
}
