/*
 * Which way a figure is better, from its name: the first row that matches.
 * Names are ours, DLBS's, DLIO's, milarun's and what people tend to call
 * theirs.
 */
#include "analyse/compare/compare.h"

#include <fnmatch.h>

static const struct {
    const char *pattern;
    enum pr_better better;
} rows[] = {
    /* Not of the speed, though they sound like it. */
    {"*_std", PR_BETTER_LESS},
    {"*_stdev", PR_BETTER_LESS},
    {"*accuracy*", PR_BETTER_MORE},
    {"*loss*", PR_BETTER_LESS},
    {"*learning_rate*", PR_BETTER_UNKNOWN},
    {"*error_rate*", PR_BETTER_LESS},
    {"*error*", PR_BETTER_LESS},
    {"*wait_share*", PR_BETTER_LESS},
    {"*stall*", PR_BETTER_LESS},
    {"data_wait", PR_BETTER_LESS},
    {"*_per_joule", PR_BETTER_MORE},
    {"*per_watt", PR_BETTER_MORE},
    {"*joules*", PR_BETTER_LESS},
    {"*energy*", PR_BETTER_LESS},
    {"*watt*", PR_BETTER_LESS},
    {"*power*", PR_BETTER_LESS},
    /* Rates. */
    {"*throughput*", PR_BETTER_FASTER},
    {"*per_second*", PR_BETTER_FASTER},
    {"*_per_s", PR_BETTER_FASTER},
    {"*/s", PR_BETTER_FASTER},
    {"*bandwidth*", PR_BETTER_FASTER},
    {"*iops*", PR_BETTER_FASTER},
    {"*fps*", PR_BETTER_FASTER},
    {"*flops_rate", PR_BETTER_FASTER},
    {"*rate", PR_BETTER_FASTER},
    {"perf", PR_BETTER_FASTER},
    {"train", PR_BETTER_FASTER},
    {"*speed*", PR_BETTER_FASTER},
    {"*utilisation", PR_BETTER_MORE},
    {"*utilization", PR_BETTER_MORE},
    {"*_au_*", PR_BETTER_MORE},
    {"efficiency", PR_BETTER_MORE},
    {"*score*", PR_BETTER_MORE},
    /* Amounts. */
    {"*bytes*", PR_BETTER_LESS},
    {"*memory*", PR_BETTER_LESS},
    {"*rss*", PR_BETTER_LESS},
    /* Times. */
    {"time", PR_BETTER_SHORTER},
    {"time_*", PR_BETTER_SHORTER},
    {"*_time", PR_BETTER_SHORTER},
    {"*latency*", PR_BETTER_SHORTER},
    {"*elapsed*", PR_BETTER_SHORTER},
    {"*duration*", PR_BETTER_SHORTER},
    {"*_ms", PR_BETTER_SHORTER},
    {"*_ms_*", PR_BETTER_SHORTER},
    {"*_us", PR_BETTER_SHORTER},
    {"*_us_*", PR_BETTER_SHORTER},
    {"*_ns", PR_BETTER_SHORTER},
    {"*_s", PR_BETTER_SHORTER},
    {"*seconds", PR_BETTER_SHORTER},
};

enum pr_better pr_measure_better(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fnmatch(rows[i].pattern, name, FNM_CASEFOLD) == 0)
            return rows[i].better;
    return PR_BETTER_UNKNOWN;
}
