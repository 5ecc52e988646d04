/* The processors: model, shape, features, frequency, caches, NUMA nodes. */
#include "machine/kernel_file.h"

#include <string.h>
#include <unistd.h>

#define CPU "/sys/devices/system/cpu"

/* ---- /proc/cpuinfo: which processors there are, and how many */

static void cpuinfo_copy_first(char *to, size_t size, const char *from)
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
static void end_processor(struct pr_machine_env_cpus *c)
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

static void cpuinfo_read_line(struct pr_machine_env_cpus *c, const char *line)
{
    const char *v;

    switch (line[0]) {
    case 'p':
        if (pr_machine_env_field(line, "processor")) {
            end_processor(c);
            c->threads++;
        } else if ((v = pr_machine_env_field(line, "physical id"))) {
            c->has_socket = pr_machine_env_parse_uint(v, &c->socket);
        }
        break;
    case 'c':
        if ((v = pr_machine_env_field(line, "cpu cores")))
            c->has_cores = pr_machine_env_parse_uint(v, &c->socket_cores);
        cpuinfo_copy_first(c->family, sizeof c->family,
                           pr_machine_env_field(line, "cpu family"));
        break;
    case 'm':
        cpuinfo_copy_first(c->model, sizeof c->model,
                           pr_machine_env_field(line, "model name"));
        cpuinfo_copy_first(c->number, sizeof c->number,
                           pr_machine_env_field(line, "model"));
        cpuinfo_copy_first(c->microcode, sizeof c->microcode,
                           pr_machine_env_field(line, "microcode"));
        break;
    case 's':
        cpuinfo_copy_first(c->stepping, sizeof c->stepping,
                           pr_machine_env_field(line, "stepping"));
        break;
    case 'v':
        cpuinfo_copy_first(c->vendor, sizeof c->vendor,
                           pr_machine_env_field(line, "vendor_id"));
        break;
    case 'f':
        cpuinfo_copy_first(c->flags, sizeof c->flags,
                           pr_machine_env_field(line, "flags"));
        break;
    case 'F': /* arm64 */
        cpuinfo_copy_first(c->flags, sizeof c->flags,
                           pr_machine_env_field(line, "Features"));
        break;
    case 'C':
        cpuinfo_copy_first(c->vendor, sizeof c->vendor,
                           pr_machine_env_field(line, "CPU implementer"));
        break;
    }
}

/* Where /proc/cpuinfo says nothing of sockets (arm64): a core is counted at
 * its first thread. */
static void count_by_topology(struct pr_machine_env *e,
                              struct pr_machine_env_cpus *c)
{
    for (uint64_t i = 0; i < c->threads && i < 4096; i++) {
        uint64_t first;

        if (pr_machine_env_uint(e, &first,
                                CPU "/cpu%u/topology/thread_siblings_list",
                                (unsigned)i))
            c->cores += first == i;
        c->has_socket = pr_machine_env_uint(
            e, &c->socket, CPU "/cpu%u/topology/physical_package_id",
            (unsigned)i);
        end_processor(c);
    }
}

