/*
 * MLPerf's rules. The sizes are those that mlpstorage 2.0.0b1 prints; the
 * workloads are MLPerf's files, key by key.
 */
#include "analyse/mlperf.h"

#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define GIB ((uint64_t)1 << 30)

static const char unet3d[] =
    "{\"exp.workload\": \"emulate\", \"exp.accelerators\": 4,"
    " \"model.name\": \"unet3d\", \"model.type\": \"cnn\","
    " \"model.model_size_bytes\": 499153191,"
    " \"emulate.framework\": \"pytorch\", \"workflow.train\": true,"
    " \"workflow.generate_data\": false, \"workflow.checkpoint\": true,"
    " \"dataset.data_folder\": \"data/unet3d/\", \"dataset.format\": \"npz\","
    " \"dataset.num_files_train\": 14000, \"dataset.num_samples_per_file\": 1,"
    " \"dataset.record_length_bytes\": 146600628,"
    " \"dataset.record_length_bytes_stdev\": 68341808.0,"
    " \"dataset.record_length_bytes_resize\": 2097152,"
    " \"reader.data_loader\": \"pytorch\", \"reader.batch_size\": 7,"
    " \"reader.read_threads\": 4, \"reader.file_shuffle\": \"seed\","
    " \"reader.sample_shuffle\": \"seed\", \"train.epochs\": 5,"
    " \"train.computation_time\": 0.323,"
    " \"checkpoint.checkpoint_folder\": \"checkpoints/unet3d\","
    " \"checkpoint.checkpoint_after_epoch\": 5,"
    " \"checkpoint.epochs_between_checkpoints\": 2, \"metric.au\": 0.9,"
    " \"mlperf.division\": \"closed\", \"mlperf.host_memory\": 68719476736}";

static const char resnet50[] =
    "{\"exp.workload\": \"emulate\", \"exp.accelerators\": 16,"
    " \"model.name\": \"resnet50\", \"model.type\": \"cnn\","
    " \"emulate.framework\": \"tensorflow\","
    " \"dataset.data_folder\": \"data/resnet50\","
    " \"dataset.format\": \"tfrecord\", \"dataset.num_files_train\": 2557,"
    " \"dataset.num_samples_per_file\": 1251,"
    " \"dataset.record_length_bytes\": 114660.07,"
    " \"dataset.record_length_bytes_resize\": 150528,"
    " \"reader.data_loader\": \"tensorflow\", \"reader.batch_size\": 400,"
    " \"reader.read_threads\": 8, \"reader.computation_threads\": 8,"
    " \"train.epochs\": 5, \"train.computation_time\": 0.435,"
    " \"metric.au\": 0.9, \"mlperf.division\": \"closed\","
    " \"mlperf.host_memory\": 68719476736}";

static const char cosmoflow[] =
    "{\"exp.workload\": \"emulate\", \"exp.accelerators\": 16,"
    " \"model.name\": \"cosmoflow\", \"emulate.framework\": \"tensorflow\","
    " \"dataset.data_folder\": \"data/cosmoflow\","
    " \"dataset.num_files_train\": 524288,"
    " \"dataset.record_length_bytes\": 2828486,"
    " \"dataset.record_length_bytes_stdev\": 71311,"
    " \"reader.data_loader\": \"tensorflow\", \"reader.batch_size\": 1,"
    " \"reader.read_threads\": 4, \"reader.file_shuffle\": \"seed\","
    " \"reader.sample_shuffle\": \"seed\", \"reader.shuffle_size\": 2,"
    " \"train.epochs\": 5, \"train.computation_time\": {\"mean\": 0.0035},"
    " \"metric.au\": 0.7, \"mlperf.division\": \"closed\","
    " \"mlperf.host_memory\": 68719476736}";

