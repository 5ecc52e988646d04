/*
 * The workload `command`: any program. exp.command is a list of arguments, or
 * text split into arguments by our own rules; no shell is involved.
 */
#include "conf/words.h"
#include "workload/workload.h"

#include <string.h>

/* Argument lists joined into one. */
struct args {
    const char **items;
    size_t count, cap;
};

static int push(struct pr_job *job, struct args *a, const char *word,
                struct pr_err *err)
{
    const char **items =
        pr_arena_grow(job->arena, a->items, a->count, &a->cap, sizeof *items);

    if (!items)
        return pr_fail_nomem(err);
    a->items = items;
    items[a->count++] = word;
    return PR_OK;
}

static int push_value(struct pr_job *job, struct args *a,
                      const struct pr_value *v, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);
    const char *word;

    pr_text(&text, v);
    word = pr_arena_copy(job->arena, text.data ? text.data : "", text.len);
    if (!pr_buf_ok(&text) || !word)
        return pr_fail_nomem(err);
    if (strlen(word) != text.len)
        return pr_fail(err, PR_E_CONF, job->id,
                       "an argument of exp.command holds a NUL character");
    return push(job, a, word, err);
}

static int push_list(struct pr_job *job, struct args *a,
                     const struct pr_value *list, struct pr_err *err)
{
    int rc = PR_OK;

    for (uint32_t i = 0; i < list->len && !rc; i++)
        rc = push_value(job, a, &list->items[i], err);
    return rc;
}

static int push_words(struct pr_job *job, struct args *a, const char *what,
                      const char *text, struct pr_err *err)
{
    const char **words;
    size_t n;
    int rc = pr_words_split(text, job->arena, &words, &n, err);

    if (rc == PR_E_CONF && err)
        return pr_reword(err, job->id, "%s: %s", what, err->msg);
    for (size_t i = 0; i < n && !rc; i++)
        rc = push(job, a, words[i], err);
    return rc;
}

static bool is_assignment(const char *word)
{
    size_t n = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "abcdefghijklmnopqrstuvwxyz0123456789_");

    return n && word[n] == '=' && !(word[0] >= '0' && word[0] <= '9');
}

static int prepare(struct pr_job *job, struct pr_start *ret, struct pr_err *err)
{
    const struct pr_value *command = job->exp.command;
    struct args a = {0};
    size_t assignments = 0;
    int rc =
        push_words(job, &a, "runtime.launcher", job->runtime.launcher, err);

    while (!rc && assignments < a.count && is_assignment(a.items[assignments]))
        assignments++;
    if (!rc)
        rc = command->kind == PR_LIST
                 ? push_list(job, &a, command, err)
                 : push_words(job, &a, "exp.command", command->s, err);
    if (!rc)
        rc = push_list(job, &a, job->exp.args, err);
    if (!rc && a.count == assignments) {
        pr_fail(err, PR_E_CONF, job->id, "exp.command is empty");
        return pr_hint(err, "for example -P exp.command='\"sleep 1\"'");
    }
    if (!rc)
        rc = push(job, &a, NULL, err);
    if (!rc)
        rc = pr_job_env(job, a.items, assignments, &ret->env, err);
    if (!rc)
        ret->argv = a.items + assignments;
    return rc;
}

const struct pr_workload pr_workload_command = {
    .abi = PR_WORKLOAD_ABI,
    .name = "command",
    .desc = "any program; lines __results.NAME__= JSON in its output are kept",
    .prepare = prepare,
};
