/*
 * After a task of a GPU system (task.name): its figure is looked for in its
 * log, and the log is put where 'prony gather' finds it.
 */
#ifndef PR_RUN_GPU_TASK_H
#define PR_RUN_GPU_TASK_H

#include "run/attempt.h"

/* Appends what was found to log.txt, as lines __results.NAME__=; without a
 * figure the attempt has failed, whatever its exit status. Then leaves
 * SYSTEM/TASK/DATE.txt, benchmark.para and the system's file in task.results,
 * or else the run directory. Nothing to do for other experiments. */
void pr_gpu_task_finish(const struct pr_job *job, const char *log_path,
                        struct pr_attempt *a);

/* The system's file, as text: ten lines of Lambda's form, from env.json. */
void pr_gpu_task_write_system(const struct pr_value *env, struct pr_buf *out);

#endif
