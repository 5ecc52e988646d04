/* Tasks: finding one, making batches with it, and keeping them. */
#include "native/task/task.h"

#include "base/mem.h"
#include "base/random.h"
#include "format/tensor_file_io.h"

#include <stdio.h>
#include <string.h>

#define TASK(name) extern const struct pr_task pr_task_##name;
#include "native/task/task_list.def"
#undef TASK

static const struct pr_task *const tasks[] = {
#define TASK(name) &pr_task_##name,
#include "native/task/task_list.def"
#undef TASK
};
enum { TASKS = sizeof tasks / sizeof *tasks };

const struct pr_task *pr_task_get(size_t i)
{
    return i < TASKS ? tasks[i] : NULL;
}

const struct pr_task *pr_task_find(const char *name)
{
    for (size_t i = 0; i < TASKS; i++)
        if (strcmp(tasks[i]->name, name) == 0)
            return tasks[i];
    return NULL;
}

static int task_find_inputs(struct pr_task_run *t, struct pr_err *err)
{
    for (unsigned i = 0; i < PR_TASK_INPUTS && t->task->inputs[i]; i++) {
        int at = pr_model_input(t->model, t->task->inputs[i]);
        bool whole = t->task->ids >> i & 1;

        if (at < 0)
            return pr_fail(err, PR_E_CONF, t->model->path,
                           "data '%s' makes an input '%s', which the model "
                           "has not",
                           t->task->name, t->task->inputs[i]);
        if (whole != (t->model->layers[at].ids > 0))
            return pr_fail(err, PR_E_CONF, t->model->path,
                           "data '%s' makes an input '%s' %s ids, the model "
                           "has it %s",
                           t->task->name, t->task->inputs[i],
                           whole ? "of" : "without", whole ? "without" : "of");
        t->input[i] = (unsigned)at;
        t->bytes[i] =
            pr_shape_numbers(&t->model->layers[at].shape) * sizeof(float);
    }
    return PR_OK;
}

int pr_task_open(struct pr_task_run *t, const struct pr_model *m, uint64_t seed,
                 struct pr_err *err)
{
    int rc;

    *t = (struct pr_task_run){
        .task = pr_task_find(m->data), .model = m, .seed = seed};
    if (!t->task)
        return pr_fail(err, PR_E_CONF, m->path, "there is no data '%.64s'",
                       m->data);
    rc = task_find_inputs(t, err);
    return rc || !t->task->open ? rc : t->task->open(t, err);
}

void pr_task_close(struct pr_task_run *t)
{
    if (t->task && t->task->close)
        t->task->close(t);
    t->state = NULL;
}

void pr_task_fill_batch(const struct pr_task_run *t, uint64_t step,
                        uint64_t first, uint64_t count, uint64_t columns,
                        void *const *inputs)
{
    for (uint64_t i = 0; i < count; i++) {
        struct pr_task_at at = {step, first + i, columns};
        void *out[PR_TASK_INPUTS] = {NULL};

        for (unsigned k = 0; k < PR_TASK_INPUTS && t->task->inputs[k]; k++)
            out[k] = (char *)inputs[t->input[k]] + i * t->bytes[k];
        t->task->fill(t, &at, out);
    }
}

void pr_task_seed_rng(const struct pr_task_run *t, const struct pr_task_at *at,
                      uint64_t stream, struct pr_rng *ret)
{
    pr_rng_seed(ret, t->seed,
                (at->step * at->columns + at->column) * 16 + stream);
}

/* ---- batches that are kept */

enum { KEPT_BATCHES = 64, KEPT_BYTES = 256 << 20 };
/* Steps from here on are never trained. */
#define HELD_OUT ((uint64_t)1 << 40)

static size_t input_bytes(const struct pr_task_batches *b, unsigned i)
{
    return b->batch * sizeof(float) *
           pr_shape_numbers(&b->task.model->layers[i].shape);
}

/* What a batch takes; false: more than can be said. */
static bool task_sum_batch_bytes(struct pr_task_batches *b)
{
    const struct pr_model *m = b->task.model;

    for (unsigned i = 0; i < m->input_count; i++) {
        size_t n = pr_shape_numbers(&m->layers[i].shape) * sizeof(float);

        if (__builtin_mul_overflow(n, b->batch, &n) ||
            __builtin_add_overflow(b->bytes, n, &b->bytes))
            return false;
    }
    return true;
}

static int task_fail_batch_too_large(const struct pr_model *m, uint64_t batch,
                                     struct pr_err *err)
{
    pr_fail(err, PR_E_NOMEM, m->name,
            "a batch of %llu does not fit into memory",
            (unsigned long long)batch);
    return pr_hint(err, "try a smaller exp.replica_batch");
}

