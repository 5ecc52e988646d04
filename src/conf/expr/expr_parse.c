/*
 * From tokens to the tree: conditions, operators and what they stand between.
 * Operators of one precedence make one node with a list of operands, so that
 * a long sum is not a deep tree.
 */
#include "conf/expr/expr_tree.h"

#include <string.h>

static const uint8_t precedence[ET_COUNT] = {
    [ET_OR] = PR_EXPR_PREC_OR,
    [ET_AND] = 2,
    [ET_IN] = 4,
    [ET_NOT] = 4, /* of 'not in' */
    [ET_IS] = 4,
    [ET_EQ] = 4,
    [ET_NE] = 4,
    [ET_LT] = 4,
    [ET_LE] = 4,
    [ET_GT] = 4,
    [ET_GE] = 4,
    [ET_BAR] = PR_EXPR_PREC_BITS,
    [ET_CARET] = 6,
    [ET_AMP] = 7,
    [ET_SHL] = 8,
    [ET_SHR] = 8,
    [ET_PLUS] = 9,
    [ET_MINUS] = 9,
    [ET_STAR] = 10,
    [ET_SLASH] = 10,
    [ET_FLOOR] = 10,
    [ET_PERCENT] = 10,
};

struct pr_expr_node *pr_expr_new_node(struct pr_expr_lexer *l, int kind)
{
    struct pr_expr_node *n = pr_expr_alloc(l->x, sizeof *n);

    if (!n)
        return NULL;
    n->kind = (uint8_t)kind;
    n->op = n->sub = 0;
    n->len = 0;
    n->next = NULL;
    n->a = n->b = n->c = NULL;
    return n;
}

bool pr_expr_expect(struct pr_expr_lexer *l, int kind)
{
    return l->kind == kind ? pr_expr_next_token(l) : pr_expr_fail_syntax(l);
}

static bool parse_enter_depth(struct pr_expr_lexer *l)
{
    if (++l->depth > PR_EXPR_DEPTH)
        return pr_expr_fail(l->x, "the expression is nested more than %d deep",
                            PR_EXPR_DEPTH);
    return true;
}

static bool parse_constant(struct pr_expr_lexer *l, struct pr_expr_value v,
                           struct pr_expr_node **ret)
{
    *ret = pr_expr_new_node(l, EN_CONST);
    if (!*ret)
        return false;
    (*ret)->value = v;
    return pr_expr_next_token(l);
}

/* 'a' 'b' is 'ab'. */
static bool parse_literal(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_buf b = {.x = l->x};

    if (!parse_constant(l, l->value, ret))
        return false;
    if ((*ret)->value.kind != EV_STR || l->kind != ET_CONST)
        return true;
    pr_expr_buf_add(&b, (*ret)->value.s, (*ret)->value.len);
    while (l->kind == ET_CONST && l->value.kind == EV_STR) {
        pr_expr_buf_add(&b, l->value.s, l->value.len);
        if (!pr_expr_next_token(l))
            return false;
    }
    return pr_expr_buf_value(&b, &(*ret)->value);
}

static bool parse_name_node(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    *ret = pr_expr_new_node(l, EN_NAME);
    if (!*ret)
        return false;
    (*ret)->name = l->s;
    (*ret)->len = l->len;
    return pr_expr_next_token(l);
}

static bool parse_atom(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    switch (l->kind) {
    case ET_CONST:
        return parse_literal(l, ret);
    case ET_NAME:
        return parse_name_node(l, ret);
    case ET_TRUE:
    case ET_FALSE:
        return parse_constant(l, pr_expr_new_bool(l->kind == ET_TRUE), ret);
    case ET_NONE:
        return parse_constant(l, (struct pr_expr_value){.kind = EV_NONE}, ret);
    case ET_OPEN:
        return pr_expr_parse_paren(l, ret);
    case ET_SQUARE:
        return pr_expr_parse_square(l, ret);
    case ET_CURLY:
        return pr_expr_parse_curly(l, ret);
    default:
        return pr_expr_fail_syntax(l);
    }
}

static bool parse_unary(struct pr_expr_lexer *l, struct pr_expr_node **ret);

/* Whatever is inside something else comes through here, or is a sign or a
 * 'not' more: these three count the depth. */
static bool parse_power(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_node *base, *n;

    if (!parse_enter_depth(l) || !parse_atom(l, &base))
        return false;
    if ((l->kind == ET_DOT || l->kind == ET_OPEN || l->kind == ET_SQUARE) &&
        !pr_expr_parse_trailers(l, base, &base))
        return false;
    if (l->kind == ET_POWER) {
        n = pr_expr_new_node(l, EN_POWER);
        if (!n || !pr_expr_next_token(l) || !parse_unary(l, &n->b))
            return false;
        n->a = base;
        base = n;
    }
    l->depth--;
    *ret = base;
    return true;
}

