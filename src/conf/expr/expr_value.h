/*
 * What the files of the expression evaluator share: the value an expression
 * works on, the state of one evaluation, and what can be done with values. The
 * tree is in expr_tree.h, functions and methods are in expr_call.h. Nobody
 * outside src/conf/expr*.c needs any of them.
 *
 * A function that can fail returns false after it has recorded why in the
 * evaluation (pr_ex_fail, pr_ex_nomem); *ret is then not to be used. All
 * memory is the arena of the evaluation.
 */
#ifndef PR_CONF_EXPR_VALUE_H
#define PR_CONF_EXPR_VALUE_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PR_EX_STEPS = 100000,  /* nodes evaluated */
    PR_EX_DEPTH = 100,     /* brackets, signs and powers inside each other */
    PR_EX_BYTES = 1 << 20, /* of one text */
    PR_EX_ITEMS = 100000,  /* of one list */
    PR_EX_WORK = 64 << 20, /* bytes made or looked at, all together */
    PR_EX_MANY = 255,      /* as a maximum of arguments: none */
};

enum pr_ev_kind {
    EV_MISSING, /* an argument that was not given */
    EV_NONE,
    EV_BOOL,
    EV_INT,
    EV_FLOAT,
    EV_STR,
    EV_LIST,
    EV_TUPLE,
    EV_SET,
    EV_ITER, /* what zip, map or a generator give: can only be walked */
    EV_VIEW, /* of a dict: keys, values, items */
    EV_DICT,
    EV_RANGE,
    EV_MATCH,
    EV_UUID,
    EV_ENVIRON,
    EV_MODULE,
    EV_FUNC,
};

struct pr_ex_def;
struct pr_ex_module;

struct pr_ev_range {
    int64_t start, stop, step;
    int64_t len;
};

struct pr_ev_match {
    const struct pr_regex *re;
    const char *s; /* the text searched */
    size_t len;
    unsigned groups;
    struct pr_span *spans; /* groups + 1 */
};

struct pr_ev {
    uint8_t kind;
    uint8_t view; /* of EV_VIEW: 'k', 'v' or 'i' */
    uint32_t len; /* bytes of a text, items of a list, pairs of a dict */
    union {
        bool b;
        int64_t i;
        double f;
        const char *s;             /* not NUL-terminated */
        const struct pr_ev *items; /* a dict: key, value, key, value, ... */
        const struct pr_ev_range *range;
        const struct pr_ev_match *match;
        const unsigned char *uuid; /* 16 bytes */
        const struct pr_ex_module *module;
        const struct pr_ex_def *func;
    };
};

/* A variable of a comprehension. */
struct pr_ex_scope {
    const char *name;
    uint32_t len;
    struct pr_ev value;
    const struct pr_ex_scope *up;
};

struct pr_ex_regex; /* a compiled pattern, kept until the evaluation ends */

struct pr_ex {
    struct pr_arena *arena;
    struct pr_err *err;
    int rc; /* PR_OK, or why it failed */
    bool pure;
    int steps;    /* left */
    int64_t work; /* left */
    const struct pr_ex_scope *scope;
    struct pr_ex_regex *regexes;
};

/* expr.c: limits and failing. */
void pr_ex_record(struct pr_ex *x, const char *fmt, ...) PR_PRINTF(2, 3);
void pr_ex_record_nomem(struct pr_ex *x);
void pr_ex_record_too_long(struct pr_ex *x);
void pr_ex_record_too_big(struct pr_ex *x); /* a whole number over 64 bits */
/* The same with the false to return in sight of the compiler, which else warns
 * of values that only a success sets. */
#define pr_ex_fail(x, ...) (pr_ex_record((x), __VA_ARGS__), false)
#define pr_ex_nomem(x) (pr_ex_record_nomem(x), false)
#define pr_ex_too_long(x) (pr_ex_record_too_long(x), false)
#define pr_ex_too_big(x) (pr_ex_record_too_big(x), false)
void *pr_ex_alloc(struct pr_ex *x, size_t bytes); /* NULL: recorded */
bool pr_ex_work(struct pr_ex *x, size_t bytes);

