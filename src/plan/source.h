/*
 * A file a user names, read and told apart by its content: whose config it is,
 * and its parsed text.
 */
#ifndef PR_PLAN_SOURCE_H
#define PR_PLAN_SOURCE_H

#include "plan/fragment.h"

/* X(kind, words) */
#define PR_SOURCE_KINDS(X)                       \
    X(PRONY, "Prony's own config")               \
    X(PLAN, "a plan of Prony's")                 \
    X(DLBS, "a DLBS config")                     \
    X(DLIO, "a DLIO or MLPerf Storage workload") \
    X(MILARUN, "a milarun profile")              \
    X(LAMBDA, "a Lambda config")

enum pr_config_source_kind {
#define X(kind, words) PR_SOURCE_##kind,
    PR_SOURCE_KINDS(X)
#undef X
};

const char *pr_config_source_kind_words(enum pr_config_source_kind kind);

struct pr_config_source {
    enum pr_config_source_kind kind;
    const char *path;
    struct pr_value root; /* null for a Lambda config */
};

/* Reads and recognises a file. In the arena. */
int pr_config_source_read(const char *path, struct pr_arena *a,
                          struct pr_config_source *ret,
                          struct pr_err *err) PR_MUST_CHECK;

/* Recognises text that was read already; name is for errors. */
int pr_config_source_parse(const char *text, size_t len, const char *name,
                           struct pr_arena *a, struct pr_config_source *ret,
                           struct pr_err *err) PR_MUST_CHECK;

/* Turns a source into fragments, one for each group of experiments in it. */
int pr_config_source_read_parts(struct pr_plan_scope *s,
                                const struct pr_config_source *src,
                                enum pr_origin_kind origin,
                                struct pr_config_part **ret, size_t *ret_count,
                                struct pr_err *err) PR_MUST_CHECK;

/* The readers behind it, one for each kind. */
int pr_from_dlbs(struct pr_plan_scope *s, const struct pr_config_source *src,
                 enum pr_origin_kind origin, struct pr_config_part **ret,
                 size_t *ret_count, struct pr_err *err) PR_MUST_CHECK;
int pr_from_dlio(struct pr_plan_scope *s, const struct pr_config_source *src,
                 enum pr_origin_kind origin, struct pr_config_part **ret,
                 size_t *ret_count, struct pr_err *err) PR_MUST_CHECK;
int pr_from_lambda(struct pr_plan_scope *s, const struct pr_config_source *src,
                   enum pr_origin_kind origin, struct pr_config_part **ret,
                   size_t *ret_count, struct pr_err *err) PR_MUST_CHECK;
int pr_from_milarun(struct pr_plan_scope *s, const struct pr_config_source *src,
                    enum pr_origin_kind origin, struct pr_config_part **ret,
                    size_t *ret_count, struct pr_err *err) PR_MUST_CHECK;

#endif
