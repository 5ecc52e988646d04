/*
 * What holds a loop back, from three throughputs. With data and computing side
 * by side a loop is as fast as the slower of them; one after the other it takes
 * the time of both. Where it lies between, and which is slower, is the verdict.
 */
#include "prony/probe.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Two times nearer than this share of the shorter, or than twice their spread,
 * are equal; unless one is several times the other: trials that vary as much as
 * they take would make anything equal. */
#define SAME 0.10
#define SPREADS 2.0
#define APART 2.0
/* A loop that waits less than this share of its time does not wait for data. */
#define STALL 0.10

static const char *const names[] = {"unknown", "input bound", "compute bound",
                                    "balanced"};

const char *pr_probe_bound_name(enum pr_probe_bound bound)
{
    return (unsigned)bound < sizeof names / sizeof *names ? names[bound]
                                                          : names[0];
}

static double get_phase_rate(const struct pr_probe_figures *f)
{
    return f->trials ? f->rate : 0;
}

/* Rates are compared by the time of a sample: that of a side which is much
 * faster, and whose rate varies much, is short and varies little. */
struct time {
    double mean, spread;
};

static struct time make_sample_time(double rate, double deviation)
{
    return (struct time){1 / rate, deviation / rate / rate};
}

static struct time get_phase_time(const struct pr_probe_figures *f)
{
    return make_sample_time(f->rate, f->deviation);
}

static bool is_same_time(struct time a, struct time b)
{
    double shorter = fmin(a.mean, b.mean), longer = fmax(a.mean, b.mean);
    double apart = fmax(SAME * shorter, SPREADS * hypot(a.spread, b.spread));

    return longer - shorter <= apart && longer <= APART * shorter;
}

/* ---- sides that were measured alone */

static void judge_sides(const struct pr_probe_numbers *n,
                        struct pr_probe_verdict *v)
{
    struct time io = get_phase_time(&n->phase[PR_PROBE_IO]);
    struct time synthetic = get_phase_time(&n->phase[PR_PROBE_SYNTHETIC]);
    double slower = v->io < v->synthetic ? v->io : v->synthetic;

    v->serial = 1 / (1 / v->io + 1 / v->synthetic);
    v->expected = slower;
    v->other = v->io < v->synthetic ? v->synthetic : v->io;
    if (is_same_time(io, synthetic))
        v->bound = PR_PROBE_BALANCED;
    else
        v->bound = v->io < v->synthetic ? PR_PROBE_INPUT_BOUND
                                        : PR_PROBE_COMPUTE_BOUND;
}

static void judge_overlap(const struct pr_probe_numbers *n,
                          struct pr_probe_verdict *v)
{
    double whole = 1 / v->serial - 1 / v->expected;
    double got = 1 / v->serial - 1 / v->full;
    struct time full = get_phase_time(&n->phase[PR_PROBE_FULL]);

    /* Beside a side that takes hardly any time the other cannot be hidden: the
     * share would be noise. */
    if (whole > SAME / v->expected)
        v->overlap = fmin(1, fmax(0, got / whole));
    v->disturbed = v->full < v->serial &&
                   !is_same_time(full, make_sample_time(v->serial, 0));
}

/* ---- the loop alone: what it waits for says which side is slower */

static void judge_loop(const struct pr_probe_figures *full,
                       struct pr_probe_verdict *v)
{
    double computing = 1 - v->stall;

    if (v->stall < 0)
        return;
    v->bound = v->stall > STALL ? PR_PROBE_INPUT_BOUND : PR_PROBE_COMPUTE_BOUND;
    if (v->bound == PR_PROBE_INPUT_BOUND && computing > 0 && full->step_s > 0)
        v->other = v->full / computing;
}

/* ---- words */

struct words {
    char *out;
    size_t len, room;
};

