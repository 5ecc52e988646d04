/* The program under one of DLIO's names. */
#include "compat/dlio/dlio.h"

#include "cli/ranks.h"
#include "prony_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Python's repr of the list of overrides, as hydra says it. */
static void say_failed(const struct dlio_args *args)
{
    PR_AUTO_BUF struct pr_buf list = PR_BUF_INIT(1 << 16);

    for (size_t i = 0; i < args->task_count; i++) {
        struct pr_value v = pr_str(args->task[i].text);
        pr_buf_str(&list, i ? ", " : "");
        pr_value_write_repr(&list, &v);
    }
    message_print(SAY_CRITICAL, "Error executing job with overrides: [%s]\n",
                  list.data ? list.data : "");
}

/* DLIO's words for what is said. Its default leaves out what is only of
 * interest to those who look for errors. */
static int dlio_set_log_level(struct pr_err *err)
{
    static const char *const names[] = {"critical", "error", "warning", "info",
                                        "debug"};
    const char *level = getenv("DLIO_LOG_LEVEL");

    message_set_level(SAY_WARNING);
    if (!level || !*level)
        return PR_OK;
    for (int i = 0; i <= SAY_DEBUG; i++)
        if (strcasecmp(level, names[i]) == 0) {
            message_set_level((enum level)i);
            return PR_OK;
        }
    return pr_fail(err, PR_E_USAGE, "DLIO_LOG_LEVEL",
                   "expected error, warning, info, debug or critical, got "
                   "'%s'",
                   level);
}

/* How many processes a launcher has started, 0: none was used. On one machine
 * the first of them emulates as many accelerators; otherwise that would not be
 * what was asked for. */
static int count_processes(const struct ranks *r, long *ret, struct pr_err *err)
{
    *ret = 0;
    if (r->launcher && (!r->size || r->rank < 0))
        return ranks_refuse(r, err);
    if (!r->launcher || r->on_one_machine) {
        *ret = r->size;
        return PR_OK;
    }
    pr_fail(err, PR_E_UNAVAIL, "",
            "started as %ld processes on several machines, which comes in a "
            "later version",
            r->size);
    return pr_hint(err, "start it on one machine, with ++exp.accelerators=%ld",
                   r->size);
}

static int dlio_print_help(const struct dlio_args *args, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);

    pr_buf_printf(
        &out,
        "%s: emulated training by Prony, with DLIO's command line\n\n"
        "  %s workload=NAME [++workload.SECTION.KEY=VALUE…]\n\n"
        "  key=value     set what is there\n"
        "  +key=value    add what is not\n"
        "  ++key=value   set or add\n"
        "  ~key          take away\n\n"
        "  ++exp.accelerators=N    accelerators to emulate, in one process\n"
        "  hydra.run.dir=DIR       where results go (default:\n"
        "                          ./hydra_log/MODEL/TIME)\n"
        "  hydra.output_subdir=D   where the config goes, below that\n"
        "                          (default: .hydra)\n\n"
        "  -cd, --config-dir DIR   a folder with workload/NAME.yaml\n"
        "  -cn, --config-name N    a primary config N.yaml in it\n"
        "  -c, --cfg job|hydra|all print the config and do nothing\n"
        "  --resolve               … with references resolved\n"
        "  --help, --version\n\nworkloads:\n",
        args->program, args->program);
    hydra_list_workloads(args, "  ", &out);
    return answer_print_buf(&out, err);
}

static int dlio_print_config(struct dlio_args *args, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(64 << 20);
    struct pr_value root;
    const char *run_dir;
    int rc = hydra_compose(args, &root, err);

    if (!rc)
        rc = dlio_run_dir(args, &root, &run_dir, err);
    if (!rc && args->resolve)
        rc = hydra_resolve(args->arena, &root, &root, &root, err);
    if (rc)
        return rc;
    if (args->print_hydra)
        dlio_write_hydra_yaml(args, run_dir, &out);
    if (args->print_job)
        hydra_yaml_write(&out, &root);
    return answer_print_buf(&out, err);
}

