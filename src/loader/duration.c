/* Times as distributions: reading them, writing them, their mean. */
#include "loader/duration.h"

#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <string.h>

/*
 * Draws of a distribution. Gamma by Marsaglia and Tsang (2000); Poisson by
 * products for a small mean, for others by Hörmann's transformed rejection
 * (PTRS, 1993), which takes the same time for any mean.
 */

/* Of mean 1. */
static double draw_exponential(struct pr_rng *rng)
{
    return -log1p(-pr_rng_double(rng));
}

/* Of scale 1. */
static double gamma_draw(double shape, struct pr_rng *rng)
{
    double boost = 1, d, c;

    if (shape == 0)
        return 0;
    if (shape < 1) {
        boost = exp(-draw_exponential(rng) / shape);
        shape += 1;
    }
    d = shape - 1.0 / 3;
    c = 1 / sqrt(9 * d);
    for (;;) {
        double x = pr_rng_gauss(rng), v = 1 + c * x, u;
        if (v <= 0)
            continue;
        v = v * v * v;
        u = 1 - pr_rng_double(rng);
        if (log(u) < x * x / 2 + d - d * v + d * log(v))
            return boost * d * v;
    }
}

static double poisson_small(double lam, struct pr_rng *rng)
{
    double limit = exp(-lam), product = pr_rng_double(rng), n = 0;

    for (; product > limit; n++)
        product *= pr_rng_double(rng);
    return n;
}

static double draw_poisson(double lam, struct pr_rng *rng)
{
    double b = 0.931 + 2.53 * sqrt(lam), a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    double v_r = 0.9277 - 3.6224 / (b - 2);

    if (lam < 10)
        return poisson_small(lam, rng);
    for (;;) {
        double u = pr_rng_double(rng) - 0.5, v = 1 - pr_rng_double(rng);
        double us = 0.5 - fabs(u), k;
        int sign;

        if (us == 0)
            continue;
        k = floor((2 * a / us + b) * u + lam + 0.43);
        if (us >= 0.07 && v <= v_r)
            return k;
        if (k < 0 || (us < 0.013 && v > us))
            continue;
        /* Not lgamma, which writes a global. */
        if (log(v * inverse_alpha / (a / (us * us) + b)) <=
            k * log(lam) - lam - lgamma_r(k + 1, &sign))
            return k;
    }
}

static double duration_draw_seconds(const struct pr_duration *d,
                                    struct pr_rng *rng)
{
    switch (d->kind) {
    case PR_DURATION_NORMAL:
        return d->a + d->b * pr_rng_gauss(rng);
    case PR_DURATION_UNIFORM:
        return d->a + (d->b - d->a) * pr_rng_double(rng);
    case PR_DURATION_GAMMA:
        return d->b * gamma_draw(d->a, rng);
    case PR_DURATION_EXPONENTIAL:
        return d->a * draw_exponential(rng);
    case PR_DURATION_POISSON:
        return draw_poisson(d->a, rng);
    case PR_DURATION_FIXED:
        return d->a;
    case PR_DURATION_NONE:
        break;
    }
    return 0;
}

uint64_t pr_duration_draw(const struct pr_duration *d, struct pr_rng *rng)
{
    double ns = fabs(duration_draw_seconds(d, rng)) * 1e9;

    /* A century and a half: as good as for ever, and a deadline fits. */
    return ns < 0x1p62 ? (uint64_t)(ns + 0.5) : (uint64_t)1 << 62;
}

/* What DLIO calls it and its numbers; "" for none. */
static const struct kind {
    const char *type, *a, *b;
} kinds[] = {
    [PR_DURATION_FIXED] = {"", "mean", ""},
    [PR_DURATION_NORMAL] = {"normal", "mean", "stdev"},
    [PR_DURATION_UNIFORM] = {"uniform", "min", "max"},
    [PR_DURATION_GAMMA] = {"gamma", "shape", "scale"},
    [PR_DURATION_EXPONENTIAL] = {"exponential", "scale", ""},
    [PR_DURATION_POISSON] = {"poisson", "lam", ""},
    [PR_DURATION_NONE] = {"", "", ""},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

#define TYPES "normal, uniform, gamma, exponential, poisson"

/* What is being read, for messages. */
struct in {
    const char *name;
    struct pr_err *err;
};

static int wants_number(const struct in *in, const char *key,
                        const struct pr_value *v)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(4096);

    pr_value_write_repr(&text, v);
    pr_fail(in->err, PR_E_CONF, in->name, "%s%s%swants a number, got %.80s",
            *key ? "'" : "", key, *key ? "' " : "",
            pr_buf_ok(&text) ? text.data : pr_kind_name(v->kind));
    return *key ? PR_E_CONF
                : pr_hint(in->err, "or a map: {type: normal, mean: 0.3, "
                                   "stdev: 0.01}; types are " TYPES);
}

