/* What the two sides of the feed share: its driver and its threads. */
#ifndef PR_LOADER_FEED_IMPL_H
#define PR_LOADER_FEED_IMPL_H

#include "loader/feed.h"

#include <pthread.h>
#include <stdatomic.h>

enum { PR_CACHE_LINE = 64, PR_ACTIVE_BITS = 16 };

/* A batch that is being read. */
struct pr_feed_batch {
    _Atomic uint64_t missing; /* samples; 0: it is there */
    _Atomic uint64_t ready;   /* when the last of them came */
};

/* Bytes that are kept. */
struct pr_feed_bytes {
    uint8_t *data;
    size_t len, cap;
};

/* A sample that stays in memory; it never changes. Where somebody makes use
 * of it a struct pr_sample is before its bytes. */
struct pr_cached_sample {
    size_t len; /* of the bytes */
    uint8_t data[];
};
enum { PR_CACHED_SAMPLE_HEAD = (sizeof(struct pr_sample) + 15) / 16 * 16 };
typedef struct pr_cached_sample *_Atomic pr_cached_sample_slot;

/* What an accelerator wants read. Threads claim pieces of `chunk` samples;
 * claim is (piece to claim next) << PR_ACTIVE_BITS | pieces being read. */
struct pr_feed_queue {
    _Alignas(PR_CACHE_LINE) _Atomic uint64_t claim;
    _Atomic uint64_t limit;      /* pieces that may be claimed */
    _Atomic bool wanting;        /* the driver asked in vain */
    _Atomic bool is_news;        /* it is in the list of news */
    struct pr_feed_queue *newer; /* in the list of news */
    uint64_t samples, steps;     /* of this epoch; the driver's from here on */
    uint64_t taken, prepared;    /* batches; slots that were made ready */
};

struct pr_feed_worker {
    _Alignas(PR_CACHE_LINE) struct pr_feed *feed;
    unsigned number;
    pthread_t thread;
    bool started;
    struct pr_storage *st;
    struct pr_reader *reader;
    uint8_t *buf;
    size_t cap;
    struct pr_rng rng;
    uint64_t file; /* that is open */
    uint64_t at;   /* queue to look at first */
    char name[PR_NAME_BYTES];
    _Atomic uint64_t sample;      /* for the driver, if it hangs */
    uint64_t seen_pulse, seen_ns; /* the driver's: of its storage, and when */
    /* Counted since pr_feed_begin; read by the driver while it rests. */
    struct pr_feed_stats stats;
    uint64_t timed_ns, timed_storage_ns, base_bytes, base_opened;
    unsigned rest; /* samples until the next one that is timed */
};

struct pr_feed {
    struct pr_feed_opts o;
    struct pr_read_opts read;
    struct pr_duration preprocess;
    bool reads;       /* false: a synthetic loader */
    bool bytes_alone; /* files are read, not decoded, one sample in each */
    bool prepares;    /* a sample takes time once it was read */
    bool is_stream;   /* the tensorflow loader's ways */
    bool inline_read; /* read_threads = 0 */
    uint64_t active;  /* pieces of one accelerator being read, at most */
    uint64_t depth;   /* batches read ahead */
    uint64_t delivered_bytes; /* of a sample as it is kept; 0: as it is */
    /* Of this epoch. */
    const struct pr_order *order;
    uint64_t batch, chunk, ring, files_before;
    struct pr_feed_batch *slots;
    size_t slot_room;
    struct pr_feed_bytes *held;
    size_t held_room;
    pr_cached_sample_slot *memory[PR_SPLITS]; /* read_type memory: by sample */
    enum pr_split split;
    struct pr_feed_queue *queues;
    struct pr_feed_worker *workers;
    unsigned count;
    bool hung;          /* some thread will never come back */
    uint64_t looked_ns; /* when that was last looked for */
    uint64_t opened; /* pieces that could be claimed since the last wake-up */

    _Alignas(PR_CACHE_LINE) _Atomic uint32_t work; /* changes: look for work */
    _Atomic uint32_t sleepers;
    _Atomic bool quit;
    _Alignas(PR_CACHE_LINE) _Atomic uint32_t news; /* changes: look for news */
    _Atomic uint32_t waiting;                      /* the driver sleeps */
    struct pr_feed_queue *_Atomic news_first;      /* stack of queues */
    struct pr_feed_queue *news_taken;              /* the driver's part of it */
    _Atomic uint32_t busy;                         /* workers that read */
    _Atomic bool ending; /* the driver waits for that */
    _Atomic bool failed;
    pthread_mutex_t error_lock;
    struct pr_err error; /* why it failed */
};

/* ---- feed_worker.c: what a thread has, and what it does */

int pr_feed_worker_init(struct pr_feed *f, unsigned number,
                        struct pr_err *err) PR_MUST_CHECK;
void pr_feed_worker_done(struct pr_feed_worker *w);

void *pr_feed_work(void *worker);

/* What was kept of samples. */
void pr_feed_bytes_free(struct pr_feed_bytes *list, size_t count);
void pr_cached_sample_free(pr_cached_sample_slot *list, size_t count);

/* Tells the driver to look. */
void pr_feed_wake_driver(struct pr_feed *f);

/* ---- feed.c: for the threads */

/* Remembers the first error and tells the driver. */
void pr_feed_fail(struct pr_feed *f, const struct pr_err *why);

#endif
