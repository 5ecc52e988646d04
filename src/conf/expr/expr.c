/*
 * The inside of $(...)$: entry point of the evaluator and its limits. The text
 * is parsed into a small tree, which is then evaluated: a branch that is not
 * taken is checked for its syntax and never run.
 */
#include "conf/expr.h"

#include "conf/expr/expr_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pr_ex_record(struct pr_ex *x, const char *fmt, ...)
{
    char msg[sizeof x->err->msg];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    x->rc = pr_fail(x->err, PR_E_CONF, "", "%s", msg);
}

void pr_ex_record_nomem(struct pr_ex *x)
{
    x->rc = pr_fail_nomem(x->err);
}

void pr_ex_record_too_long(struct pr_ex *x)
{
    pr_ex_record(x,
                 "the result is too large: at most %d bytes of text "
                 "or %d items are allowed",
                 PR_EX_BYTES, PR_EX_ITEMS);
}

void pr_ex_record_too_big(struct pr_ex *x)
{
    pr_ex_record(x, "whole number does not fit in 64 bits");
}

bool pr_ex_work(struct pr_ex *x, size_t bytes)
{
    if ((uint64_t)x->work < bytes)
        return pr_ex_fail(x, "the expression is too much work");
    x->work -= (int64_t)bytes;
    return true;
}

void *pr_ex_alloc(struct pr_ex *x, size_t bytes)
{
    void *p;

    if (!pr_ex_work(x, bytes))
        return NULL;
    p = pr_arena_alloc(x->arena, bytes);
    if (!p)
        pr_ex_record_nomem(x);
    return p;
}

static int append(struct pr_buf *out, const struct pr_ev *text,
                  struct pr_err *err)
{
    size_t len = out->len;

    if (out->failed || text->len > out->max - out->len)
        return pr_fail(err, PR_E_CONF, "", "the text is too long");
    pr_buf_add(out, text->s, text->len);
    if (pr_buf_ok(out))
        return PR_OK;
    out->len = len;
    out->failed = false;
    return pr_fail_nomem(err);
}

int pr_expr_eval(const char *text, size_t len, struct pr_arena *scratch,
                 struct pr_buf *out, bool *ret_pure, struct pr_err *err)
{
    struct pr_ex x = {
        .arena = scratch,
        .err = err,
        .pure = true,
        .steps = PR_EX_STEPS,
        .work = PR_EX_WORK,
    };
    struct pr_ex_node *tree = NULL;
    struct pr_ev result, str;

    if (len > PR_EX_BYTES)
        return pr_fail(err, PR_E_CONF, "", "the expression is too long");
    if (pr_ex_parse(&x, text, len, &tree) && pr_ex_eval(&x, tree, &result) &&
        pr_ex_to_str(&x, &result, &str))
        x.rc = append(out, &str, err);
    pr_ex_regexes_free(&x);
    if (x.rc == PR_OK && ret_pure)
        *ret_pure = x.pure;
    return x.rc;
}
