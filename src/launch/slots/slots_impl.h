/* What the files of the slots share and nobody else sees. */
#ifndef PR_LAUNCH_SLOTS_IMPL_H
#define PR_LAUNCH_SLOTS_IMPL_H

#include "base/mem.h"
#include "launch/slots/groups.h"
#include "launch/slots/share.h"
#include "launch/slots/slots.h"
#include "machine/topology.h"

#include <sys/types.h>

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

/* Adds a group that the slot's child is to enter, once. */
int pr_slots_add_cgroup(struct pr_slots *s, struct pr_slot *slot,
                        const char *dir, struct pr_err *err);

/* Holds CPUs and memory by groups where that can be done; notes why where it
 * cannot. */
int pr_slots_hold_cgroups(struct pr_slots *s, struct pr_err *err);

/* The groups that opts->group names, when all of them are there and can be
 * entered; else notes why, and ret_used is false. */
int pr_slots_use_named(struct pr_slots *s, bool *ret_used, struct pr_err *err);

/* Whether a process of ours can enter this group: one tries. 0, or a negative
 * errno. */
int pr_cgroup_try_enter(const char *dir);

/* Notes that something cannot be held by a group: what it is ("memory is not
 * limited"), why (a negative errno) and where. */
void pr_slots_warn_not_held(struct pr_slots *s, const char *what, int why,
                            const char *where);

#endif
