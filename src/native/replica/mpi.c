/* The command that starts replicas with Open MPI. */
#include "native/replica/mpi.h"

#include "base/file.h"
#include "job/job.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what there is */

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

static int mpirun_add_own_args(struct pr_argv *a, const struct pr_value *v,
                               struct pr_err *err)
{
    return v->kind == PR_LIST ? pr_argv_add_list(a, "nn.mpi_args", v, err)
                              : pr_argv_add_text(a, "nn.mpi_args", v->s, err);
}

/* ---- the command */

static int mpirun_add_number(struct pr_argv *a, uint64_t number,
                             struct pr_err *err)
{
    const char *word =
        pr_arena_printf(a->job->arena, "%llu", (unsigned long long)number);

    return word ? pr_argv_add_word(a, word, err) : pr_fail_nomem(err);
}

static int mpirun_add_words(struct pr_argv *a, const char *const *words,
                            size_t count, struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; i < count && !rc; i++)
        rc = pr_argv_add_word(a, words[i], err);
    return rc;
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
        rc = mpirun_add_words(a, unbound, 2, err);
    return rc ? rc : mpirun_add_own_args(a, nn->mpi_args, err);
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
    return mpirun_add_words(a, words, 3, err);
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
        rc = mpirun_add_words(&a, words, 2, err);
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
