/* Rates over slices of time. */
#include "base/stats/rateslices.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

int pr_rateslices_init(struct pr_rateslices *s, double slice_s,
                       struct pr_err *err)
{
    *s = (struct pr_rateslices){.slice_s = slice_s};
    s->rates = pr_alloc(PR_RATESLICES_MOST * sizeof *s->rates);
    return s->rates ? PR_OK : pr_fail_nomem(err);
}

void pr_rateslices_free(struct pr_rateslices *s)
{
    pr_free(s->rates);
    s->rates = NULL;
}

/* The newest are those that a rate is told from: the older half goes. */
static void rateslices_make_room(struct pr_rateslices *s)
{
    size_t half = PR_RATESLICES_MOST / 2;

    memmove(s->rates, s->rates + half,
            (PR_RATESLICES_MOST - half) * sizeof *s->rates);
    s->len -= half;
    s->dropped += half;
}

static void rateslices_add_rate(struct pr_rateslices *s, double rate)
{
    if (s->len == PR_RATESLICES_MOST)
        rateslices_make_room(s);
    s->rates[s->len++] = rate;
}

/* One iteration of days must not take minutes to note: slices that would be
 * dropped at once are only counted. */
static double rateslices_skip_dropped(struct pr_rateslices *s, double slices)
{
    double most = PR_RATESLICES_MOST, over = slices - most;

    if (over <= 0)
        return slices;
    s->dropped += (uint64_t)fmin(over, 1e18);
    return most;
}

bool pr_rateslices_add(struct pr_rateslices *s, double seconds, double count)
{
    double slices, each;

    s->time += seconds;
    s->count += count;
    s->total_time += seconds;
    s->total_count += count;
    s->iterations++;
    if (!(s->time >= s->slice_s))
        return false;
    slices = s->time / s->slice_s;
    for (double i = rateslices_skip_dropped(s, floor(slices)); i >= 1; i--)
        rateslices_add_rate(s, s->count / s->time);
    each = s->count / slices;
    s->time = fmod(s->time, s->slice_s);
    s->count = each > 0 ? fmod(s->count, each) : 0;
    return true;
}

void pr_rateslices_end(struct pr_rateslices *s)
{
    if (s->time > 0)
        rateslices_add_rate(s, s->count / s->time);
    s->time = s->count = 0;
}
