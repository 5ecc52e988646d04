/* Tests that cannot run here: they say why, and how to make them run. */
#ifndef TESTS_UNIT_SKIP_H
#define TESTS_UNIT_SKIP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"

/* "Why; how to make it run": tools/check lists it with the test. Jumps out of
 * the test, so that nothing may be held. */
__attribute__((format(printf, 1, 2))) static inline void
skip_because(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    printf("# SKIP ");
    vprintf(format, args);
    printf("\n");
    fflush(stdout);
    va_end(args);
    skip(); /* the only one: tests/meta/banned.py */
}

/* A library, or a machine, lacks what an error and its hint say. */
static inline void skip_for(const struct pr_err *err)
{
    skip_because("%s%s%s; %s", err->where, *err->where ? ": " : "", err->msg,
                 *err->hint ? err->hint : "install it");
}

/* A file or folder of the reference data of other tools, which is not ours to
 * give away. */
static inline void find_peers(const char *part, char out[static 4096])
{
    const char *peers = getenv("PRONY_PEERS"), *src = getenv("SRC");

    if (peers)
        snprintf(out, 4096, "%s/%s", peers, part);
    else
        snprintf(out, 4096, "%s/../shared/peers/%s", src ? src : ".", part);
    if (access(out, R_OK))
        skip_because("no reference data of other tools; PRONY_PEERS=FOLDER "
                     "says where they are");
}

#endif
