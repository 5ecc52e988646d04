/* What a file holds, learnt through libhdf5 once, and remembered. */
#include "base/mem.h"
#include "format/hdf5_set.h"

#include <stdio.h>
#include <string.h>

static struct pr_h5_reader *of(struct pr_reader *r)
{
    return r->data;
}

static const char *set_name(const struct pr_h5_layout *lay, size_t i,
                            char name[static PR_H5_NAME])
{
    if (!lay->is_records)
        return lay->name;
    snprintf(name, PR_H5_NAME, "records_%zu", i);
    return name;
}

/* ---- opening and closing in libhdf5, inside of pr_h5_enter */

static int open_file(struct pr_reader *r, struct pr_err *err)
{
    struct pr_h5_reader *h = of(r);
    hid_t file;

    if (h->access <= 0)
        h->access = pr_h5_io_access(&h->io);
    if (h->access < 0)
        return pr_h5_io_fail(&h->io, r->name, err, "cannot be opened");
    file = pr_h5_io_open(&h->io, h->access);
    if (file < 0)
        return pr_h5_io_fail(&h->io, r->name, err, "not a whole HDF5 file");
    h->file = file;
    return PR_OK;
}

static void close_file(struct pr_h5_reader *h)
{
    h->io.is_learning = false;
    if (h->file > 0)
        pr_h5_io_close(&h->io, h->file); /* and its data sets */
    h->file = 0;
    h->h5->H5Eclear2(H5E_DEFAULT);
}

static int open_set(struct pr_reader *r, const char *name, hid_t *ret,
                    struct pr_err *err)
{
    struct pr_h5_reader *h = of(r);
    char what[PR_H5_NAME + 40];
    hid_t id = h->h5->H5Dopen2(h->file, name, H5P_DEFAULT);

    if (id < 0) {
        snprintf(what, sizeof what, "data set '%.200s' cannot be opened", name);
        return pr_h5_io_fail(&h->io, r->name, err, what);
    }
    *ret = id;
    return PR_OK;
}

static int open_sets(struct pr_reader *r, struct pr_err *err)
{
    struct pr_h5_layout *lay = &of(r)->lay;
    char name[PR_H5_NAME];
    int rc = open_file(r, err);

    for (size_t i = 0; !rc && i < lay->count; i++)
        rc = open_set(r, set_name(lay, i, name), &lay->sets[i].id, err);
    if (!rc && lay->has_labels)
        rc = open_set(r, "labels", &lay->labels.id, err);
    if (rc)
        close_file(of(r));
    return rc;
}

int pr_h5_attach(struct pr_reader *r, struct pr_err *err)
{
    struct pr_h5_reader *h = of(r);
    int rc;

    if (h->file > 0)
        return PR_OK;
    pr_h5_enter(h->h5);
    rc = open_sets(r, err);
    pr_h5_leave(h->h5);
    return rc;
}

void pr_h5_detach(struct pr_reader *r)
{
    struct pr_h5_reader *h = of(r);

    if (h->file <= 0)
        return;
    pr_h5_enter(h->h5);
    close_file(h);
    pr_h5_leave(h->h5);
}

/* ---- learning, inside of pr_h5_enter */

static int add_set(struct pr_reader *r, const char *name, struct pr_err *err)
{
    struct pr_h5_layout *lay = &of(r)->lay;
    const char *why;
    hid_t id;
    int rc;

    if (lay->count == lay->cap) {
        size_t cap = lay->cap ? 2 * lay->cap : 1;
        struct pr_h5_set *p = pr_realloc(lay->sets, cap * sizeof *p);
        if (!p)
            return pr_fail_nomem(err);
        lay->sets = p;
        lay->cap = cap;
    }
    rc = open_set(r, name, &id, err);
    if (rc)
        return rc;
    why = pr_h5_set_learn(of(r)->h5, id, r->obj.size, &lay->sets[lay->count]);
    if (why)
        return pr_reader_bad(r, of(r)->io.last, err, "data set '%.200s' %s",
                             name, why);
    lay->sets[lay->count].slot = (unsigned)(lay->count % (PR_H5_KEPT - 1));
    lay->count++;
    return PR_OK;
}

