/*
 * Replicas that mpirun starts: this program again, as a worker. Skipped, and
 * said so, where there is no Open MPI.
 */
#include "base/clock.h"
#include "native/replica/replicas.h"
#include "scratch.h"
#include "skip.h"

#include <sys/wait.h>

static const char *program;

/* ---- the worker */

#define WANT(what)                                                             \
    do {                                                                       \
        if (!(what))                                                           \
            return pr_fail(err, PR_E_BUG, "", "line %d: %s", __LINE__, #what); \
    } while (0)

enum { COUNT = 100003 };

/* Whole numbers: exact, whatever the order. */
static int compute(struct pr_replicas *r, void *ctx, struct pr_err *err)
{
    unsigned n = pr_replicas_count(r), rank = pr_replicas_rank(r);
    double sum = rank, most = rank, all = n * (n - 1) / 2.0;
    static float v[COUNT];
    int rc = pr_replicas_sum(r, &sum, 1, err);

    if (!rc)
        rc = pr_replicas_max(r, &most, 1, err);
    WANT(rc || (sum == all && most == n - 1));
    for (int round = 0; !rc && round < 3; round++) {
        for (size_t i = 0; i < COUNT; i++)
            v[i] = (float)(i % 1000 + rank * n);
        rc = pr_replicas_mean(r, v, COUNT, err);
        for (size_t i = 0; !rc && i < COUNT; i++)
            WANT(v[i] == (float)(i % 1000) + (float)all);
        if (!rc)
            rc = pr_replicas_meet(r, err);
    }
    if (!rc && strcmp(ctx, "fail") == 0 && rank == n - 1)
        return pr_fail(err, PR_E_FORMAT, "", "no such thing");
    if (!rc && strcmp(ctx, "fail") == 0) /* the others wait for it */
        rc = pr_replicas_meet(r, err);
    if (!rc)
        dprintf(1, "rank %u is fine\n", rank);
    return rc;
}

static int work(char **argv)
{
    struct pr_replicas_opts opts = {.ranks = (unsigned)atoi(argv[2]),
                                    .mpi = true};
    struct pr_err err = {0};
    int rc = pr_replicas_run(&opts, compute, argv[1], &err);

    if (rc)
        dprintf(2, "worker: %s\n", err.msg);
    return pr_code_exit_status(rc);
}

/* ---- the tests */

/* Status of mpirun with so many workers that are told to be `ranks`; out: what
 * they said. */
static int run_workers(const char *count, const char *how, const char *ranks,
                       char *out, size_t room)
{
    char *argv[] = {(char *)"timeout",
                    (char *)"60",
                    (char *)"mpirun.openmpi",
                    (char *)"--allow-run-as-root",
                    (char *)"--oversubscribe",
                    (char *)"-np",
                    (char *)count,
                    (char *)program,
                    (char *)how,
                    (char *)ranks,
                    NULL};
    size_t len = 0;
    int ends[2], status;
    ssize_t n;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        close(ends[0]);
        /* Open MPI keeps some memory; whatever else is wrong still counts. */
        setenv("ASAN_OPTIONS", "exitcode=98:detect_leaks=0", 1);
        execvp(argv[0], argv);
        _exit(127);
    }
    close(ends[1]);
    while ((n = read(ends[0], out + len, room - 1 - len)) > 0)
        len += (size_t)n;
    out[len] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void need_mpi(void)
{
    if (PR_HAVE_MPI && system("mpirun.openmpi --version >/dev/null 2>&1") == 0)
        return;
    skip_because("no Open MPI in this build, or no mpirun.openmpi; install "
                 "libopenmpi-dev and openmpi-bin");
}

static void means_are_right(void **state)
{
    char out[65536];

    (void)state;
    need_mpi();
    for (const char *n = "123"; *n; n++) {
        char count[2] = {*n};

        if (run_workers(count, "go", count, out, sizeof out))
            fail_msg("%s ranks: %s", count, out);
        assert_non_null(strstr(out, "rank 0 is fine"));
        assert_null(strstr(out, "rank 1")); /* only rank 0 writes */
    }
}

static void a_failure_ends_all(void **state)
{
    char out[65536];
    uint64_t start = pr_clock_ns();

    (void)state;
    need_mpi();
    assert_int_not_equal(run_workers("3", "fail", "3", out, sizeof out), 0);
    assert_non_null(strstr(out, "worker: no such thing"));
    assert_null(strstr(out, "fine"));
    assert_true(pr_clock_ns() - start < 30000000000);
}

static void another_number_of_ranks_is_refused(void **state)
{
    char out[65536];

    (void)state;
    need_mpi();
    assert_int_not_equal(run_workers("2", "go", "3", out, sizeof out), 0);
    assert_non_null(strstr(out, "3 replicas are wanted, mpirun started 2"));
}

static void mpirun_is_needed(void **state)
{
    struct pr_replicas_opts opts = {.ranks = 2, .mpi = true};
    struct pr_err err = {0};
    int rc;

    (void)state;
    unsetenv("OMPI_COMM_WORLD_SIZE");
    rc = pr_replicas_run(&opts, compute, NULL, &err);
    assert_int_equal(rc, PR_HAVE_MPI ? PR_E_CONF : PR_E_UNAVAIL);
    assert_true(*err.hint);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_are_right),
        cmocka_unit_test(a_failure_ends_all),
        cmocka_unit_test(another_number_of_ranks_is_refused),
        cmocka_unit_test(mpirun_is_needed),
    };

    if (argc > 2)
        return work(argv);
    program = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
