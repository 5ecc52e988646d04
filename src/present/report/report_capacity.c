/* The answer of a search for the capacity, in words and as a table. */
#include "present/report/report_capacity.h"

#include "base/units.h"
#include "present/screen.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void pr_capacity_name(const struct pr_capacity_record *r, struct pr_buf *out)
{
    const char *first = *r->model ? r->model : r->target;

    if (*r->accelerator)
        pr_buf_printf(out, "%s, ", r->accelerator);
    pr_screen_clean(out, first, strlen(first));
}

static void capacity_add_percent(struct pr_buf *out, double share, double error)
{
    pr_buf_printf(out, "%.1f %%", share * 100);
    if (!isnan(error))
        pr_buf_printf(out, " ± %.1f", error * 100);
}

/* "23: 91.2 % ± 0.3" */
static void capacity_add_point(struct pr_buf *out,
                               const struct pr_capacity_point *p)
{
    pr_buf_printf(out, "%" PRIu64 ": ", p->accelerators);
    capacity_add_percent(out, p->utilisation, p->error);
}

static void add_runs(struct pr_buf *out, const struct pr_capacity_curve *c)
{
    unsigned a = c->low ? c->low->runs : 0, b = c->high ? c->high->runs : 0;

    if (a && b && a != b)
        pr_buf_printf(out, "%u and %u runs", a, b);
    else if (a && b)
        pr_buf_printf(out, "%u runs each", a);
    else
        pr_buf_printf(out, "%u runs", a + b);
}

/* What the answer rests on, in parentheses. */
static void add_grounds(struct pr_buf *out, const struct pr_capacity_record *r,
                        const struct pr_capacity_curve *c,
                        const struct pr_capacity_answer *answer)
{
    pr_buf_str(out, " (");
    if (c->low)
        capacity_add_point(out, c->low);
    if (c->low && c->high)
        pr_buf_str(out, ", ");
    if (c->high)
        capacity_add_point(out, c->high);
    pr_buf_str(out, ", ");
    add_runs(out, c);
    if (answer->holds)
        pr_buf_printf(out, ", %g %% confidence)", r->opts.confidence * 100);
    else
        pr_buf_printf(out, "; not at the confidence asked for, p = %.2g)",
                      answer->p);
}

/* Where it must be, of a search that was stopped. */
static void add_so_far(struct pr_buf *out, const struct pr_capacity_curve *c)
{
    uint64_t low = c->low ? c->low->accelerators : 0;
    uint64_t high = c->high ? c->high->accelerators - 1 : 0;

    pr_buf_str(out, "Not found yet");
    if (c->high && low < high)
        pr_buf_printf(out, ": between %" PRIu64 " and %" PRIu64 " accelerators",
                      low, high);
    else if (c->low)
        pr_buf_printf(out, ": at least %" PRIu64 " accelerator%s", low,
                      low == 1 ? "" : "s");
    pr_buf_str(out, ".\n");
}

static void add_answer(struct pr_buf *out, const struct pr_capacity_record *r,
                       const struct pr_capacity_curve *c)
{
    struct pr_capacity_answer answer;

    pr_capacity_find_answer(&r->opts, c, &answer);
    if (!answer.known) {
        add_so_far(out, c);
        return;
    }
    if (answer.disturbed)
        pr_buf_str(out,
                   "Disturbed: something else took time from the trials that "
                   "decide: they say little of the storage. Search again while "
                   "the machine is idle.\n");
    if (answer.capacity)
        pr_buf_printf(out, "%s %s%" PRIu64 " accelerator%s",
                      answer.disturbed ? "In these trials there were"
                                       : "This storage keeps",
                      answer.at_least ? "at least " : "", answer.capacity,
                      answer.capacity == 1 ? "" : "s");
    else
        pr_buf_str(out, answer.disturbed
                            ? "In these trials there was not one accelerator"
                            : "This storage does not keep one accelerator");
    if (*r->model || *r->target) {
        pr_buf_str(out, " (");
        pr_capacity_name(r, out);
        pr_buf_char(out, ')');
    }
    pr_buf_printf(out, " at or above %g %% utilisation",
                  r->opts.threshold * 100);
    add_grounds(out, r, c, &answer);
    pr_buf_str(out, ".\n");
}

