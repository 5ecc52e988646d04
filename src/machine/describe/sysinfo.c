/* The modules of system information: lscpu, nvidiasmi, and the short ones. */
#include "machine/describe/sysinfo.h"

#include "base/clock.h"
#include "base/text.h"
#include "machine/kernel_file.h"
#include "machine/nvml.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* ---- lscpu: the names that program prints, from where it has them */

#define CPU "/sys/devices/system/cpu"

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
        pr_machine_env_put_text(e, "Architecture", u.machine);
    if (pr_machine_env_has_word(c->flags, "lm"))
        pr_machine_env_put_text(e, "CPU op-mode(s)", "32-bit, 64-bit");
    pr_machine_env_put_text(e, "Byte Order",
                            little ? "Little Endian" : "Big Endian");
    lscpu_add_number(e, "CPU(s)", c->threads);
    pr_machine_env_put_cpu_file(e, "On-line CPU(s) list", "online");
    pr_machine_env_put_cpu_file(e, "Off-line CPU(s) list", "offline");
    if (c->cores)
        lscpu_add_number(e, "Thread(s) per core", c->threads / c->cores);
    if (c->sockets)
        lscpu_add_number(e, "Core(s) per socket", c->cores / c->sockets);
    lscpu_add_number(e, "Socket(s)", c->sockets);
}

static void lscpu_add_model(struct pr_machine_env *e,
                            const struct pr_machine_env_cpus *c)
{
    pr_machine_env_put_text(e, "Vendor ID", c->vendor);
    pr_machine_env_put_text(e, "CPU family", c->family);
    pr_machine_env_put_text(e, "Model", c->number);
    pr_machine_env_put_text(e, "Model name", c->model);
    pr_machine_env_put_text(e, "Stepping", c->stepping);
    lscpu_add_cpuinfo_line(e, "CPU MHz", "cpu MHz");
    put_mhz(e, "CPU max MHz", "cpuinfo_max_freq");
    put_mhz(e, "CPU min MHz", "cpuinfo_min_freq");
    lscpu_add_cpuinfo_line(e, "BogoMIPS", "bogomips");
    if (pr_machine_env_has_word(c->flags, "svm"))
        pr_machine_env_put_text(e, "Virtualization", "AMD-V");
    else if (pr_machine_env_has_word(c->flags, "vmx"))
        pr_machine_env_put_text(e, "Virtualization", "VT-x");
    if (pr_machine_env_has_word(c->flags, "hypervisor"))
        pr_machine_env_put_text(e, "Virtualization type", "full");
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

static void machine_sysinfo_lscpu(struct pr_machine_env *e, const char *key)
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
    pr_machine_env_put_text(e, "Flags", c.flags);
    pr_json_close(&e->jb);
}

/* ---- nvidiasmi: what "nvidia-smi -q" prints, nested as it indents
 * As far as NVML tells it here. "N/A" is that program's word for unknown. */

static void nvidiasmi_add_text(struct pr_machine_env *e, const char *key,
                               const char *text)
{
    pr_json_put_str(&e->jb, key, text[0] ? text : "N/A");
}

static void put_measure(struct pr_machine_env *e, const char *key, double value,
                        int decimals, const char *unit)
{
    char text[64] = "N/A";

    if (!isnan(value))
        snprintf(text, sizeof text, "%.*f %s", decimals, value, unit);
    pr_json_put_str(&e->jb, key, text);
}

static void nvidiasmi_add_known(struct pr_machine_env *e, const char *key,
                                double value, int decimals, const char *unit)
{
    put_measure(e, key, value > 0 ? value : NAN, decimals, unit);
}

static void put_switch(struct pr_machine_env *e, const char *key, int on)
{
    pr_json_put_str(&e->jb, key, on < 0 ? "N/A" : on ? "Enabled" : "Disabled");
}

static void put_mode(struct pr_machine_env *e, const char *key, int on)
{
    pr_json_open_object(&e->jb, key);
    put_switch(e, "Current", on);
    pr_json_close(&e->jb);
}

