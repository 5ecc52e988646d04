/* The loop of a search for the capacity, and what stays of it on disk. */
#include "study/capacity_study.h"

#include "base/file.h"
#include "base/units.h"
#include "present/report/report_capacity.h"
#include "study/capacity_impl.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_WAIT_MS = 4000, MAX_REPORT = 64 << 20 };

/* ---- saying things */

void pr_capacity_print(const struct pr_capacity_study *s, const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    if (!s->watch->say)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    s->watch->say(s->watch->ctx, text);
}

int pr_capacity_warn(struct pr_capacity_study *s, struct pr_err *err,
                     const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    bool ok;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (pr_capacity_add_warning(&s->rec, s->arena, text, &ok))
        pr_capacity_print(s, "%s", text);
    return ok ? PR_OK : pr_fail_nomem(err);
}

/* ---- files */

typedef int make_text(const struct pr_capacity_record *r, struct pr_buf *out,
                      struct pr_err *err);

static int capacity_write_file(const struct pr_capacity_study *s,
                               const char *name, make_text *text,
                               struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(MAX_REPORT);
    char path[4096];
    int rc = text(&s->rec, &out, err);

    snprintf(path, sizeof path, "%s/%s", s->dir, name);
    return rc ? rc : pr_file_write(path, out.data, out.len, err);
}

int pr_capacity_write_files(const struct pr_capacity_study *s,
                            struct pr_err *err)
{
    int rc = capacity_write_file(s, "capacity.svg", pr_capacity_svg, err);

    return rc ? rc
              : capacity_write_file(s, "capacity.json",
                                    pr_capacity_record_write, err);
}

