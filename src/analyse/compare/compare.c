/*
 * The comparison: tests of two sets side by side, Welch's t of logarithms with
 * variances that learn from each other, and one level of confidence for all of
 * it (Šidák's): verdict and interval always agree.
 */
#include "analyse/compare/compare.h"

#include "base/stats/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_SLICES = 8,
    LEAST_BATCHES = 4,
    MOST_BATCHES = 30,
    LEAST_VARIANCES = 6, /* to learn from, */
    LEAST_FREEDOM = 10,  /* and degrees of freedom of all of them */
};

/* Runs of one thing never agree better than this (deviation, a share): timers,
 * and figures that were rounded. */
static const double least_deviation = 0.0005;

/* Variances of others are worth so many degrees of freedom at most: noise has
 * heavier tails than the theory. Few of them are worth less. */
static const double most_prior = 4, prior_share = 0.1, prior_excess = 1.4;

/* Degrees of freedom of what is assumed and not measured. */
static const double assumed_freedom = 20;

/* ---- moments */

void pr_compare_moments(const double *v, size_t n, double *ret_mean,
                        double *ret_var)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < n; i++)
        sum += v[i];
    *ret_mean = n ? sum / (double)n : (double)NAN;
    for (size_t i = 0; i < n; i++)
        squares += (v[i] - *ret_mean) * (v[i] - *ret_mean);
    *ret_var = n > 1 ? squares / (double)(n - 1) : (double)NAN;
}

/* Welch's difference of two. */
static struct pr_log_estimate
compare_difference(const struct pr_log_estimate *a,
                   const struct pr_log_estimate *b)
{
    double sum = a->error2 + b->error2;
    double parts =
        a->error2 * a->error2 / a->freedom + b->error2 * b->error2 / b->freedom;

    return (struct pr_log_estimate){
        .mean = b->mean - a->mean,
        .error2 = sum,
        .freedom = parts > 0 ? sum * sum / parts : a->freedom + b->freedom};
}

/* ---- values that follow one another */

/* How much neighbours hang together, from 0 to 0.9. */
static double correlate_neighbours(const double *v, size_t n, double mean,
                                   double var)
{
    double sum = 0;

    for (size_t i = 0; i + 1 < n; i++)
        sum += (v[i] - mean) * (v[i + 1] - mean);
    if (!(var > 0))
        return 0;
    /* Estimates from few values are too low, by about (1 + 3 r) / n. */
    sum = sum / ((double)(n - 1) * var) + 1.0 / (double)n;
    return fmin(0.9, fmax(0, sum));
}

bool pr_compare_batch_error(const double *v, size_t n, double *ret_error2,
                            double *ret_freedom)
{
    size_t batches = (size_t)sqrt((double)n), size;
    double means[MOST_BATCHES], mean, var, ignored, r;

    if (n < LEAST_SLICES)
        return false;
    if (batches < LEAST_BATCHES)
        batches = LEAST_BATCHES;
    if (batches > MOST_BATCHES)
        batches = MOST_BATCHES;
    size = n / batches;
    for (size_t i = 0; i < batches; i++) /* what is left over is the start */
        pr_compare_moments(v + n - (batches - i) * size, size, &means[i],
                           &ignored);
    pr_compare_moments(means, batches, &mean, &var);
    r = correlate_neighbours(means, batches, mean, var);
    *ret_error2 = var / (double)batches * (1 + r) / (1 - r);
    *ret_freedom = (double)(batches - 1);
    return true;
}

/* ---- variances that learn from each other */

/* The second derivative of log gamma's first, by its series. */
static double compute_trigamma(double x)
{
    double sum = 0, y;

    for (; x < 6; x++)
        sum += 1 / (x * x);
    y = 1 / (x * x);
    return sum + y / 2 +
           (1 + y * (1.0 / 6 - y * (1.0 / 30 - y * (1.0 / 42 - y / 30)))) / x;
}

