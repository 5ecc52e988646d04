/* Writing results as one JSON document, piece by piece. */
#include "present/bench_out.h"

#include "base/deflate.h"
#include "base/file.h"
#include "base/json.h"
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

static int sink_open(struct sink *s, const char *path, struct pr_err *err)
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

static void sink_done(struct sink *s)
{
    pr_file_discard(&s->file);
    pr_deflate_free(s->z);
    pr_free(s->room);
    pr_buf_done(&s->text);
}

static int put_deflated(struct sink *s, bool last, struct pr_err *err)
{
    const uint8_t *in = (const uint8_t *)s->text.data;
    size_t left = s->text.len;

    for (;;) {
        size_t got = ROOM;
        bool done = pr_deflate_run(s->z, &in, &left, last, s->room, &got);
        int rc = pr_file_put(&s->file, s->room, got, err);

        if (rc || done)
            return rc;
        if (!last && !left && got < ROOM)
            return PR_OK;
    }
}

static int flush(struct sink *s, bool last, struct pr_err *err)
{
    int rc;

    if (!pr_buf_ok(&s->text))
        return s->text.over ? pr_fail(err, PR_E_FORMAT, s->file.path,
                                      "a result of more than 2 GiB")
                            : pr_fail_nomem(err);
    rc = s->z ? put_deflated(s, last, err)
              : pr_file_put(&s->file, s->text.data, s->text.len, err);
    pr_buf_clear(&s->text);
    return rc;
}

/* ---- rows */

static bool succeeded(const struct pr_bench_row *row)
{
    const struct pr_value *v = pr_get(&row->params, "results.throughput");

    return v ? pr_is_number(v) && pr_number(v) > 0 : pr_bench_ok(row);
}

static bool belongs(const struct pr_bench_out *o, const struct pr_bench_row *r)
{
    return o->part == PR_BENCH_ALL ||
           succeeded(r) == (o->part == PR_BENCH_GOOD);
}

size_t pr_bench_out_rows(const struct pr_bench_out *o)
{
    size_t n = 0;

    for (size_t i = 0; i < pr_bench_size(o->set); i++)
        n += belongs(o, pr_bench_row(o->set, i));
    return n;
}

static void put_some(const struct pr_bench_out *o,
                     const struct pr_bench_row *row, struct pr_buf *out)
{
    bool any = false;

    pr_buf_char(out, '{');
    for (size_t i = 0; i < o->param_count; i++) {
        const struct pr_value *v = pr_get(&row->params, o->params[i]);
        if (!v)
            continue;
        pr_buf_printf(out, "%s\n%*s", any ? "," : "", 12, "");
        pr_json_string(out, o->params[i], strlen(o->params[i]));
        pr_buf_str(out, ": ");
        pr_json_write_indented(out, v, 4, 3);
        any = true;
    }
    if (any)
        pr_buf_printf(out, "\n%*s", 8, "");
    pr_buf_char(out, '}');
}

static int put_rows(const struct pr_bench_out *o, struct sink *s,
                    struct pr_err *err)
{
    size_t at = 0, put = 0;

    for (size_t i = 0; i < pr_bench_size(o->set); i++) {
        const struct pr_bench_row *row = pr_bench_row(o->set, i);

        if (!belongs(o, row) || at++ < o->from || (o->count && put == o->count))
            continue;
        pr_buf_printf(&s->text, "%s\n%*s", put++ ? "," : "", 8, "");
        if (o->params)
            put_some(o, row, &s->text);
        else
            pr_json_write_indented(&s->text, &row->params, 4, 2);
        if (s->text.len > FLUSH || !pr_buf_ok(&s->text)) {
            int rc = flush(s, false, err);
            if (rc)
                return rc;
        }
    }
    pr_buf_str(&s->text, put ? "\n    ]\n}" : "]\n}");
    return PR_OK;
}

int pr_bench_write(const struct pr_bench_out *o, const char *path,
                   struct pr_err *err)
{
    struct sink s;
    int rc = sink_open(&s, path, err);

    if (!rc) {
        pr_buf_str(&s.text, "{\n    \"data\": [");
        rc = put_rows(o, &s, err);
    }
    if (!rc)
        rc = flush(&s, true, err);
    if (!rc)
        rc = pr_file_commit(&s.file, err);
    sink_done(&s);
    return rc;
}
