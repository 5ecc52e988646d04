/* Rules of --fail-if: read, they are finite, and hold or do not for any row. */
#include "analyse/compare/compare.h"
#include "base/buf.h"

#include <math.h>
#include <stdlib.h>

static void must(bool ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT((size_t)1 << 24);
    struct pr_compare_row row = {0};
    struct pr_compare_rule *rules;
    struct pr_err err = {0};
    size_t n = 0;
    int rc;

    pr_buf_add(&text, data, bytes);
    pr_buf_char(&text, '\0');
    rc = pr_compare_parse_rules(text.data, a, &rules, &n, &err);
    if (rc) {
        must(rc == PR_E_USAGE && err.msg[0] && err.hint[0]);
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        must(isfinite(rules[i].over) && rules[i].over >= 0);
    (void)pr_compare_is_rule_broken(&row, rules, n);
    return 0;
}
