/*
 * What is odd about the numbers of a row, and what to do about it: too few
 * runs, a first one that is slower, runs far from the others, a drift. None of
 * this changes a verdict.
 */
#include "analyse/compare/compare.h"

#include "base/stats/statistics.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_FOR_FIRST = 3,
    LEAST_FOR_OUTLIER = 5,
    LEAST_FOR_DRIFT = 6,
    LEAST_SLICES = 16,
    MOST_REPEATS = 50,
};

/* Effects up to this are not worth a note (logarithms), nor are those within
 * so many deviations. */
static const double worth = 0.02;
static const double far_first = 4, far_off = 6, far_slope = 5;
/* … within a run, where so few values count that this is far already. */
static const double far_within = 3;

/* Text NULL: out of memory. */
static int add_note(struct pr_compare_row *row, enum pr_compare_odd odd,
                    char side, const char *text)
{
    if (text && row->note_count < PR_COMPARE_NOTES)
        row->notes[row->note_count++] =
            (struct pr_compare_note){.odd = odd, .side = side, .text = text};
    return text ? PR_OK : PR_E_NOMEM;
}

static double log_to_percent(double log)
{
    return 100 * expm1(log);
}

/* Sorts v. */
static double sort_for_median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, pr_double_compare);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* The middle and, in deviations of a bell curve, the spread around it. */
static void find_median_and_spread(const double *v, size_t n, double *room,
                                   double *ret_middle, double *ret_spread)
{
    memcpy(room, v, n * sizeof *v);
    *ret_middle = sort_for_median(room, n);
    for (size_t i = 0; i < n; i++)
        room[i] = fabs(v[i] - *ret_middle);
    *ret_spread = 1.4826 * sort_for_median(room, n);
}

/* Worse: slower, or whatever the figure has for it. */
static bool is_worse(enum pr_better better, double change)
{
    return better == PR_BETTER_SHORTER || better == PR_BETTER_LESS ? change > 0
                                                                   : change < 0;
}

static const char *speed_word(const struct pr_compare_row *row, double change)
{
    bool speed =
        row->better == PR_BETTER_FASTER || row->better == PR_BETTER_SHORTER;

    if (!speed)
        return change > 0 ? "higher" : "lower";
    return is_worse(row->better, change) ? "slower" : "faster";
}

/* ---- the first repeat */

/* 1: the first repeat of this side is far from all others. */
static int note_first(struct pr_compare_row *row, char side,
                      const struct pr_compare_side *s, struct pr_arena *a)
{
    double mean, var, change;
    const char *text;

    if (!s->logs || s->repeats < LEAST_FOR_FIRST)
        return 0;
    pr_compare_moments(s->logs + 1, s->repeats - 1, &mean, &var);
    change = s->logs[0] - mean;
    if (fabs(change) <= worth || !is_worse(row->better, change) ||
        fabs(change) <= far_first * fmax(sqrt(var), 0.002))
        return 0;
    text = pr_arena_printf(a,
                           "the first repeat of %c was %.1f %% %s than the "
                           "others; throw it away with --skip-first",
                           side, fabs(log_to_percent(change)),
                           speed_word(row, change));
    return add_note(row, PR_ODD_FIRST, side, text) ? PR_E_NOMEM : 1;
}

/* ---- outliers */

static int note_outlier(struct pr_compare_row *row, char side,
                        const struct pr_compare_side *s, bool skip_first,
                        double *room, struct pr_arena *a)
{
    double mid, spread, change, most = 0;
    uint64_t at = 0;

    if (!s->logs || s->repeats < LEAST_FOR_OUTLIER)
        return PR_OK;
    find_median_and_spread(s->logs, s->repeats, room, &mid, &spread);
    for (uint64_t i = skip_first; i < s->repeats; i++)
        if (fabs(s->logs[i] - mid) > most) {
            most = fabs(s->logs[i] - mid);
            at = i;
        }
    change = s->logs[at] - mid;
    if (most <= worth || most <= far_off * fmax(spread, 0.002))
        return PR_OK;
    return add_note(row, PR_ODD_OUTLIER, side,
                    pr_arena_printf(a,
                                    "repeat %" PRIu64 " of %c is far off "
                                    "(%+.1f %%); see what else ran then, or "
                                    "use --repeat 10",
                                    at + 1, side, log_to_percent(change)));
}

/* ---- drift */

/* The slope of a line through v, over its whole length; *ret_t: in its own
 * errors, for which so many values (not n) count. */