bool pr_machine_env_has_word(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = text; n && (p = strstr(p, word)); p += n)
        if ((p == text || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
            return true;
    return false;
}

void pr_machine_env_read_cpus(struct pr_machine_env *e,
                              struct pr_machine_env_cpus *ret)
{
    struct pr_machine_env_lines l;
    char *line;

    memset(ret, 0, sizeof *ret);
    if (pr_machine_env_lines_open(e, &l, "/proc/cpuinfo"))
        while ((line = pr_machine_env_lines_next(&l)))
            cpuinfo_read_line(ret, line);
    end_processor(ret);
    if (ret->threads && !ret->sockets)
        count_by_topology(e, ret);
}

/* ---- NUMA nodes: processors, memory, how far from one another */

static void add_node_memory(struct pr_machine_env *e, const char *name)
{
    static const char key[] = "MemTotal:";
    char text[1024];
    const char *p;
    uint64_t kb;

    if (!pr_machine_env_text(e, text, sizeof text,
                             "/sys/devices/system/node/%s/meminfo", name))
        return;
    p = strstr(text, key);
    if (!p)
        return;
    p += strlen(key);
    if (pr_machine_env_parse_uint(p + strspn(p, " \t"), &kb) &&
        kb < UINT64_MAX >> 10)
        pr_json_put_uint(&e->jb, "memory_bytes", kb << 10);
}

/* "10 21": to node 0, to node 1. */
static void add_distances(struct pr_machine_env *e, const char *name)
{
    char text[1024], *p = text;
    uint64_t u;

    if (!pr_machine_env_text(e, text, sizeof text,
                             "/sys/devices/system/node/%s/distance", name))
        return;
    pr_json_open_array(&e->jb, "distances");
    for (; pr_machine_env_parse_uint(p, &u); p += strspn(p, " ")) {
        pr_json_put_uint(&e->jb, NULL, u);
        p += strspn(p, "0123456789");
    }
    pr_json_close(&e->jb);
}

static void env_add_numa_node(struct pr_machine_env *e, const char *name,
                              void *ctx)
{
    char word[PR_MACHINE_ENV_WORD];
    uint64_t number;

    (void)ctx;
    if (!pr_machine_env_parse_uint(name + strlen("node"), &number))
        return;
    pr_json_open_object(&e->jb, NULL);
    pr_json_put_uint(&e->jb, "node", number);
    if (pr_machine_env_text(e, word, sizeof word,
                            "/sys/devices/system/node/%s/cpulist", name))
        pr_json_put_str(&e->jb, "cpus", word);
    add_node_memory(e, name);
    add_distances(e, name);
    pr_json_close(&e->jb);
}

void pr_machine_env_numa(struct pr_machine_env *e)
{
    pr_json_open_array(&e->jb, "numa_nodes");
    pr_machine_env_each(e, "/sys/devices/system/node", "node",
                        env_add_numa_node, NULL);
    pr_json_close(&e->jb);
}

/* ---- the processors */

static void add_flags(struct pr_machine_env *e, const char *flags)
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
    e->hypervisor = pr_machine_env_has_word(flags, "hypervisor");
    pr_json_open_array(&e->jb, "flags");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (pr_machine_env_has_word(flags, known[i]))
            pr_json_put_str(&e->jb, NULL, known[i]);
    pr_json_close(&e->jb);
}

struct governors {
    uint64_t max_khz;
    size_t count;
    struct {
        char name[32];
        uint64_t policies;
    } kind[8];
};