static const char llama_405b[] =
    "{\"exp.workload\": \"emulate\", \"exp.accelerators\": 512,"
    " \"model.name\": \"llama_405b\", \"model.type\": \"transformer\","
    " \"model.num_layers\": 126, \"model.model_datatype\": \"fp16\","
    " \"model.optimizer_datatype\": \"fp32\","
    " \"model.parallelism.tensor\": 8, \"model.parallelism.pipeline\": 32,"
    " \"model.parallelism.zero_stage\": 1,"
    " \"model.transformer.vocab_size\": 128256,"
    " \"model.transformer.hidden_size\": 16384,"
    " \"model.transformer.ffn_hidden_size\": 53248,"
    " \"model.transformer.num_attention_heads\": 128,"
    " \"model.transformer.num_kv_heads\": 8,"
    " \"emulate.framework\": \"pytorch\", \"workflow.train\": false,"
    " \"workflow.checkpoint\": true,"
    " \"checkpoint.checkpoint_folder\": \"checkpoints/llama_405b\","
    " \"checkpoint.time_between_checkpoints\": 5,"
    " \"checkpoint.num_checkpoints_write\": 10,"
    " \"checkpoint.num_checkpoints_read\": 0, \"checkpoint.fsync\": true,"
    " \"mlperf.division\": \"closed\"}";

/* A map with another one's members laid over it. */
static struct pr_value laid_over(struct pr_arena *a, const char *base,
                                 const char *over)
{
    struct pr_value below = json(a, base), above = json(a, over);
    struct pr_member *m =
        PR_ARENA_ARRAY(a, struct pr_member, below.len + above.len);
    uint32_t n = 0;

    assert_non_null(m);
    for (uint32_t i = 0; i < below.len; i++)
        if (!pr_get(&above, below.members[i].key))
            m[n++] = below.members[i];
    for (uint32_t i = 0; i < above.len; i++)
        m[n++] = above.members[i];
    return (struct pr_value){.kind = PR_MAP, .len = n, .members = m};
}

static struct pr_mlperf judge(struct pr_arena *a, const char *base,
                              const char *over, const char *results)
{
    struct pr_value params = laid_over(a, base, over);
    struct pr_value found = json(a, results ? results : "{}");
    struct pr_mlperf_in in = {&params, results ? &found : NULL, 8 * GIB};
    struct pr_err err = {0};
    struct pr_mlperf m;

    if (pr_mlperf_judge_experiment(&in, a, &m, &err))
        fail_msg("%s: %s", over, err.msg);
    return m;
}

/* ---- sizes */

