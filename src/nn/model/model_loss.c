/* The losses of a definition: what is to become small, and when. */
#include "nn/model/model_impl.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

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
    return rc ? rc : pr_model_check_loss(b, &head->value, l);
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
