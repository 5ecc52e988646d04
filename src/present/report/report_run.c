/*
 * A run directory as a report: JSON, warnings, and the table; and going through
 * its results, with the lines that all reports of experiments share.
 */
#include "present/report/report_run.h"

#include "analyse/run/run_data.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/units.h"
#include "present/report/report_mlperf.h"
#include "present/screen.h"
#include "record/result.h"

#include <string.h>

/* ---- JSON, experiment by experiment */

/* What of a result goes into the document, in this order. */
static const char *const keys[] = {
    "status",   "reason",   "started", "ended", "attempts",
    "warnings", "log_tail", "results", "rates", "monitor"};

static void run_json_write_row(struct pr_buf *b,
                               const struct pr_run_data_row *row, bool first)
{
    pr_buf_str(b, first ? "\n{\"id\": " : ",\n{\"id\": ");
    pr_json_write_string(b, row->id, strlen(row->id));
    if (row->repeat > 1)
        pr_buf_printf(b, ", \"repeat\": %lld", (long long)row->repeat);
    for (size_t i = 0; row->result && i < sizeof keys / sizeof *keys; i++) {
        const struct pr_value *v = pr_get(row->result, keys[i]);
        if (!v)
            continue;
        pr_buf_printf(b, ", \"%s\": ", keys[i]);
        pr_json_write(b, v);
    }
    if (pr_run_data_target(row->result) != PR_TARGET_NONE)
        pr_buf_printf(b, ", \"target_met\": %s",
                      pr_run_data_target(row->result) == PR_TARGET_MET
                          ? "true"
                          : "false");
    if (!row->result)
        pr_buf_printf(b,
                      ", \"status\": \"skipped\", \"reason\": \"%s\", "
                      "\"results\": {}",
                      row->unreadable ? "its result cannot be read"
                                      : "it has no result yet");
    pr_buf_str(b, ", \"params\": ");
    pr_json_write(b, row->params);
    pr_buf_char(b, '}');
}

static int run_json_flush(struct pr_buf *b, pr_json_sink *sink, void *ctx,
                          struct pr_err *err)
{
    int rc =
        pr_buf_ok(b) ? sink(ctx, b->data, b->len, err) : pr_fail_nomem(err);

    pr_buf_clear(b);
    return rc;
}

static int run_json_write_rows(struct pr_run_data *d, struct pr_buf *b,
                               pr_json_sink *sink, void *ctx, bool *mlperf,
                               struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_run_data_row row;
    bool first = true;
    int rc;

    if (!a)
        return pr_fail_nomem(err);
    while ((rc = pr_run_data_next(d, a, &row, NULL, err)) == 1) {
        run_json_write_row(b, &row, first);
        first = false;
        *mlperf |= pr_mlperf_is_asked(row.params);
        rc = b->len > 65536 ? run_json_flush(b, sink, ctx, err) : PR_OK;
        if (rc)
            return rc;
        pr_arena_reset(a);
    }
    return rc;
}

/* What MLPerf's rules say, as one more member. */
static int run_json_write_mlperf(const char *dir, struct pr_buf *b,
                                 struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf more = PR_BUF_INIT(1u << 30);
    struct pr_json_writer jb;
    int rc;

    pr_json_writer_init(&jb, &more, 0);
    pr_json_open_object(&jb, NULL);
    rc = pr_mlperf_run_json(dir, &jb, "mlperf", err);
    if (rc || more.len < 2)
        return rc;
    pr_buf_str(b, ", ");
    pr_buf_add(b, more.data + 1, more.len - 1); /* without the brace */
    return pr_buf_ok(&more) ? PR_OK : pr_fail_nomem(err);
}

int pr_run_json(const char *dir, pr_json_sink *sink, void *ctx,
                struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1u << 30);
    struct pr_run_data *d;
    bool mlperf = false;
    int rc = pr_run_data_open(dir, &d, err);

    if (rc)
        return rc;
    pr_buf_str(&b, "{\"schema\": \"prony.run/1\", \"dir\": ");
    pr_json_write_string(&b, dir, strlen(dir));
    pr_buf_str(&b, ", \"experiments\": [");
    rc = run_json_write_rows(d, &b, sink, ctx, &mlperf, err);
    if (!rc)
        pr_buf_str(&b, "\n]");
    if (!rc && mlperf)
        rc = run_json_write_mlperf(dir, &b, err);
    if (!rc) {
        pr_buf_str(&b, "}\n");
        rc = run_json_flush(&b, sink, ctx, err);
    }
    pr_run_data_close(d);
    return rc;
}

