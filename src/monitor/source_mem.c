/* Memory, page cache and swap, from /proc/meminfo. */
#include "monitor/scan.h"
#include "monitor/source.h"

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

            if ((found >> i & 1) || !pr_scan_has_prefix(text, rows[i]))
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
    .look = memory_sample,
    .close = memory_close,
};
