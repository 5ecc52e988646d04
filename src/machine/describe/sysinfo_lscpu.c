/* The module lscpu: the names that program prints, from where it has them. */
#include "machine/describe/sysinfo_impl.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define CPU "/sys/devices/system/cpu"

static void lscpu_add_text(struct pr_machine_env *e, const char *key,
                           const char *text)
{
    pr_json_put_str(&e->jb, key, text[0] ? text : NULL);
}

/* All values are text, as in the program's output. */
static void lscpu_add_number(struct pr_machine_env *e, const char *key,
                             uint64_t u)
{
    char text[24];

    if (!u)
        return;
    snprintf(text, sizeof text, "%llu", (unsigned long long)u);
    pr_json_put_str(&e->jb, key, text);
}

static void lscpu_add_file(struct pr_machine_env *e, const char *key,
                           const char *name)
{
    char word[PR_MACHINE_ENV_WORD];

    if (pr_machine_env_text(e, word, sizeof word, CPU "/%s", name))
        pr_json_put_str(&e->jb, key, word);
}

static void put_mhz(struct pr_machine_env *e, const char *key, const char *name)
{
    char text[32];
    uint64_t khz;

    if (!pr_machine_env_uint(e, &khz, CPU "/cpu0/cpufreq/%s", name))
        return;
    snprintf(text, sizeof text, "%.4f", (double)khz / 1000);
    pr_json_put_str(&e->jb, key, text);
}

/* A line of the first processor that struct pr_machine_env_cpus has no place
 * for. */
static void lscpu_add_cpuinfo_line(struct pr_machine_env *e, const char *key,
                                   const char *name)
{
    struct pr_machine_env_lines l;
    const char *v = NULL;
    char *line;

    if (!pr_machine_env_lines_open(e, &l, "/proc/cpuinfo"))
        return;
    while (!v && (line = pr_machine_env_lines_next(&l)))
        v = pr_machine_env_field(line, name);
    if (v && *v)
        pr_json_put_str(&e->jb, key, v);
    pr_machine_env_lines_close(&l);
}

static void lscpu_add_shape(struct pr_machine_env *e,
                            const struct pr_machine_env_cpus *c)
{
    struct utsname u;
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

    if (uname(&u) == 0)
        lscpu_add_text(e, "Architecture", u.machine);
    if (pr_machine_env_has_word(c->flags, "lm"))
        lscpu_add_text(e, "CPU op-mode(s)", "32-bit, 64-bit");
    lscpu_add_text(e, "Byte Order", little ? "Little Endian" : "Big Endian");
    lscpu_add_number(e, "CPU(s)", c->threads);
    lscpu_add_file(e, "On-line CPU(s) list", "online");
    lscpu_add_file(e, "Off-line CPU(s) list", "offline");
    if (c->cores)
        lscpu_add_number(e, "Thread(s) per core", c->threads / c->cores);
    if (c->sockets)
        lscpu_add_number(e, "Core(s) per socket", c->cores / c->sockets);
    lscpu_add_number(e, "Socket(s)", c->sockets);
}

static void lscpu_add_model(struct pr_machine_env *e,
                            const struct pr_machine_env_cpus *c)
{
    lscpu_add_text(e, "Vendor ID", c->vendor);
    lscpu_add_text(e, "CPU family", c->family);
    lscpu_add_text(e, "Model", c->number);
    lscpu_add_text(e, "Model name", c->model);
    lscpu_add_text(e, "Stepping", c->stepping);
    lscpu_add_cpuinfo_line(e, "CPU MHz", "cpu MHz");
    put_mhz(e, "CPU max MHz", "cpuinfo_max_freq");
    put_mhz(e, "CPU min MHz", "cpuinfo_min_freq");
    lscpu_add_cpuinfo_line(e, "BogoMIPS", "bogomips");
    if (pr_machine_env_has_word(c->flags, "svm"))
        lscpu_add_text(e, "Virtualization", "AMD-V");
    else if (pr_machine_env_has_word(c->flags, "vmx"))
        lscpu_add_text(e, "Virtualization", "VT-x");
    if (pr_machine_env_has_word(c->flags, "hypervisor"))
        lscpu_add_text(e, "Virtualization type", "full");
}

/* "L1d cache", "L2 cache" */
static void lscpu_add_cache(struct pr_machine_env *e, const char *name,
                            void *ctx)
{
    char type[PR_MACHINE_ENV_WORD] = "", size[PR_MACHINE_ENV_WORD], key[32];
    uint64_t level;

    (void)ctx;
    if (!pr_machine_env_uint(e, &level, CPU "/cpu0/cache/%s/level", name) ||
        !pr_machine_env_text(e, size, sizeof size, CPU "/cpu0/cache/%s/size",
                             name))
        return;
    (void)pr_machine_env_text(e, type, sizeof type, CPU "/cpu0/cache/%s/type",
                              name);
    snprintf(key, sizeof key, "L%u%s cache", (unsigned)(level % 10),
             strcmp(type, "Data") == 0          ? "d"
             : strcmp(type, "Instruction") == 0 ? "i"
                                                : "");
    pr_json_put_str(&e->jb, key, size);
}

static void count_node(struct pr_machine_env *e, const char *name, void *ctx)
{
    uint64_t *count = ctx;

    (void)e;
    (void)name;
    ++*count;
}

static void lscpu_add_numa_node(struct pr_machine_env *e, const char *name,
                                void *ctx)
{
    char word[PR_MACHINE_ENV_WORD], key[96];

    (void)ctx;
    if (!pr_machine_env_text(e, word, sizeof word,
                             "/sys/devices/system/node/%s/cpulist", name))
        return;
    snprintf(key, sizeof key, "NUMA %s CPU(s)", name);
    pr_json_put_str(&e->jb, key, word);
}

/* "Vulnerability Spectre v2" */
static void lscpu_add_vulnerability(struct pr_machine_env *e, const char *name,
                                    void *ctx)
{
    char word[PR_MACHINE_ENV_WORD], key[96];
    size_t at;

    (void)ctx;
    if (!pr_machine_env_text(e, word, sizeof word, CPU "/vulnerabilities/%s",
                             name))
        return;
    at = (size_t)snprintf(key, sizeof key, "Vulnerability %s", name) -
         strlen(name);
    key[at] = (char)toupper((unsigned char)key[at]);
    for (char *c = key + at; *c; c++)
        if (*c == '_')
            *c = ' ';
    pr_json_put_str(&e->jb, key, word);
}

void pr_machine_sysinfo_lscpu(struct pr_machine_env *e, const char *key)
{
    struct pr_machine_env_cpus c;
    uint64_t nodes = 0;

    pr_machine_env_read_cpus(e, &c);
    if (!c.threads) {
        pr_json_put_null(&e->jb, key);
        return;
    }
    pr_json_open_object(&e->jb, key);
    lscpu_add_shape(e, &c);
    pr_machine_env_each(e, "/sys/devices/system/node", "node", count_node,
                        &nodes);
    lscpu_add_number(e, "NUMA node(s)", nodes);
    lscpu_add_model(e, &c);
    pr_machine_env_each(e, CPU "/cpu0/cache", "index", lscpu_add_cache, NULL);
    pr_machine_env_each(e, "/sys/devices/system/node", "node",
                        lscpu_add_numa_node, NULL);
    pr_machine_env_each(e, CPU "/vulnerabilities", "", lscpu_add_vulnerability,
                        NULL);
    lscpu_add_text(e, "Flags", c.flags);
    pr_json_close(&e->jb);
}
