/*
 * Graphics processors: NVIDIA's by their library or, without it, as their
 * driver lists them; the others appear as DRM cards. Figures of a running GPU
 * are the monitor's business.
 */
#include "machine/kernel_file.h"
#include "machine/nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- NVIDIA's as their library describes them, and how they are joined */

static void add_uint(struct pr_machine_env *e, const char *key, uint64_t u)
{
    if (u)
        pr_json_put_uint(&e->jb, key, u);
}

static void add_switch(struct pr_machine_env *e, const char *key, int on)
{
    if (on >= 0)
        pr_json_put_bool(&e->jb, key, on != 0);
}

static void env_add_gpu_device(struct pr_machine_env *e,
                               const struct pr_nvml_device *d)
{
    char text[32];
    uint64_t node;

    pr_machine_env_put_text(e, "model", d->name);
    pr_machine_env_put_text(e, "uuid", d->uuid);
    pr_machine_env_put_text(e, "pci", d->pci);
    if (d->pci[0] && pr_machine_env_uint(
                         e, &node, "/sys/bus/pci/devices/%s/numa_node", d->pci))
        pr_json_put_uint(&e->jb, "numa_node", node);
    pr_machine_env_put_text(e, "vbios", d->vbios);
    add_uint(e, "memory_bytes", d->memory_bytes);
    if (d->compute_major >= 0) {
        snprintf(text, sizeof text, "%d.%d", d->compute_major,
                 d->compute_minor);
        pr_json_put_str(&e->jb, "compute_capability", text);
    }
    if (d->power_limit_mw)
        pr_json_put_float(&e->jb, "power_limit_w", d->power_limit_mw / 1e3);
    add_uint(e, "pcie_generation", d->pcie_generation);
    add_uint(e, "pcie_width", d->pcie_width);
    add_uint(e, "max_sm_mhz", d->max_sm_mhz);
    add_uint(e, "max_memory_mhz", d->max_memory_mhz);
    add_uint(e, "nvlinks", d->nvlinks);
    add_switch(e, "ecc", d->ecc);
    add_switch(e, "persistence", d->persistence);
    add_switch(e, "mig", d->mig);
}

/* inside "gpus" */
static bool machine_env_nvml(struct pr_machine_env *e, struct pr_nvml *n)
{
    for (unsigned i = 0; i < pr_nvml_count(n); i++) {
        struct pr_nvml_device d;

        pr_json_open_object(&e->jb, NULL);
        pr_json_put_str(&e->jb, "vendor", "nvidia");
        pr_json_put_uint(&e->jb, "index", i);
        if (pr_nvml_device(n, i, &d))
            env_add_gpu_device(e, &d);
        else
            pr_json_put_bool(&e->jb, "lost", true);
        pr_machine_env_put_text(e, "driver_version", pr_nvml_driver(n));
        pr_json_close(&e->jb);
    }
    return pr_nvml_count(n) > 0;
}

/* One row a device: "X" for itself. */
static void add_paths(struct pr_machine_env *e, struct pr_nvml *n)
{
    char path[16];

    if (pr_nvml_count(n) < 2)
        return;
    pr_json_open_array(&e->jb, "paths");
    for (unsigned i = 0; i < pr_nvml_count(n); i++) {
        pr_json_open_array(&e->jb, NULL);
        for (unsigned j = 0; j < pr_nvml_count(n); j++)
            pr_json_put_str(&e->jb, NULL,
                            i == j                             ? "X"
                            : pr_nvml_link_name(n, i, j, path) ? path
                                                               : NULL);
        pr_json_close(&e->jb);
    }
    pr_json_close(&e->jb);
}

static void machine_env_nvml_all(struct pr_machine_env *e, struct pr_nvml *n,
                                 const char *why)
{
    int cuda = pr_nvml_cuda(n);
    char text[32];

    pr_json_open_object(&e->jb, "nvml");
    if (!n) {
        pr_json_put_str(&e->jb, "missing", why);
    } else {
        pr_json_put_uint(&e->jb, "devices", pr_nvml_count(n));
        pr_machine_env_put_text(e, "driver_version", pr_nvml_driver(n));
        if (cuda > 0) {
            snprintf(text, sizeof text, "%d.%d", cuda / 1000, cuda % 1000 / 10);
            pr_json_put_str(&e->jb, "cuda_version", text);
        }
        add_paths(e, n);
    }
    pr_json_close(&e->jb);
}

struct found {
    bool nvidia; /* its driver listed some: its DRM cards are the same */
};

