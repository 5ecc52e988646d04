/* Ranks that are processes of this machine: starting them, and their end. */
#include "base/clock.h"
#include "base/mem.h"
#include "native/replica/replicas_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long others may take to end: after a failure they are in the middle of a
 * step, otherwise they give back memory. */
enum { FAILED_MS = 500, ENDED_MS = 30000 };

/* Somewhat longer than it takes to come back from a sleep. */
enum { SPINS = 2000 };

void pr_replicas_silence_stdout(void)
{
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)dup2(fd, 1);
    (void)close(fd);
}

static int map_board(struct pr_replicas *r, struct pr_err *err)
{
    size_t desks = 2 * (size_t)r->ranks * sizeof *r->desks;
    char *p;

    r->bytes = sizeof *r->board + desks;
    p = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
             -1, 0);
    if (p == MAP_FAILED)
        return pr_fail_errno(err, PR_E_NOMEM, "",
                             "no memory for %u replicas to share", r->ranks);
    r->board = (void *)p;
    r->desks = (void *)(p + sizeof *r->board);
    for (unsigned i = 0; i < PR_SHARES; i++)
        r->memory[i] = memfd_create("prony-replicas", MFD_CLOEXEC);
    return PR_OK;
}

static void unmap_board(struct pr_replicas *r)
{
    pr_threads_free(r->par);
    pr_replicas_share_close_all(r);
    (void)munmap(r->board, r->bytes);
}

/* Only this rank's share of the processors; threads inherit it. */
static void fork_bind_to_slice(struct pr_replicas *r)
{
    cpu_set_t slice;
    unsigned count = pr_cpu_slices_get(&r->cpus, r->rank, r->ranks, &slice);

    if (count)
        (void)sched_setaffinity(0, sizeof slice, &slice);
    r->no_par = count == 1 && r->opts->threads == 0;
    r->spins = r->cpus.count >= r->ranks ? SPINS : 0;
}

/* ---- one of the others */

static _Noreturn void replica_run_child(struct pr_replicas *r, unsigned rank,
                                        pr_replica_fn *fn, void *ctx)
{
    struct pr_err err = {0};
    char name[32]; /* it is cut at 15 */
    int rc;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != r->parent)
        _exit(127); /* it died before it could take us along */
    snprintf(name, sizeof name, "prony-rank%u", rank);
    (void)prctl(PR_SET_NAME, name);
    r->rank = rank;
    pr_replicas_silence_stdout();
    fork_bind_to_slice(r);
    rc = fn(r, ctx, &err);
    if (rc)
        pr_replicas_fail(r, rank, &err);
    else
        pr_replicas_leave(r);
    _exit(pr_code_exit_status(rc));
}

/* ---- the one that reports */

static int start_all(struct pr_replicas *r, pr_replica_fn *fn, void *ctx,
                     struct pr_err *err)
{
    r->parent = getpid();
    for (unsigned i = 1; i < r->ranks; i++) {
        r->pids[i] = fork();
        if (r->pids[i] == 0)
            replica_run_child(r, i, fn, ctx);
        if (r->pids[i] < 0)
            return pr_fail_errno(err, PR_E_IO, "",
                                 "cannot start the process of replica %u", i);
    }
    return PR_OK;
}

static bool all_have_ended(struct pr_replicas *r)
{
    bool all = true;

    for (unsigned i = 1; i < r->ranks; i++)
        if (r->pids[i] > 0)
            all &= pr_replicas_check_process(r, i);
    return all;
}

static void end_all(struct pr_replicas *r, int limit_ms)
{
    uint64_t now = pr_now(r->opts->clock),
             until = now + (uint64_t)limit_ms * 1000000;

    while (!all_have_ended(r) && now < until) {
        if (pr_replicas_get_failure(r, NULL) && limit_ms != FAILED_MS) {
            limit_ms = FAILED_MS; /* one of them, later than this one's end */
            until = now + (uint64_t)limit_ms * 1000000;
        }
        pr_sleep_until(r->opts->clock, now + 1000000, NULL);
        now = pr_now(r->opts->clock);
    }
    for (unsigned i = 1; i < r->ranks; i++) {
        if (r->pids[i] <= 0)
            continue;
        (void)kill(r->pids[i], SIGKILL); /* no matter, if it has ended */
        while (waitpid(r->pids[i], NULL, 0) < 0 && errno == EINTR)
            ;
    }
}

static int replicas_finish(struct pr_replicas *r, int rc, struct pr_err *err)
{
    if (rc)
        pr_replicas_fail(r, 0, err);
    else
        pr_replicas_leave(r);
    end_all(r, rc ? FAILED_MS : ENDED_MS);
    if (!rc)
        rc = pr_replicas_get_failure(r, err);
    return rc;
}

int pr_replicas_fork_run(struct pr_replicas *r, pr_replica_fn *fn, void *ctx,
                         struct pr_err *err)
{
    int rc = map_board(r, err);

    if (rc)
        return rc;
    r->way = &pr_replicas_local;
    rc = start_all(r, fn, ctx, err);
    if (!rc) {
        fork_bind_to_slice(r);
        rc = fn(r, ctx, err);
    }
    rc = replicas_finish(r, rc, err);
    unmap_board(r);
    if (r->cpus.count)
        (void)sched_setaffinity(0, sizeof r->cpus.mask, &r->cpus.mask);
    return rc;
}
