/*
 * Finding a data set that is there. Names have the number of all files in
 * them, and a run may want only the first of these: the number is taken from a
 * name that is found. What does not fit the parameters is told before
 * anything is read.
 */
#include "format/dataset/dataset.h"

#include <stdio.h>
#include <string.h>

enum {
    SAMPLED = 66, /* files of a split to look at: first, last, 64 between */
    EVERY = 1024, /* files, then progress is told */
};

static const struct words {
    const char *kind, *files, *subfolders;
} words[PR_SPLITS] = {
    {"training", "dataset.num_files_train", "dataset.num_subfolders_train"},
    {"evaluation", "dataset.num_files_eval", "dataset.num_subfolders_eval"},
};

struct finding {
    struct pr_dataset *d; /* a copy of the caller's */
    struct pr_storage *st;
    enum pr_split split;
    const struct pr_dataset_find_opts *opts;
    char name[PR_NAME_BYTES]; /* of the file or folder looked at */
};

/* What is in a folder. */
struct listing {
    const struct pr_dataset *d;
    enum pr_split split;
    uint64_t named;     /* the N of a file, the first that is large enough,
                           or the largest; 0: no file of the set */
    const char *ending; /* of that file */
    uint64_t subfolders;
    char subfolder[32]; /* the first of them */
    char other[64];     /* a file that is not of the set */
};

/* ---- names */

/* Digits at *at, which is moved behind them. */
static bool dataset_parse_number(const char **at, uint64_t *ret,
                                 size_t *ret_digits)
{
    const char *p = *at;
    uint64_t n = 0;

    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
            return false;
    if (p == *at)
        return false;
    *ret = n;
    *ret_digits = (size_t)(p - *at);
    *at = p;
    return true;
}

/* PREFIX_3_of_8.: the 8, and what follows the dot. 0: it is not that. */
static uint64_t parse_name(const struct pr_dataset *d, const char *name,
                           const char **ret_ending)
{
    size_t n = strlen(d->opts.file_prefix), digits_i, digits_n;
    uint64_t i, count;

    if (strncmp(name, d->opts.file_prefix, n) != 0 || name[n] != '_')
        return 0;
    name += n + 1;
    if (!dataset_parse_number(&name, &i, &digits_i) ||
        strncmp(name, "_of_", 4) != 0)
        return 0;
    name += 4;
    if (!dataset_parse_number(&name, &count, &digits_n) || *name != '.')
        return 0;
    *ret_ending = name + 1;
    return i < count && digits_i == digits_n ? count : 0;
}

/* A name of the format, in memory of its own; NULL: none. */
static const char *find_ending(const struct pr_format *f, const char *ending)
{
    if (strcmp(ending, f->name) == 0)
        return f->name;
    return f->alias && strcmp(ending, f->alias) == 0 ? f->alias : NULL;
}

/* ---- listing a folder */

static void note_folder(struct listing *l, const char *name)
{
    const char *p = name;
    uint64_t number;
    size_t digits;

    if (!dataset_parse_number(&p, &number, &digits) || *p ||
        digits >= sizeof l->subfolder)
        return;
    if (!l->subfolders++)
        memcpy(l->subfolder, name, digits + 1);
}

/* Stops at a name with as many files as wanted. There may be an older, smaller
 * set in the same folder. */
static int note_name(void *ctx, const char *name, bool is_folder)
{
    struct listing *l = ctx;
    const char *ending = NULL;
    uint64_t n;

    if (*name == '.')
        return 0;
    if (is_folder) {
        note_folder(l, name);
        return 0;
    }
    n = parse_name(l->d, name, &ending);
    ending = n ? find_ending(l->d->format, ending) : NULL;
    if (!ending) {
        snprintf(l->other, sizeof l->other, "%s", name);
    } else if (n > l->named) {
        l->named = n;
        l->ending = ending;
    }
    return l->named >= l->d->files[l->split];
}

/* 1: the folder is there, and *ret says what is in it. */
static int dataset_list_folder(struct finding *f, const char *folder,
                               struct listing *ret, struct pr_err *err)
{
    struct pr_object_info info;
    int rc = pr_storage_stat(f->st, folder, &info, err);

    *ret = (struct listing){.d = f->d, .split = f->split};
    if (rc <= 0 || !info.is_folder)
        return rc < 0 ? rc : 0;
    rc = pr_storage_list(f->st, folder, note_name, ret, err);
    return rc < 0 ? rc : 1;
}

