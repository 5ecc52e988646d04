/* Arguments of programs. No shell is involved. */
#include "job/argv.h"

#include "conf/read/literal.h"
#include "job/job_env.h"

#include <string.h>

int pr_argv_add_word(struct pr_argv *a, const char *word, struct pr_err *err)
{
    const char **items = pr_arena_grow(a->job->arena, a->items, a->count,
                                       &a->cap, sizeof *items);

    if (!items)
        return pr_fail_nomem(err);
    a->items = items;
    items[a->count++] = word;
    return PR_OK;
}

static int argv_add_value(struct pr_argv *a, const char *what,
                          const struct pr_value *v, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);
    const char *word;

    pr_value_write_text(&text, v);
    word = pr_arena_copy(a->job->arena, text.data ? text.data : "", text.len);
    if (!pr_buf_ok(&text) || !word)
        return pr_fail_nomem(err);
    if (strlen(word) != text.len)
        return pr_fail(err, PR_E_CONF, a->job->id,
                       "an argument of %s holds a NUL character", what);
    return pr_argv_add_word(a, word, err);
}

int pr_argv_add_list(struct pr_argv *a, const char *what,
                     const struct pr_value *list, struct pr_err *err)
{
    int rc = PR_OK;

    for (uint32_t i = 0; i < list->len && !rc; i++)
        rc = argv_add_value(a, what, &list->items[i], err);
    return rc;
}

int pr_argv_add_text(struct pr_argv *a, const char *what, const char *text,
                     struct pr_err *err)
{
    const char **words;
    size_t n;
    int rc = pr_words_split(text, a->job->arena, &words, &n, err);

    if (rc == PR_E_CONF && err)
        return pr_reword(err, a->job->id, "%s: %s", what, err->msg);
    for (size_t i = 0; !rc && i < n; i++)
        rc = pr_argv_add_word(a, words[i], err);
    return rc;
}

static bool argv_is_assignment(const char *word)
{
    size_t n = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "abcdefghijklmnopqrstuvwxyz0123456789_");

    return n && word[n] == '=' && !(word[0] >= '0' && word[0] <= '9');
}

int pr_argv_init(struct pr_argv *a, struct pr_job *job, struct pr_err *err)
{
    int rc;

    *a = (struct pr_argv){.job = job};
    rc = pr_argv_add_text(a, "runtime.launcher", job->runtime.launcher, err);
    while (!rc && a->assignments < a->count &&
           argv_is_assignment(a->items[a->assignments]))
        a->assignments++;
    return rc;
}

size_t pr_argv_word_count(const struct pr_argv *a)
{
    return a->count - a->assignments;
}

int pr_argv_fill_start(struct pr_argv *a, struct pr_start *ret,
                       struct pr_err *err)
{
    int rc = pr_argv_add_word(a, NULL, err);

    if (!rc)
        rc = pr_job_set_start_env(a->job, a->items, a->assignments, ret, err);
    if (!rc)
        ret->argv = a->items + a->assignments;
    return rc;
}
