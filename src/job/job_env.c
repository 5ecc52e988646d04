/*
 * The environment of an experiment's program. What the experiment itself sets
 * is kept apart as well: in a container it is all there is.
 */
#include "job/job_env.h"

#include "base/file.h"

#include <string.h>
#include <unistd.h>

/* Lays NAME=value over the list; the list has room. */
static void job_env_set_word(const char **env, size_t *count, const char *word)
{
    size_t i = 0;

    while (i < *count && !pr_environ_is_same(word, env[i]))
        i++;
    env[i] = word;
    *count += i == *count;
}

/* runtime.env.NAME to NAME=value. NULL: out of memory. */
static const char *env_word(struct pr_job *job, const char *name,
                            const struct pr_value *value)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);

    pr_value_write_text(&text, value);
    if (!pr_buf_ok(&text))
        return NULL;
    return pr_arena_printf(job->arena, "%s=%s", name,
                           text.data ? text.data : "");
}

static int own_env(struct pr_job *job, const char *const *extra,
                   size_t extra_count, const char ***ret, struct pr_err *err)
{
    static const char prefix[] = "runtime.env.";
    size_t count = 0;
    const char **own = PR_ARENA_ARRAY(job->arena, const char *,
                                      1 + extra_count + job->params->len);

    if (!own)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < job->params->len; i++) {
        const struct pr_member *m = &job->params->members[i];
        const char *word;

        if (strncmp(m->key, prefix, sizeof prefix - 1) != 0)
            continue;
        word = env_word(job, m->key + sizeof prefix - 1, &m->value);
        if (!word)
            return pr_fail_nomem(err);
        job_env_set_word(own, &count, word);
    }
    for (size_t i = 0; i < extra_count; i++)
        job_env_set_word(own, &count, extra[i]);
    *ret = own;
    return PR_OK;
}

int pr_job_env_overlay(const char *const *words, struct pr_arena *a,
                       const char ***ret, struct pr_err *err)
{
    size_t room = 1, count = 0;
    const char **env;

    for (char **e = environ; e && *e; e++)
        room++;
    for (const char *const *w = words; *w; w++)
        room++;
    env = PR_ARENA_ARRAY(a, const char *, room);
    if (!env)
        return pr_fail_nomem(err);
    for (char **e = environ; e && *e; e++)
        env[count++] = *e;
    for (; *words; words++)
        job_env_set_word(env, &count, *words);
    *ret = env;
    return PR_OK;
}

int pr_job_set_start_env(struct pr_job *job, const char *const *extra,
                         size_t count, struct pr_start *ret, struct pr_err *err)
{
    const char **own = NULL, **env = NULL;
    int rc = own_env(job, extra, count, &own, err);

    if (!rc)
        rc = pr_job_env_overlay(own, job->arena, &env, err);
    if (rc)
        return rc;
    ret->own_env = own;
    ret->env = env;
    return PR_OK;
}
