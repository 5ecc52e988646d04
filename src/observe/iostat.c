/*
 * Reading the counters of devices and processors, a thread that takes a
 * snapshot of them at fixed times, a log of these in a bounded amount of
 * memory, and the file it becomes at the end.
 */
#include "observe/iostat.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* ---- reading /proc/diskstats, /proc/stat and the names in /sys */

/* The text of PROC/FILE, replacing what is in the buffer. */
static int iostat_load(const char *proc, const char *file, struct pr_buf *text,
                       struct pr_err *err)
{
    char path[4096];
    ssize_t n = 1;
    int fd;

    snprintf(path, sizeof path, "%s/%s", proc, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pr_fail_errno(err, PR_E_IO, path, "cannot open");
    pr_buf_clear(text);
    while (n) {
        if (!pr_buf_reserve(text, 4096)) {
            close(fd);
            return pr_fail_nomem(err);
        }
        n = read(fd, text->data + text->len, text->cap - text->len - 1);
        if (n < 0 && errno != EINTR) {
            pr_fail_errno(err, PR_E_IO, path, "cannot read");
            close(fd);
            return PR_E_IO;
        }
        text->len += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    text->data[text->len] = '\0';
    return PR_OK;
}

/* ---- devices */

enum {
    /* Numbers of a line by their place after the name; Documentation/
     * admin-guide/iostats.rst. Older kernels stop before the discards, or
     * before the flushes. */
    FIELDS_MIN = 11,
    FIELDS_DISCARD = 15,
    FIELDS_MAX = 17,
};

static bool read_disk(const char *numbers, struct pr_iostat_disk *d)
{
    uint64_t v[FIELDS_MAX] = {0};
    int n = 0;

    for (; n < FIELDS_MAX; n++) {
        char *end;

        v[n] = strtoull(numbers, &end, 10);
        if (end == numbers)
            break;
        numbers = end;
    }
    if (n < FIELDS_MIN)
        return false;
    *d = (struct pr_iostat_disk){
        .io = {{v[0], v[1], v[2]}, {v[4], v[5], v[6]}, {v[11], v[12], v[13]}},
        .ms = {(uint32_t)v[3], (uint32_t)v[7], (uint32_t)v[14]},
        .busy_ms = (uint32_t)v[9],
        .queue_ms = (uint32_t)v[10],
        .flushes = v[15],
        .flush_ms = (uint32_t)v[16],
        .there = true,
    };
    return true;
}

/* "   8       0 sda 1 2 3 …": the name, ended by a NUL; *rest is after it. */
static char *diskstats_split_name(char *line, char **rest)
{
    char *save = NULL;

    (void)strtok_r(line, " \t", &save);
    (void)strtok_r(NULL, " \t", &save);
    line = strtok_r(NULL, " \t", &save);
    *rest = save;
    return line;
}

int pr_iostat_each_disk(char *text, pr_iostat_each *each, void *ctx)
{
    char *save = NULL;

    for (char *line = strtok_r(text, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        struct pr_iostat_disk d;
        char *numbers, *name = diskstats_split_name(line, &numbers);
        int rc;

        if (!name || !numbers || !read_disk(numbers, &d))
            continue;
        rc = each(ctx, name, &d);
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- processors */

static unsigned count_cpus(const char *text)
{
    unsigned n = 0;

    for (const char *at = text; (at = strstr(at, "\ncpu")); at += 4)
        n += at[4] >= '0' && at[4] <= '9';
    return n;
}

bool pr_iostat_read_cpu(const char *text, struct pr_iostat_cpu *ret,
                        unsigned *ret_count)
{
    unsigned long long v[8] = {0};
    int n;

    /* Guests' time is in user and nice already. */
    n = sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0],
               &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]);
    if (n < 4)
        return false;
    *ret =
        (struct pr_iostat_cpu){v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]};
    *ret_count = count_cpus(text);
    return true;
}

/* ---- names */

void pr_iostat_device_name(const char *given, char out[static 64])
{
    char real[PATH_MAX];

    if (*given == '/' && realpath(given, real))
        given = real;
    if (pr_text_starts_with(given, "/dev/"))
        given += 5;
    snprintf(out, 64, "%.63s", given);
}

/* The last part of a path, which it loses. */
static char *cut_last(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash)
        return NULL;
    *slash = '\0';
    return slash + 1;
}

