/*
 * The trace that PRONY_TRACE asks for, for ui.perfetto.dev: a row of trials,
 * and below them what was fetched and computed when. Spans are kept as numbers
 * and become text at the end: nothing is formatted while time counts.
 */
#include "ext.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct span {
    char label[24];   /* of the trial */
    const char *name; /* of a part of a step; NULL: the trial */
    uint64_t step, start, end;
};

struct pr_py_spans {
    uint64_t rank, origin;
    struct span *all;
    size_t count, room;
};

enum { MOST = 4 << 20 }; /* 300 MB; later ones are left out */

uint64_t pr_py_now(void)
{
    return pr_clock_ns();
}

struct pr_py_spans *pr_py_spans_new(uint64_t rank)
{
    struct pr_py_spans *s = pr_alloc_zeroed(sizeof *s);

    if (s) {
        s->rank = rank;
        s->origin = pr_clock_ns();
    }
    return s;
}

void pr_py_spans_free(struct pr_py_spans *s)
{
    if (s)
        pr_free(s->all);
    pr_free(s);
}

void pr_py_spans_add(struct pr_py_spans *s, const char *label, const char *name,
                     uint64_t step, uint64_t start, uint64_t end)
{
    if (s->count == s->room) {
        size_t more = s->room ? 2 * s->room : 1024;
        struct span *all =
            more > MOST ? NULL : pr_realloc(s->all, more * sizeof *all);

        if (!all)
            return;
        s->all = all;
        s->room = more;
    }
    struct span *x = &s->all[s->count++];

    snprintf(x->label, sizeof x->label, "%s", label);
    x->name = name;
    x->step = step;
    x->start = start;
    x->end = end;
}

static void name_row(struct pr_buf *out, const struct pr_py_spans *s)
{
    pr_buf_printf(
        out,
        "{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %" PRIu64
        ", \"args\": {\"name\": \"rank %" PRIu64 "\"}}",
        s->rank, s->rank);
}

/* Microseconds with three digits after the point: the trace format's unit. */
static void microseconds(struct pr_buf *out, const char *key, uint64_t ns)
{
    pr_buf_printf(out, ", \"%s\": %" PRIu64 ".%03u", key, ns / 1000,
                  (unsigned)(ns % 1000));
}

static void put_span(struct pr_buf *out, const struct pr_py_spans *s,
                     const struct span *x)
{
    pr_buf_printf(out,
                  ",\n{\"name\": \"%s\", \"cat\": \"%s\", \"ph\": \"X\", "
                  "\"pid\": %" PRIu64 ", \"tid\": 0",
                  x->name ? x->name : x->label, x->name ? "step" : "trial",
                  s->rank);
    microseconds(out, "ts", x->start - s->origin);
    microseconds(out, "dur", x->end - x->start);
    if (x->name)
        pr_buf_printf(out,
                      ", \"args\": {\"trial\": \"%s\", \"step\": %" PRIu64 "}",
                      x->label, x->step);
    pr_buf_char(out, '}');
}

int pr_py_spans_write(struct pr_py_spans *s, const char *path,
                      struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT((size_t)2 << 30);

    pr_buf_str(&out, "{\"traceEvents\": [\n");
    name_row(&out, s);
    for (size_t i = 0; i < s->count; i++)
        put_span(&out, s, &s->all[i]);
    pr_buf_str(&out, "\n]}\n");
    if (!pr_buf_ok(&out))
        return pr_fail_nomem(err);
    return pr_file_write(path, out.data, out.len, err);
}
