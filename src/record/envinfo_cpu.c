/* The processors: model, shape, features, frequency, caches, NUMA nodes. */
#include "record/envinfo_read.h"

#include <string.h>

#define CPU "/sys/devices/system/cpu"

/* What one pass over /proc/cpuinfo tells. */
struct cpu {
    char model[256], vendor[64], flags[PR_ENV_LINE];
    uint64_t sockets, cores, threads;
    uint64_t socket, socket_cores; /* of the processor being read */
    bool has_socket, has_cores;
    uint64_t seen[64]; /* sockets, one bit each */
};

static void keep(char *to, size_t size, const char *from)
{
    size_t n;

    if (!from || to[0])
        return;
    n = strnlen(from, size - 1);
    memcpy(to, from, n);
    to[n] = '\0';
}

/* At the end of a processor's lines: the first one of a socket tells how many
 * cores that has, so no list of (socket, core) pairs is needed. */
static void end_processor(struct cpu *c)
{
    uint64_t bit = (uint64_t)1 << c->socket % 64;
    uint64_t *word = &c->seen[c->socket / 64 % 64];

    if (c->has_socket && c->socket < 64 * 64 && !(*word & bit)) {
        *word |= bit;
        c->sockets++;
        if (c->has_cores)
            c->cores += c->socket_cores;
    }
    c->has_socket = c->has_cores = false;
}

static void read_line(struct cpu *c, const char *line)
{
    const char *v;

    switch (line[0]) {
    case 'p':
        if (pr_env_field(line, "processor")) {
            end_processor(c);
            c->threads++;
        } else if ((v = pr_env_field(line, "physical id"))) {
            c->has_socket = pr_env_parse_uint(v, &c->socket);
        }
        break;
    case 'c':
        if ((v = pr_env_field(line, "cpu cores")))
            c->has_cores = pr_env_parse_uint(v, &c->socket_cores);
        break;
    case 'm':
        keep(c->model, sizeof c->model, pr_env_field(line, "model name"));
        break;
    case 'v':
        keep(c->vendor, sizeof c->vendor, pr_env_field(line, "vendor_id"));
        break;
    case 'f':
        keep(c->flags, sizeof c->flags, pr_env_field(line, "flags"));
        break;
    case 'F': /* arm64 */
        keep(c->flags, sizeof c->flags, pr_env_field(line, "Features"));
        break;
    case 'C':
        keep(c->vendor, sizeof c->vendor,
             pr_env_field(line, "CPU implementer"));
        break;
    }
}

/* Where /proc/cpuinfo says nothing of sockets (arm64): a core is counted at
 * its first thread. */
static void count_by_topology(struct pr_env *e, struct cpu *c)
{
    for (uint64_t i = 0; i < c->threads && i < 4096; i++) {
        uint64_t first;

        if (pr_env_uint(e, &first, CPU "/cpu%u/topology/thread_siblings_list",
                        (unsigned)i))
            c->cores += first == i;
        c->has_socket =
            pr_env_uint(e, &c->socket,
                        CPU "/cpu%u/topology/physical_package_id", (unsigned)i);
        end_processor(c);
    }
}

