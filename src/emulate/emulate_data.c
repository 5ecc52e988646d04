/* Making and finding the data of an emulated training. */
#include "emulate/emulate_data.h"

#include "base/file.h"
#include "base/units.h"
#include "generate/generate.h"
#include "machine/kernel_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_AT = 64 };

/* ---- making it */

static int made_so_far(void *ctx, const struct pr_generate_status *s)
{
    struct pr_data_session *d = ctx;
    double done =
        s->files_total ? (double)s->files / (double)s->files_total : 0;

    pr_progress_write(d->progress, done, "%s data: %llu of %llu files",
                      s->phase, (unsigned long long)s->files,
                      (unsigned long long)s->files_total);
    return __atomic_load_n(d->stop, __ATOMIC_RELAXED);
}

int pr_data_session_make(struct pr_data_session *d, struct pr_err *err)
{
    struct pr_emulate *e = d->e;
    struct pr_generate_opts opts = {
        .resume = true, .later = !pr_job_needs_sync(e->job->params)};
    struct pr_generate_result made;

    /* Where nothing lasts, data is made when the storage is opened. */
    if (!e->workflow.generate_data || !pr_emulate_has_files(e))
        return PR_OK;
    PR_TRY(
        pr_generate(&e->set, &e->storage, &opts, made_so_far, d, &made, err));
    d->stats->generated_bytes = made.bytes;
    d->stats->generated_s = made.seconds;
    d->is_ours = made.made && !made.kept;
    return PR_OK;
}

/* ---- opening it */

/* What is in memory is made by the process that reads it. */
static int fill_memory(struct pr_data_session *d, struct pr_err *err)
{
    const struct pr_dataset *set = &d->e->set;
    char name[PR_NAME_BYTES];
    struct pr_writer *w;
    struct pr_dataset_sides sides;
    struct pr_file_spec spec;
    uint64_t bytes;
    int rc = pr_writer_new(set->format, d->st, &w, err);

    if (rc)
        return rc;
    pr_dataset_sides_start(&sides);
    for (uint64_t i = 0; pr_dataset_folder(set, i, name), !rc && *name; i++)
        rc = pr_storage_make_folder(d->st, name, err);
    for (uint64_t f = 0; !rc && f < pr_dataset_files(set); f++) {
        pr_dataset_spec(set, &sides, f, &spec);
        pr_dataset_name(set, f, PR_NAME_DATA, name);
        rc = pr_writer_write(w, &spec, name, &bytes, err);
        if (!rc && __atomic_load_n(d->stop, __ATOMIC_RELAXED))
            rc = pr_fail(err, PR_E_INTR, "", "interrupted");
    }
    pr_writer_free(w);
    return rc;
}

static bool skips_errors(const struct pr_data_session *d)
{
    return strcmp(d->e->reader.on_error, "skip") == 0;
}

static enum pr_check_files check_of(const char *word)
{
    if (strcmp(word, "all") == 0)
        return PR_CHECK_ALL;
    return strcmp(word, "none") == 0 ? PR_CHECK_NONE : PR_CHECK_SAMPLED;
}

static void found_so_far(void *ctx, uint64_t done, uint64_t of)
{
    struct pr_data_session *d = ctx;

    pr_progress_write(d->progress, (double)done / (double)of,
                      "looking for files: %llu of %llu",
                      (unsigned long long)done, (unsigned long long)of);
}

static int find_files(struct pr_data_session *d, struct pr_dataset_found *ret,
                      struct pr_err *err)
{
    struct pr_emulate *e = d->e;
    struct pr_dataset_find_opts opts = {
        .wanted = {[PR_TRAIN] = true, [PR_VALID] = e->workflow.evaluation},
        .check = check_of(e->opts.check_files),
        .stop = d->stop,
        .progress = found_so_far,
        .ctx = d,
    };
    int rc = pr_dataset_find(&e->set, d->st, &opts, ret, err);

    if (rc == PR_E_IO && skips_errors(d)) {
        /* One that is missing is skipped when its turn comes. */
        opts.check = PR_CHECK_NONE;
        rc = pr_dataset_find(&e->set, d->st, &opts, ret, err);
    }
    if (rc)
        return rc;
    d->stats->data_bytes = (uint64_t)ret->bytes;
    e->train_bytes =
        ret->split[PR_TRAIN].mean_bytes * (double)e->set.files[PR_TRAIN];
    return PR_OK;
}

