/*
 * A data set: from parameters, with every contradiction refused; the names of
 * its files and folders; and one that nobody made.
 */
#include "format/dataset/dataset.h"

#include "format/content.h"
#include "format/dataset/dataset_classes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- telling the format of a folder's files by their names */

struct guess {
    const struct pr_format *format;
    char folder[256]; /* the first that there is */
};

static int dataset_guess_file(void *ctx, const char *name, bool is_folder)
{
    struct guess *g = ctx;

    if (*name == '.')
        return 0;
    if (is_folder) {
        if ((!*g->folder || strcmp(name, g->folder) < 0) &&
            strlen(name) < sizeof g->folder)
            memcpy(g->folder, name, strlen(name) + 1);
        return 0;
    }
    for (size_t i = 0; !g->format && pr_format_at(i); i++)
        if (pr_dataset_is_format_file(pr_format_at(i), name))
            g->format = pr_format_at(i);
    return g->format != NULL;
}

int pr_dataset_guess_format(const char *folder, struct pr_storage *st,
                            const struct pr_format **ret, struct pr_err *err)
{
    struct guess g = {.format = NULL};
    char below[PR_NAME_BYTES];
    int rc = pr_storage_list(st, folder, dataset_guess_file, &g, err);

    if (rc >= 0 && !g.format && *g.folder &&
        strlen(folder) + strlen(g.folder) + 2 <= sizeof below) {
        char *at = stpcpy(below, folder);

        *at++ = '/';
        (void)stpcpy(at, g.folder);
        rc = pr_storage_list(st, below, dataset_guess_file, &g, err);
    }
    *ret = g.format;
    return rc < 0 ? rc : PR_OK;
}

/* ---- from parameters */

/* A list of whole numbers above 0 as a shape. */
static int dataset_read_shape(const char *name, const struct pr_value *list,
                              struct pr_shape *ret, struct pr_err *err)
{
    struct pr_shape s = {0};

    if (list->len > PR_MAX_DIMS - 1)
        return pr_fail(err, PR_E_CONF, name,
                       "%u dimensions are too many, at most %d", list->len,
                       PR_MAX_DIMS - 1);
    for (uint32_t i = 0; i < list->len; i++) {
        const struct pr_value *v = &list->items[i];
        double n = pr_value_is_number(v) ? pr_value_number(v) : 0;

        if (n < 1 || n > 1e15 || n != floor(n))
            return pr_fail(err, PR_E_CONF, name,
                           "dimension %u must be a whole number above 0",
                           i + 1);
        s.dim[s.ndim++] = (uint64_t)n;
    }
    *ret = s;
    return PR_OK;
}

static int read_compression(struct pr_dataset *d, struct pr_err *err)
{
    static const struct {
        const char *name;
        enum pr_compression value;
    } rows[] = {
        {"none", PR_PLAIN}, {"zip", PR_ZIP}, {"gzip", PR_GZIP},
        {"zlib", PR_ZLIB},  {"lzf", PR_LZF},
    };
    const char *name = d->opts.compression, *known = d->format->compressions;
    size_t n = strlen(name);

    for (const char *p = known; p; p = strchr(p, '|')) {
        p += *p == '|';
        if (strncmp(p, name, n) == 0 && (p[n] == '|' || !p[n])) {
            for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                if (strcmp(rows[i].name, name) == 0)
                    d->spec.compression = rows[i].value;
            return PR_OK;
        }
    }
    pr_fail(err, PR_E_CONF, "dataset.compression",
            "the format %s has no compression '%s'", d->format->name, name);
    return pr_hint(err, "it has: %s", known);
}

static bool format_can_hold(const struct pr_format *f, enum pr_dtype t)
{
    if (f->flags & PR_FORMAT_U8)
        return t == PR_U8;
    return !(f->flags & PR_FORMAT_U16) || t == PR_U8 || t == PR_U16;
}

