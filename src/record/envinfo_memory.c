/* Memory, and what a control group leaves of it and of the processors. */
#include "record/envinfo_read.h"

#include <string.h>

static void add_huge_pages(struct pr_env *e)
{
    char text[PR_ENV_WORD];

    if (pr_env_text(e, text, sizeof text,
                    "/sys/kernel/mm/transparent_hugepage/enabled"))
        pr_jb_str(&e->jb, "transparent_huge_pages", pr_env_chosen(text));
}

/* "/dev/sda2 partition 1048572 0 -2", sizes in kB */
static bool add_swap(struct pr_env *e, char *line, bool is_first)
{
    char *save = NULL, *word[4] = {NULL};
    uint64_t kb;

    for (int i = 0; i < 4; i++)
        if (!(word[i] = strtok_r(i ? NULL : line, " \t", &save)))
            return false;
    if (!pr_env_parse_uint(word[2], &kb) || kb > UINT64_MAX >> 10)
        return false;
    if (is_first)
        pr_jb_arr(&e->jb, "swaps");
    pr_jb_obj(&e->jb, NULL);
    pr_jb_str(&e->jb, "file", word[0]);
    pr_jb_str(&e->jb, "type", word[1]);
    pr_jb_uint(&e->jb, "size_bytes", kb << 10);
    pr_jb_end(&e->jb);
    return true;
}

static void add_swaps(struct pr_env *e)
{
    struct pr_env_lines l;
    bool any = false;
    char *line;

    if (!pr_env_lines_open(e, &l, "/proc/swaps"))
        return;
    while ((line = pr_env_lines_next(&l)))
        any |= add_swap(e, line, !any);
    if (any)
        pr_jb_end(&e->jb);
}

void pr_env_memory(struct pr_env *e)
{
    static const struct {
        const char *name, *key;
        unsigned shift; /* to bytes */
    } rows[] = {
        {"MemTotal", "total_bytes", 10},
        {"MemAvailable", "available_bytes", 10},
        {"SwapTotal", "swap_total_bytes", 10},
        {"SwapFree", "swap_free_bytes", 10},
        {"HugePages_Total", "huge_pages_total", 0},
        {"HugePages_Free", "huge_pages_free", 0},
        {"Hugepagesize", "huge_page_bytes", 10},
    };
    struct pr_env_lines l;
    unsigned done = 0; /* one bit a row: a line given twice counts once */
    char *line;

    pr_jb_obj(&e->jb, "memory");
    if (pr_env_lines_open(e, &l, "/proc/meminfo"))
        while ((line = pr_env_lines_next(&l)))
            for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
                const char *v = pr_env_field(line, rows[i].name);
                uint64_t u;
                if (!v || done & 1u << i || !pr_env_parse_uint(v, &u) ||
                    u > UINT64_MAX >> rows[i].shift)
                    continue;
                pr_jb_uint(&e->jb, rows[i].key, u << rows[i].shift);
                done |= 1u << i;
            }
    add_huge_pages(e);
    add_swaps(e);
    pr_jb_end(&e->jb);
}

struct cgroups {
    bool v1, v2;
    char unified[1024], memory[1024], cpu[1024]; /* paths; "": none */
};

static bool in_list(const char *list, size_t len, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = list; p < list + len; p++) {
        const char *comma = memchr(p, ',', (size_t)(list + len - p));
        const char *stop = comma ? comma : list + len;
        if ((size_t)(stop - p) == n && memcmp(p, word, n) == 0)
            return true;
        p = stop;
    }
    return false;
}

static void keep_path(char out[static 1024], const char *path)
{
    size_t n = strlen(path);

    if (path[0] != '/' || n >= 1024 || strstr(path, ".."))
        return;
    memcpy(out, path, n + 1);
}

/* "4:cpu,cpuacct:/a/b" or "0::/a/b" */
static void read_group(struct cgroups *g, const char *line)
{
    const char *first = strchr(line, ':');
    const char *second = first ? strchr(first + 1, ':') : NULL;
    size_t len;

    if (!second || second[1] != '/')
        return;
    len = (size_t)(second - first - 1);
    if (len == 0) {
        g->v2 = true;
        keep_path(g->unified, second + 1);
        return;
    }
    g->v1 = true;
    if (in_list(first + 1, len, "memory"))
        keep_path(g->memory, second + 1);
    if (in_list(first + 1, len, "cpu"))
        keep_path(g->cpu, second + 1);
}

