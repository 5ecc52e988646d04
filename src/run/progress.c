/* Progress of an experiment, from wherever it says something. */
#include "run/progress.h"

#include "job/progress.h"
#include "record/channel.h"

#include <stdio.h>

bool pr_run_progress(const char *dir, char out[static 320])
{
    char path[4096], words[160];
    double done;

    if (pr_progress_read(dir, out))
        return true;
    snprintf(path, sizeof path, "%s/%s", dir, PR_CHANNEL_FILE);
    if (!pr_channel_progress(path, &done, words))
        return false;
    snprintf(out, 320, "%s", words);
    return true;
}
