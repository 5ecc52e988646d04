/*
 * Writes DLIO's result files. Those of an accelerator hold a number for every
 * step and are written in pieces, so that memory does not grow with them.
 */
#include "base/file.h"
#include "workload/emulate_dlio_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { PIECE_BYTES = 1 << 20 };

/* A file on its way: what was not written yet is in buf. */
struct page {
    struct pr_new_file file;
    struct pr_buf buf;
    struct pr_jb jb;
    int rc;
    struct pr_err *err;
};

static void flush(struct page *g)
{
    if (!g->rc && !pr_buf_ok(&g->buf))
        g->rc = pr_fail_nomem(g->err);
    if (!g->rc && g->buf.len)
        g->rc = pr_file_put(&g->file, g->buf.data, g->buf.len, g->err);
    pr_buf_clear(&g->buf);
}

static void flush_if_full(struct page *g)
{
    if (g->buf.len >= PIECE_BYTES)
        flush(g);
}

static int path_of(char out[static 4096], const char *folder, const char *name,
                   struct pr_err *err)
{
    int n = snprintf(out, 4096, "%s/%s", folder, name);

    return n < 4096 ? PR_OK
                    : pr_fail(err, PR_E_IO, name, "its path is too long");
}

static int write_text(const char *folder, const char *name,
                      const struct pr_buf *text, struct pr_err *err)
{
    char path[4096];
    int rc = path_of(path, folder, name, err);

    if (!rc && !pr_buf_ok(text))
        rc = pr_fail_nomem(err);
    return rc ? rc : pr_file_write(path, text->data, text->len, err);
}

/* ---- {r}_per_epoch_stats.json */

static void put_time(struct pr_jb *jb, const char *key, uint64_t wall_ns)
{
    char text[32];

    pr_jb_str(jb, key, pr_dlio_time(text, wall_ns));
}

static void put_duration(struct pr_jb *jb, const struct pr_phase *p)
{
    char text[32];

    snprintf(text, sizeof text, "%.2f", pr_phase_seconds(p));
    pr_jb_str(jb, "duration", text);
}

static void put_span(struct pr_jb *jb, const char *key,
                     const struct pr_phase *p)
{
    pr_jb_obj(jb, key);
    put_time(jb, "start", p->start_wall_ns);
    put_time(jb, "end", p->end_wall_ns);
    put_duration(jb, p);
    pr_jb_end(jb);
}

static const struct pr_phase *first_of(const struct pr_dlio_epoch *x)
{
    return x->train ? x->train : x->eval;
}

static const struct pr_phase *last_of(const struct pr_dlio_epoch *x)
{
    return x->eval ? x->eval : x->train;
}

static void open_epoch(struct pr_jb *jb, const struct pr_dlio_epoch *x)
{
    char key[16];

    snprintf(key, sizeof key, "%u", first_of(x)->epoch);
    pr_jb_obj(jb, key);
}

/* As in DLIO the end is that of the epoch, the duration that of training. */
static void put_epoch_times(struct pr_jb *jb, const struct pr_dlio_epoch *x)
{
    open_epoch(jb, x);
    put_time(jb, "start", first_of(x)->start_wall_ns);
    if (x->train)
        put_span(jb, "block1", x->train);
    put_time(jb, "end", last_of(x)->end_wall_ns);
    put_duration(jb, first_of(x));
    if (x->eval)
        put_span(jb, "eval", x->eval);
    pr_jb_end(jb);
}

static void per_epoch(const struct pr_emulate_stats *s, struct pr_buf *out)
{
    const struct pr_phase *cursor = s->first;
    struct pr_dlio_epoch x;
    struct pr_jb jb;

    pr_jb_init(&jb, out, 4);
    pr_jb_obj(&jb, NULL);
    while (pr_dlio_next(&cursor, &x))
        put_epoch_times(&jb, &x);
    pr_jb_end(&jb);
    pr_buf_char(out, '\n');
}

/* ---- {r}_output.json */

enum list { LOAD, PROC, COMPUTE };

static uint64_t listed(const struct pr_phase *p, uint64_t r)
{
    uint64_t steps = p->accel[r].steps;

    return steps < p->lists.room ? steps : p->lists.room;
}

/* To nanoseconds: a float has no more, and fewer digits are written faster. */
static double tidy(double s)
{
    return rint(s * 1e9) / 1e9;
}

static void put_list(struct page *g, const char *key, const struct pr_phase *p,
                     uint64_t r, enum list which)
{
    uint64_t n = listed(p, r);

    if (!p->lists.room)
        n = 0;
    pr_jb_arr(&g->jb, key);
    for (uint64_t i = 0; i < n; i++) {
        size_t at = (size_t)(r * p->lists.room + i);
        double load = which == COMPUTE ? 0 : (double)p->lists.wait[at];
        double compute = which == LOAD ? 0 : (double)p->lists.compute[at];

        pr_jb_float(&g->jb, NULL, tidy(load + compute));
        flush_if_full(g);
    }
    pr_jb_end(&g->jb);
}

static void put_lists(struct page *g, const char *key,
                      const struct pr_dlio_epoch *x, uint64_t r,
                      enum list which)
{
    pr_jb_obj(&g->jb, key);
    if (x->train)
        put_list(g, "block1", x->train, r, which);
    if (x->eval)
        put_list(g, "eval", x->eval, r, which);
    pr_jb_end(&g->jb);
}