/* "max 100000" or "250000 100000": how many processors that is. */
static bool v2_cpus(struct pr_env *e, const char *mount, const char *path,
                    double *ret)
{
    char text[64];
    uint64_t quota, period;
    const char *blank;

    if (!pr_env_text(e, text, sizeof text, "%s%s/cpu.max", mount, path))
        return false;
    blank = strchr(text, ' ');
    if (!blank || !pr_env_parse_uint(text, &quota) ||
        !pr_env_parse_uint(blank + 1, &period) || !period)
        return false;
    *ret = (double)quota / (double)period;
    return true;
}

static bool v2_memory(struct pr_env *e, const char *mount, const char *path,
                      double *ret)
{
    uint64_t u;

    if (!pr_env_uint(e, &u, "%s%s/memory.max", mount, path))
        return false;
    *ret = (double)u;
    return true;
}

static bool v1_cpus(struct pr_env *e, const char *mount, const char *path,
                    double *ret)
{
    uint64_t quota, period;

    /* No limit is -1, which is no such number. */
    if (!pr_env_uint(e, &quota, "%s%s/cpu.cfs_quota_us", mount, path) ||
        !pr_env_uint(e, &period, "%s%s/cpu.cfs_period_us", mount, path) ||
        !period)
        return false;
    *ret = (double)quota / (double)period;
    return true;
}

static bool v1_memory(struct pr_env *e, const char *mount, const char *path,
                      double *ret)
{
    uint64_t u;

    /* No limit is the largest multiple of the page size below 2^63. */
    if (!pr_env_uint(e, &u, "%s%s/memory.limit_in_bytes", mount, path) ||
        u >= (uint64_t)1 << 62)
        return false;
    *ret = (double)u;
    return true;
}

typedef bool limit_fn(struct pr_env *e, const char *mount, const char *path,
                      double *ret);

/* The tightest limit from the group up to the root. In a container the path
 * may name what cannot be seen from inside: then only the root counts. */
static bool tightest(struct pr_env *e, limit_fn *limit, const char *mount,
                     const char *group, double *ret)
{
    char path[1024];
    bool found = false;
    double d;

    memcpy(path, group, strlen(group) + 1);
    for (;;) {
        char *slash = strrchr(path, '/');
        if (slash && !slash[1])
            *slash = '\0';
        if (limit(e, mount, path, &d) && (!found || d < *ret)) {
            *ret = d;
            found = true;
        }
        slash = strrchr(path, '/');
        if (!slash)
            return found;
        *slash = '\0';
    }
}

static bool lookup(struct pr_env *e, const struct cgroups *g, bool cpu,
                   double *ret)
{
    const char *v1_path = cpu ? g->cpu : g->memory;
    limit_fn *v2 = cpu ? v2_cpus : v2_memory;
    double a, b;
    bool one, two;

    one = g->v1 && v1_path[0] &&
          tightest(e, cpu ? v1_cpus : v1_memory,
                   cpu ? "/sys/fs/cgroup/cpu" : "/sys/fs/cgroup/memory",
                   v1_path, &a);
    two = g->v2 && g->unified[0] &&
          tightest(e, v2, g->v1 ? "/sys/fs/cgroup/unified" : "/sys/fs/cgroup",
                   g->unified, &b);
    if (one || two)
        *ret = one && (!two || a < b) ? a : b;
    return one || two;
}

void pr_env_cgroup(struct pr_env *e)
{
    struct cgroups g = {0};
    struct pr_env_lines l;
    char *line;
    double d;

    if (pr_env_lines_open(e, &l, "/proc/self/cgroup"))
        while ((line = pr_env_lines_next(&l)))
            read_group(&g, line);
    if (!g.v1 && !g.v2)
        return;
    pr_jb_obj(&e->jb, "cgroup");
    pr_jb_str(&e->jb, "version", g.v1 && g.v2 ? "hybrid" : g.v2 ? "v2" : "v1");
    pr_jb_str(&e->jb, "path",
              g.v1 && g.memory[0] ? g.memory
              : g.unified[0]      ? g.unified
                                  : NULL);
    if (lookup(e, &g, false, &d))
        pr_jb_uint(&e->jb, "memory_limit_bytes", (uint64_t)d);
    if (lookup(e, &g, true, &d))
        pr_jb_float(&e->jb, "cpu_limit", d);
    pr_jb_end(&e->jb);
}