static void env_count_policy(struct pr_machine_env *e, const char *name,
                             void *ctx)
{
    struct governors *g = ctx;
    char word[32];
    uint64_t khz;
    size_t i = 0;

    if (pr_machine_env_uint(e, &khz, CPU "/cpufreq/%s/cpuinfo_max_freq",
                            name) &&
        khz > g->max_khz)
        g->max_khz = khz;
    if (!pr_machine_env_text(e, word, sizeof word,
                             CPU "/cpufreq/%s/scaling_governor", name))
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

static void add_frequency(struct pr_machine_env *e)
{
    struct governors g = {0};
    char word[PR_MACHINE_ENV_WORD];
    uint64_t on;

    pr_machine_env_each(e, CPU "/cpufreq", "policy", env_count_policy, &g);
    if (g.max_khz)
        pr_json_put_float(&e->jb, "max_mhz", (double)g.max_khz / 1000);
    if (g.count) {
        pr_json_open_object(&e->jb, "governors");
        for (size_t i = 0; i < g.count; i++)
            pr_json_put_uint(&e->jb, g.kind[i].name, g.kind[i].policies);
        pr_json_close(&e->jb);
    }
    if (pr_machine_env_text(e, word, sizeof word,
                            CPU "/cpufreq/policy0/scaling_driver"))
        pr_json_put_str(&e->jb, "scaling_driver", word);
    if (pr_machine_env_uint(e, &on, CPU "/cpufreq/boost"))
        pr_json_put_bool(&e->jb, "boost", on != 0);
    else if (pr_machine_env_uint(e, &on, CPU "/intel_pstate/no_turbo"))
        pr_json_put_bool(&e->jb, "boost", on == 0);
}

/* "512K" as the kernel writes it. */
static bool cache_bytes(const char *text, uint64_t *ret)
{
    uint64_t u;

    if (!pr_machine_env_parse_uint(text, &u) || u > UINT32_MAX)
        return false;
    text += strspn(text, "0123456789");
    *ret = *text == 'K' ? u << 10 : *text == 'M' ? u << 20 : u;
    return true;
}

static void env_add_cache(struct pr_machine_env *e, const char *name, void *ctx)
{
    char word[PR_MACHINE_ENV_WORD];
    uint64_t u;

    (void)ctx;
    if (!pr_machine_env_uint(e, &u, CPU "/cpu0/cache/%s/level", name))
        return;
    pr_json_open_object(&e->jb, NULL);
    pr_json_put_uint(&e->jb, "level", u);
    if (pr_machine_env_text(e, word, sizeof word, CPU "/cpu0/cache/%s/type",
                            name))
        pr_json_put_str(&e->jb, "type", word);
    if (pr_machine_env_text(e, word, sizeof word, CPU "/cpu0/cache/%s/size",
                            name) &&
        cache_bytes(word, &u))
        pr_json_put_uint(&e->jb, "size_bytes", u);
    if (pr_machine_env_text(e, word, sizeof word,
                            CPU "/cpu0/cache/%s/shared_cpu_list", name) &&
        (u = pr_machine_env_list_count(word)) > 0)
        pr_json_put_uint(&e->jb, "shared_by_threads", u);
    pr_json_close(&e->jb);
}

static void add_caches(struct pr_machine_env *e)
{
    uint64_t level;

    if (!pr_machine_env_uint(e, &level, CPU "/cpu0/cache/index0/level"))
        return;
    pr_json_open_array(&e->jb, "caches");
    pr_machine_env_each(e, CPU "/cpu0/cache", "index", env_add_cache, NULL);
    pr_json_close(&e->jb);
}

/* Which processors this process may use: a cpuset or taskset shows here. */
static void add_allowed(struct pr_machine_env *e)
{
    struct pr_machine_env_lines l;
    const char *v;
    char *line;

    if (!pr_machine_env_lines_open(e, &l, "/proc/self/status"))
        return;
    while ((line = pr_machine_env_lines_next(&l))) {
        v = pr_machine_env_field(line, "Cpus_allowed_list");
        if (v && *v) {
            pr_json_put_str(&e->jb, "allowed", v);
            pr_json_put_uint(&e->jb, "allowed_threads",
                             pr_machine_env_list_count(v));
            break;
        }
    }
    pr_machine_env_lines_close(&l);
}

static void env_add_vulnerability(struct pr_machine_env *e, const char *name,
                                  void *ctx)
{
    char word[PR_MACHINE_ENV_WORD];

    (void)ctx;
    if (pr_machine_env_text(e, word, sizeof word, CPU "/vulnerabilities/%s",
                            name) &&
        strcmp(word, "Not affected") != 0)
        pr_json_put_str(&e->jb, name, word);
}

/* What else changes how fast code runs: several threads on a core, cores kept
 * free, how they sleep, and what the kernel does against attacks. */
static void add_kernel_view(struct pr_machine_env *e)
{
    char path[4096];
    uint64_t on;

    pr_machine_env_put_cpu_file(e, "online", "online");
    pr_machine_env_put_cpu_file(e, "isolated", "isolated");
    if (pr_machine_env_uint(e, &on, CPU "/smt/active"))
        pr_json_put_bool(&e->jb, "smt", on != 0);
    pr_machine_env_put_cpu_file(e, "idle_driver", "cpuidle/current_driver");
    pr_machine_env_put_cpu_file(e, "idle_governor", "cpuidle/current_governor");
    if (!pr_machine_env_path(e, path, CPU "/vulnerabilities") ||
        access(path, F_OK) < 0)
        return;
    pr_json_open_object(&e->jb, "mitigations");
    pr_machine_env_each(e, CPU "/vulnerabilities", "", env_add_vulnerability,
                        NULL);
    pr_json_close(&e->jb);
}

static void add_if(struct pr_machine_env *e, const char *key, uint64_t u)
{
    if (u)
        pr_json_put_uint(&e->jb, key, u);
}

void pr_machine_env_cpu(struct pr_machine_env *e)
{
    struct pr_machine_env_cpus c;

    pr_machine_env_read_cpus(e, &c);
    pr_json_open_object(&e->jb, "cpu");
    pr_machine_env_put_text(e, "model", c.model);
    pr_machine_env_put_text(e, "vendor", c.vendor);
    pr_machine_env_put_text(e, "family", c.family);
    pr_machine_env_put_text(e, "model_number", c.number);
    pr_machine_env_put_text(e, "stepping", c.stepping);
    pr_machine_env_put_text(e, "microcode", c.microcode);
    add_if(e, "sockets", c.sockets);
    add_if(e, "cores", c.cores);
    add_if(e, "threads", c.threads);
    add_allowed(e);
    add_kernel_view(e);
    add_flags(e, c.flags);
    add_frequency(e);
    add_caches(e);
    pr_json_close(&e->jb);
}
