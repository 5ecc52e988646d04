/*
 * capacity.json: what was asked of a search for the capacity, every trial of
 * it, and what they say. Written anew after each trial; all that is needed to
 * go on, or to report.
 */
#ifndef PR_ANALYSE_CAPACITY_RECORD_H
#define PR_ANALYSE_CAPACITY_RECORD_H

#include "analyse/capacity/capacity.h"
#include "base/buf.h"

#define PR_CAPACITY_SCHEMA "prony.capacity/1"

enum { PR_CAPACITY_NOTES = 8 };

/* In an arena, texts and all. */
struct pr_capacity_record {
    const char *target;      /* as it was named */
    const char *model;       /* "unet3d"; "" not known */
    const char *accelerator; /* "H100"; "" not known */
    struct pr_capacity_opts opts;
    uint64_t asked_max; /* opts.max may be less, for want of data */
    uint64_t steps;     /* that count, of each accelerator */
    uint64_t throttle;  /* storage.throttle */
    bool no_generate;   /* data is used as it is */
    bool done;
    struct pr_capacity_trial *trials;
    size_t count, cap;
    const char *notes[PR_CAPACITY_NOTES]; /* what a reader should know */
    size_t note_count;
};

/* DIR/capacity.json. In the arena. */
int pr_capacity_record_read(const char *dir, struct pr_arena *a,
                            struct pr_capacity_record *ret,
                            struct pr_err *err) PR_MUST_CHECK;

/* False: out of memory. */
bool pr_capacity_add_trial(struct pr_capacity_record *r, struct pr_arena *a,
                           const struct pr_capacity_trial *t);

/* Each text once. Returns whether it is new; *ret_ok: not out of memory. */
bool pr_capacity_add_warning(struct pr_capacity_record *r, struct pr_arena *a,
                             const char *text, bool *ret_ok);

/* As it is written: capacity.json. */
int pr_capacity_record_write(const struct pr_capacity_record *r,
                             struct pr_buf *out,
                             struct pr_err *err) PR_MUST_CHECK;

/* The trial of this kind; NULL: none. */
const struct pr_capacity_trial *
pr_capacity_find_trial(const struct pr_capacity_record *r,
                       enum pr_capacity_kind kind);

#endif
