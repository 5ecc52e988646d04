/*
 * Inside of rnn_samples*.c: a recurrent layer by samples. Each thread takes
 * some of them through all rows, and nobody waits for anybody. For this input,
 * state and a 1 lie side by side, and weights and biases are one matrix, packed
 * at the start; so are their gradients, of which each thread has its own sum.
 * It pays as long as that matrix stays in a cache.
 */
#ifndef PR_NN_RNN_SAMPLES_H
#define PR_NN_RNN_SAMPLES_H

#include "nn/kernel/kernel_vec.h"
#include "nn/kernel/rnn.h"

/* Sizes that follow from those of the layer. */
struct pr_rnn_samples_sizes {
    size_t wide;  /* outputs, rounded up */
    size_t gates; /* of a sample: four times that */
    size_t cat;   /* input, state and the 1 */
    size_t cats;  /* rounded up */
};

struct pr_rnn_samples {
    const struct pr_rnn *r;
    const struct pr_rnn_data *d;
    struct pr_rnn_samples_sizes z;
    float *gates, *cells; /* kept */
    size_t kept_rows;     /* of a sample: all, or 1 */
    float *cat;           /* of each sample; backward: as panels */
    float *bias;
    struct pr_panels all;                /* weights: from cat to gates */
    struct pr_panels to_state, to_input; /* and back */
    float *sums, *dh, *dc, *dall;        /* dall: of each thread */
    unsigned used;                       /* threads */
};

/* Samples of a thread, and the row that it is at. */
struct pr_rnn_samples_share {
    size_t first, count, row;
    bool is_first; /* row to be computed */
};

static inline size_t pr_rnn_samples_row(const struct pr_rnn *r, size_t i)
{
    return r->reverse ? r->rows - 1 - i : i;
}

/* The place of this row of the share's first sample. */
static inline size_t pr_rnn_samples_place(const struct pr_rnn_samples_share *s,
                                          size_t rows, size_t numbers)
{
    return (s->first * rows + (rows > 1 ? s->row : 0)) * numbers;
}

/* What d says, with room cut up. */
void pr_rnn_samples_init(const struct pr_threads *p, const struct pr_rnn *r,
                         const struct pr_rnn_data *d, bool training,
                         bool backward, struct pr_rnn_samples *ret);
/* Calls fn on all threads, or on the caller where there is little to do. */
void pr_rnn_samples_run(const struct pr_threads *p, struct pr_rnn_samples *j,
                        pr_threads_fn *fn);
/* The samples of a thread. */
struct pr_rnn_samples_share
pr_rnn_samples_share_of(const struct pr_rnn_samples *j, unsigned thread,
                        unsigned threads);

/* Block b of what is kept belongs to this gate of the tensors; -1: to none. */
int pr_rnn_samples_gate(const struct pr_rnn *r, size_t b, bool recurrent);
void pr_rnn_samples_pack(const struct pr_rnn_samples *j);
void pr_rnn_samples_pack_back(const struct pr_rnn_samples *j,
                              const struct pr_panels *to, const float *weights,
                              size_t n, bool recurrent);

/* Cells of the row before, or of the state that the call began with. */
const float *pr_rnn_samples_cell_before(const struct pr_rnn_samples *j,
                                        const float *state,
                                        const struct pr_rnn_samples_share *s,
                                        size_t *ret_row);

#endif
