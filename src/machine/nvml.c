/*
 * NVIDIA's management library: opened, what its devices are, and what they do
 * right now.
 */
#include "machine/nvml.h"

#include "base/mem.h"

#include <ctype.h>
#include <dlfcn.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- its binary interface
 * The parts that are used, as the public reference describes them, and an open
 * library. */

enum {
    NVML_SUCCESS = 0,
    NVML_UNINITIALIZED = 1,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_FUNCTION_NOT_FOUND = 13,
    NVML_GPU_IS_LOST = 15,
    NVML_RESET_REQUIRED = 16,
    NVML_VERSION_MISMATCH = 18,
    NVML_GPU_NOT_FOUND = 28,
};

enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2 };
enum { NVML_FIELD_PCIE_OUT = 197, NVML_FIELD_PCIE_IN = 198 };
enum { NVML_VALUE_UINT = 1, NVML_VALUE_ULONG = 2, NVML_VALUE_ULLONG = 3 };
enum { NVML_PEER_BY_LINK = 2, NVML_PEER_OK = 0 };

struct nvml_handle; /* theirs */

struct nvml_pci {
    char old_bus_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};

struct nvml_memory {
    unsigned long long total, free, used;
};

struct nvml_utilisation {
    unsigned gpu, memory; /* percent */
};

struct nvml_field {
    unsigned id, scope;
    long long timestamp, latency_us;
    int type, result;
    union {
        double d;
        unsigned u;
        unsigned long ul;
        unsigned long long ull;
    } value;
};

struct pr_nvml_api {
#define CALL(member, name, older, args) int(*member) args;
#include "machine/nvml_api.def"
#undef CALL
};

/* Figures that a device once said it does not have: they are not asked for
 * again, which would cost a call into the driver each time. */
enum pr_nvml_measure {
    PR_NVML_F_UTILISATION,
    PR_NVML_F_MEMORY,
    PR_NVML_F_POWER,
    PR_NVML_F_ENERGY,
    PR_NVML_F_SM,
    PR_NVML_F_MEMORY_CLOCK,
    PR_NVML_F_TEMPERATURE,
    PR_NVML_F_FAN,
    PR_NVML_F_THROTTLE,
    PR_NVML_F_PCIE,
};

struct pr_nvml {
    void *so;
    struct pr_nvml_api api;
    unsigned count;
    char driver[80];
    int cuda;
    struct {
        struct nvml_handle *handle; /* NULL: to be asked for */
        unsigned absent;            /* one bit for each pr_nvml_measure */
    } dev[PR_NVML_MAX];
};

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

/* The device, asked for again after it was lost; NULL: it is still gone. */
static struct nvml_handle *pr_nvml_handle(struct pr_nvml *n, unsigned i)
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

/* Whether an answer means that the whole device is gone. If so, forgets its
 * handle. */
static bool nvml_is_gone(struct pr_nvml *n, unsigned i, int rc)
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

/* ---- what a GPU is, and how it reaches the others */

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
    if (nvml_is_gone(n, i, rc) || rc != NVML_SUCCESS)
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

/* ---- what a GPU does right now */

/* One look at a device. */
struct look {
    struct pr_nvml *n;
    unsigned i;
    struct nvml_handle *handle;
    bool gone, any; /* any: at least one figure came */
};

/* Whether to ask for a figure; then the answer's code goes to took(). */
static bool nvml_needs_call(const struct look *l, enum pr_nvml_measure f,
                            bool has_call)
{
    return has_call && !l->gone && !(l->n->dev[l->i].absent & 1u << f);
}

static bool nvml_is_answered(struct look *l, enum pr_nvml_measure f, int rc)
{
    if (rc == NVML_SUCCESS) {
        l->any = true;
        return true;
    }
    if (rc == NVML_NOT_SUPPORTED || rc == NVML_FUNCTION_NOT_FOUND)
        l->n->dev[l->i].absent |= 1u << f;
    else if (nvml_is_gone(l->n, l->i, rc))
        l->gone = true;
    return false;
}

#define ASK(l, figure, member, ...)                            \
    (nvml_needs_call(l, figure, (l)->n->api.member != NULL) && \
     nvml_is_answered(l, figure,                               \
                      (l)->n->api.member((l)->handle, __VA_ARGS__)))

static void read_use(struct look *l, struct pr_nvml_state *s)
{
    struct nvml_utilisation use;
    struct nvml_memory memory;

    if (ASK(l, PR_NVML_F_UTILISATION, utilisation, &use)) {
        s->utilisation = use.gpu / 100.0;
        s->memory_utilisation = use.memory / 100.0;
    }
    if (ASK(l, PR_NVML_F_MEMORY, memory, &memory))
        s->memory_bytes = (double)memory.used;
}