/* ---- the table */

static int add_table(struct pr_buf *out, const struct pr_capacity_curve *c,
                     enum pr_table_format format,
                     const struct pr_table_style *style, struct pr_err *err)
{
    static const struct pr_table_column cols[] = {
        {.title = "accelerators", .kind = PR_COL_INT},
        {.title = "runs", .kind = PR_COL_INT},
        {.title = "utilisation", .kind = PR_COL_PERCENT},
        {.title = "±", .kind = PR_COL_PERCENT, .key = "error_percent"},
        {.title = "read", .kind = PR_COL_RATE, .unit = "B/s"},
        {.title = "threshold", .kind = PR_COL_STR},
    };
    struct pr_table *t = pr_table_new(cols, sizeof cols / sizeof *cols);
    int rc;

    if (!t)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < c->count; i++) {
        const struct pr_capacity_point *p = &c->points[i];

        pr_table_row(t);
        pr_table_set_int(t, 0, (int64_t)p->accelerators);
        pr_table_set_int(t, 1, p->runs);
        pr_table_set_float(t, 2, p->utilisation * 100);
        pr_table_set_float(t, 3, p->error * 100);
        pr_table_set_float(t, 4, p->mb_per_second * 1e6);
        pr_table_set_str(t, 5, p->meets ? "met" : "not met");
    }
    rc = pr_table_print(t, format, style, out, err);
    pr_table_free(t);
    return rc;
}

/* ---- what the curve says */

static void add_knee(struct pr_buf *out, const struct pr_capacity_curve *c)
{
    bool exact;
    uint64_t knee = pr_capacity_find_knee(c, &exact);

    if (knee)
        pr_buf_printf(out, "Waiting begins at %s%" PRIu64 " accelerator%s.\n",
                      exact ? "" : "about ", knee, knee == 1 ? "" : "s");
    else if (c->count > 1)
        pr_buf_str(out, "Nowhere did accelerators begin to wait.\n");
}

static void capacity_add_need(struct pr_buf *out,
                              const struct pr_capacity_record *r)
{
    struct pr_capacity_need need =
        pr_capacity_compute_need(&r->opts, r->trials, r->count);
    char size[16];

    if (!(need.samples > 0))
        return;
    pr_buf_printf(out,
                  "One accelerator that never waits takes in %.4g samples/s",
                  need.samples);
    if (need.bytes > 0)
        pr_buf_printf(out, ", %s/s",
                      pr_format_bytes(size, (uint64_t)need.bytes));
    pr_buf_str(out, ".\n");
}

static void add_clients(struct pr_buf *out, const struct pr_capacity_record *r,
                        uint64_t capacity)
{
    const struct pr_capacity_trial *probe =
        pr_capacity_find_trial(r, PR_CAPACITY_STORAGE);
    struct pr_capacity_clients more;

    if (!probe ||
        !pr_capacity_compute_clients(&r->opts, probe, capacity, &more))
        return;
    pr_buf_printf(out,
                  "The storage alone gives %s%.0f MB/s and could keep %s "
                  "%" PRIu64 " busy: ",
                  more.at_least ? "at least " : "", more.mb_per_second,
                  more.at_least ? "at least" : "about", more.accelerators);
    if (more.more)
        pr_buf_printf(out,
                      "%" PRIu64 " more client machine%s like this one would "
                      "be needed.\n",
                      more.more, more.more == 1 ? "" : "s");
    else if (more.at_least)
        pr_buf_str(out, "what it can do takes a faster client to find out.\n");
    else
        pr_buf_str(out, "more clients would not help.\n");
}

