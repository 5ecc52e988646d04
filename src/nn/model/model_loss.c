/*
 * The losses of a definition: what is to become small, and when; and who
 * learns when. Networks that learn in turn are named under 'turns'; each layer
 * is computed in the first turn that needs it, and what nothing teaches is an
 * error.
 */
#include "nn/model/model_impl.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- turns: the key */

static int check_turn_names(struct pr_model_builder *b,
                            const struct pr_value *turn, size_t *names)
{
    if (turn->kind != PR_LIST || !turn->len)
        return pr_model_fail_wants(b, turn, "turns",
                                   "a list of names for each turn: [[a], [b]]");
    *names += turn->len;
    if (*names > PR_MODEL_TURN_NAMES)
        return PR_MODEL_FAIL(b, turn, "more than %d names in 'turns'",
                             PR_MODEL_TURN_NAMES);
    for (uint32_t i = 0; i < turn->len; i++)
        if (!pr_model_is_name(&turn->items[i]))
            return pr_model_fail_wants(b, &turn->items[i], "turns",
                                       "the name of a layer or block");
    return PR_OK;
}

int pr_model_read_turns(struct pr_model_builder *b)
{
    const struct pr_value *list = pr_get(b->root, "turns");
    size_t names = 0;
    int rc = PR_OK;

    b->m->turn_count = 1;
    if (!list)
        return PR_OK;
    if (list->kind != PR_LIST || !list->len)
        return pr_model_fail_wants(b, list, "turns",
                                   "a list of names for each turn: [[a], [b]]");
    if (list->len > PR_MODEL_TURNS)
        return PR_MODEL_FAIL(b, list, "more than %d turns", PR_MODEL_TURNS);
    for (uint32_t i = 0; i < list->len && !rc; i++)
        rc = check_turn_names(b, &list->items[i], &names);
    b->m->turn_count = list->len;
    return rc;
}

/* ---- turns: who learns when */

/* Whether a layer is the one that is named, or inside of that block. */
static bool is_layer_in(const struct pr_layer *l, const struct pr_value *name)
{
    return strncmp(l->name, name->s, name->len) == 0 &&
           (!l->name[name->len] || l->name[name->len] == '.');
}

/* Whether it has tensors of its own that learn. */
static bool can_learn(const struct pr_model *m, unsigned i)
{
    return m->layers[i].params && m->layers[i].learns != PR_FROZEN;
}

static int name_learners(struct pr_model_builder *b,
                         const struct pr_value *name, unsigned turn,
                         bool *named)
{
    struct pr_model *m = b->m;
    bool any = false;

    for (unsigned i = 0; i < m->layer_count; i++) {
        if (!can_learn(m, i) || !is_layer_in(&m->layers[i], name))
            continue;
        if (named[i])
            return PR_MODEL_FAIL(b, name, "'%s' learns in two turns",
                                 m->layers[i].name);
        named[i] = any = true;
        m->layers[i].learns = (int)turn;
    }
    return any ? PR_OK
               : PR_MODEL_FAIL(b, name, "nothing called '%s' learns", name->s);
}

static int assign_learners(struct pr_model_builder *b)
{
    const struct pr_value *list = pr_get(b->root, "turns");
    struct pr_model *m = b->m;
    bool *named = PR_ARENA_ARRAY(b->work, bool, m->layer_count);
    int rc = PR_OK;

    if (!named)
        return pr_fail_nomem(b->err);
    if (!list)
        return PR_OK;
    for (uint32_t i = 0; i < list->len && !rc; i++)
        for (uint32_t k = 0; k < list->items[i].len && !rc; k++)
            rc = name_learners(b, &list->items[i].items[k], i, named);
    for (unsigned i = 0; i < m->layer_count && !rc; i++) {
        struct pr_value at = pr_model_place(b, i);

        m->layers[i].learns = m->layers[m->layers[i].like].learns;
        if (!can_learn(m, i) || named[i])
            continue;
        PR_MODEL_FAIL(b, &at, "'%s' learns in no turn", m->layers[i].name);
        rc = pr_hint(b->err, "name it under 'turns', or say 'freeze: true'");
    }
    return rc;
}

/* ---- turns: who is taught */

