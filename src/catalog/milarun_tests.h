/*
 * milarun's tests (milarun.models.vae:main and so on) as work of ours: flat
 * parameters from their arguments, or the reason why there is none.
 * milarun_table.def has a row for each test and argument.
 *
 * Beside them, of ours: prony.native:MODEL trains a model, prony.scaling:MODEL
 * with as many replicas as there are devices, prony.loader:images loads images.
 * Any test takes --SECTION.NAME VALUE, which sets a parameter.
 */
#ifndef PR_CATALOG_MILARUN_TESTS_H
#define PR_CATALOG_MILARUN_TESTS_H

#include "base/err.h"
#include "base/value.h"

struct pr_milarun_ask {
    const char *experiment;  /* "milarun.models.vae:main" */
    const char *const *argv; /* its arguments, without the program */
    size_t argc;
    const char *dataroot; /* where data sets are kept */
    unsigned devices;     /* that it has: replicas of scaling; 0 is 1 */
    bool half;            /* whether the processor computes in bfloat16 */
};

struct pr_milarun_work {
    const char *missing;    /* why there is no such test; NULL: there is */
    struct pr_value params; /* a map of flat names */
    /* A map of what argv gives, by milarun's names (batch_size), for its result
     * files. */
    struct pr_value arguments;
};

/* Whether the experiment is one of ours: milarun could not run it. */
bool pr_milarun_is_ours(const char *experiment);

/* *ret is in the arena. What is not as in milarun, or not known, is a line in
 * notes (may be NULL). A value that is none, or arguments that cannot be told
 * apart: PR_E_CONF. An experiment that is not in the table is missing. */
int pr_milarun_make_work(const struct pr_milarun_ask *ask, struct pr_arena *a,
                         struct pr_milarun_work *ret, struct pr_buf *notes,
                         struct pr_err *err) PR_MUST_CHECK;

/* Whether this processor computes in bfloat16. */
bool pr_milarun_has_bfloat16(void);

#endif
