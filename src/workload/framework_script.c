/* Arguments and environment of launchers, by DLBS's contract. */
#include "workload/framework_script.h"

#include "base/file.h"
#include "base/json/json.h"
#include "base/text.h"
#include "conf/read/bundled.h"
#include "conf/read/literal.h"
#include "job/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DLBS_NAME "Deep Learning Benchmarking Suite"

/* ---- FAMILY.name */

static bool is_value_set(const struct pr_value *v)
{
    return v && (v->kind == PR_STR || v->kind == PR_LIST) && v->len;
}

static const struct pr_value *param_of(const struct pr_job *job,
                                       const char *family, const char *name)
{
    const struct pr_value *v;
    char key[256];

    snprintf(key, sizeof key, "%s.%s", family, name);
    v = pr_get(job->params, key);
    return is_value_set(v) ? v : NULL;
}

const struct pr_value *pr_framework_get_setting(const struct pr_job *job,
                                                const char *name)
{
    const struct pr_value *v = NULL;

    if (*job->exp.framework)
        v = param_of(job, job->exp.framework, name);
    if (!v && *job->exp.framework_family)
        v = param_of(job, job->exp.framework_family, name);
    return v;
}

bool pr_framework_is_user_program(const struct pr_job *job,
                                  const struct pr_framework *f)
{
    return f->kind == PR_FRAMEWORK_SCRIPT ||
           pr_framework_get_setting(job, "launcher") ||
           (job->exp.docker && pr_framework_get_setting(job, "command"));
}

static const char *family_of(const struct pr_job *job)
{
    return *job->exp.framework_family ? job->exp.framework_family
                                      : job->exp.framework;
}

/* ---- which parameters */

static bool is_for_all(const struct pr_opt_section *section)
{
    return !section || section == &pr_exp_section ||
           section == &pr_runtime_section || section == &pr_monitor_section;
}

bool pr_framework_is_launcher_param(const char *name,
                                    const struct pr_value *value)
{
    const struct pr_opt_section *section = NULL;
    const struct pr_opt *row = pr_opt_find(name, &section);
    struct pr_value def;

    if (is_for_all(section) || !row)
        return true;
    def = pr_opt_default(row);
    return !pr_value_equal(&def, value);
}

struct only {
    const char **words; /* NULL: all of them */
    size_t count;
};

static int read_only(const struct pr_job *job, struct only *ret,
                     struct pr_err *err)
{
    const struct pr_value *v = pr_framework_get_setting(job, "launcher_args");
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);
    int rc;

    if (!v)
        return PR_OK;
    pr_value_write_joined(&text, v);
    if (!pr_buf_ok(&text))
        return pr_fail_nomem(err);
    rc = pr_words_split(text.data ? text.data : "", job->arena, &ret->words,
                        &ret->count, err);
    if (rc == PR_E_CONF && err)
        return pr_reword(err, job->id, "%s.launcher_args: %s", family_of(job),
                         err->msg);
    return rc;
}

static bool script_is_param_wanted(const struct only *only,
                                   const struct pr_member *m)
{
    if (pr_text_starts_with(m->key, "runtime.env."))
        return false; /* it is in the environment */
    for (size_t i = 0; only->words && i < only->count; i++)
        if (strcmp(only->words[i], m->key) == 0)
            return true;
    return !only->words && pr_framework_is_launcher_param(m->key, &m->value);
}

/* ---- arguments */

/* Scripts compare monitor.frequency with 0 to know whether to leave a file
 * with their pid in monitor.backend_pid_folder. We need none. */
static bool wants_pid_file(const struct pr_job *job)
{
    return is_value_set(pr_get(job->params, "monitor.backend_pid_folder"));
}

/* A number that a table of ours made a fraction reads as it was written: a
 * shell knows no 0.0. */
static bool is_whole_number(const char *name, const struct pr_value *v)
{
    return v->kind == PR_FLOAT && pr_opt_find(name, NULL) &&
           fabs(v->f) < 1e15 && v->f == floor(v->f);
}

static void script_put_value(const struct pr_job *job, const char *name,
                             const struct pr_value *v, struct pr_buf *out)
{
    if (strcmp(name, "monitor.frequency") == 0 && !wants_pid_file(job))
        pr_buf_char(out, '0');
    else if (v->kind == PR_BOOL)
        pr_buf_str(out, v->b ? "true" : "false");
    else if (v->kind == PR_LIST || v->kind == PR_MAP)
        pr_json_write(out, v);
    else if (is_whole_number(name, v))
        pr_buf_printf(out, "%.0f", v->f);
    else
        pr_value_write_text(out, v);
}