static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = text; (p = strstr(p, word)); p += n)
        if ((p == text || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
            return true;
    return false;
}

static void add_flags(struct pr_env *e, const char *flags)
{
    static const char *const known[] = {
        "sse4_2",   "avx",      "avx2",        "fma",         "f16c",
        "avx512f",  "avx512bw", "avx512_vnni", "avx512_bf16", "avx512_fp16",
        "avx_vnni", "amx_tile", "amx_int8",    "amx_bf16",    "neon",
        "asimd",    "asimddp",  "bf16",        "i8mm",        "sve",
        "sve2",
    };

    if (!flags[0])
        return;
    e->flags_known = true;
    e->hypervisor = has_word(flags, "hypervisor");
    pr_jb_arr(&e->jb, "flags");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (has_word(flags, known[i]))
            pr_jb_str(&e->jb, NULL, known[i]);
    pr_jb_end(&e->jb);
}

struct governors {
    uint64_t max_khz;
    size_t count;
    struct {
        char name[32];
        uint64_t policies;
    } kind[8];
};

static void see_policy(struct pr_env *e, const char *name, void *ctx)
{
    struct governors *g = ctx;
    char word[32];
    uint64_t khz;
    size_t i = 0;

    if (pr_env_uint(e, &khz, CPU "/cpufreq/%s/cpuinfo_max_freq", name) &&
        khz > g->max_khz)
        g->max_khz = khz;
    if (!pr_env_text(e, word, sizeof word, CPU "/cpufreq/%s/scaling_governor",
                     name))
        return;
    while (i < g->count && strcmp(g->kind[i].name, word) != 0)
        i++;
    if (i == sizeof g->kind / sizeof *g->kind)
        return;
    if (i == g->count) {
        memcpy(g->kind[i].name, word, sizeof word);
        g->count++;
    }
    g->kind[i].policies++;
}

static void add_frequency(struct pr_env *e)
{
    struct governors g = {0};
    char word[PR_ENV_WORD];
    uint64_t on;

    pr_env_each(e, CPU "/cpufreq", "policy", see_policy, &g);
    if (g.max_khz)
        pr_jb_float(&e->jb, "max_mhz", (double)g.max_khz / 1000);
    if (g.count) {
        pr_jb_obj(&e->jb, "governors");
        for (size_t i = 0; i < g.count; i++)
            pr_jb_uint(&e->jb, g.kind[i].name, g.kind[i].policies);
        pr_jb_end(&e->jb);
    }
    if (pr_env_text(e, word, sizeof word,
                    CPU "/cpufreq/policy0/scaling_driver"))
        pr_jb_str(&e->jb, "scaling_driver", word);
    if (pr_env_uint(e, &on, CPU "/cpufreq/boost"))
        pr_jb_bool(&e->jb, "boost", on != 0);
    else if (pr_env_uint(e, &on, CPU "/intel_pstate/no_turbo"))
        pr_jb_bool(&e->jb, "boost", on == 0);
}

/* "512K" as the kernel writes it. */
static bool cache_bytes(const char *text, uint64_t *ret)
{
    uint64_t u;

    if (!pr_env_parse_uint(text, &u) || u > UINT32_MAX)
        return false;
    text += strspn(text, "0123456789");
    *ret = *text == 'K' ? u << 10 : *text == 'M' ? u << 20 : u;
    return true;
}

static void see_cache(struct pr_env *e, const char *name, void *ctx)
{
    char word[PR_ENV_WORD];
    uint64_t u;

    (void)ctx;
    if (!pr_env_uint(e, &u, CPU "/cpu0/cache/%s/level", name))
        return;
    pr_jb_obj(&e->jb, NULL);
    pr_jb_uint(&e->jb, "level", u);
    if (pr_env_text(e, word, sizeof word, CPU "/cpu0/cache/%s/type", name))
        pr_jb_str(&e->jb, "type", word);
    if (pr_env_text(e, word, sizeof word, CPU "/cpu0/cache/%s/size", name) &&
        cache_bytes(word, &u))
        pr_jb_uint(&e->jb, "size_bytes", u);
    if (pr_env_text(e, word, sizeof word, CPU "/cpu0/cache/%s/shared_cpu_list",
                    name) &&
        (u = pr_env_list_count(word)) > 0)
        pr_jb_uint(&e->jb, "shared_by_threads", u);
    pr_jb_end(&e->jb);
}

static void add_caches(struct pr_env *e)
{
    uint64_t level;

    if (!pr_env_uint(e, &level, CPU "/cpu0/cache/index0/level"))
        return;
    pr_jb_arr(&e->jb, "caches");
    pr_env_each(e, CPU "/cpu0/cache", "index", see_cache, NULL);
    pr_jb_end(&e->jb);
}

/* Which processors this process may use: a cpuset or taskset shows here. */
static void add_allowed(struct pr_env *e)
{
    struct pr_env_lines l;
    const char *v;
    char *line;

    if (!pr_env_lines_open(e, &l, "/proc/self/status"))
        return;
    while ((line = pr_env_lines_next(&l))) {
        v = pr_env_field(line, "Cpus_allowed_list");
        if (v && *v) {
            pr_jb_str(&e->jb, "allowed", v);
            pr_jb_uint(&e->jb, "allowed_threads", pr_env_list_count(v));
            break;
        }
    }
    pr_env_lines_close(&l);
}

static void add_if(struct pr_env *e, const char *key, uint64_t u)
{
    if (u)
        pr_jb_uint(&e->jb, key, u);
}

void pr_env_cpu(struct pr_env *e)
{
    struct cpu c = {0};
    struct pr_env_lines l;
    char *line;

    if (pr_env_lines_open(e, &l, "/proc/cpuinfo"))
        while ((line = pr_env_lines_next(&l)))
            read_line(&c, line);
    end_processor(&c);
    if (c.threads && !c.sockets)
        count_by_topology(e, &c);
    pr_jb_obj(&e->jb, "cpu");
    pr_jb_str(&e->jb, "model", c.model[0] ? c.model : NULL);
    pr_jb_str(&e->jb, "vendor", c.vendor[0] ? c.vendor : NULL);
    add_if(e, "sockets", c.sockets);
    add_if(e, "cores", c.cores);
    add_if(e, "threads", c.threads);
    add_allowed(e);
    add_flags(e, c.flags);
    add_frequency(e);
    add_caches(e);
    pr_jb_end(&e->jb);
}

static void add_node_memory(struct pr_env *e, const char *name)
{
    static const char key[] = "MemTotal:";
    char text[1024];
    const char *p;
    uint64_t kb;

    if (!pr_env_text(e, text, sizeof text,
                     "/sys/devices/system/node/%s/meminfo", name))
        return;
    p = strstr(text, key);
    if (!p)
        return;
    p += strlen(key);
    if (pr_env_parse_uint(p + strspn(p, " \t"), &kb) && kb < UINT64_MAX >> 10)
        pr_jb_uint(&e->jb, "memory_bytes", kb << 10);
}

static void see_node(struct pr_env *e, const char *name, void *ctx)
{
    char word[PR_ENV_WORD];
    uint64_t number;

    (void)ctx;
    if (!pr_env_parse_uint(name + strlen("node"), &number))
        return;
    pr_jb_obj(&e->jb, NULL);
    pr_jb_uint(&e->jb, "node", number);
    if (pr_env_text(e, word, sizeof word, "/sys/devices/system/node/%s/cpulist",
                    name))
        pr_jb_str(&e->jb, "cpus", word);
    add_node_memory(e, name);
    pr_jb_end(&e->jb);
}

void pr_env_numa(struct pr_env *e)
{
    pr_jb_arr(&e->jb, "numa_nodes");
    pr_env_each(e, "/sys/devices/system/node", "node", see_node, NULL);
    pr_jb_end(&e->jb);
}
