/*
 * Measuring, for other programs to compare. A line of stdin is numbers:
 *     slices LENGTH SECONDS COUNT SECONDS COUNT ...
 *     steady LENGTH TOTAL RATE RATE ...
 * The answer is a line of names and numbers, all digits.
 */
#include "base/rateslices.h"
#include "base/steady.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t read_numbers(char *text, double **ret)
{
    double *v = NULL;
    size_t n = 0;

    for (char *end, *p = text;; p = end) {
        double x = strtod(p, &end);

        if (end == p)
            break;
        v = realloc(v, (n + 1) * sizeof *v);
        if (!v)
            exit(1);
        v[n++] = x;
    }
    *ret = v;
    return n;
}

static void say(const char *name, double x)
{
    printf(" %s %.17g", name, x);
}

static void slices(const double *v, size_t n)
{
    struct pr_rateslices s;
    size_t full;

    if (n < 1 || pr_rateslices_init(&s, v[0], NULL))
        exit(1);
    for (size_t i = 1; i + 1 < n; i += 2)
        (void)pr_rateslices_add(&s, v[i], v[i + 1]);
    full = s.len;
    say("carry_time", s.time);
    say("carry_count", s.count);
    say("total_time", s.total_time);
    say("total_count", s.total_count);
    pr_rateslices_end(&s);
    say("full", (double)full);
    for (size_t i = 0; i < s.len; i++)
        say("rate", s.rates[i]);
    pr_rateslices_done(&s);
}

static void steady(const double *v, size_t n)
{
    struct pr_slices s;
    struct pr_steady t;
    double *room = malloc(n * sizeof *room);

    if (n < 2 || !room)
        exit(1);
    s = (struct pr_slices){v + 2, n - 2, v[0], v[1]};
    pr_steady_of(&s, room, &t);
    say("index_rate", t.index_rate);
    say("time_rate", t.time_rate);
    say("settled", t.settled);
    say("warmup", (double)t.warmup);
    say("warmup_s", t.warmup_s);
    say("count", (double)t.count);
    say("mean", t.mean);
    say("std", t.std);
    say("correlation", t.correlation);
    say("sem", t.sem);
    say("low", t.low);
    say("high", t.high);
    say("min", t.min);
    say("p5", t.p5);
    say("p50", t.p50);
    say("p95", t.p95);
    say("max", t.max);
    free(room);
}

int main(void)
{
    char *line = NULL;
    size_t cap = 0;

    while (getline(&line, &cap, stdin) >= 0) {
        double *v = NULL;
        size_t n = read_numbers(line + 6, &v);

        if (strncmp(line, "slices", 6) == 0)
            slices(v, n);
        else
            steady(v, n);
        putchar('\n');
        fflush(stdout);
        free(v);
    }
    free(line);
    return 0;
}