static int dataset_read_type(struct pr_dataset *d, struct pr_err *err)
{
    if (!pr_dtype_find(d->opts.record_element_type, &d->spec.dtype)) {
        pr_fail(err, PR_E_CONF, "dataset.record_element_type",
                "unknown type '%s'", d->opts.record_element_type);
        return pr_hint(err, "the types are %s", pr_dtype_list());
    }
    if (format_can_hold(d->format, d->spec.dtype))
        return PR_OK;
    /* As DLIO does. */
    snprintf(d->note, sizeof d->note,
             "%s files hold uint8: record_element_type %s is not used",
             d->format->name, d->opts.record_element_type);
    d->spec.dtype = PR_U8;
    return PR_OK;
}

/* DLIO's rule: a square whose side is the root of the length, rounded down. */
static int read_sizes(struct pr_dataset *d, struct pr_err *err)
{
    const struct pr_dataset_opts *o = &d->opts;
    int rc = dataset_read_shape("dataset.record_dims", o->record_dims,
                                &d->spec.shape, err);

    if (rc)
        return rc;
    if (d->spec.shape.ndim) {
        if (o->record_length_bytes_stdev <= 0)
            return PR_OK;
        pr_fail(err, PR_E_CONF, "dataset.record_dims",
                "both record_dims and record_length_bytes_stdev are set");
        return pr_hint(err, "a fixed shape has no spread: set one of them");
    }
    d->side = floor(sqrt(o->record_length_bytes));
    d->spread =
        o->record_length_bytes_stdev / 2.0 / sqrt(o->record_length_bytes);
    d->spec.shape = (struct pr_shape){
        .ndim = 2, .dim = {(uint64_t)d->side, (uint64_t)d->side}};
    return PR_OK;
}

static int dataset_read_payload(struct pr_dataset *d, struct pr_err *err)
{
    static const struct {
        const char *name;
        enum pr_payload value;
    } rows[] = {{"pixels", PR_PIXELS}, {"file", PR_FILE}, {"raw", PR_RAW}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, d->opts.payload) == 0)
            d->spec.payload = rows[i].value;
    if (d->spec.payload == PR_FILE)
        d->spec.stored = (uint64_t)d->opts.record_length_bytes;
    if (d->spec.payload == PR_PIXELS || d->format->flags & PR_FORMAT_IMAGE)
        return PR_OK;
    pr_fail(err, PR_E_CONF, "dataset.payload",
            "only images have a payload of '%s', and the format is %s",
            d->opts.payload, d->format->name);
    return pr_hint(err, "leave it out, or use dataset.format=jpeg or png");
}

/* A chunk of about so many bytes: some samples, or a part of one. */
static void chunk_of_size(struct pr_dataset *d, uint64_t bytes)
{
    struct pr_shape *c = &d->spec.chunk, s = d->spec.shape;
    uint64_t one, rows = 1;

    s.dim[0] /= d->spec.dataset_count;
    one = pr_shape_count(&s) * pr_dtype_bytes(d->spec.dtype);
    if (bytes > one && one)
        rows = bytes / one;
    c->ndim = s.ndim + 1;
    c->dim[0] = rows < d->spec.samples ? rows : d->spec.samples;
    for (unsigned i = 0; i < s.ndim; i++)
        c->dim[i + 1] = s.dim[i];
    for (unsigned i = 1; bytes && i <= s.ndim && one > bytes; i++) {
        uint64_t inner = one / c->dim[i];
        c->dim[i] = inner && bytes / inner ? bytes / inner : 1;
        one = inner * c->dim[i];
    }
}