/* ---- errors */

static int refuse_count(const struct finding *f, const char *folder,
                        uint64_t found, struct pr_err *err)
{
    const struct words *w = &words[f->split];

    pr_fail(err, PR_E_CONF, folder, "expected %llu %s files, found %llu",
            (unsigned long long)f->d->files[f->split], w->kind,
            (unsigned long long)found);
    return pr_hint(err,
                   "make them: workflow.generate_data=true, or set %s=%llu",
                   w->files, (unsigned long long)found);
}

static int dataset_refuse_empty(const struct finding *f, const char *folder,
                                bool is_there, const char *other,
                                struct pr_err *err)
{
    const struct pr_dataset_opts *o = &f->d->opts;
    unsigned long long files = f->d->files[f->split];

    if (!is_there)
        pr_fail(err, PR_E_CONF, folder,
                "expected %llu %s files, but there is no such folder", files,
                words[f->split].kind);
    else if (*other)
        pr_fail(err, PR_E_CONF, folder,
                "expected %llu %s files, found none called %s_…_of_….%s, but "
                "'%s'",
                files, words[f->split].kind, o->file_prefix, o->format, other);
    else
        pr_fail(err, PR_E_CONF, folder, "expected %llu %s files, found none",
                files, words[f->split].kind);
    return pr_hint(err, "make them: workflow.generate_data=true, or check "
                        "dataset.data_folder and storage.storage_root");
}

static int refuse_layout(const struct finding *f, const char *folder,
                         uint64_t subfolders, struct pr_err *err)
{
    uint64_t want = f->d->subfolders[f->split];

    if (!subfolders)
        pr_fail(err, PR_E_CONF, folder,
                "expected %s files in %llu subfolders, found them in the "
                "folder itself",
                words[f->split].kind, (unsigned long long)want);
    else if (!want)
        pr_fail(err, PR_E_CONF, folder,
                "expected %s files in the folder itself, found %llu "
                "subfolders",
                words[f->split].kind, (unsigned long long)subfolders);
    else
        pr_fail(err, PR_E_CONF, folder,
                "expected %s files in %llu subfolders, found %llu",
                words[f->split].kind, (unsigned long long)want,
                (unsigned long long)subfolders);
    return pr_hint(err, "set %s=%llu", words[f->split].subfolders,
                   (unsigned long long)subfolders);
}

/* ---- which names */

/* Whether files lie in the folders that the parameters say. Of named files
 * some subfolders may have none, and need not be there. */
static int check_layout(const struct finding *f, const char *folder,
                        const struct listing *top, uint64_t named,
                        struct pr_err *err)
{
    uint64_t want = f->d->subfolders[f->split];
    uint64_t least = want < named ? want : named;

    if (top->named)
        return want ? refuse_layout(f, folder, 0, err) : PR_OK;
    if (top->subfolders == want || top->subfolders == least)
        return PR_OK;
    return refuse_layout(f, folder, top->subfolders, err);
}

/* What the names are, from those that are there. */
static int learn_names(struct finding *f, struct pr_err *err)
{
    char folder[PR_NAME_BYTES], sub[PR_NAME_BYTES + 32];
    struct listing top, in;
    int rc;

    pr_dataset_split_folder(f->d, f->split, folder);
    rc = dataset_list_folder(f, folder, &top, err);
    in = top;
    if (rc == 1 && !top.named && top.subfolders) {
        snprintf(sub, sizeof sub, "%s/%s", folder, top.subfolder);
        rc = dataset_list_folder(f, sub, &in, err);
    }
    if (rc < 0)
        return rc;
    if (!in.named)
        return dataset_refuse_empty(f, folder, rc == 1,
                                    *top.other ? top.other : in.other, err);
    rc = check_layout(f, folder, &top, in.named, err);
    if (rc)
        return rc;
    if (in.named < f->d->files[f->split])
        return refuse_count(f, folder, in.named, err);
    f->d->named[f->split] = in.named;
    f->d->opts.format = in.ending;
    return PR_OK;
}

/* ---- the files */

/* File i of the split. 1: it is there. */
static int dataset_stat_file(struct finding *f, uint64_t i, uint64_t *ret_bytes,
                             struct pr_err *err)
{
    uint64_t first = f->split == PR_VALID ? f->d->files[PR_TRAIN] : 0;
    struct pr_object_info info;
    int rc;

