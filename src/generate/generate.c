/*
 * Making a data set: what is there, whether there is room, then the files, by
 * threads; and taking one away.
 */
#include "generate/generate.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the threads that make or verify a data set: each takes the next file */

enum { MAX_THREADS = 1024, TICK_NS = 100000000 };

static void note_failure(struct pr_generate_job *j, int rc,
                         const struct pr_err *err)
{
    pthread_mutex_lock(&j->lock);
    /* The others were interrupted by the first one. */
    if (!j->rc || (j->rc == PR_E_INTR && rc != PR_E_INTR)) {
        j->rc = rc;
        j->err = *err;
    }
    pthread_mutex_unlock(&j->lock);
}

static void stop_all(struct pr_generate_job *j)
{
    __atomic_store_n(&j->stop, true, __ATOMIC_RELAXED);
}

static int generate_make_file(struct pr_generate_job *j,
                              struct pr_generate_worker *w, uint64_t f,
                              struct pr_err *err)
{
    uint64_t bytes = 0;
    int rc = j->keep ? pr_generate_worker_has_file(w, f, err) : 0;

    if (rc < 0)
        return rc;
    if (rc == 1) {
        atomic_fetch_add(&j->kept, 1);
        return PR_OK;
    }
    PR_TRY(pr_generate_worker_make(w, f, &bytes, err));
    atomic_fetch_add(&j->made, 1);
    atomic_fetch_add(&j->bytes, bytes);
    return PR_OK;
}

static void generate_keep_bad(struct pr_generate_job *j,
                              const struct pr_err *err)
{
    pthread_mutex_lock(&j->lock);
    if (j->result->bad < PR_GENERATE_ERRORS)
        j->result->errors[j->result->bad] = *err;
    j->result->bad++;
    pthread_mutex_unlock(&j->lock);
}

/* A file that is wrong does not end the search for others. */
static int verify_one(struct pr_generate_job *j, struct pr_generate_worker *w,
                      uint64_t f, struct pr_err *err)
{
    uint64_t bytes = 0;
    int rc = pr_generate_worker_verify(w, f, &bytes, err);

    if (rc == PR_E_FORMAT || rc == PR_E_IO) {
        if (!*err->hint)
            pr_hint(err, "remove the file and make it again with --resume, or "
                         "make all again with --force");
        generate_keep_bad(j, err);
        note_failure(j, rc, err);
        return PR_OK;
    }
    if (!rc)
        atomic_fetch_add(&j->bytes, bytes);
    return rc;
}

static int generate_run_worker(struct pr_generate_job *j,
                               struct pr_generate_worker *w, struct pr_err *err)
{
    uint64_t total = pr_dataset_files(j->set), f;
    int rc = PR_OK;

    while (!rc && (f = atomic_fetch_add(&j->next, 1)) < total &&
           !__atomic_load_n(&j->stop, __ATOMIC_RELAXED)) {
        rc = j->verifying ? verify_one(j, w, f, err)
                          : generate_make_file(j, w, f, err);
        if (!rc)
            atomic_fetch_add(&j->files, 1);
    }
    return rc;
}

/* Progress is what the storages of all threads have written. */
static void join_in(struct pr_generate_job *j, struct pr_storage *st,
                    unsigned *ret_slot)
{
    pthread_mutex_lock(&j->lock);
    *ret_slot = j->started++;
    j->storages[*ret_slot] = st;
    pthread_mutex_unlock(&j->lock);
}