static int dlio_print_version(const struct dlio_args *args, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(256);

    pr_buf_printf(&out, "%s: prony %s (%s)\n", args->program, PR_VERSION,
                  PR_GIT_REV);
    return answer_print_buf(&out, err);
}

/* The exit status: 0; 1 as DLIO has it; 2 for the command line itself. */
static int status_of(int rc, const struct pr_err *err)
{
    if (rc == PR_OK || (rc == PR_E_IO && err->sys_errno == EPIPE &&
                        !strcmp(err->where, "stdout")))
        return 0; /* also when a reader has seen enough */
    message_print_error(err);
    if (rc == PR_E_USAGE || rc == PR_E_UNAVAIL)
        return pr_code_exit_status(rc);
    return 1;
}

static int dlio_run_benchmark(struct dlio_args *args, struct pr_err *err)
{
    int signo = 0, rc = dlio_run(args, &signo, err);

    if (signo)
        return 128 + signo;
    if (rc && args->composed)
        say_failed(args);
    if (rc == PR_E_UNAVAIL)
        rc = PR_E_CONF; /* of a job: 1, as for every other reason */
    return status_of(rc, err);
}

/* Reads the command line, with what mpirun says in front of it. */
static int dlio_read_args(struct dlio_args *args, long processes, int argc,
                          char **argv, struct pr_err *err)
{
    char **all = PR_ARENA_ARRAY(args->arena, char *, (size_t)argc + 1);
    int n = 0;

    if (!all)
        return pr_fail_nomem(err);
    if (processes)
        all[n++] =
            pr_arena_printf(args->arena, "++exp.accelerators=%ld", processes);
    if (processes && !all[0])
        return pr_fail_nomem(err);
    for (int i = 0; i < argc; i++)
        all[n++] = argv[i];
    return dlio_args_read(args, n, all, err);
}

static int hydra_main(const char *program, bool query, int argc, char **argv)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct dlio_args args = {.arena = a, .program = program};
    struct pr_err err = {0};
    struct ranks ranks;
    long processes = 0;
    int rc = a ? dlio_set_log_level(&err) : pr_fail_nomem(&err);

    ranks_read(&ranks);
    if (!rc && !query)
        rc = count_processes(&ranks, &processes, &err);
    if (ranks.rank > 0) /* one of them does the work, and talks */
        return rc ? pr_code_exit_status(rc) : 0;
    if (!rc)
        rc = dlio_read_args(&args, processes, argc, argv, &err);
    if (rc)
        return status_of(rc, &err);
    if (args.help)
        rc = dlio_print_help(&args, &err);
    else if (args.version)
        rc = dlio_print_version(&args, &err);
    else if (args.print_job || args.print_hydra)
        rc = dlio_print_config(&args, &err);
    else if (query)
        rc = hydra_query(&args, &err);
    else
        return dlio_run_benchmark(&args, &err);
    return status_of(rc, &err);
}

static int post_main(int argc, char **argv)
{
    struct pr_err err = {0};

    return status_of(dlio_postprocessor(argc, argv, &err), &err);
}

bool dlio_called(int argc, char **argv, int *ret_status)
{
    const char *slash = argc ? strrchr(argv[0], '/') : NULL;
    const char *name = slash ? slash + 1 : argc ? argv[0] : "";

    if (strcmp(name, "dlio_benchmark") == 0)
        *ret_status = hydra_main(name, false, argc - 1, argv + 1);
    else if (strcmp(name, "dlio_benchmark_query") == 0)
        *ret_status = hydra_main(name, true, argc - 1, argv + 1);
    else if (strcmp(name, "dlio_postprocessor") == 0)
        *ret_status = post_main(argc - 1, argv + 1);
    else
        return false;
    return true;
}
