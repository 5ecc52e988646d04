/*
 * Logs of tasks: any text gives a reading, and reading its end alone never
 * gives another figure than reading all of it, unless there is none in it.
 */
#include "record/gpu_task_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void must(bool ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const struct pr_gpu_task task = {
        .rules = {{"performance =", 13, -2, false},
                  {"rate :", 6, 4, false},
                  {"time:", 5, -4, true}},
        .batch_place = -1,
        .steps_bar = "Iteration:",
        .steps_seconds = "seconds :",
    };
    struct pr_gpu_task_para para;
    struct pr_gpu_task_reading r;
    size_t cut = bytes ? data[0] % bytes : 0;
    char *text = malloc(bytes ? bytes : 1);

    must(text != NULL);
    if (bytes)
        memcpy(text, data, bytes);
    pr_gpu_task_para_read(text, bytes, &para);
    pr_gpu_task_log_read(&task, text, bytes, &para, &r);
    must(isfinite(r.printed) && r.printed >= 0);
    must((r.end == PR_GPU_TASK_OK) == (r.printed > 0));
    must(memchr(r.words, '\0', sizeof r.words));
    for (int i = 0; i < PR_GPU_TASK_AGES; i++) {
        double all = 0, end = 0;
        bool in_all =
            pr_gpu_task_log_find(&task.rules[i], text, bytes, false, &all);

        if (pr_gpu_task_log_find(&task.rules[i], text + cut, bytes - cut, true,
                                 &end))
            must(in_all && all == end);
    }
    free(text);
    return 0;
}
