/*
 * Batches of a task, made once and kept as long as they are not too many: a
 * training goes through them again and again, and a framework gets the same
 * ones as a file.
 */
#ifndef PR_NATIVE_TASK_BATCHES_H
#define PR_NATIVE_TASK_BATCHES_H

#include "native/task/task.h"

struct pr_task_batches {
    struct pr_task_run task;
    uint64_t batch, first, columns; /* samples of a step that are ours */
    uint64_t count;                 /* batches that are kept */
    uint64_t made;                  /* of them */
    size_t bytes;                   /* of a batch */
    char *kept;
};

/* steps: how many are going to be asked for. */
int pr_task_batches_open(struct pr_task_batches *b, const struct pr_model *m,
                         uint64_t seed, uint64_t batch, uint64_t steps,
                         struct pr_err *err) PR_MUST_CHECK;
void pr_task_batches_close(struct pr_task_batches *b);

/* The batch of a step, copied to where the model's inputs lie. */
void pr_task_batches_get(struct pr_task_batches *b, uint64_t step,
                         void *const *inputs);
/* One that no step has. */
void pr_task_batches_get_held_out(struct pr_task_batches *b, uint64_t number,
                                  void *const *inputs);

/* All that are kept, as tensors INPUT.NUMBER of a safetensors file. */
int pr_task_batches_save(struct pr_task_batches *b, const char *path,
                         struct pr_err *err) PR_MUST_CHECK;

#endif
