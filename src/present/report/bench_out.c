/* Writing results as one JSON document, piece by piece. */
#include "present/report/bench_out.h"

#include "base/codec/deflate.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/mem.h"

#include <string.h>

enum { FLUSH = 1 << 20, ROOM = 256 << 10, LEVEL = 6 };

/* Where text goes: a file, through deflate or not. */
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
