/* What columns come to over an experiment: means over time, extremes, totals
 * and joules. */
#include "monitor/columns.h"

#include <math.h>

static void column_add_sample(struct pr_monitor_column_state *s,
                              const struct pr_monitor_source_sampled *l)
{
    double dt = l->dt;

    s->fresh = false;
    s->seconds += dt;
    s->integral += s->value * dt;
    s->total += isnan(s->amount) ? s->value * dt : s->amount;
    if (s->is.sum == PR_SUM_BITS && s->value > 0) {
        s->bits |= (uint64_t)s->value;
        s->set_seconds += dt;
    }
    if (l->extreme && s->value < s->min)
        s->min = s->value;
    if (l->extreme && s->value > s->max)
        s->max = s->value;
}

void pr_monitor_columns_add(struct pr_monitor_columns *c,
                            const struct pr_monitor_source_sampled *by_source)
{
    for (size_t i = 0; i < c->n; i++) {
        struct pr_monitor_column_state *s = &c->cols[i];
        const struct pr_monitor_source_sampled *l = &by_source[s->source];

        if (l->looked && l->dt > 0 && s->set)
            column_add_sample(s, l);
    }
}

static void write_column_number(struct pr_json_writer *jb, const char *key,
                                double v, unsigned digits)
{
    double unit = pow(10, digits);

    v = round(v * unit) / unit;
    if (!isfinite(v))
        return;
    if (v == round(v) && fabs(v) < 9e15)
        pr_json_put_int(jb, key, (int64_t)v);
    else
        pr_json_put_float(jb, key, v);
}

static void write_column_bits(const struct pr_monitor_column_state *s,
                              double seconds, struct pr_json_writer *jb)
{
    char words[160] = "";

    write_column_number(jb, "share", s->set_seconds / seconds, 4);
    pr_json_put_uint(jb, "bits", s->bits);
    if (s->bits && s->is.words)
        s->is.words(s->bits, words);
    if (*words)
        pr_json_put_str(jb, "words", words);
}

/* A source that is asked rarely may have been asked only once, at the
 * beginning: that is its mean, then. */
static struct pr_monitor_column_state
settle_column(const struct pr_monitor_column_state *s)
{
    struct pr_monitor_column_state r = *s;

    if (r.seconds == 0 && r.fresh && r.set && r.is.sum != PR_SUM_RATE) {
        struct pr_monitor_source_sampled once = {true, 1, true};

        column_add_sample(&r, &once);
    }
    /* Only ever seen for too short a time. */
    if (r.seconds > 0 && r.max < r.min)
        r.min = r.max = r.integral / r.seconds;
    return r;
}

static void write_column_sum(const struct pr_monitor_column_state *s,
                             struct pr_json_writer *jb)
{
    unsigned digits = s->is.decimals;

    pr_json_open_object(jb, s->is.name);
    if (s->is.sum == PR_SUM_BITS) {
        write_column_bits(s, s->seconds, jb);
    } else {
        if (s->is.flags & PR_MONITOR_COLUMN_MIN)
            write_column_number(jb, "min", s->min, digits);
        write_column_number(jb, "mean", s->integral / s->seconds, digits);
        if (s->is.sum == PR_SUM_LOW)
            write_column_number(jb, "min", s->min, digits);
        else
            write_column_number(jb, "max", s->max, digits);
        if (s->is.sum == PR_SUM_RATE)
            write_column_number(jb, "total", s->total, digits);
    }
    pr_json_close(jb);
}

void pr_monitor_columns_write_sums(const struct pr_monitor_columns *c,
                                   struct pr_json_writer *jb)
{
    double joules = 0;
    bool any = false;

    for (size_t i = 0; i < c->n; i++) {
        struct pr_monitor_column_state s = settle_column(&c->cols[i]);

        if (s.is.sum == PR_SUM_NONE || s.seconds == 0)
            continue;
        write_column_sum(&s, jb);
        if (s.is.flags & PR_MONITOR_COLUMN_ENERGY) {
            joules += s.total;
            any = true;
        }
    }
    if (any)
        write_column_number(jb, "energy_j", joules, 3);
}