/* ---- warnings, in one pass over the experiments */

struct finder {
    struct pr_names *texts;
    struct {
        uint64_t experiments, last; /* last: which of them said it */
    } * said;                       /* by text; as many as max */
    uint32_t max;
    uint64_t more; /* different ones that were too many */
};

static int run_warnings_add(struct finder *f, uint64_t experiment,
                            const struct pr_value *v, struct pr_err *err)
{
    uint32_t name;

    if (v->kind != PR_STR)
        return PR_OK;
    name = pr_names_find(f->texts, v->s, v->len);
    if (name == PR_NO_NAME && pr_names_count(f->texts) == f->max) {
        f->more++;
        return PR_OK;
    }
    if (name == PR_NO_NAME)
        name = pr_names_add(f->texts, v->s, v->len);
    if (name == PR_NO_NAME)
        return pr_fail_nomem(err);
    f->said[name].experiments += f->said[name].last != experiment;
    f->said[name].last = experiment;
    return PR_OK;
}

static int run_warnings_read_all(struct finder *f, struct pr_run_data *d,
                                 struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_run_data_row row;
    uint64_t experiment = 0;
    int rc = a ? PR_OK : pr_fail_nomem(err);

    while (!rc && (rc = pr_run_data_next(d, a, &row, NULL, err)) == 1) {
        const struct pr_value *list =
            row.result ? pr_get(row.result, "warnings") : NULL;

        rc = PR_OK;
        experiment++;
        for (uint32_t i = 0;
             !rc && list && list->kind == PR_LIST && i < list->len; i++)
            rc = run_warnings_add(f, experiment, &list->items[i], err);
        pr_arena_reset(a);
    }
    return rc;
}

static void run_warnings_print(const struct finder *f, struct pr_buf *out)
{
    for (uint32_t i = 0; i < pr_names_count(f->texts); i++) {
        const char *text = pr_names_text(f->texts, i);

        pr_buf_str(out, "warning: ");
        pr_screen_clean(out, text, strlen(text));
        if (f->said[i].experiments > 1)
            pr_buf_printf(out, " (%llu experiments)",
                          (unsigned long long)f->said[i].experiments);
        pr_buf_char(out, '\n');
    }
    if (f->more)
        pr_buf_printf(out, "… and %llu more warnings, see result.json\n",
                      (unsigned long long)f->more);
}

int pr_run_warnings(const char *dir, uint32_t max, struct pr_buf *out,
                    struct pr_err *err)
{
    struct finder f = {.texts = pr_names_new(),
                       .said = pr_alloc_zeroed(max * sizeof *f.said),
                       .max = max};
    struct pr_run_data *d = NULL;
    int rc =
        f.texts && f.said ? pr_run_data_open(dir, &d, err) : pr_fail_nomem(err);

    if (!rc)
        rc = run_warnings_read_all(&f, d, err);
    if (!rc)
        run_warnings_print(&f, out);
    pr_run_data_close(d);
    pr_names_free(f.texts);
    pr_free(f.said);
    return rc;
}

/* ---- going through results */

int pr_run_each_result(const char *dir, pr_run_result_call *call, void *ctx,
                       struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_run_data *d = NULL;
    struct pr_run_data_row row;
    int rc = a ? pr_run_data_open(dir, &d, err) : pr_fail_nomem(err);

    while (!rc && (rc = pr_run_data_next(d, a, &row, NULL, err)) == 1) {
        rc = call(ctx, row.id,
                  row.result ? pr_get(row.result, "results") : NULL, err);
        pr_arena_reset(a);
    }
    pr_run_data_close(d);
    return rc < 0 ? rc : PR_OK;
}

const char *pr_run_result_verdict(const struct pr_value *results)
{
    return pr_text_at(results, "verdict", NULL);
}

/* ---- titles and headings, as text or Markdown */

void pr_report_title(struct pr_buf *out, enum pr_table_format format,
                     const char *id, const struct pr_value *results)
{
    const char *verdict = pr_run_result_verdict(results);

    if (format == PR_TABLE_MARKDOWN)
        pr_buf_str(out, "## ");
    pr_screen_clean(out, id, strlen(id));
    if (verdict) {
        pr_buf_str(out, ": ");
        pr_screen_clean(out, verdict, strlen(verdict));
    }
    pr_buf_char(out, '\n');
}