static void capacity_add_limit(struct pr_buf *out,
                               const struct pr_capacity_record *r,
                               const struct pr_capacity_curve *c)
{
    enum pr_capacity_limit limit;
    char why[256];

    if (!c->high)
        return;
    limit = pr_capacity_find_limit(&c->high->figures, r->throttle, why);
    pr_buf_printf(out, "%s the limit is %s: %s.\n",
                  c->low ? "Beyond that" : "Here",
                  pr_capacity_limit_text(limit), why);
    add_clients(out, r, c->low ? c->low->accelerators : 0);
}

int pr_capacity_text(const struct pr_capacity_record *r, const char *dir,
                     enum pr_table_format format,
                     const struct pr_table_style *style, struct pr_buf *out,
                     struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(8192);
    struct pr_capacity_curve c;
    int rc =
        a ? pr_capacity_fill_curve(&r->opts, r->trials, r->count, a, &c, err)
          : pr_fail_nomem(err);

    if (rc)
        return rc;
    if (format == PR_TABLE_CSV)
        return add_table(out, &c, format, style, err);
    add_answer(out, r, &c);
    pr_buf_char(out, '\n');
    rc = add_table(out, &c, format, style, err);
    if (rc)
        return rc;
    pr_buf_char(out, '\n');
    capacity_add_need(out, r);
    if (r->done && !(c.high && c.high->figures.disturbed))
        add_knee(out, &c);
    if (r->done)
        capacity_add_limit(out, r, &c);
    for (size_t i = 0; i < r->note_count; i++) {
        pr_buf_str(out, "Note: ");
        pr_screen_clean(out, r->notes[i], strlen(r->notes[i]));
        pr_buf_str(out, ".\n");
    }
    pr_buf_str(out, "Files: ");
    pr_screen_clean(out, dir, strlen(dir));
    pr_buf_str(out, "/capacity.svg (chart), capacity.json, trials/\n");
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}

/* ---- as it grows */

static const struct pr_capacity_point *
capacity_find_point(const struct pr_capacity_curve *c, uint64_t n)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->points[i].accelerators == n)
            return &c->points[i];
    return NULL;
}

static void add_trial(struct pr_buf *out, const struct pr_capacity_record *r,
                      const struct pr_capacity_trial *t,
                      const struct pr_capacity_point *p)
{
    char time[24];

    pr_buf_printf(out, "%4" PRIu64 " accelerator%s: ", t->accelerators,
                  t->accelerators == 1 ? "" : "s");
    if (t->kind == PR_CAPACITY_FULL && p) {
        pr_buf_printf(out, "%.1f %% utilisation", t->utilisation * 100);
        if (p->runs > 1) {
            pr_buf_printf(out, ", mean of %u: ", p->runs);
            capacity_add_percent(out, p->utilisation, p->error);
        }
        pr_buf_printf(out, ", %.0f MB/s, %s", t->mb_per_second,
                      p->meets ? "met" : "not met");
        if (t->figures.disturbed)
            pr_buf_str(out, ", disturbed");
    } else if (t->kind == PR_CAPACITY_SCOUT) {
        double enough = t->samples_per_second / r->opts.need;

        pr_buf_printf(out, "only reading %.0f MB/s, enough for about %.*f",
                      t->mb_per_second, enough < 9.95 ? 1 : 0, enough);
    } else {
        pr_buf_printf(out, "only reading, without decoding, %.0f MB/s",
                      t->mb_per_second);
    }
    pr_buf_printf(out, ", %s", pr_format_seconds(time, t->seconds));
}

int pr_capacity_line(const struct pr_capacity_record *r, struct pr_buf *out,
                     struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(8192);
    const struct pr_capacity_trial *t;
    struct pr_capacity_curve c;
    int rc =
        a ? pr_capacity_fill_curve(&r->opts, r->trials, r->count, a, &c, err)
          : pr_fail_nomem(err);

    if (rc || !r->count)
        return rc;
    t = &r->trials[r->count - 1];
    add_trial(out, r, t, capacity_find_point(&c, t->accelerators));
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}