static int remove_trial_entry(const char *path, const struct stat *st, int type,
                              struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static bool is_recorded(const struct pr_capacity_study *s, const char *name)
{
    for (size_t i = 0; i < s->rec.count; i++)
        if (strcmp(s->rec.trials[i].name, name) == 0)
            return true;
    return false;
}

/* A trial that was under way is done again. What ran it may still be ending:
 * its lock is waited for. */
static int remove_half(const struct pr_capacity_study *s, struct pr_err *err)
{
    char path[4096], one[4096 + 300];
    struct pr_rundir d;
    struct dirent *e;
    DIR *dir;

    snprintf(path, sizeof path, "%s/trials", s->dir);
    if (pr_make_dirs(path, err))
        return err ? err->code : PR_E_IO;
    dir = opendir(path);
    if (!dir)
        return pr_fail_errno(err, PR_E_IO, path, "cannot open");
    while ((e = readdir(dir))) {
        if (*e->d_name == '.' || is_recorded(s, e->d_name))
            continue;
        snprintf(one, sizeof one, "%s/%s", path, e->d_name);
        if (pr_rundir_resume(one, &d, NULL) == PR_OK)
            pr_rundir_close(&d);
        (void)nftw(one, remove_trial_entry, 16, FTW_DEPTH | FTW_PHYS);
    }
    closedir(dir);
    return PR_OK;
}

/* Two searches in one folder would spoil both. */
static int lock_search_folder(const char *dir, int *ret_fd, struct pr_err *err)
{
    struct timespec nap = {0, 10 * 1000 * 1000};
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return pr_fail_errno(err, PR_E_IO, dir, "cannot open");
    for (int ms = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; ms += 10) {
        if (ms >= LOCK_WAIT_MS) {
            close(fd);
            return pr_fail(err, PR_E_IO, dir, "another search is using it");
        }
        nanosleep(&nap, NULL);
    }
    *ret_fd = fd;
    return PR_OK;
}

/* ---- the loop */

static int print_last_trial(const struct pr_capacity_study *s,
                            struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf line = PR_BUF_INIT(4096);
    int rc = pr_capacity_line(&s->rec, &line, err);

    if (!rc)
        pr_capacity_print(s, "%s", line.data);
    return rc;
}

int pr_capacity_check_interrupt(struct pr_capacity_study *s, struct pr_err *err)
{
    pr_stop_read(&s->stop);
    if (!s->stop.count)
        return PR_OK;
    s->signo = s->stop.signo;
    return pr_fail(err, PR_E_INTR, "", "interrupted");
}

static int run_search_step(struct pr_capacity_study *s,
                           const struct pr_capacity_step *step,
                           struct pr_err *err)
{
    int rc = pr_capacity_check_interrupt(s, err);

    if (!rc)
        rc = pr_capacity_run_trial(s, step, err);
    if (rc == 1) /* no data for so many: opts.max is another */
        return pr_capacity_write_files(s, err);
    if (!rc)
        rc = print_last_trial(s, err);
    return rc ? rc : pr_capacity_write_files(s, err);
}

/* Where the client is the limit, the storage alone is asked. */
static int probe_storage_limit(struct pr_capacity_study *s, struct pr_err *err)
{
    struct pr_capacity_step step = {.kind = PR_CAPACITY_STORAGE};
    enum pr_capacity_limit limit = PR_CAPACITY_BY_NONE;
    struct pr_capacity_curve c;
    char why[256];
    int rc;

    if (pr_capacity_find_trial(&s->rec, PR_CAPACITY_STORAGE))
        return PR_OK;
    rc = pr_capacity_fill_curve(&s->rec.opts, s->rec.trials, s->rec.count,
                                s->arena, &c, err);
    if (!rc && c.high && c.low) {
        limit = pr_capacity_find_limit(&c.high->figures, s->rec.throttle, why);
        step.accelerators = c.high->accelerators;
    }
    if (rc || (limit != PR_CAPACITY_BY_CPU && limit != PR_CAPACITY_BY_DECODE))
        return rc;
    return run_search_step(s, &step, err);
}

static int run_search_steps(struct pr_capacity_study *s, struct pr_err *err)
{
    struct pr_capacity_step step = {0};
    int rc = PR_OK;

    while (!rc && !s->rec.done) {
        rc = pr_capacity_next_step(&s->rec.opts, s->rec.trials, s->rec.count,
                                   &step, err);
        if (rc || step.done)
            break;
        rc = run_search_step(s, &step, err);
    }
    if (rc || s->rec.done)
        return rc;
    rc = probe_storage_limit(s, err);
    if (rc)
        return rc;
    s->rec.done = true;
    return pr_capacity_write_files(s, err);
}

static bool asks_for(const struct pr_capacity_study *s, const char *name)
{
    const struct pr_value *v = pr_get(&s->target, name);

    return v && v->kind == PR_BOOL && v->b;
}

/* What one accelerator takes in, and what trials leave out of the target. */
static int print_search_start(struct pr_capacity_study *s, struct pr_err *err)
{
    bool eval = asks_for(s, "workflow.evaluation");
    bool save = asks_for(s, "workflow.checkpoint");
    struct pr_capacity_need need =
        pr_capacity_compute_need(&s->rec.opts, NULL, 0);
    double bytes = need.samples * pr_capacity_sample_bytes(s);
    char size[16];

    pr_capacity_print(s,
                      "one accelerator that never waits takes in %.4g "
                      "samples/s%s%s%s",
                      need.samples, bytes > 0 ? ", about " : "",
                      bytes > 0 ? pr_format_bytes(size, (uint64_t)bytes) : "",
                      bytes > 0 ? "/s" : "");
    if (!eval && !save)
        return PR_OK;
    return pr_capacity_warn(
        s, err,
        "trials only train: %s%s%s of the target %s left "
        "out",
        eval ? "workflow.evaluation" : "", eval && save ? " and " : "",
        save ? "workflow.checkpoint" : "", eval && save ? "are" : "is");
}

static int run_locked(struct pr_capacity_study *s, struct pr_err *err)
{
    int rc = pr_capacity_record_read(s->dir, s->arena, &s->rec, err);

    if (!rc)
        rc = pr_capacity_target_read(s, err);
    if (!rc && !s->rec.done)
        rc = remove_half(s, err);
    if (!rc)
        rc = pr_stop_init(&s->stop, err);
    if (rc)
        return rc;
    if (!s->rec.done)
        rc = print_search_start(s, err);
    if (!rc)
        rc = run_search_steps(s, err);
    if (rc == PR_E_INTR && !s->signo)
        s->signo = s->stop.signo;
    pr_stop_close(&s->stop);
    return rc;
}

int pr_capacity_run(const char *dir, const struct pr_capacity_watch *watch,
                    struct pr_arena *a, struct pr_capacity_record *ret,
                    int *ret_signo, struct pr_err *err)
{
    struct pr_capacity_study s = {.dir = dir, .watch = watch, .arena = a};
    int fd = -1, rc;

    *ret_signo = 0;
    memset(ret, 0, sizeof *ret);
    if (strlen(dir) > 2000)
        return pr_fail(err, PR_E_USAGE, dir, "the path is too long");
    rc = lock_search_folder(dir, &fd, err);
    if (rc)
        return rc;
    rc = run_locked(&s, err);
    close(fd);
    *ret = s.rec;
    *ret_signo = s.signo;
    return rc;
}
