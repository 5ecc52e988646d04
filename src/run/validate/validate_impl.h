/* What the parts of validation share: one look at one experiment after
 * another, and what was asked before. */
#ifndef PR_RUN_VALIDATE_IMPL_H
#define PR_RUN_VALIDATE_IMPL_H

#include "base/names.h"
#include "catalog/framework.h"
#include "machine/nvml.h"
#include "run/validate/validate.h"
#include "workload/workload.h"

enum {
    PR_REQUIREMENTS_MAX = 1000,
    PR_NO_REQUIREMENT = -1,
    PR_LOST_GPUS = -2, /* they become one lack in the end */
    PR_NO_ROOM = -3,   /* so does this, of each file system: minus its number */
};

/* GPUs that are missing, over all experiments: one lack in the end. */
struct pr_missing_gpus {
    struct pr_names *words;
    uint64_t count;
    char first[40];
    bool stops;
};

/* What data sets will take of one file system. */
struct pr_needed_space {
    uint64_t device, free, sets; /* sets: folders */
    uint64_t count;              /* experiments for which it is too much */
    uint64_t kept, largest;      /* bytes of all that stay, and of one that does
                                    not */
    char first[40];
    const char *folder; /* one of them */
};

struct pr_validator {
    struct pr_validation *ret;
    struct pr_names *lacks;  /* kind and words: their number is the lack's */
    struct pr_names *asked;  /* questions, with the lack that answered each */
    struct pr_names *places; /* what experiments write to */
    struct pr_names *made;   /* data folders that experiments make */
    uint64_t *made_bytes;    /* … and what is kept in each */
    size_t made_cap;
    struct pr_frameworks *frameworks;
    int32_t *answers;
    size_t answer_cap;
    uint64_t *last; /* of each lack: the experiment that had it last */
    size_t last_cap;
    uint64_t now;   /* number of the experiment looked at, from 1 */
    bool concerned; /* it lacks something */
    struct pr_missing_gpus lost[2]; /* those that a command of the user's may do
                                    without, and those that stop a run */
    struct pr_nvml *nvml; /* NULL: there is none, or nobody asked yet */
    unsigned gpus;
    bool gpus_counted;
    struct pr_needed_space needed[16];
    size_t needed_count;
    struct pr_effect *effects; /* by name of the plan; NULL: none is set */
    uint32_t effect_count;
    const struct pr_names *effect_names;
    struct pr_expander *defaults; /* what parameters are when nobody sets them;
                                     NULL: not asked yet */
};

/* Notes a lack of this experiment, once. The number of it in *ret_lack, which
 * may be NULL. */
int pr_requirement_add(struct pr_validator *v, const struct pr_job *job,
                       const struct pr_requirement *lack, int *ret_lack,
                       struct pr_err *err) PR_MUST_CHECK;

/* What a question was answered with: PR_NO_REQUIREMENT or the lack's number,
 * which then concerns this experiment, too. False: it was not asked yet. */
bool pr_requirement_cached(struct pr_validator *v, const char *question,
                           int *ret_lack);
int pr_requirement_cache(struct pr_validator *v, const char *question, int lack,
                         struct pr_err *err) PR_MUST_CHECK;

/* The parts. */
int pr_validate_container(struct pr_validator *v, struct pr_job *job,
                          struct pr_err *err) PR_MUST_CHECK;
int pr_validate_honours(struct pr_validator *v, struct pr_job *job,
                        const struct pr_workload *w,
                        struct pr_err *err) PR_MUST_CHECK;
int pr_validate_honours_end(struct pr_validator *v,
                            struct pr_err *err) PR_MUST_CHECK;
int pr_validate_data(struct pr_validator *v, struct pr_job *job,
                     const struct pr_workload *w,
                     struct pr_err *err) PR_MUST_CHECK;
int pr_validate_space_end(struct pr_validator *v,
                          struct pr_err *err) PR_MUST_CHECK;

#endif
