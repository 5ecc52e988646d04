/*
 * Memory, page cache and swap, from /proc/meminfo. A source of its own is
 * pressure: what waits for memory, processors or input and output.
 */
#include "base/text.h"
#include "monitor/monitor_source.h"
#include "monitor/scan.h"

enum { TOTAL, FREE, AVAILABLE, CACHED, DIRTY, SWAP_TOTAL, SWAP_FREE, ROWS };

static const char *const rows[ROWS] = {
    "MemTotal:", "MemFree:",   "MemAvailable:", "Cached:",
    "Dirty:",    "SwapTotal:", "SwapFree:",
};

static const struct pr_monitor_column columns[] = {
    {"mem.used_bytes", "bytes", PR_SUM_MEAN, 0, 0, NULL},
    {"mem.available_bytes", "bytes", PR_SUM_LOW, 0, 0, NULL},
    {"mem.cached_bytes", "bytes", PR_SUM_MEAN, 0, 0, NULL},
    {"mem.dirty_bytes", "bytes", PR_SUM_NONE, 0, 0, NULL},
    {"mem.swap_bytes", "bytes", PR_SUM_MEAN, 0, 0, NULL},
    {"mem.total_bytes", "bytes", PR_SUM_NONE, 0, 0, NULL},
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

struct mem {
    struct pr_kernel_file meminfo;
    bool named;
    int column[COLUMNS];
};

/* Which rows there were, as bits. */
static unsigned read_meminfo_rows(const char *text, double *bytes)
{
    unsigned found = 0;

    for (; *text; text = pr_scan_line(text)) {
        for (unsigned i = 0; i < ROWS; i++) {
            uint64_t kib;

            if ((found >> i & 1) || !pr_text_starts_with(text, rows[i]))
                continue;
            pr_scan_u64(text + strlen(rows[i]), &kib);
            bytes[i] = (double)kib * 1024;
            found |= 1u << i;
            break;
        }
        if (found == (1u << ROWS) - 1)
            break;
    }
    return found;
}

static void memory_sample(void *state, struct pr_monitor_sample *l)
{
    struct mem *s = state;
    const char *text =
        pr_kernel_file_read(l, &s->meminfo, "/proc/meminfo", NULL);
    double b[ROWS] = {0};
    unsigned found = text ? read_meminfo_rows(text, b) : 0;

    for (int i = 0; !s->named && i < COLUMNS; i++)
        s->column[i] = pr_monitor_sample_column(l, &columns[i]);
    s->named = true;
    if (!(found >> TOTAL & 1))
        return;
    /* Kernels before 3.14 did not say what is available. */
    if (!(found >> AVAILABLE & 1))
        b[AVAILABLE] = b[FREE] + b[CACHED];
    pr_monitor_sample_set(l, s->column[0], b[TOTAL] - b[AVAILABLE]);
    pr_monitor_sample_set(l, s->column[1], b[AVAILABLE]);
    pr_monitor_sample_set(l, s->column[2], b[CACHED]);
    pr_monitor_sample_set(l, s->column[3], b[DIRTY]);
    pr_monitor_sample_set(l, s->column[4], b[SWAP_TOTAL] - b[SWAP_FREE]);
    pr_monitor_sample_set(l, s->column[5], b[TOTAL]);
}

static void memory_close(void *state)
{
    pr_kernel_file_close(&((struct mem *)state)->meminfo);
}

const struct pr_monitor_source pr_source_mem = {
    .name = "mem",
    .desc = "memory used, available, cached, dirty and swapped out: "
            "/proc/meminfo",
    .state_bytes = sizeof(struct mem),
    .sample = memory_sample,
    .close = memory_close,
};

/* ---- pressure: the share of time in which some, or all, of what wanted to run
 * waited. Taken from the kernel's totals, so that it holds for the time between
 * two looks; its own averages lag behind by ten seconds. */

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
        if (pr_text_starts_with(text, row))
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
    .sample = pressure_sample,
    .close = pressure_close,
};