static double compute_digamma(double x)
{
    double sum = 0, y;

    for (; x < 6; x++)
        sum -= 1 / x;
    y = 1 / (x * x);
    return sum + log(x) - 0.5 / x - y * (1.0 / 12 - y * (1.0 / 120 - y / 252));
}

/* The x whose trigamma is y, above zero: it falls as x grows. */
static double trigamma_inverse(double y)
{
    double low = 1e-3, high = 1e6;

    for (int i = 0; i < 100; i++) {
        double mid = sqrt(low * high);

        if (compute_trigamma(mid) > y)
            low = mid;
        else
            high = mid;
    }
    return sqrt(low * high);
}

void pr_compare_fit_prior(const double *variances, const double *freedoms,
                          size_t n, struct pr_variance_prior *ret)
{
    double sum = 0, squares = 0, noise = 0, freedom = 0;
    double mean, spread, half, most;

    *ret = (struct pr_variance_prior){0};
    if (n < LEAST_VARIANCES)
        return;
    for (size_t i = 0; i < n; i++) {
        double v = fmax(variances[i], least_deviation * least_deviation);

        half = freedoms[i] / 2;
        sum += log(v) - compute_digamma(half) + log(half);
        noise += compute_trigamma(half);
        freedom += freedoms[i];
    }
    if (freedom < LEAST_FREEDOM)
        return;
    mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        double v = fmax(variances[i], least_deviation * least_deviation);

        half = freedoms[i] / 2;
        v = log(v) - compute_digamma(half) + log(half) - mean;
        squares += v * v;
    }
    /* What the logarithms differ more than chance would have it. */
    spread = squares / (double)(n - 1) - noise / (double)n;
    most = fmin(most_prior, prior_share * freedom) / 2;
    half = fmin(most, spread > 0 ? trigamma_inverse(spread) : most);
    ret->freedom = 2 * half;
    ret->variance =
        prior_excess * exp(mean + compute_digamma(half) - log(half));
}

/* ---- errors of means */

static struct pr_log_estimate
estimate_from_variance(const struct pr_compare_side *s, double variance,
                       double freedom, const struct pr_variance_prior *prior)
{
    double floor = least_deviation * least_deviation;
    double all = freedom + prior->freedom;

    variance = (variance * freedom + prior->variance * prior->freedom) / all;
    return (struct pr_log_estimate){.mean = s->mean,
                                    .error2 = fmax(variance, floor) /
                                              (double)s->repeats,
                                    .freedom = all};
}

/* The error of the mean of a side. prior may be empty; other is the other
 * side, whose spread counts where this one has none. */
static struct pr_log_estimate
compare_estimate(const struct pr_compare_side *s,
                 const struct pr_compare_side *other,
                 const struct pr_variance_prior *prior, double between_runs)
{
    struct pr_log_estimate e = {.mean = s->mean}, run, within;

    if (isfinite(s->variance))
        return estimate_from_variance(s, s->variance, s->freedom, prior);
    if (isfinite(other->variance))
        return estimate_from_variance(s, other->variance, other->freedom,
                                      prior);
    /* One run each: what lies between runs cannot be seen. Where not even what
     * lies within one is known, twice as much is assumed. */
    if (!isfinite(s->within2))
        between_runs *= 2;
    run = (struct pr_log_estimate){.error2 = between_runs * between_runs,
                                   .freedom = assumed_freedom};
    if (!isfinite(s->within2)) {
        e.error2 = run.error2;
        e.freedom = run.freedom;
        return e;
    }
    within = (struct pr_log_estimate){.error2 = s->within2,
                                      .freedom = s->within_freedom};
    within = compare_difference(&run, &within);
    e.error2 = within.error2;
    e.freedom = within.freedom;
    return e;
}

/* ---- one side of a test: from runs to one number a repeat */

/*
 * Devices that ran at the same time shared the machine, so they are one
 * observation, not several; and since devices differ from each other, a repeat
 * in which one is missing is put right by what that device does otherwise.
 */

/* A run that counts. */
struct point {
    double log;
    int64_t repeat;
    const struct pr_compare_run *run;
};

