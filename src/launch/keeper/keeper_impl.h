/*
 * What the files of the keeper share and nobody else sees. keeper.c runs in the
 * runner; keeper_process.c in the keeper, but for pr_keeper_hold_cgroups;
 * keeper_child.c between fork and exec.
 */
#ifndef PR_LAUNCH_KEEPER_IMPL_H
#define PR_LAUNCH_KEEPER_IMPL_H

#include "base/buf.h"
#include "base/clock.h"
#include "launch/keeper/keeper.h"
#include "launch/keeper/oom_watch.h"
#include "launch/slots/cgroup_tree.h"
#include "machine/cpuset.h"
#include "machine/process_tree.h"

#include <limits.h>
#include <sys/types.h>
#include <time.h>

/* By it the keeper and the runner know descendants again. */
#define PR_KEEPER_MARKER "PRONY_EXPERIMENT="

#define PR_MS_NS UINT64_C(1000000)
#define PR_S_NS UINT64_C(1000000000)

/* How long a process without any environment may be one within execve(). */
#define PR_KEEPER_UNSURE_NS (50 * PR_MS_NS)

/* ---- in the runner ---- */

struct pr_keeper_live_child {
    uint32_t tag;
    pid_t pid;    /* 0 until it has started */
    char *marker; /* PRONY_EXPERIMENT=<id> */
};

struct pr_keeper {
    int sock;
    pid_t pid;     /* the keeper; 0 once it has been waited for */
    pid_t owner;   /* who may end it: a fork of the runner may not */
    int subreaper; /* what we were before */
    bool has_body;
    bool gone;
    uint32_t mark;
    struct pr_run_cgroup group; /* of the keeper and all below it */
    struct pr_pids found;
    struct pr_buf out;
    struct pr_keeper_live_child *live;
    size_t n_live, cap_live;
    size_t have; /* bytes of the next event that have arrived */
    struct pr_child_event event;
};

/* Sends what is in k->out. */
int pr_keeper_send(struct pr_keeper *k, struct pr_err *err);

/* ---- in the keeper ---- */

struct pr_keeper_child {
    uint32_t tag;
    pid_t pid;
    char *marker;
    uint64_t mark;
    bool ended;         /* the main child has; its tree may not have */
    bool killed;        /* by SIGKILL, on the runner's word */
    bool signalled;     /* on the runner's word */
    bool orphan_killed; /* a descendant died of SIGKILL that was not ours */
    struct pr_oom_cgroup oom; /* of its slot */
    struct pr_pids hit;       /* descendants killed after the end */
    uint64_t start_ns;        /* monotonic, as the following */
    uint64_t kill_ns;         /* before this, leftovers may end by themselves */
    uint64_t give_up_ns;      /* after this, what cannot be killed stays */
    uint64_t sure_ns;
    uint64_t look_ns, pause_ns; /* when to look next, and the time between */
    struct pr_child_event event;
    struct pr_keeper_child *next;
};

/* A tree of control groups to remove at the end. */
struct pr_keeper_cgroups {
    struct pr_cgroup_tree tree;
    struct pr_keeper_cgroups *next;
};

struct pr_keeper_state {
    int sock, signals;
    pid_t self, runner;
    uint32_t mark;
    struct pr_run_cgroup group; /* that we are in */
    struct pr_keeper_calls calls;
    struct pr_keeper_child *exps;
    struct pr_buf in, out;
    bool broken; /* cannot go on: out of memory, or nonsense received */
    bool told;   /* to end */
    struct pr_proctree tree;
    struct pr_pids stuck; /* what could not be killed */
    struct pr_oom_watch oom;
    uint64_t oom_ns; /* when it was last looked at */
    struct pr_keeper_cgroups *held;
};

/* The keeper's life, in the forked child. null_fd is /dev/null. */
_Noreturn void pr_keeper_process_run(struct pr_keeper_state *s, int null_fd);

/* ---- between fork and exec ---- */

struct pr_child_spec {
    const char *path; /* NULL: run the body */
    const char *const *argv;
    const char *const *env;
    const char *cwd; /* NULL: ours */
    const char *log_path;
    const char *channel_path; /* NULL: none */
    const char *body_arg;
    uint64_t mark;
    const char *const *groups;    /* folders, up to NULL */
    const struct pr_cpuset *cpus; /* NULL: as we have them */
};

/* Where a program finds its channel: a digit that every shell can name, and
 * what milabench's programs take when they are told nothing. */
enum { PR_CHILD_CHANNEL_FD = 3 };

struct pr_child_failure {
    int sys_errno;
    char what[16];
};

/* The new process, or -1 and why. When it returns, the child has executed its
 * program, or is about to call the body. */
pid_t pr_keeper_child_start(struct pr_keeper_state *s,
                            const struct pr_child_spec *c,
                            struct pr_child_failure *ret_why);

/* What the keeper does with signals, and how a child undoes it. */
void pr_keeper_child_ignore_signals(void);

#endif