/* A list being made. */
struct pr_ex_vec {
    struct pr_ex *x;
    struct pr_ev *items;
    uint32_t len, cap;
};
bool pr_ex_push(struct pr_ex_vec *v, const struct pr_ev *item);
bool pr_ex_push_all(struct pr_ex_vec *v, const struct pr_ev *iterable);
struct pr_ev pr_ex_vec_value(const struct pr_ex_vec *v, int kind);

/* A text being made; appending after a failure does nothing. */
struct pr_ex_sb {
    struct pr_ex *x;
    char *p;
    size_t len, cap;
};
void pr_ex_add(struct pr_ex_sb *b, const char *s, size_t len);
void pr_ex_str(struct pr_ex_sb *b, const char *s);
void pr_ex_fill(struct pr_ex_sb *b, const char *s, size_t len, size_t times);
void pr_ex_int(struct pr_ex_sb *b, int64_t i);
bool pr_ex_sb_value(const struct pr_ex_sb *b, struct pr_ev *ret);

/* expr_text.c: str() and repr(). */
void pr_ex_text(struct pr_ex_sb *b, const struct pr_ev *v);
void pr_ex_repr(struct pr_ex_sb *b, const struct pr_ev *v);
bool pr_ex_to_str(struct pr_ex *x, const struct pr_ev *v, struct pr_ev *ret);

/* expr_value.c */
const char *pr_ev_name(const struct pr_ev *v); /* "text", "a list" */
bool pr_ev_true(const struct pr_ev *v);
bool pr_ex_items(struct pr_ex *x, const struct pr_ev *v,
                 struct pr_ev *ret_list); /* walks it to the end */
const struct pr_ev *pr_ex_dict_get(struct pr_ex *x, const struct pr_ev *dict,
                                   const struct pr_ev *key);
bool pr_ex_dict_put(struct pr_ex_vec *dict, const struct pr_ev *key,
                    const struct pr_ev *value);
bool pr_ex_set_put(struct pr_ex_vec *set, const struct pr_ev *item);

static inline bool pr_ev_is_int(const struct pr_ev *v)
{
    return v->kind == EV_INT || v->kind == EV_BOOL;
}

static inline bool pr_ev_is_number(const struct pr_ev *v)
{
    return v->kind >= EV_BOOL && v->kind <= EV_FLOAT;
}

static inline int64_t pr_ev_int(const struct pr_ev *v)
{
    return v->kind == EV_BOOL ? (int64_t)v->b : v->i;
}

static inline double pr_ev_float(const struct pr_ev *v)
{
    return v->kind == EV_FLOAT ? v->f : (double)pr_ev_int(v);
}

static inline struct pr_ev pr_ev_of_int(int64_t i)
{
    return (struct pr_ev){.kind = EV_INT, .i = i};
}

/* Unsigned: between two items of a range may be over 63 bits. */
static inline struct pr_ev pr_ev_range_at(const struct pr_ev_range *r,
                                          int64_t i)
{
    return pr_ev_of_int(
        (int64_t)((uint64_t)r->start + (uint64_t)i * (uint64_t)r->step));
}

static inline struct pr_ev pr_ev_of_float(double f)
{
    return (struct pr_ev){.kind = EV_FLOAT, .f = f};
}

static inline struct pr_ev pr_ev_of_bool(bool b)
{
    return (struct pr_ev){.kind = EV_BOOL, .b = b};
}

static inline struct pr_ev pr_ev_of_str(const char *s, size_t len)
{
    return (struct pr_ev){.kind = EV_STR, .len = (uint32_t)len, .s = s};
}

/* expr_ops.c, expr_number.c, expr_compare.c */
bool pr_ex_binary(struct pr_ex *x, int op, const struct pr_ev *a,
                  const struct pr_ev *b, struct pr_ev *ret);