static void put_figures(struct page *g, const struct pr_emulate *e,
                        const struct pr_dlio_epoch *x, uint64_t r)
{
    pr_jb_obj(&g->jb, "throughput");
    if (x->train)
        pr_jb_float(&g->jb, "block1",
                    pr_dlio_throughput(x->train, r, pr_dlio_batch(e, false)));
    if (x->eval)
        pr_jb_float(&g->jb, "eval",
                    pr_dlio_throughput(x->eval, r, pr_dlio_batch(e, true)));
    pr_jb_end(&g->jb);
    pr_jb_obj(&g->jb, "au");
    if (x->train)
        pr_jb_float(&g->jb, "block1", pr_dlio_au(x->train, r));
    if (x->eval)
        pr_jb_float(&g->jb, "eval", pr_dlio_au(x->eval, r));
    pr_jb_end(&g->jb);
}

static void put_epoch(struct page *g, const struct pr_emulate *e,
                      const struct pr_dlio_host *h,
                      const struct pr_dlio_epoch *x, uint64_t r)
{
    const char *meminfo = first_of(x)->meminfo;

    open_epoch(&g->jb, x);
    put_lists(g, "load", x, r, LOAD);
    put_lists(g, "proc", x, r, PROC);
    put_figures(g, e, x, r);
    put_lists(g, "compute", x, r, COMPUTE);
    pr_dlio_pairs(&g->jb, "host_meminfo", meminfo ? meminfo : h->meminfo);
    put_time(&g->jb, "end", last_of(x)->end_wall_ns);
    pr_jb_end(&g->jb);
    flush_if_full(g);
}

static void put_host(struct pr_jb *jb, const struct pr_emulate *e,
                     const struct pr_dlio_host *h)
{
    pr_jb_float(jb, "host_memory_GB", h->memory_gb);
    pr_jb_uint(jb, "host_cpu_count", h->cpus);
    pr_jb_str(jb, "host_processor_name", h->processor);
    pr_jb_int(jb, "potential_caching", pr_dlio_may_cache(e, h));
    pr_dlio_pairs(jb, "host_cpuinfo", h->cpuinfo);
    pr_dlio_pairs(jb, "host_meminfo", h->meminfo);
}

/* Says so where lists are shorter than training was. */
static void put_missing(struct pr_jb *jb, const struct pr_emulate_stats *s,
                        uint64_t r)
{
    uint64_t all = 0, have = 0;

    for (const struct pr_phase *p = s->first; p; p = p->next) {
        all += p->accel[r].steps;
        have += listed(p, r);
    }
    if (have == all)
        return;
    pr_jb_obj(jb, "prony");
    pr_jb_str(jb, "note",
              "the lists hold the first steps only, the figures cover all");
    pr_jb_uint(jb, "steps", all);
    pr_jb_uint(jb, "steps_listed", have);
    pr_jb_end(jb);
}

static void put_output(struct page *g, const struct pr_emulate *e,
                       const struct pr_emulate_stats *s,
                       const struct pr_dlio_host *h, uint64_t r)
{
    const struct pr_phase *cursor = s->first;
    struct pr_dlio_epoch x;

    pr_jb_init(&g->jb, &g->buf, 4);
    pr_jb_obj(&g->jb, NULL);
    put_host(&g->jb, e, h);
    while (!g->rc && pr_dlio_next(&cursor, &x))
        put_epoch(g, e, h, &x, r);
    pr_jb_str(&g->jb, "hostname", h->name);
    put_missing(&g->jb, s, r);
    while (g->jb.depth)
        pr_jb_end(&g->jb);
    pr_buf_char(&g->buf, '\n');
    flush(g);
}

static int write_output(struct page *g, const struct pr_emulate *e,
                        const struct pr_emulate_stats *s,
                        const struct pr_dlio_host *h, const char *folder,
                        uint64_t r)
{
    char name[48], path[4096];

    snprintf(name, sizeof name, "%" PRIu64 "_output.json", r);
    g->rc = path_of(path, folder, name, g->err);
    if (!g->rc)
        g->rc = pr_file_create(path, &g->file, g->err);
    if (g->rc)
        return g->rc;
    put_output(g, e, s, h, r);
    if (!g->rc)
        g->rc = pr_file_commit(&g->file, g->err);
    if (g->rc)
        pr_file_discard(&g->file);
    return g->rc;
}

/* ---- all of them */

static int write_ranks(const struct pr_emulate *e,
                       const struct pr_emulate_stats *s,
                       const struct pr_dlio_host *h, const char *folder,
                       struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf times = PR_BUF_INIT((size_t)1 << 30);
    struct page g = {
        .file = {.fd = -1},
        .buf = PR_BUF_INIT(PIECE_BYTES * (size_t)64),
        .err = err,
    };
    char name[48];
    int rc = PR_OK;

    per_epoch(s, &times); /* all accelerators begin and end together */
    for (uint64_t r = 0; !rc && r < e->accelerators && r < PR_DLIO_RANKS; r++) {
        rc = write_output(&g, e, s, h, folder, r);
        snprintf(name, sizeof name, "%" PRIu64 "_per_epoch_stats.json", r);
        if (!rc)
            rc = write_text(folder, name, &times, err);
    }
    pr_buf_done(&g.buf);
    return rc;
}

int pr_dlio_write(const struct pr_emulate *e, const struct pr_emulate_stats *s,
                  const char *folder, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    PR_AUTO_BUF struct pr_buf summary = PR_BUF_INIT((size_t)1 << 30);
    struct pr_dlio_host h;
    int rc;

    if (!a)
        return pr_fail_nomem(err);
    pr_dlio_host_read(&h, a);
    rc = write_ranks(e, s, &h, folder, err);
    if (rc)
        return rc;
    pr_dlio_summary(e, s, &h, &summary);
    return write_text(folder, "summary.json", &summary, err);
}