/* What the losses of a turn depend on and so have a gradient for. */
static void mark_reached_layers(const struct pr_model *m, unsigned turn,
                                bool *reached)
{
    memset(reached, 0, m->layer_count * sizeof *reached);
    for (unsigned i = 0; i < m->loss_count; i++)
        for (unsigned k = 0; k < m->losses[i].of_count; k++)
            if (m->losses[i].turn == turn)
                reached[m->losses[i].of[k]] = true;
    for (unsigned i = m->layer_count; i-- > 0;)
        for (unsigned k = 0; reached[i] && k < m->layers[i].input_count; k++)
            reached[m->layers[i].inputs[k]] = true;
}

static int check_taught(struct pr_model_builder *b)
{
    struct pr_model *m = b->m;
    bool *reached = PR_ARENA_ARRAY(b->work, bool, m->layer_count);
    bool *taught = PR_ARENA_ARRAY(b->work, bool, m->layer_count);

    if (!reached || !taught)
        return pr_fail_nomem(b->err);
    for (unsigned turn = 0; turn < m->turn_count; turn++) {
        mark_reached_layers(m, turn, reached);
        for (unsigned i = 0; i < m->layer_count; i++)
            if (reached[i] && m->layers[i].learns == (int)turn)
                taught[m->layers[i].like] = true;
    }
    for (unsigned i = 0; i < m->layer_count; i++)
        if (can_learn(m, i) && !taught[i]) {
            struct pr_value at = pr_model_place(b, i);

            PR_MODEL_FAIL(b, &at, "no loss%s teaches '%s'",
                          m->turn_count > 1 ? " of its turn" : "",
                          m->layers[i].name);
            return pr_hint(b->err, "what shall stay as it is says 'freeze: "
                                   "true'");
        }
    return PR_OK;
}

/* ---- turns: when a layer is computed */

static void set_lower_turn(unsigned *turn, unsigned by)
{
    *turn = by < *turn ? by : *turn;
}

static void mark_loss_turns(const struct pr_loss *l, unsigned *turns)
{
    for (unsigned k = 0; k < l->of_count; k++)
        set_lower_turn(&turns[l->of[k]], l->turn);
    for (unsigned k = 0; k < l->target_count; k++)
        set_lower_turn(&turns[l->targets[k]], l->turn);
    if (l->weights >= 0)
        set_lower_turn(&turns[l->weights], l->turn);
    if (l->lengths >= 0)
        set_lower_turn(&turns[l->lengths], l->turn);
}

/* What only the output needs comes as early as it can. */
static void compute_early(struct pr_model *m, const unsigned *turns)
{
    for (unsigned i = m->input_count; i < m->layer_count; i++) {
        struct pr_layer *l = &m->layers[i];

        l->turn = turns[i];
        if (turns[i] != UINT_MAX)
            continue;
        l->turn = 0;
        for (unsigned k = 0; k < l->input_count; k++)
            if (m->layers[l->inputs[k]].turn > l->turn)
                l->turn = m->layers[l->inputs[k]].turn;
    }
}

static int assign_times(struct pr_model_builder *b)
{
    struct pr_model *m = b->m;
    unsigned *turns = PR_ARENA_ARRAY(b->work, unsigned, m->layer_count);

    if (!turns)
        return pr_fail_nomem(b->err);
    memset(turns, 0xff, m->layer_count * sizeof *turns);
    for (unsigned i = 0; i < m->loss_count; i++)
        mark_loss_turns(&m->losses[i], turns);
    for (unsigned i = m->layer_count; i-- > 0;)
        for (unsigned k = 0; k < m->layers[i].input_count; k++)
            set_lower_turn(&turns[m->layers[i].inputs[k]], turns[i]);
    compute_early(m, turns);
    return PR_OK;
}

/* ---- turns: what was computed before it learned */

/* Whether a layer's tensors have changed since it was computed. */
static bool is_stale(const struct pr_model *m, unsigned i, unsigned turn)
{
    const struct pr_layer *l = &m->layers[i];

    return m->layers[l->like].params && l->learns >= (int)l->turn &&
           l->learns < (int)turn;
}

static int refuse_stale(struct pr_model_builder *b, unsigned i, unsigned turn)
{
    const struct pr_layer *l = &b->m->layers[i];
    struct pr_value at = pr_model_place(b, i);

    PR_MODEL_FAIL(b, &at,
                  "turn %u goes back through '%s', which was computed before "
                  "it learned in turn %d",
                  turn + 1, l->name, l->learns + 1);
    return pr_hint(b->err, "use it once more for that loss, with 'like: %.64s'",
                   b->m->layers[l->like].name);
}

