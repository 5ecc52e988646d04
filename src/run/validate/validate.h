/*
 * What a plan needs and this machine lacks, found before anything runs: all
 * of it in one list, each thing once, with the experiments it concerns.
 */
#ifndef PR_RUN_VALIDATE_H
#define PR_RUN_VALIDATE_H

#include "plan/fragment.h"
#include "plan/plan.h"

enum pr_requirement_kind {
    PR_REQUIREMENT_CONFIG,    /* parameters that cannot work */
    PR_REQUIREMENT_FRAMEWORK, /* not known, not installed, cannot do that phase
                               */
    PR_REQUIREMENT_MODEL,
    PR_REQUIREMENT_COMMAND,   /* program or script */
    PR_REQUIREMENT_CONTAINER, /* container program */
    PR_REQUIREMENT_IMAGE,
    PR_REQUIREMENT_GPU,
    PR_REQUIREMENT_DATA,
    PR_REQUIREMENT_SPACE,
    PR_REQUIREMENT_LOG_FILE, /* two experiments would write the same */
    PR_REQUIREMENT_KINDS
};

struct pr_requirement {
    enum pr_requirement_kind kind;
    int code;           /* what a run that is refused for it ends with */
    const char *what;   /* "image 'hpe/mxnet:cuda9' is not on this machine" */
    const char *remedy; /* "" for none */
    uint64_t count;     /* experiments concerned */
    char first[40];     /* the id of the first */
    bool stops;         /* a run is refused; else these experiments may fail */
};

struct pr_validation {
    struct pr_arena *arena;
    struct pr_requirement *lacks;
    size_t count, cap;
    size_t stops;  /* of these, those for which a run is refused */
    uint64_t more; /* that were left out of the list: it is too long */
    uint64_t experiments, off, concerned;
    struct pr_warnings warnings; /* parameters without effect */
};

/* Looks at every experiment. Fails only when that cannot be done. Free with
 * pr_validation_close. */
int pr_plan_validate(struct pr_plan *p, struct pr_validation *ret,
                     struct pr_err *err) PR_MUST_CHECK;
/* The same for a finished plan.json. */
int pr_plan_file_validate(const char *path, struct pr_validation *ret,
                          struct pr_err *err) PR_MUST_CHECK;
void pr_validation_close(struct pr_validation *v);

/* As an error, PR_OK when there is none: that something is missing; or with
 * stops_alone why a run is refused, in its own words if it is one thing, and
 * with the first experiment as the place. */
int pr_validation_error(const struct pr_validation *v, bool stops_alone,
                        struct pr_err *err) PR_MUST_CHECK;

const char *
pr_requirement_kind_word(enum pr_requirement_kind kind); /* "image" */

#endif