static void read_power(struct look *l, struct pr_nvml_state *s)
{
    unsigned long long mj, bits;
    unsigned mw;

    if (ASK(l, PR_NVML_F_POWER, power, &mw))
        s->power_w = mw / 1e3;
    if (ASK(l, PR_NVML_F_ENERGY, energy, &mj))
        s->energy_j = (double)mj / 1e3;
    if (ASK(l, PR_NVML_F_THROTTLE, throttle, &bits))
        s->throttle = (double)(bits & ((1ull << 52) - 1));
}

static void read_clocks(struct look *l, struct pr_nvml_state *s)
{
    unsigned u;

    if (ASK(l, PR_NVML_F_SM, clock, NVML_CLOCK_SM, &u))
        s->sm_mhz = u;
    if (ASK(l, PR_NVML_F_MEMORY_CLOCK, clock, NVML_CLOCK_MEMORY, &u))
        s->memory_mhz = u;
    if (ASK(l, PR_NVML_F_TEMPERATURE, temperature, 0, &u))
        s->temperature_c = u;
    if (ASK(l, PR_NVML_F_FAN, fan, &u))
        s->fan = u / 100.0;
}

static double nvml_field_value(const struct nvml_field *f)
{
    if (f->result != NVML_SUCCESS)
        return NAN;
    return f->type == NVML_VALUE_UINT     ? f->value.u
           : f->type == NVML_VALUE_ULONG  ? (double)f->value.ul
           : f->type == NVML_VALUE_ULLONG ? (double)f->value.ull
                                          : NAN;
}

/* The counters: the call that gives bytes a second measures for 20 ms. */
static void read_pcie(struct look *l, struct pr_nvml_state *s)
{
    struct nvml_field f[2] = {{.id = NVML_FIELD_PCIE_IN},
                              {.id = NVML_FIELD_PCIE_OUT}};
    bool any = l->any;

    if (!ASK(l, PR_NVML_F_PCIE, fields, 2, f))
        return;
    if (f[0].result == NVML_NOT_SUPPORTED && f[1].result == NVML_NOT_SUPPORTED)
        l->n->dev[l->i].absent |= 1u << PR_NVML_F_PCIE;
    s->pcie_in_bytes = nvml_field_value(&f[0]);
    s->pcie_out_bytes = nvml_field_value(&f[1]);
    /* The call succeeds even when none of the fields does. */
    l->any = any || !isnan(s->pcie_in_bytes) || !isnan(s->pcie_out_bytes);
}

bool pr_nvml_read(struct pr_nvml *n, unsigned i, struct pr_nvml_state *ret)
{
    struct pr_nvml_state s = {NAN, NAN, NAN, NAN, NAN, NAN,
                              NAN, NAN, NAN, NAN, NAN, NAN};
    struct look l = {.n = n, .i = i, .handle = pr_nvml_handle(n, i)};

    if (!l.handle)
        return false;
    read_use(&l, &s);
    read_power(&l, &s);
    read_clocks(&l, &s);
    read_pcie(&l, &s);
    if (l.gone || !l.any)
        return false;
    *ret = s;
    return true;
}

void pr_nvml_throttle_words(uint64_t bits, char out[static 160])
{
    static const char *const words[] = {
        NULL,         "set clocks", "power cap",        "hardware slow-down",
        "sync boost", "thermal",    "hardware thermal", "power brake",
        "display",
    };
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i] && bits >> i & 1)
            used += (size_t)snprintf(out + used, 160 - used, "%s%s",
                                     used ? ", " : "", words[i]);
    bits &= ~(((uint64_t)1 << sizeof words / sizeof *words) - 1);
    if (bits)
        snprintf(out + used, 160 - used, "%sothers", used ? ", " : "");
}

/* ---- whether there is one: the one default that depends on the machine */

/* Device files answer at once; to open the library may take seconds. It is
 * asked where it was named, and where the files have other names (WSL). */
bool pr_machine_has_gpu(void)
{
    bool ask = getenv("PRONY_NVML") || access("/dev/dxg", F_OK) == 0;
    struct pr_nvml *n = ask ? pr_nvml_open(NULL) : NULL;
    bool there = n != NULL, driver;
    char path[32];

    pr_nvml_close(n);
    driver = !ask && access("/dev/nvidiactl", F_OK) == 0;
    for (unsigned i = 0; driver && !there && i < PR_NVML_MAX; i++) {
        snprintf(path, sizeof path, "/dev/nvidia%u", i);
        there = access(path, F_OK) == 0;
    }
    return there || access("/dev/kfd", F_OK) == 0;
}
