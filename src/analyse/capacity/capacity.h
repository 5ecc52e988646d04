/*
 * How many accelerators a storage keeps busy: what is to be tried next, from
 * what was tried so far, and what the trials say in the end. Nothing is run or
 * read here, and the same trials always give the same answer.
 */
#ifndef PR_ANALYSE_CAPACITY_H
#define PR_ANALYSE_CAPACITY_H

#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

/* X(kind, word in files) */
#define PR_CAPACITY_KINDS(X)                                         \
    X(FULL, "trial")    /* a point of the curve */                   \
    X(SCOUT, "scout")   /* a short one that only reads: how fast? */ \
    X(STORAGE, "probe") /* reads and decodes nothing: storage alone */

enum pr_capacity_kind {
#define X(kind, word) PR_CAPACITY_##kind,
    PR_CAPACITY_KINDS(X)
#undef X
        PR_CAPACITY_KIND_COUNT,
};

const char *pr_capacity_kind_word(enum pr_capacity_kind kind);

/* What a trial tells about the machine; shares, NAN: not known. */
struct pr_capacity_measures {
    double cached_share;      /* of the data, in the page cache */
    double cpu_share;         /* of the processors this client may use */
    double decode_share;      /* of the time that reading takes */
    double device_busy_share; /* of the busiest device */
    double network_share;     /* of the fullest interface */
    double wait_share;        /* of accelerators' time: waiting for data */
    double barrier_share;     /* waiting for each other, where steps last
                                 differently; else NAN */
    char storage_kind[16];    /* "local disk", "network", …; "" not known */
    bool disturbed;           /* something took time from the measurement */
};

struct pr_capacity_trial {
    enum pr_capacity_kind kind;
    uint64_t accelerators;
    char name[64];      /* of its folder */
    double utilisation; /* as DLIO has it, 0 to 1 */
    double samples_per_second, mb_per_second;
    double seconds; /* that the trial took */
    struct pr_capacity_measures figures;
};

struct pr_capacity_opts {
    double threshold;  /* of utilisation, 0 to 1 */
    double confidence; /* 0.95 */
    uint64_t min, max; /* where to start; where to end */
    unsigned repeats;  /* of a point, at most */
    double need;       /* samples a second for one accelerator that is busy
                          as the threshold asks; 0: not known, no scouting */
};

/* ---- the curve */

struct pr_capacity_point {
    uint64_t accelerators;
    unsigned runs;
    unsigned discarded; /* more runs, spoilt where others were not */
    double utilisation; /* mean */
    double stdev;       /* of the runs; NAN for one */
    double error;       /* half of the interval that has the mean, at the
                           confidence asked for; NAN: not known */
    double p;           /* one-sided, that chance alone put it on this side of
                           the threshold, for all looks that were taken */
    double mb_per_second;
    bool meets;
    struct pr_capacity_measures figures; /* means */
};

struct pr_capacity_curve {
    struct pr_capacity_point *points; /* by accelerators */
    size_t count;
    double stdev;                         /* of one run, over all points */
    unsigned freedom;                     /* degrees of it; 0: not known */
    const struct pr_capacity_point *low;  /* the last that meets; or NULL */
    const struct pr_capacity_point *high; /* the first that does not */
};

/* In the arena. */
int pr_capacity_fill_curve(const struct pr_capacity_opts *o,
                           const struct pr_capacity_trial *trials, size_t count,
                           struct pr_arena *a, struct pr_capacity_curve *ret,
                           struct pr_err *err) PR_MUST_CHECK;

/* ---- the search */

struct pr_capacity_step {
    bool done;
    enum pr_capacity_kind kind;
    uint64_t accelerators;
};

int pr_capacity_next_step(const struct pr_capacity_opts *o,
                          const struct pr_capacity_trial *trials, size_t count,
                          struct pr_capacity_step *ret,
                          struct pr_err *err) PR_MUST_CHECK;

/* Accelerators that a trial lets expect: what it read, by what one needs. 0:
 * it says nothing. */
uint64_t pr_capacity_expect(const struct pr_capacity_opts *o,
                            const struct pr_capacity_trial *t);

/* ---- the answer */

struct pr_capacity_answer {
    bool known;        /* two neighbours, or an end, were found */
    uint64_t capacity; /* 0: not even one */
    bool at_least;     /* max meets the threshold, too */
    bool holds;        /* at the confidence asked for */
    bool disturbed;    /* it rests on runs that were */
    double p;          /* that it is wrong, the larger of both sides */
};

void pr_capacity_find_answer(const struct pr_capacity_opts *o,
                             const struct pr_capacity_curve *c,
                             struct pr_capacity_answer *ret);

/* The utilisation of accelerators that do not wait for data: 1, or that of the
 * first point where they wait for each other. */
double pr_capacity_top_utilisation(const struct pr_capacity_curve *c);

/* Utilisation that far below the top is beyond the knee. */
#define PR_CAPACITY_KNEE 0.02

/* Where waiting begins: the number of accelerators from which on utilisation
 * is more than 2 % below the top. 0: nowhere. */
uint64_t pr_capacity_find_knee(const struct pr_capacity_curve *c,
                               bool *ret_exact);

/* X(kind, word in files, words for people) */
#define PR_CAPACITY_LIMITS(X)                                \
    X(NONE, "none", "nothing")                               \
    X(DISTURBANCE, "disturbance", "not known")               \
    X(BARRIER, "barrier", "the accelerators themselves")     \
    X(CACHE, "memory", "the page cache (memory)")            \
    X(DECODE, "decode", "this client's processor, decoding") \
    X(CPU, "processor", "this client's processor")           \
    X(NETWORK, "network", "the network")                     \
    X(THROTTLE, "throttle", "storage.throttle")              \
    X(DEVICE, "device", "the device")                        \
    X(STORAGE, "storage", "the storage")

enum pr_capacity_limit {
#define X(kind, word, people) PR_CAPACITY_BY_##kind,
    PR_CAPACITY_LIMITS(X)
#undef X
};

const char *pr_capacity_limit_word(enum pr_capacity_limit limit);
const char *pr_capacity_limit_text(enum pr_capacity_limit limit);

/* Samples and bytes a second that one accelerator takes in that never waits;
 * bytes are those that trials read. 0: not known. */
struct pr_capacity_need {
    double samples, bytes;
};
struct pr_capacity_need
pr_capacity_compute_need(const struct pr_capacity_opts *o,
                         const struct pr_capacity_trial *trials, size_t count);

/* What keeps the point from being better. why says it with numbers. */
enum pr_capacity_limit
pr_capacity_find_limit(const struct pr_capacity_measures *f, uint64_t throttle,
                       char why[static 256]);

/* Where the client and not the storage is the limit: what the storage alone
 * could keep busy, and how many more clients like this one that takes. */
struct pr_capacity_clients {
    double mb_per_second; /* of the storage alone */
    uint64_t accelerators;
    uint64_t more;
    bool at_least; /* the client was the limit of this, too */
};

bool pr_capacity_compute_clients(const struct pr_capacity_opts *o,
                                 const struct pr_capacity_trial *probe,
                                 uint64_t capacity,
                                 struct pr_capacity_clients *ret);

#endif
