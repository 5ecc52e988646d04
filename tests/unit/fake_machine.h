/*
 * A made-up machine below a temporary root: cores, NUMA nodes, caches, memory
 * and control groups, as the kernel's files would tell of them.
 */
#ifndef TESTS_UNIT_FAKE_MACHINE_H
#define TESTS_UNIT_FAKE_MACHINE_H

#include "base/file.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char fake_root[64];
static struct pr_arena *fake_arena;

/* Threads of core c are the CPUs c, c + all cores, … */
struct machine {
    unsigned nodes, cores, threads; /* cores a node; nodes 0: no files */
    unsigned per_cache;             /* cores; 0: those of a node */
    const char *allowed;            /* NULL: all */
    unsigned gib;                   /* of memory; 0: 64 */
};

static inline int fake_enter(void **state)
{
    (void)state;
    strcpy(fake_root, "/tmp/prony-machine-XXXXXX");
    fake_arena = pr_arena_new(4096);
    return mkdtemp(fake_root) && fake_arena ? 0 : -1;
}

static inline int fake_leave(void **state)
{
    char cmd[256];

    (void)state;
    pr_arena_free(fake_arena);
    snprintf(cmd, sizeof cmd, "chmod -R u+rwx %s && rm -rf %s", fake_root,
             fake_root);
    return system(cmd);
}

/* A file below the root, with the folders it needs. */
static inline void fake_put(const char *path, const char *text)
{
    char full[1024];
    FILE *f;

    snprintf(full, sizeof full, "%s%s", fake_root, path);
    *strrchr(full, '/') = '\0';
    assert_int_equal(pr_make_dirs(full, NULL), PR_OK);
    full[strlen(full)] = '/';
    f = fopen(full, "we");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* The CPUs of so many cores from this one on, as a list. */
static inline void fake_list(const struct machine *m, unsigned first,
                             unsigned n, char *out, size_t bytes)
{
    unsigned all = m->cores * (m->nodes ? m->nodes : 1);
    size_t at = 0;

    for (unsigned t = 0; t < m->threads; t++)
        at += (size_t)snprintf(out + at, bytes - at, "%s%u-%u", t ? "," : "",
                               first + t * all, first + t * all + n - 1);
}

static inline void fake_core(const struct machine *m, unsigned core)
{
    static const char cpu[] = "/sys/devices/system/cpu/cpu";
    unsigned all = m->cores * m->nodes;
    unsigned per = m->per_cache ? m->per_cache : m->cores;
    char path[128], list[64];

    for (unsigned t = 0; t < m->threads; t++) {
        fake_list(m, core, 1, list, sizeof list);
        snprintf(path, sizeof path, "%s%u/topology/thread_siblings_list", cpu,
                 core + t * all);
        fake_put(path, list);
        snprintf(path, sizeof path, "%s%u/cache/index0/level", cpu,
                 core + t * all);
        fake_put(path, "3\n");
        fake_list(m, core / per * per, per, list, sizeof list);
        snprintf(path, sizeof path, "%s%u/cache/index0/shared_cpu_list", cpu,
                 core + t * all);
        fake_put(path, list);
    }
}

static inline void fake_node(const struct machine *m, unsigned node)
{
    char path[128], text[128];

    fake_list(m, node * m->cores, m->cores, text, sizeof text);
    snprintf(path, sizeof path, "/sys/devices/system/node/node%u/cpulist",
             node);
    fake_put(path, text);
    snprintf(path, sizeof path, "/sys/devices/system/node/node%u/meminfo",
             node);
    snprintf(text, sizeof text, "Node %u MemTotal:  %u kB\n", node,
             (m->gib ? m->gib : 64) / m->nodes << 20);
    fake_put(path, text);
    for (unsigned c = 0; c < m->cores; c++)
        fake_core(m, node * m->cores + c);
}

static inline void make_machine(const struct machine *m)
{
    char text[256], all[64];
    unsigned nodes = m->nodes ? m->nodes : 1;

    fake_list(m, 0, m->cores * nodes, all, sizeof all);
    snprintf(text, sizeof text,
             "Name:\tx\nCpus_allowed_list:\t%s\nMems_allowed_list:\t0-%u\n",
             m->allowed ? m->allowed : all, nodes - 1);
    fake_put("/proc/self/status", text);
    snprintf(text, sizeof text, "MemTotal:  %u kB\nMemFree: 1 kB\n",
             (m->gib ? m->gib : 64) << 20);
    fake_put("/proc/meminfo", text);
    if (!m->nodes)
        return;
    snprintf(text, sizeof text, "0-%u\n", m->nodes - 1);
    fake_put("/sys/devices/system/node/online", text);
    for (unsigned n = 0; n < m->nodes; n++)
        fake_node(m, n);
}

#endif
