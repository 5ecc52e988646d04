/*
 * Wrapper throttle: slower and farther storage than there is. storage.throttle
 * is the rate of the whole storage, all threads together: storages beside each
 * other share one timeline, on which a read or write of n bytes takes the next
 * free n / rate seconds. It lasts until these have passed, or as long as it
 * really does if that is more, and storage.latency on top; an open only gets
 * the latency, which everybody waits for by himself.
 *
 * Waiting is until a point in time. What a wait was too long by (the kernel
 * cannot wait for as little as a small read costs) the next operation of that
 * thread may begin earlier by, so that errors do not add up. A timeline that
 * was idle for other reasons saves nothing up.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "storage/wrapper_trace.h"

/* More credit than this is forgotten: it is no error of the clock but another
 * process, and no reason to be fast for a while. */
#define CREDIT_MAX_NS UINT64_C(5000000)

/* A byte a second and a large file: 30 years are enough; and so many of these
 * that a clock of 64 bits would start again are 100 years. */
#define COST_MAX_NS 1e18
#define TIMELINE_MAX_NS UINT64_C(4000000000000000000)

struct timeline {
    unsigned refs;    /* atomic */
    uint64_t free_at; /* atomic: until then it is taken */
};

struct throttle {
    struct timeline *line;
    double ns_per_byte; /* 0: any rate */
    uint64_t latency_ns;
    uint64_t credit_ns; /* waited too long by now */
};

/* One operation while it lasts. */
struct span {
    uint64_t begin; /* really */
    uint64_t from;  /* as if, credit taken off */
    uint64_t end;   /* not before */
};

static struct timeline *line_of(const struct pr_storage *beside)
{
    struct timeline *line;

    if (beside) {
        line = ((struct throttle *)beside->data)->line;
        __atomic_add_fetch(&line->refs, 1, __ATOMIC_RELAXED);
        return line;
    }
    line = pr_alloc_zeroed(sizeof *line);
    if (line)
        line->refs = 1;
    return line;
}

static int throttle_start(struct pr_storage *st, struct pr_err *err)
{
    struct throttle *t = pr_alloc_zeroed(sizeof *t);

    if (!t)
        return pr_fail_nomem(err);
    t->line = line_of(st->beside);
    if (!t->line) {
        pr_free(t);
        return pr_fail_nomem(err);
    }
    if (st->opts->throttle)
        t->ns_per_byte = 1e9 / (double)st->opts->throttle;
    if (st->opts->latency > 0)
        t->latency_ns = (uint64_t)(st->opts->latency * 1e9);
    st->data = t;
    return PR_OK;
}

static void throttle_stop(struct pr_storage *st)
{
    struct throttle *t = st->data;

    if (__atomic_sub_fetch(&t->line->refs, 1, __ATOMIC_ACQ_REL) == 0)
        pr_free(t->line);
    pr_free(t);
}

/* Takes cost nanoseconds of the timeline, the first that are free from a time
 * on. Returns when they have passed. */
static uint64_t timeline_reserve(struct timeline *line, uint64_t from,
                                 uint64_t cost)
{
    uint64_t taken = __atomic_load_n(&line->free_at, __ATOMIC_RELAXED);
    uint64_t end;

    do {
        end = (taken > from ? taken : from) + cost;
        if (end > TIMELINE_MAX_NS)
            end = TIMELINE_MAX_NS;
    } while (!__atomic_compare_exchange_n(&line->free_at, &taken, end, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return end;
}

static struct span throttle_begin(struct pr_storage *st, size_t bytes)
{
    const struct throttle *t = st->data;
    double cost = (double)bytes * t->ns_per_byte;
    struct span s = {.begin = pr_now(st->clock)};

    s.from = s.end = s.begin - t->credit_ns;
    if (cost > COST_MAX_NS)
        cost = COST_MAX_NS;
    if (cost > 0) { /* rounded up: rather too slow than too fast */
        uint64_t ns = (uint64_t)cost;

        s.end = timeline_reserve(t->line, s.from, ns + ((double)ns < cost));
    }
    return s;
}

/* The operation is done but for the waiting. */
static void throttle_end(struct pr_storage *st, const struct span *s)
{
    struct throttle *t = st->data;
    uint64_t now = pr_now(st->clock);
    uint64_t until = s->from + (now - s->begin); /* as it really is */

    if (until < s->end)
        until = s->end;
    until += t->latency_ns;
    if (until > now) {
        pr_sleep_until(st->clock, until, st->stop);
        now = pr_now(st->clock);
    }
    t->credit_ns = now > until ? now - until : 0;
    if (t->credit_ns > CREDIT_MAX_NS)
        t->credit_ns = CREDIT_MAX_NS;
}

static int throttle_open(struct pr_storage *st, struct pr_object *o,
                         struct pr_err *err)
{
    struct span s = throttle_begin(st, 0);
    int rc = pr_wrap_open(st, o, err);

    throttle_end(st, &s);
    return rc;
}

static int throttle_create(struct pr_storage *st, struct pr_object *o,
                           uint64_t size, struct pr_err *err)
{
    struct span s = throttle_begin(st, 0);
    int rc = st->inner->engine->create(st->inner, o, size, err);

    throttle_end(st, &s);
    return rc;
}

static int throttle_fetch(struct pr_storage *st, struct pr_object *o,
                          uint64_t off, size_t len, void *buf, size_t cap,
                          const uint8_t **ret, struct pr_err *err)
{
    struct span s = throttle_begin(st, len);
    int rc =
        st->inner->engine->fetch(st->inner, o, off, len, buf, cap, ret, err);

    throttle_end(st, &s);
    return rc;
}

static int throttle_read(struct pr_storage *st, struct pr_object *o,
                         uint64_t off, size_t len, void *buf,
                         struct pr_err *err)
{
    struct span s = throttle_begin(st, len);
    int rc = st->inner->engine->read(st->inner, o, off, len, buf, err);

    throttle_end(st, &s);
    return rc;
}

static int throttle_write(struct pr_storage *st, struct pr_object *o,
                          uint64_t off, const void *data, size_t len,
                          struct pr_err *err)
{
    struct span s = throttle_begin(st, len);
    int rc = st->inner->engine->write(st->inner, o, off, data, len, err);

    throttle_end(st, &s);
    return rc;
}

const struct pr_engine pr_wrapper_throttle = {
    .name = "throttle",
    .desc = "slower and farther storage (storage.throttle, storage.latency)",
    .start = throttle_start,
    .stop = throttle_stop,
    .open = throttle_open,
    .fetch = throttle_fetch,
    .read = throttle_read,
    .close = pr_wrap_close,
    .create = throttle_create,
    .write = throttle_write,
    .sync = pr_wrap_sync,
    .commit = pr_wrap_commit,
    .discard = pr_wrap_discard,
    .stat = pr_wrap_stat,
    .make_folder = pr_wrap_make_folder,
    .remove = pr_wrap_remove,
    .publish = pr_wrap_publish,
    .list = pr_wrap_list,
    .space = pr_wrap_space,
};
