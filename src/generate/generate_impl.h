/* What the files that make a data set share. */
#ifndef PR_GENERATE_IMPL_H
#define PR_GENERATE_IMPL_H

#include "generate/generate.h"

#include <pthread.h>
#include <stdatomic.h>

/* What one thread has for itself. */
struct pr_generate_worker {
    const struct pr_dataset *set;
    struct pr_storage *st;
    struct pr_dataset_sides sides;
    struct pr_writer *writer, *label_writer;
    struct pr_reader *reader, *label_reader;
    /* A second copy of a file, in memory, to compare with. */
    struct pr_storage_opts memory_opts;
    struct pr_storage *memory;
    struct pr_writer *memory_writer;
    struct pr_reader *memory_reader;
    /* Nowhere, to learn how long a file is. */
    struct pr_storage_opts null_opts;
    struct pr_storage *null;
    struct pr_writer *null_writer;
    uint8_t *buf, *other; /* samples are read into these */
    size_t buf_cap, other_cap;
    char name[PR_NAME_BYTES], extra[PR_NAME_BYTES];
};

/* first: a storage by the same options that it shares a place, a rate and
 * faults with; or NULL. */
int pr_generate_worker_init(struct pr_generate_worker *w,
                            const struct pr_dataset *d,
                            const struct pr_storage_opts *so,
                            const struct pr_storage *first, bool *stop,
                            struct pr_err *err) PR_MUST_CHECK;
void pr_generate_worker_done(struct pr_generate_worker *w);

/* Makes file f and those that go with it. */
int pr_generate_worker_make(struct pr_generate_worker *w, uint64_t f,
                            uint64_t *ret_bytes,
                            struct pr_err *err) PR_MUST_CHECK;

/* 1: file f is there and whole; 0: it is not. */
int pr_generate_worker_has_file(struct pr_generate_worker *w, uint64_t f,
                                struct pr_err *err) PR_MUST_CHECK;

/* The same by sizes alone, without opening anything: a file whose size cannot
 * be foretold must not be empty. */
int pr_generate_worker_has_size(struct pr_generate_worker *w, uint64_t f,
                                struct pr_err *err) PR_MUST_CHECK;

/* Reads file f back. PR_E_FORMAT: it is not what the seed gives. */
int pr_generate_worker_verify(struct pr_generate_worker *w, uint64_t f,
                              uint64_t *ret_bytes,
                              struct pr_err *err) PR_MUST_CHECK;

/* Bytes of one record of a file of records. */
uint64_t pr_generate_worker_record_bytes(const struct pr_generate_worker *w,
                                         const struct pr_file_spec *of);

/* Opens w->name and reads the last of its samples. */
int pr_generate_worker_read_last(struct pr_generate_worker *w, uint64_t samples,
                                 uint64_t *ret_bytes,
                                 struct pr_err *err) PR_MUST_CHECK;

/* Whether w->name, a compressed file, is a whole stream and holds what the
 * specification says: 1 or 0. */
int pr_generate_worker_is_intact(struct pr_generate_worker *w,
                                 const struct pr_file_spec *spec,
                                 struct pr_err *err) PR_MUST_CHECK;

/* Bytes of file f and what goes with it that are there already. */
int pr_generate_worker_count_present(struct pr_generate_worker *w, uint64_t f,
                                     uint64_t *ret,
                                     struct pr_err *err) PR_MUST_CHECK;

/* Removes file f and what goes with it. */
int pr_generate_worker_remove(struct pr_generate_worker *w, uint64_t f,
                              struct pr_err *err) PR_MUST_CHECK;

/* ---- all threads together */

/* Making or verifying one data set; the threads share it. */
struct pr_generate_job {
    const struct pr_dataset *set;
    const struct pr_storage_opts *so;
    const struct pr_generate_opts *opts;
    pr_generate_tick *tick;
    void *ctx;
    struct pr_generate_result *result;
    struct pr_storage *st;    /* of the thread that leads */
    struct pr_storage *first; /* those of the others are opened beside it */
    struct pr_generate_status status;
    const struct pr_dataset *old; /* to be replaced; or NULL */
    /* The set grows from this one, which has other names; or NULL. */
    const struct pr_dataset *smaller;
    /* It was growing like this when a program was killed; or NULL. */
    const struct pr_dataset *was_smaller, *was;
    bool keep;                 /* what is there and whole stays */
    char place[PR_NAME_BYTES]; /* of the set, for messages */
    /* Shared by the threads of a phase. */
    bool verifying;
    bool stop;
    atomic_uint_least64_t next, files, bytes, made, kept;
    struct pr_storage **storages; /* of the threads; NULL: not open */
    uint64_t written;             /* by those that have ended */
    unsigned running, started;
    pthread_mutex_t lock; /* of what is above and below */
    pthread_cond_t ended;
    int rc;
    struct pr_err err; /* the first one */
};

