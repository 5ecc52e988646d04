/* The rules of checkpoints. */
#include "analyse/mlperf_impl.h"

#include <math.h>
#include <string.h>

enum { SUBSET_RANKS = 8, OPERATIONS = 10, LEAST_ON_HOST = 4 };

static bool is_subset(const struct pr_mlperf_judge *j)
{
    return strcmp(j->checkpoint.mode, "subset") == 0;
}

/* A part of the ranks, on one machine. */
static void judge_subset(struct pr_mlperf_judge *j)
{
    const struct pr_mlperf *r = j->ret;
    int64_t data = j->parallelism.data;

    if (r->accelerators != SUBSET_RANKS)
        pr_mlperf_add_check(j, "2.2.5", PR_MLPERF_FAIL,
                            "%llu ranks are run of a subset, which has %d: set "
                            "exp.accelerators=%d",
                            (unsigned long long)r->accelerators, SUBSET_RANKS,
                            SUBSET_RANKS);
    else
        pr_mlperf_add_check(
            j, "2.2.5", PR_MLPERF_PASS,
            "%d ranks are run of %llu (checkpoint.mode=subset, for "
            "storage in each machine)",
            SUBSET_RANKS, (unsigned long long)r->ranks);
    if (data != (int64_t)j->model->data)
        pr_mlperf_add_check(
            j, "2.2.2", PR_MLPERF_FAIL,
            "model.parallelism.data is %lld, of a subset of %s it "
            "must be %llu",
            (long long)data, j->model->name,
            (unsigned long long)j->model->data);
    if (r->hosts > 1)
        pr_mlperf_add_check(j, "2.2.2", PR_MLPERF_FAIL,
                            "a subset runs on one host, not on %llu",
                            (unsigned long long)r->hosts);
    if (j->checkpoint.first_rank)
        pr_mlperf_add_check(
            j, "2.2.2", PR_MLPERF_FAIL,
            "checkpoint.first_rank is %lld, a subset is of the first "
            "ranks",
            (long long)j->checkpoint.first_rank);
}

static void judge_ranks(struct pr_mlperf_judge *j)
{
    const struct pr_mlperf *r = j->ret;
    uint64_t mp = j->model->tensor * j->model->pipeline;

    if (is_subset(j)) {
        judge_subset(j);
        return;
    }
    if (r->accelerators == r->ranks)
        pr_mlperf_add_check(j, "2.2.1", PR_MLPERF_PASS,
                            "%llu ranks are run, as %s wants",
                            (unsigned long long)r->ranks, j->model->name);
    else if (r->accelerators > r->ranks && r->accelerators % mp == 0)
        pr_mlperf_add_open_check(
            j, "2.2.5",
            "%llu ranks are run, a multiple of %llu: OPEN alone "
            "allows it, CLOSED wants %llu",
            (unsigned long long)r->accelerators, (unsigned long long)mp,
            (unsigned long long)r->ranks);
    else
        pr_mlperf_add_check(
            j, "2.2.1", PR_MLPERF_FAIL,
            "%llu ranks are run, %s wants %llu (OPEN: more, in "
            "multiples of %llu): set exp.accelerators, or run 8 with "
            "checkpoint.mode=subset",
            (unsigned long long)r->accelerators, j->model->name,
            (unsigned long long)r->ranks, (unsigned long long)mp);
}

static void judge_checkpoint_hosts(struct pr_mlperf_judge *j)
{
    const struct pr_mlperf *r = j->ret;

    if (r->accelerators / r->hosts < LEAST_ON_HOST)
        pr_mlperf_add_check(
            j, "2.2.5", PR_MLPERF_FAIL,
            "%llu ranks on %llu host%s are fewer than %d on each",
            (unsigned long long)r->accelerators, (unsigned long long)r->hosts,
            r->hosts == 1 ? "" : "s", LEAST_ON_HOST);
}

/* 10 of a kind, or none: writing and reading may be two runs. */
static void judge_checkpoint_count(struct pr_mlperf_judge *j, const char *name,
                                   int64_t count)
{
    if (count > 0 && count != OPERATIONS)
        pr_mlperf_add_check(
            j, "2.2.5", PR_MLPERF_FAIL,
            "checkpoint.num_checkpoints_%s is %lld, it must be %d, "
            "or 0 in a run that does not %s",
            name, (long long)count, OPERATIONS, name);
}

static void judge_counts(struct pr_mlperf_judge *j)
{
    int64_t writes = j->checkpoint.num_checkpoints_write;
    int64_t reads = j->checkpoint.num_checkpoints_read;

    judge_checkpoint_count(j, "write", writes);
    judge_checkpoint_count(j, "read", reads);
    if (writes <= 0 && reads <= 0)
        pr_mlperf_add_check(j, "2.2.5", PR_MLPERF_FAIL,
                            "no checkpoint is written or read: set "
                            "checkpoint.num_checkpoints_write=%d and "
                            "checkpoint.num_checkpoints_read=%d",
                            OPERATIONS, OPERATIONS);
    else if ((writes <= 0 || writes == OPERATIONS) &&
             (reads <= 0 || reads == OPERATIONS))
        pr_mlperf_add_check(j, "2.2.5", PR_MLPERF_PASS,
                            "%lld checkpoints are written and %lld are read",
                            (long long)(writes > 0 ? writes : 0),
                            (long long)(reads > 0 ? reads : 0));
}

static void judge_sync(struct pr_mlperf_judge *j)
{
    if (j->checkpoint.fsync)
        pr_mlperf_add_check(
            j, "2.2.2", PR_MLPERF_PASS,
            "checkpoints are on stable storage before they count as "
            "written");
    else
        pr_mlperf_add_check(
            j, "2.2.2", PR_MLPERF_FAIL,
            "checkpoint.fsync is false: set checkpoint.fsync=true");
}

/* What was just written is in memory, unless it was cleared. */
static void judge_checkpoint_cache(struct pr_mlperf_judge *j)
{
    double cached = pr_mlperf_result_number(j, "checkpoint_read_cached_share");
    bool both = j->checkpoint.num_checkpoints_write > 0 &&
                j->checkpoint.num_checkpoints_read > 0;

    if (j->checkpoint.num_checkpoints_read <= 0)
        return;
    if (cached >= 0.1)
        pr_mlperf_add_check(
            j, "2.2.2", PR_MLPERF_FAIL,
            "%.0f %% of what was read was in the page cache: clear "
            "it between writing and reading",
            100 * cached);
    else if (!isnan(cached))
        pr_mlperf_add_check(j, "2.2.2", PR_MLPERF_PASS,
                            "what was read was not in the page cache");
    else if (both)
        pr_mlperf_add_check(
            j, "2.2.2", PR_MLPERF_WARN,
            "written and read in one run: the rules want the caches "
            "cleared in between; write with "
            "checkpoint.num_checkpoints_read=0, clear them, then "
            "read with checkpoint.num_checkpoints_write=0");
    else
        pr_mlperf_add_check(
            j, "2.2.2", PR_MLPERF_NOT_CHECKED,
            "caches must be cleared between writing and reading");
}

void pr_mlperf_judge_checkpoint(struct pr_mlperf_judge *j)
{
    if (j->model)
        judge_ranks(j);
    judge_checkpoint_hosts(j);
    judge_sync(j);
    judge_counts(j);
    judge_checkpoint_cache(j);
    pr_mlperf_add_check(j, "2.2.3", PR_MLPERF_NOT_CHECKED, "5 runs are wanted");
}