static void put_link(struct pr_machine_env *e, const struct pr_nvml_device *d)
{
    char text[16] = "";

    pr_json_open_object(&e->jb, "PCI");
    nvidiasmi_add_text(e, "Bus Id", d->pci);
    pr_json_open_object(&e->jb, "GPU Link Info");
    pr_json_open_object(&e->jb, "PCIe Generation");
    if (d->pcie_generation)
        snprintf(text, sizeof text, "%u", d->pcie_generation);
    nvidiasmi_add_text(e, "Max", text);
    pr_json_close(&e->jb);
    pr_json_open_object(&e->jb, "Link Width");
    text[0] = '\0';
    if (d->pcie_width)
        snprintf(text, sizeof text, "%ux", d->pcie_width);
    nvidiasmi_add_text(e, "Max", text);
    pr_json_close(&e->jb);
    pr_json_close(&e->jb);
    pr_json_close(&e->jb);
}

static void put_identity(struct pr_machine_env *e,
                         const struct pr_nvml_device *d)
{
    nvidiasmi_add_text(e, "Product Name", d->name);
    put_switch(e, "Persistence Mode", d->persistence);
    put_mode(e, "MIG Mode", d->mig);
    nvidiasmi_add_text(e, "Serial Number", d->serial);
    nvidiasmi_add_text(e, "GPU UUID", d->uuid);
    nvidiasmi_add_text(e, "VBIOS Version", d->vbios);
    put_link(e, d);
}

static void nvidiasmi_add_memory(struct pr_machine_env *e,
                                 const struct pr_nvml_device *d,
                                 const struct pr_nvml_state *s)
{
    double total = (double)d->memory_bytes / (1 << 20);
    double used = s->memory_bytes / (1 << 20);

    pr_json_open_object(&e->jb, "FB Memory Usage");
    nvidiasmi_add_known(e, "Total", total, 0, "MiB");
    put_measure(e, "Used", used, 0, "MiB");
    nvidiasmi_add_known(e, "Free", total - used, 0, "MiB");
    pr_json_close(&e->jb);
}

static void put_state(struct pr_machine_env *e, const struct pr_nvml_device *d,
                      const struct pr_nvml_state *s)
{
    put_measure(e, "Fan Speed", s->fan * 100, 0, "%");
    nvidiasmi_add_memory(e, d, s);
    pr_json_open_object(&e->jb, "Utilization");
    put_measure(e, "Gpu", s->utilisation * 100, 0, "%");
    put_measure(e, "Memory", s->memory_utilisation * 100, 0, "%");
    pr_json_close(&e->jb);
    put_mode(e, "Ecc Mode", d->ecc);
    pr_json_open_object(&e->jb, "Temperature");
    put_measure(e, "GPU Current Temp", s->temperature_c, 0, "C");
    pr_json_close(&e->jb);
    pr_json_open_object(&e->jb, "Power Readings");
    put_measure(e, "Power Draw", s->power_w, 2, "W");
    nvidiasmi_add_known(e, "Power Limit", d->power_limit_mw / 1e3, 2, "W");
    pr_json_close(&e->jb);
    pr_json_open_object(&e->jb, "Clocks");
    put_measure(e, "SM", s->sm_mhz, 0, "MHz");
    put_measure(e, "Memory", s->memory_mhz, 0, "MHz");
    pr_json_close(&e->jb);
    pr_json_open_object(&e->jb, "Max Clocks");
    nvidiasmi_add_known(e, "SM", d->max_sm_mhz, 0, "MHz");
    nvidiasmi_add_known(e, "Memory", d->max_memory_mhz, 0, "MHz");
    pr_json_close(&e->jb);
}

