/*
 * Ranks that mpirun starts: the command that does, and the ranks themselves
 * with Open MPI, which is loaded when it is wanted. Its constants are addresses
 * in the library, so that its header's macros for them cannot be used.
 */
#include "native/replica/replicas_mpi.h"

#include "base/file.h"
#include "job/job.h"
#include "native/replica/replicas.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what mpirun there is */

int pr_mpi_find_mpirun(struct pr_arena *a, const char **ret, struct pr_err *err)
{
    char path[PATH_MAX];

    if (!PR_HAVE_MPI) {
        pr_fail(err, PR_E_UNAVAIL, "nn.mpi",
                "this build was made without Open MPI");
        return pr_hint(err, "apt-get install libopenmpi-dev, then make");
    }
    /* Where several MPIs are installed, the plain name may be another one's. */
    if (!pr_which("mpirun.openmpi", path) && !pr_which("mpirun", path)) {
        pr_fail(err, PR_E_UNAVAIL, "nn.mpi", "there is no mpirun on PATH");
        return pr_hint(err, "apt-get install openmpi-bin");
    }
    *ret = pr_arena_str(a, path);
    return *ret ? PR_OK : pr_fail_nomem(err);
}

/* ---- nn.mpi_args */

static bool is_binding(const char *text)
{
    static const char *const words[] = {"bind-to", "map-by", "cpu-set",
                                        "rankfile"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i]))
            return true;
    return false;
}

bool pr_mpi_has_binding(const struct pr_nn_opts *nn)
{
    const struct pr_value *v = nn->mpi_args;

    if (!v)
        return false;
    if (v->kind == PR_STR)
        return is_binding(v->s);
    for (uint32_t i = 0; v->kind == PR_LIST && i < v->len; i++)
        if (v->items[i].kind == PR_STR && is_binding(v->items[i].s))
            return true;
    return false;
}

/* ---- the command */

static int mpirun_add_number(struct pr_argv *a, uint64_t number,
                             struct pr_err *err)
{
    const char *word =
        pr_arena_printf(a->job->arena, "%llu", (unsigned long long)number);

    return word ? pr_argv_add_word(a, word, err) : pr_fail_nomem(err);
}

/* Replicas take their shares of processors themselves. */
static int mpirun_add_options(struct pr_argv *a, const struct pr_nn_opts *nn,
                              struct pr_err *err)
{
    static const char *const unbound[] = {"--bind-to", "none"};
    int rc = pr_argv_add_word(a, "--oversubscribe", err);

    if (!rc && geteuid() == 0)
        rc = pr_argv_add_word(a, "--allow-run-as-root", err);
    if (!rc && !pr_mpi_has_binding(nn))
        rc = pr_argv_add_words(a, unbound, 2, err);
    return rc ? rc : pr_argv_add_words_of(a, "nn.mpi_args", nn->mpi_args, err);
}

/* Other programs may want the processors, too: whoever waits lets them. Not as
 * an argument, where a second one would be an error. */
static int mpirun_set_env(const struct pr_argv *a, struct pr_start *ret,
                          struct pr_err *err)
{
    static const char name[] = "OMPI_MCA_mpi_yield_when_idle";
    const char **words =
        PR_ARENA_ARRAY(a->job->arena, const char *, a->assignments + 1);
    size_t n = 0;

    if (!words)
        return pr_fail_nomem(err);
    if (!getenv(name))
        words[n++] = "OMPI_MCA_mpi_yield_when_idle=1";
    for (size_t i = 0; i < a->assignments; i++)
        words[n++] = a->items[i];
    return pr_job_set_start_env(a->job, words, n, ret, err);
}

/* This program, and a folder that does not depend on where it is started. */
static int mpirun_add_rank_command(struct pr_argv *a, struct pr_err *err)
{
    const char *words[] = {NULL, PR_MPI_VERB, a->job->dir};
    char exe[PATH_MAX], whole[PATH_MAX];

    if (!realpath("/proc/self/exe", exe))
        return pr_fail_errno(err, PR_E_IO, "/proc/self/exe",
                             "cannot find this program");
    words[0] = pr_arena_str(a->job->arena, exe);
    if (*a->job->dir && realpath(a->job->dir, whole))
        words[2] = pr_arena_str(a->job->arena, whole);
    if (!words[0] || !words[2])
        return pr_fail_nomem(err);
    return pr_argv_add_words(a, words, 3, err);
}

int pr_mpi_fill_start(struct pr_job *job, const struct pr_nn_opts *nn,
                      uint64_t ranks, struct pr_start *ret, struct pr_err *err)
{
    const char *words[] = {NULL, "-np"};
    struct pr_argv a;
    int rc = pr_mpi_find_mpirun(job->arena, &words[0], err);

    if (!rc)
        rc = pr_argv_init(&a, job, err);
    if (!rc)
        rc = pr_argv_add_words(&a, words, 2, err);
    if (!rc)
        rc = mpirun_add_number(&a, ranks, err);
    if (!rc)
        rc = mpirun_add_options(&a, nn, err);
    if (!rc)
        rc = mpirun_add_rank_command(&a, err);
    if (!rc)
        rc = pr_argv_fill_start(&a, ret, err);
    if (!rc)
        rc = mpirun_set_env(&a, ret, err);
    if (!rc)
        ret->runs_ours = true;
    return rc;
}

