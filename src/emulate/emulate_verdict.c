/*
 * What an emulated training says about the storage, in one plain sentence:
 * how many accelerators it keeps busy, what they wait for, and what makes the
 * figure doubtful (page cache, skipped samples, a machine that wakes late).
 */
#include "base/units.h"
#include "emulate/emulate_results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Below this share of lost time accelerators are called busy. */
static const double little = 0.01;

/* A turn of the scheduler more or less is no disturbance. */
static const double worth_telling_s = 0.05;

/* From this share on processors are full. */
static const double full = 0.9;

enum { FEW = 10 }; /* of so few accelerators a tenth is worth telling */

enum source { STORAGE, SYNTHETIC, NULL_ENGINE, MEMORY_ENGINE };
enum cause {
    UNKNOWN,
    READING,
    DECODING,
    PREPROCESSING,
    READING_ALONE,
    PROCESSORS,
};

struct facts {
    const struct pr_emulate *e;
    const struct pr_emulate_stats *s;
    struct pr_emulate_totals t;
    uint64_t accelerators;
    enum source source;
    enum cause cause;
    double preprocess_s;         /* of a sample */
    double for_data, for_others; /* shares of the time that they wait */
    double without;              /* and that some have no batch left */
};

static bool is_text_equal(const char *a, const char *b)
{
    return a && !strcmp(a, b);
}

static enum source find_data_source(const struct pr_emulate *e)
{
    if (is_text_equal(e->reader.data_loader, "synthetic") ||
        is_text_equal(e->reader.data_loader, "none") ||
        (e->set.format && (e->set.format->flags & PR_FORMAT_EMPTY)))
        return SYNTHETIC;
    if (is_text_equal(e->storage.engine, "memory"))
        return MEMORY_ENGINE;
    return is_text_equal(e->storage.engine, "null") ? NULL_ENGINE : STORAGE;
}

static double preprocess_s(const struct pr_emulate *e)
{
    struct pr_duration d;

    if (!e->reader.preprocess_time ||
        pr_duration_parse("reader.preprocess_time", e->reader.preprocess_time,
                          e->reader.preprocess_time_stdev, &d, NULL))
        return 0;
    return pr_duration_mean(&d);
}

static enum cause find_wait_cause(const struct facts *f)
{
    if (f->preprocess_s > f->t.sample_s)
        return PREPROCESSING;
    if (f->source == SYNTHETIC || f->t.storage_share < 0)
        return UNKNOWN;
    if (pr_client_limits_cpu_share(&f->s->limits) >= full)
        return PROCESSORS;
    if (!f->e->reader.decode)
        return READING_ALONE;
    return f->t.storage_share >= 0.5 ? READING : DECODING;
}

/* With the same computing time for all, accelerators that wait at the barrier
 * wait for the data of another one; else for its computing as well, and what
 * they wait for at the barrier is kept apart. */
static void share_waits(struct facts *f)
{
    const struct pr_emulate_totals *t = &f->t;

    if (t->accelerator_s <= 0)
        return;
    if (f->e->compute.kind == PR_DURATION_FIXED) {
        f->for_data = (t->wait_s + t->barrier_s) / t->accelerator_s;
        f->without =
            fmax(0, 1 - pr_emulate_totals_utilisation(t) - f->for_data);
        return;
    }
    f->for_data = t->wait_s / t->accelerator_s;
    f->for_others = t->barrier_s / t->accelerator_s;
    f->without = fmax(0, 1 - pr_emulate_totals_utilisation(t) - f->for_data -
                             f->for_others);
}

static void verdict_collect_facts(struct facts *f, const struct pr_emulate *e,
                                  const struct pr_emulate_stats *s)
{
    *f = (struct facts){.e = e, .s = s};
    pr_emulate_stats_sum(s, false, &f->t);
    f->accelerators = f->t.accelerators;
    f->source = find_data_source(e);
    f->preprocess_s = preprocess_s(e);
    f->cause = find_wait_cause(f);
    share_waits(f);
}

/* ---- numbers in words */

/* 1234567 becomes 1,234,567. */
static void verdict_add_count(struct pr_buf *out, uint64_t n)
{
    if (n >= 1000) {
        verdict_add_count(out, n / 1000);
        pr_buf_printf(out, ",%03u", (unsigned)(n % 1000));
    } else {
        pr_buf_printf(out, "%u", (unsigned)n);
    }
}

