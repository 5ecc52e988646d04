/*
 * Pressure: the share of time in which some, or all, of what wanted to run
 * waited for processors, memory or input and output. Taken from the kernel's
 * totals, so that it holds for the time between two looks; its own averages
 * lag behind by ten seconds.
 */
#include "monitor/scan.h"
#include "monitor/source.h"

static const struct {
    const char *path;
    struct pr_monitor_column some, full;
} kinds[] = {
    {"/proc/pressure/cpu",
     {"psi.cpu.some", "share", PR_SUM_MEAN, 4, 0, NULL},
     {NULL, "", PR_SUM_NONE, 0, 0, NULL}}, /* all of it: never */
    {"/proc/pressure/memory",
     {"psi.memory.some", "share", PR_SUM_MEAN, 4, 0, NULL},
     {"psi.memory.full", "share", PR_SUM_MEAN, 4, 0, NULL}},
    {"/proc/pressure/io",
     {"psi.io.some", "share", PR_SUM_MEAN, 4, 0, NULL},
     {"psi.io.full", "share", PR_SUM_MEAN, 4, 0, NULL}},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

struct total {
    uint64_t us;
    bool seen;
    int column;
};

struct psi {
    bool named;
    struct {
        struct pr_kernel_file file;
        struct total some, full;
    } of[KINDS];
};

/* The row "some avg10=… total=N", N in microseconds. */
static void sample_pressure_row(struct pr_monitor_sample *l, struct total *t,
                                const char *text, const char *row)
{
    uint64_t now;
    const char *at = NULL;

    for (; text && *text && !at; text = pr_scan_line(text))
        if (pr_scan_has_prefix(text, row))
            at = strstr(text, "total=");
    if (!at) {
        t->seen = false;
        return;
    }
    pr_scan_u64(at + 6, &now);
    if (t->seen && l->dt > 0 && now >= t->us) {
        double share = (double)(now - t->us) / 1e6 / l->dt;

        /* The two clocks do not tick at the same moment. */
        pr_monitor_sample_set(l, t->column, share < 1 ? share : 1);
    }
    t->us = now;
    t->seen = true;
}

static void pressure_sample(void *state, struct pr_monitor_sample *l)
{
    struct psi *s = state;

    for (int i = 0; i < KINDS; i++) {
        const char *text;

        if (!s->named) {
            s->of[i].some.column = pr_monitor_sample_column(l, &kinds[i].some);
            s->of[i].full.column =
                kinds[i].full.name ? pr_monitor_sample_column(l, &kinds[i].full)
                                   : -1;
        }
        text = pr_kernel_file_read(l, &s->of[i].file, kinds[i].path, NULL);
        sample_pressure_row(l, &s->of[i].some, text, "some ");
        sample_pressure_row(l, &s->of[i].full, text, "full ");
    }
    s->named = true;
}

static void pressure_close(void *state)
{
    struct psi *s = state;

    for (int i = 0; i < KINDS; i++)
        pr_kernel_file_close(&s->of[i].file);
}

const struct pr_monitor_source pr_source_psi = {
    .name = "psi",
    .desc = "pressure: share of time spent waiting for processors, memory, "
            "input and output: /proc/pressure",
    .state_bytes = sizeof(struct psi),
    .look = pressure_sample,
    .close = pressure_close,
};
