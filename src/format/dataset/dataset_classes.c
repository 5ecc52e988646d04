/* Listing a set with a folder for each class, and its names. */
#include "format/dataset/dataset_classes.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { EVERY = 4096 }; /* files, then progress is told */

/* One folder being listed. */
struct walk {
    struct pr_dataset_classes *c;
    const struct pr_dataset *d;
    const struct pr_dataset_classes_opts *opts;
    struct pr_err *err;
    bool has_numbered; /* files as `generate` names them */
    bool has_images;   /* other ones */
};

/* ---- names of files */

static bool classes_has_ending(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);

    return n > m && strcasecmp(name + n - m, ending) == 0;
}

/* Endings that files have besides their format's names. */
static const struct {
    const char *format, *ending;
} more_endings[] = {{"hdf5", ".h5"}, {"tfrecord", ".tfrecords"}};

bool pr_dataset_is_format_file(const struct pr_format *f, const char *name)
{
    const char *dot = strrchr(name, '.');

    if (!dot || dot == name)
        return false;
    if (strcasecmp(dot + 1, f->name) == 0 ||
        (f->alias && strcasecmp(dot + 1, f->alias) == 0))
        return true;
    for (size_t i = 0; i < sizeof more_endings / sizeof *more_endings; i++)
        if (strcmp(more_endings[i].format, f->name) == 0 &&
            strcasecmp(more_endings[i].ending, dot) == 0)
            return true;
    return false;
}

static bool is_image(const char *name)
{
    return classes_has_ending(name, ".jpeg") ||
           classes_has_ending(name, ".jpg") || classes_has_ending(name, ".png");
}

/* PREFIX_3_of_8.… */
static bool is_numbered(const struct pr_dataset *d, const char *name)
{
    size_t n = strlen(d->opts.file_prefix);

    return strncmp(name, d->opts.file_prefix, n) == 0 && name[n] == '_' &&
           name[n + 1] >= '0' && name[n + 1] <= '9' &&
           strstr(name + n + 1, "_of_");
}

/* ---- one text and where names begin in it */

static bool classes_add_name(struct pr_dataset_classes *c, const char *name,
                             uint64_t **at, uint64_t *count, size_t *cap)
{
    size_t n = strlen(name) + 1;

    if (c->cap - c->len < n) {
        size_t more = c->cap ? 2 * c->cap : 65536;
        char *text = pr_realloc(c->text, more); /* a name is shorter */

        if (!text)
            return false;
        c->text = text;
        c->cap = more;
    }
    if (*count == *cap) {
        size_t more = *cap ? 2 * *cap : 1024;
        uint64_t *places = pr_realloc(*at, more * sizeof *places);

        if (!places)
            return false;
        *at = places;
        *cap = more;
    }
    memcpy(c->text + c->len, name, n);
    (*at)[(*count)++] = c->len;
    c->len += n;
    return true;
}

static int classes_compare_names(const void *a, const void *b, void *text)
{
    const uint64_t *x = a, *y = b;

    return strcmp((const char *)text + *x, (const char *)text + *y);
}

/* ---- classes */

static int note_class(void *ctx, const char *name, bool is_folder)
{
    struct walk *w = ctx;
    struct pr_dataset_classes *c = w->c;

    if (*name == '.')
        return 0;
    if (!is_folder) {
        w->has_numbered |= is_numbered(w->d, name);
        w->has_images |= is_image(name);
        return 0;
    }
    return classes_add_name(c, name, &c->class_names, &c->count, &c->class_cap)
               ? 0
               : pr_fail_nomem(w->err);
}

/* Folders, and whether there are files of the format. */
static int note_any(void *ctx, const char *name, bool is_folder)
{
    struct walk *w = ctx;
    struct pr_dataset_classes *c = w->c;

    if (*name == '.')
        return 0;
    if (!is_folder) {
        w->has_images |= pr_dataset_is_format_file(w->d->format, name);
        return 0;
    }
    return classes_add_name(c, name, &c->class_names, &c->count, &c->class_cap)
               ? 0
               : pr_fail_nomem(w->err);
}

static int find_numbered(void *ctx, const char *name, bool is_folder)
{
    struct walk *w = ctx;

    w->has_numbered |= !is_folder && is_numbered(w->d, name);
    return w->has_numbered;
}

static const char *class_name(const struct pr_dataset_classes *c, uint64_t i)
{
    return c->text + c->class_names[i];
}

const char *pr_dataset_classes_class_name(const struct pr_dataset_classes *c,
                                          uint64_t i)
{
    return class_name(c, i);
}

static int classes_join_path(const struct pr_dataset_classes *c,
                             const char *name, char out[static PR_NAME_BYTES],
                             struct pr_err *err)
{
    size_t n = strlen(c->folder), m = strlen(name);