static void verdict_add_rate(struct pr_buf *out, double a_second)
{
    if (a_second < 99.95)
        pr_buf_printf(out, "%.1f samples/s", a_second);
    else {
        verdict_add_count(out, (uint64_t)(a_second + 0.5));
        pr_buf_str(out, " samples/s");
    }
}

static void verdict_add_percent(struct pr_buf *out, double share)
{
    double p = 100 * share;

    if (p > 0 && p < 0.05)
        pr_buf_str(out, "under 0.1 %");
    else
        pr_buf_printf(out, "%.*f %%", p > 0 && p < 9.95 ? 1 : 0, p);
}

/* ---- no computation: the rate is what counts */

static void verdict_write_shares(const struct facts *f, struct pr_buf *out)
{
    double all = f->t.sample_s + f->preprocess_s;
    double sample = all > 0 ? f->t.sample_s / all : 1;

    if (!f->e->reader.decode)
        pr_buf_str(out, "; decoding was off");
    if (f->t.storage_share < 0 ||
        (!f->e->reader.decode && f->preprocess_s <= 0))
        return;
    pr_buf_str(out, "; of a sample's time ");
    verdict_add_percent(out, sample * f->t.storage_share);
    pr_buf_str(out, " is reading, ");
    if (f->e->reader.decode) {
        verdict_add_percent(out, sample * (1 - f->t.storage_share));
        pr_buf_str(out, " decoding");
    }
    if (f->preprocess_s > 0) {
        pr_buf_str(out, f->e->reader.decode ? ", " : "");
        verdict_add_percent(out, 1 - sample);
        pr_buf_str(out, " preprocessing");
    }
}

static void verdict_write_rate(const struct facts *f, struct pr_buf *out)
{
    double s = f->t.seconds, rate = s > 0 ? (double)f->t.samples / s : 0;
    double bytes = s > 0 ? (double)f->t.storage_bytes / s : 0;
    char text[16];

    pr_buf_str(out, "no computation: ");
    if (f->source == SYNTHETIC)
        pr_buf_str(out, "the loader delivers ");
    else if (f->source != STORAGE)
        pr_buf_str(out, f->e->reader.decode ? "decoding delivers "
                                            : "the loader delivers ");
    else
        pr_buf_str(out, f->e->reader.decode ? "storage and decoding deliver "
                                            : "storage delivers ");
    verdict_add_rate(out, rate);
    if (f->source == STORAGE) {
        pr_buf_printf(out, ", %s/s", pr_format_bytes(text, (uint64_t)bytes));
        verdict_write_shares(f, out);
    }
}

/* ---- computation: accelerators are busy, or wait */

static void verdict_write_cause(const struct facts *f, struct pr_buf *out)
{
    static const char *const words[] = {
        [UNKNOWN] = "",
        [READING] = ", on reading (not decoding)",
        [DECODING] = ", on decoding (not reading)",
        [PREPROCESSING] = ", on preprocessing (not reading or decoding)",
        [READING_ALONE] = ", on reading; decoding was off",
        [PROCESSORS] = ", on processors that reading and decoding fill",
    };

    pr_buf_str(out, words[f->cause]);
}

static void verdict_write_subject(const struct facts *f, struct pr_buf *out)
{
    if (f->source != STORAGE || f->cause == PREPROCESSING ||
        (f->cause == PROCESSORS && f->for_data >= little))
        pr_buf_str(out, "the loader keeps ");
    else if (f->cause == DECODING && f->for_data >= little)
        pr_buf_str(out, "storage and decoding keep ");
    else
        pr_buf_str(out, "storage keeps ");
}

/* Who is busy: all, or so many of them. True: all. */
static bool verdict_write_busy(const struct facts *f, struct pr_buf *out)
{
    double busy = (double)f->accelerators * (1 - f->for_data);
    bool all = f->for_data < little;

    verdict_write_subject(f, out);
    if (f->accelerators == 1) {
        pr_buf_str(out, "the accelerator busy");
        if (!all) {
            pr_buf_char(out, ' ');
            verdict_add_percent(out, 1 - f->for_data);
            pr_buf_str(out, " of the time");
        }
        return all;
    }
    if (all) {
        pr_buf_str(out, "all ");
    } else if (f->accelerators < FEW) {
        pr_buf_printf(out, "%.1f of ", busy);
    } else if (busy < 1) {
        pr_buf_str(out, "not one of ");
    } else {
        verdict_add_count(out, (uint64_t)(busy + 1e-6));
        pr_buf_str(out, " of ");
    }
    verdict_add_count(out, f->accelerators);
    pr_buf_str(out, " accelerators busy");
    return all;
}

