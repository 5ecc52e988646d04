/*
 * Inside of the reader of definitions. It works in steps: the text becomes a
 * tree of items (model_tree.c), in which every op and option is known; then the
 * tree is expanded into layers (model_expand.c), each of which gets its values
 * (model_values.c) and shape (model_shape.c); then come the losses and who
 * learns when (model_loss.c). Whatever is wrong is reported where it stands.
 */
#ifndef PR_NN_MODEL_IMPL_H
#define PR_NN_MODEL_IMPL_H

#include "base/names.h"
#include "base/text.h"
#include "nn/model/model.h"

enum {
    PR_MODEL_LAYERS = 100000, /* after expansion */
    PR_MODEL_ITEMS = 20000,   /* as written */
    PR_MODEL_STEPS = 500000,  /* items looked at while expanding */
    PR_MODEL_DEPTH = 32,      /* blocks and branches inside each other */
    PR_MODEL_BLOCKS = 64,
    PR_MODEL_TURNS = 16,
    PR_MODEL_TURN_NAMES = 256, /* in all turns */
    PR_MODEL_GIVEN = 32,       /* parameters of a block */
    PR_MODEL_NAME = 128,       /* bytes of a name */
    PR_MODEL_TEXT = 200,       /* bytes of an expression */
    PR_MODEL_LIST = 4,         /* items of a list that is a value */
    PR_MODEL_BYTES = 1 << 20,
};
#define PR_MODEL_DIM ((int64_t)1 << 30)      /* one side of a tensor */
#define PR_MODEL_ELEMENTS ((int64_t)1 << 40) /* a tensor */

/* ---- ops: what they take */

enum pr_model_field_kind {
    PR_FIELD_INT,
    PR_FIELD_PAIR,  /* a number, or [rows, columns] */
    PR_FIELD_PAD,   /* also [top, left, bottom, right], or "same" */
    PR_FIELD_SIDES, /* the same without "same" */
    PR_FIELD_SHAPE, /* one to three numbers, one of which may be -1 */
    PR_FIELD_BOOL,
    PR_FIELD_NUMBER,
    PR_FIELD_INPUT, /* the name of one, which the layer also takes */
};

struct pr_model_field {
    const char *name;
    enum pr_model_field_kind kind;
    size_t offset; /* in struct pr_model_draft */
    double min, max;
    bool open_min, open_max; /* the limit itself is not allowed */
};

enum { PR_FIELDS = 8 };

/* has_main: field 0 is the op's own value, which must be given. */
struct pr_model_op {
    enum pr_layer_op op;
    bool is_join; /* add, concat: its value is a list of branches */
    bool has_main;
    const char *froms;   /* "[rows, ids]": it takes a list of layers */
    unsigned from_count; /* … of so many */
    bool from_one;       /* … or one */
    unsigned field_count;
    struct pr_model_field fields[PR_FIELDS];
};

/* A layer before its shape is known. */
struct pr_model_draft {
    struct pr_layer l;
    uint32_t line, col;
    bool same, ceil, depthwise;
    int64_t axis;
    struct pr_layer_shape reshape;
};

/* ---- the tree */

struct pr_model_item;

struct pr_model_list {
    struct pr_model_item *items;
    unsigned count;
};

struct pr_model_block {
    const char *name;
    uint32_t line, col;
    const struct pr_value *given; /* a map, or NULL */
    struct pr_model_list body;
    enum { PR_BLOCK_NEW, PR_BLOCK_OPEN, PR_BLOCK_DONE } state;
};

/* One layer as written: an op or a block, and what it is given. */
struct pr_model_item {
    const char *key; /* name of the op or block */
    uint32_t line, col;
    const struct pr_model_op *op; /* or */
    struct pr_model_block *block;
    const struct pr_value *value; /* after the key; NULL: none */
    const struct pr_value *name, *only_if, *repeat, *from, *like, *freeze;
    /* By field of the op or parameter of the block; NULL: not given. */
    const struct pr_value **args;
    struct pr_model_list *branches; /* of a join */
    unsigned branch_count;
};

/* ---- the builder */

