/*
 * The sampler: a thread that takes a snapshot of the counters at fixed times,
 * and a log of them that becomes a file at the end.
 */
#include "observe/iostat.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "observe/iostat_impl.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    /* One device by the second: more than a day before the log is thinned. */
    LOG_BYTES = 24 << 20,
    /* The files of a machine with tens of thousands of devices. */
    TEXT_BYTES = 16 << 20,
};

struct pr_iostat {
    char *proc;
    char (*names)[64];
    size_t devices;
    unsigned cpus;
    struct pr_buf text;
    struct pr_iostat_snap *snap; /* the one being taken */
    struct pr_iostat_log log;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop; /* under the lock; the rest is the thread's while it runs */
};

/* ---- one snapshot */

static int take_disk(void *ctx, const char *name,
                     const struct pr_iostat_disk *d)
{
    struct pr_iostat *io = ctx;

    for (size_t i = 0; i < io->devices; i++)
        if (strcmp(io->names[i], name) == 0)
            io->snap->disk[i] = *d;
    return 0;
}

static int iostat_read_snapshot(struct pr_iostat *io, struct pr_err *err)
{
    struct pr_iostat_snap *s = io->snap;
    int rc = pr_iostat_load(io->proc, "stat", &io->text, err);

    if (rc)
        return rc;
    memset(s, 0, io->log.stride);
    if (!pr_iostat_read_cpu(io->text.data, &s->cpu, &io->cpus))
        return pr_fail(err, PR_E_FORMAT, io->proc,
                       "'stat' has no figures of processors");
    rc = pr_iostat_load(io->proc, "diskstats", &io->text, err);
    if (rc)
        return rc;
    s->clock_ns = pr_clock_ns();
    s->wall_ns = pr_wall_clock_ns();
    (void)pr_iostat_each_disk(io->text.data, take_disk, io);
    return PR_OK;
}

/* What cannot be read now is missing; the next interval is longer. */
static void iostat_sample(struct pr_iostat *io)
{
    if (iostat_read_snapshot(io, NULL) == PR_OK)
        (void)pr_iostat_log_add(&io->log, io->snap);
}

/* ---- the thread */

static struct timespec timespec_from_ns(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                             .tv_nsec = (long)(ns % 1000000000u)};
}

static uint64_t last_ns(const struct pr_iostat *io)
{
    return pr_iostat_log_at(&io->log, io->log.count - 1)->clock_ns;
}

/* On schedule; a schedule that was missed starts anew. */
static void *sampler_main(void *arg)
{
    struct pr_iostat *io = arg;
    uint64_t due = last_ns(io);

    pthread_mutex_lock(&io->lock);
    while (!io->stop) {
        uint64_t now = pr_clock_ns();
        struct timespec t;
        int rc = 0;

        due += io->log.interval_ns;
        if (due < now)
            due = now;
        t = timespec_from_ns(due);
        while (!io->stop && rc != ETIMEDOUT)
            rc = pthread_cond_timedwait(&io->wake, &io->lock, &t);
        if (io->stop)
            break;
        pthread_mutex_unlock(&io->lock);
        iostat_sample(io);
        pthread_mutex_lock(&io->lock);
    }
    pthread_mutex_unlock(&io->lock);
    return NULL;
}

static int iostat_start_thread(struct pr_iostat *io, struct pr_err *err)
{
    pthread_condattr_t monotonic;

    pthread_mutex_init(&io->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&io->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&io->thread, NULL, sampler_main, io) == 0)
        return PR_OK;
    pthread_cond_destroy(&io->wake);
    pthread_mutex_destroy(&io->lock);
    return pr_fail(err, PR_E_IO, "", "cannot start a thread");
}

static void iostat_stop_thread(struct pr_iostat *io)
{
    pthread_mutex_lock(&io->lock);
    io->stop = true;
    pthread_cond_signal(&io->wake);
    pthread_mutex_unlock(&io->lock);
    pthread_join(io->thread, NULL);
    pthread_cond_destroy(&io->wake);
    pthread_mutex_destroy(&io->lock);
}

/* ---- devices that are not there */

struct listing {
    struct pr_buf text;
    struct pr_nearest near;
    char best[64];
    bool all; /* also those that never did anything: loop devices, mostly */
};

static int list_disk(void *ctx, const char *name,
                     const struct pr_iostat_disk *d)
{
    struct listing *l = ctx;

    pr_nearest_offer(&l->near, name);
    if (l->near.best == name) {
        snprintf(l->best, sizeof l->best, "%.63s", name);
        l->near.best = l->best;
    }
    if (l->all || d->io[PR_IOSTAT_R].ios || d->io[PR_IOSTAT_W].ios)
        pr_buf_printf(&l->text, "%s%s", l->text.len ? ", " : "", name);
    return 0;
}