/* Without a word of why. */
static void verdict_write_waited(const struct facts *f, struct pr_buf *out)
{
    pr_buf_str(out, f->accelerators == 1 ? "the accelerator" : "accelerators");
    pr_buf_str(out, " waited ");
    verdict_add_percent(out, f->for_data);
    pr_buf_str(out, " of the time");
}

static void verdict_write_waits(const struct facts *f, struct pr_buf *out)
{
    bool all = verdict_write_busy(f, out);
    bool others = f->for_others >= little && f->for_others > f->for_data;

    pr_buf_str(out, all ? ": " : "; ");
    pr_buf_str(out, f->accelerators == 1 ? "it waits " : "they wait ");
    verdict_add_percent(out, f->for_data);
    pr_buf_str(out, " of the time");
    if (!all)
        verdict_write_cause(f, out);
    else if (others)
        pr_buf_str(out, " for data");
    if (others) {
        pr_buf_str(out, all ? ", and " : "; they wait ");
        verdict_add_percent(out, f->for_others);
        pr_buf_str(out,
                   " for each other, because train.computation_time varies and "
                   "train.barrier makes all wait for the slowest");
    }
}

static void verdict_write_without(const struct facts *f, struct pr_buf *out)
{
    if (f->without < little)
        return;
    pr_buf_str(out, "; for ");
    verdict_add_percent(out, f->without);
    pr_buf_str(out, " of it some had no batch left");
}

/* As many decimals as tell the two apart. */
static void verdict_write_goal(const struct facts *f, double utilisation,
                               struct pr_buf *out)
{
    double goal = f->e->metric.au;
    bool below = utilisation < goal;
    char is_text[32], goal_text[32];
    int digits = 1;

    snprintf(goal_text, sizeof goal_text, "%g", 100 * goal);
    do {
        snprintf(is_text, sizeof is_text, "%.*f", digits, 100 * utilisation);
    } while (below && strtod(is_text, NULL) >= 100 * goal && ++digits < 9);
    pr_buf_printf(out,
                  "; utilisation%s is %s %%, %s the %s %% that metric.au asks "
                  "for",
                  pr_emulate_is_dlio_main(f->e, f->s) ? " by DLIO's formula"
                                                      : "",
                  is_text, below ? "below" : "reaching", goal_text);
}

/* ---- what makes it worthless */

double pr_verdict_emulate_delay_s(const struct pr_emulate_stats *s)
{
    return pr_client_limits_delay_s(&s->limits) / (s->threads ? s->threads : 1);
}

/* Threads that wait for processors which this process fills by itself are its
 * own limit, and no disturbance. */
static enum pr_disturbance find_disturbance(const struct facts *f)
{
    double waited = f->t.compute_s > 0 ? f->for_data : 1;
    double much = fmax(0.1 * waited * f->t.seconds, worth_telling_s);

    if (waited < little)
        return PR_UNDISTURBED;
    if (pr_verdict_emulate_delay_s(f->s) >= much &&
        !(pr_client_limits_cpu_share(&f->s->limits) >= full))
        return PR_STARVED;
    if (f->t.stall_s >= much)
        return PR_STOPPED;
    if (pr_client_limits_steal_share(&f->s->limits) >= 0.1)
        return PR_STOLEN;
    return PR_UNDISTURBED;
}

enum pr_disturbance
pr_verdict_emulate_disturbance(const struct pr_emulate *e,
                               const struct pr_emulate_stats *s)
{
    struct facts f;

    verdict_collect_facts(&f, e, s);
    return find_disturbance(&f);
}

/* Instead of how many are busy: that would blame the storage. */
static void verdict_write_disturbed(const struct facts *f,
                                    enum pr_disturbance d, struct pr_buf *out)
{
    char text[24];

