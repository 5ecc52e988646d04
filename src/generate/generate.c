/* Making a data set: what is there, whether there is room, then the files. */
#include "generate/generate.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "generate/generate_impl.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What is there of a set, those files only that a set beside it calls
 * otherwise (NULL: all). */
static int present_bytes(struct pr_generate_job *j, const struct pr_dataset *d,
                         const struct pr_dataset *beside, uint64_t *ret,
                         uint64_t *ret_files, struct pr_err *err)
{
    struct pr_generate_worker w;
    uint64_t one, i;
    int rc = pr_generate_worker_init(&w, d, j->so, NULL, NULL, err);

    if (rc)
        return rc;
    for (uint64_t f = 0; f < pr_dataset_files(d) && !rc; f++) {
        /* One with the same name in both was counted. */
        if (beside &&
            !pr_generate_needs_rename(d, beside, pr_dataset_split(d, f, &i)))
            continue;
        rc = pr_generate_worker_count_present(&w, f, &one, err);
        if (rc)
            break;
        *ret += one;
        *ret_files += one > 0;
        rc = pr_generate_keep_going(j, f, err);
    }
    pr_generate_worker_done(&w);
    return rc;
}

/* A file and what goes with it. */
static uint64_t objects_each(const struct pr_dataset *d)
{
    const char *const *ending = d->format->companions;
    uint64_t n = 1u + d->has_index + d->has_labels_apart;

    for (; ending && *ending; ending++)
        n++;
    return n;
}

static int check_space(struct pr_generate_job *j, struct pr_err *err)
{
    struct pr_storage_space space;
    uint64_t need, files = pr_dataset_files(j->set), there = 0, have = 0;
    uint64_t each = objects_each(j->set);
    char a[16], b[16], c[16];
    bool exact;
    int rc = pr_generate_bytes(j->set, &need, &exact, err);

    j->status.files_total = files;
    j->status.bytes_total = need;
    if (!rc && (j->keep || j->opts->force))
        rc = present_bytes(j, j->old ? j->old : j->set, NULL, &there, &have,
                           err);
    if (!rc && j->smaller)
        rc = present_bytes(j, j->smaller, j->set, &there, &have, err);
    if (!rc)
        rc = pr_storage_space(j->st, j->set->folder, &space, err);
    if (rc)
        return rc;
    need = need > there ? need - there : 0;
    files = files > have ? (files - have) * each : 0;
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
    if (files > space.files) {
        pr_fail(err, PR_E_IO, j->place,
                "it needs %" PRIu64 " files, but the file system has room for "
                "%" PRIu64,
                files, space.files);
        return pr_hint(err, "put more samples into a file, or use another "
                            "dataset.data_folder");
    }
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
        rc = pr_generate_keep_going(j, i, err);
        if (!rc)
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
    const char *folder = d->folder;
    size_t n = strlen(root);

    while (n > 1 && root[n - 1] == '/')
        n--;
    if (folder[0] == '/' || !n || (n == 1 && *root == '.')) {
        snprintf(out, PR_NAME_BYTES, "%s", folder);
        return out;
    }
    if (strncmp(folder, "./", 2) == 0)
        folder += 2;
    snprintf(out, PR_NAME_BYTES, "%.*s/%s", (int)n, root, folder);
    return out;
}

/* ---- the whole road */

/* The manifest of a set that grows says so until all of it is made: until then
 * files may have names of both. */
static int begin_set(struct pr_generate_job *j, struct pr_err *err)
{
    const struct pr_dataset *from = j->smaller ? j->smaller : j->was_smaller;
    int rc =
        pr_manifest_write(j, j->set, false, j->opts->force ? NULL : from, err);

    if (!rc && j->smaller)
        rc = pr_generate_rename(j, j->smaller, j->set, err);
    return rc;
}

/* On their way, one after another, so that a signal is heeded in between: what
 * is left to wait for afterwards is short. */
