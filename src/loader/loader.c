/* The loader that others call: batches of a folder, lent and given back. */
#include "prony/loader.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "conf/read/literal.h"
#include "format/dataset/dataset_classes.h"
#include "loader/batches.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

struct pr_loader_pool;

/* A batch as it is lent, and what it needs besides. */
struct pr_loader_slot {
    struct pr_loader_batch b; /* first: what the caller sees */
    struct pr_loader_pool *pool;
    struct pr_loader_slot *next; /* that is free */
    int32_t *small;              /* labels as the ring has them */
    int64_t *labels;
};

/* Memory of batches, which outlives the loader as long as somebody has one. */
struct pr_loader_pool {
    pthread_mutex_t lock;
    struct pr_loader_slot *free;
    uint64_t lent, made;
    bool is_closed; /* the loader is gone */
    size_t bytes, samples;
};

struct pr_loader {
    struct pr_loader_opts o;
    struct pr_arena *arena;
    struct pr_dataset set;
    struct pr_storage_opts storage;
    struct pr_reader_opts reader;
    struct pr_storage *first;
    struct pr_dataset_classes *classes;
    struct pr_sample like; /* dims 0 */
    struct pr_batches *batches;
    struct pr_loader_pool *pool;
    struct pr_loader_batch shape; /* what all of them have in common */
    bool has_labels;
    uint64_t batch;            /* samples in a full one */
    uint64_t per_epoch, taken; /* batches */
    bool told_end;             /* of the epoch that was taken last */
    bool stop;
};

/* ---- opening: from a folder and a few settings to a data set that can be
 * read */

struct made {
    struct pr_arena *a;
    struct pr_member *members;
    uint32_t count, room;
};

static void loader_set_param(struct made *m, const char *key, struct pr_value v)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (strcmp(m->members[i].key, key) == 0) {
            m->members[i].value = v; /* the last one counts */
            return;
        }
    m->members[m->count++] = (struct pr_member){
        .key = key, .key_len = (uint32_t)strlen(key), .value = v};
}

static bool is_loader_param(const char *name)
{
    return pr_text_starts_with(name, "dataset.") ||
           pr_text_starts_with(name, "reader.") ||
           pr_text_starts_with(name, "storage.");
}

static int loader_refuse_unknown(const char *name, struct pr_err *err)
{
    const struct pr_opt_section *section = NULL;
    const char *near;

    (void)pr_opt_find(name, &section);
    (void)pr_fail(err, PR_E_CONF, name, "there is no such parameter here");
    near = section ? pr_opt_nearest(section, name) : NULL;
    return near ? pr_hint(err, "did you mean '%s.%s'?", section->name, near)
                : pr_hint(err, "a loader takes those of dataset, reader and "
                               "storage");
}

/* "name=value" */
static int loader_parse_param(struct made *m, const char *text,
                              struct pr_err *err)
{
    const char *eq = strchr(text, '=');
    struct pr_value v;
    char *name;
    int rc;

    if (!eq)
        return pr_fail(err, PR_E_CONF, text, "'name=value' is wanted");
    name = pr_arena_copy(m->a, text, (size_t)(eq - text));
    if (!name)
        return pr_fail_nomem(err);
    if (!is_loader_param(name) || !pr_opt_find(name, NULL))
        return loader_refuse_unknown(name, err);
    rc = pr_literal_read(name, eq + 1, strlen(eq + 1), m->a, &v, NULL, err);
    if (!rc)
        loader_set_param(m, name, v);
    return rc;
}

/* As many threads as there are processors for them. */
static int64_t loader_count_threads(const struct pr_loader_opts *o)
{
    cpu_set_t mask;

    if (o->threads)
        return o->threads;
    return sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 1;
}

static int loader_make_params(struct pr_loader *l, struct made *m,
                              struct pr_err *err)
{
    const struct pr_loader_opts *o = &l->o;
    const char *path = pr_arena_str(l->arena, o->path), *format = NULL;
    int rc = PR_OK;

    m->a = l->arena;
    m->room = (uint32_t)o->param_count + 8;
    m->members = PR_ARENA_ARRAY(l->arena, struct pr_member, m->room);
    if (o->format)
        format = pr_arena_str(l->arena, o->format);
    if (!m->members || !path || (o->format && !format))
        return pr_fail_nomem(err);
    loader_set_param(m, "dataset.data_folder", pr_str(path));
    loader_set_param(m, "dataset.num_files_train", pr_int(1));
    loader_set_param(m, "reader.read_threads", pr_int(loader_count_threads(o)));
    loader_set_param(m, "reader.prefetch_size",
                     pr_int(o->prefetch ? o->prefetch : 2));
    if (format)
        loader_set_param(m, "dataset.format", pr_str(format));
    for (size_t i = 0; !rc && i < o->param_count; i++)
        rc = loader_parse_param(m, o->params[i], err);
    return rc;
}

