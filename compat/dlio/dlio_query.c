/*
 * dlio_benchmark_query: prints one value of the composed config, or what DLIO
 * has when the config does not say: ++workload.workflow.query=train.epochs.
 */
#include "compat/dlio/dlio.h"

#include <string.h>

/* What can be asked for. def: Python's text of the default; NULL: None. */
static const struct row {
    const char *key, *def;
} rows[] = {
    {"framework", "tensorflow"},
    {"storage.storage_type", "local_fs"},
    {"storage.storage_root", "./"},
    {"dataset.record_length_bytes", "65536"},
    {"dataset.record_length_bytes_stdev", "0"},
    {"dataset.record_length_bytes_resize", "0"},
    {"dataset.num_files_train", "8"},
    {"dataset.num_files_eval", "0"},
    {"dataset.generation_buffer_size", "2147483648"},
    {"dataset.num_samples_per_file", "1"},
    {"dataset.data_folder", "./data"},
    {"dataset.num_subfolders_train", "0"},
    {"dataset.num_subfolders_eval", "0"},
    {"dataset.enable_chunking", "False"},
    {"dataset.chunk_size", "0"},
    {"dataset.compression", "none"},
    {"dataset.compression_level", "4"},
    {"dataset.file_prefix", "img"},
    {"dataset.format", "tfrecord"},
    {"dataset.keep_files", "True"},
    {"reader.dont_use_mmap", "False"},
    {"reader.reader_classname", NULL},
    {"reader.multiprocessing_context", "fork"},
    {"reader.data_loader", "tensorflow"},
    {"reader.data_loader_classname", NULL},
    {"reader.data_loader_sampler", NULL},
    {"reader.read_threads", "1"},
    {"reader.computation_threads", "1"},
    {"reader.batch_size", "1"},
    {"reader.batch_size_eval", "1"},
    {"reader.prefetch_size", "2"},
    {"reader.file_shuffle", "off"},
    {"reader.file_access", "multi"},
    {"reader.shuffle_size", "1024"},
    {"reader.sample_shuffle", "off"},
    {"reader.read_type", "on_demand"},
    {"reader.transfer_size", NULL},
    {"reader.preprocess_time", "0"},
    {"reader.preprocess_time_stdev", NULL},
    {"reader.pin_memory", "True"},
    {"train.epochs", "1"},
    {"train.total_training_steps", "-1"},
    {"train.seed_change_epoch", "True"},
    {"train.computation_time", "0"},
    {"train.computation_time_stdev", NULL},
    {"train.seed", "123"},
    {"evaluation.eval_time", "0"},
    {"evaluation.eval_time_stdev", NULL},
    {"evaluation.eval_after_epoch", "1"},
    {"evaluation.epochs_between_evals", "1"},
    {"checkpoint.checkpoint_folder", "./checkpoints"},
    {"checkpoint.checkpoint_after_epoch", "1"},
    {"checkpoint.epochs_between_checkpoints", "1"},
    {"checkpoint.steps_between_checkpoints", "-1"},
    {"checkpoint.type", "rank_zero"},
    {"checkpoint.mode", "default"},
    {"checkpoint.checkpoint_mechanism_classname", NULL},
    {"checkpoint.fsync", "False"},
    {"checkpoint.time_between_checkpoints", "-1"},
    {"checkpoint.num_checkpoints_write", "-1"},
    {"checkpoint.num_checkpoints_read", "-1"},
    {"checkpoint.rank_sync", "False"},
    {"checkpoint.recovery_rank_shift", "False"},
    {"checkpoint.randomize_tensor", "True"},
    {"model.name", "default"},
    {"model.type", NULL},
    {"model.model_size_bytes", "10240"},
    {"model.optimization_groups", "[]"},
    {"model.num_layers", "-1"},
    {"model.layer_parameters", "[]"},
    {"model.model_datatype", "fp16"},
    {"model.optimizer_datatype", "fp32"},
    {"model.parallelism.tensor", "1"},
    {"model.parallelism.pipeline", "1"},
    {"model.parallelism.data", "-1"},
    {"model.parallelism.zero_stage", "0"},
    {"model.transformer.vocab_size", "32000"},
    {"model.transformer.hidden_size", "2048"},
    {"model.transformer.ffn_hidden_size", "8192"},
    {"model.transformer.num_attention_heads", "32"},
    {"model.transformer.num_kv_heads", "8"},
    {"output.folder", "output/"},
    {"output.log_file", "dlio.log"},
    {"output.metric.exclude_start_steps", "1"},
    {"output.metric.exclude_end_steps", "0"},
    {"workflow.train", "True"},
    {"workflow.generate_data", "False"},
    {"workflow.evaluation", "False"},
    {"workflow.checkpoint", "False"},
    {"workflow.profiling", "False"},
    {"profiling.profiler", "iostat"},
    {"profiling.iostat_devices", "[]"},
    {"metric.au", "0.9"},
};

