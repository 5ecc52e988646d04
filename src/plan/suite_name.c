/* What may be part of a result file's name. */
#include "plan/suite_name.h"

#include "base/filename.h"

#include <string.h>

bool pr_suite_name_fits(const char *name)
{
    return pr_filename_fits(name) && strlen(name) <= PR_SUITE_NAME_MAX;
}
