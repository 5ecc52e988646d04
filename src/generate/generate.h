/*
 * Making a data set: every file by some thread, each whole or not at all, the
 * same bytes whatever the number of threads. What is there already is kept
 * (resume), made anew (force), or a reason to refuse. verify reads everything
 * back and compares it with what the seed gives.
 *
 * A set that differs only in the number of its files is the same set: one with
 * fewer files grows, what is there being renamed, and one with more is left
 * alone, for its first files are those asked for.
 */
#ifndef PR_GENERATE_H
#define PR_GENERATE_H

#include "format/dataset/dataset.h"

#include <pthread.h>
#include <stdatomic.h>

struct pr_generate_opts {
    unsigned threads; /* 0: one for each processor */
    bool resume, force, verify;
    bool later; /* a power cut may take it back: run.fsync=false */
};

struct pr_generate_status {
    const char
        *phase; /* "checking", "renaming", "making", "syncing", "verifying" */
    uint64_t files, files_total;
    uint64_t bytes, bytes_total;
};

/* Called about ten times a second; non-zero: stop. */
typedef int pr_generate_tick(void *ctx, const struct pr_generate_status *s);

enum { PR_GENERATE_ERRORS = 10 };

struct pr_generate_result {
    uint64_t files;         /* of the set that the folder has now */
    uint64_t made, kept;    /* files */
    uint64_t renamed;       /* of those kept, because the set grew */
    uint64_t bytes;         /* written */
    uint64_t verified, bad; /* files */
    uint64_t verified_bytes;
    double seconds, verify_seconds;
    unsigned threads;
    struct pr_err errors[PR_GENERATE_ERRORS]; /* of the first bad ones */
    char engine[16];
    char note[256]; /* why it is another than the one asked for */
};

int pr_generate(const struct pr_dataset *d, const struct pr_storage_opts *so,
                const struct pr_generate_opts *opts, pr_generate_tick *tick,
                void *ctx, struct pr_generate_result *ret,
                struct pr_err *err) PR_MUST_CHECK;

/* Takes a set away: its files, its folders where nothing else is in them, and
 * what says that it is there. */
int pr_generate_remove(const struct pr_dataset *d,
                       const struct pr_storage_opts *so,
                       struct pr_err *err) PR_MUST_CHECK;

/* A parameter, of those that shape files, in which a set differs from the one
 * that is in its folder; NULL: none, or nobody can tell. ret_marked (may be
 * NULL): whether the folder says what is in it. */
int pr_generate_find_difference(const struct pr_dataset *d,
                                const struct pr_storage_opts *so,
                                const char **ret_name, bool *ret_marked,
                                struct pr_err *err) PR_MUST_CHECK;

/* The folder of a set as a user would write it. Returns out. */
const char *pr_generate_place(const struct pr_dataset *d,
                              const struct pr_storage_opts *so,
                              char out[static PR_NAME_BYTES]);

/* What a whole set takes; exact, or an estimate. */
int pr_generate_bytes(const struct pr_dataset *d, uint64_t *ret,
                      bool *ret_exact, struct pr_err *err) PR_MUST_CHECK;

/* Whether two sets have the same files with the same contents. ret_name (may
 * be NULL) is a parameter in which they differ. */
bool pr_generate_is_same(const struct pr_dataset *a, const struct pr_dataset *b,
                         const char **ret_name);

/* ---- what the files that make a data set share */

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
