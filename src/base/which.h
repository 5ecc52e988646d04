/* Finding a program by its name, as a shell does. */
#ifndef PR_BASE_WHICH_H
#define PR_BASE_WHICH_H

#include <limits.h>
#include <stdbool.h>

/* The first file of that name on $PATH that can be executed; false: none. */
bool pr_which(const char *program, char out[static PATH_MAX]);

#endif
