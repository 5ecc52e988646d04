/*
 * dlio_benchmark: composes the config, leaves hydra's files in the folder of
 * the run, and runs what the config says as `prony run` would. DLIO's files
 * go to that folder, or where output.folder says; Prony's own run directory
 * is in it, as prony/.
 */
#include "base/file.h"
#include "compat/dlio/dlio.h"
#include "plan/plan.h"
#include "prony_config.h"
#include "record/result.h"
#include "run/plan_jobs.h"
#include "run/run.h"
#include "run/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A name that goes into a path. */
static const char *dlio_make_folder_name(struct pr_arena *a, const char *name)
{
    char *copy = pr_arena_str(a, name);

    for (char *p = copy; p && *p; p++)
        if (*p == '/' || (p == copy && *p == '.'))
            *p = '_';
    return copy && *copy ? copy : "default";
}

static const char *model_name(const struct pr_value *root)
{
    const struct pr_value *v = hydra_tree_get(root, "workload.model.name");

    if (!v)
        v = hydra_tree_get(root, "workload.model"); /* as in old files */
    return v && v->kind == PR_STR ? v->s : "default";
}

int dlio_run_dir(const struct dlio_args *args, const struct pr_value *root,
                 const char **ret, struct pr_err *err)
{
    const char *text = args->run_dir;
    struct pr_value v;
    int rc;

    if (!text)
        text = pr_arena_printf(
            args->arena, "./hydra_log/%s/${now:%%Y-%%m-%%d}-${now:%%H-%%M-%%S}",
            dlio_make_folder_name(args->arena, model_name(root)));
    if (!text)
        return pr_fail_nomem(err);
    v = pr_str(text);
    rc = hydra_resolve(args->arena, root, &v, &v, err);
    if (!rc && (v.kind != PR_STR || !v.len))
        rc = pr_fail(err, PR_E_CONF, "", "hydra.run.dir is empty");
    if (!rc)
        *ret = v.s;
    return rc;
}

static struct pr_value text_list(struct pr_arena *a, const char *const *texts,
                                 size_t n)
{
    struct pr_value *items = PR_ARENA_ARRAY(a, struct pr_value, n + 1);

    for (size_t i = 0; items && i < n; i++)
        items[i] = pr_str(texts[i]);
    return (struct pr_value){
        .kind = PR_LIST, .len = items ? (uint32_t)n : 0, .items = items};
}

static struct pr_value task_list(const struct dlio_args *args)
{
    const char **texts =
        PR_ARENA_ARRAY(args->arena, const char *, args->task_count + 1);

    for (size_t i = 0; texts && i < args->task_count; i++)
        texts[i] = args->task[i].text;
    return text_list(args->arena, texts, texts ? args->task_count : 0);
}

/* A line with a key and a value. */
static void hydra_write_line(struct pr_buf *out, const char *key,
                             const char *value)
{
    struct pr_value v = pr_str(value);

    pr_buf_str(out, key);
    hydra_yaml_write(out, &v);
}

/* A key and a list under it, which YAML wants at the key's own column. */
static void hydra_write_list(struct pr_buf *out, const char *key,
                             const struct pr_value *list)
{
    pr_buf_printf(out, "    %s:%s\n", key, list->len ? "" : " []");
    for (uint32_t i = 0; i < list->len; i++)
        hydra_write_line(out, "    - ", list->items[i].s);
}

void dlio_write_hydra_yaml(const struct dlio_args *args, const char *run_dir,
                           struct pr_buf *out)
{
    struct pr_value task = task_list(args);
    struct pr_value hydra =
        text_list(args->arena, args->hydra, args->hydra_count);
    char cwd[4096];

