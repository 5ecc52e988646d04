/*
 * Before a data set is made: what it takes on disk; what is in the folder
 * already, a data set of ours, complete or not, the same or another, or files
 * of somebody else; and taking away what is to go.
 */
#include "base/text.h"
#include "base/units.h"
#include "generate/generate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- what it takes on disk: most formats can tell exactly; for the others
 * (jpeg, csv, anything compressed) one file is made in memory, and the rest are
 * taken to be like it */

/* Larger ones are not tried in memory; the format's own limit is used. */
enum { MAX_TRIAL = 64 << 20 };

/* With a spread, so many files are drawn; the rest are taken to be like them
 * on average. */
enum { DRAWN = 100000 };

static int generate_trial_file(const struct pr_dataset *d,
                               const struct pr_file_spec *spec,
                               uint64_t *ret_bytes, struct pr_err *err)
{
    struct pr_storage_opts so = {.engine = "memory"};
    struct pr_writer *w = NULL;
    struct pr_storage *st;
    int rc;

    PR_TRY(pr_storage_open(&so, &st, err));
    rc = pr_writer_new(d->format, st, &w, err);
    if (!rc)
        rc = pr_writer_write(w, spec, "trial", ret_bytes, err);
    pr_writer_free(w);
    pr_storage_close(st);
    return rc;
}

/* How much the format makes of a byte of samples; 1 when it says itself. */
static int find_ratio(const struct pr_dataset *d, double *ret,
                      struct pr_err *err)
{
    struct pr_file_spec spec;
    struct pr_dataset_sides sides;
    uint64_t raw, bound, bytes;
    bool exact;
    int rc = PR_OK;

    pr_dataset_sides_start(&sides);
    pr_dataset_spec(d, &sides, 0, &spec);
    bound = bytes = d->format->bytes(&spec, &exact);
    raw = pr_spec_sample_bytes(&spec) * spec.samples;
    if (!exact && raw <= MAX_TRIAL)
        rc = generate_trial_file(d, &spec, &bytes, err);
    *ret = bound ? (double)bytes / (double)bound : 1;
    return rc;
}

static uint64_t generate_file_bytes(const struct pr_dataset *d,
                                    const struct pr_file_spec *spec,
                                    double ratio, bool *ret_exact)
{
    struct pr_file_spec labels;
    uint64_t bytes = d->format->bytes(spec, ret_exact);
    bool also;

    if (!*ret_exact)
        bytes = pr_to_u64((double)bytes * ratio);
    if (d->has_index) {
        /* Two numbers and a line end. */
        if (__builtin_add_overflow(bytes, spec->samples * 24, &bytes))
            bytes = UINT64_MAX;
        *ret_exact = false;
    }
    if (d->has_labels_apart) {
        const struct pr_format *npy;
        pr_dataset_label_spec(spec, &labels);
        if (pr_format_find("npy", &npy, NULL) == PR_OK)
            bytes += npy->bytes(&labels, &also);
    }
    return bytes;
}

int pr_generate_bytes(const struct pr_dataset *d, uint64_t *ret,
                      bool *ret_exact, struct pr_err *err)
{
    uint64_t files = pr_dataset_files(d), sum = 0;
    uint64_t drawn = files < DRAWN ? files : DRAWN;
    struct pr_file_spec spec;
    struct pr_dataset_sides sides;
    double ratio = 1;
    bool exact = true;
    int rc = files ? find_ratio(d, &ratio, err) : PR_OK;

    if (rc)
        return rc;
    pr_dataset_sides_start(&sides);
    for (uint64_t f = 0; f < drawn; f++) {
        uint64_t bytes;

        pr_dataset_spec(d, &sides, f, &spec);
        if (d->spread > 0 && d->format->check) {
            rc = d->format->check(&spec, err);
            if (rc)
                return pr_hint(err,
                               "file %" PRIu64 " came out too large: "
                               "lower record_length_bytes_stdev",
                               f);
        }
        bytes = generate_file_bytes(d, &spec, ratio, &exact);
        if (d->spread <= 0) { /* all files are like this one */
            if (__builtin_mul_overflow(bytes, files, &sum))
                sum = UINT64_MAX;
            break;
        }
        if (__builtin_add_overflow(sum, bytes, &sum))
            sum = UINT64_MAX;
    }
    if (d->spread > 0 && drawn < files) {
        sum = pr_to_u64((double)sum / (double)drawn * (double)files);
        exact = false;
    }
    *ret = sum;
    *ret_exact = exact;
    return PR_OK;
}

