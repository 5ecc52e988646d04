/*
 * suite.prepare: commands before a job, once for all its copies. They are run
 * by the keeper, so that none outlives us, and say what they say in prepare.txt
 * beside the first experiment's log. One that fails is a warning of all of the
 * job's results: a cache that could not be dropped spoils no measurement for
 * good, but whoever reads it should know.
 */
#include "base/clock.h"
#include "base/file.h"
#include "conf/read/literal.h"
#include "run/metrics.h"
#include "run/runner.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct preparing {
    const char *command;
    double limit; /* seconds; 0: none */
};

static const struct pr_value *commands_of(const struct pr_run_group *p,
                                          struct pr_experiment_run **ret_first)
{
    for (size_t i = 0; i < p->count; i++)
        if (!p->trips[i]->over) {
            *ret_first = p->trips[i];
            return p->trips[i]->suite.prepare;
        }
    return NULL;
}

static void prepare_add_warning(struct pr_run_group *p, const char *command,
                                const char *why)
{
    for (size_t i = 0; i < p->count; i++)
        if (!p->trips[i]->over)
            pr_collect_add_warning(&p->trips[i]->notes, "prepare: '%.200s' %s",
                                   command, why);
}

/* The words in the log before what they do, as milarun shows them. */
static int log_command(const char *path, const char *command,
                       struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf line = PR_BUF_INIT(1 << 20);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    bool ok;

    if (fd < 0)
        return pr_fail_errno(err, PR_E_IO, path, "cannot write");
    pr_buf_printf(&line, "+ %s\n", command);
    ok = pr_buf_ok(&line) && pr_write_all(fd, line.data, line.len);
    close(fd);
    return ok ? PR_OK : pr_fail_errno(err, PR_E_IO, path, "cannot write");
}

static void prepare_check_end(struct pr_run_group *p, const char *command,
                              const struct pr_child_event *e)
{
    char why[200] = "";

    if (e->kind == PR_CHILD_FAILED)
        snprintf(why, sizeof why, "could not be started: %s",
                 strerror(e->sys_errno));
    else if (WIFSIGNALED(e->wait_status))
        snprintf(why, sizeof why, "was killed by signal %d",
                 WTERMSIG(e->wait_status));
    else if (WEXITSTATUS(e->wait_status))
        snprintf(why, sizeof why, "ended with status %d",
                 WEXITSTATUS(e->wait_status));
    if (*why)
        prepare_add_warning(p, command, why);
}

static void prepare_warn_late(struct pr_run_group *p, const char *command,
                              double limit)
{
    char why[64];

    snprintf(why, sizeof why, "did not end within %g s", limit);
    prepare_add_warning(p, command, why);
}

/* Until it has ended. A signal to us ends it, and so does its limit, which it
 * has for itself. */
static int prepare_wait(struct pr_runner *r, struct pr_run_group *p,
                        uint32_t tag, const struct preparing *what,
                        struct pr_err *err)
{
    struct pr_child_event e = {.kind = PR_CHILD_STARTED};
    uint64_t due = what->limit > 0
                       ? pr_now(r->opts->clock) + (uint64_t)(what->limit * 1e9)
                       : 0;
    bool killed = false;
    int rc = PR_OK;

    while (!rc && (e.tag != tag || e.kind == PR_CHILD_STARTED)) {
        rc = pr_run_group_wait(r, p, !killed, killed ? 0 : due, &e, err);
        if (rc == 1) {
            killed = true;
            if (!r->stop.count)
                prepare_warn_late(p, what->command, what->limit);
            rc = pr_keeper_signal(r->keeper, tag, SIGKILL, err);
        }
    }
    if (!rc && !killed)
        prepare_check_end(p, what->command, &e);
    return rc;
}

/* The shorter one of the two that are set. */
static double limit_of(const struct pr_experiment_run *t)
{
    double own = t->suite.prepare_timeout, exp = t->job.exp.timeout;

    return own > 0 && (exp <= 0 || own < exp) ? own : exp;
}

static int run_command(struct pr_runner *r, struct pr_run_group *p,
                       struct pr_experiment_run *first, const char *command,
                       struct pr_err *err)
{
    struct pr_spawn spawn = {.tag = ++r->tags, .id = first->planned.id};
    const struct preparing what = {command, limit_of(first)};
    struct pr_err why = {0};
    char path[4096 + 32];
    size_t n = 0;
    int rc;

    snprintf(path, sizeof path, "%s/prepare.txt", first->dir);
    rc = log_command(path, command, err);
    if (rc)
        return rc;
    spawn.log_path = path;
    rc = pr_words_split(command, r->arena, (const char ***)&spawn.argv, &n,
                        &why);
    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    if (rc || !n) {
        prepare_add_warning(p, command, rc ? why.msg : "is empty");
        return PR_OK;
    }
    rc = pr_keeper_spawn(r->keeper, &spawn, err);
    return rc ? rc : prepare_wait(r, p, spawn.tag, &what, err);
}

int pr_run_group_prepare(struct pr_runner *r, struct pr_run_group *p,
                         bool *ret_stopped, struct pr_err *err)
{
    struct pr_experiment_run *first = NULL;
    const struct pr_value *list = commands_of(p, &first);
    int rc = PR_OK;

    for (uint32_t i = 0; list && i < list->len && !rc; i++) {
        pr_stop_read(&r->stop);
        if (r->stop.count)
            break;
        if (list->items[i].kind == PR_STR)
            rc = run_command(r, p, first, list->items[i].s, err);
    }
    *ret_stopped = r->stop.count > 0;
    return rc;
}
