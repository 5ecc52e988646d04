/* What MLPerf's rules say, for people and for programs. */
#include "present/report/report_mlperf.h"

#include "analyse/mlperf.h"
#include "analyse/run/run_data.h"
#include "present/screen.h"

#include <stdio.h>
#include <string.h>

/* ---- one experiment */

static void mlperf_print_heading(const struct pr_mlperf *m, const char *id,
                                 struct pr_buf *out)
{
    static const char *const words[] = {"fits CLOSED", "fits OPEN, not CLOSED",
                                        "is INVALID"};
    const uint64_t *n = m->checks.by_status;

    pr_buf_str(out, "MLPerf Storage v2.0, ");
    pr_screen_clean(out, m->workload ? m->workload : "no workload of it",
                    m->workload ? strlen(m->workload) : 17);
    pr_buf_printf(out, ", %s: %s", id, words[m->verdict]);
    if (n[PR_MLPERF_FAIL])
        pr_buf_printf(out, "; %llu rule%s not kept",
                      (unsigned long long)n[PR_MLPERF_FAIL],
                      n[PR_MLPERF_FAIL] == 1 ? " is" : "s are");
    if (n[PR_MLPERF_NOT_CHECKED] && m->verdict != PR_MLPERF_INVALID)
        pr_buf_str(out, " as far as was checked");
}

static void mlperf_print_lines(const struct pr_mlperf_checks *checks,
                               struct pr_buf *out)
{
    for (const struct pr_mlperf_check *c = checks->first; c; c = c->next) {
        pr_buf_printf(out, "  %-5s  %-11s  ", c->rule,
                      pr_mlperf_status_word(c->status));
        pr_screen_clean(out, c->text, strlen(c->text));
        pr_buf_char(out, '\n');
    }
}

static int mlperf_print_table(const struct pr_mlperf_checks *checks,
                              const struct pr_table_style *style,
                              struct pr_buf *out, struct pr_err *err)
{
    static const struct pr_table_column cols[] = {
        {"rule", PR_COL_STR, NULL, PR_ALIGN_LEFT, "rule"},
        {"status", PR_COL_STR, NULL, PR_ALIGN_LEFT, "status"},
        {"finding", PR_COL_STR, NULL, PR_ALIGN_LEFT, "text"}};
    struct pr_table *t = pr_table_new(cols, 3);
    int rc;

    if (!t)
        return pr_fail_nomem(err);
    for (const struct pr_mlperf_check *c = checks->first; c; c = c->next) {
        pr_table_row(t);
        pr_table_set_str(t, 0, c->rule);
        pr_table_set_str(t, 1, pr_mlperf_status_word(c->status));
        pr_table_set_str(t, 2, c->text);
    }
    rc = pr_table_print(t, PR_TABLE_MARKDOWN, style, out, err);
    pr_table_free(t);
    return rc;
}

/* Sentences do not fit into columns of a terminal: there they are lines. */
static int mlperf_print_checks(const struct pr_mlperf_checks *checks,
                               enum pr_table_format format,
                               const struct pr_table_style *style,
                               struct pr_buf *out, struct pr_err *err)
{
    if (format == PR_TABLE_MARKDOWN)
        return mlperf_print_table(checks, style, out, err);
    mlperf_print_lines(checks, out);
    return PR_OK;
}

int pr_mlperf_text(const struct pr_mlperf *m, const char *id,
                   enum pr_table_format format,
                   const struct pr_table_style *style, struct pr_buf *out,
                   struct pr_err *err)
{
    bool md = format == PR_TABLE_MARKDOWN;

    pr_buf_str(out, md ? "\n**" : "\n");
    mlperf_print_heading(m, id, out);
    pr_buf_str(out, md ? "**\n\n" : "\n");
    return mlperf_print_checks(&m->checks, format, style, out, err);
}

