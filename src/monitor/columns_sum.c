/* What columns come to over an experiment: means over time, extremes, totals
 * and joules. */
#include "monitor/columns.h"

#include <math.h>

static void add(struct pr_column_state *s, const struct pr_looked *l)
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

void pr_columns_add(struct pr_columns *c, const struct pr_looked *by_source)
{
    for (size_t i = 0; i < c->n; i++) {
        struct pr_column_state *s = &c->cols[i];
        const struct pr_looked *l = &by_source[s->source];

        if (l->looked && l->dt > 0 && s->set)
            add(s, l);
    }
}

static void number(struct pr_jb *jb, const char *key, double v, unsigned digits)
{
    double unit = pow(10, digits);

    v = round(v * unit) / unit;
    if (!isfinite(v))
        return;
    if (v == round(v) && fabs(v) < 9e15)
        pr_jb_int(jb, key, (int64_t)v);
    else
        pr_jb_float(jb, key, v);
}

static void bits(const struct pr_column_state *s, double seconds,
                 struct pr_jb *jb)
{
    char words[160] = "";

    number(jb, "share", s->set_seconds / seconds, 4);
    pr_jb_uint(jb, "bits", s->bits);
    if (s->bits && s->is.words)
        s->is.words(s->bits, words);
    if (*words)
        pr_jb_str(jb, "words", words);
}

/* A source that is asked rarely may have been asked only once, at the
 * beginning: that is its mean, then. */
static struct pr_column_state settled(const struct pr_column_state *s)
{
    struct pr_column_state r = *s;

    if (r.seconds == 0 && r.fresh && r.set && r.is.sum != PR_SUM_RATE) {
        struct pr_looked once = {true, 1, true};

        add(&r, &once);
    }
    /* Only ever seen for too short a time. */
    if (r.seconds > 0 && r.max < r.min)
        r.min = r.max = r.integral / r.seconds;
    return r;
}

static void one(const struct pr_column_state *s, struct pr_jb *jb)
{
    unsigned digits = s->is.decimals;

    pr_jb_obj(jb, s->is.name);
    if (s->is.sum == PR_SUM_BITS) {
        bits(s, s->seconds, jb);
    } else {
        if (s->is.flags & PR_COLUMN_MIN)
            number(jb, "min", s->min, digits);
        number(jb, "mean", s->integral / s->seconds, digits);
        if (s->is.sum == PR_SUM_LOW)
            number(jb, "min", s->min, digits);
        else
            number(jb, "max", s->max, digits);
        if (s->is.sum == PR_SUM_RATE)
            number(jb, "total", s->total, digits);
    }
    pr_jb_end(jb);
}

void pr_columns_sum(const struct pr_columns *c, struct pr_jb *jb)
{
    double joules = 0;
    bool any = false;

    for (size_t i = 0; i < c->n; i++) {
        struct pr_column_state s = settled(&c->cols[i]);

        if (s.is.sum == PR_SUM_NONE || s.seconds == 0)
            continue;
        one(&s, jb);
        if (s.is.flags & PR_COLUMN_ENERGY) {
            joules += s.total;
            any = true;
        }
    }
    if (any)
        number(jb, "energy_j", joules, 3);
}
