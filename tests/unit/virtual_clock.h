/*
 * A clock for tests, see base/clock.h: it stands still while any thread that
 * takes part works, and is at the next deadline when all of them sleep. An hour
 * of waiting takes no time, and every time is what it should be, to the
 * nanosecond, on the busiest machine. All of them asleep for ever is a failure.
 * The thread that makes it takes part.
 */
#ifndef TESTS_UNIT_VIRTUAL_CLOCK_H
#define TESTS_UNIT_VIRTUAL_CLOCK_H

#include "base/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct virtual_sleeper {
    const _Atomic uint32_t *word;
    uint64_t until; /* 0: for ever */
    bool awake;
    struct virtual_sleeper *next;
};

struct virtual_clock {
    struct pr_clock clock; /* first: what is handed in */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t now;
    int working; /* threads that take part and do not sleep */
    struct virtual_sleeper *first;
};

static inline uint64_t virtual_now(struct pr_clock *c)
{
    return __atomic_load_n(&((struct virtual_clock *)(void *)c)->now,
                           __ATOMIC_SEQ_CST);
}

/* Wakes those who sleep on the word, or whose time has come. */
static inline void virtual_wake_some(struct virtual_clock *v,
                                     const _Atomic uint32_t *word, uint32_t n)
{
    for (struct virtual_sleeper *s = v->first; s && n; s = s->next) {
        if (s->awake ||
            (word ? s->word != word : !s->until || s->until > v->now))
            continue;
        s->awake = true;
        v->working++;
        n--;
    }
    pthread_cond_broadcast(&v->changed);
}

/* Nobody works: the next deadline is now. */
static inline void virtual_pass(struct virtual_clock *v)
{
    uint64_t next = UINT64_MAX;

    if (v->working > 0 || !v->first)
        return;
    for (struct virtual_sleeper *s = v->first; s; s = s->next)
        if (s->until && s->until < next)
            next = s->until;
    if (next == UINT64_MAX) {
        fprintf(stderr, "virtual clock: all threads sleep for ever\n");
        abort();
    }
    if (next > v->now)
        __atomic_store_n(&v->now, next, __ATOMIC_SEQ_CST);
    virtual_wake_some(v, NULL, UINT32_MAX);
}

static inline void virtual_sleep(struct pr_clock *c,
                                 const _Atomic uint32_t *word, uint32_t seen,
                                 uint64_t until)
{
    struct virtual_clock *v = (void *)c;
    struct virtual_sleeper me = {.word = word, .until = until}, **at;

    pthread_mutex_lock(&v->lock);
    if (!word || atomic_load(word) == seen) {
        me.next = v->first;
        v->first = &me;
        v->working--;
        virtual_pass(v);
        while (!me.awake)
            pthread_cond_wait(&v->changed, &v->lock);
        for (at = &v->first; *at != &me; at = &(*at)->next)
            continue;
        *at = me.next;
    }
    pthread_mutex_unlock(&v->lock);
}

static inline void virtual_wake(struct pr_clock *c,
                                const _Atomic uint32_t *word, uint32_t count)
{
    struct virtual_clock *v = (void *)c;

    pthread_mutex_lock(&v->lock);
    virtual_wake_some(v, word, count);
    pthread_mutex_unlock(&v->lock);
}

static inline void virtual_attend(struct pr_clock *c, int threads)
{
    struct virtual_clock *v = (void *)c;

    pthread_mutex_lock(&v->lock);
    v->working += threads;
    virtual_pass(v);
    pthread_mutex_unlock(&v->lock);
}

/* From a second on: 0 often means that there is no time. */
static inline void virtual_clock_init(struct virtual_clock *v)
{
    *v = (struct virtual_clock){
        .clock = {.now = virtual_now,
                  .sleep = virtual_sleep,
                  .wake = virtual_wake,
                  .attend = virtual_attend,
                  .wall_ns = UINT64_C(1700000000000000000)},
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
        .now = 1000000000,
        .working = 1};
}

#endif