static void sizes_are_those_of_mlpstorage(void **state)
{
    static const struct {
        struct pr_mlperf_need need;
        struct pr_mlperf_size want;
    } rows[] = {
        {{2 * 128 * GIB, 16, 7, 1, 146600628},
         {9375, 56000, 56000, 8209635168000, 5}},
        {{64 * GIB, 16, 400, 1251, 114660.07}, {2395, 2557, 2557, 0, 0}},
        {{64 * GIB, 16, 1, 1, 2828486}, {121477, 8000, 121477, 0, 12}},
        {{2 * 256 * GIB, 80, 7, 1, 146600628}, {18750, 280000, 280000, 0, 28}},
        {{2 * 256 * GIB, 80, 400, 1251, 114660.07},
         {19163, 12789, 19163, 0, 2}},
        {{2 * 256 * GIB, 80, 1, 1, 2828486}, {971819, 40000, 971819, 0, 97}},
        {{0, 1, 1, 1, 100}, {0, 500, 500, 50000, 0}},
        {{2000, 20, 1, 1, 1}, {10000, 10000, 10000, 10000, 0}},
        {{2001, 1, 1, 1, 1}, {10005, 500, 10005, 10005, 2}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_mlperf_size s;

        pr_mlperf_compute_size(&rows[i].need, &s);
        assert_int_equal(s.by_memory, rows[i].want.by_memory);
        assert_int_equal(s.by_steps, rows[i].want.by_steps);
        assert_int_equal(s.files, rows[i].want.files);
        assert_int_equal(s.subfolders, rows[i].want.subfolders);
        if (rows[i].want.bytes)
            assert_int_equal(s.bytes, rows[i].want.bytes);
    }
}

static void sizes_without_end_do_not_wrap(void **state)
{
    struct pr_mlperf_need huge = {UINT64_MAX / 2, UINT64_MAX / 2, 1u << 30, 1,
                                  0.5};
    struct pr_mlperf_size s;

    (void)state;
    pr_mlperf_compute_size(&huge, &s);
    assert_int_equal(s.by_memory, UINT64_MAX);
    assert_int_equal(s.by_steps, UINT64_MAX);
    assert_int_equal(s.bytes, UINT64_MAX / 2 + 1);
    huge.samples_per_file = 0;
    pr_mlperf_compute_size(&huge, &s);
    assert_int_equal(s.files, 0);
}

/* ---- rules */

/* Every workload of MLPerf's as its file has it. */
static void their_own_workloads_fit_closed(void **state)
{
    static const struct {
        const char *params, *results, *workload;
    } rows[] = {
        {unet3d, "{\"dlio.train_au_mean_percentage\": 90}", "unet3d_h100"},
        {resnet50, "{\"dlio.train_au_mean_percentage\": 93.5}",
         "resnet50_a100"},
        {cosmoflow, "{\"dlio.train_au_mean_percentage\": 70.01}",
         "cosmoflow_h100"},
        {llama_405b, "{}", "llama3-405b"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_mlperf m =
            judge(*state, rows[i].params, "{}", rows[i].results);

        for (struct pr_mlperf_check *c = m.checks.first; c; c = c->next)
            if (c->status == PR_MLPERF_FAIL || c->status == PR_MLPERF_WARN)
                fail_msg("%s: %s %s", rows[i].workload, c->rule, c->text);
        assert_int_equal(m.verdict, PR_MLPERF_CLOSED);
        assert_string_equal(m.workload, rows[i].workload);
    }
}

struct rule {
    const char *base, *over, *results;
    const char *rule;
    enum pr_mlperf_status status;
    const char *words; /* that the finding holds */
    enum pr_mlperf_verdict verdict;
};

#define PASS PR_MLPERF_PASS
#define FAIL PR_MLPERF_FAIL
#define WARN PR_MLPERF_WARN
#define NOT_CHECKED PR_MLPERF_NOT_CHECKED
#define CLOSED PR_MLPERF_CLOSED
#define OPEN PR_MLPERF_OPEN
#define INVALID PR_MLPERF_INVALID

static const struct rule rules[] = {
    /* utilisation */
    {unet3d, "{}", "{\"dlio.train_au_mean_percentage\": 89.99}", "4", FAIL,
     "89.99 %, at least 90 %", INVALID},
    {unet3d, "{\"metric.au\": 0.5}",
     "{\"dlio.train_au_mean_percentage\": 89.99}", "4", FAIL, "at least 90 %",
     INVALID},
    {cosmoflow, "{}", "{\"dlio.train_au_mean_percentage\": 69.9}", "4", FAIL,
     "at least 70 %", INVALID},
    {unet3d, "{}", NULL, "4", NOT_CHECKED, "at least 90 %", CLOSED},
    /* size of the data */
    {unet3d, "{\"dataset.num_files_train\": 13999}", NULL, "7", FAIL,
     "must be at least 14000", INVALID},
    {unet3d, "{\"dataset.num_files_train\": 14000}", NULL, "7", PASS,
     "500 steps", CLOSED},
    {unet3d, "{\"mlperf.host_memory\": 1099511627776, \"mlperf.hosts\": 2}",
     NULL, "6.6", FAIL, "must be at least 75000", INVALID},
    {unet3d, "{\"mlperf.host_memory\": 0}", NULL, "6.6", PASS, "8.6 GB",
     CLOSED},
    {cosmoflow, "{\"dataset.num_files_train\": 121476}", NULL, "6.6", FAIL,
     "at least 121477", INVALID},
    {cosmoflow, "{\"dataset.num_files_train\": 121477}", NULL, "6.6", PASS,
     "at least 5 times", CLOSED},
    /* accelerators */
    {unet3d, "{\"train.computation_time\": 0.3}", NULL, "4", FAIL,
     "nearest is h100 with 0.323", INVALID},
    {unet3d, "{\"train.computation_time\": 1.3604}", NULL, "4", FAIL,
     "nearest is a100", INVALID},
    {unet3d,
     "{\"train.computation_time\": {\"type\": \"normal\", \"mean\": "
     "0.323, \"stdev\": 0.1}}",
     NULL, "4", FAIL, "not one fixed time", INVALID},
    {unet3d, "{\"model.name\": \"bert\"}", NULL, "2.1", FAIL, "'bert'",
     INVALID},
    {unet3d, "{\"mlperf.hosts\": 3}", NULL, "9", FAIL, "4 accelerators",
     INVALID},
    {unet3d, "{\"mlperf.hosts\": 4}", NULL, "9", PASS, "1 on each", CLOSED},
    /* what may be changed */
    {unet3d, "{\"reader.read_threads\": 16, \"reader.prefetch_size\": 1}", NULL,
     "10.1", PASS, "reader.read_threads, reader.prefetch_size", CLOSED},
    {unet3d, "{\"reader.prefetch_size\": 3}", NULL, "10.1", FAIL, "at most 2",
     INVALID},
    {unet3d, "{\"reader.odirect\": true}", NULL, "10.1", PASS, "reader.odirect",
     CLOSED},
    {resnet50, "{\"reader.odirect\": true}", NULL, "10.1", FAIL, "unet3d alone",
     INVALID},
    {resnet50, "{\"storage.engine\": \"direct\"}", NULL, "10.1", FAIL,
     "storage.engine=direct", INVALID},
    {unet3d, "{\"storage.engine\": \"direct\"}", NULL, "10.1", PASS,
     "storage.engine", CLOSED},
    {unet3d, "{\"storage.engine\": \"null\"}", NULL, "10.1", FAIL,
     "storage.engine is null, MLPerf's unet3d has pread", INVALID},
    {unet3d, "{\"storage.engine\": \"io_uring\"}", NULL, "10.2", FAIL,
     "OPEN alone", OPEN},
    {unet3d, "{\"dataset.format\": \"hdf5\"}", NULL, "10.2", FAIL,
     "dataset.format is hdf5, MLPerf's unet3d has npz", OPEN},
    {unet3d, "{\"dataset.format\": \"hdf5\", \"mlperf.division\": \"open\"}",
     NULL, "10.2", PASS, "OPEN alone", OPEN},
    {resnet50, "{\"dataset.num_samples_per_file\": 2502}", NULL, "10.2", FAIL,
     "is 2502, MLPerf's resnet50 has 1251", OPEN},
    {unet3d, "{\"reader.data_loader\": \"none\"}", NULL, "10.1", FAIL,
     "reader.data_loader is none", INVALID},
    {unet3d, "{\"train.epochs\": 4}", NULL, "10.1", FAIL,
     "train.epochs is 4, MLPerf's unet3d has 5", INVALID},
    {unet3d, "{\"reader.batch_size\": 8}", NULL, "10.1", FAIL,
     "reader.batch_size is 8, MLPerf's unet3d has 7", INVALID},
    {unet3d, "{\"workflow.checkpoint\": false}", NULL, "10.1", FAIL,
     "workflow.checkpoint is false, MLPerf's unet3d has true", INVALID},
    {resnet50, "{\"workflow.checkpoint\": true}", NULL, "10.1", FAIL,
     "workflow.checkpoint is true", INVALID},
    {unet3d, "{\"dataset.record_length_bytes\": 146600629}", NULL, "10.1", FAIL,
     "is 146600629, MLPerf's unet3d has 146600628", INVALID},
    {unet3d, "{\"train.total_training_steps\": 10}", NULL, "10.1", FAIL,
     "has -1", INVALID},
    {unet3d, "{\"reader.decode\": false}", NULL, "10.1", FAIL, "reader.decode",
     INVALID},
    {unet3d, "{\"reader.on_error\": \"skip\"}", NULL, "10.1", FAIL,
     "reader.on_error", INVALID},
    {unet3d, "{\"reader.preprocess_time\": 0.0}", NULL, "10.1", PASS, "only",
     CLOSED},
    {unet3d, "{\"reader.preprocess_time\": 0.1}", NULL, "10.1", FAIL,
     "is 0.1, MLPerf's unet3d has 0", INVALID},
    {unet3d, "{\"model.model_size_bytes\": 10240}", NULL, "10.1", PASS, "only",
     CLOSED},
    {unet3d, "{\"model.model_size_bytes\": 10241}", NULL, "10.1", FAIL,
     "has 499153191", INVALID},
    {unet3d, "{\"dataset.seed\": 7}", NULL, "6.3", FAIL, "dataset.seed is 7",
     INVALID},
    {unet3d, "{\"train.seed\": 7, \"emulate.trace\": true}", NULL, "10.1", PASS,
     "dataset.num_files_train", CLOSED},
    {unet3d, "{\"workflow.generate_data\": true}", NULL, "6.5", WARN,
     "prony generate", CLOSED},
    /* what came out */
    /* What is there counts, not what the length would make of it. */
    {cosmoflow, "{\"dataset.num_files_train\": 121477}",
     "{\"data_set_bytes\": 30000000000}", "6.6", FAIL, "30.0 GB", INVALID},
    {cosmoflow, "{\"dataset.num_files_train\": 121477}",
     "{\"data_set_bytes\": 400000000000}", "6.6", PASS, "400 GB", CLOSED},
    {unet3d, "{}", "{\"cached_share\": 0.5}", "6.6", WARN, "50 %", CLOSED},
    {unet3d, "{}", "{\"skipped_samples\": 3}", "10.1", FAIL, "3 samples",
     INVALID},
    /* checkpoints */
    {llama_405b, "{\"exp.accelerators\": 256}", NULL, "2.2.1", FAIL,
     "256 ranks are run, llama3-405b wants 512", INVALID},
    {llama_405b, "{\"exp.accelerators\": 768}", NULL, "2.2.5", FAIL,
     "multiple of 256", OPEN},
    {llama_405b, "{\"exp.accelerators\": 768, \"mlperf.division\": \"open\"}",
     NULL, "2.2.5", PASS, "multiple of 256", OPEN},
    {llama_405b, "{\"exp.accelerators\": 600}", NULL, "2.2.1", FAIL,
     "multiples of 256", INVALID},
    {llama_405b,
     "{\"exp.accelerators\": 8, \"checkpoint.mode\": \"subset\", "
     "\"model.parallelism.data\": 2}",
     NULL, "2.2.5", PASS, "8 ranks are run of 512", CLOSED},
    {llama_405b,
     "{\"exp.accelerators\": 16, \"checkpoint.mode\": \"subset\", "
     "\"model.parallelism.data\": 2}",
     NULL, "2.2.5", FAIL, "16 ranks", INVALID},
    {llama_405b,
     "{\"exp.accelerators\": 8, \"checkpoint.mode\": \"subset\", "
     "\"model.parallelism.data\": 4}",
     NULL, "2.2.2", FAIL, "it must be 2", INVALID},
    {llama_405b, "{\"checkpoint.fsync\": false}", NULL, "2.2.2", FAIL, "fsync",
     INVALID},
    {llama_405b, "{\"checkpoint.num_checkpoints_write\": 9}", NULL, "2.2.5",
     FAIL, "num_checkpoints_write is 9", INVALID},
    {llama_405b, "{\"checkpoint.num_checkpoints_read\": 10}", NULL, "2.2.2",
     WARN, "cleared in between", CLOSED},
    {llama_405b,
     "{\"checkpoint.num_checkpoints_read\": -1, "
     "\"checkpoint.num_checkpoints_write\": -1}",
     NULL, "2.2.5", FAIL, "no checkpoint", INVALID},
    {llama_405b, "{\"model.num_layers\": 125}", NULL, "2.2.1", FAIL,
     "model.num_layers is 125, MLPerf's llama3-405b has 126", INVALID},
    {llama_405b, "{\"model.parallelism.zero_stage\": 3}", NULL, "2.2.1", FAIL,
     "zero_stage is 3", INVALID},
    {llama_405b, "{\"checkpoint.time_between_checkpoints\": 0}", NULL, "2.2.5",
     FAIL, "has 5", INVALID},
    {llama_405b, "{\"mlperf.hosts\": 256}", NULL, "2.2.5", FAIL, "fewer than 4",
     INVALID},
    {llama_405b, "{\"dataset.format\": \"csv\"}", NULL, "2.2.5", PASS,
     "no parameter", CLOSED},
};

static bool has_finding(const struct pr_mlperf *m, const struct rule *r)
{
    for (const struct pr_mlperf_check *c = m->checks.first; c; c = c->next)
        if (strcmp(c->rule, r->rule) == 0 && c->status == r->status &&
            strstr(c->text, r->words))
            return true;
    return false;
}

static void each_rule_is_judged(void **state)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct pr_mlperf m =
            judge(*state, rules[i].base, rules[i].over, rules[i].results);

        if (has_finding(&m, &rules[i]) && m.verdict == rules[i].verdict)
            continue;
        for (struct pr_mlperf_check *c = m.checks.first; c; c = c->next)
            print_message("%s %s: %s\n", c->rule,
                          pr_mlperf_status_word(c->status), c->text);
        fail_msg("row %zu, %s %s: %s", i, rules[i].over,
                 rules[i].results ? rules[i].results : "",
                 pr_mlperf_verdict_word(m.verdict));
    }
}

