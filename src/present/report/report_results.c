/*
 * A set of results: a summary of it, and all of it as one JSON document, piece
 * by piece.
 */
#include "present/report/report_results.h"

#include "base/codec/deflate.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/json/json_write.h"
#include "base/mem.h"
#include "base/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- summary: how many, and of what */

enum { SHOWN = 8 };

/* The values of a name, each once, in the order of their coming. */
struct values {
    struct pr_names *names; /* as JSON */
    uint64_t missing;
};

static int results_collect_values(struct values *v,
                                  const struct pr_results *set,
                                  const char *name, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);

    v->missing = 0;
    v->names = pr_names_new();
    if (!v->names)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < pr_results_size(set); i++) {
        const struct pr_value *x =
            pr_get(&pr_results_row_at(set, i)->params, name);

        v->missing += !x;
        pr_buf_clear(&text);
        if (x)
            pr_json_write(&text, x);
        else
            pr_buf_str(&text, "null");
        if (pr_buf_ok(&text) &&
            pr_names_add(v->names, text.data, text.len) == PR_NO_NAME)
            return pr_fail_nomem(err);
        if (!pr_buf_ok(&text))
            pr_buf_free(&text);
        text.max = 1 << 20;
    }
    return PR_OK;
}

/* A program of ours that ended well, and told neither a time nor a throughput.
 * exp.status alone does not say so: logs of DLBS's begin with it. */
static bool ended_well(const struct pr_results_row *row)
{
    const struct pr_value *status = pr_get(&row->params, "exp.status");
    const struct pr_value *code = pr_get(&row->params, "results.exit_status");

    return status && status->kind == PR_STR && strcmp(status->s, "ok") == 0 &&
           code && pr_value_is_number(code) && pr_value_number(code) == 0;
}

static void results_write_values(struct pr_json_writer *jb, const char *key,
                                 const struct values *v)
{
    pr_json_open_array(jb, key);
    for (uint32_t i = 0; i < pr_names_count(v->names); i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_json_in in = {.text = pr_names_text(v->names, i), .name = ""};
        struct pr_value x = pr_null();

        in.len = strlen(in.text);
        if (!a || pr_json_read(&in, a, &x, NULL, NULL))
            jb->out->failed = true;
        pr_json_put_value(jb, NULL, &x);
    }
    pr_json_close(jb);
}

int pr_results_summary_json(const struct pr_results *set, struct pr_buf *out,
                            struct pr_err *err)
{
    static const char *const names[] = {
        "exp.node_id", "exp.node_title",      "exp.gpu_title",
        "exp.gpu_id",  "exp.framework_title", "exp.framework_id"};
    size_t all = pr_results_size(set), good = 0;
    struct pr_json_writer jb;
    int rc = PR_OK;

    for (size_t i = 0; i < all; i++)
        good += pr_results_is_good(pr_results_row_at(set, i)) ||
                ended_well(pr_results_row_at(set, i));
    pr_json_writer_init(&jb, out, 4);
    pr_json_open_object(&jb, NULL);
    pr_json_put_uint(&jb, "num_benchmarks", all);
    pr_json_put_uint(&jb, "num_failed_benchmarks", all - good);
    pr_json_put_uint(&jb, "num_successful_benchmarks", good);
    for (size_t i = 0; !rc && i < sizeof names / sizeof *names; i++) {
        struct values v;
        rc = results_collect_values(&v, set, names[i], err);
        if (!rc)
            results_write_values(&jb, names[i], &v);
        pr_names_free(v.names);
    }
    pr_json_close(&jb);
    if (!rc && !pr_buf_ok(out))
        rc = pr_fail_nomem(err);
    return rc;
}

/* ---- summary: for people */

/* "gpu, cpu", the first of them; text without quotes. */
static void list_words(const struct values *v, struct pr_buf *out)
{
    uint32_t n = pr_names_count(v->names), shown = 0;

    for (uint32_t i = 0; i < n; i++) {
        const char *s = pr_names_text(v->names, i);
        size_t len = strlen(s);

        if (v->missing && strcmp(s, "null") == 0)
            continue;
        if (shown == SHOWN) {
            pr_buf_printf(out, ", … (%u)", n - (v->missing > 0));
            break;
        }
        /* "0,1" keeps its quotes, or it would look like two. */
        if (len >= 2 && *s == '"' && !memchr(s, ',', len)) {
            s++;
            len -= 2;
        }
        pr_buf_str(out, shown++ ? ", " : "");
        pr_buf_add(out, len ? s : "-", len ? len : 1);
    }
}