static const struct row *hydra_query_find_row(const char *key)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].key, key) == 0)
            return &rows[i];
    return NULL;
}

/* Of a distribution, its mean. */
static bool is_time(const char *key)
{
    size_t n = strlen(key);

    return n > 5 && strcmp(key + n - 5, "_time") == 0;
}

/* NAME_stdev may also be NAME: {stdev: …}. */
static const struct pr_value *
hydra_query_find_deviation(struct pr_arena *a, const struct pr_value *tree,
                           const char *key)
{
    size_t n = strlen(key);
    const char *path;

    if (n < 6 || strcmp(key + n - 6, "_stdev") != 0)
        return NULL;
    path = pr_arena_printf(a, "%.*s.stdev", (int)(n - 6), key);
    return path ? hydra_tree_get(tree, path) : NULL;
}

static const struct pr_value *
hydra_query_find_value(struct pr_arena *a, const struct pr_value *tree,
                       const char *key)
{
    bool replaced = pr_get(tree, "data_reader") != NULL;
    const struct pr_value *v;

    if (replaced && strncmp(key, "reader.", 7) == 0)
        key = pr_arena_printf(a, "data_%s", key);
    v = key ? hydra_tree_get(tree, key) : NULL;
    if (!v && key)
        v = hydra_query_find_deviation(a, tree, key);
    if (v && v->kind == PR_MAP && is_time(key))
        v = pr_get(v, "mean");
    return v && v->kind == PR_NULL ? NULL : v;
}

/* DLIO strips the slashes that folders of data end with. */
static void hydra_query_print_value(struct pr_buf *out, const char *key,
                                    const struct pr_value *v)
{
    pr_value_write_text(out, v);
    if (strcmp(key, "dataset.data_folder") == 0 ||
        strcmp(key, "checkpoint.checkpoint_folder") == 0)
        while (out->len > 1 && out->data[out->len - 1] == '/')
            out->data[--out->len] = '\0';
}

/* The key as the table has it; other names of the same thing. */
static const char *hydra_query_read_key(struct pr_arena *a,
                                        const struct pr_value *query)
{
    const char *key = query && query->kind == PR_STR ? query->s : "";

    if (strncmp(key, "data_reader.", 12) == 0)
        key += 5;
    if (strcmp(key, "checkpoint.checkpoint_rank_sync") == 0)
        key = "checkpoint.rank_sync";
    return pr_arena_str(a, key);
}

int hydra_query(struct dlio_args *args, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    const struct pr_value *tree, *v = NULL;
    const struct row *row;
    struct pr_value root;
    const char *key;
    int rc = hydra_compose(args, &root, err);

    if (!rc)
        rc = hydra_resolve(args->arena, &root, &root, &root, err);
    if (rc)
        return rc;
    tree = pr_get(&root, "workload");
    key = hydra_query_read_key(args->arena,
                               hydra_tree_get(tree, "workflow.query"));
    if (!key)
        return pr_fail_nomem(err);
    row = hydra_query_find_row(key);
    if (row)
        v = hydra_query_find_value(args->arena, tree, key);
    if (v)
        hydra_query_print_value(&out, key, v);
    else
        pr_buf_str(&out, row && row->def ? row->def : "None");
    if (!out.len)
        pr_buf_str(&out, "None"); /* as DLIO prints empty text */
    pr_buf_char(&out, '\n');
    return answer_print_buf(&out, err);
}