/* One bit of *done for each name: a line given twice counts once. */
static void add_nvidia_line(struct pr_machine_env *e, const char *line,
                            unsigned *done)
{
    static const char *const names[][2] = {{"Model", "model"},
                                           {"GPU UUID", "uuid"},
                                           {"Video BIOS", "vbios"},
                                           {"Bus Location", "pci"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *v = pr_machine_env_field(line, names[i][0]);
        if (!v || !*v || *done & 1u << i)
            continue;
        pr_json_put_str(&e->jb, names[i][1], v);
        *done |= 1u << i;
    }
}

static void env_add_nvidia(struct pr_machine_env *e, const char *name,
                           void *ctx)
{
    struct found *f = ctx;
    struct pr_machine_env_lines l;
    char path[PR_MACHINE_ENV_WORD], version[PR_MACHINE_ENV_WORD], *line;
    unsigned done = 0;

    snprintf(path, sizeof path, "/proc/driver/nvidia/gpus/%s/information",
             name);
    if (!pr_machine_env_lines_open(e, &l, path))
        return;
    f->nvidia = true;
    pr_json_open_object(&e->jb, NULL);
    pr_json_put_str(&e->jb, "vendor", "nvidia");
    while ((line = pr_machine_env_lines_next(&l)))
        add_nvidia_line(e, line, &done);
    if (pr_machine_env_text(e, version, sizeof version,
                            "/sys/module/nvidia/version"))
        pr_json_put_str(&e->jb, "driver_version", version);
    pr_json_close(&e->jb);
}

static const char *vendor_name(const char *id)
{
    static const char *const names[][2] = {{"0x10de", "nvidia"},
                                           {"0x1002", "amd"},
                                           {"0x8086", "intel"},
                                           {"0x1da3", "habana"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(id, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}

/* Driver and place come from lines such as "PCI_SLOT_NAME=0000:41:00.0". */
static void add_uevent(struct pr_machine_env *e, const char *name)
{
    static const char *const names[][2] = {{"DRIVER=", "driver"},
                                           {"PCI_SLOT_NAME=", "pci"}};
    char text[1024];

    if (!pr_machine_env_text(e, text, sizeof text,
                             "/sys/class/drm/%s/device/uevent", name))
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *p = strstr(text, names[i][0]);
        if (!p || (p > text && p[-1] != '\n'))
            continue;
        p += strlen(names[i][0]);
        pr_json_put_strn(&e->jb, names[i][1], p, strcspn(p, "\n"));
    }
}

static void env_add_card(struct pr_machine_env *e, const char *name, void *ctx)
{
    struct found *f = ctx;
    char vendor[PR_MACHINE_ENV_WORD], word[PR_MACHINE_ENV_WORD];
    const char *known;
    uint64_t bytes;

    if (!pr_machine_env_text(e, vendor, sizeof vendor,
                             "/sys/class/drm/%s/device/vendor", name))
        return;
    known = vendor_name(vendor);
    if (f->nvidia && known && strcmp(known, "nvidia") == 0)
        return;
    pr_json_open_object(&e->jb, NULL);
    pr_json_put_str(&e->jb, "vendor", known);
    pr_json_put_str(&e->jb, "vendor_id", vendor);
    if (pr_machine_env_text(e, word, sizeof word,
                            "/sys/class/drm/%s/device/device", name))
        pr_json_put_str(&e->jb, "device_id", word);
    if (pr_machine_env_text(e, word, sizeof word,
                            "/sys/class/drm/%s/device/product_name", name))
        pr_json_put_str(&e->jb, "model", word);
    if (pr_machine_env_uint(
            e, &bytes, "/sys/class/drm/%s/device/mem_info_vram_total", name))
        pr_json_put_uint(&e->jb, "memory_bytes", bytes);
    add_uevent(e, name);
    pr_json_close(&e->jb);
}

/* A made-up machine has no library, unless one is named. */
void pr_machine_env_gpus(struct pr_machine_env *e)
{
    char why[PR_NVML_WHY] = "";
    bool ask = !e->root[0] || getenv("PRONY_NVML");
    struct pr_nvml *n = ask ? pr_nvml_open(why) : NULL;
    struct found f = {.nvidia = n != NULL};

    pr_json_open_array(&e->jb, "gpus");
    if (!machine_env_nvml(e, n))
        pr_machine_env_each(e, "/proc/driver/nvidia/gpus", "", env_add_nvidia,
                            &f);
    pr_machine_env_each(e, "/sys/class/drm", "card", env_add_card, &f);
    pr_json_close(&e->jb);
    /* Why there is none is of interest where a driver is. */
    if (n || (f.nvidia && why[0]))
        machine_env_nvml_all(e, n, why);
    pr_nvml_close(n);
}