    if (n + m + 258 > PR_NAME_BYTES) /* a file's name is at most 255 long */
        return pr_fail(err, PR_E_CONF, c->folder, "the name is too long");
    memcpy(out, c->folder, n);
    out[n] = '/';
    memcpy(out + n + 1, name, m + 1);
    return PR_OK;
}

/* The classes of a folder. *ret_is false: it is laid out otherwise. */
static int list_classes(struct walk *w, struct pr_storage *st, bool *ret_is)
{
    struct pr_dataset_classes *c = w->c;
    char folder[PR_NAME_BYTES];
    int rc = pr_storage_list(st, c->folder, note_class, w, w->err);

    *ret_is = false;
    if (rc || !c->count || w->has_numbered || w->has_images)
        return rc;
    qsort_r(c->class_names, c->count, sizeof *c->class_names,
            classes_compare_names, c->text);
    rc = classes_join_path(c, class_name(c, 0), folder, w->err);
    if (!rc)
        rc = pr_storage_list(st, folder, find_numbered, w, w->err);
    *ret_is = !w->has_numbered;
    return rc < 0 ? rc : PR_OK;
}

/* To the classes of another one: c gets the same, in the same order. */
static int classes_adopt(struct walk *w, const struct pr_dataset_classes *of)
{
    struct pr_dataset_classes *c = w->c;

    for (uint64_t i = 0, k = 0; i < c->count; i++) {
        while (k < of->count && strcmp(class_name(of, k), class_name(c, i)) < 0)
            k++;
        if (k == of->count || strcmp(class_name(of, k), class_name(c, i))) {
            pr_fail(w->err, PR_E_CONF, c->folder,
                    "the class '%.100s' is not among those to train with",
                    class_name(c, i));
            return pr_hint(w->err, "'%.200s' has a folder for each of these",
                           of->folder);
        }
    }
    c->count = 0;
    c->len = 0;
    for (uint64_t i = 0; i < of->count; i++)
        if (!classes_add_name(c, class_name(of, i), &c->class_names, &c->count,
                              &c->class_cap))
            return pr_fail_nomem(w->err);
    return PR_OK;
}

/* ---- files */

static int classes_add_file(void *ctx, const char *name, bool is_folder)
{
    struct walk *w = ctx;
    struct pr_dataset_classes *c = w->c;

    if (is_folder || *name == '.')
        return 0;
    if (!pr_dataset_is_format_file(w->d->format, name)) {
        c->others++;
        return 0;
    }
    if (!classes_add_name(c, name, &c->names, &c->files, &c->name_cap))
        return pr_fail_nomem(w->err);
    if (c->files % EVERY)
        return 0;
    if (w->opts->progress)
        w->opts->progress(w->opts->ctx, c->files);
    if (w->opts->stop && __atomic_load_n(w->opts->stop, __ATOMIC_RELAXED))
        return pr_fail(w->err, PR_E_INTR, "", "interrupted");
    return 0;
}

static int list_class(struct walk *w, struct pr_storage *st, uint64_t i)
{
    struct pr_dataset_classes *c = w->c;
    struct pr_object_info info;
    char folder[PR_NAME_BYTES];
    uint64_t from = c->files;
    int rc = classes_join_path(c, class_name(c, i), folder, w->err);

    if (!rc)
        rc = pr_storage_stat(st, folder, &info, w->err);
    if (rc == 1) /* of those held out a class may be missing */
        rc = pr_storage_list(st, folder, classes_add_file, w, w->err);
    if (c->files > from)
        qsort_r(c->names + from, c->files - from, sizeof *c->names,
                classes_compare_names, c->text);
    return rc;
}

static int list_files(struct walk *w, struct pr_storage *st)
{
    struct pr_dataset_classes *c = w->c;
    int rc = PR_OK;

    c->first = pr_alloc((c->count + 1) * sizeof *c->first);
    if (!c->first)
        return pr_fail_nomem(w->err);
    for (uint64_t i = 0; i < c->count && !rc; i++) {
        c->first[i] = c->files;
        rc = list_class(w, st, i);
    }
    c->first[c->count] = c->files;
    if (rc || c->files)
        return rc;
    if (c->is_flat) {
        pr_fail(w->err, PR_E_CONF, c->folder, "there is no %s file in it",
                w->d->format->name);
        return pr_hint(w->err, "another format, or another folder");
    }
    pr_fail(w->err, PR_E_CONF, c->folder,
            "there are folders of %llu classes, but no %s file in them",
            (unsigned long long)c->count, w->d->format->name);
    return pr_hint(w->err, c->others ? "dataset.format may be another one"
                                     : "check exp.data_dir");
}

/* ---- the set */

/* FOLDER/train, FOLDER/valid, or else FOLDER/val. 1: it is there. */
static int classes_find_folder(const struct pr_dataset *d, enum pr_split split,
                               struct pr_storage *st,
                               char out[static PR_NAME_BYTES],
                               struct pr_err *err)
{
    struct pr_object_info info;
    int rc;

