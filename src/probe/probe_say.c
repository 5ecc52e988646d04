/* benchy's console lines, letter by letter: people have programs that read
 * them. */
#include "base/value.h"
#include "probe/probe_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void probe_print_line(struct pr_probe *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void probe_print_line(struct pr_probe *p, const char *fmt, ...)
{
    char line[sizeof p->config.file + 128] = "BENCHY::";
    size_t used = strlen(line);
    va_list args;
    int n;

    if (!p->o.line)
        return;
    va_start(args, fmt);
    n = vsnprintf(line + used, sizeof line - used, fmt, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof line - used)
        p->o.line(p->o.ctx, line, used + (size_t)n);
}

static void probe_print_rate(struct pr_probe *p, const char *what, double rate)
{
    char number[32];
    size_t n = pr_float_repr(number, rate);

    probe_print_line(p, "%s::%s: %.*s", p->label, what, (int)n, number);
}

void pr_probe_print_iteration(struct pr_probe *p, double rate)
{
    probe_print_rate(p, "Iteration Throughput", rate);
}

void pr_probe_print_trial(struct pr_probe *p, const struct pr_probe_trial *t)
{
    probe_print_rate(p, "Average Iteration Throughput", t->mean_rate);
    probe_print_rate(p, "Trial Throughput", t->rate);
}

void pr_probe_print_summary(struct pr_probe *p)
{
    /* The second has a blank too many, and there are parsers that want it. */
    static const char *const names[] = {"IO", " SYNTHETIC", "FULL"};
    double mean, deviation;

    for (int i = 0; i < PR_PROBE_PHASES; i++) {
        if (!p->phase[i].count)
            continue;
        pr_probe_spread(&p->phase[i], &mean, &deviation);
        probe_print_line(p,
                         "SUMMARY::%s average trial throughput: %.3f +/- %.3f",
                         names[i], mean, deviation);
    }
}

void pr_probe_print_writing(struct pr_probe *p)
{
    probe_print_line(p, "INFO::Message: Writing JSON output to %s.",
                     p->config.output);
}

static void probe_print_profiler(struct pr_probe *p)
{
    const char *mode = p->config.profiler_mode;

    if (strcmp(mode, "single") == 0)
        probe_print_line(
            p, "INFO::Message: Profiling mode single. Starting profiler on "
               "rank 0 only.");
    else if (strcmp(mode, "all") == 0)
        probe_print_line(
            p, "INFO::Message: Profiling mode all. Starting profiler on all "
               "ranks.");
}

void pr_probe_say(struct pr_probe *p, enum pr_probe_message what)
{
    switch (what) {
    case PR_PROBE_SAY_CONFIG:
        if (*p->config.file)
            probe_print_line(
                p, "INFO::Message: Using benchy configuration file %s.",
                p->config.file);
        else
            probe_print_line(
                p, "INFO::Message: Using default benchy configuration.");
        break;
    case PR_PROBE_SAY_PROFILER:
        probe_print_profiler(p);
        break;
    case PR_PROBE_SAY_EXIT:
        probe_print_line(p, "INFO::Message: Tests completed.... exiting.");
        break;
    }
}
