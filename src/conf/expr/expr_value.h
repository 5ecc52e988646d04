/*
 * What the files of the expression evaluator share: the value an expression
 * works on, the state of one evaluation, and what can be done with values. The
 * tree is in expr_tree.h, functions and methods are in expr_eval.h. Nobody
 * outside this folder needs any of them.
 *
 * A function that can fail returns false after it has recorded why in the
 * evaluation (pr_expr_fail, pr_expr_fail_nomem); *ret is then not to be used.
 * All memory is the arena of the evaluation.
 */
#ifndef PR_CONF_EXPR_VALUE_H
#define PR_CONF_EXPR_VALUE_H

#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PR_EXPR_STEPS = 100000,  /* nodes evaluated */
    PR_EXPR_DEPTH = 100,     /* brackets, signs and powers inside each other */
    PR_EXPR_BYTES = 1 << 20, /* of one text */
    PR_EXPR_ITEMS = 100000,  /* of one list */
    PR_EXPR_WORK = 64 << 20, /* bytes made or looked at, all together */
    PR_EXPR_MANY = 255,      /* as a maximum of arguments: none */
};

enum pr_expr_value_kind {
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

struct pr_expr_def;
struct pr_expr_module;

struct pr_expr_range {
    int64_t start, stop, step;
    int64_t len;
};

struct pr_expr_match {
    const struct pr_regex *re;
    const char *s; /* the text searched */
    size_t len;
    unsigned groups;
    struct pr_regex_span *spans; /* groups + 1 */
};

struct pr_expr_value {
    uint8_t kind;
    uint8_t view; /* of EV_VIEW: 'k', 'v' or 'i' */
    uint32_t len; /* bytes of a text, items of a list, pairs of a dict */
    union {
        bool b;
        int64_t i;
        double f;
        const char *s; /* not NUL-terminated */
        const struct pr_expr_value
            *items; /* a dict: key, value, key, value, ... */
        const struct pr_expr_range *range;
        const struct pr_expr_match *match;
        const unsigned char *uuid; /* 16 bytes */
        const struct pr_expr_module *module;
        const struct pr_expr_def *func;
    };
};

/* A variable of a comprehension. */
struct pr_expr_scope {
    const char *name;
    uint32_t len;
    struct pr_expr_value value;
    const struct pr_expr_scope *up;
};

struct pr_expr_regex; /* a compiled pattern, kept until the evaluation ends */

struct pr_expr {
    struct pr_arena *arena;
    struct pr_err *err;
    int rc; /* PR_OK, or why it failed */
    bool pure;
    int steps;    /* left */
    int64_t work; /* left */
    const struct pr_expr_scope *scope;
    struct pr_expr_regex *regexes;
};

/* ---- limits and failing */

void pr_expr_record_error(struct pr_expr *x, const char *fmt, ...)
    PR_PRINTF(2, 3);
void pr_expr_record_nomem(struct pr_expr *x);
void pr_expr_record_too_long(struct pr_expr *x);
void pr_expr_record_too_big(
    struct pr_expr *x); /* a whole number over 64 bits */
/* The same with the false to return in sight of the compiler, which else warns
 * of values that only a success sets. */
#define pr_expr_fail(x, ...) (pr_expr_record_error((x), __VA_ARGS__), false)
#define pr_expr_fail_nomem(x) (pr_expr_record_nomem(x), false)
#define pr_expr_fail_too_long(x) (pr_expr_record_too_long(x), false)
#define pr_expr_fail_too_big(x) (pr_expr_record_too_big(x), false)
void *pr_expr_alloc(struct pr_expr *x, size_t bytes); /* NULL: recorded */
bool pr_expr_charge_work(struct pr_expr *x, size_t bytes);

/* ---- lists and texts being made */

/* A list being made. */
struct pr_expr_vec {
    struct pr_expr *x;
    struct pr_expr_value *items;
    uint32_t len, cap;
};
bool pr_expr_push(struct pr_expr_vec *v, const struct pr_expr_value *item);
bool pr_expr_push_all(struct pr_expr_vec *v,
                      const struct pr_expr_value *iterable);
struct pr_expr_value pr_expr_vec_value(const struct pr_expr_vec *v, int kind);

/* A text being made; appending after a failure does nothing. */
struct pr_expr_buf {
    struct pr_expr *x;
    char *p;
    size_t len, cap;
};
void pr_expr_buf_add(struct pr_expr_buf *b, const char *s, size_t len);
void pr_expr_buf_str(struct pr_expr_buf *b, const char *s);
void pr_expr_buf_fill(struct pr_expr_buf *b, const char *s, size_t len,
                      size_t times);
bool pr_expr_buf_value(const struct pr_expr_buf *b, struct pr_expr_value *ret);

/* ---- str() and repr() */

void pr_expr_write_text(struct pr_expr_buf *b, const struct pr_expr_value *v);
void pr_expr_write_repr(struct pr_expr_buf *b, const struct pr_expr_value *v);
bool pr_expr_to_str(struct pr_expr *x, const struct pr_expr_value *v,
                    struct pr_expr_value *ret);

/* ---- values (expr_value.c) */

const char *
pr_expr_value_name(const struct pr_expr_value *v); /* "text", "a list" */
bool pr_expr_is_true(const struct pr_expr_value *v);
bool pr_expr_list_items(
    struct pr_expr *x, const struct pr_expr_value *v,
    struct pr_expr_value *ret_list); /* walks it to the end */
const struct pr_expr_value *pr_expr_dict_get(struct pr_expr *x,
                                             const struct pr_expr_value *dict,
                                             const struct pr_expr_value *key);
bool pr_expr_dict_set(struct pr_expr_vec *dict, const struct pr_expr_value *key,
                      const struct pr_expr_value *value);
bool pr_expr_set_add(struct pr_expr_vec *set, const struct pr_expr_value *item);

static inline bool pr_expr_is_int(const struct pr_expr_value *v)
{
    return v->kind == EV_INT || v->kind == EV_BOOL;
}

static inline bool pr_expr_is_number(const struct pr_expr_value *v)
{
    return v->kind >= EV_BOOL && v->kind <= EV_FLOAT;
}

static inline int64_t pr_expr_value_int(const struct pr_expr_value *v)
{
    return v->kind == EV_BOOL ? (int64_t)v->b : v->i;
}

static inline double pr_expr_value_float(const struct pr_expr_value *v)
{
    return v->kind == EV_FLOAT ? v->f : (double)pr_expr_value_int(v);
}

static inline struct pr_expr_value pr_expr_new_int(int64_t i)
{
    return (struct pr_expr_value){.kind = EV_INT, .i = i};
}

/* Unsigned: between two items of a range may be over 63 bits. */
static inline struct pr_expr_value
pr_expr_range_at(const struct pr_expr_range *r, int64_t i)
{
    return pr_expr_new_int(
        (int64_t)((uint64_t)r->start + (uint64_t)i * (uint64_t)r->step));
}

static inline struct pr_expr_value pr_expr_new_float(double f)
{
    return (struct pr_expr_value){.kind = EV_FLOAT, .f = f};
}

static inline struct pr_expr_value pr_expr_new_bool(bool b)
{
    return (struct pr_expr_value){.kind = EV_BOOL, .b = b};
}

static inline struct pr_expr_value pr_expr_new_str(const char *s, size_t len)
{
    return (struct pr_expr_value){.kind = EV_STR, .len = (uint32_t)len, .s = s};
}

/* ---- operators (expr_operators.c) */

bool pr_expr_eval_binary(struct pr_expr *x, int op,
                         const struct pr_expr_value *a,
                         const struct pr_expr_value *b,
                         struct pr_expr_value *ret);
bool pr_expr_eval_unary(struct pr_expr *x, int op,
                        const struct pr_expr_value *a,
                        struct pr_expr_value *ret);
bool pr_expr_eval_arith(struct pr_expr *x, int op,
                        const struct pr_expr_value *a,
                        const struct pr_expr_value *b,
                        struct pr_expr_value *ret);
bool pr_expr_eval_power(struct pr_expr *x, const struct pr_expr_value *a,
                        const struct pr_expr_value *b,
                        struct pr_expr_value *ret);
bool pr_expr_compare(struct pr_expr *x, int op, const struct pr_expr_value *a,
                     const struct pr_expr_value *b, bool *ret);
bool pr_expr_equal(struct pr_expr *x, const struct pr_expr_value *a,
                   const struct pr_expr_value *b, bool *ret);
bool pr_expr_sort(struct pr_expr *x, struct pr_expr_value *keys,
                  struct pr_expr_value *items, size_t n,
                  bool reverse); /* stable */

/* ---- indices, slices, code points (expr_eval.c) */

bool pr_expr_index(struct pr_expr *x, const struct pr_expr_value *v,
                   const struct pr_expr_value *at, struct pr_expr_value *ret);
/* from, to, step: EV_MISSING when left out. */
bool pr_expr_slice(struct pr_expr *x, const struct pr_expr_value *v,
                   const struct pr_expr_value from_to_step[3],
                   struct pr_expr_value *ret);
size_t pr_expr_codepoint_count(const char *s, size_t len);
size_t pr_expr_codepoint_offset(const char *s, size_t len, size_t index);
size_t pr_expr_codepoint_len(const char *s,
                             size_t avail); /* bytes; 1 for a stray */
unsigned pr_expr_codepoint_at(const char *s,
                              size_t avail); /* stray: 0xdc80 + byte */

/* ---- formatting (expr_format.c) */

bool pr_expr_format_percent(struct pr_expr *x, const struct pr_expr_value *fmt,
                            const struct pr_expr_value *args,
                            struct pr_expr_value *ret);
struct pr_expr_spec {
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
bool pr_expr_format_value(struct pr_expr_buf *b, const struct pr_expr_value *v,
                          const char *spec, size_t len);
/* Text of a number without its sign, for any type but none ('r': repr). */
bool pr_expr_int_digits(struct pr_expr *x, int64_t i,
                        const struct pr_expr_spec *spec,
                        struct pr_expr_value *ret);
/* Sign, prefix, grouping and padding around it. */
bool pr_expr_write_number(struct pr_expr_buf *b,
                          const struct pr_expr_spec *spec, bool negative,
                          const struct pr_expr_value *digits);

/* ---- what a value means elsewhere (expr_strings.c, expr_modules.c) */

bool pr_expr_float_to_int(struct pr_expr *x, double f,
                          struct pr_expr_value *ret);
bool pr_expr_getenv(struct pr_expr *x, const struct pr_expr_value *name,
                    struct pr_expr_value *ret, bool *ret_found);
void pr_expr_regexes_free(struct pr_expr *x);

#endif
