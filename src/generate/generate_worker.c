/* What one thread does with one file of a data set: make it, look whether it
 * is whole, take it away. */
#include "base/mem.h"
#include "generate/generate_impl.h"

#include <stdio.h>
#include <string.h>

int pr_generate_worker_init(struct pr_generate_worker *w,
                            const struct pr_dataset *d,
                            const struct pr_storage_opts *so,
                            const struct pr_storage *first, bool *stop,
                            struct pr_err *err)
{
    struct pr_read_opts ro = {.samples = d->spec.samples,
                              .dtype = d->spec.dtype,
                              .sample_bytes = pr_spec_sample_bytes(&d->spec),
                              /* The file counts, not what it decodes to. */
                              .skip_decode = d->spec.payload != PR_PIXELS};
    struct pr_read_opts lo = {.samples = d->spec.samples, .dtype = PR_I64};
    const struct pr_format *npy = NULL;
    int rc;

    memset(w, 0, sizeof *w);
    w->set = d;
    pr_dataset_sides_start(&w->sides);
    rc = first ? pr_storage_open_beside(first, &w->st, err)
               : pr_storage_open(so, &w->st, err);
    if (!rc)
        rc = pr_writer_new(d->format, w->st, &w->writer, err);
    if (!rc)
        rc = pr_reader_new(d->format, w->st, &ro, &w->reader, err);
    if (!rc && d->has_labels_apart)
        rc = pr_format_find("npy", &npy, err);
    if (!rc && npy)
        rc = pr_writer_new(npy, w->st, &w->label_writer, err);
    if (!rc && npy)
        rc = pr_reader_new(npy, w->st, &lo, &w->label_reader, err);
    if (rc) {
        pr_generate_worker_done(w);
        return rc;
    }
    pr_storage_stop_by(w->st, stop);
    w->writer->stop = stop;
    if (w->label_writer)
        w->label_writer->stop = stop;
    return PR_OK;
}

void pr_generate_worker_done(struct pr_generate_worker *w)
{
    pr_writer_free(w->null_writer);
    pr_storage_close(w->null);
    pr_reader_free(w->memory_reader);
    pr_writer_free(w->memory_writer);
    pr_storage_close(w->memory);
    pr_reader_free(w->label_reader);
    pr_reader_free(w->reader);
    pr_writer_free(w->label_writer);
    pr_writer_free(w->writer);
    pr_storage_close(w->st);
    pr_free(w->buf);
    pr_free(w->other);
    memset(w, 0, sizeof *w);
}

int pr_generate_worker_make(struct pr_generate_worker *w, uint64_t f,
                            uint64_t *ret_bytes, struct pr_err *err)
{
    struct pr_file_spec spec, labels;
    uint64_t bytes = 0, more = 0;
    int rc = PR_OK;

    pr_dataset_spec(w->set, &w->sides, f, &spec);
    if (w->set->has_index) {
        pr_dataset_name(w->set, f, PR_NAME_INDEX, w->extra);
        spec.index_name = w->extra;
    }
    /* Labels first: a data file is never without them. */
    if (w->label_writer) {
        pr_dataset_label_spec(&spec, &labels);
        pr_dataset_name(w->set, f, PR_NAME_LABELS, w->name);
        rc = pr_writer_write(w->label_writer, &labels, w->name, &more, err);
    }
    pr_dataset_name(w->set, f, PR_NAME_DATA, w->name);
    if (!rc)
        rc = pr_writer_write(w->writer, &spec, w->name, &bytes, err);
    if (!rc)
        *ret_bytes = bytes + more;
    return rc;
}

/* Adds the size of an object to *sum. 1: it is there, 0: it is not. */
static int add_size(struct pr_generate_worker *w, const char *name,
                    uint64_t *sum, struct pr_err *err)
{
    struct pr_object_info info;
    int rc = pr_storage_stat(w->st, name, &info, err);

    if (rc == 1 && info.is_folder)
        return pr_fail(err, PR_E_IO, name,
                       "a folder is in the place of a file");
    if (rc == 1)
        *sum += info.size;
    return rc;
}

/* The file itself and what its format puts beside it. */
static int add_sizes(struct pr_generate_worker *w, uint64_t f, uint64_t *sum,
                     struct pr_err *err)
{
    const char *const *ending = w->set->format->companions;
    size_t len;
    int rc;

    pr_dataset_name(w->set, f, PR_NAME_DATA, w->name);
    len = strlen(w->name);
    rc = add_size(w, w->name, sum, err);
    for (; rc == 1 && ending && *ending; ending++) {
        snprintf(w->name + len, sizeof w->name - len, "%s", *ending);
        rc = add_size(w, w->name, sum, err);
    }
    w->name[len] = '\0';
    return rc;
}

static int add_other_sizes(struct pr_generate_worker *w, uint64_t f,
                           uint64_t *sum, struct pr_err *err)
{
    int rc = 1;

    if (w->set->has_index) {
        pr_dataset_name(w->set, f, PR_NAME_INDEX, w->extra);
        rc = add_size(w, w->extra, sum, err);
    }
    if (rc == 1 && w->set->has_labels_apart) {
        pr_dataset_name(w->set, f, PR_NAME_LABELS, w->extra);
        rc = add_size(w, w->extra, sum, err);
    }
    return rc;
}

