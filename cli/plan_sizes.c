/* Sizes that a plan comes to: what MLPerf Storage asks of its experiments, and
 * the checkpoints they would write; as text for people, JSON for programs. */
#include "base/json/json_write.h"
#include "base/units.h"
#include "checkpoint/checkpoint_shape.h"
#include "cli/targets.h"
#include "present/report/report_mlperf.h"
#include "present/table/table.h"
#include "run/plan_jobs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * What MLPerf Storage asks: the size of the data as `mlpstorage … datasize`
 * gives it, and with mlperf.division the rules that can be checked before the
 * run.
 */
enum { MAX_SHOWN = 4, MAX_RANKS = 1 << 20, FLUSH_AT = 1 << 16 };

/* Of a checkpoint, by process. */
struct mlperf_checkpoint {
    struct pr_checkpoint_shape shape;
    struct pr_checkpoint_sum all, here;
    uint64_t most;   /* bytes of the process that writes most */
    uint64_t memory; /* that writing takes here */
};

struct plans {
    struct cli *c;
    struct pr_buf *out;
    struct pr_json_writer *jb; /* or NULL */
    uint64_t memory;           /* of this machine */
    uint64_t shown, more;
};

static uint64_t this_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

static double plan_sizes_to_gib(uint64_t bytes)
{
    return (double)bytes / 0x1p30;
}

/* ---- MLPerf: checkpoints */

static int plan_mlperf_size_checkpoint(const struct pr_job *job, uint64_t ranks,
                                       struct mlperf_checkpoint *ret,
                                       struct pr_err *err)
{
    uint64_t threads;
    int rc = pr_checkpoint_shape_init(&ret->shape, job->params, ranks,
                                      job->arena, err);

    if (rc) { /* what is wrong with it is said elsewhere */
        ret->shape.all = 0;
        return rc == PR_E_NOMEM ? rc : PR_OK;
    }
    pr_checkpoint_sum_ranks(&ret->shape, 0, ret->shape.all, &ret->all);
    pr_checkpoint_sum_ranks(&ret->shape, ret->shape.first, ret->shape.ranks,
                            &ret->here);
    ret->most = 0;
    for (uint64_t r = 0; r < ret->shape.ranks && r < MAX_RANKS; r++) {
        struct pr_checkpoint_sum one;

        pr_checkpoint_sum_ranks(&ret->shape, ret->shape.first + r, 1, &one);
        if (one.model_bytes + one.optimizer_bytes > ret->most)
            ret->most = one.model_bytes + one.optimizer_bytes;
    }
    threads = (uint64_t)ret->shape.opts.writers;
    if (!threads)
        threads = ret->shape.ranks < 64 ? ret->shape.ranks : 64;
    ret->memory = threads * ret->shape.opts.block_size;
    return PR_OK;
}

static void plan_mlperf_checkpoint_text(const struct pr_mlperf *m,
                                        const struct mlperf_checkpoint *k,
                                        struct pr_buf *out)
{
    uint64_t all = k->all.model_bytes + k->all.optimizer_bytes;
    uint64_t here = k->here.model_bytes + k->here.optimizer_bytes;
    bool subset = k->shape.all != k->shape.ranks;
    char a[16], b[16];

    if (m->ranks)
        pr_buf_printf(out, "  processes   %llu for CLOSED%s; here %llu\n",
                      (unsigned long long)m->ranks,
                      m->ranks > 8
                          ? ", or 8 on one machine with checkpoint.mode=subset"
                          : "",
                      (unsigned long long)m->accelerators);
    pr_buf_printf(out, "  checkpoint  %s (%.2f GiB): model %s, optimiser %s\n",
                  pr_format_bytes(a, all), plan_sizes_to_gib(all),
                  pr_format_bytes((char[16]){0}, k->all.model_bytes),
                  pr_format_bytes(b, k->all.optimizer_bytes));
    if (subset)
        pr_buf_printf(out,
                      "  of it here  %s (%.2f GiB) by %llu of %llu "
                      "processes\n",
                      pr_format_bytes(a, here), plan_sizes_to_gib(here),
                      (unsigned long long)k->shape.ranks,
                      (unsigned long long)k->shape.all);
    pr_buf_printf(out,
                  "  a process   %s (%.2f GiB) at most, which DLIO holds in "
                  "memory: %s for all; prony takes about %s\n",
                  pr_format_bytes(a, k->most), plan_sizes_to_gib(k->most),
                  pr_format_bytes((char[16]){0}, here),
                  pr_format_bytes(b, k->memory));
}