#if PR_HAVE_MPI

#include "base/clock.h"

#include <dlfcn.h>
#include <mpi.h>

#define FUNCTIONS(X)           \
    X(MPI_Init_thread)         \
    X(MPI_Comm_rank)           \
    X(MPI_Comm_size)           \
    X(MPI_Comm_set_errhandler) \
    X(MPI_Allreduce)           \
    X(MPI_Iallreduce)          \
    X(MPI_Test)                \
    X(MPI_Error_string)        \
    X(MPI_Finalize)

/* X(what we call it, symbol) */
#define CONSTANTS(X)              \
    X(world, ompi_mpi_comm_world) \
    X(float_, ompi_mpi_float)     \
    X(double_, ompi_mpi_double)   \
    X(sum, ompi_mpi_op_sum)       \
    X(max, ompi_mpi_op_max)       \
    X(errors_return, ompi_mpi_errors_return)

/* Filled once, by mpi_load_library(), and never changed again. */
static struct {
#define X(name) __typeof__(name) *name;
    FUNCTIONS(X)
#undef X
#define X(name, symbol) void *name;
    CONSTANTS(X)
#undef X
} api;

static int mpi_load_library(struct pr_err *err)
{
    static const struct {
        const char *name;
        size_t at;
    } rows[] = {
#define X(name) {#name, offsetof(__typeof__(api), name)},
        FUNCTIONS(X)
#undef X
#define X(name, symbol) {#symbol, offsetof(__typeof__(api), name)},
            CONSTANTS(X)
#undef X
    };
    /* Its own plug-ins look for its symbols. */
    void *so = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);

    if (!so) {
        pr_fail(err, PR_E_UNAVAIL, "Open MPI", "%s", dlerror());
        return pr_hint(err, "apt-get install libopenmpi3 openmpi-bin");
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *p = dlsym(so, rows[i].name);

        if (!p)
            return pr_fail(err, PR_E_UNAVAIL, "libmpi.so.40", "has no '%s'",
                           rows[i].name);
        memcpy((char *)&api + rows[i].at, &p, sizeof p);
    }
    return PR_OK;
}

static int mpi_check(int code, const char *what, struct pr_err *err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len = 0;

    if (code == MPI_SUCCESS)
        return PR_OK;
    (void)api.MPI_Error_string(code, text, &len);
    return pr_fail(err, PR_E_JOB, "Open MPI", "%s: %.300s", what, text);
}

static int mpi_fail_interrupted(struct pr_err *err)
{
    return pr_fail(err, PR_E_INTR, "", "interrupted");
}

static bool mpi_is_stopped(const struct pr_replicas *r)
{
    const bool *stop = r->opts->stop;

    return stop && __atomic_load_n(stop, __ATOMIC_RELAXED);
}

/* How long one that is to end waits for others, which may be in the middle of
 * a step, or dead: mpirun asks to end then, too, and nothing tells which. */
static uint64_t mpi_patience_ns(const struct pr_replicas *r)
{
    return 500000000 + 2 * r->longest_ns;
}

/* Waits for the meeting that r->request is. */
static int mpi_wait_meeting(struct pr_replicas *r, struct pr_err *err)
{
    enum { SPIN_NS = 100000, NAP_NS = 20000 };
    uint64_t start = pr_now(r->opts->clock), stop_ns = 0;

    for (;;) {
        int done = 0, rc;
        uint64_t now;

        rc = mpi_check(
            api.MPI_Test((MPI_Request *)&r->request, &done, MPI_STATUS_IGNORE),
            "MPI_Test", err);
        if (rc || done)
            return rc;
        now = pr_now(r->opts->clock);
        if (!stop_ns && mpi_is_stopped(r))
            stop_ns = now;
        if (stop_ns && now - stop_ns > mpi_patience_ns(r))
            return mpi_fail_interrupted(err);
        if (now - start > SPIN_NS) /* others may need the processor */
            pr_sleep_until(r->opts->clock, now + NAP_NS, NULL);
    }
}

/* All come to this before they do anything together, where nobody could leave
 * any more. If one is to end, all do. */