static int by_point_device(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    int c = strcmp(x->run->device, y->run->device);

    return c ? c : (x->repeat > y->repeat) - (x->repeat < y->repeat);
}

static int by_repeat(const void *a, const void *b)
{
    const struct point *x = a, *y = b;

    if (x->repeat != y->repeat)
        return x->repeat < y->repeat ? -1 : 1;
    return (x->run > y->run) - (x->run < y->run);
}

/* Takes from each device what it differs from the mean of all. */
static void level_devices(struct point *p, size_t n)
{
    double means = 0;
    size_t devices = 0;

    qsort(p, n, sizeof *p, by_point_device);
    for (size_t i = 0, end; i < n; i = end) {
        double sum = 0;

        for (end = i;
             end < n && strcmp(p[end].run->device, p[i].run->device) == 0;
             end++)
            sum += p[end].log;
        sum /= (double)(end - i);
        for (size_t k = i; k < end; k++)
            p[k].log -= sum;
        means += sum;
        devices++;
    }
    means /= (double)devices;
    for (size_t i = 0; i < n; i++)
        p[i].log += means;
}

/* One number for each repeat. Returns how many. */
static size_t join_repeats(struct point *p, size_t n, double *logs)
{
    size_t count = 0;

    qsort(p, n, sizeof *p, by_repeat);
    for (size_t i = 0, end; i < n; i = end) {
        double sum = 0;

        for (end = i; end < n && p[end].repeat == p[i].repeat; end++)
            sum += p[end].log;
        logs[count++] = sum / (double)(end - i);
    }
    return count;
}

/* ---- the only run */

/* The error within it: of each device's slices, then of their mean. */
static void estimate_within_run(const struct point *p, size_t n,
                                struct pr_compare_side *s)
{
    double sum = 0, freedom = 0;

    for (size_t i = 0; i < n; i++) {
        const struct pr_compare_run *r = p[i].run;
        double e2, f;

        if (!r->slices ||
            !pr_compare_batch_error(r->slices, r->slice_count, &e2, &f))
            return;
        sum += e2 / (r->value * r->value); /* a share, as logarithms have it */
        freedom += f;
    }
    s->within2 = sum / (double)(n * n);
    s->within_freedom = freedom;
}

/* ---- a summary */

static void fill_side_from_summary(const struct pr_compare_test *t,
                                   struct pr_compare_side *s)
{
    double n = (double)t->repeats, share = t->deviation / t->mean;

    s->repeats = t->repeats;
    s->failed = t->failures;
    if (!(t->mean > 0)) {
        s->repeats = 0;
        return;
    }
    s->mean = log(t->mean) - share * share / 2;
    if (n > 1 && isfinite(share)) {
        s->variance = share * share * n / (n - 1);
        s->freedom = n - 1;
    }
}

static bool is_good(const struct pr_compare_run *r)
{
    return isfinite(r->value) && r->value > 0;
}

/* The number of repeats that are left out is by their order, not number. */
static int64_t first_that_counts(const struct pr_compare_test *t,
                                 unsigned skip_first)
{
    int64_t from = INT64_MIN;

    for (unsigned i = 0; i < skip_first; i++) {
        int64_t least = INT64_MAX;

        for (size_t k = 0; k < t->count; k++)
            if (t->runs[k].repeat >= from && t->runs[k].repeat < least)
                least = t->runs[k].repeat;
        if (least == INT64_MAX)
            break;
        from = least + 1;
    }
    return from;
}

/* Puts devices of a repeat together, and repeats in order. */
static int compare_fill_side(const struct pr_compare_test *t,
                             unsigned skip_first, struct pr_arena *a,
                             struct pr_compare_side *ret, struct pr_err *err)
{
    int64_t from = first_that_counts(t, skip_first);
    struct point *p;
    size_t n = 0;