static void plan_mlperf_checkpoint_json(const struct pr_mlperf *m,
                                        const struct mlperf_checkpoint *k,
                                        struct pr_json_writer *jb)
{
    pr_json_open_object(jb, "checkpoint_size");
    if (m->ranks)
        pr_json_put_uint(jb, "closed_processes", m->ranks);
    pr_json_put_uint(jb, "processes", k->shape.ranks);
    pr_json_put_uint(jb, "bytes", k->all.model_bytes + k->all.optimizer_bytes);
    pr_json_put_uint(jb, "model_bytes", k->all.model_bytes);
    pr_json_put_uint(jb, "optimizer_bytes", k->all.optimizer_bytes);
    pr_json_put_uint(jb, "bytes_here",
                     k->here.model_bytes + k->here.optimizer_bytes);
    pr_json_put_uint(jb, "process_bytes_max", k->most);
    pr_json_put_uint(jb, "memory_bytes", k->memory);
    pr_json_close(jb);
}

/* ---- MLPerf: data sets */

/* The command that makes the data: the targets as they were given, with what
 * belongs to the data set. */
static void plan_mlperf_write_command(const struct cli *c,
                                      const struct pr_mlperf_size *s,
                                      struct pr_buf *out)
{
    pr_buf_str(out, "  make it     prony generate");
    for (size_t i = 0; i < c->rest_count; i++) {
        const char *arg = c->rest[i], *name = arg + strspn(arg, "+");

        if (strncmp(name, "workload.", 9) == 0)
            name += 9;
        if (strchr(arg, '=') &&
            (strncmp(name, "dataset.num_files_train=", 24) == 0 ||
             strncmp(name, "dataset.num_subfolders_train=", 29) == 0 ||
             (strncmp(name, "dataset.", 8) != 0 &&
              strncmp(name, "storage.", 8) != 0)))
            continue;
        pr_buf_printf(out, strpbrk(arg, " \t*?[]{}$") ? " '%s'" : " %s", arg);
    }
    pr_buf_printf(out, " dataset.num_files_train=%llu",
                  (unsigned long long)s->files);
    if (s->subfolders)
        pr_buf_printf(out, " dataset.num_subfolders_train=%llu",
                      (unsigned long long)s->subfolders);
    pr_buf_char(out, '\n');
}

static void data_text(const struct cli *c, const struct pr_mlperf *m,
                      struct pr_buf *out)
{
    const struct pr_mlperf_size *s = &m->size;
    bool memory = s->by_memory > s->by_steps;
    char a[16];

    pr_buf_printf(
        out,
        "  files       %llu, by %s (%llu by 5 x memory, %llu by 500 "
        "steps)\n",
        (unsigned long long)s->files, memory ? "5 x memory" : "500 steps",
        (unsigned long long)s->by_memory, (unsigned long long)s->by_steps);
    pr_buf_printf(out, "  bytes       %s (%.2f GiB)\n",
                  pr_format_bytes(a, s->bytes), plan_sizes_to_gib(s->bytes));
    if (s->subfolders)
        pr_buf_printf(out,
                      "  folders     %llu, for about 10,000 files in each: "
                      "dataset.num_subfolders_train=%llu\n",
                      (unsigned long long)s->subfolders,
                      (unsigned long long)s->subfolders);
    plan_mlperf_write_command(c, s, out);
}

