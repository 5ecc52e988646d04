/*
 * Batches to train with: samples that the loader reads and decodes, made fit
 * for a model where they were decoded, and handed out one batch after another
 * in an endless series of epochs, each shuffled anew.
 *
 * What comes when, and how each sample is cropped, follows from the seed, the
 * epoch and the sample, not from the threads. One thread calls these
 * functions.
 */
#ifndef PR_LOADER_BATCHES_H
#define PR_LOADER_BATCHES_H

#include "conf/option/option.h"
#include "format/dataset/dataset.h"

struct pr_batches;

struct pr_batches_opts {
    const struct pr_dataset *set;
    enum pr_split split;      /* which of its files */
    bool in_order;            /* not shuffled */
    struct pr_storage *first; /* others are opened beside it; borrowed */
    const struct pr_reader_opts *reader;
    uint64_t batch;   /* samples in one */
    unsigned threads; /* 0: reader->read_threads, 1 at least */
    uint64_t seed;
    unsigned dims;    /* 3: images or such; 1: numbers; 0: samples as they are,
                         not as floats */
    int64_t shape[3]; /* [channels, rows, columns] or [numbers] */
    const struct pr_sample *like; /* dims 0: what all of them are like */
    int64_t classes;              /* labels are below it */
    bool any_label;               /* they need not; -1: there is none */
    bool augment;                 /* random crops and flips; else the middle */
    bool keep_last;         /* an epoch ends with what does not fill a batch */
    const bool *stop;       /* becomes true: give up (PR_E_INTR); or NULL */
    struct pr_clock *clock; /* NULL: the machine's */
};

/* Starts reading. set, first, reader and stop are borrowed until
 * pr_batches_free, and longer where pr_batches_is_hung. Of reader count
 * read_threads, prefetch_size (2 at least), shuffle_size (a window; 0: all
 * samples are shuffled), read_type, checksum, on_error, io_timeout and
 * preprocess_time. PR_E_CONF: there is nothing to train with, not even a full
 * batch, or reader.decode=false. */
int pr_batches_new(const struct pr_batches_opts *opts, struct pr_batches **ret,
                   struct pr_err *err) PR_MUST_CHECK;
void pr_batches_free(struct pr_batches *b); /* NULL is fine */

/* Ends the threads; figures stay. There is no next batch. NULL is fine. */
void pr_batches_end(struct pr_batches *b);

/* Some thread is in a storage call that does not come back: the process
 * should end soon. To be asked after pr_batches_end, which may find out. */
bool pr_batches_is_hung(const struct pr_batches *b);

/* The next batch: batch * channels * rows * columns numbers, samples one after
 * another, and their labels. ret_wait_ns is how long that took: waiting for it
 * and copying it; may be NULL. A sample that does not fit the model's input or
 * cannot be read is an error with the name of its file; with
 * reader.on_error=skip the one before it in the batch takes its place. */
int pr_batches_next(struct pr_batches *b, float *input, int32_t *labels,
                    uint64_t *ret_wait_ns, struct pr_err *err) PR_MUST_CHECK;

/* The same without a copy: what they point to stays as it is until the next
 * batch is asked for. */
int pr_batches_borrow(struct pr_batches *b, const float **ret_input,
                      const int32_t **ret_labels, uint64_t *ret_wait_ns,
                      struct pr_err *err) PR_MUST_CHECK;

/* Whether the next batch is there, until this time at most. 1:
 * it is; 0: not yet. */
int pr_batches_wait(struct pr_batches *b, uint64_t until_ns,
                    struct pr_err *err) PR_MUST_CHECK;

/* The next batch to keep: memory of as many bytes, from pr_alloc_aligned, takes
 * its place. *io_input and *io_labels are what is given and what is got;
 * untouched on failure. ret_samples: in it, see keep_last. */
int pr_batches_swap(struct pr_batches *b, void **io_input, int32_t **io_labels,
                    uint64_t *ret_samples, struct pr_err *err) PR_MUST_CHECK;

/* Bytes of a full batch. */
size_t pr_batches_bytes(const struct pr_batches *b);

struct pr_batches_stats {
    unsigned threads;
    uint64_t epoch_batches;    /* batches in an epoch */
    uint64_t batches, samples; /* handed out */
    uint64_t epochs;           /* that ended */
    uint64_t failed;           /* of those samples: could not be read */
    uint64_t read_samples;     /* read so far, those ahead included */
    uint64_t read_bytes;       /* of these, decoded */
    uint64_t buffer_bytes;     /* memory of batches that wait */
    struct pr_err first_error; /* of those that failed; code 0: none */
};
void pr_batches_stats(struct pr_batches *b, struct pr_batches_stats *ret);

/* Where labels come from, in a sentence; known once a batch has come. */
const char *pr_batches_warning(const struct pr_batches *b);

#endif
