/* Sets of CPUs: lists in and out, what is done with sets, and slices. */
#include "machine/cpuset.h"

#include "machine/kernel_file.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORDS = PR_CPUSET_MAX / PR_CPUSET_WORD,
    LIST_BYTES = 5 * PR_CPUSET_MAX, /* every other CPU of the largest machine */
};

void pr_cpuset_add(struct pr_cpuset *s, unsigned cpu)
{
    if (cpu < PR_CPUSET_MAX)
        s->word[cpu / PR_CPUSET_WORD] |= UINT64_C(1) << cpu % PR_CPUSET_WORD;
}

bool pr_cpuset_has(const struct pr_cpuset *s, unsigned cpu)
{
    return cpu < PR_CPUSET_MAX &&
           (s->word[cpu / PR_CPUSET_WORD] >> cpu % PR_CPUSET_WORD & 1);
}

static bool cpuset_read_number(const char **at, unsigned *ret)
{
    unsigned v = 0;

    if (!isdigit((unsigned char)**at))
        return false;
    for (; isdigit((unsigned char)**at) && v < PR_CPUSET_MAX; (*at)++)
        v = v * 10 + (unsigned)(**at - '0');
    *ret = v;
    return v < PR_CPUSET_MAX;
}

/* "3" or "3-5". */
static bool cpuset_read_range(const char **at, struct pr_cpuset *s)
{
    unsigned from, to;

    if (!cpuset_read_number(at, &from))
        return false;
    to = from;
    if (**at == '-') {
        (*at)++;
        if (!cpuset_read_number(at, &to) || to < from)
            return false;
    }
    for (; from <= to; from++)
        pr_cpuset_add(s, from);
    return true;
}

static const char *cpuset_skip_blanks(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

bool pr_cpuset_parse(const char *text, struct pr_cpuset *ret)
{
    struct pr_cpuset s = {0};
    const char *at = cpuset_skip_blanks(text);

    while (*at) {
        if (!cpuset_read_range(&at, &s))
            return false;
        if (*at != ',')
            break;
        at++;
        if (!isdigit((unsigned char)*at))
            return false;
    }
    if (*cpuset_skip_blanks(at))
        return false;
    *ret = s;
    return true;
}

bool pr_cpuset_read(struct pr_cpuset *ret, const char *fmt, ...)
{
    char text[LIST_BYTES];
    va_list ap;
    bool found;

    va_start(ap, fmt);
    found = pr_sysfile_vread(text, sizeof text, fmt, ap);
    va_end(ap);
    return found && pr_cpuset_parse(text, ret);
}

bool pr_cpuset_print(const struct pr_cpuset *s, char *out, size_t bytes)
{
    size_t len = 0;

    if (bytes)
        out[0] = '\0';
    for (unsigned i = 0; i < PR_CPUSET_MAX; i++) {
        unsigned from = i;
        int n;

        if (!pr_cpuset_has(s, i))
            continue;
        while (pr_cpuset_has(s, i + 1))
            i++;
        n = snprintf(out + len, bytes - len, i > from ? "%s%u-%u" : "%s%u",
                     len ? "," : "", from, i);
        if (n < 0 || (size_t)n >= bytes - len)
            return false;
        len += (size_t)n;
    }
    return bytes > 0;
}

unsigned pr_cpuset_count(const struct pr_cpuset *s)
{
    unsigned n = 0;

    for (size_t i = 0; i < WORDS; i++)
        n += (unsigned)__builtin_popcountll(s->word[i]);
    return n;
}

int pr_cpuset_first(const struct pr_cpuset *s)
{
    for (size_t i = 0; i < WORDS; i++)
        if (s->word[i])
            return (int)(i * PR_CPUSET_WORD) + __builtin_ctzll(s->word[i]);
    return -1;
}

void pr_cpuset_join(struct pr_cpuset *s, const struct pr_cpuset *more)
{
    for (size_t i = 0; i < WORDS; i++)
        s->word[i] |= more->word[i];
}

void pr_cpuset_intersect(struct pr_cpuset *s, const struct pr_cpuset *only)
{
    for (size_t i = 0; i < WORDS; i++)
        s->word[i] &= only->word[i];
}

void pr_cpuset_subtract(struct pr_cpuset *s, const struct pr_cpuset *out)
{
    for (size_t i = 0; i < WORDS; i++)
        s->word[i] &= ~out->word[i];
}

bool pr_cpuset_overlaps(const struct pr_cpuset *a, const struct pr_cpuset *b)
{
    for (size_t i = 0; i < WORDS; i++)
        if (a->word[i] & b->word[i])
            return true;
    return false;
}

/* ---- slices, by what the kernel says about cores and packages */

struct place {
    long package, core;
    unsigned short cpu;
};

/* A number in a small file; -1: there is none. */
static long cpu_read_topology(const char *sys, unsigned cpu, const char *name)
{
    uint64_t n;

    return pr_sysfile_number(&n, "%s/devices/system/cpu/cpu%u/topology/%s", sys,
                             cpu, name)
               ? (long)n
               : -1;
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
