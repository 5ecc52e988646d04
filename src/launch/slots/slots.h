/*
 * Slots: the machine split into equal parts, one a child that runs beside
 * others. Each has whole cores (both threads of one stay together), near its
 * device and of one NUMA node where that can be, and a share of the memory. A
 * child is put into its slot between fork and exec (pr_spawn.slot).
 *
 * What holds it there is, controller by controller, the best that can be had:
 * groups that the profile names, groups of our own in cgroup v1 or v2, or CPU
 * affinity alone. What is missing, and its remedy, is told as notes.
 */
#ifndef PR_LAUNCH_SLOTS_H
#define PR_LAUNCH_SLOTS_H

#include "base/err.h"
#include "base/mem.h"
#include "launch/slots/cgroup_tree.h"
#include "machine/topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct pr_slots;

/* A device that a slot is for. */
struct pr_slot_device {
    const char *id;  /* as CUDA_VISIBLE_DEVICES takes it: "0", "GPU-…" */
    const char *pci; /* "0000:3b:00.0", for the CPUs near it; NULL: unknown */
};

struct pr_slots_opts {
    unsigned count; /* of slots; 0: a single one */
    bool isolate;   /* false: devices and nothing else (--no-isolation) */
    const struct pr_slot_device *devices; /* count of them, or NULL: none */
    uint64_t memory_bytes; /* to share out at most; 0: all that we may use */
    const char *group; /* existing groups, "cpuset,memory:student{NAME}", where
                          NAME is a variable of the slot's environment; NULL
                          or "": make our own */
    const char *root;  /* before /proc and /sys; NULL but in tests */
    bool look; /* make nothing, move and remove nobody: tell what would be
                  held, as far as files show it. Such slots hold no child. */
};

/* One slot. Everything is the slots' own. */
struct pr_slot {
    unsigned index;
    const char *cpus;          /* "0-3,8"; NULL: wherever we may run */
    const char *mems;          /* NUMA nodes, likewise */
    unsigned n_cpus, n_cores;  /* how many it has; 0: not isolated */
    bool cpus_grouped;         /* by a group, not by affinity alone */
    uint64_t memory_bytes;     /* its limit; 0: none is set */
    const char *const *groups; /* folders that the child enters, up to NULL */
    const char *memory_group;  /* that of them with the memory limit, or NULL */
    const char *const *env;    /* NAME=value up to NULL, instead of any other:
                                  PRONY_SLOT, CUDA_VISIBLE_DEVICES … */
    const char *const *env_default; /* likewise, where nothing else is said:
                                       OMP_NUM_THREADS and its like */
};

/* What is not as it could be, in words. */
struct pr_slots_warning {
    const char *what;   /* "memory is not limited: …" */
    const char *remedy; /* may be "" */
};

/* How CPUs or memory are held. */
enum pr_slot_hold {
    PR_HOLD_NONE,     /* not at all */
    PR_HOLD_AFFINITY, /* CPUs: a child may take others if it asks for them */
    PR_HOLD_CGROUP1,
    PR_HOLD_CGROUP2,
    PR_HOLD_NAMED, /* groups that were there before us, of either version */
};

/* Splits, and makes what groups it can; never fails for want of permission.
 * PR_E_CONF: the pattern of the groups is malformed. Also removes what runs
 * that are gone left behind. From the thread that is this process's first. */
int pr_slots_new(const struct pr_slots_opts *opts, struct pr_slots **ret,
                 struct pr_err *err) PR_MUST_CHECK;

/* Removes the groups that pr_slots_new made; after pr_keeper_free, since
 * nobody may be in them. Notes nothing; what could not be removed is tried
 * again by the next run. NULL is fine. In a fork, only forgets them. */
void pr_slots_free(struct pr_slots *s);

unsigned pr_slots_count(const struct pr_slots *s);
const struct pr_slot *pr_slots_get(const struct pr_slots *s, unsigned i);

enum pr_slot_hold pr_slots_cpu_hold(const struct pr_slots *s);
enum pr_slot_hold pr_slots_memory_hold(const struct pr_slots *s);
const char *pr_slots_hold_name(enum pr_slot_hold h); /* "cgroup v2" */

/* Memory that no slot has: the harness's. 0 when memory is not split. */
uint64_t pr_slots_reserve(const struct pr_slots *s);

/* Empty when everything is held as it should be. */
const struct pr_slots_warning *pr_slots_get_warnings(const struct pr_slots *s,
                                                     size_t *ret_n);

/* ---- sharing out cores: equal numbers of whole cores to each slot, near the
 * slot's device, and under one cache or of one NUMA node where that can be.
 * What does not divide is nobody's, and so the harness's. */

struct pr_slot_share {
    bool has_near;
    struct pr_cpuset near;        /* its device's CPUs */
    struct pr_cpuset cpus, nodes; /* what it got */
    unsigned n_cores;
};

/* False: there are fewer cores than slots, and some share one. */
bool pr_slots_share_cores(const struct pr_topology *t,
                          struct pr_slot_share *shares, unsigned n);

/* ---- what the files of the slots share and nobody else sees */

enum { PR_SLOTS_NOTES = 16, PR_SLOTS_TREES = 2, PR_SLOTS_GROUPS = 16 };

struct pr_slots {
    struct pr_arena *arena;
    pid_t owner;
    const char *root;
    const struct pr_slots_opts *opts; /* while they are made */
    unsigned n;
    struct pr_slot *slots;
    struct pr_slot_share *shares; /* of cores; NULL: not isolated */
    struct pr_topology topology;
    enum pr_slot_hold cpu, memory;
    uint64_t reserve, share_bytes;               /* of memory */
    struct pr_cgroup_tree trees[PR_SLOTS_TREES]; /* that we made */
    unsigned n_trees;
    struct pr_slots_warning notes[PR_SLOTS_NOTES];
    size_t n_notes;
};

/* Notes what is not as it could be. Texts are copied; out of memory: lost,
 * and the next allocation tells. */
void pr_slots_add_warning(struct pr_slots *s, const char *what,
                          const char *remedy);

/* Fills in what each slot's environment says; after its cores are known. */
int pr_slots_make_env(struct pr_slots *s, struct pr_err *err);

/* Holds CPUs and memory by groups where that can be done; notes why where it
 * cannot. */
int pr_slots_hold_cgroups(struct pr_slots *s, struct pr_err *err);

#endif