static int read_hdf5(struct pr_dataset *d, struct pr_err *err)
{
    uint64_t k = (uint64_t)d->hdf5.num_dset_per_record;
    int rc;

    d->spec.dataset_count = (unsigned)k;
    if (k > 1 && (!d->opts.record_dims->len || d->spec.shape.dim[0] % k)) {
        pr_fail(err, PR_E_CONF, "dataset.hdf5.num_dset_per_record",
                "record_dims[0] must be a multiple of %llu",
                (unsigned long long)k);
        return pr_hint(err, "record_dims[0] should be divisible by "
                            "hdf5.num_dset_per_record");
    }
    rc = dataset_read_shape("dataset.hdf5.chunk_dims", d->hdf5.chunk_dims,
                            &d->spec.chunk, err);
    if (!rc)
        rc = dataset_read_shape("dataset.hdf5.max_shape", d->hdf5.max_shape,
                                &d->spec.max, err);
    if (!rc && d->opts.enable_chunking && !d->spec.chunk.ndim)
        chunk_of_size(d, d->opts.chunk_size);
    return rc;
}

/* The rest of a name, numbers and endings, has room beside it. */
enum { MAX_PREFIX = 160 };

static int dataset_read_folder(struct pr_dataset *d, struct pr_err *err)
{
    const char *folder = d->opts.data_folder;
    size_t n = strlen(folder);

    while (n > 1 && folder[n - 1] == '/')
        n--;
    if (!n || n >= sizeof d->folder)
        return pr_fail(err, PR_E_CONF, "dataset.data_folder",
                       n ? "the name is too long" : "a name is wanted");
    if (strlen(d->opts.file_prefix) > MAX_PREFIX)
        return pr_fail(err, PR_E_CONF, "dataset.file_prefix",
                       "it has more than %d characters", MAX_PREFIX);
    if (strchr(d->opts.file_prefix, '/'))
        return pr_fail(err, PR_E_CONF, "dataset.file_prefix",
                       "'%s' must be a part of a name, without '/'",
                       d->opts.file_prefix);
    memcpy(d->folder, folder, n);
    d->folder[n] = '\0';
    return PR_OK;
}

static void dataset_read_counts(struct pr_dataset *d)
{
    const struct pr_dataset_opts *o = &d->opts;
    const char *labels = o->labels;

    d->files[PR_TRAIN] = (uint64_t)o->num_files_train;
    d->files[PR_VALID] = (uint64_t)o->num_files_eval;
    d->subfolders[PR_TRAIN] = (uint64_t)o->num_subfolders_train;
    d->subfolders[PR_VALID] = (uint64_t)o->num_subfolders_eval;
    for (int s = 0; s < PR_SPLITS; s++)
        if (d->subfolders[s] < 2)
            d->subfolders[s] = 0;
    memcpy(d->named, d->files, sizeof d->named);
    d->spec.samples = (uint64_t)o->num_samples_per_file;
    d->spec.level = (int)o->compression_level;
    d->spec.classes = (uint64_t)o->num_classes;
    d->has_labels_apart = strcmp(labels, "separate") == 0;
    d->has_index = strcmp(d->format->name, "tfrecord") == 0;
    /* DLIO's records have no label; with classes they get one. */
    d->spec.labels_inside = strcmp(labels, "inside") == 0 &&
                            (d->format->flags & PR_FORMAT_LABELS) &&
                            (!d->has_index || d->spec.classes > 1);
}

static int check_sums(const struct pr_dataset *d, struct pr_err *err)
{
    uint64_t bytes = pr_spec_sample_bytes(&d->spec);

    if (bytes > (uint64_t)1 << 50 ||
        __builtin_mul_overflow(bytes, d->spec.samples, &bytes) ||
        bytes > (uint64_t)1 << 60)
        return pr_fail(err, PR_E_CONF,
                       d->opts.record_dims->len ? "dataset.record_dims"
                                                : "dataset.record_length_bytes",
                       "a file would be larger than any file can be");
    if ((d->format->flags & PR_FORMAT_ONE) && d->spec.samples != 1) {
        pr_fail(err, PR_E_CONF, "dataset.num_samples_per_file",
                "a %s file holds one sample, not %llu", d->format->name,
                (unsigned long long)d->spec.samples);
        return pr_hint(err, "use more files, or another format");
    }
    return d->format->check ? d->format->check(&d->spec, err) : PR_OK;
}

