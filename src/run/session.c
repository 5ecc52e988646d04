/* Making run directories, and the public way to run a plan. */
#include "run/session.h"

#include "base/file.h"
#include "base/json/json.h"
#include "base/sync.h"
#include "conf/expr/regex.h"
#include "conf/read/yaml.h"
#include "job/progress.h"
#include "machine/describe/env.h"
#include "plan/plan.h"
#include "prony_config.h"
#include "record/channel.h"
#include "record/plan_file.h"
#include "run/run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- GPUs */

static void gpus_read_nvml(struct pr_gpus *g)
{
    struct pr_nvml *n = g->asked ? NULL : pr_nvml_open(NULL);
    struct pr_nvml_device d;

    g->asked = true;
    if (!n)
        return;
    g->count = pr_nvml_count(n);
    for (unsigned i = 0; i < g->count; i++)
        if (pr_nvml_device(n, i, &d)) {
            snprintf(g->gpu[i].name, sizeof g->gpu[i].name, "%s", d.name);
            snprintf(g->gpu[i].pci, sizeof g->gpu[i].pci, "%s", d.pci);
        }
    pr_nvml_close(n);
}

unsigned pr_gpus_count(struct pr_gpus *g)
{
    gpus_read_nvml(g);
    return g->count;
}

const struct pr_gpu *pr_gpus_get(struct pr_gpus *g, int64_t i)
{
    return i >= 0 && i < (int64_t)pr_gpus_count(g) ? &g->gpu[i] : NULL;
}

/* ---- progress of an experiment, from wherever it says something */

bool pr_run_progress(const char *dir, char out[static 320])
{
    char path[4096], words[160];
    double done;

    if (pr_progress_read(dir, out))
        return true;
    snprintf(path, sizeof path, "%s/%s", dir, PR_CHANNEL_FILE);
    if (!pr_channel_progress(path, &done, words))
        return false;
    snprintf(out, 320, "%s", words);
    return true;
}

/* ---- run directories */

const char *pr_version(void)
{
    return PR_VERSION;
}

int pr_session_env(const char *path, struct pr_buf *out, struct pr_err *err)
{
    const struct pr_machine_env_version versions[] = {
        {"libyaml", pr_yaml_version()},
        {"pcre2", pr_regex_version()},
    };
    struct pr_machine_env_opts opts = {
        .version = PR_VERSION,
        .revision = PR_GIT_REV,
        .versions = versions,
        .version_count = sizeof versions / sizeof *versions,
        .paths = &path,
        .path_count = 1,
    };

    return pr_machine_env_capture(&opts, out, err);
}

static int session_add_id(struct pr_names *ids, const char *id,
                          const char *file, struct pr_err *err)
{
    uint32_t before = pr_names_count(ids);

    if (pr_names_add(ids, id, strlen(id)) == PR_NO_NAME)
        return pr_fail_nomem(err);
    if (pr_names_count(ids) == before)
        return pr_fail(err, PR_E_FORMAT, file,
                       "two experiments have the id '%s'", id);
    return PR_OK;
}

static int session_check_ids(struct pr_plan_file *plan, struct pr_names *ids,
                             const char *file, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_plan_file_experiment one;
    int rc = a ? PR_OK : pr_fail_nomem(err);

    while (!rc && (rc = pr_plan_file_next(plan, a, &one, err)) == 1) {
        rc = session_add_id(ids, one.id, file, err);
        pr_arena_reset(a);
    }
    return rc;
}

/* A plan may be edited by hand: look at all of it before anything is made. */
static int check_plan(const char *file, struct pr_err *err)
{
    struct pr_names *ids = pr_names_new();
    struct pr_plan_file plan;
    int rc = ids ? pr_plan_file_open(file, &plan, err) : pr_fail_nomem(err);

    if (!rc) {
        rc = session_check_ids(&plan, ids, file, err);
        pr_plan_file_close(&plan);
    }
    if (!rc && !pr_names_count(ids))
        rc = pr_fail(err, PR_E_CONF, file, "the plan has no experiments");
    pr_names_free(ids);
    return rc;
}

static int copy_plan(const char *path, const char *from, struct pr_err *err)
{
    struct pr_view view;
    int rc = pr_file_map(from, &view, err);

    if (rc)
        return rc;
    rc = pr_file_write_later(path, view.data, view.len, err);
    pr_file_unmap(&view);
    return rc;
}

