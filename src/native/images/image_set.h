/*
 * A data set that is read to train with: made if that is asked for, found, and
 * handed out batch by batch. Formats and storages are known here alone.
 */
#ifndef PR_NATIVE_IMAGE_SET_H
#define PR_NATIVE_IMAGE_SET_H

#include "job/job.h"
#include "job/progress.h"

struct pr_image_set;

struct pr_image_set_opts {
    uint64_t batch, seed;
    unsigned dims;
    int64_t shape[3];
    int64_t classes;
    bool augment;
    bool learns;    /* from its labels: odd ones are a warning */
    bool evaluates; /* wants those held out, too, if there are some */
    const bool *stop;
    struct pr_progress *progress;
};

/* Whether the parameters ask for one: exp.data_dir, exp.data=real, a folder of
 * the user's in dataset.data_folder, or workflow.generate_data. */
bool pr_image_set_is_wanted(const struct pr_job *job);

/* Whether such a set can be read. */
int pr_image_set_check(const struct pr_job *job,
                       struct pr_err *err) PR_MUST_CHECK;

/* Bytes that would be written to make it; 0: it is not made. */
int pr_image_set_estimate_bytes(const struct pr_job *job, uint64_t *ret,
                                struct pr_err *err) PR_MUST_CHECK;

/* Makes and finds it, and starts reading. */
int pr_image_set_open(const struct pr_job *job,
                      const struct pr_image_set_opts *opts,
                      struct pr_image_set **ret,
                      struct pr_err *err) PR_MUST_CHECK;

/* The next batch; *ret_wait_ns is how long that took. */
int pr_image_set_next(struct pr_image_set *s, float *input, int32_t *labels,
                      uint64_t *ret_wait_ns, struct pr_err *err) PR_MUST_CHECK;

/* How many samples to evaluate with there are, in whole batches: those of the
 * folder valid, or val. */
uint64_t pr_image_set_held_out_count(const struct pr_image_set *s);

/* The next batch of them, the middle of each image. Ends reading of those to
 * train with. */
int pr_image_set_next_held_out(struct pr_image_set *s, float *input,
                               int32_t *labels,
                               struct pr_err *err) PR_MUST_CHECK;

/* A line about it for people, once a batch has come. */
void pr_image_set_print(const struct pr_image_set *s, struct pr_buf *out);

/* Warnings, a line each. */
void pr_image_set_add_warnings(const struct pr_image_set *s,
                               struct pr_buf *notes);

/* Ends reading, and removes what it made if that is not to be kept. */
int pr_image_set_remove(struct pr_image_set *s,
                        struct pr_err *err) PR_MUST_CHECK;

/* Seconds that making it took. */
double pr_image_set_made_s(const struct pr_image_set *s);

void pr_image_set_free(struct pr_image_set *s); /* NULL is fine */

#endif
