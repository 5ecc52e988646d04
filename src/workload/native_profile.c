/* The time of each layer: a list in the results, and a table in the log. */
#include "base/mem.h"
#include "workload/native_run.h"
#include "workload/sink.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN = 20 }; /* rows of the table */

static double seconds_of(const struct pr_net_row *row)
{
    return row->forward_s + row->backward_s + row->update_s;
}

static int by_time(const void *a, const void *b)
{
    double x = seconds_of(a), y = seconds_of(b);

    return (x < y) - (x > y);
}

/* Operations a second while it computes, in GFLOP/s; 0: it has none. */
static double rate_of(const struct pr_net_row *row)
{
    double s = row->forward_s + row->backward_s;

    return s > 0 ? (row->forward_flops + row->backward_flops) / s / 1e9 : 0;
}

static void put_row(struct pr_jb *jb, const struct pr_net_row *row, double all)
{
    pr_jb_obj(jb, NULL);
    pr_jb_str(jb, "layer", row->layer);
    pr_jb_str(jb, "op", row->op);
    pr_jb_str(jb, "impl", row->impl);
    pr_jb_str(jb, "layout", row->layout);
    pr_jb_float(jb, "forward_ms", row->forward_s * 1e3);
    pr_jb_float(jb, "backward_ms", row->backward_s * 1e3);
    pr_jb_float(jb, "update_ms", row->update_s * 1e3);
    pr_jb_float(jb, "time_share", all > 0 ? seconds_of(row) / all : 0);
    if (rate_of(row) > 0)
        pr_jb_float(jb, "gflop_per_s", rate_of(row));
    pr_jb_end(jb);
}

static void put_list(const struct pr_net_row *rows, unsigned count, double all,
                     struct pr_buf *out)
{
    struct pr_sink k;

    pr_sink_lines(&k, out);
    pr_jb_arr(k.at, pr_sink_begin(&k, "layers"));
    for (unsigned i = 0; i < count; i++)
        put_row(k.at, &rows[i], all);
    pr_jb_end(k.at);
    pr_sink_end(&k);
}

static void say_table(const struct pr_net_row *rows, unsigned count, double all,
                      struct pr_buf *out)
{
    double rest = 0;

    pr_buf_printf(out, "%-32s %-12s %9s %9s %9s %6s %8s  %s\n", "layer", "op",
                  "fwd ms", "bwd ms", "upd ms", "share", "GFLOP/s", "by");
    for (unsigned i = 0; i < count && i < SHOWN; i++) {
        const struct pr_net_row *r = &rows[i];

        pr_buf_printf(
            out, "%-32s %-12s %9.3f %9.3f %9.3f %5.1f%% %8.1f  %s %s\n",
            r->layer, r->op, r->forward_s * 1e3, r->backward_s * 1e3,
            r->update_s * 1e3, all > 0 ? 100 * seconds_of(r) / all : 0,
            rate_of(r), *r->impl ? r->impl : "loop", r->layout);
    }
    for (unsigned i = SHOWN; i < count; i++)
        rest += seconds_of(&rows[i]);
    if (count > SHOWN)
        pr_buf_printf(out, "%u more: %.3f ms, %.1f%%\n", count - SHOWN,
                      rest * 1e3, all > 0 ? 100 * rest / all : 0);
}

/* Sums over layers of one kind, in the order of the first of each. */
static void say_kinds(const struct pr_net_row *rows, unsigned count, double all,
                      struct pr_buf *out)
{
    for (unsigned i = 0; i < count; i++) {
        double sum = 0;
        unsigned layers = 0, first = count;

        for (unsigned k = 0; k < count; k++) {
            if (strcmp(rows[k].op, rows[i].op) != 0)
                continue;
            first = first == count ? k : first;
            sum += seconds_of(&rows[k]);
            layers++;
        }
        if (first == i)
            pr_buf_printf(out, "all %-12s %4u layer%s %9.3f ms %5.1f%%\n",
                          rows[i].op, layers, layers == 1 ? " " : "s",
                          sum * 1e3, all > 0 ? 100 * sum / all : 0);
    }
}

int pr_native_profile(const struct pr_native_run *r, struct pr_buf *out,
                      struct pr_err *err)
{
    struct pr_net_row row, *rows;
    unsigned count = 0;
    double all = 0;

    while (pr_net_row(r->net, count, &row))
        count++;
    rows = pr_alloc((count + 1) * sizeof *rows);
    if (!rows)
        return pr_fail_nomem(err);
    for (unsigned i = 0; i < count && pr_net_row(r->net, i, &rows[i]); i++)
        all += seconds_of(&rows[i]);
    put_list(rows, count, all, out);
    qsort(rows, count, sizeof *rows, by_time);
    say_table(rows, count, all, out);
    say_kinds(rows, count, all, out);
    pr_free(rows);
    return PR_OK;
}
