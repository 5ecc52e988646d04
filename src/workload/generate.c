/* Making a data set: what is there, whether there is room, then the files. */
#include "base/file.h"
#include "base/units.h"
#include "workload/generate_impl.h"

#include <stdio.h>
#include <string.h>

/* ---- before */

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

/* The files of a set that had other names. */
static int remove_old(struct pr_generate_job *j, const struct pr_dataset *old,
                      struct pr_err *err)
{
    struct pr_generate_worker w;
    int rc = pr_worker_init(&w, old, j->so, NULL, err);

    if (rc)
        return rc;
    for (uint64_t f = 0; f < pr_dataset_files(old) && !rc; f++)
        rc = pr_worker_remove(&w, f, err);
    pr_worker_done(&w);
    return rc;
}

static int replace_old(struct pr_generate_job *j, const struct pr_value *params,
                       struct pr_arena *a, struct pr_err *err)
{
    struct pr_dataset old;
    int rc = pr_dataset_init(&old, params, a, err);

    if (rc)
        return rc;
    memcpy(old.folder, j->set->folder, sizeof old.folder);
    return pr_generate_same(&old, j->set, NULL) ? PR_OK
                                                : remove_old(j, &old, err);
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
    return pr_hint(err, "--force replaces it; or choose another "
                        "dataset.data_folder");
}

/* Decides by what is there; *ret_complete: nothing needs to be made. */
static int look_around(struct pr_generate_job *j, bool *ret_complete,
                       struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);
    enum pr_manifest_state state;
    struct pr_value params;
    int rc = a ? pr_manifest_read(j->st, j->set, a, &state, &params, err)
               : pr_fail_nomem(err);

    *ret_complete = false;
    if (rc == PR_E_FORMAT && j->opts->force)
        return PR_OK;
    if (rc)
        return rc;
    if (state == PR_MANIFEST_NONE)
        return j->opts->force ? PR_OK : is_somebody_elses(j, err);
    if (j->opts->force)
        return replace_old(j, &params, a, err);
    rc = check_same(j, &params, a, err);
    if (rc)
        return rc;
    j->keep = true;
    if (j->opts->resume)
        return PR_OK;
    if (state == PR_MANIFEST_COMPLETE) {
        *ret_complete = true;
        return PR_OK;
    }
    pr_fail(err, PR_E_CONF, j->place,
            "a data set is there that was not finished");
    return pr_hint(err, "--resume makes what is missing, --force makes all "
                        "of it again");
}

static int present_bytes(struct pr_generate_job *j, uint64_t *ret,
                         uint64_t *ret_files, struct pr_err *err)
{
    struct pr_generate_worker w;
    uint64_t one;
    int rc = pr_worker_init(&w, j->set, j->so, NULL, err);

    if (rc)
        return rc;
    for (uint64_t f = 0; f < pr_dataset_files(j->set) && !rc; f++) {
        rc = pr_worker_present(&w, f, &one, err);
        if (!rc) {
            *ret += one;
            *ret_files += one > 0;
        }
    }
    pr_worker_done(&w);
    return rc;
}

static int check_space(struct pr_generate_job *j, struct pr_err *err)
{
    struct pr_storage_space space;
    uint64_t need, files = pr_dataset_files(j->set), there = 0, have = 0;
    char a[16], b[16], c[16];
    bool exact;
    int rc = pr_generate_bytes(j->set, &need, &exact, err);

    j->status.files_total = files;
    j->status.bytes_total = need;
    if (!rc && (j->keep || j->opts->force))
        rc = present_bytes(j, &there, &have, err);
    if (!rc)
        rc = pr_storage_space(j->st, j->set->folder, &space, err);
    if (rc)
        return rc;
    need = need > there ? need - there : 0;
    files = files > have ? files - have : 0;
    if (j->keep)
        j->status.bytes_total = need;
    if (need > space.bytes) {
        pr_fail(err, PR_E_IO, j->place,
                "it needs %s%s, but %s are free: %s are missing",
                exact ? "" : "about ", pr_format_bytes(a, need),
                pr_format_bytes(b, space.bytes),
                pr_format_bytes(c, need - space.bytes));
        return pr_hint(err, "use fewer or smaller files, or another "
                            "dataset.data_folder");
    }
    if (files > space.files)
        return pr_fail(err, PR_E_IO, j->place,
                       "it needs %llu files, but the file system has room "
                       "for %llu",
                       (unsigned long long)files,
                       (unsigned long long)space.files);
    return PR_OK;
}

