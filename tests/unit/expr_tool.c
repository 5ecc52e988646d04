/*
 * Evaluates one expression per line of stdin and prints "ok <result>" or
 * "error <message>" for each, so that another program can compare. Line ends
 * and backslashes in a result are written as \n, \r and \\.
 */
#include "conf/expr/expr_eval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_escaped(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '\n')
            fputs("\\n", stdout);
        else if (s[i] == '\r')
            fputs("\\r", stdout);
        else if (s[i] == '\\')
            fputs("\\\\", stdout);
        else
            putchar(s[i]);
    }
}

static void evaluate(const char *text, size_t len, struct pr_arena *scratch)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 22);
    struct pr_err err = {0};
    int r = pr_expr_eval(text, len, scratch, &out, NULL, &err);

    fputs(r == PR_OK ? "ok " : "error ", stdout);
    if (r == PR_OK)
        print_escaped(out.data, out.len);
    else
        print_escaped(err.msg, strlen(err.msg));
    if (err.hint[0])
        printf(" [%s]", err.hint);
    putchar('\n');
    pr_arena_reset(scratch);
}

int main(void)
{
    PR_AUTO_ARENA struct pr_arena *scratch = pr_arena_new(16384);
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;

    if (!scratch)
        return 1;
    while ((len = getline(&line, &cap, stdin)) >= 0) {
        if (len && line[len - 1] == '\n')
            len--;
        evaluate(line, (size_t)len, scratch);
        fflush(stdout);
    }
    free(line);
    return 0;
}
