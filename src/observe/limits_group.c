/* What this process may use: processors and memory, by affinity, by what the
 * machine has, and by the control groups it is in (both versions). */
#include "base/file.h"
#include "observe/limits_impl.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_TEXT = 1 << 20 };

const char *pr_client_limits_read_text(struct pr_arena *a, const char *root,
                                       const char *name)
{
    char path[4096];
    const char *text;
    size_t len;

    if (snprintf(path, sizeof path, "%s/%s", root, name) >= (int)sizeof path ||
        pr_file_read(path, MAX_TEXT, a, &text, &len, NULL))
        return NULL;
    return text;
}

bool pr_client_limits_read_number(struct pr_arena *a, const char *root,
                                  const char *name, double *ret)
{
    const char *text = pr_client_limits_read_text(a, root, name);
    char *end;
    double n;

    if (!text)
        return false;
    n = strtod(text, &end);
    if (end == text)
        return false;
    *ret = n;
    return true;
}

/* ---- one group */

/* Folder of a group below /sys, and how to read a limit there. */
typedef bool read_fn(struct pr_arena *a, const char *sys, const char *folder,
                     double *ret);

static bool quota_v2(struct pr_arena *a, const char *sys, const char *folder,
                     double *ret)
{
    const char *name = pr_arena_printf(a, "%s/cpu.max", folder);
    const char *text = name ? pr_client_limits_read_text(a, sys, name) : NULL;
    double quota, period;

    /* Without a quota it is "max 100000". */
    if (!text || sscanf(text, "%lf %lf", &quota, &period) != 2 || quota <= 0 ||
        period <= 0)
        return false;
    *ret = quota / period;
    return true;
}

static bool quota_v1(struct pr_arena *a, const char *sys, const char *folder,
                     double *ret)
{
    const char *quota_name = pr_arena_printf(a, "%s/cpu.cfs_quota_us", folder);
    const char *period_name =
        pr_arena_printf(a, "%s/cpu.cfs_period_us", folder);
    double quota, period;

    if (!quota_name || !period_name ||
        !pr_client_limits_read_number(a, sys, quota_name, &quota) ||
        !pr_client_limits_read_number(a, sys, period_name, &period) ||
        quota <= 0 || period <= 0)
        return false;
    *ret = quota / period;
    return true;
}

static bool memory_v2(struct pr_arena *a, const char *sys, const char *folder,
                      double *ret)
{
    const char *name = pr_arena_printf(a, "%s/memory.max", folder);

    return name && pr_client_limits_read_number(a, sys, name, ret);
}

static bool memory_v1(struct pr_arena *a, const char *sys, const char *folder,
                      double *ret)
{
    const char *name = pr_arena_printf(a, "%s/memory.limit_in_bytes", folder);

    return name && pr_client_limits_read_number(a, sys, name, ret);
}

/* ---- from the group of this process to the top */

/* The lowest limit of a group and those above it; *best is lowered. */
static void walk_up(struct pr_arena *a, const char *sys, const char *mount,
                    const char *path, read_fn *read, double *best)
{
    char folder[4096];
    size_t least = strlen(mount);
    int n = snprintf(folder, sizeof folder, "%s%s", mount, path);

    if (n < 0 || n >= (int)sizeof folder)
        return;
    for (;;) {
        char *slash;
        double here;

        if (read(a, sys, folder, &here) && here > 0 && here < *best)
            *best = here;
        slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < least)
            return;
        *slash = '\0';
    }
}

/* Whether a list of names with commas has this one. */
static bool has_name(const char *list, size_t len, const char *name)
{
    size_t n = strlen(name);

    for (const char *p = list; p + n <= list + len; p++)
        if (memcmp(p, name, n) == 0 && (p == list || p[-1] == ',') &&
            (p + n == list + len || p[n] == ','))
            return true;
    return false;
}

/* Lines are NUMBER:CONTROLLERS:PATH; without controllers it is version 2. */
static void group_limit(const struct pr_client_limits *l, struct pr_arena *a,
                        const char *controller, read_fn *v1, read_fn *v2,
                        double *best)
{
    const char *text =
        pr_client_limits_read_text(a, l->roots.proc, "self/cgroup");
    const char *sys = l->roots.sys;
    char path[2048], mount[64];

    for (const char *line = text; line && *line;) {
        const char *next = strchr(line, '\n');
        const char *names = strchr(line, ':');
        const char *colon = names ? strchr(names + 1, ':') : NULL;
        size_t len;

        if (!next)
            next = line + strlen(line);
        if (!colon || colon > next)
            break;
        len = (size_t)(colon - ++names);
        snprintf(path, sizeof path, "%.*s", (int)(next - colon - 1), colon + 1);
        if (!len) {
            walk_up(a, sys, "fs/cgroup", path, v2, best);
            walk_up(a, sys, "fs/cgroup/unified", path, v2, best);
        } else if (has_name(names, len, controller)) {
            snprintf(mount, sizeof mount, "fs/cgroup/%s", controller);
            walk_up(a, sys, mount, path, v1, best);
        }
        line = *next ? next + 1 : next;
    }
}

/* ---- what there is */

static double allowed_processors(void)
{
    cpu_set_t cpus;

    /* More processors than the set has room for: all of them. */
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        return CPU_COUNT(&cpus);
    return (double)sysconf(_SC_NPROCESSORS_ONLN);
}

void pr_client_limits_find_processors(struct pr_client_limits *l)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);

    l->processors = allowed_processors();
    if (a)
        group_limit(l, a, "cpu", quota_v1, quota_v2, &l->processors);
}

void pr_client_limits_find_memory(struct pr_client_limits *l)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);
    const char *text =
        a ? pr_client_limits_read_text(a, l->roots.proc, "meminfo") : NULL;
    const char *at = text ? strstr(text, "MemTotal:") : NULL;
    double bytes;

    if (!at || sscanf(at, "MemTotal: %lf", &bytes) != 1)
        return;
    bytes *= 1024;
    group_limit(l, a, "memory", memory_v1, memory_v2, &bytes);
    l->memory = (uint64_t)bytes;
}