    pr_dataset_split_folder(d, split, out);
    rc = pr_storage_stat(st, out, &info, err);
    if (rc == 0 && split == PR_VALID) {
        out[strlen(out) - 2] = '\0';
        rc = pr_storage_stat(st, out, &info, err);
    }
    return rc == 1 ? info.is_folder : rc;
}

static bool is_image_format(const struct pr_format *f)
{
    return strcmp(f->name, "jpeg") == 0 || strcmp(f->name, "png") == 0;
}

static int classes_list_split(struct walk *w, enum pr_split split,
                              struct pr_storage *st, bool *ret_is)
{
    const struct pr_dataset_classes *train = w->d->classes[PR_TRAIN];
    int rc = list_classes(w, st, ret_is);

    if (rc || !*ret_is)
        return rc;
    if (split == PR_VALID && train)
        rc = classes_adopt(w, train);
    return rc ? rc : list_files(w, st);
}

int pr_dataset_classes_list(const struct pr_dataset *d, enum pr_split split,
                            struct pr_storage *st,
                            const struct pr_dataset_classes_opts *opts,
                            struct pr_dataset_classes **ret, struct pr_err *err)
{
    struct walk w = {.d = d, .opts = opts, .err = err};
    bool is = false;
    int rc;

    *ret = NULL;
    if (!is_image_format(d->format))
        return PR_OK;
    w.c = pr_alloc_zeroed(sizeof *w.c);
    if (!w.c)
        return pr_fail_nomem(err);
    rc = classes_find_folder(d, split, st, w.c->folder, err);
    if (rc == 1)
        rc = classes_list_split(&w, split, st, &is);
    if (rc || !is)
        pr_dataset_classes_free(w.c);
    else
        *ret = w.c;
    return rc;
}

/* ---- any folder */

/* Files here, or folders; of these, whether they are classes. */
static int list_any(struct walk *w, struct pr_storage *st)
{
    struct pr_dataset_classes *c = w->c;
    bool has_files, are_classes = false;
    int rc = pr_storage_list(st, c->folder, note_any, w, w->err);

    has_files = w->has_images || w->has_numbered;
    if (!rc && !has_files && c->count) {
        qsort_r(c->class_names, c->count, sizeof *c->class_names,
                classes_compare_names, c->text);
        are_classes = true;
    } else if (!rc) {
        c->count = c->len = 0;
        c->is_flat = true;
        rc = classes_add_name(c, ".", &c->class_names, &c->count, &c->class_cap)
                 ? PR_OK
                 : pr_fail_nomem(w->err);
    }
    if (!rc)
        rc = list_files(w, st);
    if (!rc && are_classes)
        c->is_flat = is_numbered(w->d, c->text + c->names[0]);
    return rc;
}

int pr_dataset_classes_list_in(const struct pr_dataset *d, const char *folder,
                               struct pr_storage *st,
                               const struct pr_dataset_classes_opts *opts,
                               struct pr_dataset_classes **ret,
                               struct pr_err *err)
{
    struct walk w = {.d = d, .opts = opts, .err = err};
    int rc = PR_OK;

    if (strlen(folder) >= sizeof w.c->folder)
        return pr_fail(err, PR_E_CONF, "",
                       "the name of the folder is too "
                       "long");
    w.c = pr_alloc_zeroed(sizeof *w.c);
    if (!w.c)
        return pr_fail_nomem(err);
    (void)stpcpy(w.c->folder, folder);
    rc = list_any(&w, st);
    if (rc)
        pr_dataset_classes_free(w.c);
    else
        *ret = w.c;
    return rc;
}

void pr_dataset_classes_free(struct pr_dataset_classes *c)
{
    if (!c)
        return;
    pr_free(c->class_names);
    pr_free(c->first);
    pr_free(c->names);
    pr_free(c->text);
    pr_free(c);
}

void pr_dataset_use_classes(struct pr_dataset *d, enum pr_split split,
                            const struct pr_dataset_classes *c)
{
    d->classes[split] = c;
    d->files[split] = d->named[split] = c->files;
    d->subfolders[split] = 0;
    d->spec.samples = 1;
    d->has_labels_apart = false;
}

uint64_t pr_dataset_classes_label(const struct pr_dataset_classes *c,
                                  uint64_t i)
{
    uint64_t low = 0, high = c->count;

    while (high - low > 1) { /* first[low] <= i < first[high] */
        uint64_t middle = low + (high - low) / 2;

        if (c->first[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void pr_dataset_classes_file_name(const struct pr_dataset_classes *c,
                                  uint64_t i, char out[static PR_NAME_BYTES])
{
    char *at = stpcpy(out, c->folder);

    const char *class = class_name(c, pr_dataset_classes_label(c, i));

    *at++ = '/';
    if (strcmp(class, ".") != 0) {
        at = stpcpy(at, class);
        *at++ = '/';
    }
    (void)stpcpy(at, c->text + c->names[i]);
}
