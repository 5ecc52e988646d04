/* The loader that others call: batches of a folder, lent and given back. */
#include "base/clock.h"
#include "base/mem.h"
#include "loader/loader_impl.h"

#include <math.h>
#include <string.h>

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
    l->pool = pr_loader_pool_new(l->shape.bytes, l->batch);
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
        rc = l->arena ? pr_loader_open(l, err) : pr_fail_nomem(err);
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
    pr_loader_pool_close(l->pool);
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
    s = pr_loader_pool_take(l->pool);
    rc = s ? loader_fill_slot(l, s, err) : pr_fail_nomem(err);
    if (rc) {
        if (s)
            pr_loader_pool_give(s);
        return rc;
    }
    *ret = &s->b;
    return 1;
}

void pr_loader_release(struct pr_loader_batch *b)
{
    if (b)
        pr_loader_pool_give((struct pr_loader_slot *)(void *)b);
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
        f.buffer_bytes + pr_loader_pool_made(l->pool) * l->shape.bytes;
    memcpy(ret, &facts, ret->size < sizeof facts ? ret->size : sizeof facts);
}

const char *pr_loader_class(const struct pr_loader *l, uint64_t i)
{
    return !l->classes->is_flat && i < l->classes->count
               ? pr_dataset_classes_class_name(l->classes, i)
               : NULL;
}
