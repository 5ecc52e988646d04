/* The tokens and the tree of an expression, between lexer, parser and
 * evaluator. */
#ifndef PR_CONF_EXPR_TREE_H
#define PR_CONF_EXPR_TREE_H

#include "conf/expr/expr_value.h"

/* The tree. A node stands in at most one list, linked by next. */
enum pr_expr_node_kind {
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

struct pr_expr_node {
    uint8_t kind;
    uint8_t op; /* enum pr_expr_token */
    uint8_t sub;
    uint32_t len;
    struct pr_expr_node *next;
    union {
        struct pr_expr_value value;
        struct {
            union {
                struct pr_expr_node *a;
                const char *name;
            };
            struct pr_expr_node *b, *c;
        };
    };
};

enum pr_expr_token {
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

struct pr_expr_lexer {
    struct pr_expr *x;
    const char *pos, *end;
    unsigned brackets; /* open ones: inside them a line may end */
    unsigned depth;    /* of the parser */
    bool started;      /* a token was seen: a line may not just end now */
    uint8_t kind;      /* enum pr_expr_token of the current token */
    const char *s;     /* its text */
    uint32_t len;
    struct pr_expr_value value;
};

/* As an operator is written. */
const char *pr_expr_op_text(int op);

bool pr_expr_parse(struct pr_expr *x, const char *text, size_t len,
                   struct pr_expr_node **ret);
#endif