void pr_report_heading(struct pr_buf *out, enum pr_table_format format,
                       const char *text)
{
    pr_buf_printf(out, format == PR_TABLE_MARKDOWN ? "\n**%s**\n\n" : "\n%s\n",
                  text);
}

void pr_report_slowest(struct pr_buf *out, enum pr_table_format format,
                       const char *what, const struct pr_value *results,
                       const char *const names[4])
{
    enum { MEAN, P50, P99, MAX };
    char text[4][24];
    double s[4];

    for (int i = 0; i < 4; i++) {
        const struct pr_value *v = pr_get(results, names[i]);

        if (!v || !pr_value_is_number(v))
            return;
        s[i] = pr_value_number(v) / 1e3;
        pr_format_seconds(text[i], s[i]);
    }
    if (s[P99] < s[MEAN])
        pr_buf_printf(out, "%s%s: mean %s, above p99; median %s, slowest %s\n",
                      format == PR_TABLE_MARKDOWN ? "\n" : "", what, text[MEAN],
                      text[P50], text[MAX]);
}

/* ---- the table */

struct layout {
    struct pr_run_columns found;
    struct pr_table_column cols[2 * PR_MAX_COLUMNS + 4];
    size_t count;
    size_t status, metrics, target, reason; /* where these columns begin */
    bool for_people;                        /* text, Markdown or HTML */
    bool has_target; /* text has verdicts below it, which say so */
};

/* The unit is in the name: elapsed_s, max_rss_bytes, throughput_per_s. */
static enum pr_table_column_kind metric_kind(const char *name)
{
    static const struct {
        const char *ending;
        enum pr_table_column_kind kind;
    } rows[] = {{"_bytes", PR_COL_BYTES},
                {"_s", PR_COL_SECONDS},
                {"_pct", PR_COL_PERCENT}};
    size_t n = strlen(name);

    if (n > 6 && strcmp(name + n - 6, "_per_s") == 0)
        return PR_COL_FLOAT;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t e = strlen(rows[i].ending);
        if (n > e && strcmp(name + n - e, rows[i].ending) == 0)
            return rows[i].kind;
    }
    return PR_COL_FLOAT;
}

/* For people: "elapsed" instead of "elapsed_s". */
static const char *metric_title(struct pr_arena *a, const char *name)
{
    const char *cut = strrchr(name, '_');

    if (metric_kind(name) == PR_COL_FLOAT || !cut)
        return name;
    return pr_arena_copy(a, name, (size_t)(cut - name));
}

/* Figures of ours that only a machine asks for. */
static bool run_table_is_for_machines(const char *name)
{
    return strcmp(name, "cpu_system_s") == 0 || strcmp(name, "cpu_user_s") == 0;
}

static void run_table_add_column(struct layout *l, const char *title,
                                 enum pr_table_column_kind kind,
                                 const char *key)
{
    l->cols[l->count++] =
        (struct pr_table_column){.title = title, .kind = kind, .key = key};
}

/* Whether a column has that name already, or will. */
static bool run_table_has_column(const struct layout *l, const char *name)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->cols[i].key, name) == 0)
            return true;
    return strcmp(name, "reason") == 0;
}

static void run_table_lay_out(struct layout *l, struct pr_arena *a)
{
    bool text = l->for_people;
    size_t kept = 0;

    run_table_add_column(l, "id", PR_COL_STR, "id");
    for (size_t i = 0; i < l->found.param_count; i++)
        run_table_add_column(l, l->found.params[i], PR_COL_STR,
                             l->found.params[i]);
    l->status = l->count;
    run_table_add_column(l, "status", PR_COL_STATUS, "status");
    l->metrics = l->count;
    for (size_t i = 0; i < l->found.metric_count; i++) {
        const char *name = l->found.metrics[i];
        if (text && run_table_is_for_machines(name))
            continue;
        l->found.metrics[kept++] = name;
        if (run_table_has_column(l, name))
            name = pr_arena_printf(a, "results.%s", name);
        if (name)
            run_table_add_column(l, text ? metric_title(a, name) : name,
                                 metric_kind(name), name);
    }
    l->found.metric_count = kept;
    l->target = l->count;
    if (l->has_target)
        run_table_add_column(l, text ? "target" : "target_met", PR_COL_STR,
                             "target_met");
    l->reason = l->count;
    if (l->found.experiments != l->found.by_status[PR_STATUS_OK])
        run_table_add_column(l, "reason", PR_COL_STR, "reason");
}