/* Long loops over files: calls the above now and then. PR_E_INTR: stop. */
int pr_generate_keep_going(struct pr_generate_job *j, uint64_t f,
                           struct pr_err *err) PR_MUST_CHECK;

/* Decides by what is in the folder. *ret_complete: nothing needs to be made;
 * j->keep: what is whole stays; j->old (in the arena): what is replaced. j->set
 * becomes the set that the folder will have, which may be larger. */
int pr_generate_check(struct pr_generate_job *j, struct pr_arena *a,
                      bool *ret_complete, struct pr_err *err) PR_MUST_CHECK;

/* Takes away the files of j->old, and what killed programs left. */
int pr_generate_remove_old(struct pr_generate_job *j,
                           struct pr_err *err) PR_MUST_CHECK;
int pr_generate_remove_parts(struct pr_generate_job *j,
                             struct pr_err *err) PR_MUST_CHECK;

/* ---- a set with another number of files */

/* Gives a set other numbers of files, and the names that go with them. */
void pr_generate_resize(struct pr_dataset *d, const uint64_t files[PR_SPLITS]);

/* The set in the folder, if it is d with other numbers of files or the same:
 * 1; else 0 and a parameter in which they differ. ret is in the arena. */
int pr_generate_find_like(const struct pr_dataset *d,
                          const struct pr_value *params, struct pr_arena *a,
                          struct pr_dataset **ret, const char **ret_name,
                          struct pr_err *err) PR_MUST_CHECK;

/* What the kernel knows an object by; in out, or the name itself. */
const char *pr_generate_path(const struct pr_generate_job *j, const char *name,
                             char out[static 2 * PR_NAME_BYTES]);

/* Renames the files of one set to what they are called in the larger one, and
 * removes those whose contents depend on how many there are. Names that were
 * changed already are fine. */
int pr_generate_rename(struct pr_generate_job *j, const struct pr_dataset *from,
                       const struct pr_dataset *to,
                       struct pr_err *err) PR_MUST_CHECK;

/* Whether a file of this split is called otherwise. */
bool pr_generate_needs_rename(const struct pr_dataset *from,
                              const struct pr_dataset *to, enum pr_split split);

/* Makes or verifies every file, by several threads; ticks meanwhile. */
int pr_generate_run_phase(struct pr_generate_job *j, const char *phase,
                          bool verifying, double *ret_seconds,
                          struct pr_err *err) PR_MUST_CHECK;

/* The same place, without delays or errors that are made up. */
struct pr_storage_opts pr_generate_plain(const struct pr_storage_opts *so);

/* ---- what a folder says of the set in it */

enum pr_manifest_state {
    PR_MANIFEST_NONE,
    PR_MANIFEST_PARTIAL,
    PR_MANIFEST_COMPLETE,
};

struct pr_manifest {
    enum pr_manifest_state state;
    struct pr_value params; /* of the set; in the arena */
    /* Files may still have the names of a set with so many. */
    bool is_growing;
    uint64_t from[PR_SPLITS];
};

int pr_manifest_read(struct pr_storage *st, const struct pr_dataset *d,
                     struct pr_arena *a, struct pr_manifest *ret,
                     struct pr_err *err) PR_MUST_CHECK;

/* from is a smaller set that it grows from; or NULL. It outlives a power cut,
 * unless that does not matter (pr_generate_opts.later). */
int pr_manifest_write(struct pr_generate_job *j, const struct pr_dataset *d,
                      bool complete, const struct pr_dataset *from,
                      struct pr_err *err) PR_MUST_CHECK;

int pr_manifest_remove(struct pr_storage *st, const struct pr_dataset *d,
                       struct pr_err *err) PR_MUST_CHECK;

#endif
