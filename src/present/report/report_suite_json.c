/*
 * Suites as JSON: milarun's summary, and the report with all its scores; what
 * any report says of a run that has not come to its end.
 */
#include "present/report/report_suite_json.h"

#include "base/json/json.h"
#include "base/json/json_write.h"
#include "base/text.h"
#include "present/report/report_suite.h"
#include "present/screen.h"

#include <math.h>
#include <string.h>

/* ---- a run that has not come to its end */

static void unfinished_print_names(const struct pr_run_unfinished *u,
                                   struct pr_buf *out)
{
    const char *gap = "";

    for (size_t i = 0; i < u->name_count; i++) {
        pr_buf_printf(out, "%s%s", gap, u->names[i]);
        gap = ", ";
    }
    if (u->begun > u->name_count)
        pr_buf_str(out, ", …");
}

void pr_unfinished_text(const struct pr_run_unfinished *u, struct pr_buf *out)
{
    pr_buf_printf(out, "%llu of %llu experiments %s missing",
                  (unsigned long long)u->missing, (unsigned long long)u->total,
                  u->missing == 1 ? "is" : "are");
    if (u->begun) {
        pr_buf_printf(out, "; %llu ha%s begun: ", (unsigned long long)u->begun,
                      !u->running     ? "d"
                      : u->begun == 1 ? "s"
                                      : "ve");
        unfinished_print_names(u, out);
    }
}

/* "finished", "running", "interrupted". */
static const char *unfinished_word(const struct pr_run_unfinished *u)
{
    return !u->missing && !u->running ? "finished"
           : u->running               ? "running"
                                      : "interrupted";
}

void pr_unfinished_json(const struct pr_run_unfinished *u,
                        struct pr_json_writer *jb, const char *key)
{
    pr_json_open_object(jb, key);
    pr_json_put_str(jb, "state", unfinished_word(u));
    pr_json_put_uint(jb, "experiments", u->total);
    pr_json_put_uint(jb, "missing", u->missing);
    pr_json_put_uint(jb, "begun", u->begun);
    pr_json_close(jb);
}

/* ---- milarun's summary */

/* As Python's json.dumps writes it: nothing but ASCII. */
static void ascii_string(struct pr_buf *out, const char *s)
{
    size_t len = strlen(s);

    for (size_t i = 0, n; i < len; i += n) {
        size_t plain = 0;
        unsigned code;

        while (i + plain < len && (unsigned char)s[i + plain] < 0x7f)
            plain++;
        if (plain) { /* with its quotes cut off again */
            size_t at = out->len;
            pr_json_write_string(out, s + i, plain);
            if (!pr_buf_ok(out))
                return;
            memmove(out->data + at, out->data + at + 1, out->len - at - 1);
            out->len -= 2;
            n = plain;
            continue;
        }
        n = pr_utf8_len(s + i, len - i);
        code = n ? pr_screen_code_point(s + i, n) : 0xfffd;
        n = n ? n : 1;
        if (code == 0x7f)
            pr_buf_char(out, 0x7f);
        else if (code < 0x10000)
            pr_buf_printf(out, "\\u%04x", code);
        else
            pr_buf_printf(out, "\\u%04x\\u%04x",
                          0xd800 + ((code - 0x10000) >> 10),
                          0xdc00 + ((code - 0x10000) & 0x3ff));
    }
}

static void suite_summary_write_key(struct pr_buf *out, unsigned depth,
                                    const char *key, bool first)
{
    pr_buf_printf(out, "%s\n%*s\"", first ? "" : ",", (int)depth * 4, "");
    ascii_string(out, key);
    pr_buf_str(out, "\": ");
}

static void suite_summary_write_float(struct pr_buf *out, double d)
{
    char text[32];

    if (isnan(d))
        pr_buf_str(out, "NaN");
    else if (isinf(d))
        pr_buf_str(out, d > 0 ? "Infinity" : "-Infinity");
    else
        pr_buf_add(out, text, pr_float_repr(text, d));
}

static void suite_summary_write_stats(struct pr_buf *out, unsigned depth,
                                      const struct pr_suite_stats *s)
{
    const struct {
        const char *key;
        double value;
    } rows[] = {
        {"min", s->min}, {"max", s->max}, {"mean", s->mean}, {"std", s->std}};

    pr_buf_char(out, '{');
    suite_summary_write_key(out, depth + 1, "n", true);
    pr_buf_printf(out, "%llu", (unsigned long long)s->n);
    for (size_t i = 0; i < 4; i++) {
        suite_summary_write_key(out, depth + 1, rows[i].key, false);
        suite_summary_write_float(out, rows[i].value);
    }
    pr_buf_printf(out, "\n%*s}", (int)depth * 4, "");
}

static void suite_summary_write_devices(struct pr_buf *out,
                                        const struct pr_suite_test *t)
{
    pr_buf_char(out, '{');
    for (size_t i = 0; i < t->device_count; i++) {
        suite_summary_write_key(out, 3, t->devices[i].id, !i);
        suite_summary_write_stats(out, 3, &t->devices[i].stats);
    }
    pr_buf_str(out, t->device_count ? "\n        }" : "}");
}

