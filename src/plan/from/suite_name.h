/* Names of suites and of their jobs, which become parts of files' names. */
#ifndef PR_PLAN_SUITE_NAME_H
#define PR_PLAN_SUITE_NAME_H

#include <stdbool.h>

enum { PR_SUITE_NAME_MAX = 100 };

/* What a name has to be, for hints. */
#define PR_SUITE_NAME_HINT                                       \
    "1 to 100 bytes, no '/', no control characters, and no '.' " \
    "at the start"

/* Of a job. The suite's is the profile's, and may be longer. */
bool pr_suite_name_is_valid(const char *name);

#endif