/* ---- MLPerf: experiments */

static void plan_mlperf_write_heading(const struct pr_mlperf *m, const char *id,
                                      struct pr_buf *out)
{
    char a[16];

    pr_buf_printf(out, "\nMLPerf Storage v2.0, %s, %s: %llu accelerator%s",
                  m->workload ? m->workload : "no workload of it", id,
                  (unsigned long long)m->accelerators,
                  m->accelerators == 1 ? "" : "s");
    pr_buf_printf(out, ", %llu host%s with %s of memory%s\n",
                  (unsigned long long)m->hosts, m->hosts == 1 ? "" : "s",
                  pr_format_bytes(a, m->host_memory),
                  m->hosts == 1 ? "" : " each");
}

static int plan_mlperf_write_text(struct plans *l, const struct pr_job *job,
                                  const struct pr_mlperf *m,
                                  const struct mlperf_checkpoint *k,
                                  struct pr_err *err)
{
    if (l->shown++ >= MAX_SHOWN) {
        l->more++;
        return PR_OK;
    }
    plan_mlperf_write_heading(m, job->id, l->out);
    if (m->is_checkpoint && k->shape.all)
        plan_mlperf_checkpoint_text(m, k, l->out);
    else if (!m->is_checkpoint)
        data_text(l->c, m, l->out);
    return strcmp(m->division, "none") == 0
               ? PR_OK
               : pr_mlperf_text(m, job->id, PR_TABLE_TEXT, NULL, l->out, err);
}

/* The first one opens the list; what is long goes out at once. */
static int plan_mlperf_write_json(struct plans *l, const struct pr_job *job,
                                  const struct pr_mlperf *m,
                                  const struct mlperf_checkpoint *k,
                                  struct pr_err *err)
{
    int rc = PR_OK;

    if (!l->shown++) {
        pr_buf_str(l->out, ", \"mlperf\": ");
        pr_json_open_array(l->jb, NULL);
    }
    pr_json_open_object(l->jb, NULL);
    pr_json_put_str(l->jb, "id", job->id);
    pr_mlperf_json(m, l->jb);
    if (m->is_checkpoint && k->shape.all)
        plan_mlperf_checkpoint_json(m, k, l->jb);
    pr_json_close(l->jb);
    if (l->out->len > FLUSH_AT) {
        rc = answer_print_buf(l->out, err);
        pr_buf_clear(l->out);
    }
    return rc;
}

static int plan_mlperf_add_job(void *ctx, struct pr_job *job,
                               struct pr_err *err)
{
    struct plans *l = ctx;
    struct pr_mlperf_in in = {job->params, NULL, l->memory};
    struct pr_mlperf m;
    struct mlperf_checkpoint k;
    int rc;

    if (!pr_mlperf_is_concerned(job->params))
        return PR_OK;
    rc = pr_mlperf_judge_experiment(&in, job->arena, &m, err);
    if (!rc && m.is_checkpoint)
        rc = plan_mlperf_size_checkpoint(job, m.accelerators, &k, err);
    if (rc)
        return rc;
    return l->jb ? plan_mlperf_write_json(l, job, &m, &k, err)
                 : plan_mlperf_write_text(l, job, &m, &k, err);
}

int plan_mlperf_text(struct cli *c, struct pr_plan *p, struct pr_buf *out,
                     struct pr_err *err)
{
    struct plans l = {.c = c, .out = out, .memory = this_memory()};
    int rc = pr_plan_each_job(p, "emulate", plan_mlperf_add_job, &l, err);

    if (!rc && l.more)
        pr_buf_printf(out, "\n… and %llu more for MLPerf, see --format json\n",
                      (unsigned long long)l.more);
    return rc;
}

