/*
 * A model as its definition says: the notation of models/ (docs/models.md)
 * with blocks and repetitions expanded into one list of layers, each with its
 * shape. Every engine and framework builds its network from this list, so that
 * a name means the same network everywhere. Shapes are those of one sample.
 */
#ifndef PR_NN_MODEL_H
#define PR_NN_MODEL_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json_build.h"
#include "base/value.h"

/* What a layer does. X(id, name in definitions and JSON) */
#define PR_LAYER_OPS(X)                                                     \
    X(INPUT, "input")           /* the sample; always layer 0 */            \
    X(CONV, "conv")             /* out kernel stride pad dilation groups */ \
    X(LINEAR, "linear")         /* out bias */                              \
    X(BATCH_NORM, "batch_norm") /* epsilon momentum scale */                \
    X(LRN, "lrn")               /* size alpha beta k */                     \
    X(MAX_POOL, "max_pool")     /* kernel stride pad */                     \
    X(AVERAGE_POOL, "average_pool")                                         \
    X(GLOBAL_POOL, "global_pool") /* mean of each channel: [C] */           \
    X(RELU, "relu")                                                         \
    X(SIGMOID, "sigmoid")                                                   \
    X(TANH, "tanh")                                                         \
    X(SOFTMAX, "softmax")                                                   \
    X(DROPOUT, "dropout") /* rate */                                        \
    X(FLATTEN, "flatten")                                                   \
    X(SCALE, "scale")   /* by a number */                                   \
    X(CONCAT, "concat") /* of channels */                                   \
    X(ADD, "add")

enum pr_layer_op {
#define X(id, name) PR_LAYER_##id,
    PR_LAYER_OPS(X)
#undef X
        PR_LAYER_OP_COUNT,
};
const char *pr_layer_op_name(enum pr_layer_op op);

enum { PR_LAYER_DIMS = 3 };

/* [C, H, W], or [F] with one dimension. */
struct pr_layer_shape {
    unsigned dims; /* 1 or 3 */
    int64_t at[PR_LAYER_DIMS];
};

struct pr_layer {
    const char *name; /* unique: "conv1", "stage2.3.conv1" */
    enum pr_layer_op op;
    unsigned line;        /* in the definition */
    unsigned input_count; /* layers before this one */
    const unsigned *inputs;
    struct pr_layer_shape shape; /* of its output */

    /* conv, linear: outputs. conv and pools: the window. */
    int64_t out;
    int64_t kernel[2], stride[2], dilation[2]; /* rows, columns; 1: none */
    int64_t pad[4];                            /* top, left, bottom, right */
    int64_t groups;
    bool bias;
    bool count_pad;  /* average_pool: padding counts as zeros */
    bool has_scale;  /* batch_norm: gamma is learned, not 1 */
    double epsilon;  /* batch_norm */
    double momentum; /* batch_norm: running = (1 - m) running + m batch */
    int64_t size;    /* lrn: channels in a sum; alpha is divided by it */
    double alpha, beta, k;
    double rate;   /* dropout */
    double factor; /* scale */

    uint64_t params; /* learned numbers */
    uint64_t flops;  /* forward, one sample: two for each multiply-add of
                        conv and linear, bias and all else not counted */
};

enum pr_optimizer { PR_SGD, PR_ADAM };

struct pr_optimizer_opts {
    enum pr_optimizer kind;
    double learning_rate, momentum, weight_decay; /* momentum: sgd */
    double beta1, beta2, epsilon;                 /* adam */
};

struct pr_model {
    const char *name, *title;
    const char *item; /* what counts as one: "image", "sample" */
    const char *path; /* of the definition */
    const char *says; /* a sentence: whose network, which variant */
    struct pr_layer_shape input;
    int64_t classes;      /* outputs of the last layer */
    unsigned layer_count; /* with the input */
    struct pr_layer *layers;
    unsigned output; /* the layer whose values are scored: logits */
    struct pr_optimizer_opts optimizer;
    uint64_t params, flops; /* sums */
    /* As published, for the definition's own input and classes; 0: nowhere. */
    uint64_t reference_params;
    double reference_flops;
    const char *reference_source; /* where they are from; "" without any */
};

/* Reads a definition. name is a bundled one ("resnet50") or the path of a
 * file. opts is a map or NULL, exp.model_opts: {"input": [3, 64, 64],
 * "classes": 10} change what the definition says. All in the arena. Errors
 * name file, line and key; a name that is not there brings the nearest. */
int pr_model_load(const char *name, const struct pr_value *opts,
                  struct pr_arena *a, struct pr_model **ret,
                  struct pr_err *err) PR_MUST_CHECK;

/* The same from text; name is for messages. */
int pr_model_parse(const char *text, size_t len, const char *name,
                   const struct pr_value *opts, struct pr_arena *a,
                   struct pr_model **ret, struct pr_err *err) PR_MUST_CHECK;

/* The list of layers as JSON, "prony.model/1": what frameworks read. */
void pr_model_json(const struct pr_model *m, struct pr_jb *jb);

/* Tensors of a layer that are learned or kept: weight, bias, and for
 * batch_norm weight, bias, mean, var. */
struct pr_layer_tensor {
    const char *suffix; /* "weight": the tensor is LAYER.weight */
    bool is_learned;
    unsigned dims;
    int64_t at[4]; /* conv: [out, in / groups, rows, columns]; linear: [out,
                      in] with in counted as [C, H, W] in that order */
};
enum { PR_LAYER_TENSORS = 4 };
unsigned pr_layer_tensors(const struct pr_model *m, const struct pr_layer *l,
                          struct pr_layer_tensor out[static PR_LAYER_TENSORS]);

#endif
