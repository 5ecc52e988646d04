/* Parameters for other programs, and a value to try for each of them. */
#include "base/units.h"
#include "cli/docs.h"
#include "conf/option/alias.h"

#include <string.h>

static const char *kind_word(enum pr_opt_kind kind)
{
    static const char *const words[] = {
        [PR_OPT_BOOL] = "bool",       [PR_OPT_INT] = "int",
        [PR_OPT_FLOAT] = "float",     [PR_OPT_SIZE] = "size",
        [PR_OPT_SECONDS] = "seconds", [PR_OPT_STR] = "str",
        [PR_OPT_WORDS] = "words",     [PR_OPT_LIST] = "list",
        [PR_OPT_ANY] = "any",
    };
    return words[kind];
}

void json_limit(struct pr_json_writer *jb, const char *key, double f)
{
    if (f > -9e15 && f < 9e15 && f == (double)(int64_t)f)
        pr_json_put_int(jb, key, (int64_t)f);
    else
        pr_json_put_float(jb, key, f);
}

static void put_choices(struct pr_json_writer *jb, const char *choices)
{
    const char *at = choices, *item;
    size_t len;

    pr_json_open_array(jb, "choices");
    while ((item = choice_next(&at, &len)))
        pr_json_put_strn(jb, NULL, item, len);
    pr_json_close(jb);
}

static void put_older(struct pr_json_writer *jb, const char *name)
{
    const struct pr_alias *a;
    bool any = false;

    for (size_t i = 0; (a = pr_alias_at(i)); i++) {
        if (a->form == PR_ALIAS_TOP || strcmp(a->now, name) != 0)
            continue;
        if (!any)
            pr_json_open_array(jb, "older_names");
        any = true;
        pr_json_put_str(jb, NULL, a->old);
    }
    if (any)
        pr_json_close(jb);
}

void param_json(const struct param *p, struct pr_json_writer *jb)
{
    PR_AUTO_BUF struct pr_buf example = PR_BUF_INIT(4096);
    const struct pr_opt *o = p->opt;
    struct pr_value def = pr_opt_default(o);

    param_example(p, &example);
    if (!pr_buf_ok(&example))
        jb->out->failed = true;
    pr_json_open_object(jb, NULL);
    pr_json_put_str(jb, "name", p->name);
    pr_json_put_str(jb, "kind", kind_word(o->kind));
    if (!(o->flags & PR_OPT_PREFIX))
        pr_json_put_value(jb, "default", &def);
    if (o->min || o->max) {
        json_limit(jb, "min", o->min);
        json_limit(jb, "max", o->max);
    }
    if (o->choices)
        put_choices(jb, o->choices);
    pr_json_put_str(jb, "unit", *o->unit ? o->unit : NULL);
    if (o->flags & PR_OPT_DERIVED)
        pr_json_put_bool(jb, "derived", true);
    if (o->flags & PR_OPT_PREFIX)
        pr_json_put_bool(jb, "prefix", true);
    pr_json_put_str(jb, "since", o->since);
    pr_json_put_str(jb, "help", o->help);
    pr_json_put_str(jb, "env", *p->env ? p->env : NULL);
    put_older(jb, p->name);
    pr_json_put_str(jb, "example", example.data);
    pr_json_close(jb);
}