/* ---- opening: the folder */

/* 1: there is a folder of that name in path, which out becomes. */
static int find_below(struct pr_loader *l, const char *name,
                      char out[static PR_NAME_BYTES], struct pr_err *err)
{
    struct pr_object_info info;
    int n = snprintf(out, PR_NAME_BYTES, "%s/%s", l->o.path, name), rc;

    if (n < 0 || n >= PR_NAME_BYTES - 512)
        return pr_fail(err, PR_E_CONF, "",
                       "the name of the folder is too "
                       "long");
    rc = pr_storage_stat(l->first, out, &info, err);
    return rc == 1 ? info.is_folder : rc;
}

static int loader_find_folder(struct pr_loader *l,
                              char out[static PR_NAME_BYTES],
                              struct pr_err *err)
{
    struct pr_object_info info;
    int rc = pr_storage_stat(l->first, l->o.path, &info, err);

    if (rc < 0)
        return rc;
    if (rc == 0 || !info.is_folder)
        return pr_fail(err, PR_E_IO, l->o.path, "there is no such folder");
    rc = find_below(l, l->o.split ? l->o.split : "train", out, err);
    if (rc == 0 && l->o.split && strcmp(l->o.split, "valid") == 0)
        rc = find_below(l, "val", out, err);
    if (rc < 0)
        return rc;
    if (rc == 0 && l->o.split)
        return pr_fail(err, PR_E_IO, l->o.path, "there is no folder '%s' in it",
                       l->o.split);
    if (rc == 0)
        (void)snprintf(out, PR_NAME_BYTES, "%s", l->o.path);
    return PR_OK;
}

static int find_format(struct pr_loader *l, struct made *m, const char *folder,
                       struct pr_err *err)
{
    struct pr_value params = {
        .kind = PR_MAP, .len = m->count, .members = m->members};
    const struct pr_format *format;
    int rc;

    if (pr_get(&params, "dataset.format"))
        return PR_OK;
    rc = pr_dataset_guess_format(folder, l->first, &format, err);
    if (rc)
        return rc;
    if (!format) {
        (void)pr_fail(err, PR_E_CONF, folder,
                      "no file there has the name of a format");
        return pr_hint(err, "name the format: jpeg, npz and so on");
    }
    loader_set_param(m, "dataset.format", pr_str(format->name));
    return PR_OK;
}

/* ---- opening: the first sample */

/* A format may learn from a read in vain how much memory one takes. */
static int read_first(struct pr_reader *r, struct pr_sample *ret,
                      struct pr_err *err)
{
    int rc = PR_E_CONF;

    for (size_t cap = 0; rc == PR_E_CONF && cap < r->need;) {
        void *buf = pr_alloc_aligned(PR_IO_ALIGN, r->need);

        cap = r->need;
        rc =
            buf ? pr_reader_read(r, 0, buf, cap, ret, err) : pr_fail_nomem(err);
        pr_free(buf);
    }
    ret->data = NULL;
    return rc;
}

/* How many samples a file has, if that is not known, and what the first one is
 * like. */
static int look_at_first(struct pr_loader *l, uint64_t samples, bool all,
                         struct pr_err *err)
{
    struct pr_read_opts read = {.samples = samples, .dtype = l->set.spec.dtype};
    struct pr_reader *r;
    char name[PR_NAME_BYTES];
    int rc = pr_reader_new(l->set.format, l->first, &read, &r, err);

    if (rc)
        return rc;
    pr_dataset_name(&l->set, 0, PR_NAME_DATA, name);
    rc = pr_reader_open(r, name, err);
    if (!rc && !r->samples)
        rc = pr_fail(err, PR_E_FORMAT, name, "there is no sample in it");
    if (!rc)
        l->set.spec.samples = r->samples;
    if (!rc && all)
        rc = read_first(r, &l->like, err);
    pr_reader_free(r);
    return rc;
}

/* Where files do not say which axis counts samples, an array is one. What is
 * learned is what the threads will see, who know the number. */
static int loader_read_layout(struct pr_loader *l, bool counted,
                              struct pr_err *err)
{
    int rc = counted ? PR_OK : look_at_first(l, 0, false, err);

    if (!rc)
        rc = look_at_first(l, l->set.spec.samples, true, err);
    l->has_labels = l->like.has_label;
    return rc;
}