struct pr_model_builder {
    const char *name; /* for messages */
    struct pr_err *err;
    struct pr_arena *out;     /* of the model */
    struct pr_arena *work;    /* until the model is there */
    struct pr_arena *scratch; /* of one expression */
    struct pr_model *m;
    const struct pr_value *root;            /* the definition */
    const struct pr_value *given;           /* its parameters, a map, or NULL */
    struct pr_value values[PR_MODEL_GIVEN]; /* of them; null: not known yet */
    struct pr_layer_shape input;            /* of the key; dims 0: none */
    struct pr_model_block blocks[PR_MODEL_BLOCKS];
    unsigned block_count;
    struct pr_model_list body;
    unsigned item_count, depth, steps;

    struct pr_keyset names; /* of layers and blocks, to their last layer */
    size_t layer_cap, col_cap;
    uint32_t *cols;            /* of each layer */
    struct pr_buf text;        /* of one expression */
    struct pr_buf answer;      /* … */
    bool is_changed;           /* something is not the definition's own */
    struct pr_value reference; /* a map, or null */
};

/* at: anything with a line and a column. */
#define PR_MODEL_FAIL(b, at, ...)                                     \
    pr_fail_at((b)->err, PR_E_CONF, (b)->name, (at)->line, (at)->col, \
               __VA_ARGS__)

/* Adds "did you mean"; returns the code. */
int pr_model_suggest(struct pr_model_builder *b, const struct pr_nearest *n);

/* Counts the work of expanding, which is limited. */
int pr_model_count_step(struct pr_model_builder *b,
                        const struct pr_value *at) PR_MUST_CHECK;

/* Whether a name is one: letters, digits, _ . and - */
bool pr_model_is_name(const struct pr_value *v);

/* ---- text to tree */

int pr_model_read_items(struct pr_model_builder *b, const struct pr_value *list,
                        const char *what,
                        struct pr_model_list *ret) PR_MUST_CHECK;
int pr_model_read_blocks(struct pr_model_builder *b,
                         const struct pr_value *map) PR_MUST_CHECK;
/* Index of a parameter; -1: none. */
int pr_model_block_param(const struct pr_model_block *block, const char *name);

/* Whether a parameter may be called that. */
int pr_model_check_param(struct pr_model_builder *b,
                         const struct pr_member *m) PR_MUST_CHECK;

/* ---- values */

/* The parameters that a layer may refer to beside those of the model; block
 * NULL: none. */
struct pr_model_env {
    const struct pr_model_block *block;
    struct pr_value values[PR_MODEL_GIVEN]; /* null: not known yet */
};

/* What a value is with the parameters put in. Text that is a mere word stays
 * text. */
int pr_model_eval(struct pr_model_builder *b, const struct pr_model_env *env,
                  const struct pr_value *v, struct pr_value *ret) PR_MUST_CHECK;

/* Evaluates and converts. key is for messages. */
int pr_model_eval_int(struct pr_model_builder *b,
                      const struct pr_model_env *env, const struct pr_value *v,
                      const char *key, int64_t min, int64_t max,
                      int64_t *ret) PR_MUST_CHECK;
int pr_model_eval_bool(struct pr_model_builder *b,
                       const struct pr_model_env *env, const struct pr_value *v,
                       const char *key, bool *ret) PR_MUST_CHECK;
int pr_model_eval_number(struct pr_model_builder *b,
                         const struct pr_model_env *env,
                         const struct pr_value *v,
                         const struct pr_model_field *f,
                         double *ret) PR_MUST_CHECK;

/* "'kernel' wants …, got …" */
int pr_model_fail_wants(struct pr_model_builder *b, const struct pr_value *v,
                        const char *key, const char *want) PR_MUST_CHECK;

/* ---- names */

/* What layers of one block, or of the model, have in common. */
struct pr_model_scope {
    const char *prefix; /* of names: "stage2.1." */
    const char *like;   /* of the names whose tensors it has; NULL: its own */
    bool is_frozen;
    const struct pr_model_scope *outer; /* where the block is used */
    const struct pr_model_env *env;
    unsigned input;                  /* what came into it */
    unsigned ops[PR_LAYER_OP_COUNT]; /* how many there are so far */
    unsigned blocks[PR_MODEL_BLOCKS];
};

