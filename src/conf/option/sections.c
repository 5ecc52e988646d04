/* The option tables of this build, made from the .def files. */
#include "conf/option/sections.h"

#define OPT(k, f, d, lo, hi, ch, u, fl, s, h)                                  \
    {PR_OPT_##k, #f, offsetof(struct OWNER, f), d, lo, hi, ch, u, PR_OPT_##fl, \
     s,          h},

#define OWNER pr_exp_opts
static const struct pr_opt exp_opts[] = {
#include "conf/option/exp.def"
};
#undef OWNER

#define OWNER pr_runtime_opts
static const struct pr_opt runtime_opts[] = {
#include "conf/option/runtime.def"
};
#undef OWNER

#define OWNER pr_run_params
static const struct pr_opt run_opts[] = {
#include "conf/option/run.def"
};
#undef OWNER

#define OWNER pr_null_opts
static const struct pr_opt null_opts[] = {
#include "conf/option/null.def"
};
#undef OWNER

#define OWNER pr_storage_opts
static const struct pr_opt storage_opts[] = {
#include "conf/option/storage.def"
};
#undef OWNER

#define OWNER pr_dataset_opts
static const struct pr_opt dataset_opts[] = {
#include "conf/option/dataset.def"
};
#undef OWNER

#define OWNER pr_dataset_hdf5_opts
static const struct pr_opt dataset_hdf5_opts[] = {
#include "conf/option/dataset.hdf5.def"
};
#undef OWNER

#define OWNER pr_reader_opts
static const struct pr_opt reader_opts[] = {
#include "conf/option/reader.def"
};
#undef OWNER

#define OWNER pr_train_opts
static const struct pr_opt train_opts[] = {
#include "conf/option/train.def"
};
#undef OWNER

#define OWNER pr_evaluation_opts
static const struct pr_opt evaluation_opts[] = {
#include "conf/option/evaluation.def"
};
#undef OWNER

#define OWNER pr_workflow_opts
static const struct pr_opt workflow_opts[] = {
#include "conf/option/workflow.def"
};
#undef OWNER

#define OWNER pr_output_metric_opts
static const struct pr_opt output_metric_opts[] = {
#include "conf/option/output.metric.def"
};
#undef OWNER

#define OWNER pr_output_opts
static const struct pr_opt output_opts[] = {
#include "conf/option/output.def"
};
#undef OWNER

#define OWNER pr_metric_opts
static const struct pr_opt metric_opts[] = {
#include "conf/option/metric.def"
};
#undef OWNER

#define OWNER pr_profiling_opts
static const struct pr_opt profiling_opts[] = {
#include "conf/option/profiling.def"
};
#undef OWNER

#define OWNER pr_emulate_opts
static const struct pr_opt emulate_opts[] = {
#include "conf/option/emulate.def"
};
#undef OWNER

#define OWNER pr_model_opts
static const struct pr_opt model_opts[] = {
#include "conf/option/model.def"
};
#undef OWNER

#define OWNER pr_model_parallelism_opts
static const struct pr_opt model_parallelism_opts[] = {
#include "conf/option/model.parallelism.def"
};
#undef OWNER

#define OWNER pr_model_transformer_opts
static const struct pr_opt model_transformer_opts[] = {
#include "conf/option/model.transformer.def"
};
#undef OWNER

#define OWNER pr_checkpoint_opts
static const struct pr_opt checkpoint_opts[] = {
#include "conf/option/checkpoint.def"
};
#undef OWNER

#define OWNER pr_nn_opts
static const struct pr_opt nn_opts[] = {
#include "conf/option/nn.def"
};
#undef OWNER

#define OWNER pr_mlperf_opts
static const struct pr_opt mlperf_opts[] = {
#include "conf/option/mlperf.def"
};
#undef OWNER

#define OWNER pr_probe_params
static const struct pr_opt probe_opts[] = {
#include "conf/option/probe.def"
};
#undef OWNER

#define OWNER pr_monitor_opts
static const struct pr_opt monitor_opts[] = {
#include "conf/option/monitor.def"
};
#undef OWNER

#define OWNER pr_container_params
static const struct pr_opt container_opts[] = {
#include "conf/option/container.def"
};
#undef OWNER

#define OWNER pr_suite_opts
static const struct pr_opt suite_opts[] = {
#include "conf/option/suite.def"
};
#undef OWNER

#define OWNER pr_task_opts
static const struct pr_opt task_opts[] = {
#include "conf/option/task.def"
};
#undef OWNER

#define OWNER pr_plan_builder_opts
static const struct pr_opt plan_builder_opts[] = {
#include "conf/option/sys.plan_builder.def"
};
#undef OWNER
#undef OPT

