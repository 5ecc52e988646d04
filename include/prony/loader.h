/*
 * Batches to train with, from files: threads read, decode and, where that is
 * asked for, crop, flip and normalise them ahead of whoever trains.
 *
 *     struct pr_loader_opts opts = PR_LOADER_OPTS_INIT;
 *     opts.path = "imagenet";            …/train/n01440764/x.JPEG and so on
 *     opts.batch_size = 64;
 *     opts.shape[0] = 3; opts.shape[1] = opts.shape[2] = 224; opts.dims = 3;
 *     pr_loader_new(&opts, &loader, &err);
 *     while ((rc = pr_loader_next(loader, -1, &batch, &err)) == 1) {
 *         …batch->data…
 *         pr_loader_release(batch);
 *     }
 *     pr_loader_free(loader);
 *
 * A batch lies where it was decoded to and is the caller's until it is given
 * back; memory is used again only then. One thread calls pr_loader_next at a
 * time; batches may be given back by any thread, also after pr_loader_free.
 */
#ifndef PRONY_LOADER_H
#define PRONY_LOADER_H

#include "prony/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pr_loader;

struct pr_loader_opts {
    size_t size; /* of this struct, for later versions */

    /* A folder: PATH/train/CLASS/FILE, PATH/CLASS/FILE or PATH/FILE; what
     * `prony generate` makes, too. */
    const char *path;
    const char *split;  /* "train", "valid": the folder in PATH; NULL: train if
                           there is one */
    const char *format; /* jpeg, png, npz, npy, hdf5, tfrecord, csv …; NULL: by
                           the names of the files */

    uint64_t batch_size;
    unsigned threads;  /* 0: one for each processor that may be used */
    unsigned prefetch; /* batches made ahead; 0: 2 */
    bool shuffle;      /* samples in another order each epoch */
    uint64_t seed;     /* of orders and crops */
    uint64_t epochs;   /* 0: no end */

    /* dims 3: pictures of [channels, rows, columns], resized to that and
     * normalised, float32. dims 1: so many numbers, float32. dims 0: samples as
     * they are in the files, all of one shape and type. */
    unsigned dims;
    uint64_t shape[3];
    bool augment; /* random crops and flips; else the middle */

    /* More parameters, "reader.on_error=skip", "storage.engine=direct" and so
     * on, as -P takes them; or NULL. */
    const char *const *params;
    size_t param_count;

    bool drop_last; /* leave out what does not fill a batch at the end of an
                       epoch; else the last batch has fewer samples */
};
#define PR_LOADER_OPTS_INIT                                                    \
    {                                                                          \
        sizeof(struct pr_loader_opts), NULL, NULL, NULL, 1, 0, 0, false, 0, 1, \
            0, {0, 0, 0}, false, NULL, 0, false                                \
    }

/* Looks at the files and starts reading: threads of its own, so it does not
 * survive a fork. The caller frees it with pr_loader_free. */
PR_API int pr_loader_new(const struct pr_loader_opts *opts,
                         struct pr_loader **ret,
                         struct pr_err *err) PR_MUST_CHECK;
PR_API void pr_loader_free(struct pr_loader *l); /* NULL is fine */

enum { PR_LOADER_DIMS = 17 };

struct pr_loader_batch {
    void *data; /* aligned to 64 bytes; may be written to */
    size_t bytes;
    const char *dtype; /* numpy's name: "float32", "uint8" … */
    size_t itemsize;   /* bytes of an element */
    char letter;       /* numpy's: 'f', 'u', 'i' or 'b' */
    unsigned ndim;     /* the first dimension counts samples: batch_size, or
                          fewer in the last batch of an epoch */
    uint64_t shape[PR_LOADER_DIMS];
    int64_t strides[PR_LOADER_DIMS]; /* bytes; samples are contiguous, but may
                                        be in Fortran order */
    int64_t *labels;                 /* of each sample; NULL: there are none */
    uint64_t epoch;                  /* from 0 */
    uint64_t number;                 /* in it, from 0 */
};

/* The next batch. 1: it is there; 0: an epoch has ended, or all of them, see
 * pr_loader_is_over; the next call goes on with the next epoch. PR_E_TIMEOUT:
 * not within timeout_s (below 0: wait for ever), which can be tried again.
 * Other codes: reading failed. */
PR_API int pr_loader_next(struct pr_loader *l, double timeout_s,
                          struct pr_loader_batch **ret,
                          struct pr_err *err) PR_MUST_CHECK;

/* Gives a batch back. NULL is fine. */
PR_API void pr_loader_release(struct pr_loader_batch *b);

/* All epochs that were asked for have ended. */
PR_API bool pr_loader_is_over(const struct pr_loader *l);

struct pr_loader_facts {
    size_t size;             /* of this struct, set by the caller */
    uint64_t samples;        /* in the files */
    uint64_t batches;        /* in an epoch, see drop_last */
    uint64_t files, classes; /* classes: folders; 0: none */
    unsigned threads;
    const char *format;
    uint64_t read_samples, read_bytes; /* so far, decoded */
    uint64_t failed;       /* samples that could not be read (on_error=skip) */
    uint64_t buffer_bytes; /* memory of batches, those lent included */
};
PR_API void pr_loader_facts(struct pr_loader *l, struct pr_loader_facts *ret);

/* The name of a class; NULL: there is no such. Borrowed. */
PR_API const char *pr_loader_class(const struct pr_loader *l, uint64_t i);

#ifdef __cplusplus
}
#endif
#endif