    pr_buf_str(out, "disturbed: ");
    if (d == PR_STOPPED)
        pr_buf_printf(out,
                      "this process did not run for %s (it was stopped, or "
                      "the machine is too busy)",
                      pr_format_seconds(text, f->t.stall_s));
    else if (d == PR_STARVED)
        pr_buf_printf(
            out,
            "other work kept the threads that read off the "
            "processors, %s each",
            pr_format_seconds(text, pr_verdict_emulate_delay_s(f->s)));
    else
        pr_buf_printf(out,
                      "the hypervisor took %.0f %% of this machine's "
                      "processors",
                      100 * pr_client_limits_steal_share(&f->s->limits));
    pr_buf_str(out, "; this says little of the storage, run it again while "
                    "the machine is idle; ");
}

/* ---- what makes it doubtful */

static void verdict_write_source(const struct facts *f, struct pr_buf *out)
{
    if (f->source == SYNTHETIC)
        pr_buf_str(out, "; nothing was read: the data is synthetic");
    else if (f->source != STORAGE)
        pr_buf_printf(out,
                      "; nothing was read from storage: storage.engine is %s",
                      f->e->storage.engine);
    else if (is_text_equal(f->e->reader.read_type, "memory") && f->t.phases > 1)
        pr_buf_str(out, "; reader.read_type is memory: only the first epoch "
                        "read from storage");
}

static void verdict_write_skipped(const struct facts *f, struct pr_buf *out)
{
    if (!f->t.failed)
        return;
    pr_buf_str(out, "; ");
    verdict_add_count(out, f->t.failed);
    pr_buf_str(out, f->t.failed == 1
                        ? " sample could not be read and was skipped"
                        : " samples could not be read and were skipped");
    if (f->t.first_error && f->t.first_error->msg[0])
        pr_buf_printf(out, " (%s%s%s)", f->t.first_error->where,
                      f->t.first_error->where[0] ? ": " : "",
                      f->t.first_error->msg);
}

static void verdict_write_cache(const struct facts *f, struct pr_buf *out)
{
    const struct pr_emulate *e = f->e;
    bool most = f->t.cached >= 0.75;

    if (f->source != STORAGE || f->t.cached < 0.1 ||
        is_text_equal(e->storage.engine, "direct"))
        return;
    pr_buf_str(out, most ? "; the data was read from memory, not "
                           "from storage: "
                         : "; ");
    verdict_add_percent(out, f->t.cached);
    pr_buf_str(out, most ? " was in the page cache"
                         : " of the data was in the page cache");
}

/* Late wake-ups do not move the timeline, but prefetching stands still. */
static void verdict_write_late(const struct facts *f, struct pr_buf *out)
{
    double steps = (double)f->t.steps, late = f->t.late_s / steps;
    char text[24];

    if (late < 0.001 || late < 0.05 * f->t.compute_s / steps)
        return;
    pr_buf_printf(out,
                  "; steps were noticed %s late on average: this machine is "
                  "too busy",
                  pr_format_seconds(text, late));
}

static void verdict_write_untrained(const struct pr_emulate *e,
                                    const struct facts *f, struct pr_buf *out)
{
    pr_buf_str(out, "nothing was trained: ");
    if (!e->workflow.train)
        pr_buf_str(out, "workflow.train is false");
    else if (!f->t.phases)
        pr_buf_str(out, "there was no epoch");
    else
        pr_buf_str(out, "there are fewer samples than a batch for every "
                        "accelerator takes");
}

void pr_verdict_emulate_write(const struct pr_emulate *e,
                              const struct pr_emulate_stats *s,
                              struct pr_buf *out)
{
    enum pr_disturbance d;
    struct facts f;

    verdict_collect_facts(&f, e, s);
    if (!f.t.steps) {
        verdict_write_untrained(e, &f, out);
        return;
    }
    d = find_disturbance(&f);
    if (d)
        verdict_write_disturbed(&f, d, out);
    if (f.t.compute_s > 0) {
        if (d)
            verdict_write_waited(&f, out);
        else
            verdict_write_waits(&f, out);
        verdict_write_without(&f, out);
        verdict_write_goal(&f, pr_emulate_main_utilisation(e, s), out);
    } else {
        verdict_write_rate(&f, out);
    }
    verdict_write_source(&f, out);
    verdict_write_skipped(&f, out);
    verdict_write_cache(&f, out);
    if (!d)
        verdict_write_late(&f, out);
}
