/*
 * How bytes become rows. A thread has a reader; it makes one row at a time
 * (begin, put, end). A file's bytes are pushed through: gzip, tar, then the
 * kind of file that its first bytes tell.
 */
#ifndef PR_ANALYSE_RESULTS_IMPL_H
#define PR_ANALYSE_RESULTS_IMPL_H

#include "analyse/results/results.h"
#include "base/names.h"

#include <stdatomic.h>

struct pr_gpu_tasks;

/* A file or folder to read. */
enum pr_results_kind {
    PR_RESULTS_FILE,  /* told by its content */
    PR_RESULTS_FOUND, /* the same, in a folder or archive: what was already
                       parsed once is left out */
    PR_RESULTS_RUN,   /* a run directory */
};

struct pr_results_item {
    const char *path;
    enum pr_results_kind kind;
    unsigned part, parts; /* of a list that several threads read */
    bool split_wrong;     /* this part did not end where the next begins */
    struct pr_results_row *rows;
    size_t count, cap;
};

/* Lists what is to be read. Paths are in the arena. */
struct pr_results_list {
    struct pr_arena *arena;
    struct pr_results_item *items;
    size_t count, cap;
};

/* Whether a file of that path, found in a folder or archive, may hold results;
 * it is not looked into. */
bool pr_results_is_candidate(const char *path);

int pr_results_find(struct pr_results_list *list, const char *input,
                    bool recursive, struct pr_err *err) PR_MUST_CHECK;

/* What is known of a name. */
struct pr_results_slot {
    uint32_t round, index; /* where it is in the row of that round */
    bool known, unwanted;
};

/* A name as it stood in the record before. */
struct pr_results_guess {
    const char *text;
    uint32_t len, name;
    bool wanted;
    const char *before; /* all up to the value, in the document */
    size_t before_len;
};

enum { PR_RESULTS_GUESSES = 64 };

/* What one thread has. */
struct pr_results_reader {
    const struct pr_results_opts *opts;
    struct pr_arena *arena;        /* of the rows that are kept */
    struct pr_arena *scratch;      /* of the row being made */
    struct pr_names *names;        /* of members; their texts stay */
    struct pr_results_slot *slots; /* by name */
    size_t slot_cap;
    struct pr_member *members; /* of the row being made */
    size_t count, cap;
    uint32_t round;
    size_t tidy_at; /* bytes of scratch */
    bool full;      /* the row has all it may hold */
    char *piece;    /* room for PR_RESULTS_PIECE bytes of a file */
    struct pr_results_guess guesses[PR_RESULTS_GUESSES]; /* by place */
    unsigned thread;
    const struct pr_gpu_tasks *tasks; /* for Lambda's logs; read when met */
    struct pr_results_item *item;
    struct pr_results_counts counts;
};

enum { PR_RESULTS_PIECE = 256 << 10 };

int pr_results_reader_init(struct pr_results_reader *r,
                           const struct pr_results_opts *opts,
                           struct pr_err *err) PR_MUST_CHECK;
void pr_results_reader_free(struct pr_results_reader *r); /* all but the arena
                                                         and the names */

/* ---- a row */

void pr_results_row_begin(struct pr_results_reader *r);

/* Whether a value of that name would be kept. */
bool pr_results_row_is_wanted(struct pr_results_reader *r, const char *key,
                              size_t len);

/* A name given again keeps its place and gets the new value. */
int pr_results_row_put(struct pr_results_reader *r, const char *key, size_t len,
                       const struct pr_value *value,
                       struct pr_err *err) PR_MUST_CHECK;
int pr_results_row_put_str(struct pr_results_reader *r, const char *key,
                           const char *s, struct pr_err *err) PR_MUST_CHECK;
int pr_results_row_put_float(struct pr_results_reader *r, const char *key,
                             double f, struct pr_err *err) PR_MUST_CHECK;

/* The members of a map, those of maps in it with dots: "a.b.c". */
int pr_results_row_put_flat(struct pr_results_reader *r, const char *prefix,
                            const struct pr_value *map,
                            struct pr_err *err) PR_MUST_CHECK;

/* A result of ours: its parameters, its status, results.NAME. */
int pr_results_put_experiment(struct pr_results_reader *r,
                              const struct pr_value *result,
                              struct pr_err *err) PR_MUST_CHECK;

/* The row is complete: it is kept if the filters match. An empty one is not.
 */
int pr_results_row_end(struct pr_results_reader *r, const char *from,
                       struct pr_err *err) PR_MUST_CHECK;

/* Trouble with a file that the others do not care for. */
void pr_results_add_warning(struct pr_results_reader *r,
                            const struct pr_err *e);
void pr_results_add_unreadable(struct pr_results_reader *r,
                               const struct pr_err *e);
/* The same of an archive, or what else is packed: it is not whole. */
void pr_results_add_damaged(struct pr_results_reader *r,
                            const struct pr_err *e);

/* ---- bytes of one file */

struct pr_results_intake;

/* name is for messages and for what Lambda's paths tell; it must outlive. */
struct pr_results_intake *pr_results_intake_new(struct pr_results_reader *r,
                                                const char *name,
                                                enum pr_results_kind kind,
                                                struct pr_err *err);
/* The same of a member of an archive. */
struct pr_results_intake *
pr_results_intake_new_member(struct pr_results_reader *r, const char *archive,
                             const char *member, struct pr_err *err);
int pr_results_intake_feed(struct pr_results_intake *in, const char *bytes,
                           size_t len, struct pr_err *err) PR_MUST_CHECK;
/* All of it came. Frees. */
int pr_results_intake_end(struct pr_results_intake *in,
                          struct pr_err *err) PR_MUST_CHECK;
void pr_results_intake_free(struct pr_results_intake *in);

/* ---- documents */

/* A whole document. 1: rows were made; 0: it is JSON, but nothing we know;
 * PR_E_FORMAT: it is no JSON. Rows that were made before damage stay. */
int pr_results_json_read(struct pr_results_reader *r, const char *name,
                         const char *text, size_t len,
                         enum pr_results_kind kind,
                         struct pr_err *err) PR_MUST_CHECK;

/* What pr_results_json_read answered, put into the counts; what is no JSON is
 * read as a log instead. */
int pr_results_intake_settle(struct pr_results_reader *r, const char *name,
                             const char *text, size_t len, int rc,
                             const struct pr_err *e, enum pr_results_kind kind,
                             struct pr_err *err) PR_MUST_CHECK;

/* A list in a large JSON file is cut where a record seems to begin. Each part
 * must end where the next begins; else the file is read again as one. */
int pr_results_split_lists(struct pr_results_list *list, unsigned threads,
                           struct pr_err *err) PR_MUST_CHECK;
const char *pr_results_find_cut(const char *text, size_t len, unsigned part,
                                unsigned parts);

/* One part. PR_OK: its rows were made, and item->split_wrong tells. */
int pr_results_json_read_part(struct pr_results_reader *r,
                              struct pr_results_item *item, const char *text,
                              size_t len, struct pr_err *err) PR_MUST_CHECK;

/* Makes the row of a record, whose bracket is at p, but does not end it.
 * Answers what follows the record; NULL: it must be read in full. */
const char *pr_results_row_read_quick(struct pr_results_reader *r,
                                      const char *p, const char *end,
                                      struct pr_err *err);

/* Whatever item is. */
int pr_results_read_item(struct pr_results_reader *r,
                         struct pr_results_item *item,
                         struct pr_err *err) PR_MUST_CHECK;

#endif