static int mpi_meet(struct pr_replicas *r, struct pr_err *err)
{
    uint64_t since = pr_now(r->opts->clock) - r->met_ns;
    int rc;

    if (r->met_ns && since > r->longest_ns)
        r->longest_ns = since;
    r->any_stopped = mpi_is_stopped(r);
    rc = mpi_check(api.MPI_Iallreduce(MPI_IN_PLACE, &r->any_stopped, 1,
                                      (MPI_Datatype)api.double_,
                                      (MPI_Op)api.max, (MPI_Comm)api.world,
                                      (MPI_Request *)&r->request),
                   "MPI_Iallreduce", err);
    if (!rc)
        rc = mpi_wait_meeting(r, err);
    if (!rc && r->any_stopped > 0)
        rc = mpi_fail_interrupted(err);
    r->met_ns = pr_now(r->opts->clock);
    return rc;
}

static int mpi_mean(struct pr_replicas *r, float *values, size_t count,
                    struct pr_err *err)
{
    enum { MOST = 1 << 30 }; /* it counts in int */
    int rc = mpi_meet(r, err);

    for (size_t at = 0; !rc && at < count; at += MOST) {
        size_t left = count - at;

        rc = mpi_check(api.MPI_Allreduce(MPI_IN_PLACE, values + at,
                                         (int)(left < MOST ? left : MOST),
                                         (MPI_Datatype)api.float_,
                                         (MPI_Op)api.sum, (MPI_Comm)api.world),
                       "MPI_Allreduce", err);
    }
    if (!rc)
        pr_replicas_scale(r->ranks, values, count);
    return rc;
}

static int mpi_fold(struct pr_replicas *r, enum pr_replicas_op what,
                    double *values, size_t count, struct pr_err *err)
{
    void *op = what == PR_REPLICAS_OP_SUM ? api.sum : api.max;
    int rc = mpi_meet(r, err);

    if (rc || what == PR_REPLICAS_OP_MEET)
        return rc;
    return mpi_check(api.MPI_Allreduce(MPI_IN_PLACE, values, (int)count,
                                       (MPI_Datatype)api.double_, (MPI_Op)op,
                                       (MPI_Comm)api.world),
                     "MPI_Allreduce", err);
}

static const struct pr_replicas_transport by_mpi = {mpi_mean, mpi_fold};

static int mpi_join_world(struct pr_replicas *r, struct pr_err *err)
{
    int provided, rank = 0, size = 0, rc;

    rc = mpi_check(
        api.MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided),
        "MPI_Init_thread", err);
    if (!rc)
        rc = mpi_check(
            api.MPI_Comm_set_errhandler((MPI_Comm)api.world,
                                        (MPI_Errhandler)api.errors_return),
            "MPI_Comm_set_errhandler", err);
    if (!rc)
        rc = mpi_check(api.MPI_Comm_rank((MPI_Comm)api.world, &rank),
                       "MPI_Comm_rank", err);
    if (!rc)
        rc = mpi_check(api.MPI_Comm_size((MPI_Comm)api.world, &size),
                       "MPI_Comm_size", err);
    if (rc)
        return rc;
    r->rank = (unsigned)rank;
    if (r->ranks != (unsigned)size)
        return pr_fail(err, PR_E_CONF, "exp.num_replicas",
                       "%u replicas are wanted, mpirun started %d", r->ranks,
                       size);
    return PR_OK;
}

static unsigned mpi_read_env_number(const char *name)
{
    const char *text = getenv(name);

    return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

/* Only this rank's share of the processors of its machine. */
static void mpi_bind_to_slice(struct pr_replicas *r)
{
    unsigned rank = mpi_read_env_number("OMPI_COMM_WORLD_LOCAL_RANK");
    cpu_set_t slice;

    r->local_ranks = mpi_read_env_number("OMPI_COMM_WORLD_LOCAL_SIZE");
    if (!r->opts->is_bound && rank < r->local_ranks &&
        pr_cpu_slices_get(&r->cpus, rank, r->local_ranks, &slice))
        (void)sched_setaffinity(0, sizeof slice, &slice);
}

int pr_replicas_mpi_run(struct pr_replicas *r, pr_replica_fn *fn, void *ctx,
                        struct pr_err *err)
{
    int rc;

    if (!getenv("OMPI_COMM_WORLD_SIZE")) {
        pr_fail(err, PR_E_CONF, "", "mpirun did not start this process");
        return pr_hint(err, "replicas by MPI need: mpirun -np %u …", r->ranks);
    }
    rc = mpi_load_library(err);
    if (!rc)
        rc = mpi_join_world(r, err);
    if (rc)
        return rc;
    if (r->rank)
        pr_replicas_silence_stdout();
    mpi_bind_to_slice(r);
    r->way = &by_mpi;
    rc = fn(r, ctx, err);
    /* Without this one's leave mpirun ends the others. */
    return rc ? rc : mpi_check(api.MPI_Finalize(), "MPI_Finalize", err);
}

#else

int pr_replicas_mpi_run(struct pr_replicas *r, pr_replica_fn *fn, void *ctx,
                        struct pr_err *err)
{
    (void)r, (void)fn, (void)ctx;
    pr_fail(err, PR_E_UNAVAIL, "Open MPI", "is not in this build");
    return pr_hint(err, "apt-get install libopenmpi-dev, then build again");
}

#endif