/* ---- what is in the folder */

enum { LOOK_AT = 100000 }; /* files, at most */

struct search {
    const struct pr_dataset *set;
    char name[256]; /* of what was found */
};

/* What a file of ours could be called, or what others take for one. */
static int generate_match_file(void *ctx, const char *name, bool is_folder)
{
    struct search *s = ctx;
    const struct pr_dataset_opts *o = &s->set->opts;
    char ending[32];

    snprintf(ending, sizeof ending, ".%s", o->format);
    if (is_folder || *name == '.' ||
        (!pr_text_ends_with(name, ending) &&
         !pr_text_starts_with(name, o->file_prefix)))
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
            rc = pr_storage_list(j->st, folder, generate_match_file, &s, err);
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
    int rc = pr_manifest_write(j, j->old, false, NULL, err);

    if (!rc)
        rc = pr_generate_worker_init(&w, j->old, j->so, NULL, NULL, err);
    if (rc)
        return rc;
    for (uint64_t f = 0; f < pr_dataset_files(j->old) && !rc; f++) {
        rc = pr_generate_worker_remove(&w, f, err);
        if (!rc)
            rc = pr_generate_keep_going(j, f, err);
    }
    pr_generate_worker_done(&w);
    return rc;
}

/* A copy with other numbers of files; NULL: no memory. */
static struct pr_dataset *generate_copy_resized(struct pr_arena *a,
                                                const struct pr_dataset *d,
                                                const uint64_t files[PR_SPLITS])
{
    struct pr_dataset *copy = PR_ARENA_NEW(a, struct pr_dataset);

    if (!copy)
        return NULL;
    *copy = *d;
    pr_generate_resize(copy, files);
    return copy;
}

/* A program was killed while the set in the folder grew. */
static int note_growth(struct pr_generate_job *j, const struct pr_manifest *m,
                       const struct pr_dataset *there, struct pr_arena *a,
                       struct pr_err *err)
{
    if (!m->is_growing)
        return PR_OK;
    j->was = there;
    j->was_smaller = generate_copy_resized(a, there, m->from);
    return j->was_smaller ? PR_OK : pr_fail_nomem(err);
}

/* What --force will take away, once it is sure that there is room. */
static int find_old(struct pr_generate_job *j, const struct pr_manifest *m,
                    struct pr_arena *a, struct pr_err *err)
{
    struct pr_dataset *old = PR_ARENA_NEW(a, struct pr_dataset);
    int rc =
        old ? pr_dataset_init(old, &m->params, a, err) : pr_fail_nomem(err);

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
    if (!pr_generate_is_same(old, j->set, NULL))
        j->old = old;
    return note_growth(j, m, old, a, err);
}

/* The set that is there must be this one, but for the number of files. j->set
 * gets as many as are there or are asked for, whichever is more. */
static int find_same(struct pr_generate_job *j, const struct pr_manifest *m,
                     struct pr_arena *a, struct pr_err *err)
{
    uint64_t files[PR_SPLITS];
    struct pr_dataset *there;
    const char *name;
    int rc = pr_generate_find_like(j->set, &m->params, a, &there, &name, err);