static void put_device(struct pr_machine_env *e, struct pr_nvml *n, unsigned i)
{
    struct pr_nvml_state s;
    struct pr_nvml_device d;
    char key[64];

    if (!pr_nvml_device(n, i, &d) || !pr_nvml_read(n, i, &s))
        return;
    /* "GPU 00000000:3B:00.0" where the kernel has "0000:3b:00.0" */
    snprintf(key, sizeof key, "GPU %s%s",
             strcspn(d.pci, ":") == 4 ? "0000" : "", d.pci);
    for (char *c = key; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    pr_json_open_object(&e->jb, key);
    put_identity(e, &d);
    put_state(e, &d, &s);
    pr_json_close(&e->jb);
}

static void machine_sysinfo_nvidiasmi(struct pr_machine_env *e, const char *key)
{
    bool ask = !e->root[0] || getenv("PRONY_NVML");
    struct pr_nvml *n = ask ? pr_nvml_open(NULL) : NULL;
    int cuda = pr_nvml_cuda(n);
    char text[32] = "";

    if (!n) {
        pr_json_put_null(&e->jb, key);
        return;
    }
    pr_json_open_object(&e->jb, key);
    pr_json_put_str(&e->jb, "Timestamp",
                    pr_time_text(text, pr_wall_clock_ns()));
    nvidiasmi_add_text(e, "Driver Version", pr_nvml_driver(n));
    text[0] = '\0';
    if (cuda > 0)
        snprintf(text, sizeof text, "%d.%d", cuda / 1000, cuda % 1000 / 10);
    nvidiasmi_add_text(e, "CUDA Version", text);
    snprintf(text, sizeof text, "%u", pr_nvml_count(n));
    nvidiasmi_add_text(e, "Attached GPUs", text);
    for (unsigned i = 0; i < pr_nvml_count(n); i++)
        put_device(e, n, i);
    pr_json_close(&e->jb);
    pr_nvml_close(n);
}

/* "model name\t: AMD" in two, both without blanks at their ends; NULL when
 * there is no colon. */
static char *sysinfo_split_line(char *line)
{
    char *value = strchr(line, ':'), *end = value;

    if (!value)
        return NULL;
    while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = '\0';
    for (value++; *value == ' ' || *value == '\t'; value++)
        ;
    end = value + strlen(value);
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = '\0';
    return value;
}

/* One object a processor: they are parted by empty lines. */
static void put_cpuinfo(struct pr_machine_env *e, const char *key)
{
    struct pr_machine_env_lines l;
    bool open = false;
    char *line, *value;

    if (!pr_machine_env_lines_open(e, &l, "/proc/cpuinfo")) {
        pr_json_put_null(&e->jb, key);
        return;
    }
    pr_json_open_array(&e->jb, key);
    while ((line = pr_machine_env_lines_next(&l))) {
        value = sysinfo_split_line(line);
        if (!value && open) {
            pr_json_close(&e->jb);
            open = false;
        }
        if (!value || !*line)
            continue;
        if (!open)
            pr_json_open_object(&e->jb, NULL);
        open = true;
        pr_json_put_str(&e->jb, line, value);
    }
    if (open)
        pr_json_close(&e->jb);
    pr_json_close(&e->jb);
}

static void put_meminfo(struct pr_machine_env *e, const char *key)
{
    struct pr_machine_env_lines l;
    char *line, *value;

    if (!pr_machine_env_lines_open(e, &l, "/proc/meminfo")) {
        pr_json_put_null(&e->jb, key);
        return;
    }
    pr_json_open_object(&e->jb, key);
    while ((line = pr_machine_env_lines_next(&l)))
        if ((value = sysinfo_split_line(line)) && *line)
            pr_json_put_str(&e->jb, line, value);
    pr_json_close(&e->jb);
}

static void put_dmi(struct pr_machine_env *e, const char *key)
{
    static const char *const names[] = {"board_name", "board_vendor",
                                        "product_name", "sys_vendor"};
    char word[PR_MACHINE_ENV_WORD];

    pr_json_open_object(&e->jb, key);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pr_machine_env_text(e, word, sizeof word,
                                "/sys/devices/virtual/dmi/id/%s", names[i]))
            pr_json_put_str(&e->jb, names[i], word);
    pr_json_close(&e->jb);
}