    pr_buf_str(out, "hydra:\n  run:\n");
    hydra_write_line(out, "    dir: ", run_dir);
    if (args->no_output_subdir)
        pr_buf_str(out, "  output_subdir: null\n");
    else
        hydra_write_line(out, "  output_subdir: ", args->output_subdir);
    pr_buf_str(out, "  overrides:\n");
    hydra_write_list(out, "hydra", &hydra);
    hydra_write_list(out, "task", &task);
    pr_buf_str(out, "  job:\n    name: dlio_benchmark\n    chdir: null\n");
    hydra_write_line(out, "    config_name: ",
                     args->config_name ? args->config_name : "config");
    pr_buf_str(out, "  runtime:\n    version: prony-" PR_VERSION "\n");
    hydra_write_line(out, "    cwd: ", getcwd(cwd, sizeof cwd) ? cwd : ".");
    hydra_write_line(out, "    output_dir: ", run_dir);
    pr_buf_str(out, "    choices:\n");
    hydra_write_line(
        out, "      workload: ", args->workload ? args->workload : "default");
    pr_buf_str(out, "  verbose: false\n");
}

static int hydra_write_file(const struct dlio_args *args, const char *dir,
                            const char *name, const struct pr_buf *text,
                            const char **ret_path, struct pr_err *err)
{
    const char *path = pr_arena_printf(args->arena, "%s/%s", dir, name);

    if (!path || !pr_buf_ok(text))
        return pr_fail_nomem(err);
    if (ret_path)
        *ret_path = path;
    return pr_file_write(path, text->data, text->len, err);
}

/* config.yaml, hydra.yaml and overrides.yaml. Without an output_subdir the
 * config still has to be a file: it goes beside Prony's own. */
static int write_hydra(const struct dlio_args *args, const char *run_dir,
                       const struct pr_value *root, const char **ret_config,
                       struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf config = PR_BUF_INIT(64 << 20);
    PR_AUTO_BUF struct pr_buf hydra = PR_BUF_INIT(64 << 20);
    PR_AUTO_BUF struct pr_buf overrides = PR_BUF_INIT(64 << 20);
    struct pr_value task = task_list(args);
    const char *dir = pr_arena_printf(
        args->arena, "%s/%s", run_dir,
        args->no_output_subdir ? ".prony" : args->output_subdir);
    int rc = dir ? pr_make_dirs(dir, err) : pr_fail_nomem(err);

    if (rc)
        return rc;
    hydra_yaml_write(&config, root);
    rc = hydra_write_file(args, dir, "config.yaml", &config, ret_config, err);
    if (rc || args->no_output_subdir)
        return rc;
    dlio_write_hydra_yaml(args, run_dir, &hydra);
    hydra_yaml_write(&overrides, &task);
    rc = hydra_write_file(args, dir, "hydra.yaml", &hydra, NULL, err);
    return rc ? rc
              : hydra_write_file(args, dir, "overrides.yaml", &overrides, NULL,
                                 err);
}

/* DLIO's files go to the folder of the run, unless another one is named. */
static int set_folder(struct pr_plan *p, const struct pr_value *root,
                      const char *run_dir, struct pr_err *err)
{
    const struct pr_value *v = hydra_tree_get(root, "workload.output.folder");

    if (v && v->kind == PR_STR && v->len)
        return pr_make_dirs(v->s, err);
    return pr_plan_param_text(p, "output.folder", run_dir, "hydra.run.dir",
                              err);
}

static int fill_plan(const struct dlio_args *args, struct pr_plan *p,
                     const struct pr_value *root, const char *run_dir,
                     const char *config, struct pr_err *err)
{
    int rc = pr_plan_target(p, config, err);

    for (size_t i = 0; i < args->task_count && !rc; i++)
        if (args->task[i].own)
            rc = pr_plan_override(p, args->task[i].text, err);
    if (!rc)
        rc = set_folder(p, root, run_dir, err);
    if (!rc)
        rc = pr_plan_build(p, err);
    for (const struct pr_warning *w = pr_plan_warnings(p); w; w = w->next)
        message_print_warning(w->where, w->text, w->remedy);
    return rc ? rc : pr_plan_check(p, err);
}

/* RUN/prony, with a number when the folder was used before. */
static int dlio_create_rundir(const struct dlio_args *args, struct pr_plan *p,
                              const char *run_dir, struct pr_rundir *d,
                              struct pr_err *err)
{
    const char *path = pr_arena_printf(args->arena, "%s/prony", run_dir);

