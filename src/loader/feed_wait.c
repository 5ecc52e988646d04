/* Waiting for the threads of the loader, and noticing what goes wrong. */
#include "loader/feed_impl.h"

enum { LOOK_NS = 100000000, PAUSE_NS = 1000000000, AWAKE_NS = 150000 };

int pr_feed_failure(struct pr_feed *f, struct pr_err *err)
{
    if (__atomic_load_n(f->o.stop, __ATOMIC_RELAXED))
        return pr_fail(err, PR_E_INTR, "", "interrupted");
    if (!atomic_load(&f->failed))
        return PR_OK;
    pthread_mutex_lock(&f->error_lock);
    if (err)
        *err = f->error;
    pthread_mutex_unlock(&f->error_lock);
    return f->error.code;
}

static void wake_workers(struct pr_feed *f)
{
    uint64_t n = f->opened;

    if (!n)
        return;
    f->opened = 0;
    atomic_fetch_add(&f->work, 1);
    if (atomic_load(&f->sleepers))
        pr_wake(f->o.clock, &f->work, n < f->count ? (uint32_t)n : f->count);
}

static int hung_at(struct pr_feed *f, const struct pr_feed_worker *w,
                   struct pr_err *err)
{
    char name[PR_NAME_BYTES];
    uint64_t sample = atomic_load(&w->sample);

    f->hung = true;
    atomic_store(&f->failed, true); /* the others end */
    pr_dataset_name(f->o.set,
                    f->files_before + sample / f->order->o.samples_per_file,
                    PR_NAME_DATA, name);
    pr_fail(err, PR_E_TIMEOUT, name,
            "a storage call has not come back for %g s",
            f->o.reader->io_timeout);
    return pr_hint(err, "is the storage there? reader.io_timeout says how long "
                        "to wait");
}

static int look_for_hung(struct pr_feed *f, struct pr_err *err)
{
    uint64_t now = pr_now(f->o.clock), pulse;
    bool paused = now - f->looked_ns > PAUSE_NS; /* nobody has looked */

    f->looked_ns = now;
    for (unsigned i = 0; f->o.reader->io_timeout > 0 && i < f->count; i++) {
        struct pr_feed_worker *w = &f->workers[i];
        bool inside = pr_storage_is_inside(w->st, &pulse);

        if (!inside || paused || pulse != w->seen_pulse) {
            w->seen_pulse = pulse;
            w->seen_ns = now;
        } else if ((double)(now - w->seen_ns) > f->o.reader->io_timeout * 1e9) {
            return hung_at(f, w, err);
        }
    }
    return PR_OK;
}

static bool feed_has_news(const struct pr_feed *f)
{
    return f->news_taken || atomic_load(&f->news_first);
}

/* The machine's timers wake a thread some time after they should. After a long
 * sleep, the last bit is waited for awake. */
static void sleep_for_news(struct pr_feed *f, uint32_t seen, uint64_t now,
                           uint64_t until_ns, uint64_t look)
{
    bool is_long = !f->o.clock && until_ns - now > 4 * AWAKE_NS;
    uint64_t to = is_long ? until_ns - AWAKE_NS : until_ns;

    atomic_store(&f->waiting, 1);
    pr_sleep_on(f->o.clock, &f->news, seen, to < look ? to : look);
    atomic_store(&f->waiting, 0);
    now = pr_now(f->o.clock);
    while (is_long && now >= to && now < until_ns && !feed_has_news(f))
        now = pr_now(f->o.clock);
}

int pr_feed_wait(struct pr_feed *f, uint64_t until_ns, struct pr_err *err)
{
    uint32_t seen = atomic_load(&f->news);
    uint64_t look = 0;
    int rc = pr_feed_failure(f, err);

    wake_workers(f);
    while (!rc && until_ns && !feed_has_news(f)) {
        uint64_t now = pr_now(f->o.clock);

        if (now >= until_ns)
            break;
        if (now >= look) {
            rc = look_for_hung(f, err);
            look = now + LOOK_NS;
        }
        if (rc)
            break;
        sleep_for_news(f, seen, now, until_ns, look);
        seen = atomic_load(&f->news);
        rc = pr_feed_failure(f, err);
    }
    return rc;
}

/* The rest of a window may still be under way; nobody needs it. */
int pr_feed_end(struct pr_feed *f, struct pr_err *err)
{
    int rc = PR_OK;

    for (uint64_t a = 0; a < f->o.accelerators; a++)
        atomic_store(&f->queues[a].limit, 0);
    atomic_store(&f->ending, true);
    while (!rc && atomic_load(&f->busy)) {
        uint32_t seen = atomic_load(&f->news);

        rc = look_for_hung(f, err);
        atomic_store(&f->waiting, 1);
        if (!rc && atomic_load(&f->busy))
            pr_sleep_on(f->o.clock, &f->news, seen,
                        pr_now(f->o.clock) + LOOK_NS);
        atomic_store(&f->waiting, 0);
    }
    atomic_store(&f->ending, false);
    /* They rest. A file that is open, or mapped, would stay in the cache. */
    for (unsigned i = 0; !rc && i < f->count; i++)
        if (f->workers[i].reader->is_open)
            pr_reader_close(f->workers[i].reader);
    while (pr_feed_news(f) != UINT64_MAX)
        ;
    return rc ? rc : pr_feed_failure(f, err);
}
