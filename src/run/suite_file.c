/*
 * The name of a suite's result file, when it is written and when it goes. What
 * is in it is made in suite_compose.c.
 */
#include "run/suite_file.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/text.h"
#include "record/result.h"
#include "run/metrics.h"
#include "run/suite_compose.h"
#include "workload/suite_workload.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_FILE = 64 << 20,
    MAX_NAME = NAME_MAX - 40, /* while it is written it has a longer one */
};

static bool suite_result_is_wanted(const struct pr_value *params)
{
    const struct pr_value *v = pr_get(params, "suite.name");

    return v && v->kind == PR_STR && v->len;
}

static int suite_result_read_json(const char *dir, const char *path,
                                  struct pr_arena *a, struct pr_value *ret,
                                  struct pr_err *err)
{
    struct pr_json_in in = {.name = path};
    int rc = pr_file_read_in(dir, path, MAX_FILE, a, &in.text, &in.len, err);

    return rc ? rc : pr_json_read(&in, a, ret, NULL, err);
}

/* "20261115-191746-764125" of "2026-11-15T19:17:46.764125Z". */
static void suite_result_write_time(struct pr_buf *out, const char *time)
{
    for (; *time; time++)
        if (*time == 'T' || *time == '.')
            pr_buf_char(out, '-');
        else if (*time >= '0' && *time <= '9')
            pr_buf_char(out, *time);
}

/* When it ended; of what never started, when that was written down. */
static const char *suite_result_end_time(const struct pr_value *result,
                                         const char *path, char out[static 32])
{
    const struct pr_value *ended = pr_get(result, "ended");
    struct stat st = {0};

    if (ended && ended->kind == PR_STR)
        return ended->s;
    (void)stat(path, &st);
    return pr_time_text(out, (uint64_t)st.st_mtim.tv_sec * 1000000000u +
                                 (uint64_t)st.st_mtim.tv_nsec);
}

static int suite_result_read_params(const char *dir, const char *id,
                                    struct pr_arena *a, struct pr_value *ret,
                                    struct pr_err *err)
{
    char path[4096 + 64];

    snprintf(path, sizeof path, "%s/experiments/%s/params.json", dir, id);
    return suite_result_read_json(dir, path, a, ret, err);
}

/* Everything there is about the experiment; params are known already, or NULL.
 * 1: there; 0: it has no result. */
static int suite_result_load(const char *dir, const char *id,
                             const struct pr_value *params, struct pr_arena *a,
                             struct pr_suite_result_source *ret,
                             struct pr_err *err)
{
    char path[4096 + 64], time[32];
    int rc = pr_result_read(dir, id, a, &ret->result, err);

    if (rc != 1)
        return rc;
    rc = params ? PR_OK
                : suite_result_read_params(dir, id, a, &ret->params, err);
    if (params)
        ret->params = *params;
    if (!rc)
        rc = pr_opt_fill(&pr_suite_section, &ret->params, a, &ret->suite, err);
    if (rc)
        return rc;
    ret->dir = dir;
    ret->id = id;
    ret->ok = pr_result_status(&ret->result) == PR_STATUS_OK;
    snprintf(path, sizeof path, "%s/experiments/%s/result.json", dir, id);
    ret->time =
        pr_arena_str(a, suite_result_end_time(&ret->result, path, time));
    return ret->time ? 1 : pr_fail_nomem(err);
}

/* "<suite>[.<job>]" in room bytes: names are anybody's, and the file lies in
 * the run directory whatever they are. The whole name is in the file. */
static void suite_result_write_names(struct pr_buf *out,
                                     const struct pr_suite_opts *s, size_t room)
{
    size_t from = out->len;

    pr_buf_printf(out, "%.*s%s%.*s", (int)room, s->name, *s->job ? "." : "",
                  (int)room, s->job);
    if (!pr_buf_ok(out))
        return;
    out->len = from + pr_utf8_fit(out->data + from, out->len - from, room);
    pr_filename_clean(out->data + from, out->len - from);
}