static void probe_words_add(struct words *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void probe_words_add(struct words *w, const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(w->out + w->len, w->room - w->len, fmt, args);
    va_end(args);
    if (n > 0)
        w->len += (size_t)n;
    if (w->len >= w->room)
        w->len = w->room - 1;
}

/* "845", "8.45", "0.845": three digits at least. */
static const char *format_probe_rate(char out[static 32], double rate)
{
    snprintf(out, 32, rate >= 100 ? "%.0f" : "%.3g", rate);
    return out;
}

static void probe_write_sides(const struct pr_probe_verdict *v, struct words *w)
{
    char io[32], synthetic[32], full[32];

    if (v->io > 0)
        probe_words_add(w, " data alone %s,", format_probe_rate(io, v->io));
    if (v->synthetic > 0)
        probe_words_add(w, " compute alone %s,",
                        format_probe_rate(synthetic, v->synthetic));
    if (v->full > 0)
        probe_words_add(w, " both %s", format_probe_rate(full, v->full));
    else if (w->len && w->out[w->len - 1] == ',')
        w->out[--w->len] = '\0';
    probe_words_add(w, " samples/s");
}

static void probe_write_gain(const struct pr_probe_verdict *v, struct words *w)
{
    char other[32];
    const char *slower = v->bound == PR_PROBE_INPUT_BOUND     ? "loading"
                         : v->bound == PR_PROBE_COMPUTE_BOUND ? "computing"
                                                              : "either side";

    if (v->gain <= 0)
        return;
    if (v->bound == PR_PROBE_BALANCED)
        probe_words_add(w, "; making %s faster alone gains at most %.2f times",
                        slower, v->gain);
    else
        probe_words_add(
            w, "; if %s were no limit, the run could reach %s (%.2f times)",
            slower, format_probe_rate(other, v->other), v->gain);
}

/* Why FULL is slower than its slower side. */
static void probe_write_why(const struct pr_probe_verdict *v, struct words *w)
{
    char expected[32];

    if (v->disturbed)
        probe_words_add(
            w,
            "; together they are slower than one after the other (%s): "
            "they compete for processors, memory or disk",
            format_probe_rate(expected, v->serial));
    else if (v->overlap >= 0 && v->overlap < 0.5 &&
             v->full < (1 - SAME) * v->expected)
        probe_words_add(
            w,
            "; data are loaded while nothing computes: reading ahead could "
            "reach %s",
            format_probe_rate(expected, v->expected));
    else if (v->expected > 0 && v->full > 0 &&
             v->full < (1 - SAME) * v->expected)
        probe_words_add(w,
                        "; %.0f %% of what the slower side reaches alone (%s)",
                        100 * v->full / v->expected,
                        format_probe_rate(expected, v->expected));
}

static void probe_write_verdict(struct pr_probe_verdict *v)
{
    struct words w = {v->text, 0, sizeof v->text};

    probe_words_add(&w, "%s", pr_probe_bound_name(v->bound));
    if (v->bound == PR_PROBE_UNKNOWN && !(v->io > 0 || v->synthetic > 0)) {
        probe_words_add(&w, ": nothing was measured that could tell");
        return;
    }
    probe_words_add(&w, ":");
    probe_write_sides(v, &w);
    if (v->stall >= 0)
        probe_words_add(&w, "; %.0f %% of the time waits for data",
                        100 * v->stall);
    probe_write_gain(v, &w);
    probe_write_why(v, &w);
}

void pr_probe_judge(const struct pr_probe_numbers *numbers,
                    struct pr_probe_verdict *ret)
{
    const struct pr_probe_figures *full = &numbers->phase[PR_PROBE_FULL];
    double busy = full->fetch_s + full->step_s;
    struct pr_probe_verdict v = {
        .size = ret->size,
        .io = get_phase_rate(&numbers->phase[PR_PROBE_IO]),
        .synthetic = get_phase_rate(&numbers->phase[PR_PROBE_SYNTHETIC]),
        .full = get_phase_rate(full),
        .overlap = -1,
        .stall = full->trials && busy > 0 ? full->fetch_s / busy : -1,
    };

    if (v.io > 0 && v.synthetic > 0)
        judge_sides(numbers, &v);
    else if (v.full > 0)
        judge_loop(full, &v);
    if (v.serial > 0 && v.full > 0)
        judge_overlap(numbers, &v);
    if (v.other > 0 && v.full > 0)
        v.gain = v.other / v.full;
    probe_write_verdict(&v);
    memcpy(ret, &v, ret->size < sizeof v ? ret->size : sizeof v);
}