static int add_option(struct pr_argv *a, const struct pr_member *m,
                      const struct pr_value *value, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);
    char *name = pr_arena_printf(a->job->arena, "--%s", m->key);
    const char *word;
    int rc;

    script_put_value(a->job, m->key, value, &text);
    word = pr_arena_copy(a->job->arena, text.data ? text.data : "", text.len);
    if (!name || !word || !pr_buf_ok(&text))
        return pr_fail_nomem(err);
    if (strlen(word) != text.len)
        return pr_fail(err, PR_E_CONF, a->job->id, "%s holds a NUL character",
                       m->key);
    for (char *p = name; *p; p++)
        if (*p == '.')
            *p = '_';
    rc = pr_argv_add_word(a, name, err);
    return rc ? rc : pr_argv_add_word(a, word, err);
}

/* *log_file becomes NULL when the launcher is not told of it. */
static int script_add_options(struct pr_argv *a, const char **log_file,
                              struct pr_err *err)
{
    const struct pr_value *params = a->job->params;
    const struct pr_value log = pr_str(*log_file);
    struct only only = {0};
    bool told = false;
    int rc = read_only(a->job, &only, err);

    for (uint32_t i = 0; i < params->len && !rc; i++) {
        const struct pr_member *m = &params->members[i];
        bool is_log = strcmp(m->key, "exp.log_file") == 0;

        if (!script_is_param_wanted(&only, m))
            continue;
        told = told || is_log;
        rc = add_option(a, m, is_log ? &log : &m->value, err);
    }
    if (!rc && !told && !only.words) { /* no defaults, and it is not set */
        const struct pr_member m = {.key = "exp.log_file"};
        rc = add_option(a, &m, &log, err);
        told = true;
    }
    if (!told)
        *log_file = NULL;
    return rc ? rc : pr_argv_add_list(a, "exp.args", a->job->exp.args, err);
}

/* ---- the program */

/* The same file from any folder. NULL: out of memory. */
static const char *script_absolute_path(struct pr_arena *a, const char *path)
{
    char cwd[4096];

    while (pr_text_starts_with(path, "./"))
        path += 2;
    if (*path == '/' || !getcwd(cwd, sizeof cwd))
        return pr_arena_str(a, path);
    return pr_arena_printf(a, "%s/%s", cwd, path);
}

/* A folder without links in its path: by that it is there in a container. */
static const char *real_path(struct pr_arena *a, const char *path)
{
    char whole[PATH_MAX];

    return realpath(path, whole) ? pr_arena_str(a, whole)
                                 : script_absolute_path(a, path);
}

static int not_there(const struct pr_job *job, const char *path,
                     const char *why, struct pr_err *err)
{
    pr_fail(err, PR_E_UNAVAIL, job->id,
            "the launcher of exp.framework=%s, '%.200s', %s",
            job->exp.framework, path, why);
    if (strcmp(why, "is not executable") == 0)
        return pr_hint(err, "chmod +x %.200s", path);
    return pr_hint(err, "-P %s.launcher=FILE", family_of(job));
}

static int script_check_file(struct pr_argv *a, const char *word,
                             const char **ret, struct pr_err *err)
{
    char found[PATH_MAX];
    struct stat st;

    if (!strchr(word, '/')) {
        *ret = word; /* on the experiment's own PATH */
        return pr_which(word, found) ||
                       pr_get(a->job->params, "runtime.env.PATH")
                   ? PR_OK
                   : not_there(a->job, word, "is not on PATH", err);
    }
    if (stat(word, &st) < 0)
        return not_there(a->job, word, "is not there", err);
    if (!S_ISREG(st.st_mode))
        return not_there(a->job, word, "is not a file", err);
    if (access(word, X_OK) < 0)
        return not_there(a->job, word, "is not executable", err);
    *ret = script_absolute_path(a->job->arena, word);
    return *ret ? PR_OK : pr_fail_nomem(err);
}

static int script_add_words(struct pr_argv *a, const char *what,
                            const struct pr_value *v, struct pr_err *err)
{
    /* DLBS's launcher is one word, whatever is in it. */
    if (v->kind == PR_STR && access(v->s, F_OK) == 0)
        return pr_argv_add_word(a, v->s, err);
    return pr_argv_add_words_of(a, what, v, err);
}

