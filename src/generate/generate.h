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

#endif
