/*
 * Wrapper throttle: slower and farther storage than there is. A read or write
 * of n bytes lasts as long as it really does, or n / storage.throttle if that
 * is more, and storage.latency on top; an open only gets the latency.
 *
 * Waiting is until a point in time. What a wait was too long by (the kernel
 * cannot wait for as little as a small read costs) is taken off the next ones,
 * so that errors do not add up.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "storage/wrap.h"

#include <errno.h>
#include <time.h>

/* More credit than this is forgotten: it is no error of the clock but another
 * process, and no reason to be fast for a while. */
#define CREDIT_MAX_NS UINT64_C(5000000)

/* A byte a second and a large file: 30 years are enough. */
#define COST_MAX_NS 1e18
#define SLICE_NS 50000000u

struct throttle {
    double ns_per_byte; /* 0: any rate */
    uint64_t latency_ns;
    uint64_t credit_ns; /* waited too long by now */
};

static int start(struct pr_storage *st, struct pr_err *err)
{
    struct throttle *t = pr_alloc_zeroed(sizeof *t);

    if (!t)
        return pr_fail_nomem(err);
    if (st->opts->throttle)
        t->ns_per_byte = 1e9 / (double)st->opts->throttle;
    if (st->opts->latency > 0)
        t->latency_ns = (uint64_t)(st->opts->latency * 1e9);
    st->data = t;
    return PR_OK;
}

static void stop(struct pr_storage *st)
{
    pr_free(st->data);
}

static bool is_stopped(const struct pr_storage *st)
{
    return st->stop && __atomic_load_n(st->stop, __ATOMIC_RELAXED);
}

/* In slices, to notice when it is stopped. */
static void sleep_until(const struct pr_storage *st, uint64_t ns)
{
    uint64_t now = pr_clock_ns();

    while (now < ns && !is_stopped(st)) {
        uint64_t end = ns - now > SLICE_NS ? now + SLICE_NS : ns;
        struct timespec at = {(time_t)(end / 1000000000),
                              (long)(end % 1000000000)};

        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) ==
               EINTR)
            continue;
        now = pr_clock_ns();
    }
}

/* An operation began at this time and is done but for the waiting. */
static void wait_rest(struct pr_storage *st, uint64_t begin, size_t bytes)
{
    struct throttle *t = st->data;
    uint64_t now = pr_clock_ns();
    double at_rate = (double)bytes * t->ns_per_byte;
    uint64_t cost = (uint64_t)(at_rate < COST_MAX_NS ? at_rate : COST_MAX_NS);
    uint64_t until;

    if (cost < now - begin)
        cost = now - begin;
    until = begin + cost + t->latency_ns - t->credit_ns;
    if (until > now) {
        sleep_until(st, until);
        now = pr_clock_ns();
    }
    t->credit_ns = now > until ? now - until : 0;
    if (t->credit_ns > CREDIT_MAX_NS)
        t->credit_ns = CREDIT_MAX_NS;
}

static int throttle_open(struct pr_storage *st, struct pr_object *o,
                         struct pr_err *err)
{
    uint64_t begin = pr_clock_ns();
    int rc = pr_wrap_open(st, o, err);

    wait_rest(st, begin, 0);
    return rc;
}

static int throttle_create(struct pr_storage *st, struct pr_object *o,
                           uint64_t size, struct pr_err *err)
{
    uint64_t begin = pr_clock_ns();
    int rc = st->inner->engine->create(st->inner, o, size, err);

    wait_rest(st, begin, 0);
    return rc;
}

static int throttle_fetch(struct pr_storage *st, struct pr_object *o,
                          uint64_t off, size_t len, void *buf, size_t cap,
                          const uint8_t **ret, struct pr_err *err)
{
    uint64_t begin = pr_clock_ns();
    int rc =
        st->inner->engine->fetch(st->inner, o, off, len, buf, cap, ret, err);

    wait_rest(st, begin, len);
    return rc;
}

static int throttle_read(struct pr_storage *st, struct pr_object *o,
                         uint64_t off, size_t len, void *buf,
                         struct pr_err *err)
{
    uint64_t begin = pr_clock_ns();
    int rc = st->inner->engine->read(st->inner, o, off, len, buf, err);

    wait_rest(st, begin, len);
    return rc;
}

static int throttle_write(struct pr_storage *st, struct pr_object *o,
                          uint64_t off, const void *data, size_t len,
                          struct pr_err *err)
{
    uint64_t begin = pr_clock_ns();
    int rc = st->inner->engine->write(st->inner, o, off, data, len, err);

    wait_rest(st, begin, len);
    return rc;
}

const struct pr_engine pr_wrapper_throttle = {
    .name = "throttle",
    .desc = "slower and farther storage (storage.throttle, storage.latency)",
    .start = start,
    .stop = stop,
    .open = throttle_open,
    .fetch = throttle_fetch,
    .read = throttle_read,
    .close = pr_wrap_close,
    .create = throttle_create,
    .write = throttle_write,
    .commit = pr_wrap_commit,
    .discard = pr_wrap_discard,
    .stat = pr_wrap_stat,
    .make_folder = pr_wrap_make_folder,
    .remove = pr_wrap_remove,
    .list = pr_wrap_list,
    .space = pr_wrap_space,
};