static void run_table_set_value(struct pr_table *t, size_t col,
                                const struct pr_value *v)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);

    if (!v)
        return;
    if (v->kind == PR_INT)
        pr_table_set_int(t, col, v->i);
    else if (v->kind == PR_FLOAT)
        pr_table_set_float(t, col, v->f);
    else {
        pr_value_write_joined(&text, v);
        pr_table_set_strn(t, col, text.data ? text.data : "", text.len);
    }
}

/* A person reads a parameter as it was written, a program as a number. */
static void run_table_set_param(struct pr_table *t, const struct layout *l,
                                size_t col, const struct pr_value *v)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64);

    if (!v || v->kind != PR_FLOAT || !l->for_people) {
        run_table_set_value(t, col, v);
        return;
    }
    pr_float_write_repr(&text, v->f);
    pr_table_set_str(t, col, text.data);
}

static void run_table_set_target(struct pr_table *t, const struct layout *l,
                                 enum pr_run_target target)
{
    bool met = target == PR_TARGET_MET;

    if (target == PR_TARGET_NONE)
        return;
    if (l->for_people)
        pr_table_set_str(t, l->target, met ? "met" : "missed");
    else
        pr_table_set_bool(t, l->target, met);
}

static void run_table_fill_row(struct pr_table *t, const struct layout *l,
                               const struct pr_run_data_row *row)
{
    const struct pr_value *results =
        row->result ? pr_get(row->result, "results") : NULL;
    const struct pr_value *reason =
        row->result ? pr_get(row->result, "reason") : NULL;

    pr_table_row(t);
    pr_table_set_str(t, 0, row->id);
    for (size_t i = 0; i < l->found.param_count; i++)
        run_table_set_param(t, l, 1 + i,
                            pr_get(row->params, l->found.params[i]));
    if (row->unreadable)
        pr_table_set_str(t, l->status, "unreadable");
    else
        run_table_set_value(t, l->status,
                            row->result ? pr_get(row->result, "status") : NULL);
    for (size_t i = 0; results && i < l->found.metric_count; i++) {
        const struct pr_value *v = pr_get(results, l->found.metrics[i]);
        if (v && pr_value_is_number(v))
            run_table_set_value(t, l->metrics + i, v);
    }
    if (l->has_target)
        run_table_set_target(t, l, pr_run_data_target(row->result));
    if (l->reason < l->count && reason && reason->kind == PR_STR && reason->len)
        pr_table_set_str(t, l->reason, reason->s);
}

/* Of many rows the failures come first: they are what one looks for. */
static bool run_table_is_row_shown(const struct layout *l,
                                   const struct pr_run_data_row *row,
                                   uint64_t max_rows, uint64_t *good_left)
{
    enum pr_status s =
        row->result ? pr_result_status(row->result) : PR_STATUS_COUNT;

    if (!max_rows || l->found.experiments <= max_rows || row->unreadable)
        return true;
    if (s != PR_STATUS_OK && s != PR_STATUS_SKIPPED && s != PR_STATUS_COUNT)
        return true;
    if (!*good_left)
        return false;
    --*good_left;
    return true;
}

static uint64_t good_rows(const struct layout *l, uint64_t max_rows)
{
    const uint64_t *n = l->found.by_status;
    uint64_t bad = n[PR_STATUS_FAILED] + n[PR_STATUS_TIMEOUT] +
                   n[PR_STATUS_OOM] + n[PR_STATUS_INTERRUPTED] +
                   l->found.unreadable;

    return bad < max_rows ? max_rows - bad : 0;
}

static int run_table_fill(struct pr_table *t, const struct layout *l,
                          const char *dir, uint64_t max_rows,
                          struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    uint64_t good = good_rows(l, max_rows);
    struct pr_run_data_row row;
    struct pr_run_data *d;
    int rc = a ? pr_run_data_open(dir, &d, err) : pr_fail_nomem(err);

    if (rc)
        return rc;
    while ((rc = pr_run_data_next(d, a, &row, NULL, err)) == 1) {
        if (run_table_is_row_shown(l, &row, max_rows, &good) &&
            (!max_rows || pr_table_rows(t) < max_rows))
            run_table_fill_row(t, l, &row);
        pr_arena_reset(a);
    }
    pr_run_data_close(d);
    return rc;
}

