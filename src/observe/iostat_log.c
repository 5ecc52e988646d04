/* Snapshots in memory, in a bounded amount of it. */
#include "base/mem.h"
#include "observe/iostat_impl.h"

#include <string.h>

enum { FIRST = 64, LEAST = 4 };

void pr_iostat_log_init(struct pr_iostat_log *log, size_t devices,
                        size_t max_bytes, uint64_t interval_ns)
{
    size_t stride =
        sizeof(struct pr_iostat_snap) + devices * sizeof(struct pr_iostat_disk);
    size_t max = max_bytes / stride;

    *log = (struct pr_iostat_log){
        .stride = stride,
        .max = max < LEAST ? LEAST : max,
        .interval_ns = interval_ns,
    };
}

void pr_iostat_log_free(struct pr_iostat_log *log)
{
    pr_free(log->data);
    log->data = NULL;
    log->count = log->cap = 0;
}

const struct pr_iostat_snap *pr_iostat_log_at(const struct pr_iostat_log *log,
                                              size_t i)
{
    return (const void *)(log->data + i * log->stride);
}

static bool iostat_log_grow(struct pr_iostat_log *log)
{
    size_t cap = log->cap ? 2 * log->cap : FIRST;
    char *data;

    cap = cap < log->max ? cap : log->max;
    if (cap <= log->cap)
        return false;
    data = pr_realloc(log->data, cap * log->stride);
    if (!data)
        return false;
    log->data = data;
    log->cap = cap;
    return true;
}

/* Every other one goes; the intervals between the rest are twice as long. */
static void iostat_log_halve(struct pr_iostat_log *log)
{
    size_t kept = 0;

    for (size_t i = 0; i < log->count; i += 2, kept++)
        memmove(log->data + kept * log->stride, log->data + i * log->stride,
                log->stride);
    log->count = kept;
    log->interval_ns *= 2;
}

bool pr_iostat_log_add(struct pr_iostat_log *log,
                       const struct pr_iostat_snap *snap)
{
    if (log->count == log->cap && !iostat_log_grow(log)) {
        if (log->count < LEAST)
            return false;
        iostat_log_halve(log);
    }
    memcpy(log->data + log->count++ * log->stride, snap, log->stride);
    return true;
}
