/*
 * A data set that is read to train with: made if that is asked for, found, and
 * handed out batch by batch. Formats and storages are known here alone.
 */
#ifndef PR_WORKLOAD_NATIVE_SET_H
#define PR_WORKLOAD_NATIVE_SET_H

#include "workload/progress.h"
#include "workload/workload.h"

struct pr_native_set;

struct pr_native_set_opts {
    uint64_t batch, seed;
    unsigned dims;
    int64_t shape[3];
    int64_t classes;
    bool augment;
    bool learns; /* from its labels: odd ones are a warning */
    const bool *stop;
    struct pr_progress *progress;
};

/* Whether the parameters ask for one: exp.data_dir, exp.data=real, a folder of
 * the user's in dataset.data_folder, or workflow.generate_data. */
bool pr_native_set_wanted(const struct pr_job *job);

/* Whether such a set can be read. */
int pr_native_set_check(const struct pr_job *job,
                        struct pr_err *err) PR_MUST_CHECK;

/* Bytes that would be written to make it; 0: it is not made. */
int pr_native_set_bytes(const struct pr_job *job, uint64_t *ret,
                        struct pr_err *err) PR_MUST_CHECK;

/* Makes and finds it, and starts reading. */
int pr_native_set_open(const struct pr_job *job,
                       const struct pr_native_set_opts *opts,
                       struct pr_native_set **ret,
                       struct pr_err *err) PR_MUST_CHECK;

/* The next batch; *ret_wait_ns is how long that took. */
int pr_native_set_next(struct pr_native_set *s, float *input, int32_t *labels,
                       uint64_t *ret_wait_ns, struct pr_err *err) PR_MUST_CHECK;

/* A line about it for people, once a batch has come. */
void pr_native_set_say(const struct pr_native_set *s, struct pr_buf *out);

/* Warnings, a line each. */
void pr_native_set_note(const struct pr_native_set *s, struct pr_buf *notes);

/* Ends reading, and removes what it made if that is not to be kept. */
int pr_native_set_remove(struct pr_native_set *s,
                         struct pr_err *err) PR_MUST_CHECK;

/* Seconds that making it took. */
double pr_native_set_made_s(const struct pr_native_set *s);

void pr_native_set_free(struct pr_native_set *s); /* NULL is fine */

#endif