static int write_env(const struct pr_rundir *d, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf json = PR_BUF_INIT(16 << 20);
    char path[4096];
    int rc = pr_rundir_path(d, "env.json", path, err);

    if (!rc)
        rc = pr_session_env(d->path, &json, err);
    return rc ? rc : pr_file_write_later(path, json.data, json.len, err);
}

const char *pr_session_data_root(const struct pr_rundir *d, struct pr_arena *a)
{
    char path[4096];
    struct pr_json_in in = {.name = path};
    struct pr_value env;

    if (pr_rundir_path(d, "env.json", path, NULL) ||
        pr_file_read_in(d->path, path, 16 << 20, a, &in.text, &in.len, NULL) ||
        pr_json_read(&in, a, &env, NULL, NULL))
        return NULL;
    return pr_text_at(pr_get(&env, "environment"), "PRONY_DATA", NULL);
}

/* The folder was ours a moment ago and holds nothing worth keeping. */
static void remove_dir(struct pr_rundir *d)
{
    static const char *const inside[] = {"experiments", "events.ndjson",
                                         "env.json", "plan.json"};
    char path[4096];

    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        if (pr_rundir_path(d, inside[i], path, NULL) == PR_OK)
            (void)remove(path);
    pr_rundir_close(d);
    if (d->made)
        (void)rmdir(d->path);
}

/* Plan and environment, before anything is done by them. */
static int sync_dir(const struct pr_rundir *d, struct pr_err *err)
{
    int rc;

    if (pr_sync_is_one(d->experiments_fd) && pr_sync_all(d->experiments_fd))
        return PR_OK;
    rc = pr_sync_files(d->path, NULL, NULL, err);
    return rc ? rc : pr_sync_names(d->path, err);
}

static int session_create_dir(const char *path, struct pr_plan *plan,
                              const char *plan_file, struct pr_rundir *ret,
                              struct pr_err *err)
{
    char json[4096];
    uint64_t n = 0;
    int rc = pr_rundir_create(path, ret, err);

    if (rc)
        return rc;
    rc = pr_rundir_path(ret, "plan.json", json, err);
    if (!rc)
        rc = plan ? pr_plan_write_file(plan, json, false, true, &n, err)
                  : copy_plan(json, plan_file, err);
    if (!rc && plan && !n) {
        pr_fail(err, PR_E_CONF, "", "the plan has no experiments");
        rc = pr_hint(err, "'prony plan' shows it; a variable without values "
                          "or a --name that nothing has gives none");
    }
    if (!rc)
        rc = write_env(ret, err);
    if (!rc)
        rc = sync_dir(ret, err);
    if (rc)
        remove_dir(ret);
    return rc;
}

int pr_session_create(const char *path, struct pr_plan *plan,
                      struct pr_rundir *ret, struct pr_err *err)
{
    return session_create_dir(path, plan, NULL, ret, err);
}

int pr_session_create_from(const char *path, const char *plan_file,
                           struct pr_rundir *ret, struct pr_err *err)
{
    int rc = check_plan(plan_file, err);

    return rc ? rc : session_create_dir(path, NULL, plan_file, ret, err);
}

static void session_pass_event(void *ctx, const struct pr_event *e)
{
    const struct pr_session_opts *opts = ctx;
    PR_AUTO_BUF struct pr_buf line = PR_BUF_INIT(1 << 20);

    if (!e || !opts->event)
        return;
    pr_event_write(e, &line);
    if (pr_buf_ok(&line))
        opts->event(opts->ctx, line.data, line.len);
}

static int session_run_dir(struct pr_rundir *d,
                           const struct pr_session_opts *opts,
                           struct pr_err *err)
{
    struct pr_session_opts mine = *opts;
    struct pr_run_opts run = {.dir = d,
                              .fail_fast = opts->fail_fast,
                              .retry = opts->retry,
                              .watch = session_pass_event,
                              .watch_ctx = &mine};
    struct pr_run_summary sum;
    int rc = pr_run(&run, &sum, err);

    pr_rundir_close(d);
    return rc;
}

int pr_session_start(struct pr_plan *plan, const char *dir,
                     const struct pr_session_opts *opts, struct pr_err *err)
{
    struct pr_rundir d;
    int rc = pr_session_create(dir, plan, &d, err);

    return rc ? rc : session_run_dir(&d, opts, err);
}

int pr_session_resume(const char *dir, const struct pr_session_opts *opts,
                      struct pr_err *err)
{
    struct pr_rundir d;
    int rc = pr_rundir_resume(dir, &d, err);

    return rc ? rc : session_run_dir(&d, opts, err);
}