static int results_add_values_row(const struct pr_results *set,
                                  const char *name, struct pr_table *t,
                                  struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);
    struct values v;
    int rc = results_collect_values(&v, set, name, err);

    if (!rc)
        list_words(&v, &text);
    if (!rc && text.len && pr_buf_ok(&text)) {
        pr_table_row(t);
        pr_table_set_str(t, 0, name);
        pr_table_set_strn(t, 1, text.data, text.len);
    }
    pr_names_free(v.names);
    return rc;
}

static void results_add_range_row(const struct pr_results *set,
                                  const char *name, struct pr_table *t)
{
    double least = INFINITY, most = -INFINITY;
    char text[80];

    for (size_t i = 0; i < pr_results_size(set); i++) {
        const struct pr_value *v =
            pr_get(&pr_results_row_at(set, i)->params, name);
        if (!v || !pr_value_is_number(v) || !isfinite(pr_value_number(v)))
            continue;
        least = fmin(least, pr_value_number(v));
        most = fmax(most, pr_value_number(v));
    }
    if (least > most)
        return;
    if (least < most)
        snprintf(text, sizeof text, "%.6g to %.6g", least, most);
    else
        snprintf(text, sizeof text, "%.6g", least);
    pr_table_row(t);
    pr_table_set_str(t, 0, name);
    pr_table_set_str(t, 1, text);
}

static int results_fill_summary(const struct pr_results *set,
                                struct pr_table *t, struct pr_err *err)
{
    static const char *const words[] = {"exp.framework_title",
                                        "exp.framework",
                                        "exp.model_title",
                                        "exp.model",
                                        "exp.name",
                                        "exp.phase",
                                        "exp.device_type",
                                        "exp.gpus",
                                        "exp.dtype",
                                        "exp.replica_batch",
                                        "exp.effective_batch",
                                        "exp.status"};
    static const char *const figures[] = {"results.time", "results.throughput"};
    int rc = PR_OK;

    for (size_t i = 0; !rc && i < sizeof words / sizeof *words; i++)
        rc = results_add_values_row(set, words[i], t, err);
    for (size_t i = 0; !rc && i < sizeof figures / sizeof *figures; i++)
        results_add_range_row(set, figures[i], t);
    return rc;
}

static void results_print_counts(const struct pr_results *set,
                                 struct pr_buf *out)
{
    const struct pr_results_counts *n = pr_results_get_counts(set);
    size_t all = pr_results_size(set), good = 0, bare = 0;

    for (size_t i = 0; i < all; i++) {
        const struct pr_results_row *row = pr_results_row_at(set, i);
        bool figure = pr_results_is_good(row);

        good += figure;
        bare += !figure && ended_well(row);
    }
    pr_buf_printf(out, "%zu result%s from %llu file%s: %zu ok", all,
                  all == 1 ? "" : "s", (unsigned long long)n->files,
                  n->files == 1 ? "" : "s", good + bare);
    if (bare)
        pr_buf_printf(out, " (%zu without a time or throughput)", bare);
    pr_buf_printf(out, ", %zu failed", all - good - bare);
    if (n->unreadable > n->damaged)
        pr_buf_printf(out, ", %llu unreadable",
                      (unsigned long long)(n->unreadable - n->damaged));
    if (n->damaged)
        pr_buf_printf(out, ", %llu file%s not whole",
                      (unsigned long long)n->damaged,
                      n->damaged == 1 ? "" : "s");
    pr_buf_char(out, '\n');
}

int pr_results_summary_text(const struct pr_results *set,
                            const struct pr_table_style *style,
                            struct pr_buf *out, struct pr_err *err)
{
    static const struct pr_table_column cols[] = {{.title = "parameter"},
                                                  {.title = "values"}};
    struct pr_table *t = pr_table_new(cols, 2);
    int rc = t ? results_fill_summary(set, t, err) : pr_fail_nomem(err);

    results_print_counts(set, out);
    if (!rc && pr_table_rows(t)) {
        pr_buf_char(out, '\n');
        rc = pr_table_print(t, PR_TABLE_TEXT, style, out, err);
    }
    pr_table_free(t);
    return rc;
}

/* ---- where text goes: a file, through deflate or not */

enum { FLUSH = 1 << 20, ROOM = 256 << 10, LEVEL = 6 };

struct sink {
    struct pr_new_file file;
    struct pr_deflate *z;
    uint8_t *room;
    struct pr_buf text;
};

static int results_sink_open(struct sink *s, const char *path,
                             struct pr_err *err)
{
    size_t n = strlen(path);

