/*
 * The loader: a few threads read for any number of accelerators. Each
 * accelerator has a queue of batches being read ahead; what waits in it is a
 * token (how many samples are still missing, when the last one came), for the
 * bytes were read and decoded into a thread's buffer and are done with.
 * reader.hold keeps them.
 *
 * One thread, the driver, takes batches out and is the only one to call these
 * functions. Times are those of the clock in the options.
 */
#ifndef PR_LOADER_FEED_H
#define PR_LOADER_FEED_H

#include "base/clock.h"
#include "base/stats/histogram.h"
#include "conf/option/option.h"
#include "format/dataset/dataset.h"
#include "loader/duration.h"
#include "loader/order.h"

struct pr_feed;

enum { PR_FEED_THREADS_MAX = 128 }; /* that read */

/* One sample was read, and prepared afterwards, for a trace; called by the
 * thread that did it. */
typedef void pr_feed_saw(void *ctx, unsigned thread, uint64_t accelerator,
                         uint64_t sample, uint64_t start_ns, uint64_t read_ns,
                         uint64_t end_ns);

/* A sample that was read, or was not and is skipped. */
struct pr_feed_taken {
    unsigned thread;
    uint64_t accelerator;
    uint64_t place; /* of all it gets; see pr_order_batch_of */
    uint64_t sample;
    const struct pr_sample *data; /* valid during the call; NULL: skipped */
    const struct pr_err *why;     /* it is skipped */
};

/* Makes use of it; called by the thread that read it, before its batch is
 * there. A failure is one of the sample, as if it could not be read. */
typedef int pr_feed_took(void *ctx, const struct pr_feed_taken *t,
                         struct pr_err *err);

/* Which part of it is enough, for a format that can read parts; called by the
 * same thread before it is decoded, without data. What is kept in memory is
 * whole. */
typedef void pr_feed_part(void *ctx, const struct pr_feed_taken *t,
                          const struct pr_shape *whole, struct pr_part *ret);

struct pr_feed_opts {
    const struct pr_dataset *set;
    struct pr_storage *first; /* others are opened beside it; borrowed */
    const struct pr_reader_opts *reader;
    uint64_t accelerators;
    unsigned threads;       /* 0: as many as reader->read_threads asks for */
    uint64_t seed;          /* of drawn times */
    const bool *stop;       /* becomes true: give up */
    struct pr_clock *clock; /* NULL: the machine's */
    pr_feed_saw *saw;       /* or NULL */
    void *saw_ctx;
    pr_feed_took *took; /* or NULL: what was read is done with */
    pr_feed_part *part; /* or NULL: samples are read whole */
    void *took_ctx;     /* of both */
};

int pr_feed_new(const struct pr_feed_opts *opts, struct pr_feed **ret,
                struct pr_err *err) PR_MUST_CHECK;

/* Ends the threads. One that hangs in a storage call is left behind, with all
 * that it uses, see pr_feed_is_hung: the process should end soon. NULL is fine.
 */
void pr_feed_free(struct pr_feed *f);

/* Whether some thread will not come back. Then nothing that was given to the
 * feed, orders included, may be freed. */
bool pr_feed_is_hung(const struct pr_feed *f);

unsigned pr_feed_threads(const struct pr_feed *f);

/* How many threads that would be when none are asked for. */
unsigned pr_feed_threads_for(const struct pr_reader_opts *r,
                             const struct pr_duration *preprocess,
                             uint64_t accelerators);

/* Why threads read in another way than was asked for; "" when they do not. */
const char *pr_feed_warning(const struct pr_feed *f);

/* Starts reading an epoch: steps batches of each accelerator, or as many as it
 * has. order is borrowed until pr_feed_end. */
int pr_feed_begin(struct pr_feed *f, enum pr_split split,
                  const struct pr_order *order, uint64_t steps,
                  struct pr_err *err) PR_MUST_CHECK;

/* Accelerator a wants its next batch. 1: it is there, *ret_ready is when all
 * of it had come; 0: not yet, pr_feed_news will name the accelerator;
 * negative: reading failed. A batch that was taken makes room for another. */
int pr_feed_take(struct pr_feed *f, uint64_t a, uint64_t *ret_ready,
                 struct pr_err *err) PR_MUST_CHECK;

/* An accelerator that asked in vain and should ask again; UINT64_MAX: none. */
uint64_t pr_feed_news(struct pr_feed *f);

/* Lets threads know of room that was made, then sleeps until there is news, or
 * until the time has come, 0: does not sleep. Negative: reading failed, or a
 * call hangs. */
int pr_feed_wait(struct pr_feed *f, uint64_t until_ns,
                 struct pr_err *err) PR_MUST_CHECK;

/* Waits until the threads rest. */
int pr_feed_end(struct pr_feed *f, struct pr_err *err) PR_MUST_CHECK;

/* What was read since pr_feed_begin; to be asked after pr_feed_end. Nothing
 * where a thread hangs. */
struct pr_feed_stats {
    uint64_t samples, bytes;  /* as decoded */
    uint64_t storage_bytes;   /* asked of the storage */
    uint64_t opened;          /* files */
    uint64_t failed;          /* samples skipped for errors */
    uint64_t order;           /* sum over samples that only the same ones at
                                 the same places give: see order_hash */
    double storage_share;     /* of a sample's time: in storage calls; 0 to 1 */
    uint64_t timed, timed_ns; /* some of them, open to decoded: how many, sum */
    struct pr_err first_error; /* of those skipped */
};
void pr_feed_stats(struct pr_feed *f, struct pr_feed_stats *ret);

#endif