/* A report of the suite has milarun's figure, which is of another part. */
static void run_table_print_window(const struct layout *l,
                                   enum pr_table_format format,
                                   struct pr_buf *out)
{
    if (!l->found.tests || !l->for_people)
        return;
    pr_buf_printf(out,
                  "%sthroughput: of all timed batches; perf in prony report: "
                  "of slices [-20:-2]%s\n",
                  format == PR_TABLE_HTML       ? "<p class=\"soft\">"
                  : format == PR_TABLE_MARKDOWN ? "\n"
                                                : "",
                  format == PR_TABLE_HTML ? "</p>" : "");
}

static void put_document(const struct pr_table *t, const char *dir,
                         struct pr_buf *out)
{
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, out, 1);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "schema", "prony.report/1");
    pr_json_put_str(&jb, "dir", dir);
    pr_table_json(t, &jb, "experiments");
    pr_json_close(&jb);
    pr_buf_char(out, '\n');
}

int pr_run_table(const char *dir, enum pr_table_format format,
                 const struct pr_table_style *style, uint64_t max_rows,
                 struct pr_buf *out, struct pr_run_columns *ret,
                 struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);
    struct layout l = {0};
    struct pr_table *t;
    int rc =
        a ? pr_run_columns_find(dir, a, &l.found, err) : pr_fail_nomem(err);

    if (rc)
        return rc;
    l.for_people = format == PR_TABLE_TEXT || format == PR_TABLE_MARKDOWN ||
                   format == PR_TABLE_HTML;
    l.has_target = l.found.targets && format != PR_TABLE_TEXT &&
                   format != PR_TABLE_MARKDOWN;
    run_table_lay_out(&l, a);
    t = pr_table_new(l.cols, l.count);
    if (!t)
        return pr_fail_nomem(err);
    rc = run_table_fill(t, &l, dir, max_rows, err);
    if (!rc && format == PR_TABLE_JSON)
        put_document(t, dir, out);
    else if (!rc)
        rc = pr_table_print(t, format, style, out, err);
    if (!rc)
        run_table_print_window(&l, format, out);
    if (!rc && max_rows && l.found.experiments > pr_table_rows(t))
        pr_buf_printf(
            out, "… and %llu more experiments\n",
            (unsigned long long)(l.found.experiments - pr_table_rows(t)));
    pr_table_free(t);
    if (!rc && ret) {
        *ret = l.found;
        ret->param_count = ret->metric_count = 0; /* their names are gone */
        ret->first_missed = NULL;
    }
    return rc;
}

void pr_run_counts(const struct pr_run_columns *c, struct pr_buf *out)
{
    const char *gap = ": ";

    pr_buf_printf(out, "%llu experiment%s", (unsigned long long)c->experiments,
                  c->experiments == 1 ? "" : "s");
    for (int s = 0; s < PR_STATUS_COUNT; s++) {
        if (!c->by_status[s])
            continue;
        pr_buf_printf(out, "%s%llu %s", gap,
                      (unsigned long long)c->by_status[s],
                      pr_status_word((enum pr_status)s));
        gap = ", ";
    }
    if (c->unreadable) {
        pr_buf_printf(out, "%s%llu unreadable", gap,
                      (unsigned long long)c->unreadable);
        gap = ", ";
    }
    if (c->without_result)
        pr_buf_printf(out, "%s%llu without a result", gap,
                      (unsigned long long)c->without_result);
    if (c->warned)
        pr_buf_printf(out, "; %llu with warnings",
                      (unsigned long long)c->warned);
    if (c->missed)
        pr_buf_printf(out, "; %llu of %llu missed %s target",
                      (unsigned long long)c->missed,
                      (unsigned long long)c->targets,
                      c->missed == 1 ? "its" : "their");
    else if (c->targets)
        pr_buf_printf(out, "; %llu met %s target",
                      (unsigned long long)c->targets,
                      c->targets == 1 ? "its" : "their");
    pr_buf_char(out, '\n');
}
