/*
 * One experiment as milarun runs it. It has a run directory like any other, in
 * a folder for temporary files; its result file alone is kept, under the name
 * that was asked for, or is written to stdout.
 */
#include "compat/milarun/milarun_run.h"

#include "base/file.h"
#include "base/json/json.h"
#include "cli/suite_call.h"
#include "cli/targets.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILE = 64 << 20 };

static int milarun_print_failure(const struct pr_err *err)
{
    message_print(SAY_CRITICAL, "milarun: error: %s%s%s\n", err->where,
                  *err->where ? ": " : "", err->msg);
    return pr_code_exit_status(err->code);
}

/* The one result file of the run, in dir. NULL: there is none. */
static const char *result_in(struct pr_arena *a, const char *dir)
{
    static const char *const others[] = {"plan.json", "env.json"};
    const char *found = NULL;
    DIR *d = opendir(dir);
    struct dirent *e;

    while (d && (e = readdir(d))) {
        size_t n = strlen(e->d_name);

        if (n > 5 && strcmp(e->d_name + n - 5, ".json") == 0 &&
            strcmp(e->d_name, others[0]) != 0 &&
            strcmp(e->d_name, others[1]) != 0)
            found = pr_arena_str(a, e->d_name);
    }
    if (d)
        closedir(d);
    return found;
}

/* outdir is where the file goes, not where it was made. */
static int milarun_read_result(struct pr_arena *a, const char *path,
                               const char *outdir, struct pr_buf *out,
                               struct pr_err *err)
{
    struct pr_json_in in = {.name = path};
    struct pr_member *m;
    struct pr_value v;
    int rc = pr_file_read(path, MAX_FILE, a, &in.text, &in.len, err);

    if (!rc)
        rc = pr_json_read(&in, a, &v, NULL, err);
    if (rc)
        return rc;
    m = PR_ARENA_ARRAY(a, struct pr_member, v.len);
    if (!m)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < v.len; i++) {
        m[i] = v.members[i];
        if (strcmp(m[i].key, "outdir") == 0)
            m[i].value = outdir ? pr_str(outdir) : pr_null();
    }
    v.members = m;
    pr_json_write_indented(out, &v, 4, 0);
    pr_buf_char(out, '\n');
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}

static bool is_json(const char *out)
{
    size_t n = strlen(out);

    return n > 5 && strcmp(out + n - 5, ".json") == 0;
}

static int milarun_deliver_result(struct pr_arena *a, const char *dir,
                                  const char *out, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(MAX_FILE);
    const char *name = result_in(a, dir), *to = out;
    const char *from = name ? pr_arena_printf(a, "%s/%s", dir, name) : NULL;
    char *slash;
    int rc;

    if (!from)
        return pr_fail(err, PR_E_IO, dir, "the run left no result");
    if (out && !is_json(out))
        to = pr_arena_printf(a, "%s/%s", out, name);
    if (out && !to)
        return pr_fail_nomem(err);
    if (out) {
        char *folder = pr_arena_str(a, to);

        slash = folder ? strrchr(folder, '/') : NULL;
        if (slash && slash > folder) {
            *slash = '\0';
            rc = pr_make_dirs(folder, err);
            if (rc)
                return rc;
        }
    }
    rc = milarun_read_result(a, from, out, &text, err);
    if (rc)
        return rc;
    return out ? pr_file_write(to, text.data, text.len, err)
               : answer_print_buf(&text, err);
}

/* What the experiment said comes to stderr, where milarun's children write. */
static void show_log(struct pr_arena *a, const char *dir)
{
    const char *path = pr_arena_printf(a, "%s/experiments", dir);
    DIR *d = path ? opendir(path) : NULL;
    struct dirent *e;

    while (d && (e = readdir(d))) {
        const char *log, *text;
        size_t len;

        if (e->d_name[0] == '.')
            continue;
        log = pr_arena_printf(a, "%s/%s/log.txt", path, e->d_name);
        if (log && !pr_file_read(log, MAX_FILE, a, &text, &len, NULL))
            (void)!write(2, text, len);
    }
    if (d)
        closedir(d);
}

