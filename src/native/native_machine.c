/* Asking /proc, and a loop of multiply-adds. */
#include "native/native_machine.h"

#include "nn/kernel/kernels.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int pr_machine_peak(unsigned threads, double *ret, struct pr_err *err)
{
    struct pr_threads *par = NULL;
    int rc = pr_threads_new(threads, &par, err);

    if (rc)
        return rc;
    *ret = pr_kernel_peak(par);
    pr_threads_free(par);
    return PR_OK;
}

unsigned pr_machine_processors(void)
{
    cpu_set_t mask;
    long online;

    if (sched_getaffinity(0, sizeof mask, &mask) == 0)
        return (unsigned)CPU_COUNT(&mask);
    online = sysconf(_SC_NPROCESSORS_ONLN); /* more than fit into a mask */
    return online > 0 ? (unsigned)online : 1;
}

uint64_t pr_machine_cpu_ns(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) < 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A small file of /proc as text; false: it cannot be read. */
static bool self_read_proc_file(const char *path, char *out, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, out, room - 1);

    if (fd >= 0)
        (void)close(fd);
    out[n > 0 ? n : 0] = '\0';
    return n > 0;
}

double pr_machine_age_s(void)
{
    enum { AFTER_NAME = 20 }; /* fields from the state to the start */
    long ticks = sysconf(_SC_CLK_TCK);
    unsigned long long start;
    struct timespec now;
    char text[1024];
    char *at;

    if (!self_read_proc_file("/proc/self/stat", text, sizeof text) ||
        ticks <= 0 || clock_gettime(CLOCK_BOOTTIME, &now) < 0)
        return -1;
    at = strrchr(text, ')'); /* a name may hold anything */
    for (int i = 0; at && i < AFTER_NAME; i++)
        at = strchr(at + 1, ' ');
    if (!at || sscanf(at, "%llu", &start) != 1)
        return -1;
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9 -
           (double)start / (double)ticks;
}

uint64_t pr_machine_memory_peak(void)
{
    static const char key[] = "VmHWM:";
    unsigned long long kib;
    char text[4096];
    char *at;

    if (!self_read_proc_file("/proc/self/status", text, sizeof text))
        return 0;
    at = strstr(text, key);
    if (!at || sscanf(at + strlen(key), "%llu", &kib) != 1)
        return 0;
    return kib * 1024;
}
