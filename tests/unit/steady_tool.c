/*
 * Measuring, for other programs to compare. A line of stdin is numbers:
 *     slices LENGTH SECONDS COUNT SECONDS COUNT ...
 *     steady LENGTH TOTAL RATE RATE ...
 * The answer is a line of names and numbers, all digits.
 */
#include "base/stats/histogram.h"
#include "base/stats/statistics.h"

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

static void message_print(const char *name, double x)
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
    message_print("carry_time", s.time);
    message_print("carry_count", s.count);
    message_print("total_time", s.total_time);
    message_print("total_count", s.total_count);
    pr_rateslices_end(&s);
    message_print("full", (double)full);
    for (size_t i = 0; i < s.len; i++)
        message_print("rate", s.rates[i]);
    pr_rateslices_free(&s);
}

static void steady(const double *v, size_t n)
{
    struct pr_slices s;
    struct pr_steady t;
    double *room = malloc(n * sizeof *room);

    if (n < 2 || !room)
        exit(1);
    s = (struct pr_slices){v + 2, n - 2, v[0], v[1]};
    pr_steady_compute(&s, room, &t);
    message_print("index_rate", t.index_rate);
    message_print("time_rate", t.time_rate);
    message_print("settled", t.settled);
    message_print("warmup", (double)t.warmup);
    message_print("warmup_s", t.warmup_s);
    message_print("count", (double)t.count);
    message_print("mean", t.mean);
    message_print("std", t.std);
    message_print("correlation", t.correlation);
    message_print("sem", t.sem);
    message_print("low", t.low);
    message_print("high", t.high);
    message_print("min", t.min);
    message_print("p5", t.p5);
    message_print("p50", t.p50);
    message_print("p95", t.p95);
    message_print("max", t.max);
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