static void mlperf_write_checks(const struct pr_mlperf_checks *checks,
                                struct pr_json_writer *jb)
{
    pr_json_open_array(jb, "checks");
    for (const struct pr_mlperf_check *c = checks->first; c; c = c->next) {
        pr_json_open_object(jb, NULL);
        pr_json_put_str(jb, "rule", c->rule);
        pr_json_put_str(jb, "status", pr_mlperf_status_word(c->status));
        pr_json_put_str(jb, "text", c->text);
        pr_json_close(jb);
    }
    pr_json_close(jb);
}

static void mlperf_write_size(const struct pr_mlperf_size *s,
                              struct pr_json_writer *jb)
{
    pr_json_open_object(jb, "data_size");
    pr_json_put_uint(jb, "num_files_train", s->files);
    pr_json_put_uint(jb, "bytes", s->bytes);
    pr_json_put_uint(jb, "num_subfolders_train", s->subfolders);
    pr_json_put_uint(jb, "files_by_memory", s->by_memory);
    pr_json_put_uint(jb, "files_by_steps", s->by_steps);
    pr_json_close(jb);
}

void pr_mlperf_json(const struct pr_mlperf *m, struct pr_json_writer *jb)
{
    pr_json_put_str(jb, "division", m->division);
    pr_json_put_str(jb, "workload", m->workload);
    pr_json_put_uint(jb, "accelerators", m->accelerators);
    pr_json_put_uint(jb, "hosts", m->hosts);
    pr_json_put_uint(jb, "host_memory_bytes", m->host_memory);
    if (!m->is_checkpoint)
        mlperf_write_size(&m->size, jb);
    if (strcmp(m->division, "none") == 0)
        return;
    pr_json_put_str(jb, "verdict", pr_mlperf_verdict_word(m->verdict));
    mlperf_write_checks(&m->checks, jb);
}

/* ---- a run directory */

static int mlperf_judge_row(const struct pr_value *params,
                            const struct pr_value *result, uint64_t memory,
                            struct pr_arena *a, struct pr_mlperf_in *in,
                            struct pr_mlperf *ret, struct pr_err *err)
{
    *in = (struct pr_mlperf_in){
        params, result ? pr_get(result, "results") : NULL, memory};
    return pr_mlperf_judge_experiment(in, a, ret, err);
}

int pr_mlperf_result_judge(const char *dir, const struct pr_value *result,
                           struct pr_arena *a, struct pr_mlperf *ret,
                           bool *ret_asked, struct pr_err *err)
{
    const struct pr_value *params = pr_get(result, "params");
    const char *run = pr_arena_printf(a, "%s/../..", dir);
    struct pr_mlperf_in in;

    if (!run)
        return pr_fail_nomem(err);
    *ret_asked = params && pr_mlperf_is_asked(params);
    return *ret_asked ? mlperf_judge_row(params, result,
                                         pr_mlperf_read_run_memory(run), a, &in,
                                         ret, err)
                      : PR_OK;
}

/* Called for each experiment that asks for the rules. */
typedef int each_judged(void *ctx, const char *id, const struct pr_mlperf *m,
                        struct pr_err *err);

static int mlperf_judge_each(const char *dir, struct pr_arena *kept,
                             struct pr_mlperf_groups *groups, each_judged *call,
                             void *ctx, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    uint64_t memory = pr_mlperf_read_run_memory(dir);
    struct pr_run_data *d = NULL;
    struct pr_run_data_row row;
    int rc = a && kept ? pr_run_data_open(dir, &d, err) : pr_fail_nomem(err);

    while (!rc && (rc = pr_run_data_next(d, a, &row, NULL, err)) == 1) {
        struct pr_mlperf_in in;
        struct pr_mlperf m;

        rc = PR_OK;
        if (pr_mlperf_is_asked(row.params)) {
            rc = mlperf_judge_row(row.params, row.result, memory, a, &in, &m,
                                  err);
            if (!rc)
                rc = call(ctx, row.id, &m, err);
            if (!rc)
                rc = pr_mlperf_groups_add(groups, &m, &in, kept, err);
        }
        pr_arena_reset(a);
    }
    pr_run_data_close(d);
    return rc < 0 ? rc : pr_mlperf_groups_judge(groups, kept, err);
}

