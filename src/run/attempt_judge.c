/* What the end of an experiment means. */
#include "record/log.h"
#include "run/attempt_impl.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static void judge_signal(struct pr_attempt *a, int signo)
{
    const char *name = sigabbrev_np(signo);

    snprintf(a->reason, sizeof a->reason, "killed by signal %d (SIG%s)", signo,
             name ? name : "?");
}

void pr_attempt_judge(const struct pr_attempt_running *w, struct pr_attempt *a,
                      const char *program)
{
    const struct pr_child_event *e = &a->end;
    int ws = e->wait_status;

    a->status = PR_STATUS_FAILED;
    a->reason[0] = '\0';
    if (e->kind == PR_CHILD_FAILED && strcmp(e->what, "chdir") == 0) {
        snprintf(a->reason, sizeof a->reason,
                 "cannot enter exp.cwd '%.150s': %s", w->job->exp.cwd,
                 strerror(e->sys_errno));
    } else if (e->kind == PR_CHILD_FAILED && strcmp(e->what, "slot") == 0) {
        snprintf(a->reason, sizeof a->reason, "cannot enter its slot: %s",
                 strerror(e->sys_errno));
    } else if (e->kind == PR_CHILD_FAILED) {
        snprintf(a->reason, sizeof a->reason, "cannot start '%.150s' (%s): %s",
                 program, e->what, strerror(e->sys_errno));
    } else if (w->timed_out) {
        a->status = PR_STATUS_TIMEOUT;
        snprintf(a->reason, sizeof a->reason, "no end within %g s",
                 w->job->exp.timeout);
    } else if (w->interrupted) {
        a->status = PR_STATUS_INTERRUPTED;
        snprintf(a->reason, sizeof a->reason, "stopped by SIG%s",
                 sigabbrev_np(w->ctx->stop->signo));
    } else if (w->given_up) {
        a->status = PR_STATUS_INTERRUPTED;
        snprintf(a->reason, sizeof a->reason,
                 "stopped by --fail-fast: one that ran beside it failed");
    } else if (e->oom) {
        a->status = PR_STATUS_OOM;
        snprintf(a->reason, sizeof a->reason,
                 "the kernel ended it for lack of memory");
    } else if (WIFSIGNALED(ws)) {
        judge_signal(a, WTERMSIG(ws));
    } else if (WEXITSTATUS(ws)) {
        snprintf(a->reason, sizeof a->reason, "exit status %d",
                 WEXITSTATUS(ws));
    } else {
        a->status = PR_STATUS_OK;
    }
}

/* What follows "prony: " in the last line that begins so. NULL: none does; a
 * replica that was killed has no words of its own, but mpirun has, in a line
 * that since version 5 of Open MPI is broken within the sentence. */
static const char *last_words(char *text)
{
    static const char mark[] = "prony: ", other[] = " noticed that ";
    const char *words = NULL;
    char *noticed = strstr(text, other), *end;

    while (*text) {
        if (strncmp(text, mark, strlen(mark)) == 0)
            words = text + strlen(mark);
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    if (words || !noticed)
        return words;
    for (end = noticed; (end = strchr(end, '\n')) && end[-1] != '.'; end++)
        *end = ' ';
    return noticed + strlen(other);
}

void pr_attempt_read_reason(const char *log_path, size_t lines,
                            struct pr_attempt *a)
{
    PR_AUTO_BUF struct pr_buf tail = PR_BUF_INIT(8192);
    const char *words;
    size_t n;

    if (a->end.kind == PR_CHILD_FAILED || !WIFEXITED(a->end.wait_status) ||
        a->status != PR_STATUS_FAILED ||
        pr_log_tail(log_path, lines, 4096, &tail, NULL) || !pr_buf_ok(&tail) ||
        !tail.len)
        return;
    words = last_words(tail.data);
    n = words ? strcspn(words, "\n") : 0;
    if (n)
        snprintf(a->reason, sizeof a->reason, "%.*s", n < 250 ? (int)n : 250,
                 words);
}
