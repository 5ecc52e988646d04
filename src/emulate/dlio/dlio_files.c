/*
 * Writes DLIO's result files. Those of an accelerator hold a number for every
 * step and are written in pieces, so that memory does not grow with them.
 */
#include "emulate/dlio/dlio_files.h"

#include "base/file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---- epochs */

/* The phases of one epoch; NULL: there was none. */
struct epoch_phases {
    const struct pr_emulate_phase *train, *eval;
};

static const struct pr_emulate_phase *
epoch_first_phase(const struct epoch_phases *x)
{
    return x->train ? x->train : x->eval;
}

static const struct pr_emulate_phase *
epoch_last_phase(const struct epoch_phases *x)
{
    return x->eval ? x->eval : x->train;
}

/* Takes the next epoch off a list of phases. False: it was the last one. */
static bool dlio_next_epoch(const struct pr_emulate_phase **cursor,
                            struct epoch_phases *ret)
{
    const struct pr_emulate_phase *p = *cursor;
    unsigned epoch;

    if (!p)
        return false;
    epoch = p->epoch;
    *ret = (struct epoch_phases){0};
    for (; p && p->epoch == epoch; p = p->next)
        *(p->evaluation ? &ret->eval : &ret->train) = p;
    *cursor = p;
    return true;
}

/* ---- R_per_epoch_stats.json: when epochs, blocks and checkpoints were */

void pr_dlio_put_time(struct pr_json_writer *jb, const char *key,
                      uint64_t wall_ns)
{
    char text[32];

    pr_json_put_str(jb, key, pr_dlio_format_time(text, wall_ns));
}

static void put_duration(struct pr_json_writer *jb, uint64_t start_ns,
                         uint64_t end_ns)
{
    char text[32];

    snprintf(text, sizeof text, "%.2f",
             end_ns > start_ns ? (double)(end_ns - start_ns) / 1e9 : 0);
    pr_json_put_str(jb, "duration", text);
}

/* Of a block, or of an evaluation as if it were one. */
static void dlio_put_block_times(struct pr_json_writer *jb, const char *key,
                                 const struct pr_emulate_block *b)
{
    pr_json_open_object(jb, key);
    pr_dlio_put_time(jb, "start", b->start_wall_ns);
    pr_dlio_put_time(jb, "end", b->end_wall_ns);
    put_duration(jb, b->start_ns, b->end_ns);
    pr_json_close(jb);
}

/* "block2". Returns out. */
static const char *dlio_block_name(const struct pr_emulate_block *b,
                                   char out[static 32])
{
    snprintf(out, 32, "block%" PRIu64, b->number);
    return out;
}

static void put_blocks(struct pr_json_writer *jb,
                       const struct pr_emulate_phase *p, uint64_t r,
                       const struct pr_checkpoint_op **ops)
{
    struct pr_emulate_block b = {0};
    char name[32];

    while (pr_emulate_phase_next_block(p, &b)) {
        dlio_put_block_times(jb, dlio_block_name(&b, name), &b);
        pr_dlio_put_checkpoint_ops(ops, p->epoch, b.number, r, jb);
    }
}

/* Begins the object of an epoch. */
static void dlio_begin_epoch(struct pr_json_writer *jb,
                             const struct epoch_phases *x)
{
    char key[16];

    snprintf(key, sizeof key, "%u", epoch_first_phase(x)->epoch);
    pr_json_open_object(jb, key);
}

/* As in DLIO the end is that of the epoch, the duration that of training. */
static void put_epoch_times(struct pr_json_writer *jb,
                            const struct epoch_phases *x, uint64_t r,
                            const struct pr_checkpoint_op **ops)
{
    const struct pr_emulate_phase *first = epoch_first_phase(x);

    dlio_begin_epoch(jb, x);
    pr_dlio_put_time(jb, "start", first->start_wall_ns);
    if (x->train)
        put_blocks(jb, x->train, r, ops);
    pr_dlio_put_checkpoint_ops(ops, first->epoch, 0, r, jb);
    pr_dlio_put_time(jb, "end", epoch_last_phase(x)->end_wall_ns);
    put_duration(jb, first->start_ns, first->end_ns);
    if (x->eval) {
        struct pr_emulate_block b = {0};

        pr_emulate_phase_next_block(x->eval, &b);
        dlio_put_block_times(jb, "eval", &b);
    }
    pr_json_close(jb);
}

