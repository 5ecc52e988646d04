/* The checkpoints that the experiments of a plan would write: as a table for
 * people, and as an array for programs. */
#include "base/json/json_write.h"
#include "checkpoint/checkpoint_shape.h"
#include "cli/targets.h"
#include "present/table/table.h"
#include "run/plan_jobs.h"

#include <stdio.h>
#include <string.h>

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

/* ---- for people */

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

static double checkpoint_to_gib(uint64_t bytes)
{
    return (double)bytes / (1 << 30);
}

static void set_gib(struct pr_table *t, size_t col, uint64_t bytes)
{
    char text[CELL];

    snprintf(text, sizeof text, "%.2f", checkpoint_to_gib(bytes));
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
             checkpoint_to_gib(e->rank0.model_bytes),
             checkpoint_to_gib(e->rank0.optimizer_bytes));
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

/* ---- for programs */

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