static int send_files(struct pr_generate_job *j, struct pr_err *err)
{
    char name[PR_NAME_BYTES], path[2 * PR_NAME_BYTES];
    int rc = PR_OK;

    j->status.phase = "syncing";
    for (uint64_t f = 0; !rc && f < pr_dataset_files(j->set); f++) {
        int fd;

        pr_dataset_name(j->set, f, PR_NAME_DATA, name);
        fd = open(pr_generate_path(j, name, path),
                  O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd >= 0) {
            (void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
            (void)close(fd);
        }
        rc = pr_generate_keep_going(j, f, err);
    }
    return rc;
}

/* Makes the files; before the manifest calls the set complete, it outlives a
 * power cut. The whole file system is synced at once: a sync of each file would
 * wait for the device as often as there are files. It is opened first, for it
 * tells of the failures since then. */
static int make_files(struct pr_generate_job *j, struct pr_err *err)
{
    char path[2 * PR_NAME_BYTES];
    bool syncs = !j->opts->later && strcmp(j->so->engine, "null") != 0;
    int fd = syncs ? open(pr_generate_path(j, j->set->folder, path),
                          O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                   : -1;
    uint64_t start;
    int rc;

    if (syncs && fd < 0) {
        pr_fail_errno(err, PR_E_IO, path,
                      "cannot open the folder, so its data cannot be brought "
                      "to the device");
        return pr_hint(err, "it must be readable, not only writable");
    }
    rc = pr_generate_run_phase(j, "making", false, &j->result->seconds, err);
    start = pr_clock_ns();
    if (!rc && fd >= 0)
        rc = send_files(j, err);
    if (!rc && fd >= 0 && syncfs(fd) < 0)
        rc = pr_fail_errno(err, PR_E_IO, j->place,
                           "cannot bring the data to the device");
    j->result->seconds += (double)(pr_clock_ns() - start) / 1e9;
    if (fd >= 0)
        (void)close(fd);
    return rc;
}

static int generate_make_all(struct pr_generate_job *j, struct pr_err *err)
{
    int rc =
        j->was ? pr_generate_rename(j, j->was_smaller, j->was, err) : PR_OK;

    if (!rc)
        rc = check_space(j, err);
    if (!rc)
        rc = make_folders(j, err);
    if (!rc)
        rc = pr_storage_lock(j->st, j->set->folder, err);
    if (!rc && j->old)
        rc = pr_generate_remove_old(j, err);
    if (!rc)
        rc = begin_set(j, err);
    if (!rc && (j->keep || j->opts->force))
        rc = pr_generate_remove_parts(j, err);
    if (!rc)
        rc = make_files(j, err);
    j->result->made = atomic_load(&j->made);
    j->result->kept = atomic_load(&j->kept);
    j->result->bytes = atomic_load(&j->bytes);
    return rc ? rc : pr_manifest_write(j, j->set, true, NULL, err);
}

static int verify_all(struct pr_generate_job *j, struct pr_err *err)
{
    int rc;

    j->status.bytes_total = 0;
    rc = pr_generate_run_phase(j, "verifying", true, &j->result->verify_seconds,
                               err);
    j->result->verified = atomic_load(&j->files);
    j->result->verified_bytes = atomic_load(&j->bytes);
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

static int generate_set(struct pr_generate_job *j, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);
    bool complete = false;
    int rc = a ? lock_if_there(j, err) : pr_fail_nomem(err);

    if (!rc)
        rc = pr_generate_check(j, a, &complete, err);
    j->result->files = pr_dataset_files(j->set);
    j->status.files_total = j->result->files;
    if (rc)
        return rc;
    if (complete)
        j->result->kept = j->result->files;
    else
        rc = generate_make_all(j, err);
    if (!rc && j->opts->verify)
        rc = verify_all(j, err);
    return rc;
}

/* What is emulated is the data's way, not ours. */
struct pr_storage_opts pr_generate_plain(const struct pr_storage_opts *so)
{
    struct pr_storage_opts plain = *so;

    plain.throttle = 0;
    plain.latency = 0;
    plain.fault = plain.trace = "";
    return plain;
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
                                .status.phase = "checking",
                                .lock = PTHREAD_MUTEX_INITIALIZER};
    struct pr_storage_opts plain = pr_generate_plain(so);
    pthread_condattr_t attr;
    int rc = refuse_engine(so, opts, err);

    pr_generate_place(d, so, j.place);

    /* The threads' options are tried first, before anything is made. */
    if (!rc)
        rc = pr_storage_open(so, &j.first, err);
    if (rc)
        return rc;
    if (strcmp(so->engine, "null") != 0)
        rc = pr_make_dirs(so->storage_root, err);
    if (!rc)
        rc = pr_storage_open(&plain, &j.st, err);
    if (rc) {
        pr_storage_close(j.first);
        return rc;
    }
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&j.ended, &attr);
    rc = generate_set(&j, err);
    pthread_cond_destroy(&j.ended);
    pthread_condattr_destroy(&attr);
    pr_storage_close(j.st);
    pr_storage_close(j.first);
    *ret = result;
    return rc;
}