/* The contents of R_per_epoch_stats.json; they differ in what a checkpoint
 * took. */
static void dlio_put_epoch_stats(const struct pr_emulate_stats *s, uint64_t r,
                                 struct pr_buf *out)
{
    const struct pr_emulate_phase *cursor = s->first;
    const struct pr_checkpoint_op *ops = s->checkpoints.first;
    struct epoch_phases x;
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, out, 4);
    pr_json_open_object(&jb, NULL);
    while (dlio_next_epoch(&cursor, &x))
        put_epoch_times(&jb, &x, r, &ops);
    if (!s->first && ops) { /* checkpoints alone are epoch 1 */
        pr_json_open_object(&jb, "1");
        pr_dlio_put_time(&jb, "start", s->start_wall_ns);
        pr_dlio_put_checkpoint_ops(&ops, 1, 0, r, &jb);
        pr_dlio_put_time(&jb, "end", s->end_wall_ns);
        pr_json_close(&jb);
    }
    pr_json_close(&jb);
    pr_buf_char(out, '\n');
}

enum { PIECE_BYTES = 1 << 20 };

/* A file on its way: what was not written yet is in buf. */
struct page {
    struct pr_new_file file;
    struct pr_buf buf;
    struct pr_json_writer jb;
    int rc;
    struct pr_err *err;
};

static void page_flush(struct page *g)
{
    if (!g->rc && !pr_buf_ok(&g->buf))
        g->rc = pr_fail_nomem(g->err);
    if (!g->rc && g->buf.len)
        g->rc = pr_file_append(&g->file, g->buf.data, g->buf.len, g->err);
    pr_buf_clear(&g->buf);
}

static void flush_if_full(struct page *g)
{
    if (g->buf.len >= PIECE_BYTES)
        page_flush(g);
}

int pr_dlio_file_path(char out[static 4096], const char *folder,
                      const char *name, struct pr_err *err)
{
    int n = snprintf(out, 4096, "%s/%s", folder, name);

    return n < 4096 ? PR_OK
                    : pr_fail(err, PR_E_IO, name, "its path is too long");
}

static int dlio_write_text(const char *folder, const char *name,
                           const struct pr_buf *text, struct pr_err *err)
{
    char path[4096];
    int rc = pr_dlio_file_path(path, folder, name, err);

    if (!rc && !pr_buf_ok(text))
        rc = pr_fail_nomem(err);
    return rc ? rc : pr_file_write_later(path, text->data, text->len, err);
}

/* ---- {r}_output.json */

enum list { LOAD, PROC, COMPUTE };

static uint64_t dlio_listed_steps(const struct pr_emulate_phase *p, uint64_t r)
{
    uint64_t steps = p->accel[r].steps;

    return steps < p->lists.room ? steps : p->lists.room;
}

/* To nanoseconds: a float has no more, and fewer digits are written faster. */
static double round_to_ns(double s)
{
    return rint(s * 1e9) / 1e9;
}

static void page_put_list(struct page *g, const char *key,
                          const struct pr_emulate_phase *p,
                          const struct pr_emulate_block *b, uint64_t r,
                          enum list which)
{
    uint64_t n = p->lists.room ? dlio_listed_steps(p, r) : 0;
    /* Of an evaluation all; an accelerator may have fewer than the first. */
    uint64_t from = b ? b->first : 0, to = b ? b->first + b->steps : n;

