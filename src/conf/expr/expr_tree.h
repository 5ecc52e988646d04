/* The tokens and the tree of an expression, between lexer, parser and
 * evaluator. */
#ifndef PR_CONF_EXPR_TREE_H
#define PR_CONF_EXPR_TREE_H

#include "conf/expr/expr_value.h"

/* The tree. A node stands in at most one list, linked by next. */
enum pr_ex_node_kind {
    EN_CONST,   /* value */
    EN_NAME,    /* name, len */
    EN_CHAIN,   /* a: operands; op of each but the first joins it */
    EN_COMPARE, /* the same, of comparisons */
    EN_AND,     /* a: operands */
    EN_OR,
    EN_NOT,     /* a */
    EN_UNARY,   /* a; sub is the sign */
    EN_POWER,   /* a ** b */
    EN_IF,      /* b if a else c */
    EN_POSTFIX, /* a: what it starts with, then the four below */
    EN_ATTR,    /* .name */
    EN_CALL,    /* a: arguments */
    EN_INDEX,   /* [a] */
    EN_SLICE,   /* [a:b:c], each may be NULL */
    EN_LIST,    /* a: items */
    EN_TUPLE,
    EN_SET,
    EN_DICT,   /* a: key, value, key, value, ... */
    EN_COMP,   /* a: item, b: clauses; sub is EV_LIST, EV_ITER or EV_SET */
    EN_FOR,    /* a: names, b: what to walk; sub is whether to unpack */
    EN_FILTER, /* if a */
    EN_KWARG,  /* name=b */
    EN_STAR,   /* *a */
};

struct pr_ex_node {
    uint8_t kind;
    uint8_t op; /* enum pr_ex_tok */
    uint8_t sub;
    uint32_t len;
    struct pr_ex_node *next;
    union {
        struct pr_ev value;
        struct {
            union {
                struct pr_ex_node *a;
                const char *name;
            };
            struct pr_ex_node *b, *c;
        };
    };
};

enum pr_ex_tok {
    ET_END,
    ET_CONST, /* a number or text: value */
    ET_NAME,
    ET_IF,
    ET_ELSE,
    ET_FOR,
    ET_TRUE,
    ET_FALSE,
    ET_NONE,
    ET_BANNED, /* lambda and others that start no expression here */
    ET_OPEN,   /* ( */
    ET_CLOSE,
    ET_SQUARE, /* [ */
    ET_SQUARE_CLOSE,
    ET_CURLY, /* { */
    ET_CURLY_CLOSE,
    ET_COMMA,
    ET_COLON,
    ET_DOT,
    ET_ASSIGN,
    ET_TILDE,
    /* Operators between operands from here on. */
    ET_OR,
    ET_AND,
    ET_NOT,
    ET_IN,
    ET_NOT_IN, /* made by the parser, as is ET_IS_NOT */
    ET_IS,
    ET_IS_NOT,
    ET_EQ,
    ET_NE,
    ET_LT,
    ET_LE,
    ET_GT,
    ET_GE,
    ET_BAR,
    ET_CARET,
    ET_AMP,
    ET_SHL,
    ET_SHR,
    ET_PLUS,
    ET_MINUS,
    ET_STAR,
    ET_SLASH,
    ET_FLOOR,
    ET_PERCENT,
    ET_POWER,
    ET_COUNT
};

struct pr_ex_lex {
    struct pr_ex *x;
    const char *pos, *end;
    unsigned brackets; /* open ones: inside them a line may end */
    unsigned depth;    /* of the parser */
    bool started;      /* a token was seen: a line may not just end now */
    uint8_t kind;      /* enum pr_ex_tok of the current token */
    const char *s;     /* its text */
    uint32_t len;
    struct pr_ev value;
};

/* expr_lex.c, expr_literal.c */
bool pr_ex_next(struct pr_ex_lex *l);
bool pr_ex_lex_number(struct pr_ex_lex *l);
bool pr_ex_lex_string(struct pr_ex_lex *l);
const char *pr_ex_op_text(int op);
void pr_ex_record_syntax(struct pr_ex_lex *l); /* "invalid syntax at ..." */
#define pr_ex_syntax(l) (pr_ex_record_syntax(l), false)

/* expr_parse.c, expr_display.c, expr_trailer.c */
bool pr_ex_parse(struct pr_ex *x, const char *text, size_t len,
                 struct pr_ex_node **ret);
bool pr_ex_parse_test(struct pr_ex_lex *l, struct pr_ex_node **ret);
bool pr_ex_parse_binary(struct pr_ex_lex *l, int min, struct pr_ex_node **ret);
bool pr_ex_parse_comp(struct pr_ex_lex *l, struct pr_ex_node *item, int kind,
                      struct pr_ex_node **ret);
bool pr_ex_parse_item(struct pr_ex_lex *l, struct pr_ex_node **ret);
bool pr_ex_parse_paren(struct pr_ex_lex *l, struct pr_ex_node **ret);
bool pr_ex_parse_square(struct pr_ex_lex *l, struct pr_ex_node **ret);
bool pr_ex_parse_curly(struct pr_ex_lex *l, struct pr_ex_node **ret);
bool pr_ex_parse_trailers(struct pr_ex_lex *l, struct pr_ex_node *first,
                          struct pr_ex_node **ret);
bool pr_ex_expect(struct pr_ex_lex *l, int kind);
struct pr_ex_node *pr_ex_node(struct pr_ex_lex *l, int kind);
enum {
    PR_EX_PREC_OR = 1,
    PR_EX_PREC_NOT = 3,
    PR_EX_PREC_BITS = 5, /* above the comparisons */
};

/* expr_eval.c, expr_comp.c, expr_postfix.c */
bool pr_ex_eval(struct pr_ex *x, const struct pr_ex_node *n, struct pr_ev *ret);
bool pr_ex_eval_comp(struct pr_ex *x, const struct pr_ex_node *n,
                     struct pr_ev *ret);
bool pr_ex_eval_postfix(struct pr_ex *x, const struct pr_ex_node *n,
                        struct pr_ev *ret);

#endif
