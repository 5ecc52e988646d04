/* Asking for the engine, in builds with it and without. */
#include "workload/engine.h"

#if PR_HAVE_ONEDNN

#include "nn/engine/net.h"

bool pr_engine_is_there(char version[static 32], struct pr_err *err)
{
    return pr_net_is_available(version, err);
}

#else

bool pr_engine_is_there(char version[static 32], struct pr_err *err)
{
    version[0] = '\0';
    pr_fail(err, PR_E_UNAVAIL, "oneDNN",
            "this build was made without it, native training needs it");
    pr_hint(err, "apt-get install libdnnl-dev, then make");
    return false;
}

#endif
