/*
 * For tests of tasks: a bundled model at one of its sizes, its task opened with
 * a seed, and room for batches of it.
 */
#ifndef TESTS_UNIT_TEST_WORKLOAD_TASK_H
#define TESTS_UNIT_TEST_WORKLOAD_TASK_H

#include "native/task/task.h"

#include "torture.h"

#include <stdlib.h>
#include <string.h>

struct work {
    struct pr_arena *arena;
    struct pr_model *model;
    struct pr_task_run task;
};

static inline struct pr_model *model_of(struct pr_arena *a, const char *name,
                                        bool tiny)
{
    const char *src = getenv("SRC");
    char *path = pr_arena_printf(a, "%s/models/%s.yaml", src ? src : ".", name);
    struct pr_model_variant v = {.tiny = tiny};
    struct pr_model *m = NULL;
    struct pr_err err = {0};

    assert_non_null(path);
    if (pr_model_load(path, &v, a, &m, &err))
        fail_msg("%s: %s: %s", name, err.where, err.msg);
    return m;
}

static inline struct work work_of(const char *name, bool tiny, uint64_t seed)
{
    struct work w = {.arena = pr_arena_new(1 << 20)};
    struct pr_err err = {0};

    assert_non_null(w.arena);
    w.model = model_of(w.arena, name, tiny);
    if (pr_task_open(&w.task, w.model, seed, &err))
        fail_msg("%s: %s: %s", name, err.where, err.msg);
    return w;
}

static inline void work_done(struct work *w)
{
    pr_task_close(&w->task);
    pr_arena_free(w->arena);
}

static inline size_t numbers_of(const struct pr_layer *l)
{
    size_t n = 1;

    for (unsigned i = 0; i < l->shape.dims; i++)
        n *= (size_t)l->shape.at[i];
    return n;
}

/* A batch: where each input of the model lies, all set to odd bytes. */
struct batch {
    void *in[PR_MODEL_INPUTS];
    size_t bytes[PR_MODEL_INPUTS];
};

static inline struct batch batch_of(const struct pr_model *m, uint64_t count)
{
    struct batch b = {{NULL}, {0}};

    for (unsigned i = 0; i < m->input_count; i++) {
        b.bytes[i] = numbers_of(&m->layers[i]) * sizeof(float) * count;
        b.in[i] = malloc(b.bytes[i]);
        assert_non_null(b.in[i]);
        memset(b.in[i], 0x5a, b.bytes[i]);
    }
    return b;
}

static inline void batch_done(struct batch *b)
{
    for (unsigned i = 0; i < PR_MODEL_INPUTS; i++)
        free(b->in[i]);
}

static inline struct batch made(const struct work *w, uint64_t step,
                                uint64_t count)
{
    struct batch b = batch_of(w->model, count);

    pr_task_fill_batch(&w->task, step, 0, count, count, b.in);
    return b;
}

/* Sample i of the input of that name. */
static inline void *sample_at(const struct work *w, const struct batch *b,
                              const char *input, uint64_t i)
{
    int at = pr_model_input(w->model, input);

    assert_true(at >= 0);
    return (float *)b->in[at] + i * numbers_of(&w->model->layers[at]);
}

static inline int64_t ids_of(const struct work *w, const char *input)
{
    return w->model->layers[pr_model_input(w->model, input)].ids;
}

static inline int64_t size_of(const struct work *w, const char *input,
                              unsigned dim)
{
    return w->model->layers[pr_model_input(w->model, input)].shape.at[dim];
}

#endif
