/* Memory, and what a control group leaves of it and of the processors. */
#include "machine/cgroup.h"
#include "machine/kernel_file.h"

#include <math.h>
#include <string.h>

static void add_huge_pages(struct pr_machine_env *e)
{
    char text[PR_MACHINE_ENV_WORD];

    if (pr_machine_env_text(e, text, sizeof text,
                            "/sys/kernel/mm/transparent_hugepage/enabled"))
        pr_json_put_str(&e->jb, "transparent_huge_pages",
                        pr_machine_env_chosen(text));
}

/* "/dev/sda2 partition 1048572 0 -2", sizes in kB */
static bool add_swap(struct pr_machine_env *e, char *line, bool is_first)
{
    char *save = NULL, *word[4] = {NULL};
    uint64_t kb;

    for (int i = 0; i < 4; i++)
        if (!(word[i] = strtok_r(i ? NULL : line, " \t", &save)))
            return false;
    if (!pr_machine_env_parse_uint(word[2], &kb) || kb > UINT64_MAX >> 10)
        return false;
    if (is_first)
        pr_json_open_array(&e->jb, "swaps");
    pr_json_open_object(&e->jb, NULL);
    pr_json_put_str(&e->jb, "file", word[0]);
    pr_json_put_str(&e->jb, "type", word[1]);
    pr_json_put_uint(&e->jb, "size_bytes", kb << 10);
    pr_json_close(&e->jb);
    return true;
}

static void add_swaps(struct pr_machine_env *e)
{
    struct pr_machine_env_lines l;
    bool any = false;
    char *line;

    if (!pr_machine_env_lines_open(e, &l, "/proc/swaps"))
        return;
    while ((line = pr_machine_env_lines_next(&l)))
        any |= add_swap(e, line, !any);
    if (any)
        pr_json_close(&e->jb);
}

void pr_machine_env_memory(struct pr_machine_env *e)
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
    struct pr_machine_env_lines l;
    unsigned done = 0; /* one bit a row: a line given twice counts once */
    char *line;

    pr_json_open_object(&e->jb, "memory");
    if (pr_machine_env_lines_open(e, &l, "/proc/meminfo"))
        while ((line = pr_machine_env_lines_next(&l)))
            for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
                const char *v = pr_machine_env_field(line, rows[i].name);
                uint64_t u;
                if (!v || done & 1u << i || !pr_machine_env_parse_uint(v, &u) ||
                    u > UINT64_MAX >> rows[i].shift)
                    continue;
                pr_json_put_uint(&e->jb, rows[i].key, u << rows[i].shift);
                done |= 1u << i;
            }
    add_huge_pages(e);
    add_swaps(e);
    pr_json_close(&e->jb);
}

struct cgroups {
    bool v1, v2;
    char unified[1024], memory[1024]; /* paths; "": none */
};

static bool is_in_comma_list(const char *list, size_t len, const char *word)
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
static void env_read_cgroup_line(struct cgroups *g, const char *line)
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
    if (is_in_comma_list(first + 1, len, "memory"))
        keep_path(g->memory, second + 1);
}

/* The limits on our group and on those above it. */
static void env_add_cgroup_limits(struct pr_machine_env *e)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_cgroup h;
    uint64_t bytes;
    double cpus;

    /* No limit is, in version 1, the largest multiple of the page size below
     * 2^63. */
    if (a && !pr_cgroup_find_mount(e->root, "memory", a, &h, NULL) &&
        h.version && (bytes = pr_cgroup_memory_limit(&h)) < (uint64_t)1 << 62)
        pr_json_put_uint(&e->jb, "memory_limit_bytes", bytes);
    if (a && !pr_cgroup_find_mount(e->root, "cpu", a, &h, NULL) && h.version &&
        isfinite(cpus = pr_cgroup_cpu_limit(&h)))
        pr_json_put_float(&e->jb, "cpu_limit", cpus);
}

void pr_machine_env_cgroup(struct pr_machine_env *e)
{
    struct cgroups g = {0};
    struct pr_machine_env_lines l;
    char *line;

    if (pr_machine_env_lines_open(e, &l, "/proc/self/cgroup"))
        while ((line = pr_machine_env_lines_next(&l)))
            env_read_cgroup_line(&g, line);
    if (!g.v1 && !g.v2)
        return;
    pr_json_open_object(&e->jb, "cgroup");
    pr_json_put_str(&e->jb, "version",
                    g.v1 && g.v2 ? "hybrid"
                    : g.v2       ? "v2"
                                 : "v1");
    pr_json_put_str(&e->jb, "path",
                    g.v1 && g.memory[0] ? g.memory
                    : g.unified[0]      ? g.unified
                                        : NULL);
    env_add_cgroup_limits(e);
    pr_json_close(&e->jb);
}