    pr_dataset_name(f->d, first + i, PR_NAME_DATA, f->name);
    rc = pr_storage_stat(f->st, f->name, &info, err);
    if (rc == 1 && info.is_folder)
        return pr_fail(err, PR_E_IO, f->name,
                       "a folder is in the place of a file");
    if (rc == 1)
        *ret_bytes = info.size;
    return rc;
}

/* A file is missing: perhaps because all of them are elsewhere. */
static int refuse_missing(struct finding *f, uint64_t i, struct pr_err *err)
{
    char folder[PR_NAME_BYTES];
    struct listing top;
    int rc;

    pr_dataset_split_folder(f->d, f->split, folder);
    rc = f->d->subfolders[f->split] ? dataset_list_folder(f, folder, &top, err)
                                    : 0;
    if (rc == 1 && !top.named)
        rc = check_layout(f, folder, &top, f->d->named[f->split], err);
    if (rc < 0)
        return rc;
    pr_fail(err, PR_E_IO, f->name, "%s file %llu of %llu is missing",
            words[f->split].kind, (unsigned long long)i + 1,
            (unsigned long long)f->d->files[f->split]);
    return pr_hint(err, "'prony generate --resume' makes what is missing of a "
                        "set it made");
}

/* Number k of the files to look at, of m. */
static uint64_t dataset_pick_file(uint64_t files, uint64_t m, uint64_t k)
{
    uint64_t step = (files - 1) / (m > 1 ? m - 1 : 1);

    return k && k + 1 == m ? files - 1 : k * step;
}

static int look_at_all(struct finding *f, uint64_t m, double *ret_sum,
                       struct pr_err *err)
{
    uint64_t files = f->d->files[f->split];

    for (uint64_t k = 0; k < m; k++) {
        uint64_t i = dataset_pick_file(files, m, k), bytes = 0;
        int rc = dataset_stat_file(f, i, &bytes, err);

        if (rc != 1)
            return rc < 0 ? rc : refuse_missing(f, i, err);
        *ret_sum += (double)bytes;
        if (f->opts->stop && __atomic_load_n(f->opts->stop, __ATOMIC_RELAXED))
            return pr_fail(err, PR_E_INTR, "", "interrupted");
        if (f->opts->progress && ((k + 1) % EVERY == 0 || k + 1 == m))
            f->opts->progress(f->opts->ctx, k + 1, m);
    }
    return PR_OK;
}

static int find_split(struct finding *f, struct pr_dataset_found *ret,
                      struct pr_err *err)
{
    uint64_t files = f->d->files[f->split], bytes = 0, m = files;
    double sum = 0;
    int rc = dataset_stat_file(f, 0, &bytes, err);

    if (rc == 0)
        rc = learn_names(f, err);
    if (rc < 0)
        return rc;
    if (f->opts->check == PR_CHECK_NONE)
        m = 1;
    else if (f->opts->check == PR_CHECK_SAMPLED && files > SAMPLED)
        m = SAMPLED;
    rc = look_at_all(f, m, &sum, err);
    if (rc)
        return rc;
    ret->looked_at += m;
    ret->split[f->split].looked_at = m;
    ret->split[f->split].mean_bytes = sum / (double)m;
    ret->bytes += sum / (double)m * (double)files;
    return PR_OK;
}

int pr_dataset_find(struct pr_dataset *d, struct pr_storage *st,
                    const struct pr_dataset_find_opts *opts,
                    struct pr_dataset_found *ret, struct pr_err *err)
{
    struct pr_dataset copy = *d;
    struct finding f = {.d = &copy, .st = st, .opts = opts};
    struct pr_dataset_found found = {.check = opts->check};

    if (d->format->flags & PR_FORMAT_EMPTY) {
        *ret = (struct pr_dataset_found){.check = PR_CHECK_NONE};
        return PR_OK;
    }
    for (int s = 0; s < PR_SPLITS; s++) {
        int rc;

        f.split = (enum pr_split)s;
        if (!opts->wanted[s] || !d->files[s])
            continue;
        rc = find_split(&f, &found, err);
        if (rc)
            return rc;
    }
    memcpy(d->named, copy.named, sizeof d->named);
    d->opts.format = copy.opts.format;
    *ret = found;
    return PR_OK;
}
