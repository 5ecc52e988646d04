/*
 * Control groups: where the controllers are mounted, where we are in them, and
 * what their limits leave.
 */
#include "machine/cgroup.h"

#include "machine/kernel_file.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 1 << 17, STAT = 1 << 14 };

/* One line of mountinfo, in place. */
struct mount {
    char *root, *point, *type, *options;
};

/* "36 35 98:0 ROOT POINT opts [tag]... - TYPE source OPTIONS" */
static bool parse_mount(char *line, struct mount *m)
{
    char *save = NULL, *word[5], *dash = strstr(line, " - ");

    if (!dash)
        return false;
    *dash = '\0';
    for (int i = 0; i < 5; i++) {
        word[i] = strtok_r(i ? NULL : line, " ", &save);
        if (!word[i])
            return false;
    }
    m->root = word[3];
    m->point = word[4];
    m->type = strtok_r(dash + 3, " ", &save);
    if (!m->type || !strtok_r(NULL, " ", &save))
        return false;
    m->options = strtok_r(NULL, " ", &save);
    pr_sysfile_unescape(m->root);
    pr_sysfile_unescape(m->point);
    return m->options != NULL;
}

/* The version in which this mount has the controller, or 0. */
static int version_in(const struct mount *m, const char *controller)
{
    if (strcmp(m->type, "cgroup2") == 0)
        return 2;
    return strcmp(m->type, "cgroup") == 0 &&
           pr_sysfile_has_word(m->options, ",", controller);
}

/* The path of our group, "4:memory:/path" or "0::/path". */
static bool own_path(char *text, int version, const char *controller,
                     char **ret)
{
    char *save = NULL;

    for (char *line = strtok_r(text, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        char *list = strchr(line, ':');
        char *path = list ? strchr(list + 1, ':') : NULL;

        if (!path)
            continue;
        *path++ = '\0';
        list++;
        if (version == 2 ? !*list
                         : pr_sysfile_has_word(list, ",", controller)) {
            *ret = path;
            return true;
        }
    }
    return false;
}

/* Our group's folder. In a container its path may begin above the mount, or
 * not be below it at all; the mount's root is the container's then. */
static const char *own_folder(const char *root, const struct mount *m,
                              const char *path, struct pr_arena *a)
{
    size_t n = strcmp(m->root, "/") == 0 ? 0 : strlen(m->root);
    const char *below =
        strncmp(path, m->root, n) == 0 && (path[n] == '/' || !path[n])
            ? path + n
            : "";
    char folder[PATH_MAX];
    int len;

    if (strcmp(below, "/") == 0 || strstr(below, "/.."))
        below = "";
    len = snprintf(folder, sizeof folder, "%s%s%s", root, m->point, below);
    if (len < 0 || len >= (int)sizeof folder || access(folder, F_OK) != 0)
        snprintf(folder, sizeof folder, "%s%s", root, m->point);
    return pr_arena_str(a, folder);
}

static int cgroup_describe_mount(const char *root, const struct mount *m,
                                 int version, const char *controller,
                                 struct pr_arena *a, struct pr_cgroup *ret,
                                 struct pr_err *err)
{
    char groups[TEXT / 2], none[] = "/", *path = none;

    if (pr_sysfile_read(groups, sizeof groups, "%s/proc/self/cgroup", root))
        (void)own_path(groups, version, controller, &path);
    ret->mount = pr_arena_printf(a, "%s%s", root, m->point);
    ret->own = own_folder(root, m, path, a);
    ret->version = version;
    return ret->mount && ret->own ? PR_OK : pr_fail_nomem(err);
}

int pr_cgroup_find_mount(const char *root, const char *controller,
                         struct pr_arena *a, struct pr_cgroup *ret,
                         struct pr_err *err)
{
    char text[TEXT], *save = NULL;
    struct mount m, best = {0};
    int found = 0;

    *ret = (struct pr_cgroup){0};
    if (!pr_sysfile_read(text, sizeof text, "%s/proc/self/mountinfo", root))
        return PR_OK;
    for (char *line = strtok_r(text, "\n", &save); line && found != 1;
         line = strtok_r(NULL, "\n", &save)) {
        int v = parse_mount(line, &m) ? version_in(&m, controller) : 0;

        if (v == 1 || (v == 2 && !found)) { /* v1 has it for itself */
            found = v;
            best = m;
        }
    }
    return found ? cgroup_describe_mount(root, &best, found, controller, a, ret,
                                         err)
                 : PR_OK;
}

int pr_cgroup_find(const char *root, const char *controller, struct pr_arena *a,
                   struct pr_cgroup *ret, struct pr_err *err)
{
    char text[512];
    int rc = pr_cgroup_find_mount(root, controller, a, ret, err);

    if (!rc && ret->version == 2 &&
        (!pr_sysfile_read(text, sizeof text, "%s/cgroup.controllers",
                          ret->own) ||
         !pr_sysfile_has_word(text, " ", controller)))
        ret->version = 0;
    return rc;
}

/* Goes from our group up to the mount's root; the least that f finds. */
static double cgroup_find_tightest(const struct pr_cgroup *h,
                                   bool (*f)(const char *dir, int version,
                                             double *ret))
{
    size_t least = strlen(h->mount);
    double best = INFINITY, here;
    char folder[PATH_MAX];

    snprintf(folder, sizeof folder, "%s", h->own);
    for (;;) {
        char *slash;

        if (f(folder, h->version, &here) && here < best)
            best = here;
        slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < least)
            return best;
        *slash = '\0';
    }
}

