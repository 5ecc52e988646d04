/* NVIDIA's GPUs as their library describes them, and how they are joined. */
#include "machine/envinfo_read.h"
#include "machine/nvml.h"

#include <stdio.h>
#include <string.h>

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

static void env_add_gpu_text(struct pr_machine_env *e, const char *key,
                             const char *text)
{
    pr_json_put_str(&e->jb, key, text[0] ? text : NULL);
}

static void env_add_gpu_device(struct pr_machine_env *e,
                               const struct pr_nvml_device *d)
{
    char text[32];
    uint64_t node;

    env_add_gpu_text(e, "model", d->name);
    env_add_gpu_text(e, "uuid", d->uuid);
    env_add_gpu_text(e, "pci", d->pci);
    if (d->pci[0] && pr_machine_env_uint(
                         e, &node, "/sys/bus/pci/devices/%s/numa_node", d->pci))
        pr_json_put_uint(&e->jb, "numa_node", node);
    env_add_gpu_text(e, "vbios", d->vbios);
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

bool pr_machine_env_nvml(struct pr_machine_env *e, struct pr_nvml *n)
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
        env_add_gpu_text(e, "driver_version", pr_nvml_driver(n));
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

void pr_machine_env_nvml_all(struct pr_machine_env *e, struct pr_nvml *n,
                             const char *why)
{
    int cuda = pr_nvml_cuda(n);
    char text[32];

    pr_json_open_object(&e->jb, "nvml");
    if (!n) {
        pr_json_put_str(&e->jb, "missing", why);
    } else {
        pr_json_put_uint(&e->jb, "devices", pr_nvml_count(n));
        env_add_gpu_text(e, "driver_version", pr_nvml_driver(n));
        if (cuda > 0) {
            snprintf(text, sizeof text, "%d.%d", cuda / 1000, cuda % 1000 / 10);
            pr_json_put_str(&e->jb, "cuda_version", text);
        }
        add_paths(e, n);
    }
    pr_json_close(&e->jb);
}
