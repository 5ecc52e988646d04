/* Environments: which variable a word is about. */
#include "base/environ.h"

#include <string.h>

bool pr_environ_is_same(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");

    return strncmp(a, b, n) == 0 && b[n] == '=';
}

bool pr_environ_has(const char *const *list, const char *word)
{
    for (; list && *list; list++)
        if (pr_environ_is_same(word, *list))
            return true;
    return false;
}