static uint64_t memory_bytes(void)
{
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A set that fits in memory measures memory from the second epoch on. */
static void warn_of_cache(struct pr_data_session *d)
{
    const struct pr_emulate *e = d->e;
    uint64_t data = d->stats->data_bytes, memory = memory_bytes();
    char a[16], b[16];

    if (!data || data >= memory || strcmp(e->storage.engine, "direct") == 0 ||
        strcmp(e->opts.drop_cache, "epoch") == 0)
        return;
    pr_buf_printf(d->notes,
                  "the data set (%s) fits in this machine's memory (%s): what "
                  "was read once may come from the page cache; use more files, "
                  "reader.odirect=true or emulate.drop_cache=epoch\n",
                  pr_format_bytes(a, data), pr_format_bytes(b, memory));
}

/* What a file should have, on average, without what is beside it. */
static int expected_bytes(const struct pr_dataset *set, double *ret,
                          struct pr_err *err)
{
    enum { INDEX = 16 }; /* bytes a sample, of formats with an index beside */
    struct pr_dataset alone = *set;
    uint64_t bytes;
    bool exact;
    int rc;

    alone.has_index = alone.has_labels_apart = false;
    rc = pr_generate_bytes(&alone, &bytes, &exact, err);
    *ret = (double)bytes / (double)pr_dataset_files(set);
    if (set->format->companions)
        *ret -= INDEX * (double)set->spec.samples;
    return rc;
}

/* Files of somebody else's may be anything. What was looked at tells a mean
 * that is the less certain the more sizes vary. */
static int warn_of_sizes(struct pr_data_session *d,
                         const struct pr_dataset_found *found,
                         struct pr_err *err)
{
    const struct pr_dataset *set = &d->e->set;
    const struct pr_dataset_opts *o = &set->opts;
    double mean = found->split[PR_TRAIN].mean_bytes, want = 0, factor;
    double looked = (double)found->split[PR_TRAIN].looked_at;
    char a[16], b[16];
    int rc = looked > 0 ? expected_bytes(set, &want, err) : PR_OK;

    if (rc || looked <= 0 || want <= 0)
        return rc;
    factor = 1.25 + 3 * o->record_length_bytes_stdev / o->record_length_bytes /
                        sqrt(looked);
    if (mean * factor >= want && mean <= want * factor)
        return PR_OK;
    pr_buf_printf(d->notes,
                  "the training files have %s each (mean of %.0f), but the "
                  "parameters say %s: they are %.3g times %s; reported is what "
                  "is read, and %s should say it\n",
                  pr_format_bytes(a, (uint64_t)mean), looked,
                  pr_format_bytes(b, (uint64_t)want),
                  mean < want ? want / (mean > 1 ? mean : 1) : mean / want,
                  mean < want ? "smaller" : "larger",
                  o->record_dims->len ? "dataset.record_dims"
                                      : "dataset.record_length_bytes");
    return PR_OK;
}

/* Files say what is in them, but our plan goes by the parameters. */
static int warn_of_shape(struct pr_data_session *d,
                         const struct pr_dataset_found *found,
                         struct pr_err *err)
{
    const char *name;
    bool marked;
    int rc = pr_generate_find_difference(&d->e->set, &d->e->storage, &name,
                                         &marked, err);

    if (rc == PR_E_FORMAT || rc == PR_E_IO) {
        marked = false; /* a marker that cannot be read says nothing */
        rc = PR_OK;
    }
    if (!rc && name)
        pr_buf_printf(d->notes,
                      "the data set was made with another dataset.%s: what is "
                      "there is read, and that is what is reported\n",
                      name);
    return rc || marked ? rc : warn_of_sizes(d, found, err);
}

/* That nothing is decoded may be why a storage looks so good. */
static void note_payload(struct pr_data_session *d)
{
    if (d->e->set.spec.payload == PR_RAW)
        pr_buf_str(d->notes,
                   "dataset.payload=raw: the files hold bytes that are no "
                   "images, and nothing is decoded (reader.decode=false)\n");
}

/* What is held in memory may not take most of it. */
static int check_memory(const struct pr_data_session *d, bool all,
                        struct pr_err *err)
{
    struct pr_dataset set = d->e->set;
    uint64_t bytes = 0, most = pr_machine_available_memory() / 2;
    char a[16], b[16];
    bool exact;
    int rc;

    if (!all) { /* one file for every name */
        set.files[PR_TRAIN] = 1;
        set.files[PR_VALID] = 0;
        set.spread = 0;
    }
    rc = pr_generate_bytes(&set, &bytes, &exact, err);
    if (rc || bytes <= most)
        return rc;
    pr_fail(err, PR_E_CONF, "storage.engine",
            "'%s' holds %s in memory: %s, more than the limit of %s (half of "
            "what is free)",
            d->e->storage.engine, all ? "the data set" : "one file",
            pr_format_bytes(a, bytes), pr_format_bytes(b, most));
    return pr_hint(err,
                   "use fewer or smaller samples%s, or an engine that "
                   "reads files",
                   all ? "" : " in a file");
}

int pr_data_session_open(struct pr_data_session *d, struct pr_err *err)
{
    const struct pr_emulate *e = d->e;
    struct pr_dataset_found found;
    int rc = pr_storage_open(&e->storage, &d->st, err);

    if (rc)
        return rc;
    if (!pr_emulate_needs_storage(e))
        return PR_OK;
    note_payload(d);
    if (strcmp(e->storage.engine, "null") == 0) {
        rc = check_memory(d, false, err);
        return rc ? rc : pr_dataset_serve(&e->set, d->st, err);
    }
    if (strcmp(e->storage.engine, "memory") == 0) {
        rc = check_memory(d, true, err);
        return rc ? rc : fill_memory(d, err);
    }
    rc = find_files(d, &found, err);
    if (!rc)
        rc = warn_of_shape(d, &found, err);
    if (!rc)
        warn_of_cache(d);
    return rc;
}

void pr_data_session_close(struct pr_data_session *d)
{
    pr_storage_close(d->st);
    d->st = NULL;
}

/* ---- the page cache */

static uint64_t data_first_file(const struct pr_dataset *set,
                                enum pr_split split)
{
    return split == PR_TRAIN ? 0 : set->files[PR_TRAIN];
}

static int drop_files(struct pr_data_session *d, enum pr_split split,
                      struct pr_err *err)
{
    const struct pr_dataset *set = &d->e->set;
    uint64_t n = set->files[split];
    char name[PR_NAME_BYTES];
    int rc = PR_OK;

    pr_progress_start(d->progress);
    for (uint64_t i = 0; !rc && i < n; i++) {
        pr_dataset_name(set, data_first_file(set, split) + i, PR_NAME_DATA,
                        name);
        rc = pr_storage_drop_cache(d->st, name, err);
        if (rc == PR_E_IO && skips_errors(d))
            rc = PR_OK; /* reading will tell */
        if (pr_progress_is_due(d->progress))
            pr_progress_write(d->progress, (double)i / (double)n,
                              "dropping cached pages: %llu of %llu files",
                              (unsigned long long)i, (unsigned long long)n);
        if (!rc && __atomic_load_n(d->stop, __ATOMIC_RELAXED))
            rc = pr_fail(err, PR_E_INTR, "", "interrupted");
    }
    return rc;
}

static bool wants_drop(const struct pr_data_session *d, enum pr_split split)
{
    const char *when = d->e->opts.drop_cache;

    if (strcmp(when, "epoch") == 0)
        return true;
    if (d->dropped[split] || strcmp(when, "never") == 0)
        return false;
    return strcmp(when, "start") == 0 || d->e->workflow.generate_data;
}

/* Looking at some files tells enough. */
static int look_at_cache(struct pr_data_session *d, enum pr_split split,
                         double *ret, struct pr_err *err)
{
    const struct pr_dataset *set = &d->e->set;
    uint64_t n = set->files[split], each = n / LOOK_AT ? n / LOOK_AT : 1;
    uint64_t in = 0, all = 0, cached, bytes;
    char name[PR_NAME_BYTES];
    int rc = 1;

    for (uint64_t i = 0; rc == 1 && i < n; i += each) {
        pr_dataset_name(set, data_first_file(set, split) + i, PR_NAME_DATA,
                        name);
        rc = pr_storage_cached_bytes(d->st, name, &cached, &bytes, err);
        if (rc == 1) {
            in += cached;
            all += bytes;
        } else if (rc == PR_E_IO && skips_errors(d)) {
            rc = 1;
        }
    }
    if (rc < 0 && rc != PR_E_UNAVAIL)
        return rc;
    *ret = rc == 1 && all ? (double)in / (double)all : -1;
    return PR_OK;
}

int pr_data_session_before_phase(struct pr_data_session *d, enum pr_split split,
                                 double *ret_cached, struct pr_err *err)
{
    int rc = PR_OK;

    *ret_cached = -1;
    if (!pr_emulate_has_files(d->e))
        return PR_OK;
    if (wants_drop(d, split))
        rc = d->e->opts.drop_all ? pr_storage_drop_all_caches(err)
                                 : drop_files(d, split, err);
    d->dropped[split] = true;
    /* What goes past the cache is not served from it. */
    if (rc || strcmp(d->e->storage.engine, "direct") == 0)
        return rc;
    return look_at_cache(d, split, ret_cached, err);
}

int pr_data_session_remove(struct pr_data_session *d, struct pr_err *err)
{
    const struct pr_emulate *e = d->e;

    /* Making data and nothing else would be for nothing. */
    if (e->set.opts.keep_files || !d->is_ours || !e->workflow.train)
        return PR_OK;
    return pr_generate_remove(&e->set, &e->storage, err);
}