static bool parse_unary(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_node *n;

    if (l->kind != ET_MINUS && l->kind != ET_PLUS && l->kind != ET_TILDE)
        return parse_power(l, ret);
    n = pr_expr_new_node(l, EN_UNARY);
    if (!n || !parse_enter_depth(l))
        return false;
    n->sub = l->kind;
    if (!pr_expr_next_token(l) || !parse_unary(l, &n->a))
        return false;
    l->depth--;
    *ret = n;
    return true;
}

static bool parse_not(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_node *n = pr_expr_new_node(l, EN_NOT);

    if (!n || !parse_enter_depth(l) || !pr_expr_next_token(l) ||
        !pr_expr_parse_binary(l, PR_EXPR_PREC_NOT, &n->a))
        return false;
    l->depth--;
    *ret = n;
    return true;
}

/* Steps over the operator; 'not in' and 'is not' are two words. */
static bool take_operator(struct pr_expr_lexer *l, int *ret)
{
    int op = l->kind;

    if (!pr_expr_next_token(l))
        return false;
    if (op == ET_NOT) {
        if (l->kind != ET_IN)
            return pr_expr_fail_syntax(l);
        op = ET_NOT_IN;
    } else if (op == ET_IS && l->kind == ET_NOT) {
        op = ET_IS_NOT;
    } else {
        *ret = op;
        return true;
    }
    *ret = op;
    return pr_expr_next_token(l);
}

static int list_kind(int prec)
{
    return prec == 1   ? EN_OR
           : prec == 2 ? EN_AND
           : prec == 4 ? EN_COMPARE
                       : EN_CHAIN;
}

bool pr_expr_parse_binary(struct pr_expr_lexer *l, int min,
                          struct pr_expr_node **ret)
{
    struct pr_expr_node *left, *last = NULL;
    int list_prec = 0; /* of the list that left is, when it is one of ours */
    /* After 'not x' only operators that bind less may follow. */
    bool negated = l->kind == ET_NOT && min <= PR_EXPR_PREC_NOT;

    if (!(negated ? parse_not(l, &left) : parse_unary(l, &left)))
        return false;
    for (;;) {
        int prec = precedence[l->kind], op;
        struct pr_expr_node *right;

        if (!prec || prec < min || (negated && prec > PR_EXPR_PREC_NOT))
            break;
        if (!take_operator(l, &op) ||
            !pr_expr_parse_binary(l, prec + 1, &right))
            return false;
        right->op = (uint8_t)op;
        if (prec != list_prec) {
            struct pr_expr_node *list = pr_expr_new_node(l, list_kind(prec));
            if (!list)
                return false;
            list->a = last = left;
            left = list;
            list_prec = prec;
        }
        last->next = right;
        last = right;
    }
    *ret = left;
    return true;
}

/* A if C else B; B may be another such, which is a loop here and no deeper. */
bool pr_expr_parse_test(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    for (;;) {
        struct pr_expr_node *n;

        if (!pr_expr_parse_binary(l, PR_EXPR_PREC_OR, ret))
            return false;
        if (l->kind != ET_IF)
            return true;
        n = pr_expr_new_node(l, EN_IF);
        if (!n || !pr_expr_next_token(l) ||
            !pr_expr_parse_binary(l, PR_EXPR_PREC_OR, &n->a) ||
            !pr_expr_expect(l, ET_ELSE))
            return false;
        n->b = *ret;
        *ret = n;
        ret = &n->c;
    }
}

/* 1, 2 without brackets is a tuple too. */
static bool parse_top_level(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_node *tuple, **tail;

    if (!pr_expr_parse_test(l, ret))
        return false;
    if (l->kind != ET_COMMA)
        return true;
    tuple = pr_expr_new_node(l, EN_TUPLE);
    if (!tuple)
        return false;
    tuple->a = *ret;
    tail = &tuple->a->next;
    *ret = tuple;
    while (l->kind == ET_COMMA) {
        if (!pr_expr_next_token(l))
            return false;
        if (l->kind == ET_END)
            break;
        if (!pr_expr_parse_test(l, tail))
            return false;
        tail = &(*tail)->next;
    }
    return true;
}

bool pr_expr_parse(struct pr_expr *x, const char *text, size_t len,
                   struct pr_expr_node **ret)
{
    struct pr_expr_lexer l = {.x = x, .pos = text, .end = text + len};

    if (len && memchr(text, '\0', len))
        return pr_expr_fail(x, "the expression holds a NUL byte");
    if (!pr_expr_next_token(&l))
        return false;
    if (l.kind == ET_END)
        return pr_expr_fail(x, "the expression is empty");
    if (!parse_top_level(&l, ret))
        return false;
    return l.kind == ET_END || pr_expr_fail_syntax(&l);
}