static void *thread_main(void *arg)
{
    struct pr_generate_job *j = arg;
    struct pr_generate_worker w;
    struct pr_err err = {0};
    unsigned slot;
    int rc =
        pr_generate_worker_init(&w, j->set, j->so, j->first, &j->stop, &err);

    if (!rc) {
        join_in(j, w.st, &slot);
        rc = generate_run_worker(j, &w, &err);
        pthread_mutex_lock(&j->lock);
        j->written += pr_storage_written(w.st);
        j->storages[slot] = NULL;
        snprintf(j->result->engine, sizeof j->result->engine, "%s",
                 pr_storage_engine(w.st));
        snprintf(j->result->note, sizeof j->result->note, "%s",
                 pr_storage_warning(w.st));
        pthread_mutex_unlock(&j->lock);
        pr_generate_worker_done(&w);
    }
    if (rc) {
        note_failure(j, rc, &err);
        stop_all(j);
    }
    pthread_mutex_lock(&j->lock);
    j->running--;
    pthread_cond_signal(&j->ended);
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

/* ---- all threads */

static uint64_t generate_count_written(struct pr_generate_job *j)
{
    uint64_t sum;

    pthread_mutex_lock(&j->lock);
    sum = j->written;
    for (unsigned i = 0; i < j->started; i++)
        if (j->storages[i])
            sum += pr_storage_written(j->storages[i]);
    pthread_mutex_unlock(&j->lock);
    return sum;
}

/* Tells the caller how far things are, and whether to stop. */
static void generate_tick_now(struct pr_generate_job *j)
{
    j->status.files = atomic_load(&j->files);
    j->status.bytes =
        j->verifying ? atomic_load(&j->bytes) : generate_count_written(j);
    if (j->tick && j->tick(j->ctx, &j->status))
        stop_all(j);
}

int pr_generate_keep_going(struct pr_generate_job *j, uint64_t f,
                           struct pr_err *err)
{
    if (f % 256 == 255)
        generate_tick_now(j);
    return j->stop ? pr_fail(err, PR_E_INTR, j->place, "interrupted") : PR_OK;
}

static void wait_for_threads(struct pr_generate_job *j)
{
    struct timespec until;

    pthread_mutex_lock(&j->lock);
    while (j->running) {
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += TICK_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&j->ended, &j->lock, &until);
        pthread_mutex_unlock(&j->lock);
        generate_tick_now(j);
        pthread_mutex_lock(&j->lock);
    }
    pthread_mutex_unlock(&j->lock);
}