/* Texts for which no example follows from the kind. */
static const char *example_text(const char *name)
{
    static const char *const rows[][2] = {
        {"exp.command", "'sleep 1'"},
        {"exp.cwd", "/tmp"},
        {"exp.name", "warm"},
        {"exp.timeout", "2m"},
        {"exp.status", "disabled"},
        {"exp.status_msg", "'needs a GPU'"},
        {"exp.proj", "vision"},
        {"exp.framework", "pytorch"},
        {"exp.framework_title", "PyTorch"},
        {"exp.framework_family", "pytorch"},
        {"exp.framework_ver", "2.1.0"},
        {"exp.framework_commit", "c60a445"},
        {"exp.model", "resnet50"},
        {"exp.model_title", "ResNet-50"},
        {"exp.model_opts", "'{\"input\": [3, 64, 64]}'"},
        {"exp.dtype", "bfloat16"},
        {"exp.gpus", "0"},
        {"exp.device_title", "V100"},
        {"exp.node_id", "node7"},
        {"exp.node_nic", "infiniband"},
        {"exp.cuda", "12.2"},
        {"exp.cudnn", "8.9"},
        {"exp.data_dir", "/data/imagenet"},
        {"exp.data_store", "local-ssd"},
        {"exp.docker_image", "pytorch:2.1"},
        {"exp.docker_launcher", "podman"},
        {"exp.docker_args", "--rm"},
        {"exp.log_file", "/tmp/exp.log"},
        {"exp.sys_info", "cpuinfo"},
        {"runtime.launcher", "'nice -n 5'"},
        {"runtime.cuda_cache", "/tmp/cuda_cache"},
        {"runtime.visible_gpus", "0"},
        {"runtime.python", "/usr/bin/python3"},
        {"null.sleep", "0.1"},
        {"reader.data_loader", "pytorch"},
        {"dataset.record_dims", "'[256, 256]'"},
        {"dataset.record_element_type", "float32"},
        {"dataset.compression", "zip"},
        {"train.computation_time", "0.323"},
        {"evaluation.eval_time", "0.5"},
        {"reader.preprocess_time", "0.01"},
        {"reader.transformed_record_dims", "'[224, 224]'"},
        {"reader.transformed_record_element_type", "float32"},
        {"profiling.iostat_devices", "'[sda, nvme0n1]'"},
        {"output.folder", "/tmp/results"},
        {"output.log_file", "run.log"},
        {"checkpoint.checkpoint_mechanism_classname", "None"},
        {"reader.data_loader_classname", "None"},
        {"reader.reader_classname", "None"},
        {"sys.plan_builder.var_order", "'[exp.model, exp.gpus]'"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i][0], name) == 0)
            return rows[i][1];
    return NULL;
}

/* A number in the range that is not the default. */
static void example_number(const struct pr_opt *o, struct pr_buf *out)
{
    bool any = !o->min && !o->max;
    double value, def = 0;

    (void)pr_parse_float(o->def, &def);
    value = def > 0 ? 2 * def : 1;
    if (!any && value > o->max)
        value = o->max;
    if (!any && value < o->min)
        value = o->min;
    pr_buf_printf(out, "%.16g", value);
}

static void example_choice(const struct pr_opt *o, struct pr_buf *out)
{
    const char *at = o->choices, *item, *last = "";
    size_t len, last_len = 0;

    while ((item = choice_next(&at, &len))) {
        bool def = len == strlen(o->def) && memcmp(item, o->def, len) == 0;
        if (!def) {
            last = item;
            last_len = len;
        }
    }
    pr_buf_add(out, last, last_len);
}

void param_example(const struct param *p, struct pr_buf *out)
{
    const struct pr_opt *o = p->opt;
    const char *text = example_text(p->name);

    if (o->flags & PR_OPT_PREFIX) {
        pr_buf_printf(out, "%s.OMP_NUM_THREADS=4", p->name);
        return;
    }
    pr_buf_printf(out, "%s=", p->name);
    if (text)
        pr_buf_str(out, text);
    else if (o->choices)
        example_choice(o, out);
    else if (o->kind == PR_OPT_BOOL)
        pr_buf_str(out, o->def[0] == 't' ? "false" : "true");
    else if (o->kind == PR_OPT_LIST)
        pr_buf_str(out, "'[a, b]'");
    else if (o->kind == PR_OPT_SIZE)
        pr_buf_str(out, "1M");
    else if (o->kind == PR_OPT_STR || o->kind == PR_OPT_ANY ||
             o->kind == PR_OPT_WORDS)
        pr_buf_str(out, "text");
    else
        example_number(o, out);
}