int pr_dataset_init(struct pr_dataset *ret, const struct pr_value *params,
                    struct pr_arena *a, struct pr_err *err)
{
    struct pr_dataset d = {0};
    int rc = pr_opt_fill(&pr_dataset_section, params, a, &d.opts, err);

    if (!rc)
        rc = pr_opt_fill(&pr_dataset_hdf5_section, params, a, &d.hdf5, err);
    if (!rc)
        rc = pr_format_find(d.opts.format, &d.format, err);
    if (!rc)
        rc = dataset_read_folder(&d, err);
    if (!rc)
        rc = read_compression(&d, err);
    if (!rc)
        rc = dataset_read_type(&d, err);
    if (!rc)
        rc = read_sizes(&d, err);
    if (rc)
        return rc;
    dataset_read_counts(&d);
    rc = read_hdf5(&d, err);
    if (!rc)
        rc = dataset_read_payload(&d, err);
    if (!rc)
        rc = check_sums(&d, err);
    if (!rc)
        *ret = d;
    return rc;
}

/* ---- the files of it */

uint64_t pr_dataset_files(const struct pr_dataset *d)
{
    return d->files[PR_TRAIN] + d->files[PR_VALID];
}

enum pr_split pr_dataset_split(const struct pr_dataset *d, uint64_t f,
                               uint64_t *ret_i)
{
    bool valid = f >= d->files[PR_TRAIN];

    *ret_i = valid ? f - d->files[PR_TRAIN] : f;
    return valid ? PR_VALID : PR_TRAIN;
}

/* DLIO seeds with this, whatever the seed of the experiment. */
enum { SIDES_SEED = 10 };

void pr_dataset_sides_start(struct pr_dataset_sides *s)
{
    pr_mt_seed(&s->mt, SIDES_SEED);
    s->next = 0;
}

static uint64_t draw_side(const struct pr_dataset *d,
                          struct pr_dataset_sides *s)
{
    double side = trunc(d->side + d->spread * pr_mt_gauss(&s->mt));

    return side < 1 ? 1 : (uint64_t)side;
}

void pr_dataset_spec(const struct pr_dataset *d, struct pr_dataset_sides *sides,
                     uint64_t f, struct pr_file_spec *ret)
{
    uint64_t i;
    enum pr_split split = pr_dataset_split(d, f, &i);

    *ret = d->spec;
    ret->number = f; /* among all, as DLIO counts */
    ret->key = pr_content_key((uint64_t)d->opts.seed, split, i);
    if (d->spread <= 0 || !sides)
        return;
    if (sides->next > f)
        pr_dataset_sides_start(sides);
    for (; sides->next <= f; sides->next++) {
        ret->shape.dim[0] = draw_side(d, sides);
        ret->shape.dim[1] = draw_side(d, sides);
    }
    if (ret->payload == PR_FILE)
        ret->stored = pr_spec_sample_bytes(ret);
    for (unsigned k = 1; k < ret->chunk.ndim && k <= 2; k++)
        if (ret->chunk.dim[k] > ret->shape.dim[k - 1])
            ret->chunk.dim[k] = ret->shape.dim[k - 1];
}

void pr_dataset_label_spec(const struct pr_file_spec *of,
                           struct pr_file_spec *ret)
{
    *ret = (struct pr_file_spec){
        .dtype = PR_I64,
        .samples = of->samples,
        .key = of->key,
        .number = of->number,
        .labels_alone = true,
        .classes = of->classes,
        .dataset_count = 1,
    };
}

/* ---- names of files and folders, computed from their number */

/* A name is made for every sample that is read. Constant text is copied by its
 * length, which the compiler knows. */
#define PUT(at, text) \
    (memcpy(at, text, sizeof text - 1), (at) + sizeof text - 1)

/* With zeros in front, up to the width of the largest; four digits at a time
 * are twice as fast. */