static int list_disks(struct pr_iostat *io, struct listing *l,
                      struct pr_err *err)
{
    int rc = pr_iostat_load(io->proc, "diskstats", &io->text, err);

    if (rc)
        return rc;
    (void)pr_iostat_each_disk(io->text.data, list_disk, l);
    return pr_buf_ok(&l->text) ? PR_OK : pr_fail_nomem(err);
}

static int iostat_fail_unknown_device(struct pr_iostat *io, const char *name,
                                      struct pr_err *err)
{
    static const char where[] = "profiling.iostat_devices";
    struct listing l = {.text = PR_BUF_INIT(TEXT_BYTES)};
    int rc;

    pr_nearest_init(&l.near, name);
    rc = list_disks(io, &l, err);
    if (!rc && !l.text.len) {
        l.all = true;
        rc = list_disks(io, &l, err);
    }
    if (!rc && !l.text.len)
        rc = pr_fail(err, PR_E_CONF, where,
                     "there is no block device '%.63s', nor any other", name);
    else if (!rc)
        rc = pr_fail(err, PR_E_CONF, where,
                     "there is no block device '%.63s'; there are: %.200s%s",
                     name, l.text.data, l.text.len > 200 ? "…" : "");
    pr_buf_free(&l.text);
    if (rc == PR_E_CONF && l.near.best)
        rc = pr_hint(err, "did you mean '%s'?", l.near.best);
    return rc;
}

/* ---- starting and stopping */

static void iostat_free(struct pr_iostat *io)
{
    pr_iostat_log_free(&io->log);
    pr_buf_free(&io->text);
    pr_free(io->snap);
    pr_free(io->names);
    pr_free(io->proc);
    pr_free(io);
}

/* A device named twice is one. */
static void iostat_add_device(struct pr_iostat *io, const char *given)
{
    char *name = io->names[io->devices];

    pr_iostat_device_name(given, name);
    for (size_t i = 0; i < io->devices; i++)
        if (strcmp(io->names[i], name) == 0)
            return;
    io->devices++;
}

static struct pr_iostat *iostat_new(const char *proc,
                                    const char *const *devices, size_t count,
                                    double interval_s)
{
    struct pr_iostat *io = pr_alloc_zeroed(sizeof *io);
    size_t len = strlen(proc) + 1;

    if (!io)
        return NULL;
    io->text = (struct pr_buf)PR_BUF_INIT(TEXT_BYTES);
    io->proc = pr_alloc(len);
    io->names = pr_alloc_zeroed((count + 1) * sizeof *io->names);
    if (io->proc && io->names) {
        memcpy(io->proc, proc, len);
        for (size_t i = 0; i < count; i++)
            iostat_add_device(io, devices[i]);
        pr_iostat_log_init(&io->log, io->devices, LOG_BYTES,
                           (uint64_t)(interval_s * 1e9));
        io->snap = pr_alloc_zeroed(io->log.stride);
    }
    if (io->snap)
        return io;
    iostat_free(io);
    return NULL;
}

static int take_first(struct pr_iostat *io, struct pr_err *err)
{
    int rc = iostat_read_snapshot(io, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < io->devices; i++)
        if (!io->snap->disk[i].there)
            return iostat_fail_unknown_device(io, io->names[i], err);
    return pr_iostat_log_add(&io->log, io->snap) ? PR_OK : pr_fail_nomem(err);
}

int pr_iostat_start(const char *proc, const char *const *devices, size_t count,
                    double interval_s, struct pr_iostat **ret,
                    struct pr_err *err)
{
    struct pr_iostat *io;
    int rc;

    assert(interval_s >= 1e-3);
    io = iostat_new(proc, devices, count, interval_s);
    if (!io)
        return pr_fail_nomem(err);
    rc = take_first(io, err);
    if (!rc)
        rc = iostat_start_thread(io, err);
    if (rc) {
        iostat_free(io);
        return rc;
    }
    *ret = io;
    return PR_OK;
}

/* The rest of an interval counts when it is most of one, or all there is. */
static void sample_rest(struct pr_iostat *io)
{
    if (io->log.count < 2 ||
        pr_clock_ns() - last_ns(io) > io->log.interval_ns / 2)
        iostat_sample(io);
}

int pr_iostat_stop(struct pr_iostat *io, const char *path, struct pr_err *err)
{
    struct pr_iostat_text text;
    int rc;

    if (!io)
        return PR_OK;
    iostat_stop_thread(io);
    sample_rest(io);
    text = (struct pr_iostat_text){.log = &io->log,
                                   .names = (const char(*)[64])io->names,
                                   .devices = io->devices,
                                   .cpus = io->cpus};
    rc = pr_iostat_write(&text, path, err);
    iostat_free(io);
    return rc;
}
