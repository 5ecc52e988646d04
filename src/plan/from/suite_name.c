/* What may be part of a result file's name. */
#include "plan/from/suite_name.h"

#include "base/text.h"

#include <string.h>

bool pr_suite_name_is_valid(const char *name)
{
    return pr_filename_is_safe(name) && strlen(name) <= PR_SUITE_NAME_MAX;
}