static unsigned thread_count(const struct pr_generate_job *j)
{
    uint64_t files = pr_dataset_files(j->set);
    unsigned n = j->opts->threads;
    cpu_set_t cpus;

    if (!n && sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        n = (unsigned)CPU_COUNT(&cpus);
    if (!n)
        n = 1;
    if (n > MAX_THREADS)
        n = MAX_THREADS;
    return n > files ? (unsigned)(files ? files : 1) : n;
}

/* Makes or verifies every file, by several threads; ticks meanwhile. */
static int generate_run_phase(struct pr_generate_job *j, const char *phase,
                              bool verifying, double *ret_seconds,
                              struct pr_err *err)
{
    unsigned n = thread_count(j), started = 0;
    pthread_t *threads = pr_alloc(n * sizeof *threads);
    uint64_t start = pr_clock_ns();

    j->storages = pr_alloc_zeroed(n * sizeof *j->storages);
    if (!threads || !j->storages) {
        pr_free(threads);
        pr_free(j->storages);
        return pr_fail_nomem(err);
    }
    j->verifying = verifying;
    j->status.phase = phase;
    j->rc = PR_OK;
    j->written = 0;
    j->started = 0;
    atomic_store(&j->next, 0);
    atomic_store(&j->files, 0);
    atomic_store(&j->bytes, 0);
    j->result->threads = n;
    j->running = n;
    while (started < n &&
           pthread_create(&threads[started], NULL, thread_main, j) == 0)
        started++;
    pthread_mutex_lock(&j->lock);
    j->running -= n - started; /* fewer will do */
    pthread_mutex_unlock(&j->lock);
    if (!started)
        j->rc = pr_fail(&j->err, PR_E_IO, "", "cannot start a thread");
    wait_for_threads(j);
    while (started)
        pthread_join(threads[--started], NULL);
    generate_tick_now(j);
    pr_free(threads);
    pr_free(j->storages);
    j->started = 0; /* there is nobody to ask any more */
    *ret_seconds = (double)(pr_clock_ns() - start) / 1e9;
    if (j->rc == PR_E_INTR)
        pr_fail(&j->err, PR_E_INTR, j->place, "interrupted");
    if (j->rc && err)
        *err = j->err;
    if (!j->rc && j->stop)
        j->rc = pr_fail(err, PR_E_INTR, j->place, "interrupted");
    return j->rc;
}

/* ---- a set with another number of files: contents follow from the seed and
 * the number of a file, so a larger set begins with the files of a smaller one;
 * only their names differ, which tell how many there are */

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

/* Whether a file of this split is called otherwise. */
static bool generate_needs_rename(const struct pr_dataset *from,
                                  const struct pr_dataset *to,
                                  enum pr_split split)
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

/* ---- names of a set that grows */

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

/* ---- renaming all of them */

static int rename_split(struct naming *n, struct pr_generate_worker *w,
                        enum pr_split split, struct pr_err *err)
{
    bool valid = split == PR_VALID;
    uint64_t old = valid ? n->from->files[PR_TRAIN] : 0;
    uint64_t f = valid ? n->to->files[PR_TRAIN] : 0;
    bool removes = has_other_contents(n->from, n->to, split);
    int rc = PR_OK;

    if (!removes && !generate_needs_rename(n->from, n->to, split))
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

/* Renames the files of one set to what they are called in the larger one, and
 * removes those whose contents depend on how many there are. Names that were
 * changed already are fine. */
static int generate_rename(struct pr_generate_job *j,
                           const struct pr_dataset *from,
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

/* ---- what is there, and whether there is room */

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
            !generate_needs_rename(d, beside, pr_dataset_split(d, f, &i)))
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
    if (pr_text_starts_with(folder, "./"))
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
        rc = generate_rename(j, j->smaller, j->set, err);
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
    rc = generate_run_phase(j, "making", false, &j->result->seconds, err);
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
    int rc = j->was ? generate_rename(j, j->was_smaller, j->was, err) : PR_OK;

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
    rc = generate_run_phase(j, "verifying", true, &j->result->verify_seconds,
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

/* ---- taking a data set away */

/* Folders from the innermost out; one with something else in it stays. */
static void remove_folders(struct pr_storage *st, const struct pr_dataset *d)
{
    static const char *const above[] = {"/index", "/labels", ""};
    char name[PR_NAME_BYTES];
    uint64_t count = 0;

    for (;; count++) {
        pr_dataset_folder(d, count, name);
        if (!*name)
            break;
    }
    while (count--) {
        pr_dataset_folder(d, count, name);
        (void)!pr_storage_remove(st, name, NULL);
    }
    /* What these were in. */
    for (size_t i = 0; i < sizeof above / sizeof *above; i++) {
        snprintf(name, sizeof name, "%s%s", d->folder, above[i]);
        (void)!pr_storage_remove(st, name, NULL);
    }
}

/* The folder may have more files than this set, which go with it. */
static int generate_find_whole(struct pr_dataset *d,
                               const struct pr_storage_opts *so,
                               struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);
    struct pr_storage_opts plain = pr_generate_plain(so);
    struct pr_dataset *there;
    struct pr_storage *st;
    struct pr_manifest m;
    int rc = a ? pr_storage_open(&plain, &st, err) : pr_fail_nomem(err);

    if (rc)
        return rc;
    rc = pr_manifest_read(st, d, a, &m, err);
    if (!rc && m.state != PR_MANIFEST_NONE)
        rc = pr_generate_find_like(d, &m.params, a, &there, NULL, err);
    if (rc == 1)
        pr_generate_resize(d, there->files);
    pr_storage_close(st);
    /* A manifest that cannot be read tells nothing. */
    return rc == PR_E_NOMEM ? rc : PR_OK;
}

int pr_generate_remove(const struct pr_dataset *d,
                       const struct pr_storage_opts *so, struct pr_err *err)
{
    struct pr_dataset whole = *d;
    struct pr_generate_opts opts = {.later = false};
    struct pr_generate_job j = {.so = so, .opts = &opts};
    struct pr_generate_worker w;
    int rc = generate_find_whole(&whole, so, err);

    if (!rc)
        rc = pr_generate_worker_init(&w, &whole, so, NULL, NULL, err);
    if (rc)
        return rc;
    d = &whole;
    /* Whatever happens meanwhile, it is not complete any more. */
    j.st = w.st;
    rc = pr_manifest_write(&j, d, false, NULL, err);
    for (uint64_t f = 0; !rc && f < pr_dataset_files(d); f++)
        rc = pr_generate_worker_remove(&w, f, err);
    if (!rc)
        rc = pr_manifest_remove(w.st, d, err);
    if (!rc)
        remove_folders(w.st, d);
    pr_generate_worker_done(&w);
    return rc;
}
