/* `--fail-if`: rules such as "slower:5%,failed", and what breaks them. */
#include "analyse/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word;
    enum pr_compare_verdict verdict;
    bool limit; /* may have one */
} compare_fail_words[] = {
    {"slower", PR_VERDICT_SLOWER, true},
    {"faster", PR_VERDICT_FASTER, true},
    {"unclear", PR_VERDICT_UNCLEAR, false},
    {"failed", PR_VERDICT_FAILED, false},
    {"missing", PR_VERDICT_MISSING, false},
};

static int bad_rule(const char *rule, size_t len, struct pr_err *err)
{
    pr_fail(err, PR_E_USAGE, "--fail-if", "'%.*s' is not a rule",
            (int)(len > 80 ? 80 : len), rule);
    return pr_hint(err,
                   "slower, slower:5%%, faster:2%%, unclear, failed, missing; "
                   "several with commas");
}

/* "5%", "5 %" or "0.05". */
static bool read_limit(const char *text, size_t len, double *ret)
{
    char copy[32], *end;

    if (!len || len >= sizeof copy)
        return false;
    memcpy(copy, text, len);
    copy[len] = 0;
    *ret = strtod(copy, &end);
    while (*end == ' ')
        end++;
    if (*end == '%') {
        *ret /= 100;
        end++;
    }
    return end != copy && !*end && isfinite(*ret) && *ret >= 0;
}

static int read_rule(const char *text, size_t len, struct pr_compare_rule *ret,
                     struct pr_err *err)
{
    const char *colon = memchr(text, ':', len);
    size_t word = colon ? (size_t)(colon - text) : len;

    for (size_t i = 0;
         i < sizeof compare_fail_words / sizeof *compare_fail_words; i++) {
        if (strlen(compare_fail_words[i].word) != word ||
            memcmp(compare_fail_words[i].word, text, word))
            continue;
        *ret =
            (struct pr_compare_rule){.verdict = compare_fail_words[i].verdict};
        if (!colon || (compare_fail_words[i].limit &&
                       read_limit(colon + 1, len - word - 1, &ret->over)))
            return PR_OK;
    }
    return bad_rule(text, len, err);
}

int pr_compare_parse_rules(const char *text, struct pr_arena *a,
                           struct pr_compare_rule **ret, size_t *ret_count,
                           struct pr_err *err)
{
    struct pr_compare_rule *rules =
        PR_ARENA_ARRAY(a, struct pr_compare_rule, strlen(text) + 1);
    size_t count = 0;
    int rc = rules ? PR_OK : pr_fail_nomem(err);

    while (!rc) {
        size_t len = strcspn(text, ",");

        rc = read_rule(text, len, &rules[count++], err);
        text += len;
        if (!*text++)
            break;
    }
    if (rc)
        return rc;
    *ret = rules;
    *ret_count = count;
    return PR_OK;
}

/* How much better or worse, whichever way the figure goes. */
static double compute_row_change(const struct pr_compare_row *r)
{
    bool down = r->better == PR_BETTER_SHORTER || r->better == PR_BETTER_LESS;
    double speed = down ? 1 / r->ratio : r->ratio;

    return fabs(speed - 1);
}

bool pr_compare_is_rule_broken(const struct pr_compare_row *r,
                               const struct pr_compare_rule *rules,
                               size_t count)
{
    enum pr_compare_verdict v = r->verdict;

    if (v == PR_VERDICT_WORSENED)
        v = PR_VERDICT_SLOWER;
    if (v == PR_VERDICT_IMPROVED)
        v = PR_VERDICT_FASTER;
    for (size_t i = 0; i < count; i++) {
        if (rules[i].verdict == PR_VERDICT_FAILED && r->failed_b > r->failed_a)
            return true;
        if (rules[i].verdict == v &&
            (!(rules[i].over > 0) || compute_row_change(r) > rules[i].over))
            return true;
    }
    return false;
}
