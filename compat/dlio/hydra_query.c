/*
 * dlio_benchmark_query: prints one value of the composed config, or what DLIO
 * has when the config does not say: ++workload.workflow.query=train.epochs.
 */
#include "base/json/json.h"
#include "base/text.h"
#include "compat/dlio/dlio.h"
#include "conf/read/yaml.h"

#include <ctype.h>
#include <string.h>

/* ---- values as YAML */

/* Blocks of two blanks, lists not indented under their key, text without quotes
 * where that reads back as the same text. */

/* Digits with '-', ':' and the like may be a date or base 60 elsewhere. */
static bool like_time(const char *s, size_t len)
{
    return len && isdigit((unsigned char)s[0]) &&
           strspn(s, "0123456789-:.+TtZz _") >= len;
}

static bool hydra_yaml_is_plain(const char *s, size_t len)
{
    struct pr_value v;

    if (!len || !(isalnum((unsigned char)s[0]) || strchr("_./$", s[0])) ||
        s[len - 1] == ' ' || s[len - 1] == ':' || like_time(s, len))
        return false;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c < ' ' || c > '~' || (c == ':' && s[i + 1] == ' ') ||
            (c == ' ' && s[i + 1] == '#'))
            return false;
    }
    v = pr_yaml_read_scalar(s, len);
    return v.kind == PR_STR;
}

static bool hydra_yaml_is_simple(const char *s, size_t len)
{
    for (size_t i = 0, n; i < len; i += n) {
        n = pr_utf8_len(s + i, len - i);
        if (!n || (unsigned char)s[i] < ' ' || s[i] == 127 ||
            (unsigned char)s[i] == 0xc2) /* C1 and odd blanks begin so */
            return false;
    }
    return true;
}

static void hydra_yaml_write_text(struct pr_buf *out, const char *s, size_t len)
{
    if (hydra_yaml_is_plain(s, len)) {
        pr_buf_add(out, s, len);
    } else if (hydra_yaml_is_simple(s, len)) {
        pr_buf_char(out, '\'');
        for (size_t i = 0; i < len; i++) {
            if (s[i] == '\'')
                pr_buf_char(out, '\'');
            pr_buf_char(out, s[i]);
        }
        pr_buf_char(out, '\'');
    } else {
        pr_json_write_string(out, s, len); /* YAML reads JSON's strings */
    }
}

static void hydra_yaml_write_float(struct pr_buf *out, double f)
{
    if (f != f)
        pr_buf_str(out, ".nan");
    else if (f - f != 0)
        pr_buf_str(out, f < 0 ? "-.inf" : ".inf");
    else
        pr_float_write_repr(out, f);
}

static void hydra_yaml_write_scalar(struct pr_buf *out,
                                    const struct pr_value *v)
{
    switch (v->kind) {
    case PR_BOOL:
        pr_buf_str(out, v->b ? "true" : "false");
        break;
    case PR_INT:
        pr_buf_printf(out, "%lld", (long long)v->i);
        break;
    case PR_FLOAT:
        hydra_yaml_write_float(out, v->f);
        break;
    case PR_STR:
        hydra_yaml_write_text(out, v->s, v->len);
        break;
    case PR_LIST:
        pr_buf_str(out, "[]");
        break;
    case PR_MAP:
        pr_buf_str(out, "{}");
        break;
    default:
        pr_buf_str(out, "null");
    }
}

static bool hydra_yaml_is_block(const struct pr_value *v)
{
    return (v->kind == PR_MAP || v->kind == PR_LIST) && v->len;
}

static void hydra_yaml_write_indent(struct pr_buf *out, unsigned depth)
{
    while (depth--)
        pr_buf_str(out, "  ");
}

static void hydra_yaml_write_block(struct pr_buf *out, const struct pr_value *v,
                                   unsigned depth, bool begun);

static void hydra_yaml_write_member(struct pr_buf *out,
                                    const struct pr_member *m, unsigned depth)
{
    hydra_yaml_write_text(out, m->key, m->key_len);
    pr_buf_char(out, ':');
    if (hydra_yaml_is_block(&m->value)) {
        pr_buf_char(out, '\n');
        hydra_yaml_write_block(out, &m->value,
                               depth + (m->value.kind == PR_MAP), false);
    } else {
        pr_buf_char(out, ' ');
        hydra_yaml_write_scalar(out, &m->value);
        pr_buf_char(out, '\n');
    }
}

/* begun: the first line has its indent already, behind a '- '. */
static void hydra_yaml_write_block(struct pr_buf *out, const struct pr_value *v,
                                   unsigned depth, bool begun)
{
    for (uint32_t i = 0; i < v->len; i++) {
        if (i || !begun)
            hydra_yaml_write_indent(out, depth);
        if (v->kind == PR_MAP) {
            hydra_yaml_write_member(out, &v->members[i], depth);
            continue;
        }
        pr_buf_str(out, "- ");
        if (hydra_yaml_is_block(&v->items[i])) {
            hydra_yaml_write_block(out, &v->items[i], depth + 1, true);
        } else {
            hydra_yaml_write_scalar(out, &v->items[i]);
            pr_buf_char(out, '\n');
        }
    }
}

void hydra_yaml_write(struct pr_buf *out, const struct pr_value *v)
{
    if (hydra_yaml_is_block(v)) {
        hydra_yaml_write_block(out, v, 0, false);
    } else {
        hydra_yaml_write_scalar(out, v);
        pr_buf_char(out, '\n');
    }
}

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