static int duration_read_number(const struct in *in, const char *key,
                                const struct pr_value *v, double *ret)
{
    double f = 0;

    if (pr_value_is_number(v))
        f = pr_value_number(v);
    else if (v->kind != PR_STR || !pr_parse_float(v->s, &f))
        return wants_number(in, key, v);
    if (!isfinite(f))
        return wants_number(in, key, v);
    *ret = f;
    return PR_OK;
}

static int duration_read_key(const struct in *in, const struct pr_value *map,
                             const char *key, const char *type, double *ret)
{
    const struct pr_value *v = pr_get(map, key);

    if (!*key)
        return PR_OK;
    if (!v || v->kind == PR_NULL) {
        pr_fail(in->err, PR_E_CONF, in->name, "'%s' is missing%s%s", key,
                *type ? " for type " : "", type);
        return *type ? PR_E_CONF : pr_hint(in->err, "or name a 'type': " TYPES);
    }
    return duration_read_number(in, key, v, ret);
}

static int unknown_type(const struct in *in, const struct pr_value *v)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(4096);
    struct pr_nearest near;

    pr_value_write_repr(&text, v);
    pr_fail(in->err, PR_E_CONF, in->name,
            "'type' must be one of " TYPES ", got %.80s",
            pr_buf_ok(&text) ? text.data : pr_kind_name(v->kind));
    pr_nearest_init(&near, v->kind == PR_STR ? v->s : "");
    for (int i = 0; i < KINDS; i++)
        if (*kinds[i].type)
            pr_nearest_offer(&near, kinds[i].type);
    if (near.best)
        return pr_hint(in->err, "did you mean '%s'?", near.best);
    return pr_hint(in->err, "a number alone is a fixed time, 0 none");
}

static int find_type(const struct in *in, const struct pr_value *v,
                     enum pr_duration_kind *ret)
{
    for (int i = 0; i < KINDS && v->kind == PR_STR; i++)
        if (v->len && strcmp(v->s, kinds[i].type) == 0) {
            *ret = (enum pr_duration_kind)i;
            return PR_OK;
        }
    return unknown_type(in, v);
}

/* A slip in a name would silently be another distribution. */
static int duration_check_keys(const struct in *in, const struct pr_value *map)
{
    for (uint32_t k = 0; k < map->len; k++) {
        const char *key = map->members[k].key;
        struct pr_nearest near;
        bool known = strcmp(key, "type") == 0;

        pr_nearest_init(&near, key);
        for (int i = 0; i < KINDS; i++) {
            known |= *key && !strcmp(key, kinds[i].a);
            known |= *key && !strcmp(key, kinds[i].b);
            pr_nearest_offer(&near, kinds[i].a);
            pr_nearest_offer(&near, kinds[i].b);
        }
        if (known)
            continue;
        pr_fail(in->err, PR_E_CONF, in->name, "unknown key '%.80s'", key);
        return near.best && *near.best
                   ? pr_hint(in->err, "did you mean '%s'?", near.best)
                   : pr_hint(in->err, "keys are type, mean, stdev, min, max, "
                                      "shape, scale, lam");
    }
    return PR_OK;
}