/* Gradients go through tensors as they were when values were computed. */
static int check_fresh(struct pr_model_builder *b)
{
    struct pr_model *m = b->m;
    bool *reached = PR_ARENA_ARRAY(b->work, bool, m->layer_count);
    bool *passes = PR_ARENA_ARRAY(b->work, bool, m->layer_count);

    if (!reached || !passes)
        return pr_fail_nomem(b->err);
    for (unsigned turn = 1; turn < m->turn_count; turn++) {
        mark_reached_layers(m, turn, reached);
        for (unsigned i = 0; i < m->layer_count; i++) {
            const struct pr_layer *l = &m->layers[i];

            passes[i] = false;
            for (unsigned k = 0; k < l->input_count; k++)
                passes[i] = passes[i] || passes[l->inputs[k]];
            if (passes[i] && reached[i] && is_stale(m, i, turn))
                return refuse_stale(b, i, turn);
            passes[i] = passes[i] ||
                        (m->layers[l->like].params && l->learns == (int)turn);
        }
    }
    return PR_OK;
}

/* Every turn has something to become small. */
static int check_turn_losses(struct pr_model_builder *b)
{
    const struct pr_value *list = pr_get(b->root, "turns");

    for (unsigned turn = 0; list && turn < b->m->turn_count; turn++) {
        bool has = false;

        for (unsigned i = 0; i < b->m->loss_count; i++)
            has = has || b->m->losses[i].turn == turn;
        if (!has)
            return PR_MODEL_FAIL(b, &list->items[turn], "turn %u has no loss",
                                 turn + 1);
    }
    return PR_OK;
}

int pr_model_assign_turns(struct pr_model_builder *b)
{
    int rc = check_turn_losses(b);

    if (!rc)
        rc = assign_learners(b);
    if (!rc)
        rc = check_taught(b);
    if (!rc)
        rc = assign_times(b);
    return rc ? rc : check_fresh(b);
}

/* ---- that a loss fits to what it is about: shapes, ids where they belong */

struct fit {
    struct pr_model_builder *b;
    const struct pr_value *at; /* for messages */
    const struct pr_loss *l;
};

static const struct pr_layer *fit_layer(const struct fit *f, unsigned i)
{
    return &f->b->m->layers[i];
}

static const char *fit_kind_name(const struct fit *f)
{
    return pr_loss_kind_name(f->l->kind);
}

static bool is_ids(const struct pr_layer *l)
{
    return l->op == PR_LAYER_INPUT && l->ids;
}

/* "'mse' wants [3, 4] as its target, 'x' has [3]" */
static int check_loss_shape(const struct fit *f, const char *role,
                            const struct pr_layer *l,
                            const struct pr_layer_shape *want)
{
    char one[72], two[72];

    if (pr_shape_equal(&l->shape, want))
        return PR_OK;
    return PR_MODEL_FAIL(f->b, f->at, "'%s' wants %s as its %s, '%s' has %s",
                         fit_kind_name(f), pr_shape_text(want, one), role,
                         l->name, pr_shape_text(&l->shape, two));
}

static int check_loss_numbers(const struct fit *f, const char *role,
                              const struct pr_layer *l,
                              const struct pr_layer_shape *want)
{
    if (is_ids(l))
        return PR_MODEL_FAIL(f->b, f->at,
                             "'%s' wants numbers as its %s, '%s' has ids",
                             fit_kind_name(f), role, l->name);
    return check_loss_shape(f, role, l, want);
}

/* Ids that are all below most. */
static int check_loss_ids(const struct fit *f, const char *role,
                          const struct pr_layer *l, int64_t count, int64_t most)
{
    struct pr_layer_shape want = {1, {count}};

    if (!is_ids(l))
        return PR_MODEL_FAIL(f->b, f->at,
                             "'%s' wants ids as its %s, '%s' has numbers",
                             fit_kind_name(f), role, l->name);
    if (l->ids > most)
        return PR_MODEL_FAIL(f->b, f->at,
                             "'%s' has ids below %" PRId64 " as its %s, those "
                             "of '%s' go up to %" PRId64,
                             fit_kind_name(f), most, role, l->name, l->ids - 1);
    return check_loss_shape(f, role, l, &want);
}