    *ret = (struct pr_compare_side){
        .mean = NAN, .variance = NAN, .within2 = NAN, .test = t};
    if (t->repeats) {
        fill_side_from_summary(t, ret);
        return PR_OK;
    }
    p = PR_ARENA_ARRAY(a, struct point, t->count + 1);
    ret->logs = PR_ARENA_ARRAY(a, double, t->count + 1);
    if (!p || !ret->logs)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < t->count; i++) {
        const struct pr_compare_run *r = &t->runs[i];

        ret->failed += !is_good(r);
        if (is_good(r) && r->repeat >= from)
            p[n++] = (struct point){log(r->value), r->repeat, r};
    }
    if (!n)
        return PR_OK;
    level_devices(p, n);
    ret->repeats = join_repeats(p, n, ret->logs);
    pr_compare_moments(ret->logs, ret->repeats, &ret->mean, &ret->variance);
    ret->freedom = (double)ret->repeats - 1;
    if (ret->repeats == 1)
        estimate_within_run(p, n, ret);
    return PR_OK;
}

/* ---- --fail-if: "slower:5%,failed", and what breaks it */

static const struct {
    const char *word;
    enum pr_compare_verdict verdict;
    bool limit; /* may have one */
} rule_words[] = {
    {"slower", PR_VERDICT_SLOWER, true},
    {"faster", PR_VERDICT_FASTER, true},
    {"unclear", PR_VERDICT_UNCLEAR, false},
    {"failed", PR_VERDICT_FAILED, false},
    {"missing", PR_VERDICT_MISSING, false},
};

static int bad_rule(const char *rule, size_t len, struct pr_err *err)
{
    pr_fail(err, PR_E_USAGE, "--fail-if", "'%.*s' is not a rule",
            (int)(len > 80 ? 80 : len), rule);
    return pr_hint(err,
                   "slower, slower:5%%, faster:2%%, unclear, failed, missing; "
                   "several with commas");
}

/* "5%", "5 %" or "0.05". */
static bool read_limit(const char *text, size_t len, double *ret)
{
    char copy[32], *end;

    if (!len || len >= sizeof copy)
        return false;
    memcpy(copy, text, len);
    copy[len] = 0;
    *ret = strtod(copy, &end);
    while (*end == ' ')
        end++;
    if (*end == '%') {
        *ret /= 100;
        end++;
    }
    return end != copy && !*end && isfinite(*ret) && *ret >= 0;
}

static int read_rule(const char *text, size_t len, struct pr_compare_rule *ret,
                     struct pr_err *err)
{
    const char *colon = memchr(text, ':', len);
    size_t word = colon ? (size_t)(colon - text) : len;

    for (size_t i = 0; i < sizeof rule_words / sizeof *rule_words; i++) {
        if (strlen(rule_words[i].word) != word ||
            memcmp(rule_words[i].word, text, word))
            continue;
        *ret = (struct pr_compare_rule){.verdict = rule_words[i].verdict};
        if (!colon || (rule_words[i].limit &&
                       read_limit(colon + 1, len - word - 1, &ret->over)))
            return PR_OK;
    }
    return bad_rule(text, len, err);
}

int pr_compare_parse_rules(const char *text, struct pr_arena *a,
                           struct pr_compare_rule **ret, size_t *ret_count,
                           struct pr_err *err)
{
    struct pr_compare_rule *rules =
        PR_ARENA_ARRAY(a, struct pr_compare_rule, strlen(text) + 1);
    size_t count = 0;
    int rc = rules ? PR_OK : pr_fail_nomem(err);

    while (!rc) {
        size_t len = strcspn(text, ",");

        rc = read_rule(text, len, &rules[count++], err);
        text += len;
        if (!*text++)
            break;
    }
    if (rc)
        return rc;
    *ret = rules;
    *ret_count = count;
    return PR_OK;
}

/* How much better or worse, whichever way the figure goes. */
static double compute_row_change(const struct pr_compare_row *r)
{
    bool down = r->better == PR_BETTER_SHORTER || r->better == PR_BETTER_LESS;
    double speed = down ? 1 / r->ratio : r->ratio;

    return fabs(speed - 1);
}

