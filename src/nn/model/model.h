/*
 * A model as its definition says: the notation of models/ (docs/models.md)
 * with blocks and repetitions expanded into one list of layers, each with its
 * shape, and a list of losses. Every engine and framework builds its network
 * from these, so that a name means the same network everywhere. Shapes are
 * those of one sample.
 */
#ifndef PR_NN_MODEL_H
#define PR_NN_MODEL_H

#include "base/err.h"
#include "base/json/json_write.h"
#include "base/mem.h"
#include "base/value.h"

/* What a layer does. X(id, name in definitions and JSON) */
#define PR_LAYER_OPS(X)                                                        \
    X(INPUT, "input") /* comes from outside; they are first */                 \
    X(CONV, "conv")   /* out kernel stride pad dilation groups */              \
    X(TRANSPOSED_CONV, "transposed_conv") /* out kernel stride pad */          \
    X(LINEAR, "linear")               /* out bias; [rows, in]: of each row */  \
    X(EMBEDDING, "embedding")         /* out; of ids: [rows, out] */           \
    X(BATCH_NORM, "batch_norm")       /* epsilon momentum scale */             \
    X(LAYER_NORM, "layer_norm")       /* of the last dimension; epsilon */     \
    X(INSTANCE_NORM, "instance_norm") /* of each channel; epsilon */           \
    X(LRN, "lrn")                     /* size alpha beta k */                  \
    X(MAX_POOL, "max_pool")           /* kernel stride pad */                  \
    X(AVERAGE_POOL, "average_pool")                                            \
    X(GLOBAL_POOL, "global_pool") /* mean of each channel: [C] */              \
    X(RELU, "relu")                                                            \
    X(LEAKY_RELU, "leaky_relu") /* factor: below 0 */                          \
    X(GELU, "gelu")             /* by erf */                                   \
    X(SIGMOID, "sigmoid")                                                      \
    X(TANH, "tanh")                                                            \
    X(EXP, "exp")                                                              \
    X(SOFTMAX, "softmax") /* of the last dimension */                          \
    X(DROPOUT, "dropout") /* rate */                                           \
    X(LSTM, "lstm")       /* out reverse carry; over rows */                   \
    X(GRU, "gru")                                                              \
    X(ATTENTION, "attention") /* heads causal */                               \
    X(ADDITIVE_ATTENTION, "additive_attention")                                \
    X(GATHER, "gather") /* rows by their number */                             \
    X(FLATTEN, "flatten")                                                      \
    X(RESHAPE, "reshape")             /* the shape; order stays */             \
    X(TRANSPOSE, "transpose")         /* [rows, features] turned */            \
    X(SLICE, "slice")                 /* axis first count */                   \
    X(PIXEL_SHUFFLE, "pixel_shuffle") /* size */                               \
    X(UPSAMPLE, "upsample")           /* size: each value so often; nearest */ \
    X(REFLECT_PAD, "reflect_pad")     /* pad */                                \
    X(GRAM, "gram")     /* [C, C] of channels, over their places */            \
    X(SCALE, "scale")   /* by a number */                                      \
    X(CONCAT, "concat") /* axis */                                             \
    X(MULTIPLY, "multiply")                                                    \
    X(ADD, "add")

enum pr_layer_op {
#define X(id, name) PR_LAYER_##id,
    PR_LAYER_OPS(X)
#undef X
        PR_LAYER_OP_COUNT,
};
const char *pr_layer_op_name(enum pr_layer_op op);

enum { PR_LAYER_DIMS = 3 };

/* [C, H, W]; [rows, features], of a sequence rows are its times; [F]. */
struct pr_layer_shape {
    unsigned dims;
    int64_t at[PR_LAYER_DIMS];
};
/* Numbers in a sample of that shape. */
static inline size_t pr_shape_numbers(const struct pr_layer_shape *s)
{
    size_t n = 1;

    for (unsigned i = 0; i < s->dims; i++)
        n *= (size_t)s->at[i];
    return n;
}

enum { PR_FROZEN = -1, PR_MODEL_INPUTS = 16 };

struct pr_layer {
    const char *name; /* unique: "conv1", "stage2.3.conv1" */
    enum pr_layer_op op;
    unsigned line;        /* in the definition */
    unsigned input_count; /* layers before this one */
    const unsigned *inputs;
    struct pr_layer_shape shape; /* of its output */
    unsigned like; /* layer whose tensors it has; itself where they are own */
    unsigned turn; /* in which it is computed: the first that needs it */
    int learns;    /* turn in which its tensors are updated, or PR_FROZEN */

    int64_t ids; /* input: whole numbers below this; 0: float32. embedding:
                    rows of its weight, as its input says */

    /* conv, linear, embedding, lstm, gru: outputs. conv and pools: the window.
     * transposed_conv: the window of the convolution that it turns around. */
    int64_t out;
    int64_t kernel[2], stride[2], dilation[2]; /* rows, columns; 1: none */
    int64_t pad[4];                            /* top, left, bottom, right */
    int64_t groups;
    bool bias;
    bool count_pad;  /* average_pool: padding counts as zeros */
    bool has_scale;  /* norms: gamma is learned, not 1 */
    double epsilon;  /* norms */
    double momentum; /* batch_norm: running = (1 - m) running + m batch */
    int64_t size;    /* lrn: channels in a sum; alpha is divided by it.
                        pixel_shuffle, upsample: the factor */
    double alpha, beta, k;
    double rate;      /* dropout */
    double factor;    /* scale, leaky_relu */
    int64_t heads;    /* attention */
    bool causal;      /* attention: a row sees none after it */
    bool has_lengths; /* attentions: the last input is [1] of ids: how many
                         keys of the sample count, at least 1 */
    bool reverse;     /* lstm, gru: from the last row to the first */
    bool carry;       /* lstm, gru: begins with the state that the batch before
                         ended with; else with 0 */
    unsigned axis;    /* concat, slice: dimension of a sample */
    int64_t first, count; /* slice */
    bool sparse;          /* embedding: the optimiser sees touched rows alone */