    for (int i = 2; path && access(path, F_OK) == 0 && i < 100000; i++)
        path = pr_arena_printf(args->arena, "%s/prony.%d", run_dir, i);
    return path ? pr_session_create(path, p, d, err) : pr_fail_nomem(err);
}

/* The experiment's log, passed on as it grows. */
struct follower {
    const struct pr_rundir *dir;
    int fd; /* -1: not open */
    char id[64];
    struct pr_buf line; /* begun, not ended */
};

static void dlio_follower_print(struct follower *f, const char *data,
                                size_t len)
{
    while (len) {
        const char *end = memchr(data, '\n', len);
        size_t n = end ? (size_t)(end - data) : len;

        pr_buf_add(&f->line, data, n);
        data += n + (end != NULL);
        len -= n + (end != NULL);
        if (!end)
            return;
        /* Metrics are for result.json. */
        if (pr_buf_ok(&f->line) && f->line.data &&
            strncmp(f->line.data, "__", 2) != 0)
            message_print(SAY_WARNING, "%s\n", f->line.data);
        else if (!f->line.data)
            message_print(SAY_WARNING, "\n");
        pr_buf_clear(&f->line);
    }
}

static void dlio_follower_read(struct follower *f)
{
    char path[4096], block[65536];
    ssize_t n;

    if (f->fd < 0 && *f->id &&
        pr_rundir_file(f->dir, f->id, "log.txt", path, NULL) == PR_OK)
        f->fd = open(path, O_RDONLY | O_CLOEXEC);
    while (f->fd >= 0 && (n = read(f->fd, block, sizeof block)) > 0)
        dlio_follower_print(f, block, (size_t)n);
}

static void dlio_follower_watch(void *ctx, const struct pr_event *e)
{
    struct follower *f = ctx;

    if (e && e->kind == PR_EVENT_EXPERIMENT_START)
        snprintf(f->id, sizeof f->id, "%s", e->id);
    dlio_follower_read(f);
}

/* What came of it, in one line. */
static void say_verdict(const struct follower *f)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    const struct pr_value *v;
    struct pr_value result;

    if (!a || pr_result_read(f->dir->path, f->id, a, &result, NULL) != 1)
        return;
    v = pr_get(&result, "results");
    v = v ? pr_get(v, "verdict") : NULL;
    if (v && v->kind == PR_STR)
        message_print(SAY_WARNING, "%s\n", v->s);
}

static int dlio_run_rundir(struct pr_rundir *d, int *ret_signo,
                           struct pr_err *err)
{
    struct follower f = {.dir = d, .fd = -1, .line = PR_BUF_INIT(1 << 20)};
    struct pr_run_opts opts = {
        .dir = d, .retry = -1, .watch = dlio_follower_watch, .watch_ctx = &f};
    struct pr_run_summary sum;
    int rc = pr_run(&opts, &sum, err);

    *ret_signo = sum.signo;
    dlio_follower_read(&f);
    dlio_follower_print(&f, "\n", f.line.len != 0);
    if (f.fd >= 0)
        close(f.fd);
    pr_buf_free(&f.line);
    if (!rc)
        say_verdict(&f);
    return rc;
}

int dlio_run(struct dlio_args *args, int *ret_signo, struct pr_err *err)
{
    struct pr_plan_opts opts = PR_PLAN_OPTS_INIT;
    struct pr_value root;
    struct pr_plan *p = NULL;
    struct pr_rundir d;
    const char *run_dir = NULL, *config = NULL;
    int rc = hydra_compose(args, &root, err);

    if (!rc)
        rc = hydra_resolve(args->arena, &root, &root, &root, err);
    if (!rc)
        rc = dlio_run_dir(args, &root, &run_dir, err);
    if (!rc)
        rc = write_hydra(args, run_dir, &root, &config, err);
    if (!rc && !(p = pr_plan_new(&opts)))
        rc = pr_fail_nomem(err);
    if (!rc)
        rc = fill_plan(args, p, &root, run_dir, config, err);
    if (!rc)
        rc = dlio_create_rundir(args, p, run_dir, &d, err);
    pr_plan_free(p);
    if (rc)
        return rc;
    rc = dlio_run_rundir(&d, ret_signo, err);
    pr_rundir_close(&d);
    return rc;
}