static int loader_read_params(struct pr_loader *l,
                              const struct pr_value *params, struct pr_err *err)
{
    int rc = pr_opt_fill(&pr_reader_section, params, l->arena, &l->reader, err);

    return rc ? rc : pr_dataset_init(&l->set, params, l->arena, err);
}

static int use_files(struct pr_loader *l, const char *folder, bool counted,
                     struct pr_err *err)
{
    struct pr_dataset_classes_opts opts = {.stop = &l->stop};
    uint64_t samples = l->set.spec.samples;
    int rc = pr_dataset_classes_list_in(&l->set, folder, l->first, &opts,
                                        &l->classes, err);

    if (rc)
        return rc;
    pr_dataset_use_classes(&l->set, PR_TRAIN, l->classes);
    l->set.files[PR_VALID] = l->set.named[PR_VALID] = 0;
    if (counted)
        l->set.spec.samples = samples;
    rc = loader_read_layout(l, counted, err);
    if (!l->classes->is_flat)
        l->has_labels = true;
    return rc;
}

/* Fills set, storage, reader, first, classes and like. */
static int loader_open(struct pr_loader *l, struct pr_err *err)
{
    struct made m = {.count = 0};
    struct pr_value params = {.kind = PR_MAP};
    char folder[PR_NAME_BYTES];
    int rc = loader_make_params(l, &m, err);

    if (rc)
        return rc;
    params.members = m.members;
    params.len = m.count;
    rc = pr_storage_read_opts(&params, l->arena, &l->storage, err);
    if (!rc)
        rc = pr_storage_check(&l->storage, err);
    if (!rc)
        rc = pr_storage_open(&l->storage, &l->first, err);
    if (!rc)
        rc = loader_find_folder(l, folder, err);
    if (!rc)
        rc = find_format(l, &m, folder, err);
    params.len = m.count;
    if (!rc)
        rc = loader_read_params(l, &params, err);
    return rc ? rc
              : use_files(l, folder,
                          pr_get(&params, "dataset.num_samples_per_file") !=
                              NULL,
                          err);
}

/* ---- memory of batches. Where all that there is was lent, more is made:
 * whoever keeps batches decides how much that takes. */

static struct pr_loader_pool *loader_pool_new(size_t bytes, size_t samples)
{
    struct pr_loader_pool *p = pr_alloc_zeroed(sizeof *p);

    if (!p)
        return NULL;
    p->bytes = bytes;
    p->samples = samples;
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

static void free_slot(struct pr_loader_slot *s)
{
    if (!s)
        return;
    pr_free(s->b.data);
    pr_free(s->small);
    pr_free(s->labels);
    pr_free(s);
}

static struct pr_loader_slot *make_slot(struct pr_loader_pool *p)
{
    struct pr_loader_slot *s = pr_alloc_zeroed(sizeof *s);

    if (!s)
        return NULL;
    s->pool = p;
    s->b.data = pr_alloc_aligned(64, p->bytes);
    s->small = pr_alloc_zeroed(p->samples * sizeof *s->small);
    s->labels = pr_alloc_zeroed(p->samples * sizeof *s->labels);
    if (s->b.data && s->small && s->labels)
        return s;
    free_slot(s);
    return NULL;
}

static struct pr_loader_slot *loader_pool_take(struct pr_loader_pool *p)
{
    struct pr_loader_slot *s;