    uint64_t params; /* learned numbers */
    uint64_t flops;  /* forward, one sample: two for each multiply-add of
                        conv and linear, bias and all else not counted */
};

/* What is to become small. Rows are the last dimension; [F] is one row. X(id,
 * name) */
#define PR_LOSS_KINDS(X)                                                  \
    X(CROSS_ENTROPY, "cross_entropy") /* of rows, with ids: one a row */  \
    X(MSE, "mse")                                                         \
    X(BCE, "bce")             /* of logits */                             \
    X(SMOOTH_L1, "smooth_l1") /* beta: where it becomes straight */       \
    X(KL, "kl")   /* of mean and log variance from the normal one */      \
    X(CTC, "ctc") /* of rows of logits, class 0 is blank, with ids of     \
                     which `lengths` count */                             \
    X(MULTIBOX, "multibox") /* SSD's: [4, boxes] with the same, [classes, \
                               boxes] with ids */

enum pr_loss_kind {
#define X(id, name) PR_LOSS_##id,
    PR_LOSS_KINDS(X)
#undef X
        PR_LOSS_KIND_COUNT,
};
const char *pr_loss_kind_name(enum pr_loss_kind kind);

enum { PR_LOSSES = 16 };

struct pr_loss {
    const char *name; /* unique: "loss1" */
    enum pr_loss_kind kind;
    unsigned line;
    unsigned of_count; /* layers: 2 of kl and multibox, else 1 */
    unsigned of[2];
    unsigned target_count; /* layers that are taken as they are: no gradient
                              goes there; 0: the number, or kl */
    unsigned targets[2];
    double value; /* to be reached, without a target */
    int weights;  /* input: one for each row, or -1 */
    int lengths;  /* ctc: input, how many ids count */
    bool sum;     /* over all there is, else their mean; of kl always */
    double factor, smoothing, beta;
    int64_t ignore; /* rows with this id do not count; -1: none */
    unsigned turn;
};

enum pr_optimizer { PR_SGD, PR_ADAM };

struct pr_optimizer_opts {
    enum pr_optimizer kind;
    double learning_rate, momentum, weight_decay; /* momentum: sgd */
    double beta1, beta2, epsilon;                 /* adam */
    double clip; /* all gradients of a turn together are no longer than this;
                    0: as they are */
};

struct pr_model {
    const char *name, *title;
    const char *item;     /* what counts as one: "image", "sample" */
    const char *path;     /* of the definition */
    const char *says;     /* a sentence: whose network, which variant */
    const char *data;     /* who makes batches of it: "text"; "": noise */
    unsigned input_count; /* the first layers: what is fed */
    int64_t classes;      /* of the output; 0: it has none */
    unsigned layer_count; /* with the inputs */
    struct pr_layer *layers;
    unsigned loss_count;
    struct pr_loss *losses; /* by turn */
    unsigned turn_count;    /* 1, or more where networks learn in turn */
    unsigned output; /* the layer that inference is about; with classes, the
                        logits of each */
    uint64_t items;  /* that one sample counts as */
    struct pr_optimizer_opts optimizer;
    struct pr_value given;  /* a map: its parameters as they are in use */
    uint64_t params, flops; /* sums */
    /* As published, for the definition's own input and classes; 0: nowhere. */
    uint64_t reference_params;
    double reference_flops;
    const char *reference_source; /* where they are from; "" without any */
};

/* What is to be other than the definition says. */
struct pr_model_variant {
    const struct pr_value *values; /* a map or NULL, exp.model_opts: {"input":
                                      [3, 64, 64], "width": 32} */
    bool tiny;                     /* the definition's own small size; values
                                      are laid over it */
};

/* Reads a definition. name is a bundled one ("resnet50") or the path of a
 * file; variant may be NULL. All in the arena. Errors name file, line and key;
 * a name that is not there brings the nearest. */
int pr_model_load(const char *name, const struct pr_model_variant *variant,
                  struct pr_arena *a, struct pr_model **ret,
                  struct pr_err *err) PR_MUST_CHECK;

/* The same from text; name is for messages. */
int pr_model_parse(const char *text, size_t len, const char *name,
                   const struct pr_model_variant *variant, struct pr_arena *a,
                   struct pr_model **ret, struct pr_err *err) PR_MUST_CHECK;

/* Layers and losses as JSON, "prony.model/2": what frameworks read. */
void pr_model_write_json(const struct pr_model *m, struct pr_json_writer *jb);

/* The input of that name; -1: none. */
int pr_model_input(const struct pr_model *m, const char *name);

/* Tensors of a layer that are learned or kept: weight, bias; for batch_norm
 * weight, bias, mean, var; for lstm and gru weight [gates * out, in],
 * recurrent [gates * out, out], bias and recurrent_bias, gates in PyTorch's
 * order (input, forget, cell, output; reset, update, new). */
struct pr_layer_tensor {
    const char *suffix; /* "weight": the tensor is LAYER.weight */
    bool is_learned;
    unsigned dims;
    int64_t at[4]; /* conv: [out, in / groups, rows, columns]; transposed_conv:
                      [in, out, rows, columns]; linear: [out, in] with in
                      counted as [C, H, W] in that order; embedding: [ids,
                      out]; additive_attention: [features] */
};
enum { PR_LAYER_TENSORS = 4 };
unsigned pr_layer_tensors(const struct pr_model *m, const struct pr_layer *l,
                          struct pr_layer_tensor out[static PR_LAYER_TENSORS]);

#endif
