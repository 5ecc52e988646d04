/* Words by Zipf's law, with usual successors. */
#include "native/task/task_words.h"

#include "base/random.h"

#include <math.h>

enum { LONGEST_RUN = 32 }; /* of successors */

void pr_words_init(struct pr_words *w, uint64_t seed, int32_t first,
                   int64_t ids)
{
    *w = (struct pr_words){seed, first, (int32_t)(ids - first), 0};
    w->log_count = log((double)w->count + 1);
}

/* The density of ranks is 1 / rank, so their logarithm is even. */
int32_t pr_words_draw(const struct pr_words *w, uint64_t bits)
{
    double u = (double)(bits >> 11) * 0x1p-53;
    int32_t rank = (int32_t)(exp(u * w->log_count) - 1);

    return w->first + (rank < w->count ? rank : w->count - 1);
}

static uint64_t bits_at(const struct pr_words *w, uint64_t text, uint64_t place)
{
    return pr_mix64(pr_mix64(w->seed + pr_mix64(text)) + place);
}

static int32_t words_successor(const struct pr_words *w, int32_t word)
{
    return pr_words_draw(w, pr_mix64(w->seed ^ (uint64_t)word << 20));
}

int32_t pr_words_get(const struct pr_words *w, uint64_t text, uint64_t place)
{
    unsigned run = 0;
    int32_t word;

    while (run < LONGEST_RUN && run < place &&
           bits_at(w, text, place - run) & 1)
        run++;
    word = pr_words_draw(w, bits_at(w, text, place - run));
    for (; run; run--)
        word = words_successor(w, word);
    return word;
}
