/* What a GPU is, and how it reaches the others. */
#include "machine/nvml_impl.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MOST_LINKS = 36 };

typedef int text_fn(struct nvml_handle *h, char *out, unsigned size);

static void nvml_get_text(struct nvml_handle *h, text_fn *call, char *out,
                          unsigned size)
{
    if (!call || call(h, out, size) != NVML_SUCCESS)
        out[0] = '\0';
    out[size - 1] = '\0';
}

typedef int number_fn(struct nvml_handle *h, unsigned *ret);

static unsigned get_number(struct nvml_handle *h, number_fn *call)
{
    unsigned u;

    return call && call(h, &u) == NVML_SUCCESS ? u : 0;
}

static unsigned max_clock(struct pr_nvml *n, struct nvml_handle *h, int which)
{
    unsigned u;

    return n->api.max_clock && n->api.max_clock(h, which, &u) == NVML_SUCCESS
               ? u
               : 0;
}

/* NVML writes "00000000:3B:00.0" where the kernel has "0000:3b:00.0". */
static bool nvml_read_pci_address(struct pr_nvml *n, struct nvml_handle *h,
                                  char out[static 32])
{
    struct nvml_pci pci = {.bus_id = ""};
    const char *id = pci.bus_id;

    out[0] = '\0';
    if (!n->api.pci || n->api.pci(h, &pci) != NVML_SUCCESS)
        return false;
    pci.bus_id[sizeof pci.bus_id - 1] = '\0';
    if (strcspn(id, ":") == 8 && strncmp(id, "0000", 4) == 0)
        id += 4;
    snprintf(out, 32, "%s", id);
    for (char *c = out; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return true;
}

static bool link_is_up(struct pr_nvml *n, struct nvml_handle *h, unsigned link)
{
    int on;

    return n->api.link_state(h, link, &on) == NVML_SUCCESS && on == 1;
}

static unsigned count_links(struct pr_nvml *n, struct nvml_handle *h)
{
    unsigned count = 0;

    for (unsigned k = 0; n->api.link_state && k < MOST_LINKS; k++)
        count += link_is_up(n, h, k);
    return count;
}

static void get_modes(struct pr_nvml *n, struct nvml_handle *h,
                      struct pr_nvml_device *d)
{
    unsigned now, later;
    int on, pending;

    d->compute_major = d->compute_minor = -1;
    d->ecc = d->persistence = d->mig = -1;
    if (n->api.compute && n->api.compute(h, &on, &pending) == NVML_SUCCESS) {
        d->compute_major = on;
        d->compute_minor = pending;
    }
    if (n->api.ecc && n->api.ecc(h, &on, &pending) == NVML_SUCCESS)
        d->ecc = on != 0;
    if (n->api.persistence && n->api.persistence(h, &on) == NVML_SUCCESS)
        d->persistence = on != 0;
    if (n->api.mig && n->api.mig(h, &now, &later) == NVML_SUCCESS)
        d->mig = now != 0;
}

bool pr_nvml_device(struct pr_nvml *n, unsigned i, struct pr_nvml_device *ret)
{
    struct nvml_handle *h = pr_nvml_handle(n, i);
    struct pr_nvml_device d = {.name = ""};
    struct nvml_memory memory;
    int rc;

    if (!h || !n->api.name)
        return false;
    rc = n->api.name(h, d.name, sizeof d.name);
    if (pr_nvml_is_gone(n, i, rc) || rc != NVML_SUCCESS)
        return false;
    d.name[sizeof d.name - 1] = '\0';
    nvml_get_text(h, n->api.uuid, d.uuid, sizeof d.uuid);
    nvml_get_text(h, n->api.serial, d.serial, sizeof d.serial);
    nvml_get_text(h, n->api.vbios, d.vbios, sizeof d.vbios);
    nvml_read_pci_address(n, h, d.pci);
    if (n->api.memory && n->api.memory(h, &memory) == NVML_SUCCESS)
        d.memory_bytes = memory.total;
    d.power_limit_mw = get_number(h, n->api.power_limit);
    d.pcie_generation = get_number(h, n->api.pcie_generation);
    d.pcie_width = get_number(h, n->api.pcie_width);
    d.max_sm_mhz = max_clock(n, h, NVML_CLOCK_SM);
    d.max_memory_mhz = max_clock(n, h, NVML_CLOCK_MEMORY);
    d.nvlinks = count_links(n, h);
    get_modes(n, h, &d);
    *ret = d;
    return true;
}

/* Links that end at the other device; through a switch all of them do. */
static unsigned links_between(struct pr_nvml *n, struct nvml_handle *a,
                              struct nvml_handle *b)
{
    struct nvml_pci there = {.bus_id = ""}, end;
    unsigned direct = 0, all = 0;
    bool known = n->api.pci && n->api.pci(b, &there) == NVML_SUCCESS;

    for (unsigned k = 0; n->api.link_state && k < MOST_LINKS; k++) {
        if (!link_is_up(n, a, k))
            continue;
        all++;
        if (known && n->api.link_remote &&
            n->api.link_remote(a, k, &end) == NVML_SUCCESS)
            direct += end.domain == there.domain && end.bus == there.bus &&
                      end.device == there.device;
    }
    return direct ? direct : all;
}

bool pr_nvml_link_name(struct pr_nvml *n, unsigned i, unsigned j,
                       char out[static 16])
{
    static const char *const words[] = {"PIX", "PIX",  "PXB",
                                        "PHB", "NODE", "SYS"};
    struct nvml_handle *a = pr_nvml_handle(n, i), *b = pr_nvml_handle(n, j);
    unsigned links;
    int status, level;

    if (!a || !b || i == j)
        return false;
    if (n->api.peer &&
        n->api.peer(a, b, NVML_PEER_BY_LINK, &status) == NVML_SUCCESS &&
        status == NVML_PEER_OK && (links = links_between(n, a, b)) > 0) {
        snprintf(out, 16, "NV%u", links);
        return true;
    }
    if (!n->api.ancestor || n->api.ancestor(a, b, &level) != NVML_SUCCESS ||
        level < 0 || level > 50)
        return false;
    snprintf(out, 16, "%s", words[level / 10]);
    return true;
}
