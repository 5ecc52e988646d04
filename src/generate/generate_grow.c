/*
 * A set with another number of files. Contents follow from the seed and the
 * number of a file, so a larger set begins with the files of a smaller one;
 * only their names differ, which tell how many there are.
 */
#include "generate/generate_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void pr_generate_resize(struct pr_dataset *d, const uint64_t files[PR_SPLITS])
{
    memcpy(d->files, files, sizeof d->files);
    memcpy(d->named, files, sizeof d->named);
    d->opts.num_files_train = (int64_t)files[PR_TRAIN];
    d->opts.num_files_eval = (int64_t)files[PR_VALID];
}

int pr_generate_find_like(const struct pr_dataset *d,
                          const struct pr_value *params, struct pr_arena *a,
                          struct pr_dataset **ret, const char **ret_name,
                          struct pr_err *err)
{
    struct pr_dataset *there = PR_ARENA_NEW(a, struct pr_dataset);
    struct pr_dataset like = *d;
    int rc =
        there ? pr_dataset_init(there, params, a, err) : pr_fail_nomem(err);

    if (rc)
        return rc;
    memcpy(there->folder, d->folder, sizeof there->folder);
    pr_generate_resize(&like, there->files);
    *ret = there;
    return pr_generate_is_same(there, &like, ret_name);
}

bool pr_generate_needs_rename(const struct pr_dataset *from,
                              const struct pr_dataset *to, enum pr_split split)
{
    return from->files[split] != to->files[split];
}

/* Files to evaluate with come after those to train with: drawn sizes are one
 * series over all files, and some formats write a file's number in it. */
static bool has_other_contents(const struct pr_dataset *from,
                               const struct pr_dataset *to, enum pr_split split)
{
    return split == PR_VALID && from->files[PR_TRAIN] != to->files[PR_TRAIN] &&
           (to->spread > 0 || (to->format->flags & PR_FORMAT_EMPTY));
}

/* ---- names */

struct naming {
    struct pr_generate_job *job;
    const struct pr_dataset *from, *to;
    char old_name[PR_NAME_BYTES], new_name[PR_NAME_BYTES];
    char old_path[2 * PR_NAME_BYTES], new_path[2 * PR_NAME_BYTES];
};

const char *pr_generate_path(const struct pr_generate_job *j, const char *name,
                             char out[static 2 * PR_NAME_BYTES])
{
    const char *root = j->so->storage_root;

    if (*name == '/' || !root || !*root)
        return name;
    snprintf(out, 2 * PR_NAME_BYTES, "%s/%s", root, name);
    return out;
}

/* One that is not there has its new name already, or was never made. */
static int rename_one(struct naming *n, bool *ret_done, struct pr_err *err)
{
    const char *from = pr_generate_path(n->job, n->old_name, n->old_path);
    const char *to = pr_generate_path(n->job, n->new_name, n->new_path);

    *ret_done = rename(from, to) == 0;
    if (*ret_done || errno == ENOENT)
        return PR_OK;
    return pr_fail_errno(err, PR_E_IO, from, "cannot rename to '%s'", to);
}

/* A file and what its format puts beside it, which comes first: a file is
 * never without it. */
static int rename_data(struct naming *n, uint64_t old, uint64_t f,
                       struct pr_err *err)
{
    const char *const *ending = n->to->format->companions;
    size_t old_len, new_len;
    bool done;
    int rc = PR_OK;

    pr_dataset_name(n->from, old, PR_NAME_DATA, n->old_name);
    pr_dataset_name(n->to, f, PR_NAME_DATA, n->new_name);
    old_len = strlen(n->old_name);
    new_len = strlen(n->new_name);
    for (; !rc && ending && *ending; ending++) {
        snprintf(n->old_name + old_len, PR_NAME_BYTES - old_len, "%s", *ending);
        snprintf(n->new_name + new_len, PR_NAME_BYTES - new_len, "%s", *ending);
        rc = rename_one(n, &done, err);
    }
    n->old_name[old_len] = n->new_name[new_len] = '\0';
    if (!rc)
        rc = rename_one(n, &done, err);
    n->job->result->renamed += !rc && done;
    return rc;
}

/* File `old` of the one set is file f of the other. */
static int rename_file(struct naming *n, uint64_t old, uint64_t f,
                       struct pr_err *err)
{
    const bool has[] = {[PR_NAME_INDEX] = n->to->has_index,
                        [PR_NAME_LABELS] = n->to->has_labels_apart};
    bool done;
    int rc = PR_OK;

    for (int kind = PR_NAME_INDEX; !rc && kind <= PR_NAME_LABELS; kind++) {
        if (!has[kind])
            continue;
        pr_dataset_name(n->from, old, (enum pr_name_kind)kind, n->old_name);
        pr_dataset_name(n->to, f, (enum pr_name_kind)kind, n->new_name);
        rc = rename_one(n, &done, err);
    }
    return rc ? rc : rename_data(n, old, f, err);
}

/* ---- all of them */

static int rename_split(struct naming *n, struct pr_generate_worker *w,
                        enum pr_split split, struct pr_err *err)
{
    bool valid = split == PR_VALID;
    uint64_t old = valid ? n->from->files[PR_TRAIN] : 0;
    uint64_t f = valid ? n->to->files[PR_TRAIN] : 0;
    bool removes = has_other_contents(n->from, n->to, split);
    int rc = PR_OK;

    if (!removes && !pr_generate_needs_rename(n->from, n->to, split))
        return PR_OK;
    for (uint64_t i = 0; !rc && i < n->from->files[split]; i++) {
        rc = removes ? pr_generate_worker_remove(w, old + i, err)
                     : rename_file(n, old + i, f + i, err);
        atomic_fetch_add(&n->job->files, 1);
        if (!rc)
            rc = pr_generate_keep_going(n->job, i, err);
    }
    return rc;
}

int pr_generate_rename(struct pr_generate_job *j, const struct pr_dataset *from,
                       const struct pr_dataset *to, struct pr_err *err)
{
    struct naming n = {.job = j, .from = from, .to = to};
    struct pr_storage_opts plain = pr_generate_plain(j->so);
    struct pr_generate_worker w;
    int rc = pr_generate_worker_init(&w, from, &plain, NULL, NULL, err);

    if (rc)
        return rc;
    j->status.phase = "renaming";
    j->status.files_total = pr_dataset_files(from);
    atomic_store(&j->files, 0);
    for (int s = 0; !rc && s < PR_SPLITS; s++)
        rc = rename_split(&n, &w, (enum pr_split)s, err);
    j->status.files_total = pr_dataset_files(j->set);
    j->status.phase = "checking";
    pr_generate_worker_done(&w);
    return rc;
}