bool pr_compare_is_rule_broken(const struct pr_compare_row *r,
                               const struct pr_compare_rule *rules,
                               size_t count)
{
    enum pr_compare_verdict v = r->verdict;

    if (v == PR_VERDICT_WORSENED)
        v = PR_VERDICT_SLOWER;
    if (v == PR_VERDICT_IMPROVED)
        v = PR_VERDICT_FASTER;
    for (size_t i = 0; i < count; i++) {
        if (rules[i].verdict == PR_VERDICT_FAILED && r->failed_b > r->failed_a)
            return true;
        if (rules[i].verdict == v &&
            (!(rules[i].over > 0) || compute_row_change(r) > rules[i].over))
            return true;
    }
    return false;
}

const char *pr_compare_verdict_word(enum pr_compare_verdict v)
{
    static const char *const words[] = {
#define X(id, word) [PR_VERDICT_##id] = word,
        PR_VERDICTS(X)
#undef X
    };

    return words[v];
}

/* ---- pairs */

/* Two sides of one test, and what they say. */
struct match {
    struct pr_compare_row row;
    struct pr_compare_side a, b;
    bool in_a, in_b;
    struct pr_log_estimate diff;
};

struct work {
    const struct pr_compare_opts *o;
    struct pr_arena *arena;
    double least, margin, confidence, between_runs;
    double chance; /* of one look, both tails */
};

/* A test all of whose runs failed has no figure: it stands for any. */
static bool is_same_measure(const struct pr_compare_test *t,
                            const struct pr_compare_test *like)
{
    return strcmp(t->measure, like->measure) == 0 || !*t->measure ||
           !*like->measure;
}

/* The first that is: one that failed everywhere stands for one figure alone. */
static const struct pr_compare_test *
find_like_test(const struct pr_compare_set *s,
               const struct pr_compare_test *like)
{
    const struct pr_compare_test *first = NULL, *t = NULL;

    while ((t = pr_compare_next_test(s, like->name, t)))
        if (is_same_measure(t, like) && (!first || t < first))
            first = t;
    return first;
}

static int fill_match(struct work *w, const struct pr_compare_test *a,
                      const struct pr_compare_test *b, struct match *m,
                      struct pr_err *err)
{
    const struct pr_compare_test *any = a ? a : b;
    int rc = PR_OK;

    *m = (struct match){.in_a = a, .in_b = b};
    m->row = (struct pr_compare_row){.name = any->name,
                                     .measure = any->measure,
                                     .better = any->better,
                                     .a = NAN,
                                     .b = NAN,
                                     .ratio = NAN,
                                     .low = NAN,
                                     .high = NAN,
                                     .p = NAN};
    m->a.mean = m->b.mean = m->diff.mean = NAN;
    if (a)
        rc = compare_fill_side(a, w->o->skip_first, w->arena, &m->a, err);
    if (!rc && b)
        rc = compare_fill_side(b, w->o->skip_first, w->arena, &m->b, err);
    m->row.runs_a = m->a.repeats;
    m->row.runs_b = m->b.repeats;
    m->row.failed_a = m->a.failed;
    m->row.failed_b = m->b.failed;
    m->row.a = exp(m->a.mean);
    m->row.b = exp(m->b.mean);
    return rc;
}

/* Digits by their number, as people sort: scaling.2 before scaling.10. */
static int by_match_name(const void *a, const void *b)
{
    const struct match *x = a, *y = b;

    return strverscmp(x->row.name, y->row.name);
}

/* Sorting must keep the order of measures of a test: a stable sort. */
static void sort_matches(struct match *m, size_t n, struct match *room)
{
    size_t half = n / 2, i = 0, k = half, out = 0;

    if (n < 2)
        return;
    sort_matches(m, half, room);
    sort_matches(m + half, n - half, room);
    while (i < half || k < n) {
        bool left = k == n || (i < half && by_match_name(&m[i], &m[k]) <= 0);

        room[out++] = left ? m[i++] : m[k++];
    }
    memcpy(m, room, n * sizeof *m);
}