    pr_json_open_array(&g->jb, key);
    for (uint64_t i = from; i < n && i < to; i++) {
        size_t at = (size_t)(r * p->lists.room + i);
        double load = which == COMPUTE ? 0 : (double)p->lists.wait[at];
        double compute = which == LOAD ? 0 : (double)p->lists.compute[at];

        pr_json_put_float(&g->jb, NULL, round_to_ns(load + compute));
        flush_if_full(g);
    }
    pr_json_close(&g->jb);
}

static void page_put_lists(struct page *g, const char *key,
                           const struct epoch_phases *x, uint64_t r,
                           enum list which)
{
    struct pr_emulate_block b = {0};
    char name[32];

    pr_json_open_object(&g->jb, key);
    while (x->train && pr_emulate_phase_next_block(x->train, &b))
        page_put_list(g, dlio_block_name(&b, name), x->train, &b, r, which);
    if (x->eval)
        page_put_list(g, "eval", x->eval, NULL, r, which);
    pr_json_close(&g->jb);
}

/* DLIO's figures of a block of an accelerator; of the last one they follow
 * from those of all. */
static double block_figure(const struct pr_emulate_phase *p,
                           const struct pr_emulate_block *b, uint64_t r,
                           bool au)
{
    const struct pr_emulate_accelerator_stats *a = &p->accel[r];
    double all = au ? pr_dlio_au(p, r) : pr_dlio_throughput(p, r, 1);
    double before = au ? a->blocks_au : a->blocks_rate;
    const float *of = au ? b->rank_au : b->rank_rate;

    if (of)
        return (double)of[r];
    if (!a->blocks_steps)
        return all;
    if (a->steps == a->blocks_steps)
        return 0;
    return fmax(0, (all * (double)a->steps - before) /
                       (double)(a->steps - a->blocks_steps));
}

static void page_put_measure(struct page *g, const struct pr_emulate *e,
                             const struct epoch_phases *x, uint64_t r, bool au)
{
    struct pr_emulate_block b = {0};
    char name[32];

    pr_json_open_object(&g->jb, au ? "au" : "throughput");
    while (x->train && pr_emulate_phase_next_block(x->train, &b))
        if (b.rank_au || !b.next) /* of the others nothing was kept */
            pr_json_put_float(
                &g->jb, dlio_block_name(&b, name),
                block_figure(x->train, &b, r, au) *
                    (au ? 1 : (double)pr_dlio_batch_size(e, false)));
    if (x->eval)
        pr_json_put_float(
            &g->jb, "eval",
            au ? pr_dlio_au(x->eval, r)
               : pr_dlio_throughput(x->eval, r, pr_dlio_batch_size(e, true)));
    pr_json_close(&g->jb);
}

static void page_put_measures(struct page *g, const struct pr_emulate *e,
                              const struct epoch_phases *x, uint64_t r)
{
    page_put_measure(g, e, x, r, false);
    page_put_measure(g, e, x, r, true);
}

static void page_put_epoch(struct page *g, const struct pr_emulate *e,
                           const struct epoch_phases *x, uint64_t r)
{
    dlio_begin_epoch(&g->jb, x);
    page_put_lists(g, "load", x, r, LOAD);
    page_put_lists(g, "proc", x, r, PROC);
    page_put_measures(g, e, x, r);
    page_put_lists(g, "compute", x, r, COMPUTE);
    pr_dlio_put_pairs(&g->jb, "host_meminfo", epoch_first_phase(x)->meminfo);
    pr_dlio_put_time(&g->jb, "end", epoch_last_phase(x)->end_wall_ns);
    pr_json_close(&g->jb);
    flush_if_full(g);
}

/* Checkpoints alone: DLIO has an epoch without steps. */
static void put_empty_epoch(struct page *g, const struct pr_emulate_stats *s)
{
    static const char *const names[] = {"load", "proc", "throughput", "au",
                                        "compute"};

    pr_json_open_object(&g->jb, "1");
    pr_dlio_put_time(&g->jb, "start", s->start_wall_ns);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        pr_json_open_object(&g->jb, names[i]);
        pr_json_close(&g->jb);
    }
    pr_dlio_put_time(&g->jb, "end", s->end_wall_ns);
    pr_json_close(&g->jb);
}