static int needs_launcher(const struct pr_job *job,
                          const struct pr_framework *f, struct pr_err *err)
{
    const char *family = family_of(job);

    pr_fail(err, PR_E_CONF, job->id, "exp.framework=%s needs a launcher",
            job->exp.framework);
    if (f && !f->contained)
        return pr_hint(err, "-P %s.launcher=FILE, or exp.command", family);
    if (job->exp.docker)
        return pr_hint(err,
                       "-P %s.launcher=FILE, or %s.command, which runs in the "
                       "container, or exp.command",
                       family, family);
    return pr_hint(err,
                   "-P %s.launcher=FILE, or exp.docker=true with "
                   "exp.docker_image and %s.command, or exp.command",
                   family, family);
}

/* What is run, in front of the arguments. */
static int script_add_program(struct pr_argv *a, const struct pr_framework *f,
                              bool *ret_script, struct pr_err *err)
{
    const struct pr_value *launcher =
        pr_framework_get_setting(a->job, "launcher");
    const struct pr_value *command =
        pr_framework_get_setting(a->job, "command");
    const char *what = launcher ? "launcher" : "command";
    size_t at = a->count;
    int rc;

    if (!launcher && !command)
        return needs_launcher(a->job, f, err);
    what = pr_arena_printf(a->job->arena, "%s.%s", family_of(a->job), what);
    if (!what)
        return pr_fail_nomem(err);
    rc = script_add_words(a, what, launcher ? launcher : command, err);
    if (!rc && a->count == at)
        return pr_fail(err, PR_E_CONF, a->job->id, "%s is empty", what);
    *ret_script = launcher != NULL;
    if (!rc && (launcher || !a->job->exp.docker))
        rc = script_check_file(a, a->items[at], &a->items[at], err);
    return rc;
}

/* ---- environment */

static bool has_env(const struct pr_job *job, const char *name)
{
    char key[64];

    snprintf(key, sizeof key, "runtime.env.%s", name);
    return getenv(name) || pr_get(job->params, key);
}

/* NAME=value for the front of the list, unless somebody has set it. */
static int script_add_env(struct pr_argv *a, const char *name,
                          const char *value, struct pr_err *err)
{
    const char *word;

    if (!value || has_env(a->job, name))
        return PR_OK;
    word = pr_arena_printf(a->job->arena, "%s=%s", name, value);
    if (!word)
        return pr_fail_nomem(err);
    a->assignments++;
    return pr_argv_add_word(a, word, err);
}

/* runtime.launcher is the launcher's business: it goes before the framework's
 * own command. */
static int add_all_env(struct pr_argv *a, struct pr_err *err)
{
    const char *share = pr_bundled_dir(a->job->arena);
    char cwd[4096];
    int rc = script_add_env(a, "DLBS_NAME", DLBS_NAME, err);

    if (!rc)
        rc =
            script_add_env(a, "DLBS_ROOT",
                           share ? real_path(a->job->arena, share) : NULL, err);
    return rc ? rc
              : script_add_env(a, "BENCH_ROOT",
                               getcwd(cwd, sizeof cwd) ? cwd : NULL, err);
}

/* ---- the whole */

/* exp.log_file for a script; what runs in a container of ours sees the
 * experiment's folder alone. NULL: out of memory. */
static const char *log_file_of(const struct pr_job *job, bool users)
{
    const char *dir;

    if (users && *job->exp.log_file)
        return script_absolute_path(job->arena, job->exp.log_file);
    if (!*job->dir) /* a plan is being checked */
        return "log.txt";
    dir = real_path(job->arena, job->dir);
    return dir ? pr_arena_printf(job->arena, "%s/log.txt", dir) : NULL;
}

int pr_framework_script_start(struct pr_job *job, const struct pr_framework *f,
                              struct pr_start *ret, struct pr_err *err)
{
    struct pr_argv a = {.job = job};
    const char *log_file;
    bool script = false;
    int rc = add_all_env(&a, err);

    if (!rc)
        rc = script_add_program(&a, f, &script, err);
    if (rc)
        return rc;
    log_file = log_file_of(job, script || !job->exp.docker);
    if (!log_file)
        return pr_fail_nomem(err);
    rc = script_add_options(&a, &log_file, err);
    if (!rc)
        rc = pr_argv_fill_start(&a, ret, err);
    if (rc)
        return rc;
    ret->log_file = log_file ? log_file : log_file_of(job, false);
    ret->contains_itself = script;
    return ret->log_file ? PR_OK : pr_fail_nomem(err);
}