/* What the loss computes itself may not come before it. */
static int check_not_computed_twice(const struct fit *f,
                                    const struct pr_layer *of,
                                    enum pr_layer_op op)
{
    if (of->op != op)
        return PR_OK;
    PR_MODEL_FAIL(f->b, f->at, "'%s' is a %s, which '%s' computes itself",
                  of->name, pr_layer_op_name(op), fit_kind_name(f));
    return pr_hint(f->b->err, "take what comes into it");
}

/* ---- by kind */

static int check_cross_entropy(const struct fit *f, const struct pr_layer *of)
{
    const struct pr_layer_shape *s = &of->shape;
    int64_t rows = s->dims == 1 ? 1 : s->at[0];
    struct pr_layer_shape each = {1, {rows}};
    char text[72];
    int rc;

    if (s->dims > 2)
        return PR_MODEL_FAIL(f->b, f->at,
                             "'cross_entropy' wants [classes] or [rows, "
                             "classes], '%s' has %s",
                             of->name, pr_shape_text(s, text));
    rc = check_not_computed_twice(f, of, PR_LAYER_SOFTMAX);
    if (!rc)
        rc = check_loss_ids(f, "target", fit_layer(f, f->l->targets[0]), rows,
                            s->at[s->dims - 1]);
    if (!rc && f->l->weights >= 0)
        rc = check_loss_numbers(f, "weights",
                                fit_layer(f, (unsigned)f->l->weights), &each);
    return rc;
}

static int check_ctc(const struct fit *f, const struct pr_layer *of)
{
    const struct pr_layer *ids = fit_layer(f, f->l->targets[0]);
    char text[72];
    int rc;

    if (of->shape.dims != 2)
        return PR_MODEL_FAIL(f->b, f->at,
                             "'ctc' wants [rows, classes], '%s' has %s",
                             of->name, pr_shape_text(&of->shape, text));
    if (f->l->lengths < 0)
        return PR_MODEL_FAIL(f->b, f->at, "'ctc' wants 'lengths'");
    rc = check_not_computed_twice(f, of, PR_LAYER_SOFTMAX);
    if (!rc)
        rc =
            check_loss_ids(f, "target", ids, ids->shape.at[0], of->shape.at[1]);
    return rc ? rc
              : check_loss_ids(f, "lengths",
                               fit_layer(f, (unsigned)f->l->lengths), 1,
                               ids->shape.at[0] + 1);
}

static int check_multibox(const struct fit *f, const struct pr_layer *places)
{
    const struct pr_layer *logits = fit_layer(f, f->l->of[1]);
    int64_t boxes = places->shape.dims == 2 ? places->shape.at[1] : 0;
    char one[72], two[72];
    int rc;

    if (!boxes || places->shape.at[0] != 4 || logits->shape.dims != 2 ||
        logits->shape.at[1] != boxes)
        return PR_MODEL_FAIL(f->b, f->at,
                             "'multibox' wants [4, boxes] and [classes, "
                             "boxes], got %s of '%s' and %s of '%s'",
                             pr_shape_text(&places->shape, one), places->name,
                             pr_shape_text(&logits->shape, two), logits->name);
    rc = check_loss_numbers(f, "target", fit_layer(f, f->l->targets[0]),
                            &places->shape);
    return rc ? rc
              : check_loss_ids(f, "target", fit_layer(f, f->l->targets[1]),
                               boxes, logits->shape.at[0]);
}

static int check_number_loss(const struct fit *f, const struct pr_layer *of)
{
    int rc = f->l->kind == PR_LOSS_BCE
                 ? check_not_computed_twice(f, of, PR_LAYER_SIGMOID)
                 : PR_OK;

    if (rc || !f->l->target_count)
        return rc;
    return check_loss_numbers(f, "target", fit_layer(f, f->l->targets[0]),
                              &of->shape);
}

static int model_check_loss(struct pr_model_builder *b,
                            const struct pr_value *v, const struct pr_loss *l)
{
    struct fit f = {b, v, l};
    const struct pr_layer *of = fit_layer(&f, l->of[0]);

    for (unsigned i = 0; i < l->of_count; i++)
        if (fit_layer(&f, l->of[i])->op == PR_LAYER_INPUT)
            return PR_MODEL_FAIL(b, v, "'%s' is about '%s', which is an input",
                                 fit_kind_name(&f),
                                 fit_layer(&f, l->of[i])->name);
    switch (l->kind) {
    case PR_LOSS_CROSS_ENTROPY:
        return check_cross_entropy(&f, of);
    case PR_LOSS_CTC:
        return check_ctc(&f, of);
    case PR_LOSS_MULTIBOX:
        return check_multibox(&f, of);
    case PR_LOSS_KL:
        return check_loss_shape(&f, "log variance", fit_layer(&f, l->of[1]),
                                &of->shape);
    default:
        return check_number_loss(&f, of);
    }
}

