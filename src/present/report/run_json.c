/* Run directories to JSON, experiment by experiment. */
#include "present/report/run_json.h"

#include "analyse/run/run_data.h"
#include "base/json/json.h"
#include "present/report/mlperf_report.h"

#include <string.h>

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