int plan_mlperf_json(struct cli *c, struct pr_plan *p, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1u << 30);
    struct pr_json_writer jb;
    struct plans l = {.c = c, .out = &out, .jb = &jb, .memory = this_memory()};
    int rc;

    pr_json_writer_init(&jb, &out, 0);
    rc = pr_plan_each_job(p, "emulate", plan_mlperf_add_job, &l, err);
    if (rc || !l.shown)
        return rc;
    pr_json_close(&jb);
    return answer_print_buf(&out, err);
}

/* ---- checkpoints */

typedef unsigned long long ull;

enum {
    MAX_ROWS = 40,
    CELL = 96,
};

/* One experiment's. */
struct entry {
    const char *id;
    struct pr_checkpoint_shape shape;
    struct pr_checkpoint_sum all, rank0;
};

struct gather {
    void (*add)(void *ctx, const struct entry *e);
    void *ctx;
    uint64_t count;
};

static int plan_checkpoint_add_job(void *ctx, struct pr_job *job,
                                   struct pr_err *err)
{
    struct gather *g = ctx;
    struct pr_workflow_opts flow;
    struct entry e = {.id = job->id};
    int rc;

    if (pr_job_is_off(job))
        return PR_OK;
    rc = pr_opt_fill(&pr_workflow_section, job->params, job->arena, &flow, err);
    if (rc || !flow.checkpoint)
        return rc;
    rc = pr_checkpoint_shape_init(&e.shape, job->params,
                                  (uint64_t)job->exp.accelerators, job->arena,
                                  err);
    if (rc)
        return rc;
    pr_checkpoint_sum_ranks(&e.shape, 0, e.shape.all, &e.all);
    pr_checkpoint_sum_ranks(&e.shape, 0, 1, &e.rank0);
    g->add(g->ctx, &e);
    g->count++;
    return PR_OK;
}

static int plan_checkpoint_each(struct pr_plan *p, struct gather *g,
                                struct pr_err *err)
{
    return pr_plan_each_job(p, "emulate", plan_checkpoint_add_job, g, err);
}

/* ---- checkpoints for people */

/* 1183035102480 as 1,183,035,102,480. */
static void in_groups(char out[static CELL], uint64_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (ull)n), to = 0;

    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            out[to++] = ',';
        out[to++] = digits[i];
    }
    out[to] = '\0';
}

static void set_gib(struct pr_table *t, size_t col, uint64_t bytes)
{
    char text[CELL];

    snprintf(text, sizeof text, "%.2f", plan_sizes_to_gib(bytes));
    pr_table_set_str(t, col, text);
}

static void set_ranks(struct pr_table *t, size_t col,
                      const struct pr_checkpoint_shape *s)
{
    char text[CELL];

    if (s->ranks == s->all)
        snprintf(text, sizeof text, "%llu", (ull)s->all);
    else
        snprintf(text, sizeof text, "%llu of %llu", (ull)s->ranks, (ull)s->all);
    pr_table_set_str(t, col, text);
}

static void plan_checkpoint_add_row(void *ctx, const struct entry *e)
{
    const struct pr_checkpoint_shape *s = &e->shape;
    struct pr_table *t = ctx;
    char text[CELL];

    if (pr_table_rows(t) == MAX_ROWS)
        return;
    pr_table_row(t);
    pr_table_set_str(t, 0, e->id);
    pr_table_set_str(t, 1, s->model.name);
    if (s->parameters) {
        in_groups(text, s->parameters);
        pr_table_set_str(t, 2, text);
    }
    snprintf(text, sizeof text, "%llux%llux%llu", (ull)s->tp, (ull)s->pp,
             (ull)s->dp);
    pr_table_set_str(t, 3, text);
    pr_table_set_int(t, 4, s->parallelism.zero_stage);
    set_gib(t, 5, e->all.model_bytes);
    set_gib(t, 6, e->all.optimizer_bytes);
    set_gib(t, 7, e->all.model_bytes + e->all.optimizer_bytes);
    pr_table_set_int(t, 8, (int64_t)e->all.files);
    snprintf(text, sizeof text, "%.3f+%.3f",
             plan_sizes_to_gib(e->rank0.model_bytes),
             plan_sizes_to_gib(e->rank0.optimizer_bytes));
    pr_table_set_str(t, 9, text);
    set_ranks(t, 10, s);
}