    pthread_mutex_lock(&p->lock);
    s = p->free;
    if (s)
        p->free = s->next;
    pthread_mutex_unlock(&p->lock);
    if (!s) {
        s = make_slot(p);
        if (!s)
            return NULL;
        pthread_mutex_lock(&p->lock);
        p->made++;
        pthread_mutex_unlock(&p->lock);
    }
    pthread_mutex_lock(&p->lock);
    p->lent++;
    pthread_mutex_unlock(&p->lock);
    return s;
}

static void loader_pool_destroy(struct pr_loader_pool *p)
{
    while (p->free) {
        struct pr_loader_slot *s = p->free;

        p->free = s->next;
        free_slot(s);
    }
    pthread_mutex_destroy(&p->lock);
    pr_free(p);
}

/* A slot with memory, used before or new; NULL: no memory. */
static void loader_pool_give(struct pr_loader_slot *s)
{
    struct pr_loader_pool *p = s->pool;
    bool is_last;

    pthread_mutex_lock(&p->lock);
    s->next = p->free;
    p->free = s;
    is_last = --p->lent == 0 && p->is_closed;
    pthread_mutex_unlock(&p->lock);
    if (is_last)
        loader_pool_destroy(p);
}

static void loader_pool_close(struct pr_loader_pool *p)
{
    bool is_last;

    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->is_closed = true;
    is_last = p->lent == 0;
    pthread_mutex_unlock(&p->lock);
    if (is_last)
        loader_pool_destroy(p);
}

/* The loader ends; what is lent stays until it is given back. */
static uint64_t loader_pool_made(struct pr_loader_pool *p)
{
    uint64_t made;

    pthread_mutex_lock(&p->lock);
    made = p->made;
    pthread_mutex_unlock(&p->lock);
    return made;
}

/* ---- what a batch looks like */

/* Samples one after another; each contiguous, in the order it has. */
static void set_strides(struct pr_loader_batch *b, bool fortran)
{
    int64_t step = (int64_t)b->itemsize;

    for (unsigned i = 1; i < b->ndim; i++) {
        unsigned at = fortran ? i : b->ndim - i;

        b->strides[at] = step;
        step *= (int64_t)b->shape[at];
    }
    b->strides[0] = step;
}

static void set_shape(struct pr_loader *l)
{
    struct pr_loader_batch *b = &l->shape;
    enum pr_dtype dtype = l->o.dims ? PR_F32 : l->like.dtype;

    b->dtype = pr_dtype_name(dtype);
    b->itemsize = pr_dtype_bytes(dtype);
    b->letter = pr_dtype_letter(dtype);
    b->shape[0] = l->batch;
    b->ndim = 1 + (l->o.dims ? l->o.dims : l->like.shape.ndim);
    for (unsigned i = 1; i < b->ndim; i++)
        b->shape[i] = l->o.dims ? l->o.shape[i - 1] : l->like.shape.dim[i - 1];
    set_strides(b, !l->o.dims && l->like.fortran);
    b->bytes = pr_batches_bytes(l->batches);
}

static uint64_t loader_count_samples(const struct pr_loader *l)
{
    return l->set.files[PR_TRAIN] * l->set.spec.samples;
}

/* ---- start and end */

static int loader_check_opts(const struct pr_loader_opts *o, struct pr_err *err)
{
    if (!o->path || !*o->path)
        return pr_fail(err, PR_E_CONF, "path", "a folder is wanted");
    if (!o->batch_size)
        return pr_fail(err, PR_E_CONF, "batch_size",
                       "a batch has to have a sample at least");
    if (o->dims != 0 && o->dims != 1 && o->dims != 3)
        return pr_fail(err, PR_E_CONF, "shape",
                       "wanted: [channels, rows, columns], [numbers] or none");
    for (unsigned i = 0; i < o->dims; i++)
        if (!o->shape[i] || o->shape[i] > INT32_MAX)
            return pr_fail(err, PR_E_CONF, "shape",
                           "dimension %u must be a whole number above 0",
                           i + 1);
    return PR_OK;
}

static int loader_begin_batches(struct pr_loader *l, struct pr_err *err)
{
    bool is_one = !l->o.drop_last && loader_count_samples(l) < l->o.batch_size;
    struct pr_batches_opts opts = {
        .set = &l->set,
        .split = PR_TRAIN,
        .in_order = !l->o.shuffle,
        .first = l->first,
        .reader = &l->reader,
        .batch = is_one ? loader_count_samples(l) : l->o.batch_size,
        .keep_last = !l->o.drop_last,
        .seed = l->o.seed,
        .dims = l->o.dims,
        .like = &l->like,
        .classes = INT32_MAX,
        .any_label = true,
        .augment = l->o.augment,
        .stop = &l->stop,
    };
    struct pr_batches_stats f;
    int rc;

    for (unsigned i = 0; i < l->o.dims; i++)
        opts.shape[i] = (int64_t)l->o.shape[i];
    rc = pr_batches_new(&opts, &l->batches, err);
    if (rc)
        return rc;
    pr_batches_stats(l->batches, &f);
    l->batch = opts.batch;
    l->per_epoch = f.epoch_batches;
    set_shape(l);
    l->pool = loader_pool_new(l->shape.bytes, l->batch);
    return l->pool ? PR_OK : pr_fail_nomem(err);
}

int pr_loader_new(const struct pr_loader_opts *opts, struct pr_loader **ret,
                  struct pr_err *err)
{
    struct pr_loader *l = pr_alloc_zeroed(sizeof *l);
    int rc;

