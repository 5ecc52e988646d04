/* Slices of processors, by what the kernel says about cores and packages. */
#include "machine/replicas_cpus.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct place {
    long package, core;
    unsigned short cpu;
};

/* A number in a small file; -1: there is none. */
static long cpu_read_topology(const char *sys, unsigned cpu, const char *name)
{
    char path[1024], text[32];
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/topology/%s", sys,
             cpu, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    n = read(fd, text, sizeof text - 1);
    (void)close(fd);
    if (n <= 0)
        return -1;
    text[n] = '\0';
    return strtol(text, NULL, 10);
}

static int cpu_compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->package != y->package)
        return x->package < y->package ? -1 : 1;
    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

void pr_cpu_slices_init(struct pr_cpu_slices *c, const char *sys)
{
    struct place places[CPU_SETSIZE];

    c->count = 0;
    CPU_ZERO(&c->mask);
    if (sched_getaffinity(0, sizeof c->mask, &c->mask) < 0)
        return;
    if (!sys)
        sys = "/sys";
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &c->mask))
            places[c->count++] = (struct place){
                .package = cpu_read_topology(sys, cpu, "physical_package_id"),
                .core = cpu_read_topology(sys, cpu, "core_id"),
                .cpu = (unsigned short)cpu,
            };
    qsort(places, c->count, sizeof *places, cpu_compare_places);
    for (unsigned i = 0; i < c->count; i++)
        c->list[i] = places[i].cpu;
}

unsigned pr_cpu_slices_get(const struct pr_cpu_slices *c, unsigned i,
                           unsigned n, cpu_set_t *ret)
{
    unsigned from = (unsigned)((unsigned long)c->count * i / n);
    unsigned to = (unsigned)((unsigned long)c->count * (i + 1) / n);

    *ret = c->mask;
    if (c->count == 0)
        return 0;
    if (c->count < n)
        to = from + 1;
    CPU_ZERO(ret);
    for (unsigned k = from; k < to; k++)
        CPU_SET(c->list[k], ret);
    return to - from;
}