/* DIR/<suite>[.<job>][.J<id>][.FAIL].<time>.json */
static int suite_result_make_path(const struct pr_suite_result_source *s,
                                  struct pr_arena *a, const char **ret,
                                  struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf path = PR_BUF_INIT(PATH_MAX);
    PR_AUTO_BUF struct pr_buf end = PR_BUF_INIT(MAX_NAME);
    char job_id[64];

    if (pr_suite_result_job_id(s, job_id))
        pr_buf_printf(&end, ".J%s", job_id);
    pr_buf_str(&end, s->ok ? "." : ".FAIL.");
    suite_result_write_time(&end, s->time);
    pr_buf_str(&end, ".json");
    pr_buf_printf(&path, "%s/", s->dir);
    suite_result_write_names(&path, &s->suite, MAX_NAME - end.len);
    pr_buf_add(&path, end.data, end.len);
    if (!pr_buf_ok(&path) || !pr_buf_ok(&end))
        return pr_fail(err, PR_E_IO, s->dir, "the path is too long");
    *ret = pr_arena_copy(a, path.data, path.len);
    return *ret ? PR_OK : pr_fail_nomem(err);
}

/* A skipped experiment was not even tried: milarun has no word for that. */
static bool has_file(const struct pr_suite_result_source *s)
{
    return pr_result_status(&s->result) != PR_STATUS_SKIPPED;
}

static int suite_result_write_file(struct pr_suite_result_source *s, bool sync,
                                   struct pr_arena *a, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(MAX_FILE);
    struct pr_value all;
    const char *path;
    struct stat st;
    int rc = suite_result_make_path(s, a, &path, err);

    if (rc || stat(path, &st) == 0)
        return rc;
    rc = pr_suite_result_compose(s, a, &all, err);
    if (rc)
        return rc;
    pr_json_write_indented(&text, &all, 4, 0);
    pr_buf_char(&text, '\n');
    if (!pr_buf_ok(&text))
        return pr_fail_nomem(err);
    return sync ? pr_file_write(path, text.data, text.len, err)
                : pr_file_write_later(path, text.data, text.len, err);
}

int pr_suite_result_write(const char *dir, const char *id,
                          const struct pr_value *params, struct pr_gpus *gpus,
                          struct pr_arena *a, struct pr_err *err)
{
    struct pr_suite_result_source s = {.gpus = gpus};
    int rc = suite_result_is_wanted(params)
                 ? suite_result_load(dir, id, params, a, &s, err)
                 : 0;

    if (rc != 1 || !has_file(&s))
        return rc < 0 ? rc : PR_OK;
    return suite_result_write_file(&s, pr_job_needs_sync(params), a, err);
}

int pr_suite_result_mend(const char *dir, const char *id,
                         const struct pr_value *planned, struct pr_gpus *gpus,
                         struct pr_arena *a, struct pr_err *err)
{
    struct pr_value params;
    int rc = suite_result_is_wanted(planned)
                 ? suite_result_read_params(dir, id, a, &params, err)
                 : 1;

    return rc ? rc < 0 ? rc : PR_OK
              : pr_suite_result_write(dir, id, &params, gpus, a, err);
}

int pr_suite_result_remove(const char *dir, const char *id,
                           const struct pr_value *params, struct pr_arena *a,
                           struct pr_err *err)
{
    struct pr_suite_result_source s = {0};
    struct pr_err why = {0};
    const char *path;
    int rc = suite_result_is_wanted(params)
                 ? suite_result_load(dir, id, NULL, a, &s, &why)
                 : 0;

    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    if (rc != 1) /* none, or one that cannot be read: then it left no file */
        return PR_OK;
    rc = suite_result_make_path(&s, a, &path, err);
    if (!rc && unlink(path) != 0 && errno != ENOENT)
        rc = pr_fail_errno(err, PR_E_IO, path, "cannot remove");
    return rc;
}

/* ---- before it runs */

