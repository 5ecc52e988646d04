/*
 * Before and after the container program. When it has ended, a daemon may still
 * hold the container then, because signals reach only the program; and an exit
 * status of 137 says nothing of memory. So the program is asked, and told to
 * forget the container.
 */
#include "base/file.h"
#include "launch/capture.h"
#include "record/log.h"
#include "run/contained.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SOON_S = 10, /* while somebody waits for the end */
    ASK_S = 20,
    KILL_S = 30,
    LINES = 4,         /* of a log, among which the reason is */
    CANNOT_START = 125 /* of docker and podman: no container ran */
};

/* Whether what ran inside has ended by itself, as far as the program knows. */
static bool ended_inside(const struct pr_child_event *e)
{
    return e->kind == PR_CHILD_ENDED && WIFEXITED(e->wait_status) &&
           WEXITSTATUS(e->wait_status) != CANNOT_START;
}

/* False: nobody knows. */
static bool job_container_inspect(const struct pr_job_container *c,
                                  int *ret_status, bool *ret_oom)
{
    PR_AUTO_BUF struct pr_buf answer = PR_BUF_INIT(1 << 16);
    int ws;

    return pr_capture(c->box.inspect, ASK_S, &answer, &ws, NULL) == PR_OK &&
           !ws && answer.len &&
           pr_container_parse_inspect(answer.data, ret_status, ret_oom);
}

static void ask_how(const struct pr_job_container *c, struct pr_attempt *a)
{
    struct pr_child_event *e = &a->end;
    int status;
    bool oom;

    if (!job_container_inspect(c, &status, &oom))
        return;
    if (!ended_inside(e)) { /* of one that never ran this is no answer */
        a->ended_inside = WIFEXITED(e->wait_status) && status == CANNOT_START;
        return;
    }
    e->oom |= oom;
    if (status > 0 && status < 256)
        e->wait_status = W_EXITCODE(status, 0);
}

static bool is_gone_already(const struct pr_buf *answer)
{
    return answer->len && strcasestr(answer->data, "no such container");
}

static bool remove_by(const char *const *argv)
{
    PR_AUTO_BUF struct pr_buf answer = PR_BUF_INIT(1 << 16);
    int ws;

    if (pr_capture(argv, KILL_S, &answer, &ws, NULL) != PR_OK)
        return false;
    return ws == 0 || is_gone_already(&answer);
}

/* Twice: a daemon may be busy with its end just now. */
static bool remove_it(const struct pr_job_container *c)
{
    bool gone = false;

    for (int i = 0; i < 2 && !gone; i++)
        gone = remove_by(c->box.remove);
    if (gone)
        (void)unlink(c->record);
    return gone;
}

/* ---- what an earlier run left */

enum { MAX_NAME = 200, MAX_WORDS = 64 };

/* Only such as we make: nobody's else is ended, whatever the file says. */
static bool job_container_read_name(const char *path, char out[static MAX_NAME])
{
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(out, 1, MAX_NAME - 1, f) : 0;

    if (f)
        fclose(f);
    out[n] = '\0';
    return strncmp(out, "prony-", 6) == 0 &&
           out[strspn(out, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                           "abcdefghijklmnopqrstuvwxyz0123456789_.-")] == '\0';
}

/* The same command for a container of another name, which is its last word. */
static bool job_container_rename_argv(const char **argv, const char *name,
                                      const char *out[static MAX_WORDS])
{
    size_t n = 0;

    for (; argv[n] && n < MAX_WORDS; n++)
        out[n] = argv[n];
    if (!n || n == MAX_WORDS)
        return false;
    out[n - 1] = name;
    out[n] = NULL;
    return true;
}

void pr_job_container_begin(const struct pr_job_container *c)
{
    const char *words[MAX_WORDS];
    char old[MAX_NAME];
    int ws;

    if (!c->box.remove)
        return;
    if (job_container_read_name(c->record, old)) {
        if (job_container_rename_argv(c->box.kill, old, words))
            (void)!pr_capture(words, KILL_S, NULL, &ws, NULL);
        if (job_container_rename_argv(c->box.remove, old, words))
            (void)!remove_by(words);
    }
    /* Without it an earlier one is left alone, no more. */
    (void)!pr_file_write_later(c->record, c->name, strlen(c->name), NULL);
}

/* ---- the end */

bool pr_job_container_kill(const struct pr_job_container *c)
{
    int ws;

    return c->box.kill &&
           pr_capture(c->box.kill, SOON_S, NULL, &ws, NULL) == PR_OK && !ws;
}

void pr_job_container_end(const struct pr_job_container *c,
                          struct pr_attempt *a, char left[static 128])
{
    struct pr_child_event *e = &a->end;
    int ws;

    left[0] = '\0';
    if (!c->box.argv)
        return;
    if (e->kind == PR_CHILD_FAILED) {
        (void)unlink(c->record);
        return;
    }
    /* These are the program's: its helpers, which clean up after it, and the
     * little it uses itself. Of what was inside the monitor knows. */
    e->leftovers = 0;
    e->cpu_user_ns = e->cpu_system_ns = e->max_rss_bytes = 0;
    if (c->box.kill && !ended_inside(e))
        (void)!pr_capture(c->box.kill, KILL_S, NULL, &ws, NULL);
    if (c->box.inspect && e->kind == PR_CHILD_ENDED &&
        WIFEXITED(e->wait_status) && e->wait_status)
        ask_how(c, a);
    if (c->box.remove && !remove_it(c))
        snprintf(left, 128, "container '%.90s' could not be removed", c->name);
}

/* ---- words */

/* docker's word after an error: "Run 'docker run --help' for more …". */
static bool is_advice(const char *line, size_t len)
{
    return memmem(line, len, "' for more information", 22) ||
           (len > 5 && strncmp(line, "See '", 5) == 0);
}

/* The last line of the log that says something, without what it ends with. */
static void job_container_read_last_line(const char *log_path,
                                         char out[static 256])
{
    PR_AUTO_BUF struct pr_buf tail = PR_BUF_INIT(8192);
    size_t end;

    out[0] = '\0';
    if (pr_log_tail(log_path, LINES, 4096, &tail, NULL) || !pr_buf_ok(&tail))
        return;
    for (end = tail.len; end;) {
        size_t begin = end, len;

        while (begin && tail.data[begin - 1] != '\n')
            begin--;
        len = end - begin;
        if (len && !is_advice(tail.data + begin, len)) {
            snprintf(out, 256, "%.*s", len < 255 ? (int)len : 255,
                     tail.data + begin);
            return;
        }
        end = begin ? begin - 1 : 0;
    }
}

static void add_signal(struct pr_attempt *a, int status)
{
    const char *name = status > 128 ? sigabbrev_np(status - 128) : NULL;

    if (name)
        snprintf(a->reason, sizeof a->reason,
                 "exit status %d, as of SIG%s inside the container", status,
                 name);
}

void pr_job_container_explain(const struct pr_job_container *c,
                              const char *log_path, struct pr_attempt *a)
{
    const char *words;
    char line[256];
    int status;

    if (!c->box.argv || a->end.kind != PR_CHILD_ENDED ||
        a->status != PR_STATUS_FAILED || !WIFEXITED(a->end.wait_status))
        return;
    status = WEXITSTATUS(a->end.wait_status);
    job_container_read_last_line(log_path, line);
    words = a->ended_inside
                ? NULL
                : pr_container_status_words(c->launcher, status, line);
    if (!words)
        add_signal(a, status);
    else if (*line)
        snprintf(a->reason, sizeof a->reason, "%s: %.190s", words, line);
}