int pr_task_batches_open(struct pr_task_batches *b, const struct pr_model *m,
                         uint64_t seed, uint64_t batch, uint64_t steps,
                         struct pr_err *err)
{
    *b = (struct pr_task_batches){.batch = batch, .columns = batch};
    PR_TRY(pr_task_open(&b->task, m, seed, err));
    if (!task_sum_batch_bytes(b)) {
        pr_task_close(&b->task);
        return task_fail_batch_too_large(m, batch, err);
    }
    b->count = KEPT_BYTES / b->bytes;
    b->count = b->count > KEPT_BATCHES ? KEPT_BATCHES : b->count;
    b->count = b->count > steps ? steps : b->count;
    b->count = b->count ? b->count : 1;
    b->kept = pr_alloc_zeroed(b->count * b->bytes);
    if (b->kept)
        return PR_OK;
    pr_task_close(&b->task);
    return task_fail_batch_too_large(m, batch, err);
}

void pr_task_batches_close(struct pr_task_batches *b)
{
    pr_task_close(&b->task);
    pr_free(b->kept);
    b->kept = NULL;
}

/* Where the inputs of a kept batch lie. */
static void task_batch_inputs(const struct pr_task_batches *b, uint64_t i,
                              void **inputs)
{
    char *at = b->kept + i * b->bytes;

    for (unsigned k = 0; k < b->task.model->input_count; k++) {
        inputs[k] = at;
        at += input_bytes(b, k);
    }
}

/* Kept batch i, made if it is not there yet. */
static void task_find_batch(struct pr_task_batches *b, uint64_t i,
                            void **inputs)
{
    for (; b->made <= i; b->made++) {
        task_batch_inputs(b, b->made, inputs);
        pr_task_fill_batch(&b->task, b->made, b->first, b->batch, b->columns,
                           inputs);
    }
    task_batch_inputs(b, i, inputs);
}

void pr_task_batches_get(struct pr_task_batches *b, uint64_t step,
                         void *const *inputs)
{
    void *from[PR_MODEL_INPUTS];

    task_find_batch(b, step % b->count, from);
    for (unsigned k = 0; k < b->task.model->input_count; k++)
        memcpy(inputs[k], from[k], input_bytes(b, k));
}

void pr_task_batches_get_held_out(struct pr_task_batches *b, uint64_t number,
                                  void *const *inputs)
{
    pr_task_fill_batch(&b->task, HELD_OUT + number, b->first, b->batch,
                       b->columns, inputs);
}

/* ---- batches as a file */

static void task_add_batch_tensors(const struct pr_task_batches *b, uint64_t i,
                                   struct pr_tensor_writer *w)
{
    const struct pr_model *m = b->task.model;

    for (unsigned k = 0; k < m->input_count; k++) {
        const struct pr_layer *l = &m->layers[k];
        int64_t at[1 + PR_LAYER_DIMS] = {(int64_t)b->batch};
        char name[192];

        for (unsigned d = 0; d < l->shape.dims; d++)
            at[1 + d] = l->shape.at[d];
        snprintf(name, sizeof name, "%s.%llu", l->name, (unsigned long long)i);
        (l->ids ? pr_tensor_writer_add_ints
                : pr_tensor_writer_add)(w, name, 1 + l->shape.dims, at);
    }
}

static int put_batch(struct pr_task_batches *b, uint64_t i,
                     struct pr_tensor_writer *w, struct pr_err *err)
{
    void *inputs[PR_MODEL_INPUTS];
    int rc = PR_OK;

    task_find_batch(b, i, inputs);
    for (unsigned k = 0; k < b->task.model->input_count && !rc; k++)
        rc = pr_tensor_writer_put(w, inputs[k],
                                  input_bytes(b, k) / sizeof(float), err);
    return rc;
}

int pr_task_batches_save(struct pr_task_batches *b, const char *path,
                         struct pr_err *err)
{
    struct pr_tensor_writer w = PR_TENSOR_WRITER_INIT;
    int rc;

    for (uint64_t i = 0; i < b->count; i++)
        task_add_batch_tensors(b, i, &w);
    rc = pr_tensor_writer_open(&w, path, err);
    w.file.later = true; /* it can be made again */
    for (uint64_t i = 0; i < b->count && !rc; i++)
        rc = put_batch(b, i, &w, err);
    if (!rc)
        rc = pr_tensor_writer_commit(&w, err);
    pr_tensor_writer_done(&w);
    return rc;
}
