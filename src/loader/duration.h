/*
 * Times that are drawn anew each time: how long a step computes, how long a
 * sample is prepared. DLIO's forms: a number, a number with a deviation, or a
 * map {type: normal|uniform|gamma|exponential|poisson, …}.
 */
#ifndef PR_LOADER_DURATION_H
#define PR_LOADER_DURATION_H

#include "base/err.h"
#include "base/random.h"
#include "base/value.h"

#include <stdbool.h>

enum pr_duration_kind {
    PR_DURATION_FIXED,       /* a */
    PR_DURATION_NORMAL,      /* mean a, deviation b */
    PR_DURATION_UNIFORM,     /* from a to below b */
    PR_DURATION_GAMMA,       /* shape a, scale b */
    PR_DURATION_EXPONENTIAL, /* mean a */
    PR_DURATION_POISSON,     /* mean a; whole seconds */
    PR_DURATION_NONE,        /* nothing was given: no time */
};

struct pr_duration {
    enum pr_duration_kind kind;
    bool typed;  /* the kind was named: {type: normal, …} */
    double a, b; /* seconds, but for a shape */
};

/* name is the parameter's, for messages: "train.computation_time: …". A bad
 * type or a missing number is PR_E_CONF and names the key. stdev, that of
 * *_stdev, spreads a mean when it is above 0. */
int pr_duration_parse(const char *name, const struct pr_value *v, double stdev,
                      struct pr_duration *ret,
                      struct pr_err *err) PR_MUST_CHECK;

/* Nanoseconds, never negative: DLIO takes the absolute value. */
uint64_t pr_duration_draw(const struct pr_duration *d, struct pr_rng *rng);
double pr_duration_mean(const struct pr_duration *d); /* seconds, of draws */

/* As DLIO's log shows it: {'mean': 0.323}. */
void pr_duration_text(const struct pr_duration *d, struct pr_buf *out);

#endif