static char *dataset_put_number(char *at, uint64_t n, unsigned width)
{
    unsigned i = width;

    for (; i >= 4; i -= 4, n /= 10000) {
        unsigned four = (unsigned)(n % 10000);
        unsigned high = four / 100, low = four % 100;

        at[i - 4] = (char)('0' + high / 10);
        at[i - 3] = (char)('0' + high % 10);
        at[i - 2] = (char)('0' + low / 10);
        at[i - 1] = (char)('0' + low % 10);
    }
    for (; i--; n /= 10)
        at[i] = (char)('0' + n % 10);
    return at + width;
}

static char *put_subfolder(char *at, const struct pr_dataset *d,
                           enum pr_split split, uint64_t i)
{
    uint64_t count = d->subfolders[split];

    if (!count)
        return at;
    at = dataset_put_number(at, i % count, pr_count_digits(count));
    *at++ = '/';
    return at;
}

static char *put_folder(char *at, const struct pr_dataset *d,
                        enum pr_name_kind kind, enum pr_split split)
{
    at = stpcpy(at, d->folder);
    if (kind == PR_NAME_INDEX)
        at = PUT(at, "/index");
    else if (kind == PR_NAME_LABELS)
        at = PUT(at, "/labels");
    return split == PR_TRAIN ? PUT(at, "/train") : PUT(at, "/valid");
}

void pr_dataset_name(const struct pr_dataset *d, uint64_t f,
                     enum pr_name_kind kind, char out[static PR_NAME_BYTES])
{
    uint64_t i;
    enum pr_split split = pr_dataset_split(d, f, &i);
    uint64_t count = d->named[split];
    unsigned width = pr_count_digits(count);
    char *at;

    if (d->classes[split]) {
        pr_dataset_classes_file_name(d->classes[split], i, out);
        return;
    }
    at = put_folder(out, d, kind, split);
    *at++ = '/';
    if (kind != PR_NAME_INDEX)
        at = put_subfolder(at, d, split, i);
    at = stpcpy(at, d->opts.file_prefix);
    *at++ = '_';
    at = dataset_put_number(at, i, width);
    at = PUT(at, "_of_");
    at = dataset_put_number(at, count, width);
    *at++ = '.';
    at = stpcpy(at, d->opts.format);
    if (kind != PR_NAME_DATA)
        at = kind == PR_NAME_INDEX ? PUT(at, ".idx") : PUT(at, ".npy");
    *at = '\0';
}

void pr_dataset_split_folder(const struct pr_dataset *d, enum pr_split split,
                             char out[static PR_NAME_BYTES])
{
    *put_folder(out, d, PR_NAME_DATA, split) = '\0';
}

/* The folders of one kind and split: itself, then its subfolders. */
static uint64_t folder_count(const struct pr_dataset *d, enum pr_name_kind kind,
                             enum pr_split split)
{
    if ((kind == PR_NAME_INDEX && !d->has_index) ||
        (kind == PR_NAME_LABELS && !d->has_labels_apart))
        return 0;
    if (kind == PR_NAME_INDEX)
        return 1;
    /* Those that a file is put into. */
    return 1 + (d->subfolders[split] < d->files[split] ? d->subfolders[split]
                                                       : d->files[split]);
}

void pr_dataset_folder(const struct pr_dataset *d, uint64_t i,
                       char out[static PR_NAME_BYTES])
{
    char *at = out;

    *out = '\0';
    for (int kind = 0; kind <= PR_NAME_LABELS; kind++)
        for (int split = 0; split < PR_SPLITS; split++) {
            uint64_t n =
                folder_count(d, (enum pr_name_kind)kind, (enum pr_split)split);
            if (i >= n) {
                i -= n;
                continue;
            }
            at = put_folder(at, d, (enum pr_name_kind)kind,
                            (enum pr_split)split);
            *at++ = '/';
            if (i)
                at = put_subfolder(at, d, (enum pr_split)split, i - 1);
            at[-1] = '\0';
            return;
        }
}

/* ---- a set that nobody made: one file of it, made in memory, stands for all
 * of them in a storage of engine null */

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