static void suite_summary_write_test(struct pr_buf *out,
                                     const struct pr_suite_test *t)
{
    pr_buf_char(out, '{');
    suite_summary_write_key(out, 2, "n", true);
    pr_buf_printf(out, "%llu", (unsigned long long)t->n);
    suite_summary_write_key(out, 2, "failures", false);
    pr_buf_printf(out, "%llu", (unsigned long long)t->failures);
    suite_summary_write_key(out, 2, "total", false);
    suite_summary_write_stats(out, 2, &t->total);
    suite_summary_write_key(out, 2, "train", false);
    suite_summary_write_stats(out, 2, &t->train);
    suite_summary_write_key(out, 2, "pergpu", false);
    suite_summary_write_devices(out, t);
    if (!isnan(t->peak_memory)) {
        suite_summary_write_key(out, 2, "peak_memory", false);
        if (t->peak_is_whole)
            pr_buf_printf(out, "%.0f", t->peak_memory);
        else
            suite_summary_write_float(out, t->peak_memory);
    }
    pr_buf_str(out, "\n    }");
}

void pr_suite_summary_json(const struct pr_suite *s, struct pr_buf *out)
{
    pr_buf_char(out, '{');
    for (size_t i = 0; i < s->count; i++) {
        suite_summary_write_key(out, 1, s->tests[i].name, !i);
        suite_summary_write_test(out, &s->tests[i]);
    }
    pr_buf_str(out, s->count ? "\n}" : "}");
}

/* ---- the report */

static void suite_json_write_stats(struct pr_json_writer *jb, const char *key,
                                   const struct pr_suite_stats *s)
{
    if (!s->n && isnan(s->mean))
        return;
    pr_json_open_object(jb, key);
    pr_json_put_uint(jb, "n", s->n);
    pr_json_put_float(jb, "min", s->min);
    pr_json_put_float(jb, "max", s->max);
    pr_json_put_float(jb, "mean", s->mean);
    pr_json_put_float(jb, "std", s->std);
    pr_json_close(jb);
}

static void suite_json_write_milabench(struct pr_json_writer *jb,
                                       const struct pr_milabench_test *b,
                                       double score)
{
    pr_json_open_object(jb, "milabench");
    pr_json_put_str(jb, "group", b->group);
    pr_json_put_uint(jb, "gpus", b->gpus);
    pr_json_put_float(jb, "q1", b->q1);
    pr_json_put_float(jb, "median", b->median);
    pr_json_put_float(jb, "q3", b->q3);
    pr_json_put_float(jb, "sem", b->sem);
    pr_json_put_float(jb, "score", score);
    pr_json_put_bool(jb, "enabled", b->enabled);
    pr_json_put_float(jb, "median_w", b->watts);
    pr_json_close(jb);
}

static void suite_json_write_test(struct pr_json_writer *jb,
                                  const struct pr_suite_row *row)
{
    const struct pr_suite_test *t = row->test;

    if (!t)
        return;
    pr_json_put_uint(jb, "runs", t->n);
    pr_json_put_uint(jb, "failures", t->failures);
    suite_json_write_stats(jb, "rate_per_s", &t->train);
    suite_json_write_stats(jb, "total_s", &t->total);
    pr_json_put_float(jb, "std_share", row->std_share);
    pr_json_put_float(jb, "perf_adj", row->plain_adj);
    pr_json_put_float(jb, "perf_penalised", row->fair_adj);
    if (t->device_count) {
        pr_json_open_object(jb, "devices");
        for (size_t i = 0; i < t->device_count; i++)
            suite_json_write_stats(jb, t->devices[i].id, &t->devices[i].stats);
        pr_json_close(jb);
    }
    if (t->peak_memory > 0)
        pr_json_put_float(jb, "peak_memory_mib", t->peak_memory);
    if (t->unavailable)
        pr_json_put_uint(jb, "runs_unavailable", t->unavailable);
    if (t->short_runs)
        pr_json_put_uint(jb, "runs_too_short", t->short_runs);
    if (t->silent_runs)
        pr_json_put_uint(jb, "runs_without_rates", t->silent_runs);
    if (t->bench)
        suite_json_write_milabench(jb, t->bench, row->score);
}

static void suite_json_write_row(struct pr_json_writer *jb,
                                 const struct pr_suite_report *r,
                                 const struct pr_suite_row *row)
{
    pr_json_open_object(jb, NULL);
    pr_json_put_str(jb, "name", row->name);
    pr_json_put_float(jb, "weight", row->weight);
    pr_json_put_bool(jb, "missing", row->missing);
    suite_json_write_test(jb, row);
    if (r->bases) {
        pr_json_open_array(jb, "baselines");
        for (size_t i = 0; i < r->bases; i++) {
            pr_json_open_object(jb, NULL);
            pr_json_put_float(jb, "perf", row->beside[i].perf);
            pr_json_put_float(jb, "ratio", row->beside[i].ratio);
            pr_json_put_float(jb, "perf_adj", row->beside[i].adj);
            pr_json_put_float(jb, "ratio_adj", row->beside[i].ratio_adj);
            pr_json_close(jb);
        }
        pr_json_close(jb);
    }
    pr_json_close(jb);
}

