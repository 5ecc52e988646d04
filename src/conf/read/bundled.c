/* Finding bundled files. */
#include "conf/read/bundled.h"

#include "base/file.h"
#include "prony_config.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_share(const char *dir)
{
    char path[4096];
    size_t n = strlen(dir);

    if (n + sizeof "/workloads" > sizeof path)
        return false;
    memcpy(path, dir, n);
    memcpy(path + n, "/workloads", sizeof "/workloads");
    return access(path, R_OK | X_OK) == 0;
}

const char *pr_bundled_dir(struct pr_arena *a)
{
    /* bin/prony -> share/prony; build/prony -> the source tree. */
    static const char *const beside[] = {"/../share/prony", "/.."};
    const char *dir = getenv("PRONY_SHARE");
    char exe[4096], whole[PATH_MAX];
    ssize_t n;

    if (dir && *dir)
        return is_share(dir) ? dir : NULL;
    n = readlink("/proc/self/exe", exe, sizeof exe - 32);
    while (n > 0 && exe[n - 1] != '/')
        n--;
    for (size_t i = 0; n > 0 && i < sizeof beside / sizeof *beside; i++) {
        memcpy(exe + n - 1, beside[i], strlen(beside[i]) + 1);
        if (is_share(exe) && realpath(exe, whole))
            return pr_arena_str(a, whole);
    }
    return is_share(PR_SHAREDIR) ? PR_SHAREDIR : NULL;
}

const char *pr_bundled_find(struct pr_arena *a, const char *folder,
                            const char *name)
{
    static const char *const endings[] = {"yaml", "json"};
    const char *dir = pr_bundled_dir(a);

    for (size_t i = 0; dir && i < sizeof endings / sizeof *endings; i++) {
        const char *path =
            pr_arena_printf(a, "%s/%s/%s.%s", dir, folder, name, endings[i]);
        if (path && access(path, R_OK) == 0)
            return path;
    }
    return NULL;
}

static bool is_config(int at, const struct dirent *e)
{
    const char *dot = strrchr(e->d_name, '.');

    (void)at;
    return e->d_name[0] != '.' && dot &&
           (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".json") == 0);
}

int pr_bundled_each(const char *folder,
                    int (*each)(void *ctx, const char *name, const char *path),
                    void *ctx, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    const char *share = a ? pr_bundled_dir(a) : NULL;
    const char *dir = share ? pr_arena_printf(a, "%s/%s", share, folder) : NULL;
    const char **names = NULL;
    size_t n = 0;
    int rc = dir ? pr_folder_names(dir, is_config, a, &names, &n, err) : PR_OK;

    for (size_t i = 0; i < n && !rc; i++) {
        const char *path = pr_arena_printf(a, "%s/%s", dir, names[i]);
        const char *name = pr_arena_copy(
            a, names[i], (size_t)(strrchr(names[i], '.') - names[i]));
        rc = path && name ? each(ctx, name, path) : pr_fail_nomem(err);
    }
    return rc;
}
