/* The module nvidiasmi: what "nvidia-smi -q" prints, nested as it indents, as
 * far as NVML tells it here. "N/A" is that program's word for unknown. */
#include "base/clock.h"
#include "machine/describe/sysinfo_impl.h"
#include "machine/nvml.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void pr_machine_sysinfo_nvidiasmi(struct pr_machine_env *e, const char *key)
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