/* It is a program, and none is started; env.json has what it tells. */
static void put_inxi(struct pr_machine_env *e, const char *key)
{
    pr_json_put_null(&e->jb, key);
}

static const struct module {
    const char *name;
    void (*put)(struct pr_machine_env *e, const char *key);
} modules[] = {
    {"cpuinfo", put_cpuinfo},
    {"meminfo", put_meminfo},
    {"lscpu", machine_sysinfo_lscpu},
    {"dmi", put_dmi},
    {"nvidiasmi", machine_sysinfo_nvidiasmi},
    {"inxi", put_inxi},
};

enum { MODULES = sizeof modules / sizeof *modules };

static const struct module *sysinfo_find_module(const char *name, size_t len)
{
    for (size_t i = 0; i < MODULES; i++)
        if (pr_text_is(name, len, modules[i].name))
            return &modules[i];
    return NULL;
}

static int fail_unknown(const char *name, size_t len, struct pr_err *err)
{
    struct pr_nearest near;
    char word[32];

    snprintf(word, sizeof word, "%.*s", (int)(len < 31 ? len : 31), name);
    pr_nearest_init(&near, word);
    for (size_t i = 0; i < MODULES; i++)
        pr_nearest_offer(&near, modules[i].name);
    pr_fail(err, PR_E_CONF, "exp.sys_info", "there is no module '%s'", word);
    return near.best ? pr_hint(err, "did you mean '%s'?", near.best)
                     : pr_hint(err, "there are cpuinfo, meminfo, lscpu, dmi, "
                                    "nvidiasmi and inxi");
}

/* The next name in *list, which moves on behind it. 1, 0 at the end, or an
 * error. */
static int sysinfo_next_module(const char **list, const struct module **ret,
                               struct pr_err *err)
{
    static const char between[] = ", \t";
    const char *name = *list + strspn(*list, between);
    size_t len = strcspn(name, between);

    if (!len)
        return 0;
    *ret = sysinfo_find_module(name, len);
    if (!*ret)
        return fail_unknown(name, len, err);
    *list = name + len;
    return 1;
}

int pr_machine_sysinfo_check(const char *list, struct pr_err *err)
{
    const struct module *m;
    int rc;

    while ((rc = sysinfo_next_module(&list, &m, err)) == 1)
        ;
    return rc;
}

static int sysinfo_write_lines(struct pr_machine_env *e, const char *list,
                               struct pr_buf *text, struct pr_err *err)
{
    const struct module *m = NULL;
    int rc;

    while ((rc = sysinfo_next_module(&list, &m, err)) == 1) {
        pr_buf_printf(text, "__hw.%s__= ", m->name);
        pr_json_writer_init(&e->jb, text, 0);
        m->put(e, NULL);
        pr_buf_char(text, '\n');
    }
    return rc;
}

int pr_machine_sysinfo_lines_at(const char *root, const char *list,
                                struct pr_buf *out, struct pr_err *err)
{
    static const struct pr_machine_env_opts none;
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT((size_t)64 << 20);
    struct pr_machine_env e = {.opts = &none, .root = root};
    size_t old_len = out->len;

    PR_TRY(sysinfo_write_lines(&e, list, &text, err));
    if (pr_buf_ok(&text) && text.len)
        pr_buf_add(out, text.data, text.len);
    if (pr_buf_ok(&text) && pr_buf_ok(out))
        return PR_OK;
    out->len = old_len;
    return pr_fail_nomem(err);
}

void pr_machine_sysinfo_write(struct pr_json_writer *jb)
{
    static const struct pr_machine_env_opts none;
    struct pr_machine_env e = {.opts = &none, .root = "", .jb = *jb};

    for (size_t i = 0; i < MODULES; i++) {
        char key[32];

        snprintf(key, sizeof key, "hw.%s", modules[i].name);
        modules[i].put(&e, key);
    }
    *jb = e.jb;
}

int pr_machine_sysinfo_lines(const char *list, struct pr_buf *out,
                             struct pr_err *err)
{
    return pr_machine_sysinfo_lines_at("", list, out, err);
}
