/* DLBS's log file: its head, its way into log.txt, and its verdict. */
#include "run/contract.h"

#include "base/file.h"
#include "base/json/json.h"
#include "base/text.h"
#include "record/channel.h"
#include "record/log.h"
#include "run/collect.h"
#include "workload/framework_script.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_HEAD = 256 << 20 };

/* ---- the head */

static void contract_write_command(const char *const *argv, struct pr_buf *out)
{
    pr_buf_str(out, "Running subprocess ([");
    for (size_t i = 0; argv && argv[i]; i++) {
        struct pr_value word = pr_str(argv[i]);
        pr_buf_str(out, i ? ", " : "");
        pr_value_write_repr(out, &word);
    }
    pr_buf_str(out, "])");
}

void pr_contract_write_header(const struct pr_job *job,
                              const struct pr_start *start, struct pr_buf *out)
{
    struct pr_value path = pr_str(start->log_file);

    contract_write_command(start->argv, out);
    pr_buf_str(out, " with log file ");
    pr_value_write_repr(out, &path);
    pr_buf_str(out, "\n\n--------------------------\n"
                    "Variables from python script.\n"
                    "--------------------------\n");
    for (uint32_t i = 0; i < job->params->len; i++) {
        const struct pr_member *m = &job->params->members[i];
        if (!pr_framework_is_launcher_param(m->key, &m->value))
            continue;
        pr_buf_printf(out, "__%s__=", m->key);
        pr_json_write(out, &m->value);
        pr_buf_char(out, '\n');
    }
    pr_buf_str(out, "\n----------------------------\n"
                    "Starting framework launcher.\n"
                    "----------------------------\n");
}

/* ---- files */

static bool is_regular(const char *path, struct stat *st)
{
    return stat(path, st) == 0 && S_ISREG(st->st_mode);
}

static bool contract_is_same_file(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* What starts a new line in a file open for reading and appending. */
static bool contract_end_line(int fd)
{
    struct stat st;
    char last;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size ||
        pread(fd, &last, 1, st.st_size - 1) != 1 || last == '\n')
        return true;
    return pr_write_all(fd, "\n", 1);
}

