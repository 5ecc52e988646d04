/* Time: a monotonic clock to measure with, a wall clock to write down. */
#ifndef PR_BASE_CLOCK_H
#define PR_BASE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct pollfd;

uint64_t pr_clock_ns(void);      /* CLOCK_MONOTONIC */
uint64_t pr_wall_clock_ns(void); /* CLOCK_REALTIME */

/*
 * The door that time comes through, for whatever emulates, waits or gives up
 * after a while: who starts it hands one in. NULL is the machine's clock. Any
 * other makes time of its own, for tests and simulations: it stands still
 * while somebody works, and goes on to the next deadline when all threads that
 * take part sleep.
 */
struct pr_clock {
    uint64_t (*now)(struct pr_clock *c);
    /* Until *word is no longer what was seen and somebody wakes us, or until
     * that time (0: never) has come. word may be NULL. May end early. */
    void (*sleep)(struct pr_clock *c, const _Atomic uint32_t *word,
                  uint32_t seen, uint64_t until_ns);
    void (*wake)(struct pr_clock *c, const _Atomic uint32_t *word,
                 uint32_t count);
    /* So many threads more (or fewer) take part. The one that starts a thread
     * says so before; one that waits in another way does not take part. */
    void (*attend)(struct pr_clock *c, int threads);
    uint64_t wall_ns; /* what clocks on walls show when it is 0 */
};

static inline uint64_t pr_now(struct pr_clock *c)
{
    return __builtin_expect(!c, 1) ? pr_clock_ns() : c->now(c);
}

static inline uint64_t pr_wall_now(struct pr_clock *c)
{
    return __builtin_expect(!c, 1) ? pr_wall_clock_ns()
                                   : c->wall_ns + c->now(c);
}

static inline void pr_attend(struct pr_clock *c, int threads)
{
    if (c)
        c->attend(c, threads);
}

/* As struct pr_clock says. The machine's clock needs no more than a futex with
 * a deadline, so that the time of sleeping does not add to the time slept. */
void pr_sleep_on(struct pr_clock *c, const _Atomic uint32_t *word,
                 uint32_t seen, uint64_t until_ns);
void pr_wake(struct pr_clock *c, const _Atomic uint32_t *word, uint32_t count);

/* Sleeps until this time, or until soon after *stop became true. stop may be
 * NULL. */
void pr_sleep_until(struct pr_clock *c, uint64_t until_ns, const bool *stop);

/* poll() until this time. Another clock than the machine's looks what there is
 * for a moment, then lets the time come. */
int pr_poll_until(struct pr_clock *c, struct pollfd *fds, unsigned count,
                  uint64_t until_ns);

/* "2026-11-15T22:17:02.123456Z"; out needs 32 bytes. Returns out. */
const char *pr_time_text(char out[static 32], uint64_t wall_ns);

/* "2026-11-15 22:17:02.123456", local, as Python's str(datetime.now()). */
const char *pr_time_local(char out[static 32], uint64_t wall_ns);

/* "20261115T221702Z": for names of folders. */
const char *pr_time_name(char out[static 32], uint64_t wall_ns);

#endif
