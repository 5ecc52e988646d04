/*
 * A data set that nobody made: one file of it, made in memory, stands for all
 * of them in a storage of engine null.
 */
#include "format/dataset/dataset.h"

#include <stdio.h>
#include <string.h>

enum { MAX_ROWS = 8 };

struct serving {
    struct pr_dataset d;      /* without a spread */
    struct pr_storage *owner; /* engine memory */
    struct pr_storage_served rows[MAX_ROWS];
    char endings[MAX_ROWS][64];
    size_t count;
};

/* The objects of file 0 lie here, side by side. */
static const char data_name[] = "data", index_name[] = "index",
                  labels_name[] = "labels";

static const struct pr_storage_opts owner_opts = {.engine = "memory"};

static int make_file(struct serving *s, const struct pr_format *format,
                     const struct pr_file_spec *spec, const char *name,
                     struct pr_err *err)
{
    struct pr_writer *w = NULL;
    uint64_t bytes;
    int rc = pr_writer_new(format, s->owner, &w, err);

    if (rc)
        return rc;
    rc = pr_writer_write(w, spec, name, &bytes, err);
    pr_writer_free(w);
    return rc;
}

static int serve_make_labels(struct serving *s, const struct pr_file_spec *of,
                             struct pr_err *err)
{
    const struct pr_format *npy = NULL;
    struct pr_file_spec spec;
    int rc = pr_format_find("npy", &npy, err);

    pr_dataset_label_spec(of, &spec);
    return rc ? rc : make_file(s, npy, &spec, labels_name, err);
}

static int serve_make_files(struct serving *s, struct pr_err *err)
{
    struct pr_file_spec spec;
    int rc;

    pr_dataset_spec(&s->d, NULL, 0, &spec);
    if (s->d.has_index)
        spec.index_name = index_name;
    rc = make_file(s, s->d.format, &spec, data_name, err);
    if (!rc && s->d.has_labels_apart)
        rc = serve_make_labels(s, &spec, err);
    return rc;
}

/* Names with this ending get the object of this name. The memory of what is
 * committed stays where it is, also when the object is closed. */
static int serve_add_row(struct serving *s, const char *ending,
                         const char *name, struct pr_err *err)
{
    struct pr_object o;
    int rc = pr_object_open(s->owner, name, &o, err);

    if (rc)
        return rc;
    snprintf(s->endings[s->count], sizeof s->endings[0], "%s", ending);
    s->rows[s->count] =
        (struct pr_storage_served){s->endings[s->count], o.map, o.size};
    s->count++;
    pr_object_close(&o);
    return PR_OK;
}

static int add_companions(struct serving *s, struct pr_err *err)
{
    const char *const *c = s->d.format->companions;
    int rc = PR_OK;

    for (; !rc && c && *c && s->count < MAX_ROWS; c++) {
        char name[sizeof data_name + 32];

        snprintf(name, sizeof name, "%s%s", data_name, *c);
        rc = serve_add_row(s, *c, name, err);
    }
    return rc;
}

/* Special endings first: the first row that fits counts. */
static int serve_add_rows(struct serving *s, struct pr_err *err)
{
    char ending[64];
    int rc = add_companions(s, err);

    if (!rc && s->d.has_index) {
        snprintf(ending, sizeof ending, ".%s.idx", s->d.opts.format);
        rc = serve_add_row(s, ending, index_name, err);
    }
    if (!rc && s->d.has_labels_apart) {
        snprintf(ending, sizeof ending, ".%s.npy", s->d.opts.format);
        rc = serve_add_row(s, ending, labels_name, err);
    }
    if (!rc) {
        snprintf(ending, sizeof ending, ".%s", s->d.opts.format);
        rc = serve_add_row(s, s->count ? ending : "", data_name, err);
    }
    return rc;
}

int pr_dataset_serve(const struct pr_dataset *d, struct pr_storage *st,
                     struct pr_err *err)
{
    struct serving s = {.d = *d};
    int rc;

    s.d.spread = 0;
    /* Refused before the work is done, not after. */
    if (strcmp(pr_storage_engine(st), "null") != 0)
        return pr_storage_serve(st, NULL, 0, NULL, err);
    rc = pr_storage_open(&owner_opts, &s.owner, err);
    if (!rc)
        rc = serve_make_files(&s, err);
    if (!rc)
        rc = serve_add_rows(&s, err);
    if (!rc)
        rc = pr_storage_serve(st, s.rows, s.count, s.owner, err);
    if (rc)
        pr_storage_close(s.owner);
    return rc;
}