static int add_records(struct pr_reader *r, struct pr_err *err)
{
    struct pr_h5_reader *h = of(r);
    struct pr_h5_layout *lay = &h->lay;
    char name[PR_H5_NAME];
    int rc = PR_OK;

    lay->is_records = true;
    while (!rc) {
        htri_t is = h->h5->H5Lexists(h->file, set_name(lay, lay->count, name),
                                     H5P_DEFAULT);

        if (is < 0)
            return pr_h5_io_fail(&h->io, r->name, err,
                                 "the list of data sets cannot be read");
        if (!is)
            break;
        rc = add_set(r, name, err);
    }
    lay->is_records = lay->count > 0;
    return rc;
}

struct search {
    struct pr_h5_reader *h;
    uint64_t size;
    const char *why; /* the last one will not do */
};

static bool is_for_labels(const char *name)
{
    return strcmp(name, "labels") == 0 || strcmp(name, "label") == 0 ||
           strcmp(name, "y") == 0;
}

/* Called for what is in the root group, by name; stops at a data set. */
static herr_t find_set(hid_t group, const char *name, const H5L_info_t *info,
                       void *ctx)
{
    struct search *s = ctx;
    const struct pr_h5_api *h5 = s->h->h5;
    struct pr_h5_set set;
    hid_t id;

    (void)info;
    if (is_for_labels(name) || strlen(name) >= PR_H5_NAME)
        return 0;
    id = h5->H5Dopen2(group, name, H5P_DEFAULT);
    if (id < 0)
        return 0;
    s->why = pr_h5_set_learn(h5, id, s->size, &set);
    h5->H5Dclose(id);
    memcpy(s->h->lay.name, name, strlen(name) + 1);
    return s->why ? 0 : 1;
}

static int add_first(struct pr_reader *r, struct pr_err *err)
{
    struct pr_h5_reader *h = of(r);
    struct search s = {.h = h, .size = r->obj.size};
    herr_t rc = h->h5->H5Literate(h->file, H5_INDEX_NAME, H5_ITER_INC, NULL,
                                  find_set, &s);

    if (rc < 0)
        return pr_h5_io_fail(&h->io, r->name, err,
                             "the list of data sets cannot be read");
    if (!rc && s.why)
        return pr_reader_bad(r, h->io.last, err, "data set '%.200s' %s",
                             h->lay.name, s.why);
    if (!rc)
        return pr_reader_bad(r, 0, err,
                             "there is no data set of samples at the top");
    return add_set(r, h->lay.name, err);
}

static bool is_label_set(const struct pr_h5_set *s, uint64_t samples)
{
    char letter = pr_dtype_letter(s->type.dtype);

    return s->ndim == 1 && s->dim[0] == samples && !s->type.is_blob &&
           !s->type.is_odd && (letter == 'i' || letter == 'u');
}

/* One that is no list of whole numbers is not for us: no error. */
static int add_labels(struct pr_reader *r, struct pr_err *err)
{
    struct pr_h5_reader *h = of(r);
    struct pr_h5_layout *lay = &h->lay;
    htri_t is = h->h5->H5Lexists(h->file, "labels", H5P_DEFAULT);
    hid_t id;
    int rc;

    if (is < 0)
        return pr_h5_io_fail(&h->io, r->name, err,
                             "the list of data sets cannot be read");
    if (!is)
        return PR_OK;
    rc = open_set(r, "labels", &id, err);
    if (rc)
        return rc;
    lay->has_labels = !pr_h5_set_learn(h->h5, id, r->obj.size, &lay->labels) &&
                      is_label_set(&lay->labels, lay->samples);
    lay->labels.slot = PR_H5_KEPT - 1;
    return PR_OK;
}