static void suite_json_write_baselines(struct pr_json_writer *jb,
                                       const struct pr_suite_report *r)
{
    pr_json_open_array(jb, "baselines");
    for (size_t i = 0; i < r->bases; i++) {
        pr_json_open_object(jb, NULL);
        pr_json_put_str(jb, "name", r->base_names[i]);
        if (r->base_scores) {
            pr_json_put_float(jb, "score", r->base_scores[i].score);
            pr_json_put_float(jb, "ratio", r->base_scores[i].ratio);
        }
        pr_json_close(jb);
    }
    pr_json_close(jb);
}

static void suite_json_write_scores(struct pr_json_writer *jb,
                                    const struct pr_suite_report *r)
{
    pr_json_open_object(jb, "scores");
    pr_json_put_float(jb, "failure_rate", r->failure_rate);
    pr_json_put_bool(jb, "pass", r->pass && !r->suite->left.missing);
    if (r->scored) {
        pr_json_put_float(jb, "score", r->score);
        pr_json_put_float(jb, "milarun", r->milarun);
        pr_json_put_float(jb, "penalised", r->penalised);
        pr_json_put_float(jb, "strict", r->strict);
        pr_json_put_float(jb, "coverage", r->coverage);
        pr_json_open_array(jb, "missing");
        for (size_t i = 0; i < r->count; i++)
            if (r->rows[i].missing)
                pr_json_put_str(jb, NULL, r->rows[i].name);
        pr_json_close(jb);
        pr_json_put_float(jb, "price", r->price);
        pr_json_put_float(jb, "price_per_score", r->rpp);
    }
    if (r->bases)
        suite_json_write_baselines(jb, r);
    pr_json_close(jb);
}

static void suite_json_write_matrix(struct pr_json_writer *jb,
                                    const struct pr_suite_matrix *m)
{
    pr_json_open_object(jb, m->measure);
    for (size_t i = 0; i < m->rows; i++) {
        pr_json_open_array(jb, m->names[i]);
        for (size_t d = 0; d < m->devices; d++)
            pr_json_put_float(jb, NULL, m->cells[i * m->devices + d]);
        pr_json_close(jb);
    }
    pr_json_close(jb);
}

static void suite_json_write_files(struct pr_json_writer *jb,
                                   const struct pr_suite *s)
{
    pr_json_open_object(jb, "files");
    pr_json_put_uint(jb, "read", s->files);
    pr_json_put_uint(jb, "skipped", s->skipped);
    pr_json_put_uint(jb, "bad", s->bad);
    if (s->note_count) {
        pr_json_open_array(jb, "notes");
        for (size_t i = 0; i < s->note_count; i++) {
            pr_json_open_object(jb, NULL);
            pr_json_put_str(jb, "where", s->notes[i].where);
            pr_json_put_str(jb, "text", s->notes[i].text);
            pr_json_close(jb);
        }
        pr_json_close(jb);
    }
    pr_json_close(jb);
}

int pr_suite_json(const struct pr_suite_report *r, struct pr_buf *out,
                  struct pr_err *err)
{
    static const char *const kinds[] = {
        [PR_SUITE_RESULTS] = "results",     [PR_SUITE_SUMMARY] = "summary",
        [PR_SUITE_MILABENCH] = "milabench", [PR_SUITE_RUN] = "run",
        [PR_SUITE_SYSTEMS] = "systems",
    };
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, out, 1);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "schema", "prony.report/1");
    pr_json_put_str(&jb, "kind", "suite");
    pr_json_put_str(&jb, "source", r->suite->path);
    pr_json_put_str(&jb, "from", kinds[r->suite->kind]);
    pr_json_put_str(&jb, "title", r->title);
    if (pr_suite_window_text(r->suite->kind))
        pr_json_put_str(&jb, "rate_of", pr_suite_window_text(r->suite->kind));
    if (r->suite->left.total)
        pr_unfinished_json(&r->suite->left, &jb, "run");
    pr_json_open_array(&jb, "tests");
    for (size_t i = 0; i < r->count; i++)
        suite_json_write_row(&jb, r, &r->rows[i]);
    pr_json_close(&jb);
    suite_json_write_scores(&jb, r);
    if (r->has_matrix) {
        pr_json_open_object(&jb, "devices");
        for (int i = 0; i < 3; i++)
            suite_json_write_matrix(&jb, &r->matrix[i]);
        pr_json_close(&jb);
    }
    suite_json_write_files(&jb, r->suite);
    pr_json_close(&jb);
    pr_buf_char(out, '\n');
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}
