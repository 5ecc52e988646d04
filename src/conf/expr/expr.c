/*
 * The inside of $(...)$: entry point of the evaluator and its limits. The text
 * is parsed into a small tree, which is then evaluated: a branch that is not
 * taken is checked for its syntax and never run.
 */
#include "conf/expr/expr.h"

#include "conf/expr/expr_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pr_expr_record_error(struct pr_expr *x, const char *fmt, ...)
{
    char msg[sizeof x->err->msg];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    x->rc = pr_fail(x->err, PR_E_CONF, "", "%s", msg);
}

void pr_expr_record_nomem(struct pr_expr *x)
{
    x->rc = pr_fail_nomem(x->err);
}

void pr_expr_record_too_long(struct pr_expr *x)
{
    pr_expr_record_error(x,
                         "the result is too large: at most %d bytes of text "
                         "or %d items are allowed",
                         PR_EXPR_BYTES, PR_EXPR_ITEMS);
}

void pr_expr_record_too_big(struct pr_expr *x)
{
    pr_expr_record_error(x, "whole number does not fit in 64 bits");
}

bool pr_expr_charge_work(struct pr_expr *x, size_t bytes)
{
    if ((uint64_t)x->work < bytes)
        return pr_expr_fail(x, "the expression is too much work");
    x->work -= (int64_t)bytes;
    return true;
}

void *pr_expr_alloc(struct pr_expr *x, size_t bytes)
{
    void *p;

    if (!pr_expr_charge_work(x, bytes))
        return NULL;
    p = pr_arena_alloc(x->arena, bytes);
    if (!p)
        pr_expr_record_nomem(x);
    return p;
}

static int expr_append_result(struct pr_buf *out,
                              const struct pr_expr_value *text,
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
    struct pr_expr x = {
        .arena = scratch,
        .err = err,
        .pure = true,
        .steps = PR_EXPR_STEPS,
        .work = PR_EXPR_WORK,
    };
    struct pr_expr_node *tree = NULL;
    struct pr_expr_value result, str;

    if (len > PR_EXPR_BYTES)
        return pr_fail(err, PR_E_CONF, "", "the expression is too long");
    if (pr_expr_parse(&x, text, len, &tree) &&
        pr_expr_eval_node(&x, tree, &result) &&
        pr_expr_to_str(&x, &result, &str))
        x.rc = expr_append_result(out, &str, err);
    pr_expr_regexes_free(&x);
    if (x.rc == PR_OK && ret_pure)
        *ret_pure = x.pure;
    return x.rc;
}
