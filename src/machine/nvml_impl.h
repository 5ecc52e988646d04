/*
 * What nvml*.c share: the parts of NVML's binary interface that are used, as
 * its public reference describes them, and an open library.
 */
#ifndef PR_MACHINE_NVML_IMPL_H
#define PR_MACHINE_NVML_IMPL_H

#include "machine/nvml.h"

#include <stddef.h>

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

/* The device, asked for again after it was lost; NULL: it is still gone. */
struct nvml_handle *pr_nvml_handle(struct pr_nvml *n, unsigned i);

/* Whether an answer means that the whole device is gone. If so, forgets its
 * handle. */
bool pr_nvml_is_gone(struct pr_nvml *n, unsigned i, int rc);

#endif
