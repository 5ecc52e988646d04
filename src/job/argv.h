/* The arguments of a program that an experiment starts: words joined into one
 * list, with those of runtime.launcher in front. */
#ifndef PR_JOB_ARGV_H
#define PR_JOB_ARGV_H

#include "job/job.h"

struct pr_argv {
    struct pr_job *job; /* everything is in its arena */
    const char **items;
    size_t count, cap;
    size_t assignments; /* NAME=value words of the launcher, at the front */
};

/* Begins with the words of runtime.launcher. */
int pr_argv_init(struct pr_argv *a, struct pr_job *job,
                 struct pr_err *err) PR_MUST_CHECK;

/* Adds a word, which is borrowed. */
int pr_argv_add_word(struct pr_argv *a, const char *word,
                     struct pr_err *err) PR_MUST_CHECK;

/* Adds the items of a list as text, each one word; what names the list in
 * errors. */
int pr_argv_add_list(struct pr_argv *a, const char *what,
                     const struct pr_value *list,
                     struct pr_err *err) PR_MUST_CHECK;

/* Adds text, split into words. */
int pr_argv_add_text(struct pr_argv *a, const char *what, const char *text,
                     struct pr_err *err) PR_MUST_CHECK;

/* How many words of the program itself there are so far. */
size_t pr_argv_word_count(const struct pr_argv *a);

/* The whole: arguments, and the environment with the launcher's. */
int pr_argv_fill_start(struct pr_argv *a, struct pr_start *ret,
                       struct pr_err *err) PR_MUST_CHECK;

#endif
