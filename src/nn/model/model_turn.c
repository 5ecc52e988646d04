/*
 * Who learns when. Networks that learn in turn are named under 'turns'; each
 * layer is computed in the first turn that needs it, and what nothing teaches
 * is an error.
 */
#include "nn/model/model_impl.h"

#include <limits.h>
#include <string.h>

/* ---- the key */

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

/* ---- who learns when */

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

/* ---- who is taught */

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

/* ---- when a layer is computed */

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

/* ---- what was computed before it learned */

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
