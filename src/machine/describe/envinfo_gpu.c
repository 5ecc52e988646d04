/*
 * Graphics processors: NVIDIA's by their library or, without it, as their
 * driver lists them; the others appear as DRM cards. Figures of a running GPU
 * are the monitor's business.
 */
#include "machine/envinfo_read.h"
#include "machine/nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void see_nvidia(struct pr_machine_env *e, const char *name, void *ctx)
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

static void see_card(struct pr_machine_env *e, const char *name, void *ctx)
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
static bool has_library(const struct pr_machine_env *e)
{
    return !e->root[0] || getenv("PRONY_NVML");
}

void pr_machine_env_gpus(struct pr_machine_env *e)
{
    char why[PR_NVML_WHY] = "";
    struct pr_nvml *n = has_library(e) ? pr_nvml_open(why) : NULL;
    struct found f = {.nvidia = n != NULL};

    pr_json_open_array(&e->jb, "gpus");
    if (!pr_machine_env_nvml(e, n))
        pr_machine_env_each(e, "/proc/driver/nvidia/gpus", "", see_nvidia, &f);
    pr_machine_env_each(e, "/sys/class/drm", "card", see_card, &f);
    pr_json_close(&e->jb);
    /* Why there is none is of interest where a driver is. */
    if (n || (f.nvidia && why[0]))
        pr_machine_env_nvml_all(e, n, why);
    pr_nvml_close(n);
}