#define SECTION(var, text, about, table, type) \
    const struct pr_opt_section var = {        \
        text, about, table, sizeof table / sizeof *table, sizeof(type)}

SECTION(pr_exp_section, "exp", "one experiment", exp_opts, struct pr_exp_opts);
SECTION(pr_runtime_section, "runtime",
        "the surroundings of an experiment's process", runtime_opts,
        struct pr_runtime_opts);
SECTION(pr_run_section, "run", "how a run keeps what it finds out", run_opts,
        struct pr_run_params);
SECTION(pr_null_section, "null", "the workload that does nothing", null_opts,
        struct pr_null_opts);
SECTION(pr_storage_section, "storage",
        "where data sets live and how they are reached", storage_opts,
        struct pr_storage_opts);
SECTION(pr_dataset_section, "dataset", "the files of a data set", dataset_opts,
        struct pr_dataset_opts);
SECTION(pr_dataset_hdf5_section, "dataset.hdf5", "what only HDF5 files have",
        dataset_hdf5_opts, struct pr_dataset_hdf5_opts);
SECTION(pr_reader_section, "reader", "how training reads its data set",
        reader_opts, struct pr_reader_opts);
SECTION(pr_train_section, "train", "the training that is emulated", train_opts,
        struct pr_train_opts);
SECTION(pr_evaluation_section, "evaluation",
        "looking at held-out data between epochs", evaluation_opts,
        struct pr_evaluation_opts);
SECTION(pr_workflow_section, "workflow",
        "which parts of an emulated training are done", workflow_opts,
        struct pr_workflow_opts);
SECTION(pr_output_metric_section, "output.metric",
        "steps that the measures leave out", output_metric_opts,
        struct pr_output_metric_opts);
SECTION(pr_output_section, "output", "where DLIO's result files go",
        output_opts, struct pr_output_opts);
SECTION(pr_metric_section, "metric", "what a run should reach", metric_opts,
        struct pr_metric_opts);
SECTION(pr_profiling_section, "profiling",
        "what is watched while training is emulated", profiling_opts,
        struct pr_profiling_opts);
SECTION(pr_emulate_section, "emulate", "how training is emulated", emulate_opts,
        struct pr_emulate_opts);
SECTION(pr_model_section, "model", "the model that is trained", model_opts,
        struct pr_model_opts);
SECTION(pr_model_parallelism_section, "model.parallelism",
        "how the model is spread over ranks", model_parallelism_opts,
        struct pr_model_parallelism_opts);
SECTION(pr_model_transformer_section, "model.transformer",
        "what the sizes of a transformer follow from", model_transformer_opts,
        struct pr_model_transformer_opts);
SECTION(pr_checkpoint_section, "checkpoint",
        "when checkpoints are written and read, where and how", checkpoint_opts,
        struct pr_checkpoint_opts);
SECTION(pr_nn_section, "nn", "training and inference of a network", nn_opts,
        struct pr_nn_opts);
SECTION(pr_mlperf_section, "mlperf", "the rules of MLPerf Storage", mlperf_opts,
        struct pr_mlperf_opts);
SECTION(pr_probe_section, "probe", "finding out what holds a training back",
        probe_opts, struct pr_probe_params);
SECTION(pr_monitor_section, "monitor", "watching the machine", monitor_opts,
        struct pr_monitor_opts);
SECTION(pr_container_section, "container", "containers of experiments",
        container_opts, struct pr_container_params);
SECTION(pr_suite_section, "suite", "jobs of a suite, one copy a device",
        suite_opts, struct pr_suite_opts);
SECTION(pr_task_section, "task", "tasks of GPU systems", task_opts,
        struct pr_task_opts);
SECTION(pr_plan_builder_section, "sys.plan_builder", "how the plan is built",
        plan_builder_opts, struct pr_plan_builder_opts);

const struct pr_opt_section *const *pr_opt_sections(void)
{
    static const struct pr_opt_section *const sections[] = {
        &pr_exp_section,
        &pr_runtime_section,
        &pr_run_section,
        &pr_null_section,
        &pr_storage_section,
        &pr_dataset_hdf5_section, /* before the one it
                                     begins like */
        &pr_dataset_section,
        &pr_reader_section,
        &pr_train_section,
        &pr_evaluation_section,
        &pr_workflow_section,
        &pr_output_metric_section,
        &pr_output_section,
        &pr_metric_section,
        &pr_profiling_section,
        &pr_emulate_section,
        &pr_model_parallelism_section,
        &pr_model_transformer_section,
        &pr_model_section,
        &pr_checkpoint_section,
        &pr_nn_section,
        &pr_mlperf_section,
        &pr_probe_section,
        &pr_monitor_section,
        &pr_container_section,
        &pr_suite_section,
        &pr_task_section,
        &pr_plan_builder_section,
        NULL,
    };
    return sections;
}