    if (!l)
        return pr_fail_nomem(err);
    memcpy(&l->o, opts, opts->size < sizeof l->o ? opts->size : sizeof l->o);
    rc = loader_check_opts(&l->o, err);
    if (!rc) {
        l->arena = pr_arena_new(4096);
        rc = l->arena ? loader_open(l, err) : pr_fail_nomem(err);
    }
    if (!rc)
        rc = loader_begin_batches(l, err);
    if (rc) {
        pr_loader_free(l);
        return rc;
    }
    l->o.path = l->o.split = l->o.format = NULL; /* the caller's */
    l->o.params = NULL;
    *ret = l;
    return PR_OK;
}

void pr_loader_free(struct pr_loader *l)
{
    bool hangs;

    if (!l)
        return;
    __atomic_store_n(&l->stop, true, __ATOMIC_RELAXED);
    pr_batches_end(l->batches);
    hangs = pr_batches_is_hung(l->batches);
    pr_batches_free(l->batches);
    loader_pool_close(l->pool);
    if (hangs)
        return; /* a thread uses the rest still */
    pr_storage_close(l->first);
    pr_dataset_classes_free(l->classes);
    pr_arena_free(l->arena);
    pr_free(l);
}

/* ---- batches */

bool pr_loader_is_over(const struct pr_loader *l)
{
    return l->o.epochs && l->taken / l->per_epoch >= l->o.epochs;
}

/* Between two epochs one call says so. */
static bool epoch_ends(struct pr_loader *l)
{
    bool at_end = l->taken && l->taken % l->per_epoch == 0;

    if (pr_loader_is_over(l))
        return true;
    if (at_end && !l->told_end) {
        l->told_end = true;
        return true;
    }
    return false;
}

static uint64_t loader_deadline_ns(double timeout_s)
{
    if (timeout_s < 0 || timeout_s > 1e9)
        return UINT64_MAX;
    return pr_clock_ns() + (uint64_t)(timeout_s * 1e9);
}

static int loader_fill_slot(struct pr_loader *l, struct pr_loader_slot *s,
                            struct pr_err *err)
{
    uint64_t samples, number = l->taken;
    int rc = pr_batches_swap(l->batches, &s->b.data, &s->small, &samples, err);
    void *data = s->b.data;

    l->taken++; /* also one of which nothing could be read */
    l->told_end = false;
    if (rc)
        return rc;
    s->b = l->shape;
    s->b.data = data;
    s->b.labels = l->has_labels ? s->labels : NULL;
    s->b.shape[0] = samples;
    s->b.bytes = samples * (uint64_t)s->b.strides[0];
    for (uint64_t i = 0; i < samples; i++)
        s->labels[i] = s->small[i];
    s->b.epoch = number / l->per_epoch;
    s->b.number = number % l->per_epoch;
    return PR_OK;
}

int pr_loader_next(struct pr_loader *l, double timeout_s,
                   struct pr_loader_batch **ret, struct pr_err *err)
{
    struct pr_loader_slot *s;
    int rc;

    if (isnan(timeout_s))
        return pr_fail(err, PR_E_CONF, "timeout", "a number is wanted");
    if (epoch_ends(l))
        return 0;
    rc = pr_batches_wait(l->batches, loader_deadline_ns(timeout_s), err);
    if (rc == 0)
        return pr_fail(err, PR_E_TIMEOUT, "", "no batch came in time");
    if (rc < 0)
        return rc;
    s = loader_pool_take(l->pool);
    rc = s ? loader_fill_slot(l, s, err) : pr_fail_nomem(err);
    if (rc) {
        if (s)
            loader_pool_give(s);
        return rc;
    }
    *ret = &s->b;
    return 1;
}

void pr_loader_release(struct pr_loader_batch *b)
{
    if (b)
        loader_pool_give((struct pr_loader_slot *)(void *)b);
}

/* ---- facts */

void pr_loader_facts(struct pr_loader *l, struct pr_loader_facts *ret)
{
    struct pr_batches_stats f;
    struct pr_loader_facts facts = {
        .size = ret->size,
        .samples = loader_count_samples(l),
        .batches = l->per_epoch,
        .files = l->set.files[PR_TRAIN],
        .classes = l->classes->is_flat ? 0 : l->classes->count,
        .format = l->set.format->name,
    };

    pr_batches_stats(l->batches, &f);
    facts.threads = f.threads;
    facts.read_samples = f.read_samples;
    facts.read_bytes = f.read_bytes;
    facts.failed = f.failed;
    facts.buffer_bytes =
        f.buffer_bytes + loader_pool_made(l->pool) * l->shape.bytes;
    memcpy(ret, &facts, ret->size < sizeof facts ? ret->size : sizeof facts);
}

const char *pr_loader_class(const struct pr_loader *l, uint64_t i)
{
    return !l->classes->is_flat && i < l->classes->count
               ? pr_dataset_classes_class_name(l->classes, i)
               : NULL;
}