/* A line each. */
static void warn_lines(struct pr_buf *warnings, char *lines)
{
    char *rest;

    for (char *line = strtok_r(lines, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        pr_collect_add_warning(warnings, "%s", line);
}

int pr_suite_result_check(struct pr_job *job, struct pr_buf *warnings,
                          struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf notes = PR_BUF_INIT(1 << 16);
    struct pr_suite_call run = {.notes = &notes};
    int rc;

    if (strcmp(job->exp.workload, "suite") != 0)
        return PR_OK;
    rc = pr_suite_resolve(job, &run, err);
    if (!rc && notes.len)
        warn_lines(warnings, notes.data);
    if (!rc && run.lost_prefix)
        pr_collect_add_warning(
            warnings,
            "suite.exec_prefix is left out: there is no program "
            "'%.100s'",
            run.lost_prefix);
    return rc;
}

/* ---- what milarun wrote itself */

static void suite_result_write_member(struct pr_buf *out, const char *prefix,
                                      const char *name,
                                      const struct pr_value *v)
{
    PR_AUTO_BUF struct pr_buf key = PR_BUF_INIT(4096);

    pr_buf_printf(&key, "%s%s", prefix, name);
    if (!pr_buf_ok(&key))
        return;
    pr_buf_str(out, out->len ? ", " : "");
    pr_json_write_string(out, key.data, key.len);
    pr_buf_str(out, ": ");
    pr_json_write(out, v);
}

/* Words in a JSON string. */
static void suite_result_write_text(struct pr_buf *out, const char *name,
                                    const char *text)
{
    struct pr_value v = pr_str(text);

    suite_result_write_member(out, "suite.", name, &v);
}

static void put_engine(struct pr_job *job, struct pr_buf *out)
{
    struct pr_suite_call run = {.notes = NULL};
    const char *model;

    if (pr_suite_resolve(job, &run, NULL))
        return; /* nobody could */
    suite_result_write_text(out, "engine", pr_suite_engine_word(run.engine));
    if (run.engine != PR_SUITE_NATIVE)
        return;
    model = run.native.exp.model;
    suite_result_write_text(out, "equivalent",
                            *model ? model : run.native.exp.workload);
}

static void suite_result_write_milarun(const struct pr_value *file,
                                       struct pr_buf *out)
{
    static const char *const kept[] = {
        "success", "error", "gpu", "device_count", "metrics", "gpu_monitor"};
    const struct pr_value *t = pr_get(file, "timings");

    for (uint32_t i = 0; t && t->kind == PR_MAP && i < t->len; i++)
        suite_result_write_member(out, "timings.", t->members[i].key,
                                  &t->members[i].value);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (pr_get(file, kept[i]))
            suite_result_write_member(out, "milarun.", kept[i],
                                      pr_get(file, kept[i]));
}

/* One that was killed may leave half of it, or none. */
static bool read_milarun(struct pr_job *job, struct pr_value *ret)
{
    char path[4096 + 32];
    struct pr_value file;
    struct stat st;

    if (!job->params || !suite_result_is_wanted(job->params))
        return false;
    snprintf(path, sizeof path, "%s/" PR_SUITE_MILARUN_FILE, job->dir);
    return stat(path, &st) == 0 &&
           suite_result_read_json(job->dir, path, job->arena, &file, NULL) ==
               PR_OK &&
           file.kind == PR_MAP &&
           pr_collect_copy_finite(job->arena, &file, ret);
}

int pr_suite_result_gather(struct pr_job *job, struct pr_buf *results,
                           struct pr_err *err)
{
    struct pr_value file;

    if (!job->params || !suite_result_is_wanted(job->params))
        return PR_OK;
    if (*pr_job_param_text(job, "suite.experiment"))
        put_engine(job, results);
    if (read_milarun(job, &file))
        suite_result_write_milarun(&file, results);
    return pr_buf_ok(results) ? PR_OK : pr_fail_nomem(err);
}

bool pr_suite_result_has_failed(struct pr_job *job)
{
    const struct pr_value *good;
    struct pr_value file;

    if (!read_milarun(job, &file))
        return false;
    good = pr_get(&file, "success");
    return good && good->kind == PR_BOOL && !good->b;
}