static int make_folders(struct pr_generate_job *j, struct pr_err *err)
{
    char name[PR_NAME_BYTES];

    for (uint64_t i = 0;; i++) {
        int rc;

        pr_dataset_folder(j->set, i, name);
        if (!*name)
            return PR_OK;
        rc = pr_storage_make_folder(j->st, name, err);
        if (rc)
            return rc;
    }
}

const char *pr_generate_place(const struct pr_dataset *d,
                              const struct pr_storage_opts *so,
                              char out[static PR_NAME_BYTES])
{
    const char *root = so->storage_root ? so->storage_root : "";
    size_t n = strlen(root);

    while (n > 1 && root[n - 1] == '/')
        n--;
    if (d->folder[0] == '/' || !n || (n == 1 && *root == '.'))
        snprintf(out, PR_NAME_BYTES, "%s", d->folder);
    else
        snprintf(out, PR_NAME_BYTES, "%.*s/%s", (int)n, root, d->folder);
    return out;
}

/* ---- the whole road */

static int make_all(struct pr_generate_job *j, struct pr_err *err)
{
    int rc = check_space(j, err);

    if (!rc)
        rc = make_folders(j, err);
    if (!rc)
        rc = pr_storage_lock(j->st, j->set->folder, err);
    if (!rc)
        rc = pr_manifest_write(j->st, j->set, false, err);
    if (!rc)
        rc = pr_generate_phase(j, "making", false, &j->result->seconds, err);
    j->result->made = atomic_load(&j->made);
    j->result->kept = atomic_load(&j->kept);
    j->result->bytes = atomic_load(&j->bytes);
    return rc ? rc : pr_manifest_write(j->st, j->set, true, err);
}

static int verify_all(struct pr_generate_job *j, struct pr_err *err)
{
    int rc;

    j->status.bytes_total = 0;
    rc = pr_generate_phase(j, "verifying", true, &j->result->verify_seconds,
                           err);
    j->result->verified = atomic_load(&j->files);
    j->result->verified_bytes = atomic_load(&j->bytes);
    j->result->bad = atomic_load(&j->bad);
    return rc;
}

static int refuse_engine(const struct pr_storage_opts *so,
                         const struct pr_generate_opts *opts,
                         struct pr_err *err)
{
    if (strcmp(so->engine, "memory") == 0) {
        pr_fail(err, PR_E_CONF, "storage.engine",
                "what is made in memory is gone when the program ends");
        return pr_hint(err, "null measures how fast data is made, without "
                            "storing it");
    }
    if (opts->verify && strcmp(so->engine, "null") == 0)
        return pr_fail(err, PR_E_CONF, "storage.engine",
                       "null keeps nothing that could be verified");
    return PR_OK;
}

/* Before anything is looked at that another program may be changing. */
static int lock_if_there(struct pr_generate_job *j, struct pr_err *err)
{
    struct pr_object_info info;
    int rc = pr_storage_stat(j->st, j->set->folder, &info, err);

    return rc == 1 ? pr_storage_lock(j->st, j->set->folder, err) : rc;
}

static int generate(struct pr_generate_job *j, struct pr_err *err)
{
    bool complete;
    int rc = lock_if_there(j, err);

    if (!rc)
        rc = look_around(j, &complete, err);
    j->result->files = pr_dataset_files(j->set);
    j->status.files_total = j->result->files;
    if (rc)
        return rc;
    if (complete)
        j->result->kept = j->result->files;
    else
        rc = make_all(j, err);
    if (!rc && j->opts->verify)
        rc = verify_all(j, err);
    return rc;
}

int pr_generate(const struct pr_dataset *d, const struct pr_storage_opts *so,
                const struct pr_generate_opts *opts, pr_generate_tick *tick_fn,
                void *ctx, struct pr_generate_result *ret, struct pr_err *err)
{
    struct pr_generate_result result = {0};
    struct pr_generate_job j = {.set = d,
                                .so = so,
                                .opts = opts,
                                .tick = tick_fn,
                                .ctx = ctx,
                                .result = &result,
                                .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_condattr_t attr;
    int rc = refuse_engine(so, opts, err);

    pr_generate_place(d, so, j.place);

    if (!rc && strcmp(so->engine, "null") != 0)
        rc = pr_make_dirs(so->storage_root, err);
    if (!rc)
        rc = pr_storage_open(so, &j.st, err);
    if (rc)
        return rc;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&j.ended, &attr);
    rc = generate(&j, err);
    pthread_cond_destroy(&j.ended);
    pthread_condattr_destroy(&attr);
    pr_storage_close(j.st);
    *ret = result;
    return rc;
}