bool pr_ex_unary(struct pr_ex *x, int op, const struct pr_ev *a,
                 struct pr_ev *ret);
bool pr_ex_arith(struct pr_ex *x, int op, const struct pr_ev *a,
                 const struct pr_ev *b, struct pr_ev *ret);
bool pr_ex_power(struct pr_ex *x, const struct pr_ev *a, const struct pr_ev *b,
                 struct pr_ev *ret);
bool pr_ex_bad_operands(struct pr_ex *x, int op, const struct pr_ev *a,
                        const struct pr_ev *b);
bool pr_ex_compare(struct pr_ex *x, int op, const struct pr_ev *a,
                   const struct pr_ev *b, bool *ret);
bool pr_ex_equal(struct pr_ex *x, const struct pr_ev *a, const struct pr_ev *b,
                 bool *ret);
bool pr_ex_sort(struct pr_ex *x, struct pr_ev *keys, struct pr_ev *items,
                size_t n, bool reverse); /* stable */

/* expr_index.c */
bool pr_ex_index(struct pr_ex *x, const struct pr_ev *v, const struct pr_ev *at,
                 struct pr_ev *ret);
/* from, to, step: EV_MISSING when left out. */
bool pr_ex_slice(struct pr_ex *x, const struct pr_ev *v,
                 const struct pr_ev from_to_step[3], struct pr_ev *ret);
size_t pr_ex_cp_count(const char *s, size_t len);
size_t pr_ex_cp_offset(const char *s, size_t len, size_t index);
size_t pr_ex_cp_len(const char *s, size_t avail); /* bytes; 1 for a stray */
unsigned pr_ex_cp(const char *s, size_t avail);   /* stray: 0xdc80 + byte */

/* expr_format.c, expr_percent.c, expr_spec.c */
bool pr_ex_percent(struct pr_ex *x, const struct pr_ev *fmt,
                   const struct pr_ev *args, struct pr_ev *ret);
struct pr_ex_spec {
    char fill[4];
    uint8_t fill_len;
    char align; /* 0, or one of <>=^ */
    char sign;  /* 0, or one of + - and blank */
    bool alt;
    bool zero;     /* a 0 before the width */
    char group;    /* 0, ',' or '_' */
    char type;     /* 0: none */
    int width;     /* 0: none */
    int precision; /* -1: none */
};
bool pr_ex_format_value(struct pr_ex_sb *b, const struct pr_ev *v,
                        const char *spec, size_t len);
/* Text of a number without its sign, for any type but none ('r': repr). */
bool pr_ex_float_digits(struct pr_ex *x, double f,
                        const struct pr_ex_spec *spec, struct pr_ev *ret);
bool pr_ex_int_digits(struct pr_ex *x, int64_t i, const struct pr_ex_spec *spec,
                      struct pr_ev *ret);
/* Sign, prefix, grouping and padding around it. */
bool pr_ex_put_number(struct pr_ex_sb *b, const struct pr_ex_spec *spec,
                      bool negative, const struct pr_ev *digits);
bool pr_ex_put_text(struct pr_ex_sb *b, const struct pr_ex_spec *spec,
                    const struct pr_ev *text);
/* A number from *p on; -1: over 1 MiB, which is refused. 0: none there. */
int pr_ex_format_number(const char **p, const char *end);

/* expr_convert.c, expr_str.c, expr_module.c, expr_re.c, expr_match.c */
bool pr_ex_float_to_int(struct pr_ex *x, double f, struct pr_ev *ret);
size_t pr_ex_space_len(const char *s, size_t avail); /* 0: no white space */
void pr_ex_trim(const char **s, size_t *len);        /* white space */
bool pr_ex_getenv(struct pr_ex *x, const struct pr_ev *name, struct pr_ev *ret,
                  bool *ret_found);
void pr_ex_regexes_free(struct pr_ex *x);
struct pr_ev pr_ex_group(const struct pr_ev_match *m, unsigned i);

#endif