static void only_experiments_of_mlperf_are_looked_at(void **state)
{
    static const struct {
        const char *params;
        bool concerns, asked;
    } rows[] = {
        {"{\"exp.workload\": \"emulate\", \"model.name\": \"unet3d\"}", false,
         false},
        {"{\"exp.workload\": \"emulate\", \"model.name\": \"unet3d\", "
         "\"dataset.record_length_bytes\": 146600628}",
         true, false},
        {"{\"exp.workload\": \"emulate\", \"model.name\": \"unet3d\", "
         "\"dataset.record_length_bytes\": 4096}",
         false, false},
        {"{\"exp.workload\": \"emulate\", \"model.name\": \"llama3-8b\"}", true,
         false},
        {"{\"exp.workload\": \"emulate\", \"model.name\": \"llama3_70b\"}",
         true, false},
        {"{\"exp.workload\": \"emulate\", \"model.name\": \"llama_7b\"}", false,
         false},
        {"{\"exp.workload\": \"emulate\", \"model.name\": \"unet3\"}", false,
         false},
        {"{\"exp.workload\": \"emulate\"}", false, false},
        {"{\"exp.workload\": \"null\", \"model.name\": \"unet3d\"}", false,
         false},
        {"{\"exp.workload\": \"emulate\", \"mlperf.division\": \"open\"}", true,
         true},
        {"{\"exp.workload\": \"emulate\", \"mlperf.division\": \"none\"}",
         false, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_value v = json(*state, rows[i].params);

        assert_int_equal(pr_mlperf_is_concerned(&v), rows[i].concerns);
        assert_int_equal(pr_mlperf_is_asked(&v), rows[i].asked);
    }
}

/* ---- several runs */

static void add_run(struct pr_mlperf_groups *g, struct pr_arena *a,
                    const char *base, const char *over, double rate)
{
    struct pr_value params = laid_over(a, base, over);
    struct pr_value results;
    struct pr_mlperf_in in = {&params, &results, 8 * GIB};
    struct pr_mlperf m;
    char text[128];

    snprintf(text, sizeof text,
             "{\"dlio.train_throughput_mean_samples_per_second\": %g}", rate);
    results = json(a, text);
    assert_int_equal(pr_mlperf_judge_experiment(&in, a, &m, NULL), PR_OK);
    assert_int_equal(pr_mlperf_groups_add(g, &m, &in, a, NULL), PR_OK);
}

static bool group_has(const struct pr_mlperf_group *g, const char *rule,
                      enum pr_mlperf_status status, const char *words)
{
    struct pr_mlperf m = {.checks = g->checks};
    struct rule r = {.rule = rule, .status = status, .words = words};

    return has_finding(&m, &r);
}

static void runs_that_differ_in_the_seed_belong_together(void **state)
{
    struct pr_mlperf_groups g = {0};
    char over[96];

    for (int i = 0; i < 6; i++) { /* the first one warms up */
        snprintf(over, sizeof over, "{\"train.seed\": %d, \"exp.id\": \"%d\"}",
                 i, i);
        add_run(&g, *state, unet3d, over, i ? 100 + i : 10);
    }
    add_run(&g, *state, unet3d, "{\"exp.accelerators\": 2}", 50);
    assert_int_equal(pr_mlperf_groups_judge(&g, *state, NULL), PR_OK);
    assert_int_equal(g.first->runs, 6);
    assert_true(group_has(g.first, "6.6", PASS, "6 runs were made"));
    assert_true(group_has(g.first, "6.6", PASS, "different seeds"));
    assert_true(group_has(g.first, "6.7", PASS, "103.00 samples/s"));
    assert_ptr_equal(g.first->next, g.last);
    assert_int_equal(g.last->runs, 1);
    assert_true(group_has(g.last, "6.6", FAIL, "1 of 6 runs"));
}

static void runs_too_far_apart_are_told(void **state)
{
    struct pr_mlperf_groups g = {0};

    for (int i = 0; i < 7; i++) /* the last five count */
        add_run(&g, *state, unet3d, "{}", i < 2 ? 1 : i == 6 ? 110 : 100);
    assert_int_equal(pr_mlperf_groups_judge(&g, *state, NULL), PR_OK);
    assert_true(group_has(g.first, "6.7", WARN, "102.00 samples/s"));
    assert_true(group_has(g.first, "6.7", WARN, "7.8 %"));
    assert_true(group_has(g.first, "6.6", WARN, "train.seed=123"));
}

static void checkpoints_are_run_five_times(void **state)
{
    struct pr_mlperf_groups g = {0};

    for (int i = 0; i < 5; i++)
        add_run(&g, *state, llama_405b, "{}", 0);
    assert_int_equal(pr_mlperf_groups_judge(&g, *state, NULL), PR_OK);
    assert_true(group_has(g.first, "2.2.3", PASS, "5 runs were made"));
    assert_int_equal(g.first->checks.by_status[FAIL], 0);
}

static void memory_is_that_of_the_machine_that_ran(void **state)
{
    char dir[] = "/tmp/prony-mlperf.XXXXXX", path[64];
    static const char text[] = "{\"memory\": {\"total_bytes\": 12345}}";
    FILE *file;

    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(pr_mlperf_read_run_memory(dir), 0);
    snprintf(path, sizeof path, "%s/env.json", dir);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(pr_mlperf_read_run_memory(dir), 12345);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

/* ---- out of memory */

static struct pr_value tortured;

static int attempt(void)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(512);
    struct pr_mlperf_in in = {&tortured, &tortured, 0};
    struct pr_mlperf_groups g = {0};
    struct pr_mlperf m;
    int rc = a ? pr_mlperf_judge_experiment(&in, a, &m, NULL) : PR_E_NOMEM;

    if (!rc)
        rc = pr_mlperf_groups_add(&g, &m, &in, a, NULL);
    if (!rc)
        rc = pr_mlperf_groups_judge(&g, a, NULL);
    if (!rc)
        assert_int_equal(m.verdict, PR_MLPERF_INVALID);
    return rc;
}

static void out_of_memory_is_an_error(void **state)
{
    tortured = laid_over(*state, unet3d, "{\"train.epochs\": 1}");
    torture(attempt);
}

static int set_up(void **state)
{
    *state = pr_arena_new(1 << 16);
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    pr_arena_free(*state);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sizes_are_those_of_mlpstorage),
        TEST(sizes_without_end_do_not_wrap),
        TEST(their_own_workloads_fit_closed),
        TEST(each_rule_is_judged),
        TEST(only_experiments_of_mlperf_are_looked_at),
        TEST(runs_that_differ_in_the_seed_belong_together),
        TEST(runs_too_far_apart_are_told),
        TEST(checkpoints_are_run_five_times),
        TEST(memory_is_that_of_the_machine_that_ran),
        TEST(out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
