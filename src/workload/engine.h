/* Whether there is something to train with natively. */
#ifndef PR_WORKLOAD_ENGINE_H
#define PR_WORKLOAD_ENGINE_H

#include "base/err.h"

#include <stdbool.h>

/* The version of oneDNN; false: err has what is missing, and the remedy. */
bool pr_engine_is_there(char version[static 32], struct pr_err *err);

#endif
