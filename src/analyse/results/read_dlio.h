/*
 * A folder of DLIO's results (its own, or ours with its schema), read back:
 * summary.json, R_output.json, R_per_epoch_stats.json or the older
 * per_epoch_stats.json, iostat.json, and the config that hydra left. What its
 * post-processor computes from them, and some more.
 */
#ifndef PR_ANALYSE_READ_DLIO_H
#define PR_ANALYSE_READ_DLIO_H

#include "base/err.h"
#include "base/value.h"

/* Of a series; n < 2: there is too little to tell. */
struct pr_dlio_stats {
    size_t n;
    double mean, std, min, median, p90, p99, max;
};

/* Figures of a disk and of the processors, as iostat names them.
 * X(name, key in iostat.json, label) */
#define PR_DLIO_DISK_MEASURES(X)                 \
    X(READ_MB, "rMB/s", "R Bandwidth (MB/s):")   \
    X(WRITE_MB, "wMB/s", "W Bandwidth (MB/s):")  \
    X(READS, "r/s", "R IOPS:")                   \
    X(WRITES, "w/s", "W IOPS:")                  \
    X(READ_WAIT, "r_await", "Avg R Time (ms):")  \
    X(WRITE_WAIT, "w_await", "Avg W Time (ms):") \
    X(QUEUE, "aqu-sz", "Avg Queue Length:")
#define PR_DLIO_CPU_MEASURES(X)         \
    X(USER, "user", "User (%):")        \
    X(SYSTEM, "system", "System (%):")  \
    X(IOWAIT, "iowait", "IO Wait (%):") \
    X(STEAL, "steal", "Steal (%):")     \
    X(IDLE, "idle", "Idle (%):")

enum pr_dlio_disk_measure {
#define X(name, key, label) PR_DLIO_DISK_##name,
    PR_DLIO_DISK_MEASURES(X)
#undef X
        PR_DLIO_DISK_COUNT,
};

enum pr_dlio_cpu_measure {
#define X(name, key, label) PR_DLIO_CPU_##name,
    PR_DLIO_CPU_MEASURES(X)
#undef X
        PR_DLIO_CPU_COUNT,
};

struct pr_dlio_disk {
    struct pr_dlio_stats figure[PR_DLIO_DISK_COUNT];
};

/* What iostat saw in a span of time; disks as pr_dlio_run lists them. */
struct pr_dlio_machine {
    struct pr_dlio_stats cpu[PR_DLIO_CPU_COUNT];
    struct pr_dlio_disk *disks;
};

/* One rank in one phase. */
struct pr_dlio_rank {
    uint64_t rank;
    size_t steps;
    double load_s, proc_s, compute_s; /* sums over its steps */
    double au, throughput;            /* as the file says; NaN: it does not */
};

struct pr_dlio_phase {
    const char *name;                   /* "block1", "eval", "save_ckpt1" */
    const char *start, *end, *duration; /* as text; "": not known */
    double seconds;                     /* from start to end; NaN: not known */
    bool steps_known; /* it has times of steps; a checkpoint has none */
    bool evaluation;
    double load_s, proc_s;            /* mean over ranks of their sums */
    struct pr_dlio_stats samples, mb; /* a second, over steps */
    struct pr_dlio_rank *ranks;
    size_t rank_count, rank_cap;
    struct pr_dlio_machine machine;
    double *rates; /* samples a second by step, over all ranks */
    size_t rate_count;
    bool rated; /* a rank was counted */
    struct pr_dlio_phase *next;
};

struct pr_dlio_read_epoch {
    unsigned number; /* from 1 */
    const char *start, *end, *duration;
    struct pr_dlio_phase *phases, *last;
};

/* What the run was told, from its config; each may be given by a caller. */
struct pr_dlio_setup {
    const char *name;           /* NULL: not known */
    uint64_t epochs;            /* 0: not known */
    uint64_t batch, batch_eval; /* likewise */
    double record_bytes;        /* likewise */
    bool evaluation;
};

struct pr_dlio_run {
    struct pr_dlio_setup setup;
    uint64_t ranks; /* files of ranks */
    const char *start, *end;
    double seconds;
    double load_s, proc_s; /* mean over ranks of their sums */
    struct pr_dlio_stats samples, mb;
    struct pr_dlio_machine machine;
    bool has_iostat;
    const char **disks;
    size_t disk_count;
    struct pr_dlio_read_epoch *epochs;
    size_t epoch_count;
    struct pr_value summary; /* all of summary.json */
};

struct pr_dlio_opts {
    const char *hydra;          /* folder of the config; NULL: .hydra or
                                   dlio_config, whichever is there */
    struct pr_dlio_setup setup; /* what the config does not say */
};

/* Reads a folder. Everything is in the arena. PR_E_IO without a summary.json,
 * PR_E_FORMAT for one that is none. What else is missing is left out. */
int pr_dlio_read(const char *dir, const struct pr_dlio_opts *opts,
                 struct pr_arena *a, struct pr_dlio_run *ret,
                 struct pr_err *err) PR_MUST_CHECK;

/* Sample deviation, and quantiles as Python's statistics.quantiles(n=100,
 * method='inclusive') has them. Sorts the series. */
void pr_dlio_stats(double *series, size_t n, struct pr_dlio_stats *ret);

/* ---- times */

/* Microseconds of a time such as 2026-11-15T20:55:08.920473 or 11/15/26
 * 20:55:08, whatever its time zone. False: it is no time. */
bool pr_dlio_parse_time(const char *text, int64_t *ret_us);

#endif
