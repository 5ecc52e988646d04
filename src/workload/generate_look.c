/*
 * What is in the folder already: a data set of ours, complete or not, the same
 * or another, or files of somebody else; and taking away what is to go.
 */
#include "workload/generate_impl.h"

#include <stdio.h>
#include <string.h>

enum { LOOK_AT = 100000 }; /* files, at most */

struct search {
    const struct pr_dataset *set;
    char name[256]; /* of what was found */
};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), e = strlen(end);

    return n > e && strcmp(text + n - e, end) == 0;
}

/* What a file of ours could be called, or what others take for one. */
static int note_file(void *ctx, const char *name, bool is_folder)
{
    struct search *s = ctx;
    const struct pr_dataset_opts *o = &s->set->opts;
    char ending[32];

    snprintf(ending, sizeof ending, ".%s", o->format);
    if (is_folder || *name == '.' ||
        (!ends_with(name, ending) &&
         strncmp(name, o->file_prefix, strlen(o->file_prefix)) != 0))
        return 0;
    snprintf(s->name, sizeof s->name, "%s", name);
    return 1;
}

/* Files that would be replaced, or that those who list the folder would
 * count. */
static int is_somebody_elses(struct pr_generate_job *j, struct pr_err *err)
{
    char folder[PR_NAME_BYTES];
    struct pr_object_info info;
    struct search s = {.set = j->set};

    for (uint64_t i = 0;; i++) {
        int rc;

        pr_dataset_folder(j->set, i, folder);
        if (!*folder)
            return PR_OK;
        rc = pr_storage_stat(j->st, folder, &info, err);
        if (rc == 1)
            rc = pr_storage_list(j->st, folder, note_file, &s, err);
        if (rc < 0)
            return rc;
        if (rc == 1) {
            pr_fail(err, PR_E_CONF, j->place,
                    "a file is there that prony did not make: %s/%s",
                    folder + strlen(j->set->folder) + 1, s.name);
            return pr_hint(err, "--force makes the data set nevertheless; or "
                                "choose another dataset.data_folder");
        }
    }
}

/* The files of the set that is replaced. Its manifest says first that it is
 * not complete any more. */
int pr_generate_remove_old(struct pr_generate_job *j, struct pr_err *err)
{
    struct pr_generate_worker w;
    int rc = pr_manifest_write(j->st, j->old, false, err);

    if (!rc)
        rc = pr_worker_init(&w, j->old, j->so, NULL, err);
    if (rc)
        return rc;
    for (uint64_t f = 0; f < pr_dataset_files(j->old) && !rc; f++) {
        rc = pr_worker_remove(&w, f, err);
        if (!rc)
            rc = pr_generate_keep_going(j, f, err);
    }
    pr_worker_done(&w);
    return rc;
}

/* What --force will take away, once it is sure that there is room. */
static int find_old(struct pr_generate_job *j, const struct pr_value *params,
                    struct pr_arena *a, struct pr_err *err)
{
    struct pr_dataset *old = PR_ARENA_NEW(a, struct pr_dataset);
    int rc = old ? pr_dataset_init(old, params, a, err) : pr_fail_nomem(err);

    if (rc == PR_E_NOMEM)
        return rc;
    if (rc) {
        pr_reword(err, j->place,
                  "a data set is there that this build cannot "
                  "read, so it cannot be replaced: %s",
                  err ? err->msg : "");
        return pr_hint(err, "remove the folder, or choose another "
                            "dataset.data_folder");
    }
    memcpy(old->folder, j->set->folder, sizeof old->folder);
    if (!pr_generate_same(old, j->set, NULL))
        j->old = old;
    return PR_OK;
}

static int check_same(struct pr_generate_job *j, const struct pr_value *params,
                      struct pr_arena *a, struct pr_err *err)
{
    struct pr_dataset old;
    const char *name;
    int rc = pr_dataset_init(&old, params, a, err);

    if (rc)
        return rc;
    if (pr_generate_same(&old, j->set, &name))
        return PR_OK;
    pr_fail(err, PR_E_CONF, j->place,
            "another data set is there: dataset.%s differs", name);
    return pr_hint(err,
                   "'prony generate --force' replaces it; or choose another "
                   "dataset.data_folder");
}

/* Whether the files of a complete set are there: all of them, or some when
 * there are very many. */
static int see_files(struct pr_generate_job *j, struct pr_err *err)
{
    uint64_t files = pr_dataset_files(j->set);
    uint64_t step = files / LOOK_AT + 1;
    struct pr_object_info info;
    char name[PR_NAME_BYTES];

    for (uint64_t f = 0; f < files; f += step) {
        int rc;

        pr_dataset_name(j->set, f, PR_NAME_DATA, name);
        rc = pr_storage_stat(j->st, name, &info, err);
        if (rc < 0)
            return rc;
        if (rc == 0) {
            pr_fail(err, PR_E_IO, j->place,
                    "a file of the data set is gone: %s",
                    name + strlen(j->set->folder) + 1);
            return pr_hint(err, "--resume makes what is missing");
        }
    }
    return PR_OK;
}

int pr_generate_look(struct pr_generate_job *j, struct pr_arena *a,
                     bool *ret_complete, struct pr_err *err)
{
    enum pr_manifest_state state;
    struct pr_value params;
    int rc = pr_manifest_read(j->st, j->set, a, &state, &params, err);

    *ret_complete = false;
    if (rc == PR_E_FORMAT && j->opts->force)
        return PR_OK;
    if (rc)
        return rc;
    if (state == PR_MANIFEST_NONE)
        return j->opts->force ? PR_OK : is_somebody_elses(j, err);
    if (j->opts->force)
        return find_old(j, &params, a, err);
    rc = check_same(j, &params, a, err);
    if (rc)
        return rc;
    j->keep = true;
    if (j->opts->resume)
        return PR_OK;
    if (state == PR_MANIFEST_COMPLETE) {
        *ret_complete = true;
        return see_files(j, err);
    }
    pr_fail(err, PR_E_CONF, j->place,
            "a data set is there that was not finished");
    return pr_hint(err, "--resume makes what is missing, --force makes all "
                        "of it again");
}

/* ---- what killed programs left */

struct sweep {
    struct pr_generate_job *job;
    const char *folder;
    struct pr_err *err;
};

static int remove_part(void *ctx, const char *name, bool is_folder)
{
    struct sweep *s = ctx;
    char path[PR_NAME_BYTES + 256];

    if (is_folder ||
        strncmp(name, PR_PART_PREFIX, sizeof PR_PART_PREFIX - 1) != 0)
        return PR_OK;
    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    return pr_storage_remove(s->job->st, path, s->err);
}

/* The folder is ours alone, so nobody is writing these. */
int pr_generate_remove_parts(struct pr_generate_job *j, struct pr_err *err)
{
    char folder[PR_NAME_BYTES];
    struct sweep s = {j, folder, err};
    int rc = PR_OK;

    for (uint64_t i = 0; !rc; i++) {
        pr_dataset_folder(j->set, i, folder);
        if (!*folder)
            break;
        rc = pr_storage_list(j->st, folder, remove_part, &s, err);
    }
    return rc;
}
