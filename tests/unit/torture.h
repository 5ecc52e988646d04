/*
 * Allocation torture: runs an attempt again and again, the first time with its
 * first allocation failing, then its second, and so on until none fails. An
 * attempt must return PR_E_NOMEM or succeed, and leak nothing either way
 * (the sanitizer build watches). In brief only the first 16 fail one by one,
 * then each seventh.
 */
#ifndef TESTS_UNIT_TORTURE_H
#define TESTS_UNIT_TORTURE_H

#include "base/mem.h"
#include "prony/error.h"

#include "brief.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static inline void torture(int (*attempt)(void))
{
    long step = is_brief() ? 7 : 1;

    for (long n = 0;; n += n < 16 ? 1 : step) {
        int rc;
        int failed;

        pr_mem_fail_after(n);
        rc = attempt();
        failed = pr_mem_failed();
        pr_mem_fail_after(-1);
        /* A process of the attempt's own counts for itself. */
        if (!failed && rc != PR_E_NOMEM) {
            assert_int_equal(rc, PR_OK);
            assert_true(n > 0); /* else nothing was tortured */
            return;
        }
        if (rc != PR_OK)
            assert_int_equal(rc, PR_E_NOMEM);
        assert_true(n < 100000);
    }
}

#endif
