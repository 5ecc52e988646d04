/* NVIDIA's GPUs as their library describes them, and how they are joined. */
#include "record/envinfo_read.h"

#include "base/nvml.h"

#include <stdio.h>
#include <string.h>

static void add_uint(struct pr_env *e, const char *key, uint64_t u)
{
    if (u)
        pr_jb_uint(&e->jb, key, u);
}

static void add_switch(struct pr_env *e, const char *key, int on)
{
    if (on >= 0)
        pr_jb_bool(&e->jb, key, on != 0);
}

static void add_text(struct pr_env *e, const char *key, const char *text)
{
    pr_jb_str(&e->jb, key, text[0] ? text : NULL);
}

static void add_device(struct pr_env *e, const struct pr_nvml_device *d)
{
    char text[32];
    uint64_t node;

    add_text(e, "model", d->name);
    add_text(e, "uuid", d->uuid);
    add_text(e, "pci", d->pci);
    if (d->pci[0] &&
        pr_env_uint(e, &node, "/sys/bus/pci/devices/%s/numa_node", d->pci))
        pr_jb_uint(&e->jb, "numa_node", node);
    add_text(e, "vbios", d->vbios);
    add_uint(e, "memory_bytes", d->memory_bytes);
    if (d->compute_major >= 0) {
        snprintf(text, sizeof text, "%d.%d", d->compute_major,
                 d->compute_minor);
        pr_jb_str(&e->jb, "compute_capability", text);
    }
    if (d->power_limit_mw)
        pr_jb_float(&e->jb, "power_limit_w", d->power_limit_mw / 1e3);
    add_uint(e, "pcie_generation", d->pcie_generation);
    add_uint(e, "pcie_width", d->pcie_width);
    add_uint(e, "max_sm_mhz", d->max_sm_mhz);
    add_uint(e, "max_memory_mhz", d->max_memory_mhz);
    add_uint(e, "nvlinks", d->nvlinks);
    add_switch(e, "ecc", d->ecc);
    add_switch(e, "persistence", d->persistence);
    add_switch(e, "mig", d->mig);
}

bool pr_env_nvml(struct pr_env *e, struct pr_nvml *n)
{
    for (unsigned i = 0; i < pr_nvml_count(n); i++) {
        struct pr_nvml_device d;

        pr_jb_obj(&e->jb, NULL);
        pr_jb_str(&e->jb, "vendor", "nvidia");
        pr_jb_uint(&e->jb, "index", i);
        if (pr_nvml_device(n, i, &d))
            add_device(e, &d);
        else
            pr_jb_bool(&e->jb, "lost", true);
        add_text(e, "driver_version", pr_nvml_driver(n));
        pr_jb_end(&e->jb);
    }
    return pr_nvml_count(n) > 0;
}

/* One row a device: "X" for itself. */
static void add_paths(struct pr_env *e, struct pr_nvml *n)
{
    char path[16];

    if (pr_nvml_count(n) < 2)
        return;
    pr_jb_arr(&e->jb, "paths");
    for (unsigned i = 0; i < pr_nvml_count(n); i++) {
        pr_jb_arr(&e->jb, NULL);
        for (unsigned j = 0; j < pr_nvml_count(n); j++)
            pr_jb_str(&e->jb, NULL,
                      i == j                        ? "X"
                      : pr_nvml_path(n, i, j, path) ? path
                                                    : NULL);
        pr_jb_end(&e->jb);
    }
    pr_jb_end(&e->jb);
}

void pr_env_nvml_all(struct pr_env *e, struct pr_nvml *n, const char *why)
{
    int cuda = pr_nvml_cuda(n);
    char text[32];

    pr_jb_obj(&e->jb, "nvml");
    if (!n) {
        pr_jb_str(&e->jb, "missing", why);
    } else {
        pr_jb_uint(&e->jb, "devices", pr_nvml_count(n));
        add_text(e, "driver_version", pr_nvml_driver(n));
        if (cuda > 0) {
            snprintf(text, sizeof text, "%d.%d", cuda / 1000, cuda % 1000 / 10);
            pr_jb_str(&e->jb, "cuda_version", text);
        }
        add_paths(e, n);
    }
    pr_jb_end(&e->jb);
}