/* A partition's folder is in that of its disk and has a file of this name. */
static bool is_partition(const char *folder)
{
    char path[PATH_MAX + 16];

    snprintf(path, sizeof path, "%s/partition", folder);
    return access(path, F_OK) == 0;
}

bool pr_iostat_disk_name(const char *sys, unsigned major, unsigned minor,
                         char out[static 64])
{
    char link[4096], real[PATH_MAX], *name;
    bool partition;

    snprintf(link, sizeof link, "%s/dev/block/%u:%u", sys, major, minor);
    if (!realpath(link, real))
        return false;
    partition = is_partition(real);
    name = cut_last(real);
    if (partition)
        name = cut_last(real);
    if (!name || !*name || strlen(name) >= 64)
        return false;
    /* "cciss!c0d0" in /sys is "cciss/c0d0" everywhere else. */
    for (char *c = name; *c; c++)
        if (*c == '!')
            *c = '/';
    memcpy(out, name, strlen(name) + 1);
    return true;
}

bool pr_iostat_find_device(const char *path, char out[static 64])
{
    struct stat st;

    return stat(path, &st) == 0 &&
           pr_iostat_disk_name("/sys", major(st.st_dev), minor(st.st_dev), out);
}

/* ---- snapshots in memory, in a bounded amount of it */

enum { FIRST = 64, LEAST = 4 };

void pr_iostat_log_init(struct pr_iostat_log *log, size_t devices,
                        size_t max_bytes, uint64_t interval_ns)
{
    size_t stride =
        sizeof(struct pr_iostat_snap) + devices * sizeof(struct pr_iostat_disk);
    size_t max = max_bytes / stride;

    *log = (struct pr_iostat_log){
        .stride = stride,
        .max = max < LEAST ? LEAST : max,
        .interval_ns = interval_ns,
    };
}

void pr_iostat_log_free(struct pr_iostat_log *log)
{
    pr_free(log->data);
    log->data = NULL;
    log->count = log->cap = 0;
}

const struct pr_iostat_snap *pr_iostat_log_at(const struct pr_iostat_log *log,
                                              size_t i)
{
    return (const void *)(log->data + i * log->stride);
}

static bool iostat_log_grow(struct pr_iostat_log *log)
{
    size_t cap = log->cap ? 2 * log->cap : FIRST;
    char *data;

    cap = cap < log->max ? cap : log->max;
    if (cap <= log->cap)
        return false;
    data = pr_realloc(log->data, cap * log->stride);
    if (!data)
        return false;
    log->data = data;
    log->cap = cap;
    return true;
}

/* Every other one goes; the intervals between the rest are twice as long. */
static void iostat_log_halve(struct pr_iostat_log *log)
{
    size_t kept = 0;

    for (size_t i = 0; i < log->count; i += 2, kept++)
        memmove(log->data + kept * log->stride, log->data + i * log->stride,
                log->stride);
    log->count = kept;
    log->interval_ns *= 2;
}

bool pr_iostat_log_add(struct pr_iostat_log *log,
                       const struct pr_iostat_snap *snap)
{
    if (log->count == log->cap && !iostat_log_grow(log)) {
        if (log->count < LEAST)
            return false;
        iostat_log_halve(log);
    }
    memcpy(log->data + log->count++ * log->stride, snap, log->stride);
    return true;
}

