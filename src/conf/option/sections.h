/* The structs that the option tables make, and the tables themselves. */
#ifndef PR_CONF_SECTIONS_H
#define PR_CONF_SECTIONS_H

#include "conf/option/opt.h"

#define OPT(kind, field, ...) pr_ctype_##kind field;
struct pr_exp_opts {
#include "conf/option/exp.def"
};
struct pr_runtime_opts {
#include "conf/option/runtime.def"
};
struct pr_run_params {
#include "conf/option/run.def"
};
struct pr_null_opts {
#include "conf/option/null.def"
};
struct pr_storage_opts {
#include "conf/option/storage.def"
};
struct pr_dataset_opts {
#include "conf/option/dataset.def"
};
struct pr_dataset_hdf5_opts {
#include "conf/option/dataset.hdf5.def"
};
struct pr_reader_opts {
#include "conf/option/reader.def"
};
struct pr_train_opts {
#include "conf/option/train.def"
};
struct pr_evaluation_opts {
#include "conf/option/evaluation.def"
};
struct pr_workflow_opts {
#include "conf/option/workflow.def"
};
struct pr_output_metric_opts {
#include "conf/option/output.metric.def"
};
struct pr_output_opts {
#include "conf/option/output.def"
};
struct pr_metric_opts {
#include "conf/option/metric.def"
};
struct pr_profiling_opts {
#include "conf/option/profiling.def"
};
struct pr_emulate_opts {
#include "conf/option/emulate.def"
};
struct pr_model_opts {
#include "conf/option/model.def"
};
struct pr_model_parallelism_opts {
#include "conf/option/model.parallelism.def"
};
struct pr_model_transformer_opts {
#include "conf/option/model.transformer.def"
};
struct pr_checkpoint_opts {
#include "conf/option/checkpoint.def"
};
struct pr_nn_opts {
#include "conf/option/nn.def"
};
struct pr_mlperf_opts {
#include "conf/option/mlperf.def"
};
struct pr_probe_params {
#include "conf/option/probe.def"
};
struct pr_monitor_opts {
#include "conf/option/monitor.def"
};
struct pr_container_params {
#include "conf/option/container.def"
};
struct pr_suite_opts {
#include "conf/option/suite.def"
};
struct pr_task_opts {
#include "conf/option/task.def"
};
struct pr_plan_builder_opts {
#include "conf/option/sys.plan_builder.def"
};
#undef OPT

extern const struct pr_opt_section pr_exp_section;
extern const struct pr_opt_section pr_runtime_section;
extern const struct pr_opt_section pr_run_section;
extern const struct pr_opt_section pr_null_section;
extern const struct pr_opt_section pr_storage_section;
extern const struct pr_opt_section pr_dataset_section;
extern const struct pr_opt_section pr_dataset_hdf5_section;
extern const struct pr_opt_section pr_reader_section;
extern const struct pr_opt_section pr_train_section;
extern const struct pr_opt_section pr_evaluation_section;
extern const struct pr_opt_section pr_workflow_section;
extern const struct pr_opt_section pr_output_metric_section;
extern const struct pr_opt_section pr_output_section;
extern const struct pr_opt_section pr_metric_section;
extern const struct pr_opt_section pr_profiling_section;
extern const struct pr_opt_section pr_emulate_section;
extern const struct pr_opt_section pr_model_section;
extern const struct pr_opt_section pr_model_parallelism_section;
extern const struct pr_opt_section pr_model_transformer_section;
extern const struct pr_opt_section pr_checkpoint_section;
extern const struct pr_opt_section pr_nn_section;
extern const struct pr_opt_section pr_mlperf_section;
extern const struct pr_opt_section pr_probe_section;
extern const struct pr_opt_section pr_monitor_section;
extern const struct pr_opt_section pr_container_section;
extern const struct pr_opt_section pr_suite_section;
extern const struct pr_opt_section pr_task_section;
extern const struct pr_opt_section pr_plan_builder_section;

#endif
