/*
 * Stands in for NVIDIA's management library where there is no GPU, with made
 * up devices and faults. PRONY_NVML names the built file; these variables, read
 * at each nvmlInit_v2, say what it does:
 *   FAKE_NVML_DEVICES=N        how many devices (2)
 *   FAKE_NVML_NAME=TEXT        what they are called
 *   FAKE_NVML_INIT=CODE        nvmlInit_v2 fails
 *   FAKE_NVML_COUNT=CODE       nvmlDeviceGetCount_v2 fails
 *   FAKE_NVML_LOST=DEV:AFTER:FOR  a device answers GPU_IS_LOST after so many
 *                              looks (0: from the start), for so many tries
 *   FAKE_NVML_FAIL=WORD:CODE,… a call fails: use memory power energy clock
 *                              temperature fan throttle pcie name path
 * A look is a call of nvmlDeviceGetUtilizationRates. Device d, look k (from 1):
 * use 50+10d %, memory d+1 GiB, power 100+k W, energy 5k J, sm clock 1000+k
 * MHz, PCIe in 1000k and out 100k bytes; every fourth look is held back by
 * power cap and heat.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, NOT_SUPPORTED = 3, INVALID = 2, LOST = 15, UNINITIALIZED = 1 };

/* Tags as in machine/nvml.c: sanitizers compare the types of functions. */
struct nvml_handle {
    unsigned number;
    unsigned looks, lost_tries;
};

struct nvml_pci {
    char old_bus_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};

struct nvml_memory {
    unsigned long long total, free, used;
};

struct nvml_utilisation {
    unsigned gpu, memory;
};

struct nvml_field {
    unsigned id, scope;
    long long timestamp, latency_us;
    int type, result;
    union {
        double d;
        unsigned u;
        unsigned long long ull;
    } value;
};

static struct nvml_handle devices[MOST];
static unsigned count, lost_device, lost_after, lost_for;
static unsigned users; /* how often nvmlInit was called more than shutdown */
static char fail[256];

static unsigned number(const char *variable, unsigned none)
{
    const char *v = getenv(variable);

    return v && *v ? (unsigned)strtoul(v, NULL, 10) : none;
}

/* The code that FAKE_NVML_FAIL gives for this word; 0: none. */
static int failure(const char *word)
{
    size_t n = strlen(word);

    for (const char *p = fail; (p = strstr(p, word)); p += n)
        if ((p == fail || p[-1] == ',') && p[n] == ':')
            return atoi(p + n + 1);
    return 0;
}

static int gone(struct nvml_handle *d)
{
    if (!users)
        return UNINITIALIZED;
    if (!d)
        return INVALID;
    if (d->number != lost_device || d->looks < lost_after ||
        d->lost_tries >= lost_for)
        return 0;
    return LOST;
}

static int check(struct nvml_handle *d, const char *word)
{
    int rc = gone(d);

    return rc ? rc : failure(word);
}

