/* Finding a program on $PATH. */
#include "base/which.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool pr_which(const char *program, char out[static PATH_MAX])
{
    const char *at = getenv("PATH");

    while (at && *at) {
        size_t n = strcspn(at, ":");
        struct stat st;
        int len = snprintf(out, PATH_MAX, "%.*s/%s", n < PATH_MAX ? (int)n : 0,
                           at, program);

        if (n && len > 0 && len < PATH_MAX && access(out, X_OK) == 0 &&
            stat(out, &st) == 0 && S_ISREG(st.st_mode))
            return true;
        at += n + (at[n] == ':');
    }
    return false;
}
