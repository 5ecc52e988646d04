/* Where a run goes that was given no folder, and where its data is. */
#include "base/clock.h"
#include "base/file.h"
#include "cli/targets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The part of a target's name that says what it is. */
static const char *find_target_stem(struct cli *c, size_t *ret_len)
{
    const char *name = "run", *slash, *dot;

    for (size_t i = 0; i < c->rest_count; i++) {
        if (strchr(c->rest[i], '='))
            continue;
        slash = strrchr(c->rest[i], '/');
        name = slash ? slash + 1 : c->rest[i];
        break;
    }
    dot = strchr(name, '.');
    *ret_len = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    return name;
}

const char *runs_dir(struct cli *c, const char *suffix, struct pr_err *err)
{
    char time[32];
    size_t len;
    const char *name = find_target_stem(c, &len);
    const char *base =
        pr_arena_printf(c->arena, "runs/%.*s%s.%s", (int)len, name, suffix,
                        pr_time_name(time, pr_wall_clock_ns()));
    const char *path = base;

    if (pr_make_dirs("runs", err))
        return NULL;
    for (int i = 2; path && mkdir(path, 0755) < 0; i++) {
        if (errno != EEXIST || i > 10000) {
            (void)pr_fail_errno(err, PR_E_IO, path, "cannot make the folder");
            return NULL;
        }
        path = pr_arena_printf(c->arena, "%s.%d", base, i);
    }
    if (!path)
        (void)pr_fail_nomem(err);
    return path;
}

int set_data_root(struct pr_arena *a, const char *dir, struct pr_err *err)
{
    if (!dir)
        dir = getenv("PRONY_DATA");
    if (!dir)
        dir = getenv("MILARUN_DATAROOT");
    if (!dir)
        return PR_OK;
    dir = pr_folder_absolute(dir, a);
    if (!dir || setenv("PRONY_DATA", dir, 1) ||
        setenv("MILARUN_DATAROOT", dir, 1))
        return pr_fail_nomem(err);
    return PR_OK;
}
