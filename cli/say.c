/* What is said: answers on stdout, the conversation on stderr. */
#include "base/file.h"
#include "cli/cli.h"
#include "present/screen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static enum level level = SAY_INFO;

void message_set_level(enum level l)
{
    level = l;
}

enum level message_level(void)
{
    return level;
}

/* What configs and logs hold must not steer the terminal: line by line. */
static void put_safe(const char *text)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);

    while (*text) {
        size_t n = strcspn(text, "\n");
        pr_screen_clean(&out, text, n);
        text += n;
        if (*text)
            pr_buf_char(&out, *text++);
    }
    if (out.data)
        (void)pr_write_all(STDERR_FILENO, out.data, out.len);
}

void message_print(enum level l, const char *fmt, ...)
{
    char text[4096];
    va_list ap;

    if (l > level)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    put_safe(text);
}

void message_print_text(enum level l, const char *text)
{
    if (l <= level)
        put_safe(text);
}

void message_print_error(const struct pr_err *err)
{
    message_print(SAY_CRITICAL, "prony: %s%s%s\n", err->where,
                  *err->where ? ": " : "", err->msg);
    if (*err->hint)
        message_print(SAY_CRITICAL, "hint: %s\n", err->hint);
}

void message_print_warning(const char *where, const char *text,
                           const char *remedy)
{
    message_print(SAY_WARNING, "warning: %s%s%s\n", where, *where ? ": " : "",
                  text);
    if (*remedy)
        message_print(SAY_WARNING, "         %s\n", remedy);
}

static bool answered;
static struct pr_buf *kept;

void answer_print_into(struct pr_buf *b)
{
    kept = b;
}

bool has_answered(void)
{
    return answered;
}

int answer_print(const char *data, size_t len, struct pr_err *err)
{
    if (kept) {
        pr_buf_add(kept, data, len);
        return PR_OK;
    }
    answered = true;
    if (pr_write_all(STDOUT_FILENO, data, len))
        return PR_OK;
    return pr_fail_errno(err, PR_E_IO, "stdout", "cannot write");
}

int answer_print_buf(const struct pr_buf *b, struct pr_err *err)
{
    if (!pr_buf_ok(b))
        return pr_fail_nomem(err);
    return b->len ? answer_print(b->data, b->len, err) : PR_OK;
}

bool stdout_colour(const struct cli *c)
{
    const char *when = arg_get(c, A_COLOR);
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

    if (when && strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    return isatty(STDOUT_FILENO) && !(no && *no) &&
           !(term && strcmp(term, "dumb") == 0);
}

unsigned stdout_width(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
        return 0;
    return size.ws_col;
}