static int match_sets(struct work *w, const struct pr_compare_set *a,
                      const struct pr_compare_set *b, struct match **ret,
                      size_t *ret_count, struct pr_err *err)
{
    struct match *m =
        PR_ARENA_ARRAY(w->arena, struct match, a->count + b->count + 1);
    struct match *room =
        PR_ARENA_ARRAY(w->arena, struct match, a->count + b->count + 1);
    size_t n = 0;
    int rc = m && room ? PR_OK : pr_fail_nomem(err);

    for (size_t i = 0; !rc && i < a->count; i++)
        rc = fill_match(w, &a->tests[i], find_like_test(b, &a->tests[i]),
                        &m[n++], err);
    for (size_t i = 0; !rc && i < b->count; i++)
        if (!find_like_test(a, &b->tests[i]))
            rc = fill_match(w, NULL, &b->tests[i], &m[n++], err);
    if (rc)
        return rc;
    sort_matches(m, n, room);
    *ret = m;
    *ret_count = n;
    return PR_OK;
}

/* ---- verdicts */

static enum pr_compare_verdict verdict_of_change(enum pr_better better, bool up)
{
    switch (better) {
    case PR_BETTER_FASTER:
        return up ? PR_VERDICT_FASTER : PR_VERDICT_SLOWER;
    case PR_BETTER_SHORTER:
        return up ? PR_VERDICT_SLOWER : PR_VERDICT_FASTER;
    case PR_BETTER_MORE:
        return up ? PR_VERDICT_IMPROVED : PR_VERDICT_WORSENED;
    case PR_BETTER_LESS:
        return up ? PR_VERDICT_WORSENED : PR_VERDICT_IMPROVED;
    default:
        return up ? PR_VERDICT_HIGHER : PR_VERDICT_LOWER;
    }
}

/* A change, when the interval excludes that there is none; the same, when it
 * excludes all that matters. What does neither says nothing. */
static enum pr_compare_verdict word_for(const struct work *w, double mean,
                                        double half, enum pr_better better)
{
    if (fabs(mean) > half && fabs(mean) > log1p(w->least))
        return verdict_of_change(better, mean > 0);
    return fabs(mean) + half <= log1p(w->margin) ? PR_VERDICT_SAME
                                                 : PR_VERDICT_UNCLEAR;
}

/* Ratio, interval and word from a difference. */
static void judge_difference(const struct work *w,
                             const struct pr_log_estimate *d,
                             struct pr_compare_row *r)
{
    double error = sqrt(d->error2);
    double half = error * pr_student_t(w->chance / 2, d->freedom);

    r->ratio = exp(d->mean);
    r->low = exp(d->mean - half);
    r->high = exp(d->mean + half);
    r->p = fmin(1, 2 * pr_student_above(fabs(d->mean) / error, d->freedom));
    r->verdict = word_for(w, d->mean, half, r->better);
}

static void judge_match(const struct work *w,
                        const struct pr_variance_prior *prior, struct match *m)
{
    struct pr_log_estimate a, b;

    if (!m->in_b || !m->in_a) {
        m->row.verdict = m->in_a ? PR_VERDICT_MISSING : PR_VERDICT_ADDED;
        return;
    }
    if (!m->b.repeats || !m->a.repeats) {
        m->row.verdict = m->b.repeats ? PR_VERDICT_ADDED : PR_VERDICT_FAILED;
        return;
    }
    a = compare_estimate(&m->a, &m->b, prior, w->between_runs);
    b = compare_estimate(&m->b, &m->a, prior, w->between_runs);
    m->diff = compare_difference(&a, &b);
    judge_difference(w, &m->diff, &m->row);
}

/* What all variances of a pair have in common. */
static int fit_variance_prior(const struct work *w, const struct match *m,
                              size_t n, struct pr_variance_prior *ret,
                              struct pr_err *err)
{
    double *v = PR_ARENA_ARRAY(w->arena, double, 2 * n + 1);
    double *f = PR_ARENA_ARRAY(w->arena, double, 2 * n + 1);
    size_t count = 0;

