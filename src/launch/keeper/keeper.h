/*
 * The keeper: a small single-threaded process, forked by the runner before it
 * has threads, that starts every experiment and sees to it that none outlives
 * us. Whichever of the two dies first, by whatever signal, the other one ends
 * what is left: the keeper is told of the runner's death, and adopts orphans
 * (child subreaper); the runner adopts what a dead keeper leaves. Where a
 * control group can be made, the keeper and its children live in one, and all
 * of them carry a mark: by these, what is left when both are killed at once is
 * found again.
 *
 * The runner asks by messages and reads what happened by messages; several
 * experiments may be alive at once.
 */
#ifndef PR_LAUNCH_KEEPER_H
#define PR_LAUNCH_KEEPER_H

#include "base/buf.h"
#include "base/err.h"
#include "launch/slots/slots.h"
#include "machine/process_tree.h"

#include <stdbool.h>
#include <stdint.h>

struct pr_keeper;

/* What an experiment without a program of its own runs, in a forked child of
 * the keeper. arg is pr_spawn.body_arg. Its return value is the exit status. */
typedef int pr_keeper_body(void *ctx, const char *arg);

/* What the keeper does when the runner is gone without having freed it: after
 * everything was killed, while descriptors of the runner's, and with them its
 * locks, are still open. Memory is as it was when the keeper was forked. */
typedef void pr_keeper_orphaned(void *ctx);

struct pr_keeper_calls {
    pr_keeper_body *body;         /* NULL: only programs are started */
    pr_keeper_orphaned *orphaned; /* NULL: nothing */
    void *ctx;                    /* of both */
};

/* Forks the keeper. calls may be NULL. Makes this process a child subreaper
 * until pr_keeper_free; of several keepers, free the last one first. A keeper
 * belongs to one thread at a time. Pending stdio output is flushed, so that a
 * body does not write it again. */
int pr_keeper_new(const struct pr_keeper_calls *calls, struct pr_keeper **ret,
                  struct pr_err *err) PR_MUST_CHECK;

/* Ends every experiment at once (SIGKILL), then the keeper. NULL is fine. In a
 * fork of the process that made it, only lets go of it. */
void pr_keeper_free(struct pr_keeper *k);

/* How the descendants of a keeper's children are known. */
struct pr_keeper_trace {
    uint32_t mark;     /* this keeper's alone; 0: none */
    const char *group; /* folder of its control group; NULL or "": none */
};

struct pr_keeper_trace pr_keeper_get_trace(const struct pr_keeper *k);

/* Whom it killed when it was made: what other runs that are gone had left in
 * control groups beside ours. */
const struct pr_pids *pr_keeper_get_killed(const struct pr_keeper *k);

/* Ends what is left of keepers that are gone, and waits until it is; adds whom
 * it killed. Never ends those who started us. */
void pr_keeper_end_traces(const struct pr_keeper_trace *traces, size_t n,
                          struct pr_pids *killed);

struct pr_spawn {
    uint32_t tag;             /* the caller's name for it; unique while alive */
    const char *const *argv;  /* NULL-terminated; NULL: run the body */
    const char *body_arg;     /* for the body */
    const char *const *env;   /* NULL-terminated NAME=value, the whole
                                 environment; NULL: ours as it is now */
    const char *cwd;          /* NULL: that of pr_keeper_new's time */
    const char *log_path;     /* stdout and stderr, appended; created 0644; not
                                 relative to cwd; NULL: nowhere */
    const char *channel_path; /* opened for appending, created 0644, for the
                                 child alone; its descriptor is in the
                                 environment as PRONY_FD and DATA_FD, its
                                 whole path as PRONY_CHANNEL; NULL: none */
    const struct pr_slot *slot; /* where it runs, and what its environment says
                                   about that; NULL: as we do. FAILED says
                                   "slot" when it cannot be entered. */
    const char *id; /* put into the environment as PRONY_EXPERIMENT, by which
                       the keeper knows even runaway descendants again */
};

/* Asks the keeper to start it. The answer comes as an event: FAILED, or STARTED
 * and later ENDED. PATH is that of env, else ours. */
int pr_keeper_spawn(struct pr_keeper *k, const struct pr_spawn *s,
                    struct pr_err *err) PR_MUST_CHECK;

