/* What the files of prony/loader.h share. */
#ifndef PR_LOADER_IMPL_H
#define PR_LOADER_IMPL_H

#include "base/mem.h"
#include "format/dataset/dataset_classes.h"
#include "loader/batches.h"
#include "prony/loader.h"

#include <pthread.h>

/* ---- loader_pool.c: memory of batches, which outlives the loader as long as
 * somebody has one */

struct pr_loader_pool;

/* A batch as it is lent, and what it needs besides. */
struct pr_loader_slot {
    struct pr_loader_batch b; /* first: what the caller sees */
    struct pr_loader_pool *pool;
    struct pr_loader_slot *next; /* that is free */
    int32_t *small;              /* labels as the ring has them */
    int64_t *labels;
};

struct pr_loader_pool {
    pthread_mutex_t lock;
    struct pr_loader_slot *free;
    uint64_t lent, made;
    bool is_closed; /* the loader is gone */
    size_t bytes, samples;
};

struct pr_loader_pool *pr_loader_pool_new(size_t bytes, size_t samples);

/* A slot with memory, used before or new; NULL: no memory. */
struct pr_loader_slot *pr_loader_pool_take(struct pr_loader_pool *p);
void pr_loader_pool_give(struct pr_loader_slot *s);

/* The loader ends; what is lent stays until it is given back. */
void pr_loader_pool_close(struct pr_loader_pool *p);
uint64_t pr_loader_pool_made(struct pr_loader_pool *p);

/* ---- loader.c */

struct pr_loader {
    struct pr_loader_opts o;
    struct pr_arena *arena;
    struct pr_dataset set;
    struct pr_storage_opts storage;
    struct pr_reader_opts reader;
    struct pr_storage *first;
    struct pr_dataset_classes *classes;
    struct pr_sample like; /* dims 0 */
    struct pr_batches *batches;
    struct pr_loader_pool *pool;
    struct pr_loader_batch shape; /* what all of them have in common */
    bool has_labels;
    uint64_t batch;            /* samples in a full one */
    uint64_t per_epoch, taken; /* batches */
    bool told_end;             /* of the epoch that was taken last */
    bool stop;
};

/* ---- loader_open.c */

/* Fills set, storage, reader, first, classes and like. */
int pr_loader_open(struct pr_loader *l, struct pr_err *err) PR_MUST_CHECK;

#endif