/* ---- the file that `iostat -mdxtcy -o JSON` writes: the same keys and
 * nesting, and the same figures from the same counters. Two things differ:
 * intervals are measured to the nanosecond, not to a hundredth of a second, and
 * times are UTC, as DLIO's own are. */

enum { PIECE_BYTES = 64 << 10 };

/* ---- figures */

/* A counter that went back counts nothing. */
static double iostat_counter_growth(uint64_t then, uint64_t now)
{
    return now > then ? (double)(now - then) : 0;
}

/* The kernel's milliseconds wrap at 32 bits. */
static double grown_ms(uint32_t then, uint32_t now)
{
    uint32_t d = now - then;

    return d <= INT32_MAX ? (double)d : 0;
}

static double iostat_ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* `"key": 1.23`, whatever the locale. */
static void iostat_put_cents(struct pr_buf *b, const char *key, double v)
{
    double cents = v * 100 + 0.5;
    unsigned long long n =
        cents < 1e18 ? (unsigned long long)cents : (unsigned long long)1e18;

    pr_buf_printf(b, "\"%s\": %llu.%02llu", key, n / 100, n % 100);
}

void pr_iostat_put_cpu(struct pr_buf *b, const struct pr_iostat_cpu *then,
                       const struct pr_iostat_cpu *now)
{
    const struct {
        const char *key;
        double ticks;
    } rows[] = {
        {"user", iostat_counter_growth(then->user, now->user)},
        {"nice", iostat_counter_growth(then->nice, now->nice)},
        {"system", iostat_counter_growth(then->system, now->system) +
                       iostat_counter_growth(then->irq, now->irq) +
                       iostat_counter_growth(then->softirq, now->softirq)},
        {"iowait", iostat_counter_growth(then->iowait, now->iowait)},
        {"steal", iostat_counter_growth(then->steal, now->steal)},
        {"idle", iostat_counter_growth(then->idle, now->idle)},
    };
    double all = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        all += rows[i].ticks;
    pr_buf_str(b, "\"avg-cpu\":  {");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pr_buf_str(b, i ? ", " : "");
        iostat_put_cents(b, rows[i].key,
                         100 * iostat_ratio(rows[i].ticks, all));
    }
    pr_buf_char(b, '}');
}

/* What happened between two snapshots. */
struct change {
    double ios[PR_IOSTAT_KINDS], merges[PR_IOSTAT_KINDS];
    double sectors[PR_IOSTAT_KINDS], ms[PR_IOSTAT_KINDS];
    double flushes, flush_ms, busy_ms, queue_ms;
};

static struct change disk_get_change(const struct pr_iostat_disk *then,
                                     const struct pr_iostat_disk *now)
{
    struct change c = {
        .flushes = iostat_counter_growth(then->flushes, now->flushes),
        .flush_ms = grown_ms(then->flush_ms, now->flush_ms),
        .busy_ms = grown_ms(then->busy_ms, now->busy_ms),
        .queue_ms = grown_ms(then->queue_ms, now->queue_ms),
    };

    for (int k = 0; k < PR_IOSTAT_KINDS; k++) {
        const struct pr_iostat_io *a = &then->io[k], *z = &now->io[k];

        c.ios[k] = iostat_counter_growth(a->ios, z->ios);
        c.merges[k] = iostat_counter_growth(a->merges, z->merges);
        c.sectors[k] = iostat_counter_growth(a->sectors, z->sectors);
        c.ms[k] = grown_ms(then->ms[k], now->ms[k]);
    }
    return c;
}

/* Unplugged and plugged in again, its counters start from 0. */
static bool came_again(const struct pr_iostat_disk *then,
                       const struct pr_iostat_disk *now)
{
    uint64_t before = then->flushes, after = now->flushes;

    for (int k = 0; k < PR_IOSTAT_KINDS; k++) {
        const struct pr_iostat_io *a = &then->io[k], *z = &now->io[k];

        if (a->sectors && z->sectors >= a->sectors)
            return false;
        before += a->ios;
        after += z->ios;
    }
    return after < before;
}

