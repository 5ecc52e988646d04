/* The list of what is missing, and what was asked before. */
#include "base/mem.h"
#include "run/validate/validate_impl.h"

#include <stdio.h>
#include <string.h>

const char *pr_requirement_kind_word(enum pr_requirement_kind kind)
{
    static const char *const words[PR_REQUIREMENT_KINDS] = {
        [PR_REQUIREMENT_CONFIG] = "config",
        [PR_REQUIREMENT_FRAMEWORK] = "framework",
        [PR_REQUIREMENT_MODEL] = "model",
        [PR_REQUIREMENT_COMMAND] = "command",
        [PR_REQUIREMENT_CONTAINER] = "container",
        [PR_REQUIREMENT_IMAGE] = "image",
        [PR_REQUIREMENT_GPU] = "GPU",
        [PR_REQUIREMENT_DATA] = "data",
        [PR_REQUIREMENT_SPACE] = "space",
        [PR_REQUIREMENT_LOG_FILE] = "log file",
    };

    return words[kind];
}

static void requirement_count_again(struct pr_validator *v, int lack)
{
    v->concerned = true;
    if (v->last[lack] == v->now)
        return;
    v->last[lack] = v->now;
    v->ret->lacks[lack].count++;
}

/* Room for one more of the experiments that had a lack last. */
static bool grow_last(struct pr_validator *v, size_t count)
{
    size_t cap = v->last_cap ? v->last_cap * 2 : 16;
    uint64_t *last;

    if (count < v->last_cap)
        return true;
    last = pr_realloc(v->last, cap * sizeof *last);
    if (!last)
        return false;
    v->last = last;
    v->last_cap = cap;
    return true;
}

static int requirement_append(struct pr_validator *v, const struct pr_job *job,
                              const struct pr_requirement *lack,
                              struct pr_err *err)
{
    struct pr_validation *r = v->ret;
    struct pr_requirement *lacks =
        pr_arena_grow(r->arena, r->lacks, r->count, &r->cap, sizeof *lacks);
    struct pr_requirement one = *lack;

    if (!lacks || !grow_last(v, r->count))
        return pr_fail_nomem(err);
    one.what = pr_arena_str(r->arena, lack->what);
    one.remedy = pr_arena_str(r->arena, lack->remedy ? lack->remedy : "");
    if (!one.what || !one.remedy)
        return pr_fail_nomem(err);
    one.count = 1;
    snprintf(one.first, sizeof one.first, "%s", job->id);
    r->lacks = lacks;
    v->last[r->count] = v->now;
    lacks[r->count++] = one;
    r->stops += one.stops;
    return PR_OK;
}

int pr_requirement_add(struct pr_validator *v, const struct pr_job *job,
                       const struct pr_requirement *lack, int *ret_lack,
                       struct pr_err *err)
{
    const char *key =
        lack->what
            ? pr_arena_printf(job->arena, "%c%c%s", 'a' + (int)lack->kind,
                              lack->stops ? '!' : '?', lack->what)
            : NULL;
    int no_lack, rc;
    uint32_t id;

    if (!ret_lack)
        ret_lack = &no_lack;
    if (!key)
        return pr_fail_nomem(err);
    v->concerned = true;
    id = pr_names_find(v->lacks, key, strlen(key));
    if (id != PR_NO_NAME) {
        requirement_count_again(v, *ret_lack = (int)id);
        return PR_OK;
    }
    *ret_lack = PR_NO_REQUIREMENT;
    if (v->ret->count == PR_REQUIREMENTS_MAX) {
        v->ret->more++;
        v->ret->stops += lack->stops;
        return PR_OK;
    }
    rc = requirement_append(v, job, lack, err);
    if (rc)
        return rc;
    id = pr_names_add(v->lacks, key, strlen(key));
    if (id == PR_NO_NAME)
        return pr_fail_nomem(err);
    *ret_lack = (int)id;
    return PR_OK;
}

/* ---- questions */

bool pr_requirement_cached(struct pr_validator *v, const char *question,
                           int *ret_lack)
{
    uint32_t id = pr_names_find(v->asked, question, strlen(question));

    if (id == PR_NO_NAME)
        return false;
    *ret_lack = v->answers[id];
    if (*ret_lack >= 0)
        requirement_count_again(v, *ret_lack);
    return true;
}

int pr_requirement_cache(struct pr_validator *v, const char *question, int lack,
                         struct pr_err *err)
{
    size_t count = pr_names_count(v->asked);
    uint32_t id;

    if (count >= v->answer_cap) {
        size_t cap = v->answer_cap ? v->answer_cap * 2 : 64;
        int32_t *answers = pr_realloc(v->answers, cap * sizeof *answers);

        if (!answers)
            return pr_fail_nomem(err);
        v->answers = answers;
        v->answer_cap = cap;
    }
    id = pr_names_add(v->asked, question, strlen(question));
    if (id == PR_NO_NAME)
        return pr_fail_nomem(err);
    v->answers[id] = lack;
    return PR_OK;
}

/* ---- the outcome */

void pr_validation_close(struct pr_validation *v)
{
    pr_arena_free(v->arena);
    *v = (struct pr_validation){0};
}

/* A plan that is wrong comes before what the machine has not. */
static int code_of(const struct pr_validation *v, bool stops_alone)
{
    int code = PR_OK;

    for (size_t i = 0; i < v->count; i++) {
        const struct pr_requirement *l = &v->lacks[i];

        if (stops_alone && !l->stops)
            continue;
        if (l->code == PR_E_CONF)
            return PR_E_CONF;
        if (!code || l->code == PR_E_UNAVAIL)
            code = l->code;
    }
    return code;
}

static const struct pr_requirement *only_stop(const struct pr_validation *v)
{
    for (size_t i = 0; v->stops == 1 && i < v->count; i++)
        if (v->lacks[i].stops)
            return &v->lacks[i];
    return NULL;
}

static int fail_for(const struct pr_requirement *l, struct pr_err *err)
{
    char where[96];

    snprintf(where, sizeof where, "%s", l->first);
    if (l->count > 1)
        snprintf(where, sizeof where, "%s and %llu more", l->first,
                 (unsigned long long)l->count - 1);
    pr_fail(err, l->code, where, "%s", l->what);
    return *l->remedy ? pr_hint(err, "%s", l->remedy) : l->code;
}

int pr_validation_error(const struct pr_validation *v, bool stops_alone,
                        struct pr_err *err)
{
    size_t n = stops_alone ? v->stops : v->count + v->more;
    const struct pr_requirement *only = stops_alone ? only_stop(v) : NULL;

    if (!n)
        return PR_OK;
    if (only)
        return fail_for(only, err);
    return pr_fail(
        err, code_of(v, stops_alone), "",
        "%zu thing%s missing or wrong, for %llu of %llu experiment%s", n,
        n == 1 ? " is" : "s are", (unsigned long long)v->concerned,
        (unsigned long long)(v->experiments - v->off),
        v->experiments - v->off == 1 ? "" : "s");
}