    if (!v || !f)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < 2 * n; i++) {
        const struct pr_compare_side *s = i % 2 ? &m[i / 2].b : &m[i / 2].a;

        if (s->repeats > 1 && isfinite(s->variance)) {
            v[count] = s->variance;
            f[count++] = s->freedom;
        }
    }
    pr_compare_fit_prior(v, f, count, ret);
    return PR_OK;
}

/* ---- over all */

static bool is_speed_row(const struct pr_compare_row *r)
{
    return (r->better == PR_BETTER_FASTER || r->better == PR_BETTER_SHORTER) &&
           isfinite(r->ratio);
}

/* The figure of a test that counts over all: its first that is a speed. */
static bool is_match_counted(const struct match *m, size_t i)
{
    if (!is_speed_row(&m[i].row))
        return false;
    for (size_t k = i; k-- > 0 && strcmp(m[k].row.name, m[i].row.name) == 0;)
        if (is_speed_row(&m[k].row))
            return false;
    return true;
}

static double get_speed_sign(const struct match *m)
{
    return m->row.better == PR_BETTER_SHORTER ? -1 : 1;
}

/* Means over tests for each repeat of one side. What disturbs a repeat as a
 * whole shows here alone. False: tests were repeated differently. */
static bool estimate_over_repeats(const struct work *w, const struct match *m,
                                  size_t n, bool b, struct pr_log_estimate *ret,
                                  bool *ret_nomem)
{
    uint64_t repeats = 0;
    double *sums, tests = 0, mean, var;

    for (size_t i = 0; i < n; i++) {
        const struct pr_compare_side *s = b ? &m[i].b : &m[i].a;

        if (!is_match_counted(m, i))
            continue;
        if (!s->logs || s->repeats < 2 || (repeats && s->repeats != repeats))
            return false;
        repeats = s->repeats;
    }
    sums = PR_ARENA_ARRAY(w->arena, double, repeats + 1);
    *ret_nomem |= !sums;
    for (size_t i = 0; sums && i < n; i++) {
        const struct pr_compare_side *s = b ? &m[i].b : &m[i].a;

        if (!is_match_counted(m, i))
            continue;
        for (uint64_t k = 0; k < repeats; k++)
            sums[k] += get_speed_sign(&m[i]) * s->logs[k];
        tests++;
    }
    if (!sums || !repeats)
        return false;
    for (uint64_t k = 0; k < repeats; k++)
        sums[k] /= tests;
    pr_compare_moments(sums, repeats, &mean, &var);
    *ret = (struct pr_log_estimate){.mean = mean,
                                    .error2 = var / (double)repeats,
                                    .freedom = (double)repeats - 1};
    return var > 0;
}

/* As if tests had nothing to do with each other. */
static struct pr_log_estimate estimate_over_tests(const struct match *m,
                                                  size_t n, size_t *ret_tests)
{
    struct pr_log_estimate e = {0};
    double parts = 0, tests = 0;

    for (size_t i = 0; i < n; i++) {
        const struct pr_log_estimate *d = &m[i].diff;

        if (!is_match_counted(m, i))
            continue;
        e.mean += get_speed_sign(&m[i]) * d->mean;
        e.error2 += d->error2;
        parts += d->error2 * d->error2 / d->freedom;
        tests++;
    }
    *ret_tests = (size_t)tests;
    if (tests > 0) {
        e.freedom = e.error2 * e.error2 / parts;
        e.mean /= tests;
        e.error2 /= tests * tests;
    }
    return e;
}

static double half_width(const struct work *w, const struct pr_log_estimate *e)
{
    return sqrt(e->error2) * pr_student_t(w->chance / 2, e->freedom);
}

/* Both ways, and the wider interval. */
static int judge_all(const struct work *w, const struct match *m, size_t n,
                     struct pr_compare_pair *pair, struct pr_err *err)
{
    size_t tests;
    struct pr_log_estimate e = estimate_over_tests(m, n, &tests), a, b, d;
    bool nomem = false;

