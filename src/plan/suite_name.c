/* What may be part of a result file's name. */
#include "plan/suite_name.h"

#include <string.h>

bool pr_suite_name_has_control(const char *s)
{
    for (; *s; s++) {
        unsigned char c = (unsigned char)s[0], next = (unsigned char)s[1];

        if (c < 0x20 || c == 0x7f || (c == 0xc2 && next >= 0x80 && next < 0xa0))
            return true;
    }
    return false;
}

bool pr_suite_name_fits(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/') &&
           strlen(name) <= PR_SUITE_NAME_MAX &&
           !pr_suite_name_has_control(name);
}
