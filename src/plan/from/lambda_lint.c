/* Mistakes that Lambda's own scripts run into without a word. */
#include "catalog/gpu_tasks.h"
#include "plan/from/lambda.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int64_t pr_lambda_number(const char *text)
{
    int64_t n = 0;

    if (!*text)
        return 0;
    for (; isdigit((unsigned char)*text) && n < INT64_MAX / 100; text++)
        n = n * 10 + (*text - '0');
    return *text ? 0 : n;
}

/* The word after a flag; NULL: it is not there. */
static const struct pr_shell_word *
lambda_word_after(const struct pr_shell_var *v, const char *flag)
{
    for (size_t i = PR_LAMBDA_ARGS; i + 1 < v->count; i++)
        if (strcmp(v->words[i].text, flag) == 0)
            return &v->words[i + 1];
    return NULL;
}

const struct pr_shell_word *pr_lambda_batch(const struct pr_lambda_task *t)
{
    size_t place = (size_t)t->task->batch_place + PR_LAMBDA_ARGS;

    if (t->task->batch_flag)
        return lambda_word_after(t->var, t->task->batch_flag);
    return t->task->batch_place >= 0 && place < t->var->count
               ? &t->var->words[place]
               : NULL;
}

static const char *lambda_word_place(struct pr_warnings *w,
                                     const struct pr_shell_word *at)
{
    return pr_arena_printf(w->arena, "%s:%u", at->file, at->line);
}

/* A batch of all GPUs must grow with them: that of the template, for one GPU,
 * times their number. */
static bool lint_global(const struct pr_lambda_task *t,
                        const struct pr_shell_word *batch, int64_t n,
                        struct pr_warnings *w)
{
    int64_t one = batch->first ? pr_lambda_number(batch->first) : 0;
    const char *where = lambda_word_place(w, batch);

    if (!where)
        return false;
    if (one > 0 && one < INT64_MAX / 100000 && n < one * t->gpus)
        return pr_warn(w, where,
                       "the batch of this task is that of all GPUs together",
                       "the batch of %s is %" PRId64
                       ", not %d times the %" PRId64 " of one GPU",
                       t->name, n, t->gpus, one);
    if (n % t->gpus)
        return pr_warn(
            w, where, "the batch of this task is that of all GPUs together",
            "the batch of %s, %" PRId64 ", cannot be shared by %d GPUs",
            t->name, n, t->gpus);
    return true;
}

/* "…_subset_625_…": files enough for one batch on every GPU. */
static bool lint_subset(const struct pr_lambda_task *t, int64_t batch,
                        struct pr_warnings *w)
{
    const struct pr_shell_word *files =
        lambda_word_after(t->var, t->task->subset_flag);
    const char *at = files ? strstr(files->text, "subset_") : NULL, *where;
    long long have = at ? strtoll(at + 7, NULL, 10) : 0;

    if (have <= 0 || batch > INT64_MAX / 100000 || batch * t->gpus <= have)
        return true;
    where = lambda_word_place(w, files);
    return where &&
           pr_warn(w, where, "name a larger subset of files",
                   "%s wants %" PRId64 " files for one step, and '%s' has %lld",
                   t->name, batch * t->gpus, files->text, have);
}

bool pr_lambda_lint(const struct pr_lambda_task *t, struct pr_warnings *w)
{
    const struct pr_shell_word *batch = pr_lambda_batch(t);
    int64_t n = batch ? pr_lambda_number(batch->text) : 0;
    const char *where;

    if (!batch)
        return true;
    if (n <= 0) {
        where = lambda_word_place(w, batch);
        return where &&
               pr_warn(w, where, "a batch is a whole number",
                       "the batch of %s is '%s'", t->name, batch->text);
    }
    if (t->task->batch_of_all && t->gpus > 1 && !lint_global(t, batch, n, w))
        return false;
    return !t->task->subset_flag || lint_subset(t, n, w);
}

bool pr_lambda_lint_name(const char *system, const struct pr_shell_word *gpus,
                         struct pr_warnings *w)
{
    int named = pr_system_gpus(system);
    int64_t n = pr_lambda_number(gpus->text);
    const char *where;

    if (named == 1 || n == named)
        return true;
    where = lambda_word_place(w, gpus);
    return where && pr_warn(w, where, "rename the file, or set NUM_GPU",
                            "NUM_GPU is %s, and '%s' speaks of %d GPUs",
                            gpus->text, system, named);
}
