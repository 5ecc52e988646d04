/*
 * A suite under construction: the readers of each kind of source fill items,
 * which become tests.
 */
#ifndef PR_ANALYSE_SUITE_IMPL_H
#define PR_ANALYSE_SUITE_IMPL_H

#include "analyse/suite/suite.h"
#include "base/buf.h"
#include "base/value.h"

enum {
    PR_SUITE_MAX_FILE = 1 << 28, /* of a result, or a member of an archive */
    PR_SUITE_STEADY = 20,        /* slices at the end that are looked at … */
    PR_SUITE_LAST = 2,           /* … without these */
};

/* A run on its way to its test. */
struct pr_suite_item {
    const char *path;
    const char *group; /* the test it belongs to; NULL: none */
    struct pr_suite_child run;
    double peak; /* MiB; 0: nothing was larger */
    bool peak_is_whole;
    const char *host, *gpu;
};

/* Two arenas of one reader: what stays, and what the next file overwrites. */
struct pr_suite_reader {
    struct pr_arena *keep, *scratch;
    const struct pr_suite_read_opts *opts;
    const char *root;   /* a run directory, whose links are not followed */
    struct pr_buf text; /* of the file */
};

/* A result of milarun's. 1: item is filled; 0: it is none, and skipped;
 * PR_E_FORMAT: it is damaged. */
int pr_milarun_result_read(struct pr_suite_reader *r, const char *text,
                           size_t len, struct pr_suite_item *item,
                           struct pr_err *err) PR_MUST_CHECK;

/* ---- a list of numbers that grows */

struct pr_suite_numbers {
    double *v; /* pr_free */
    size_t count, cap;
};

/* PR_E_NOMEM. */
int pr_suite_numbers_add(struct pr_suite_numbers *n, double d) PR_MUST_CHECK;

/* ---- slices of a rank, as they come */

struct pr_suite_slices {
    double last[PR_SUITE_STEADY]; /* a ring */
    uint64_t count;
    double *points; /* of the curve; NULL: none wanted */
    uint32_t room, used;
    uint32_t each; /* slices a point stands for */
    uint32_t part; /* of the last point */
};

void pr_suite_slices_add(struct pr_suite_slices *s, double rate);
/* Their curve becomes the run's, unless it has one; false: out of memory. */
bool pr_suite_slices_keep(const struct pr_suite_slices *s, struct pr_arena *a,
                          struct pr_suite_child *run);
void pr_suite_slices_end(const struct pr_suite_slices *s,
                         struct pr_suite_rate *ret);

/* ---- finding files */

struct pr_suite_paths {
    const char **list;
    size_t count, cap;
};

struct pr_suite_files {
    struct pr_arena *arena;
    struct pr_suite_paths json, data; /* by the ends of their names */
    bool has_folders;
    bool first_only; /* stop at the first of them */
};

/* Files below dir in the directory's own order: files first, then folders, as
 * os.walk has it. All are files, not pipes, and what they were a moment ago. */
int pr_suite_find_files(struct pr_suite_files *f, const char *dir,
                        struct pr_err *err) PR_MUST_CHECK;

/* ---- the suite under construction */

struct pr_suite_build {
    struct pr_suite suite; /* first: it is what is handed out */
    struct pr_arena *arena;
    struct pr_arena **more; /* of the readers */
    size_t more_count;
    bool is_run; /* a run directory */
    struct pr_suite_warning notes[PR_SUITE_NOTES];
};

int pr_suite_adopt_arena(struct pr_suite_build *w, struct pr_arena *a,
                         struct pr_err *err) PR_MUST_CHECK;
/* A file that could not be read. */
int pr_suite_add_bad_file(struct pr_suite_build *w, const struct pr_err *e,
                          struct pr_err *err) PR_MUST_CHECK;
/* One that could. */
int pr_suite_add_warning(struct pr_suite_build *w, const struct pr_err *e,
                         struct pr_err *err) PR_MUST_CHECK;

/* Runs become tests, sorted by name. */
int pr_suite_group_runs(struct pr_suite_build *w, struct pr_suite_item *items,
                        size_t count, struct pr_err *err) PR_MUST_CHECK;

/* -1: the id is no number. */
int64_t pr_suite_device_number(const char *s, size_t len);

/* What milabench says of the machine; text is borrowed. meta may be NULL. */
void pr_milabench_host_read(const struct pr_value *meta,
                            struct pr_suite_host *ret);

/* ---- the kinds */

int pr_suite_read_results(struct pr_suite_build *w,
                          const struct pr_suite_paths *files,
                          const struct pr_suite_read_opts *opts,
                          struct pr_err *err) PR_MUST_CHECK;
int pr_suite_read_run(struct pr_suite_build *w,
                      struct pr_err *err) PR_MUST_CHECK;
int pr_suite_read_systems(struct pr_suite_build *w,
                          const struct pr_suite_read_opts *opts,
                          struct pr_err *err) PR_MUST_CHECK;
/* Folders and zips of .data files. */
int pr_suite_read_milabench(struct pr_suite_build *w,
                            const struct pr_suite_paths *files,
                            const struct pr_suite_read_opts *opts,
                            struct pr_err *err) PR_MUST_CHECK;
int pr_suite_read_milabench_zip(struct pr_suite_build *w, const char *text,
                                size_t len,
                                const struct pr_suite_read_opts *opts,
                                struct pr_err *err) PR_MUST_CHECK;
int pr_suite_summary_from_value(struct pr_suite_build *w,
                                const struct pr_value *v, const char *name,
                                struct pr_err *err) PR_MUST_CHECK;
int pr_suite_read_summary(struct pr_suite_build *w, const char *text,
                          size_t len, const char *name,
                          struct pr_err *err) PR_MUST_CHECK;

#endif
