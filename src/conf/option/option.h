/*
 * Option tables: everything a user can set is one row in one .def file. The
 * struct field, the default, type and range checks, help, man page, schema
 * and completion all come from that row.
 */
#ifndef PR_CONF_OPTION_H
#define PR_CONF_OPTION_H

#include "base/err.h"
#include "base/value.h"

/* X(kind, type of the field, words for a message and the manual) */
#define PR_OPT_KINDS(X)                                              \
    X(BOOL, bool, "true or false")                                   \
    X(INT, int64_t, "a whole number")                                \
    X(FLOAT, double, "a number")                                     \
    X(SIZE, uint64_t, "a size such as 150k or 2GiB")                 \
    X(SECONDS, double, "a time such as 90, 1.5s or 2m")              \
    X(STR, const char *, "text")                                     \
    X(WORDS, const struct pr_value *, "text or a list of arguments") \
    X(LIST, const struct pr_value *, "a list")                       \
    X(ANY, const struct pr_value *, "any value")

enum pr_opt_kind {
#define X(kind, type, words) PR_OPT_##kind,
    PR_OPT_KINDS(X)
#undef X
};
#define X(kind, type, words) typedef type pr_ctype_##kind;
PR_OPT_KINDS(X)
#undef X

enum pr_opt_flags {
    PR_OPT_PLAIN = 0,
    PR_OPT_DERIVED = 1 << 0, /* normally computed, not set */
    PR_OPT_PREFIX = 1 << 1,  /* stands for NAME.anything */
    /* Means something to a back-end alone: set for one that does not honour it
     * (pr_honour below), it has no effect. Sections other than exp are all
     * like this, but those of the harness. */
    PR_OPT_WORK = 1 << 2,
    /* … and changes what is measured: then it is an error. */
    PR_OPT_MEASURED = 1 << 3,
    PR_OPT_DERIVED_MEASURED = PR_OPT_DERIVED | PR_OPT_MEASURED,
};

struct pr_opt {
    enum pr_opt_kind kind;
    const char *name;    /* without its section */
    size_t offset;       /* of the field */
    const char *def;     /* as a user would write it; may hold ${} and $()$ */
    double min, max;     /* both 0: unlimited */
    const char *choices; /* "a|b|c", or NULL */
    const char *unit;    /* "", "s", "bytes", "batches" … */
    unsigned flags;
    const char *since; /* version */
    const char *help;  /* one or more sentences, plain text */
};

/* A parameter that a back-end honours. */
struct pr_honour {
    const char *name;   /* "nn.*" stands for all that begin so; the first that
                           fits counts; NULL ends a list */
    const char *values; /* "a|b": with these alone; NULL: with any */
    bool none;          /* with no value at all */
};

/* The entry of a name; NULL: it is not honoured. */
const struct pr_honour *pr_honour_find(const struct pr_honour *list,
                                       const char *name);
/* Whether a value is among the entry's. */
bool pr_honour_has(const struct pr_honour *h, const struct pr_value *v);

struct pr_opt_section {
    const char *name;
    const char *desc;
    const struct pr_opt *opts;
    size_t count;
    size_t struct_bytes;
};

/* All sections of this build; NULL-terminated. */
const struct pr_opt_section *const *pr_opt_sections(void);

/* The row of a full name such as "exp.model"; NULL when there is none.
 * ret_section (may be NULL) is set when the section has a table, row or not. */
const struct pr_opt *pr_opt_find(const char *name,
                                 const struct pr_opt_section **ret_section);

/* The environment variable of a parameter: PRONY_EXP_MODEL for exp.model.
 * False when it does not fit. */
bool pr_opt_env_name(const char *name, char out[static 160]);

/* The name in the same section that is nearest, or NULL. */
const char *pr_opt_nearest(const struct pr_opt_section *section,
                           const char *name);

/* The default as a value; text stays text, numbers are read. */
struct pr_value pr_opt_default(const struct pr_opt *opt);

/* Brings a value to the option's type and checks range and choices. The
 * message tells what was wanted and got; its place is the caller's to add. */
int pr_opt_cast(const struct pr_opt *opt, const struct pr_value *in,
                struct pr_arena *a, struct pr_value *ret,
                struct pr_err *err) PR_MUST_CHECK;

/* Fills a section's struct from a map of full names to values, as params.json
 * holds them; what is not there gets its default. Text is borrowed. */
int pr_opt_fill(const struct pr_opt_section *section,
                const struct pr_value *params, struct pr_arena *a, void *ret,
                struct pr_err *err) PR_MUST_CHECK;

/* A few words on what the option takes: "a whole number from 1 to 9". */
void pr_opt_describe(const struct pr_opt *opt, struct pr_buf *out);

const char *pr_opt_kind_words(enum pr_opt_kind kind);

/* ---- the structs that the tables make, and the tables themselves */

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
