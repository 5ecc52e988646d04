/*
 * Lambda's configs change those that they build on by four maps, which a
 * script, fix.sh, applies. It is not run: this does what it does.
 */
#include "plan/from/lambda.h"

#include <string.h>

static const char *const batch_flags[] = {
    "--batch-size", "SOLVER.IMS_PER_BATCH", "--train-batch-size",
    "--batch_size", NULL};
static const char *const iteration_flags[] = {"--benchmark-iterations", NULL};
static const char *const file_flags[] = {"--training-files", NULL};
static const char *const precision_words[] = {"fp32", "fp16", NULL};

static const struct {
    const char *map;
    const char *const *flags;
    bool bert; /* the batch of BERT has no flag: it is word 4 */
} fixes[] = {
    {"BATCH_SIZE_FIX", batch_flags, true},
    {"SSD_ITER_FIX", iteration_flags, false},
    {"tacotron2_DATA_FIX", file_flags, false},
    {"BERT_GPU_FIX", precision_words, false},
};

enum { BERT_BATCH = 4 };

static bool lambda_fix_has_flag(const char *word, const char *const *flags)
{
    for (; *flags; flags++)
        if (strcmp(word, *flags) == 0)
            return true;
    return false;
}

static struct pr_shell_var *params_of(struct pr_shell_config *c,
                                      const char *task)
{
    const char *name = pr_arena_printf(c->arena, "%s_PARAMS", task);
    struct pr_shell_var *v = name ? pr_shell_find_var(c, name) : NULL;

    return v && v->kind == PR_SHELL_ARRAY ? v : NULL;
}

/* The word after each flag; there are as many as at the beginning. */
static int lambda_fix_replace(struct pr_shell_config *c, struct pr_shell_var *v,
                              const char *const *flags,
                              const struct pr_shell_word *to,
                              struct pr_err *err)
{
    size_t count = v->count;
    int rc = PR_OK;

    for (size_t i = 0; i < count && !rc; i++)
        if (lambda_fix_has_flag(v->words[i].text, flags))
            rc = pr_shell_set_word(c, v, i + 1, to, err);
    return rc;
}

int pr_lambda_fix(void *ctx, struct pr_shell_config *c, const char *file,
                  unsigned line, struct pr_err *err)
{
    int rc = PR_OK;

    (void)ctx;
    (void)file;
    (void)line;
    for (size_t i = 0; i < sizeof fixes / sizeof *fixes; i++) {
        const struct pr_shell_var *map = pr_shell_find_var(c, fixes[i].map);

        for (size_t k = 0; map && k < map->count && !rc; k++) {
            const struct pr_shell_word *w = &map->words[k];
            struct pr_shell_var *v = w->key ? params_of(c, w->key) : NULL;

            if (!v) /* a task that is not there has nothing to change */
                continue;
            rc = fixes[i].bert && strstr(w->key, "bert")
                     ? pr_shell_set_word(c, v, BERT_BATCH, w, err)
                     : lambda_fix_replace(c, v, fixes[i].flags, w, err);
        }
    }
    return rc;
}
