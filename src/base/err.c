/* Errors: codes, their words and exit statuses, and the one-line fillers. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    int code, status;
    const char *text;
} codes[] = {
#define X(name, value, status, text) {value, status, text},
    PR_CODES(X)
#undef X
};

int pr_code_exit_status(int code)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code)
            return codes[i].status;
    return 70;
}

const char *pr_code_text(int code)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code)
            return codes[i].text;
    return "unknown error";
}

/* What the last call on this thread returned: a caller that passes no struct
 * still gets its code back from pr_hint and pr_reword. */
static _Thread_local int last_code;

static void err_fill(struct pr_err *err, int code, const char *where,
                     const char *fmt, va_list ap)
{
    char msg[sizeof err->msg];

    /* Format first: the arguments may point into err itself. */
    vsnprintf(msg, sizeof msg, fmt, ap);
    if (where != err->where)
        snprintf(err->where, sizeof err->where, "%s", where ? where : "");
    memcpy(err->msg, msg, sizeof msg);
    err->code = code;
    err->sys_errno = 0;
    err->hint[0] = '\0';
}

int pr_fail(struct pr_err *err, int code, const char *where, const char *fmt,
            ...)
{
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        err_fill(err, code, where, fmt, ap);
        va_end(ap);
    }
    return last_code = code;
}

/* Limits of the system have the same remedy wherever they are met. */
static const struct {
    int code;
    const char *hint;
} limits[] = {
    {EMFILE, "raise the limit of open files (ulimit -n)"},
    {ENFILE, "the whole system has too many open files"},
    {EFBIG, "the file system or a limit (ulimit -f) does not allow files as "
            "large as this"},
    {ENOSPC, "free some space (df -h, df -i), or use another folder"},
    {EDQUOT, "your quota is used up: free some space, or use another folder"},
};

static void hint_limit(struct pr_err *err)
{
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].code == err->sys_errno)
            snprintf(err->hint, sizeof err->hint, "%s", limits[i].hint);
}

int pr_fail_errno(struct pr_err *err, int code, const char *where,
                  const char *fmt, ...)
{
    int saved = errno;

    if (err) {
        va_list ap;
        size_t used;

        va_start(ap, fmt);
        err_fill(err, code, where, fmt, ap);
        va_end(ap);
        err->sys_errno = saved;
        used = strlen(err->msg);
        snprintf(err->msg + used, sizeof err->msg - used, ": %s",
                 strerror(saved));
        hint_limit(err);
    }
    errno = saved;
    return last_code = code;
}

int pr_fail_at(struct pr_err *err, int code, const char *name, unsigned line,
               unsigned col, const char *fmt, ...)
{
    if (err) {
        char where[sizeof err->where];
        va_list ap;

        if (line && col)
            snprintf(where, sizeof where, "%s:%u:%u", name, line, col);
        else if (line)
            snprintf(where, sizeof where, "%s:%u", name, line);
        else
            snprintf(where, sizeof where, "%s", name ? name : "");
        va_start(ap, fmt);
        err_fill(err, code, where, fmt, ap);
        va_end(ap);
    }
    return last_code = code;
}

int pr_fail_nomem(struct pr_err *err)
{
    return pr_fail(err, PR_E_NOMEM, "", "out of memory");
}

int pr_reword(struct pr_err *err, const char *where, const char *fmt, ...)
{
    char hint[sizeof err->hint];
    int sys_errno;
    va_list ap;

    if (!err)
        return last_code;
    memcpy(hint, err->hint, sizeof hint);
    sys_errno = err->sys_errno;
    va_start(ap, fmt);
    err_fill(err, err->code, where, fmt, ap);
    va_end(ap);
    memcpy(err->hint, hint, sizeof hint);
    err->sys_errno = sys_errno;
    return err->code;
}

int pr_hint(struct pr_err *err, const char *fmt, ...)
{
    if (!err)
        return last_code;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->hint, sizeof err->hint, fmt, ap);
    va_end(ap);
    return err->code;
}
