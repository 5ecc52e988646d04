/* What the files that make command lines of container programs share. */
#ifndef PR_LAUNCH_CONTAINER_IMPL_H
#define PR_LAUNCH_CONTAINER_IMPL_H

#include "launch/container.h"

#include <stddef.h>

const char *pr_container_kind_name(enum pr_container_kind kind);

/* A list that grows in the arena. Words are borrowed; NULL is taken for a lack
 * of memory. Adding after a failure does nothing. */
struct pr_container_words {
    struct pr_arena *arena;
    const char **items;
    size_t count, cap;
    bool failed;
};

void pr_container_add_word(struct pr_container_words *w, const char *word);
void pr_container_add_pair(struct pr_container_words *w, const char *option,
                           const char *value);
void pr_container_add_words(struct pr_container_words *w,
                            const char *const *words); /* or NULL */

/* Ends the list with NULL. PR_E_NOMEM also for what failed before. */
int pr_container_end_words(struct pr_container_words *w, const char ***ret,
                           struct pr_err *err) PR_MUST_CHECK;

/* What is planned, with the texts split. */
struct pr_container_plan {
    const struct pr_container_opts *o;
    struct pr_arena *arena;
    enum pr_container_kind kind;
    const char **launcher;
    const char **args;           /* those that are passed on */
    bool gpus, pull, log_driver; /* … and these are among them */
    bool cpuset, memory;
};

/* Fills args and what follows it from o->args. */
int pr_container_sort_args(struct pr_container_plan *p,
                           struct pr_err *err) PR_MUST_CHECK;

/* The words for o->mounts. */
void pr_container_add_mounts(struct pr_container_words *w,
                             const struct pr_container_plan *p);

int pr_container_plan_oci(const struct pr_container_plan *p,
                          struct pr_container *ret,
                          struct pr_err *err) PR_MUST_CHECK;
int pr_container_plan_apptainer(const struct pr_container_plan *p,
                                struct pr_container *ret,
                                struct pr_err *err) PR_MUST_CHECK;

#endif
