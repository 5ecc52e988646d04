/* The parts of reading a Lambda config: what fix.sh does to its arrays, and
 * what looks like a mistake. */
#ifndef PR_PLAN_LAMBDA_H
#define PR_PLAN_LAMBDA_H

#include "catalog/gpu_tasks.h"
#include "conf/read/shell_config.h"
#include "plan/warn.h"

/* Carries the values of BATCH_SIZE_FIX, SSD_ITER_FIX, tacotron2_DATA_FIX and
 * BERT_GPU_FIX over to the arguments of tasks: what is called in place of
 * fix.sh. */
int pr_lambda_fix(void *ctx, struct pr_shell_config *c, const char *file,
                  unsigned line, struct pr_err *err) PR_MUST_CHECK;

/* One task as a config has it. */
struct pr_lambda_task {
    const struct pr_gpu_task *task;
    const struct pr_shell_var *var;
    const char *name; /* PyTorch_SSD_FP32 */
    int gpus;
};

/* The first word after "args" is argument 0. */
enum { PR_LAMBDA_ARGS = 2 };

/* The word that holds the batch; NULL: there is none. */
const struct pr_shell_word *pr_lambda_batch(const struct pr_lambda_task *t);

/* A whole number from 1; 0: it is none. */
int64_t pr_lambda_number(const char *text);

/* Warns of what cannot be meant. False: out of memory. */
bool pr_lambda_lint(const struct pr_lambda_task *t, struct pr_warnings *w);

/* … of a number of GPUs that is not the one in the config's name. */
bool pr_lambda_lint_name(const char *system, const struct pr_shell_word *gpus,
                         struct pr_warnings *w);

#endif