/* From now on the keeper removes the groups of these slots when it ends, so
 * that they go even when the runner is killed. Once, before the first spawn
 * into them. */
int pr_keeper_hold_cgroups(struct pr_keeper *k, const struct pr_slots *slots,
                           struct pr_err *err) PR_MUST_CHECK;

/* Sends a signal to the whole process tree of an experiment. One that has just
 * ended is no error. */
int pr_keeper_signal(struct pr_keeper *k, uint32_t tag, int signo,
                     struct pr_err *err) PR_MUST_CHECK;

enum pr_child_event_kind {
    PR_CHILD_STARTED, /* pid */
    PR_CHILD_FAILED,  /* could not start: sys_errno, what ("exec", "chdir",
                         "open", "slot"; "fork", "pipe", "memory") */
    PR_CHILD_ENDED,   /* wait_status and the figures; its whole tree is gone */
};

struct pr_child_event {
    enum pr_child_event_kind kind;
    uint32_t tag;
    int pid;
    int sys_errno;
    char what[16];
    int wait_status;     /* as waitpid() gives it */
    bool oom;            /* the kernel's OOM killer struck meanwhile and the
                            child died of SIGKILL that we did not send, or
                            failed with 137, as a shell whose command did,
                            or after an orphan of its did; in a slot with a
                            memory limit: struck there, and it failed */
    uint32_t leftovers;  /* descendants that had to be killed afterwards */
    uint64_t started_ns; /* CLOCK_REALTIME */
    uint64_t ended_ns;
    uint64_t elapsed_ns;  /* CLOCK_MONOTONIC */
    uint64_t cpu_user_ns; /* of the child and what it waited for */
    uint64_t cpu_system_ns;
    uint64_t max_rss_bytes; /* never less than the keeper's own */
};

/* A descriptor that polls readable when an event waits. */
int pr_keeper_fd(const struct pr_keeper *k);

/* 1 and an event, 0 when none waits, PR_E_IO when the keeper is gone (what it
 * left behind has been killed then). Does not block, but for that killing. */
int pr_keeper_next(struct pr_keeper *k, struct pr_child_event *ret,
                   struct pr_err *err) PR_MUST_CHECK;

/* ---- what the runner asks of the keeper, as bytes: a header of two numbers
 * (length of the rest, type), then numbers and strings one after another. Both
 * ends are the same program on the same machine, so numbers are in native
 * order; strings keep their NUL, so that the reader can use them where they
 * lie. */

/* Above what execve() takes for arguments and environment together. */
#define PR_KEEPER_MESSAGE_MAX (16u << 20)

enum pr_keeper_message_type {
    PR_KEEPER_MESSAGE_SPAWN = 1, /* tag, log, channel, cwd, body_arg, cpus,
                          memory group, argc, envc, groupc, argv, env, groups */
    PR_KEEPER_MESSAGE_SIGNAL,    /* tag, signo */
    PR_KEEPER_MESSAGE_HOLD,      /* folder of a tree of groups */
    PR_KEEPER_MESSAGE_GOODBYE,   /* the last one */
};

/* Writing: begin empties the buffer, end fills in the length. Check pr_buf_ok
 * after end. */
void pr_keeper_message_begin(struct pr_buf *b,
                             enum pr_keeper_message_type type);
void pr_keeper_message_put_u32(struct pr_buf *b, uint32_t v);
void pr_keeper_message_put_str(struct pr_buf *b,
                               const char *s); /* NULL is kept as NULL */
void pr_keeper_message_end(struct pr_buf *b);

/* Sends all of it, waiting for room where needed; 0, or a negative errno. */
int pr_keeper_message_send(int fd, const char *data, size_t len);

struct pr_keeper_message {
    uint32_t type;
    const char *pos, *end; /* what has not been read yet; borrowed */
};

/* The message at the start of data. 1 and the bytes it takes, 0 when it has
 * not arrived in full, -1 when it is none. */
int pr_keeper_message_read(const char *data, size_t len,
                           struct pr_keeper_message *ret_msg, size_t *ret_used);

/* False when the message has no such thing at its cursor. */
bool pr_keeper_message_get_u32(struct pr_keeper_message *m, uint32_t *ret_v);
bool pr_keeper_message_get_str(struct pr_keeper_message *m,
                               const char **ret_s); /* borrowed */

#endif