static void dlio_put_host(struct pr_json_writer *jb, const struct pr_emulate *e,
                          const struct pr_dlio_host *h)
{
    pr_json_put_float(jb, "host_memory_GB", h->memory_gb);
    pr_json_put_uint(jb, "host_cpu_count", h->cpus);
    pr_json_put_str(jb, "host_processor_name", h->processor);
    pr_json_put_int(jb, "potential_caching", pr_dlio_can_cache(e, h));
    pr_dlio_put_pairs(jb, "host_cpuinfo", h->cpuinfo);
    pr_dlio_put_pairs(jb, "host_meminfo", h->meminfo);
}

/* Says so where lists are shorter than training was. */
static void dlio_put_missing(struct pr_json_writer *jb,
                             const struct pr_emulate_stats *s, uint64_t r)
{
    uint64_t all = 0, have = 0;

    for (const struct pr_emulate_phase *p = s->first; p; p = p->next) {
        all += p->accel[r].steps;
        have += dlio_listed_steps(p, r);
    }
    if (have == all)
        return;
    pr_json_open_object(jb, "prony");
    pr_json_put_str(
        jb, "note",
        "the lists hold the first steps only, the figures cover all");
    pr_json_put_uint(jb, "steps", all);
    pr_json_put_uint(jb, "steps_listed", have);
    pr_json_close(jb);
}

static void put_output(struct page *g, const struct pr_emulate *e,
                       const struct pr_emulate_stats *s,
                       const struct pr_dlio_host *h, uint64_t r)
{
    const struct pr_emulate_phase *cursor = s->first;
    struct epoch_phases x;

    pr_json_writer_init(&g->jb, &g->buf, 4);
    pr_json_open_object(&g->jb, NULL);
    dlio_put_host(&g->jb, e, h);
    while (!g->rc && dlio_next_epoch(&cursor, &x))
        page_put_epoch(g, e, &x, r);
    if (!s->first && s->checkpoints.first)
        put_empty_epoch(g, s);
    pr_json_put_str(&g->jb, "hostname", h->name);
    dlio_put_missing(&g->jb, s, r);
    while (g->jb.depth)
        pr_json_close(&g->jb);
    pr_buf_char(&g->buf, '\n');
    page_flush(g);
}

static int write_output(struct page *g, const struct pr_emulate *e,
                        const struct pr_emulate_stats *s,
                        const struct pr_dlio_host *h, const char *folder,
                        uint64_t r)
{
    char name[48], path[4096];

    snprintf(name, sizeof name, "%" PRIu64 "_output.json", r);
    g->rc = pr_dlio_file_path(path, folder, name, g->err);
    if (!g->rc)
        g->rc = pr_file_create(path, &g->file, g->err);
    if (g->rc)
        return g->rc;
    g->file.later = true; /* whoever owns the folder syncs it */
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

    for (uint64_t r = 0; !rc && r < e->accelerators && r < PR_DLIO_RANKS; r++) {
        if (!r || s->checkpoints.first) { /* else all are alike */
            pr_buf_clear(&times);
            dlio_put_epoch_stats(s, r, &times);
        }
        rc = write_output(&g, e, s, h, folder, r);
        snprintf(name, sizeof name, "%" PRIu64 "_per_epoch_stats.json", r);
        if (!rc)
            rc = dlio_write_text(folder, name, &times, err);
    }
    pr_buf_free(&g.buf);
    return rc;
}

int pr_dlio_write_files(const struct pr_emulate *e,
                        const struct pr_emulate_stats *s, const char *folder,
                        struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    PR_AUTO_BUF struct pr_buf summary = PR_BUF_INIT((size_t)1 << 30);
    struct pr_dlio_host h;

    if (!a)
        return pr_fail_nomem(err);
    pr_dlio_host_read(&h, a);
    PR_TRY(write_ranks(e, s, &h, folder, err));
    pr_dlio_put_summary(e, s, &h, &summary);
    return dlio_write_text(folder, "summary.json", &summary, err);
}
