/*
 * Conditions of extensions and queries over results, by DLBS's rules: a map of
 * names to what is wanted, all of which must hold. Text is a regular
 * expression that must match from the start; a list means membership; anything
 * else equality (1, 1.0 and true are equal). A list of names in place of a map
 * asks that all of them be there.
 */
#ifndef PR_CONF_QUERY_H
#define PR_CONF_QUERY_H

#include "base/err.h"
#include "base/value.h"

struct pr_query;

/* value is borrowed and must outlive the query; NULL or null always matches.
 * name (a file or option) is for errors. Free with pr_query_free. */
int pr_query_new(const struct pr_value *value, const char *name,
                 struct pr_query **ret, struct pr_err *err) PR_MUST_CHECK;
void pr_query_free(struct pr_query *q);

/* How a query finds the value of a name; NULL: not there. */
typedef const struct pr_value *pr_query_get(const void *ctx, const char *name,
                                            size_t len);

enum pr_query_policy {
    PR_QUERY_STRICT,  /* a name that is not there does not match */
    PR_QUERY_RELAXED, /* … matches: DLBS's rule for extensions */
};

/* 1 match, 0 no match, negative: failed. */
int pr_query_match(const struct pr_query *q, pr_query_get *get, const void *ctx,
                   enum pr_query_policy policy,
                   struct pr_err *err) PR_MUST_CHECK;

/* After a match: the text of group n of the term on name (0: the whole value
 * of the parameter), appended to out; None for a group that took no part.
 * 0 when the query has no such term or group. */
int pr_query_capture(const struct pr_query *q, pr_query_get *get,
                     const void *ctx, const char *name, size_t len, unsigned n,
                     struct pr_buf *out, struct pr_err *err) PR_MUST_CHECK;

/* The names the query speaks of, one by one; NULL when i is too large. */
const char *pr_query_name(const struct pr_query *q, size_t i);

#endif