    if (rc == 1) {
        for (int s = 0; s < PR_SPLITS; s++)
            files[s] = there->files[s] > j->set->files[s] ? there->files[s]
                                                          : j->set->files[s];
        if (memcmp(files, there->files, sizeof files) != 0)
            j->smaller = there;
        j->set = generate_copy_resized(a, j->set, files);
        return j->set ? note_growth(j, m, there, a, err) : pr_fail_nomem(err);
    }
    if (rc < 0)
        return rc;
    pr_fail(err, PR_E_CONF, j->place,
            "another data set is there: dataset.%s differs", name);
    return pr_hint(err,
                   "'prony generate --force' replaces it; or choose another "
                   "dataset.data_folder");
}

static int see_file(struct pr_generate_job *j, struct pr_generate_worker *w,
                    uint64_t f, struct pr_err *err)
{
    int rc = pr_generate_worker_has_size(w, f, err);

    if (rc)
        return rc < 0 ? rc : pr_generate_keep_going(j, f, err);
    pr_dataset_name(w->set, f, PR_NAME_DATA, w->name);
    pr_fail(err, PR_E_IO, j->place,
            "a file of the data set is gone or not whole: %s",
            w->name + strlen(w->set->folder) + 1);
    return pr_hint(err, "--resume makes what is missing");
}

/* Whether the files of a complete set that were asked for are there and as
 * long as they should be: all of them, or some when there are very many. */
static int see_files(struct pr_generate_job *j, const struct pr_dataset *asked,
                     struct pr_err *err)
{
    struct pr_storage_opts plain = pr_generate_plain(j->so);
    uint64_t step = pr_dataset_files(asked) / LOOK_AT + 1, i;
    struct pr_generate_worker w;
    int rc = pr_generate_worker_init(&w, j->set, &plain, NULL, NULL, err);

    if (rc)
        return rc;
    for (uint64_t f = 0; f < pr_dataset_files(j->set) && !rc; f += step)
        if (asked->files[pr_dataset_split(j->set, f, &i)] > i)
            rc = see_file(j, &w, f, err);
    pr_generate_worker_done(&w);
    return rc;
}

/* Of one with more files than asked for, those asked for are looked at; if
 * they are there nothing is to be done. */
static int look_at_complete(struct pr_generate_job *j,
                            const struct pr_dataset *asked, bool *ret_complete,
                            struct pr_err *err)
{
    bool has_more = pr_dataset_files(j->set) > pr_dataset_files(asked);
    struct pr_err why = {0};
    int rc;

    if (j->opts->resume && !has_more)
        return PR_OK;
    /* What is verified is read, and every bad file told of. */
    rc = j->opts->verify ? PR_OK : see_files(j, asked, &why);
    if (rc == PR_E_IO && j->opts->resume)
        return PR_OK;
    if (rc && err)
        *err = why;
    *ret_complete = !rc;
    return rc;
}

int pr_generate_check(struct pr_generate_job *j, struct pr_arena *a,
                      bool *ret_complete, struct pr_err *err)
{
    const struct pr_dataset *asked = j->set;
    struct pr_manifest m;
    int rc = pr_manifest_read(j->st, j->set, a, &m, err);

    *ret_complete = false;
    if (rc == PR_E_FORMAT && j->opts->force)
        return PR_OK;
    if (rc)
        return rc;
    if (m.state == PR_MANIFEST_NONE)
        return j->opts->force ? PR_OK : is_somebody_elses(j, err);
    if (j->opts->force)
        return find_old(j, &m, a, err);
    PR_TRY(find_same(j, &m, a, err));
    j->keep = true;
    if (m.state == PR_MANIFEST_COMPLETE)
        return j->smaller ? PR_OK
                          : look_at_complete(j, asked, ret_complete, err);
    /* Who let it grow need not say so again. */
    if (j->opts->resume || m.is_growing)
        return PR_OK;
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

    if (is_folder || !pr_text_starts_with(name, PR_PART_PREFIX))
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