static double fit_slope(const double *v, size_t n, double effective,
                        double *ret_t)
{
    double mx = (double)(n - 1) / 2, my, ignored, sxy = 0, sxx = 0, rest = 0;
    double b, error;

    pr_compare_moments(v, n, &my, &ignored);
    for (size_t i = 0; i < n; i++) {
        sxy += ((double)i - mx) * (v[i] - my);
        sxx += ((double)i - mx) * ((double)i - mx);
    }
    b = sxy / sxx;
    for (size_t i = 0; i < n; i++) {
        double e = v[i] - my - b * ((double)i - mx);

        rest += e * e;
    }
    error = sqrt(rest / (double)n / fmax(1, effective - 2) * ((double)n / sxx));
    *ret_t = b / fmax(error, 1e-12);
    return b * (double)(n - 1);
}

static int note_drift(struct pr_compare_row *row, char side,
                      const struct pr_compare_side *s, struct pr_arena *a)
{
    double t, change;

    if (!s->logs || s->repeats < LEAST_FOR_DRIFT)
        return PR_OK;
    change = fit_slope(s->logs, s->repeats, (double)s->repeats, &t);
    if (fabs(change) <= worth || fabs(t) < far_slope)
        return PR_OK;
    return add_note(row, PR_ODD_DRIFT, side,
                    pr_arena_printf(a,
                                    "%c drifts, %+.1f %% from the first "
                                    "repeat to the last (heat? a growing "
                                    "file?); run A and B in turn",
                                    side, log_to_percent(change)));
}

/* Within the only run: its slices hang together, so few of them count. */
static int note_drift_within(struct pr_compare_row *row, char side,
                             const struct pr_compare_side *s,
                             struct pr_arena *a)
{
    const struct pr_compare_run *r = s->test ? s->test->runs : NULL;
    double e2, freedom, mean, var, t, change;

    if (s->repeats != 1 || !r || s->test->count != 1 || !r->slices ||
        r->slice_count < LEAST_SLICES ||
        !pr_compare_batch_error(r->slices, r->slice_count, &e2, &freedom))
        return PR_OK;
    pr_compare_moments(r->slices, r->slice_count, &mean, &var);
    change = fit_slope(r->slices, r->slice_count, freedom + 1, &t) / mean;
    if (fabs(change) <= worth || fabs(t) < far_within)
        return PR_OK;
    return add_note(row, PR_ODD_WITHIN, side,
                    pr_arena_printf(a,
                                    "%c drifts, %+.1f %% within the run; let "
                                    "it run longer (--max-count), or warm up "
                                    "first",
                                    side, 100 * change));
}

/* ---- few runs */

static bool has_odd(const struct pr_compare_row *row, enum pr_compare_odd odd)
{
    for (size_t i = 0; i < row->note_count; i++)
        if (row->notes[i].odd == odd)
            return true;
    return false;
}

static int note_few_runs(struct pr_compare_row *row,
                         const struct pr_compare_side *a,
                         const struct pr_compare_side *b,
                         struct pr_arena *arena)
{
    double half = log(row->high / row->low) / 2, repeats;

    if (!isfinite(half))
        return PR_OK;
    if (a->repeats == 1 && b->repeats == 1)
        return add_note(row, PR_ODD_SINGLE, 0,
                        "one run each: what runs of the same thing differ by "
                        "is assumed, not measured; use --repeat 5");
    /* A slow first run is the reason, and has its own remedy. */
    if (half <= log(1.05) || has_odd(row, PR_ODD_FIRST))
        return PR_OK;
    repeats = (double)(a->repeats > b->repeats ? a->repeats : b->repeats);
    repeats = ceil(repeats * pow(half / log(1.05), 2));
    repeats = fmin(MOST_REPEATS, fmax(repeats, 3));
    half = fmin(half, log(10));
    return add_note(row, PR_ODD_WIDE, 0,
                    pr_arena_printf(arena,
                                    "a change below %.0f %% would not show; "
                                    "use --repeat %.0f",
                                    log_to_percent(half), repeats));
}

static int note_side(struct pr_compare_row *row, char side,
                     const struct pr_compare_side *s, struct pr_arena *a)
{
    double *room = PR_ARENA_ARRAY(a, double, s->repeats + 1);
    int first = room ? note_first(row, side, s, a) : PR_E_NOMEM;
    int rc = first < 0 ? first : PR_OK;

    if (!rc)
        rc = note_outlier(row, side, s, first == 1, room, a);
    if (!rc && !first)
        rc = note_drift(row, side, s, a);
    return rc ? rc : note_drift_within(row, side, s, a);
}

int pr_compare_add_notes(struct pr_compare_row *row,
                         const struct pr_compare_side *a,
                         const struct pr_compare_side *b,
                         struct pr_arena *arena, struct pr_err *err)
{
    int rc = note_side(row, 'A', a, arena);

    if (!rc)
        rc = note_side(row, 'B', b, arena);
    if (!rc)
        rc = note_few_runs(row, a, b, arena);
    return rc ? pr_fail_nomem(err) : PR_OK;
}
