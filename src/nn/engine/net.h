/*
 * A network ready to run: a model of one batch size, planned once. Layouts,
 * memory and primitives are fixed when it is made; a step allocates nothing.
 * Not for several threads at once; a step uses all threads itself.
 */
#ifndef PR_NN_NET_H
#define PR_NN_NET_H

#include "nn/model/model.h"

struct pr_net;

enum pr_nn_dtype { PR_NN_F32, PR_NN_BF16 };

/* How recurrent layers are computed. */
enum pr_nn_rnn {
    PR_NN_RNN_AUTO,     /* as is faster */
    PR_NN_RNN_UNROLLED, /* row by row, by loops of ours and matrix products */
    PR_NN_RNN_ONEDNN,   /* by its recurrent primitives */
};

/* Sums gradients over several nets that learn together, each with a batch of
 * its own. */
struct pr_net_reduce {
    unsigned ranks;
    void *ctx;
    /* Replaces values by their mean over all ranks, between the backward pass
     * and the updates of a turn. The same bits everywhere. */
    int (*mean)(void *ctx, float *values, size_t count, struct pr_err *err);
};

struct pr_net_opts {
    uint64_t batch;
    bool training;    /* else inference: batch norm is folded away */
    unsigned threads; /* 0: as many as there are */
    enum pr_nn_dtype dtype;
    bool no_dropout;     /* training without it, to compare */
    bool keep_gradients; /* so that they can be asked for */
    bool profile;        /* measure each layer */
    bool plan_only;      /* no memory, no steps: to know what it needs */
    bool all_losses;     /* inference: not only of what the output needs */
    enum pr_nn_rnn rnn;
    uint64_t seed;         /* of weights and dropout */
    uint64_t dropout_seed; /* of what dropout keeps; 0: the other one */
    struct pr_optimizer_opts optimizer;
    uint64_t memory_limit; /* bytes it may take; 0: what the machine has left */
    const struct pr_net_reduce *reduce; /* NULL: it learns alone */
    const bool *stop; /* becomes true: PR_E_INTR, unless others wait for it;
                         NULL: never */
};

/* PR_E_UNAVAIL: no oneDNN here, or no bfloat16 in this processor. PR_E_NOMEM
 * with the size it needs. Weights are random, from the seed. model stays the
 * caller's and must live as long. */
int pr_net_new(const struct pr_model *model, const struct pr_net_opts *opts,
               struct pr_net **ret, struct pr_err *err) PR_MUST_CHECK;
void pr_net_free(struct pr_net *net); /* NULL is fine */

/* Whether this build and machine can compute; false with the reason and the
 * remedy in err. version: of the library, "" without one. */
bool pr_net_is_available(char version[static 32], struct pr_err *err);

/* Input i of the model for the whole batch, in plain order: floats, or int32_t
 * where the input is of ids. To be filled before each step; what is in it
 * stays. */
void *pr_net_input(struct pr_net *net, unsigned i);

/* Forward, losses, backward, update; turn after turn. PR_E_JOB when a loss is
 * no number: what learns in that turn is as before then, running means and
 * variances are not. */
struct pr_net_score {
    double loss;              /* sum of all */
    double losses[PR_LOSSES]; /* each with its factor */
    uint64_t rows, right; /* that the first cross_entropy scored, and those of
                             them whose class was found */
};
int pr_net_train(struct pr_net *net, struct pr_net_score *ret,
                 struct pr_err *err) PR_MUST_CHECK;

/* Forward alone, as training does it in a net made for that: with dropout, and
 * the batch's own mean and variance. ret may be NULL: no loss then. */
int pr_net_infer(struct pr_net *net, struct pr_net_score *ret,
                 struct pr_err *err) PR_MUST_CHECK;

/* The last forward's outputs, in plain order. */
const float *pr_net_output(const struct pr_net *net);

/* Changes from the next step on. */
void pr_net_set_learning_rate(struct pr_net *net, double rate);

/* ---- tensors by name, in plain order: those of pr_layer_tensors */

struct pr_net_tensor {
    char name[160]; /* "conv1.weight" */
    bool is_learned;
    unsigned dims;
    int64_t at[4];
    uint64_t elements;
};
unsigned pr_net_tensor_count(const struct pr_net *net);
void pr_net_tensor(const struct pr_net *net, unsigned i,
                   struct pr_net_tensor *ret);
int pr_net_get(struct pr_net *net, unsigned i, float *out,
               struct pr_err *err) PR_MUST_CHECK;
int pr_net_set(struct pr_net *net, unsigned i, const float *values,
               struct pr_err *err) PR_MUST_CHECK;
/* Of the last step; keep_gradients, and tensors that are learned. */
int pr_net_gradient(struct pr_net *net, unsigned i, float *out,
                    struct pr_err *err) PR_MUST_CHECK;

/* Copies all tensors of one net to another of the same model: trained weights
 * to a net for inference. */
int pr_net_copy(struct pr_net *to, struct pr_net *from,
                struct pr_err *err) PR_MUST_CHECK;

/* ---- what it is and what it took */

struct pr_net_facts {
    uint64_t bytes;        /* all memory, planned */
    uint64_t weight_bytes; /* of that: what stays from step to step */
    unsigned threads;
    unsigned steps;    /* primitives and loops in one training step */
    unsigned reorders; /* of them: changes of layout */
    double flops;      /* of one call: forward, or all of a step */
    double conv_flops; /* of that: convolutions */
};
void pr_net_facts(const struct pr_net *net, struct pr_net_facts *ret);

/* One row for each layer that does something, and what of it; with profile.
 * In the order of the model; false when i is too large. */
struct pr_net_row {
    const char *layer;
    const char *op;
    const char *impl;   /* "jit:avx2", "" for loops of ours */
    const char *layout; /* of its output: "nChw8c", "nchw", "nc" … */
    double forward_s, backward_s, update_s; /* mean of a step */
    double forward_flops, backward_flops;   /* of a step */
};
bool pr_net_row(const struct pr_net *net, unsigned i, struct pr_net_row *ret);
void pr_net_forget_times(struct pr_net *net); /* after warm-up */

#endif
