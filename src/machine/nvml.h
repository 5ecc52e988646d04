/*
 * NVIDIA's management library, opened when first asked for; without a driver
 * there are no GPUs, and that is no error. $PRONY_NVML names another library
 * (tests bring one of their own); set and empty, there is none.
 */
#ifndef PR_MACHINE_NVML_H
#define PR_MACHINE_NVML_H

#include <stdbool.h>
#include <stdint.h>

enum { PR_NVML_MAX = 64, PR_NVML_NAME = 96, PR_NVML_WHY = 160 };

struct pr_nvml; /* open library */

/* NULL when there is none, or no device; why (PR_NVML_WHY characters, or
 * NULL) says so in words. Where the driver has to wake the GPUs first this
 * takes seconds: open it once. One that is open belongs to one thread. */
struct pr_nvml *pr_nvml_open(char *why);
void pr_nvml_close(struct pr_nvml *n);
unsigned pr_nvml_count(const struct pr_nvml *n);
const char *pr_nvml_driver(const struct pr_nvml *n); /* version, or "" */
int pr_nvml_cuda(const struct pr_nvml *n); /* 12040 for 12.4; 0: unknown */

/* What does not change. False: it cannot be read now. */
struct pr_nvml_device {
    char name[PR_NVML_NAME], uuid[PR_NVML_NAME], vbios[32], serial[32];
    char pci[32]; /* as below /sys/bus/pci/devices: "0000:3b:00.0" */
    uint64_t memory_bytes;
    unsigned power_limit_mw, pcie_generation, pcie_width; /* 0: unknown */
    unsigned max_sm_mhz, max_memory_mhz;
    unsigned nvlinks; /* that are up */
    int compute_major, compute_minor;
    int ecc, persistence, mig; /* 1: on, 0: off; here and above -1: unknown */
};
bool pr_nvml_device(struct pr_nvml *n, unsigned i, struct pr_nvml_device *ret);

/* How two devices reach each other, in nvidia-smi's words: "NV4" (links),
 * "PIX" (one switch), "PXB", "PHB", "NODE", "SYS"; false: unknown. */
bool pr_nvml_link_name(struct pr_nvml *n, unsigned i, unsigned j,
                       char out[static 16]);

/* What changes. Each figure is NaN where the device does not tell it. */
struct pr_nvml_state {
    double utilisation, memory_utilisation; /* shares, 0 to 1 */
    double memory_bytes;                    /* used */
    double power_w, energy_j; /* energy since the driver was loaded */
    double sm_mhz, memory_mhz, temperature_c, fan; /* fan: a share */
    double pcie_in_bytes, pcie_out_bytes; /* so far; may start again at 0 */
    double throttle; /* NVML's bits, a whole number; 0: runs freely */
};
/* False: the device is gone or answers with errors alone; the next call tries
 * again. Takes microseconds where the driver does. */
bool pr_nvml_read(struct pr_nvml *n, unsigned i, struct pr_nvml_state *ret);

/* "power cap, thermal" for bits of throttle; "" for none. A GPU that rests
 * is not held back: that bit has no word. */
void pr_nvml_throttle_words(uint64_t bits, char out[static 160]);

/* Whether this machine has a GPU of any maker: the default of exp.gpus depends
 * on it. */
bool pr_machine_has_gpu(void);

#endif