static int sum_up(struct pr_reader *r, struct pr_err *err)
{
    struct pr_h5_layout *lay = &of(r)->lay;

    lay->samples = lay->sets[0].dim[0];
    for (size_t i = 0; i < lay->count; i++) {
        if (lay->sets[i].dim[0] != lay->samples)
            return pr_reader_bad(
                r, 0, err, "records_0 has %llu samples but records_%zu %llu",
                (unsigned long long)lay->samples, i,
                (unsigned long long)lay->sets[i].dim[0]);
        /* Each is below 1033 times the size: no overflow that a file of less
         * than some petabytes could bring about. */
        if (__builtin_add_overflow(lay->sample_bytes, lay->sets[i].out_bytes,
                                   &lay->sample_bytes))
            return pr_reader_bad(r, 0, err, "samples are larger than memory");
    }
    return PR_OK;
}

/* ---- chunks */

static int place_set(struct pr_reader *r, struct pr_h5_set *s,
                     struct pr_err *err)
{
    struct pr_h5_layout *lay = &of(r)->lay;

    s->first_place = lay->place_count;
    if (s->way != PR_H5_CHUNKED)
        return PR_OK;
    for (uint64_t i = 0; i < s->chunk_count; i++) {
        int rc = pr_h5_look_up(r, s, i, &lay->place[lay->place_count], err);
        if (rc)
            return rc;
        lay->place_count++;
    }
    return PR_OK;
}

/* Where all chunks are, if they are few. */
static int place_all(struct pr_reader *r, struct pr_err *err)
{
    struct pr_h5_layout *lay = &of(r)->lay;
    uint64_t n = lay->has_labels ? lay->labels.chunk_count : 0;
    int rc = PR_OK;

    for (size_t i = 0; i < lay->count && n <= PR_H5_PLACES; i++)
        n += lay->sets[i].chunk_count;
    if (n > PR_H5_PLACES)
        return PR_OK;
    for (size_t i = 0; !rc && i < lay->count; i++)
        rc = place_set(r, &lay->sets[i], err);
    if (!rc && lay->has_labels)
        rc = place_set(r, &lay->labels, err);
    lay->has_places = !rc;
    return rc;
}

static int learn_all(struct pr_reader *r, struct pr_err *err)
{
    struct pr_h5_layout *lay = &of(r)->lay;
    int rc = open_file(r, err);

    if (!rc)
        rc = add_records(r, err);
    if (!rc && !lay->count)
        rc = add_first(r, err);
    if (!rc)
        rc = sum_up(r, err);
    if (!rc)
        rc = add_labels(r, err);
    if (!rc)
        rc = place_all(r, err);
    return rc;
}

static bool is_open_question(const struct pr_h5_layout *lay,
                             const struct pr_h5_set *s)
{
    return s->way == PR_H5_LIBRARY || s->type.is_odd ||
           (s->way == PR_H5_CHUNKED && !lay->has_places);
}

bool pr_h5_has_questions(const struct pr_h5_layout *lay)
{
    bool any = lay->has_labels && is_open_question(lay, &lay->labels);

    for (size_t i = 0; i < lay->count && !any; i++)
        any = is_open_question(lay, &lay->sets[i]);
    return any;
}

int pr_h5_learn_here(struct pr_reader *r, struct pr_err *err)
{
    struct pr_h5_reader *h = of(r);
    struct pr_h5_set *sets = h->lay.sets;
    size_t cap = h->lay.cap;
    int rc;

    h->lay = (struct pr_h5_layout){.sets = sets, .cap = cap};
    pr_h5_enter(h->h5);
    rc = learn_all(r, err);
    if (rc || !pr_h5_has_questions(&h->lay))
        close_file(h);
    pr_h5_leave(h->h5);
    return rc;
}
