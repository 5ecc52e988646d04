/* Whether there is a GPU: the one default that depends on the machine. */
#include "machine/nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