    *s =
        (struct sink){.file = {.fd = -1}, .text = PR_BUF_INIT((size_t)1 << 31)};
    if (n > 3 && strcmp(path + n - 3, ".gz") == 0) {
        s->z = pr_deflate_new(LEVEL);
        s->room = pr_alloc(ROOM);
        if (!s->z || !s->room)
            return pr_fail_nomem(err);
        pr_deflate_start(s->z, PR_WRAP_GZIP);
    }
    return pr_file_create(path, &s->file, err);
}

static void results_sink_close(struct sink *s)
{
    pr_file_discard(&s->file);
    pr_deflate_free(s->z);
    pr_free(s->room);
    pr_buf_free(&s->text);
}

static int results_sink_deflate(struct sink *s, bool last, struct pr_err *err)
{
    const uint8_t *in = (const uint8_t *)s->text.data;
    size_t left = s->text.len;

    for (;;) {
        size_t got = ROOM;
        bool done = pr_deflate_run(s->z, &in, &left, last, s->room, &got);
        int rc = pr_file_append(&s->file, s->room, got, err);

        if (rc || done)
            return rc;
        if (!last && !left && got < ROOM)
            return PR_OK;
    }
}

static int results_sink_flush(struct sink *s, bool last, struct pr_err *err)
{
    int rc;

    if (!pr_buf_ok(&s->text))
        return s->text.over ? pr_fail(err, PR_E_FORMAT, s->file.path,
                                      "a result of more than 2 GiB")
                            : pr_fail_nomem(err);
    rc = s->z ? results_sink_deflate(s, last, err)
              : pr_file_append(&s->file, s->text.data, s->text.len, err);
    pr_buf_clear(&s->text);
    return rc;
}

/* ---- rows */

static bool results_is_row_good(const struct pr_results_row *row)
{
    const struct pr_value *v = pr_get(&row->params, "results.throughput");

    return v ? pr_value_is_number(v) && pr_value_number(v) > 0
             : pr_results_is_good(row);
}

static bool results_is_row_selected(const struct pr_results_out *o,
                                    const struct pr_results_row *r)
{
    return o->part == PR_RESULTS_ALL ||
           results_is_row_good(r) == (o->part == PR_RESULTS_GOOD);
}

size_t pr_results_out_rows(const struct pr_results_out *o)
{
    size_t n = 0;

    for (size_t i = 0; i < pr_results_size(o->set); i++)
        n += results_is_row_selected(o, pr_results_row_at(o->set, i));
    return n;
}

static void results_write_params(const struct pr_results_out *o,
                                 const struct pr_results_row *row,
                                 struct pr_buf *out)
{
    bool any = false;

    pr_buf_char(out, '{');
    for (size_t i = 0; i < o->param_count; i++) {
        const struct pr_value *v = pr_get(&row->params, o->params[i]);
        if (!v)
            continue;
        pr_buf_printf(out, "%s\n%*s", any ? "," : "", 12, "");
        pr_json_write_string(out, o->params[i], strlen(o->params[i]));
        pr_buf_str(out, ": ");
        pr_json_write_indented(out, v, 4, 3);
        any = true;
    }
    if (any)
        pr_buf_printf(out, "\n%*s", 8, "");
    pr_buf_char(out, '}');
}

static int results_write_rows(const struct pr_results_out *o, struct sink *s,
                              struct pr_err *err)
{
    size_t at = 0, put = 0;

    for (size_t i = 0; i < pr_results_size(o->set); i++) {
        const struct pr_results_row *row = pr_results_row_at(o->set, i);

        if (!results_is_row_selected(o, row) || at++ < o->from ||
            (o->count && put == o->count))
            continue;
        pr_buf_printf(&s->text, "%s\n%*s", put++ ? "," : "", 8, "");
        if (o->params)
            results_write_params(o, row, &s->text);
        else
            pr_json_write_indented(&s->text, &row->params, 4, 2);
        if (s->text.len > FLUSH || !pr_buf_ok(&s->text)) {
            int rc = results_sink_flush(s, false, err);
            if (rc)
                return rc;
        }
    }
    pr_buf_str(&s->text, put ? "\n    ]\n}" : "]\n}");
    return PR_OK;
}

int pr_results_write(const struct pr_results_out *o, const char *path,
                     struct pr_err *err)
{
    struct sink s;
    int rc = results_sink_open(&s, path, err);

    if (!rc) {
        pr_buf_str(&s.text, "{\n    \"data\": [");
        rc = results_write_rows(o, &s, err);
    }
    if (!rc)
        rc = results_sink_flush(&s, true, err);
    if (!rc)
        rc = pr_file_commit(&s.file, err);
    results_sink_close(&s);
    return rc;
}