/* From now on name means that layer; it must be new. */
int pr_model_put_name(struct pr_model_builder *b,
                      const struct pr_model_item *item, const char *name,
                      unsigned layer) PR_MUST_CHECK;
/* The layer that a name after 'from', or another key, means. */
int pr_model_find_name(struct pr_model_builder *b, const struct pr_value *v,
                       const char *key, const struct pr_model_scope *s,
                       unsigned *ret) PR_MUST_CHECK;

/* ---- where a layer takes its input */

int pr_model_check_from(struct pr_model_builder *b,
                        const struct pr_model_item *item) PR_MUST_CHECK;
/* The inputs of a layer that is no join: at, or those it names. In b->out. */
int pr_model_find_inputs(struct pr_model_builder *b,
                         const struct pr_model_item *item,
                         const struct pr_model_scope *s, unsigned at,
                         struct pr_layer *l) PR_MUST_CHECK;
/* Those of a join are at least two, none of them twice. */
int pr_model_check_join(struct pr_model_builder *b,
                        const struct pr_model_item *item,
                        const unsigned *inputs, unsigned count) PR_MUST_CHECK;

/* ---- layers */

/* Fills a draft with defaults and what the item gives. */
int pr_model_fill(struct pr_model_builder *b, const struct pr_model_env *env,
                  const struct pr_model_item *item,
                  struct pr_model_draft *d) PR_MUST_CHECK;

/* Shape, padding, params and flops, from those of its inputs. */
int pr_model_shape(struct pr_model_builder *b,
                   struct pr_model_draft *d) PR_MUST_CHECK;
/* false: more than PR_MODEL_ELEMENTS. */
bool pr_shape_elements(const struct pr_layer_shape *s, int64_t *ret);
/* "[64, 56, 56]" */
const char *pr_shape_text(const struct pr_layer_shape *s, char out[static 72]);
bool pr_shape_equal(const struct pr_layer_shape *a,
                    const struct pr_layer_shape *b);

static inline const struct pr_layer *
pr_model_draft_input(const struct pr_model_builder *b,
                     const struct pr_model_draft *d, unsigned i)
{
    return &b->m->layers[d->l.inputs[i]];
}
/* One window along one side: in, kernel, stride, dilation are 1 or more. */
struct pr_model_window {
    int64_t in, kernel, stride, dilation;
    int64_t pad_begin, pad_end;
    bool same, ceil;
};
/* Sets both pads to what they are; 0: the window is larger than the input. */
int64_t pr_model_window_out(struct pr_model_window *w);

/* Appends a layer. */
int pr_model_append(struct pr_model_builder *b,
                    const struct pr_model_draft *d) PR_MUST_CHECK;
/* The inputs, which are the first layers. */
int pr_model_add_inputs(struct pr_model_builder *b) PR_MUST_CHECK;

/* Expands b->body into b->m->layers. */
int pr_model_expand(struct pr_model_builder *b) PR_MUST_CHECK;

/* ---- keys of the definition beside blocks and layers */

int pr_model_read_optimizer(struct pr_model_builder *b,
                            const struct pr_value *map) PR_MUST_CHECK;
/* 'given', 'classes' and 'input', with 'tiny' and exp.model_opts over them. */
int pr_model_read_sizes(struct pr_model_builder *b,
                        const struct pr_model_variant *variant) PR_MUST_CHECK;
/* "'%s' has no '%s'", with the nearest of the names. */
int pr_model_fail_unknown(struct pr_model_builder *b, const struct pr_member *m,
                          const char *what, const char *const *names,
                          size_t count);

/* ---- losses and turns */

/* 'turns': how many there are. */
int pr_model_read_turns(struct pr_model_builder *b) PR_MUST_CHECK;
/* 'output' and 'losses'. */
int pr_model_read_losses(struct pr_model_builder *b) PR_MUST_CHECK;
/* When each layer is computed and learns. */
int pr_model_assign_turns(struct pr_model_builder *b) PR_MUST_CHECK;

/* A layer as a place for messages. */
static inline struct pr_value pr_model_place(const struct pr_model_builder *b,
                                             unsigned layer)
{
    return (struct pr_value){.line = b->m->layers[layer].line,
                             .col = b->cols[layer]};
}

#endif
