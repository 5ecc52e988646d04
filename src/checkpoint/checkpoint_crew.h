/*
 * The threads that write and read the files of all ranks. Each takes the next
 * rank that nobody has and does its files in order.
 */
#ifndef PR_CHECKPOINT_CREW_H
#define PR_CHECKPOINT_CREW_H

#include "checkpoint/checkpoint_shape.h"
#include "storage/storage.h"

/* One operation over all ranks. */
struct pr_checkpoint_threads_job {
    bool is_read;
    const char *folder;
    uint64_t start_ns; /* when it began, by the clock */
    uint64_t key;      /* of the contents */
    uint64_t shift;    /* reading: rank r takes what rank r + shift wrote */
};

struct pr_checkpoint_threads;

/* Storages are opened beside `first`. stop becomes true: give up. clock NULL:
 * the machine's. */
int pr_checkpoint_threads_new(const struct pr_checkpoint_shape *shape,
                              struct pr_storage *first, const bool *stop,
                              struct pr_clock *clock,
                              struct pr_checkpoint_threads **ret,
                              struct pr_err *err) PR_MUST_CHECK;
void pr_checkpoint_threads_free(
    struct pr_checkpoint_threads *c); /* NULL is fine */
unsigned pr_checkpoint_threads_count(const struct pr_checkpoint_threads *c);

/* Why a thread does it in another way than was asked for; "" when none does. */
const char *
pr_checkpoint_threads_warning(const struct pr_checkpoint_threads *c);

/* Starts a job; job is borrowed until it is done. */
void pr_checkpoint_threads_begin(struct pr_checkpoint_threads *c,
                                 const struct pr_checkpoint_threads_job *job);

/* Waits for its end, at most so long. True: it has ended. */
bool pr_checkpoint_threads_wait(struct pr_checkpoint_threads *c,
                                unsigned milliseconds);

/* Bytes written or read since it began; at any time. */
uint64_t pr_checkpoint_threads_job_bytes(const struct pr_checkpoint_threads *c);

/* After its end: what went wrong first, or PR_OK. */
int pr_checkpoint_threads_error(const struct pr_checkpoint_threads *c,
                                struct pr_err *err) PR_MUST_CHECK;

/* How long rank i of those run here (from 0) took, since the job began. One
 * that had no files: how long it took to see that. Whether it had any. */
bool pr_checkpoint_threads_rank_time(const struct pr_checkpoint_threads *c,
                                     uint64_t i, uint64_t *ret_ns);

#endif
