/* Any bytes as an expression: no crash, no hang, output untouched on failure,
 * and the same answer twice when the evaluator says it is pure. */
#include "conf/expr/expr_eval.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PR_AUTO_ARENA struct pr_arena *scratch = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf first = PR_BUF_INIT(1 << 21);
    PR_AUTO_BUF struct pr_buf second = PR_BUF_INIT(1 << 21);
    struct pr_err err = {0};
    bool pure = false;
    int r;

    if (!scratch)
        return 0;
    pr_buf_str(&first, "kept");
    pr_buf_str(&second, "kept");
    r = pr_expr_eval((const char *)data, size, scratch, &first, &pure, &err);
    if (r != PR_OK) {
        check(r == err.code && (r == PR_E_CONF || r == PR_E_NOMEM));
        check(err.msg[0] && !err.where[0]);
        check(first.len == 4 && strcmp(first.data, "kept") == 0);
        return 0;
    }
    check(first.len >= 4 && memcmp(first.data, "kept", 4) == 0);
    if (!pure)
        return 0;
    pr_arena_reset(scratch);
    r = pr_expr_eval((const char *)data, size, scratch, &second, NULL, NULL);
    check(r == PR_OK && first.len == second.len &&
          memcmp(first.data, second.data, first.len) == 0);
    return 0;
}