enum figure { IOS, BYTES, MERGES, MERGED_PCT, AWAIT, SIZE };

static double disk_get_measure(const struct change *c, enum figure f, int k,
                               double seconds)
{
    switch (f) {
    case IOS:
        return iostat_ratio(c->ios[k], seconds);
    case BYTES: /* MiB/s, of sectors of 512 bytes */
        return iostat_ratio(c->sectors[k] / 2048, seconds);
    case MERGES:
        return iostat_ratio(c->merges[k], seconds);
    case MERGED_PCT:
        return 100 * iostat_ratio(c->merges[k], c->merges[k] + c->ios[k]);
    case AWAIT: /* ms */
        return iostat_ratio(c->ms[k], c->ios[k]);
    case SIZE: /* KiB */
        return iostat_ratio(c->sectors[k] / 2, c->ios[k]);
    }
    return 0;
}

void pr_iostat_put_disk(struct pr_buf *b, const char *name,
                        const struct pr_iostat_disk *then,
                        const struct pr_iostat_disk *now, double seconds)
{
    static const char *const keys[][PR_IOSTAT_KINDS] = {
        [IOS] = {"r/s", "w/s", "d/s"},
        [BYTES] = {"rMB/s", "wMB/s", "dMB/s"},
        [MERGES] = {"rrqm/s", "wrqm/s", "drqm/s"},
        [MERGED_PCT] = {"rrqm", "wrqm", "drqm"},
        [AWAIT] = {"r_await", "w_await", "d_await"},
        [SIZE] = {"rareq-sz", "wareq-sz", "dareq-sz"},
    };
    static const struct pr_iostat_disk zero;
    struct change c =
        disk_get_change(came_again(then, now) ? &zero : then, now);

    pr_buf_str(b, "{\"disk_device\": ");
    pr_json_write_string(b, name, strlen(name));
    for (enum figure f = IOS; f <= SIZE; f++) {
        for (int k = 0; k < PR_IOSTAT_KINDS; k++) {
            pr_buf_str(b, ", ");
            iostat_put_cents(b, keys[f][k],
                             disk_get_measure(&c, f, k, seconds));
        }
        if (f != IOS && f != AWAIT)
            continue;
        pr_buf_str(b, ", ");
        iostat_put_cents(b, f == IOS ? "f/s" : "f_await",
                         f == IOS ? iostat_ratio(c.flushes, seconds)
                                  : iostat_ratio(c.flush_ms, c.flushes));
    }
    pr_buf_str(b, ", ");
    iostat_put_cents(b, "aqu-sz", iostat_ratio(c.queue_ms / 1000, seconds));
    pr_buf_str(b, ", ");
    iostat_put_cents(b, "util", 100 * iostat_ratio(c.busy_ms / 1000, seconds));
    pr_buf_char(b, '}');
}

/* ---- the file */

static void put_date(struct pr_buf *b, const char *form, uint64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / 1000000000u);
    struct tm tm;
    char text[64] = "";

    if (localtime_r(&seconds, &tm))
        (void)strftime(text, sizeof text, form, &tm);
    pr_buf_str(b, text);
}

static void iostat_put_text(struct pr_buf *b, const char *key,
                            const char *value)
{
    pr_buf_printf(b, "\t\t\t\"%s\": ", key);
    pr_json_write_string(b, value, strlen(value));
    pr_buf_str(b, ",\n");
}

static void iostat_put_header(struct pr_buf *b, const struct pr_iostat_text *t)
{
    struct utsname u;

    memset(&u, 0, sizeof u);
    (void)uname(&u);
    pr_buf_str(b, "{\"sysstat\": {\n\t\"hosts\": [\n\t\t{\n");
    iostat_put_text(b, "nodename", u.nodename);
    iostat_put_text(b, "sysname", u.sysname);
    iostat_put_text(b, "release", u.release);
    iostat_put_text(b, "machine", u.machine);
    pr_buf_printf(b, "\t\t\t\"number-of-cpus\": %u,\n\t\t\t\"date\": \"",
                  t->cpus);
    put_date(b, "%m/%d/%y", pr_iostat_log_at(t->log, 0)->wall_ns);
    pr_buf_str(b, "\",\n\t\t\t\"statistics\": [\n");
}

