/*
 * Words as in a text: how often each occurs follows Zipf's law, and every
 * second one is the usual successor of the one before it, so that there is
 * something to learn. Word 0 is never drawn: it stands for nothing.
 */
#ifndef PR_NATIVE_TASK_TEXT_H
#define PR_NATIVE_TASK_TEXT_H

#include "native/task/task.h"

struct pr_words {
    uint64_t seed;
    int32_t first;    /* the most frequent; those below have other uses */
    int32_t count;    /* of words, from first on */
    double log_count; /* natural */
};
void pr_words_init(struct pr_words *w, uint64_t seed, int32_t first,
                   int64_t ids);

/* The word at a place of a text; there are as many texts as one likes. */
int32_t pr_words_get(const struct pr_words *w, uint64_t text, uint64_t place);

/* A word out of 64 random bits, by frequency alone. */
int32_t pr_words_draw(const struct pr_words *w, uint64_t bits);

#endif
