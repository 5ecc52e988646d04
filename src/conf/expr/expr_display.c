/* The parser's brackets: tuples, lists, dicts, sets and comprehensions. */
#include "conf/expr/expr_tree.h"

/* An item of a list or an argument: may be *items. */
bool pr_expr_parse_item(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    if (l->kind != ET_STAR)
        return pr_expr_parse_test(l, ret);
    *ret = pr_expr_new_node(l, EN_STAR);
    return *ret && pr_expr_next_token(l) &&
           pr_expr_parse_binary(l, PR_EXPR_PREC_BITS, &(*ret)->a);
}

/* for a, b in ... : the names, with or without brackets around them. */
static bool parse_for_names(struct pr_expr_lexer *l,
                            struct pr_expr_node *clause)
{
    struct pr_expr_node **tail = &clause->a;
    bool bracket = l->kind == ET_OPEN;

    if (bracket && !pr_expr_next_token(l))
        return false;
    for (;;) {
        if (l->kind != ET_NAME)
            return pr_expr_fail_syntax(l);
        *tail = pr_expr_new_node(l, EN_NAME);
        if (!*tail)
            return false;
        (*tail)->name = l->s;
        (*tail)->len = l->len;
        tail = &(*tail)->next;
        if (!pr_expr_next_token(l))
            return false;
        if (l->kind != ET_COMMA)
            break;
        clause->sub = true;
        if (!pr_expr_next_token(l))
            return false;
        if (l->kind == ET_IN || l->kind == ET_CLOSE)
            break;
    }
    return !bracket || pr_expr_expect(l, ET_CLOSE);
}

/* for x in L if c for y in ...: stands at 'for'. */
bool pr_expr_parse_comp(struct pr_expr_lexer *l, struct pr_expr_node *item,
                        int kind, struct pr_expr_node **ret)
{
    struct pr_expr_node *n = pr_expr_new_node(l, EN_COMP);
    struct pr_expr_node **tail;
    int clauses = 0;

    if (!n)
        return false;
    if (item->kind == EN_STAR)
        return pr_expr_fail(l->x, "'*' cannot be used in a comprehension");
    n->sub = (uint8_t)kind;
    n->a = item;
    tail = &n->b;
    for (; l->kind == ET_FOR || l->kind == ET_IF; tail = &(*tail)->next) {
        bool loop = l->kind == ET_FOR;

        if (++clauses > 10)
            return pr_expr_fail(l->x, "too many 'for' and 'if' in one list");
        *tail = pr_expr_new_node(l, loop ? EN_FOR : EN_FILTER);
        if (!*tail || !pr_expr_next_token(l))
            return false;
        if (loop && (!parse_for_names(l, *tail) || !pr_expr_expect(l, ET_IN)))
            return false;
        if (!pr_expr_parse_binary(l, PR_EXPR_PREC_OR,
                                  loop ? &(*tail)->b : &(*tail)->a))
            return false;
    }
    *ret = n;
    return true;
}

/* Items up to the closing bracket, the first of them already there. Stands
 * after the first. */
static bool rest_of_items(struct pr_expr_lexer *l, struct pr_expr_node *first,
                          int close)
{
    struct pr_expr_node *last = first;

    while (l->kind == ET_COMMA) {
        if (!pr_expr_next_token(l))
            return false;
        if (l->kind == close)
            break;
        if (!pr_expr_parse_item(l, &last->next))
            return false;
        last = last->next;
    }
    return pr_expr_expect(l, close);
}

bool pr_expr_parse_paren(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_node *first, *tuple;

    if (!pr_expr_next_token(l))
        return false;
    if (l->kind != ET_CLOSE) {
        if (!pr_expr_parse_item(l, &first))
            return false;
        if (l->kind == ET_FOR)
            return pr_expr_parse_comp(l, first, EV_ITER, ret) &&
                   pr_expr_expect(l, ET_CLOSE);
        if (l->kind == ET_CLOSE && first->kind != EN_STAR) {
            *ret = first;
            return pr_expr_next_token(l);
        }
        if (l->kind != ET_COMMA)
            return pr_expr_fail_syntax(l);
    } else {
        first = NULL;
    }
    tuple = pr_expr_new_node(l, EN_TUPLE);
    if (!tuple)
        return false;
    tuple->a = first;
    *ret = tuple;
    return first ? rest_of_items(l, first, ET_CLOSE) : pr_expr_next_token(l);
}

bool pr_expr_parse_square(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_node *list;

    if (!pr_expr_next_token(l))
        return false;
    list = pr_expr_new_node(l, EN_LIST);
    if (!list)
        return false;
    *ret = list;
    if (l->kind == ET_SQUARE_CLOSE)
        return pr_expr_next_token(l);
    if (!pr_expr_parse_item(l, &list->a))
        return false;
    if (l->kind == ET_FOR)
        return pr_expr_parse_comp(l, list->a, EV_LIST, ret) &&
               pr_expr_expect(l, ET_SQUARE_CLOSE);
    return rest_of_items(l, list->a, ET_SQUARE_CLOSE);
}

/* Stands at the colon after the first key. */
static bool dict_items(struct pr_expr_lexer *l, struct pr_expr_node *dict)
{
    struct pr_expr_node *key = dict->a;

    for (;;) {
        if (!pr_expr_expect(l, ET_COLON) || !pr_expr_parse_test(l, &key->next))
            return false;
        if (l->kind == ET_FOR)
            return pr_expr_fail(l->x, "{k: v for ...} is not supported");
        if (l->kind != ET_COMMA)
            break;
        if (!pr_expr_next_token(l))
            return false;
        if (l->kind == ET_CURLY_CLOSE)
            break;
        if (!pr_expr_parse_test(l, &key->next->next))
            return false;
        key = key->next->next;
    }
    return pr_expr_expect(l, ET_CURLY_CLOSE);
}

bool pr_expr_parse_curly(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_node *n;

    if (!pr_expr_next_token(l))
        return false;
    n = pr_expr_new_node(l, EN_DICT);
    if (!n)
        return false;
    *ret = n;
    if (l->kind == ET_CURLY_CLOSE)
        return pr_expr_next_token(l);
    if (l->kind == ET_POWER)
        return pr_expr_fail(l->x, "{**x} is not supported");
    if (!pr_expr_parse_item(l, &n->a))
        return false;
    if (l->kind == ET_COLON && n->a->kind != EN_STAR)
        return dict_items(l, n);
    n->kind = EN_SET;
    if (l->kind == ET_FOR)
        return pr_expr_parse_comp(l, n->a, EV_SET, ret) &&
               pr_expr_expect(l, ET_CURLY_CLOSE);
    return rest_of_items(l, n->a, ET_CURLY_CLOSE);
}
