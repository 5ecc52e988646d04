/*
 * Whether tests are to take fewer rounds: under valgrind, where each takes
 * fifty times as long. The plain and the sanitizer builds do them all.
 */
#ifndef TESTS_UNIT_BRIEF_H
#define TESTS_UNIT_BRIEF_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool is_brief(void)
{
    return getenv("PRONY_TEST_SHORT") != NULL;
}

#endif
