/* The module lscpu: the names that program prints, from where it has them. */
#include "record/sysinfo_impl.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define CPU "/sys/devices/system/cpu"

static void put(struct pr_env *e, const char *key, const char *text)
{
    pr_jb_str(&e->jb, key, text[0] ? text : NULL);
}

/* All values are text, as in the program's output. */
static void put_number(struct pr_env *e, const char *key, uint64_t u)
{
    char text[24];

    if (!u)
        return;
    snprintf(text, sizeof text, "%llu", (unsigned long long)u);
    pr_jb_str(&e->jb, key, text);
}

static void put_file(struct pr_env *e, const char *key, const char *name)
{
    char word[PR_ENV_WORD];

    if (pr_env_text(e, word, sizeof word, CPU "/%s", name))
        pr_jb_str(&e->jb, key, word);
}

static void put_mhz(struct pr_env *e, const char *key, const char *name)
{
    char text[32];
    uint64_t khz;

    if (!pr_env_uint(e, &khz, CPU "/cpu0/cpufreq/%s", name))
        return;
    snprintf(text, sizeof text, "%.4f", (double)khz / 1000);
    pr_jb_str(&e->jb, key, text);
}

/* A line of the first processor that struct pr_env_cpus has no place for. */
static void put_line(struct pr_env *e, const char *key, const char *name)
{
    struct pr_env_lines l;
    const char *v = NULL;
    char *line;

    if (!pr_env_lines_open(e, &l, "/proc/cpuinfo"))
        return;
    while (!v && (line = pr_env_lines_next(&l)))
        v = pr_env_field(line, name);
    if (v && *v)
        pr_jb_str(&e->jb, key, v);
    pr_env_lines_close(&l);
}

static void put_shape(struct pr_env *e, const struct pr_env_cpus *c)
{
    struct utsname u;
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

    if (uname(&u) == 0)
        put(e, "Architecture", u.machine);
    if (pr_env_has_word(c->flags, "lm"))
        put(e, "CPU op-mode(s)", "32-bit, 64-bit");
    put(e, "Byte Order", little ? "Little Endian" : "Big Endian");
    put_number(e, "CPU(s)", c->threads);
    put_file(e, "On-line CPU(s) list", "online");
    put_file(e, "Off-line CPU(s) list", "offline");
    if (c->cores)
        put_number(e, "Thread(s) per core", c->threads / c->cores);
    if (c->sockets)
        put_number(e, "Core(s) per socket", c->cores / c->sockets);
    put_number(e, "Socket(s)", c->sockets);
}

static void put_model(struct pr_env *e, const struct pr_env_cpus *c)
{
    put(e, "Vendor ID", c->vendor);
    put(e, "CPU family", c->family);
    put(e, "Model", c->number);
    put(e, "Model name", c->model);
    put(e, "Stepping", c->stepping);
    put_line(e, "CPU MHz", "cpu MHz");
    put_mhz(e, "CPU max MHz", "cpuinfo_max_freq");
    put_mhz(e, "CPU min MHz", "cpuinfo_min_freq");
    put_line(e, "BogoMIPS", "bogomips");
    if (pr_env_has_word(c->flags, "svm"))
        put(e, "Virtualization", "AMD-V");
    else if (pr_env_has_word(c->flags, "vmx"))
        put(e, "Virtualization", "VT-x");
    if (pr_env_has_word(c->flags, "hypervisor"))
        put(e, "Virtualization type", "full");
}

/* "L1d cache", "L2 cache" */
static void see_cache(struct pr_env *e, const char *name, void *ctx)
{
    char type[PR_ENV_WORD] = "", size[PR_ENV_WORD], key[32];
    uint64_t level;

    (void)ctx;
    if (!pr_env_uint(e, &level, CPU "/cpu0/cache/%s/level", name) ||
        !pr_env_text(e, size, sizeof size, CPU "/cpu0/cache/%s/size", name))
        return;
    (void)pr_env_text(e, type, sizeof type, CPU "/cpu0/cache/%s/type", name);
    snprintf(key, sizeof key, "L%u%s cache", (unsigned)(level % 10),
             strcmp(type, "Data") == 0          ? "d"
             : strcmp(type, "Instruction") == 0 ? "i"
                                                : "");
    pr_jb_str(&e->jb, key, size);
}

static void count_node(struct pr_env *e, const char *name, void *ctx)
{
    uint64_t *count = ctx;

    (void)e;
    (void)name;
    ++*count;
}

static void see_node(struct pr_env *e, const char *name, void *ctx)
{
    char word[PR_ENV_WORD], key[96];

    (void)ctx;
    if (!pr_env_text(e, word, sizeof word,
                     "/sys/devices/system/node/%s/cpulist", name))
        return;
    snprintf(key, sizeof key, "NUMA %s CPU(s)", name);
    pr_jb_str(&e->jb, key, word);
}

/* "Vulnerability Spectre v2" */
static void see_weakness(struct pr_env *e, const char *name, void *ctx)
{
    char word[PR_ENV_WORD], key[96];
    size_t at;

    (void)ctx;
    if (!pr_env_text(e, word, sizeof word, CPU "/vulnerabilities/%s", name))
        return;
    at = (size_t)snprintf(key, sizeof key, "Vulnerability %s", name) -
         strlen(name);
    key[at] = (char)toupper((unsigned char)key[at]);
    for (char *c = key + at; *c; c++)
        if (*c == '_')
            *c = ' ';
    pr_jb_str(&e->jb, key, word);
}

void pr_sysinfo_lscpu(struct pr_env *e, const char *key)
{
    struct pr_env_cpus c;
    uint64_t nodes = 0;

    pr_env_read_cpus(e, &c);
    if (!c.threads) {
        pr_jb_null(&e->jb, key);
        return;
    }
    pr_jb_obj(&e->jb, key);
    put_shape(e, &c);
    pr_env_each(e, "/sys/devices/system/node", "node", count_node, &nodes);
    put_number(e, "NUMA node(s)", nodes);
    put_model(e, &c);
    pr_env_each(e, CPU "/cpu0/cache", "index", see_cache, NULL);
    pr_env_each(e, "/sys/devices/system/node", "node", see_node, NULL);
    pr_env_each(e, CPU "/vulnerabilities", "", see_weakness, NULL);
    put(e, "Flags", c.flags);
    pr_jb_end(&e->jb);
}