static bool cgroup_read_memory_limit(const char *dir, int version, double *ret)
{
    uint64_t bytes;

    if (!pr_sysfile_number(&bytes, "%s/%s", dir,
                           version == 1 ? "memory.limit_in_bytes"
                                        : "memory.max"))
        return false;
    *ret = (double)bytes;
    return true;
}

static bool cpu_quota(const char *dir, int version, double *ret)
{
    char text[64];
    double quota, period;

    if (version == 2) {
        if (!pr_sysfile_read(text, sizeof text, "%s/cpu.max", dir) ||
            sscanf(text, "%lf %lf", &quota, &period) != 2)
            return false;
    } else {
        uint64_t q, p;

        if (!pr_sysfile_number(&q, "%s/cpu.cfs_quota_us", dir) ||
            !pr_sysfile_number(&p, "%s/cpu.cfs_period_us", dir))
            return false;
        quota = (double)q;
        period = (double)p;
    }
    *ret = quota / period;
    return period > 0;
}

uint64_t pr_cgroup_memory_limit(const struct pr_cgroup *h)
{
    double bytes = cgroup_find_tightest(h, cgroup_read_memory_limit);

    return bytes < 0x1p63 ? (uint64_t)bytes : UINT64_MAX;
}

double pr_cgroup_cpu_limit(const struct pr_cgroup *h)
{
    return cgroup_find_tightest(h, cpu_quota);
}

/* ---- what is left */

static uint64_t cgroup_stat_bytes(const char *stat, const char *key)
{
    char number[32];

    return pr_sysfile_field(stat, key, number, sizeof number)
               ? strtoull(number, NULL, 10)
               : 0;
}

/* The page cache gives way, files in memory do not. */
static bool limit_left(const char *dir, int version, double *ret)
{
    bool one = version == 1;
    char stat[STAT] = "";
    uint64_t used = 0;
    double cache;

    if (!cgroup_read_memory_limit(dir, version, ret))
        return false;
    (void)pr_sysfile_number(&used, "%s/%s", dir,
                            one ? "memory.usage_in_bytes" : "memory.current");
    (void)pr_sysfile_read(stat, sizeof stat, "%s/memory.stat", dir);
    cache = (double)cgroup_stat_bytes(stat, one ? "total_cache " : "file ") -
            (double)cgroup_stat_bytes(stat, one ? "total_shmem " : "shmem ");
    *ret -= fmax((double)used - fmax(cache, 0), 0);
    *ret = fmax(*ret, 0);
    return true;
}

uint64_t pr_memory_remaining(const char *root)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    char text[STAT], kib[32];
    struct pr_cgroup h;
    double left = INFINITY;

    if (pr_sysfile_read(text, sizeof text, "%s/proc/meminfo", root) &&
        pr_sysfile_field(text, "MemAvailable:", kib, sizeof kib))
        left = (double)strtoull(kib, NULL, 10) * 1024;
    if (a && !pr_cgroup_find_mount(root, "memory", a, &h, NULL) && h.version)
        left = fmin(left, cgroup_find_tightest(&h, limit_left));
    return left < 0x1p63 ? (uint64_t)left : UINT64_MAX;
}
