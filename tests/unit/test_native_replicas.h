/*
 * Running replicas in a test. What a rank finds wrong it returns as an error,
 * which the test sees in rank 0.
 */
#ifndef TESTS_UNIT_TEST_WORKLOAD_REPLICAS_H
#define TESTS_UNIT_TEST_WORKLOAD_REPLICAS_H

#include "native/replica/replicas.h"
#include "scratch.h"

#include <errno.h>
#include <sys/wait.h>

enum { MOST = 5 };

#define WANT(what)                                                             \
    do {                                                                       \
        if (!(what))                                                           \
            return pr_fail(err, PR_E_BUG, "", "line %d: %s", __LINE__, #what); \
    } while (0)

static inline int run_ranks(unsigned ranks, pr_replica_fn *fn, void *ctx,
                            struct pr_err *err)
{
    struct pr_replicas_opts opts = {.ranks = ranks, .threads = 1};
    int rc = pr_replicas_run(&opts, fn, ctx, err);

    /* Nobody is left. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    return rc;
}

static inline void run_well(unsigned ranks, pr_replica_fn *fn, void *ctx)
{
    struct pr_err err = {0};

    if (run_ranks(ranks, fn, ctx, &err))
        fail_msg("%u ranks: %s", ranks, err.msg);
}

#endif