int plan_checkpoint_text(struct cli *c, struct pr_plan *p, struct pr_buf *out,
                         struct pr_err *err)
{
    static const struct pr_table_column cols[] = {
        {.title = "checkpoints of"},
        {.title = "model"},
        {.title = "parameters", .align = PR_ALIGN_RIGHT},
        {.title = "TPxPPxDP"},
        {.title = "ZeRO", .kind = PR_COL_INT},
        {.title = "model GiB", .align = PR_ALIGN_RIGHT},
        {.title = "optimiser GiB", .align = PR_ALIGN_RIGHT},
        {.title = "total GiB", .align = PR_ALIGN_RIGHT},
        {.title = "files", .kind = PR_COL_INT},
        {.title = "rank 0 GiB", .align = PR_ALIGN_RIGHT},
        {.title = "ranks", .align = PR_ALIGN_RIGHT},
    };
    struct pr_table_style style = {.width = stdout_width(),
                                   .colour = stdout_colour(c)};
    struct pr_table *t = pr_table_new(cols, sizeof cols / sizeof *cols);
    struct gather g = {.add = plan_checkpoint_add_row, .ctx = t};
    int rc = t ? plan_checkpoint_each(p, &g, err) : pr_fail_nomem(err);

    if (!rc && g.count) {
        pr_buf_str(out, out->len ? "\n" : "");
        rc = pr_table_print(t, PR_TABLE_TEXT, &style, out, err);
        if (g.count > MAX_ROWS)
            pr_buf_printf(out, "… and %llu more\n", (ull)(g.count - MAX_ROWS));
    }
    pr_table_free(t);
    return rc;
}

/* ---- checkpoints for programs */

static void plan_checkpoint_add_json(void *ctx, const struct entry *e)
{
    const struct pr_checkpoint_shape *s = &e->shape;
    struct pr_buf *out = ctx;
    struct pr_json_writer jb;

    pr_buf_str(out, out->len ? ",\n" : "");
    pr_json_writer_init(&jb, out, 0);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "id", e->id);
    pr_json_put_str(&jb, "model", s->model.name);
    pr_json_put_uint(&jb, "parameters", s->parameters);
    pr_json_put_uint(&jb, "tensor", s->tp);
    pr_json_put_uint(&jb, "pipeline", s->pp);
    pr_json_put_uint(&jb, "data", s->dp);
    pr_json_put_int(&jb, "zero_stage", s->parallelism.zero_stage);
    pr_json_put_uint(&jb, "ranks", s->ranks);
    pr_json_put_uint(&jb, "all_ranks", s->all);
    pr_json_put_uint(&jb, "model_bytes", e->all.model_bytes);
    pr_json_put_uint(&jb, "optimizer_bytes", e->all.optimizer_bytes);
    pr_json_put_uint(&jb, "bytes", e->all.model_bytes + e->all.optimizer_bytes);
    pr_json_put_uint(&jb, "files", e->all.files);
    pr_json_put_uint(&jb, "rank0_model_bytes", e->rank0.model_bytes);
    pr_json_put_uint(&jb, "rank0_optimizer_bytes", e->rank0.optimizer_bytes);
    pr_json_put_uint(&jb, "disk_bytes", e->all.disk_bytes);
    pr_json_close(&jb);
}

int plan_checkpoint_json(struct pr_plan *p, struct pr_buf *out,
                         struct pr_err *err)
{
    struct gather g = {.add = plan_checkpoint_add_json, .ctx = out};
    int rc = plan_checkpoint_each(p, &g, err);

    return !rc && !pr_buf_ok(out) ? pr_fail_nomem(err) : rc;
}