    if (tests < 2)
        return PR_OK;
    if (estimate_over_repeats(w, m, n, false, &a, &nomem) &&
        estimate_over_repeats(w, m, n, true, &b, &nomem)) {
        d = compare_difference(&a, &b);
        if (half_width(w, &d) > half_width(w, &e)) {
            e.error2 = d.error2;
            e.freedom = d.freedom;
        }
    }
    if (nomem)
        return pr_fail_nomem(err);
    pair->has_all = true;
    pair->all = (struct pr_compare_row){.name = "over all",
                                        .measure = "",
                                        .better = PR_BETTER_FASTER,
                                        .a = NAN,
                                        .b = NAN,
                                        .runs_a = tests,
                                        .runs_b = tests};
    judge_difference(w, &e, &pair->all);
    return PR_OK;
}

/* ---- everything */

static int judge_pair(const struct work *w, struct match *m, size_t n,
                      struct pr_compare_pair *pair, struct pr_err *err)
{
    struct pr_variance_prior prior;
    int rc = fit_variance_prior(w, m, n, &prior, err);

    pair->rows = PR_ARENA_ARRAY(w->arena, struct pr_compare_row, n + 1);
    if (!rc && !pair->rows)
        rc = pr_fail_nomem(err);
    for (size_t i = 0; !rc && i < n; i++) {
        judge_match(w, &prior, &m[i]);
        rc = pr_compare_add_notes(&m[i].row, &m[i].a, &m[i].b, w->arena, err);
        pair->rows[i] = m[i].row;
    }
    pair->count = n;
    return rc ? rc : judge_all(w, m, n, pair, err);
}

/* How many comparisons chance gets to try. */
static size_t count_looks(const struct match *m, size_t n)
{
    size_t looks = 0;

    for (size_t i = 0; i < n; i++)
        looks += m[i].a.repeats && m[i].b.repeats;
    return looks + (looks > 1); /* that over all */
}

int pr_compare_sets(const struct pr_compare_set *sets, size_t count,
                    const struct pr_compare_opts *o, struct pr_arena *a,
                    struct pr_compare *ret, struct pr_err *err)
{
    struct work w = {.o = o,
                     .arena = a,
                     .least = o->least,
                     .margin = o->margin > 0 ? o->margin : 0.05,
                     .confidence = o->confidence > 0 ? o->confidence : 0.95,
                     .between_runs =
                         o->between_runs > 0 ? o->between_runs : 0.025};
    struct match **matches = PR_ARENA_ARRAY(a, struct match *, count + 1);
    size_t *counts_of = PR_ARENA_ARRAY(a, size_t, count + 1);
    struct pr_compare out = {
        .confidence = w.confidence, .least = w.least, .margin = w.margin};
    int rc = PR_OK;

    out.pairs = PR_ARENA_ARRAY(a, struct pr_compare_pair, count + 1);
    if (!matches || !counts_of || !out.pairs)
        return pr_fail_nomem(err);
    out.count = count ? count - 1 : 0;
    for (size_t i = 0; !rc && i < out.count; i++) {
        rc = match_sets(&w, &sets[0], &sets[i + 1], &matches[i], &counts_of[i],
                        err);
        if (!rc)
            out.looks += count_looks(matches[i], counts_of[i]);
    }
    w.chance = 1 - pow(w.confidence, 1.0 / (double)(out.looks ? out.looks : 1));
    for (size_t i = 0; !rc && i < out.count; i++) {
        out.pairs[i].label_a = sets[0].label;
        out.pairs[i].label_b = sets[i + 1].label;
        out.pairs[i].window_a = sets[0].window;
        out.pairs[i].window_b = sets[i + 1].window;
        rc = judge_pair(&w, matches[i], counts_of[i], &out.pairs[i], err);
    }
    if (!rc)
        *ret = out;
    return rc;
}