static const struct pr_model_env no_env;
static const struct pr_model_scope whole = {.prefix = "", .env = &no_env};

/* ---- what each kind takes */

/* In the order of enum pr_loss_kind. */
static const struct kind {
    unsigned of_count, target_count;
    bool takes_number;   /* as its target */
    const char *options; /* beside those of all */
} kinds[] = {
    [PR_LOSS_CROSS_ENTROPY] = {1, 1, false,
                               "target weights smoothing ignore reduce"},
    [PR_LOSS_MSE] = {1, 1, true, "target reduce"},
    [PR_LOSS_BCE] = {1, 1, true, "target reduce"},
    [PR_LOSS_SMOOTH_L1] = {1, 1, true, "target beta reduce"},
    [PR_LOSS_KL] = {2, 0, false, "reduce"},
    [PR_LOSS_CTC] = {1, 1, false, "target lengths reduce"},
    [PR_LOSS_MULTIBOX] = {2, 2, false, "target"},
};

static const char *const options[] = {
    "target", "weights", "lengths", "smoothing", "ignore",
    "beta",   "reduce",  "factor",  "turn",      "name",
};
enum { OPTIONS = sizeof options / sizeof *options };

const char *pr_loss_kind_name(enum pr_loss_kind kind)
{
    static const char *const names[] = {
#define X(id, name) name,
        PR_LOSS_KINDS(X)
#undef X
    };

    return kind < PR_LOSS_KIND_COUNT ? names[kind] : "?";
}

static int find_loss_kind(const char *key)
{
    for (int i = 0; i < PR_LOSS_KIND_COUNT; i++)
        if (strcmp(key, pr_loss_kind_name((enum pr_loss_kind)i)) == 0)
            return i;
    return -1;
}

/* Whether the words of a list have this one. */
static bool has_option_word(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = list; n && (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ' '))
            return true;
    return false;
}

static bool loss_takes_option(enum pr_loss_kind kind, const char *option)
{
    return has_option_word("factor turn name", option) ||
           has_option_word(kinds[kind].options, option);
}

/* ---- which loss it is */

static int fail_unknown_loss(struct pr_model_builder *b,
                             const struct pr_value *v)
{
    const struct pr_member *m = &v->members[0];
    struct pr_nearest near;

    for (uint32_t i = 0; i < v->len; i++) {
        bool known = false;

        for (size_t k = 0; k < OPTIONS; k++)
            known = known || strcmp(options[k], v->members[i].key) == 0;
        if (!known) {
            m = &v->members[i];
            break;
        }
    }
    PR_MODEL_FAIL(b, m, "'%.64s' is not a loss", m->key);
    pr_nearest_init(&near, m->key);
    for (int i = 0; i < PR_LOSS_KIND_COUNT; i++)
        pr_nearest_offer(&near, pr_loss_kind_name((enum pr_loss_kind)i));
    return pr_model_suggest(b, &near);
}

static int find_loss_member(struct pr_model_builder *b,
                            const struct pr_value *v,
                            const struct pr_member **ret)
{
    *ret = NULL;
    if (v->kind != PR_MAP || !v->len)
        return PR_MODEL_FAIL(b, v,
                             "a loss is a map such as {mse: LAYER, target: "
                             "NAME}, not %s",
                             v->kind == PR_MAP ? "an empty one"
                                               : pr_kind_name(v->kind));
    for (uint32_t i = 0; i < v->len; i++) {
        if (find_loss_kind(v->members[i].key) < 0)
            continue;
        if (*ret)
            return PR_MODEL_FAIL(b, &v->members[i],
                                 "one loss of two kinds, '%s' and '%s'",
                                 (*ret)->key, v->members[i].key);
        *ret = &v->members[i];
    }
    return *ret ? PR_OK : fail_unknown_loss(b, v);
}

