/*
 * Tasks: made-up data of the kind that a model learns from: waves, words,
 * ratings, boxes. A sample follows from the seed and its place alone, so that a
 * run can be repeated, and several processes together see what one would. The
 * key `data` of a model names its task.
 */
#ifndef PR_NATIVE_TASK_H
#define PR_NATIVE_TASK_H

#include "nn/model/model.h"

/* Which sample: the column-th of a step. Texts go on from step to step, column
 * by column. */
struct pr_task_at {
    uint64_t step, column, columns;
};

struct pr_task_run;

enum { PR_TASK_INPUTS = 8 };

struct pr_task {
    const char *name;                   /* in the key `data` */
    const char *says;                   /* what comes out of it, for people */
    const char *inputs[PR_TASK_INPUTS]; /* that the model must have */
    unsigned ids; /* a bit for each of them: whole numbers, else float32 */
    /* Whether shapes fit, and what is worked out once; NULL: nothing to do. */
    int (*open)(struct pr_task_run *t, struct pr_err *err);
    void (*close)(struct pr_task_run *t); /* of state; NULL: nothing to do */
    /* One sample; out[i] is where its inputs[i] goes. */
    void (*fill)(const struct pr_task_run *t, const struct pr_task_at *at,
                 void *const *out);
};

/* NULL: none. */
const struct pr_task *pr_task_find(const char *name);
const struct pr_task *pr_task_get(size_t i); /* NULL at the end */

struct pr_task_run {
    const struct pr_task *task;
    const struct pr_model *model;
    uint64_t seed;
    unsigned input[PR_TASK_INPUTS]; /* of the model, by input of the task */
    size_t bytes[PR_TASK_INPUTS];   /* of a sample */
    void *state;                    /* the task's own */
};

/* Errors name the model's file. */
int pr_task_open(struct pr_task_run *t, const struct pr_model *m, uint64_t seed,
                 struct pr_err *err) PR_MUST_CHECK;
void pr_task_close(struct pr_task_run *t);

/* A batch: `count` samples from `first` on of a step with `columns`. inputs:
 * where the model's inputs lie. */
void pr_task_fill_batch(const struct pr_task_run *t, uint64_t step,
                        uint64_t first, uint64_t count, uint64_t columns,
                        void *const *inputs);

/* Shape of the task's i-th input. */
static inline const struct pr_layer_shape *
pr_task_input_shape(const struct pr_task_run *t, unsigned i)
{
    return &t->model->layers[t->input[i]].shape;
}

/* A random number generator for a sample, `stream` tells several apart. */
struct pr_rng;
void pr_task_seed_rng(const struct pr_task_run *t, const struct pr_task_at *at,
                      uint64_t stream, struct pr_rng *ret);

/* ---- batches of a task, made once and kept as long as they are not too many:
 * a training goes through them again and again, and a framework gets the same
 * ones as a file */

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
