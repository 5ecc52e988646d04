/* The time of each layer: a list in the results, and a table in the log. */
#include "base/mem.h"
#include "job/result_lines.h"
#include "native/native_run.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN = 20 }; /* rows of the table */

static double layer_total_s(const struct pr_net_row *row)
{
    return row->forward_s + row->backward_s + row->update_s;
}

static int compare_layer_times(const void *a, const void *b)
{
    double x = layer_total_s(a), y = layer_total_s(b);

    return (x < y) - (x > y);
}

/* Operations a second while it computes, in GFLOP/s; 0: it has none. */
static double layer_gflop_per_s(const struct pr_net_row *row)
{
    double s = row->forward_s + row->backward_s;

    return s > 0 ? (row->forward_flops + row->backward_flops) / s / 1e9 : 0;
}

static void put_profile_layer(struct pr_json_writer *jb,
                              const struct pr_net_row *row, double all)
{
    pr_json_open_object(jb, NULL);
    pr_json_put_str(jb, "layer", row->layer);
    pr_json_put_str(jb, "op", row->op);
    pr_json_put_str(jb, "impl", row->impl);
    pr_json_put_str(jb, "layout", row->layout);
    pr_json_put_float(jb, "forward_ms", row->forward_s * 1e3);
    pr_json_put_float(jb, "backward_ms", row->backward_s * 1e3);
    pr_json_put_float(jb, "update_ms", row->update_s * 1e3);
    pr_json_put_float(jb, "time_share", all > 0 ? layer_total_s(row) / all : 0);
    if (layer_gflop_per_s(row) > 0)
        pr_json_put_float(jb, "gflop_per_s", layer_gflop_per_s(row));
    pr_json_close(jb);
}

static void put_profile_layers(const struct pr_net_row *rows, unsigned count,
                               double all, struct pr_buf *out)
{
    struct pr_result_lines k;

    pr_result_lines_init(&k, out);
    pr_json_open_array(k.at, pr_result_lines_begin(&k, "layers"));
    for (unsigned i = 0; i < count; i++)
        put_profile_layer(k.at, &rows[i], all);
    pr_json_close(k.at);
    pr_result_lines_end(&k);
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
            r->update_s * 1e3, all > 0 ? 100 * layer_total_s(r) / all : 0,
            layer_gflop_per_s(r), *r->impl ? r->impl : "loop", r->layout);
    }
    for (unsigned i = SHOWN; i < count; i++)
        rest += layer_total_s(&rows[i]);
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
            sum += layer_total_s(&rows[k]);
            layers++;
        }
        if (first == i)
            pr_buf_printf(out, "all %-12s %4u layer%s %9.3f ms %5.1f%%\n",
                          rows[i].op, layers, layers == 1 ? " " : "s",
                          sum * 1e3, all > 0 ? 100 * sum / all : 0);
    }
}

int pr_native_write_profile(const struct pr_native_session *r,
                            struct pr_buf *out, struct pr_err *err)
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
        all += layer_total_s(&rows[i]);
    put_profile_layers(rows, count, all, out);
    qsort(rows, count, sizeof *rows, compare_layer_times);
    say_table(rows, count, all, out);
    say_kinds(rows, count, all, out);
    pr_free(rows);
    return PR_OK;
}
