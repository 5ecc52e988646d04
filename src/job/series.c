/* Series of numbers: what was measured again and again. */
#include "job/series.h"

#include "base/mem.h"
#include "base/stats/statistics.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pr_series_init(struct pr_series *s, struct pr_err *err)
{
    *s = (struct pr_series){.stride = 1};
    s->kept = pr_alloc(PR_SERIES_KEPT * sizeof *s->kept);
    return s->kept ? PR_OK : pr_fail_nomem(err);
}

void pr_series_free(struct pr_series *s)
{
    pr_free(s->kept);
    s->kept = NULL;
}

static void series_halve(struct pr_series *s)
{
    for (size_t i = 0; i < PR_SERIES_KEPT / 2; i++)
        s->kept[i] = s->kept[2 * i];
    s->kept_count = PR_SERIES_KEPT / 2;
    s->stride *= 2;
}

void pr_series_add(struct pr_series *s, double v)
{
    double off = v - s->mean;

    if (s->count % s->stride == 0) {
        if (s->kept_count == PR_SERIES_KEPT)
            series_halve(s);
        /* Thinned just now: this one may be due no more. */
        if (s->count % s->stride == 0)
            s->kept[s->kept_count++] = v;
    }
    s->min = s->count && s->min < v ? s->min : v;
    s->max = s->count && s->max > v ? s->max : v;
    s->last = v;
    s->count++;
    s->mean += off / (double)s->count;
    s->squares += off * (v - s->mean);
}

double pr_series_std(const struct pr_series *s)
{
    return s->count ? sqrt(s->squares / (double)s->count) : 0;
}

int pr_series_quantiles(const struct pr_series *s, const double *p,
                        size_t count, double *ret, struct pr_err *err)
{
    size_t n = s->kept_count;
    double *sorted = pr_alloc((n ? n : 1) * sizeof *sorted);

    if (!sorted)
        return pr_fail_nomem(err);
    memcpy(sorted, s->kept, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, pr_double_compare);
    for (size_t i = 0; i < count; i++) {
        double at = n ? p[i] * (double)(n - 1) : 0;
        size_t low = (size_t)at;
        size_t high = low + 1 < n ? low + 1 : low;

        ret[i] =
            n ? sorted[low] + (at - (double)low) * (sorted[high] - sorted[low])
              : 0;
    }
    pr_free(sorted);
    return PR_OK;
}

void pr_series_put(const struct pr_series *s, struct pr_result_lines *k,
                   const char *name)
{
    pr_json_open_array(k->at, pr_result_lines_begin(k, name));
    for (size_t i = 0; i < s->kept_count; i++)
        pr_json_put_float(k->at, NULL, s->kept[i]);
    pr_json_close(k->at);
    pr_result_lines_end(k);
}

int pr_series_put_times(const struct pr_series *s, struct pr_result_lines *k,
                        struct pr_series_summary *ret, struct pr_err *err)
{
    static const double shares[] = {0.5, 0.9, 0.99};
    double q[3];

    PR_TRY(pr_series_quantiles(s, shares, 3, q, err));
    pr_result_lines_put_float(k, "time", s->mean);
    pr_series_put(s, k, "time_data");
    pr_result_lines_put_float(k, "time_std", pr_series_std(s));
    pr_result_lines_put_float(k, "time_min", s->min);
    pr_result_lines_put_float(k, "time_max", s->max);
    pr_result_lines_put_float(k, "time_p50", q[0]);
    pr_result_lines_put_float(k, "time_p90", q[1]);
    pr_result_lines_put_float(k, "time_p99", q[2]);
    *ret = (struct pr_series_summary){
        .mean = s->mean, .p50 = q[0], .p99 = q[2], .max = s->max};
    return PR_OK;
}

const char *pr_series_text(const struct pr_series_summary *s,
                           char out[static PR_SERIES_TEXT])
{
    char mean[24], p50[24], high[24];

    /* Few slow ones carry a mean that nearly all others stay below. */
    if (s->p99 < s->mean)
        snprintf(out, PR_SERIES_TEXT, "%s, median %s, the slowest %s",
                 pr_format_seconds(mean, s->mean / 1e3),
                 pr_format_seconds(p50, s->p50 / 1e3),
                 pr_format_seconds(high, s->max / 1e3));
    else
        snprintf(out, PR_SERIES_TEXT, "%s, p99 %s",
                 pr_format_seconds(mean, s->mean / 1e3),
                 pr_format_seconds(high, s->p99 / 1e3));
    return out;
}
