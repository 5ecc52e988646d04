/* What the files of batches.h share. */
#ifndef PR_LOADER_BATCHES_IMPL_H
#define PR_LOADER_BATCHES_IMPL_H

#include "loader/augment.h"
#include "loader/batches.h"
#include "loader/feed.h"
#include "loader/order_series.h"

#include <pthread.h>
#include <stdatomic.h>

/* Labels in files of their own, as one thread reads them. */
struct pr_batches_labels {
    struct pr_storage *st;
    struct pr_reader *reader; /* NULL: there are none */
    uint64_t file;            /* that is open */
    uint8_t *buf;
    size_t cap;
    char name[PR_NAME_BYTES];
};

int pr_batches_labels_init(struct pr_batches_labels *l,
                           const struct pr_batches_opts *o,
                           struct pr_err *err) PR_MUST_CHECK;
void pr_batches_labels_done(struct pr_batches_labels *l);
int pr_batches_labels_get(struct pr_batches_labels *l,
                          const struct pr_batches_opts *o, uint64_t sample,
                          int64_t *ret, struct pr_err *err) PR_MUST_CHECK;

/* File i of the split among all. */
static inline uint64_t pr_batches_file(const struct pr_batches_opts *o,
                                       uint64_t i)
{
    return o->split == PR_TRAIN ? i : o->set->files[PR_TRAIN] + i;
}

/* What a reading thread has for itself. Others only look at the counters. */
struct pr_batches_thread {
    _Alignas(64) struct pr_augment augment;
    struct pr_batches_labels labels;
    _Atomic uint64_t samples, bytes;
    _Atomic uint64_t labelled; /* samples that came with a label */
};

/* A batch that is being made, or waits. */
struct pr_batches_slot {
    void *input; /* floats, or with dims 0 samples as they are */
    int32_t *labels;
    bool *skipped; /* nothing is at this place */
};

struct pr_batches {
    struct pr_batches_opts o;
    struct pr_reader_opts reader; /* as the feed is to see it */
    bool never;                   /* where nobody says stop */
    struct pr_order_series series;
    struct pr_order order;
    struct pr_feed *feed;
    struct pr_batches_thread *threads;
    unsigned count;
    uint64_t each;       /* floats of a sample; with dims 0 bytes */
    uint64_t each_bytes; /* of a sample */
    bool has_next;       /* the next batch was taken, but not handed out */
    struct pr_batches_slot *slots;
    uint64_t ring;
    uint64_t buffer_bytes;
    uint64_t taken, failed; /* batches; samples in them */
    bool has_begun;
    _Atomic bool quit; /* threads should end soon */
    pthread_mutex_t error_lock;
    struct pr_err first_error; /* of samples that were skipped */
};

/* batches_take.c: a thread puts a sample where it belongs. */
pr_feed_took pr_batches_took;

/* What it will use of a picture. */
pr_feed_part pr_batches_part;

/* batches_room.c: memory of batches and threads. */
int pr_batches_room_init(struct pr_batches *b,
                         struct pr_err *err) PR_MUST_CHECK;
void pr_batches_room_done(struct pr_batches *b);

#endif