static bool begins_with(int fd, const struct pr_buf *head)
{
    char block[4096];
    size_t at = 0;

    while (at < head->len) {
        size_t most =
            head->len - at < sizeof block ? head->len - at : sizeof block;
        ssize_t n = pread(fd, block, most, (off_t)at);
        if (n <= 0 || memcmp(block, head->data + at, (size_t)n) != 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

/* What comes after the head, if it is still there. */
static bool copy_rest(int in, const struct pr_buf *head, int out)
{
    char block[65536];
    struct stat st;
    off_t left = fstat(in, &st) == 0 ? st.st_size : 0;

    if (begins_with(in, head))
        left -= lseek(in, (off_t)head->len, SEEK_SET);
    while (left > 0) {
        ssize_t n = read(in, block, sizeof block);
        if (n < 0 || (n > 0 && !pr_write_all(out, block, (size_t)n)))
            return false;
        left = n ? left - n : 0;
    }
    return true;
}

static int append_rest(int fd, const char *from, const struct pr_buf *head,
                       struct pr_err *err)
{
    int in = open(from, O_RDONLY | O_NONBLOCK | O_CLOEXEC), rc = PR_OK;

    if (in < 0)
        return pr_fail_errno(err, PR_E_IO, from, "cannot open");
    if (!copy_rest(in, head, fd))
        rc = pr_fail_errno(err, PR_E_IO, from, "cannot add it to log.txt");
    close(in);
    return rc;
}

static int open_log(const char *path, struct pr_err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

    if (fd < 0)
        pr_fail_errno(err, PR_E_IO, path, "cannot open");
    return fd;
}

static int append_text(const char *path, const struct pr_buf *text,
                       struct pr_err *err)
{
    int fd = open_log(path, err), rc = PR_OK;

    if (fd < 0)
        return PR_E_IO;
    if (!contract_end_line(fd) || !pr_write_all(fd, text->data, text->len))
        rc = pr_fail_errno(err, PR_E_IO, path, "cannot write");
    close(fd);
    return rc;
}

/* ---- before */

static int begin_file(const char *path, const struct pr_buf *head,
                      struct pr_err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    int rc = PR_OK;

    if (fd < 0 || !pr_write_all(fd, head->data, head->len))
        rc = pr_fail_errno(err, PR_E_IO, path, "cannot write");
    if (fd >= 0)
        close(fd);
    return rc;
}

/* The user's file is made, and lies nowhere among ours. */
static int contract_check_log_file(const struct pr_job *job, const char *path,
                                   struct pr_err *err)
{
    char run[4096 + 8];
    int rc = pr_collect_make_folder(path, err);

    snprintf(run, sizeof run, "%s/../..", job->dir);
    if (!rc && pr_collect_is_inside(path, run))
        rc = pr_fail(err, PR_E_CONF, path,
                     "exp.log_file lies in the run directory");
    return rc;
}

int pr_contract_begin(const struct pr_job *job, const struct pr_start *start,
                      const char *log_path, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf head = PR_BUF_INIT(MAX_HEAD);
    const char *path = start->log_file;
    struct stat st;
    int rc;

    if (!path)
        return PR_OK;
    pr_contract_write_header(job, start, &head);
    if (!pr_buf_ok(&head))
        return pr_fail_nomem(err);
    rc = begin_file(log_path, &head, err);
    if (rc || contract_is_same_file(path, log_path) ||
        (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
        return rc;
    rc = contract_check_log_file(job, path, err);
    return rc ? rc : begin_file(path, &head, err);
}

/* ---- after */

bool pr_contract_is_apart(const struct pr_start *start, const char *log_path)
{
    struct stat st;

    return start->log_file && is_regular(start->log_file, &st) &&
           !contract_is_same_file(start->log_file, log_path);
}

int pr_contract_gather(const struct pr_job *job, const struct pr_start *start,
                       const char *log_path, const struct pr_buf *more,
                       struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf head = PR_BUF_INIT(MAX_HEAD);
    bool apart = pr_contract_is_apart(start, log_path);
    int rc = PR_OK, fd;

    if (more && more->len)
        rc = append_text(apart ? start->log_file : log_path, more, err);
    if (rc || !apart)
        return rc;
    pr_contract_write_header(job, start, &head);
    if (!pr_buf_ok(&head))
        return pr_fail_nomem(err);
    fd = open_log(log_path, err);
    if (fd < 0)
        return PR_E_IO;
    if (!contract_end_line(fd))
        rc = pr_fail_errno(err, PR_E_IO, log_path, "cannot write");
    if (!rc)
        rc = append_rest(fd, start->log_file, &head, err);
    close(fd);
    return rc;
}

/* ---- what it says */

struct said {
    const struct pr_job *job; /* its own parameters are in the head */
    bool has_time, failed, skipped;
    char words[256];
};

static bool contract_is_word(const struct pr_value *v, const char *want)
{
    return v->kind == PR_STR && strcmp(v->s, want) == 0;
}

/* Its own message is in the head. */
static void contract_read_words(struct said *s, const struct pr_value *text)
{
    size_t n = contract_is_word(text, s->job->exp.status_msg)
                   ? 0
                   : pr_utf8_fit(text->s, text->len, sizeof s->words - 1);

    memcpy(s->words, text->s, n);
    s->words[n] = '\0';
}

/* The last line of a name counts. */
static int contract_read_value(void *ctx, const char *key, size_t len,
                               const struct pr_value *value, struct pr_err *err)
{
    struct said *s = ctx;
    bool status = pr_text_is(key, len, "exp.status");

    (void)err;
    if (pr_text_is(key, len, "results.time"))
        s->has_time = pr_value_is_number(value) && pr_value_number(value) > 0;
    if (status || pr_text_is(key, len, "results.status")) {
        bool own = status && contract_is_word(value, s->job->exp.status);
        s->skipped = !own && contract_is_word(value, "skipped");
        s->failed = !own && (contract_is_word(value, "failure") ||
                             contract_is_word(value, "failed"));
    }
    if (value->kind == PR_STR && (pr_text_is(key, len, "exp.status_msg") ||
                                  pr_text_is(key, len, "exp.status_message")))
        contract_read_words(s, value);
    return 0;
}

static void contract_set_status(struct pr_attempt *a, enum pr_status status,
                                const char *words)
{
    a->status = status;
    snprintf(a->reason, sizeof a->reason, "%s", words);
}

static bool contract_read_verdict(const char *log_path,
                                  const char *channel_path, struct said *s)
{
    struct pr_channel_sum sum = {0};
    struct pr_log_counts n;

    if (pr_log_scan(log_path, contract_read_value, s, &n, NULL) ||
        (channel_path && *channel_path &&
         pr_channel_collect(channel_path, contract_read_value, s, &sum, NULL)))
        return false;
    pr_buf_free(&sum.rates);
    return true;
}

void pr_contract_judge(const struct pr_job *job, const char *log_path,
                       const char *channel_path, struct pr_attempt *a)
{
    struct said s = {.job = job};

    if (a->end.kind != PR_CHILD_ENDED || !WIFEXITED(a->end.wait_status) ||
        (a->status != PR_STATUS_OK && a->status != PR_STATUS_FAILED) ||
        !contract_read_verdict(log_path, channel_path, &s))
        return;
    if (s.skipped)
        contract_set_status(a, PR_STATUS_SKIPPED,
                            *s.words ? s.words : "the launcher says skipped");
    else if (a->status == PR_STATUS_FAILED && *s.words)
        contract_set_status(a, PR_STATUS_FAILED, s.words);
    else if (a->status == PR_STATUS_OK && s.failed)
        contract_set_status(a, PR_STATUS_FAILED,
                            *s.words ? s.words : "the launcher says failure");
    else if (a->status == PR_STATUS_OK && !s.has_time)
        contract_set_status(a, PR_STATUS_FAILED, "no results.time in the log");
}
