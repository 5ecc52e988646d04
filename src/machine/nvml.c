/* Opening NVIDIA's management library, and holding on to its devices. */
#include "machine/nvml.h"

#include "base/mem.h"
#include "machine/nvml_impl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *older;
    size_t at; /* offset of the pointer */
} symbols[] = {
#define CALL(member, name, older, args) \
    {name, older, offsetof(struct pr_nvml_api, member)},
#include "machine/nvml_api.def"
#undef CALL
};

static void nvml_load_symbols(struct pr_nvml *n)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *p = dlsym(n->so, symbols[i].name);

        if (!p && symbols[i].older)
            p = dlsym(n->so, symbols[i].older);
        memcpy((char *)&n->api + symbols[i].at, &p, sizeof p);
    }
}

static void nvml_set_reason(char *why, const char *text)
{
    if (why)
        snprintf(why, PR_NVML_WHY, "%s", text);
}

static const char *words_of(int rc)
{
    switch (rc) {
    case NVML_NO_PERMISSION:
        return "no permission to ask NVIDIA's driver";
    case NVML_DRIVER_NOT_LOADED:
        return "NVIDIA's driver is not loaded";
    case NVML_VERSION_MISMATCH:
        return "NVIDIA's driver and its library have different versions; "
               "reload the driver or start the machine again";
    }
    return NULL;
}

static void say_code(char *why, int rc)
{
    const char *words = words_of(rc);

    if (words)
        nvml_set_reason(why, words);
    else if (why)
        snprintf(why, PR_NVML_WHY, "NVIDIA's library fails with code %d", rc);
}

/* A line of /proc/bus/pci/devices: place, then vendor and device, in hex. */
static bool has_pci_device(FILE *list)
{
    char line[512];

    while (fgets(line, sizeof line, list)) {
        const char *vendor = strchr(line, '\t');

        if (vendor && strncmp(vendor + 1, "10de", 4) == 0)
            return true;
    }
    return false;
}

/* False: there is surely none, which is much sooner known than that there is
 * no library in 40 folders. */
static bool may_have_device(void)
{
    static const char *const signs[] = {
        "/dev/nvidiactl", "/proc/driver/nvidia", "/dev/dxg", /* WSL */
        "/dev/nvmap",     "/dev/nvhost-ctrl",                /* Tegra */
    };
    FILE *list;
    bool has;

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (access(signs[i], F_OK) == 0)
            return true;
    list = fopen("/proc/bus/pci/devices", "re");
    has = !list || has_pci_device(list);
    if (list)
        fclose(list);
    return has;
}

static bool nvml_open_library(struct pr_nvml *n, char *why)
{
    const char *other = getenv("PRONY_NVML");

    if (other && !*other) {
        nvml_set_reason(why, "switched off by PRONY_NVML");
        return false;
    }
    if (!other && !may_have_device()) {
        nvml_set_reason(why, "no NVIDIA device and no driver");
        return false;
    }
    n->so = dlopen(other ? other : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!n->so) {
        nvml_set_reason(why, other ? dlerror()
                                   : "no libnvidia-ml.so.1: no NVIDIA driver");
        return false;
    }
    nvml_load_symbols(n);
    if (n->api.init && n->api.shutdown && n->api.count && n->api.handle)
        return true;
    nvml_set_reason(why, "libnvidia-ml is not what its name says");
    return false;
}

/* Devices that are there, and what is said of all of them. */
static bool nvml_query_devices(struct pr_nvml *n, char *why)
{
    int rc = n->api.count(&n->count);

    if (rc != NVML_SUCCESS) {
        n->count = 0;
        say_code(why, rc);
        return false;
    }
    if (n->count > PR_NVML_MAX)
        n->count = PR_NVML_MAX;
    if (!n->count) {
        nvml_set_reason(why, "NVIDIA's driver is there, but no device");
        return false;
    }
    if (!n->api.driver ||
        n->api.driver(n->driver, sizeof n->driver) != NVML_SUCCESS)
        n->driver[0] = '\0';
    n->driver[sizeof n->driver - 1] = '\0';
    if (!n->api.cuda || n->api.cuda(&n->cuda) != NVML_SUCCESS)
        n->cuda = 0;
    return true;
}

static bool nvml_start_library(struct pr_nvml *n, char *why)
{
    int rc;

    if (!nvml_open_library(n, why))
        return false;
    rc = n->api.init();
    if (rc != NVML_SUCCESS) {
        say_code(why, rc);
        return false;
    }
    if (nvml_query_devices(n, why))
        return true;
    n->api.shutdown();
    return false;
}

struct pr_nvml *pr_nvml_open(char *why)
{
    struct pr_nvml *n = pr_alloc_zeroed(sizeof *n);

    if (!n) {
        nvml_set_reason(why, "out of memory");
        return NULL;
    }
    if (nvml_start_library(n, why))
        return n;
    if (n->so)
        dlclose(n->so);
    pr_free(n);
    return NULL;
}

void pr_nvml_close(struct pr_nvml *n)
{
    if (!n)
        return;
    n->api.shutdown();
    dlclose(n->so);
    pr_free(n);
}

unsigned pr_nvml_count(const struct pr_nvml *n)
{
    return n ? n->count : 0;
}

const char *pr_nvml_driver(const struct pr_nvml *n)
{
    return n ? n->driver : "";
}

int pr_nvml_cuda(const struct pr_nvml *n)
{
    return n ? n->cuda : 0;
}

struct nvml_handle *pr_nvml_handle(struct pr_nvml *n, unsigned i)
{
    struct nvml_handle *h = NULL;
    int rc;

    if (i >= n->count)
        return NULL;
    if (n->dev[i].handle)
        return n->dev[i].handle;
    rc = n->api.handle(i, &h);
    /* The driver was loaded again meanwhile. */
    if (rc == NVML_UNINITIALIZED && n->api.init() == NVML_SUCCESS)
        rc = n->api.handle(i, &h);
    if (rc != NVML_SUCCESS)
        return NULL;
    n->dev[i].handle = h;
    n->dev[i].absent = 0;
    return h;
}

bool pr_nvml_is_gone(struct pr_nvml *n, unsigned i, int rc)
{
    switch (rc) {
    case NVML_UNINITIALIZED:
    case NVML_DRIVER_NOT_LOADED:
    case NVML_GPU_IS_LOST:
    case NVML_RESET_REQUIRED:
    case NVML_GPU_NOT_FOUND:
        n->dev[i].handle = NULL;
        return true;
    }
    return false;
}