static int check_loss_options(struct pr_model_builder *b,
                              const struct pr_value *v,
                              const struct pr_member *head)
{
    enum pr_loss_kind kind = (enum pr_loss_kind)find_loss_kind(head->key);
    struct pr_nearest near;

    for (uint32_t i = 0; i < v->len; i++) {
        const struct pr_member *m = &v->members[i];

        if (m == head || loss_takes_option(kind, m->key))
            continue;
        PR_MODEL_FAIL(b, m, "'%s' has no option '%.64s'", head->key, m->key);
        pr_nearest_init(&near, m->key);
        for (size_t k = 0; k < OPTIONS; k++)
            if (loss_takes_option(kind, options[k]))
                pr_nearest_offer(&near, options[k]);
        return pr_model_suggest(b, &near);
    }
    return PR_OK;
}

/* ---- layers */

/* One name, or a list of count. */
static int read_loss_layers(struct pr_model_builder *b,
                            const struct pr_value *v, const char *key,
                            unsigned count, unsigned *ret)
{
    int rc = PR_OK;

    if (count == 1)
        return pr_model_find_name(b, v, key, &whole, ret);
    if (v->kind != PR_LIST || v->len != count)
        return pr_model_fail_wants(b, v, key, "two names: [a, b]");
    for (unsigned i = 0; i < count && !rc; i++)
        rc = pr_model_find_name(b, &v->items[i], key, &whole, &ret[i]);
    return rc;
}

/* A name, or a number that is computed. */
static bool is_target_number(const struct pr_value *v)
{
    return pr_value_is_number(v) || (v->kind == PR_STR && !pr_model_is_name(v));
}

static int read_loss_target(struct pr_model_builder *b,
                            const struct pr_member *head,
                            const struct pr_value *v, struct pr_loss *l)
{
    static const struct pr_model_field number = {
        "target", PR_FIELD_NUMBER, 0, -1e30, 1e30, false, false};
    const struct kind *k = &kinds[l->kind];

    if (!k->target_count)
        return PR_OK;
    if (!v)
        return PR_MODEL_FAIL(b, head, "'%s' wants a 'target'", head->key);
    if (k->takes_number && is_target_number(v))
        return pr_model_eval_number(b, &no_env, v, &number, &l->value);
    l->target_count = k->target_count;
    return read_loss_layers(b, v, "target", k->target_count, l->targets);
}

/* An input by name; -1 stays without one. */
static int read_loss_input(struct pr_model_builder *b,
                           const struct pr_value *loss, const char *key,
                           int *ret)
{
    const struct pr_value *v = pr_get(loss, key);
    unsigned layer;
    int rc;

    *ret = -1;
    if (!v)
        return PR_OK;
    rc = pr_model_find_name(b, v, key, &whole, &layer);
    if (rc)
        return rc;
    if (b->m->layers[layer].op != PR_LAYER_INPUT)
        return PR_MODEL_FAIL(b, v, "'%s' are an input, '%.64s' is none", key,
                             v->s);
    *ret = (int)layer;
    return PR_OK;
}

/* ---- numbers */

static int read_loss_reduce(struct pr_model_builder *b,
                            const struct pr_value *v, struct pr_loss *l)
{
    bool is_kl = l->kind == PR_LOSS_KL;

    l->sum = is_kl;
    if (!v)
        return PR_OK;
    if (v->kind == PR_STR && strcmp(v->s, "sum") == 0)
        l->sum = true;
    else if (is_kl || v->kind != PR_STR || strcmp(v->s, "mean") != 0)
        return pr_model_fail_wants(b, v, "reduce",
                                   is_kl ? "sum" : "sum or mean");
    return PR_OK;
}

static int read_loss_numbers(struct pr_model_builder *b,
                             const struct pr_value *loss, struct pr_loss *l)
{
    static const struct pr_model_field fields[] = {
        {"factor", PR_FIELD_NUMBER, offsetof(struct pr_loss, factor), -1e30,
         1e30, false, false},
        {"smoothing", PR_FIELD_NUMBER, offsetof(struct pr_loss, smoothing), 0,
         1, false, true},
        {"beta", PR_FIELD_NUMBER, offsetof(struct pr_loss, beta), 0, 1e30, true,
         false},
    };
    const struct pr_value *v;
    int rc = PR_OK;

    l->factor = l->beta = 1;
    l->ignore = -1;
    for (size_t i = 0; i < sizeof fields / sizeof *fields && !rc; i++)
        if ((v = pr_get(loss, fields[i].name)))
            rc = pr_model_eval_number(
                b, &no_env, v, &fields[i],
                (double *)(void *)((char *)l + fields[i].offset));
    if (!rc && (v = pr_get(loss, "ignore")))
        rc = pr_model_eval_int(b, &no_env, v, "ignore", 0, INT32_MAX,
                               &l->ignore);
    return rc ? rc : read_loss_reduce(b, pr_get(loss, "reduce"), l);
}

