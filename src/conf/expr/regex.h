/*
 * Python's regular expressions (re module), by PCRE2 with limits on steps and
 * memory, so that no pattern from a config can hang us.
 */
#ifndef PR_CONF_REGEX_H
#define PR_CONF_REGEX_H

#include "base/err.h"
#include "base/value.h"

struct pr_regex; /* immutable: several threads may use it at once */

/* The version of the library behind it, for example "10.42". */
const char *pr_regex_version(void);

enum pr_regex_flags {
    PR_REGEX_IGNORE_CASE = 1 << 0,
    PR_REGEX_MULTILINE = 1 << 1, /* ^ and $ at every line */
    PR_REGEX_DOTALL = 1 << 2,    /* . is a line end too */
};

/* Compiles; *ret_re is freed with pr_regex_free. PR_E_CONF says where in the
 * pattern it is wrong. */
int pr_regex_new(const char *pattern, size_t len, unsigned flags,
                 struct pr_regex **ret_re, struct pr_err *err) PR_MUST_CHECK;
void pr_regex_free(struct pr_regex *re); /* NULL is fine */

/* Number of capture groups. */
unsigned pr_regex_group_count(const struct pr_regex *re);

struct pr_regex_span {
    size_t start, end; /* start == PR_REGEX_NO_SPAN: the group took no part */
};
#define PR_REGEX_NO_SPAN ((size_t)-1)

/* re.match: anchored at the start only. 1 match, 0 none, negative: failed
 * (limit reached). spans may be NULL; else groups + 1 of them are filled. */
int pr_regex_match(const struct pr_regex *re, const char *s, size_t len,
                   struct pr_regex_span *spans,
                   struct pr_err *err) PR_MUST_CHECK;

/* re.search from offset from. */
int pr_regex_search(const struct pr_regex *re, const char *s, size_t len,
                    size_t from, struct pr_regex_span *spans,
                    struct pr_err *err) PR_MUST_CHECK;

/* Every match in turn, as re.finditer: an empty match is followed by one that
 * is not empty or begins later. The text and re are borrowed. */
struct pr_regex_walk;
int pr_regex_walk_new(const struct pr_regex *re, const char *s, size_t len,
                      struct pr_regex_walk **ret_walk,
                      struct pr_err *err) PR_MUST_CHECK;
void pr_regex_walk_free(struct pr_regex_walk *w); /* NULL is fine */

/* 1: the next match, groups + 1 spans filled; 0: no more; or negative. */
int pr_regex_walk_next(struct pr_regex_walk *w, struct pr_regex_span *spans,
                       struct pr_err *err) PR_MUST_CHECK;

/* Number of the group of that name, 0 when there is none. */
unsigned pr_regex_find_group(const struct pr_regex *re, const char *name,
                             size_t len);

struct pr_regex_sub_in {
    const char *repl;
    size_t repl_len;
    const char *s;
    size_t len;
    size_t count; /* the first so many places; 0: all */
};

/* re.sub(pattern, repl, s, count): repl may use \1, \g<1> and \g<name>.
 * Appends to out, or on failure leaves it as it was. */
int pr_regex_sub(const struct pr_regex *re, const struct pr_regex_sub_in *in,
                 struct pr_buf *out, struct pr_err *err) PR_MUST_CHECK;

#endif
