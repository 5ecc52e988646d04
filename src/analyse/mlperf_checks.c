/* MLPerf's rules for one experiment: of checkpoints, then of trainings. */
#include "analyse/mlperf.h"
#include "base/units.h"

#include <math.h>
#include <string.h>

/* ---- checkpoints */

enum { SUBSET_RANKS = 8, OPERATIONS = 10, LEAST_ON_HOST = 4 };

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

    if (strcmp(j->checkpoint.mode, "subset") == 0) {
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

/* ---- trainings */

enum { SEED = 123, MAX_PREFETCH = 2 };

/* The time of a step, when it is a fixed one. NaN: it is not. */
static double fixed_time(const struct pr_value *v)
{
    double f;

    if (v->kind == PR_MAP && v->len == 1 && pr_get(v, "mean"))
        v = pr_get(v, "mean");
    if (v->kind == PR_STR)
        return pr_parse_float(v->s, &f) ? f : NAN;
    return pr_value_is_number(v) ? pr_value_number(v) : NAN;
}

/* The accelerator that computes as long; otherwise the nearest. */
static const struct pr_mlperf_accelerator *
find_accelerator_model(const char *model, double time, bool *ret_exact)
{
    const struct pr_mlperf_accelerator *a, *best = NULL;
    double least = INFINITY;

    *ret_exact = false;
    for (size_t i = 0; (a = pr_mlperf_accelerator_at(i))->model; i++) {
        double away = fabs(log(time / a->computation_time));

        if (strcmp(a->model, model) != 0)
            continue;
        if (fabs(time - a->computation_time) < 1e-9) {
            *ret_exact = true;
            return a;
        }
        if (!best || away < least) {
            best = a;
            least = away;
        }
    }
    return best;
}

static void judge_accelerator(struct pr_mlperf_judge *j)
{
    double time = fixed_time(j->train.computation_time);
    const struct pr_mlperf_accelerator *a;
    bool exact;

    if (!j->model)
        return;
    a = find_accelerator_model(j->model->name, time, &exact);
    if (exact) {
        j->ret->workload =
            pr_arena_printf(j->arena, "%s_%s", a->model, a->name);
        pr_mlperf_add_check(j, "4", PR_MLPERF_PASS,
                            "a step computes for %g s, as on %s",
                            a->computation_time, a->name);
        return;
    }
    j->ret->workload = j->model->name;
    if (isnan(time))
        pr_mlperf_add_check(
            j, "4", PR_MLPERF_FAIL,
            "train.computation_time is not one fixed time; for %s "
            "%s it is %g s",
            j->model->name, a->name, a->computation_time);
    else
        pr_mlperf_add_check(
            j, "4", PR_MLPERF_FAIL,
            "train.computation_time is %g s, which is no "
            "accelerator's that there are figures for; the nearest "
            "is %s with %g s",
            time, a->name, a->computation_time);
}

static const char *bytes_text(char out[static 16], double bytes)
{
    return pr_format_bytes(out, bytes > 0 ? (uint64_t)bytes : 0);
}

static void judge_memory(struct pr_mlperf_judge *j)
{
    const struct pr_mlperf *r = j->ret;
    uint64_t files = (uint64_t)j->dataset.num_files_train;
    double bytes = (double)files * (double)j->dataset.num_samples_per_file *
                   j->dataset.record_length_bytes;
    double found = pr_mlperf_result_number(j, "data_set_bytes");
    double hosts = (double)r->hosts * (double)r->host_memory;
    bool enough = files >= r->size.by_memory;
    char data[16], memory[16];

    /* Files may be smaller than their number and the stated length say; images
     * are squares, a little below it. */
    if (found > 0) {
        enough = enough && found >= 0.98 * 5 * hosts;
        bytes = found;
    }

    if (!r->host_memory) {
        pr_mlperf_add_check(j, "6.6", PR_MLPERF_NOT_CHECKED,
                            "how much memory the hosts have is not known: set "
                            "mlperf.host_memory");
        return;
    }
    bytes_text(data, bytes);
    bytes_text(memory, hosts);
    if (enough)
        pr_mlperf_add_check(
            j, "6.6", PR_MLPERF_PASS,
            "the data set of %s is at least 5 times the memory of "
            "the hosts (%s)",
            data, memory);
    else if (files >= r->size.by_memory)
        pr_mlperf_add_check(
            j, "6.6", PR_MLPERF_FAIL,
            "the data set of %s is less than 5 times the memory of "
            "the hosts (%s): its files are smaller than "
            "dataset.record_length_bytes says",
            data, memory);
    else
        pr_mlperf_add_check(
            j, "6.6", PR_MLPERF_FAIL,
            "the data set of %s is less than 5 times the memory of "
            "the hosts (%s): dataset.num_files_train is %llu and "
            "must be at least %llu",
            data, memory, (unsigned long long)files,
            (unsigned long long)r->size.by_memory);
}

static void judge_steps(struct pr_mlperf_judge *j)
{
    const struct pr_mlperf *r = j->ret;
    uint64_t files = (uint64_t)j->dataset.num_files_train;
    double steps = (double)files * (double)j->dataset.num_samples_per_file /
                   (double)j->reader.batch_size / (double)r->accelerators;

    if (files >= r->size.by_steps)
        pr_mlperf_add_check(j, "7", PR_MLPERF_PASS,
                            "an epoch has %.0f steps, at least 500 are wanted",
                            round(steps));
    else
        pr_mlperf_add_check(
            j, "7", PR_MLPERF_FAIL,
            "an epoch has %.0f steps, at least 500 are wanted: for "
            "this many accelerators (%llu) dataset.num_files_train "
            "is %llu and must be at least %llu",
            floor(steps), (unsigned long long)r->accelerators,
            (unsigned long long)files, (unsigned long long)r->size.by_steps);
}

static void judge_size(struct pr_mlperf_judge *j)
{
    struct pr_mlperf_need need = {
        .memory = j->ret->hosts * j->ret->host_memory,
        .accelerators = j->ret->accelerators,
        .batch = (uint64_t)j->reader.batch_size,
        .samples_per_file = (uint64_t)j->dataset.num_samples_per_file,
        .record_length = j->dataset.record_length_bytes};

    pr_mlperf_compute_size(&need, &j->ret->size);
    judge_memory(j);
    judge_steps(j);
}

static void judge_training_hosts(struct pr_mlperf_judge *j)
{
    const struct pr_mlperf *r = j->ret;

    if (r->hosts < 2)
        return;
    if (r->accelerators % r->hosts)
        pr_mlperf_add_check(
            j, "9", PR_MLPERF_FAIL,
            "%llu accelerators cannot be the same number on each of "
            "%llu hosts",
            (unsigned long long)r->accelerators, (unsigned long long)r->hosts);
    else
        pr_mlperf_add_check(j, "9", PR_MLPERF_PASS,
                            "%llu accelerators are %llu on each of %llu hosts",
                            (unsigned long long)r->accelerators,
                            (unsigned long long)(r->accelerators / r->hosts),
                            (unsigned long long)r->hosts);
}

/* Ways of reading that are restricted beyond the list of what may change. */
static void judge_reader(struct pr_mlperf_judge *j)
{
    bool kind = strcmp(j->storage.storage_type, "direct_fs") == 0;
    bool direct =
        kind || j->reader.odirect || strcmp(j->storage.engine, "direct") == 0;

    if (direct && j->model && strcmp(j->model->name, "unet3d") != 0)
        pr_mlperf_add_check(
            j, "10.1", PR_MLPERF_FAIL,
            "%s reads past the page cache, which MLPerf allows for "
            "unet3d alone",
            j->reader.odirect ? "reader.odirect"
            : kind            ? "storage.storage_type=direct_fs"
                              : "storage.engine=direct");
    if (j->reader.prefetch_size > MAX_PREFETCH)
        pr_mlperf_add_check(
            j, "10.1", PR_MLPERF_FAIL,
            "reader.prefetch_size is %lld, at most %d is allowed",
            (long long)j->reader.prefetch_size, MAX_PREFETCH);
}

static void judge_data(struct pr_mlperf_judge *j)
{
    if (j->dataset.seed != SEED)
        pr_mlperf_add_check(
            j, "6.3", PR_MLPERF_FAIL,
            "dataset.seed is %lld: data is made from a seed that "
            "stays the same, %d",
            (long long)j->dataset.seed, SEED);
    if (j->workflow.generate_data)
        pr_mlperf_add_check(
            j, "6.5", PR_MLPERF_WARN,
            "the data set is made by the same experiment: make it "
            "before, with 'prony generate', so that it is on stable "
            "storage when the run begins");
}

static void judge_utilisation(struct pr_mlperf_judge *j)
{
    double found = pr_mlperf_result_number(j, "dlio.train_au_mean_percentage");
    const char *text =
        j->model ? pr_mlperf_model_value(j->model, "metric.au", 0) : NULL;
    double want = 0.9;

    if (text)
        (void)pr_parse_float(text, &want);
    if (isnan(found))
        pr_mlperf_add_check(j, "4", PR_MLPERF_NOT_CHECKED,
                            "accelerator utilisation must be at least %.0f %%",
                            100 * want);
    else if (found >= 100 * want)
        pr_mlperf_add_check(
            j, "4", PR_MLPERF_PASS,
            "accelerator utilisation is %.2f %%, at least %.0f %% is "
            "wanted",
            found, 100 * want);
    else
        pr_mlperf_add_check(
            j, "4", PR_MLPERF_FAIL,
            "accelerator utilisation is %.2f %%, at least %.0f %% is "
            "wanted: use fewer accelerators or faster storage",
            found, 100 * want);
}

/* Data that was in memory was not read from the storage. */
static void judge_training_cache(struct pr_mlperf_judge *j)
{
    double cached = pr_mlperf_result_number(j, "cached_share");
    double skipped = pr_mlperf_result_number(j, "skipped_samples");

    if (cached >= 0.1)
        pr_mlperf_add_check(
            j, "6.6", PR_MLPERF_WARN,
            "%.0f %% of the data was in the page cache before it was "
            "read: use more files, or emulate.drop_cache=epoch",
            100 * cached);
    if (skipped > 0)
        pr_mlperf_add_check(j, "10.1", PR_MLPERF_FAIL,
                            "%.0f samples could not be read and were skipped",
                            skipped);
}

void pr_mlperf_judge_training(struct pr_mlperf_judge *j)
{
    judge_accelerator(j);
    judge_utilisation(j);
    judge_size(j);
    judge_training_cache(j);
    judge_training_hosts(j);
    judge_data(j);
    judge_reader(j);
    pr_mlperf_add_check(
        j, "6.6", PR_MLPERF_NOT_CHECKED,
        "one run to warm up and 5 that count are wanted, each with "
        "another train.seed");
}