struct texts {
    uint64_t shown, max, more;
    enum pr_table_format format;
    const struct pr_table_style *style;
    struct pr_buf *out;
};

static int mlperf_print_experiment(void *ctx, const char *id,
                                   const struct pr_mlperf *m,
                                   struct pr_err *err)
{
    struct texts *t = ctx;

    if (t->max && t->shown == t->max) {
        t->more++;
        return PR_OK;
    }
    t->shown++;
    return pr_mlperf_text(m, id, t->format, t->style, t->out, err);
}

static int mlperf_print_group(const struct texts *t,
                              const struct pr_mlperf_group *g,
                              struct pr_err *err)
{
    bool md = t->format == PR_TABLE_MARKDOWN;

    pr_buf_str(t->out, md ? "\n**" : "\n");
    pr_buf_printf(
        t->out, "MLPerf Storage v2.0, %s, %llu accelerator%s: ", g->workload,
        (unsigned long long)g->accelerators, g->accelerators == 1 ? "" : "s");
    pr_buf_printf(t->out, "%llu run%s together", (unsigned long long)g->runs,
                  g->runs == 1 ? "" : "s");
    pr_buf_str(t->out, md ? "**\n\n" : "\n");
    return mlperf_print_checks(&g->checks, t->format, t->style, t->out, err);
}

int pr_mlperf_run_text(const char *dir, uint64_t max,
                       enum pr_table_format format,
                       const struct pr_table_style *style, struct pr_buf *out,
                       struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *kept = pr_arena_new(16384);
    struct texts t = {.max = max, .format = format, .style = style, .out = out};
    struct pr_mlperf_groups groups = {0};
    int rc =
        mlperf_judge_each(dir, kept, &groups, mlperf_print_experiment, &t, err);

    if (!rc && t.more)
        pr_buf_printf(out, "… and %llu more, see 'prony report'\n",
                      (unsigned long long)t.more);
    for (const struct pr_mlperf_group *g = groups.first; g && !rc; g = g->next)
        rc = mlperf_print_group(&t, g, err);
    return rc;
}

struct jsons {
    struct pr_json_writer *jb;
    const char *key;
    bool begun;
};

static int mlperf_write_experiment(void *ctx, const char *id,
                                   const struct pr_mlperf *m,
                                   struct pr_err *err)
{
    struct jsons *j = ctx;

    (void)err;
    if (!j->begun) {
        pr_json_open_object(j->jb, j->key);
        pr_json_open_array(j->jb, "experiments");
        j->begun = true;
    }
    pr_json_open_object(j->jb, NULL);
    pr_json_put_str(j->jb, "id", id);
    pr_mlperf_json(m, j->jb);
    pr_json_close(j->jb);
    return PR_OK;
}

int pr_mlperf_run_json(const char *dir, struct pr_json_writer *jb,
                       const char *key, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *kept = pr_arena_new(16384);
    struct jsons j = {.jb = jb, .key = key};
    struct pr_mlperf_groups groups = {0};
    int rc =
        mlperf_judge_each(dir, kept, &groups, mlperf_write_experiment, &j, err);

    if (rc || !j.begun)
        return rc;
    pr_json_close(jb);
    pr_json_open_array(jb, "runs");
    for (const struct pr_mlperf_group *g = groups.first; g; g = g->next) {
        pr_json_open_object(jb, NULL);
        pr_json_put_str(jb, "workload", g->workload);
        pr_json_put_uint(jb, "accelerators", g->accelerators);
        pr_json_put_uint(jb, "count", g->runs);
        mlperf_write_checks(&g->checks, jb);
        pr_json_close(jb);
    }
    pr_json_close(jb);
    pr_json_close(jb);
    return PR_OK;
}