/* Interval i: between snapshots i - 1 and i. */
static void iostat_put_interval(struct pr_buf *b,
                                const struct pr_iostat_text *t, size_t i)
{
    const struct pr_iostat_snap *then = pr_iostat_log_at(t->log, i - 1);
    const struct pr_iostat_snap *now = pr_iostat_log_at(t->log, i);
    double seconds = (double)(now->clock_ns - then->clock_ns) / 1e9;
    bool first = true;

    pr_buf_str(b, "\n\t\t\t\t{\n\t\t\t\t\t\"timestamp\": \"");
    put_date(b, "%m/%d/%y %H:%M:%S", now->wall_ns);
    pr_buf_str(b, "\",\n\t\t\t\t\t");
    pr_iostat_put_cpu(b, &then->cpu, &now->cpu);
    pr_buf_str(b, ",\n\t\t\t\t\t\"disk\": [");
    for (size_t d = 0; d < t->devices; d++) {
        if (!then->disk[d].there || !now->disk[d].there)
            continue;
        pr_buf_str(b, first ? "\n\t\t\t\t\t\t" : ",\n\t\t\t\t\t\t");
        pr_iostat_put_disk(b, t->names[d], &then->disk[d], &now->disk[d],
                           seconds);
        first = false;
    }
    pr_buf_str(b, "\n\t\t\t\t\t]\n\t\t\t\t}");
}

static int put_piece(struct pr_new_file *f, struct pr_buf *b,
                     struct pr_err *err)
{
    int rc = pr_buf_ok(b) ? pr_file_append(f, b->data, b->len, err)
                          : pr_fail_nomem(err);

    pr_buf_clear(b);
    return rc;
}

static int iostat_write_intervals(struct pr_new_file *f,
                                  const struct pr_iostat_text *t,
                                  struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(SIZE_MAX / 2);
    int rc = PR_OK;

    iostat_put_header(&b, t);
    for (size_t i = 1; i < t->log->count && !rc; i++) {
        pr_buf_str(&b, i > 1 ? "," : "");
        iostat_put_interval(&b, t, i);
        if (b.len >= PIECE_BYTES)
            rc = put_piece(f, &b, err);
    }
    pr_buf_str(&b, "\n\t\t\t]\n\t\t}\n\t]\n}}\n");
    return rc ? rc : put_piece(f, &b, err);
}

/* Writes the file. */
static int iostat_write(const struct pr_iostat_text *t, const char *path,
                        struct pr_err *err)
{
    struct pr_new_file f;
    int rc;

    PR_TRY(pr_file_create(path, &f, err));
    f.later = true; /* until the experiment has its result */
    rc = iostat_write_intervals(&f, t, err);
    if (!rc)
        return pr_file_commit(&f, err);
    pr_file_discard(&f);
    return rc;
}

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

    PR_TRY(iostat_load(io->proc, "stat", &io->text, err));
    memset(s, 0, io->log.stride);
    if (!pr_iostat_read_cpu(io->text.data, &s->cpu, &io->cpus))
        return pr_fail(err, PR_E_FORMAT, io->proc,
                       "'stat' has no figures of processors");
    PR_TRY(iostat_load(io->proc, "diskstats", &io->text, err));
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
    PR_TRY(iostat_load(io->proc, "diskstats", &io->text, err));
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
    PR_TRY(iostat_read_snapshot(io, err));
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
    rc = iostat_write(&text, path, err);
    iostat_free(io);
    return rc;
}
