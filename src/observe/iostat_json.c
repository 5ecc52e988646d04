/*
 * The file that `iostat -mdxtcy -o JSON` writes: the same keys and nesting,
 * and the same figures from the same counters. Two things differ: intervals
 * are measured to the nanosecond, not to a hundredth of a second, and times
 * are UTC, as DLIO's own are.
 */
#include "base/file.h"
#include "base/json/json.h"
#include "observe/iostat_impl.h"

#include <string.h>
#include <sys/utsname.h>
#include <time.h>

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

int pr_iostat_write(const struct pr_iostat_text *t, const char *path,
                    struct pr_err *err)
{
    struct pr_new_file f;
    int rc = pr_file_create(path, &f, err);

    if (rc)
        return rc;
    f.later = true; /* until the experiment has its result */
    rc = iostat_write_intervals(&f, t, err);
    if (!rc)
        return pr_file_commit(&f, err);
    pr_file_discard(&f);
    return rc;
}