int pr_generate_worker_count_present(struct pr_generate_worker *w, uint64_t f,
                                     uint64_t *ret, struct pr_err *err)
{
    uint64_t sum = 0;
    int rc = add_sizes(w, f, &sum, err);

    if (rc >= 0)
        rc = add_other_sizes(w, f, &sum, err);
    if (rc < 0)
        return rc;
    *ret = sum;
    return PR_OK;
}

uint64_t pr_generate_worker_record_bytes(const struct pr_generate_worker *w,
                                         const struct pr_file_spec *of)
{
    struct pr_file_spec plain = *of;
    bool exact;

    plain.compression = PR_PLAIN;
    plain.index_name = NULL;
    return w->set->format->bytes(&plain, &exact) / of->samples;
}

static uint64_t generate_index_bytes(const struct pr_generate_worker *w,
                                     const struct pr_file_spec *of)
{
    struct pr_file_spec with = *of, without = *of;
    bool exact;

    with.compression = without.compression = PR_PLAIN;
    with.index_name = "index";
    without.index_name = NULL;
    return w->set->format->bytes(&with, &exact) -
           w->set->format->bytes(&without, &exact);
}

static uint64_t other_bytes(const struct pr_generate_worker *w,
                            const struct pr_file_spec *spec)
{
    struct pr_file_spec labels;
    uint64_t sum = w->set->has_index ? generate_index_bytes(w, spec) : 0;
    bool exact;

    if (w->label_writer) {
        pr_dataset_label_spec(spec, &labels);
        sum += w->label_writer->format->bytes(&labels, &exact);
    }
    return sum;
}

/* What the file would be, by making it once more and keeping nothing. */
static int generate_trial_bytes(struct pr_generate_worker *w,
                                const struct pr_file_spec *spec, uint64_t *ret,
                                struct pr_err *err)
{
    int rc = PR_OK;

    if (!w->null) {
        w->null_opts.engine = "null";
        rc = pr_storage_open(&w->null_opts, &w->null, err);
    }
    if (!rc && !w->null_writer)
        rc = pr_writer_new(w->set->format, w->null, &w->null_writer, err);
    if (!rc)
        w->null_writer->stop = w->writer->stop;
    return rc ? rc : pr_writer_write(w->null_writer, spec, "file", ret, err);
}

/* A size that cannot be foretold: the last sample must be there and in order,
 * or, where that proves little, the size is found out. */
static int generate_is_whole(struct pr_generate_worker *w,
                             const struct pr_file_spec *spec, uint64_t size,
                             struct pr_err *err)
{
    uint64_t bytes;
    int rc;

    if (w->set->format->flags & PR_FORMAT_STREAM) {
        rc = generate_trial_bytes(w, spec, &bytes, err);
        if (rc || bytes == size || spec->compression == PR_PLAIN)
            return rc ? rc : bytes == size;
        /* The same text may be compressed to another size: igzip's lower
         * levels do so with small ones, depending on where their memory is. */
        return pr_generate_worker_is_intact(w, spec, err);
    }
    rc = pr_generate_worker_read_last(w, spec->samples, &bytes, err);
    if (rc)
        return rc == PR_E_FORMAT ? 0 : rc;
    return bytes == pr_spec_sample_bytes(spec);
}

/* 1: everything is there, and has the sizes that can be foretold; *ret_exact:
 * that is all of them. *ret_size: of the file and what its format puts beside
 * it. */
static int compare_sizes(struct pr_generate_worker *w, uint64_t f,
                         struct pr_file_spec *ret_spec, uint64_t *ret_size,
                         bool *ret_exact, struct pr_err *err)
{
    uint64_t others = 0, want;
    int rc = add_sizes(w, f, ret_size, err);

    if (rc == 1)
        rc = add_other_sizes(w, f, &others, err);
    if (rc != 1)
        return rc;
    pr_dataset_spec(w->set, &w->sides, f, ret_spec);
    want = w->set->format->bytes(ret_spec, ret_exact);
    return others == other_bytes(w, ret_spec) &&
           (!*ret_exact || *ret_size == want);
}

int pr_generate_worker_has_file(struct pr_generate_worker *w, uint64_t f,
                                struct pr_err *err)
{
    struct pr_file_spec spec;
    uint64_t size = 0;
    bool exact;
    int rc = compare_sizes(w, f, &spec, &size, &exact, err);

    return rc != 1 || exact ? rc : generate_is_whole(w, &spec, size, err);
}

int pr_generate_worker_has_size(struct pr_generate_worker *w, uint64_t f,
                                struct pr_err *err)
{
    struct pr_file_spec spec;
    uint64_t size = 0;
    bool exact;
    int rc = compare_sizes(w, f, &spec, &size, &exact, err);

    return rc == 1 ? exact || size > 0 : rc;
}

int pr_generate_worker_remove(struct pr_generate_worker *w, uint64_t f,
                              struct pr_err *err)
{
    const char *const *ending = w->set->format->companions;
    size_t len;
    int rc;

    pr_dataset_name(w->set, f, PR_NAME_DATA, w->name);
    len = strlen(w->name);
    rc = pr_storage_remove(w->st, w->name, err);
    for (; !rc && ending && *ending; ending++) {
        snprintf(w->name + len, sizeof w->name - len, "%s", *ending);
        rc = pr_storage_remove(w->st, w->name, err);
    }
    for (int kind = PR_NAME_INDEX; !rc && kind <= PR_NAME_LABELS; kind++) {
        pr_dataset_name(w->set, f, (enum pr_name_kind)kind, w->extra);
        rc = pr_storage_remove(w->st, w->extra, err);
    }
    return rc;
}