/* The rest of what numpy refuses, too. */
static int duration_check_numbers(const struct in *in,
                                  const struct pr_duration *d)
{
    const struct kind *k = &kinds[d->kind];
    bool a_signed = d->kind <= PR_DURATION_UNIFORM;
    bool b_signed = d->kind == PR_DURATION_UNIFORM;

    if (d->kind == PR_DURATION_UNIFORM && d->b < d->a)
        return pr_fail(in->err, PR_E_CONF, in->name, "'max' is below 'min'");
    if (!a_signed && d->a < 0)
        return pr_fail(in->err, PR_E_CONF, in->name, "'%s' is below 0", k->a);
    if (!b_signed && d->b < 0)
        return pr_fail(in->err, PR_E_CONF, in->name, "'%s' is below 0", k->b);
    return PR_OK;
}

static int duration_read_map(const struct in *in, const struct pr_value *map,
                             struct pr_duration *d)
{
    const struct pr_value *type = pr_get(map, "type");
    const struct pr_value *stdev = pr_get(map, "stdev");
    int rc = duration_check_keys(in, map);

    d->typed = type && type->kind != PR_NULL;
    if (rc == PR_OK && d->typed)
        rc = find_type(in, type, &d->kind);
    else if (stdev && stdev->kind != PR_NULL)
        d->kind = PR_DURATION_NORMAL;
    if (rc == PR_OK) {
        const struct kind *k = &kinds[d->kind];
        rc = duration_read_key(in, map, k->a, k->type, &d->a);
        /* *_stdev stands in for a normal one's. */
        if (rc == PR_OK && (d->kind != PR_DURATION_NORMAL || !(d->b > 0)))
            rc = duration_read_key(in, map, k->b, k->type, &d->b);
    }
    return rc;
}

int pr_duration_parse(const char *name, const struct pr_value *v, double stdev,
                      struct pr_duration *ret, struct pr_err *err)
{
    struct in in = {name, err};
    struct pr_duration d = {.kind = PR_DURATION_FIXED, .b = stdev};
    int rc = PR_OK;

    if (v->kind == PR_NULL || (v->kind == PR_MAP && !v->len))
        d = (struct pr_duration){.kind = PR_DURATION_NONE};
    else if (v->kind == PR_MAP)
        rc = duration_read_map(&in, v, &d);
    else
        rc = duration_read_number(&in, "", v, &d.a);
    if (d.kind == PR_DURATION_FIXED && d.b > 0)
        d.kind = PR_DURATION_NORMAL;
    if (!*kinds[d.kind].b)
        d.b = 0;
    if (rc == PR_OK)
        rc = duration_check_numbers(&in, &d);
    if (rc == PR_OK)
        *ret = d;
    return rc;
}

/* Of the absolute value of a normal number: the half below 0 is folded up. */
static double folded_normal_mean(double mean, double stdev)
{
    double z;

    if (stdev == 0)
        return fabs(mean);
    z = mean / stdev;
    return stdev * sqrt(2 / M_PI) * exp(-z * z / 2) + mean * erf(z / M_SQRT2);
}

double pr_duration_mean(const struct pr_duration *d)
{
    switch (d->kind) {
    case PR_DURATION_NORMAL:
        return folded_normal_mean(d->a, d->b);
    case PR_DURATION_UNIFORM:
        if ((d->a < 0) != (d->b < 0) && d->a != d->b)
            return (d->a * d->a + d->b * d->b) / 2 / fabs(d->b - d->a);
        return fabs(d->a + d->b) / 2;
    case PR_DURATION_GAMMA:
        return d->a * d->b;
    case PR_DURATION_NONE:
        return 0;
    case PR_DURATION_FIXED:
    case PR_DURATION_EXPONENTIAL:
    case PR_DURATION_POISSON:
        break;
    }
    return fabs(d->a);
}

static void duration_put_field(struct pr_buf *out, const char *key,
                               double value)
{
    if (!*key)
        return;
    pr_buf_printf(out, "%s'%s': ", out->data[out->len - 1] == '{' ? "" : ", ",
                  key);
    pr_float_write_repr(out, value);
}

void pr_duration_text(const struct pr_duration *d, struct pr_buf *out)
{
    const struct kind *k = &kinds[d->kind];

    pr_buf_char(out, '{');
    if (d->typed)
        pr_buf_printf(out, "'type': '%s'", k->type);
    if (pr_buf_ok(out)) {
        duration_put_field(out, k->a, d->a);
        if (pr_buf_ok(out))
            duration_put_field(out, k->b, d->b);
    }
    pr_buf_char(out, '}');
}
