/* Environments: words NAME=value, in lists that end with NULL. */
#ifndef PR_BASE_ENVIRON_H
#define PR_BASE_ENVIRON_H

#include <stdbool.h>

/* Whether both are about the same variable. */
bool pr_environ_is_same(const char *a, const char *b);

/* Whether the list (NULL: none) has the variable that word is about. */
bool pr_environ_has(const char *const *list, const char *word);

#endif
