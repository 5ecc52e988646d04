/* Tasks: finding one, and making batches with it. */
#include "native/task/task.h"

#include "base/random.h"

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