static int put_text(char *out, unsigned size, const char *text)
{
    if (strlen(text) >= size)
        return 7;
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

/* Found by name at run time: no header declares them. */
#pragma GCC visibility push(default)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

int nvmlInit_v2(void)
{
    const char *lost = getenv("FAKE_NVML_LOST");
    const char *f = getenv("FAKE_NVML_FAIL");
    int rc = (int)number("FAKE_NVML_INIT", 0);

    if (rc)
        return rc;
    count = number("FAKE_NVML_DEVICES", 2);
    if (count > MOST)
        count = MOST;
    snprintf(fail, sizeof fail, "%s", f ? f : "");
    if (!lost ||
        sscanf(lost, "%u:%u:%u", &lost_device, &lost_after, &lost_for) != 3)
        lost_device = MOST;
    for (unsigned i = 0; i < MOST; i++)
        devices[i] = (struct nvml_handle){.number = i};
    users++;
    return 0;
}

int nvmlShutdown(void)
{
    if (!users)
        return UNINITIALIZED;
    users--;
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *ret)
{
    *ret = count;
    return (int)number("FAKE_NVML_COUNT", 0);
}

/* Each try to get at a lost device brings it nearer to its return. */
int nvmlDeviceGetHandleByIndex_v2(unsigned i, struct nvml_handle **ret)
{
    int rc;

    if (i >= count)
        return INVALID;
    rc = gone(&devices[i]);
    if (rc == LOST)
        devices[i].lost_tries++;
    if (!rc)
        *ret = &devices[i];
    return rc;
}

int nvmlSystemGetDriverVersion(char *out, unsigned size)
{
    return put_text(out, size, "999.01.02");
}

int nvmlSystemGetCudaDriverVersion(int *ret)
{
    *ret = 12040;
    return 0;
}

int nvmlDeviceGetName(struct nvml_handle *d, char *out, unsigned size)
{
    int rc = check(d, "name");
    const char *other = getenv("FAKE_NVML_NAME");

    return rc ? rc : put_text(out, size, other ? other : "Fake GPU 40GB");
}

int nvmlDeviceGetUUID(struct nvml_handle *d, char *out, unsigned size)
{
    char text[64];
    int rc = gone(d);

    if (rc)
        return rc;
    snprintf(text, sizeof text, "GPU-00000000-0000-0000-0000-%012u", d->number);
    return put_text(out, size, text);
}

int nvmlDeviceGetSerial(struct nvml_handle *d, char *out, unsigned size)
{
    (void)out;
    (void)size;
    return d->number ? NOT_SUPPORTED : put_text(out, size, "1320000000000");
}

int nvmlDeviceGetVbiosVersion(struct nvml_handle *d, char *out, unsigned s)
{
    int rc = gone(d);

    return rc ? rc : put_text(out, s, "92.00.45.00.03");
}

int nvmlDeviceGetPciInfo_v3(struct nvml_handle *d, struct nvml_pci *ret)
{
    int rc = gone(d);

    if (rc)
        return rc;
    memset(ret, 0, sizeof *ret);
    ret->bus = 0x3b + d->number;
    snprintf(ret->bus_id, sizeof ret->bus_id, "00000000:%02X:00.0", ret->bus);
    return 0;
}

int nvmlDeviceGetMemoryInfo(struct nvml_handle *d, struct nvml_memory *ret)
{
    int rc = check(d, "memory");

    if (rc)
        return rc;
    ret->total = 40ull << 30;
    ret->used = (d->number + 1ull) << 30;
    ret->free = ret->total - ret->used;
    return 0;
}

static int answer_print(struct nvml_handle *d, const char *word, unsigned *ret,
                        unsigned u)
{
    int rc = check(d, word);

    if (!rc)
        *ret = u;
    return rc;
}

int nvmlDeviceGetEnforcedPowerLimit(struct nvml_handle *d, unsigned *ret)
{
    return answer_print(d, "power_limit", ret, 400000);
}

int nvmlDeviceGetMaxPcieLinkGeneration(struct nvml_handle *d, unsigned *ret)
{
    return answer_print(d, "link", ret, 4);
}

int nvmlDeviceGetMaxPcieLinkWidth(struct nvml_handle *d, unsigned *ret)
{
    return answer_print(d, "link", ret, 16);
}

int nvmlDeviceGetMaxClockInfo(struct nvml_handle *d, int type, unsigned *ret)
{
    return answer_print(d, "clock", ret, type == 2 ? 1215 : 1410);
}

int nvmlDeviceGetCudaComputeCapability(struct nvml_handle *d, int *major,
                                       int *minor)
{
    *major = 8;
    *minor = 0;
    return gone(d);
}

int nvmlDeviceGetEccMode(struct nvml_handle *d, int *now, int *later)
{
    *now = *later = 1;
    return gone(d);
}

int nvmlDeviceGetPersistenceMode(struct nvml_handle *d, int *on)
{
    *on = 0;
    return gone(d);
}

/* Only the first knows what that is. */
int nvmlDeviceGetMigMode(struct nvml_handle *d, unsigned *now, unsigned *then)
{
    *now = *then = 0;
    return d->number ? NOT_SUPPORTED : gone(d);
}

/* 0 and 1 are joined by four of six links, 2 hangs at a switch by all. */
int nvmlDeviceGetNvLinkState(struct nvml_handle *d, unsigned link, int *on)
{
    if (d->number > 2 || link > 5)
        return NOT_SUPPORTED;
    *on = link < 4 || d->number == 2;
    return gone(d);
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(struct nvml_handle *d, unsigned link,
                                        struct nvml_pci *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->bus = d->number == 2 ? 0xc0 + link : 0x3b + (1 - d->number);
    return gone(d);
}

int nvmlDeviceGetP2PStatus(struct nvml_handle *a, struct nvml_handle *b,
                           int what, int *ret)
{
    *ret = what == 2 && a->number < 3 && b->number < 3 ? 0 : 5;
    return check(a, "path");
}

int nvmlDeviceGetTopologyCommonAncestor(struct nvml_handle *a,
                                        struct nvml_handle *b, int *ret)
{
    *ret = b->number > 3 ? 50 : 30;
    return check(a, "path");
}

int nvmlDeviceGetUtilizationRates(struct nvml_handle *d,
                                  struct nvml_utilisation *ret)
{
    int rc = check(d, "use");

    if (d && users && rc != LOST)
        d->looks++;
    ret->gpu = 50 + 10 * (d ? d->number : 0);
    ret->memory = 25;
    return rc;
}

unsigned fake_nvml_power_calls; /* for tests */

int nvmlDeviceGetPowerUsage(struct nvml_handle *d, unsigned *ret)
{
    fake_nvml_power_calls++;
    return answer_print(d, "power", ret, 100000 + d->looks * 1000);
}

int nvmlDeviceGetTotalEnergyConsumption(struct nvml_handle *d,
                                        unsigned long long *ret)
{
    *ret = d->looks * 5000ull;
    return check(d, "energy");
}

int nvmlDeviceGetClockInfo(struct nvml_handle *d, int type, unsigned *ret)
{
    return answer_print(d, "clock", ret, type == 2 ? 1215 : 1000 + d->looks);
}

int nvmlDeviceGetTemperature(struct nvml_handle *d, int sensor, unsigned *ret)
{
    return sensor ? INVALID
                  : answer_print(d, "temperature", ret, 60 + d->number);
}

/* The second has none. */
int nvmlDeviceGetFanSpeed(struct nvml_handle *d, unsigned *ret)
{
    return d->number == 1 ? NOT_SUPPORTED : answer_print(d, "fan", ret, 30);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(struct nvml_handle *d,
                                              unsigned long long *ret)
{
    *ret = d->looks % 4 == 0 ? 0x24 : 0;
    return check(d, "throttle");
}

int nvmlDeviceGetFieldValues(struct nvml_handle *d, int n, struct nvml_field *f)
{
    int rc = gone(d), bad = failure("pcie");

    for (int i = 0; i < n; i++) {
        f[i].result = bad ? bad : f[i].id - 197 < 2 ? 0 : NOT_SUPPORTED;
        f[i].type = f[i].id == 198 ? 3 : 1;
        if (f[i].id == 198)
            f[i].value.ull = d->looks * 1000ull;
        else
            f[i].value.u = d->looks * 100;
    }
    return rc;
}
