/*
 * The program called by one of DLIO's names: dlio_benchmark,
 * dlio_benchmark_query, dlio_postprocessor. Its own command lines, which are
 * hydra's, and what hydra does around them.
 */
#ifndef PR_COMPAT_DLIO_H
#define PR_COMPAT_DLIO_H

#include "base/value.h"
#include "cli/cli.h"
#include "conf/option/override.h"

/* Whether the program was called by such a name; then *ret_status is the exit
 * status. */
bool dlio_called(int argc, char **argv, int *ret_status);

/* One override as given. */
struct hydra_override {
    const char *text; /* verbatim */
    const char *key;  /* "workload.train.epochs" */
    bool own;         /* a parameter of Prony's, not of the workload's */
    struct pr_override read;
};

/* A command line of hydra's. */
struct dlio_args {
    struct pr_arena *arena;
    const char *program;
    const char *config_dir;  /* NULL: none */
    const char *config_name; /* NULL: our own */
    const char *workload;    /* the name after workload=; NULL: by default */
    const char *run_dir;     /* hydra.run.dir; NULL: by default */
    const char *output_subdir;
    bool no_output_subdir; /* hydra.output_subdir=null */
    bool help, version, resolve;
    bool print_job, print_hydra;
    bool composed; /* there is a config; what fails now is the job */
    struct hydra_override *task; /* what is for the job */
    size_t task_count, task_cap;
    const char **hydra; /* what is for hydra, verbatim */
    size_t hydra_count, hydra_cap;
};

/* The composed config: a map with the tree under "workload". */
int hydra_compose(struct dlio_args *args, struct pr_value *ret,
                  struct pr_err *err) PR_MUST_CHECK;

/* The names that workload= may have, sorted, one a line after indent. */
void hydra_list_workloads(const struct dlio_args *args, const char *indent,
                          struct pr_buf *out);

/* Trees. A path is dotted. NULL: nothing there. */
const struct pr_value *hydra_tree_get(const struct pr_value *tree,
                                      const char *path);

/* A copy in which ${workload.a.b}, ${oc.env:NAME,default} and ${now:FORMAT}
 * are replaced by what they stand for; other ${…} stay. */
int hydra_resolve(struct pr_arena *a, const struct pr_value *root,
                  const struct pr_value *v, struct pr_value *ret,
                  struct pr_err *err) PR_MUST_CHECK;

/* Appends as YAML, as OmegaConf writes it. */
void hydra_yaml_write(struct pr_buf *out, const struct pr_value *v);

/* The folder of the run, and hydra's files in it. */
int dlio_run_dir(const struct dlio_args *args, const struct pr_value *root,
                 const char **ret, struct pr_err *err) PR_MUST_CHECK;
void dlio_write_hydra_yaml(const struct dlio_args *args, const char *run_dir,
                           struct pr_buf *out);

/* The programs, after the command line was read. */
int dlio_run(struct dlio_args *args, int *ret_signo,
             struct pr_err *err) PR_MUST_CHECK;
int hydra_query(struct dlio_args *args, struct pr_err *err) PR_MUST_CHECK;

#endif