static int read_loss_turn(struct pr_model_builder *b, const struct pr_value *v,
                          struct pr_loss *l)
{
    int64_t turn = 1;
    int rc =
        v ? pr_model_eval_int(b, &no_env, v, "turn", 1, b->m->turn_count, &turn)
          : PR_OK;

    l->turn = (unsigned)(turn - 1);
    return rc;
}

static int read_loss_name(struct pr_model_builder *b,
                          const struct pr_member *head,
                          const struct pr_value *v, struct pr_loss *l)
{
    const struct pr_model *m = b->m;
    struct pr_value at = {.line = head->line, .col = head->col};

    if (v && !pr_model_is_name(v))
        return pr_model_fail_wants(b, v, "name", "a word");
    l->name = v ? pr_arena_str(b->out, v->s)
                : pr_arena_printf(b->out, "loss%u", m->loss_count + 1);
    if (!l->name)
        return pr_fail_nomem(b->err);
    for (unsigned i = 0; i < m->loss_count; i++)
        if (strcmp(m->losses[i].name, l->name) == 0)
            return PR_MODEL_FAIL(b, v ? v : &at, "two losses are called '%s'",
                                 l->name);
    return PR_OK;
}

/* ---- all of them */

static int read_loss_item(struct pr_model_builder *b, const struct pr_value *v,
                          struct pr_loss *l)
{
    const struct pr_member *head;
    int rc = find_loss_member(b, v, &head);

    if (!rc)
        rc = check_loss_options(b, v, head);
    if (rc)
        return rc;
    l->kind = (enum pr_loss_kind)find_loss_kind(head->key);
    l->line = head->line;
    l->of_count = kinds[l->kind].of_count;
    rc = read_loss_layers(b, &head->value, head->key, l->of_count, l->of);
    if (!rc)
        rc = read_loss_target(b, head, pr_get(v, "target"), l);
    if (!rc)
        rc = read_loss_input(b, v, "weights", &l->weights);
    if (!rc)
        rc = read_loss_input(b, v, "lengths", &l->lengths);
    if (!rc)
        rc = read_loss_numbers(b, v, l);
    if (!rc)
        rc = read_loss_turn(b, pr_get(v, "turn"), l);
    if (!rc)
        rc = read_loss_name(b, head, pr_get(v, "name"), l);
    return rc ? rc : model_check_loss(b, &head->value, l);
}

/* What 'input' and 'classes' mean without 'losses'. */
static void set_default_loss(struct pr_model *m)
{
    m->losses[0] = (struct pr_loss){.name = "loss1",
                                    .kind = PR_LOSS_CROSS_ENTROPY,
                                    .of_count = 1,
                                    .of = {m->output},
                                    .target_count = 1,
                                    .targets = {1},
                                    .weights = -1,
                                    .lengths = -1,
                                    .factor = 1,
                                    .beta = 1,
                                    .ignore = -1};
    m->loss_count = 1;
}

/* By turn, else as they are written. */
static void sort_losses(struct pr_loss *losses, unsigned count)
{
    for (unsigned i = 1; i < count; i++)
        for (unsigned k = i; k && losses[k].turn < losses[k - 1].turn; k--) {
            struct pr_loss l = losses[k];

            losses[k] = losses[k - 1];
            losses[k - 1] = l;
        }
}

int pr_model_read_losses(struct pr_model_builder *b)
{
    const struct pr_value *list = pr_get(b->root, "losses");
    struct pr_model *m = b->m;
    int rc = PR_OK;

    m->losses = PR_ARENA_ARRAY(b->out, struct pr_loss, PR_LOSSES);
    if (!m->losses)
        return pr_fail_nomem(b->err);
    if (!list) {
        set_default_loss(m);
        return PR_OK;
    }
    if (list->kind != PR_LIST || !list->len)
        return pr_model_fail_wants(b, list, "losses", "a list of losses");
    if (list->len > PR_LOSSES)
        return PR_MODEL_FAIL(b, list, "more than %d losses", PR_LOSSES);
    for (uint32_t i = 0; i < list->len && !rc; i++) {
        rc = read_loss_item(b, &list->items[i], &m->losses[i]);
        m->loss_count++;
    }
    sort_losses(m->losses, m->loss_count);
    return rc;
}