static int milarun_remove_file(const char *path, const struct stat *st,
                               int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static int run_call(struct pr_arena *a, const struct suite_call *call,
                    const struct milarun_args *m, const char *out)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = pr_arena_printf(a, "%s/milarun-XXXXXX", tmp ? tmp : "/tmp");
    static const struct verb none = {.name = "run", .bit = ON_RUN};
    struct cli c = {.verb = &none, .arena = a};
    struct pr_err err = {0}, why = {0};
    struct pr_plan *p = NULL;
    int rc, ended = PR_OK;

    if (!dir || !mkdtemp(dir))
        return milarun_print_failure(
            &(struct pr_err){.code = PR_E_IO,
                             .msg = "cannot make a folder for "
                                    "temporary files"});
    message_set_level(SAY_ERROR);
    rc = suite_call_plan(&c, call, (const char *const *)m->tail,
                         (size_t)m->tail_count, &p, &err);
    if (!rc) {
        ended = run_plan_in_dir(&c, p, dir, false, &why);
        pr_plan_free(p);
        show_log(a, dir);
        rc = milarun_deliver_result(a, dir, out, &err);
    }
    if (nftw(dir, milarun_remove_file, 16, FTW_DEPTH | FTW_PHYS))
        message_print(SAY_WARNING, "%s could not be removed\n", dir);
    if (rc)
        return milarun_print_failure(&err);
    if (ended)
        message_print(SAY_CRITICAL, "milarun: error: %s\n", why.msg);
    return c.signo ? 128 + c.signo : pr_code_exit_status(ended);
}

int milarun_run(struct pr_arena *a, const struct milarun_args *m)
{
    struct suite_call call = {.function = m->words[0],
                              .name = m->value[M_NAME],
                              .job_id = m->value[M_JOB_ID],
                              .dataroot = milarun_dataroot(a, m),
                              .argv = {.kind = PR_LIST}};
    const char *extra = m->value[M_EXTRA];
    struct pr_err err = {0};

    if (!call.dataroot)
        return milarun_no_dataroot();
    if (extra) {
        struct pr_json_in in = {
            .name = "--extra", .text = extra, .len = strlen(extra)};
        int rc = pr_json_read(&in, a, &call.extra, NULL, &err);

        if (!rc && call.extra.kind != PR_MAP)
            rc = pr_fail(&err, PR_E_USAGE, "--extra", "it is no JSON object");
        if (rc)
            return milarun_print_failure(&err);
    }
    if (set_data_root(a, call.dataroot, &err))
        return milarun_print_failure(&err);
    return run_call(a, &call, m, milarun_out(a, m));
}

static void say_call(const struct suite_call *call,
                     const struct milarun_args *m)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);

    pr_buf_str(&out, "=== re-run command ===\n");
    for (uint32_t i = 0; call->environ.kind == PR_MAP && i < call->environ.len;
         i++) {
        const struct pr_member *e = &call->environ.members[i];

        pr_buf_printf(&out, "%s = ", e->key);
        pr_value_write_text(&out, &e->value);
        pr_buf_char(&out, '\n');
        if (e->value.kind == PR_STR)
            setenv(e->key, e->value.s, 1);
    }
    pr_buf_printf(&out, "milarun run %s --", call->function);
    for (uint32_t i = 0; i < call->argv.len; i++) {
        pr_buf_char(&out, ' ');
        pr_value_write_text(&out, &call->argv.items[i]);
    }
    for (int i = 0; i < m->tail_count; i++)
        pr_buf_printf(&out, " %s", m->tail[i]);
    pr_buf_str(&out, "\n======================\n");
    if (pr_buf_ok(&out))
        message_print_text(SAY_CRITICAL, out.data);
}

int milarun_rerun(struct pr_arena *a, const struct milarun_args *m)
{
    static const struct verb none = {.name = "rerun", .bit = ON_RERUN};
    struct cli c = {.verb = &none, .arena = a};
    struct suite_call call;
    struct pr_err err = {0};
    int rc = suite_call_read(&c, m->words[0], &call, &err);

    if (!rc && !call.function)
        rc = pr_fail(&err, PR_E_FORMAT, m->words[0],
                     "is not a result of milarun's");
    if (rc)
        return milarun_print_failure(&err);
    say_call(&call, m);
    if (set_data_root(a, call.dataroot, &err))
        return milarun_print_failure(&err);
    return run_call(a, &call, m, milarun_out(a, m));
}
